// Takes members of messages apart. Begin reading at move_to_fields.
#include "agent_loop/fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "parlance/json_writer.h"
#include "parlance/value.h"

namespace parlance {

namespace {

constexpr std::string_view kCalls = "tool_calls";

constexpr std::pair<std::string_view, std::string Message::*> kTexts[] = {
    {"content", &Message::content},
    {"reasoning_content", &Message::reasoning_content},
    {"tool_call_id", &Message::tool_call_id},
    {"name", &Message::name},
};

/// Those of an object but these.
std::vector<JsonMember> others(Value object, std::initializer_list<std::string_view> known) {
  std::vector<JsonMember> all;
  for (const DictEntry& entry : object.members()) {
    const std::string_view name = entry.key.text();
    if (std::find(known.begin(), known.end(), name) == known.end())
      all.push_back({std::string(name), json_text(entry.value)});
  }
  return all;
}

/// The arguments as a JSON object; unset where they are none. Some engines write no arguments as "", or leave them out.
std::optional<std::string> object_of(Value arguments) {
  if (arguments.is(Kind::dict)) return json_text(arguments);
  const bool is_empty = arguments.is(Kind::undefined) || arguments.is(Kind::none);
  if (is_empty || (arguments.is_string() && arguments.text().empty())) return "{}";
  Document text;
  if (!arguments.is_string() || !text.parse(arguments.text()) || !text.root().is(Kind::dict)) return std::nullopt;
  return std::string(arguments.text());
}

/// An id, which some engines count.
std::string id_in(Value id) { return id.is_small_int() ? json_text(id) : std::string(id.text()); }

/// Those that can be said so; unset where none can.
std::optional<std::vector<ToolCall>> calls_of(Value list) {
  if (!list.is(Kind::list)) return std::nullopt;
  std::vector<ToolCall> calls;
  for (const Value& call : list.items()) {
    const bool is_wrapped = call["function"].is(Kind::dict);
    const Value function = is_wrapped ? call["function"] : call;
    std::optional<std::string> arguments = object_of(function["arguments"]);
    if (!arguments || function["name"].text().empty()) continue;
    calls.push_back({.id = id_in(call["id"]),
                     .name = std::string(function["name"].text()),
                     .arguments_json = std::move(*arguments),
                     .members = others(call, {"id", "type", "function", "name", "arguments"})});
  }
  if (calls.empty() && !list.items().empty()) return std::nullopt;
  return calls;
}

std::optional<std::vector<ContentPart>> parts_of(Value list) {
  std::vector<ContentPart> parts;
  for (const Value& part : list.items()) {
    const bool is_text = part["type"].text() == "text";
    if (part["type"].text().empty() || (is_text && !part["text"].is_string())) return std::nullopt;
    ContentPart made{.type = std::string(part["type"].text()), .members = others(part, {"type"})};
    if (is_text) {
      made.text = part["text"].text();
      made.members = others(part, {"type", "text"});
    }
    parts.push_back(std::move(made));
  }
  return parts;
}

template <typename Items>
bool is_taken(std::optional<Items> items, Items& into) {
  if (items) into = *std::move(items);
  return items.has_value();
}

/// Whether a field says it now.
bool is_moved(Message& message, const JsonMember& member) {
  Document read;
  if (!read.parse(member.json)) return false;
  const Value value = read.root();
  if (member.name == kCalls) return is_taken(calls_of(value), message.tool_calls);
  if (member.name == "content" && value.is(Kind::list) && !value.items().empty())
    return is_taken(parts_of(value), message.parts);
  const auto* const text = std::find_if(std::begin(kTexts), std::end(kTexts),
                                        [&member](const auto& known) { return known.first == member.name; });
  const bool is_id = member.name == "tool_call_id" && value.is_small_int();
  if (text == std::end(kTexts) || !(value.is_string() || is_id)) return false;
  message.*(text->second) = id_in(value);
  return true;
}

}  // namespace

void move_to_fields(Message& message) {
  std::vector<JsonMember> rest;
  for (JsonMember& member : message.members)
    if (!is_moved(message, member)) rest.push_back(std::move(member));
  message.members = std::move(rest);
}

bool drop_unreadable_calls(Message& message) {
  return std::erase_if(message.members, [](const JsonMember& member) {
           return member.name == kCalls && member.json.starts_with('[') && member.json != "[]";
         }) != 0;
}

std::vector<ToolCall> open_calls(const std::vector<ToolCall>& calls, std::span<const Message> behind) {
  std::vector<ToolCall> open = calls;
  std::size_t by_place = 0;
  for (const Message& message : behind) {
    if (message.role != "tool") continue;
    const auto found = std::find_if(open.begin(), open.end(), [&message](const ToolCall& call) {
      return !message.tool_call_id.empty() && call.id == message.tool_call_id;
    });
    if (found != open.end())
      open.erase(found);
    else if (message.tool_call_id.empty())
      ++by_place;
  }
  open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(std::min(by_place, open.size())));
  return open;
}

std::string text_of(const Message& message) {
  if (message.parts.empty()) return message.content;
  std::string text;
  for (const ContentPart& part : message.parts) text += part.text;
  return text;
}

std::size_t highest_call_number(std::span<const Message> messages) {
  constexpr std::string_view kPrefix = "call_";
  std::size_t highest = 0;
  for (const Message& message : messages) {
    for (const ToolCall& call : message.tool_calls) {
      std::size_t number = 0;
      const char* const end = call.id.data() + call.id.size();
      if (!call.id.starts_with(kPrefix)) continue;
      const auto [behind, failed] = std::from_chars(call.id.data() + kPrefix.size(), end, number);
      if (failed == std::errc() && behind == end) highest = std::max(highest, number);
    }
  }
  return highest;
}

}  // namespace parlance
