// A Hugging Face model folder: its chat templates and special tokens, with the precedence of
// transformers.
//
// Templates: chat_template.jinja and additional_chat_templates/*.jinja; without those
// tokenizer_config.json's `chat_template`; without that chat_template.json, which older processors
// wrote. Source: transformers 4.57 tokenization_utils_base.py (_from_pretrained) and
// processing_utils.py; special tokens: special_tokens.h. Begin reading at open_hf_folder.
#include <algorithm>

#include "json/json.h"
#include "sources/files.h"
#include "sources/json_file.h"
#include "sources/openers.h"
#include "sources/special_tokens.h"
#include "value/runtime.h"

namespace parlance {
namespace {

constexpr std::string_view kTemplateFile = "chat_template.jinja";
constexpr std::string_view kTemplateFolder = "additional_chat_templates";
constexpr std::string_view kProcessorTemplate = "chat_template.json";
constexpr std::string_view kTemplateSuffix = ".jinja";

constexpr std::string_view kLookedForInFolder =
    "looked for chat_template.jinja, additional_chat_templates/*.jinja, and `chat_template` in "
    "tokenizer_config.json "
    "and chat_template.json";

// ---- templates

Result<void> add_template_files(ModelSource& source) {
  if (const std::string path = join_path(source.path, kTemplateFile); is_file(path)) {
    Result<NamedTemplate> read = open_template_file(path);
    if (!read) return read.error();
    source.templates.push_back(std::move(*read));
  }
  const std::string folder = join_path(source.path, kTemplateFolder);
  for (const std::string& name : files_in(folder, kTemplateSuffix)) {
    Result<NamedTemplate> read = open_template_file(join_path(folder, name));
    if (!read) return read.error();
    read->name = name.substr(0, name.size() - kTemplateSuffix.size());
    // One named `default` replaces chat_template.jinja, as it does there.
    std::erase_if(source.templates, [&](const NamedTemplate& t) { return t.name == read->name; });
    source.templates.push_back(std::move(*read));
  }
  return {};
}

Error bad_template(const std::string& path, std::string_view what) {
  return Error(ErrorCode::model_file, path + ": " + std::string(what));
}

Result<void> add_named(ModelSource& source, const Value* name, const Value* text, const std::string& path) {
  if (name == nullptr || !name->is_leaf() || text == nullptr || !text->is_leaf()) {
    return bad_template(path, "chat_template is a list, but not of objects with `name` and `template`");
  }
  std::string key(leaf_text(*name));
  std::string origin = path + " (chat_template '" + key + "')";
  std::erase_if(source.templates, [&](const NamedTemplate& t) { return t.name == key; });  // the last one wins
  source.templates.push_back({std::move(key), std::string(leaf_text(*text)), std::move(origin)});
  return {};
}

/// chat_template: one string, a list of {"name", "template"}, or an object of texts by name.
Result<void> add_from_json(ModelSource& source, const JsonFile& file) {
  const Value* found = file["chat_template"];
  if (found == nullptr || found->is_none()) return {};
  if (found->is_leaf()) {
    source.templates.push_back({"default", std::string(leaf_text(*found)), file.path() + " (chat_template)"});
    return {};
  }
  if (found->kind == Kind::dict) {
    for (const DictEntry& entry : entries(*found)) {
      if (Result<void> added = add_named(source, &entry.key, &entry.value, file.path()); !added) return added;
    }
    return {};
  }
  if (found->kind != Kind::list) return bad_template(file.path(), "chat_template is neither text nor a list");
  for (const Value& item : items(*found)) {
    Result<void> added = add_named(source, json_member(item, "name"), json_member(item, "template"), file.path());
    if (!added) return added;
  }
  return {};
}

/// The member as JSON. What it says is looked at by who reads replies.
std::string response_template_of(const JsonFile& config) {
  const Value* found = config["response_template"];
  if (found == nullptr || found->is_none()) return {};
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  return append_json(rt, out, *found, kPythonJson) ? out : std::string();
}

/// A folder without a template of its own may hold GGUF files: one of them is the model.
Result<ModelSource> open_gguf_in(const SourceRequest& request, const ModelSource& folder) {
  const std::vector<std::string> names = gguf_files_in(folder.path);
  if (names.empty()) return folder;
  if (names.size() == 1) return open_gguf({join_path(folder.path, names[0]), request.stores, request.asker});
  std::string message = request.path + ": no chat template of its own, and several GGUF files: ";
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
    message.append(i == 0 ? "'" : ", '").append(names[i]).append("'");
  if (names.size() > kShown) message += ", ...";
  return Error(ErrorCode::no_template, std::move(message))
      .hint("give one of them: " + join_path(folder.path, names[0]));
}

}  // namespace

bool is_hf_folder(const SourceRequest& request) {
  return is_folder(request.path) || (request.path.ends_with(".json") && is_file(request.path));
}

Result<ModelSource> open_hf_folder(const SourceRequest& request) {
  ModelSource source;
  source.path = is_folder(request.path) ? request.path : folder_of(request.path);
  source.tokenizer_path = source.path;
  source.looked_for = kLookedForInFolder;
  SpecialTokenFiles files(source.path);
  JsonFile processor(join_path(source.path, kProcessorTemplate));
  if (Result<void> read = files.read(); !read) return read.error();
  if (Result<void> read = processor.read_if_there(); !read) return read.error();
  if (Result<void> added = add_template_files(source); !added) return added.error();
  const JsonFile* const with_templates[] = {&files.config(), &processor};
  for (const JsonFile* file : with_templates) {
    if (!source.templates.empty()) break;
    if (Result<void> added = add_from_json(source, *file); !added) return added.error();
  }
  source.special_tokens = special_tokens_of(files);
  source.notes = files.notes();
  if (source.templates.empty()) return open_gguf_in(request, source);
  source.response_template = response_template_of(files.config());
  return source;
}

}  // namespace parlance
