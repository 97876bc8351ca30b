// A model in Ollama's local store: a manifest names blobs; template, system, params and messages
// are such blobs.
//
// Facts: Ollama's manifest/paths.go and manifest.go (two folders of manifests, lists of them),
// server/images.go (GetModel: what each kind of layer means). A model without a template layer is
// rendered by its GGUF's own Jinja template; Ollama itself would recognise some of those and use a
// Go template of its own. Begin reading at open_ollama_model.
#include <algorithm>
#include <optional>

#include "json/json.h"
#include "sources/files.h"
#include "sources/json_file.h"
#include "sources/ollama_name.h"
#include "sources/openers.h"

namespace parlance {
namespace {

/// Where manifests lie, newest layout first, and how Ollama's own host is called there.
struct ManifestFolder {
  std::string_view name;
  std::string_view public_host;
};
constexpr ManifestFolder kManifestFolders[] = {{"manifests-v2", "ollama.com"}, {"manifests", "registry.ollama.ai"}};
constexpr std::size_t kMostManifests = 10000;
constexpr std::string_view kListType = "application/vnd.ollama.manifest.list.v2+json";

// ---- finding a manifest

struct Manifest {
  OllamaName name;
  std::string path;
};

/// Calls `visit` with the name of everything in a folder, in order, until the budget is used up.
template <typename Visit>
void for_each_in(const std::string& folder, std::size_t& budget, Visit visit) {
  for (const std::string& name : names_in(folder, budget)) {
    if (budget == 0) return;
    --budget;
    visit(name, join_path(folder, name));
  }
}

/// Every manifest of the store: host/namespace/model/tag, four folders deep.
std::vector<Manifest> manifests_in(const ModelStores& stores) {
  std::vector<Manifest> found;
  std::size_t budget = kMostManifests;
  for (const ManifestFolder& root : kManifestFolders) {
    OllamaName name;
    for_each_in(join_path(stores.ollama, root.name), budget, [&](const std::string& host, const std::string& hosts) {
      name.host = host;
      for_each_in(hosts, budget, [&](const std::string& space, const std::string& spaces) {
        name.name_space = space;
        for_each_in(spaces, budget, [&](const std::string& model, const std::string& models) {
          name.model = model;
          for_each_in(models, budget, [&](const std::string& tag, const std::string& path) {
            name.tag = tag;
            if (is_file(path)) found.push_back({name, path});
          });
        });
      });
    });
  }
  return found;
}

std::optional<Manifest> find_manifest(const SourceRequest& request) {
  if (request.stores.ollama.empty()) return std::nullopt;
  const std::optional<OllamaName> name = parse_ollama_name(request.path);
  if (!name) return std::nullopt;
  for (const ManifestFolder& root : kManifestFolders) {
    OllamaName there = *name;
    there.host = root.public_host;
    if (!there.is(*name)) there.host = name->host;
    std::string path = join_path(join_path(request.stores.ollama, root.name), there.path());
    if (is_file(path)) return Manifest{*name, std::move(path)};
  }
  for (Manifest& candidate : manifests_in(request.stores)) {
    if (candidate.name.is(*name)) return std::move(candidate);
  }
  return std::nullopt;
}

// ---- blobs

bool is_digest(std::string_view digest) {
  constexpr std::string_view kHash = "sha256";
  constexpr std::size_t kDigits = 64;
  if (digest.size() != kHash.size() + 1 + kDigits || !digest.starts_with(kHash)) return false;
  if (digest[kHash.size()] != ':' && digest[kHash.size()] != '-') return false;
  return digest.find_first_not_of("0123456789abcdefABCDEF", kHash.size() + 1) == digest.npos;
}

Error bad_manifest(const std::string& path, const std::string& what) {
  return Error(ErrorCode::model_file, path + ": " + what);
}

Error missing_blob(const Error& error, const std::string& manifest) {
  return error.hint("the manifest " + manifest + " names it; pull the model again");
}

class StoreModel {
 public:
  StoreModel(const SourceRequest& request, const Manifest& manifest)
      : request_(request), manifest_(manifest), file_(manifest.path) {
    source_.path = manifest.name.shortest();
  }

  Result<ModelSource> open() {
    if (Result<void> read = file_.read(); !read) return read.error();
    Result<Value> root = choose_from_list(file_.root());
    if (!root) return root.error();
    const Value* layers = json_member(*root, "layers");
    if (layers == nullptr || layers->kind != Kind::list) return bad_manifest(file_.path(), "no list of `layers`");
    if (Result<void> noted = note_renderer(*root); !noted) return noted.error();
    for (const Value& layer : items(*layers)) {
      if (Result<void> read = read_layer(layer); !read) return read.error();
    }
    if (weights_.empty()) return std::move(source_);
    Result<ModelSource> model = open_source({weights_, request_.stores, &request_});
    if (!model) return weights_failed(model.error());
    lay_over(*model, std::move(source_));
    return model;
  }

 private:
  using Reader = Result<void> (StoreModel::*)(const std::string& path);
  struct LayerKind {
    std::string_view type;
    Reader read;
  };
  static const LayerKind kLayerKinds[6];

  std::string blob(std::string_view digest) const {
    std::string name(digest);
    std::replace(name.begin(), name.end(), ':', '-');
    return join_path(join_path(request_.stores.ollama, "blobs"), name);
  }

