// Begin reading at check_messages_shape.
#include "serve/fronts/message_shape.h"

#include <string>

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

Result<void> check_message(Value message, const std::string& path) {
  if (!message.is(Kind::dict)) return misshapen(path, "an object");
  if (!message["role"].is_string()) return misshapen(path + ".role", "a text");
  const Value content = message["content"];
  if (content.is_undefined() || content.is_none() || content.is_string()) return {};
  if (!content.is_sequence()) return misshapen(path + ".content", "a text or a list of parts");
  std::size_t number = 0;
  for (const Value& part : content.items()) {
    Result<void> checked = check_part(part, path + ".content[" + std::to_string(number++) + "]");
    if (!checked) return checked;
  }
  return {};
}

}  // namespace

Result<void> check_messages_shape(Value body) {
  const Value messages = body["messages"];
  if (messages.is_undefined() || messages.is_none()) return {};
  if (!messages.is_sequence()) return misshapen("messages", "a list");
  std::size_t number = 0;
  for (const Value& message : messages.items()) {
    Result<void> checked = check_message(message, "messages[" + std::to_string(number++) + "]");
    if (!checked) return checked;
  }
  return {};
}

}  // namespace parlance::serve
