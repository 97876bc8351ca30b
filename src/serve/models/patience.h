// Patience: an engine that cannot answer for now is asked again.
#pragma once
#include <chrono>
#include <functional>
#include <string_view>

#include "serve/backends/backend.h"

namespace parlance::serve {

struct Patience {
  std::chrono::milliseconds most{0};                      ///< of all waits for one reply; 0: the engine is asked once
  std::function<void(std::string_view sentence)> told{};  ///< before each wait
};

/// Calls `ask`, and once more after 0.5, 1, 2, … 8 seconds, for as long as it fails since the engine loads its model or
/// has too much to do, and has sampled nothing. Throws what the last call throws.
Task<GenerationEnd> with_patience(const Patience& patience, const TokenSink& sink,
                                  const std::function<Task<GenerationEnd>(const TokenSink&)>& ask);

}  // namespace parlance::serve
