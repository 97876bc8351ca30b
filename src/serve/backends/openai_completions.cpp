// Any server with OpenAI's POST /v1/completions: prompts as ids where it takes them, else as text; replies as text.
//
// Settings in the URL: ids=never (prompts are always text), grammar=gbnf (the member `grammar`, as llama.cpp's server
// has it, and repeat_penalty), grammar=structural-tag (`structured_outputs`, as vLLM has it).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include "parlance/json.h"
#include "serve/backends/completions_wire.h"
#include "serve/http/within.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kOpenAiNames[kSettings] = {
    "max_tokens",        "temperature",        "top_p", "top_k",      "min_p",      "",           "presence_penalty",
    "frequency_penalty", "repetition_penalty", "seed",  "logit_bias", "ignore_eos", "min_tokens",
};

}  // namespace

constexpr BackendFacts kOpenAiCompletions = {
    .name = "openai-completions",
    .gives_ids = false,
    .grammar = std::nullopt,
    .settings = kOpenAiNames,
    .sentence =
        "any server with /v1/completions: ids in where it takes them (?ids=never: text), text out, no grammar "
        "(?grammar=gbnf or ?grammar=structural-tag, if it takes them as llama.cpp or vLLM do)"};

namespace {

constexpr std::size_t kMostStopTexts = 4;  // OpenAI takes no more

/// A token of a list as chats have it, which llama.cpp's server gives here too.
SampledToken token_of_chat(Value one, unsigned alternatives) {
  SampledToken token{.id = -1, .text = std::string(one["token"].text()), .logprob = number_of(one["logprob"])};
  for (const Value& other : one["top_logprobs"].items()) {
    if (token.alternatives.size() >= alternatives) break;
    token.alternatives.push_back(
        {.id = -1, .text = std::string(other["token"].text()), .logprob = number_of(other["logprob"]).value_or(0)});
  }
  return token;
}

/// The text of an event's choice: one token each where logprobs tell them apart.
void read_text_tokens(Value choice, unsigned alternatives, std::vector<SampledToken>& into) {
  const std::string_view text = choice["text"].text();
  const std::span<const Value> content = choice["logprobs"]["content"].items();
  if (content.size() == 1 && content.front()["token"].text() == text) {
    into.push_back(token_of_chat(content.front(), alternatives));
    return;
  }
  const std::span<const Value> texts = choice["logprobs"]["tokens"].items();
  const Value own = choice["logprobs"]["token_logprobs"], top = choice["logprobs"]["top_logprobs"];
  std::string all;
  for (const Value& one : texts) all += one.text();
  if (texts.empty() || all != text) {
    if (!text.empty()) into.push_back({.id = -1, .text = std::string(text)});
    return;
  }
  for (std::size_t number = 0; number < texts.size(); ++number) {
    SampledToken token{.id = -1, .text = std::string(texts[number].text()), .logprob = number_of(item_of(own, number))};
    for (const DictEntry& other : item_of(top, number).members()) {
      if (token.alternatives.size() >= alternatives) break;
      token.alternatives.push_back(
          {.id = -1, .text = std::string(other.key.text()), .logprob = number_of(other.value).value_or(0)});
    }
    into.push_back(std::move(token));
  }
}

class TextEvents final : public CompletionsEvents {
 public:
  using CompletionsEvents::CompletionsEvents;

 private:
  void read_choice(Value choice, std::vector<SampledToken>& into) override {
    read_text_tokens(choice, alternatives(), into);
  }
};

/// What a server is sent for the name of a model that nobody knows.
enum class NoName : std::uint8_t {
  left_out,  ///< no member: some servers refuse any name but their own
  tried,     ///< "": it refused a request without the member
  taken,     ///< "": it takes that
  no_help,   ///< no member: it refused "", too
};

/// Is it a refusal of a request that does not name the model, as far as one can see?
bool may_want_name(unsigned status, std::string_view words) {
  return (status == 400 || status == 422) && words.find("model") != words.npos;
}

/// An answer to what the gateway asks for itself.
struct OwnAnswer {
  unsigned status = 0;
  std::string body;
};

/// Whether the server takes prompts of ids.
enum class IdsVerdict : std::uint8_t { unasked, taken, refused, doubted };

/// What it says by its answer to one; unasked: it answers nothing for now. It may fail as it validates one, or refuse
/// this odd request alone, and it may also fail for now: that says nothing about ids.
IdsVerdict verdict_of(unsigned status) {
  switch (status) {
    case 200: return IdsVerdict::taken;
    case 400:
    case 422:
    case 501: return IdsVerdict::refused;
    case 401:
    case 502:
    case 503:
    case 504: return IdsVerdict::unasked;
    default: return IdsVerdict::doubted;
  }
}

constexpr auto kLongestTry = std::chrono::seconds(1);  // less than a look of /ready

class OpenAiCompletions final : public HttpEngine {
 public:
  explicit OpenAiCompletions(BackendOptions options)
      : HttpEngine(options, {.generate = "/v1/completions"}),
        never_(options.address.setting("ids") == "never"),
        ids_(never_ ? IdsVerdict::refused : IdsVerdict::unasked) {
    const std::string grammar = options.address.setting("grammar");
    for (const GrammarSyntax syntax : {GrammarSyntax::gbnf, GrammarSyntax::structural_tag}) {
      if (grammar == name_of(syntax)) as_ids_.grammar = as_text_.grammar = syntax;
    }
    as_text_.takes_ids = false;
  }

