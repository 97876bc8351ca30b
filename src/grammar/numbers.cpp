// Ranges of decimal numbers as nodes. A range falls apart into numbers below zero and others; those into numbers of the
// same length; those, digit by digit, into what is on the lower edge, between, and on the upper edge. Begin reading at
// integers.
#include "grammar/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/format.h"

namespace parlance::grammar {
namespace {

NodeId digit(Ir& ir, char from, char to) {
  if (from > to) return ir.never();
  return ir.chars({{static_cast<char32_t>(from), static_cast<char32_t>(to)}});
}
NodeId digits(Ir& ir, std::uint32_t min, std::uint32_t max) { return ir.repeat(digit(ir, '0', '9'), min, max); }
/// Between bounds, digits behind the point are counted: a reader of doubles would take more of them for the bound
/// itself.
constexpr std::uint32_t kMostDigits = 8;

NodeId any_fraction(Ir& ir) { return ir.optional(ir.sequence({ir.literal("."), digits(ir, 1, kUnbounded)})); }

NodeId short_fraction(Ir& ir) { return ir.optional(ir.sequence({ir.literal("."), digits(ir, 1, kMostDigits)})); }

Decimal trimmed(Decimal number) {
  number.whole.erase(0, std::min(number.whole.find_first_not_of('0'), number.whole.size() - 1));
  number.fraction.erase(number.fraction.find_last_not_of('0') + 1);
  if (number.whole == "0" && number.fraction.empty()) number.negative = false;
  return number;
}

/// "1.5e-07" and the like without the exponent.
Decimal expanded(std::string text) {
  Decimal number;
  number.negative = text.starts_with('-');
  if (number.negative) text.erase(0, 1);
  const std::size_t e = text.find('e');
  const int exponent = e == std::string::npos ? 0 : std::atoi(text.c_str() + e + 1);
  text.resize(std::min(e, text.size()));
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string all = text.substr(0, point) + (point < text.size() ? text.substr(point + 1) : "");
  int whole = static_cast<int>(point) + exponent;
  if (whole < 1) all.insert(0, static_cast<std::size_t>(1 - whole), '0'), whole = 1;
  if (static_cast<std::size_t>(whole) > all.size()) all.append(static_cast<std::size_t>(whole) - all.size(), '0');
  number.whole = all.substr(0, static_cast<std::size_t>(whole));
  number.fraction = all.substr(static_cast<std::size_t>(whole));
  return trimmed(number);
}

int compare_sizes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  if (a.whole != b.whole) return a.whole < b.whole ? -1 : 1;
  return a.fraction == b.fraction ? 0 : a.fraction < b.fraction ? -1 : 1;
}

/// The integer one larger or smaller; `digits` is not 0 where it is to be smaller.
std::string plus_one(std::string digits) {
  std::size_t i = digits.size();
  while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
  if (i == 0) return "1" + digits;
  ++digits[i - 1];
  return digits;
}
std::string minus_one(std::string digits) {
  std::size_t i = digits.size();
  while (i > 0 && digits[i - 1] == '0') digits[--i] = '9';
  if (i > 0) --digits[i - 1];
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

// ---- integers of one length

/// Integers of the same number of digits that are `low` or more. From the last digit to the first: either this digit is
/// the edge's and the rest is at least the edge's rest, or it is larger and the rest is free. For "47": 4[7-9] or
/// [5-9][0-9].
NodeId at_least(Ir& ir, std::string_view low) {
  NodeId rest = ir.empty();
  for (std::size_t i = low.size(); i-- > 0;) {
    const auto left = static_cast<std::uint32_t>(low.size() - i - 1);
    const NodeId above = low[i] == '9' ? ir.never() : digit(ir, static_cast<char>(low[i] + 1), '9');
    rest = ir.choice({ir.sequence({ir.literal(low.substr(i, 1)), rest}), ir.sequence({above, digits(ir, left, left)})});
  }
  return rest;
}

NodeId at_most(Ir& ir, std::string_view high) {
  NodeId rest = ir.empty();
  for (std::size_t i = high.size(); i-- > 0;) {
    const auto left = static_cast<std::uint32_t>(high.size() - i - 1);
    const NodeId below = high[i] == '0' ? ir.never() : digit(ir, '0', static_cast<char>(high[i] - 1));
    rest =
        ir.choice({ir.sequence({below, digits(ir, left, left)}), ir.sequence({ir.literal(high.substr(i, 1)), rest})});
  }
  return rest;
}

/// Both of the same length, low <= high.
NodeId between_of_length(Ir& ir, std::string_view low, std::string_view high) {
  std::size_t same = 0;
  while (same < low.size() && low[same] == high[same]) ++same;
  const NodeId head = ir.literal(low.substr(0, same));
  if (same == low.size()) return head;
  const auto left = static_cast<std::uint32_t>(low.size() - same - 1);
  const NodeId middle = digit(ir, static_cast<char>(low[same] + 1), static_cast<char>(high[same] - 1));
  const NodeId lower = ir.sequence({ir.literal(low.substr(same, 1)), at_least(ir, low.substr(same + 1))});
  const NodeId upper = ir.sequence({ir.literal(high.substr(same, 1)), at_most(ir, high.substr(same + 1))});
  return ir.sequence({head, ir.choice({lower, ir.sequence({middle, digits(ir, left, left)}), upper})});
}

/// Integers from low to high, neither below zero; "" as high: without end.
/// Lengths strictly between those of the edges need no edge and are one repeat, so that [1, 10^9] is three parts and
/// not ten.
NodeId between(Ir& ir, const std::string& low, const std::string& high) {
  std::vector<NodeId> parts;
  const std::size_t last = high.empty() ? low.size() : high.size();
  for (std::size_t size = low.size(); size <= last; ++size) {
    const bool first = size == low.size();
    const bool end = !high.empty() && size == high.size();
    if (!first && !end) {  // all lengths between at once
      const auto count = static_cast<std::uint32_t>(size);
      parts.push_back(ir.sequence({digit(ir, '1', '9'), digits(ir, count - 1, static_cast<std::uint32_t>(last) - 2)}));
      size = last - 1;
      continue;
    }
    const std::string from = first ? low : "1" + std::string(size - 1, '0');
    const std::string to = end ? high : std::string(size, '9');
    if (from <= to) parts.push_back(between_of_length(ir, from, to));
  }
  if (high.empty()) {
    parts.push_back(ir.sequence({digit(ir, '1', '9'), digits(ir, static_cast<std::uint32_t>(low.size()), kUnbounded)}));
  }
  return ir.choice(parts);
}

// ---- fractions

/// Digits behind a point that are more than zero. At most 15, which a reader of doubles tells from zero for certain.
NodeId not_all_zeros(Ir& ir) {
  return ir.sequence({ir.repeat(ir.literal("0"), 0, 6), digit(ir, '1', '9'), digits(ir, 0, kMostDigits)});
}

/// Digits behind a point that say `f` or more.
NodeId digits_at_least(Ir& ir, std::string_view f, bool strict) {
  f = f.substr(0, f.find_last_not_of('0') + 1);  // zeros at the end need not be written
  NodeId rest = strict ? not_all_zeros(ir) : digits(ir, 0, kMostDigits);
  for (std::size_t i = f.size(); i-- > 0;) {
    const NodeId above = f[i] == '9' ? ir.never() : digit(ir, static_cast<char>(f[i] + 1), '9');
    rest =
        ir.choice({ir.sequence({ir.literal(f.substr(i, 1)), rest}), ir.sequence({above, digits(ir, 0, kMostDigits)})});
  }
  return rest;
}

/// Digits behind those before that say `f` or less; none are zero.
NodeId digits_at_most(Ir& ir, std::string_view f, bool strict) {
  const std::string_view significant = f.substr(0, f.find_last_not_of('0') + 1);
  NodeId rest = strict ? ir.never() : ir.repeat(ir.literal("0"), 0, kMostDigits);
  for (std::size_t i = significant.size(); i-- > 0;) {
    const NodeId below = f[i] == '0' ? ir.never() : digit(ir, '0', static_cast<char>(f[i] - 1));
    rest = ir.choice({ir.empty(), ir.sequence({below, digits(ir, 0, kMostDigits)}),
                      ir.sequence({ir.literal(f.substr(i, 1)), rest})});
  }
  return rest;
}

NodeId fraction_at_least(Ir& ir, std::string_view f, bool strict) {
  if (f.empty() && !strict) return short_fraction(ir);
  return ir.sequence({ir.literal("."), digits_at_least(ir, f, strict)});
}

NodeId fraction_at_most(Ir& ir, std::string_view f, bool strict) {
  if (f.empty() && strict) return ir.never();
  if (f.empty()) return ir.optional(ir.sequence({ir.literal("."), ir.repeat(ir.literal("0"), 1, kMostDigits)}));
  const NodeId below = f[0] == '0' ? ir.never() : digit(ir, '0', static_cast<char>(f[0] - 1));
  const NodeId edge = ir.sequence({ir.literal(f.substr(0, 1)), digits_at_most(ir, f.substr(1), strict)});
  return ir.optional(
      ir.sequence({ir.literal("."), ir.choice({ir.sequence({below, digits(ir, 0, kMostDigits)}), edge})}));
}

/// Between two fractions behind the same whole number, low < high.
/// Both are filled with zeros to one length; then it is the same walk as for integers, except that digits may go on.
NodeId fraction_between(Ir& ir, std::string low, bool low_strict, std::string_view high, bool high_strict) {
  const bool from_whole = low.empty() && !low_strict;
  if (low.size() < high.size()) low.append(high.size() - low.size(), '0');
  const std::string upper = std::string(high) + std::string(low.size() - high.size(), '0');
  std::size_t same = 0;
  while (same < low.size() && low[same] == upper[same]) ++same;
  if (same == low.size()) return ir.sequence({ir.literal("." + low)});
  const NodeId middle = digit(ir, static_cast<char>(low[same] + 1), static_cast<char>(upper[same] - 1));
  const std::string_view rest_low = std::string_view(low).substr(same + 1);
  const NodeId on_low = ir.sequence({ir.literal(low.substr(same, 1)), digits_at_least(ir, rest_low, low_strict)});
  const NodeId on_high = ir.sequence(
      {ir.literal(upper.substr(same, 1)), digits_at_most(ir, std::string_view(upper).substr(same + 1), high_strict)});
  const NodeId digits_here = ir.choice({on_low, ir.sequence({middle, digits(ir, 0, kMostDigits)}), on_high});
  const NodeId all = ir.sequence({ir.literal("." + low.substr(0, same)), digits_here});
  return from_whole ? ir.optional(all) : all;
}

/// Numbers from low to high, neither below zero; without `high`, without end.
NodeId numbers_between(Ir& ir, const Bound& low, const std::optional<Bound>& high) {
  const Decimal& a = low.at;
  if (!high) {
    const NodeId edge = ir.sequence({ir.literal(a.whole), fraction_at_least(ir, a.fraction, low.strict)});
    return ir.choice({edge, ir.sequence({between(ir, plus_one(a.whole), ""), short_fraction(ir)})});
  }
  const Decimal& b = high->at;
  const int order = compare_sizes(a, b);
  if (order > 0 || (order == 0 && (low.strict || high->strict))) return ir.never();
  if (a.whole == b.whole) {
    return ir.sequence(
        {ir.literal(a.whole), order == 0 && a.fraction.empty()
                                  ? fraction_at_most(ir, "", false)
                                  : fraction_between(ir, a.fraction, low.strict, b.fraction, high->strict)});
  }
  std::vector<NodeId> parts{ir.sequence({ir.literal(a.whole), fraction_at_least(ir, a.fraction, low.strict)})};
  const std::string first = plus_one(a.whole);
  const std::string last = minus_one(b.whole);
  if (first.size() < last.size() || (first.size() == last.size() && first <= last)) {
    parts.push_back(ir.sequence({between(ir, first, last), short_fraction(ir)}));
  }
  parts.push_back(ir.sequence({ir.literal(b.whole), fraction_at_most(ir, b.fraction, high->strict)}));
  return ir.choice(parts);
}

/// Numbers below zero are compared by size: -7 to -3 is 3 to 7 behind a minus.
Bound mirrored(const Bound& bound) {
  Bound other = bound;
  other.at.negative = !other.at.negative;
  return other;
}

}  // namespace

// ---- decimals

std::optional<Decimal> decimal_of(Value value) {
  if (value.is_small_int()) return expanded(format("{}", value.integer));
  if (!value.is(Kind::real) || !std::isfinite(value.real)) return std::nullopt;
  return expanded(format("{}", value.real));
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

/// The nearest integer that a bound allows: for "> 2.5" and "> 2" that is 3, for ">= 2" it is 2.
Decimal to_integer(const Decimal& number, bool up, bool strict) {
  Decimal integer{number.negative, number.whole, ""};
  const bool away = up != number.negative;  // the next integer there is farther from zero
  if (number.is_integer() ? strict : away) {
    if (!number.is_integer() || away) {
      integer.whole = plus_one(integer.whole);
    } else if (integer.whole == "0") {
      integer = {!up, "1", ""};
    } else {
      integer.whole = minus_one(integer.whole);
    }
  }
  return trimmed(integer);
}

// ---- nodes

NodeId integers(Ir& ir, const Bounds& bounds) {
  if (!bounds.low && !bounds.high) {
    const NodeId positive = ir.choice({ir.literal("0"), ir.sequence({digit(ir, '1', '9'), digits(ir, 0, kUnbounded)})});
    return ir.sequence({ir.optional(ir.literal("-")), positive});
  }
  std::optional<Decimal> low, high;
  if (bounds.low) low = to_integer(bounds.low->at, true, bounds.low->strict);
  if (bounds.high) high = to_integer(bounds.high->at, false, bounds.high->strict);
  if (low && high && compare(*low, *high) > 0) return ir.never();
  std::vector<NodeId> parts;
  const bool some_positive = !high || !high->negative;
  const bool some_negative = !low || low->negative;
  if (some_positive) {
    parts.push_back(between(ir, low && !low->negative ? low->whole : "0", high ? high->whole : ""));
  }
  if (some_negative) {
    const std::string from = high && high->negative ? high->whole : "1";
    parts.push_back(ir.sequence({ir.literal("-"), between(ir, from, low ? low->whole : "")}));
  }
  return ir.choice(parts);
}

/// Those that doubles have, up to 308 and down to -324. The number in front can still make a double of it that is
/// infinite (2e308).
NodeId exponents(Ir& ir) {
  const auto last = [&](std::string_view tens, char to) { return ir.sequence({ir.literal(tens), digit(ir, '0', to)}); };
  const NodeId upper = ir.sequence({digit(ir, '1', '2'), digits(ir, 2, 2)});
  const NodeId above = ir.choice({digits(ir, 1, 2), upper, last("30", '8')});
  const NodeId below = ir.choice({digits(ir, 1, 2), upper, last("30", '9'), last("31", '9'), last("32", '4')});
  const NodeId sign = ir.optional(ir.literal("+"));
  return ir.sequence({ir.chars({{'e', 'e'}, {'E', 'E'}}),
                      ir.choice({ir.sequence({sign, above}), ir.sequence({ir.literal("-"), below})})});
}

NodeId numbers(Ir& ir, const Bounds& bounds) {
  if (!bounds.low && !bounds.high) return ir.sequence({integers(ir, {}), any_fraction(ir), ir.optional(exponents(ir))});
  std::vector<NodeId> parts;
  const bool some_positive = !bounds.high || !bounds.high->at.negative;
  const bool some_negative = !bounds.low || bounds.low->at.negative;
  const Bound zero{};
  if (some_positive) {
    const bool from_low = bounds.low && !bounds.low->at.negative;
    parts.push_back(numbers_between(ir, from_low ? *bounds.low : zero, bounds.high));
  }
  if (some_negative) {
    const bool from_high = bounds.high && bounds.high->at.negative;
    const Bound from = from_high ? mirrored(*bounds.high) : Bound{{}, true};
    const std::optional<Bound> to = bounds.low ? std::optional(mirrored(*bounds.low)) : std::nullopt;
    parts.push_back(ir.sequence({ir.literal("-"), numbers_between(ir, from, to)}));
  }
  return ir.choice(parts);
}

/// Short ones: a long number may be an integer to a reader of doubles.
NodeId fractions(Ir& ir) {
  const NodeId whole = ir.choice({ir.literal("0"), ir.sequence({digit(ir, '1', '9'), digits(ir, 0, 8)})});
  return ir.sequence({ir.optional(ir.literal("-")), whole, ir.literal("."), not_all_zeros(ir)});
}

/// A rule for each remainder: reading a digit leads from remainder r to (10 r + d) mod divisor, and a number may end in
/// remainder 0. The number of rules is the divisor, so callers bound it.
NodeId multiples(Ir& ir, std::uint32_t divisor, bool negative_too) {
  std::vector<RuleId> rules;
  for (std::uint32_t r = 0; r < divisor; ++r)
    rules.push_back(ir.add_rule(format("multiple-of-{}-rest-{}", divisor, r)));
  const auto after = [&](std::uint32_t rest, char from) {
    std::vector<NodeId> steps;
    for (char d = from; d <= '9'; ++d) {
      const std::uint32_t next = (rest * 10 + static_cast<std::uint32_t>(d - '0')) % divisor;
      steps.push_back(ir.sequence({ir.literal({&d, 1}), ir.rule(rules[next])}));
    }
    return steps;
  };
  for (std::uint32_t r = 0; r < divisor; ++r) {
    std::vector<NodeId> steps = after(r, '0');
    if (r == 0) steps.push_back(ir.empty());
    ir.set_body(rules[r], ir.choice(steps));
  }
  const NodeId positive = ir.choice(after(0, '1'));
  return ir.choice(
      {ir.literal("0"), ir.sequence({negative_too ? ir.optional(ir.literal("-")) : ir.empty(), positive})});
}

NodeId numbers_with_digits(Ir& ir, std::uint32_t count) {
  return ir.sequence({integers(ir, {}), ir.optional(ir.sequence({ir.literal("."), digits(ir, 1, count)}))});
}

}  // namespace parlance::grammar
