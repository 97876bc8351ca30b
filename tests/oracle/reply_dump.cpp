// What this library makes of replies, for literal_oracle.py and reply_oracle.py.
//
// Standard input: on each line a format's name, a blank, and the reply in hexadecimal; before the name "conversation "
// for a whole prompt. Standard output: the message, or the request, as JSON on one line; "error: …" where there is
// none.
#include <iostream>
#include <string>
#include <string_view>

#include "parlance/reply.h"
#include "parlance/source.h"

namespace {

std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return bytes;
}

std::string message_of(const parlance::ReplyFormat& format, const std::string& reply) {
  parlance::ReplyMessage message;
  parlance::ReplyParser parser = *parlance::ReplyParser::make(format);
  const auto sink = [&](const parlance::ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message.to_json();
}

std::string answer(std::string_view line) {
  constexpr std::string_view kWhole = "conversation ";
  const bool whole = line.starts_with(kWhole);
  if (whole) line.remove_prefix(kWhole.size());
  const std::size_t blank = line.find(' ');
  const parlance::BuiltinFormat* builtin = parlance::find_format(line.substr(0, blank));
  if (builtin == nullptr || blank == line.npos) return "error: no such format";
  const auto format = parlance::ReplyFormat::from_json(builtin->reply);
  if (!format) return "error: " + format.error().message();
  const std::string text = from_hex(line.substr(blank + 1));
  if (!whole) return message_of(*format, text);
  const auto request = parlance::read_conversation(*format, text);
  return request ? *request : "error: " + request.error().message();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << '\n';
}
