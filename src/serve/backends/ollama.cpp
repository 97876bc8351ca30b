// Ollama: POST /api/generate with `raw`, which takes and gives text alone.
#include "parlance/json.h"
#include "serve/backends/backend.h"
#include "serve/backends/stream.h"

namespace parlance::serve {

constexpr BackendFacts kOllama = {
    .name = "ollama",
    .takes_ids = false,
    .gives_ids = false,
    .grammar = std::nullopt,
    .sentence =
        "Ollama: text both ways, so that content which spells a control token is refused (--no-protect lets it "
        "through), and no grammar but a JSON schema. Better: the llama.cpp server underneath",
    .takes_schema = true};

namespace {

/// The names of `options`, in the order of Setting.
constexpr std::string_view kOllamaNames[kSettings] = {
    "num_predict",       "temperature",    "top_p", "top_k", "min_p", "typical_p", "presence_penalty",
    "frequency_penalty", "repeat_penalty", "seed",  "",      "",      "",
};

std::string ollama_body(const Generation& generation, const std::string& model) {
  JsonWriter options('{'), stops('['), body('{');
  generation.sampling.write(options, kOllamaNames, generation.choice);
  for (const std::string& stop : generation.stop_texts) stops.item_text(stop);
  options.raw("stop", stops.take());
  body.text("model", model).text("prompt", generation.text).raw("raw", "true").raw("stream", "true");
  body.raw("options", options.take());
  if (!generation.schema.empty()) body.raw("format", generation.schema);
  if (generation.logprobs) body.raw("logprobs", "true").number("top_logprobs", *generation.logprobs);
  return body.take();
}

void read_ollama_tokens(Value event, unsigned alternatives, std::vector<SampledToken>& into) {
  const std::string_view text = event["response"].text();
  const std::span<const Value> logprobs = event["logprobs"].items();
  std::string all;
  for (const Value& one : logprobs) all += one["token"].text();
  if (logprobs.empty() || all != text) {
    if (!text.empty()) into.push_back({.id = -1, .text = std::string(text)});
    return;
  }
  for (const Value& one : logprobs) {
    SampledToken token{.id = -1, .text = std::string(one["token"].text()), .logprob = number_of(one["logprob"])};
    for (const Value& other : one["top_logprobs"].items()) {
      if (token.alternatives.size() >= alternatives) break;
      token.alternatives.push_back(
          {.id = -1, .text = std::string(other["token"].text()), .logprob = number_of(other["logprob"]).value_or(0)});
    }
    into.push_back(std::move(token));
  }
}

GenerationEnd ollama_end(Value event) {
  GenerationEnd end;
  end.length = event["done_reason"].text() == "length";
  end.prompt_tokens = whole_of(event["prompt_eval_count"]).value_or(0);
  end.sampled_tokens = whole_of(event["eval_count"]).value_or(0);
  return end;
}

class Ollama final : public Backend {
 public:
  explicit Ollama(BackendOptions options)
      : client_(options.address, options.limits),
        headers_(bearer(options.api_key)),
        wanted_(std::move(options.model)) {}

  const BackendFacts& facts() const override { return kOllama; }
  const HttpAddress& address() const override { return client_.address(); }

  Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) override {
    const std::shared_ptr<const EngineInfo> known = info();
    const std::string body = ollama_body(generation, known ? known->model : wanted_);
    std::unique_ptr<HttpReply> reply = co_await client_.send("POST", "/api/generate", body, headers_);
    EngineStream stream(std::move(reply), !generation.schema.empty(), EngineStream::Framing::lines);
    co_await stream.accept();
    GenerationEnd end;
    std::vector<SampledToken> tokens;
    while (co_await stream.next()) {
      tokens.clear();
      bool done = false;
      for (const Value event : stream.events()) {
        if (!event["response"].is_string()) throw no_engine_answer("no response");
        read_ollama_tokens(event, generation.logprobs.value_or(0), tokens);
        done = done || (event["done"].is(Kind::boolean) && event["done"].integer != 0);
        if (done) end = ollama_end(event);
      }
      if (!tokens.empty() && !co_await sink(tokens)) co_return end;
      if (done) {
        co_await stream.drain();
        co_return end;
      }
    }
    throw EngineFailure(EngineFailure::Kind::died, "the engine at " + address().url() + " ended its answer too early");
  }

  Task<> check() override { return ask_health(client_, "/api/version", headers_); }

  /// The model that was named; else the one that it has.
  Task<EngineInfo> ask() override {
    EngineInfo made{.model = wanted_};
    if (!wanted_.empty()) co_return made;
    const std::optional<Document> document = co_await ask_json(client_, "GET", "/api/tags", {}, headers_);
    const std::span<const Value> models = document ? document->root()["models"].items() : std::span<const Value>();
    if (models.size() != 1) {
      throw EngineFailure(EngineFailure::Kind::other, "Ollama at " + address().url() + " has " +
                                                          std::to_string(models.size()) +
                                                          " models: name one in the URL, ?model=NAME");
    }
    made.model = models.front()["name"].text();
    co_return made;
  }

  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view) override { co_return std::nullopt; }

 private:
  HttpClient client_;
  std::vector<HttpHeader> headers_;
  std::string wanted_;
};

}  // namespace

std::unique_ptr<Backend> open_ollama(BackendOptions options) { return std::make_unique<Ollama>(std::move(options)); }

}  // namespace parlance::serve
