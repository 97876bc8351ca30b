// What is opened before a reply is a view into the format or the prompt.
#include <optional>
#include <string>

#include "parlance/parlance.h"

std::string opened(const parlance::ReplyFormat& format) {
  const std::optional<std::string> prompt;
#ifdef WRONG
  return std::string(parlance::opened_before_reply(std::nullopt, format));
#else
  return std::string(parlance::opened_before_reply(prompt, format));
#endif
}
