// Source: transformers 5.24.0, models/auto/tokenization_auto.py (AutoTokenizer.from_pretrained). Not followed: its list
// of models by name, and code that comes with a model. Begin reading at tokenizer_class_of.
#include "sources/tokenizer_class.h"

#include <algorithm>
#include <iterator>

namespace parlance {
namespace {

struct TypeClass {
  std::string_view model_type, class_name;
  bool always;
};
constexpr TypeClass kTypeClasses[] = {
#define TYPE_CLASS(type, name, always) {type, name, always},
#include "transformers_types.def"
};

/// A class that is a mistake in a file with such a part.
struct MistakenClass {
  std::string_view class_name, part;
};
constexpr MistakenClass kMistaken[] = {
#define MISTAKEN(name, part) {name, part},
#include "transformers_types.def"
};

struct ClassTokens {
  std::string_view class_name, tokens;
};
constexpr ClassTokens kClassTokens[] = {
#define CLASS_TOKENS(name, tokens) {name, tokens},
#include "class_tokens.def"
#undef CLASS_TOKENS
};

std::string_view named_class(const JsonFile& file) {
  std::string_view named = json_text(file.root(), "tokenizer_class");
  if (named.ends_with("Fast")) named.remove_suffix(4);
  return named;
}

/// Has the JSON a member "type" with this value? A text of the vocabulary cannot look like one.
bool has_type(std::string_view json, std::string_view type) {
  constexpr std::string_view kMember = "\"type\"", kBlank = " \t\r\n";
  const auto after = [&](std::size_t at) { return std::min(json.find_first_not_of(kBlank, at), json.size()); };
  for (std::size_t at = json.find(kMember); at != json.npos; at = json.find(kMember, at + 1)) {
    const std::size_t colon = after(at + kMember.size());
    if (colon == json.size() || json[colon] != ':') continue;
    const std::string_view value = json.substr(after(colon + 1));
    if (value.starts_with('"') && value.substr(1).starts_with(type) && value.substr(1 + type.size()).starts_with('"'))
      return true;
  }
  return false;
}

}  // namespace

std::string tokenizer_class_of(const JsonFile& config, const JsonFile& model) {
  std::string_view named = named_class(config);
  if (named.empty()) named = named_class(model);
  const std::string_view type = json_text(model.root(), "model_type");
  const auto found = std::find_if(std::begin(kTypeClasses), std::end(kTypeClasses),
                                  [&](const TypeClass& row) { return row.model_type == type; });
  // A configuration that names code of its own does not go by the type.
  const bool counts = found != std::end(kTypeClasses) && json_member(config.root(), "auto_map") == nullptr;
  return std::string(counts && (named.empty() || found->always) ? found->class_name : named);
}

bool may_be_mistaken(std::string_view class_name) {
  return std::any_of(std::begin(kMistaken), std::end(kMistaken),
                     [&](const MistakenClass& row) { return row.class_name == class_name; });
}

bool is_mistaken_class(std::string_view class_name, std::string_view json) {
  return std::any_of(std::begin(kMistaken), std::end(kMistaken), [&](const MistakenClass& row) {
    return row.class_name == class_name && has_type(json, row.part);
  });
}

std::string_view tokens_of_class(std::string_view class_name) {
  const auto found = std::find_if(std::begin(kClassTokens), std::end(kClassTokens),
                                  [&](const ClassTokens& row) { return row.class_name == class_name; });
  return found == std::end(kClassTokens) ? kNoTokens : found->tokens;
}

}  // namespace parlance
