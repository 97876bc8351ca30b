// Grammars: what they accept, what they note, what they refuse to be made of; that printing is steady. The laws of
// replies are in tests/grammar_law.cpp, the engines and the suite of JSON Schema in tests/oracle.
#include "parlance/grammar.h"

#include <gtest/gtest.h>

#include "parlance/reply.h"
#include "parlance/source.h"

namespace parlance {
namespace {

Grammar value_grammar(std::string_view schema, bool open = false, bool any_order = false) {
  auto grammar = make_value_grammar(schema, {.open = open, .any_order = any_order});
  EXPECT_TRUE(grammar.has_value());
  return *grammar;
}

constexpr std::string_view kTools =
    R"([{"type": "function", "function": {"name": "get", "parameters": {"type": "object", "properties": {"q": )"
    R"({"type": "string"}}, "required": ["q"]}}},
        {"name": "now"}])";

Grammar reply_grammar(std::string_view format, GrammarOptions options = {}) {
  options.tools = kTools;
  const auto read = ReplyFormat::from_json(find_format(format)->reply);
  EXPECT_TRUE(read.has_value());
  auto grammar = make_grammar(*read, options);
  EXPECT_TRUE(grammar.has_value());
  return *grammar;
}

TEST(GrammarTest, ExponentsAreThoseOfDoubles) {
  const Grammar numbers = value_grammar(R"({"type": "number"})");
  for (const char* text : {"1e5", "1E+09", "-1.5e99", "1e100", "1e+299", "9e307", "1e308", "5e-324", "1e-309", "2E-10"})
    EXPECT_TRUE(numbers.accepts(text)) << text;
  for (const char* text : {"1e", "1e309", "1e400", "1e999", "1e1000", "1e+010", "1e-325", "1e--1", "1e5.0"})
    EXPECT_FALSE(numbers.accepts(text)) << text;
}

// The reader takes each of these for a name, and for the same.
TEST(GrammarTest, NamesWithoutQuotes) {
  const auto format = ReplyFormat::from_json(
      R"({"calls": [{"call": ["<call>", {"name": true}, {"arguments": {"bare": "<|\"|>"}}, "</call>"]}]})");
  ASSERT_TRUE(format) << format.error().display();
  const auto grammar = make_grammar(*format, {.tools = R"([{"name": "f", "parameters": {"type": "object", "properties":
    {"o": {"type": "object", "properties": {"Content-Type": {"const": 1}}, "additionalProperties": {}},
     "ü/é": {"type": "integer"}}}}])"});
  ASSERT_TRUE(grammar) << grammar.error().display();
  for (const std::string name : {"a", "_", "X-Y", "x.y", "1", "$ref", "a/b", "größe", "名", "@", "Content-Typ",
                                 "Content-Types", "a=b", "(x)", "%", "#1"})
    EXPECT_TRUE(grammar->accepts("<call>f{o:{" + name + ":1}}</call>")) << name;
  for (const std::string name :
       {"", " ", "a b", " a", "a ", "a\n", "a:b", "a,b", "a{", "a}", "[a]", "\"a\"", "<a", "a|"})
    EXPECT_FALSE(grammar->accepts("<call>f{o:{" + name + ":1}}</call>")) << name;
  EXPECT_TRUE(grammar->accepts("<call>f{o:{Content-Type:1}}</call>"));
  EXPECT_FALSE(grammar->accepts("<call>f{o:{Content-Type:2}}</call>")) << "a declared name is no free one";
  EXPECT_TRUE(grammar->accepts("<call>f{ü/é:3}</call>"));
  ASSERT_EQ(grammar->notes().size(), 1u);
  EXPECT_EQ(grammar->notes()[0].keyword, "additionalProperties");
}

TEST(GrammarTest, MembersInAnyOrder) {
  struct Row {
    std::string_view schema, text;
    bool accepted;
  };
#define TWO                                                                                                    \
  R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}, "c": {"const": 1}}, )" \
  R"("required": ["b"])"
