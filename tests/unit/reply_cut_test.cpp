// Tests of replies that end inside of a call or of what opens it, in every format: none of them ends as if it were
// whole, with the call lost.
//
// Begin reading at TEST(ReplyCut, NoCallIsLostInSilence).
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/ascii.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "reply/scan/text_codec.h"
#include "reply_cases.h"
#include "reply_material.h"
#include "share.h"

namespace parlance {
namespace {

using testing::message_of;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

const ReplyCases& family_of(std::string_view name) {
  const auto& all = reply_families();
  return *std::ranges::find_if(all, [name](const ReplyCases& one) { return one.name == name; });
}

/// Qwen3-Coder's calls as one form, and as a section with an outer tag.
TEST(ReplyCut, WithinTheOpenerOfCallsInTags) {
  const std::string_view call = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis";
  for (const std::string_view name : {"qwen35", "qwen3_coder"}) {
    const ReplyCases& family = family_of(name);
    for (const std::string_view before : {"</think>\n\n", "</think>\n\nC\n", "</think>\n\nC\n\n"}) {
      for (std::size_t size = before == "</think>\n\n" ? 2 : 3; size <= call.size(); ++size) {
        const std::string reply = std::string(before).append(call.substr(0, size));
        EXPECT_EQ(message_of(family.format, family.cases.front().options, reply).finish_reason(), "length")
            << name << ": " << reply;
      }
    }
    const std::string first = std::string(family.cases.front().reply);
    const std::size_t second = first.find("<function=now");
    ASSERT_NE(second, first.npos);
    for (std::size_t end = second + 3; end < second + 12; ++end) {
      EXPECT_EQ(message_of(family.format, family.cases.front().options, first.substr(0, end)).finish_reason(), "length")
          << name << ": " << first.substr(0, end);
    }
  }
}

/// What a finished answer may end with.
TEST(ReplyCut, AnAnswerMayEndAsAnOpenerBegins) {
  for (const std::string_view reply :
       {"a < b <", "It begins with <tool_call>", "A", "Action", "x[", "See <t", "Text:\n```", "</b>", "a <|im_en"}) {
    const ReplyMessage message = message_of(testing::format_of("terminal-agent"), {}, reply);
    EXPECT_EQ(message.finish_reason(), "stop") << reply;
    EXPECT_EQ(message.content, reply);
    EXPECT_EQ(message_of(testing::format_of("command-r-plus"), {}, reply).finish_reason(), "stop") << reply;
  }
  for (const std::string_view reply : {"<", "A\n<", "A:\n\n[", "Plan of Action:", "Action:", ">>>"}) {
    for (const std::string_view name : {"terminal-agent", "rnj-1", "command-r-plus"})
      EXPECT_EQ(message_of(testing::format_of(name), {}, reply).finish_reason(), "stop") << name << ": " << reply;
    for (const std::string_view name : {"minimax_m3", "mistral_small"})
      EXPECT_EQ(message_of(family_of(name).format, {}, reply).finish_reason(), "stop") << name << ": " << reply;
  }
  EXPECT_EQ(message_of(family_of("minimax_m3").format, {}, "[\n  1,\n  2\n]").finish_reason(), "stop");
  const ReplyMessage ended = message_of(testing::format_of("terminal-agent"), {}, "A\n<tool_ca<|im_end|>");
  EXPECT_EQ(ended.finish_reason(), "stop");
  EXPECT_EQ(ended.content, "A\n<tool_ca");
}

/// Behind a call that is whole, what closes calls and replies may begin alike.
TEST(ReplyCut, ACallMayBeClosedWithWhatAnOpenerBeginsWith) {
  const ReplyCases& family = family_of("qwen35");
  const std::string call = "</think>\n\n<tool_call>\n<function=now>\n</function>\n";
  for (const std::string_view end : {"", "<", "</", "</tool_call>", "</tool_call>\n<"}) {
    const ReplyMessage message = message_of(family.format, {}, call + std::string(end));
    EXPECT_EQ(message.calls.size(), 1u) << end;
    EXPECT_EQ(message.finish_reason(), "tool_calls") << end;
  }
}

struct FedToken {
  std::string_view text;
  bool is_control = false;
};

/// What comes of tokens, where the markers of calls and of the end are control tokens.
ReplyMessage message_of_controlled(std::initializer_list<FedToken> tokens) {
  ReplyFormat format = testing::format_of("terminal-agent");
  format.control = {"<tool_call>", "</tool_call>", "<|im_end|>"};
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(format);
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  for (const FedToken& token : tokens) parser.feed_token(token.text, token.is_control, sink);
  parser.finish(sink);
  return message;
}

/// An answer may quote a marker that was sampled as a control token.
TEST(ReplyCut, AControlTokenInBackticksOpensNothing) {
  const ReplyMessage message = message_of_controlled({{"Use `"}, {"<tool_call>", true}, {"`"}});
  EXPECT_EQ(message.finish_reason(), "stop");
  EXPECT_EQ(message.content, "Use `<tool_call>`");
}

/// A control token comes whole, so that a text which only looks like its beginning opens nothing.
TEST(ReplyCut, TextIsNoBeginningOfAControlToken) {
  const ReplyMessage message = message_of_controlled({{"A\n"}, {"<tool_ca"}});
  EXPECT_EQ(message.finish_reason(), "stop");
  EXPECT_EQ(message.content, "A\n<tool_ca");
}

/// Where a call's opener begins in the reply, and where its name and arguments are over.
struct CallRange {
  std::size_t begin, end;
};

std::vector<CallRange> calls_in(const ReplyFormat& format, const ReplyCase& one) {
  std::vector<CallRange> ranges;
  for (const testing::Event& event : testing::read_whole(format, one.reply, one.options)) {
    if (event.kind == ReplyEvent::Kind::call_begin) {
      const std::size_t blanks = event.source.size() - reply::trimmed_left(event.source).size();
      ranges.push_back({event.position + blanks, event.position + event.source.size()});
    }
    if (event.kind == ReplyEvent::Kind::call_end && !ranges.empty())
      ranges.back().end = std::max<std::size_t>(ranges.back().end, event.position);
  }
  return ranges;
}

/// Whether the bytes may be an answer's own: JSON, brackets, a word, which a colon may follow, a fence, or so few that
/// only their place could tell.
bool may_be_text(std::string_view opening) {
  opening = reply::trimmed(opening);
  if (opening.starts_with("[{") || opening.starts_with('{')) return true;  // calls that nothing opens
  constexpr std::string_view kBetween = ",;[{ \n";
  opening.remove_prefix(std::min(opening.find_first_not_of(kBetween), opening.size()));
  if (opening.size() < 3 || opening.front() == '`' || opening.find_first_not_of("<>[]|") == opening.npos) return true;
  if (opening.back() == ':') opening.remove_suffix(1);
  return std::ranges::all_of(opening, ascii::is_word);
}

/// Whether what the bytes begin may close calls as well.
bool may_close(const ReplyFormat& format, std::string_view opening) {
  opening.remove_prefix(std::min(opening.find_last_of('<'), opening.size()));
  return std::ranges::any_of(format.calls, [opening](const CallForm& form) {
    const auto begins = [opening](const ReplyMarker& marker) {
      return std::ranges::any_of(marker.texts,
                                 [opening](const std::string& text) { return text.find(opening) != text.npos; });
    };
    return begins(form.close) || begins(form.call.back().literal);
  });
}

/// A form without a marker begins as content does, so only its arguments tell; a header may be the answer's first word.
bool has_opener(const ReplyFormat& format) {
  return std::ranges::none_of(format.calls,
                              [](const CallForm& form) { return form.headed || form.initial || form.declared_only; });
}

void expect_no_call_is_lost(const ReplyFormat& format, const ReplyCase& one, const std::string& name) {
  const std::vector<CallRange> calls = calls_in(format, one);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t end = calls[i].begin + 1; end < calls[i].end; ++end) {
      const std::string reply = one.reply.substr(0, end);
      const std::string_view opening = std::string_view(reply).substr(calls[i].begin);
      if (may_be_text(opening) || (i != 0 && may_close(format, opening))) continue;
      const ReplyMessage message = message_of(format, one.options, reply);
      const bool is_told = message.calls.size() > i || !message.diagnostics.empty();
      EXPECT_TRUE(is_told || message.finish_reason() == "length") << name << ": " << reply;
    }
  }
}

