// Arguments held against the JSON Schema of a tool: what certainly does not fit, and nothing else.
//
// Begin reading at ArgumentsCheck::check in arguments_check.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/value.h"

namespace parlance::reply {

struct Misfit {
  bool missing = false;    ///< a required member is not there; else a value is another one
  std::string expected{};  ///< "an integer as 'days'", "the argument 'city'"
  std::string found{};     ///< ", not a text", or ""
};

/// What of `arguments`, an object of JSON, does not fit `parameters`, the schema of the tool: at most 16 findings.
///
/// Looked at are type, enum, const, required, properties, items, $ref into the schema, allOf, anyOf, oneOf and
/// nullable; what else a schema says allows everything here, and so does what is no schema or past the bounds: 10,000
/// steps, 64 levels. Of values that are texts where none may stand, the first `texts` are left out.
std::vector<Misfit> check_arguments(Value parameters, std::string_view arguments, std::uint32_t texts);

}  // namespace parlance::reply
