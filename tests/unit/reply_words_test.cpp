// Tests of what stands in the arguments of a call that is not complete: what the model wrote, in its own spelling.
//
// Begin reading at kPlaces: a reply in each way of writing arguments, with a place for a word.
#include <gtest/gtest.h>

#include <random>

#include "parlance/json.h"
#include "parlance/reply.h"
#include "parlance/source.h"
#include "reply_material.h"
#include "share.h"

namespace parlance {
namespace {

using testing::format_of;

/// Stands for the word.
constexpr char kWord = '@';

struct Place {
  std::string_view format;  ///< the name of a built-in one, or JSON
  std::string_view reply;
};

constexpr std::string_view kTags =
    R"({"calls": [{"call": ["<f=", {"name": true}, ">", {"arguments": {"tags": {"open": "<p=", "key_close": ">", )"
    R"("close": "</p>"}}}, "</f>"]}]})";
constexpr std::string_view kPythonTags =
    R"({"calls": [{"call": ["<f=", {"name": true}, ">", {"arguments": {"tags": {"open": "<p=", "key_close": ">", )"
    R"("close": "</p>", "values": "python"}}}, "</f>"]}]})";
constexpr std::string_view kBare =
    R"({"calls": [{"call": ["<c>call:", {"name": true}, {"arguments": {"bare": "<|\"|>"}}, "</c>"]}]})";
constexpr std::string_view kDirect =
    R"({"calls": [{"call": ["<f=", {"name": true}, ">", {"arguments": "json"}, "</f>"]}]})";
constexpr std::string_view kList =
    R"({"calls": [{"layout": "list", "open": "[C]", "call": [{"object": {"name": "name", "arguments": )"
    R"("arguments"}}]}]})";
constexpr std::string_view kKeywordList =
    R"({"calls": [{"layout": "list", "open": "[C]", "call": [{"name": true}, {"arguments": {"keywords": ""}}]}]})";

const Place kPlaces[] = {
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": @}}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"y\": 1, \"x\": [true, @]}}\n</tool_call>"},
    {"terminal-agent",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"y\": {\"x\": [@, 3]}, \"z\": 4}}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {'y': 1, \"x\": @}}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": @}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": \"{\\\"x\\\": @}\"}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {@: 1}}\n</tool_call>"},
    {"terminal-agent", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"y\": 1, @: 1}}\n</tool_call>"},
    {"chatglm3", "f\n```python\ntool_call(x=@)\n```"},
    {"chatglm3", "f\n```python\ntool_call(y=1, x=[2, @, 3])\n```"},
    {"chatglm3", "f\n```python\ntool_call(x={'y': (@, 1)})\n```"},
    {"chatglm3", "f\n```python\ntool_call(y=1, @=2)\n```"},
    {"chatglm3", "f\n```python\ntool_call(y=1, x={@: 2})\n```"},
    {kTags, "<f=f><p=y>1</p><p=x>@</p></f>"},
    {kPythonTags, "<f=f><p=y>1</p><p=x>@</p></f>"},
    {kBare, "<c>call:f{y:1,x:@}</c>"},
    {kBare, "<c>call:f{y:1,x:[2,@]}</c>"},
    {kDirect, "<f=f>{\"x\": @}</f>"},
    {kDirect, "<f=f>@</f>"},
    {kList, "[C][{\"name\": \"f\", \"arguments\": {\"x\": @}}, {\"name\": \"g\", \"arguments\": {}}]"},
    {kKeywordList, "[C][f(x=@), g(y=1)]"},
};

ReplyFormat format_at(const Place& place) {
  if (!place.format.starts_with('{')) return format_of(place.format);
  const auto format = ReplyFormat::from_json(place.format);
  EXPECT_TRUE(format) << format.error().display();
  return *format;
}

std::string with_word(std::string_view reply, std::string_view word) {
  const std::size_t at = reply.find(kWord);
  return std::string(reply.substr(0, at)).append(word).append(reply.substr(at + 1));
}

ReplyMessage plain_message_of(const ReplyFormat& format, std::string_view reply) {
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(format);
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message;
}

bool is_object(std::string_view json) {
  Document document;
  return document.parse(json) && document.root().is(Kind::dict);
}

/// What is wrong with the first call of a reply, or "". Texts are spelled as JSON: their quotes may be other ones.
std::string fault_of(const ReplyMessage& message, std::string_view word) {
  const std::size_t quote = std::min(word.find_first_of("'\""), word.size() - 1);
  if (word[quote] == word.back() && quote + 1 < word.size()) word = word.substr(quote + 1, word.size() - quote - 2);
  if (message.calls.empty())
    return message.content.find(word) == std::string::npos ? "the word is lost in content: " + message.content : "";
  const ReplyCall& call = message.calls.front();
  if (call.complete) return is_object(call.arguments) ? "" : "complete, and no object: " + call.arguments;
  return call.arguments.find(word) == std::string::npos ? "the word is lost: " + call.arguments : "";
}

/// Whether the word stands for all arguments, and begins as a text or as null, which stands for none.
bool is_nothing(const Place& place, std::string_view word) {
  const std::string_view before = place.reply.substr(0, place.reply.find(kWord));
  const bool all = before.ends_with("\"arguments\": ") || before.ends_with("f>");
  return all && (word.starts_with('n') || word.starts_with('"'));
}

