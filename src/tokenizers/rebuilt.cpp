// The classes and what they build are facts about transformers: data/rebuilt_classes.def. Begin reading at
// rebuilt_parts.
#include "tokenizers/rebuilt.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tokenizers/sentencepiece_as_json.h"

namespace parlance {
namespace {

struct RebuiltClass {
  std::string_view class_name, normalizer, pre_tokenizer, model, tokens;
};
constexpr RebuiltClass kRows[] = {
#define REBUILT(name, normalizer, pre_tokenizer, model, tokens) {name, normalizer, pre_tokenizer, model, tokens},
#define MISTAKEN(name, part)
#include "rebuilt_classes.def"
#undef REBUILT
#undef MISTAKEN
};

/// A class that is a mistake in a file with such a part.
struct MistakenClass {
  std::string_view class_name, part;
};
constexpr MistakenClass kMistaken[] = {
#define REBUILT(name, normalizer, pre_tokenizer, model, tokens)
#define MISTAKEN(name, part) {name, part},
#include "rebuilt_classes.def"
#undef REBUILT
#undef MISTAKEN
};

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

bool is_mistaken(const Rebuilt& rebuilt, std::string_view json) {
  return std::any_of(std::begin(kMistaken), std::end(kMistaken), [&](const MistakenClass& row) {
    return row.class_name == rebuilt.class_name && has_type(json, row.part);
  });
}

std::optional<Rebuilt> rebuilt_parts(const Beside& beside) {
  if (is_generic_type(beside.model_type)) return std::nullopt;  // whatever class the configuration names
  std::string_view named = beside.tokenizer_class;
  if (named.ends_with("Fast")) named.remove_suffix(4);
  for (const RebuiltClass& row : kRows) {
    if (row.class_name != named) continue;
    return Rebuilt{std::string(named), text_as_configured(row.normalizer, beside),
                   text_as_configured(row.pre_tokenizer, beside), std::string(row.model), std::string(row.tokens)};
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
         "--model-as transformers takes the class's";
}

}  // namespace parlance
