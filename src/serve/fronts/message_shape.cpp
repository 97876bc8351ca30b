// Begin reading at check_messages_shape.
#include "serve/fronts/message_shape.h"

#include <string>

#include "serve/fronts/request_parts.h"

namespace parlance::serve {

namespace {

Error misshapen(const std::string& path, std::string_view wanted) {
  return Error(ErrorCode::conversation, path + " must be " + std::string(wanted)).input(path);
}

Result<void> check_part(Value part, const std::string& path) {
  if (!part.is(Kind::dict)) return misshapen(path, "an object with a `type`");
  const std::string_view type = part["type"].text();
  const bool is_text = type == "text" || type == "input_text" || type == "output_text";
  if (is_text && !part["text"].is_string()) return misshapen(path + ".text", "a text");
  return {};
}

Result<void> check_call(Value call, const std::string& path) {
  if (!call.is(Kind::dict)) return misshapen(path, "an object");
  if (is_given(call["custom"]) || call["name"].is_string()) return {};
  if (!call["function"].is(Kind::dict)) return misshapen(path + ".function", "an object");
  if (!call["function"]["name"].is_string()) return misshapen(path + ".function.name", "a text");
  return {};
}

/// Of each item of a list; a member that is not given is fine.
template <typename Check>
Result<void> check_each(Value list, const std::string& path, std::string_view wanted, Check check) {
  if (!is_given(list)) return {};
  if (!list.is_sequence()) return misshapen(path, wanted);
  std::size_t number = 0;
  for (const Value& item : list.items()) {
    if (Result<void> checked = check(item, path + "[" + std::to_string(number++) + "]"); !checked) return checked;
  }
  return {};
}

Result<void> check_message(Value message, const std::string& path) {
  if (!message.is(Kind::dict)) return misshapen(path, "an object");
  if (!message["role"].is_string()) return misshapen(path + ".role", "a text");
  const Value content = message["content"];
  constexpr std::string_view kContent = "a text or a list of parts";
  if (!is_given(content) && message["role"].text() == "user") return misshapen(path + ".content", kContent);
  Result<void> checked;
  if (!content.is_string()) checked = check_each(content, path + ".content", kContent, check_part);
  return checked ? check_each(message["tool_calls"], path + ".tool_calls", "a list of calls", check_call) : checked;
}

}  // namespace

Result<void> check_messages_shape(Value body) {
  return check_each(body["messages"], "messages", "a list", check_message);
}

}  // namespace parlance::serve
