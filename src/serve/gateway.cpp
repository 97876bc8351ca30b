// Finds the route of a request, and answers what goes wrong. Begin reading at Gateway::handle.
#include "serve/gateway.h"

#include <algorithm>

#include "base/sha256.h"
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

std::string_view api_key_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view given = request.header("authorization");
  if (given.starts_with(kBearer)) return given.substr(kBearer.size());
  return request.header("x-api-key");
}

/// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  const std::string x = sha256(a), y = sha256(b);
  unsigned difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) difference |= static_cast<unsigned>(x[i] ^ y[i]);
  return difference == 0;
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// A server without an engine renders, and reads what others sampled.
constexpr std::string_view kNoEngine =
    "this server has no engine (--backend), so it answers no chat; /v1/chat/completions/render makes the prompt's ids";

std::string_view sentence_for(unsigned refused) {
  switch (refused) {
    case 408: return "the request did not arrive in time";
    case 413: return "the request's body is larger than this server takes (--max-body)";
    case 431: return "the request's header is larger than this server takes (--max-header)";
    case 503: return "this server has as many connections as it takes (--max-connections)";
    default: return "the request is not HTTP";
  }
}

}  // namespace

std::string owner_of(const HttpRequest& request) { return std::string(api_key_of(request)); }

Gateway::Gateway(GatewayOptions options, std::vector<std::unique_ptr<ServedModel>> models, Log log)
    : options_(std::move(options)),
      models_(std::move(models)),
      sessions_(options_.most_sessions, options_.most_session_bytes),
      log_(std::move(log)),
      inspector_(options_.inspect ? std::make_unique<Inspector>() : nullptr) {}

const ServedModel* Gateway::model_named(std::string_view name) const {
  for (const auto& model : models_) {
    if (model->name == name) return model.get();
  }
  return models_.size() == 1 ? models_.front().get() : nullptr;
}

bool Gateway::has_engine() const {
  return std::all_of(models_.begin(), models_.end(), [](const auto& model) { return model->backend != nullptr; });
}

void Gateway::count(const EngineFailure& failure, std::string_view session) {
  metrics_.engine_failures.add("kind=\"" + std::string(name_of(failure.kind())) + "\"");
  log_.say(LogLevel::error, "engine_failure", [&](JsonWriter& line) {
    line.text("session", session).text("kind", name_of(failure.kind())).text("message", failure.what());
  });
}

bool Gateway::may_ask(const HttpRequest& request) const {
  if (options_.api_keys.empty()) return true;
  const std::string_view given = api_key_of(request);
  return std::any_of(options_.api_keys.begin(), options_.api_keys.end(),
                     [given](const std::string& key) { return same_secret(given, key); });
}

Task<> Gateway::handle(Exchange& exchange, unsigned refused) {
  Call call{*this, exchange};
  const HttpRequest& request = exchange.request();
  bool method_fits = true;
  const Route* const route = route_for(request.method, request.path, method_fits);
  ReplyApiError error{.status = 0};
  if (refused != 0) {
    error = {.status = static_cast<int>(refused), .message = std::string(sentence_for(refused))};
  } else if (route == nullptr) {
    error = {.status = 404, .message = "there is no " + request.path + " here", .code = "not_found"};
  } else if (!method_fits) {
    error = {.status = 405, .message = request.path + " takes " + std::string(route->method)};
    exchange.add_header("Allow", route->method);
  } else if (route->access != Access::open && !may_ask(request)) {
    error = {.status = 401, .message = "the API key is missing or wrong"};
  } else if (route->access == Access::engine && !has_engine()) {
    error = {.status = 503, .message = std::string(kNoEngine), .code = "no_engine"};
  }
  if (error.status != 0)
    co_await refuse(exchange, route != nullptr ? route->api : ReplyApi::openai, error);
  else
    co_await route->handle(call);
  const double seconds = seconds_since(call.begun);
  const std::string status = std::to_string(exchange.status());
  metrics_.requests.add("route=\"" + std::string(route != nullptr ? route->path : "other") + "\",status=\"" + status +
                        "\"");
  metrics_.whole.add(seconds);
  log_.say(LogLevel::debug, "request", [&](JsonWriter& line) {
    line.text("method", request.method).text("path", request.path).raw("status", status);
    line.raw("seconds", std::to_string(seconds));
  });
}

}  // namespace parlance::serve