  const BackendFacts& facts() const override {
    const IdsVerdict ids = ids_;
    return ids == IdsVerdict::refused || ids == IdsVerdict::doubted ? as_text_ : as_ids_;
  }

  /// Many such servers have no route for their health.
  Task<> check() override {
    const std::unique_ptr<HttpReply> reply = co_await client().send("GET", "/v1/models", {}, headers());
    const std::string body = co_await reply->read_all();
    if (reply->status() == 200 || reply->status() == 404) co_return;
    throw EngineFailure(EngineFailure::Kind::status, "the engine at " + address().url() + " is not ready: " + body,
                        reply->status());
  }

  /// Also finds out whether it takes ids, for which a token is sampled: not where it is known to. What is known stays
  /// where it does not answer: it may have much to do.
  Task<EngineInfo> ask() override {
    EngineInfo made = co_await HttpEngine::ask();
    if (never_ || ids_ == IdsVerdict::taken) co_return made;
    if (ids_ == IdsVerdict::unasked)
      decide(co_await try_ids(made.model));
    else
      co_await try_ids_again(made.model);
    co_return made;
  }

  /// Another server may answer by now.
  Task<bool> has_stopped_taking_ids(const EngineFailure& failure) override {
    if (failure.kind() != EngineFailure::Kind::status || verdict_of(failure.status()) != IdsVerdict::refused)
      co_return false;
    std::string model;
    if (const std::shared_ptr<const EngineInfo> known = info()) model = known->model;
    co_await try_ids_again(model);
    co_return ids_ == IdsVerdict::refused;
  }

  /// What a server of a kind that nobody knows says of /tokenize is no failure.
  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view text) override {
    std::optional<std::vector<TokenId>> ids;
    try {
      ids = co_await HttpEngine::tokenize(text);
    } catch (const EngineFailure& failure) {
      if (failure.kind() != EngineFailure::Kind::status) throw;
    }
    co_return ids;
  }

  Task<std::optional<std::int64_t>> count(const EngineInfo& known, std::string_view text) override {
    std::string prompt;
    append_json_string(prompt, text);
    const OwnAnswer answer = co_await ask_for_itself(known.model, prompt);
    if (answer.status == 404 || answer.status == 405 || answer.status == 501) co_return std::nullopt;
    if (answer.status != 200) throw failure_of_status(answer.status, "/v1/completions", answer.body);
    Document document;
    if (!document.parse(answer.body)) co_return std::nullopt;
    co_return count_of(document.root()["usage"]["prompt_tokens"]);
  }

