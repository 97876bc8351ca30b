// How fast replies are read: MB/s of feed() for text, reasoning, and arguments in each codec; at once, in pieces of 64
// and of 4 bytes, and byte by byte; for 1 KB and for 10 MB. Beside it: the bytes of a reader's state in the middle of
// the reply, without what it holds; how often the heap is asked for memory for each KB of reply in pieces of 4 bytes;
// and for a parser of a format that is compiled, with a prompt, what making it takes.
//
//     bench_reply_feed [WORD]              a table; with a word, only the rows that begin so
//     bench_reply_feed --derived FOLDER    text in the format derived for each template of a folder, and the slowest
//
// Begin reading at kRows.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "heap_counter.h"
#include "parlance/derive.h"
#include "parlance/reply.h"
#include "parlance/source.h"
#include "parlance/template.h"

namespace {

using namespace parlance;

std::string repeated(std::string_view head, std::string_view piece, std::string_view tail, std::size_t size) {
  std::string text(head);
  while (text.size() < size) text += piece;
  return text += tail;
}

struct Row {
  const char* name;
  const char* format;  ///< the name of a built-in one, JSON, or a template to derive it from
  std::string_view head, piece, tail;
};

constexpr const char* kTags =
    R"({"calls": [{"call": ["<tool_call>\n<function=", {"name": true}, ">\n", {"arguments": {"tags": {"open": )"
    R"("<parameter=",
  "key_close": ">\n", "close": "\n</parameter>\n"}}}, "</function>\n</tool_call>"]}], "end": ["<|im_end|>"]})";
constexpr const char* kBare =
    R"({"calls": [{"call": ["<|tool_call>call:", {"name": true}, {"arguments": {"bare": "<|\"|>"}}, )"
    R"("<tool_call|>"]}]})";

