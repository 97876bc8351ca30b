// The table of openers, and the choice among a model's named templates.
#include "base/nearest.h"
#include "sources/files.h"
#include "sources/openers.h"

namespace parlance {
namespace {

struct Opener {
  std::string_view kind;
  bool (*accepts)(const std::string& path);
  Result<ModelSource> (*open)(const std::string& path);
};

constexpr Opener kOpeners[] = {
    {"template file", is_plain_file, open_plain_file},
    {"Hugging Face folder", is_hf_folder, open_hf_folder},
};

const NamedTemplate* named(const ModelSource& source, std::string_view name) {
  for (const NamedTemplate& candidate : source.templates) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

Error no_template_named(const ModelSource& source, std::string_view name) {
  Error::Parts parts;
  parts.code = ErrorCode::no_template;
  parts.message = source.path;
  parts.message += name.empty() ? ": several chat templates and none is `default`; there are"
                                : ": no chat template '" + std::string(name) + "'; there is";
  NearestName nearest(name);
  for (const NamedTemplate& candidate : source.templates) {
    parts.message.append(&candidate == source.templates.data() ? " '" : ", '")
        .append(candidate.name)
        .append("'");
    nearest.offer(candidate.name);
  }
  parts.hint = name.empty() ? "choose one with --name" : nearest.hint();
  return Error(std::move(parts));
}

}  // namespace

/// Source: transformers 4.57 tokenization_utils_base.py, get_chat_template.
Result<const NamedTemplate*> ModelSource::choose(std::optional<std::string_view> name,
                                                 bool has_tools) const {
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

Result<ModelSource> open_model(const std::string& path) {
  for (const Opener& opener : kOpeners) {
    if (opener.accepts(path)) return opener.open(path);
  }
  if (const Result<std::string> read = read_file(path, kMaxConfiguration); !read)
    return read.error();
  return Error(ErrorCode::no_template,
               path + ": neither a model folder nor a template (.jinja); use -t for templates");
}

}  // namespace parlance
