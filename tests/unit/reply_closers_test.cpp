// Tests of what closes calls or reasoning once more: it is markup, and the message is the one without it.
//
// Begin reading at TEST(ReplyClosers, OnceMoreAreMarkup).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "parlance/reply.h"
#include "reply/scan/text_codec.h"
#include "reply_cases.h"
#include "reply_material.h"

namespace parlance {
namespace {

using testing::message_of;
using testing::reply_families;
using testing::ReplyCase;
using testing::ReplyCases;

std::string outline_without_diagnostics(ReplyMessage message) {
  message.diagnostics.clear();
  return testing::outline_of(message);
}

/// The texts that close calls of the format, but for those that any text may begin with, and those that mean something
/// else, too.
std::vector<std::string> closers_of(const ReplyFormat& format) {
  std::vector<std::string> closers;
  for (const CallForm& form : format.calls) {
    for (const ReplyMarker* marker : {&form.close, &form.call.back().literal}) {
      for (const std::string& text : marker->texts) closers.emplace_back(reply::trimmed(text));
    }
  }
  const auto means_more = [&](const std::string& text) {
    if (text.find('<') == text.npos || text.starts_with('`')) return true;
    for (const ReplyMarker* marker :
         {&format.reasoning_open, &format.reasoning_close, &format.content_open, &format.content_close}) {
      if (std::any_of(marker->texts.begin(), marker->texts.end(),
                      [&](const std::string& other) { return other.starts_with(text); }))
        return true;
    }
    return std::any_of(format.end.begin(), format.end.end(),
                       [&](const ReplyMarker& end) { return end.texts.front() == text; });
  };
  std::erase_if(closers, means_more);
  return closers;
}

/// The reply with `extra` behind each closer that closes a call, or the calls; how often.
std::string doubled(const ReplyFormat& format, const ReplyOptions& options, const std::string& reply,
                    const std::string& blanks, std::size_t& count) {
  const std::vector<std::string> closers = closers_of(format);
  std::string out;
  bool behind_call = false;
  count = 0;
  for (const testing::Event& event : testing::read_whole(format, reply, options)) {
    out += event.source;
    if (event.kind == ReplyEvent::Kind::call_end) behind_call = true;
    if (event.kind == ReplyEvent::Kind::content || event.kind == ReplyEvent::Kind::reasoning ||
        event.kind == ReplyEvent::Kind::call_begin)
      behind_call = false;
    if (event.kind != ReplyEvent::Kind::marker || !behind_call) continue;
    const std::string_view source = reply::trimmed(event.source);
    const std::string* longest = nullptr;
    for (const std::string& closer : closers) {
      if (source.ends_with(closer) && (longest == nullptr || closer.size() > longest->size())) longest = &closer;
    }
    if (longest == nullptr) continue;
    while (!out.empty() && reply::is_json_space(out.back())) out.pop_back();
    out.append(blanks).append(*longest);
    ++count;
    const std::size_t end = event.source.find_last_not_of(" \t\r\n");
    out.append(event.source.substr(end + 1));
  }
  return out;
}

TEST(ReplyClosers, OnceMoreAreMarkup) {
  std::mt19937_64 random(20261122);
  std::size_t tried = 0;
  for (const ReplyCases& family : reply_families()) {
    for (const ReplyCase& one : family.cases) {
      const ReplyMessage usual = message_of(family.format, one.options, one.reply);
      const bool whole =
          std::all_of(usual.calls.begin(), usual.calls.end(), [](const ReplyCall& call) { return call.complete; });
      if (!whole || !usual.diagnostics.empty() || usual.calls.empty()) continue;
      for (const std::string_view blanks : {"", "\n", " \n\n "}) {
        std::size_t count = 0;
        const std::string reply = doubled(family.format, one.options, one.reply, std::string(blanks), count);
        if (count == 0) continue;
        const ReplyMessage message = message_of(family.format, one.options, reply);
        EXPECT_EQ(outline_without_diagnostics(message), outline_without_diagnostics(usual))
            << family.name << ": " << reply;
        EXPECT_EQ(message.diagnostics.size(), count) << family.name << ": " << reply;
        EXPECT_EQ(message.finish_reason(), usual.finish_reason()) << family.name << ": " << reply;
        EXPECT_EQ(testing::broken_law(family.format, reply, random, one.options), "") << family.name << ": " << reply;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 200u);
}

struct CloserRow {
  std::string_view format, reply, outline;
};

constexpr std::string_view kTagged =
    R"({"reasoning": {"open": "<think>", "close": "</think>"}, "calls": [{"layout": "section", "open": "<calls>", )"
    R"("close": "</calls>",
  "call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"]}]})";
