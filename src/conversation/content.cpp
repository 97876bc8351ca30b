// Passes over content and reasoning; see passes_for_templates.h.
#include <algorithm>

#include "base/reasoning_names.h"
#include "conversation/media_parts.h"
#include "conversation/passes_for_templates.h"
#include "value/string.h"

namespace parlance::passes {
namespace {

/// The text of a part {"type": "text", "text": "…"}, or null. Responses' input_text and whatever else has a text are
/// texts too, but no reasoning.
const Value* text_of_part(Value part) {
  const Value* type = member(part, "type");
  const std::string_view name = type != nullptr && type->is_leaf() ? leaf_text(*type) : std::string_view();
  const bool is_other = find_media_type(name) != nullptr || name == "thinking" || name == "reasoning";
  const Value* text = is_other ? nullptr : member(part, "text");
  return text != nullptr && text->is_string() ? text : nullptr;
}

/// A part of a type that nobody knows may say more than its text.
void note_part_beside_text(Normaliser& n, Value part, std::uint32_t number) {
  const Value type = member_value(part, "type");
  if (!type.is_leaf() || std::ranges::find(kTextTypes, leaf_text(type)) != std::end(kTextTypes)) return;
  if (entries(part).size() == 2) return;
  n.note(n.state.arena.copy_text("content[" + std::to_string(number) + "]"));
  n.state.changes.back().what = "only its text is given";
  n.state.changes.back().loses = "part";
}

bool has_calls(Value message) {
  const Value* calls = member(message, "tool_calls");
  return calls != nullptr && calls->kind == Kind::list && calls->list->size != 0;
}

bool is_empty_beside_calls(Value message) { return has_calls(message) && is_text(member(message, "content"), ""); }

/// {"type": type, type: text}; what reads `text` of every part finds it there too.
Value part_of(Runtime& rt, std::string_view type, Value text) {
  DictBuilder part(rt, 3);
  part.set("type", Value::view(type));
  part.set(type, text);
  part.set("text", text);
  return part.finish();
}

bool is_empty_reasoning(Value value) { return value.is_none() || is_text(&value, ""); }

/// The one reasoning that a message has, under whatever names; null where there is none, or there are two.
const Value* only_reasoning(Runtime& rt, Value message, std::string_view also) {
  const Value* found = nullptr;
  const auto is_other = [&](const Value& one) { return found != nullptr && text(rt, *found) != text(rt, one); };
  for (const DictEntry& entry : entries(message)) {
    const std::string_view name = leaf_text(entry.key);
    if (!is_reasoning_name(name) && name != also) continue;
    if (is_empty_reasoning(entry.value)) continue;
    if (!entry.value.is_string() || is_other(entry.value)) return nullptr;
    found = &entry.value;
  }
  return found;
}

}  // namespace

Value content_parts(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
  if (!n.concerns(message) || content == nullptr || content->kind != Kind::list) return message;
  StringBuilder joined(n.rt);
  for (const Value& part : items(*content)) {
    const Value* text = text_of_part(part);
    if (text == nullptr) {
      refuse_unknown_part(n, message, part);
      return message;
    }
    if (&part != content->list->items) joined.append_static("\n");
    joined.append(*text);
    note_part_beside_text(n, part, static_cast<std::uint32_t>(&part - content->list->items));
  }
  const Value made = joined.finish();
  if (made.is_invalid()) return message;
  text(n.rt, made);  // renders share the string, so it must not be flattened by the first that asks
  n.note("content");
  return with_member(n.rt, message, "content", made);
}

Value one_part(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
  if (!n.concerns(message) || content == nullptr || content->kind != Kind::list || content->list->size != 1)
    return message;
  const Value* text = text_of_part(content->list->items[0]);
  if (text == nullptr) return message;
  n.note("content");
  return with_member(n.rt, message, "content", *text);
}

Value text_parts(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
  if (!n.concerns(message) || content == nullptr || !content->is_string()) return message;
  ListBuilder list(n.rt, 1);
  list.append(part_of(n.rt, "text", *content));
  n.note("content");
  return with_member(n.rt, message, "content", list.finish());
}

Value calls_null_content(Normaliser& n, Value message) {
  if (!is_empty_beside_calls(message)) return message;
  n.note("content");
  return with_member(n.rt, message, "content", Value::none());
}

Value calls_no_content(Normaliser& n, Value message) {
  if (!is_empty_beside_calls(message)) return message;
  n.note("content");
  return filtered(n.rt, message, [](std::string_view key) { return key != "content"; });
}

/// A client may give several names, and text under one of them.
Value reasoning_names(Normaliser& n, Value message) {
  const Value* found = nullptr;
  for (const std::string_view name : kReasoningNames) {
    const Value* const one = member(message, name);
    const bool has_text = one != nullptr && one->is_string() && !is_text(one, "");
    if (one != nullptr && (found == nullptr || (has_text && is_empty_reasoning(*found)))) found = one;
  }
  if (found == nullptr || !found->is_string() || found == member(message, "reasoning_content")) return message;
  n.note("reasoning_content");
  return with_member(n.rt, message, "reasoning_content", *found);
}

Value reasoning_key(Normaliser& n, Value message) {
  const Value* reasoning = is_role(message, "assistant") ? only_reasoning(n.rt, message, n.setting->name) : nullptr;
  if (reasoning == nullptr) return message;
  const Value given = *reasoning;
  const Value rest =
      filtered(n.rt, message, [&](std::string_view key) { return key != n.setting->name && !is_reasoning_name(key); });
  n.note(n.setting->name);
  return with_member(n.rt, rest, n.setting->name, given);
}

namespace {

/// In a turn that is over templates may leave the reasoning out, by design. What joins it shares its fate, so there the
/// reasoning joins the content, whose loss is said.
Value joined_to_reasoning(Normaliser& n, Value message, bool over) {
  const Value* reasoning = member(message, n.setting->name);
  const Value* content = member(message, "content");
  const auto has_text = [](const Value* v) { return v != nullptr && v->is_string() && v->size != 0; };
  if (!has_calls(message) || !has_text(reasoning) || !has_text(content)) return message;
  StringBuilder joined(n.rt);
  joined.append(*reasoning);
  joined.append_static("\n\n");
  joined.append(*content);
  const Value made = joined.finish();
  if (made.is_invalid()) return message;
  text(n.rt, made);  // see content_parts
  n.note("content");
  if (over) n.state.changes.back().what = "the reasoning is its beginning";
  const DictEntry changed[] = {{Value::view("content"), over ? made : Value::view("")},
                               {Value::view(n.setting->name), over ? Value::view("") : made}};
  return with_members(n.rt, message, changed);
}

/// A message of the user, or an answer without calls.
bool ends_turn(Value message) {
  return is_role(message, "user") || (is_role(message, "assistant") && !has_calls(message));
}

}  // namespace

void join_reasoning(Normaliser& n) {
  std::uint32_t last_end = n.messages.size();
  while (last_end > 0 && !ends_turn(n.messages[last_end - 1])) --last_end;
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    const Value old = n.messages[i];
    n.message = static_cast<std::int32_t>(i);
    const Value made = joined_to_reasoning(n, old, i < last_end);
    if (made.dict != old.dict) n.messages.set(i, made);
  }
}

Value reasoning_part(Normaliser& n, Value message) {
  const Value* reasoning = is_role(message, "assistant") ? only_reasoning(n.rt, message, {}) : nullptr;
  const Value* content = member(message, "content");
  if (reasoning == nullptr || content == nullptr) return message;
  ListBuilder list(n.rt, 2);
  list.append(part_of(n.rt, n.setting->name, *reasoning));
  if (content->is_string() && !is_text(content, "")) list.append(part_of(n.rt, "text", *content));
  if (content->kind == Kind::list) {
    for (const Value& part : items(*content)) list.append(part);
  }
  n.note("content");
  const Value rest = filtered(n.rt, message, [](std::string_view key) { return !is_reasoning_name(key); });
  return with_member(n.rt, rest, "content", list.finish());
}

}  // namespace parlance::passes