  /// A server that refuses a request since it names no model is asked once more with "".
  Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) override {
    const std::shared_ptr<const EngineInfo> known = info();
    const bool is_named = !(known ? known->model : wanted()).empty();
    if (is_named || no_name_ == NoName::taken || no_name_ == NoName::no_help)
      co_return co_await HttpEngine::generate(generation, sink);
    bool has_begun = false;
    const TokenSink watched = [&](std::span<const SampledToken> tokens, bool is_last) -> Task<bool> {
      has_begun = true;
      co_return co_await sink(tokens, is_last);
    };
    for (;;) {
      const NoName sent = no_name_;
      std::exception_ptr failed;
      bool again = false;
      try {
        const GenerationEnd end = co_await HttpEngine::generate(generation, watched);
        learns_name(sent, 200, {});
        co_return end;
      } catch (const EngineFailure& failure) {
        failed = std::current_exception();
        again = !has_begun && learns_name(sent, failure.status(), failure.what());
      }
      if (!again) std::rethrow_exception(failed);
    }
  }

 protected:
  std::string body_of(const Generation& generation, const EngineInfo& known) const override {
    JsonWriter body = named(known.model);
    if (generation.as_text)
      body.text("prompt", generation.text);
    else
      write_ids(body, "prompt", generation);
    body.raw("stream", "true").raw("stream_options", R"({"include_usage": true})");
    write_most_tokens(body, generation, known);
    generation.sampling.write(body, kOpenAiNames, generation.choice);
    // llama.cpp's servers know it by this name alone, and others refuse a member that they do not know.
    const std::string* penalty = generation.sampling.find(Setting::repeat_penalty);
    if (penalty != nullptr && as_ids_.grammar == GrammarSyntax::gbnf) body.raw("repeat_penalty", *penalty);
    JsonWriter stops('[');
    for (const std::string& stop : generation.stop_texts.first(std::min(kMostStopTexts, generation.stop_texts.size())))
      stops.item_text(stop);
    if (!generation.stop_texts.empty()) body.raw("stop", stops.take());
    if (generation.logprobs) body.number("logprobs", std::max(1U, *generation.logprobs));  // 0 is none to some servers
    if (!generation.grammar) return body.take();
    if (as_ids_.grammar == GrammarSyntax::gbnf) return body.text("grammar", *generation.grammar).take();
    return body.raw("structured_outputs", JsonWriter('{').text("structural_tag", *generation.grammar).take()).take();
  }

  std::string tokenize_body(std::string_view text) const override {
    JsonWriter body('{');
    body.text("content", text).text("prompt", text);  // as llama.cpp's server, and as vLLM
    return body.raw("add_special", "false").raw("parse_special", "true").raw("add_special_tokens", "false").take();
  }
  std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const override {
    return std::make_unique<TextEvents>(generation);
  }

 private:
  /// A body that names the model.
  JsonWriter named(const std::string& model) const {
    JsonWriter body('{');
    const NoName none = no_name_;
    if (!model.empty() || none == NoName::tried || none == NoName::taken) body.text("model", model);
    return body;
  }

  /// By the answer to a request with no name. True: it is to be sent again, as it is written now.
  bool learns_name(NoName sent, unsigned status, std::string_view words) {
    const bool refused = may_want_name(status, words);
    NoName before = sent, next = sent;
    if (sent == NoName::left_out && refused) next = NoName::tried;
    const bool says = status == 200 || verdict_of(status) == IdsVerdict::refused;  // else it failed for now
    if (sent == NoName::tried && says) next = refused ? NoName::no_help : NoName::taken;
    no_name_.compare_exchange_strong(before, next);
    return sent == NoName::left_out && refused;
  }

  /// For one token, that nobody reads.
  Task<OwnAnswer> ask_for_itself(const std::string& model, const std::string& prompt_json) {
    for (;;) {
      const NoName sent = no_name_;
      const std::string asked = named(model).raw("prompt", prompt_json).number("max_tokens", 1).take();
      const std::unique_ptr<HttpReply> reply = co_await client().send("POST", "/v1/completions", asked, headers());
      OwnAnswer answer;
      answer.status = reply->status();
      answer.body = co_await reply->read_all();
      if (!model.empty() || !learns_name(sent, answer.status, answer.body)) co_return answer;
    }
  }

  /// Throws EngineFailure if the answer is about something else, as that of a server that loads its model.
  Task<IdsVerdict> try_ids(const std::string& model) {
    const OwnAnswer answer = co_await ask_for_itself(model, "[1]");
    const IdsVerdict verdict = verdict_of(answer.status);
    if (verdict == IdsVerdict::unasked) throw failure_of_status(answer.status, "/v1/completions", answer.body);
    co_return verdict;
  }

  Task<> try_ids_again(const std::string& model) {
    const auto tries = [&]() -> Task<> { decide(co_await try_ids(model)); };
    try {
      co_await within(kLongestTry, tries);
    } catch (const EngineFailure&) {
    }
  }

  /// A doubt changes nothing that is known.
  void decide(IdsVerdict verdict) {
    IdsVerdict unknown = IdsVerdict::unasked;
    if (verdict == IdsVerdict::taken || verdict == IdsVerdict::refused)
      ids_ = verdict;
    else
      ids_.compare_exchange_strong(unknown, verdict);
  }

  const bool never_;
  std::atomic<IdsVerdict> ids_;
  std::atomic<NoName> no_name_ = NoName::left_out;
  BackendFacts as_ids_ = kOpenAiCompletions, as_text_ = kOpenAiCompletions;
};

}  // namespace

std::unique_ptr<Backend> open_openai_completions(BackendOptions options) {
  return std::make_unique<OpenAiCompletions>(std::move(options));
}

}  // namespace parlance::serve
