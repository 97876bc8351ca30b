// Tests of replies: formats as data, what the built-in formats read, and the laws that hold for any bytes.
//
// Begin reading at kReplyRows for what a reply means, at TEST(ReplyLaws, ...) for what holds however it is cut.
#include "parlance/reply.h"

#include <gtest/gtest.h>

#include <random>

#include "parlance/json.h"
#include "parlance/source.h"
#include "reply_material.h"
#include "share.h"
#include "value/dict.h"

namespace parlance {
namespace {

using testing::Event;
using testing::Events;
using testing::format_of;
using testing::read_whole;

// ---- formats as data

TEST(ReplyFormats, AreTheSameAfterJson) {
  for (const BuiltinFormat& builtin : builtin_formats()) {
    const ReplyFormat format = format_of(builtin.name);
    const Result<ReplyFormat> again = ReplyFormat::from_json(format.to_json());
    ASSERT_TRUE(again) << again.error().display();
    EXPECT_EQ(*again, format) << builtin.name;
  }
}

TEST(ReplyFormats, MembersOfEveryKindAreTheSameAfterJson) {
  ReplyFormat format;
  format.prompt = "<t>\n";
  format.reasoning_close = {{"</a>", "</b>"}, {}, {}};
  format.content_open = {{"<text>"}, "\n", {}};
  format.content_close = {{" </text>"}, {}, {}};
  format.calls_end_reasoning = format.calls_end_opened_reasoning = true;
  format.last = {"</s>", "<|e|>"};
  format.parallel = false;
  format.end = {{{"<e>"}, " ", "\n"}, {{"<f>", "\"\\é\n"}, {}, {}}, {{"\n"}, {}, {}}, {{"\r\n"}, "\n", {}}};
  format.control = {"<t>", "<e>"};
  format.prefix = "p";
  format.turns = {{"assistant", {{"<t>"}, {}, {}}, "\n", "raw"}};
  using Role = CallMember::Role;
  using Part = CallPart::Kind;
  const CallPart open{.literal = {{"<c>"}, "\n", {}}};
  const CallPart name{.kind = Part::name};
  const CallPart close{.literal = {{"</c>"}, {}, {}}};
  CallPart object{
      .kind = Part::object,
      .members = {{Role::name, "n"}, {Role::name, "m"}, {Role::id, "i"}, {Role::constant, "t", "[1, \"x\"]"}}};
  object.members.push_back({Role::inner,
                            "o",
                            {},
                            {{Role::inner, "p", {}, {{Role::arguments, "arguments"}}}, {Role::constant, "j", "null"}}});
  object.arguments.as_text = true;
  CallForm form;
  form.layout = CallLayout::list;
  form.open = {{"<l>"}, {}, {}};
  form.close = {{"</l>"}, {}, {}};
  form.call = {object};
  form.separator = ", ";
  form.commas_optional = form.open_optional = form.close_optional = form.initial = form.declared_only = true;
  form.id_pattern = "{name}:{0}";
  format.calls.push_back(form);
  form = {};
  form.headed = true;
  form.header = "h";
  form.result_open = "(";
  form.result_close = ")";
  form.call = {
      open, {.kind = Part::arguments, .arguments = {.codec = CallArguments::Codec::code, .argument = "x"}}, close};
  format.calls.push_back(form);
  ArgumentTags tags{.open = {{"<p>"}, {}, {}},
                    .key_close = {{":"}, {}, {}},
                    .type_close = {{">"}, {}, "\n"},
                    .close = {{"</p>"}, "\n", {}}};
  tags.string_types = {"string", "text"};
  tags.escape = ArgumentTags::Escape::cdata;
  tags.style = ArgumentTags::Style::python;
  tags.close_end = ">";
  form = {};
  form.layout = CallLayout::section;
  form.open = {{"<s>"}, {}, {}};
  form.call = {{.kind = Part::id, .pattern = "call.{1}"},
               open,
               {.kind = Part::skip},
               close,
               name,
               {.kind = Part::arguments, .arguments = {.codec = CallArguments::Codec::tags, .tags = tags}},
               close};
  format.calls.push_back(form);
  for (const CallArguments& arguments : {CallArguments{.as_text = true}, CallArguments{},
                                         CallArguments{.codec = CallArguments::Codec::bare, .quote = "\""},
                                         CallArguments{.codec = CallArguments::Codec::keywords}}) {
    form = {};
    form.initial = true;
    form.call = {name, {.kind = Part::arguments, .arguments = arguments}};
    format.calls.push_back(form);
  }
  const Result<ReplyFormat> again = ReplyFormat::from_json(format.to_json());
  ASSERT_TRUE(again) << again.error().display() << format.to_json();
  EXPECT_EQ(*again, format) << format.to_json() << again->to_json();
}

TEST(ReplyFormats, AreWrittenInTheShortestWay) {
  for (const std::string_view json : {
           R"({"end": ["\n<e>\n", "\n", {"texts": " x ", "after": "\n"}, ["\na", "b"]]})",
           R"({"calls": [{"call": ["<c>\n", {"object": {"{name}": "arguments"}}, "</c>"]}]})",
           R"({"calls": [{"call": ["<c>", {"object": {"name": "name", "function": {"inner": {"arguments": )"
           R"("arguments"}}}}]}]})",
           R"({"calls": [{"call": ["<c>", {"object": {"name": "name", "arguments": {"arguments": "text"}}}]}]})",
           R"({"end": [{"texts": "<e>", "loose": "<e*<x>"}, {"texts": ["a", "b"], "loose": ["<a*<", "<b*<"]}]})",
           R"({"content": {"open": {"texts": ["<c>d", "e"], "faulty": ["<c>", "f"]}}})",
           R"({"calls": [{"call": ["<c>", {"id": "functions.{name}:{0}"}, ">", {"arguments": "json"}]}]})",
       }) {
    const Result<ReplyFormat> format = ReplyFormat::from_json(json);
    ASSERT_TRUE(format) << format.error().display();
    EXPECT_EQ(format->to_json(), json);
  }
}

TEST(ReplyFormats, WithMoreMarkersThanATrieHoldsAreRefused) {
  ReplyFormat format;
  for (char c : {'a', 'b'}) format.end.push_back({{std::string(128, c)}, std::string(16, ' '), {}});
  const Result<void> valid = format.validate();
  ASSERT_FALSE(valid);
  EXPECT_EQ(valid.error().message(), "too many markers, or too long");
}

TEST(ReplyFormats, FaultyWaysToWriteAMarkerTakeNoMoreRoomThanOthers) {
  std::string markers[2];
  for (int i = 0; i < 2; ++i) {
    std::string faulty;
    for (char last = 'a'; last < 'm'; ++last)
      faulty += (faulty.empty() ? "\"" : ", \"") + std::string(120 + i, 'x') + last + "\"";
    markers[i] = R"({"texts": "<)" + std::to_string(i) + R"(>", "faulty": [)" + faulty + "]}";
  }
  const Result<ReplyFormat> format = ReplyFormat::from_json(
      R"({"reasoning": {"open": )" + markers[0] + R"(, "close": "</r>"}, "content": {"open": )" + markers[1] + "}}");
  ASSERT_TRUE(format) << format.error().display();
  EXPECT_TRUE(format->validate()) << format->validate().error().display();
}

struct Refused {
  std::string_view json;
  std::string_view path;
  std::string_view message;
};

const Refused kRefused[] = {
    {R"([])", "", "must be an object"},
    {R"({"ends": []})", "ends", "no such member"},
    {R"({"end": [3]})", "end[0]", "must be an object"},
    {R"({"end": [""]})", "end[0]", "1 to 128 bytes"},
    {R"({"reasoning": {"open": "<a>"}})", "reasoning.close", "must have an end"},
    {R"({"reasoning": {"open": "<a>", "close": "<a>"}})", "reasoning.close", "the same marker as reasoning.open"},
    {R"({"calls": [{"open": "<c>"}]})", "calls[0].call", "1 to 16 parts"},
    {R"({"calls": [{"call": ["<c>", {"object": {"n": "arguments"}}]}]})", "calls[0].call[1]", "the name, once"},
    {R"({"calls": [{"call": ["<c>", {"object": {"n": "name"}}]}]})", "calls[0].call[1]", "arguments, once"},
    {R"({"calls": [{"call": ["<c>", {"arguments": "json"}]}]})", "calls[0].call", "a name, once"},
    {R"({"calls": [{"call": ["<c>", {"name": true}, ">"]}]})", "calls[0].call", "arguments, once"},
    {R"({"calls": [{"call": [{"object": {"n": "name", "a": "arguments"}}]}]})", "calls[0].call", "initial"},
    {R"({"calls": [{"call": ["<c>", {"name": true}, {"arguments": {"code": "x"}}, ">"]}]})", "calls[0].call[1]",
     "a literal behind it"},
    {R"({"calls": [{"headed": true, "call": ["<c>", {"arguments": "json"}]}]})", "calls[0].headed", "no turn"},
    {R"({"calls": [{"call": ["<c>", {"name": 1}, ">"]}]})", "calls[0].call[1].name", "must be true"},
    {R"({"calls": [{"call": ["<c>", {"nam": true}, ">"]}]})", "calls[0].call[1]", "a part of a call"},
    {R"({"calls": [{"call": ["<c>", {"name": true}, ">", {"arguments": "xml"}]}]})", "calls[0].call[3].arguments",
     "json, text"},
    {R"({"calls": [{"call": ["<c>", {"object": {"{name}": "name"}}]}]})", "calls[0].call[1].object.{name}",
     "the role arguments"},
    {R"({"calls": [{"call": ["<c>", {"object": {"a": "names"}}]}]})", "calls[0].call[1].object.a", "must be name"},
    {R"({"calls": [{"layout": "lists"}]})", "calls[0].layout", "single, section, list"},
    {R"({"content": {"open": "<a>"}, "reasoning": {"close": "<a>"}})", "content.open", "the same marker"},
    {R"({"reasoning": {"open": "<a b>", "close": "<ab>"}})", "reasoning.close", "the same marker"},
    {R"({"end": [{"texts": "x", "before": "12345678901234567"}]})", "end[0]", "at most 16"},
    {R"({"end": [{"before": " "}]})", "end[0]", "without a marker"},
    {R"({"end": [{"texts": "x", "before": "y"}]})", "end[0]", "white space"},
    {R"({"end": [["1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d"]]})", "end[0]", "at most 12"},
    {R"({"end": [{"texts": "x", "loose": "<*x"}]})", "end[0]", "a '<' behind"},
    {R"({"end": [{"texts": "x", "loose": "*<x"}]})", "end[0]", "a '<' behind"},
    {R"({"end": [{"loose": "<x"}]})", "end[0]", "without a marker"},
    {R"({"content": {"open": {"faulty": "<x"}}})", "content.open", "without a marker"},
    {R"({"content": {"open": {"texts": "x", "faulty": ""}}})", "content.open", "1 to 128 bytes"},
    {R"({"end": [{"texts": "x", "faulty": "y"}]})", "end[0]", "only what opens"},
    {R"({"calls": [{"call": ["<c>", {"name": true}, {"texts": "x", "faulty": "y"}, {"arguments": "json"}]}]})",
     "calls[0].call[2]", "only what opens"},
    {R"({"content": {"open": {"texts": "<a>b", "faulty": "<a>"}}, "end": ["<a>"]})", "end[0]", "the same marker"},
    {R"({"end": [{"texts": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d"]}]})", "end[0]",
     "at most 12"},
};

