// Ollama: POST /api/generate with `raw`, which takes and gives text alone.
#include <algorithm>

#include "base/ascii.h"
#include "parlance/json.h"
#include "serve/backends/http_engine.h"

namespace parlance::serve {

namespace {

/// The names of `options`, in the order of Setting.
constexpr std::string_view kOllamaNames[kSettings] = {
    "num_predict",       "temperature",    "top_p", "top_k", "min_p", "typical_p", "presence_penalty",
    "frequency_penalty", "repeat_penalty", "seed",  "",      "",      "",
};

}  // namespace

constexpr BackendFacts kOllama = {
    .name = "ollama",
    .takes_ids = false,
    .gives_ids = false,
    .grammar = std::nullopt,
    .settings = kOllamaNames,
    .sentence =
        "Ollama: text both ways, so that content which spells a control token is refused (--no-protect lets it "
        "through), and no grammar but a JSON schema. Better: the llama.cpp server underneath",
    .takes_schema = true};

namespace {

std::string ollama_body(const Generation& generation, const EngineInfo& known) {
  JsonWriter options('{'), stops('['), body('{');
  generation.sampling.write(options, kOllamaNames, generation.choice);
  if (known.context) options.number("num_ctx", *known.context);
  for (const std::string& stop : generation.stop_texts) stops.item_text(stop);
  options.raw("stop", stops.take());
  body.text("model", known.model).text("prompt", generation.text).raw("raw", "true").raw("stream", "true");
  // What has no room in the context is an error, not cut off: the prompt's beginning, or, as the reply grows, its own.
  body.raw("truncate", "false").raw("shift", "false");
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

/// Counts equal pieces. Ollama breaks off a reply that repeats one more than 30 times, and any white space is equal.
class OllamaRepeats {
 public:
  void take(std::string_view text) {
    if (text.empty()) return;  // what it sends of something else
    const std::string_view piece = ascii::trimmed(text);
    count_ = piece == last_ ? count_ + 1 : 0;
    if (count_ == 0) last_ = piece;
  }
  bool is_loop() const { return count_ >= kMost; }

 private:
  static constexpr unsigned kMost = 30;
  std::string last_;
  unsigned count_ = 0;
};

class OllamaEvents final : public ReplyEvents {
 public:
  explicit OllamaEvents(unsigned alternatives) : alternatives_(alternatives) {}
  void read(Value event, std::vector<SampledToken>& into) override {
    if (!event["response"].is_string()) throw no_engine_answer("no response");
    read_ollama_tokens(event, alternatives_, into);
    repeats_.take(event["response"].text());
    finished_ = event["done"].is(Kind::boolean) && event["done"].integer != 0;
    if (!finished_) return;
    end_.length = event["done_reason"].text() == "length";
    end_.prompt_tokens = count_of(event["prompt_eval_count"]).value_or(0);
    end_.sampled_tokens = count_of(event["eval_count"]).value_or(0);
  }
  bool finished() const override { return finished_; }
  bool ends_without_a_word() const override { return repeats_.is_loop(); }
  GenerationEnd end() const override {
    GenerationEnd end = end_;
    if (!finished_) end.length = true;
    return end;
  }

 private:
  const unsigned alternatives_;
  OllamaRepeats repeats_;
  bool finished_ = false;
  GenerationEnd end_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}

/// For how long a context the model was made, more than which Ollama gives it in no case.
std::optional<std::int64_t> context_of(Value facts) {
  const std::string name = std::string(facts["general.architecture"].text()) + ".context_length";
  const std::optional<std::int64_t> tokens = count_of(facts[name]);
  return tokens.value_or(0) > 0 ? tokens : std::nullopt;
}

/// The token that Ollama puts in front of each prompt, a raw one too; where the file does not say it, by the kind of
/// its vocabulary.
TokenId first_of(Value facts) {
  const Value adds = facts["tokenizer.ggml.add_bos_token"];
  const bool usual =
      facts["tokenizer.ggml.model"].text() == "llama" || facts["tokenizer.ggml.pre"].text() == "llama-bpe";
  const bool does = adds.is(Kind::boolean) ? adds.integer != 0 : usual;
  return does ? id_of(facts["tokenizer.ggml.bos_token_id"]) : -1;
}

class Ollama final : public HttpEngine {
 public:
  explicit Ollama(BackendOptions options)
      : HttpEngine(std::move(options),
                   {.generate = "/api/generate", .health = "/api/version", .framing = EngineStream::Framing::lines}) {}
  const BackendFacts& facts() const override { return kOllama; }

  /// The model that was named; else the one that it has.
  Task<EngineInfo> ask() override {
    EngineInfo made{.model = wanted()};
    if (made.model.empty()) made.model = co_await only_model();
    const std::optional<Document> shown = co_await shown_of(made.model);
    if (!shown) co_return made;
    made.most = context_of(shown->root()["model_info"]);
    made.first = first_of(shown->root()["model_info"]);
    co_return made;
  }

  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view) override { co_return std::nullopt; }

  Task<std::optional<std::int64_t>> count(const EngineInfo& known, std::string_view text) override {
    JsonWriter body('{');
    body.text("model", known.model).text("prompt", text).raw("raw", "true").raw("stream", "false");
    const std::string asked = body.raw("options", JsonWriter('{').number("num_predict", 1).take()).take();
    const std::optional<Document> answer = co_await ask_json(client(), "POST", "/api/generate", asked, headers());
    if (!answer) co_return std::nullopt;
    co_return count_of(answer->root()["prompt_eval_count"]);
  }

 protected:
  std::string body_of(const Generation& generation, const EngineInfo& known) const override {
    return ollama_body(generation, known);
  }
  std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const override {
    return std::make_unique<OllamaEvents>(generation.logprobs.value_or(0));
  }

 private:
  /// What it knows of the model; nothing of a server that has only a part of Ollama's API.
  Task<std::optional<Document>> shown_of(const std::string& model) {
    const std::string body = JsonWriter('{').text("model", model).take();
    std::optional<Document> shown;
    try {
      shown = co_await ask_json(client(), "POST", "/api/show", body, headers());
    } catch (const EngineFailure& failure) {
      if (failure.kind() != EngineFailure::Kind::status && failure.kind() != EngineFailure::Kind::garbage) throw;
      co_return std::nullopt;
    }
    if (shown) co_return shown;
    const std::vector<std::string> names = co_await names_of_models();
    const auto is_it = [&](const std::string& name) { return name == model || name == model + ":latest"; };
    if (names.empty() || std::any_of(names.begin(), names.end(), is_it)) co_return std::nullopt;
    throw EngineFailure(EngineFailure::Kind::other,
                        "Ollama at " + address().url() + " has no model '" + model + "', but " + joined(names));
  }

  Task<std::vector<std::string>> names_of_models() {
    std::vector<std::string> names;
    const std::optional<Document> document = co_await ask_json(client(), "GET", "/api/tags", {}, headers());
    if (!document) co_return names;
    for (const Value& model : document->root()["models"].items()) names.emplace_back(model["name"].text());
    co_return names;
  }

  Task<std::string> only_model() {
    const std::vector<std::string> names = co_await names_of_models();
    if (names.size() == 1) co_return names.front();
    throw EngineFailure(EngineFailure::Kind::other, "Ollama at " + address().url() + " has " +
                                                        std::to_string(names.size()) +
                                                        " models: name one in the URL, ?model=NAME");
  }
};

}  // namespace

std::unique_ptr<Backend> open_ollama(BackendOptions options) { return std::make_unique<Ollama>(std::move(options)); }

}  // namespace parlance::serve
