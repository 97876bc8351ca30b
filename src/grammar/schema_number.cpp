// Numbers: bounds and multiples. Begin reading at Schema::number.
#include <cstdlib>

#include "grammar/schema.h"

namespace parlance::grammar {

Bounds Schema::bounds(const Leaf& leaf) {
  Bounds bounds;
  const auto take = [&](Value schema, std::string_view keyword, bool low, bool strict) {
    const Value value = get(schema, keyword);
    if (value.is_undefined() || value.is(Kind::boolean)) return;
    const std::optional<Decimal> number = decimal_of(value);
    if (!number) return note(schema, keyword, "no number of at most 64 bits");
    std::optional<Bound>& bound = low ? bounds.low : bounds.high;
    const int order = bound ? (low ? 1 : -1) * compare(*number, bound->at) : 1;
    if (order > 0 || (order == 0 && strict)) bound = Bound{*number, strict};
  };
  for (const Value schema : leaf.all) {
    // In draft 4 exclusiveMinimum is a flag of minimum.
    const auto flag = [&](std::string_view keyword) {
      const Value value = get(schema, keyword);
      return value.is(Kind::boolean) && value.integer != 0;
    };
    take(schema, "minimum", true, flag("exclusiveMinimum"));
    take(schema, "exclusiveMinimum", true, true);
    take(schema, "maximum", false, flag("exclusiveMaximum"));
    take(schema, "exclusiveMaximum", false, true);
  }
  return bounds;
}

NodeId Schema::number(const Leaf& leaf, Types types_here) {
  const Bounds limits = bounds(leaf);
  const bool whole = (types_here & kFraction) == 0;
  if (has(leaf, "multipleOf")) {
    if (const auto node = multiple(leaf, limits, whole)) return *node;
    for (const Value s : leaf.all) {
      if (!get(s, "multipleOf").is_undefined())
        note(s, "multipleOf", "only small whole numbers and powers of ten, or few values");
    }
  }
  if ((types_here & kInteger) != 0) return whole ? integers(ir_, limits) : numbers(ir_, limits);
  if (limits.low || limits.high) note(leaf.all[0], "not", "integers are not kept out between bounds");
  return limits.low || limits.high ? numbers(ir_, limits) : fractions(ir_);
}

/// Multiples of an integer, or numbers with so many decimals.
/// Between two bounds the multiples are listed, up to a thousand. Without bounds they are an automaton of remainders,
/// for divisors up to 100. A fraction counts only as a power of ten: 0.01 is two decimals. Anything else gives nothing,
/// and the caller notes that the keyword is not held to.
std::optional<NodeId> Schema::multiple(const Leaf& leaf, const Bounds& limits, bool whole) {
  std::optional<Decimal> divisor;
  for (const Value schema : leaf.all) {
    const Value value = get(schema, "multipleOf");
    if (value.is_undefined()) continue;
    const std::optional<Decimal> here = decimal_of(value);
    if (divisor || !here) return std::nullopt;
    divisor = here;
  }
  if (!divisor->is_integer()) {
    const std::string& f = divisor->fraction;
    const bool power = divisor->whole == "0" && f.back() == '1' && f.find_first_not_of('0') == f.size() - 1;
    if (power && whole) return integers(ir_, limits);
    if (!power || limits.low || limits.high) return std::nullopt;
    return numbers_with_digits(ir_, static_cast<std::uint32_t>(f.size()));
  }
  if (divisor->whole.size() > 9 || divisor->negative || divisor->whole == "0") return std::nullopt;
  const long by = std::atol(divisor->whole.c_str());
  const auto number_of = [](const Decimal& d) { return (d.negative ? -1 : 1) * std::atoll(d.whole.c_str()); };
  if (limits.low && limits.high && limits.low->at.whole.size() < 15 && limits.high->at.whole.size() < 15) {
    const long long low = number_of(to_integer(limits.low->at, true, limits.low->strict));
    const long long high = number_of(to_integer(limits.high->at, false, limits.high->strict));
    if ((high - low) / by > 1000) return std::nullopt;
    std::vector<NodeId> ways;
    for (long long n = low - (low % by); n <= high; n += by) {
      if (n >= low) ways.push_back(ir_.literal(std::to_string(n)));
    }
    return ir_.choice(ways);
  }
  const bool from_zero = limits.low && !limits.high && limits.low->at == Decimal{} && !limits.low->strict;
  if (by > 100 || ((limits.low || limits.high) && !from_zero)) return std::nullopt;
  return by == 1 ? integers(ir_, limits) : multiples_of(static_cast<std::uint32_t>(by), !from_zero);
}

NodeId Schema::multiples_of(std::uint32_t divisor, bool negative_too) {
  const auto [known, is_new] = context_.shared.multiples.try_emplace({divisor, negative_too}, kNone);
  if (is_new) known->second = multiples(ir_, divisor, negative_too);
  return known->second;
}

}  // namespace parlance::grammar
