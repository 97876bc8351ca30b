// Running one case through the public API, and telling what differs from what was wanted.
//
// Leans on case_file.h and on the library. Begin reading at run_case.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case_file.h"
#include "parlance/parlance.h"

namespace parlance::testing {

/// The moment at which every case is rendered.
inline constexpr CivilTime kCaseClock{2026, 3, 14, 15, 9, 26, 0};

/// What a case may change (its section `settings`; cases/README.md lists them).
struct Settings {
  CompileOptions compile;
  RenderOptions render;
  bool autoescape = false;
  bool normalise = false;
  bool as_transformers = false;
  TransformersVersion transformers = kNewestTransformers;
  std::string model;  ///< a model folder, relative to the case's file, whose template is rendered
  std::optional<std::string> name;
  std::string format;  ///< a built-in format whose text is the template; its tokens are not set
};

/// Reads settings; returns what is wrong with them, or "".
std::string read_settings(std::string_view json, Settings& settings);

/// [start, end) of a generation block, in code points.
using CodePointRange = std::pair<std::uint64_t, std::uint64_t>;

/// What came of it: a text with its generation blocks, or an error.
struct Outcome {
  std::string text;
  std::vector<CodePointRange> generation;
  std::optional<Error> error;
};

/// Compiles and renders. `file` is the case's, for `settings.model`.
Outcome run_template(std::string_view source, std::string_view context, const Settings& settings,
                     const std::filesystem::path& file = {});
/// Runs what a case says; `fault` is set when the case itself is wrong.
Outcome run_case(const Case& c, std::string& fault);

/// Why the outcome is not what the case wants, for a person; "" when it is.
std::string compare(const Case& c, const Outcome& outcome);
/// The sections that state an outcome.
std::string write_expectation(const Outcome& outcome);

/// [[start, end], ...] of a JSON text.
std::optional<std::vector<CodePointRange>> read_ranges(std::string_view json);
/// Does a failure of class `got` answer for one of class `wanted`?
bool same_class(std::string_view wanted, std::string_view got);

}  // namespace parlance::testing
