// Makes served models of options. Begin reading at open_served_model.
#include "serve/open_model.h"

#include <sys/stat.h>

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "serve/capture/record.h"
#include "serve/models/run_cache.h"
#include "serve/sessions/saved_held.h"

namespace parlance::serve {

namespace {

Result<std::unique_ptr<Backend>> open_engine(const ModelOptions& model) {
  if (model.engine_kind.empty()) return std::unique_ptr<Backend>();
  Result<HttpAddress> address = HttpAddress::parse(model.engine_url);
  if (!address) return address.error();
  std::string engine_model = model.engine_model.empty() ? address->setting("model") : model.engine_model;
  return open_backend(model.engine_kind, {.address = std::move(*address),
                                          .limits = {.first_byte = model.first_byte, .between = model.stall},
                                          .model = std::move(engine_model),
                                          .api_key = model.engine_api_key});
}

/// Changes when the file does: its size and when it was written. Models' files are too large to be hashed at each
/// start.
std::string stamp_of(const std::string& path) {
  struct stat facts {};
  if (path.empty() || ::stat(path.c_str(), &facts) != 0) return path;
  return path + " " + std::to_string(facts.st_size) + " " + std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

/// Two models that were opened with the same text are the same.
std::string identity_of(const ModelOptions& model) {
  const ModelSource& source = model.reader.model();
  JsonWriter made('{');
  made.text("name", model.name).text("source", model.source).text("file", stamp_of(source.path));
  for (const std::string& file : model.tokenizer_files) made.text("tokenizer", stamp_of(file));
  for (const std::string& file : model.variable_files) made.text("variable", stamp_of(file));
  for (const NamedTemplate& one : source.templates) made.text(one.name, sha256(one.text));
  for (const SpecialToken& one : source.special_tokens) made.text(one.name, one.text);
  made.text("response_template", sha256(source.response_template));
  made.text("engine", model.engine_kind).text("url", model.engine_url).text("engine_model", model.engine_model);
  made.text("engine_key", sha256(model.engine_api_key)).flag("check", model.check_tokenizer);
  const auto number = [&made](std::string_view name, auto value) {
    made.number(name, static_cast<std::int64_t>(value));
  };
  number("messages", model.limits.messages);
  number("prompt_tokens", model.limits.prompt_tokens);
  number("reply_tokens", model.limits.reply_tokens);
  number("reasoning_tokens", model.limits.reasoning_tokens);
  number("reasoning_names", model.reasoning_names);
  number("running", model.slots.running);
  number("waiting", model.slots.waiting);
  number("first_byte", model.first_byte.count());
  number("stall", model.stall.count());
  return made.take();
}

}  // namespace

Result<std::shared_ptr<ServedModel>> open_served_model(ModelOptions&& model, const ServeOptions& server) {
  Result<std::unique_ptr<Backend>> backend = open_engine(model);
  if (!backend) return backend.error();
  std::string identity = identity_of(model);
  auto made = std::make_shared<ServedModel>(
      ServedModel{.name = std::move(model.name),
                  .identity = std::move(identity),
                  .backend = std::move(*backend),
                  .reader = std::move(model.reader),
                  .tokenizer = std::make_unique<RunCache>(std::move(model.tokenizer), server.run_cache_bytes),
                  .render = model.render,
                  .clock = std::move(model.clock),
                  .tokenize = std::move(model.tokenize),
                  .limits = model.limits,
                  .slots = std::make_unique<Slots>(model.slots),
                  .check_tokenizer = model.check_tokenizer,
                  .reasoning_names = model.reasoning_names});
  if (Result<void> done = complete(*made); !done) return done.error();
  if (!server.capture.empty()) made->capture_head = head_record(*made, model.source, model.tokenizer_files);
  if (!server.shared_sessions.empty()) made->fingerprint = fingerprint_of(*made);
  return made;
}

}  // namespace parlance::serve
