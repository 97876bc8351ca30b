// TokenReader with and without an index of tokens: the same values of the same texts, and the same texts refused.
//
// Texts stand at every length of a stretch of characters that is looked at together. Begin reading at kTexts.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/index.h"
#include "json/json.h"
#include "json/read.h"
#include "json/tokens.h"

namespace parlance {
namespace {

using namespace std::string_view_literals;

/// What a reader makes of a text: its value as JSON, nothing if it is refused.
std::optional<std::string> read_json(std::string_view text, bool with_index, bool only_look = false) {
  std::string padded(text);
  padded.resize(text.size() + JsonReader::kPadding);
  JsonIndex index;
  if (with_index && !index.find({padded.data(), text.size()})) return std::nullopt;
  const auto most = with_index ? TokenReader::most_of(index.count()) : TokenReader::most_of(text);
  std::vector<char> memory(TokenReader::bytes_for(most)), scratch(TokenReader::scratch_for(most));
  Arena arena;
  bool repeats = false;
  const TokenReader reader({padded.data(), text.size(), most, index.tokens(), index.count()}, memory.data(),
                           scratch.data(), arena, repeats);
  if (only_look) return reader.accepts() ? std::optional<std::string>("") : std::nullopt;
  Value root;
  std::uint32_t origin = 1;
  if (!reader.read(root, origin)) return std::nullopt;
  Limits limits;
  limits.depth = 2 * kJsonDepth;
  Runtime rt(arena, limits);
  std::string out = std::to_string(origin) + ' ';
  EXPECT_TRUE(append_json(rt, out, root));
  return out;
}

void expect_same_reading(std::string_view text) {
  const auto indexed = read_json(text, true);
  EXPECT_EQ(read_json(text, false), indexed) << text;
  EXPECT_EQ(read_json(text, false, true).has_value(), indexed.has_value()) << text;
}

constexpr std::string_view kTexts[] = {
    R"({"a": [1, -2.5e3, true, false, null, "x"], "b": {"c": {}, "d": []}, "a": "again"})",
    " \t\r\n[ 1 ,2\n, {\"k\" : \"v\"} ] \n",
    R"(["\"", "\\", "\\\"", "a\\", "\u00e9\ud83d\ude00", "\n\n\n", "é漢🙂", "\\é"])",
    "\"text\"",
    "0",
    "-0",
    "1.5",
    "true ",
    "\"\"",
    "{}",
    "[]",
    "[[[[]]]]",
    // Refused, as this reader leaves them to another or as they are wrong.
    "",
    " ",
    "nul",
    "truex",
    "01",
    "1.",
    "1e",
    "-",
    "+1",
    "1e400",
    "18446744073709551616",
    "NaN",
    "[1 2]",
    "[1,]",
    "[,1]",
    "{\"a\":1,}",
    "{\"a\"}",
    "{1:2}",
    "[1}",
    "{\"a\":1]",
    "[",
    "]",
    "{",
    "\"",
    "\"a",
    "\"a\\",
    "\"a\\\"",
    "[1]x",
    "[1]]",
    "\"a\"b",
    "[\"a\" \"b\"]",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud800\"",
    "\"\\ud800\\u0041\"",
    "[1\"a\"]",
    "1\0"sv,
    "[1,\0 2]"sv,
    "\"a\0b\""sv,
    "\"\x01\"",
    "\"a\nb\"",
    "\"\t\"",
    "\xEF\xBB\xBF[]",
    "[\xC3\xA9]",
    "\"\xC3\"",
    "\"\xED\xA0\x80\"",
    "\"\xC0\xAF\"",
    "\"\xF4\x90\x80\x80\"",
    "\"\xFF\"",
    "\"\\\xC3\xA9\"",
    "\"\x7F\"",
    "\"\xA9\"",
};

TEST(JsonTokens, ScanAndIndexAgree) {
  for (const std::string_view text : kTexts) expect_same_reading(text);
}

TEST(JsonTokens, StringsOfEveryLength) {
  const std::string_view ends[] = {"", "\\n", "\\\\", "\\\"", "é", "\\u00e9", "\x01", "\\", "\xC3", "\\né漢\\t"};
  for (std::size_t length = 0; length < 150; ++length) {
    for (const std::string_view end : ends) {
      const std::string text = '"' + std::string(length, 'a') + std::string(end);
      expect_same_reading(text);
      expect_same_reading(text + '"');
      expect_same_reading('[' + text + "bc\", 1]");
    }
  }
}

TEST(JsonTokens, LongTextsHaveRoom) {
  for (const std::string_view unit : {"[],"sv, "{},"sv, "{\"a\":[0]},"sv, "0,"sv, "\"\\\\\\\"\","sv}) {
    std::string text = "[";
    for (int i = 0; i < 3000; ++i) text += unit;
    expect_same_reading(text + "0]");
    expect_same_reading(text);
  }
  expect_same_reading(std::string(kJsonDepth, '[') + std::string(kJsonDepth, ']'));
  expect_same_reading(std::string(kJsonDepth + 1, '[') + std::string(kJsonDepth + 1, ']'));
}

}  // namespace
}  // namespace parlance
