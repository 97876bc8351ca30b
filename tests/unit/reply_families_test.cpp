// Tests of replies of every family of formats: what they mean, from the files of tests/replies, and the laws.
//
// Begin reading at TEST(ReplyFamilies, MeanWhatTheirFilesSay).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "parlance/json.h"
#include "parlance/partial_json.h"
#include "parlance/reply.h"
#include "parlance/tokenizer.h"
#include "reply/scan/text_codec.h"
#include "reply_cases.h"
#include "reply_material.h"
#include "share.h"

namespace parlance {
namespace {

using testing::Events;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

ReplyMessage read_case(const ReplyFormat& format, const ReplyCase& one, std::string_view reply) {
  return testing::message_of(format, one.options, reply);
}

std::string outline_of_case(const ReplyFormat& format, const ReplyCase& one) {
  return testing::outline_of(read_case(format, one, one.reply));
}

TEST(ReplyFamilies, AreAllThere) { EXPECT_GE(reply_families().size(), 30u); }

TEST(ReplyFamilies, MeanWhatTheirFilesSay) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases)
      EXPECT_EQ(outline_of_case(family.format, one), one.message) << family.name << ": " << one.reply;
  }
}

/// What a call's pieces amount to is JSON at each of them; and of a call that is complete it is its arguments.
TEST(ReplyFamilies, HaveValuesWhileTheyStream) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      std::string arguments;
      const auto sink = [&](const ReplyEvent& event) {
        if (event.kind == ReplyEvent::Kind::call_begin) arguments.clear();
        if (event.kind == ReplyEvent::Kind::arguments || event.kind == ReplyEvent::Kind::broken)
          arguments += event.text;
        const std::string values = complete_json(arguments);
        Document document;
        ASSERT_TRUE(document.parse(values)) << family.name << ": " << arguments << " is " << values;
        if (event.kind != ReplyEvent::Kind::call_end || !event.complete) return;
        EXPECT_EQ(values, reply::trimmed(arguments)) << family.name << ": " << one.reply;
      };
      ReplyParser parser = *ReplyParser::make(family.format, one.options);
      for (const char byte : one.reply) parser.feed({&byte, 1}, sink);
      parser.finish(sink);
    }
  }
}

TEST(ReplyFamilies, AreTheSameAfterJson) {
  for (const ReplyCases& family : reply_families()) {
    const Result<ReplyFormat> again = ReplyFormat::from_json(family.format.to_json());
    ASSERT_TRUE(again) << family.name << again.error().display();
    EXPECT_EQ(*again, family.format) << family.name;
    EXPECT_EQ(again->to_json(), family.format.to_json());
  }
}

TEST(ReplyFamilies, EveryTwoWayCutAndEverySize) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      const Events whole = testing::read_whole(family.format, one.reply, one.options);
      for (std::size_t cut = 0; cut <= one.reply.size(); cut += testing::stride()) {
        ASSERT_EQ(testing::read_cut(family.format, one.reply, {cut}, one.options), whole)
            << family.name << ": " << one.reply << " cut at " << cut;
      }
      for (std::size_t size = 1; size <= 64; size += testing::stride()) {
        ASSERT_EQ(testing::read_sized(family.format, one.reply, size, one.options), whole)
            << family.name << ": " << one.reply << " by " << size;
      }
    }
  }
}

TEST(ReplyFamilies, KeepTheLawsWhereRepliesAreCutOff) {
  std::mt19937_64 random(1);
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      for (std::size_t size = 0; size < one.reply.size(); size += testing::share()) {
        ASSERT_EQ(testing::broken_law(family.format, one.reply.substr(0, size), random, one.options), "")
            << family.name << ": " << one.reply.substr(0, size);
      }
    }
  }
}

/// Whether the reply's end closes the call: then it is complete wherever the reply breaks off.
bool is_open_ended(const ReplyFormat& format, const ReplyCall& call) {
  return std::any_of(format.calls.begin(), format.calls.end(), [&](const CallForm& form) {
    const bool closed = form.call.back().kind == CallPart::Kind::literal && form.close_optional && form.call.size() > 1;
    const CallPart& last = form.call[form.call.size() - (closed ? 2 : 1)];
    const bool called = form.name.empty() || form.name == call.name;
    return called && last.kind == CallPart::Kind::arguments && last.arguments.codec == CallArguments::Codec::code &&
           call.arguments.starts_with("{\"" + last.arguments.argument + "\": \"");
  });
}

/// What is complete, without a fault, when the reply breaks off is what it would have been.
TEST(ReplyFamilies, WhatIsCompleteIsSoInTheWholeReply) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      const ReplyMessage whole = read_case(family.format, one, one.reply);
      for (std::size_t size = 0; size < one.reply.size(); size += testing::stride()) {
        const ReplyMessage part = read_case(family.format, one, one.reply.substr(0, size));
        for (std::size_t i = 0; i < part.calls.size() && part.diagnostics.empty(); ++i) {
          if (!part.calls[i].complete || is_open_ended(family.format, part.calls[i])) continue;
          ASSERT_LT(i, whole.calls.size()) << family.name << ": " << one.reply.substr(0, size);
          ASSERT_EQ(part.calls[i].arguments, whole.calls[i].arguments)
              << family.name << ": " << one.reply.substr(0, size);
        }
      }
    }
  }
}

