// Tests of partial JSON: rows of what a beginning amounts to, and the laws of texts that grow.
#include "parlance/partial_json.h"

#include <gtest/gtest.h>

#include <random>

#include "parlance/json.h"
#include "share.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

struct BeginningRow {
  std::string_view beginning, closed;
};

const BeginningRow kBeginningRows[] = {
    {R"({"path": "/tmp/a", "content": "hel)", R"({"path": "/tmp/a", "content": "hel"})"},
    {"", "{}"},
    {"  ", "{}"},
    {"{", "{}"},
    {R"({"a)", "{}"},
    {R"({"a")", "{}"},
    {R"({"a":)", "{}"},
    {R"({"a": ")", R"({"a": ""})"},
    {R"({"a": "x", )", R"({"a": "x"})"},
    {R"({"a": "x", "b)", R"({"a": "x"})"},
    {R"({"a": "x"  })", R"({"a": "x"  })"},
    {R"({"a": "x"} and)", R"({"a": "x"})"},
    // texts
    {R"({"a": "x\)", R"({"a": "x"})"},
    {R"({"a": "x\n)", R"({"a": "x\n"})"},
    {R"({"a": "x\u)", R"({"a": "x"})"},
    {R"({"a": "x\u00)", R"({"a": "x"})"},
    {R"({"a": "x\u00e9)", R"({"a": "x\u00e9"})"},
    {R"({"a": "x\ud83d)", R"({"a": "x"})"},
    {R"({"a": "x\ud83d\ude)", R"({"a": "x"})"},
    {R"({"a": "x\ud83d\ude00)", R"({"a": "x\ud83d\ude00"})"},
    {R"({"a": "x\ud83dy)", R"({"a": "x\ud83dy"})"},
    {R"({"a": "x\ud83d\ud83d)", R"({"a": "x"})"},
    {R"({"a": "x\ud83d")", R"({"a": "x\ud83d"})"},
    {R"({"a": "x\q)", R"({"a": "x"})"},
    {"{\"a\": \"x\xC3", R"({"a": "x"})"},
    {"{\"a\": \"x\xF0\x9F\x99", R"({"a": "x"})"},
    {"{\"a\": \"x\xFFy\"}", R"({"a": "x"})"},
    {"{\"a\": \"x\ny\"}", R"({"a": "x"})"},
    // numbers and words
    {R"({"a": 1)", "{}"},
    {R"({"a": 12 )", R"({"a": 12})"},
    {R"({"a": 12,)", R"({"a": 12})"},
    {R"({"a": -)", "{}"},
    {R"({"a": 1e)", "{}"},
    {R"({"a": 1.}})", "{}"},
    {R"({"a": tr)", "{}"},
    {R"({"a": true)", R"({"a": true})"},
    {R"({"a": nul)", "{}"},
    {R"({"a": 1, "b": NaN}})", R"({"a": 1})"},
    {R"({"a": 1, "b": Nope)", R"({"a": 1})"},
    {R"({"a": truer)", R"({"a": true})"},
    // lists and objects
    {R"({"a": [)", R"({"a": []})"},
    {R"({"a": [1)", R"({"a": []})"},
    {R"({"a": [1, {"b": "c)", R"({"a": [1, {"b": "c"}]})"},
    {R"({"a": [[1, 2], [3)", R"({"a": [[1, 2], []]})"},
    {R"({"a": {"b": {"c": 1}, "d")", R"({"a": {"b": {"c": 1}}})"},
    {R"({"a": [1}])", R"({"a": []})"},
    {R"([1, "x)", R"([1, "x"])"},
    {R"("x)", R"("x")"},
    {"12", "12"},
    {"-", "{}"},
    {"tru", "{}"},
    {"null", "null"},
};

TEST(PartialJson, Rows) {
  for (const BeginningRow& row : kBeginningRows) EXPECT_EQ(complete_json(row.beginning), row.closed) << row.beginning;
}

