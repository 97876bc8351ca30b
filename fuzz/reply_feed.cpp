// Fuzz target: any bytes as a reply, whole and in pieces. The first byte chooses a built-in format, or is '{' and
// begins a line that is a format itself; the second says where a reply begins and its limits, the third how it is cut.
// However it is cut, the events are the same once neighbours are joined; their sources are the reply; a call that is
// complete has arguments that are an object of JSON. A whole prompt is read too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "parlance/parlance.h"

namespace {

using namespace parlance;
using Kind = ReplyEvent::Kind;

struct Event {
  Kind kind;
  bool complete;
  std::uint32_t call;
  std::uint64_t position;
  std::string source, text, detail;
  bool operator==(const Event&) const = default;
};

const std::vector<ReplyFormat>& formats() {
  static const std::vector<ReplyFormat> all = [] {
    std::vector<ReplyFormat> made;
    for (const BuiltinFormat& builtin : builtin_formats()) {
      auto format = ReplyFormat::from_json(builtin.reply);
      if (!format) std::abort();
      made.push_back(std::move(*format));
    }
    return made;
  }();
  return all;
}

/// The joined events of a reply that is fed in pieces of `size` bytes; 0: at once.
std::vector<Event> read(ReplyParser parser, std::string_view reply, std::size_t size) {
  std::vector<Event> events;
  const auto sink = [&](const ReplyEvent& e) {
    if (e.kind <= Kind::trailing && !events.empty() && events.back().kind == e.kind && events.back().call == e.call) {
      events.back().source += e.source;
      events.back().text += e.text;
    } else {
      events.push_back(
          {e.kind, e.complete, e.call, e.position, std::string(e.source), std::string(e.text), std::string(e.detail)});
    }
  };
  if (size == 0) size = reply.size() + 1;
  for (; !reply.empty(); reply.remove_prefix(std::min(size, reply.size()))) parser.feed(reply.substr(0, size), sink);
  parser.finish(sink);
  if (parser.held() != 0) std::abort();
  return events;
}

void check(const std::vector<Event>& events, std::string_view reply) {
  std::string sources, arguments;
  for (const Event& event : events) {
    if (event.kind != Kind::malformed && event.position != sources.size()) std::abort();
    sources += event.source;
    if (event.kind == Kind::call_begin) arguments.clear();
    if (event.kind == Kind::arguments) arguments += event.text;
    if (event.kind != Kind::call_end || !event.complete) continue;
    Document document;
    if (!document.parse(arguments) || !document.root().is(parlance::Kind::dict)) std::abort();
  }
  if (sources != reply) std::abort();
}

/// What the input says is read, and with what.
struct Input {
  ReplyFormat format;
  ReplyOptions options;
  std::string_view reply;
  std::uint8_t cut = 0;
};

std::optional<Input> input_of(std::string_view bytes) {
  if (bytes.size() < 3) return std::nullopt;
  Input input;
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first == '{') {
    const std::size_t line = std::min(bytes.find('\n'), bytes.size());
    auto format = ReplyFormat::from_json(bytes.substr(0, line));
    bytes.remove_prefix(line);
    if (!format || bytes.size() < 3) return std::nullopt;
    const auto again = ReplyFormat::from_json(format->to_json());
    if (!again || !(*again == *format)) std::abort();
    input.format = std::move(*format);
  } else {
    input.format = formats()[first % formats().size()];
  }
  const auto choice = static_cast<unsigned char>(bytes[1]);
  input.cut = static_cast<std::uint8_t>(bytes[2]);
  input.reply = bytes.substr(3);
  if ((choice & 4) != 0) input.options.limits = {.depth = 4, .name = 12, .pending = 48};
  if (input.format.reasoning_open.exists() && (choice & 1) != 0)
    input.options.prompt = input.format.reasoning_open.texts.front();
  if ((choice & 8) != 0) input.options.prompt = std::string(input.reply.substr(0, input.cut % 16));
  if ((choice & 16) == 0) return input;
  static const ReplyTools tools = *ReplyTools::from_json(
      R"([{"name": "f", "parameters": {"properties": {"s": {"type": "string"}, "n": {"type": ["integer", "null"]}, )"
      R"("o": {"type": "object"}, "a": {"type": "array"}, "e": {"enum": [1, "x", null]}}}}])");
  input.options.tools = tools;
  return input;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = input_of({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  const auto& [format, options, reply, cut] = *input;
  const CompiledReplyFormat compiled = *CompiledReplyFormat::make(format);
  const ReplyParser parser(compiled, options);
  const std::vector<Event> whole = read(parser, reply, 0);
  check(whole, reply);
  if (read(parser, reply, 1) != whole || read(parser, reply, 1 + cut % 64) != whole) std::abort();
  if (format.turns.empty()) return 0;
  const ReplyParser turns = *ReplyParser::of_conversation(compiled, options.limits);
  const std::vector<Event> conversation = read(turns, reply, 0);
  check(conversation, reply);
  if (read(turns, reply, 1 + cut % 64) != conversation) std::abort();
  if (const auto request = read_conversation(format, reply)) {
    Document document;
    if (!document.parse(*request)) std::abort();
  }
  return 0;
}
