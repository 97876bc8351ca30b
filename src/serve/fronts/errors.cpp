// Writes errors. Begin reading at error_body.
#include "serve/fronts/errors.h"

#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

/// The types that the APIs give a status. Others count as the next lower one.
struct StatusType {
  unsigned status;
  std::string_view openai;
  std::string_view anthropic;
};
constexpr StatusType kTypes[] = {
    {400, "invalid_request_error", "invalid_request_error"},
    {401, "authentication_error", "authentication_error"},
    {403, "permission_error", "permission_error"},
    {404, "not_found_error", "not_found_error"},
    {405, "invalid_request_error", "invalid_request_error"},
    {413, "invalid_request_error", "request_too_large"},
    {414, "invalid_request_error", "invalid_request_error"},
    {429, "rate_limit_error", "rate_limit_error"},
    {431, "invalid_request_error", "invalid_request_error"},
    {500, "server_error", "api_error"},
    {503, "server_error", "overloaded_error"},
    {504, "server_error", "timeout_error"},
};

const StatusType& type_of(unsigned status) {
  const StatusType* found = &kTypes[0];
  for (const StatusType& type : kTypes) {
    if (type.status <= status) found = &type;
  }
  return *found;
}

/// vLLM's types.
std::string_view engine_type_of(unsigned status) {
  if (status == 404) return "NotFoundError";
  return status < 500 ? "BadRequestError" : "InternalServerError";
}

}  // namespace

std::string error_body(Dialect dialect, const Refusal& refusal) {
  const StatusType& type = type_of(refusal.status);
  if (dialect == Dialect::ollama) return JsonWriter('{').text("error", refusal.message).take();
  JsonWriter error('{');
  if (dialect == Dialect::vllm) {
    error.text("message", refusal.message).text("type", engine_type_of(refusal.status));
    refusal.path.empty() ? error.null("param") : error.text("param", refusal.path);
    return JsonWriter('{').raw("error", error.number("code", refusal.status).take()).take();
  }
  if (dialect == Dialect::anthropic) {
    error.text("type", type.anthropic).text("message", refusal.message);
    return JsonWriter('{').text("type", "error").raw("error", error.take()).take();
  }
  error.text("message", refusal.message).text("type", type.openai);
  refusal.path.empty() ? error.null("param") : error.text("param", refusal.path);
  refusal.code.empty() ? error.null("code") : error.text("code", refusal.code);
  return JsonWriter('{').raw("error", error.take()).take();
}

Task<> refuse(Exchange& exchange, Dialect dialect, const Refusal& refusal) {
  if (refusal.status == 503) exchange.add_header("Retry-After", "1");
  co_await exchange.answer(refusal.status, "application/json", error_body(dialect, refusal));
}

Refusal refusal_of(const Error& error) {
  Refusal made{.status = static_cast<unsigned>(facts(error.code()).http_status),
               .message = error.message(),
               .path = error.input_path(),
               .code = std::string(facts(error.code()).name)};
  if (!made.path.empty()) made.message = made.path + ": " + made.message;
  const Location& where = error.where();
  if (where.line > 0) made.message += " (" + where.name + ", line " + std::to_string(where.line) + ")";
  if (!error.hint().empty()) made.message += "; " + error.hint();
  return made;
}

Refusal refusal_of(const EngineFailure& failure) {
  using Kind = EngineFailure::Kind;
  unsigned status = 502;
  if (failure.kind() == Kind::refused) status = 503;
  if (failure.kind() == Kind::stalled) status = 504;
  for (const unsigned fault_of_request : {400U, 413U, 422U}) {
    if (failure.status() == fault_of_request) status = fault_of_request;
  }
  if (failure.status() == 503 || failure.status() == 429) status = failure.status();
  return {.status = status, .message = failure.what(), .code = "engine_" + std::string(name_of(failure.kind()))};
}

}  // namespace parlance::serve
