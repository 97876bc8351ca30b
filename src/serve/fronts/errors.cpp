// Says errors.
#include "serve/fronts/errors.h"

#include "parlance/json_writer.h"
#include "serve/fronts/client_words.h"
#include "serve/fronts/routes.h"
#include "serve/json/file_name.h"

namespace parlance::serve {

Task<> answer_error(Exchange& exchange, const ReplyApiError& error, const std::string& json) {
  if (error.status == 503 || error.status == 429) exchange.add_header("Retry-After", "1");
  co_await exchange.answer(static_cast<unsigned>(error.status), "application/json", json);
}

Task<> refuse(Exchange& exchange, ReplyApi api, const ReplyApiError& error) {
  const std::string body = reply_error_json(api, error);
  if (!exchange.begun()) {
    co_await answer_error(exchange, error, body);
    co_return;
  }
  std::string out;
  append_stream_event(out, api, {api == ReplyApi::anthropic ? "error" : "", body});
  co_await exchange.write(out);
  co_await exchange.end();
}

std::string vllm_error_json(const ReplyApiError& error) {
  const std::string_view type = error.status == 404  ? "NotFoundError"
                                : error.status < 500 ? "BadRequestError"
                                                     : "InternalServerError";
  JsonWriter said('{');
  said.text("message", error.message).text("type", type);
  error.param.empty() ? said.null("param") : said.text("param", error.param);
  return JsonWriter('{').raw("error", said.number("code", error.status).take()).take();
}

Task<> answer_as_vllm(Exchange& exchange, const Result<std::string>& body) {
  if (body) {
    co_await exchange.answer(200, "application/json", *body);
    co_return;
  }
  const ReplyApiError error = error_of(body.error());
  const std::string text = vllm_error_json(error);
  co_await answer_error(exchange, error, text);
}

namespace {

/// Half a surrogate pair, which a request's JSON can have, is no text: strict clients could not read the error.
std::string without_halves(std::string text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const auto byte = [&text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    if (byte(at) == 0xED && byte(at + 1) >= 0xA0 && (byte(at + 2) & 0xC0) == 0x80)
      text.replace(at, kReplacement.size(), kReplacement);
  }
  return text;
}

/// What clients know by a code of its own: errors of a member.
struct NamedError {
  ErrorCode error;
  std::string_view member, code;
  int status = 0;  ///< 0: as of the error
};
constexpr NamedError kNamedErrors[] = {
    {ErrorCode::no_template, "model", "model_not_found"},
    {ErrorCode::conversation, "previous_response_id", "previous_response_not_found"},
    {ErrorCode::conversation, "conversation", "conversation_not_found", 404},
    {ErrorCode::conversation, "item_id", "not_found", 404},
    {ErrorCode::conversation, "thread.previous_message_id", "thread_not_found", 404},
    {ErrorCode::conversation, "thread", "thread_unsupported_request"},
};

}  // namespace

ReplyApiError error_of(const Error& error) {
  ReplyApiError made{.status = facts(error.code()).http_status,
                     .message = error.message(),
                     .code = std::string(facts(error.code()).name),
                     .param = error.input_path()};
  for (const NamedError& named : kNamedErrors) {
    if (error.code() != named.error || made.param != named.member) continue;
    made.code = named.code;
    if (named.status != 0) made.status = named.status;
  }
  if (!made.param.empty() && !made.message.starts_with(made.param)) made.message = made.param + ": " + made.message;
  const Location& where = error.where();
  if (where.line > 0) {
    const std::string name = without_folders(where.name);
    made.message +=
        " (" + name + ", line " + std::to_string(where.line) + ", column " + std::to_string(where.column) + ")";
  }
  if (const std::string hint = hint_for_client(error.hint()); !hint.empty()) made.message += "; " + hint;
  made.message = without_halves(std::move(made.message));
  made.param = without_halves(std::move(made.param));
  return made;
}

ReplyApiError error_of(const EngineFailure& failure) {
  using Kind = EngineFailure::Kind;
  int status = 502;
  if (failure.kind() == Kind::unfit || failure.kind() == Kind::grammar) status = 400;
  if (failure.kind() == Kind::refused || failure.kind() == Kind::other || failure.kind() == Kind::busy) status = 503;
  if (failure.kind() == Kind::stalled) status = 504;
  for (const int passed_on : {400, 413, 422, 429, 503}) {
    if (static_cast<int>(failure.status()) == passed_on) status = passed_on;
  }
  std::string code = failure.code().empty() ? "engine_" + std::string(name_of(failure.kind())) : failure.code();
  return {.status = status, .message = failure.what(), .code = std::move(code)};
}

ReplyApiError error_of(const SharedFailure& failure) {
  return {.status = 503,
          .message = "the store of the sessions cannot be reached: " + std::string(failure.what()),
          .code = "session_store_failed"};
}

ReplyApiError error_of(const Call& call, const std::string& session, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const EngineFailure& failure) {
    call.gateway.count(failure, session, call.id);
    return error_of(failure);
  } catch (const CaptureFailure& failure) {
    return {.status = 507, .message = failure.what(), .code = "capture_failed"};
  } catch (const SharedFailure& failure) {
    return error_of(failure);
  }
}

}  // namespace parlance::serve
