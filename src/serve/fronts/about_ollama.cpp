// What Ollama's clients ask of a server besides chats: /api/tags, /api/show, /api/ps, /api/version.
#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/models/engine.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kOllamaJson = "application/json";
/// Of Ollama, whose API is spoken here: clients refuse servers that are older than what they need of it.
constexpr std::string_view kOllamaVersion = "0.13.4";
constexpr std::string_view kNoTime = "1970-01-01T00:00:00Z";

/// The gateway does not know a model's weights, so its sizes are zero.
std::string details_json() {
  return R"({"parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "", )"
         R"("quantization_level": ""})";
}

std::string model_json(const ServedModel& model) {
  return JsonWriter('{')
      .text("name", model.name)
      .text("model", model.name)
      .text("modified_at", kNoTime)
      .number("size", 0)
      .text("digest", sha256(model.name))
      .raw("details", details_json())
      .take();
}

std::string models_json(const Offer& offer) {
  JsonWriter list('[');
  for (const auto& model : offer.models) list.item(model_json(*model));
  return JsonWriter('{').raw("models", list.take()).take();
}

/// What a reply of the model's may hold, by its format; of a format that cannot be had, text alone.
std::string capabilities_json(const ServedModel& model) {
  JsonWriter list('[');
  list.item_text("completion");
  const Result<ReplyStart> start = model.reader.reply();
  if (start && !start->format.source().calls.empty()) list.item_text("tools");
  if (start && start->format.source().reasoning_open.exists()) list.item_text("thinking");
  return list.take();
}

/// What clients look for in a model's metadata: how long its context is, if the engine says so.
std::string info_json(const ServedModel& model) {
  JsonWriter made('{');
  made.text("general.architecture", "parlance");
  const std::shared_ptr<const EngineInfo> info = model.backend->info();
  if (info && info->context) made.number("parlance.context_length", *info->context);
  return made.take();
}

/// Older clients say it by `name`.
Result<ModelRef> model_to_show(const Call& call) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Value body = document->root();
  return model_called(call, body["name"].is_string() && !body["model"].is_string() ? body["name"] : body["model"]);
}

}  // namespace

Task<> ollama_tags(Call& call) { co_await call.exchange.answer(200, kOllamaJson, models_json(*call.offer)); }

Task<> ollama_running(Call& call) { co_await call.exchange.answer(200, kOllamaJson, models_json(*call.offer)); }

Task<> ollama_version(Call& call) {
  co_await call.exchange.answer(200, kOllamaJson, JsonWriter('{').text("version", kOllamaVersion).take());
}

Task<> ollama_show(Call& call) {
  const Result<ModelRef> model = model_to_show(call);
  if (!model) {
    co_await refuse(call.exchange, ReplyApi::ollama, error_of(model.error()));
    co_return;
  }
  try {
    co_await check_engine_once(**model);
  } catch (const std::exception&) {  // what the engine would say of itself is left out
  }
  JsonWriter answer('{');
  answer.text("modelfile", "").text("parameters", "").text("template", "").raw("details", details_json());
  answer.raw("model_info", info_json(**model)).raw("capabilities", capabilities_json(**model));
  answer.text("modified_at", kNoTime);
  co_await call.exchange.answer(200, kOllamaJson, answer.take());
}

}  // namespace parlance::serve