constexpr std::string_view kBracketed =
    R"({"calls": [{"layout": "list", "open": "[CALLS]", "call": [{"object": {"name": "name", "arguments": )"
    R"("arguments"}}]}]})";
constexpr std::string_view kFenced =
    R"({"calls": [{"call": ["<c>\n```json\n", {"object": {"name": "name", "arguments": "arguments"}}, "\n```"]}]})";
constexpr std::string_view kBraced =
    R"({"calls": [{"initial": true, "call": [{"object": {"name": "name", "arguments": "arguments"}}]}]})";
constexpr std::string_view kClosedList =
    R"({"calls": [{"layout": "list", "open": "<C>", "close": "</C>", "call": [{"object": {"name": "name", )"
    R"("arguments": "arguments"}}]}]})";
#define CALL R"({"name": "f", "arguments": {}})"

const CloserRow kCloserRows[] = {
    {kTagged, "<calls><call>" CALL "</call></calls></calls>", " | f {} | faults: 1"},
    {kTagged, "<calls><call>" CALL "</call></calls>\n</calls>\n</calls>", " | f {} | faults: 2"},
    {kTagged, "<calls><call>" CALL "</call></call></calls>", " | f {} | faults: 1"},
    {kTagged, "<calls><call>" CALL "</call>\n</call>\n<call>" CALL "</call></calls>", " | f {} | f {} | faults: 1"},
    {kTagged, "<calls><call>" CALL "</call></calls></call></calls>so", "so | f {} | faults: 2"},
    {kTagged, "<calls><call>" CALL "</call></calls>so</calls>", "so</calls> | f {}"},
    {kTagged, "<calls></call></calls>", "<calls></call></calls> | faults: 1"},
    {kTagged, "a</calls>", "a</calls>"},
    {kTagged, "</calls>a", "</calls>a"},
    {kTagged, "<think>a</think></calls>b", "</calls>b"},
    {kTagged, "<calls><call>" CALL "</call></calls></cal", "</cal | f {}"},
    {kBracketed, "[CALLS][" CALL "]]", " | f {} | faults: 1"},
    {kBracketed, "[CALLS][" CALL "] ] ]x", "x | f {} | faults: 2"},
    {kBracketed, "[CALLS][" CALL "]}", "} | f {}"},
    {kBraced, CALL "}", " | f {} | faults: 1"},
    {kBraced, CALL "]", "] | f {}"},
    {kClosedList, "<C>[" CALL "]]</C>", " | f {} | faults: 1"},
    {kClosedList, "<C>[" CALL "]</C></C>", " | f {} | faults: 1"},
    // a fence may begin an answer
    {kFenced, "<c>\n```json\n" CALL "\n```\n```python\nx\n```", "\n```python\nx\n``` | f {}"},
};

TEST(ReplyClosers, AreToldFromText) {
  std::mt19937_64 random(1);
  for (const CloserRow& row : kCloserRows) {
    const auto format = ReplyFormat::from_json(row.format);
    ASSERT_TRUE(format) << format.error().display();
    const std::string whole = testing::outline_of(message_of(*format, {}, row.reply));
    EXPECT_EQ(whole.substr(whole.find("content: ") + 9), row.outline) << row.reply;
    EXPECT_EQ(testing::broken_law(*format, std::string(row.reply), random), "") << row.reply;
  }
}

TEST(ReplyClosers, SayWhichWasTooMany) {
  const auto format = ReplyFormat::from_json(kTagged);
  ASSERT_TRUE(format);
  const ReplyMessage message = message_of(*format, {}, "<calls><call>" CALL "</call></calls>\n</calls>");
  ASSERT_EQ(message.diagnostics.size(), 1u);
  EXPECT_EQ(message.diagnostics[0].expected, "'</calls>' once");
  EXPECT_EQ(message.diagnostics[0].position, 59u);
  EXPECT_EQ(message.diagnostics[0].fault, ReplyEvent::Fault::syntax);
}
#undef CALL

TEST(ReplyClosers, OfReasoningOnceMoreAreMarkup) {
  for (const std::string_view format : {"terminal-agent", "underscore-bot"}) {
    for (const std::string_view between : {"", "\n", "\n\n"}) {
      const std::string reply = "<think>\nR\n</think>" + std::string(between) + "</think>\n\nC";
      const ReplyMessage message = message_of(testing::format_of(format), {}, reply);
      EXPECT_EQ(message.reasoning, "R") << format;
      EXPECT_EQ(message.content, "C") << format;
    }
  }
}

}  // namespace
}  // namespace parlance