TEST(ReplyFormats, ThatCannotBeAreRefusedWithTheirPath) {
  for (const Refused& row : kRefused) {
    const Result<ReplyFormat> format = ReplyFormat::from_json(row.json);
    ASSERT_FALSE(format) << row.json;
    EXPECT_EQ(format.error().input_path(), row.path) << row.json;
    EXPECT_NE(format.error().message().find(row.message), std::string::npos) << format.error().message();
  }
}

TEST(ReplyFormats, AMisspeltMemberHasAHint) {
  const Result<ReplyFormat> format = ReplyFormat::from_json(R"({"reasonin": {}})");
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().hint(), "did you mean 'reasoning'?");
}

// ---- what replies mean

/// The events but for markup and framing, as one line.
std::string outline(const Events& events) {
  using Kind = ReplyEvent::Kind;
  std::string out;
  bool arguments = false;
  for (const Event& event : events) {
    if (event.kind == Kind::marker || (event.kind == Kind::turn && event.detail.empty())) continue;
    const bool more = event.kind == Kind::arguments && std::exchange(arguments, event.kind == Kind::arguments);
    arguments = event.kind == Kind::arguments;
    if (more) {
      out += event.text;
      continue;
    }
    out += out.empty() ? "" : " | ";
    out += name_of(event.kind);
    if (event.kind == Kind::call_end) out += event.complete ? " complete" : " cut";
    if (event.kind == Kind::malformed) out += " at " + std::to_string(event.position);
    if (!event.text.empty()) out += ": " + event.text;
    if (!event.detail.empty()) out += " (" + event.detail + ")";
  }
  return out;
}

