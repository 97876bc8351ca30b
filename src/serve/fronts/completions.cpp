// /v1/completions: text that goes on from a text. No chat template takes part, and the text's control tokens count.
//
// Begin reading at completions.
#include <algorithm>
#include <ctime>

#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/continuations.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/shapes/member_values.h"
#include "serve/random_id.h"

namespace parlance::serve {

namespace {

struct CompletionAsked {
  ContinuationsAsked asked;
  std::string model_name;
  bool echo = false;          ///< the prompt's text stands before the reply's
  bool names_tokens = false;  ///< in logprobs by their ids, "token_id:17"
  bool returns_ids = false;   ///< of the prompts and of the choices
  bool usage_so_far = false;  ///< in each chunk of a stream
};

/// What is asked for and cannot be done must not be left out in silence.
Result<void> refuse_impossible(Value body) {
  if (Result<void> given = refuse_suffix(body); !given) return given;
  const Value best = body["best_of"];
  const Value n = body["n"];
  if (best.is_small_int() && best.integer > (n.is_small_int() ? n.integer : 1))
    return Error(ErrorCode::conversation, "best_of: no more choices are sampled than n").input("best_of");
  if (flag_of(body["logprobs"], false))
    return Error(ErrorCode::conversation, "logprobs must be an integer from 0 to " + std::to_string(kMostAlternatives))
        .input("logprobs");
  return {};
}

/// `echo` with `logprobs` asks for the logprobs of the prompt, too, as evaluations of given texts do.
Result<void> read_prompt_logprobs(Value body, ContinuationsAsked& into) {
  into.prompt_logprobs = flag_of(body["echo"], false) && into.logprobs.has_value();
  const BackendFacts& engine = into.model->backend->facts();
  if (!into.prompt_logprobs || engine.tells_prompt) return {};
  return Error(ErrorCode::conversation, "echo with logprobs asks for logprobs of the prompt, which " +
                                            std::string(engine.name) + " does not tell")
      .input("echo");
}

Result<void> read_settings(const Call& call, Value body, ContinuationsAsked& into) {
  const std::int64_t least_tokens = flag_of(body["echo"], false) ? 0 : 1;  // 0: the prompt alone
  if (Result<void> read = read_sampler(body, into, least_tokens); !read) return read;
  // Where there is to be no reply, engines sample one token, and refuse to be asked for more.
  if (into.sampling.integer(Setting::max_tokens) == 0)
    std::erase_if(into.sampling.values, [](const auto& one) { return one.first == Setting::min_tokens; });
  if (Result<void> read = read_prompt_logprobs(body, into); !read) return read;
  into.stream = flag_of(body["stream"], false);
  into.include_usage = includes_usage(body);
  if (Result<void> fits = check_stream_options(body["stream_options"], into.stream); !fits) return fits;
  return read_form(call, body, into);
}

Result<std::unique_ptr<CompletionAsked>> read_completion(const Call& call, Value body, const ModelRef& model) {
  if (Result<void> done = refuse_impossible(body); !done) return done.error();
  if (Result<void> checked = check_member_values(body, ReplyApi::openai); !checked) return checked.error();
  auto made = std::make_unique<CompletionAsked>(CompletionAsked{
      {.model = model, .api = "completions", .id = random_id("cmpl-")}, std::string(body["model"].text())});
  if (made->model_name.empty()) made->model_name = model->name;
  made->echo = flag_of(body["echo"], false);
  made->names_tokens = flag_of(body["return_tokens_as_token_ids"], false);
  made->returns_ids = flag_of(body["return_token_ids"], false);
  made->usage_so_far = flag_of(body["stream_options"]["continuous_usage_stats"], false);
  Result<std::vector<std::vector<TokenId>>> prompts = read_prompts(body["prompt"], *model);
  if (!prompts) return prompts.error();
  made->asked.prompts = std::move(*prompts);
  const SessionHints hints = hints_of(call.exchange.request(), body);
  made->asked.named = !hints.session.empty();
  made->asked.session = made->asked.named ? hints.session : random_id("session-");
  if (Result<void> read = read_settings(call, body, made->asked); !read) return read.error();
  return made;
}

/// The lists of `logprobs`: tokens, how likely they were, what else was, and where they begin.
class CompletionLogprobs {
 public:
  explicit CompletionLogprobs(bool names_tokens) : names_tokens_(names_tokens) {}

  void add(const ServedModel& model, const SampledToken& token) {
    const std::string text = text_of(model, token.id, token.text);
    const std::string own = shown(token.id, text);
    const bool told = token.logprob || !token.alternatives.empty();  // of a prompt's first token nothing is
    tokens_.item_text(own);
    number(logprobs_, token.logprob);
    offsets_.item(std::to_string(offset_));
    JsonWriter top('{');
    bool has_own = false;
    for (const TokenAlternative& other : token.alternatives) {
      const std::string name = shown(other.id, text_of(model, other.id, other.text));
      has_own = has_own || name == own;
      top.raw(name, logprob_json(other.logprob));
    }
    if (!has_own && token.logprob) top.raw(own, logprob_json(*token.logprob));  // though others were likelier
    top_.item(told ? top.take() : "null");
    for (const char c : text) offset_ += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    empty_ = false;
  }
  /// What was added since the last call; "null": nothing.
  std::string take() {
    if (empty_) return "null";
    JsonWriter made('{');
    made.raw("tokens", tokens_.take()).raw("token_logprobs", logprobs_.take()).raw("top_logprobs", top_.take());
    made.raw("text_offset", offsets_.take());
    tokens_ = logprobs_ = top_ = offsets_ = JsonWriter('[');
    empty_ = true;
    return made.take();
  }

