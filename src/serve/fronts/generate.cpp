// vLLM's /inference/v1/generate: ids in, ids out, to any engine that takes and gives ids. What /render answers with can
// be sent here as it is, and what comes back to /derender.
//
// Begin reading at generate_ids.
#include <algorithm>
#include <ctime>

#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/continuations.h"
#include "serve/fronts/own_grammar.h"
#include "serve/fronts/request_parts.h"
#include "serve/random_id.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

/// What a request asks for besides the ids that it gives.
struct GenerateAsked {
  ContinuationsAsked asked;
  std::string model_name;
  bool return_prompt = false;  ///< return_token_ids: the answer has the prompt's ids
};

/// A grammar in vLLM's own words goes to an engine that has them; a schema becomes one in the engine's.
Result<std::shared_ptr<const std::string>> read_grammar(Value parameters, const ServedModel& model, Losses& losses) {
  if (!parameters.is(Kind::dict)) return std::shared_ptr<const std::string>();
  Result<OwnGrammar> own = read_own_grammar(model, parameters);
  if (!own) return own.error();
  const Result<GrammarOptions> wanted = grammar_options(json_text(parameters), "sampling_params");
  if (!wanted) return wanted.error();
  if (own->text) {
    if (Result<void> alone = check_alone(*own, *wanted, false); !alone) return alone.error();
    return own->text;
  }
  const std::string& path = wanted->response.name;
  const std::optional<GrammarSyntax> syntax = model.backend->facts().grammar;
  if (wanted->response.kind == ResponseFormat::Kind::text) return std::shared_ptr<const std::string>();
  if (!syntax) return Error(ErrorCode::conversation, path + ": the engine takes no such grammar").input(path);
  const Result<std::optional<PrintedGrammar>> made = content_grammar_in(model, *wanted, *syntax);
  if (!made) return made.error();
  if (*made) add_loosened((*made)->grammar.notes(), parameters, losses);
  return text_of(*made);
}

Result<void> read_parameters(Value parameters, ContinuationsAsked& into) {
  const ServedModel& model = *into.model;
  if (Result<void> read = read_sampler(parameters, into); !read) return read;
  Result<std::shared_ptr<const std::string>> grammar = read_grammar(parameters, model, into.losses);
  if (!grammar) return grammar.error();
  into.grammar = std::move(*grammar);
  return {};
}

void name_losses(Losses& losses) {
  for (Loss& loss : losses) loss.path = "sampling_params." + loss.path;
}

Result<void> check(Value body, const ServedModel& model) {
  const auto wrong = [](const char* member, const char* why) {
    return Error(ErrorCode::conversation, std::string(member) + " " + why).input(member);
  };
  if (!body["token_ids"].is_sequence() || body["token_ids"].items().empty())
    return wrong("token_ids", "must be a list of ids that is not empty");
  if (is_given(body["sampling_params"]) && !body["sampling_params"].is(Kind::dict))
    return wrong("sampling_params", "must be an object");
  if (is_given(body["features"])) return wrong("features", "of images and sounds have to go to the engine itself");
  if (is_given(body["output_mode"]) && body["output_mode"].text() != "tokens")
    return wrong("output_mode", "can only be \"tokens\" here: /v1/completions gives text");
  const BackendFacts& facts = model.backend->facts();
  if (facts.takes_ids && facts.gives_ids) return {};
  return Error(ErrorCode::conversation, "the engine of this model does not take and give ids").input("token_ids");
}

Result<std::unique_ptr<GenerateAsked>> read_generate(const Call& call, Value body, const ModelRef& model) {
  if (Result<void> checked = check(body, *model); !checked) return checked.error();
  auto made = std::make_unique<GenerateAsked>(GenerateAsked{{.model = model, .api = "generate"}});
  made->model_name = body["model"].text().empty() ? model->name : std::string(body["model"].text());
  made->return_prompt = flag_of(body["return_token_ids"], false);
  ContinuationsAsked& asked = made->asked;
  asked.id = body["request_id"].text().empty() ? random_id("generate-") : std::string(body["request_id"].text());
  Result<std::vector<TokenId>> ids = read_ids(body["token_ids"], *model, "token_ids");
  if (!ids) return ids.error();
  asked.prompts.push_back(std::move(*ids));
  if (Result<void> read = read_parameters(body["sampling_params"], asked); !read)
    return renamed(in_words_of(body["sampling_params"], read.error()), "", "sampling_params.");
  name_losses(asked.losses);
  asked.stream = flag_of(body["stream"], false);
  asked.include_usage = flag_of(body["stream_options"]["include_usage"], false);
  const SessionHints hints = hints_of(call.exchange.request(), body);
  asked.named = !hints.session.empty();
  asked.session = asked.named ? hints.session : random_id("session-");
  return made;
}

/// A token by its id: as `token_id`, as vLLM writes it, and as the `token` that it wrote earlier. Training clients
/// (renderers 0.1.12) read the latter alone, and refuse a reply without it.
JsonWriter logprob_of_token(TokenId id, std::string_view logprob) {
  JsonWriter made('{');
  made.number("token_id", id).text("token", "token_id:" + std::to_string(id)).raw("logprob", logprob);
  return made;
}