TEST(ReplyFamilies, KeepTheLawsForMutatedReplies) {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < testing::share_of(40000); ++round) {
    const ReplyCases& family = reply_families()[random() % reply_families().size()];
    const ReplyCase& one = family.cases[random() % family.cases.size()];
    ReplyOptions options = one.options;
    if (round % 4 == 1) options.limits = {.depth = 3, .name = 10, .pending = 50};
    if (round % 4 == 2) options.tools = {};
    const std::string reply =
        round % 8 == 0 ? testing::random_reply(family.format, random) : testing::mutated(one.reply, random);
    ASSERT_EQ(testing::broken_law(family.format, reply, random, options), "") << family.name << ": " << reply;
  }
}

/// A reply that goes on from a prompt's last bytes is the rest of what it would be from further back.
TEST(ReplyFamilies, GoOnWhereThePromptEnds) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      const std::string prompt = one.options.prompt.value_or(family.format.prompt);
      for (std::size_t moved = 0; moved <= one.reply.size(); moved += testing::stride()) {
        ReplyOptions options = one.options;
        options.prompt = prompt + one.reply.substr(0, moved);
        std::string sources;
        const Events events = testing::read_whole(family.format, std::string_view(one.reply).substr(moved), options);
        for (const testing::Event& event : events) sources += event.source;
        ASSERT_EQ(sources, one.reply.substr(moved)) << family.name;
      }
    }
  }
}

// ---- tokens

using Tokens = std::vector<std::pair<std::string, bool>>;  ///< text, control

std::string message_of_tokens(const ReplyFormat& format, const Tokens& tokens, std::string* sources = nullptr) {
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(format);
  const auto sink = [&](const ReplyEvent& event) {
    message.add(event);
    if (sources != nullptr) *sources += event.source;
  };
  for (const auto& [text, control] : tokens) parser.feed_token(text, control, sink);
  parser.finish(sink);
  return testing::outline_of(message);
}

const ReplyFormat& family_format(std::string_view name) {
  for (const ReplyCases& family : reply_families()) {
    if (family.name == name) return family.format;
  }
  std::abort();
}

TEST(ReplyTokens, ATokenizerSaysWhichAreControlTokens) {
  const CallbackTokenizer tokenizer(
      {.added = {{1, "<|im_end|>", true}, {2, "<tool_call>", false}, {3, "<|other|>", true}},
       .encode = {},
       .token_text = [](TokenId) { return std::string(); }});
  ReplyFormat format = family_format("hermes");
  format.control.clear();
  EXPECT_EQ(message_of_tokens(format, {{"a <|im_end|>", false}, {"b", false}}), "reasoning:  | content: a ");
  EXPECT_EQ(tokenizer.control_texts(), (std::vector<std::string>{"<|im_end|>", "<|other|>"}));
  const ReplyFormat known = format.with_control(tokenizer.control_texts());
  EXPECT_EQ(known.control, std::vector<std::string>{"<|im_end|>"});
  EXPECT_EQ(message_of_tokens(known, {{"a <|im_end|>", false}, {"<|im_end|>", true}}),
            "reasoning:  | content: a <|im_end|>");
  EXPECT_EQ(known.with_control(tokenizer.control_texts()), known);
  const std::vector<std::string> ends = {"<|other|>"};
  EXPECT_EQ(format.with_control(tokenizer.control_texts(), ends).control.size(), 2u);
}

TEST(ReplyTokens, OnlyControlTokensAreMarkers) {
  const ReplyFormat& hermes = family_format("hermes");
  const std::string call = "\n{\"name\": \"now\", \"arguments\": {}}\n";
  EXPECT_EQ(
      message_of_tokens(
          hermes, {{"<tool_call>", true}, {call, false}, {"</tool_call>", true}, {"<|im_end|>", true}, {"x", false}}),
      "reasoning:  | content:  | now {}");
  EXPECT_EQ(
      message_of_tokens(
          hermes,
          {{"Write <tool_call>", false}, {call, false}, {"</tool_", false}, {"call>", false}, {"<|im_end|>", false}}),
      "reasoning:  | content: Write <tool_call>" + call + "</tool_call><|im_end|>");
  EXPECT_EQ(message_of_tokens(hermes, {{"<tool", true}, {"_call>", true}, {call, false}}),
            "reasoning:  | content: <tool_call>" + call);
  EXPECT_EQ(message_of_tokens(hermes, {{"a <|im_end|>", false}, {"<|im_end|>", true}}),
            "reasoning:  | content: a <|im_end|>");
  // What is no control token is a marker wherever it stands.
  EXPECT_EQ(message_of_tokens(hermes, {{"<thi", false}, {"nk>\nR", false}, {"</think>", true}, {"C", false}}),
            "reasoning: R | content: C");
  EXPECT_EQ(message_of_tokens(hermes, {{"\n<tool_call>", true}, {call, false}}),
            "reasoning:  | content: \n<tool_call>" + call);
}

