// Losses of text that the tokenizer lacks. Begin reading at lose_unknown.
#include "cli/unknown_text.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "base/unicode.h"
#include "base/utf8.h"

namespace parlance::cli {
namespace {

std::string shown_character(std::string_view character, char32_t code_point) {
  if (code_point == '\n') return "\\n";
  if (code_point == '\t') return "\\t";
  if (unicode::is_printable(code_point)) return std::string(character);
  char number[16];
  std::snprintf(number, sizeof number, "<U+%04X>", static_cast<unsigned>(code_point));
  return number;
}

/// The first characters, whole ones, in quotation marks. Invisible ones by their number.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t kShown = 40;
  const std::string_view beginning = utf8::whole_prefix(text, kShown);
  std::string shown = "'";
  for (std::size_t at = 0; at < beginning.size();) {
    const utf8::Decoded c = utf8::decode(beginning.data() + at, beginning.data() + beginning.size());
    shown += shown_character(beginning.substr(at, c.size), c.code_point);
    at += c.size;
  }
  return shown + (text.size() > kShown ? "…'" : "'");
}

std::string sentence_of(const UnknownText& text, std::size_t places, const Tokenizer& tokenizer) {
  std::string sentence = text.dropped ? "the tokenizer makes no token of " : "the tokenizer has no token for ";
  sentence += beginning_of(text.text);
  if (places > 1)
    sentence += " and what stands in " + std::to_string(places - 1) + " more " + (places == 2 ? "place" : "places");
  if (text.dropped) return sentence + ": the model sees nothing there";
  return sentence + ": the model sees its unknown token there, id " + std::to_string(*tokenizer.facts().unk);
}

}  // namespace

void lose_unknown(std::span<const UnknownText> unknown, const Tokenizer& tokenizer, std::vector<Loss>& losses) {
  std::map<std::pair<std::string_view, bool>, std::size_t> places;
  for (const UnknownText& text : unknown) ++places[{text.path, text.dropped}];
  for (const UnknownText& text : unknown) {
    const auto place = places.find({text.path, text.dropped});
    if (place == places.end()) continue;
    losses.push_back({LossKind::lost, "character", text.path.empty() ? "the template" : text.path,
                      sentence_of(text, place->second, tokenizer), "is it the model's tokenizer?"});
    places.erase(place);
  }
}

}  // namespace parlance::cli
