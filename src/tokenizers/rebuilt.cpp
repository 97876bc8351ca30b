// The classes and what they build are facts about transformers: data/rebuilt_classes.def. Begin reading at
// rebuilt_parts.
#include "tokenizers/rebuilt.h"

#include <algorithm>
#include <utility>

namespace parlance {
namespace {

struct RebuiltClass {
  std::string_view class_name, normalizer, pre_tokenizer, model;
  bool is_followed;
};
constexpr RebuiltClass kRows[] = {
#define REBUILT(name, normalizer, pre_tokenizer, model, is_followed) \
  {name, normalizer, pre_tokenizer, model, is_followed},
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

/// Settings of BPE that change ids even where no text is unknown.
constexpr std::string_view kOfMerging[] = {"\"byte_fallback\":true", "\"ignore_merges\":true",
                                           "\"end_of_word_suffix\":", "\"continuing_subword_prefix\":"};

bool merges_otherwise(std::string_view one, std::string_view other) {
  return std::any_of(std::begin(kOfMerging), std::end(kOfMerging), [&](std::string_view setting) {
    return (one.find(setting) != one.npos) != (other.find(setting) != other.npos);
  });
}

}  // namespace

std::optional<Rebuilt> rebuilt_parts(const Beside& beside) {
  for (const RebuiltClass& row : kRows) {
    if (row.class_name != beside.tokenizer_class) continue;
    return Rebuilt{beside.tokenizer_class, text_as_configured(row.normalizer, beside),
                   text_as_configured(row.pre_tokenizer, beside), std::string(row.model), row.is_followed};
  }
  return std::nullopt;
}

std::string note_on_shape(const Rebuilt& rebuilt, std::string_view shape) {
  const std::size_t border = shape.find('\n');
  const std::string_view normalizer = shape.substr(0, border);
  const std::string_view rest = border == shape.npos ? "" : shape.substr(border + 1);
  const std::string_view pre_tokenizer = rest.substr(0, rest.find('\n'));
  const std::string_view model = rest.substr(std::min(rest.size(), pre_tokenizer.size() + 1));
  std::string parts;
  const auto add = [&](bool differs, std::string_view part) {
    if (differs) parts.append(parts.empty() ? "" : " and ").append(part);
  };
  add(normalizer != rebuilt.normalizer, "a normaliser");
  add(pre_tokenizer != rebuilt.pre_tokenizer, "a pre-tokeniser");
  add(!model.empty() && merges_otherwise(rebuilt.model, model), "merges");
  if (parts.empty()) return {};
  return "tokenizer_config.json: transformers builds " + parts + " of its own for the class " + rebuilt.class_name +
         ", so that some texts get other ids there than from this tokenizer.json, which parlance follows; "
         "the option as_transformers takes the class's";
}

}  // namespace parlance
