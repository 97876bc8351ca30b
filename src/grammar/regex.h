// Patterns of JSON Schema as nodes: the part of ECMA's regular expressions that describes a regular language.
//
// Anchors at the ends of alternatives, classes, groups, alternation, counted repeats. What is beyond (looking around,
// back references, word borders, properties) is refused with the reason, and its caller widens. Begin reading at
// parse_regex.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace parlance::grammar {

/// How one code point out of some ranges is written.
using Unit = std::function<NodeId(std::vector<Range>)>;

struct Regex {
  NodeId node = kNone;
  std::uint32_t min = 0;  ///< code points
  std::uint32_t max = 0;  ///< kUnbounded: any number
  NodeId unit = kNone;    ///< where the whole is `unit` from min to max times
};

/// The texts in which `pattern` is found. Nothing, with the reason in `why`, for what is not understood.
std::optional<Regex> parse_regex(Ir& ir, const Unit& unit, std::string_view pattern, std::string& why);

}  // namespace parlance::grammar
