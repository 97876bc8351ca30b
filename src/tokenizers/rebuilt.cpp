// The classes and what they build are facts about transformers: data/rebuilt_classes.def. Begin reading at
// rebuilt_parts.
#include "tokenizers/rebuilt.h"

#include <array>
#include <utility>

#include "tokenizers/sentencepiece_as_json.h"

namespace parlance {
namespace {

struct RebuiltClass {
  std::string_view class_name, normalizer, pre_tokenizer;
};
constexpr RebuiltClass kRows[] = {
#define REBUILT(name, normalizer, pre_tokenizer) {name, normalizer, pre_tokenizer},
#include "rebuilt_classes.def"
#undef REBUILT
};

/// A row's text with what the settings say in it.
std::string text_as_configured(std::string_view text, const Beside& beside) {
  const bool blank = beside.add_prefix_space.value_or(false), no_blank = !beside.add_prefix_space.value_or(true);
  const std::pair<std::string_view, std::string_view> values[] = {
      {"@legacy", no_blank                        ? "never"
                  : beside.legacy.value_or(false) ? "always"
                                                  : "first"},
      {"@first", no_blank ? "never" : "first"},
      {"@always", no_blank ? "never" : "always"},
      {"@blank", blank ? "true" : "false"},
      {"@no_blank", no_blank ? "false" : "true"},
  };
  std::string out(text);
  for (const auto& [name, value] : values) {
    if (const std::size_t at = out.find(name); at != out.npos) out.replace(at, name.size(), value);
  }
  return out;
}

}  // namespace

std::optional<Rebuilt> rebuilt_parts(const Beside& beside) {
  if (is_generic_type(beside.model_type)) return std::nullopt;  // whatever class the configuration names
  std::string_view named = beside.tokenizer_class;
  if (named.ends_with("Fast")) named.remove_suffix(4);
  for (const RebuiltClass& row : kRows) {
    if (row.class_name != named) continue;
    return Rebuilt{std::string(named), text_as_configured(row.normalizer, beside),
                   text_as_configured(row.pre_tokenizer, beside)};
  }
  return std::nullopt;
}

std::string note_on_shape(const Rebuilt& rebuilt, std::string_view shape) {
  const std::size_t border = shape.find('\n');
  const std::string_view normalizer = shape.substr(0, border);
  const std::string_view pre_tokenizer = border == shape.npos ? "" : shape.substr(border + 1);
  // transformers itself takes this class for a mistake if the file works on bytes, and then follows the file.
  constexpr std::string_view kBytes = "\"ByteLevel\"";
  const bool is_mistaken = rebuilt.pre_tokenizer.find("\"Metaspace\"") != std::string::npos &&
                           pre_tokenizer.find(kBytes) != pre_tokenizer.npos;
  const bool other_normalizer = normalizer != rebuilt.normalizer, other_words = pre_tokenizer != rebuilt.pre_tokenizer;
  if (is_mistaken || (!other_normalizer && !other_words)) return {};
  const std::string parts = other_normalizer && other_words ? "a normaliser and a pre-tokeniser"
                            : other_normalizer              ? "a normaliser"
                                                            : "a pre-tokeniser";
  return "tokenizer_config.json: transformers builds " + parts + " of its own for the class " + rebuilt.class_name +
         ", so that some texts get other ids there than from this tokenizer.json, which parlance follows";
}

}  // namespace parlance