  /// A list has a manifest for each program that could run the model; Ollama's own comes first.
  Result<Value> choose_from_list(Value root) {
    if (json_text(root, "mediaType") != kListType) return root;
    const Value* list = json_member(root, "manifests");
    const Value* chosen = nullptr;
    for (const std::string_view runner : {"ollama", "llamacpp", "mlx"}) {
      if (list == nullptr || list->kind != Kind::list || chosen != nullptr) break;
      for (const Value& candidate : items(*list)) {
        if (chosen == nullptr && json_text(candidate, "runner") == runner) chosen = &candidate;
      }
    }
    if (chosen == nullptr) return bad_manifest(file_.path(), "a list of manifests with none of ollama, llamacpp, mlx");
    if (json_member(*chosen, "layers") != nullptr) return *chosen;
    const std::string_view digest = json_text(*chosen, "digest");
    if (!is_digest(digest)) return bad_manifest(file_.path(), "a manifest in its list has no digest");
    chosen_.emplace(blob(digest));
    if (Result<void> read = chosen_->read(); !read) return missing_blob(read.error(), manifest_.path);
    return chosen_->root();
  }

  /// Some models are rendered by code inside Ollama; their template is not what Ollama uses.
  Result<void> note_renderer(Value root) {
    const Value* config = json_member(root, "config");
    const std::string_view digest = config == nullptr ? std::string_view() : json_text(*config, "digest");
    if (!is_digest(digest)) return {};
    JsonFile file(blob(digest));
    if (Result<void> read = file.read_if_there(); !read) return read;
    const std::string_view renderer = json_text(file.root(), "renderer");
    if (!renderer.empty()) {
      source_.notes.push_back("Ollama renders this model by its own code, '" + std::string(renderer) +
                              "', not by the template");
    }
    return {};
  }

  Result<void> read_layer(Value layer) {
    const std::string_view type = json_text(layer, "mediaType");
    for (const LayerKind& kind : kLayerKinds) {
      if (kind.type != type) continue;
      const std::string_view digest = json_text(layer, "digest");
      if (!is_digest(digest)) {
        return bad_manifest(file_.path(), "the digest of a layer of type " + std::string(type) +
                                              " is not sha256: and 64 hexadecimal digits");
      }
      const Result<void> read = (this->*kind.read)(blob(digest));
      return read || read.error().code() != ErrorCode::file ? read : missing_blob(read.error(), manifest_.path);
    }
    return {};  // a license, a projector, an adapter
  }

  Result<void> read_weights(const std::string& path) {
    if (weights_.empty()) weights_ = path;
    return {};
  }
  Result<void> read_template(const std::string& path) {
    Result<std::string> text = read_text_file(path);
    if (!text) return text.error();
    source_.templates.clear();
    source_.templates.push_back(
        {"default", std::move(*text), source_.path + " (template layer, " + path + ")", Syntax::go});
    return {};
  }
  Result<void> read_system(const std::string& path) {
    Result<std::string> text = read_text_file(path);
    if (!text) return text.error();
    source_.system = std::move(*text);
    return {};
  }
  Result<void> read_params(const std::string& path) {
    JsonFile file(path);
    if (Result<void> read = file.read(); !read) return read;
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    const auto add = [&](std::string_view name, const Value& value) {
      std::string text;
      const bool is_written = value.is_leaf() || append_json(rt, text, value);
      if (value.is_leaf()) text = leaf_text(value);
      if (is_written) source_.parameters.push_back({std::string(name), std::move(text)});
    };
    for (const DictEntry& entry : entries(file.root())) {
      const std::string_view name = leaf_text(entry.key);
      if (entry.value.kind != Kind::list) {
        add(name, entry.value);
        continue;
      }
      for (const Value& value : items(entry.value)) add(name, value);
    }
    return {};
  }
  Result<void> read_messages(const std::string& path) {
    JsonFile file(path);
    if (Result<void> read = file.read(Kind::list); !read) return read;
    for (const Value& message : items(file.root())) {
      source_.messages.push_back({std::string(json_text(message, "role")), std::string(json_text(message, "content"))});
    }
    return {};
  }

  /// A model with a template of its own is of use even where its weights are elsewhere, or no GGUF.
  Result<ModelSource> weights_failed(const Error& error) {
    if (source_.templates.empty()) {
      return error.code() == ErrorCode::file ? missing_blob(error, manifest_.path) : error;
    }
    source_.notes.push_back("its weights were not read: " + error.message());
    return std::move(source_);
  }

  const SourceRequest& request_;
  const Manifest& manifest_;
  JsonFile file_;
  std::optional<JsonFile> chosen_;  ///< the manifest that a list led to
  ModelSource source_;
  std::string weights_;
};

const StoreModel::LayerKind StoreModel::kLayerKinds[6] = {
    {"application/vnd.ollama.image.model", &StoreModel::read_weights},
    {"application/vnd.ollama.image.template", &StoreModel::read_template},
    {"application/vnd.ollama.image.prompt", &StoreModel::read_template},
    {"application/vnd.ollama.image.system", &StoreModel::read_system},
    {"application/vnd.ollama.image.params", &StoreModel::read_params},
    {"application/vnd.ollama.image.messages", &StoreModel::read_messages},
};

}  // namespace

bool is_ollama_model(const SourceRequest& request) { return find_manifest(request).has_value(); }

Result<ModelSource> open_ollama_model(const SourceRequest& request) {
  const std::optional<Manifest> manifest = find_manifest(request);
  if (!manifest) return Error(ErrorCode::file, request.path + ": not in Ollama's store");
  return StoreModel(request, *manifest).open();
}

std::vector<std::string> names_in_ollama(const ModelStores& stores) {
  std::vector<std::string> names;
  if (stores.ollama.empty()) return names;
  for (const Manifest& manifest : manifests_in(stores)) names.push_back(manifest.name.shortest());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace parlance
