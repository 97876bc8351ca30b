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
#include "reply/scan/bare_scanner.h"
#include "reply/scan/python_scanner.h"
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

// ---- what is left of a call that went wrong

/// What a scanner of arguments makes of `text`: the JSON, what it has not said of what it read, and how far it read.
struct ScannedText {
  std::string json, unsaid;
  std::size_t read = 0;
};

template <typename Scanner>
ScannedText scanned(Scanner scanner, std::string_view text) {
  ScannedText found;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (reply::Scan scan = reply::Scan::more; p != end && scan == reply::Scan::more;) {
    std::string json;
    scan = scanner.run(p, std::min(p + 3, end), json);
    found.json += json;
    (void)scanner.take_repeated();
    if constexpr (std::is_same_v<Scanner, reply::BareScanner>) (void)scanner.take_mended();
  }
  found.read = static_cast<std::size_t>(p - text.data());
  found.unsaid = scanner.unsaid();
  return found;
}

std::string without_white_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; });
  return text;
}

bool is_subsequence(std::string_view part, std::string_view whole) {
  for (const char c : whole) {
    if (!part.empty() && c == part.front()) part.remove_prefix(1);
  }
  return part.empty();
}

std::string words(std::string_view text) {
  std::string found;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) found += static_cast<char>(std::tolower(c));
  }
  return found;
}

std::string without(std::string text, std::string_view what) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at)) text.erase(at, what.size());
  return text;
}

/// The bytes that were not said end what was read, and those before them alone give the same JSON: but for a word, a
/// closing quote or a comma, which JSON has once what follows is known. `mark` is what encloses strings, and no word.
template <typename Scanner>
void expect_nothing_lost(const Scanner& scanner, const std::string& text, std::string_view mark) {
  const ScannedText whole = scanned(scanner, text);
  const std::string read = text.substr(0, whole.read);
  ASSERT_TRUE(read.ends_with(whole.unsaid)) << text << "\n" << whole.unsaid;
  const ScannedText said = scanned(scanner, std::string_view(read).substr(0, read.size() - whole.unsaid.size()));
  const std::string json = without_white_space(whole.json), before = without_white_space(said.json);
  ASSERT_TRUE(json.starts_with(before)) << text << "\n" << json;
  if (said.unsaid.find_first_of("#'\"\\") != said.unsaid.npos) return;  // a comment, or signs of a text
  ASSERT_TRUE(is_subsequence(words(without(said.unsaid, mark)), words(json.substr(before.size())))) << text << "\n"
                                                                                                    << json;
}

std::string damaged(std::string text, std::mt19937_64& random) {
  constexpr std::string_view kBytes = "'\"\\,:=()[]{} \n#r7.-+e_<a\xC3\xA4";
  for (std::uint64_t times = 1 + random() % 3; times != 0 && !text.empty(); --times) {
    const std::size_t at = random() % text.size();
    const char c = kBytes[random() % kBytes.size()];
    if (random() % 3 == 0) {
      text.erase(at, 1 + random() % 4);
    } else if (random() % 2 == 0) {
      text.insert(at, 1, c);
    } else {
      text[at] = c;
    }
  }
  return text;
}

TEST(ArgumentNames, TellWhichComesTwice) {
  reply::ArgumentNames names;
  EXPECT_TRUE(names.add("a"));
  EXPECT_TRUE(names.add("b"));
  EXPECT_TRUE(names.add("")) << "none of the others";
  EXPECT_FALSE(names.add("b"));
  EXPECT_FALSE(names.add(""));
  names.clear();
  EXPECT_TRUE(names.add("b"));
}

TEST(ReplyBroken, ScannersOfArgumentsLoseNothing) {
  const std::string callee, quote = "<q>";
  const std::string calls[] = {
      R"((code='f(x, s=\'a\' + "b")', n=12, x=-1.5e3, l=[1, (2, 3), (4)], d={'k': True, 2: {}}, s={1, 2}))",
      R"((a="ä\n\x41\101", b=r'\b' u'c' # note
 , t = """x "" y""", w=True))",
  };
  const std::string objects[] = {
      R"({city:<q>Paris<qä<q>, days: 3, l:[1,{a:true}], <q>k<q>: true, s: "x\ny", w: two words})",
  };
  std::mt19937_64 random(20261130);
  for (int round = 0; round < testing::share_of(40000); ++round) {
    expect_nothing_lost(reply::PythonScanner(callee, 64, 1 << 16), damaged(calls[round % 2], random), "'");
    expect_nothing_lost(reply::BareScanner(quote, 64, 1 << 20), damaged(objects[0], random), quote);
    if (HasFatalFailure()) return;
  }
}

/// Small letters, of which no notation of arguments makes other ones.
std::string letters(std::string_view text) {
  std::string found;
  for (const char c : text) {
    if (c >= 'a' && c <= 'z') found += c;
  }
  return found;
}

