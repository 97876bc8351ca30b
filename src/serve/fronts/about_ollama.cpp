// What Ollama's clients ask of a server besides chats: /api/tags, /api/show, /api/ps, /api/version.
#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "parlance/version.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kOllamaJson = "application/json";
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
  co_await call.exchange.answer(200, kOllamaJson, JsonWriter('{').text("version", PARLANCE_VERSION).take());
}

Task<> ollama_show(Call& call) {
  const Result<ModelRef> model = model_to_show(call);
  if (!model) {
    co_await refuse(call.exchange, ReplyApi::ollama, error_of(model.error()));
    co_return;
  }
  JsonWriter answer('{');
  answer.text("modelfile", "").text("parameters", "").text("template", "").raw("details", details_json());
  answer.raw("model_info", "{}").raw("capabilities", R"(["completion", "tools"])").text("modified_at", kNoTime);
  co_await call.exchange.answer(200, kOllamaJson, answer.take());
}

}  // namespace parlance::serve
