// Patience: an engine that cannot answer for now is asked again.
#pragma once
#include <chrono>
#include <functional>
#include <string_view>

#include "serve/backends/backend.h"

namespace parlance::serve {

struct Patience {
  std::chrono::milliseconds most{0};                      ///< from the first failure on; 0: the engine is asked once
  std::function<void(std::string_view sentence)> told{};  ///< before each wait
};

/// The waits of one request: 0.5, 1, 2, … 8 seconds.   Threads: one.
class Waits {
 public:
  explicit Waits(const Patience& patience) : patience_(patience) {}
  /// Is it to be asked again, since it loads its model or has too much to do, and is there time? Then the user is told.
  bool will_ask_again(const EngineFailure& failure);
  /// Behind that.
  Task<> pause();

 private:
  const Patience& patience_;
  std::chrono::milliseconds wait_{0};
  std::chrono::steady_clock::time_point begun_{};
};

/// Calls `ask`, and again after each of the waits, for as long as nothing was sampled. Throws what the last call
/// throws.
Task<GenerationEnd> with_patience(const Patience& patience, const TokenSink& sink,
                                  const std::function<Task<GenerationEnd>(const TokenSink&)>& ask);

}  // namespace parlance::serve
