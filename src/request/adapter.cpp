// Adapting late; see adapter.h.
#include "request/adapter.h"

#include <algorithm>

namespace parlance {
namespace {

using probe::Needs;

constexpr std::size_t kMostVariableSets = 64;  ///< sets of variables

DeriveOptions with_variables(DeriveOptions deriving, const Variables& variables) {
  deriving.variables = variables;
  return deriving;
}

}  // namespace

Adapter::Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base, const Variables& fixed)
    : template_(std::move(chat_template)),
      deriving_(std::move(deriving)),
      base_(std::move(base)),
      facts_(template_.facts()),
      fixed_(fixed) {
  plain_.deriving = deriving_;
}

const ReadOptions& Adapter::options_for(const Conversation& untouched) {
  if (!base_.normalise) return base_;
  Needs needs = probe::needs_of(untouched);
  if (!base_.reasoning_effort.empty()) needs |= probe::kNeedsEffort;
  const auto look = [this] { return std::make_unique<Needs>(probe::needs_of_text(template_, deriving_)); };
  needs |= needs_of_text_.get(look);
  return needs == 0 ? base_ : adapted(needs, merged(variables_of(facts_, untouched.variables()), fixed_));
}

/// The hot path: each request takes this lock, and only the first of its kind goes on to experiments.
const ReadOptions* Adapter::known(Needs needs, const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = found_.find(key);
  if (found == found_.end()) return nullptr;
  const auto made = found->second.adapted.find(needs);
  return made == found->second.adapted.end() ? nullptr : made->second;
}

/// What an effort sets is found without the request's variables: it is they that it may change.
TemplateCapabilities Adapter::find(Found& found, Needs needs) {
  if (found.prober == nullptr) found.prober = std::make_unique<probe::Prober>(template_, found.deriving);
  TemplateCapabilities can = probe::find_needed(*found.prober, needs);
  if (found.deriving.variables.empty() || (needs & (probe::kNeedsEffort | probe::kNeedsReasoning)) == 0) return can;
  if (plain_.prober == nullptr) plain_.prober = std::make_unique<probe::Prober>(template_, plain_.deriving);
  can.efforts = probe::find_needed(*plain_.prober, probe::kNeedsEffort).efforts;
  return can;
}

// Variables come from requests, so their sets are bounded. What was handed out stays: it is in made_, not here.
Adapter::Found& Adapter::found_with(const Variables& variables, const std::string& key) {
  const std::lock_guard lock(mutex_);
  for (auto& [other, found] : found_) {
    if (other != key) found.prober.reset();  // its experiments are many bytes
  }
  if (found_.size() >= kMostVariableSets && !found_.contains(key)) found_.clear();
  const auto [entry, is_new] = found_.try_emplace(key);
  if (is_new) entry->second.deriving = with_variables(deriving_, variables);
  return entry->second;
}

/// After a fork amid another thread's experiments, theirs are half done: what they are kept in is left where it is.
void Adapter::let_go_of_probers() {
  const std::lock_guard lock(mutex_);
  (void)plain_.prober.release();
  for (auto& [key, found] : found_) (void)found.prober.release();
}

/// References to options are given to callers, so one that was made is never moved nor dropped. There are as many as
/// there are different lists of passes, which are few.
const ReadOptions& Adapter::keep(ReadOptions made) {
  const auto same =
      std::find_if(made_.begin(), made_.end(), [&](const ReadOptions& one) { return one.passes == made.passes; });
  return same != made_.end() ? *same : made_.emplace_back(std::move(made));
}

const ReadOptions& Adapter::adapted(Needs needs, const Variables& variables) {
  const std::string key = key_of(variables);
  if (const ReadOptions* found = known(needs, key)) return *found;
  const std::lock_guard probing(probing_);
  if (probing_.take_torn()) let_go_of_probers();
  if (const ReadOptions* found = known(needs, key)) return *found;  // by the one that was waited for
  Found& found = found_with(variables, key);
  ReadOptions made = adapt(find(found, needs), base_);
  const std::lock_guard lock(mutex_);
  return *found.adapted.emplace(needs, &keep(std::move(made))).first->second;
}

}  // namespace parlance
