// Tests of what is said of calls that do not fit their tools: only what is certain, and nothing else changes.
//
// Begin reading at kCheckRows.
#include <gtest/gtest.h>

#include <random>

#include "parlance/reply.h"
#include "parlance/source.h"
#include "reply_cases.h"
#include "reply_material.h"
#include "share.h"

namespace parlance {
namespace {

using testing::message_of;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

ReplyTools tools_of(std::string_view parameters) {
  const auto tools = ReplyTools::from_json(
      R"([{"type": "function", "function": {"name": "get_weather", "parameters": )" + std::string(parameters) + "}}]");
  EXPECT_TRUE(tools) << tools.error().display();
  return *tools;
}

/// What is said of one call, joined by "; ".
std::string said_of(std::string_view parameters, std::string_view arguments, std::string_view name = "get_weather") {
  const std::string reply = "<tool_call>\n{\"name\": \"" + std::string(name) +
                            "\", \"arguments\": " + std::string(arguments) + "}\n</tool_call>";
  const ReplyMessage message =
      message_of(testing::format_of("terminal-agent"), {.tools = tools_of(parameters), .check_calls = true}, reply);
  std::string said;
  for (const ReplyDiagnostic& diagnostic : message.diagnostics) {
    EXPECT_TRUE(is_of_tool(diagnostic.fault)) << diagnostic.expected;
    said += (said.empty() ? "" : "; ") + std::string(name_of(diagnostic.fault)) + ": " + diagnostic.expected;
  }
  EXPECT_TRUE(message.calls.size() == 1 && message.calls[0].complete) << reply;
  return said;
}

struct CheckRow {
  std::string_view parameters, arguments, said;
};

#define OF(schema) R"({"type": "object", "properties": {"a": )" schema R"(}})"

const CheckRow kCheckRows[] = {
    {R"({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city", "days"]})",
     R"({"city": "Paris"})", "missing: the argument 'days' of 'get_weather'"},
    {R"({"properties": {"city": {"type": "string"}}, "required": ["city"]})", "{}",
     "missing: the argument 'city' of 'get_weather'"},
    {R"({"properties": {"city": {"type": "string", "required": true}}})", "{}", ""},
    {OF(R"({"type": "integer"})"), R"({"a": "x"})", "misfit: an integer as 'a' of 'get_weather', not a text"},
    {OF(R"({"type": "integer"})"), R"({"a": 1.5})", "misfit: an integer as 'a' of 'get_weather', not a number"},
    {OF(R"({"type": "integer"})"), R"({"a": 1.0})", ""},
    {OF(R"({"type": "number"})"), R"({"a": 3})", ""},
    {OF(R"({"type": "boolean"})"), R"({"a": 1})", "misfit: true or false as 'a' of 'get_weather', not an integer"},
    {OF(R"({"type": "integer"})"), R"({"a": true})", "misfit: an integer as 'a' of 'get_weather', not true"},
    {OF(R"({"type": "string"})"), R"({"a": null})", "misfit: a text as 'a' of 'get_weather', not null"},
    {OF(R"({"type": "string", "nullable": true})"), R"({"a": null})", ""},
    {OF(R"({"type": "string", "default": null})"), R"({"a": null})", ""},
    {OF(R"({"type": ["string", "null"]})"), R"({"a": 3})",
     "misfit: a text or null as 'a' of 'get_weather', not an integer"},
    {OF(R"({"type": "whatever"})"), R"({"a": 3})", ""},
    {OF(R"({"type": ["string", "whatever"]})"), R"({"a": 3})", ""},
    {OF(R"({"type": "float"})"), R"({"a": "x"})", "misfit: a number as 'a' of 'get_weather', not a text"},
    // values
    {OF(R"({"enum": ["c", "f"]})"), R"({"a": "k"})", "misfit: \"c\" or \"f\" as 'a' of 'get_weather', not \"k\""},
    {OF(R"({"enum": ["c", "f"]})"), R"({"a": "c"})", ""},
    {OF(R"({"enum": [1, 2]})"), R"({"a": 1.0})", ""},
    {OF(R"({"enum": [1, 2]})"), R"({"a": true})", "misfit: 1 or 2 as 'a' of 'get_weather', not true"},
    {OF(R"({"enum": [{"x": 1}]})"), R"({"a": {"x": 2}})", ""},
    {OF(R"({"const": "c"})"), R"({"a": "k"})", "misfit: \"c\" as 'a' of 'get_weather', not \"k\""},
    {OF(R"({"enum": [1, 2, 3, 4, 5, 6, 7, 8]})"), R"({"a": 9})",
     "misfit: 1 or 2 or 3 or 4 or 5 or 6 or … as 'a' of 'get_weather', not an integer"},
    // inside
    {OF(R"({"type": "array", "items": {"type": "integer"}})"), R"({"a": [1, "x", 2, null]})",
     "misfit: an integer as 'a[1]' of 'get_weather', not a text; misfit: an integer as 'a[3]' of 'get_weather', not "
     "null"},
    {OF(R"({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b", "c"]})"), R"({"a": {"b": 1}})",
     "missing: the member 'c' of 'a' of 'get_weather'; misfit: a text as 'a.b' of 'get_weather', not an integer"},
    {OF(R"({"additionalProperties": {"type": "integer"}})"), R"({"a": {"x": "y"}})",
     "misfit: an integer as 'a.x' of 'get_weather', not a text"},
    {OF(R"({"additionalProperties": {"type": "integer"}, "patternProperties": {"x": {"type": "string"}}})"),
     R"({"a": {"x": "y"}})", ""},
    {OF(R"({"additionalProperties": false})"), R"({"a": {"x": "y"}})", ""},
    {OF(R"({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}})"), R"({"a": ["x", 1]})", ""},
    {OF(R"({"items": [{"type": "integer"}]})"), R"({"a": ["x"]})", ""},
    // alternatives
    {OF(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})"), R"({"a": 3})",
     "misfit: a text or null as 'a' of 'get_weather', not an integer"},
    {OF(R"({"anyOf": [{"type": "string"}, {}]})"), R"({"a": 3})", ""},
    {OF(R"({"anyOf": []})"), R"({"a": 3})", ""},
    {OF(R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})"), R"({"a": 3})", ""},
    {OF(R"({"oneOf": [{"required": ["x"]}, {"required": ["y"]}]})"), R"({"a": {"z": 1}})",
     "misfit: what one of the alternatives allows as 'a' of 'get_weather', not an object"},
    {OF(R"({"allOf": [{"type": "string"}, {"enum": ["c"]}]})"), R"({"a": "k"})",
     "misfit: \"c\" as 'a' of 'get_weather', not \"k\""},
    {OF(R"({"not": {"type": "string"}})"), R"({"a": "k"})", ""},
    {OF(R"({"if": {"type": "string"}, "then": {"const": 1}})"), R"({"a": "k"})", ""},
    // references
    {R"({"$defs": {"T": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/T"}}})", R"({"a": "x"})",
     "misfit: an integer as 'a' of 'get_weather', not a text"},
    {R"({"$defs": {"T": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/U"}}})", R"({"a": "x"})", ""},
    {R"({"properties": {"a": {"$ref": "https://example.com/T"}}})", R"({"a": "x"})", ""},
    {R"({"$defs": {"T": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/T", "nullable": true}}})",
     R"({"a": null})", ""},
    {R"({"$defs": {"T": {"$ref": "#/$defs/T"}}, "properties": {"a": {"$ref": "#/$defs/T"}}})", R"({"a": "x"})", ""},
    {R"({"$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": "integer"}}, "required": )"
     R"(["v"]}}, "properties": {"a": {"$ref": "#/$defs/N"}}})",
     R"({"a": {"v": 1, "next": {"v": 2, "next": {}}}})", "missing: the member 'v' of 'a.next.next' of 'get_weather'"},
    {R"({"properties": {"a": {"$id": "other", "$ref": "#/x"}}, "x": {"type": "integer"}})", R"({"a": "x"})", ""},
    // no schema
    {"null", R"({"a": 1})", ""},
    {"3", R"({"a": 1})", ""},
    {"{}", R"({"a": 1})", ""},
    {R"({"properties": 3, "required": 4, "anyOf": 5, "enum": 6})", R"({"a": 1})", ""},
    {R"({"type": "array"})", R"({"a": 1})", "misfit: a list as the arguments of 'get_weather', not an object"},
};

TEST(ReplyChecks, SayWhatIsCertain) {
  for (const CheckRow& row : kCheckRows)
    EXPECT_EQ(said_of(row.parameters, row.arguments), row.said) << row.parameters << " of " << row.arguments;
}

TEST(ReplyChecks, NameToolsThatThereAreNot) {
  EXPECT_EQ(said_of("{}", "{}", "get_wether"),
            "unknown_tool: a declared tool, not 'get_wether' (did you mean 'get_weather'?)");
  EXPECT_EQ(said_of("{}", "{}", "sing"), "unknown_tool: a declared tool, not 'sing'");
  EXPECT_EQ(message_of(testing::format_of("terminal-agent"), {.check_calls = true},
                       "<tool_call>{\"name\": \"f\"}</tool_call>")
                .diagnostics.size(),
            0u);
}

TEST(ReplyChecks, HavePlaces) {
  const ReplyOptions options{.tools = tools_of(R"({"required": ["a"]})"), .check_calls = true};
  const ReplyMessage message = message_of(
      testing::format_of("terminal-agent"), options,
      R"(<tool_call>{"name": "f", "arguments": {}}</tool_call><tool_call>{"name": "get_weather", "arguments": )"
      R"({}}</tool_call>)");
  ASSERT_EQ(message.diagnostics.size(), 2u);
  EXPECT_EQ(message.diagnostics[0].position, 23u);   // behind the name
  EXPECT_EQ(message.diagnostics[1].position, 104u);  // behind the arguments
  EXPECT_EQ(message.finish_reason(), "tool_calls");
}

/// A tool that a form names is the model's own.
TEST(ReplyChecks, KnowTheToolsOfForms) {
  const auto format = ReplyFormat::from_json(
      R"({"calls": [{"name": "python", "call": ["<py>", {"arguments": {"code": "code"}}, "</py>"]}]})");
  ASSERT_TRUE(format) << format.error().display();
  EXPECT_EQ(message_of(*format, {.tools = tools_of("{}"), .check_calls = true}, "<py>1 + 1</py>").diagnostics.size(),
            0u);
}

/// A call that is cut off lacks what may still have come; its name is said all the same.
TEST(ReplyChecks, WaitForACompleteCall) {
  const ReplyOptions options{.tools = tools_of(R"({"required": ["a"]})"), .check_calls = true};
  const ReplyFormat& format = testing::format_of("terminal-agent");
  EXPECT_EQ(
      message_of(format, options, R"(<tool_call>{"name": "get_weather", "arguments": {"b": 1)").diagnostics.size(), 0u);
  const ReplyMessage message = message_of(format, options, R"(<tool_call>{"name": "f", "arguments": {"b": 1)");
  ASSERT_EQ(message.diagnostics.size(), 1u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::unknown_tool);
  EXPECT_EQ(message.finish_reason(), "length");
}

TEST(ReplyChecks, SayNothingOfAToolThatIsDeclaredTwice) {
  const auto tools = ReplyTools::from_json(
      R"([{"name": "f", "parameters": {"required": ["a"]}}, {"name": "f", "parameters": {"required": ["b"]}}])");
  ASSERT_TRUE(tools);
  EXPECT_EQ(message_of(testing::format_of("terminal-agent"), {.tools = *tools, .check_calls = true},
                       "<tool_call>{\"name\": \"f\"}</tool_call>")
                .diagnostics.size(),
            0u);
}

/// A value in tags that should be no string is one, which the reader says; it is not said twice.
TEST(ReplyChecks, DoNotRepeatWhatTagsSay) {
  const auto format = ReplyFormat::from_json(
      R"({"calls": [{"call": ["<f=", {"name": true}, ">", {"arguments": {"tags": {"open": "<p=", "key_close": ">", )"
      R"("close": "</p>"}}}, "</f>"]}]})");
  ASSERT_TRUE(format);
  const ReplyOptions options{.tools = tools_of(R"({"properties": {"n": {"type": "integer"}, "s": {"enum": ["x"]}}})"),
                             .check_calls = true};
  const ReplyMessage message = message_of(*format, options, "<f=get_weather><p=n>many</p><p=s>y</p></f>");
  ASSERT_EQ(message.diagnostics.size(), 2u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::type);
  EXPECT_EQ(message.diagnostics[1].expected, "\"x\" as 's' of 'get_weather', not \"y\"");
}

/// Inside of reasoning only tools are called. Where two forms begin alike, the second one is not what was missing.
TEST(ReplyChecks, SayThatNoToolIsCalledInReasoning) {
  const auto format = ReplyFormat::from_json(
      R"({"prompt": "<think>", "reasoning": {"open": "<think>", "close": "</think>", "ended_by_calls": true}, "calls": [
      {"call": ["<call>", {"name": true},
                {"arguments": {"tags": {"open": "<k>", "key_close": "</k><v>", "close": "</v>"}}}, "</call>"]},
      {"call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"]}]})");
  ASSERT_TRUE(format) << format.error().display();
  const auto said = [&](std::string_view reply) {
    const ReplyMessage message = message_of(*format, {.tools = tools_of("{}"), .prompt = "<think>"}, reply);
    EXPECT_EQ(message.reasoning, reply);
    EXPECT_TRUE(message.calls.empty());
    std::string out;
    for (const ReplyDiagnostic& one : message.diagnostics)
      out += std::to_string(one.position) + " " + one.expected + ";";
    return out;
  };
  constexpr std::string_view kUndeclared = "8 a declared tool: inside of reasoning no others are called;";
  EXPECT_EQ(said("Hm<call>read</call>"), kUndeclared);
  EXPECT_EQ(said("Hm<call>read<k>a</k><v>b</v></call>"), kUndeclared);
  EXPECT_EQ(said("Hm<call> or so"), "9 '{';");
}

