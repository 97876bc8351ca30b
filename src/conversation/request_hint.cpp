// Hints on requests. Templates say of a wrong form what Python says of it ("can only concatenate str"), which names no
// place. Begin reading at hint_of_request.
#include "conversation/request_hint.h"

#include <utility>

#include "conversation/api_request.h"
#include "conversation/conversation.h"
#include "conversation/custom_tool.h"
#include "conversation/edit.h"

namespace parlance {
namespace {

/// What other APIs and libraries call the arguments of a call.
constexpr std::string_view kOtherNames[] = {"args", "input", "parameters", "params", "kwargs"};

std::string kind_of(Value value) {
  if (value.kind == Kind::dict) return "an object";
  if (value.is_sequence()) return "a list";
  if (value.is_string()) return "a text";
  return value.kind == Kind::boolean ? "a boolean" : value.is_none() ? "null" : "a number";
}

std::string at(std::string_view list, std::uint32_t number) {
  return std::string(list) + "[" + std::to_string(number) + "]";
}

std::string hint_of_content(Value content, const std::string& path) {
  if (content.is_undefined() || content.is_none() || content.is_string()) return {};
  if (!content.is_sequence()) {
    const bool is_part = member(content, "type") != nullptr;
    return path + " is " + (is_part ? "one part" : kind_of(content)) +
           ": templates take a text, or a list of parts such as [{\"type\": \"text\", \"text\": ...}]";
  }
  for (std::uint32_t i = 0; i < content.list->size; ++i) {
    const Value part = content.list->items[i];
    if (part.kind == Kind::dict && (!is_text(member(part, "type"), "text") || member(part, "text") != nullptr))
      continue;
    if (part.kind == Kind::dict) return at(path, i) + " has no 'text', where templates read what a text part says";
    return at(path, i) + " is " + kind_of(part) + ": a part is an object, {\"type\": \"text\", \"text\": ...}";
  }
  return {};
}

std::string hint_of_call(Value call, const std::string& path) {
  if (call.kind != Kind::dict) return path + " is " + kind_of(call) + ": a call is an object";
  const Value function = member_value(call, "function");
  const bool is_wrapped = function.kind == Kind::dict;
  const Value said = is_wrapped ? function : call;
  for (const std::string_view name : {"name", "arguments"}) {
    if (is_wrapped && member(function, name) == nullptr && member(call, name) != nullptr)
      return path + " has '" + std::string(name) + "' beside 'function': templates read function." + std::string(name);
  }
  if (!inside_custom(call).is_undefined() || member(said, "arguments") != nullptr) return {};
  for (const std::string_view other : kOtherNames) {
    if (member(said, other) != nullptr)
      return path + (is_wrapped ? ".function" : "") + " has '" + std::string(other) +
             "': templates read a call's arguments as 'arguments'";
    if (member(call, other) != nullptr)
      return path + " has '" + std::string(other) + "': templates read function.arguments";
  }
  return {};
}

std::string hint_of_message(Value message, const std::string& path) {
  const Value role = member_value(message, "role");
  if (!role.is_undefined() && !role.is_string())
    return path + ".role is " + kind_of(role) + ": templates take a text, such as \"user\" or \"assistant\"";
  if (std::string hint = hint_of_content(member_value(message, "content"), path + ".content"); !hint.empty())
    return hint;
  const Value calls = member_value(message, "tool_calls");
  for (std::uint32_t i = 0; calls.is_sequence() && i < calls.list->size; ++i) {
    if (std::string hint = hint_of_call(calls.list->items[i], at(path + ".tool_calls", i)); !hint.empty()) return hint;
  }
  return {};
}

/// Templates that ask whether there are calls, and not how many, take an empty list for some.
std::string hint_of_no_calls(Value messages) {
  for (std::uint32_t i = 0; i < messages.list->size; ++i) {
    const Value calls = member_value(messages.list->items[i], "tool_calls");
    if (calls.is_sequence() && calls.list->size == 0)
      return at("messages", i) + ".tool_calls is an empty list: leave it out where there are no calls";
  }
  return {};
}

bool is_message(Value value) {
  return value.kind == Kind::dict && member(value, "role") != nullptr && member(value, "messages") == nullptr;
}

}  // namespace

std::string hint_of_other_api(const Conversation& conversation) {
  const ConversationState& state = inside_of(conversation);
  if (member(state.variables, "messages") != nullptr) return {};
  const std::string_view api = other_api_of(state);
  return api.empty() ? "" : "a request of " + std::string(api) + ", which is converted if no option forbids it";
}

std::string hint_of_request(const Conversation& conversation) {
  const Value messages = conversation.messages();
  for (std::uint32_t i = 0; messages.is_sequence() && i < messages.list->size; ++i) {
    if (std::string hint = hint_of_message(messages.list->items[i], at("messages", i)); !hint.empty()) return hint;
  }
  return messages.is_sequence() ? hint_of_no_calls(messages) : std::string();
}

std::string hint_of_no_request(Value root) {
  if (is_message(root)) return "a message alone: write {\"messages\": [...]} around it";
  if (root.kind != Kind::list) return {};
  if (root.list->size == 0 || is_message(root.list->items[0]))
    return "a list of messages: write {\"messages\": ...} around it";
  const bool are_requests = member(root.list->items[0], "messages") != nullptr;
  return are_requests ? "a list of requests: each is read by itself" : "";
}

namespace {

/// The first of the row's members that is a list of messages; null for none.
const DictEntry* list_of_messages(Value row) {
  for (const DictEntry& entry : entries(row)) {
    const Value list = entry.value;
    if (list.kind == Kind::list && list.list->size != 0 && is_message(list.list->items[0])) return &entry;
  }
  return nullptr;
}

bool has_text(Value row, std::string_view name) { return member_value(row, name).is_string(); }

}  // namespace

std::string hint_of_row(Value row) {
  if (row.kind != Kind::dict) return {};
  const Value request = member_value(row, "request");
  if (member(request, "messages") != nullptr || member(request, "input") != nullptr)
    return "its request stands in `request`: give that alone";
  if (const Value failure = member_value(row, "error"); has_text(failure, "message"))
    return "the row is an error itself: " + std::string(leaf_text(member_value(failure, "message")));
  if (member(row, "chosen") != nullptr && member(row, "rejected") != nullptr)
    return "a row of preferences: `chosen` and `rejected` are conversations of their own, each as `messages`";
  if (member(row, "preferred_output") != nullptr && member(row, "input") != nullptr)
    return "a row of preferences: `input.messages` with the messages of `preferred_output` behind them is one "
           "conversation, and with those of `non_preferred_output` another: each as `messages`";
  if (const DictEntry* found = list_of_messages(row); found != nullptr)
    return "`" + std::string(leaf_text(found->key)) + "` is a list of messages: name it `messages`";
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"question", "answer"}, {"question", "response"}, {"query", "response"}, {"instruction", "response"}};
  for (const auto& [asked, answered] : kPairs) {
    if (!has_text(row, asked) || !has_text(row, answered)) continue;
    return "a row of `" + std::string(asked) + "` and `" + std::string(answered) +
           R"(`: as a chat it is {"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}]})";
  }
  return has_text(row, "text") ? "a row of `text` is no conversation: it may be a prompt that was rendered already"
                               : "";
}

}  // namespace parlance
