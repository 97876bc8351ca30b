// llama.cpp's server: POST /completion, which takes ids and gives ids with `return_tokens`.
#include <cmath>

#include "parlance/json.h"
#include "serve/backends/http_engine.h"

namespace parlance::serve {

namespace {

/// The names of /completion, in the order of Setting.
constexpr std::string_view kLlamaNames[kSettings] = {
    "n_predict",         "temperature",    "top_p", "top_k",      "min_p",      "typical_p", "presence_penalty",
    "frequency_penalty", "repeat_penalty", "seed",  "logit_bias", "ignore_eos", "",
};

}  // namespace

constexpr BackendFacts kLlamaServer = {
    .name = "llama-server",
    .grammar = GrammarSyntax::gbnf,
    .settings = kLlamaNames,
    .sentence = "llama.cpp's server: ids both ways, GBNF grammars, its prompt cache"};

namespace {

std::string llama_body(const Generation& generation) {
  JsonWriter body('{');
  write_ids(body, "prompt", generation);
  body.raw("stream", "true").raw("return_tokens", "true").raw("cache_prompt", "true");
  generation.sampling.write(body, kLlamaNames, generation.choice);
  if (generation.grammar) body.text("grammar", *generation.grammar);
  if (generation.logprobs) body.number("n_probs", std::max(1U, *generation.logprobs));
  return body.take();
}

/// The tokens of one event, with their logprobs where it has them.
void read_tokens(Value event, unsigned alternatives, std::vector<SampledToken>& into) {
  const std::span<const Value> probabilities = event["completion_probabilities"].items();
  std::size_t number = 0;
  for (const Value& id : event["tokens"].items()) {
    if (id_of(id) < 0) throw no_engine_answer("tokens that are no ids");
    SampledToken token{.id = id_of(id)};
    if (number < probabilities.size()) {
      token.logprob = number_of(probabilities[number]["logprob"]);
      for (const Value& other : probabilities[number]["top_logprobs"].items()) {
        if (token.alternatives.size() >= alternatives) break;
        token.alternatives.push_back(
            {.id = id_of(other["id"]), .logprob = number_of(other["logprob"]).value_or(-HUGE_VAL)});
      }
    }
    into.push_back(std::move(token));
    ++number;
  }
}

class LlamaEvents final : public ReplyEvents {
 public:
  explicit LlamaEvents(unsigned alternatives) : alternatives_(alternatives) {}
  void read(Value event, std::vector<SampledToken>& into) override {
    read_tokens(event, alternatives_, into);
    finished_ = event["stop"].is(Kind::boolean) && event["stop"].integer != 0;
    if (!finished_) return;
    end_.length = event["stop_type"].text() == "limit";
    end_.prompt_tokens = count_of(event["tokens_evaluated"]).value_or(0);
    end_.sampled_tokens = count_of(event["tokens_predicted"]).value_or(0);
    end_.evaluated = count_of(event["timings"]["prompt_n"]);
  }
  bool finished() const override { return finished_; }
  GenerationEnd end() const override { return end_; }

 private:
  const unsigned alternatives_;
  bool finished_ = false;
  GenerationEnd end_;
};

class LlamaServer final : public HttpEngine {
 public:
  explicit LlamaServer(BackendOptions options) : HttpEngine(std::move(options), {.generate = "/completion"}) {}
  const BackendFacts& facts() const override { return kLlamaServer; }

  Task<EngineInfo> ask() override {
    EngineInfo info;
    const std::optional<Document> document = co_await ask_json(client(), "GET", "/props", {}, headers());
    if (document) info.context = count_of(document->root()["default_generation_settings"]["n_ctx"]);
    co_return info;
  }

 protected:
  std::string body_of(const Generation& generation, const EngineInfo&) const override { return llama_body(generation); }
  std::string tokenize_body(std::string_view text) const override {
    return JsonWriter('{').text("content", text).raw("add_special", "false").raw("parse_special", "true").take();
  }
  std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const override {
    return std::make_unique<LlamaEvents>(generation.logprobs.value_or(0));
  }
};

}  // namespace

std::unique_ptr<Backend> open_llama_server(BackendOptions options) {
  return std::make_unique<LlamaServer>(std::move(options));
}

}  // namespace parlance::serve
