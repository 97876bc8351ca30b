// Reads the ends of streams of /v1/completions.
#include "serve/backends/completions_wire.h"

#include <algorithm>

namespace parlance::serve {

void write_most_tokens(JsonWriter& body, const Generation& generation, const EngineInfo& info) {
  constexpr std::int64_t kUnknown = 4096;
  if (generation.sampling.find(Setting::max_tokens) != nullptr) return;
  const auto prompt = static_cast<std::int64_t>(generation.ids.size());
  body.number("max_tokens", info.context ? std::max<std::int64_t>(1, *info.context - prompt) : kUnknown);
}

void CompletionsEvents::read(Value event, std::vector<SampledToken>& into) {
  const std::size_t before = into.size();
  const Value choice = item_of(event["choices"], 0), usage = event["usage"];
  read_choice(choice, into);
  end_.sampled_tokens += static_cast<std::int64_t>(into.size() - before);
  if (choice["finish_reason"].is_string()) {
    finished_ = true;
    end_.length = choice["finish_reason"].text() == "length";
  }
  if (!usage.is(Kind::dict)) return;
  end_.prompt_tokens = count_of(usage["prompt_tokens"]).value_or(end_.prompt_tokens);
  end_.sampled_tokens = count_of(usage["completion_tokens"]).value_or(end_.sampled_tokens);
  cached_ = count_of(usage["prompt_tokens_details"]["cached_tokens"]);
}

GenerationEnd CompletionsEvents::end() const {
  GenerationEnd end = end_;
  if (end.prompt_tokens == 0) end.prompt_tokens = prompt_;
  if (cached_) end.evaluated = std::max<std::int64_t>(0, end.prompt_tokens - *cached_);
  return end;
}

}  // namespace parlance::serve
