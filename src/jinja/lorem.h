// Filler text: what lipsum() gives.
#pragma once
#include <cstdint>
#include <string>

#include "value/runtime.h"

namespace parlance::jinja {

struct LoremOptions {
  std::int64_t paragraphs;
  bool html;           ///< each paragraph in <p>
  std::int64_t least;  ///< words in a paragraph, at least
  std::int64_t most;   ///< and fewer than this
};

/// Appends the paragraphs; false after a failure (a limit). Random by rt.random_state.
bool append_lorem(Runtime& rt, std::string& out, const LoremOptions& options);
/// A number in [0, below), below > 0, from the render's own sequence.
std::uint64_t random_below(Runtime& rt, std::uint64_t below);

}  // namespace parlance::jinja