#define MANY                                                                                       \
  R"({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}, )" \
  R"("d": {"const": 4}, "e": {"const": 5}, "f": {"const": 6}})"
  const Row rows[] = {
      {TWO "}", R"({"b": null})", true},
      {TWO "}", R"({"c": 1, "b": null, "a": 2})", true},
      {TWO "}", R"({"a": 2, "c": 1, "b": null})", true},
      {TWO "}", R"({"a": 2, "c": 1})", false},
      {TWO "}", R"({"b": null, "a": 2, "b": null})", false},
      {TWO "}", R"({"b": null,})", false},
      {TWO "}", R"({"b": null, "z": 2})", false},
      {TWO R"(, "additionalProperties": true})", R"({"z": 2, "b": null, "y": 1, "a": 2})", true},
      {TWO R"(, "additionalProperties": true})", R"({"z": 2, "y": 1, "a": 2})", false},
      {R"({"type": "object", "properties": {"a": {"type": "integer"}, "c": {"const": 1}}})", "{}", true},
      {R"({"type": "object", "properties": {"a": {"type": "integer"}, "c": {"const": 1}}, "minProperties": 1})", "{}",
       false},
      {MANY R"(, "required": ["f", "b"]})", R"({"f": 6, "c": 3, "a": 1, "b": 2})", true},
      {MANY R"(, "required": ["f", "b"]})", R"({"f": 6, "c": 3, "a": 1})", false},
      {MANY R"(, "required": ["f", "b"]})", R"({"b": 2, "b": 2, "f": 6})", false},
      {MANY R"(, "required": ["a", "b", "c", "d", "e", "f"]})", R"({"f": 6, "e": 5, "d": 4, "c": 3, "b": 2, "a": 1})",
       true},
      {MANY R"(, "required": ["a", "b", "c", "d", "e", "f"]})", R"({"e": 5, "d": 4, "c": 3, "b": 2})", false},
  };
#undef TWO
#undef MANY
  for (const Row& row : rows)
    EXPECT_EQ(value_grammar(row.schema, false, true).accepts(row.text), row.accepted) << row.schema << row.text;
  const Grammar many =
      value_grammar(R"({"properties": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}, "f": {}}})", false, true);
  ASSERT_EQ(many.notes().size(), 1u);
  EXPECT_EQ(many.notes()[0].keyword, "properties");
}

TEST(GrammarTest, ManyMembersInAnyOrderCostLittle) {
  std::string schema = R"({"type": "object", "properties": {)", required;
  for (int i = 0; i < 500; ++i) {
    schema += (i > 0 ? ", \"m" : "\"m") + std::to_string(i) + "\": {\"type\": \"integer\"}";
    required += (i > 0 ? ", \"m" : "\"m") + std::to_string(i) + "\"";
  }
  const Grammar grammar = value_grammar(schema + "}, \"required\": [" + required + "]}", false, true);
  EXPECT_LT(grammar.to_text(GrammarSyntax::gbnf).size(), 60'000u);
  EXPECT_EQ(grammar.notes().size(), 2u);
}

TEST(GrammarTest, NothingFitsFalse) {
  for (const std::string_view schema :
       {"false", R"({"type": "object", "properties": {"a": false}, "required": ["a"]})"}) {
    const Grammar grammar = value_grammar(schema);
    EXPECT_TRUE(grammar.is_empty());
    EXPECT_FALSE(grammar.accepts(""));
    EXPECT_EQ(grammar.to_text(GrammarSyntax::lark),
              "%llguidance {}\n\nstart: NOTHING\n\nNOTHING: /[^\\u{0}-\\u{10FFFF}]/\n");
    EXPECT_EQ(grammar.to_text(GrammarSyntax::json_schema), "false\n");
  }
  EXPECT_FALSE(value_grammar("true").is_empty());
}

/// The schema itself, in its order or in any; a reply without tools has no calls.
TEST(GrammarTest, ValuesAsJsonSchema) {
  constexpr std::string_view kSchema = R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}})";
  for (const bool any_order : {false, true}) {
    EXPECT_EQ(value_grammar(kSchema, false, any_order).to_text(GrammarSyntax::json_schema),
              std::string(kSchema) + "\n");
  }
  EXPECT_EQ(reply_grammar("rnj-1", {.choice = ToolChoice::none}).to_text(GrammarSyntax::json_schema),
            "{\"type\": \"array\", \"maxItems\": 0}\n");
}

TEST(GrammarTest, TextMayStandBetweenCallsAndBehindThem) {
  const std::string call = "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>";
  const std::string replies[] = {"Look: " + call, call + " and " + call, call + call + "\nThat was it.", "No call."};
  for (const bool around : {false, true}) {
    for (const bool parallel : {true, false}) {
      const Grammar grammar = reply_grammar("rnj-1", {.parallel = parallel, .text_around_calls = around});
      EXPECT_TRUE(grammar.accepts(replies[0]));
      EXPECT_EQ(grammar.accepts(replies[1]), around && parallel);
      EXPECT_EQ(grammar.accepts(replies[2]), around && parallel);
      EXPECT_EQ(grammar.accepts(call + " done"), around);
      EXPECT_TRUE(grammar.accepts(replies[3]));
      EXPECT_FALSE(grammar.accepts(call + "<tool_call>"));
      EXPECT_FALSE(grammar.accepts(call + "</tool_call>")) << "a reader takes it for a mistake";
      EXPECT_FALSE(grammar.accepts(call + "\n </tool_call> done"));
    }
  }
  const Grammar must = reply_grammar("rnj-1", {.choice = ToolChoice::required, .text_around_calls = true});
  EXPECT_FALSE(must.accepts(replies[0]));
  EXPECT_FALSE(must.accepts(call + " done"));
}

