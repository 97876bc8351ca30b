// Passes over roles and over which messages there are; see passes_for_templates.h. Begin reading at join.
#include <algorithm>
#include <numeric>

#include "base/reasoning_names.h"
#include "conversation/passes_for_templates.h"
#include "value/string.h"

namespace parlance {

void Normaliser::replace_messages(Value list, const std::vector<std::int32_t>& numbers) {
  const auto moved = [&](std::int32_t number) {
    return number < 0 ? number : numbers[static_cast<std::size_t>(number)];
  };
  std::vector<std::int32_t> given(list.list->size, -1);
  for (std::size_t i = numbers.size(); i-- > 0;) {
    given[static_cast<std::size_t>(numbers[i])] = given_number(static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> now = inside_of(state.document).message_numbers();
  if (now.empty()) {
    now = numbers;
  } else {
    std::transform(now.begin(), now.end(), now.begin(), moved);
  }
  for (TextRegion& region : state.regions) region.message = moved(region.message);
  inside_of(state.document).set_message_numbers(std::move(now));
  given_ = std::move(given);
  messages = ListEditor(rt, list);
}

}  // namespace parlance

namespace parlance::passes {
namespace {

constexpr std::string_view kBetween = "\n\n";

bool is_system(Value message) { return is_role(message, "system") || is_role(message, "developer"); }

/// How many messages of the system the conversation begins with.
std::uint32_t leading_systems(const Normaliser& n) {
  std::uint32_t count = 0;
  while (count < n.messages.size() && is_system(n.messages[count])) ++count;
  return count;
}

/// Only what has text and no members of its own can be joined without loss.
bool can_join(Value message) {
  for (const DictEntry& entry : entries(message)) {
    const std::string_view key = leaf_text(entry.key);
    if (key == "role" || entry.value.is_none()) continue;
    if (key != "content" || (!entry.value.is_string() && entry.value.kind != Kind::list)) return false;
  }
  return true;
}

bool is_empty_text(Value content) { return !content.is_string() || content.size == 0; }

Value joined_text(Normaliser& n, const std::vector<Value>& contents) {
  StringBuilder joined(n.rt);
  for (const Value& content : contents) {
    if (is_empty_text(content)) continue;
    if (joined.size() != 0) joined.append_static(kBetween);
    joined.append(content);
  }
  const Value made = joined.finish();
  if (!made.is_invalid()) text(n.rt, made);  // see content_parts
  return made;
}

Value text_part(Normaliser& n, Value text) {
  DictBuilder part(n.rt, 2);
  part.set("type", Value::view("text"));
  part.set("text", text);
  return part.finish();
}

Value joined_parts(Normaliser& n, const std::vector<Value>& contents) {
  ListBuilder list(n.rt);
  for (const Value& content : contents) {
    if (content.kind != Kind::list && is_empty_text(content)) continue;
    if (list.size() != 0) list.append(text_part(n, Value::view(kBetween)));
    if (content.kind != Kind::list) list.append(text_part(n, content));
    if (content.kind != Kind::list) continue;
    for (const Value& part : items(content)) list.append(part);
  }
  return list.finish();
}

/// Content as it is joined: one text part is its text, so that both spellings join alike.
Value content_of(Value message) {
  const Value* content = member(message, "content");
  if (content == nullptr) return Value::none();
  const bool one = content->kind == Kind::list && content->list->size == 1;
  const Value* text = one && is_text(member(content->list->items[0], "type"), "text")
                          ? member(content->list->items[0], "text")
                          : nullptr;
  return text != nullptr && text->is_string() ? *text : *content;
}

/// One message of those with these numbers, or undefined where they cannot be one.
Value joined(Normaliser& n, const std::vector<std::uint32_t>& numbers) {
  std::vector<Value> contents;
  bool parts = false;
  for (const std::uint32_t number : numbers) {
    if (!can_join(n.messages[number])) return {};
    contents.push_back(content_of(n.messages[number]));
    parts = parts || contents.back().kind == Kind::list;
  }
  const Value content = parts ? joined_parts(n, contents) : joined_text(n, contents);
  return content.is_invalid() ? Value{} : with_member(n.rt, n.messages[numbers.front()], "content", content);
}

Value joined(Normaliser& n, std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> numbers(end - begin);
  std::iota(numbers.begin(), numbers.end(), begin);
  return joined(n, numbers);
}

/// Joins the messages of each run: `run_end(i)` is where the run ends that begins with message i, and `join_run(i,
/// end)` its message, or undefined.
template <typename RunEnd, typename JoinRun>
void join(Normaliser& n, RunEnd run_end, JoinRun join_run) {
  const std::uint32_t size = n.messages.size();
  ListBuilder list(n.rt, size);
  std::vector<std::int32_t> numbers;
  for (std::uint32_t i = 0; i < size;) {
    const std::uint32_t end = std::max(i + 1, run_end(i));
    const Value one = end - i > 1 ? join_run(i, end) : Value{};
    const std::uint32_t taken = one.is_undefined() ? i + 1 : end;
    for (std::uint32_t k = i + 1; k < taken; ++k) {
      n.message = static_cast<std::int32_t>(k);
      n.note();
    }
    numbers.resize(taken, static_cast<std::int32_t>(list.size()));
    list.append(one.is_undefined() ? n.messages[i] : one);
    i = taken;
  }
  if (list.size() != size) n.replace_messages(with_origin(list.finish(), n.messages.origin()), numbers);
}

template <typename RunEnd>
void join(Normaliser& n, RunEnd run_end) {
  join(n, run_end, [&n](std::uint32_t begin, std::uint32_t end) { return joined(n, begin, end); });
}

/// The lists that are joined; of texts, reasoning is.
constexpr std::string_view kTurnLists[] = {"images", "tool_calls"};

/// Has the message only members that one for all of its turn can have?
bool can_be_joined_to_turn(Value message) {
  const auto has = [](std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return std::ranges::all_of(entries(message), [&](const DictEntry& entry) {
    const std::string_view key = leaf_text(entry.key);
    if (key == "role" || entry.value.is_none()) return true;
    if (has(kTurnLists, key)) return entry.value.kind == Kind::list;
    if (key == "content") return entry.value.is_string() || entry.value.kind == Kind::list;
    return is_reasoning_name(key) && entry.value.is_string();
  });
}

/// The members of this name of all messages, one behind the other; undefined where none has it.
Value joined_lists(Normaliser& n, std::string_view name, std::uint32_t begin, std::uint32_t end) {
  ListBuilder all(n.rt);
  for (std::uint32_t i = begin; i < end; ++i) {
    const Value list = member_value(n.messages[i], name);
    if (list.kind != Kind::list) continue;
    for (const Value& one : items(list)) all.append(one);
  }
  return all.size() == 0 ? Value() : all.finish();
}

Value joined_texts(Normaliser& n, std::string_view name, std::uint32_t begin, std::uint32_t end) {
  std::vector<Value> texts;
  for (std::uint32_t i = begin; i < end; ++i) {
    const Value text = member_value(n.messages[i], name);
    if (!is_empty_text(text)) texts.push_back(text);
  }
  return texts.empty() ? Value() : joined_text(n, texts);
}

Value joined_turn(Normaliser& n, std::uint32_t begin, std::uint32_t end) {
  std::vector<Value> contents;
  bool parts = false;
  for (std::uint32_t i = begin; i < end; ++i) {
    contents.push_back(content_of(n.messages[i]));
    parts = parts || contents.back().kind == Kind::list;
  }
  const Value content = parts ? joined_parts(n, contents) : joined_text(n, contents);
  if (content.is_invalid()) return {};
  std::vector<DictEntry> members = {{Value::view("content"), content}};
  const auto add = [&members](std::string_view name, Value value) {
    if (!value.is_undefined()) members.push_back({Value::view(name), value});
  };
  for (const std::string_view name : kReasoningNames) add(name, joined_texts(n, name, begin, end));
  for (const std::string_view name : kTurnLists) add(name, joined_lists(n, name, begin, end));
  return with_members(n.rt, n.messages[begin], members);
}

void set_role(Normaliser& n, std::uint32_t index, std::string_view role) {
  n.message = static_cast<std::int32_t>(index);
  n.note("role");
  n.messages.set(index, with_member(n.rt, n.messages[index], "role", Value::view(role)));
}

}  // namespace

void join_turns(Normaliser& n) {
  const auto run_end = [&n](std::uint32_t i) {
    const Value first = n.messages[i], role = member_value(first, "role");
    std::uint32_t end = i;
    if (!role.is_string() || is_role(first, "tool") || !n.concerns(first)) return end;
    const std::string_view name = leaf_text(role);
    while (end < n.messages.size() && is_role(n.messages[end], name) && can_be_joined_to_turn(n.messages[end])) ++end;
    return end;
  };
  join(n, run_end, [&n](std::uint32_t begin, std::uint32_t end) { return joined_turn(n, begin, end); });
}

Value developer_role(Normaliser& n, Value message) {
  if (!is_role(message, "developer")) return message;
  n.note("role");
  return with_member(n.rt, message, "role", Value::view("system"));
}

void join_systems(Normaliser& n) {
  const std::uint32_t leading = leading_systems(n);
  join(n, [leading](std::uint32_t i) { return i == 0 ? leading : i + 1; });
}

void gather_systems(Normaliser& n) {
  std::vector<std::uint32_t> systems;
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    if (is_system(n.messages[i])) systems.push_back(i);
  }
  if (systems.size() < 2) return;
  const Value one = joined(n, systems);
  if (one.is_undefined()) return;
  const auto first = static_cast<std::int32_t>(systems.front());
  ListBuilder list(n.rt, n.messages.size());
  std::vector<std::int32_t> numbers;
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    n.message = static_cast<std::int32_t>(i);
    const bool taken = is_system(n.messages[i]) && n.message != first;
    numbers.push_back(taken ? first : static_cast<std::int32_t>(list.size()));
    if (taken) n.note();
    if (!taken) list.append(n.message == first ? one : n.messages[i]);
  }
  n.replace_messages(with_origin(list.finish(), n.messages.origin()), numbers);
}

void late_system(Normaliser& n) {
  for (std::uint32_t i = leading_systems(n); i < n.messages.size(); ++i) {
    if (is_system(n.messages[i]) && n.concerns(n.messages[i])) set_role(n, i, "user");
  }
}

void first_system(Normaliser& n) {
  const std::uint32_t leading = leading_systems(n);
  for (std::uint32_t i = 0; i < leading; ++i) set_role(n, i, "user");
}

void join_users(Normaliser& n) {
  join(n, [&n](std::uint32_t i) {
    std::uint32_t end = i;
    while (end < n.messages.size() && is_role(n.messages[end], "user")) ++end;
    return end;
  });
}

}  // namespace parlance::passes
