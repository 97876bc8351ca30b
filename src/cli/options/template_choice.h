// Which template a command uses: from -t, -m or -f, with the special tokens that come along.
#pragma once
#include <string>

#include "parlance/request.h"

namespace parlance::cli {

/// What -m takes, for help.
inline constexpr const char* kModelOption =
    "A model: GGUF file, Hugging Face folder or org/name\nin its cache, Modelfile, name in "
    "Ollama's store";

struct TemplateWish {
  std::string file;              ///< -t; with -m in place of the model's own
  std::string model;             ///< -m
  std::string format;            ///< -f
  std::string name;              ///< --name
  std::optional<Syntax> syntax;  ///< --syntax: whatever the file or model says
  CompileOptions compile;
  bool any() const { return !file.empty() || !model.empty() || !format.empty(); }
};

/// Texts and tokens; nothing is compiled yet. Fails with file, json, model_file, no_template, usage.
Result<ModelSource> find_templates(const TemplateWish& wish);

}  // namespace parlance::cli
