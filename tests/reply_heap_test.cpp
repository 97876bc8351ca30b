// How often reading replies asks the heap for memory: a parser of a compiled format few times, text never, a delta
// never.
//
// Begin reading at main.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "heap_counter.h"
#include "parlance/reply.h"
#include "parlance/source.h"

namespace {

using namespace parlance;

/// As derivation makes them: texts that may end a reply, and markers that begin with white space.
constexpr std::string_view kDerived =
    R"({"prompt": "<|assistant|>\n<think>\n", "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"},
  "calls": [{"layout": "list", "open": " [TOOL_CALLS] ", "call": [{"object": {"name": "name", "arguments": )"
    R"("arguments"}}],
    "open_optional": true}], "end": ["<|a_long_text_that_ends_a_reply|>"],
  "last": ["</s>", "<|endoftext|>", "<|end_of_text|>", "\n\n\n"]})";
constexpr std::string_view kText =
    "The café opens at 10; 3 < 4, </think and <|endoftext are text.\n\n  <|a_long_text_that_ends is none.\n\n\nAn é.";

int failures = 0;
void expect_at_most(std::size_t most, std::size_t found, std::string_view format, const std::string& what) {
  if (found <= most) return;
  ++failures;
  std::printf("%.*s: %s: %zu allocations, not at most %zu\n",
              static_cast<int>(std::min<std::size_t>(format.size(), 40)), format.data(), what.c_str(), found, most);
}

ReplyTools tools() {
  return *ReplyTools::from_json(R"([{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}])");
}

/// The second parser of a format: what the first one met is known.
void make_parsers(const CompiledReplyFormat& format, std::string_view name) {
  ReplyOptions options{.tools = tools(), .ends = {"<an end that only the request tells>"}, .check_calls = true};
  options.prompt = format.source().prompt + "x";
  for (int round = 0; round < 2; ++round) {
    options.tools = tools();
    const test::NoAllocations counted;
    const ReplyParser parser(format, options);
    if (round == 1) expect_at_most(9, counted.count(), name, "a parser with new tools");
  }
}

/// Text in pieces of a size, the second time.
void read_text(const CompiledReplyFormat& format, std::string_view name, std::size_t size, bool tokens) {
  ReplyParser parser(format, {.tools = tools(), .check_calls = true});
  ReplyDeltas deltas;
  std::string delta;
  delta.reserve(1024);
  std::size_t seen = 0;
  const auto take = [&](const ReplyEvent& event) {
    delta.clear();
    if (event.kind != ReplyEvent::Kind::malformed && deltas.append(delta, event)) seen += event.text.size();
  };
  const auto read = [&] {
    for (std::size_t at = 0; at < kText.size(); at += size) {
      const std::string_view piece = kText.substr(at, size);
      tokens ? parser.feed_token(piece, false, take) : parser.feed(piece, take);
    }
  };
  read();
  const std::size_t seen_before = seen;
  const test::NoAllocations counted;
  read();
  const std::size_t asked = counted.count();
  if (seen == seen_before) ++failures, std::printf("no text was read\n");
  expect_at_most(0, asked, name, (tokens ? "tokens of " : "pieces of ") + std::to_string(size) + " bytes of text");
}

}  // namespace

int main() {
  std::vector<std::string_view> formats{kDerived};
  for (const BuiltinFormat& builtin : builtin_formats()) formats.push_back(builtin.reply);
  for (const std::string_view json : formats) {
    const Result<ReplyFormat> format = ReplyFormat::from_json(json);
    if (!format) return std::printf("%s\n", std::string(format.error().message()).c_str()), 1;
    const CompiledReplyFormat compiled = *CompiledReplyFormat::make(*format);
    make_parsers(compiled, json);
    for (const std::size_t size : {1, 2, 3, 4, 7, 64}) {
      read_text(compiled, json, size, false);
      read_text(compiled, json, size, true);
    }
  }
  if (failures == 0) std::printf("%zu formats ask the heap for nothing that text needs\n", formats.size());
  return failures == 0 ? 0 : 1;
}
