// llama.cpp's server: POST /completion, which takes ids and gives ids with `return_tokens`.
#include <cmath>

#include "parlance/json.h"
#include "serve/backends/backend.h"
#include "serve/backends/stream.h"

namespace parlance::serve {

constexpr BackendFacts kLlamaServer = {
    .name = "llama-server",
    .grammar = GrammarSyntax::gbnf,
    .sentence = "llama.cpp's server: ids both ways, GBNF grammars, its prompt cache"};

namespace {

/// The names of /completion, in the order of Setting.
constexpr std::string_view kLlamaNames[kSettings] = {
    "n_predict",         "temperature",    "top_p", "top_k",      "min_p",      "typical_p", "presence_penalty",
    "frequency_penalty", "repeat_penalty", "seed",  "logit_bias", "ignore_eos", "",
};

std::string body_of(const Generation& generation) {
  JsonWriter body('{');
  body.raw("prompt", ids_json(generation.ids));
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
    if (!id.is_small_int()) throw no_engine_answer("tokens that are no integers");
    SampledToken token{.id = static_cast<TokenId>(id.integer)};
    if (number < probabilities.size()) {
      token.logprob = number_of(probabilities[number]["logprob"]);
      for (const Value& other : probabilities[number]["top_logprobs"].items()) {
        if (token.alternatives.size() >= alternatives) break;
        token.alternatives.push_back({.id = static_cast<TokenId>(other["id"].integer),
                                      .logprob = number_of(other["logprob"]).value_or(-HUGE_VAL)});
      }
    }
    into.push_back(std::move(token));
    ++number;
  }
}

GenerationEnd end_of(Value event) {
  GenerationEnd end;
  end.length = event["stop_type"].text() == "limit";
  end.prompt_tokens = whole_of(event["tokens_evaluated"]).value_or(0);
  end.sampled_tokens = whole_of(event["tokens_predicted"]).value_or(0);
  end.evaluated = whole_of(event["timings"]["prompt_n"]);
  return end;
}

class LlamaServer final : public Backend {
 public:
  explicit LlamaServer(BackendOptions options)
      : client_(options.address, options.limits), headers_(bearer(options.api_key)) {}

  const BackendFacts& facts() const override { return kLlamaServer; }
  const HttpAddress& address() const override { return client_.address(); }

  Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) override {
    const std::string body = body_of(generation);
    GenerationEnd end;
    std::unique_ptr<HttpReply> reply = co_await client_.send("POST", "/completion", body, headers_);
    EngineStream stream(std::move(reply), generation.grammar != nullptr);
    co_await stream.accept();
    std::vector<SampledToken> tokens;
    while (co_await stream.next()) {
      tokens.clear();
      bool done = false;
      for (const Value event : stream.events()) {
        read_tokens(event, generation.logprobs.value_or(0), tokens);
        if (event["stop"].is(Kind::boolean) && event["stop"].integer != 0) {
          end = end_of(event);
          done = true;
        }
      }
      if (!tokens.empty() && !co_await sink(tokens)) co_return end;
      if (done) {
        co_await stream.drain();
        co_return end;
      }
    }
    throw EngineFailure(EngineFailure::Kind::died, "the engine at " + address().url() + " ended its answer too early");
  }

  Task<> check() override { return ask_health(client_, "/health", headers_); }

  Task<EngineInfo> ask() override {
    EngineInfo info;
    const std::optional<Document> document = co_await ask_json(client_, "GET", "/props", {}, headers_);
    if (document) info.context = whole_of(document->root()["default_generation_settings"]["n_ctx"]);
    co_return info;
  }

  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view text) override {
    const std::string body =
        JsonWriter('{').text("content", text).raw("add_special", "false").raw("parse_special", "true").take();
    co_return co_await ask_tokenize(client_, body, headers_);
  }

 private:
  HttpClient client_;
  std::vector<HttpHeader> headers_;
};

}  // namespace

std::unique_ptr<Backend> open_llama_server(BackendOptions options) {
  return std::make_unique<LlamaServer>(std::move(options));
}

}  // namespace parlance::serve
