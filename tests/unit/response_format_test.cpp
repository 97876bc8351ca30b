// Grammars of answers that have a form, of at most so many calls, and lazy ones.
#include <gtest/gtest.h>

#include <regex>

#include "parlance/grammar.h"
#include "parlance/parlance.h"
#include "parlance/reply.h"

namespace parlance {
namespace {

constexpr const char* kLookTools = R"([{"type": "function", "function": {"name": "look", "parameters":
    {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}}}])";
constexpr const char* kLookCall = "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"tides\"}}\n</tool_call>";

ReplyFormat builtin_format(const char* name) { return *ReplyFormat::from_json(find_format(name)->reply); }

GrammarOptions with(ResponseFormat response) {
  GrammarOptions options;
  options.tools = kLookTools;
  options.response = std::move(response);
  return options;
}

Grammar made(const char* format, const GrammarOptions& options) {
  const Result<Grammar> grammar = make_grammar(builtin_format(format), options);
  EXPECT_TRUE(grammar) << grammar.error().display();
  return *grammar;
}

ResponseFormat schema(const char* text) { return {.kind = ResponseFormat::Kind::json_schema, .schema = text}; }

TEST(ResponseFormatTest, ReasoningThenCallsOrTheAnswer) {
  const Grammar grammar =
      made("terminal-agent",
           with(schema(R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})")));
  const std::string call = kLookCall;
  EXPECT_TRUE(grammar.accepts(R"({"n": 7})"));
  EXPECT_TRUE(grammar.accepts("<think>\nIt is seven.\n</think>\n\n{\"n\": 7}"));
  EXPECT_TRUE(grammar.accepts("<think>\nI look.\n</think>\n\n" + call));
  EXPECT_TRUE(grammar.accepts(call));
  EXPECT_FALSE(grammar.accepts("It is seven."));
  EXPECT_FALSE(grammar.accepts(R"({"n": "7"})"));
  EXPECT_FALSE(grammar.accepts(R"({"n": 7} )" + call));
  EXPECT_FALSE(grammar.accepts(""));
}

TEST(ResponseFormatTest, NoStringHoldsAMarker) {
  const Grammar grammar = made("terminal-agent", with(schema(R"({"type": "array", "items": {"type": "string"}})")));
  EXPECT_TRUE(grammar.accepts(R"(["a < b", "<tool>", "\"\\<"])"));
  EXPECT_TRUE(grammar.accepts(R"(["\u003ctool_call>"])"));
  EXPECT_FALSE(grammar.accepts(R"(["<tool_call>"])"));
  EXPECT_FALSE(grammar.accepts("[\"a\nb\"]"));
}

TEST(ResponseFormatTest, ACallThatIsDemandedComesFirst) {
  GrammarOptions options = with(schema("{\"type\": \"integer\"}"));
  options.choice = ToolChoice::required;
  const Grammar grammar = made("terminal-agent", options);
  EXPECT_TRUE(grammar.accepts(kLookCall));
  EXPECT_FALSE(grammar.accepts("7"));
}

TEST(ResponseFormatTest, ObjectsPatternsAndChoices) {
  const Grammar object = made("rnj-1", with({.kind = ResponseFormat::Kind::json_object}));
  EXPECT_TRUE(object.accepts(R"({"any": [1, {"thing": null}]})"));
  EXPECT_FALSE(object.accepts("[1]"));
  const Grammar pattern = made("rnj-1", with({.kind = ResponseFormat::Kind::regex, .pattern = "[a-z]+-[0-9]{2}|none"}));
  EXPECT_TRUE(pattern.accepts("tide-42"));
  EXPECT_TRUE(pattern.accepts("none"));
  EXPECT_FALSE(pattern.accepts("tide-421"));
  EXPECT_FALSE(pattern.accepts("a none"));
  const Grammar choice =
      made("rnj-1", with({.kind = ResponseFormat::Kind::choice, .choices = {"yes", "yesterday", "<tool_call>"}}));
  EXPECT_TRUE(choice.accepts("yesterday"));
  EXPECT_TRUE(choice.accepts("yes"));
  EXPECT_FALSE(choice.accepts("<tool_call>"));
  ASSERT_EQ(choice.notes().size(), 1u);
  EXPECT_TRUE(choice.notes()[0].left_out);
}

TEST(ResponseFormatTest, WhatCannotBeHeldToIsAnError) {
  const auto error_of = [](ResponseFormat response) {
    const Result<Grammar> grammar = make_grammar(builtin_format("rnj-1"), with(std::move(response)));
    return grammar ? std::string() : grammar.error().display();
  };
  EXPECT_NE(error_of({.kind = ResponseFormat::Kind::regex, .pattern = "(?=a)b"}).find("look around"),
            std::string::npos);
  EXPECT_NE(error_of({.kind = ResponseFormat::Kind::choice}).find("nothing to choose from"), std::string::npos);
  EXPECT_NE(error_of(schema("{\"type\": ")).find("JSON"), std::string::npos);
}

TEST(ResponseFormatTest, NothingButAnAnswerThatNothingFitsIsAnError) {
  GrammarOptions options;
  options.reasoning = false;
  options.response = schema("false");
  const Result<Grammar> grammar = make_grammar(builtin_format("rnj-1"), options);
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().input_path(), "response_format");
}