struct ReplyRow {
  std::string_view format;
  std::string_view reply;
  std::string_view outline;
};

#define CALL(x) "<tool_call>\n" x "\n</tool_call>"
#define FENCE "```"

const ReplyRow kReplyRows[] = {
    // text and reasoning
    {"terminal-agent", "Hello", "content: Hello"},
    {"terminal-agent", "", ""},
    {"terminal-agent", "  Hi\n<|im_end|>", "content:   Hi\n | end"},
    {"terminal-agent", "a<|im_end|>b", "content: a | end | trailing: b"},
    {"terminal-agent", "a < b <|im_en", "content: a < b <|im_en"},
    {"terminal-agent", "<think>\nR\n</think>\n\nC", "reasoning: R | content: C"},
    {"terminal-agent", "\n<think>\nR\n</think>\n\n\n\n<tool_call>",
     "reasoning: R | malformed at 34: the name of a call | content: \n\n<tool_call>"},
    {"terminal-agent", "<think>R</think>C", "reasoning: R | content: C"},
    {"terminal-agent", "<think>\n\nR\n\n</think>\n\n\nC", "reasoning: \nR\n | content: \nC"},
    {"terminal-agent", "C</think>D", "content: C</think>D"},
    {"terminal-agent", "<think>a<think>b", "reasoning: a<think>b"},
    {"terminal-agent", "<think>a" CALL(R"({"name": "f"})") "</think>b",
     "reasoning: a<tool_call>\n{\"name\": \"f\"}\n</tool_call> | content: b"},
    {"underscore-bot", "R\n</think>\n\nC<_end>\n", "reasoning: R | content: C | end | trailing: \n"},
    {"underscore-bot", "<think>\nR</think>C", "reasoning: R | content: C"},
    {"underscore-bot", "R" CALL(R"({"name": "f", "arguments": {}})") "</think>C",
     "reasoning: R | call_begin: f | arguments: {} | call_end complete | content: C"},
    {"underscore-bot", "a <tool_call> tag</think>",
     "reasoning: a  | malformed at 14: '{' | reasoning: <tool_call> tag"},
    {"rnj-1", "<think>no</think>", "content: <think>no</think>"},
    // calls as objects
    {"terminal-agent", "a\n" CALL(R"({"name": "f", "arguments": {"x": [1.0, "\u00e9}"]}})"),
     R"(content: a | call_begin: f | arguments: {"x": [1.0, "\u00e9}"]} | call_end complete)"},
    {"terminal-agent", CALL(R"({"arguments": {"x": 1}, "name": "f"})"),
     R"(call_begin: f | arguments: {"x": 1} | call_end complete)"},
    {"terminal-agent", CALL(R"({"arguments": "{\"x\": \"\u00e9\"}", "name": "f"})"),
     R"(call_begin: f | arguments: {"x": "é"} | call_end complete)"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": "{\"x\": \"\\u00e9\ud83d\ude00\"}"})"),
     R"(call_begin: f | arguments: {"x": "\u00e9😀"} | call_end complete)"},
    {"terminal-agent", CALL(R"({"name": "f\u0067", "extra": [{"name": 1}], "arguments": null})"),
     "call_begin: fg | arguments: {} | call_end complete"},
    {"terminal-agent", CALL(R"({"name": "f"})"), "call_begin: f | arguments: {} | call_end complete"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": ""})"), "call_begin: f | arguments: {} | call_end complete"},
    {"rnj-1", "a\n" CALL(R"({"name":"f"})") "\n" CALL(R"({"name":"g"})") "<|eot_id|>",
     "content: a\n | call_begin: f | arguments: {} | call_end complete | call_begin: g | arguments: {} | call_end "
     "complete | end"},
    {"rnj-1", CALL(R"({"name":"f"})") "\n\nand",
     "call_begin: f | arguments: {} | call_end complete | content: \n\nand"},
    // calls that go wrong
    {"terminal-agent", "<tool_call> is a tag", "malformed at 12: '{' | content: <tool_call> is a tag"},
    {"terminal-agent", "<tool_call><tool_call>{\"name\": \"f\"}</tool_call>",
     "malformed at 11: '{' | content: <tool_call> | call_begin: f | arguments: {} | call_end complete"},
    {"terminal-agent", CALL(R"({"name": 3})"),
     "malformed at 21: a name | content: <tool_call>\n{\"name\": 3}\n</tool_call>"},
    {"terminal-agent", CALL(R"({"name": ""})"),
     "malformed at 23: a name | content: <tool_call>\n{\"name\": \"\"}\n</tool_call>"},
    {"terminal-agent", CALL(R"({"arguments": {}})"),
     "malformed at 28: a member 'name' | content: <tool_call>\n{\"arguments\": {}}\n</tool_call>"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": {"x": oops}})") " b",
     "call_begin: f | arguments: {\"x\":  | malformed at 45: a value | call_end cut | broken: oops}} | content:  b"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": [1]})"),
     "call_begin: f | malformed at 39: an object of arguments | call_end cut | broken: [1]}"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": "[1]"})"),
     "call_begin: f | arguments: \" | malformed at 40: a value | call_end cut | broken: [1]\"}"},
    {"terminal-agent", CALL(R"({"name": "f", "arguments": {}, "arguments": {}})"),
     "call_begin: f | arguments: {} | malformed at 56: the arguments once | call_end cut | broken: {}}"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"a\nb\"}}</tool_call>",
     "call_begin: f | arguments: {\"x\": \"a\\nb\"} | call_end complete"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"a\vb\"}}</tool_call>",
     "call_begin: f | arguments: {\"x\": \"a | malformed at 46: text without control characters, and '\"' | call_end "
     "cut | broken: \vb\"}}"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"a<|im_end|>\"}}",
     "call_begin: f | arguments: {\"x\": \"a<|im_end|>\"} | call_end complete | malformed at 59: </tool_call>"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"a",
     "call_begin: f | arguments: {\"x\": \"a | call_end cut"},
    {"terminal-agent", "<tool_call>{\"name\": \"f",
     "malformed at 22: text without control characters, and '\"' | content: <tool_call>{\"name\": \"f"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\"}\n</tool_",
     "call_begin: f | arguments: {} | call_end complete | malformed at 25: </tool_call>"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\"}\nDone<|im_end|>",
     "call_begin: f | arguments: {} | call_end complete | malformed at 25: </tool_call> | content: \nDone | end"},
    {"terminal-agent", "<tool_call>{\"name\": \"f\"}<tool_call>{\"name\": \"g\"}",
     "call_begin: f | arguments: {} | call_end complete | malformed at 24: </tool_call> | call_begin: g | arguments: "
     "{} | call_end complete | malformed at 48: </tool_call>"},
    // calls as a list
    {"command-r-plus",
     "\nAction: " FENCE "json\n[\n{\n\"tool_name\": \"f\",\n\"parameters\": {\"x\":1}\n}\n{\n\"tool_name\": "
     "\"g\",\n\"parameters\": {}\n}\n]" FENCE "\n",
     "call_begin: f | arguments: {\"x\":1} | call_end complete | call_begin: g | arguments: {} | call_end complete"},
    {"command-r-plus",
     "Plan: x\nAction:\n" FENCE "json\n[{\"parameters\": {}, \"tool_name\": \"f\"}, {\"tool_name\": \"g\"}]\n" FENCE,
     "content: Plan: x | call_begin: f | arguments: {} | call_end complete | call_begin: g | arguments: {} | call_end "
     "complete"},
    {"command-r-plus", "Action: " FENCE "json\n[]" FENCE "ok", "content: ok"},
    {"command-r-plus", "Action: " FENCE "json\n{}",
     "malformed at 17: a member 'tool_name' | content: Action: " FENCE "json\n{}"},
    {"command-r-plus", "Action: " FENCE "json\n[{\"tool_name\": \"f\"}, 3]" FENCE " b",
     "call_begin: f | arguments: {} | call_end complete | malformed at 37: '{' | content: , 3 | content:  b"},
    {"command-r-plus", "Action: buy", "content: Action: buy"},
    // headers
    {"chatglm3", "\nHello\n<|user|>", "content: Hello | end: user"},
    {"chatglm3", "\n Hello\n<|user|>", "content: Hello | end: user"},  // the tokenizer's dummy prefix
    {"chatglm3", " \n  Hello", "content:  Hello"},
    {"chatglm3", " Hello, you", "content:  Hello, you"},
    {"chatglm3", "\n ", ""},
    {"chatglm3",
     " f\n " FENCE "python\ntool_call(a=1)\n" FENCE "\n<|assistant|> g\n " FENCE "python\ntool_call()\n" FENCE
     "\n<|observation|>",
     "call_begin: f | arguments: {\"a\": 1} | call_end complete | call_begin: g | arguments: {} | call_end complete | "
     "end: tool"},
    {"chatglm3", "f\n  " FENCE "python\ntool_call()\n" FENCE, "content: f\n  " FENCE "python\ntool_call()\n" FENCE},
    {"chatglm3", "f\n Hello", "content: f\n Hello"},
    {"chatglm3", "\nHello<|user|>x", "content: Hello | end: user | trailing: x"},
    {"chatglm3", "Hello there", "content: Hello there"},
    {"chatglm3", "Hello\nthere\n<|user|>", "content: Hello\nthere | end: user"},
    {"chatglm3",
     "\nI look.\n<|assistant|>f\n" FENCE "python\ntool_call(a='x', b=[1, None])\n" FENCE "\n<|observation|>",
     "content: I look. | call_begin: f | arguments: {\"a\": \"x\", \"b\": [1, null]} | call_end complete | end: tool"},
    {"chatglm3", "f\n" FENCE "python\ntool_call()\n" FENCE, "call_begin: f | arguments: {} | call_end complete"},
    {"chatglm3", "f\n" FENCE "python\ntool_call(a=os.x)\n" FENCE "\n<|observation|>",
     "call_begin: f | arguments: {\"a\": os | malformed at 26: a literal | call_end cut | broken: .x) | end: tool"},
    {"chatglm3", "f\n" FENCE "python\ntool_call(a=", "call_begin: f | arguments: {\"a\":  | call_end cut"},
    {"chatglm3", "interpreter\n" FENCE "python\nx = \"" FENCE "\"\nprint(x)\n" FENCE "\n<|observation|>",
     "call_begin: interpreter | arguments: {\"code\": \"x = \\\"" FENCE
     "\\\"\\nprint(x)\"} | call_end complete | end: tool"},
    {"chatglm3", "interpreter\n" FENCE "python\nx",
     "call_begin: interpreter | arguments: {\"code\": \"x | call_end cut"},
    {"chatglm3", "interpreter\n" FENCE "python\nx\n" FENCE "\n",
     "call_begin: interpreter | arguments: {\"code\": \"x\"} | call_end complete"},
    {"chatglm3", "interpreter\n" FENCE "python\nx<|observation|>",
     "call_begin: interpreter | arguments: {\"code\": \"x | malformed at 23: " FENCE " | call_end cut | end: tool"},
    {"chatglm3", "\na\n<|assistant|>\nb", "content: a | content: b"},
};