/// As derive() makes it for a family of templates: with other ways to write a call, and a text that may end the reply.
constexpr const char* kDerivedTags =
    R"({"prompt": "<|im_start|>assistant\n<think>\n", "reasoning": {"open": "\n<think>\n", "close": "\n</think>\n\n",
  "ended_by_calls": true}, "calls": [{"call": [{"texts": ["<tool_call>\n<function=", "<function="], "before": "\n\n"},
  {"name": true}, ">", {"arguments": {"tags": {"open": "\n<parameter=", "key_close": ">\n", "close": )"
    R"("\n</parameter>"}}},
  {"texts": ["</function>\n</tool_call>", "</function>"], "before": "\n"}]}, {"call": ["<tool_call>",
  {"object": {"name": "name", "arguments": "arguments", "parameters": "arguments"}}, "</tool_call>"], "separator": )"
    R"("\n"}],
  "end": ["<|im_end|>"], "last": "<|endoftext|>"})";

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
    {"calls in JSON", "terminal-agent", "",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"at\": \"Lima\", \"days\": 3}}\n</tool_call>\n", ""},
    {"calls in tags", kTags, "",
     "<tool_call>\n<function=f>\n<parameter=at>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</"
     "tool_call>\n",
     ""},
    {"derived: text", "tests/templates/families/python_list.jinja", "", kProse, ""},
    {"derived: reasoning", kDerivedTags, "", kProse, "\n</think>\n\nDone."},
    {"derived: long JSON", "tests/templates/families/array_of_openai_objects.jinja",
     "<tool_call>\n[{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": {\"code\": "
     "\"",
     "for (int i = 0; i < n; ++i) {\\n  print(\\\"é\\\");\\n}\\n", "\"}}}]\n</tool_call>"},
    {"derived: Python calls", "tests/templates/families/python_list.jinja", "[f(x=0)",
     ", f(at='Lima', days=3, exact=True)", "]"},
    {"derived: one string", kDerivedTags, "</think>\n\n<tool_call>\n<function=f>\n<parameter=code>\n",
     "for (int i = 0; i < n; ++i) {\n  print(\"é\");\n}\n", "\n</parameter>\n</function>\n</tool_call>"},
    {"derived: small values", kDerivedTags, "</think>\n\n<tool_call>\n<function=f>\n",
     "<parameter=key>\nsome text\n</parameter>\n<parameter=other>\n[1, 2]\n</parameter>\n",
     "</function>\n</tool_call>"},
    {"derived: calls in tags", kDerivedTags, "</think>\n\n",
     "<tool_call>\n<function=f>\n<parameter=at>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</"
     "tool_call>\n",
     ""},
    {"derived: keys in tags", "tests/templates/families/name_and_keys_in_tags.jinja", "",
     "<tool_call>f<tool_sep>\n<arg_key>at</arg_key>\n<arg_value>Lima</arg_value>\n<arg_key>days</"
     "arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n",
     ""},
};

double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void feed_all(ReplyParser& parser, std::string_view reply, std::size_t size, ReplySink sink) {
  for (std::size_t at = 0; at < reply.size(); at += size) parser.feed(reply.substr(at, size), sink);
  parser.finish(sink);
}

/// MB/s of the processor's time: the best of some runs, since other programs take theirs.
double speed(const CompiledReplyFormat& format, const std::string& reply, std::size_t size) {
  constexpr double kRun = 0.02, kAll = 0.2;
  std::size_t seen = 0;
  const auto sink = [&](const ReplyEvent& event) { seen += event.text.size(); };
  const ReplyParser fresh(format);
  const double begin = now();
  double best = 0;
  do {
    const double start = now();
    double took = 0;
    std::size_t bytes = 0;
    do {
      ReplyParser parser(fresh);
      feed_all(parser, reply, size, sink);
      bytes += reply.size();
      took = now() - start;
    } while (took < kRun);
    best = std::max(best, static_cast<double>(bytes) / took / 1e6);
  } while (now() - begin < kAll);
  return seen == 0 ? 0 : best;
}

std::size_t memory(const CompiledReplyFormat& format, const std::string& reply) {
  ReplyParser parser(format);
  parser.feed(std::string_view(reply).substr(0, reply.size() / 2), [](const ReplyEvent&) {});
  return parser.memory();
}

/// In the second reply that a parser reads no room is new, but for what every call takes anew.
double allocations_of_feed(const CompiledReplyFormat& format, const std::string& reply) {
  const auto sink = [](const ReplyEvent&) {};
  ReplyParser parser(format);
  const std::uint64_t before = test::heap_count().allocations;
  feed_all(parser, reply, 4, sink);
  return static_cast<double>(test::heap_count().allocations - before) * 1024 / static_cast<double>(reply.size());
}

struct Making {
  double nanoseconds = 0;
  std::size_t allocations = 0;
};

/// A parser for a known format, new tools and its usual prompt, and all of it gone again.
Making making(const CompiledReplyFormat& format) {
  static const ReplyTools kTools = *ReplyTools::from_json(R"([{"name": "f", "parameters": {"properties": {}}}])");
  constexpr int kRounds = 20000;
  const ReplyOptions options{.tools = kTools, .prompt = format.source().prompt, .ends = {"<|stop|>"}};
  const ReplyParser first(format, options);
  Making best{1e9, 0};
  for (int run = 0; run < 5; ++run) {
    const std::uint64_t before = test::heap_count().allocations;
    const double start = now();
    for (int round = 0; round < kRounds; ++round) ReplyParser parser(format, options);
    best.nanoseconds = std::min(best.nanoseconds, (now() - start) * 1e9 / kRounds);
    best.allocations = (test::heap_count().allocations - before) / kRounds;
  }
  return best;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<ReplyFormat> derived(const std::filesystem::path& path) {
  const Result<Template> chat_template = Template::compile(text_of(path));
  if (!chat_template) return chat_template.error();
  Result<DerivedFormat> found = derive(*chat_template);
  if (!found) return found.error();
  return std::move(found->format);
}

Result<ReplyFormat> format_of(std::string_view format) {
  if (format.ends_with(".jinja")) return derived(std::filesystem::path(PARLANCE_BENCH_SOURCE) / format);
  return ReplyFormat::from_json(format.starts_with('{') ? format : find_format(format)->reply);
}

void print_row(const Row& row, const CompiledReplyFormat& format, std::size_t size) {
  const std::string reply = repeated(row.head, row.piece, row.tail, size);
  std::printf("%-26s %8zuK", row.name, size >> 10);
  for (const std::size_t chunk : {reply.size(), std::size_t{64}, std::size_t{4}, std::size_t{1}})
    std::printf(" %8.0f", speed(format, reply, chunk));
  const Making made = making(format);
  std::printf("   %7zu %7.2f %7.0f %3zu\n", memory(format, reply), allocations_of_feed(format, reply), made.nanoseconds,
              made.allocations);
}

/// Text in pieces of 4 bytes and of one, for each template of a folder.
void print_derived(const std::filesystem::path& folder) {
  const std::string reply = repeated("", kProse, "", 64 << 10);
  double slowest[] = {1e9, 1e9};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::printf("%-60s %8s %8s   MB/s %7s\n", "", "4", "1", "ns to make");
  for (const std::filesystem::path& path : paths) {
    const Result<ReplyFormat> format = derived(path);
    if (!format) continue;
    const CompiledReplyFormat compiled = *CompiledReplyFormat::make(*format);
    const double by_four = speed(compiled, reply, 4), by_one = speed(compiled, reply, 1);
    const Making made = making(compiled);
    std::printf("%-60s %8.0f %8.0f        %7.0f %3zu\n", path.stem().c_str(), by_four, by_one, made.nanoseconds,
                made.allocations);
    slowest[0] = std::min(slowest[0], by_four);
    slowest[1] = std::min(slowest[1], by_one);
  }
  std::printf("%-60s %8.0f %8.0f\n", "the slowest", slowest[0], slowest[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  if (wanted == "--derived" && argc > 2) return print_derived(argv[2]), 0;
  std::printf("%-26s %9s %8s %8s %8s %8s   MB/s %5s %7s %7s\n", "", "reply", "at once", "64", "4", "1", "state",
              "new/KB", "to make");
  for (const Row& row : kRows) {
    if (!std::string_view(row.name).starts_with(wanted)) continue;
    const auto format = format_of(row.format);
    if (!format) return 1;
    const CompiledReplyFormat compiled = *CompiledReplyFormat::make(*format);
    for (const std::size_t size : {std::size_t{1} << 10, std::size_t{10} << 20}) print_row(row, compiled, size);
  }
}
