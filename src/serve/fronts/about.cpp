// What the gateway says of itself: its models, its health, its counts.
#include <algorithm>

#include "parlance/json_writer.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/responses/item_list.h"
#include "serve/fronts/routes.h"
#include "serve/http/together.h"

namespace parlance::serve {

namespace {

void number_or_null(JsonWriter& into, std::string_view name, std::int64_t number) {
  number > 0 ? into.number(name, number) : into.null(name);
}

/// 0 is none.
std::int64_t lower_limit(std::int64_t one, std::int64_t other) {
  return one > 0 && other > 0 ? std::min(one, other) : std::max(one, other);
}

/// With the members of OpenAI's, vLLM's and Anthropic's models, whose clients ask at the same place. How long the
/// context is, an engine says when it is asked first.
std::string listed_model(const ServedModel& model) {
  const std::shared_ptr<const EngineInfo> engine = model.backend ? model.backend->info() : nullptr;
  const std::int64_t context = engine ? engine->context.value_or(0) : 0;
  JsonWriter made('{');
  made.text("id", model.name)
      .text("object", "model")
      .number("created", 0)
      .text("owned_by", "parlance")
      .text("type", "model")
      .text("display_name", model.name)
      .text("created_at", "1970-01-01T00:00:00Z")
      .text("lifecycle", "active");
  number_or_null(made, "max_model_len", context);
  number_or_null(made, "max_input_tokens", lower_limit(context, static_cast<std::int64_t>(model.limits.prompt_tokens)));
  number_or_null(made, "max_tokens", lower_limit(context, model.limits.reply_tokens));
  return made.take();
}

using Models = std::span<const ModelRef>;

struct PageOfModels {
  Models models;
  bool has_more = false;
};

/// Those that Anthropic's clients ask for by `limit` and `after_id` or `before_id`; all where a request has none of
/// them.
Result<PageOfModels> page_of_models(Models all, std::string_view query) {
  const auto place_of = [&](std::string_view name) -> Result<std::size_t> {
    const std::string id = setting_of(query, name).value_or("");
    const auto found = std::ranges::find_if(all, [&](const ModelRef& model) { return model->name == id; });
    if (found == all.end()) return wrong_setting(name, "the id of a model");
    return static_cast<std::size_t>(found - all.begin());
  };
  const Result<std::size_t> limit = limit_of(query, 1000, all.size());
  if (!limit) return limit.error();
  if (setting_of(query, "before_id")) {
    const Result<std::size_t> end = place_of("before_id");
    if (!end) return end.error();
    return PageOfModels{all.first(*end).last(std::min(*limit, *end)), *limit < *end};
  }
  const bool goes_on = setting_of(query, "after_id").has_value();
  const Result<std::size_t> last = goes_on ? place_of("after_id") : 0;
  if (!last) return last.error();
  const Models behind = all.subspan(goes_on ? *last + 1 : 0);
  return PageOfModels{behind.first(std::min(*limit, behind.size())), *limit < behind.size()};
}

std::string page_json_of(const PageOfModels& page) {
  const Models models = page.models;
  JsonWriter list('['), made('{');
  for (const ModelRef& model : models) list.item(listed_model(*model));
  made.text("object", "list").raw("data", list.take()).flag("has_more", page.has_more);
  models.empty() ? made.null("first_id") : made.text("first_id", models.front()->name);
  models.empty() ? made.null("last_id") : made.text("last_id", models.back()->name);
  return made.take();
}

}  // namespace

Task<> list_models(Call& call) {
  const Result<PageOfModels> page = page_of_models(call.offer->models, call.exchange.request().query);
  if (!page) {
    const ReplyApiError error = error_of(page.error());
    co_await refuse(call.exchange, call.api, error);
    co_return;
  }
  const std::string body = page_json_of(*page);
  co_await call.exchange.answer(200, "application/json", body);
}

Task<> show_model(Call& call) {
  constexpr std::string_view kPath = "/v1/models/";
  const std::string name = unescaped(std::string_view(call.exchange.request().path).substr(kPath.size()));
  std::string body;
  for (const auto& model : call.offer->models)
    if (model->name == name) body = listed_model(*model);
  if (!body.empty()) {
    co_await call.exchange.answer(200, "application/json", body);
    co_return;
  }
  const ReplyApiError error{
      .status = 404, .message = "there is no model '" + name + "' here", .code = "model_not_found", .param = "model"};
  co_await refuse(call.exchange, call.api, error);
}

/// Ollama's clients ask for / to see whether there is a server, and many compare the whole text with Ollama's.
Task<> say_running(Call& call) { co_await call.exchange.answer(200, "text/plain", "Ollama is running"); }

Task<> health(Call& call) { co_await call.exchange.answer(200, "application/json", R"({"status": "ok"})"); }

namespace {

/// Of the first model whose engine has one. All are asked at the same time.
Task<std::string> fault_of_engines(const Offer& offer) {
  std::vector<std::string> faults(offer.models.size());
  const auto ask = [&](std::size_t number) -> Task<> {
    const std::shared_ptr<const ServedModel>& model = offer.models[number];
    if (!model->backend) co_return;  // it only renders, and reads what others sampled
    const std::string fault = co_await model->readiness->fault(model);
    if (!fault.empty()) faults[number] = model->name + ": " + fault;
  };
  co_await together(faults.size(), ask);
  const auto first = std::ranges::find_if(faults, [](const std::string& fault) { return !fault.empty(); });
  co_return first == faults.end() ? std::string() : *first;
}

/// What a turn needs besides its engine, as it does; `fault`: what no turn can be answered without.
Task<std::string> readiness_of_stores(Gateway& gateway, std::string& fault) {
  JsonWriter said('{');
  said.text("status", "ready");
  if (SharedSessions* const shared = gateway.shared()) {
    const std::string why = co_await shared->check();
    if (!why.empty() && !shared->optional()) fault = "shared sessions: " + why;
    said.text("sessions", why.empty() ? "shared" : why);
  }
  if (Capture* const capture = gateway.capture()) {
    const std::string why = co_await capture->check();
    if (!why.empty() && !capture->optional()) fault = "capture: " + why;
    if (!why.empty()) said.text("capture", why);
  }
  co_return said.take();
}

}  // namespace

/// Ready is who could answer.
Task<> ready(Call& call) {
  std::string fault, of_stores, said;
  const auto ask = [&](std::size_t number) -> Task<> {
    if (number == 0)
      fault = co_await fault_of_engines(*call.offer);
    else
      said = co_await readiness_of_stores(call.gateway, of_stores);
  };
  co_await together(2, ask);
  if (fault.empty()) fault = of_stores;
  if (fault.empty()) {
    co_await call.exchange.answer(200, "application/json", said);
    co_return;
  }
  const ReplyApiError error{.status = 503, .message = fault, .code = "not_ready"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

namespace {

/// A name as the value of a label.
std::string label_of(const ServedModel& model) {
  std::string text = "model=\"";
  for (const char c : model.name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + "\"";
}

void write_slots(std::string& text, const Offer& offer) {
  std::map<std::string, double> running, waiting;
  for (const auto& model : offer.models) {
    const Slots::Use use = model->slots->use();
    running[label_of(*model)] = static_cast<double>(use.running);
    waiting[label_of(*model)] = static_cast<double>(use.waiting);
  }
  write_gauges(text, "running", "Replies that an engine samples, by model.", running);
  write_gauges(text, "waiting", "Requests that wait for an engine to be free, by model.", waiting);
}

void write_shared(std::string& text, const SharedSessions& shared) {
  const SharedSessions::Counts& counts = shared.counts();
  const SharedRedis::Counts& redis = shared.redis().counts();
  const auto write = [&text](std::string_view name, std::string_view help, std::uint64_t value) {
    write_gauge(text, "shared_sessions_" + std::string(name), help, static_cast<double>(value));
  };
  write("hits", "Conversations that were found in the shared store, since the start.", counts.hits);
  write("misses", "Conversations that were looked for there and not found.", counts.misses);
  write("refused", "Values there that no conversation could be made of.", redis.refused);
  write("kept", "Turns that the store has confirmed.", counts.kept);
  write("failures", "Questions and turns that the store did not answer or confirm.", redis.failures);
}

}  // namespace

Task<> metrics(Call& call) {
  std::string text = call.gateway.metrics().text();
  if (const HttpServer* server = call.gateway.server()) {
    const HttpCounts counts = server->counts();
    write_gauge(text, "connections", "Open connections of clients.", static_cast<double>(counts.open));
    write_gauge(text, "answering", "Requests that are being answered.", static_cast<double>(counts.answering));
    write_gauge(text, "clients_gone", "Clients that left before their answer was whole, since the start.",
                static_cast<double>(counts.gone));
  }
  if (const Capture* capture = call.gateway.capture())
    write_gauge(text, "capture_failures", "Records of turns that could not be written, since the start.",
                static_cast<double>(capture->failures()));
  write_slots(text, *call.offer);
  if (const SharedSessions* shared = call.gateway.shared()) write_shared(text, *shared);
  const SessionStore::Use use = call.gateway.sessions().use();
  write_gauge(text, "conversations", "Conversations that are kept with their ids.",
              static_cast<double>(use.conversations));
  write_gauge(text, "conversation_bytes", "About the memory of these.", static_cast<double>(use.bytes));
  co_await call.exchange.answer(200, "text/plain; version=0.0.4", text);
}

}  // namespace parlance::serve