TEST(Replies, ADummyPrefixStandsBehindAHeader) {
  for (const std::string_view close : {R"("")", R"(" \n")"}) {
    const std::string text = R"({"turns": [{"role": "assistant", "open": "<a>", "header_close": )" +
                             std::string(close) + R"(, "dummy_prefix": true}]})";
    const Result<ReplyFormat> format = ReplyFormat::from_json(text);
    ASSERT_FALSE(format.has_value()) << close;
    EXPECT_EQ(format.error().input_path(), "turns[0].dummy_prefix");
  }
}

TEST(Replies, OfTheBuiltinFormats) {
  for (const ReplyRow& row : kReplyRows)
    EXPECT_EQ(outline(read_whole(format_of(row.format), row.reply)), row.outline) << row.format << ": " << row.reply;
}

ReplyMessage message_in_format(std::string_view format, std::string_view reply) {
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(format_of(format));
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message;
}

TEST(ReplyMessages, SayWhyTheyEnd) {
  EXPECT_EQ(message_in_format("terminal-agent", "a<|im_end|>").finish_reason(), "stop");
  EXPECT_EQ(message_in_format("terminal-agent", "<think>a").finish_reason(), "length");
  EXPECT_EQ(message_in_format("terminal-agent", "<think>a<|im_end|>").finish_reason(), "stop");
  EXPECT_EQ(message_in_format("terminal-agent", CALL(R"({"name": "f"})")).finish_reason(), "tool_calls");
  EXPECT_EQ(message_in_format("terminal-agent", R"(<tool_call>{"name": "f", "arguments": {)").finish_reason(),
            "length");
  EXPECT_EQ(message_in_format("terminal-agent", CALL(R"({"name": "f", "arguments": {x}})")).finish_reason(), "length");
  EXPECT_EQ(message_in_format("terminal-agent", CALL(R"({"name": "f", "arguments": {x}})") CALL(R"({"name": "f"})"))
                .finish_reason(),
            "tool_calls");
  EXPECT_EQ(
      message_in_format("terminal-agent", R"(<tool_call>{"name": "f", "arguments": {"a": )" + std::string(300, '['))
          .finish_reason(),
      "length");
}