 private:
  static std::string text_of(const ServedModel& model, TokenId id, const std::string& text) {
    return id < 0 ? text : model.tokenizer->token_text(id);
  }
  /// A token that is no whole text is shown by its bytes, as OpenAI shows it.
  std::string shown(TokenId id, const std::string& text) const {
    if (names_tokens_ && id >= 0) return name_of_token(id);
    Characters characters;
    const bool begins = text.empty() || (static_cast<unsigned char>(text[0]) & 0xC0) != 0x80;
    if (begins && characters.add(text).size() == text.size()) return text;
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string made = "bytes:";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      made.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
    return made;
  }
  static void number(JsonWriter& list, const std::optional<double>& value) {
    list.item(value ? logprob_json(*value) : "null");
  }

  JsonWriter tokens_{'['}, logprobs_{'['}, top_{'['}, offsets_{'['};
  bool names_tokens_;
  std::size_t offset_ = 0;
  bool empty_ = true;
};

class CompletionForm final : public ContinuationForm {
 public:
  CompletionForm(const CompletionAsked& request, const Continuations& all)
      : request_(request),
        all_(all),
        returns_ids_(request.returns_ids && request.asked.model->backend->facts().gives_ids),
        logprobs_(all.size(), CompletionLogprobs(request.names_tokens)),
        ids_(all.size()),
        echoed_(all.size(), !request.echo),
        prompted_(all.size(), !request.returns_ids),
        told_(all.size(), !request.asked.prompt_logprobs) {}

  std::string piece(std::size_t number, std::string_view text, std::span<const SampledToken> tokens) override {
    tell_prompt(number);
    if (request_.asked.logprobs) {
      // Who asks for the prompt's logprobs counts the tokens behind it, as vLLM gives them: with the one that ends.
      for (const SampledToken& token : tokens)
        if (request_.asked.prompt_logprobs || !request_.asked.model->is_stop(token.id))
          logprobs_[number].add(*request_.asked.model, token);
    }
    if (returns_ids_)
      for (const SampledToken& token : tokens) ids_[number].push_back(token.id);
    if (text.empty() || !request_.asked.stream) return {};
    return object("[" + choice(number, echo(number) + std::string(text), "") + "]", usage_of(number));
  }
  std::string last(std::size_t number) override {
    return object("[" + choice(number, echo(number), all_[number]->finish_reason()) + "]", usage_of(number));
  }
  std::string usage() override { return object("[]", continuations_usage(request_.asked, all_)); }
  std::string whole() override {
    JsonWriter choices('[');
    for (std::size_t number = 0; number < all_.size(); ++number)
      choices.item(choice(number, echo(number) + all_[number]->text(), all_[number]->finish_reason()));
    return object(choices.take(), continuations_usage(request_.asked, all_));
  }
  std::string error(const ReplyApiError& error) const override { return reply_error_json(ReplyApi::openai, error); }

 private:
  /// The prompt's logprobs, once, before those of the reply.
  void tell_prompt(std::size_t number) {
    if (told_[number]) return;
    told_[number] = true;
    for (const SampledToken& token : all_[number]->prompt_told()) logprobs_[number].add(*request_.asked.model, token);
  }
  /// The prompt's text, once.
  std::string echo(std::size_t number) {
    std::string text;
    if (echoed_[number]) return text;
    echoed_[number] = true;
    for (const TokenId id : all_[number]->wish().prompt) text += request_.asked.model->tokenizer->token_text(id);
    return text;
  }
  std::string choice(std::size_t number, const std::string& text, std::string_view reason) {
    tell_prompt(number);
    JsonWriter made('{');
    made.number("index", static_cast<std::int64_t>(number))
        .text("text", text)
        .raw("logprobs", logprobs_[number].take());
    reason.empty() ? made.null("finish_reason") : made.text("finish_reason", reason);
    if (returns_ids_) made.raw("token_ids", ids_json(std::exchange(ids_[number], {})));
    if (!prompted_[number]) made.raw("prompt_token_ids", ids_json(all_[number]->wish().prompt));
    prompted_[number] = true;
    return made.take();
  }
  /// What a chunk says of its choice; "": nothing.
  std::string usage_of(std::size_t number) const {
    if (!request_.usage_so_far) return {};
    const Continuation& one = *all_[number];
    const auto prompt = static_cast<std::int64_t>(one.wish().prompt.size());
    const auto sampled = static_cast<std::int64_t>(one.tokens());
    JsonWriter made('{');
    made.number("prompt_tokens", prompt).number("completion_tokens", sampled);
    return made.number("total_tokens", prompt + sampled).take();
  }
  std::string object(const std::string& choices, const std::string& usage) const {
    JsonWriter answer('{');
    answer.text("id", request_.asked.id).text("object", "text_completion").number("created", created_);
    answer.text("model", request_.model_name).raw("choices", choices);
    if (!usage.empty()) answer.raw("usage", usage);
    return answer.take();
  }

  const CompletionAsked& request_;
  const Continuations& all_;
  const std::int64_t created_ = std::time(nullptr);
  const bool returns_ids_;  ///< of the choices
  std::vector<CompletionLogprobs> logprobs_;
  std::vector<std::vector<TokenId>> ids_;  ///< those that are not told yet
  std::vector<bool> echoed_, prompted_, told_;
};

}  // namespace

Task<> completions(Call& call) {
  using Asked = std::unique_ptr<CompletionAsked>;
  const auto make = [&call](bool) { return read_request(call, read_completion); };
  const std::optional<Asked> request = co_await apart_or_refused<Asked>(call, ReplyApi::openai, make);
  if (!request) co_return;
  Continuations all = continuations_of((*request)->asked);
  CompletionForm form(**request, all);
  co_await answer_continuations(call, (*request)->asked, all, form);
}

}  // namespace parlance::serve
