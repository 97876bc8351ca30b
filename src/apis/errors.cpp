// Errors as the APIs say them: their types by HTTP status, and bodies. And logprobs, which two of the APIs have.
// Begin reading at kTypes.
#include <charconv>
#include <cmath>
#include <iterator>

#include "apis/form.h"

namespace parlance {
namespace {

/// The types of one status.
struct ErrorTypes {
  int status;
  std::string_view anthropic, openai;
};
constexpr ErrorTypes kTypes[] = {{400, "invalid_request_error", "invalid_request_error"},
                                 {401, "authentication_error", "authentication_error"},
                                 {402, "billing_error", "insufficient_quota"},
                                 {403, "permission_error", "permission_error"},
                                 {404, "not_found_error", "invalid_request_error"},
                                 {413, "request_too_large", "invalid_request_error"},
                                 {429, "rate_limit_error", "rate_limit_error"},
                                 {503, "overloaded_error", "server_error"},
                                 {504, "timeout_error", "server_error"},
                                 {529, "overloaded_error", "server_error"}};
constexpr ErrorTypes kOfClient = {0, "invalid_request_error", "invalid_request_error"};
constexpr ErrorTypes kOfServer = {0, "api_error", "server_error"};

const ErrorTypes& types_of(int status) {
  for (const ErrorTypes& types : kTypes) {
    if (types.status == status) return types;
  }
  return status >= 400 && status < 500 ? kOfClient : kOfServer;
}

std::string_view type_of(ReplyApi api, const ReplyApiError& error) {
  return error.type.empty() ? reply_error_type(api, error.status) : std::string_view(error.type);
}

std::string_view code_of(const ReplyApiError& error) {
  if (!error.code.empty()) return error.code;
  return error.status == 401 ? "invalid_api_key" : error.status == 429 ? "rate_limit_exceeded" : "";
}

Json& text_or_null(Json& json, std::string_view name, std::string_view value) {
  return value.empty() ? json.null(name) : json.text(name, value);
}

/// A token and its probability; JSON has no infinity.
Json logprob_json(std::string_view token, double logprob, std::string_view name) {
  Json json('{'), bytes('[');
  std::string& number = json.text("token", name.empty() ? token : name).key("logprob");
  char digits[32];
  const double finite = std::isfinite(logprob) ? logprob : -9999.0;
  number.append(digits, std::to_chars(std::begin(digits), std::end(digits), finite).ptr);
  for (const char byte : token) bytes.item(std::to_string(static_cast<unsigned char>(byte)));
  json.raw("bytes", bytes.take());
  return json;
}

}  // namespace

std::string_view reply_error_type(ReplyApi api, int status) {
  if (api == ReplyApi::ollama) return {};
  return api == ReplyApi::anthropic ? types_of(status).anthropic : types_of(status).openai;
}

std::string reply_error_json(ReplyApi api, const ReplyApiError& error) {
  if (api == ReplyApi::ollama) return Json('{').text("error", error.message).take();
  Json json('{'), inner('{');
  if (api == ReplyApi::anthropic) {
    inner.text("type", type_of(api, error)).text("message", error.message);
    if (!error.code.empty()) inner.raw("details", Json('{').text("error_code", error.code).take());
    return json.text("type", "error").raw("error", inner.take()).take();
  }
  inner.text("message", error.message).text("type", type_of(api, error));
  text_or_null(inner, "param", error.param);
  text_or_null(inner, "code", code_of(error));
  return json.raw("error", inner.take()).take();
}

namespace apis {

std::string logprob_item(const ReplyLogprob& token) {
  Json one = logprob_json(token.token, token.logprob, token.name), top('[');
  for (const ReplyLogprob::Alternative& other : token.top)
    top.item(logprob_json(other.token, other.logprob, other.name).take());
  return one.raw("top_logprobs", top.take()).take();
}

}  // namespace apis
}  // namespace parlance
