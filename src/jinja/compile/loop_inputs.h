// What the iterations of a loop depend on: worked out from its body when a template is compiled.
//
// A conversation that has grown is rendered again, and most iterations of the loop over its messages write what they
// wrote the last time. That needs no proof by running them, if all that they can see is the same: the items up to
// theirs, and what the body reads of the variables around the loop. Here is found what it reads, and how;
// machine/resume.cpp holds one run against the next. Whatever is not understood makes a loop one that is run as a
// whole. Begin reading at read_loop_inputs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jinja/compile/program.h"
#include "jinja/compile/symbols.h"

namespace parlance::jinja {

/// What read_loop_inputs finds. Names are not numbers of registers and variables yet: which there are is known when the
/// whole template is compiled.
struct FoundLoop {
  struct Input {
    NameId name = 0;
    LoopInput facts;
  };
  std::vector<Input> inputs;
  std::vector<const Macro*> macros;  ///< that the body may call
  /// Loops of the body over a slice (`for later in messages[loop.index:]`). What they see need not be the same as long
  /// as none of them has run: the machine notes when one does.
  std::vector<const For*> lookers;
  std::uint32_t behind = 0;  ///< as in ResumableLoop
  std::uint32_t ahead = 1;
};

/// A macro of the template's top level, also under an `if` there.
struct TopMacro {
  NameId name;
  const Macro* macro;
};
std::vector<TopMacro> top_level_macros(const Nodes& nodes, NameTable& names);

/// Where the loop stands.
struct LoopSurroundings {
  NameTable& names;
  const Symbols& body;  ///< of the loop's own scope
  std::span<const TopMacro> macros;
};

/// Nothing where the iterations may depend on what cannot be told from here.
std::optional<FoundLoop> read_loop_inputs(const For& node, const LoopSurroundings& around);

}  // namespace parlance::jinja
