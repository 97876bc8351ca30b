// Takes members of messages apart. Begin reading at move_to_fields.
#include "agent_loop/fields.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parlance/json_writer.h"
#include "parlance/value.h"

namespace parlance {

namespace {

constexpr std::pair<std::string_view, std::string Message::*> kTexts[] = {
    {"content", &Message::content},
    {"reasoning_content", &Message::reasoning_content},
    {"tool_call_id", &Message::tool_call_id},
    {"name", &Message::name},
};

/// The arguments as a JSON object; unset where they are none.
std::optional<std::string> object_of(Value arguments) {
  if (arguments.is(Kind::dict)) return json_text(arguments);
  Document text;
  if (!arguments.is_string() || !text.parse(arguments.text()) || !text.root().is(Kind::dict)) return std::nullopt;
  return std::string(arguments.text());
}

/// Unset where one of them cannot be said so.
std::optional<std::vector<ToolCall>> calls_of(Value list) {
  if (!list.is(Kind::list)) return std::nullopt;
  std::vector<ToolCall> calls;
  for (const Value& call : list.items()) {
    const Value function = call["function"].is(Kind::dict) ? call["function"] : call;
    std::optional<std::string> arguments = object_of(function["arguments"]);
    if (!arguments || function["name"].text().empty()) return std::nullopt;
    calls.push_back({.id = std::string(call["id"].text()),
                     .name = std::string(function["name"].text()),
                     .arguments_json = std::move(*arguments)});
  }
  return calls;
}

/// Whether a field says it now.
bool is_moved(Message& message, const JsonMember& member) {
  Document read;
  if (!read.parse(member.json)) return false;
  const Value value = read.root();
  if (member.name == "tool_calls") {
    std::optional<std::vector<ToolCall>> calls = calls_of(value);
    if (calls) message.tool_calls = std::move(*calls);
    return calls.has_value();
  }
  const auto* const text = std::find_if(std::begin(kTexts), std::end(kTexts),
                                        [&member](const auto& known) { return known.first == member.name; });
  if (text == std::end(kTexts) || !value.is_string()) return false;
  message.*(text->second) = value.text();
  return true;
}

}  // namespace

void move_to_fields(Message& message) {
  std::vector<JsonMember> rest;
  for (JsonMember& member : message.members)
    if (!is_moved(message, member)) rest.push_back(std::move(member));
  message.members = std::move(rest);
}

}  // namespace parlance
