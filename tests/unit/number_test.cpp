// Tests of numbers and of the arithmetic operators: the cases worth knowing, limits, and origins.
//
// Every operator is compared with CPython on random operands by tests/oracle/number_oracle.py; the
// expectations here are its answers too. Begin reading at kBinaryRows.

#include <gtest/gtest.h>

#include <limits>

#include "value/bigint.h"
#include "value_world.h"

namespace parlance {
namespace {

using Op = BinaryOperator;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

struct BinaryRow {
  Value a;
  Op op;
  Value b;
  std::string_view expected;
};

const BinaryRow kBinaryRows[] = {
    {integer(2), Op::add, integer(3), "5"},
    {Value::boolean(true), Op::add, Value::boolean(true), "2"},
    {integer(kMost), Op::add, integer(1), "9223372036854775808"},
    {integer(kLeast), Op::subtract, integer(1), "-9223372036854775809"},
    {integer(kLeast), Op::multiply, integer(-1), "9223372036854775808"},
    {integer(kLeast), Op::floor_divide, integer(-1), "9223372036854775808"},
    {integer(kLeast), Op::modulo, integer(-1), "0"},
    {integer(-7), Op::floor_divide, integer(2), "-4"},
    {integer(-7), Op::modulo, integer(2), "1"},
    {integer(7), Op::modulo, integer(-2), "-1"},
    {integer(7), Op::divide, integer(2), "3.5"},
    {integer(0), Op::divide, integer(-1), "-0.0"},
    {integer(kMost), Op::divide, integer(kMost - 1), "1.0"},
    {real(-0.0), Op::floor_divide, integer(1), "-0.0"},
    {integer(-1), Op::floor_divide, real(kInfinity), "-1.0"},
    {integer(0), Op::modulo, real(-3), "-0.0"},
    {integer(2), Op::power, integer(64), "18446744073709551616"},
    {integer(2), Op::power, integer(-1), "0.5"},
    {integer(-1), Op::power, integer(kMost), "-1"},
    {integer(2), Op::power, real(0.5), "1.4142135623730951"},
    {integer(0), Op::power, real(-kInfinity), "inf"},
    {integer(1), Op::divide, integer(0), "ZeroDivisionError: division by zero"},
    {integer(1), Op::floor_divide, integer(0), "ZeroDivisionError: integer division or modulo by zero"},
    {integer(1), Op::modulo, integer(0), "ZeroDivisionError: integer modulo by zero"},
    {real(1), Op::divide, integer(0), "ZeroDivisionError: float division by zero"},
    {real(1), Op::floor_divide, integer(0), "ZeroDivisionError: float floor division by zero"},
    {real(1), Op::modulo, integer(0), "ZeroDivisionError: float modulo"},
    {integer(0), Op::power, integer(-1), "ZeroDivisionError: 0.0 cannot be raised to a negative power"},
    {real(10), Op::power, integer(400), "OverflowError: (34, 'Numerical result out of range')"},
    {integer(-8), Op::power, real(0.5),
     "ValueError: negative number cannot be raised to a fractional power: there are no complex numbers"},
    {integer(1), Op::add, str("a"), "TypeError: unsupported operand type(s) for +: 'int' and 'str'"},
    {str("a"), Op::add, integer(1), "TypeError: can only concatenate str (not \"int\") to str"},
    {markup("a"), Op::add, integer(1), "TypeError: unsupported operand type(s) for +: 'Markup' and 'int'"},
    {str("a"), Op::multiply, str("b"), "TypeError: can't multiply sequence by non-int of type 'str'"},
    {markup("a"), Op::multiply, real(2), "TypeError: 'float' object cannot be interpreted as an integer"},
    {str("a"), Op::power, integer(1), "TypeError: unsupported operand type(s) for ** or pow(): 'str' and 'int'"},
    {Value::none(), Op::subtract, integer(1), "TypeError: unsupported operand type(s) for -: 'NoneType' and 'int'"},
    {str("<"), Op::add, markup("<b>"), "Markup('&lt;<b>')"},
    {str("ab"), Op::multiply, integer(3), "'ababab'"},
    {integer(-1), Op::multiply, str("ab"), "''"},
    {markup("ab"), Op::multiply, integer(2), "Markup('abab')"},
    {str("%s!"), Op::modulo, integer(1), "'1!'"},
};

TEST(Arithmetic, Rows) {
  ValueWorld w;
  for (const BinaryRow& row : kBinaryRows) {
    EXPECT_EQ(w.shown(binary(w.rt, row.op, row.a, row.b)), row.expected) << w.shown(row.a) << " and " << w.shown(row.b);
  }
}

TEST(Arithmetic, ListsAndTuples) {
  ValueWorld w;
  const Value list = w.list({integer(1), integer(2)});
  const Value tuple = w.tuple({integer(3)});
  EXPECT_EQ(w.shown(binary(w.rt, Op::add, list, list)), "[1, 2, 1, 2]");
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, tuple, integer(2))), "(3, 3)");
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, integer(0), list)), "[]");
  EXPECT_EQ(w.shown(binary(w.rt, Op::add, list, tuple)),
            "TypeError: can only concatenate list (not \"tuple\") to list");
}