TEST(GrammarTest, ValuesOfSchemas) {
  struct Row {
    std::string_view schema, text;
    bool accepted;
  };
  const Row rows[] = {
      {R"({"type": "integer", "minimum": 10, "maximum": 1999})", "9", false},
      {R"({"type": "integer", "minimum": 10, "maximum": 1999})", "10", true},
      {R"({"type": "integer", "minimum": 10, "maximum": 1999})", "1999", true},
      {R"({"type": "integer", "minimum": 10, "maximum": 1999})", "2000", false},
      {R"({"type": "integer", "exclusiveMaximum": -5})", "-5", false},
      {R"({"type": "integer", "exclusiveMaximum": -5})", "-6", true},
      {R"({"type": "number", "minimum": 0.5, "exclusiveMaximum": 0.75})", "0.75", false},
      {R"({"type": "number", "minimum": 0.5, "exclusiveMaximum": 0.75})", "0.7499", true},
      {R"({"type": "number", "minimum": 0.5, "exclusiveMaximum": 0.75})", "0.5", true},
      {R"({"type": "number", "minimum": 0.5, "exclusiveMaximum": 0.75})", "0.49", false},
      {R"({"type": "number", "minimum": -2, "maximum": 1.25})", "-2.0", true},
      {R"({"type": "number", "minimum": -2, "maximum": 1.25})", "-2.01", false},
      {R"({"type": "number", "minimum": -2, "maximum": 1.25})", "1.25", true},
      {R"({"type": "integer", "multipleOf": 7})", "-49", true},
      {R"({"type": "integer", "multipleOf": 7})", "50", false},
      {R"({"type": "string", "pattern": "^a[0-9]{2}$"})", "\"a12\"", true},
      {R"({"type": "string", "pattern": "a[0-9]{2}"})", "\"xxa12y\"", true},
      {R"({"type": "string", "pattern": "^a[0-9]{2}$"})", "\"a1\"", false},
      {R"({"type": "string", "maxLength": 2})", R"("\n\u00e9")", true},
      {R"({"type": "string", "maxLength": 2})", "\"abc\"", false},
      {R"({"type": "string", "format": "date"})", "\"2024-02-29\"", true},
      {R"({"type": "string", "format": "date"})", "\"2023-02-29\"", false},
      {R"({"enum": ["a", 1, null]})", "null", true},
      {R"({"type": ["string", "null"], "enum": ["a", 1, null]})", "1", false},
      {R"({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]})", R"({"b": 1})", true},
      {R"({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]})", R"({"a": 1})", false},
      {R"({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]})", R"({"a": 1, "b": {"x": []}})",
       true},
      {R"({"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"})", "[[], [[]]]",
       true},
      {R"({"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"})", "[1]", false},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "integer"}]})", "3", true},
      {R"({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4}]})", "5", false},
      {R"({"type": "object", "enum": [], "properties": {"a": {"$ref": "#"}}})", "{}", false},
      {R"({"type": "object", "enum": "x", "properties": {"a": {"$ref": "#"}}})", R"({"a": {}})", true},
      {R"({"properties": {"a": {"type": "string", "minLength": 3.0}, "b": {"type": "string", "minLength": 5.0}}})",
       R"({"b": "1234"})", false},
      {R"({"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]})", R"({"n": {}})", false},
      {R"({"properties": {"n": {"type": "integer", "minimum": 5, "maximum": 1}, "m": {}}})", R"({"m": 1})", true},
      {R"({"properties": {"n": {"type": "integer", "minimum": 5, "maximum": 1}, "m": {}}})", R"({"n": 3})", false},
      {R"({"type": "string", "pattern": "^\\uD83D\\uDE42$"})", "\"\xF0\x9F\x99\x82\"", true},
      {R"({"type": "string", "pattern": "^x{3,2}$"})", "\"anything\"", true},
      {R"({"type": "string", "pattern": "^\\ud83d$"})", "\"anything\"", true},
      {"false", "1", false},
      {"true", "[1, {\"a\": null}]", true},
  };
  for (const Row& row : rows)
    EXPECT_EQ(value_grammar(row.schema).accepts(row.text), row.accepted) << row.schema << " " << row.text;
}

TEST(GrammarTest, NotesSayWhereAndWhat) {
  const Grammar grammar =
      value_grammar(R"({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true}, "b": {"$ref": )"
                    R"("other.json"}}})");
  ASSERT_EQ(grammar.notes().size(), 2u);
  EXPECT_EQ(grammar.notes()[0].path, "properties.b");
  EXPECT_EQ(grammar.notes()[0].keyword, "$ref");
  EXPECT_EQ(grammar.notes()[1].path, "properties.a");
  EXPECT_EQ(grammar.notes()[1].keyword, "uniqueItems");
  EXPECT_TRUE(grammar.accepts(R"({"a": [1, 1]})"));
}