TEST(MaxCallsTest, AreCountedInEachLayout) {
  for (const bool around : {false, true}) {
    GrammarOptions options = with({});
    options.max_calls = 2;
    options.text_around_calls = around;
    const Grammar grammar = made("rnj-1", options);
    std::string reply = kLookCall;
    EXPECT_TRUE(grammar.accepts(reply));
    reply += "\n" + std::string(kLookCall);
    EXPECT_TRUE(grammar.accepts(reply));
    reply += "\n" + std::string(kLookCall);
    EXPECT_FALSE(grammar.accepts(reply));
  }
}

TEST(MaxCallsTest, MoreThanCanBeCountedAreNoted) {
  GrammarOptions options = with({});
  options.max_calls = 1000;
  const Grammar grammar = made("rnj-1", options);
  ASSERT_EQ(grammar.notes().size(), 1u);
  EXPECT_EQ(grammar.notes()[0].keyword, "max_calls");
}

/// Where llama.cpp would set the grammar in: what std::regex_match gives, which it asks itself.
std::string triggered(const LazyGrammar& lazy, const std::string& text) {
  for (const GrammarTrigger& trigger : lazy.triggers) {
    if (trigger.kind == GrammarTrigger::Kind::word) {
      const std::size_t at = text.find(trigger.value);
      if (at != std::string::npos) return text.substr(at);
      continue;
    }
    std::smatch match;
    if (std::regex_match(text, match, std::regex(trigger.value)))
      return text.substr(static_cast<std::size_t>(match.position(1)));
  }
  return {};
}

TEST(LazyGrammarTest, SetsInBehindReasoning) {
  const Result<LazyGrammar> lazy = made("terminal-agent", with({})).to_lazy();
  ASSERT_TRUE(lazy) << lazy.error().display();
  EXPECT_EQ(triggered(*lazy, "Hello"), "");
  EXPECT_EQ(triggered(*lazy, "Hello <tool_call>"), "<tool_call>");
  EXPECT_EQ(triggered(*lazy, "<think>I could <tool_call>"), "");
  EXPECT_EQ(triggered(*lazy, "<think>I could <tool_call></think>\nyes: <tool_call>x"), "<tool_call>x");
  EXPECT_EQ(lazy->grammar.find("root ::= "), 0u);
}

TEST(LazyGrammarTest, IsAWordWhereThereIsNoReasoning) {
  const Result<LazyGrammar> lazy = made("rnj-1", with({})).to_lazy();
  ASSERT_TRUE(lazy);
  ASSERT_EQ(lazy->triggers.size(), 1u);
  EXPECT_EQ(lazy->triggers[0].kind, GrammarTrigger::Kind::word);
  EXPECT_EQ(lazy->triggers[0].value, "<tool_call>");
}

TEST(LazyGrammarTest, PreservesTheMarksThatAreControlTokens) {
  const Result<LazyGrammar> plain = made("terminal-agent", with({})).to_lazy();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->preserved, std::vector<std::string>{"<tool_call>"});
  GrammarOptions options = with({});
  for (const char* text : {"<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>"}) {
    AddedToken token;
    token.text = text;
    token.control = true;
    options.control.push_back(std::move(token));
  }
  const Result<LazyGrammar> lazy = made("terminal-agent", options).to_lazy();
  ASSERT_TRUE(lazy);
  // not what ends it
  EXPECT_EQ(lazy->preserved, (std::vector<std::string>{"<tool_call>", "<think>", "</think>", "</tool_call>"}));
}

TEST(LazyGrammarTest, IsRefusedWhereTextIsNotFree) {
  EXPECT_FALSE(made("rnj-1", with({.kind = ResponseFormat::Kind::json_object})).to_lazy());
  GrammarOptions options = with({});
  options.choice = ToolChoice::required;
  EXPECT_FALSE(made("rnj-1", options).to_lazy());
  EXPECT_FALSE(made("rnj-1", {}).to_lazy());
}

}  // namespace
}  // namespace parlance
