// What clients may take of a model.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "parlance/result.h"
#include "parlance/value.h"
#include "serve/backends/sampling.h"

namespace parlance::serve {

/// What one request may ask.
///
///     field          default  effect
///     messages       16384    of a conversation, with those before previous_response_id; else 400
///     prompt_tokens  0        of a prompt that is sent to the engine; else 400. 0: the engine's context
///     reply_tokens   0        a larger max_tokens is lowered to it. It is the limit of requests that set none. 0: none
///     reasoning_tokens 0      of reasoning in a reply, then the gateway closes it; less where a request asks for less.
///                             0: none
struct RequestLimits {
  std::size_t messages = 16384;
  std::size_t prompt_tokens = 0;
  std::int64_t reply_tokens = 0;
  std::int64_t reasoning_tokens = 0;
};

/// How many replies its engine samples at a time; the other requests wait.
///
///     field         default  effect
///     running       0        replies at a time. 0: as many as are asked for
///     waiting       1024     requests that wait; else 503
///     longest_wait  10 min   that one may wait; else 503
struct SlotLimits {
  std::size_t running = 0;
  std::size_t waiting = 1024;
  std::chrono::milliseconds longest_wait = std::chrono::minutes(10);
};

/// Alternatives of a token that a request may ask for.
inline constexpr std::int64_t kMostAlternatives = 20;

/// Fail with conversation, naming the member and the limit.
Result<void> check_messages(const RequestLimits& limits, std::size_t messages);
/// read_sampling() within the limits, which hold also where the request sets none. Fails as it does, too, and where the
/// request asks for logprobs in a way that there is not.
Result<SamplingSettings> read_sampling(const RequestLimits& limits, Value request, std::int64_t least_tokens = 1);
/// How many tokens of reasoning a reply may have: the request's figure, by the names of vLLM, llama.cpp, Anthropic,
/// OpenRouter and DashScope, or the limit where that is lower; unset: any number.
/// A negative figure is none. Fails with conversation if the figure is no integer, with its path.
Result<std::optional<std::int64_t>> reasoning_limit(const RequestLimits& limits, Value request);
/// Whether this member of a request has such a figure, which the gateway obeys.
bool limits_reasoning(Value request, std::string_view member);
/// The first member that has one; "": none has.
std::string_view member_limiting_reasoning(Value request);
/// A warning: the gateway counts reasoning by its ids.
inline constexpr std::string_view kReasoningUnlimited = "this engine gives no ids: nothing limits its reasoning";

}  // namespace parlance::serve