TEST(GrammarTest, OpenAllowsWhatIsNotForbidden) {
  constexpr std::string_view schema = R"({"properties": {"a": {"type": "integer"}}})";
  EXPECT_FALSE(value_grammar(schema).accepts(R"({"z": 1})"));
  EXPECT_TRUE(value_grammar(schema, true).accepts(R"({"z": 1})"));
  EXPECT_TRUE(value_grammar(schema, true).accepts("[]"));
  EXPECT_FALSE(value_grammar(schema, true).accepts(R"({"a": "x"})"));
}

TEST(GrammarTest, ToolChoices) {
  const std::string call = "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>";
  GrammarOptions options;
  EXPECT_TRUE(reply_grammar("terminal-agent").accepts("Hello"));
  EXPECT_TRUE(reply_grammar("terminal-agent").accepts("<think>\nhm\n</think>\n\nHello\n" + call + "\n" + call));
  options.parallel = false;
  EXPECT_FALSE(reply_grammar("terminal-agent", options).accepts(call + "\n" + call));
  options.choice = ToolChoice::required;
  EXPECT_FALSE(reply_grammar("terminal-agent", options).accepts("Hello"));
  EXPECT_TRUE(reply_grammar("terminal-agent", options).accepts(call));
  options.choice = ToolChoice::named;
  options.name = "now";
  EXPECT_FALSE(reply_grammar("terminal-agent", options).accepts(call));
  options.choice = ToolChoice::none;
  EXPECT_FALSE(reply_grammar("terminal-agent", options).accepts(call));
  EXPECT_TRUE(reply_grammar("terminal-agent", options).accepts("Hello"));
}

TEST(GrammarTest, WhatThePromptHasOpenedIsClosed) {
  GrammarOptions options;
  options.reasoning = false;
  EXPECT_TRUE(reply_grammar("underscore-bot").accepts("hm\n</think>\n\nHello"));
  EXPECT_FALSE(reply_grammar("underscore-bot").accepts("Hello"));
  EXPECT_TRUE(reply_grammar("underscore-bot", options).accepts("</think>\n\nHello"));
  EXPECT_FALSE(reply_grammar("underscore-bot", options).accepts("hm\n</think>\n\nHello"));
  options.prompt = "<_bot><think>\n\n</think>\n\n";
  EXPECT_TRUE(reply_grammar("underscore-bot", options).accepts("Hello"));
}

/// A model, or the budget of an engine, may close reasoning without the newlines that templates write behind the tag:
/// they may come or not, and so may those of which the prompt has some.
TEST(GrammarTest, ReasoningThatThePromptClosedWithoutItsNewlines) {
  const std::string call = "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>";
  const std::string opened = "<|im_start|>assistant\n<think>\nhm";
  for (const ToolChoice choice : {ToolChoice::automatic, ToolChoice::required}) {
    for (const std::string_view close : {"</think>", "\n</think>", "\n</think>\n", "\n</think>\n\n"}) {
      GrammarOptions options;
      options.choice = choice;
      const std::string prompt = opened + std::string(close);
      options.prompt = prompt;
      const Grammar grammar = reply_grammar("terminal-agent", options);
      const std::string all = "\n\n";
      const std::size_t there = close.size() - close.find('>') - 1;
      for (std::size_t more = 0; more + there <= 2; ++more)
        EXPECT_TRUE(grammar.accepts(all.substr(0, more) + call)) << close << more;
      const bool is_free = choice == ToolChoice::automatic;  // then it is text
      EXPECT_EQ(grammar.accepts(all.substr(there) + "\n\n" + call), is_free) << close;
      EXPECT_EQ(grammar.accepts(all.substr(there) + "Hello"), is_free) << close;
    }
  }
  // An answer as JSON, too.
  GrammarOptions options;
  options.choice = ToolChoice::none;
  const std::string prompt = opened + "</think>";
  options.prompt = prompt;
  options.response.kind = ResponseFormat::Kind::json_schema;
  options.response.schema = R"({"const": 1})";
  EXPECT_TRUE(reply_grammar("terminal-agent", options).accepts("\n\n1"));
  EXPECT_TRUE(reply_grammar("terminal-agent", options).accepts("1"));
}

TEST(GrammarTest, Failures) {
  const auto format = ReplyFormat::from_json(find_format("rnj-1")->reply);
  ASSERT_TRUE(format.has_value());
  GrammarOptions options;
  options.choice = ToolChoice::required;
  EXPECT_EQ(make_grammar(*format, options).error().code(), ErrorCode::value);
  options.choice = ToolChoice::named;
  options.name = "gone";
  options.tools = kTools;
  EXPECT_EQ(make_grammar(*format, options).error().code(), ErrorCode::value);
  options.tools = "{";
  EXPECT_EQ(make_grammar(*format, options).error().code(), ErrorCode::json);
  options.tools = "{}";
  EXPECT_EQ(make_grammar(*format, options).error().code(), ErrorCode::conversation);
}

