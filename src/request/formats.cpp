// Deriving by request; see formats.h.
#include "request/formats.h"

#include "request/variables.h"

namespace parlance {
namespace {

constexpr std::size_t kMostFormats = 64;

std::string doubt_of(const DerivedFormat& derived) {
  if (derived.verdict == Verdict::verified) return {};
  const std::string why = derived.missing.empty() ? "" : ": " + derived.missing.front();
  return std::string("how this template's model replies is ") +
         (derived.verdict == Verdict::none ? "not known" : "not certain") + why;
}

}  // namespace

DerivedFormats::DerivedFormats(Template chat_template, DeriveOptions deriving, std::vector<std::string> control_tokens)
    : template_(std::move(chat_template)),
      deriving_(std::move(deriving)),
      control_tokens_(std::move(control_tokens)),
      facts_(template_.facts()) {}

Result<CompiledReplyFormat> compiled_for_tokens(
    const ReplyFormat& format, std::span<const std::string> control_tokens,
    const std::vector<std::pair<std::string, std::string>>& special_tokens) {
  std::vector<std::string> ends;
  for (const auto& [name, text] : special_tokens) ends.push_back(text);
  return CompiledReplyFormat::make(format.with_control(control_tokens, ends));
}

std::optional<ReplyStart> DerivedFormats::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Result<ReplyStart> DerivedFormats::format_for(Value request) {
  DeriveOptions deriving = deriving_;
  deriving.variables = merged(variables_of(facts_, request), deriving_.variables);
  const std::string key = key_of(deriving.variables);
  if (std::optional<ReplyStart> known = find(key)) return *std::move(known);
  const std::lock_guard alone(deriving_lock_);
  if (std::optional<ReplyStart> known = find(key)) return *std::move(known);  // by the one that was waited for
  Result<DerivedFormat> derived = derive(template_, deriving);
  if (!derived) return derived.error();
  ReplyStart start;
  start.doubt = doubt_of(*derived);
  // A derived format that contradicts itself reads nothing but text: then `doubt` says so.
  Result<CompiledReplyFormat> compiled =
      compiled_for_tokens(derived->format, control_tokens_, deriving_.special_tokens);
  if (compiled) start.format = *std::move(compiled);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostFormats) known_.clear();
  return known_.emplace(key, std::move(start)).first->second;
}

}  // namespace parlance
