// Tests of str() and repr(): what CPython prints, and that unchanged bytes stay those of the
// original.
//
// Random values are compared with Python by tests/oracle/json_oracle.py. Begin reading at kStrings.
#include "value/text_of.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parlance/json.h"
#include "value/dict.h"

namespace parlance {
namespace {

struct TextBench {
  Limits limits;
  Arena arena;
  Runtime rt{arena, limits};

  std::string repr(Value v) { return std::string(text(rt, to_repr(rt, v))); }
  std::string str(Value v) { return std::string(text(rt, to_text(rt, v))); }
};

constexpr std::string_view kStrings[][2] = {
    {"", "''"},
    {"plain", "'plain'"},
    {"it's", "\"it's\""},
    {"say \"hi\"", "'say \"hi\"'"},
    {"it's \"both\"", "'it\\'s \"both\"'"},
    {"a\\b\n\t\r\x01\x7f", "'a\\\\b\\n\\t\\r\\x01\\x7f'"},
    {"é你😀", "'é你😀'"},
    {"\u0080\u00a0\u00ad", "'\\x80\\xa0\\xad'"},
    {"\u200b\u2028\ufeff\uffff", "'\\u200b\\u2028\\ufeff\\uffff'"},
    {"\U000e0001\U0010ffff", "'\\U000e0001\\U0010ffff'"},
    {"\xED\xA0\xBD\xED\xB8\x80", "'\\ud83d\\ude00'"},
};

TEST(Repr, PrintsStringsAsPython) {
  TextBench b;
  for (const auto& [string, repr] : kStrings) EXPECT_EQ(b.repr(Value::view(string)), repr);
  Value markup = Value::view("<'>");
  markup.flags = Value::kMarkup;
  EXPECT_EQ(b.repr(markup), "Markup(\"<'>\")");
}

TEST(Repr, PrintsValuesAsPython) {
  Document d;
  ASSERT_TRUE(d.parse(R"([null, true, false, -1, 1.0, 1e400, NaN, 12345678901234567890123, {"a": {}, "b": []}])"));
  TextBench b;
  EXPECT_EQ(b.repr(d.root()), "[None, True, False, -1, 1.0, inf, nan, 12345678901234567890123, {'a': {}, 'b': []}]");
  const Value one[] = {Value::of_int(1)};
  EXPECT_EQ(b.repr(copy_list(b.rt, one, Kind::tuple)), "(1,)");
  EXPECT_EQ(b.repr(copy_list(b.rt, {}, Kind::tuple)), "()");
  EXPECT_EQ(b.repr(Value()), "Undefined");
}

TEST(Str, IsReprExceptForText) {
  TextBench b;
  EXPECT_EQ(b.str(Value::view("it's")), "it's");
  EXPECT_EQ(b.str(Value()), "");
  EXPECT_EQ(b.str(Value::none()), "None");
  EXPECT_EQ(b.str(Value::boolean(true)), "True");
  EXPECT_EQ(b.str(Value::of_int(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(b.str(Value::of_real(0.1)), "0.1");
  const Value items[] = {Value::view("a")};
  EXPECT_EQ(b.str(copy_list(b.rt, items)), "['a']");
  EXPECT_TRUE(to_text(b.rt, Value::invalid()).is_invalid());
}

TEST(Str, OfObjectsAsksTheirType) {
  TextBench b;
  constexpr ObjectType kNameless{.name = "generator"};
  constexpr ObjectType kNamed{.name = "thing", .to_text = [](Runtime&, Object*, bool repr) {
                                return make_static(repr ? "thing()" : "a thing");
                              }};
  Object nameless{&kNameless};
  Object named{&kNamed};
  EXPECT_EQ(b.str(object_value(&nameless)), "<generator object at 0x7f0000000000>");
  EXPECT_EQ(b.str(object_value(&named)), "a thing");
  const Value items[] = {object_value(&named)};
  EXPECT_EQ(b.str(copy_list(b.rt, items)), "[thing()]");
}

TEST(Repr, KeepsTheBytesOfTheOriginal) {
  Document d;
  ASSERT_TRUE(d.parse(R"(["one\ntwo", 5])"));
  TextBench b;
  const Value repr = to_repr(b.rt, d.root());
  EXPECT_EQ(text(b.rt, repr), "['one\\ntwo', 5]");
  const Value original = d.root().list->items[0];
  const Value number = d.root().list->items[1];
  int shared = 0;
  std::vector<TextSource> sources;
  for_each_piece(repr, [&](std::string_view piece) {
    if (piece == "one" || piece == "two") shared += piece.data() == original.data + (piece == "one" ? 0 : 4);
    const Arena::Derived* derived = b.arena.find_derived(piece.data());
    if (derived != nullptr) sources.push_back(derived->source());
  });
  EXPECT_EQ(shared, 2);
  ASSERT_GE(sources.size(), 3u);
  EXPECT_EQ(sources.front().id, d.root().origin);  // [
  EXPECT_EQ(sources[1].data, original.data + 3);   // \n
  EXPECT_NE(b.arena.find_derived(text(b.rt, to_text(b.rt, number)).data()), nullptr);
}

TEST(Repr, QuotesARopeByAllItsPieces) {
  TextBench b;
  const Value rope = concat(b.rt, Value::view("it's "), Value::view("\"both\""));
  EXPECT_EQ(b.repr(rope), "'it\\'s \"both\"'");
}

TEST(Repr, StopsAtItsLimits) {
  Document d;
  ASSERT_TRUE(d.parse(std::string(201, '[') + std::string(201, ']')));
  TextBench deep;
  EXPECT_TRUE(to_repr(deep.rt, d.root()).is_invalid());
  EXPECT_EQ(deep.rt.failure.code, ErrorCode::limit_depth);
  TextBench slow;
  slow.rt.steps_left = 10;
  const std::string text(1000, 'x');
  EXPECT_TRUE(to_repr(slow.rt, Value::view(text)).is_invalid());
  EXPECT_EQ(slow.rt.failure.code, ErrorCode::limit_steps);
}

}  // namespace
}  // namespace parlance