TEST(GrammarTest, AFormatThatIsNoneIsRefused) {
  ReplyFormat format;
  format.calls.resize(1);  // without an opening
  ASSERT_FALSE(format.validate());
  GrammarOptions options;
  options.tools = kTools;
  EXPECT_EQ(make_grammar(format, options).error().code(), ErrorCode::value);
  EXPECT_EQ(GrammarCache().get(format, options).error().code(), ErrorCode::value);
  EXPECT_EQ(read_conversation(format, "Hi").error().code(), ErrorCode::value);
  format.turns.resize(1);
  EXPECT_EQ(read_conversation(format, "Hi").error().code(), ErrorCode::value);
}

/// Tools of which some allow nothing, or are none: the others stay, and notes say why.
TEST(GrammarTest, ToolsThatCannotBeCalled) {
  const auto format = ReplyFormat::from_json(find_format("chatglm3")->reply);
  GrammarOptions options;
  options.tools =
      R"([{"name": "bad", "parameters": {"properties": {"x": {"type": "integer", "minimum": 5, "maximum": 1}}, )"
      R"("required": ["x"]}},
      {"name": "good", "parameters": {"properties": {"x": {"type": "integer"}}}}, {"function": {"nmae": "h"}}, )"
      R"({"name": "good"}])";
  const auto grammar = make_grammar(*format, options);
  ASSERT_TRUE(grammar.has_value());
  EXPECT_TRUE(grammar->accepts("good\n```python\ntool_call(x=1)\n```"));
  EXPECT_TRUE(grammar->accepts(" good\n ```python\ntool_call(x=1)\n```"));  // the tokenizer's dummy prefix
  EXPECT_TRUE(grammar->accepts(" \n Hello"));
  EXPECT_FALSE(grammar->accepts("good\n  ```python\ntool_call(x=1)\n```"));
  EXPECT_EQ(grammar->to_text(GrammarSyntax::lark).find("NOTHING"), std::string::npos);
  ASSERT_EQ(grammar->notes().size(), 3u);
  EXPECT_EQ(grammar->notes()[0].why, "no function: it has no name, and is left out");
  EXPECT_EQ(grammar->notes()[1].path, "[3]");
  EXPECT_EQ(grammar->notes()[2].why, "no value fits: 'bad' cannot be called");
  options.choice = ToolChoice::named;
  options.name = "bad";
  EXPECT_EQ(make_grammar(*format, options).error().code(), ErrorCode::value);
}

/// The tokenizer's dummy prefix may stand before an answer with a form as before any other.
TEST(GrammarTest, AnAnswerWithAFormBehindADummyPrefix) {
  const auto format = ReplyFormat::from_json(find_format("chatglm3")->reply);
  GrammarOptions choice, json;
  choice.response = {.kind = ResponseFormat::Kind::choice, .choices = {"Paris", "London"}};
  json.response = {.kind = ResponseFormat::Kind::json_object};
  for (const auto& [options, answer] : {std::pair(choice, "Paris"), std::pair(json, "{\"a\": 1}")}) {
    const auto grammar = make_grammar(*format, options);
    ASSERT_TRUE(grammar.has_value()) << grammar.error().display();
    for (const std::string_view before : {"\n", "\n ", " \n "})
      EXPECT_TRUE(grammar->accepts(std::string(before) + answer)) << before << answer;
  }
}

/// The very first nodes are the choices' literals: nothing else has children yet, which a sanitizer looks at.
TEST(GrammarTest, ChoicesBeforeAllElse) {
  const auto format = ReplyFormat::from_json(find_format("hermes")->reply);
  GrammarOptions options;
  options.reasoning = false;
  options.response = {.kind = ResponseFormat::Kind::choice, .choices = {"yes", "no"}};
  const auto grammar = make_grammar(*format, options);
  ASSERT_TRUE(grammar.has_value()) << grammar.error().display();
  EXPECT_TRUE(grammar->accepts("yes"));
  EXPECT_FALSE(grammar->accepts("maybe"));
}

