// Compares requests with limits.
#include "serve/models/limits.h"

#include <algorithm>

namespace parlance::serve {

namespace {

/// Where requests of the APIs have their figure: a member, or a member of one.
constexpr struct {
  std::string_view member, inner;
} kReasoningFigures[] = {
    {"thinking_token_budget", ""}, {"thinking_budget_tokens", ""}, {"thinking", "budget_tokens"},
    {"reasoning", "max_tokens"},   {"thinking_budget", ""},
};

/// Clients have defaults of their own, which some of them must send: a request is not refused for one.
void limit_reply(const RequestLimits& limits, SamplingSettings& sampling) {
  if (limits.reply_tokens == 0) return;
  sampling.limit_tokens(limits.reply_tokens);
  if (sampling.find(Setting::max_tokens) == nullptr)
    sampling.values.emplace_back(Setting::max_tokens, std::to_string(limits.reply_tokens));
}

/// Chats have the count of alternatives as `top_logprobs`, completions as `logprobs`.
Result<void> check_logprobs(Value request) {
  for (const std::string_view name : {"top_logprobs", "logprobs"}) {
    const Value given = request[name];
    if (given.is_undefined() || given.is_none() || (name == "logprobs" && given.is(Kind::boolean))) continue;
    if (given.is_small_int() && given.integer >= 0 && given.integer <= kMostAlternatives) continue;
    const std::string path(name), most = std::to_string(kMostAlternatives);
    const std::string flag = name == "logprobs" ? "true, false or " : "";
    return Error(ErrorCode::conversation, path + " must be " + flag + "an integer from 0 to " + most).input(path);
  }
  return {};
}

}  // namespace

Result<void> check_messages(const RequestLimits& limits, std::size_t messages) {
  if (limits.messages == 0 || messages <= limits.messages) return {};
  return Error(ErrorCode::conversation, "the conversation has " + std::to_string(messages) +
                                            " messages, and this server takes at most " +
                                            std::to_string(limits.messages))
      .input("messages");
}

Result<SamplingSettings> read_sampling(const RequestLimits& limits, Value request, std::int64_t least_tokens) {
  Result<SamplingSettings> sampling = read_sampling(request, least_tokens);
  if (!sampling) return sampling;
  limit_reply(limits, *sampling);
  if (Result<void> fits = check_logprobs(request); !fits) return fits.error();
  return sampling;
}

namespace {
Value figure_in(Value request, std::string_view member, std::string_view inner) {
  const Value outer = request[member];
  return inner.empty() ? outer : outer[inner];
}
}  // namespace

bool limits_reasoning(Value request, std::string_view member) {
  return std::any_of(std::begin(kReasoningFigures), std::end(kReasoningFigures), [&](const auto& figure) {
    const Value given = figure_in(request, figure.member, figure.inner);
    return figure.member == member && given.is_small_int() && given.integer >= 0;
  });
}

std::string_view member_limiting_reasoning(Value request) {
  for (const auto& figure : kReasoningFigures)
    if (limits_reasoning(request, figure.member)) return figure.member;
  return "";
}

Result<std::optional<std::int64_t>> reasoning_limit(const RequestLimits& limits, Value request) {
  std::optional<std::int64_t> limit;
  if (limits.reasoning_tokens > 0) limit = limits.reasoning_tokens;
  for (const auto& [member, inner] : kReasoningFigures) {
    const Value given = figure_in(request, member, inner);
    if (given.is_undefined() || given.is_none()) continue;
    const std::string path = std::string(member) + (inner.empty() ? "" : ".") + std::string(inner);
    if (!given.is_small_int()) return Error(ErrorCode::conversation, path + " must be an integer").input(path);
    if (given.integer < 0) continue;  // no limit, as templates that read such a member have it
    limit = std::min(limit.value_or(given.integer), given.integer);
  }
  return limit;
}

}  // namespace parlance::serve
