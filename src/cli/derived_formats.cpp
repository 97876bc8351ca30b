// Deriving by request; see derived_formats.h.
#include "cli/derived_formats.h"

#include "cli/report.h"
#include "probe/request_variables.h"

namespace parlance::cli {
namespace {

constexpr std::size_t kMostKept = 64;

}  // namespace

DerivedFormats::DerivedFormats(Template chat_template, DeriveOptions deriving)
    : template_(std::move(chat_template)), deriving_(std::move(deriving)), facts_(template_.facts()) {}

Result<std::shared_ptr<const ReplyFormat>> DerivedFormats::format_for(Value request) {
  DeriveOptions deriving = deriving_;
  deriving.variables = probe::with(probe::variables_of(facts_, request), deriving_.variables);
  const std::string key = probe::key_of(deriving.variables);
  const std::lock_guard lock(mutex_);  // also while experiments run: other lines mostly wait for the same
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Result<DerivedFormat> derived = derive(template_, deriving);
  if (!derived) return derived.error();
  say(*derived);
  if (known_.size() >= kMostKept) known_.clear();
  return known_.emplace(key, std::make_shared<const ReplyFormat>(std::move(derived->format))).first->second;
}

void DerivedFormats::say(const DerivedFormat& derived) {
  if (derived.verdict == Verdict::verified) return;
  const std::string why = derived.missing.empty() ? "" : ": " + derived.missing.front();
  const std::string sentence = std::string("how this template's model replies is ") + (derived.verdict == Verdict::none ? "not known" : "not certain") + why;
  if (said_.size() < kMostKept && said_.insert(sentence).second) say_note(sentence);
}

}  // namespace parlance::cli
