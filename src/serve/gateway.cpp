// Finds the route of a request, and answers what goes wrong. Begin reading at Gateway::handle.
#include "serve/gateway.h"

#include <algorithm>

#include "base/ascii.h"
#include "serve/fronts/errors.h"
#include "serve/fronts/routes.h"
#include "serve/models/engine.h"
#include "serve/random_id.h"

namespace parlance::serve {

namespace {

/// Schemes are written in any case. "": there is none.
std::string_view bearer_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view given = request.header("authorization"), scheme = given.substr(0, kBearer.size());
  const auto is_same = [](char a, char b) { return ascii::lower(a) == b; };
  const bool fits = std::equal(scheme.begin(), scheme.end(), kBearer.begin(), kBearer.end(), is_same);
  return fits ? ascii::trimmed(given.substr(kBearer.size())) : std::string_view();
}

std::string_view api_key_of(const HttpRequest& request) {
  const std::string_view bearer = bearer_of(request);
  return bearer.empty() ? request.header("x-api-key") : bearer;
}

bool takes_a_key_of(const Offer& offer, const HttpRequest& request) {
  return offer.takes_key(api_key_of(request)) || offer.takes_key(request.header("x-api-key"));
}

/// A client may send a key of its proxy, or of its defaults, besides the one that is meant. Then it goes by the other.
void leave_the_right_key(const Offer& offer, HttpRequest& request) {
  if (offer.takes_key(api_key_of(request))) return;
  std::erase_if(request.headers, [](const HttpHeader& header) { return header.name == "authorization"; });
}

/// How a body is packed, which is not undone here; "": it is as it is. Some clients do not say so.
std::string packing_of(const HttpRequest& request) {
  const std::string_view said = ascii::trimmed(request.header("content-encoding"));
  const bool is_word = std::all_of(said.begin(), said.end(), [](char c) { return ascii::is_word(c) || c == '-'; });
  if (!said.empty() && said != "identity") return is_word ? std::string(said) : "in several ways";
  return request.body.starts_with("\x1F\x8B") ? "gzip" : "";
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Anthropic's clients send what others do not.
bool is_for_anthropic(const HttpRequest& request) {
  return !request.header("anthropic-version").empty() || !request.header("x-api-key").empty();
}

/// Whose form errors have. Where a path is of no API or of several, the client's headers say it.
ReplyApi api_of(const HttpRequest& request, const Route* route) {
  if (route != nullptr && !route->shared) return route->api;
  const std::string_view path = request.path;
  if (path.starts_with("/api/")) return ReplyApi::ollama;
  const bool is_anthropic = path.starts_with("/v1/messages") || is_for_anthropic(request);
  return is_anthropic ? ReplyApi::anthropic : ReplyApi::openai;
}

/// The client's own id of its request, if it is fit for a header and a log.
std::string request_id_of(const HttpRequest& request) {
  constexpr std::size_t kMost = 128;
  const std::string_view given = request.header("x-request-id");
  const bool fits = std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < '\x7F'; });
  return given.empty() || given.size() > kMost || !fits ? random_id("req_") : std::string(given);
}

/// What asks whether the process lives, and how it does, is answered whatever else is not.
bool is_of_operator(const Route& route) { return route.handle == health || route.handle == metrics; }

/// A server without an engine renders, and reads what others sampled.
constexpr std::string_view kNoEngine =
    "this server has no engine, so it answers no chat; /v1/chat/completions/render makes the prompt's ids";

std::string_view sentence_for(unsigned refused, const HttpRequest& request) {
  if (!request.fault.empty()) return request.fault;
  switch (refused) {
    case 408: return "the request did not arrive in time";
    case 413: return "the request's body is larger than this server takes";
    case 431: return "the request's header is larger than this server takes";
    case 503: return "this server has as many connections as it takes";
    default: return "the request is not HTTP";
  }
}

}  // namespace

std::string owner_of(const HttpRequest& request) { return std::string(api_key_of(request)); }

Gateway::Gateway(const GatewayOptions& options, Offer offer, Log log)
    : offer_(std::make_shared<const Offer>(std::move(offer))),
      keep_alive_(options.keep_alive),
      most_body_(options.most_body),
      hosts_(options.hosts),
      sessions_(options.most_sessions, options.most_session_bytes),
      log_(std::move(log)),
      inspector_(options.inspect ? std::make_unique<Inspector>() : nullptr) {}

