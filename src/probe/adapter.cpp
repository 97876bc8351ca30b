// Deriving late; see adapter.h.
#include "probe/adapter.h"

#include <algorithm>

#include "conversation/edit.h"
#include "conversation/passes_for_templates.h"
#include "probe/capabilities.h"
#include "probe/convention.h"
#include "probe/effort.h"
#include "probe/media.h"
#include "probe/reasoning.h"

namespace parlance::probe {
namespace {

/// Members that only some templates read, or read under other names.
struct Member {
  std::string_view name;
  Needs needs;
};
const Member kMembers[] = {
    {"tool_calls", kNeedsCalls | content_of_role("assistant") | content_of_role("tool")},
    {"tool_call_id", kNeedsCalls | content_of_role("tool")},
    {"reasoning_content", kNeedsReasoning},
    {"reasoning", kNeedsReasoning},
    {"thinking", kNeedsReasoning},
};

std::string_view role_of(Value message) {
  const Value* role = member(message, "role");
  return role != nullptr && role->is_leaf() ? leaf_text(*role) : std::string_view();
}

Needs needs_of_parts(Value content) {
  Needs needs = 0;
  for (const Value& part : items(content)) {
    const Value* type = part.kind == Kind::dict ? member(part, "type") : nullptr;
    if (type != nullptr && type->is_leaf()) needs |= media_of_type(leaf_text(*type));
  }
  return needs;
}

Needs needs_of_message(Value message) {
  Needs needs = 0;
  for (const DictEntry& entry : entries(message)) {
    const std::string_view key = leaf_text(entry.key);
    if (key == "content" && entry.value.kind == Kind::list) needs |= content_of_role(role_of(message)) | needs_of_parts(entry.value);
    if (entry.value.is_none()) continue;
    for (const Member& one : kMembers) {
      if (one.name == key) needs |= one.needs;
    }
  }
  return needs;
}

/// Members of chat_template_kwargs are no variables yet, but will be when the effort is looked for.
bool asks_for_effort(Value request) {
  return !passes::effort_asked_for(request).empty() || !passes::effort_asked_for(member_value(request, "chat_template_kwargs")).empty();
}

/// Passes that give a message another role come before those for what roles may say.
Needs with_other_roles(Needs needs) {
  const bool any_content = (needs & kNeedsContents) != 0 && (needs & kNeedsOrders) != 0;
  return any_content ? needs | content_of_role("user") | content_of_role("system") | content_of_role("developer") : needs;
}

}  // namespace

Needs needs_of(const Conversation& untouched) {
  Needs needs = asks_for_effort(untouched.variables()) ? kNeedsEffort : 0;
  const Value* messages = member(untouched.variables(), "messages");
  if (messages == nullptr || messages->kind != Kind::list) return needs;
  std::string_view before;
  for (const Value& message : items(*messages)) {
    if (message.kind != Kind::dict) return 0;  // it is refused
    needs |= needs_of_message(message);
    const std::string_view role = role_of(message);
    const bool first = &message == messages->list->items;
    if (role == "developer" || (role == "user" && before == "user") || (role == "system" && !first)) needs |= kNeedsOrders;
    before = role;
  }
  return with_other_roles(needs);
}

TemplateCapabilities find_needed(Prober& prober, Needs needs) {
  prober.convention = {};
  TemplateCapabilities can;
  CallProbe call;
  TurnFacts turn;
  const bool reasoning = (needs & kNeedsReasoning) != 0;
  const bool calls = (needs & (kNeedsCalls | content_of_role("assistant") | content_of_role("tool"))) != 0;
  if (reasoning) {
    turn = find_facts(prober, &call);
  } else if (calls) {
    call = find_convention(prober);
  } else {
    choose_content(prober);
  }
  can.calls = call.shows != Shows::no;
  std::vector<ThinkingSwitch> switches;
  if (reasoning || (needs & kNeedsEffort) != 0) switches = find_switches(prober);
  can.efforts = efforts_of(switches, prober.facts().syntax);
  if (reasoning || (needs & kNeedsCalls) != 0) find_call_capabilities(prober, can);
  if (reasoning && turn.found) {
    const std::vector<ThinkingStart> starts = find_starts(prober, turn, switches);
    can.reasoning_key = find_reasoning(prober, turn, {starts, {}, can.calls}).key;  // which no cut tells
  }
  find_shapes(prober, can, needs);
  return can;
}

namespace {

constexpr std::size_t kMostKept = 64;  ///< sets of variables

DeriveOptions with_variables(DeriveOptions deriving, const Variables& variables) {
  deriving.variables = variables;
  return deriving;
}

}  // namespace

Adapter::Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base, const Variables& fixed)
    : template_(std::move(chat_template)), deriving_(std::move(deriving)), base_(std::move(base)), facts_(template_.facts()), fixed_(fixed) {
  plain_.deriving = deriving_;
}

const ReadOptions& Adapter::options_for(const Conversation& untouched) {
  if (!base_.normalise) return base_;
  Needs needs = needs_of(untouched);
  if (!base_.reasoning_effort.empty()) needs |= kNeedsEffort;
  std::call_once(looked_, [this] { text_shows_ = shows_text(template_, deriving_); });
  if (!text_shows_) needs |= kNeedsContents;
  return needs == 0 ? base_ : adapted(needs, with(variables_of(facts_, untouched.variables()), fixed_));
}

const ReadOptions* Adapter::known(Needs needs, const std::string& key) {
  const std::shared_lock lock(mutex_);
  const auto found = found_.find(key);
  if (found == found_.end()) return nullptr;
  const auto made = found->second.adapted.find(needs);
  return made == found->second.adapted.end() ? nullptr : made->second;
}

/// What an effort sets is found without the request's variables: it is they that it may change.
TemplateCapabilities Adapter::find(Found& found, Needs needs) {
  if (!found.prober) found.prober.emplace(template_, found.deriving);
  TemplateCapabilities can = find_needed(*found.prober, needs);
  if (found.deriving.variables.empty() || (needs & (kNeedsEffort | kNeedsReasoning)) == 0) return can;
  if (!plain_.prober) plain_.prober.emplace(template_, plain_.deriving);
  can.efforts = find_needed(*plain_.prober, kNeedsEffort).efforts;
  return can;
}

Adapter::Found& Adapter::found_with(const Variables& variables, const std::string& key) {
  const std::unique_lock lock(mutex_);
  for (auto& [other, found] : found_) {
    if (other != key) found.prober.reset();  // its experiments are many bytes
  }
  if (found_.size() >= kMostKept && !found_.contains(key)) found_.clear();
  const auto [entry, is_new] = found_.try_emplace(key);
  if (is_new) entry->second.deriving = with_variables(deriving_, variables);
  return entry->second;
}

const ReadOptions& Adapter::keep(ReadOptions made) {
  const auto same = std::find_if(made_.begin(), made_.end(), [&](const ReadOptions& one) { return one.extra_passes == made.extra_passes; });
  return same != made_.end() ? *same : made_.emplace_back(std::move(made));
}

const ReadOptions& Adapter::adapted(Needs needs, const Variables& variables) {
  const std::string key = key_of(variables);
  if (const ReadOptions* found = known(needs, key)) return *found;
  const std::lock_guard probing(probing_);
  if (const ReadOptions* found = known(needs, key)) return *found;  // by the one that was waited for
  Found& found = found_with(variables, key);
  ReadOptions made = adapt(find(found, needs), base_);
  const std::unique_lock lock(mutex_);
  return *found.adapted.emplace(needs, &keep(std::move(made))).first->second;
}

}  // namespace parlance::probe
