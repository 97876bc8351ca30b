// Program: a compiled Go template as Ollama runs it: its tree, the trees it defines, and the one
// cut at the response.
//
// Immutable once compiled, so any number of threads may run it. parser.cpp makes the trees,
// layout.cpp what Ollama makes of them, exec.cpp runs them. Begin reading at compile.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/program.h"
#include "gotemplate/node.h"
#include "parlance/limits.h"
#include "parlance/result.h"

namespace parlance::gotemplate {

struct Program : EngineProgram {
  explicit Program(SourceText source_in) : EngineProgram(std::move(source_in)) {}
  std::vector<const Tree*> trees;  ///< of all names
  const Tree* root = nullptr;      ///< of the empty name, with the response at its end if it says nowhere else
  const Tree* cut = nullptr;       ///< the root up to its first response; null: Ollama panics when it makes it
  bool mentions_messages = false;
  bool mentions_suffix = false;  ///< it fills in the middle
};

/// Compiles template text. Fails with go_parse (in Go's words), limit_depth, limit_memory.
Result<std::unique_ptr<Program>> compile(std::string name, std::string_view text, const Limits& limits);

/// What Ollama does to parsed trees: notes what they mention, appends the response, makes the cut
/// tree. False with a sentence for what it refuses.
bool lay_out(Program& program, std::string& problem);

}  // namespace parlance::gotemplate