/// The letters of all bytes that events of arguments and broken calls come from stand in their texts, of every family.
TEST(ReplyBroken, CallsLoseNoLetter) {
  std::mt19937_64 random(20261201);
  for (int round = 0; round < testing::share_of(40000); ++round) {
    const ReplyCases& family = reply_families()[random() % reply_families().size()];
    const ReplyCase& one = family.cases[random() % family.cases.size()];
    const std::string reply = testing::mutated(one.reply, random);
    const bool has_other_words = reply.find_first_of("#&\\") != reply.npos || reply.find("None") != reply.npos;
    if (has_other_words) continue;  // a comment, an entity, an escape, a word of Python
    std::string sources, texts;
    for (const testing::Event& event : testing::read_whole(family.format, reply, one.options)) {
      const bool is_of_call = event.kind == ReplyEvent::Kind::arguments || event.kind == ReplyEvent::Kind::broken;
      if (!is_of_call || event.source.find("<|") != std::string::npos) continue;  // it has a marker in front
      sources += event.source;
      texts += event.text;
    }
    ASSERT_TRUE(is_subsequence(letters(sources), letters(texts))) << family.name << ": " << reply << "\n" << texts;
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

/// A key with a blank in it ends a text without quotes only where the tool has it: else it is of the text.
TEST(ReplyBare, KeysWithBlanksAreThoseOfTheTool) {
  const char* const tools =
      R"([{"name": "plan", "parameters": {"properties": {"city": {}, "per day": {}, "in": {}}}}])";
  const ReplyCases& family = *std::ranges::find(reply_families(), "gemma4", &ReplyCases::name);
  const auto arguments = [&](const ReplyOptions& options, const std::string& text) {
    return testing::message_of(family.format, options, "<|tool_call>call:plan{" + text + "}<tool_call|>")
        .calls.at(0)
        .arguments;
  };
  const ReplyOptions known{.tools = *ReplyTools::from_json(tools)};
  EXPECT_EQ(arguments(known, "city:Paris,per day:3"), R"({"city": "Paris", "per day": 3})");
  EXPECT_EQ(arguments(known, "city:Paris, France, per day:3,in:x"),
            R"({"city": "Paris, France", "per day": 3, "in": "x"})");
  EXPECT_EQ(arguments(known, "city:Paris, at 10:30,in:x"), R"({"city": "Paris, at 10:30", "in": "x"})");
  EXPECT_EQ(arguments(known, "in:{city:Paris,per day:3}"), R"({"in": {"city": "Paris,per day:3"}})");
  EXPECT_EQ(arguments({}, "city:Paris,per day:3"), R"({"city": "Paris,per day:3"})");
}

/// What is counted of a text without quotes holds for the longest ones too, and begins anew with each.
TEST(ReplyBare, LongRunsOfCommasAndBracketsAreOfTheText) {
  const ReplyCases& family = *std::ranges::find(reply_families(), "gemma4", &ReplyCases::name);
  const std::string squares = "a" + std::string(2000, '[') + std::string(2000, ']');
  const std::string braces = "a" + std::string(2000, '{') + std::string(2000, '}');
  const std::string commas = "a" + std::string(4000, ',');
  const std::string text = "p:" + squares + ",q:" + braces + ",r:" + commas + "s:" + commas + " b c," + ",t:1";
  const auto message = testing::message_of(family.format, {}, "<|tool_call>call:plan{" + text + "}<tool_call|>");
  EXPECT_EQ(message.calls.at(0).arguments,
            R"({"p": ")" + squares + R"(", "q": ")" + braces + R"(", "r": "a", "s": ")" + commas + R"( b c", "t": 1})");
  EXPECT_TRUE(message.calls.at(0).complete);
}

/// A brace that nothing closes ends no arguments too soon: no client is to run a call of half of them.
TEST(ReplyBare, ABraceThatNothingClosesLeavesTheCallIncomplete) {
  const ReplyCases& family = *std::ranges::find(reply_families(), "gemma4", &ReplyCases::name);
  for (const std::string text : {"city:a{b", "city:Paris, {k:v,days:3", "city:a{b,days:{c:1}"}) {
    const auto message = testing::message_of(family.format, {}, "<|tool_call>call:plan{" + text + "}<tool_call|>");
    EXPECT_FALSE(message.calls.at(0).complete) << text;
  }
}

/// A list of calls that nothing opens, or only a fence, is one where the reply begins, whether tools are known or not.
TEST(ReplyInitial, CallsBeginTheReply) {
  const ReplyFormat format = *ReplyFormat::from_json(
      R"({"calls": [{"layout": "list", "open": ["```json\n", "```\n"], "call": [{"object": {"name": "name",
      "arguments": "arguments", "parameters": "arguments"}}], "close": "\n```", "open_optional": true,
      "close_optional": true, "initial": true}]})");
  const std::string list = R"([{"name": "f", "parameters": {"a": 1}}])", fenced = "```json\n" + list + "\n```";
  for (const std::string& text : {list, fenced, "\n" + list}) {
    EXPECT_EQ(testing::message_of(format, {}, text).calls.size(), 1U) << text;
    for (const std::string before : {"Use this: ", "Look:\n", "Look:\n\n", "Look:\n```json\n[]\n```\n"}) {
      const ReplyMessage message = testing::message_of(format, {}, before + text);
      EXPECT_TRUE(message.calls.empty()) << before + text;
      EXPECT_EQ(message.content, before + text);
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
