// vLLM: POST /v1/completions with `prompt` as ids, which gives ids with `return_token_ids`.
#include <algorithm>

#include "parlance/json.h"
#include "serve/backends/completions_wire.h"

namespace parlance::serve {

namespace {

/// The names of /v1/completions, in the order of Setting.
constexpr std::string_view kVllmNames[kSettings] = {
    "max_tokens",        "temperature",        "top_p", "top_k",      "min_p",      "",           "presence_penalty",
    "frequency_penalty", "repetition_penalty", "seed",  "logit_bias", "ignore_eos", "min_tokens",
};

}  // namespace

constexpr BackendFacts kVllm = {
    .name = "vllm",
    .grammar = GrammarSyntax::structural_tag,
    .settings = kVllmNames,
    .sentence = "vLLM: ids both ways, structural tags; cached tokens with its --enable-prompt-tokens-details"};

namespace {

std::string vllm_body(const Generation& generation, const EngineInfo& info) {
  JsonWriter body('{');
  if (!info.model.empty()) body.text("model", info.model);
  write_ids(body, "prompt", generation);
  body.raw("stream", "true").raw("stream_options", R"({"include_usage": true})").raw("return_token_ids", "true");
  body.raw("skip_special_tokens", "false").raw("stop_token_ids", ids_json(generation.stops));
  write_most_tokens(body, generation, info);
  generation.sampling.write(body, kVllmNames, generation.choice);
  if (generation.logprobs) body.number("logprobs", *generation.logprobs).raw("return_tokens_as_token_ids", "true");
  if (generation.grammar)
    body.raw("structured_outputs", JsonWriter('{').text("structural_tag", *generation.grammar).take());
  return body.take();
}

/// The tokens of one choice of an event, with their logprobs where it has them.
void read_vllm_tokens(Value choice, unsigned alternatives, std::vector<SampledToken>& into) {
  const Value logprobs = choice["logprobs"];
  const std::span<const Value> own = logprobs["token_logprobs"].items(), top = logprobs["top_logprobs"].items();
  std::size_t number = 0;
  for (const TokenId id : ids_of(choice["token_ids"])) {
    SampledToken token{.id = id};
    if (number < own.size()) token.logprob = number_of(own[number]);
    if (number < top.size()) {
      for (const DictEntry& other : top[number].members())
        token.alternatives.push_back({.id = id_named(other.key.text()), .logprob = number_of(other.value).value_or(0)});
    }
    // The token itself comes first there, however likely it was.
    std::stable_sort(token.alternatives.begin(), token.alternatives.end(),
                     [](const auto& a, const auto& b) { return a.logprob > b.logprob; });
    token.alternatives.resize(std::min<std::size_t>(token.alternatives.size(), alternatives));
    into.push_back(std::move(token));
    ++number;
  }
}

class VllmEvents final : public CompletionsEvents {
 public:
  using CompletionsEvents::CompletionsEvents;

 private:
  void read_choice(Value choice, std::vector<SampledToken>& into) override {
    if (choice.is(Kind::dict) && !choice["token_ids"].is_sequence())
      throw no_engine_answer("no token_ids: this vLLM does not know return_token_ids");
    read_vllm_tokens(choice, alternatives(), into);
  }
};

class Vllm final : public HttpEngine {
 public:
  explicit Vllm(BackendOptions options) : HttpEngine(std::move(options), {.generate = "/v1/completions"}) {}
  const BackendFacts& facts() const override { return kVllm; }

 protected:
  std::string body_of(const Generation& generation, const EngineInfo& known) const override {
    return vllm_body(generation, known);
  }
  std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const override {
    return std::make_unique<VllmEvents>(generation);
  }
};

}  // namespace

std::unique_ptr<Backend> open_vllm(BackendOptions options) { return std::make_unique<Vllm>(std::move(options)); }

}  // namespace parlance::serve
