// Where other programs keep their models, by their own environment variables.
//
// Facts: Ollama's envconfig/config.go (Models, clean), huggingface_hub's constants.py.
#include "sources/files.h"
#include "sources/openers.h"

namespace parlance {
namespace {

using Lookup = const char* (*)(const char* name);

std::string variable_of(Lookup lookup, const char* name) {
  const char* text = lookup == nullptr ? nullptr : lookup(name);
  return text == nullptr ? "" : text;
}

/// Without blanks and quotes around it.
std::string cleaned(const std::string& text) {
  constexpr std::string_view kAround = " \t\r\n\"'";
  const std::size_t begin = text.find_first_not_of(kAround);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

/// ~ and ~/ at the beginning.
std::string with_home(const std::string& path, const std::string& home) {
  const bool has_tilde = path == "~" || path.starts_with("~/");
  return has_tilde && !home.empty() ? home + path.substr(1) : path;
}

std::string hf_cache_of(Lookup lookup, const std::string& home) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (std::string set = variable_of(lookup, name); !set.empty()) return with_home(set, home);
  }
  std::string folder = variable_of(lookup, "HF_HOME");
  if (folder.empty()) {
    std::string cache = variable_of(lookup, "XDG_CACHE_HOME");
    if (cache.empty() && home.empty()) return {};
    folder = join_path(cache.empty() ? join_path(home, ".cache") : cache, "huggingface");
  }
  return join_path(with_home(folder, home), "hub");
}

}  // namespace

ModelStores model_stores(Lookup lookup) {
  ModelStores stores;
  stores.home = variable_of(lookup, "HOME");
  stores.ollama = cleaned(variable_of(lookup, "OLLAMA_MODELS"));
  if (stores.ollama.empty() && !stores.home.empty()) stores.ollama = join_path(stores.home, ".ollama/models");
  stores.hf_cache = hf_cache_of(lookup, stores.home);
  return stores;
}

std::vector<StoredModel> stored_models(const ModelStores& stores) {
  std::vector<StoredModel> models;
  for (std::string& name : names_in_hf_cache(stores)) models.push_back({std::move(name), stores.hf_cache});
  for (std::string& name : names_in_ollama(stores)) models.push_back({std::move(name), stores.ollama});
  return models;
}

}  // namespace parlance
