// Texts and ids: /tokenize and /detokenize in the forms of vLLM and of llama.cpp, and Anthropic's count_tokens.
#include "base/utf8.h"
#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/block_error.h"
#include "serve/fronts/chat_request.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/fronts/shapes/message_shape.h"
#include "serve/fronts/shapes/tool_shape.h"
#include "serve/fronts/threads.h"
#include "serve/turn/prompt_ids.h"
#include "serve/turn/reply_begin.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kJson = "application/json";

/// Answers with what `make` gives, or with its error.
template <typename Make>
Task<> answer(Call& call, ReplyApi api, Make make) {
  const std::optional<std::string> made = co_await apart_or_refused<std::string>(call, api, make);
  if (made) co_await call.exchange.answer(200, kJson, *made);
}

struct TextWish {
  bool add_special = false;
  bool parse_special = true;  ///< false: what spells a control token is text
};

/// The ids of a text alone, as engines take a text.
Result<std::vector<TokenId>> ids_of_text(const ServedModel& model, std::string_view text, TextWish wish) {
  const std::vector<ByteSpan> nothing;
  std::vector<EncodedToken> tokens;
  if (Result<void> encoded = model.tokenizer->encode(text, wish.parse_special ? nullptr : &nothing, tokens); !encoded)
    return encoded.error();
  std::vector<TokenId> ids;
  const TokenizerFacts& facts = model.tokenizer->facts();
  if (wish.add_special) ids = facts.puts_before;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  if (wish.add_special) ids.insert(ids.end(), facts.puts_after.begin(), facts.puts_after.end());
  return ids;
}

/// llama.cpp's form of a token with its text, or with its bytes where these are no text.
std::string piece_json(TokenId id, std::string_view text) {
  JsonWriter made('{');
  made.number("id", id);
  if (utf8::is_valid(text, false)) return made.text("piece", text).take();
  JsonWriter bytes('[');
  for (const char byte : text) bytes.item(std::to_string(static_cast<unsigned char>(byte)));
  return made.raw("piece", bytes.take()).take();
}

std::string llama_answer(const ServedModel& model, const std::vector<TokenId>& ids, bool with_pieces) {
  JsonWriter answer('{');
  if (!with_pieces) return answer.raw("tokens", ids_json(ids)).take();
  JsonWriter pieces('[');
  for (const TokenId id : ids) pieces.item(piece_json(id, model.tokenizer->token_text(id)));
  return answer.raw("tokens", pieces.take()).take();
}

TextWish wish_of(Value body, bool is_llama) {
  if (!is_llama) return {.add_special = flag_of(body["add_special_tokens"], true)};
  return {.add_special = flag_of(body["add_special"], false), .parse_special = flag_of(body["parse_special"], true)};
}

Result<std::string> tokenized(const Call& call, Value body, const ModelRef& model) {
  const std::string& text = call.exchange.request().body;
  const bool is_llama = body["content"].is_string();
  const Value given = is_llama ? body["content"] : body["prompt"];
  if (!given.is_string() && body["messages"].is_undefined())
    return Error(ErrorCode::conversation, "/tokenize takes `prompt`, `content` or `messages`").input("prompt");
  if (Result<void> checked = check_tools_shape(body); !checked) return checked.error();
  const Result<std::vector<TokenId>> ids = given.is_string()
                                               ? ids_of_text(*model, given.text(), wish_of(body, is_llama))
                                               : prompt_ids(*model, text, body, ReplyApi::openai);
  if (!ids) return ids.error();
  if (is_llama) return llama_answer(*model, *ids, flag_of(body["with_pieces"], false));
  JsonWriter answer('{');
  answer.number("count", static_cast<std::int64_t>(ids->size()));
  const std::shared_ptr<const EngineInfo> engine = model->backend ? model->backend->info() : nullptr;
  const bool is_known = engine && engine->context;
  is_known ? answer.number("max_model_len", *engine->context) : answer.null("max_model_len");
  answer.raw("tokens", ids_json(*ids));
  if (!flag_of(body["return_token_strs"], false)) return answer.null("token_strs").take();
  JsonWriter texts('[');
  for (const TokenId id : *ids) texts.item_text(model->tokenizer->token_text(id));
  answer.raw("token_strs", texts.take());
  return answer.take();
}

