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
    .sentence = "vLLM: ids both ways, structural tags; cached tokens with its --enable-prompt-tokens-details",
    .tells_prompt = true};

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
  if (generation.prompt_told != nullptr) body.raw("echo", "true");
  if (generation.grammar)
    body.raw("structured_outputs", JsonWriter('{').text("structural_tag", *generation.grammar).take());
  return body.take();
}

/// The lists of logprobs of one choice of an event, which may lack.
struct VllmLogprobs {
  std::span<const Value> own, top;
  unsigned alternatives;

  SampledToken token(TokenId id, std::size_t number) const {
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
    return token;
  }
};

class VllmEvents final : public CompletionsEvents {
 public:
  explicit VllmEvents(const Generation& generation)
      : CompletionsEvents(generation), ids_(generation.ids), prompt_told_(generation.prompt_told) {}

 private:
  void read_choice(Value choice, std::vector<SampledToken>& into) override {
    if (!choice.is(Kind::dict)) return;
    if (!choice["token_ids"].is_sequence())
      throw no_engine_answer("no token_ids: this vLLM does not know return_token_ids");
    const Value lists = choice["logprobs"];
    const VllmLogprobs logprobs{lists["token_logprobs"].items(), lists["top_logprobs"].items(), alternatives()};
    const std::vector<TokenId> ids = ids_of(choice["token_ids"]);
    std::size_t number = read_prompt(logprobs);
    for (const TokenId id : ids) into.push_back(logprobs.token(id, number++));
  }

  /// With `echo` the first lists begin with the prompt's tokens. Returns how many these are.
  std::size_t read_prompt(const VllmLogprobs& logprobs) {
    if (prompt_told_ == nullptr || !prompt_told_->empty()) return 0;
    if (logprobs.own.size() < ids_.size()) throw no_engine_answer("no logprobs of the prompt");
    for (std::size_t number = 0; number < ids_.size(); ++number)
      prompt_told_->push_back(logprobs.token(ids_[number], number));
    return ids_.size();
  }

  const std::span<const TokenId> ids_;
  std::vector<SampledToken>* const prompt_told_;
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
