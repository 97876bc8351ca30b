// Texts and ids: /tokenize and /detokenize in the forms of vLLM and of llama.cpp, and Anthropic's count_tokens.
#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/turn/prompt_ids.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kJson = "application/json";

/// Answers with what `make` gives, or with its error.
template <typename Make>
Task<> answer(Call& call, ReplyApi api, Make make) {
  const Result<std::string> made = co_await apart(call, make);
  if (made)
    co_await call.exchange.answer(200, kJson, *made);
  else
    co_await refuse(call.exchange, api, error_of(made.error()));
}

/// The ids of a text alone, in which control tokens count, as engines take a text.
Result<std::vector<TokenId>> ids_of_text(const ServedModel& model, std::string_view text, bool add_special) {
  std::vector<EncodedToken> tokens;
  if (Result<void> encoded = model.tokenizer->encode(text, nullptr, tokens); !encoded) return encoded.error();
  std::vector<TokenId> ids;
  const TokenizerFacts& facts = model.tokenizer->facts();
  if (add_special) ids = facts.puts_before;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  if (add_special) ids.insert(ids.end(), facts.puts_after.begin(), facts.puts_after.end());
  return ids;
}

Result<std::string> tokenized(const Call& call) {
  const std::string& text = call.exchange.request().body;
  const Result<Document> document = parsed_body(text);
  if (!document) return document.error();
  const Value body = document->root();
  const Result<std::shared_ptr<const ServedModel>> model = model_of(*call.offer, body);
  if (!model) return model.error();
  const bool is_llama = body["content"].is_string();
  const Value given = is_llama ? body["content"] : body["prompt"];
  if (!given.is_string() && body["messages"].is_undefined())
    return Error(ErrorCode::conversation, "/tokenize takes `prompt`, `content` or `messages`").input("prompt");
  const Result<std::vector<TokenId>> ids =
      given.is_string() ? ids_of_text(**model, given.text(),
                                      flag_of(body[is_llama ? "add_special" : "add_special_tokens"], !is_llama))
                        : prompt_ids(**model, text, body, ReplyApi::openai);
  if (!ids) return ids.error();
  JsonWriter answer('{');
  if (is_llama) return answer.raw("tokens", ids_json(*ids)).take();
  answer.number("count", static_cast<std::int64_t>(ids->size()));
  const std::shared_ptr<const EngineInfo> engine = (*model)->backend ? (*model)->backend->info() : nullptr;
  const bool is_known = engine && engine->context;
  is_known ? answer.number("max_model_len", *engine->context) : answer.null("max_model_len");
  answer.raw("tokens", ids_json(*ids));
  if (!flag_of(body["return_token_strs"], false)) return answer.null("token_strs").take();
  JsonWriter texts('[');
  for (const TokenId id : *ids) texts.item_text((*model)->tokenizer->token_text(id));
  answer.raw("token_strs", texts.take());
  return answer.take();
}

Result<std::string> detokenized(const Call& call) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Result<std::shared_ptr<const ServedModel>> model = model_of(*call.offer, document->root());
  if (!model) return model.error();
  const Value tokens = document->root()["tokens"];
  if (!tokens.is_sequence()) return Error(ErrorCode::conversation, "tokens must be a list of ids").input("tokens");
  const auto size = static_cast<std::int64_t>((*model)->tokenizer->facts().vocabulary_size);
  std::string text;
  for (const Value& id : tokens.items()) {
    const bool fits = id.is_small_int() && id.integer >= 0 && (size == 0 || id.integer < size);
    if (!fits)
      return Error(ErrorCode::conversation, "the tokenizer has ids from 0 to " + std::to_string(size - 1))
          .input("tokens");
    text += (*model)->tokenizer->token_text(static_cast<TokenId>(id.integer));
  }
  return JsonWriter('{').text("prompt", text).text("content", text).take();
}

Result<std::string> counted(const Call& call, bool is_responses) {
  const std::string& text = call.exchange.request().body;
  const Result<Document> document = parsed_body(text);
  if (!document) return document.error();
  const Result<std::shared_ptr<const ServedModel>> model = model_of(*call.offer, document->root());
  if (!model) return model.error();
  const ReplyApi api = is_responses ? ReplyApi::responses : ReplyApi::anthropic;
  const Result<std::vector<TokenId>> ids = prompt_ids(**model, text, document->root(), api);
  if (!ids) return ids.error();
  JsonWriter made('{');
  if (is_responses) made.text("object", "response.input_tokens");
  return made.number("input_tokens", static_cast<std::int64_t>(ids->size())).take();
}

}  // namespace

Task<> tokenize_text(Call& call) {
  const auto make = [&call] { return tokenized(call); };
  co_await answer(call, ReplyApi::openai, make);
}

Task<> detokenize_ids(Call& call) {
  const auto make = [&call] { return detokenized(call); };
  co_await answer(call, ReplyApi::openai, make);
}

Task<> count_tokens(Call& call) {
  const auto make = [&call] { return counted(call, false); };
  co_await answer(call, ReplyApi::anthropic, make);
}

Task<> count_input_tokens(Call& call) {
  const auto make = [&call] { return counted(call, true); };
  co_await answer(call, ReplyApi::openai, make);
}

}  // namespace parlance::serve
