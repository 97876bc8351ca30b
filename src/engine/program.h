// EngineProgram: what every compiled template has, whatever its language: its text and the memory
// of its constants.
//
// Provenance asks both for the addresses they hold. Immutable once compiled.
#pragma once
#include <utility>

#include "base/arena.h"
#include "base/source_text.h"

namespace parlance {

struct EngineProgram {
  explicit EngineProgram(SourceText source_in) : source(std::move(source_in)) {}
  SourceText source;
  /// Constants and everything they refer to. Small, since most constants are views of the source.
  Arena arena{Arena::tight};
  bool has_generation = false;  ///< a {% generation %} tag stands in it
};

}  // namespace parlance
