// The table of sources, what is said when none fits, and the choice among a model's named
// templates.
//
// Begin reading at open_model.
#include <algorithm>
#include <cerrno>

#include "base/nearest.h"
#include "sources/files.h"
#include "sources/ollama_name.h"
#include "sources/openers.h"

namespace parlance {
namespace {

/// A kind of source. Its opener is asked when `accepts` says yes and no row before did.
struct Opener {
  bool (*accepts)(const SourceRequest& request);
  Result<ModelSource> (*open)(const SourceRequest& request);
  std::string_view store = {};                 ///< a kind that is opened by name: where from
  std::string ModelStores::*folder = nullptr;  ///< which folder that is
  std::vector<std::string> (*names)(const ModelStores& stores) = nullptr;
};

constexpr Opener kOpeners[] = {
    {is_plain_file, open_plain_file},
    {is_gguf, open_gguf},
    {is_modelfile, open_modelfile},
    {is_hf_cache, open_hf_cache, "Hugging Face's cache", &ModelStores::hf_cache, names_in_hf_cache},
    {is_hf_folder, open_hf_folder},
    {is_ollama_model, open_ollama_model, "Ollama's store", &ModelStores::ollama, names_in_ollama},
};

constexpr int kLongestFrom = 8;

const NamedTemplate* named(const ModelSource& source, std::string_view name) {
  for (const NamedTemplate& candidate : source.templates) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

Error no_template_named(const ModelSource& source, std::string_view name) {
  if (source.templates.empty()) return Error(ErrorCode::no_template, source.path + ": there is no chat template");
  std::string message = source.path;
  message += name.empty() ? ": several chat templates and none is `default`; there are"
                          : ": no chat template '" + std::string(name) + "'; there is";
  NearestName nearest(name);
  for (const NamedTemplate& candidate : source.templates) {
    message.append(&candidate == source.templates.data() ? " '" : ", '").append(candidate.name).append("'");
    nearest.offer(candidate.name);
  }
  return Error(ErrorCode::no_template, std::move(message))
      .hint(name.empty() ? "choose one by its name" : nearest.hint());
}

/// "Ollama's store /models, which has 'a:latest', 'b:7b'", and the names for a hint.
std::string shown_store(const Opener& row, const ModelStores& stores, NearestName& nearest) {
  const std::string& folder = stores.*row.folder;
  std::string text = std::string(row.store) + " " + folder;
  if (!is_folder(folder)) return text + ", which is not there";
  const std::vector<std::string> names = row.names(stores);
  if (names.empty()) return text + ", which has none";
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < names.size(); ++i) {
    nearest.offer(names[i]);
    nearest.offer(names[i].substr(0, names[i].rfind(':')));
    if (i < kShown) text.append(i == 0 ? ", which has '" : ", '").append(names[i]).append("'");
  }
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

/// On Linux Ollama usually runs as a service, under a user of its own.
constexpr const char* kServiceStore = "/usr/share/ollama/.ollama/models";

Error nothing_found(const SourceRequest& request) {
  const Error error = file_error(request.path, ENOENT);
  const bool is_name = !request.path.starts_with('.') && parse_ollama_name(request.path).has_value();
  if (!is_name) return error;
  std::string message = error.message(), hint = error.hint();
  NearestName nearest(request.path);
  for (const Opener& row : kOpeners) {
    if (row.folder == nullptr || (request.stores.*row.folder).empty()) continue;
    message += "; not in " + shown_store(row, request.stores, nearest);
  }
  if (hint.empty()) hint = nearest.hint();
  if (hint.empty() && !request.stores.ollama.empty() && !is_folder(request.stores.ollama) && is_folder(kServiceStore)) {
    hint = std::string("Ollama's service keeps its models in ") + kServiceStore + ": set OLLAMA_MODELS";
  }
  return Error(error.code(), std::move(message)).hint(std::move(hint));
}

/// A FROM may lead to a Modelfile whose FROM leads on, but not for ever.
Result<void> check_chain(const SourceRequest& request) {
  int length = 0;
  const std::string path = canonical(request.path);
  for (const SourceRequest* asker = request.asker; asker != nullptr; asker = asker->asker) {
    if (canonical(asker->path) == path && is_there(path))
      return Error(ErrorCode::model_file, request.path + ": its FROM leads back to itself");
    if (++length > kLongestFrom) {
      return Error(ErrorCode::model_file,
                   request.path + ": more than " + std::to_string(kLongestFrom) + " FROMs, one after the other");
    }
  }
  return {};
}

}  // namespace

Result<ModelSource> open_source(const SourceRequest& request) {
  if (Result<void> checked = check_chain(request); !checked) return checked.error();
  for (const Opener& opener : kOpeners) {
    if (opener.accepts(request)) return opener.open(request);
  }
  if (!is_there(request.path)) return nothing_found(request);
  if (const Result<std::string> read = read_file(request.path, kMaxConfiguration); !read) return read.error();
  return Error(ErrorCode::no_template, request.path +
                                           ": neither a template (.jinja, .gotmpl), a GGUF file, a Modelfile nor a "
                                           "model folder")
      .hint("open_template_file() takes a template of any name");
}

Result<ModelSource> open_model(const std::string& path, const ModelStores& stores, bool may_lack_template) {
  Result<ModelSource> source = open_source({path, stores});
  if (!source || may_lack_template || !source->templates.empty()) return source;
  return Error(ErrorCode::no_template, path + ": no chat template").hint(source->looked_for);
}

std::vector<std::string_view> ModelSource::stop() const& {
  std::vector<std::string_view> texts;
  for (const SourceParameter& parameter : parameters) {
    if (parameter.name == "stop") texts.push_back(parameter.value);
  }
  return texts;
}

/// Source: transformers 4.57 tokenization_utils_base.py, get_chat_template.
Result<const NamedTemplate*> ModelSource::choose(std::optional<std::string_view> name, bool has_tools) const& {
  const NamedTemplate* chosen = nullptr;
  if (name) {
    chosen = named(*this, *name);
  } else if (templates.size() == 1) {
    chosen = templates.data();
  } else {
    if (has_tools) chosen = named(*this, "tool_use");
    if (chosen == nullptr) chosen = named(*this, "default");
  }
  if (chosen == nullptr) return no_template_named(*this, name.value_or(""));
  return chosen;
}

}  // namespace parlance
