// Rows of normalisation: a request, what one pass alone makes of it, and its notes.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace parlance::testing {

struct NormaliseRow {
  const char* pass;
  const char* before;  ///< a request
  const char* after;   ///< its variables after the pass alone
  std::vector<std::string> notes;
};

void expect_each_alone(std::span<const NormaliseRow> rows);

/// Those of normalise_calls_test.cpp.
std::span<const NormaliseRow> normalise_rows_of_calls();

}  // namespace parlance::testing
