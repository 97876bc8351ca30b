// What engines with /v1/completions have in common.
#pragma once
#include "serve/backends/backend.h"
#include "serve/backends/stream.h"

namespace parlance::serve {

/// `max_tokens` where the request has none, since these engines give 16 tokens then: what the context has left, or a
/// number that few replies reach.
void write_most_tokens(JsonWriter& body, const Generation& generation, const EngineInfo& info);

/// How a stream of /v1/completions ends: the reason in a choice, then the figures in an event of their own.
class CompletionsEnd {
 public:
  void read(Value event);
  void add(std::size_t tokens) { end_.sampled_tokens += static_cast<std::int64_t>(tokens); }
  /// The figures so far.
  GenerationEnd take(const Generation& generation) const;
  /// The same at the end of the stream. Throws EngineFailure if no reason was given.
  GenerationEnd checked(const Generation& generation, const HttpAddress& address) const;

 private:
  GenerationEnd end_;
  bool finished_ = false;
  std::optional<std::int64_t> cached_;
};

}  // namespace parlance::serve