/// What a hostile schema asks for is bounded: each of these took minutes, gigabytes or the stack.
TEST(GrammarTest, HostileSchemasAreWidened) {
  const auto list = [](std::string_view piece, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out.append(i > 0 ? "," : "").append(piece);
    return out;
  };
  const std::string schemas[] = {
      R"({"allOf": [)" + list(R"({"anyOf": [{}, {}]})", 60) + "]}",
      R"({"allOf": [)" + list(R"({"anyOf": [{"type": "string"}, {"minLength": 1}]})", 60) + "]}",
      R"({"anyOf": [)" + list(R"({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"}}})", 60) +
          "]}",
      R"({"items": {"anyOf": [)" + list(R"({"type": "integer", "multipleOf": 97})", 500) + "]}}",
      R"({"type": "string", "pattern": "^)" + std::string(4000, 'a') + "$\"}",
  };
  for (const std::string& schema : schemas) {
    EXPECT_LT(value_grammar(schema).to_text(GrammarSyntax::gbnf).size(), 1u << 20) << schema.substr(0, 60);
    EXPECT_LT(value_grammar(schema).to_text(GrammarSyntax::lark).size(), 1u << 20) << schema.substr(0, 60);
  }
  std::string deep = R"({"type": "string"})";
  for (int i = 0; i < 400; ++i) deep = R"({"properties": {"a": {}, "b": {}, "n": )" + deep + "}}";
  const auto format = ReplyFormat::from_json(find_format("chatglm3")->reply);
  GrammarOptions options;
  options.tools = R"([{"name": "f", "parameters": )" + deep + "}]";
  const auto grammar = make_grammar(*format, options);
  EXPECT_TRUE(!grammar || !grammar->to_text(GrammarSyntax::lark).empty());
}

TEST(GrammarTest, PrintingIsSteady) {
  for (const std::string_view name : grammar_syntax_names()) {
    const GrammarSyntax syntax = *find_grammar_syntax(name);
    EXPECT_EQ(name_of(syntax), name);
    const std::string text = reply_grammar("chatglm3").to_text(syntax);
    EXPECT_FALSE(text.empty()) << name;
    EXPECT_EQ(reply_grammar("chatglm3").to_text(syntax), text) << name;
  }
}

AddedToken token(TokenId id, std::string_view text, bool special) {
  AddedToken added;
  added.id = id;
  added.text = text;
  added.special = special;
  return added;
}

TEST(GrammarTest, ControlTokensStandForThemselvesInLark) {
  const std::string spelled = reply_grammar("terminal-agent").to_text(GrammarSyntax::lark);
  EXPECT_NE(spelled.find("\\n</tool_call>\""), std::string::npos) << spelled;
  GrammarOptions options;
  options.control = {token(5, "<tool_call>", false), token(6, "</tool_call>", false), token(7, "<|im_end|>", true),
                     token(8, "nowhere", true)};
  const Grammar grammar = reply_grammar("terminal-agent", options);
  const std::string lark = grammar.to_text(GrammarSyntax::lark);
  EXPECT_NE(lark.find(" <tool_call> "), std::string::npos) << lark;
  EXPECT_NE(lark.find(" </tool_call>)"), std::string::npos) << lark;
  EXPECT_EQ(grammar.to_text(GrammarSyntax::gbnf), reply_grammar("terminal-agent").to_text(GrammarSyntax::gbnf));
  options.control = {token(5, "[TOOL]", false)};
  ReplyFormat format = *ReplyFormat::from_json(find_format("terminal-agent")->reply);
  format.calls[0].call[0].literal.texts[0] = "[TOOL]";
  options.tools = kTools;
  // llguidance takes it for text
  EXPECT_EQ((*make_grammar(format, options)).to_text(GrammarSyntax::lark).find("<[5]>"), std::string::npos);
  options.control[0].special = true;
  EXPECT_NE((*make_grammar(format, options)).to_text(GrammarSyntax::lark).find("<[5]>"), std::string::npos);
}