TEST(ReplyMessages, SayThatACallWithoutANameWasCutOff) {
  const ReplyMessage message = message_in_format("terminal-agent", "<tool_call>\n{\"name\": \"get_wea");
  EXPECT_EQ(message.content, "<tool_call>\n{\"name\": \"get_wea");
  EXPECT_EQ(message.finish_reason(), "length");
  ASSERT_EQ(message.diagnostics.size(), 1u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::cut);
  EXPECT_EQ(message_in_format("terminal-agent", "It begins with <tool_call>").finish_reason(), "stop");
}

TEST(ReplyMessages, MayEndWithTheMarkerOfACallThatLacksAPart) {
  const std::string format = R"({"calls": [{"call": [{"texts": "<c>call:", "faulty": ["<c>:", "<c>"]}, {"name": true},
      {"arguments": "json"}, "</c>"]}], "control": ["<c>", "</c>"]})";
  const auto message = [&](std::string_view reply) {
    ReplyMessage made;
    ReplyParser parser = *ReplyParser::make(*ReplyFormat::from_json(format));
    const auto sink = [&](const ReplyEvent& event) { made.add(event); };
    parser.feed(reply, sink);
    parser.finish(sink);
    return made;
  };
  for (const std::string_view reply : {"Calls begin with `<c>`.", "Text <c>now"}) {
    EXPECT_EQ(message(reply).content, reply);
    EXPECT_EQ(message(reply).finish_reason(), "stop") << reply;
  }
  EXPECT_EQ(message("Text <c>call:now").finish_reason(), "length");
  EXPECT_EQ(message(R"(<c>now{"a": 1}</c>)").finish_reason(), "tool_calls");
}

