// Asks an engine again. Begin reading at Waits::will_ask_again.
#include "serve/models/patience.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <iterator>
#include <string>

namespace parlance::serve {

namespace {

/// Answers of an engine, or of a proxy before it, that will be another one soon; behind 504 it may still be at work.
/// 529 is Anthropic's for 503.
bool will_pass(const EngineFailure& failure) {
  constexpr unsigned kPassing[] = {429, 502, 503, 529};
  return failure.kind() == EngineFailure::Kind::status &&
         std::find(std::begin(kPassing), std::end(kPassing), failure.status()) != std::end(kPassing);
}

}  // namespace

bool Waits::will_ask_again(const EngineFailure& failure) {
  constexpr std::chrono::milliseconds kFirst(500), kLongest(8000);
  const auto now = std::chrono::steady_clock::now();
  if (wait_.count() == 0) begun_ = now;
  wait_ = wait_.count() == 0 ? kFirst : std::min(2 * wait_, kLongest);
  if (!will_pass(failure) || now - begun_ + wait_ > patience_.most) return false;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(wait_.count()) / 1000);
  if (patience_.told) patience_.told(std::string(failure.what()) + "; it is asked again in " + seconds + " s");
  return true;
}

Task<> Waits::pause() {
  asio::steady_timer timer(co_await asio::this_coro::executor, wait_);
  co_await timer.async_wait(asio::use_awaitable);
}

Task<GenerationEnd> with_patience(const Patience& patience, const TokenSink& sink,
                                  const std::function<Task<GenerationEnd>(const TokenSink&)>& ask) {
  bool has_begun = false;
  const TokenSink watched = [&](std::span<const SampledToken> tokens, bool is_last) -> Task<bool> {
    has_begun = true;
    co_return co_await sink(tokens, is_last);
  };
  for (Waits waits(patience);; co_await waits.pause()) {
    try {
      co_return co_await ask(watched);
    } catch (const EngineFailure& failure) {
      if (has_begun || !waits.will_ask_again(failure)) throw;
    }
  }
}

}  // namespace parlance::serve