TEST(GrammarTest, CustomToolsTakeOneText) {
  GrammarOptions options;
  options.tools =
      R"([{"type": "custom", "custom": {"name": "run", "format": {"type": "grammar", "grammar": {"syntax": "regex", )"
      R"("definition": "a|b+"}}}},
      {"type": "custom", "name": "say"}, {"type": "custom", "name": "day", "format": {"type": "grammar", "syntax": )"
      R"("regex", "definition": "^(?P<year>[0-9]{4})$"}}, {"type": "custom", "name": "calc", "format": {"type": )"
      R"("grammar", "syntax": "lark", "definition": "start: X"}}])";
  const ReplyFormat format = *ReplyFormat::from_json(find_format("terminal-agent")->reply);
  const Result<Grammar> grammar = make_grammar(format, options);
  ASSERT_TRUE(grammar.has_value()) << grammar.error().message();
  const auto call = [](std::string_view name, std::string_view input) {
    return "<tool_call>\n{\"name\": \"" + std::string(name) + "\", \"arguments\": {\"input\": \"" + std::string(input) +
           "\"}}\n</tool_call>";
  };
  EXPECT_TRUE(grammar->accepts(call("run", "bbb")));
  EXPECT_TRUE(grammar->accepts(call("run", "a")));
  EXPECT_FALSE(grammar->accepts(call("run", "ab")));
  EXPECT_TRUE(grammar->accepts(call("say", "any \\n text")));
  EXPECT_TRUE(grammar->accepts(call("day", "2026")));
  EXPECT_FALSE(grammar->accepts(call("day", "x2026")));
  EXPECT_TRUE(grammar->accepts(call("calc", "Y")));
  ASSERT_EQ(grammar->notes().size(), 1u);
  EXPECT_EQ(grammar->notes()[0].path + ": " + grammar->notes()[0].why,
            "[3]: its grammar is not a regular expression and is not enforced: any text");
}

/// Where a template writes white space before what closes a tag, it does so behind texts of every kind.
TEST(GrammarTest, TextsInTagsMayHaveWhiteSpaceBehindThem) {
  const ReplyFormat format = *ReplyFormat::from_json(R"({"calls": [{"call": ["<call>", {"name": true}, "\n",
      {"arguments": {"tags": {"open": "<arg=", "key_close": ">\n", "close": "\n</arg>"}}}, "</call>"]}]})");
  GrammarOptions options;
  options.tools =
      R"([{"name": "f", "parameters": {"properties": {"e": {"enum": ["a", "b"]}, "p": {"type": "string", "pattern": )"
      R"("^a+$"}, "l": {"type": "string", "maxLength": 3},
      "s": {"type": "string"}}}}])";
  const Result<Grammar> grammar = make_grammar(format, options);
  ASSERT_TRUE(grammar.has_value());
  for (const std::string_view key : {"e", "p", "l", "s"}) {
    for (const std::string_view gap : {"\n", ""}) {
      EXPECT_TRUE(grammar->accepts("<call>f\n<arg=" + std::string(key) + ">\na" + std::string(gap) + "</arg></call>"))
          << key << gap;
    }
  }
  EXPECT_FALSE(grammar->accepts("<call>f\n<arg=e>\na\n\n</arg></call>"));
}

TEST(GrammarTest, ToolsThatNoCallCanNameAreNoted) {
  GrammarOptions options;
  options.tools = kTools;
  const Result<Grammar> grammar = make_grammar(*ReplyFormat::from_json(R"({"end": ["<e>"]})"), options);
  ASSERT_TRUE(grammar.has_value());
  ASSERT_EQ(grammar->notes().size(), 1u);
  EXPECT_EQ(grammar->notes()[0].why, "the format has no calls: the tools are left out");
  options.choice = ToolChoice::none;
  EXPECT_TRUE(make_grammar(*ReplyFormat::from_json(R"({"end": ["<e>"]})"), options).value().notes().empty());
}

/// A reader ends a value in tags where it closes, in a string of JSON too: escapes spell what looks so.
TEST(GrammarTest, JsonInTagsHoldsNoClosers) {
  ReplyFormat format;
  format = *ReplyFormat::from_json(R"({"calls": [{"call": ["<tool_call>", {"name": true}, "\n",
      {"arguments": {"tags": {"open": "<key>", "key_close": "</key><value>", "close": "</value>"}}}, )"
                                   R"("</tool_call>"]}]})");
  GrammarOptions options;
  options.tools =
      R"([{"name": "f", "parameters": {"properties": {"tags": {"type": "array", "items": {"type": "string", )"
      R"("maxLength": 40}},
      "any": {"type": "object", "additionalProperties": {"type": "string"}}, "one": {"type": "array", "items": )"
      R"({"enum": ["a</value>b", "<i>"]}}}}}])";
  const Result<Grammar> grammar = make_grammar(format, options);
  ASSERT_TRUE(grammar.has_value());
  const auto call = [](std::string_view key, std::string_view value) {
    return "<tool_call>f\n<key>" + std::string(key) + "</key><value>" + std::string(value) + "</value></tool_call>";
  };
  struct Row {
    std::string_view key, value;
    bool accepted;
  };
  const Row rows[] = {
      {"tags", R"(["a"])", true},
      {"tags", R"(["\u003c/value>"])", true},
      {"tags", R"(["</value>"])", false},
      {"tags", R"(["</tool_call>"])", false},
      {"any", R"({"k": "1 < 2 </values"})", true},
      {"any", R"({"k": "<\/value>"})", true},
      {"any", R"({"k": "</value>"})", false},
      {"any", R"({"</value>": ""})", false},
      {"any", R"({"k": "</tool_call>"})", false},
      {"one", R"(["<i>"])", true},
      {"one", R"(["a\u003c/value>b"])", true},
      {"one", R"(["a</value>b"])", false},
  };
  for (const Row& row : rows) EXPECT_EQ(grammar->accepts(call(row.key, row.value)), row.accepted) << row.value;
}