TEST(ReplyMessages, KeepWhatWentWrong) {
  const ReplyMessage message = message_in_format("terminal-agent", CALL(R"({"name": "f", "arguments": {"a": oops}})"));
  ASSERT_EQ(message.calls.size(), 1u);
  EXPECT_EQ(message.calls[0].arguments, R"({"a": oops}})");
  EXPECT_FALSE(message.calls[0].complete);
  ASSERT_EQ(message.diagnostics.size(), 1u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::syntax);
}

TEST(ReplyMessages, SayWhatWasMended) {
  const ReplyMessage message =
      message_in_format("terminal-agent", CALL(R"({"name": "f", "arguments": {"a": [1, ], 'b': 'c'}})"));
  ASSERT_EQ(message.calls.size(), 1u);
  EXPECT_EQ(message.calls[0].arguments, R"({"a": [1], "b": "c"})");
  EXPECT_TRUE(message.calls[0].complete);
  ASSERT_EQ(message.diagnostics.size(), 2u);
  EXPECT_EQ(message.diagnostics[0].position, 47u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::mended);
  EXPECT_EQ(name_of(message.diagnostics[1].fault), "mended");
}

TEST(ReplyMessages, AreJson) {
  EXPECT_EQ(
      message_in_format("terminal-agent", "<think>\n \n</think>\n\n" CALL(R"({"name": "f", "arguments": {"x": "\""}})"))
          .to_json(),
      R"({"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", )"
      R"("function": )"
      R"({"name": "f", "arguments": "{\"x\": \"\\\"\"}"}, "complete": true}]}, "finish_reason": "tool_calls", )"
      R"("diagnostics": []})");
  EXPECT_EQ(message_in_format("chatglm3", "\na\n<|assistant|>\nb").content, "a\nb");
}
#undef CALL

