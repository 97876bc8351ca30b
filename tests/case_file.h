// Case files: what goes into a template and what must come out, as texts that every runner reads.
//
// The format is described in cases/README.md; oracle/case_file.py reads the same files. Begin
// reading at read_cases.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::testing {

/// One case. Sections hold their text without the last newline.
struct Case {
  std::filesystem::path path;
  std::string id;        ///< path below the root without ".case", and ":name" in a table
  std::size_t line = 1;  ///< where it begins, from 1
  std::size_t end = 1;   ///< the last line that belongs to it
  std::map<std::string, std::string, std::less<>> headers;
  std::map<std::string, std::string, std::less<>> sections;

  bool has(std::string_view section) const { return sections.find(section) != sections.end(); }
  const std::string* find(std::string_view section) const;
  /// The section `name`, or what the JSON string in `name json` says; nothing when neither is there.
  std::optional<std::string> text(std::string_view name) const;
};

/// The cases of one file, in order; what is wrong with the file goes to `faults`, as "path:line: what".
std::vector<Case> read_cases(const std::filesystem::path& path, const std::filesystem::path& root,
                             std::vector<std::string>& faults);
/// The cases of every *.case below `folder`, files in the order of their paths.
std::vector<Case> find_cases(const std::filesystem::path& root, const std::filesystem::path& folder,
                             std::vector<std::string>& faults);

/// "--- name" and the text; as JSON where something in it is invisible or would be read as a marker.
std::string write_text_section(std::string_view name, std::string_view text);
/// Replaces the expectation of `c` (output, spans, error) in its file by these sections.
void replace_expectation(const Case& c, const std::string& sections);

/// What the JSON string `json` says, or nothing if it is none.
std::optional<std::string> text_of_json(std::string_view json);

}  // namespace parlance::testing