TEST(Arithmetic, UndefinedIsAskedAsJinjaDoes) {
  ValueWorld w;
  const Value x = w.undefined(UndefinedInfo::Form::name, str("x"));
  for (const Value other : {integer(1), str("a"), w.list({}), x}) {
    EXPECT_EQ(w.shown(binary(w.rt, Op::add, x, other)), "UndefinedError: 'x' is undefined");
    EXPECT_EQ(w.shown(binary(w.rt, Op::add, other, x)), "UndefinedError: 'x' is undefined");
  }
  EXPECT_EQ(w.shown(binary(w.rt, Op::modulo, str("a"), x)), "'a'");
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, markup("a"), x)),
            "TypeError: 'Undefined' object cannot be interpreted as an integer");
  EXPECT_EQ(w.shown(negate(w.rt, x)), "UndefinedError: 'x' is undefined");
}

TEST(Arithmetic, RepeatingStopsWhereTheStepsEnd) {
  ValueWorld w;
  const std::string text(100, 'x');
  w.rt.steps_left = 1;  // counting the characters takes three
  EXPECT_TRUE(
      w.shown(binary(w.rt, Op::multiply, str(text), integer(std::int64_t{1} << 60))).starts_with("TimeoutError"));
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, str(text), integer(std::int64_t{1} << 60))),
            "OverflowError: repeated string is too long");
}

TEST(Arithmetic, Unary) {
  ValueWorld w;
  EXPECT_EQ(w.shown(negate(w.rt, Value::boolean(true))), "-1");
  EXPECT_EQ(w.shown(positive(w.rt, Value::boolean(true))), "1");
  EXPECT_EQ(w.shown(negate(w.rt, integer(kLeast))), "9223372036854775808");
  EXPECT_EQ(w.shown(negate(w.rt, w.digits("9223372036854775808"))), "-9223372036854775808");
  EXPECT_EQ(w.shown(number_abs(w.rt, real(-0.0))), "0.0");
  EXPECT_EQ(w.shown(negate(w.rt, str("a"))), "TypeError: bad operand type for unary -: 'str'");
}

TEST(Arithmetic, ResultsKeepTheOriginOfTheFirstOperandThatHasOne) {
  ValueWorld w;
  Value seven = integer(7);
  seven.origin = 42;
  EXPECT_EQ(binary(w.rt, Op::add, seven, integer(1)).origin, 42u);
  EXPECT_EQ(binary(w.rt, Op::multiply, real(0.5), seven).origin, 42u);
  EXPECT_EQ(negate(w.rt, seven).origin, 42u);
  EXPECT_EQ(round_number(w.rt, seven, integer(-1)).origin, 42u);
}

TEST(Arithmetic, RepeatedTextKeepsItsPieces) {
  ValueWorld w;
  const std::string_view unit = "=-";
  const Value line = binary(w.rt, Op::multiply, str(unit), integer(40));
  EXPECT_EQ(line.size, 80u);
  for_each_piece(line, [&](std::string_view piece) { EXPECT_EQ(piece.data(), unit.data()); });
}

// ---- limits

TEST(NumberLimits, SizesAreRefusedBeforeTheyAreComputed) {
  ValueWorld w;
  const std::string refused = "MemoryError: the integer would have more than 1048576 bits";
  EXPECT_EQ(w.shown(binary(w.rt, Op::power, integer(2), integer(1'000'000'000))), refused);
  EXPECT_EQ(w.shown(binary(w.rt, Op::power, integer(10), w.digits("99999999999999999999"))), refused);
  const Value large = integer_from_digits(w.rt, std::string(150'000, 'f'), 16, false);
  ASSERT_FALSE(w.rt.failed());
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, large, large)), refused);
}

TEST(NumberLimits, WorkIsCharged) {
  ValueWorld w;
  EXPECT_EQ(w.shown(binary(w.rt, Op::power, integer(3), integer(500'000))),
            "TimeoutError: the render used up its 2000000 steps");
}

TEST(NumberLimits, RepetitionIsReservedFirst) {
  ValueWorld w;
  const std::string refused = "MemoryError: the render would need more than its 33554432 bytes of memory";
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, str("ab"), integer(3'000'000))), refused);
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, str("ab"), integer(kMost / 2))), refused);
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, w.list({integer(1)}), integer(3'000'000))), refused);
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, w.list({integer(1)}), integer(kMost))), refused);
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, str("a"), w.digits("99999999999999999999"))),
            "OverflowError: cannot fit 'int' into an index-sized integer");
  EXPECT_EQ(w.shown(binary(w.rt, Op::multiply, str(""), integer(kMost))), "''");
}