TEST(PartialJson, IsBounded) {
  const std::string deep = complete_json("{\"a\": " + std::string(100000, '['));
  EXPECT_LT(deep.size(), 1000u);
  Document document;
  EXPECT_TRUE(document.parse(deep));
}

/// Whether `later` has all that `earlier` has, and no text of it is shorter or another.
bool grows(Value earlier, Value later) {
  if (earlier.kind != later.kind) return false;
  switch (earlier.kind) {
    case Kind::string: return leaf_text(later).starts_with(leaf_text(earlier));
    case Kind::list: {
      if (items(earlier).size() > items(later).size()) return false;
      for (std::size_t i = 0; i < items(earlier).size(); ++i) {
        if (!grows(items(earlier)[i], items(later)[i])) return false;
      }
      return true;
    }
    case Kind::dict:
      for (const DictEntry& entry : entries(earlier)) {
        const Value* there = member(later, leaf_text(entry.key));
        if (there == nullptr || !grows(entry.value, *there)) return false;
      }
      return true;
    case Kind::real: return earlier.real == later.real;
    case Kind::integer:
    case Kind::boolean: return earlier.integer == later.integer;
    default: return true;
  }
}

std::string random_text(std::mt19937_64& random) {
  static constexpr std::string_view kPieces[] = {
      "a",  "word ", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\/", "é", "中",
      "😀", "{",     "]",   ",",    ": ",   "'"};
  std::string out = "\"";
  for (std::size_t left = random() % 5; left > 0; --left) out += kPieces[random() % std::size(kPieces)];
  return out += '"';
}

std::string random_value(std::mt19937_64& random, int depth) {
  static constexpr std::string_view kScalars[] = {"0",    "-1",   "12",    "1.5",  "-2.5e3",
                                                  "1E+2", "true", "false", "null", "1234567890123"};
  const auto space = [&] { return std::string(std::string_view(" \n").substr(0, random() % 3)); };
  const std::size_t kind = random() % (depth == 0 ? 4 : 7);
  if (kind < 2) return std::string(kScalars[random() % std::size(kScalars)]);
  if (kind < 4) return random_text(random);
  const bool object = kind > 4;
  std::string out = object ? "{" : "[";
  for (std::size_t i = 0, size = random() % 4; i < size; ++i) {
    out += space() + (i == 0 ? "" : ",") + space();
    if (object) out += "\"" + std::to_string(i) + random_text(random).substr(1) + space() + ":" + space();
    out += random_value(random, depth - 1);
  }
  return out + space() + (object ? "}" : "]");
}

TEST(PartialJson, OfATextThatGrowsOnlyGrows) {
  std::mt19937_64 random(20261123);
  for (int round = 0; round < testing::share_of(3000); ++round) {
    const std::string text =
        "{\"arguments\": " + random_value(random, 4) + ", \"last\": " + random_value(random, 3) + "}";
    Document earlier;
    ASSERT_TRUE(earlier.parse("{}"));
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const std::string closed = complete_json(std::string_view(text).substr(0, size));
      Document later;
      ASSERT_TRUE(later.parse(closed)) << text.substr(0, size) << " becomes " << closed;
      ASSERT_TRUE(grows(earlier.root(), later.root())) << text.substr(0, size) << " becomes " << closed;
      earlier = std::move(later);
    }
    ASSERT_EQ(complete_json(text), text);
    ASSERT_EQ(complete_json(text + " \n and more"), text);
  }
}

/// Any bytes behind any beginning.
TEST(PartialJson, IsJsonWhateverComes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < testing::share_of(20000); ++round) {
    std::string text = random_value(random, 4);
    text.resize(random() % (text.size() + 1));
    for (std::size_t left = random() % 3; left > 0; --left)
      text.insert(random() % (text.size() + 1), 1, "\"\\{}[]:,u0dn\xC3 \x01"[random() % 16]);
    const std::string closed = complete_json(text);
    Document document;
    ASSERT_TRUE(document.parse(closed)) << text << " becomes " << closed;
    ASSERT_EQ(complete_json(closed), closed) << text;
  }
}

}  // namespace
}  // namespace parlance
