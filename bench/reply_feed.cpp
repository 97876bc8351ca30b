// How fast replies are read: MB/s of feed() for text, reasoning, and arguments in each codec; at once, in pieces of 64
// and of 4 bytes, and byte by byte; for 1 KB and for 10 MB. Beside it the bytes of a reader's state in the middle of
// the reply, without what it holds. Prints a table; with a word, only the rows that begin so. Begin reading at kRows.
#include <cstdio>
#include <ctime>
#include <string>

#include "parlance/reply.h"
#include "parlance/source.h"

namespace {

using namespace parlance;

std::string repeated(std::string_view head, std::string_view piece, std::string_view tail, std::size_t size) {
  std::string text(head);
  while (text.size() < size) text += piece;
  return text += tail;
}

struct Row {
  const char* name;
  const char* format;  ///< the name of a built-in one, or JSON
  std::string_view head, piece, tail;
};

constexpr const char* kTags =
    R"({"calls": [{"call": ["<tool_call>\n<function=", {"name": true}, ">\n", {"arguments": {"tags": {"open": "<parameter=",
  "key_close": ">\n", "close": "\n</parameter>\n"}}}, "</function>\n</tool_call>"]}], "end": ["<|im_end|>"]})";
constexpr const char* kBare =
    R"({"calls": [{"call": ["<|tool_call>call:", {"name": true}, {"arguments": {"bare": "<|\"|>"}}, "<tool_call|>"]}]})";

constexpr std::string_view kProse =
    "The tide tables say high water is at half past nine;\nthe café opens at 10, and 3 < 4. ";
const Row kRows[] = {
    {"text", "terminal-agent", "", kProse, ""},
    {"reasoning", "underscore-bot", "", kProse, "\n</think>\n\nDone."},
    {"JSON, one long string", "terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"code\": \"",
     "for (int i = 0; i < n; ++i) {\\n  print(\\\"é\\\");\\n}\\n", "\"}}\n</tool_call>"},
    {"JSON, small values", "terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"rows\": [0",
     ", {\"id\": 123, \"ok\": true, \"name\": \"x\", \"at\": [1.5, null]}", "]}}\n</tool_call>"},
    {"Python literals", "chatglm3", "f\n```python\ntool_call(rows=[0",
     ", {'id': 123, 'ok': True, 'name': \"x y z\", 'at': [1.5, None]}", "])\n```\n<|observation|>"},
    {"Python, one long text", "chatglm3", "f\n```python\ntool_call(code=\"",
     "for (int i = 0; i < n; ++i) {\\n  print(\\\"é\\\");\\n}\\n", "\")\n```\n<|observation|>"},
    {"tags, one long string", kTags, "<tool_call>\n<function=f>\n<parameter=code>\n",
     "for (int i = 0; i < n; ++i) {\n  print(\"é\");\n}\n", "\n</parameter>\n</function>\n</tool_call>"},
    {"tags, small values", kTags, "<tool_call>\n<function=f>\n",
     "<parameter=key>\nsome text\n</parameter>\n<parameter=other>\n[1, 2]\n</parameter>\n",
     "</function>\n</tool_call>"},
    {"no quotes, one string", kBare, "<|tool_call>call:f{code:<|\"|>",
     "for (int i = 0; i < n; ++i) {\n  print(\"é\");\n}\n", "<|\"|>}<tool_call|>"},
    {"no quotes, small values", kBare, "<|tool_call>call:f{rows:[0",
     ",{id:123,ok:true,name:<|\"|>x y z<|\"|>,at:[1.5,null]}", "]}<tool_call|>"},
    {"a program", "chatglm3", "interpreter\n```python\n", "for i in range(10):\n    print(f\"{i} \\\"quoted\\\"\")\n",
     "\n```\n<|observation|>"},
};

/// MB/s of the processor's time; each run takes at least a fifth of a second of it.
double speed(const ReplyFormat& format, const std::string& reply, std::size_t size) {
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  std::size_t seen = 0, bytes = 0;
  const ReplySink sink = [&](const ReplyEvent& event) { seen += event.text.size(); };
  const ReplyParser fresh(format);
  const double start = now();
  double took = 0;
  do {
    ReplyParser parser(fresh);
    for (std::size_t at = 0; at < reply.size(); at += size) parser.feed(std::string_view(reply).substr(at, size), sink);
    parser.finish(sink);
    bytes += reply.size();
    took = now() - start;
  } while (took < 0.2);
  return seen == 0 ? 0 : static_cast<double>(bytes) / took / 1e6;
}

std::size_t memory(const ReplyFormat& format, const std::string& reply) {
  const ReplySink sink = [](const ReplyEvent&) {};
  ReplyParser parser(format);
  parser.feed(std::string_view(reply).substr(0, reply.size() / 2), sink);
  return parser.memory();
}

Result<ReplyFormat> format_of(const char* format) {
  return ReplyFormat::from_json(*format == '{' ? format : find_format(format)->reply);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  std::printf("%-24s %9s %8s %8s %8s %8s   MB/s %7s\n", "", "reply", "at once", "64", "4", "1", "state");
  for (const Row& row : kRows) {
    if (!std::string_view(row.name).starts_with(wanted)) continue;
    const auto format = format_of(row.format);
    if (!format) return 1;
    for (const std::size_t size : {std::size_t{1} << 10, std::size_t{10} << 20}) {
      const std::string reply = repeated(row.head, row.piece, row.tail, size);
      std::printf("%-24s %8zuK", row.name, size >> 10);
      for (const std::size_t chunk : {reply.size(), std::size_t{64}, std::size_t{4}, std::size_t{1}}) {
        std::printf(" %8.0f", speed(*format, reply, chunk));
      }
      std::printf("        %7zu\n", memory(*format, reply));
    }
  }
}