TEST(NumberLimits, DecimalDigits) {
  ValueWorld w;
  const std::string nines(4300, '9');
  const Value largest = w.digits(nines);
  EXPECT_EQ(w.shown(largest), nines);
  const Value larger = binary(w.rt, Op::add, largest, integer(1));
  EXPECT_EQ(w.shown(larger),
            "ValueError: Exceeds the limit (4300 digits) for integer string conversion; "
            "use sys.set_int_max_str_digits() to increase the limit");
  EXPECT_EQ(w.shown(w.digits(nines + "9")),
            "ValueError: Exceeds the limit (4300 digits) for integer string conversion: "
            "value has 4301 digits; use sys.set_int_max_str_digits() to increase the limit");
  EXPECT_FALSE(parse_int(w.rt, nines + "9", 10).has_value());
  EXPECT_FALSE(w.rt.failed());
  EXPECT_TRUE(parse_int(w.rt, std::string(5000, '1'), 2).has_value());
}

// ---- text

struct RealRow {
  double value;
  std::string_view expected;
};

const RealRow kReprRows[] = {
    {0, "0.0"},
    {-0.0, "-0.0"},
    {1, "1.0"},
    {0.1, "0.1"},
    {1e15, "1000000000000000.0"},
    {1e16, "1e+16"},
    {1e22, "1e+22"},
    {0.0001, "0.0001"},
    {0.00001, "1e-05"},
    {1.5e-7, "1.5e-07"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {123456.789, "123456.789"},
    {kInfinity, "inf"},
    {-kInfinity, "-inf"},
    {std::nan(""), "nan"},
};

TEST(NumberText, ReprOfFloats) {
  for (const RealRow& row : kReprRows) {
    char buffer[kNumberText];
    EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(write_real(buffer, row.value) - buffer)), row.expected);
  }
}

struct FormatRow {
  double value;
  char type;
  int precision;
  bool alternate;
  std::string_view expected;
};

const FormatRow kFormatRows[] = {
    {2.5, 'f', 0, false, "2"},
    {3.5, 'f', 0, true, "4."},
    {1234.5, 'e', -1, false, "1.234500e+03"},
    {1, 'e', 0, true, "1.e+00"},
    {0.0001, 'g', -1, false, "0.0001"},
    {0.00001, 'g', -1, false, "1e-05"},
    {100000, 'g', -1, true, "100000."},
    {1e6, 'G', -1, false, "1E+06"},
    {100, 0, 3, false, "1e+02"},
    {100, 0, 4, false, "100.0"},
    {0.5, '%', 0, false, "50%"},
    {-0.0, 'f', 1, false, "-0.0"},
    {std::nan(""), 'F', 2, false, "NAN"},
    {1e16, 0, -1, true, "1.e+16"},
};

TEST(NumberText, Formats) {
  for (const FormatRow& row : kFormatRows) {
    std::string out = ">";
    append_real(out, row.value, row.type, row.precision, row.alternate);
    EXPECT_EQ(out, ">" + std::string(row.expected));
  }
}

TEST(NumberText, IntegersInOtherBases) {
  ValueWorld w;
  const Value n = negate(w.rt, binary(w.rt, Op::power, integer(2), integer(65)));
  std::string out;
  ASSERT_TRUE(append_integer(w.rt, out, n, 16));
  ASSERT_TRUE(append_integer(w.rt, out, n, 8));
  ASSERT_TRUE(append_integer(w.rt, out, integer(kLeast), 16));
  EXPECT_EQ(out, "-20000000000000000-4000000000000000000000-8000000000000000");
}

struct ParseRow {
  std::string_view text;
  int base;
  std::string_view expected;  ///< "" where int() raises ValueError
};

