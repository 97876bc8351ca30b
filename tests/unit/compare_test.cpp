// Tests of equality, order and containment: what every pair of kinds answers, and what bounds it.
//
// Random values are compared with CPython by tests/oracle/number_oracle.py.
// Begin reading at TEST(Equal, ...).

#include <gtest/gtest.h>

#include <limits>

#include "value_world.h"

namespace parlance {
namespace {

using Is = Comparison;

constexpr double kTwo53 = 9007199254740992.0;

TEST(Equal, NumbersWhateverTheirKind) {
  ValueWorld w;
  EXPECT_TRUE(equal(w.rt, Value::boolean(true), real(1)));
  EXPECT_FALSE(equal(w.rt, integer((std::int64_t{1} << 53) + 1), real(kTwo53)));
  EXPECT_TRUE(equal(w.rt, w.digits("18446744073709551616"), real(18446744073709551616.0)));
  EXPECT_FALSE(equal(w.rt, w.digits("18446744073709551617"), real(18446744073709551616.0)));
  EXPECT_FALSE(equal(w.rt, integer(1), str("1")));
  EXPECT_FALSE(equal(w.rt, real(std::nan("")), real(std::nan(""))));
}

TEST(Equal, TextWhateverItsPieces) {
  ValueWorld w;
  EXPECT_TRUE(equal(w.rt, w.rope({"ab", "cd"}), w.rope({"a", "bcd"})));
  EXPECT_TRUE(equal(w.rt, w.rope({"ab", "cd"}), markup("abcd")));
  EXPECT_FALSE(equal(w.rt, w.rope({"ab", "cd"}), str("abce")));
  EXPECT_TRUE(equal(w.rt, w.rope({}), str("")));
}

TEST(Equal, Containers) {
  ValueWorld w;
  const Value nan = real(std::nan(""));
  EXPECT_TRUE(equal(w.rt, w.list({integer(1), nan}), w.list({real(1), nan})));
  EXPECT_FALSE(equal(w.rt, w.list({}), w.tuple({})));
  const Value ab = w.dict({{str("a"), integer(1)}, {str("b"), w.list({})}});
  const Value ba = w.dict({{str("b"), w.list({})}, {str("a"), real(1)}});
  EXPECT_TRUE(equal(w.rt, ab, ba));
  EXPECT_FALSE(equal(w.rt, ab, w.dict({{str("a"), integer(1)}, {str("c"), w.list({})}})));
}

TEST(Equal, UndefinedOnlyEqualsUndefined) {
  ValueWorld w;
  const Value x = w.undefined(UndefinedInfo::Form::name, str("x"));
  EXPECT_TRUE(equal(w.rt, x, w.undefined(UndefinedInfo::Form::name, str("y"))));
  EXPECT_FALSE(equal(w.rt, x, Value::none()));
  EXPECT_FALSE(equal(w.rt, x, str("")));
}

TEST(Order, Numbers) {
  ValueWorld w;
  const Value big = w.digits("18446744073709551617");
  EXPECT_TRUE(compare(w.rt, Is::greater, big, real(18446744073709551616.0)));
  EXPECT_TRUE(compare(w.rt, Is::less, big, real(std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(compare(w.rt, Is::less, integer(3), real(3.5)));
  EXPECT_TRUE(compare(w.rt, Is::greater, integer(-3), real(-3.5)));
  for (const Comparison op : {Is::less, Is::less_equal, Is::greater, Is::greater_equal}) {
    EXPECT_FALSE(compare(w.rt, op, big, real(std::nan(""))));
  }
}

TEST(Order, TextByCodePoint) {
  ValueWorld w;
  const std::string_view sorted[] = {"", "Z", "a", "ab", "é", "\xED\xA0\x80", "\uE000", "\uFFFF", "🙂"};
  for (std::size_t i = 0; i + 1 < std::size(sorted); ++i) {
    EXPECT_TRUE(compare(w.rt, Is::less, str(sorted[i]), str(sorted[i + 1]))) << i;
    EXPECT_TRUE(compare(w.rt, Is::greater_equal, w.rope({sorted[i + 1], ""}), str(sorted[i]))) << i;
  }
}

TEST(Order, ListsByTheirFirstDifference) {
  ValueWorld w;
  const Value one_two = w.list({integer(1), integer(2)});
  EXPECT_TRUE(compare(w.rt, Is::less, one_two, w.list({integer(1), integer(3)})));
  EXPECT_TRUE(compare(w.rt, Is::less, w.list({integer(1)}), one_two));
  EXPECT_TRUE(compare(w.rt, Is::less_equal, one_two, w.list({real(1), real(2)})));
  EXPECT_EQ(w.shown(compare(w.rt, Is::less_equal, one_two, w.list({str("a")}))),
            "TypeError: '<=' not supported between instances of 'int' and 'str'");
}

TEST(Order, Refusals) {
  ValueWorld w;
  const Value x = w.undefined(UndefinedInfo::Form::name, str("x"));
  EXPECT_EQ(w.shown(compare(w.rt, Is::greater, Value::none(), integer(1))),
            "TypeError: '>' not supported between instances of 'NoneType' and 'int'");
  EXPECT_EQ(w.shown(less(w.rt, w.list({}), w.tuple({}))),
            "TypeError: '<' not supported between instances of 'list' and 'tuple'");
  EXPECT_EQ(w.shown(compare(w.rt, Is::less, integer(1), x)), "UndefinedError: 'x' is undefined");
  EXPECT_EQ(w.shown(compare(w.rt, Is::less, x, integer(1))), "UndefinedError: 'x' is undefined");
}

TEST(Contains, EveryContainer) {
  ValueWorld w;
  const Value x = w.undefined(UndefinedInfo::Form::name, str("x"));
  const Value nan = real(std::nan(""));
  EXPECT_TRUE(contains(w.rt, w.rope({"ab", "cd"}), str("bc")));
  EXPECT_TRUE(contains(w.rt, str("abc"), str("")));
  EXPECT_TRUE(contains(w.rt, w.list({integer(1), nan}), nan));
  EXPECT_TRUE(contains(w.rt, w.tuple({Value::boolean(true)}), real(1)));
  EXPECT_TRUE(contains(w.rt, w.dict({{integer(1), str("a")}}), Value::boolean(true)));
  EXPECT_FALSE(contains(w.rt, x, integer(1)));
  EXPECT_TRUE(compare(w.rt, Is::not_in, integer(1), x));
}

TEST(Contains, Refusals) {
  ValueWorld w;
  EXPECT_EQ(w.shown(compare(w.rt, Is::not_in, integer(1), str("abc"))),
            "TypeError: 'in <string>' requires string as left operand, not int");
  EXPECT_EQ(w.shown(contains(w.rt, integer(1), integer(1))), "TypeError: argument of type 'int' is not iterable");
  EXPECT_EQ(w.shown(contains(w.rt, w.dict({}), w.list({}))), "TypeError: unhashable type: 'list'");
}

TEST(CompareLimits, DeepNesting) {
  ValueWorld w;
  Value a = integer(1);
  Value b = integer(1);
  for (int i = 0; i < 100; ++i) {
    a = w.list({a});
    b = w.list({b});
  }
  EXPECT_EQ(w.shown(equal(w.rt, a, b)), "RecursionError: maximum recursion depth exceeded");
  EXPECT_EQ(w.shown(compare(w.rt, Is::less, a, b)), "RecursionError: maximum recursion depth exceeded");
}

TEST(CompareLimits, SharedStructureIsPaidFor) {
  ValueWorld w;  // two lists of 2**40 leaves each, in 40 small lists
  Value a = integer(1);
  Value b = integer(1);
  for (int i = 0; i < 40; ++i) {
    a = w.list({a, a});
    b = w.list({b, b});
  }
  EXPECT_EQ(w.shown(equal(w.rt, a, b)), "TimeoutError: the render used up its 2000000 steps");
}

TEST(CompareLimits, HostileNeedle) {
  ValueWorld w;
  const std::string haystack(1'000'000, 'a');
  const std::string needle = std::string(100'000, 'a') + "b";
  EXPECT_EQ(w.shown(contains(w.rt, str(haystack), str(needle))), "TimeoutError: the render used up its 2000000 steps");
}

}  // namespace
}  // namespace parlance
