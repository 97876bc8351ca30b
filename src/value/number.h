// Numbers as CPython has them: integers of any size, doubles, their text in both directions.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "value/operators.h"
#include "value/runtime.h"

namespace parlance {

/// An integer outside int64. Sign and magnitude, least significant limb first, no leading zero limb.
struct BigInt {
  bool negative;
  std::uint32_t count;
  const std::uint64_t* limbs;
};

inline bool is_number(Value v) { return v.kind == Kind::boolean || v.kind == Kind::integer || v.kind == Kind::real; }
inline bool is_integral(Value v) { return v.kind == Kind::boolean || v.kind == Kind::integer; }

/// Arithmetic on two numbers (bool counts as int). Fails: zero_division, overflow, limit_memory, value (negative
/// shift…).
Value number_binary(Runtime& rt, BinaryOperator op, Value a, Value b);
Value number_negate(Runtime& rt, Value a);
Value number_positive(Value a);  ///< +a: a bool becomes an int
Value number_abs(Runtime& rt, Value a);
/// -1, 0, 1; 2 when unordered (NaN). Exact between integers and doubles.
int number_compare(Value a, Value b);
/// Equal numbers hash alike whatever their kind.
std::uint64_t number_hash(Value v);

/// str(int) and repr(float) into a buffer of at least kNumberText bytes; returns the end. Not for big integers.
inline constexpr std::size_t kNumberText = 40;
char* write_int(char* out, std::int64_t v);
char* write_real(char* out, double v);
/// CPython's limit for the decimal digits of an integer.
inline constexpr std::size_t kMostDigits = 4300;
/// Decimal text of any integer. Fails with value past 4300 digits, as CPython 3.11 does.
Value integer_text(Runtime& rt, Value v);
void append_big(std::string& out, const BigInt& v);  ///< decimal, no digit limit (JSON writers check first)

/// An int from one or more ASCII digits of `base` (2 to 36), without sign or prefix, as a JSON or template literal has
/// them. Fails with value past 4300 decimal digits, as CPython does.
Value integer_from_digits(Runtime& rt, std::string_view digits, int base, bool negative);
/// int(text, base) of Python: white space, sign, underscores, Unicode digits, prefixes for base 0. nullopt where Python
/// raises ValueError: not a number, no such base, or more than 4300 digits. Invalid (recorded) only past a limit.
std::optional<Value> parse_int(Runtime& rt, std::string_view text, int base);
/// float(text) of Python, including "inf", "nan", underscores, Unicode digits.
std::optional<double> parse_real(std::string_view text);
/// int(float): fails with overflow for infinities, value for NaN.
Value integer_from_real(Runtime& rt, double d);
/// float(int); fails with overflow.
std::optional<double> to_real(Runtime& rt, Value number);
/// round(x, digits) of Python: half to even, correctly rounded on the decimal value. digits none: an int.
Value round_number(Runtime& rt, Value number, Value digits);

/// float.__format__ and % conversions: 'e' 'E' 'f' 'F' 'g' 'G' '%' 'n' or 0 for repr-like with precision; `precision`
/// -1 for the default; `alternate` is '#'. Appends, without sign handling beyond a leading '-'. '%' multiplies by 100
/// and appends the sign too. The caller has reserved about `precision` + 400 bytes.
void append_real(std::string& out, double v, char type, int precision, bool alternate);
/// Digits of an integer in base 2, 8, 10 or 16, lower case, with '-' if negative, without prefix.
/// False (recorded) past 4300 decimal digits.
bool append_integer(Runtime& rt, std::string& out, Value v, int base);

}  // namespace parlance