/// What escapes spell is no other text, whatever closers begin with.
TEST(GrammarTest, ConstantsThatHoldClosersAreSpelled) {
  struct Row {
    std::string_view close, text, spelled, not_spelled;
  };
  const Row rows[] = {
      {"[/arg]", "x[/arg]&y", R"(x\u005b/arg]&y)", "x[/arg]&y"},
      {"[/arg]", "x[/arg]&y", R"(x\u005b/arg]\u0026y)", R"(x[/arg]\u0026y)"},
      {"nd>", "a\nb nd> c", R"(a\nb \u006ed> c)", R"(a\nb nd> c)"},
      {"\u00BBe", "\u00BBe", R"(\u00bbe)", "\u00BBe"},
  };
  for (const Row& row : rows) {
    const auto format = ReplyFormat::from_json(
        R"({"calls": [{"call": ["<call>", {"name": true}, "\n", {"arguments": {"tags": {"open": "[arg=", )"
        R"("key_close": "]",
        "close": ")" +
        std::string(row.close) + R"("}}}, "</call>"]}]})");
    ASSERT_TRUE(format);
    GrammarOptions options;
    std::string text;
    for (const char c : row.text) text += c == '\n' ? "\\n" : std::string(1, c);
    options.tools = R"([{"name": "f", "parameters": {"properties": {"l": {"type": "array", "items": {"enum": [")" +
                    text + R"("]}}}}}])";
    const Result<Grammar> grammar = make_grammar(*format, options);
    ASSERT_TRUE(grammar);
    const auto call = [&](std::string_view value) {
      return "<call>f\n[arg=l][\"" + std::string(value) + "\"]" + std::string(row.close) + "</call>";
    };
    EXPECT_TRUE(grammar->accepts(call(row.spelled))) << row.spelled << grammar->to_text(GrammarSyntax::gbnf);
    EXPECT_FALSE(grammar->accepts(call(row.not_spelled))) << row.not_spelled;
  }
}

TEST(GrammarTest, EnginesReadPlainSchemasAndNoOthers) {
  struct Row {
    std::string_view schema, handed;  ///< "": the grammar is written out
  };
  const Row rows[] = {
      {R"({"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]})",
       R"({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": )"
       R"(false})"},
      {R"({"type": "object", "properties": {}})", R"({"type": "object", "additionalProperties": false})"},
      {R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/x~1y"}}, "$defs": {"x/y": {"type": "null"}}})",
       R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "additionalProperties": false, "$defs": )"
       R"({"d0": {"type": "null"}}})"},
      {R"-({"type": "string", "pattern": "^(?!x)"})-", ""},
      {R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}})", ""},
      {R"({"type": "object", "properties": {"a": {"$ref": "other.json"}}})", ""},
      {R"({"type": "string", "x-guidance": {}})", ""},
      {R"({"type": "any"})", ""},
      {R"({"enum": ["a", 1]})", ""},
  };
  for (const Row& row : rows) {
    const Grammar grammar = value_grammar(row.schema);
    const std::string lark = grammar.to_text(GrammarSyntax::lark), tag = grammar.to_text(GrammarSyntax::structural_tag);
    EXPECT_EQ(lark.find("%json") != std::string::npos, !row.handed.empty()) << lark;
    EXPECT_EQ(tag.find("json_schema") != std::string::npos, !row.handed.empty()) << tag;
    EXPECT_NE(lark.find(row.handed), std::string::npos) << lark;
    EXPECT_NE(tag.find(row.handed), std::string::npos) << tag;
  }
}

TEST(GrammarTest, LongCountsStaySmall) {
  const Grammar grammar = value_grammar(R"({"type": "string", "maxLength": 10000})");
  EXPECT_LT(grammar.to_text(GrammarSyntax::gbnf).size(), 3000u);
  EXPECT_EQ(grammar.to_text(GrammarSyntax::gbnf).find("{0,10000}"), std::string::npos);
  EXPECT_TRUE(grammar.accepts("\"" + std::string(10000, 'x') + "\""));
  EXPECT_FALSE(grammar.accepts("\"" + std::string(10001, 'x') + "\""));
}

TEST(GrammarTest, HostileSchemasAreBounded) {
  std::string deep = "{}";
  for (int i = 0; i < 450; ++i) deep = R"({"properties": {"a": )" + deep + "}}";
  EXPECT_GT(value_grammar(deep).to_text(GrammarSyntax::gbnf).size(), 1000u);
  std::string wide = R"({"allOf": [)";
  for (int i = 0; i < 20; ++i)
    wide += std::string(i > 0 ? ", " : "") + R"({"anyOf": [{"minimum": )" + std::to_string(i) +
            R"(}, {"type": "string"}]})";
  const Grammar grammar = value_grammar(wide + "]}");
  EXPECT_FALSE(grammar.notes().empty());
}

}  // namespace
}  // namespace parlance