/// The ids of the tokens with how likely they were, the most likely others with their ranks.
std::string logprobs_of_tokens(std::span<const SampledToken> tokens) {
  JsonWriter content('[');
  for (const SampledToken& token : tokens) {
    JsonWriter others('[');
    std::int64_t rank = 0, own = 0;
    for (const TokenAlternative& other : token.alternatives) {
      ++rank;
      if (other.id == token.id) own = rank;
      others.item(logprob_of_token(other.id, logprob_json(other.logprob)).number("rank", rank).take());
    }
    if (own == 0 && token.logprob)  // others were likelier, or none were asked for
      others.item(logprob_of_token(token.id, logprob_json(*token.logprob)).null("rank").take());
    JsonWriter one = logprob_of_token(token.id, token.logprob ? logprob_json(*token.logprob) : "-9999.0");
    own > 0 ? one.number("rank", own) : one.null("rank");
    content.item(one.raw("top_logprobs", others.take()).take());
  }
  return JsonWriter('{').raw("content", content.take()).take();
}

/// GenerateTokensResponse and GenerateTokensStreamResponse.
class GenerateForm final : public ContinuationForm {
 public:
  GenerateForm(const GenerateAsked& request, const Continuations& all)
      : request_(request), all_(all), tokens_(all.size()) {}

  std::string piece(std::size_t number, std::string_view, std::span<const SampledToken> tokens) override {
    if (tokens.empty()) return {};
    std::string before;  // which has to wait until it is known not to be the last
    if (request_.asked.stream && !tokens_[number].empty())
      before = chunk("[" + choice(number, std::exchange(tokens_[number], {}), false) + "]");
    tokens_[number].insert(tokens_[number].end(), tokens.begin(), tokens.end());
    return before;
  }
  std::string last(std::size_t number) override { return chunk("[" + choice(number, tokens_[number], true) + "]"); }
  std::string usage() override {
    JsonWriter made('{');
    made.text("request_id", request_.asked.id).text("output_mode", "tokens").raw("choices", "[]");
    return made.raw("usage", continuations_usage(request_.asked, all_)).take();
  }
  std::string whole() override {
    JsonWriter choices('['), made('{');
    for (std::size_t number = 0; number < all_.size(); ++number) choices.item(choice(number, tokens_[number], true));
    made.text("request_id", request_.asked.id).text("output_mode", "tokens").text("model", request_.model_name);
    made.number("created", std::time(nullptr)).raw("choices", choices.take());
    made.raw("usage", continuations_usage(request_.asked, all_)).null("prompt_logprobs");
    made.raw("prompt_token_ids", request_.return_prompt ? ids_json(request_.asked.prompts.front()) : "null");
    return made.null("kv_transfer_params").take();
  }
  std::string error(const ReplyApiError& error) const override { return vllm_error_json(error); }

 private:
  std::string choice(std::size_t number, std::span<const SampledToken> tokens, bool ends) const {
    std::vector<TokenId> ids;
    for (const SampledToken& token : tokens) ids.push_back(token.id);
    const Continuation& one = *all_[number];
    JsonWriter made('{');
    made.number("index", static_cast<std::int64_t>(number)).raw("token_ids", ids_json(ids));
    request_.asked.logprobs ? made.raw("logprobs", logprobs_of_tokens(tokens)) : made.null("logprobs");
    ends ? made.text("finish_reason", one.finish_reason()) : made.null("finish_reason");
    made.raw("stop_reason", ends ? stop_reason(one) : "null");
    return made.take();
  }
  /// The text or the id that ended it, of those that the request named.
  static std::string stop_reason(const Continuation& one) {
    std::string text;
    if (one.stop_text()) {
      append_json_string(text, *one.stop_text());
      return text;
    }
    if (one.sampled().empty()) return "null";
    const std::span<const TokenId> stops = one.wish().sampling->stop_ids;
    const TokenId last = one.sampled().back();
    const bool is_stop = std::find(stops.begin(), stops.end(), last) != stops.end();
    return is_stop && last != one.model()->tokenizer->facts().eos ? std::to_string(last) : "null";
  }
  std::string chunk(const std::string& choices) {
    JsonWriter made('{');
    made.text("request_id", request_.asked.id).text("output_mode", "tokens").raw("choices", choices).null("usage");
    if (request_.return_prompt && !std::exchange(prompt_told_, true))
      made.raw("prompt_token_ids", ids_json(request_.asked.prompts.front()));
    return made.take();
  }

  const GenerateAsked& request_;
  const Continuations& all_;
  std::vector<std::vector<SampledToken>> tokens_;
  bool prompt_told_ = false;
};

}  // namespace

Task<> generate_ids(Call& call) {
  const auto make = [&call] { return read_request(call, read_generate); };
  const Result<std::unique_ptr<GenerateAsked>> request = co_await apart(call, make);
  if (!request) {
    const Result<std::string> refused = request.error();
    co_await answer_as_vllm(call.exchange, refused);
    co_return;
  }
  Continuations all = continuations_of((*request)->asked);
  GenerateForm form(**request, all);
  co_await answer_continuations(call, (*request)->asked, all, form);
}

}  // namespace parlance::serve
