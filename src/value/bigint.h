// Integers beyond int64: arithmetic, exact comparison and text of BigInt, without a digit limit.
//
// Everything here takes and gives Values of kind integer (or boolean as operand) and keeps the one
// rule of the representation: what fits int64 is never big. Only bigint.cpp includes the library
// that does the work (Boost.Multiprecision), so nobody else pays for compiling it.
// Leans on number.h for BigInt. Begin reading at big_binary.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "value/number.h"

namespace parlance {

/// Larger integers are refused with limit_memory before they are computed.
inline constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 20;

inline bool is_big(Value v) { return v.kind == Kind::integer && (v.flags & Value::kBig) != 0; }

/// a OP b for integers, small or big, for all operators but divide. The caller has excluded a zero
/// divisor and a negative exponent. Fails: limit_memory, limit_steps.
Value big_binary(Runtime& rt, BinaryOperator op, Value a, Value b);
/// a / b as the nearest double; nullopt when it is too large for one.
std::optional<double> big_quotient(Runtime& rt, Value a, Value b);
Value big_negate(Runtime& rt, Value a);

/// The nearest double; nullopt when there is none.
std::optional<double> big_to_real(const BigInt& v);
/// Is `v` exactly the double it is nearest to?
bool is_exact_real(const BigInt& v);
int big_compare(const BigInt& a, const BigInt& b);
/// -1, 0 or 1, exactly; `d` is not a NaN.
int big_compare_real(const BigInt& a, double d);

/// The integral double `d`, which may be outside int64 but is finite.
Value big_from_real(Runtime& rt, double d);
/// Digits that are all valid in `base` (2 to 36, letters of either case) and may be very many.
Value big_from_digits(Runtime& rt, std::string_view digits, int base, bool negative);
/// The nearest multiple of ten to the power of `places`, ties to even.
Value big_round(Runtime& rt, Value v, std::uint64_t places);

std::uint64_t bit_length(const BigInt& v);
/// Appends digits in base 2, 8 or 16, lower case, with '-' if negative.
void append_big_bits(std::string& out, const BigInt& v, int base);

}  // namespace parlance
