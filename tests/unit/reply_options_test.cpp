// Tests of what a reader is told besides the format: that a reply begins inside reasoning, and that no call begins
// there.
#include <gtest/gtest.h>

#include <random>

#include "parlance/reply.h"
#include "reply_cases.h"
#include "reply_material.h"

namespace parlance {
namespace {

using testing::message_of;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

constexpr std::string_view kTaggedFormat =
    R"({"prompt": "<bot>", "reasoning": {"open": "<think>\n", "close": "\n</think>\n"}, "end": ["<end>"],
    "calls": [{"call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"]}]})";
constexpr std::string_view kCallText = R"(<call>{"name": "f", "arguments": {}}</call>)";

TEST(ReplyOptionsTest, AReplyMayBeginInReasoningWhateverThePromptSays) {
  const auto format = ReplyFormat::from_json(kTaggedFormat);
  ASSERT_TRUE(format);
  for (const std::string_view prompt :
       {"<bot>", "<bot><think>\n", "<bot><think>", "<bot><think>\n\n</think>\n\n", "<bot><think>\n</think>\nSo",
        "<bot><call>{\"name\": \"f\"", "<bot><call>{\"name\": \"f\", \"arguments\": {\"a\": ", "<bot><thi", "",
        "something else"}) {
    const ReplyOptions options{.prompt = std::string(prompt), .begin_in_reasoning = true};
    for (const std::string_view begin : {"", "\n", "<think>", "<think>\n"}) {
      const ReplyMessage message = message_of(*format, options, std::string(begin) + "I think\n</think>\nSo<end>");
      EXPECT_EQ(message.content, "So") << prompt << begin;
      const bool framed = prompt.ends_with("<think>\n") && begin == "\n";  // the opener's line end is the prompt's
      EXPECT_EQ(message.reasoning, framed ? "\nI think" : "I think") << prompt << begin;
      EXPECT_TRUE(message.calls.empty() && message.diagnostics.empty());
    }
    EXPECT_EQ(message_of(*format, options, "I th").finish_reason(), "length") << prompt;
  }
  EXPECT_EQ(message_of(*format, {.begin_in_reasoning = true}, "").finish_reason(), "stop");
}

TEST(ReplyOptionsTest, WithoutReasoningInTheFormatNothingBeginsThere) {
  const auto format = ReplyFormat::from_json(R"({"end": ["<end>"]})");
  ASSERT_TRUE(format);
  EXPECT_EQ(message_of(*format, {.begin_in_reasoning = true}, "So<end>").content, "So");
}

TEST(ReplyOptionsTest, NoCallBeginsInReasoning) {
  ReplyFormat format = *ReplyFormat::from_json(kTaggedFormat);
  const std::string reply = "a" + std::string(kCallText) + "b</think>" + std::string(kCallText);
  for (const bool ended : {false, true}) {
    for (const bool opened : {false, true}) {
      format.calls_end_reasoning = ended;
      format.calls_end_opened_reasoning = opened;
      for (const bool begins : {false, true}) {
        ReplyOptions options{.prompt = "<bot><think>\n", .begin_in_reasoning = begins, .no_calls_in_reasoning = true};
        const ReplyMessage message = message_of(format, options, reply);
        EXPECT_EQ(message.reasoning, "a" + std::string(kCallText) + "b");
        EXPECT_EQ(message.calls.size(), 1u);
        options.no_calls_in_reasoning = false;
        EXPECT_EQ(message_of(format, options, reply).calls.size(), ended || opened ? 2u : 1u);
      }
      EXPECT_EQ(message_of(format, {.no_calls_in_reasoning = true}, "<think>" + reply).calls.size(), 1u);
    }
  }
}

/// What begins a call in reasoning that the prompt has opened does so where the reply is said to begin there, too.
TEST(ReplyOptionsTest, ReasoningThatAReplyBeginsInIsOpened) {
  ReplyFormat format = *ReplyFormat::from_json(kTaggedFormat);
  format.calls_end_opened_reasoning = true;
  EXPECT_EQ(message_of(format, {.begin_in_reasoning = true}, "a" + std::string(kCallText)).calls.size(), 1u);
  EXPECT_EQ(message_of(format, {}, "<think>a" + std::string(kCallText)).calls.size(), 0u);
}

/// In every family: beginning in reasoning is what a prompt does that ends with what opens it.
TEST(ReplyOptionsTest, BeginningInReasoningIsWhatAnOpenerInThePromptDoes) {
  std::mt19937_64 random(20261122);
  std::size_t tried = 0;
  for (const ReplyCases& family : reply_families()) {
    const ReplyFormat& format = family.format;
    if (!format.reasoning_open.exists() || !format.reasoning_close.exists()) continue;
    for (const ReplyCase& one : family.cases) {
      ReplyOptions opened = one.options, told = one.options;
      opened.prompt = format.reasoning_open.texts.front();
      told.begin_in_reasoning = true;
      if (random() % 2 == 0) opened.no_calls_in_reasoning = told.no_calls_in_reasoning = true;
      if (random() % 2 == 0) told.prompt = "";
      if (!told.prompt && std::string_view(format.prompt).find(*opened.prompt) != std::string_view::npos) continue;
      EXPECT_EQ(testing::outline_of(message_of(format, told, one.reply)),
                testing::outline_of(message_of(format, opened, one.reply)))
          << family.name << ": " << one.reply;
      EXPECT_EQ(testing::broken_law(format, one.reply, random, told), "") << family.name << ": " << one.reply;
      ++tried;
    }
  }
  EXPECT_GE(tried, 200u);
}

TEST(ReplyParser, FinishesOnce) {
  ReplyParser parser = *ReplyParser::make(testing::format_of("terminal-agent"));
  std::string said, last;
  const auto note = [&](const ReplyEvent& event) {
    said += event.source;
    last = name_of(event.kind);
  };
  parser.feed("text<tool_ca", note);
  for (int times = 0; times < 2; ++times) {
    parser.finish(note);
    EXPECT_EQ(said, "text<tool_ca");
    EXPECT_EQ(last, "content");
  }
  parser.feed("more", note);
  parser.finish(note);
  EXPECT_EQ(said, "text<tool_camore");
  EXPECT_EQ(last, "trailing");
}

TEST(ReplyParser, WhatWasMovedFromSaysNothing) {
  ReplyParser parser{CompiledReplyFormat()};
  const ReplyParser taken = std::move(parser);
  std::size_t events = 0;
  parser.feed("text", [&](const ReplyEvent&) { ++events; });  // NOLINT: what is left of it is the test
  parser.finish([&](const ReplyEvent&) { ++events; });
  EXPECT_EQ(events, 0u);
  EXPECT_EQ(ReplyParser(parser).held(), 0u);
}

}  // namespace
}  // namespace parlance