TEST(ReplyMessages, TakeIdsFromTheWire) {
  const auto format = ReplyFormat::from_json(
      R"({"calls": [{"layout": "list", "open": "[C]", "call": [{"object": {"id": "id", "name": "name", "arguments": )"
      R"("arguments"}}]}]})");
  ASSERT_TRUE(format) << format.error().display();
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(*format);
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(R"([C][{"name": "f", "arguments": {}, "id": "late"}, {"id": "early", "name": "g"}])", sink);
  parser.finish(sink);
  ASSERT_EQ(message.calls.size(), 2u);
  EXPECT_EQ(message.calls[0].id, "late");
  EXPECT_EQ(message.calls[1].id, "early");
}

// ---- limits

TEST(ReplyLimitsTest, AreEvents) {
  ReplyLimits limits;
  limits.depth = 3;
  limits.name = 8;
  limits.pending = 64;
  const ReplyFormat format = format_of("terminal-agent");
  EXPECT_EQ(outline(read_whole(format, R"(<tool_call>{"name": "f", "arguments": {"a": [[[1]]]}}</tool_call>)",
                               {.limits = limits})),
            "call_begin: f | arguments: {\"a\": [[ | malformed at 46: nesting no deeper than the limit | call_end cut "
            "| broken: [1]]]}}");
  EXPECT_EQ(outline(read_whole(format, R"(<tool_call>{"name": "longer than eight"})", {.limits = limits})),
            "malformed at 28: less before the arguments | content: <tool_call>{\"name\": \"longer than eight\"}");
  const std::string blanks(100, ' ');
  EXPECT_EQ(outline(read_whole(format, "<tool_call>" + blanks + "{", {.limits = limits})),
            "malformed at 64: the name of the call sooner | content: <tool_call>" + blanks + "{");
  EXPECT_EQ(
      outline(read_whole(format_of("chatglm3"), "f\n" FENCE "python\ntool_call(a=(((((1)))))", {.limits = limits})),
      "call_begin: f | arguments: {\"a\": (( | malformed at 26: nesting no deeper than the limit | call_end cut | "
      "broken: (((1)))))");
}

