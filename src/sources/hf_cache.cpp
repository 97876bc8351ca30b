// Hugging Face's cache: models--org--name/snapshots/REVISION, and refs/NAME, which holds the
// revision of a branch.
//
// Facts: huggingface_hub's file_download.py (layout) and constants.py. A snapshot is a model folder
// like any other. Begin reading at open_hf_cache.
#include <algorithm>
#include <optional>

#include "sources/files.h"
#include "sources/openers.h"

namespace parlance {
namespace {

constexpr std::string_view kPrefix = "models--";
constexpr std::string_view kBetween = "--";
constexpr std::string_view kSnapshots = "snapshots";

/// The folder of a model in the cache, and the revision that was asked for.
struct CachedModel {
  std::string folder;
  std::string revision;  ///< "": main, or the only one
};

bool is_repository_part(std::string_view part) {
  const bool is_name =
      part.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == part.npos;
  return is_name && !part.empty() && part != "." && part != "..";
}

/// org/name, or a name alone as the oldest models have, each with @revision if you like.
std::optional<CachedModel> by_name(const SourceRequest& request) {
  if (request.stores.hf_cache.empty() || is_there(request.path)) return std::nullopt;
  std::string_view name = request.path;
  CachedModel model;
  if (const std::size_t at = name.find('@'); at != name.npos) {
    model.revision = name.substr(at + 1);
    name = name.substr(0, at);
  }
  const std::size_t slash = name.find('/');
  const std::string_view org = slash == name.npos ? "" : name.substr(0, slash);
  const std::string_view own = slash == name.npos ? name : name.substr(slash + 1);
  if (!is_repository_part(own) || (slash != name.npos && !is_repository_part(org))) return std::nullopt;
  std::string folder(kPrefix);
  if (!org.empty()) folder.append(org).append(kBetween);
  model.folder = join_path(request.stores.hf_cache, folder.append(own));
  return is_folder(model.folder) ? std::optional(std::move(model)) : std::nullopt;
}

/// A folder models--org--name that was given as such.
std::optional<CachedModel> by_folder(const std::string& path) {
  std::string_view folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (!file_name_of(folder).starts_with(kPrefix)) return std::nullopt;
  if (!is_folder(join_path(path, kSnapshots))) return std::nullopt;
  return CachedModel{std::string(folder), ""};
}

std::optional<CachedModel> cached(const SourceRequest& request) {
  std::optional<CachedModel> model = by_folder(request.path);
  return model ? model : by_name(request);
}

/// The commit that refs/NAME holds; "" when there is no such file, or no commit in it.
std::string commit_of(const CachedModel& model, std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {  // refs/pr/1 is a path, but stays below refs
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (!is_repository_part(name.substr(begin, end - begin))) return {};
    begin = end + 1;
  }
  const std::string path = join_path(join_path(model.folder, "refs"), name);
  constexpr std::size_t kLongest = 1000;
  const Result<std::string> text = is_file(path) ? read_file(path, kLongest) : std::string();
  if (!text) return {};
  const std::size_t end = text->find_last_not_of(" \t\r\n");
  std::string commit = end == text->npos ? "" : text->substr(0, end + 1);
  return is_repository_part(commit) ? commit : std::string();
}

Error no_snapshot(const SourceRequest& request, const CachedModel& model, const std::vector<std::string>& there) {
  std::string message = request.path + ": in the cache " + model.folder + " there is no snapshot ";
  message += model.revision.empty() ? "of main" : "'" + model.revision + "'";
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < there.size() && i < kShown; ++i)
    message.append(i == 0 ? "; there is '" : ", '").append(there[i]).append("'");
  return Error(ErrorCode::file, std::move(message))
      .hint(there.empty() ? "the model was not downloaded to its end"
                          : "give a snapshot's folder, or name the revision: org/name@" + there[0]);
}

}  // namespace

bool is_hf_cache(const SourceRequest& request) { return cached(request).has_value(); }

Result<ModelSource> open_hf_cache(const SourceRequest& request) {
  const std::optional<CachedModel> model = cached(request);
  if (!model) return Error(ErrorCode::file, request.path + ": not in the cache");
  const std::string snapshots = join_path(model->folder, kSnapshots);
  const std::vector<std::string> there = names_in(snapshots);
  std::string commit = commit_of(*model, model->revision.empty() ? "main" : model->revision);
  if (commit.empty() && is_repository_part(model->revision)) commit = model->revision;
  // A model that was asked for by its commit has a snapshot, and no branch.
  if (commit.empty() && model->revision.empty() && there.size() == 1) commit = there[0];
  const std::string folder = join_path(snapshots, commit);
  if (commit.empty() || !is_folder(folder)) return no_snapshot(request, *model, there);
  return open_source({folder, request.stores, request.asker});
}

std::vector<std::string> names_in_hf_cache(const ModelStores& stores) {
  std::vector<std::string> names;
  if (stores.hf_cache.empty()) return names;
  for (const std::string& folder : names_in(stores.hf_cache)) {
    if (!folder.starts_with(kPrefix)) continue;
    std::string name = folder.substr(kPrefix.size());
    if (const std::size_t between = name.find(kBetween); between != name.npos)
      name.replace(between, kBetween.size(), "/");
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace parlance