Result<std::string> detokenized(const Call&, Value body, const ModelRef& model) {
  const Value tokens = body["tokens"];
  if (!tokens.is_sequence()) return Error(ErrorCode::conversation, "tokens must be a list of ids").input("tokens");
  const auto size = static_cast<std::int64_t>(model->tokenizer->facts().vocabulary_size);
  std::string text;
  for (const Value& id : tokens.items()) {
    const bool fits = id.is_small_int() && id.integer >= 0 && (size == 0 || id.integer < size);
    if (!fits)
      return Error(ErrorCode::conversation, "the tokenizer has ids from 0 to " + std::to_string(size - 1))
          .input("tokens");
    text += model->tokenizer->token_text(static_cast<TokenId>(id.integer));
  }
  return JsonWriter('{').text("prompt", text).text("content", text).take();
}

Result<std::string> counted(const Call& call, Value body, const ModelRef& model) {
  if (Result<void> checked = check_messages_shape(body, ReplyApi::anthropic); !checked) return checked.error();
  if (Result<void> checked = check_tools_shape(body); !checked) return checked.error();
  if (Result<void> refused = refuse_thread(body); !refused) return refused.error();
  if (Result<void> known = check_results(body, ReplyApi::anthropic); !known) return known.error();
  const std::string& text = call.exchange.request().body;
  const Result<std::vector<TokenId>> ids = prompt_ids(*model, text, body, ReplyApi::anthropic);
  if (!ids) return with_type_of_block(ids.error(), body);
  return JsonWriter('{').number("input_tokens", static_cast<std::int64_t>(ids->size())).take();
}

/// What the prompt of such a request to /v1/responses has, with the conversation that it goes on from.
Result<std::string> counted_input(Call& call, Value body, std::string_view text, const ModelRef& model, bool may_wait) {
  const HttpRequest& http = call.exchange.request();
  if (Result<void> given = check_input(body); !given) return given.error();
  if (Result<void> checked = check_tools_shape(body); !checked) return checked.error();
  const SessionHints hints = hints_of(http, body);
  const Sessions sessions(call.gateway.sessions(), call.gateway.shared(), may_wait);
  const RequestText given{.api = ReplyApi::responses, .body = body, .text = text};
  ConversationFacts facts;
  Result<ChatRequest> request = read_conversation(sessions, model, given, hints, &facts);
  if (!request) return request.error();
  if (Result<void> known = check_results(body, given.api, facts.earlier); !known) return known.error();
  if (Result<void> said = check_said(request->conversation); !said) return said.error();
  const Result<PreparedPrompt> prompt = prepare_prompt(model, sessions, *request, hints, "");
  if (!prompt) return prompt.error();
  JsonWriter made('{');
  made.text("object", "response.input_tokens");
  return made.number("input_tokens", static_cast<std::int64_t>(prompt->session.ids().size())).take();
}

}  // namespace

Task<> tokenize_text(Call& call) {
  const auto make = [&call](bool) { return read_request(call, tokenized); };
  co_await answer(call, ReplyApi::openai, make);
}

Task<> detokenize_ids(Call& call) {
  const auto make = [&call](bool) { return read_request(call, detokenized); };
  co_await answer(call, ReplyApi::openai, make);
}

Task<> count_tokens(Call& call) {
  const auto make = [&call](bool) { return read_request(call, counted); };
  co_await answer(call, ReplyApi::anthropic, make);
}

Task<> count_input_tokens(Call& call) {
  const auto make = [&call](bool may_wait) {
    const auto read = [may_wait](Call& of, Value body, const ModelRef& model) {
      const auto whole = [&](const NamedInput& input) {
        return counted_input(of, input.body, input.text, model, may_wait);
      };
      return with_named_items(of, body, model, may_wait, whole);
    };
    return read_request(call, read);
  };
  co_await answer(call, ReplyApi::openai, make);
}

}  // namespace parlance::serve
