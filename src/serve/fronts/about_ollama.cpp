// What Ollama's clients ask of a server besides chats: /api/tags, /api/show, /api/ps, /api/version.
#include <sys/stat.h>

#include <chrono>

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/models/engine.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kOllamaJson = "application/json";
/// Of Ollama, whose API is spoken here: clients refuse servers that are older than what they need of it.
constexpr std::string_view kOllamaVersion = "0.17.4";
constexpr std::string_view kNoTime = "1970-01-01T00:00:00Z";

bool is_gguf(const ModelSource& source) { return source.path.ends_with(".gguf") || !source.weights.family.empty(); }

/// What a GGUF file says. The weights of another model are the engine's alone.
std::string details_json(const ServedModel& model) {
  const ModelSource& source = model.reader.model();
  const WeightFacts& weights = source.weights;
  JsonWriter families('['), made('{');
  if (!weights.family.empty()) families.item_text(weights.family);
  made.text("parent_model", "").text("format", is_gguf(source) ? "gguf" : "").text("family", weights.family);
  made.raw("families", families.take()).text("parameter_size", weights.size);
  return made.text("quantization_level", weights.quantization).take();
}

/// Seconds since 1970 as Ollama writes them.
std::string time_text(std::time_t seconds) {
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return std::string(kNoTime);
  return text;
}

/// Of its file: the bytes, and when it was written; nothing of a model that is no file.
struct FileFacts {
  std::int64_t size = 0;
  std::string written{kNoTime};
};
FileFacts file_of(const ServedModel& model) {
  struct stat facts {};
  const std::string& path = model.reader.model().path;
  if (path.empty() || ::stat(path.c_str(), &facts) != 0) return {};
  return {.size = is_gguf(model.reader.model()) ? static_cast<std::int64_t>(facts.st_size) : 0,
          .written = time_text(facts.st_mtim.tv_sec)};
}

/// The template that a request without tools has; "": there is none.
std::string template_of(const ServedModel& model) {
  const ModelSource& source = model.reader.model();
  const Result<const NamedTemplate*> chosen = source.choose(std::nullopt, false);
  return chosen ? (*chosen)->text : std::string();
}

/// `runs`: with the members of a model that is loaded, as all are as long as their engines run.
std::string model_json(const ServedModel& model, bool runs) {
  const FileFacts file = file_of(model);
  JsonWriter made('{');
  made.text("name", model.name).text("model", model.name);
  if (!runs) made.text("modified_at", file.written);
  made.number("size", file.size).text("digest", sha256(model.name)).raw("details", details_json(model));
  if (!runs) return made.take();
  constexpr std::chrono::hours kLong(24 * 365);
  const auto never = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + kLong);
  made.text("expires_at", time_text(never)).number("size_vram", file.size);
  const std::shared_ptr<const EngineInfo> info = model.backend ? model.backend->info() : nullptr;
  return made.number("context_length", info ? info->context.value_or(0) : 0).take();
}

std::string models_json(const Offer& offer, bool runs) {
  JsonWriter list('[');
  for (const auto& model : offer.models) list.item(model_json(*model, runs));
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

Task<> ollama_tags(Call& call) { co_await call.exchange.answer(200, kOllamaJson, models_json(*call.offer, false)); }

Task<> ollama_running(Call& call) { co_await call.exchange.answer(200, kOllamaJson, models_json(*call.offer, true)); }

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
  answer.text("modelfile", "").text("parameters", "").text("template", template_of(**model));
  answer.raw("details", details_json(**model));
  answer.raw("model_info", info_json(**model)).raw("capabilities", capabilities_json(**model));
  answer.text("modified_at", file_of(**model).written);
  co_await call.exchange.answer(200, kOllamaJson, answer.take());
}

}  // namespace parlance::serve