const ParseRow kParseRows[] = {
    {" +1\n", 10, "1"},
    {"-0", 10, "0"},
    {"1_000", 10, "1000"},
    {"1__0", 10, ""},
    {"_1", 10, ""},
    {"1_", 10, ""},
    {"", 10, ""},
    {"+ 1", 10, ""},
    {"٣۴", 10, "34"},
    {"\u30001\u2003", 10, "1"},
    {"²", 10, ""},
    {"\x1c"
     "1",
     10, ""},
    {"0x10", 16, "16"},
    {"0x_1f", 0, "31"},
    {"0x", 0, ""},
    {"010", 0, ""},
    {"0_0", 0, "0"},
    {"0b1", 16, "177"},
    {"0B11", 2, "3"},
    {"z", 36, "35"},
    {"1", 1, ""},
    {"1", 37, ""},
    {"0x1", 10, ""},
    {"-9223372036854775808", 10, "-9223372036854775808"},
    {"-0xffffffffffffffffffff", 0, "-1208925819614629174706175"},
};

TEST(NumberText, ParseInt) {
  ValueWorld w;
  for (const ParseRow& row : kParseRows) {
    const std::optional<Value> n = parse_int(w.rt, row.text, row.base);
    EXPECT_EQ(n ? w.shown(*n) : "", row.expected) << row.text;
  }
}

const ParseRow kParseRealRows[] = {
    {"1_000.5", 0, "1000.5"},
    {"1_.5", 0, ""},
    {"1._5", 0, ""},
    {".5", 0, "0.5"},
    {"5.", 0, "5.0"},
    {".", 0, ""},
    {"1e", 0, ""},
    {"1e1_0", 0, "10000000000.0"},
    {"٣.٤", 0, "3.4"},
    {"-Infinity", 0, "-inf"},
    {"nan", 0, "nan"},
    {"infin", 0, ""},
    {"1e400", 0, "inf"},
    {"-1e-400", 0, "-0.0"},
    {"0e99999999999999999999", 0, "0.0"},
    {"1e-99999999999999999999", 0, "0.0"},
    {"0x10", 0, ""},
    {"1 2", 0, ""},
};

TEST(NumberText, ParseReal) {
  ValueWorld w;
  for (const ParseRow& row : kParseRealRows) {
    const std::optional<double> d = parse_real(row.text);
    EXPECT_EQ(d ? w.shown(real(*d)) : "", row.expected) << row.text;
  }
}

struct RoundRow {
  Value number;
  Value digits;
  std::string_view expected;
};

const RoundRow kRoundRows[] = {
    {real(2.5), Value::none(), "2"},
    {real(2.675), integer(2), "2.67"},
    {real(25), integer(-1), "20.0"},
    {real(1e22), integer(-22), "1e+22"},
    {real(6e22), integer(-23), "1e+23"},
    {real(4e22), integer(-23), "0.0"},
    {integer(25), integer(-1), "20"},
    {integer(-35), integer(-1), "-40"},
    {integer(5), integer(kLeast), "0"},
    {Value::boolean(true), Value::none(), "1"},
    {real(1e30), Value::none(), "1000000000000000019884624838656"},
    {real(kInfinity), Value::none(), "OverflowError: cannot convert float infinity to integer"},
    {real(std::nan("")), Value::none(), "ValueError: cannot convert float NaN to integer"},
    {real(1.7e308), integer(-308), "OverflowError: rounded value too large to represent"},
    {real(1.5), real(1), "TypeError: 'float' object cannot be interpreted as an integer"},
};

TEST(NumberText, Round) {
  ValueWorld w;
  for (const RoundRow& row : kRoundRows) {
    EXPECT_EQ(w.shown(round_number(w.rt, row.number, row.digits)), row.expected);
  }
}

// ---- representation

TEST(BigInt, WhatFitsInt64IsSmall) {
  ValueWorld w;
  const Value big = w.digits("9223372036854775808");
  EXPECT_TRUE(is_big(big));
  EXPECT_TRUE(binary(w.rt, Op::subtract, big, integer(1)).is_small_int());
  EXPECT_TRUE(w.digits("9223372036854775808", true).is_small_int());
}

TEST(BigInt, EqualNumbersHashAlike) {
  ValueWorld w;
  const Value power = binary(w.rt, Op::power, integer(2), integer(64));
  EXPECT_EQ(number_hash(power), number_hash(real(18446744073709551616.0)));
  EXPECT_EQ(number_hash(Value::boolean(true)), number_hash(real(1)));
  EXPECT_EQ(number_hash(integer(0)), number_hash(real(-0.0)));
}

}  // namespace
}  // namespace parlance
