// Asks an engine again. Begin reading at with_patience.
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

/// Answers of an engine, or of a proxy before it, that will be another one soon. 529 is Anthropic's for 503.
bool will_pass(const EngineFailure& failure) {
  constexpr unsigned kPassing[] = {429, 502, 503, 504, 529};
  return failure.kind() == EngineFailure::Kind::status &&
         std::find(std::begin(kPassing), std::end(kPassing), failure.status()) != std::end(kPassing);
}

std::string sentence_of_wait(const EngineFailure& failure, std::chrono::milliseconds wait) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(wait.count()) / 1000);
  return std::string(failure.what()) + "; it is asked again in " + seconds + " s";
}

}  // namespace

Task<GenerationEnd> with_patience(const Patience& patience, const TokenSink& sink,
                                  const std::function<Task<GenerationEnd>(const TokenSink&)>& ask) {
  constexpr std::chrono::milliseconds kFirst(500), kLongest(8000);
  bool has_begun = false;
  const TokenSink watched = [&](std::span<const SampledToken> tokens, bool is_last) -> Task<bool> {
    has_begun = true;
    co_return co_await sink(tokens, is_last);
  };
  std::chrono::milliseconds waited{0}, wait = kFirst;
  while (true) {
    try {
      co_return co_await ask(watched);
    } catch (const EngineFailure& failure) {
      if (has_begun || !will_pass(failure) || waited + wait > patience.most) throw;
      if (patience.told) patience.told(sentence_of_wait(failure, wait));
    }
    asio::steady_timer timer(co_await asio::this_coro::executor, wait);
    co_await timer.async_wait(asio::use_awaitable);
    waited += wait;
    wait = std::min(2 * wait, kLongest);
  }
}

}  // namespace parlance::serve