/// A number of Python, and a text without quotes, say nothing before they end.
TEST(ReplyLimitsTest, HoldOfValuesToo) {
  const ReplyLimits limits{.pending = 64};
  const std::string most(64, '7'), number = most + "7", call = "f\n" FENCE "python\ntool_call(a=";
  for (const std::size_t size : {std::size_t{1}, std::size_t{200}}) {
    EXPECT_EQ(outline(testing::read_sized(format_of("chatglm3"), call + number + ")", size, {.limits = limits})),
              "call_begin: f | arguments: {\"a\": " + most +
                  " | malformed at 88: a shorter number | call_end cut | broken: 7)");
    const ReplyFormat bare = *ReplyFormat::from_json(R"({"calls": [{"call": ["<c>", {"name": true},
        {"arguments": {"bare": "'"}}, "</c>"]}]})");
    EXPECT_EQ(outline(testing::read_sized(bare, "<c>f{a:" + number + "}</c>", size, {.limits = limits})),
              "call_begin: f | arguments: {\"a\": " + most +
                  " | malformed at 71: a shorter value | call_end cut | broken: 7}");
  }
  EXPECT_EQ(outline(read_whole(format_of("chatglm3"), call + most + ")\n" FENCE, {.limits = limits})),
            "call_begin: f | arguments: {\"a\": " + most + "} | call_end complete");
}
#undef FENCE

TEST(ReplyLimitsTest, HoldBackLittle) {
  for (const BuiltinFormat& builtin : builtin_formats()) {
    ReplyParser parser = *ReplyParser::make(format_of(builtin.name));
    std::size_t most = 0;
    for (int i = 0; i < 3000; ++i) {
      parser.feed(std::string_view("\n \n<x```Ac").substr(static_cast<std::size_t>(i) % 10, 1),
                  [](const ReplyEvent&) {});
      most = std::max(most, parser.held());
    }
    EXPECT_LE(most, 64u + 40u) << builtin.name;
  }
}

// ---- laws

TEST(ReplyLaws, EveryTwoWayCutAndEverySize) {
  for (const ReplyRow& row : kReplyRows) {
    const ReplyFormat format = format_of(row.format);
    const Events whole = read_whole(format, row.reply);
    for (std::size_t cut = 0; cut <= row.reply.size(); cut += testing::stride()) {
      ASSERT_EQ(testing::read_cut(format, row.reply, {cut}), whole) << row.reply << " cut at " << cut;
    }
    for (std::size_t size = 1; size <= 64; size += testing::stride()) {
      ASSERT_EQ(testing::read_sized(format, row.reply, size), whole) << row.reply << " by " << size;
    }
  }
}

TEST(ReplyLaws, HoldForMutatedAndRandomReplies) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < testing::share_of(30000); ++round) {
    const ReplyRow& row = kReplyRows[random() % std::size(kReplyRows)];
    const std::string reply =
        round % 4 == 0 ? testing::random_reply(random) : testing::mutated(std::string(row.reply), random);
    const ReplyFormat& format = format_of(row.format);
    const ReplyLimits tight{.depth = 3, .name = 10, .pending = 50};
    const std::string fault =
        testing::broken_law(format, reply, random, ReplyOptions{.limits = round % 3 == 0 ? tight : ReplyLimits{}});
    ASSERT_EQ(fault, "") << row.format << ": " << reply;
  }
}

TEST(ReplyLaws, ACopyGoesOnByItself) {
  const std::string_view reply = kReplyRows[18].reply;
  const ReplyFormat format = format_of(kReplyRows[18].format);
  for (std::size_t cut = 0; cut <= reply.size(); ++cut) {
    ReplyParser parser = *ReplyParser::make(format);
    testing::Recorder first;
    parser.feed(reply.substr(0, cut), first.sink());
    ReplyParser copy(parser);
    testing::Recorder second = first;
    parser.feed("<tool_call>{\"name\": \"other\"", first.sink());
    copy.feed(reply.substr(cut), second.sink());
    copy.finish(second.sink());
    ASSERT_EQ(second.events(), read_whole(format, reply)) << cut;
  }
}

}  // namespace
}  // namespace parlance