TEST(ReplyTokens, MarkersOfSeveralTokens) {
  const ReplyFormat& harmony = family_format("harmony");
  const Tokens analysis{
      {"<|channel|>", true}, {"analysis", false}, {"<|message|>", true}, {"R <|end|>", false}, {"<|end|>", true}};
  Tokens tokens = analysis;
  for (const auto& token : Tokens{{"<|start|>", true},
                                  {"assistant", false},
                                  {"<|channel|>", true},
                                  {"fi", false},
                                  {"nal", false},
                                  {"<|message|>", true},
                                  {"C", false},
                                  {"<|return|>", true}}) {
    tokens.push_back(token);
  }
  EXPECT_EQ(message_of_tokens(harmony, tokens), "reasoning: R <|end|> | content: C");
  tokens[5].second = false;  // a header may begin at the channel
  EXPECT_EQ(message_of_tokens(harmony, tokens), "reasoning: R <|end|> | content: <|start|>assistant\nC");
  tokens[7].second = false;
  EXPECT_EQ(message_of_tokens(harmony, tokens),
            "reasoning: R <|end|> | content: <|start|>assistant<|channel|>final<|message|>C");
}

/// A text as tokens: its control tokens, and what stands between them.
Tokens tokens_of(const ReplyFormat& format, std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    std::size_t at = text.size(), size = 0;
    for (const std::string& control : format.control) {
      const std::size_t found = text.find(control);
      if (found < at || (found == at && control.size() > size)) at = found, size = control.size();
    }
    if (at != 0) tokens.emplace_back(text.substr(0, at), false);
    if (size != 0) tokens.emplace_back(text.substr(at, size), true);
    text.remove_prefix(at + size);
  }
  return tokens;
}

/// Does a text end within a control token? No token does.
bool cuts_control(const ReplyFormat& format, std::string_view text) {
  return std::ranges::any_of(format.control, [&](std::string_view control) {
    for (std::size_t size = 1; size < control.size(); ++size) {
      if (text.ends_with(control.substr(0, size))) return true;
    }
    return false;
  });
}

/// Does a text close a program, which may be any text before it?
bool closes_program(const ReplyFormat& format, std::string_view text) {
  return std::ranges::any_of(format.calls, [&](const CallForm& form) {
    const CallPart& last = form.call.back();
    const bool is_program = std::ranges::any_of(
        form.call, [](const CallPart& part) { return part.arguments.codec == CallArguments::Codec::code; });
    return is_program && std::ranges::find(last.literal.texts, text) != last.literal.texts.end();
  });
}

/// A model that stops in the middle of a call ends its turn there: the token that says so is none of the call's text.
TEST(ReplyTokens, AnEndEndsACallWhereverItStands) {
  const auto without_faults = [](const std::string& outline) { return outline.substr(0, outline.find(" | faults")); };
  std::size_t inside = 0;
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyMarker& end : family.format.end) {
      const std::string& token = end.texts.front();
      if (std::ranges::find(family.format.control, token) == family.format.control.end()) continue;
      if (closes_program(family.format, token)) continue;
      for (const ReplyCase& one : family.cases) {
        for (std::size_t cut = 0; cut <= one.reply.size(); cut += testing::stride()) {
          const std::string_view begun = std::string_view(one.reply).substr(0, cut);
          if (cuts_control(family.format, begun)) continue;
          Tokens tokens = tokens_of(family.format, begun);
          const std::string alone = without_faults(message_of_tokens(family.format, tokens));
          if (!alone.ends_with(" cut")) continue;
          tokens.emplace_back(token, true);
          EXPECT_EQ(without_faults(message_of_tokens(family.format, tokens)), alone) << family.name << ": " << begun;
          ++inside;
        }
      }
    }
  }
  EXPECT_GT(inside, 10u);
}

/// Where all is fed as a control token that is one, tokens read as bytes do; and whatever is fed, no byte is lost.
TEST(ReplyTokens, LoseNoByte) {
  std::mt19937_64 random(3);
  for (int round = 0; round < testing::share_of(20000); ++round) {
    const ReplyCases& family = reply_families()[random() % reply_families().size()];
    const std::string reply = testing::mutated(family.cases[random() % family.cases.size()].reply, random);
    Tokens tokens;
    for (std::size_t at = 0; at < reply.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 12, reply.size() - at);
      tokens.emplace_back(reply.substr(at, size), random() % 3 == 0);
      at += size;
    }
    std::string sources;
    message_of_tokens(family.format, tokens, &sources);
    ASSERT_EQ(sources, reply) << family.name;
  }
}

TEST(ReplyState, IsSmall) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      ReplyParser parser = *ReplyParser::make(family.format, one.options);
      std::size_t most = parser.memory();
      for (const char c : one.reply) {
        parser.feed({&c, 1}, [](const ReplyEvent&) {});
        most = std::max(most, parser.memory());
      }
      EXPECT_LT(most, 384u) << family.name << ": " << one.reply;
    }
  }
}

}  // namespace
}  // namespace parlance
