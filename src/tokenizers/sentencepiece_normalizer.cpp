// A text is replaced part by part: a user-defined piece stays, else the longest rule counts, else the character stays.
// Blanks at both ends, and all but one of those in a row, are dropped where the model says so. Facts: SentencePiece
// 0.2.3, normalizer.cc.
#include "tokenizers/sentencepiece_normalizer.h"

#include "base/utf8.h"
#include "tokenizers/pieces.h"

namespace parlance {
SpNormalizer::SpNormalizer(const SpModel& model)
    : rules_(model.charsmap),
      dummy_in_front_(model.add_dummy_prefix && !model.whitespace_as_suffix),
      dummy_behind_(model.add_dummy_prefix && model.whitespace_as_suffix),
      removes_extra_(model.remove_extra_whitespaces),
      escapes_(model.escape_whitespaces) {}

SpNormalizer::Part SpNormalizer::part_of(std::string_view text, const PieceTrie& user_defined) const {
  if (const std::size_t size = user_defined.longest(text); size != 0) return {text.substr(0, size), size};
  if (const CharsmapRules::Match rule = rules_.longest(text); rule.size != 0) return {rule.text, rule.size};
  const utf8::Decoded c = utf8::decode(text.data(), text.data() + text.size());
  if (!utf8::is_valid(text.substr(0, c.size), false)) return {kReplacement, 1};
  return {text.substr(0, c.size), c.size};
}

void SpNormalizer::append(std::string_view part, std::uint32_t place, SpNormalized& into) const {
  for (const char c : part) {
    const std::string_view written = c == ' ' && escapes_ ? kBlank : std::string_view(&c, 1);
    into.text += written;
    into.places.insert(into.places.end(), written.size(), place);
  }
}

Result<SpNormalized> SpNormalizer::normalize(std::string_view text, const PieceTrie& user_defined,
                                             bool has_dummy) const {
  SpNormalized made;
  std::size_t at = 0;
  if (removes_extra_) {
    for (Part part; at < text.size() && (part = part_of(text.substr(at), user_defined)).text == " ";) at += part.size;
  }
  if (at == text.size()) return made;
  made.text.reserve((text.size() - at) * 3 / 2 + 8);
  made.places.reserve(made.text.capacity());
  if (has_dummy && dummy_in_front_) append(" ", static_cast<std::uint32_t>(at), made);
  bool after_blank = removes_extra_;
  while (at < text.size()) {
    const Part part = part_of(text.substr(at), user_defined);
    note_taken(text, at, part.size, part.text, made.dropped);
    std::string_view kept = part.text;
    while (after_blank && kept.starts_with(' ')) kept.remove_prefix(1);
    append(kept, static_cast<std::uint32_t>(at), made);
    if (made.text.size() > most_normalized(text.size())) return normalized_too_long(text.size());
    if (!kept.empty()) after_blank = removes_extra_ && kept.ends_with(' ');
    at += part.size;
  }
  auto end = static_cast<std::uint32_t>(at);
  const std::string_view blank = escapes_ ? kBlank : std::string_view(" ");
  while (removes_extra_ && made.text.ends_with(blank)) {
    made.text.resize(made.text.size() - blank.size());
    end = made.places[made.text.size()];
    made.places.resize(made.text.size());
  }
  if (has_dummy && dummy_behind_) append(" ", end, made);
  made.places.push_back(end);
  return made;
}

}  // namespace parlance
