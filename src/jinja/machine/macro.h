// Macros, callers, block references and `self` as values: what the VM enters when they are called.
#pragma once
#include "jinja/compile/program.h"

namespace parlance::jinja {

struct Frame;

struct MacroObject : Object {
  const Routine* routine;
  Frame* outer;                       ///< frame it was defined in, whose variables it sees
  const DictEntry* scoped = nullptr;  ///< what the scoped block it was defined in was given
  std::uint32_t scoped_count = 0;
};
extern const ObjectType kMacroType;
Value make_macro(Runtime& rt, const Routine& routine, Frame* outer);

/// The variable `self`: gives the template's blocks as things to call.
struct SelfObject : Object {
  const Program* program;
};
extern const ObjectType kSelfType;
Value make_self(Runtime& rt, const Program& program);

struct BlockReference : Object {
  const Routine* routine;
};
extern const ObjectType kBlockReferenceType;

}  // namespace parlance::jinja