TEST(ReplyChecks, AreBounded) {
  std::string wide = R"({"$defs": {"T": {"anyOf": [)";
  for (int i = 0; i < 50; ++i) wide += R"({"properties": {"a": {"$ref": "#/$defs/T"}}, "required": ["x"]}, )";
  wide += R"({"type": "integer"}]}}, "properties": {"a": {"$ref": "#/$defs/T"}}})";
  std::string deep = "1", list = "{\"a\": [";
  for (int i = 0; i < 200; ++i) deep = "{\"a\": " + deep + "}";
  EXPECT_LE(said_of(wide, deep).size(), 10000u);
  for (int i = 0; i < 100000; ++i) list += i == 0 ? "1" : ", 1";
  const std::string said = said_of(OF(R"({"items": {"type": "string"}})"), list + "]}");
  EXPECT_LE(said.size(), 16u * 100);
  EXPECT_NE(said, "");
}
#undef OF

/// In every family: what is said of tools is added, and nothing else changes; the laws hold.
TEST(ReplyChecks, ChangeNothingElse) {
  std::mt19937_64 random(20261123);
  const ReplyTools others = tools_of(
      R"({"properties": {"city": {"type": "integer"}, "days": {"enum": ["x"]}}, "required": ["never", "city"]})");
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      for (int round = 0; round < 3; ++round) {
        if (testing::is_sparse() && random() % 4 != 0) continue;
        ReplyOptions plain = one.options;
        if (round == 2) plain.tools = others;
        ReplyOptions checked = plain;
        checked.check_calls = true;
        const std::string reply = round == 0 ? one.reply : testing::mutated(one.reply, random);
        const ReplyMessage usual = message_of(family.format, plain, reply);
        ReplyMessage message = message_of(family.format, checked, reply);
        std::erase_if(message.diagnostics,
                      [](const ReplyDiagnostic& diagnostic) { return is_of_tool(diagnostic.fault); });
        EXPECT_EQ(testing::outline_of(message), testing::outline_of(usual)) << family.name << ": " << reply;
        EXPECT_EQ(message.finish_reason(), usual.finish_reason()) << family.name << ": " << reply;
        EXPECT_EQ(testing::broken_law(family.format, reply, random, checked), "") << family.name << ": " << reply;
      }
    }
  }
}

TEST(ReplyChecks, ACopyGoesOnByItself) {
  const ReplyOptions options{.tools = tools_of(R"({"required": ["a"]})"), .check_calls = true};
  const std::string_view reply = R"(<tool_call>{"name": "get_weather", "arguments": {"b": 1}}</tool_call>)";
  for (std::size_t cut = 0; cut <= reply.size(); ++cut) {
    ReplyParser parser = *ReplyParser::make(testing::format_of("terminal-agent"), options);
    ReplyMessage first, second;
    const auto to_first = [&](const ReplyEvent& event) { first.add(event); };
    const auto to_second = [&](const ReplyEvent& event) { second.add(event); };
    parser.feed(reply.substr(0, cut), to_first);
    second = first;
    ReplyParser copy(parser);
    parser.feed("x", to_first);
    copy.feed(reply.substr(cut), to_second);
    copy.finish(to_second);
    ASSERT_EQ(second.diagnostics.size(), 1u) << cut;
  }
}

}  // namespace
}  // namespace parlance