constexpr std::string_view kWords[] = {"NaN",
                                       "Nope",
                                       "nope",
                                       "nul",
                                       "nully",
                                       "None",
                                       "none",
                                       "Nonesuch",
                                       "NONE",
                                       "N",
                                       "No",
                                       "Non",
                                       "T",
                                       "Tr",
                                       "Tru",
                                       "True",
                                       "Truth",
                                       "TRUE",
                                       "Tomato",
                                       "true",
                                       "truer",
                                       "tru",
                                       "F",
                                       "False",
                                       "Falsely",
                                       "Fa",
                                       "false",
                                       "fals",
                                       "f",
                                       "undefined",
                                       "Infinity",
                                       "-Infinity",
                                       "-inf",
                                       "+5",
                                       "--5",
                                       "- 5",
                                       "-",
                                       "+",
                                       "-NaN",
                                       "+Inf",
                                       "0x1G",
                                       "0x1F",
                                       "1e",
                                       "1e+",
                                       "1.",
                                       ".5",
                                       "-.5",
                                       "01",
                                       "1_000",
                                       "12abc",
                                       "1.2.3",
                                       "b'x'",
                                       "f'x'",
                                       "os.x",
                                       "a.b",
                                       "Nil",
                                       "'it\\xZZ'",
                                       "\"it\\xZZ\"",
                                       "'it\\N{NO SUCH NAME}'",
                                       "\"\\uD8ZZ\"",
                                       "\"\\u12G4\"",
                                       "NoneNone",
                                       "TrueTrue",
                                       "Nu\xC3\xA9",
                                       "\xE4\xB8\xAD",
                                       "T\xE4\xB8\xAD"};

TEST(ReplyWords, KeepTheirSpelling) {
  for (const Place& place : kPlaces) {
    const ReplyFormat format = format_at(place);
    for (const std::string_view word : kWords) {
      if (is_nothing(place, word)) continue;
      const std::string reply = with_word(place.reply, word);
      EXPECT_EQ(fault_of(plain_message_of(format, reply), word), "") << reply;
    }
  }
}

TEST(ReplyWords, KeepTheirSpellingInEveryPiece) {
  for (const Place& place : kPlaces) {
    const ReplyFormat format = format_at(place);
    for (const std::string_view word : kWords) {
      const std::string reply = with_word(place.reply, word);
      const testing::Events whole = testing::read_whole(format, reply);
      for (const std::size_t size : {1u, 2u, 3u, 5u})
        ASSERT_EQ(testing::read_sized(format, reply, size), whole) << reply << " by " << size;
      for (std::size_t cut = 0; cut < reply.size(); cut += testing::stride())
        ASSERT_EQ(testing::read_cut(format, reply, {cut}), whole) << reply << " cut at " << cut;
    }
  }
}

/// Where the reply ends inside of a word: what there is of it stands in the arguments, or is the word of JSON that it
/// means.
TEST(ReplyWords, KeepTheirSpellingWhereTheReplyEnds) {
  for (const Place& place : kPlaces) {
    const ReplyFormat format = format_at(place);
    const std::size_t at = place.reply.find(kWord);
    for (const std::string_view word : kWords) {
      if (is_nothing(place, word) || word == "n" || word == "- 5" || word.find_first_of("'\"") != word.npos ||
          static_cast<unsigned char>(word.back()) >= 0x80)
        continue;
      for (std::size_t size = 1; size <= word.size(); ++size) {
        const std::string_view begun = word.substr(0, size);
        const ReplyMessage message = plain_message_of(format, std::string(place.reply.substr(0, at)).append(begun));
        if (message.calls.empty()) continue;
        const std::string& arguments = message.calls.front().arguments;
        const std::string_view meant = begun == "True"                      ? "true"
                                       : begun == "False"                   ? "false"
                                       : begun == "None" || begun == "none" ? "null"
                                                                            : begun;
        const bool there = arguments.find(begun) != std::string::npos || arguments.ends_with(meant);
        EXPECT_TRUE(there || begun.ends_with(' ')) << place.reply.substr(0, at) << begun << ": " << arguments;
        EXPECT_FALSE(message.calls.front().complete);
      }
    }
  }
}

TEST(ReplyWords, KeepTheirSpellingWhateverTheyAre) {
  std::mt19937_64 random(20261122);
  constexpr std::string_view kLetters = "TrueFalsNoneNullnaINfity_x";
  for (int round = 0; round < testing::share_of(5000); ++round) {
    const Place& place = kPlaces[random() % std::size(kPlaces)];
    std::string word = random() % 4 == 0 ? "-" : "";
    for (std::size_t left = 1 + random() % 8; left > 0; --left) word += kLetters[random() % kLetters.size()];
    if (is_nothing(place, word)) continue;
    const ReplyFormat format = format_at(place);
    const std::string reply = with_word(place.reply, word);
    ASSERT_EQ(fault_of(plain_message_of(format, reply), word), "") << reply;
    ASSERT_EQ(testing::broken_law(format, reply, random), "") << reply;
  }
}

TEST(ReplyWords, OfPythonAreJson) {
  const ReplyMessage message = plain_message_of(
      format_of("terminal-agent"),
      "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": [True, False,None ], \"b\": none}}</tool_call>");
  ASSERT_EQ(message.calls.size(), 1u);
  EXPECT_EQ(message.calls[0].arguments, R"({"a": [true, false,null ], "b": null})");
  EXPECT_TRUE(message.calls[0].complete);
}

}  // namespace
}  // namespace parlance
