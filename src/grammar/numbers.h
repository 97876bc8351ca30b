// Numbers between bounds, digit by digit. Begin reading at integers_between.
#pragma once
#include <optional>
#include <string>

#include "grammar/ir.h"
#include "parlance/value.h"

namespace parlance::grammar {

/// A number as its digits: -12.5 is {true, "12", "5"}. Without leading zeros before or trailing ones behind the point.
struct Decimal {
  bool negative = false;
  std::string whole = "0";
  std::string fraction{};
  bool is_integer() const { return fraction.empty(); }
  bool operator==(const Decimal&) const = default;
};
/// Nothing for what is no number, or no finite one, or an integer of more than 64 bits.
std::optional<Decimal> decimal_of(Value value);
/// Below 0, 0 or above 0.
int compare(const Decimal& a, const Decimal& b);
/// The next integer at or above (`up`) or at or below a number; past it where `strict`.
Decimal to_integer(const Decimal& number, bool up, bool strict);

/// A bound: the number itself counts unless `strict`.
struct Bound {
  Decimal at{};
  bool strict = false;
};
struct Bounds {
  std::optional<Bound> low{};
  std::optional<Bound> high{};
};

/// JSON's integers; without bounds, all.
NodeId integers(Ir& ir, const Bounds& bounds);
/// JSON's numbers: without bounds, all; else those between them, without exponents.
NodeId numbers(Ir& ir, const Bounds& bounds);
/// Numbers that are no integers, without exponents.
NodeId fractions(Ir& ir);
/// Integers that `divisor` divides (1 to 100).
NodeId multiples(Ir& ir, std::uint32_t divisor, bool negative_too);
/// Numbers with at most this many digits behind the point.
NodeId numbers_with_digits(Ir& ir, std::uint32_t digits);

}  // namespace parlance::grammar
