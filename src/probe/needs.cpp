// Needs of requests; see needs.h.
#include "probe/needs.h"

#include <algorithm>

#include "conversation/edit.h"
#include "conversation/media_parts.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "probe/call_convention.h"
#include "probe/capabilities.h"
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

/// A role that only some templates know is written as those that all know.
Needs contents_for(std::string_view role) {
  const Needs known = content_of_role(role);
  return known != 0 || role.empty() ? known : content_of_role("user") | content_of_role("system");
}

Needs needs_of_message(Value message) {
  Needs needs = 0;
  for (const DictEntry& entry : entries(message)) {
    const std::string_view key = leaf_text(entry.key);
    if (key == "content" && entry.value.kind == Kind::list)
      needs |= contents_for(role_of(message)) | needs_of_parts(entry.value);
    const bool has_images = key == kImages && entry.value.kind == Kind::list && entry.value.list->size != 0;
    if (has_images) needs |= content_of_role(role_of(message)) | kNeedsImages;
    // Clients write "tool_calls": null for none.
    if (entry.value.is_none()) continue;
    for (const Member& one : kMembers) {
      if (one.name == key) needs |= one.needs;
    }
  }
  return needs;
}

/// The one message that generate-request will make of a prompt has the images that stand beside it.
Needs needs_of_prompt(Value request) {
  const Value images = member_value(request, kImages);
  const bool makes_message = member_value(request, "prompt").is_string() && !fills_gap(request);
  const bool has_images = images.kind == Kind::list && images.list->size != 0;
  return makes_message && has_images ? content_of_role("user") | kNeedsImages : 0;
}

/// Members of chat_template_kwargs are no variables yet, but will be when the effort is looked for.
bool asks_for_effort(Value request) {
  return passes::says_effort(request) || passes::says_effort(member_value(request, "chat_template_kwargs"));
}

/// Passes that give a message another role come before those for what roles may say.
Needs with_other_roles(Needs needs) {
  const bool any_content = (needs & kNeedsContents) != 0 && (needs & kNeedsOrders) != 0;
  return any_content ? needs | content_of_role("user") | content_of_role("system") | content_of_role("developer")
                     : needs;
}

}  // namespace

/// Experiments cost renders, and most requests are plain text in order. Only what a request holds is asked about.
Needs needs_of(const Conversation& untouched) {
  Needs needs = asks_for_effort(untouched.variables()) ? kNeedsEffort : 0;
  const Value* messages = member(untouched.variables(), "messages");
  if (messages == nullptr) return needs | needs_of_prompt(untouched.variables());
  if (messages->kind != Kind::list) return needs;
  std::string_view before;
  for (const Value& message : items(*messages)) {
    if (message.kind != Kind::dict) return 0;  // it is refused
    needs |= needs_of_message(message);
    const std::string_view role = role_of(message);
    const bool first = &message == messages->list->items;
    if (role == "developer" || (role == "user" && before == "user") || (role == "system" && !first))
      needs |= kNeedsOrders;
    before = role;
  }
  return with_other_roles(needs);
}

// The convention must be found before anything that uses it: reasoning needs turns, turns need calls, calls need
// content.
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

}  // namespace parlance::probe
