// What engines with /v1/completions have in common.
#pragma once
#include "serve/backends/http_engine.h"

namespace parlance::serve {

/// `max_tokens` where the request has none, since these engines give 16 tokens then: what the context has left, or a
/// number that few replies reach.
void write_most_tokens(JsonWriter& body, const Generation& generation, const EngineInfo& info);

/// The events of /v1/completions: tokens in a choice, the reason at its end, then the figures in an event of their own.
class CompletionsEvents : public ReplyEvents {
 public:
  explicit CompletionsEvents(const Generation& generation)
      : alternatives_(generation.logprobs.value_or(0)), prompt_(static_cast<std::int64_t>(generation.ids.size())) {}
  void read(Value event, std::vector<SampledToken>& into) final;
  bool finished() const final { return finished_; }
  GenerationEnd end() const final;

 protected:
  /// Appends the tokens of a choice; undefined where an event has none.
  virtual void read_choice(Value choice, std::vector<SampledToken>& into) = 0;
  unsigned alternatives() const { return alternatives_; }

 private:
  const unsigned alternatives_;
  const std::int64_t prompt_;
  GenerationEnd end_;
  bool finished_ = false;
  std::optional<std::int64_t> cached_;
};

}  // namespace parlance::serve
