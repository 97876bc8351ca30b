// Ollama's Modelfile: its commands, read by Ollama's own rules of quoting. Begin reading at
// parse_modelfile.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

/// One command, as it stands there: FROM, TEMPLATE, SYSTEM, MESSAGE, PARAMETER, …
struct ModelfileCommand {
  std::string name;   ///< in lower case
  std::string word;   ///< a PARAMETER's name, a MESSAGE's role
  std::string value;  ///< without its quotes
};

/// The commands of a Modelfile, in order. Fails with model_file (place).
///
/// A value ends with its line. One that begins with " or with """ goes on until a line ends with
/// the same; what stands between is taken as it is, there are no escapes. # begins a comment where
/// a command could begin. Characters that are not printable are dropped, white space apart.
/// (Ollama, parser/parser.go: ParseFile, parseRuneForState, unquote.)
Result<std::vector<ModelfileCommand>> parse_modelfile(std::string_view text, const std::string& name);

}  // namespace parlance
