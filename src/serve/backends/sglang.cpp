// SGLang: POST /generate with `input_ids`, which gives ids: in each event all so far, or, with its
// --incremental-streaming-output, the new ones.
#include <algorithm>

#include "parlance/json.h"
#include "serve/backends/http_engine.h"

namespace parlance::serve {

namespace {

/// The names of sampling_params, in the order of Setting.
constexpr std::string_view kSglangNames[kSettings] = {
    "max_new_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "sampling_seed",
    "logit_bias",
    "ignore_eos",
    "min_new_tokens",
};

}  // namespace

constexpr BackendFacts kSglang = {.name = "sglang",
                                  .grammar = GrammarSyntax::structural_tag,
                                  .settings = kSglangNames,
                                  .sentence = "SGLang: ids both ways, structural tags, its prefix cache",
                                  .tells_prompt = true};

namespace {

/// A top_k of 0 or less is no limit, as other engines have it: SGLang takes -1 alone for that.
SamplingSettings for_sglang(SamplingSettings settings) {
  for (auto& [setting, json] : settings.values) {
    if (setting == Setting::top_k && settings.integer(Setting::top_k).value_or(1) <= 0) json = "-1";
  }
  return settings;
}

std::string sglang_body(const Generation& generation) {
  JsonWriter sampling('{');
  // Without it there would be 128 tokens; null is what the context has left.
  if (generation.sampling.find(Setting::max_tokens) == nullptr) sampling.null("max_new_tokens");
  sampling.raw("stop_token_ids", ids_json(generation.stops)).raw("skip_special_tokens", "false");
  sampling.raw("spaces_between_special_tokens", "false").raw("no_stop_trim", "true");
  for_sglang(generation.sampling).write(sampling, kSglangNames, generation.choice);
  if (generation.grammar) sampling.text("structural_tag", *generation.grammar);
  JsonWriter body('{');
  write_ids(body, "input_ids", generation);
  body.raw("sampling_params", sampling.take()).raw("stream", "true");
  if (generation.logprobs) body.raw("return_logprob", "true").number("top_logprobs_num", *generation.logprobs);
  if (generation.prompt_told != nullptr) body.number("logprob_start_len", 0);
  return body.take();
}

/// [logprob, id, text]
TokenAlternative logprob_in(Value triple) {
  return {.id = id_of(item_of(triple, 1)), .logprob = number_of(item_of(triple, 0)).value_or(0)};
}

/// Finds the new tokens of each event.
class SglangEvents final : public ReplyEvents {
 public:
  explicit SglangEvents(const Generation& generation)
      : alternatives_(generation.logprobs.value_or(0)),
        asked_(asked_of(generation)),
        prompt_(generation.ids),
        prompt_told_(generation.prompt_told) {}

  void read(Value event, std::vector<SampledToken>& into) override {
    const Value meta = event["meta_info"];
    if (!event["output_ids"].is_sequence() || !meta.is(Kind::dict)) throw no_engine_answer("no output_ids");
    const std::vector<TokenId> ids = ids_of(event["output_ids"]);
    // The count of all tokens so far says how many of these are new.
    const auto all = static_cast<std::size_t>(count_of(meta["completion_tokens"]).value_or(0));
    const std::size_t fresh = all > seen_ ? all - seen_ : 0;
    if (fresh > ids.size()) throw no_engine_answer("fewer output_ids than its completion_tokens say");
    if (fresh > 0) read_prompt(meta);
    const Value own = meta["output_token_logprobs"], top = meta["output_top_logprobs"];
    for (std::size_t back = fresh; back > 0; --back)
      into.push_back(token_of(ids[ids.size() - back], from_end(own, back), from_end(top, back)));
    seen_ += fresh;
    read_end(meta);
  }

  bool finished() const override { return finished_; }
  GenerationEnd end() const override { return end_; }

 private:
  static Value from_end(Value list, std::size_t back) {
    const std::span<const Value> items = list.items();
    return back <= items.size() ? items[items.size() - back] : Value();
  }

  SampledToken token_of(TokenId id, Value own, Value top) const {
    SampledToken token{.id = id};
    if (own.is_sequence()) token.logprob = number_of(item_of(own, 0));
    for (const Value& other : top.items()) {
      if (token.alternatives.size() < alternatives_) token.alternatives.push_back(logprob_in(other));
    }
    return token;
  }

  /// The prompt's tokens, once.
  void read_prompt(Value meta) {
    if (prompt_told_ == nullptr || !prompt_told_->empty()) return;
    const Value own = meta["input_token_logprobs"], top = meta["input_top_logprobs"];
    if (own.items().size() < prompt_.size()) throw no_engine_answer("no logprobs of the prompt");
    for (std::size_t number = 0; number < prompt_.size(); ++number)
      prompt_told_->push_back(token_of(prompt_[number], item_of(own, number), item_of(top, number)));
  }

  void read_end(Value meta) {
    end_.sampled_tokens = static_cast<std::int64_t>(seen_);
    end_.prompt_tokens = count_of(meta["prompt_tokens"]).value_or(0);
    if (const auto cached = count_of(meta["cached_tokens"]))
      end_.evaluated = std::max<std::int64_t>(0, end_.prompt_tokens - *cached);
    const Value reason = meta["finish_reason"];
    if (!reason.is(Kind::dict)) return;
    if (reason["type"].text() == "abort") {
      throw engine_said("the engine gave the request up: ", std::string(reason["message"].text()),
                        static_cast<unsigned>(count_of(reason["status_code"]).value_or(0)), asked_);
    }
    finished_ = true;
    end_.length = reason["type"].text() == "length";
  }

  const unsigned alternatives_;
  const AskedOfEngine asked_;
  const std::span<const TokenId> prompt_;
  std::vector<SampledToken>* const prompt_told_;
  std::size_t seen_ = 0;
  bool finished_ = false;
  GenerationEnd end_;
};

class Sglang final : public HttpEngine {
 public:
  explicit Sglang(BackendOptions options) : HttpEngine(std::move(options), {.generate = "/generate"}) {}
  const BackendFacts& facts() const override { return kSglang; }
  /// By GET /ready. /health samples a token first: it takes a second, and as long as the prompts before it.
  Task<> check() override {
    bool has_ready = true;
    try {
      co_await ask_health(client(), "/ready", headers());
    } catch (const EngineFailure& failure) {
      const unsigned status = failure.status();
      if (status != 401 && status != 403 && status != 404 && status != 405 && status != 501) throw;
      has_ready = false;  // older ones, and a proxy that lets others through
    }
    if (!has_ready) co_await HttpEngine::check();
  }

 protected:
  std::string body_of(const Generation& generation, const EngineInfo&) const override {
    return sglang_body(generation);
  }
  std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const override {
    return std::make_unique<SglangEvents>(generation);
  }
};

}  // namespace

std::unique_ptr<Backend> open_sglang(BackendOptions options) { return std::make_unique<Sglang>(std::move(options)); }

}  // namespace parlance::serve