TEST(ReplyCut, NoCallIsLostInSilence) {
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases)
      if (has_opener(family.format)) expect_no_call_is_lost(family.format, one, family.name);
  }
}

TEST(ReplyCut, NoCallOfABuiltInFormatIsLostInSilence) {
  const std::string object = R"({"name": "f", "arguments": {"a": [1, "b"]}})";
  const std::pair<std::string_view, std::string> kReplies[] = {
      {"terminal-agent", "C\n<tool_call>\n" + object + "\n</tool_call>\n<tool_call>\n" + object + "\n</tool_call>"},
      {"rnj-1", "C\n<tool_call>\n" + object + "\n</tool_call>\n<tool_call>\n" + object + "\n</tool_call>"},
      {"underscore-bot", "R\n</think>\n\nC\n<tool_call>\n" + object + "\n</tool_call>"},
      {"command-r-plus",
       "Action: ```json\n[{\"tool_name\": \"f\", \"parameters\": {}}, {\"tool_name\": \"g\", \"parameters\": "
       "{}}]\n```"}};
  for (const auto& [name, reply] : kReplies) {
    const ReplyCase one{{}, reply, {}};
    ASSERT_FALSE(calls_in(testing::format_of(name), one).empty()) << name;
    expect_no_call_is_lost(testing::format_of(name), one, std::string(name));
  }
}

}  // namespace
}  // namespace parlance