std::shared_ptr<const Offer> Gateway::offer() const {
  const std::lock_guard lock(mutex_);
  return offer_;
}

void Gateway::replace(Offer offer) {
  auto made = std::make_shared<const Offer>(std::move(offer));
  {
    const std::lock_guard lock(mutex_);
    offer_ = made;
  }
  sessions_.drop_models([made](const std::shared_ptr<const ServedModel>& model) {
    return std::find(made->models.begin(), made->models.end(), model) == made->models.end();
  });
}

void Gateway::count(const EngineFailure& failure, std::string_view session, std::string_view request) {
  if (is_refusal(failure)) {
    const std::string code = error_of(failure).code;
    metrics_.refusals.add("code=\"" + code + "\"");
    log_.say(LogLevel::info, "refused", [&](JsonWriter& line) {
      line.text("session", session).text("request", request).text("code", code).text("message", failure.own_message());
    });
    return;
  }
  metrics_.engine_failures.add("kind=\"" + std::string(name_of(failure.kind())) + "\"");
  log_.say(LogLevel::error, "engine_failure", [&](JsonWriter& line) {
    line.text("session", session).text("request", request);
    line.text("kind", name_of(failure.kind())).text("message", failure.own_message());
  });
}

ReplyApiError Gateway::refusal_by_header(const HttpRequest& request, const Offer& offer) const {
  bool method_fits = true;
  const Route* const route = route_for(request.method, request.path, method_fits);
  if (const std::string stranger = hosts_ ? hosts_->refusal_of(request) : std::string(); !stranger.empty())
    return {.status = 403, .message = stranger, .code = "host_not_allowed"};
  if (route == nullptr) return {.status = 404, .message = "there is no " + request.path + " here", .code = "not_found"};
  if (!method_fits) return {.status = 405, .message = request.path + " takes " + std::string(route->method)};
  if (route->access != Access::open && !takes_a_key_of(offer, request))
    return {.status = 401, .message = "the API key is missing or wrong"};
  if (const std::string packing = packing_of(request); !packing.empty())
    return {.status = 415,
            .message = "the request body is compressed (" + packing +
                       "), which this server does not support; send it uncompressed",
            .code = "unsupported_content_encoding"};
  if (route->access == Access::engine && !offer.has_engine())
    return {.status = 503, .message = std::string(kNoEngine), .code = "no_engine"};
  return {.status = 0};
}

bool Gateway::reads_body_behind(HttpRequest header) const {
  header.path = usual_path(header.path);
  bool method_fits = true;
  const Route* const route = route_for(header.method, header.path, method_fits);
  return refusal_by_header(header, *offer()).status == 0 && route->access != Access::open;
}

Task<> Gateway::handle(Exchange& exchange, unsigned refused) {
  HttpRequest& request = exchange.request();
  request.path = usual_path(request.path);
  bool method_fits = true;
  const Route* const route = route_for(request.method, request.path, method_fits);
  Call call{*this, exchange, offer(), route, api_of(request, route), request_id_of(request)};
  exchange.add_header("X-Request-Id", call.id);
  if (call.api == ReplyApi::anthropic) exchange.add_header("Request-Id", call.id);
  ReplyApiError error = refusal_by_header(request, *call.offer);
  const bool too_many = refused == 503 && request.fault.empty();
  if (refused != 0 && !(too_many && error.status == 0 && is_of_operator(*route)))
    error = {.status = static_cast<int>(refused), .message = std::string(sentence_for(refused, request))};
  if (error.status == 405) exchange.add_header("Allow", route->method);
  if (error.status == 415) exchange.add_header("Accept-Encoding", "identity");
  if (error.status == 0) {
    leave_the_right_key(*call.offer, request);
    co_await route->handle(call);
  } else {
    co_await refuse(exchange, call.api, error);
  }
  const double seconds = seconds_since(call.begun);
  const std::string status = std::to_string(exchange.status());
  metrics_.requests.add("route=\"" + std::string(route != nullptr ? route->path : "other") + "\",status=\"" + status +
                        "\"");
  metrics_.whole.add(seconds);
  log_.say(LogLevel::debug, "request", [&](JsonWriter& line) {
    line.text("request", call.id).text("method", request.method).text("path", request.path).raw("status", status);
    line.raw("seconds", std::to_string(seconds));
  });
}

}  // namespace parlance::serve
