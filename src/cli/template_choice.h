// Which template a command uses: from -t, -m or -f, compiled, with the special tokens that come
// along.
#pragma once
#include <string>

#include "bulk/jsonl.h"

namespace parlance::cli {

/// What -m takes, for help.
inline constexpr const char* kModelOption =
    "A model: GGUF file, Hugging Face folder or org/name\nin its cache, Modelfile, name in "
    "Ollama's store";

struct TemplateWish {
  std::string file;    ///< -t; with -m in place of the model's own
  std::string model;   ///< -m
  std::string format;  ///< -f
  std::string name;    ///< --name
  std::optional<Syntax> syntax;  ///< --syntax: whatever the file or model says
  CompileOptions compile;
  bool any() const { return !file.empty() || !model.empty() || !format.empty(); }
};

/// Texts and tokens; nothing is compiled yet.
struct FoundTemplates {
  ModelSource source;
  bool is_model = false;  ///< more than one template may be there, so tools matter
};

/// There is no built-in format of that name; with the nearest one.
Error no_format(const std::string& name);
/// Fails with file, json, model_file, no_template, usage.
Result<FoundTemplates> find_templates(const TemplateWish& wish);
/// The template for a request with or without tools.
Result<const NamedTemplate*> choose_template(const FoundTemplates& found, const TemplateWish& wish,
                                             bool with_tools);
/// The same, compiled.
Result<Template> compile_chosen(const FoundTemplates& found, const TemplateWish& wish,
                                bool with_tools);

}  // namespace parlance::cli
