// Completing ArgumentTags by values that are written differently, and names and keys by awkward ones. Begin reading at
// refine_tags.
#include "probe/tag_values.h"

#include <algorithm>

#include "probe/calls.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

/// The turn with one call that has these arguments, from the first argument's key on.
std::string turn_with(Prober& prober, const TurnFacts& turn, Next next, std::string_view arguments) {
  const SceneCall call{std::string(kTools[0]), std::string(kIds[0]), std::string(arguments)};
  const Shot& shot = prober.take({.content = {}, .calls = {call}, .next = next});
  return shot ? std::string(turn_of(turn, shot).text) : std::string();
}

std::string_view after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at == kNone ? std::string_view() : text.substr(at + word.size());
}

/// A type between key and value: what differs there between a text and a number.
void find_types(ArgumentTags& tags, std::string_view with_text, std::string_view with_number) {
  const std::string_view of_text = after(with_text, "zqkey_a");
  const std::string_view of_number = after(with_number, "zqkey_i");
  const std::string_view text = of_text.substr(0, of_text.find(kValuesA[0]));
  const std::string_view number = of_number.substr(0, of_number.find("4217"));
  if (text.empty() || number.empty() || text == number || text.size() == of_text.size() ||
      number.size() == of_number.size())
    return;
  std::size_t begin = 0;
  while (begin < std::min(text.size(), number.size()) && text[begin] == number[begin]) ++begin;
  std::size_t end = 0;
  while (end < std::min(text.size(), number.size()) - begin &&
         text[text.size() - 1 - end] == number[number.size() - 1 - end])
    ++end;
  // "true" and "false" end alike: a type is a word
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  while (end > 0 && is_letter(text[text.size() - end])) --end;
  tags.key_close = marker_of(text.substr(0, begin));
  tags.type_close = marker_of(text.substr(text.size() - end));
  tags.string_types = {std::string(text.substr(begin, text.size() - end - begin))};
}

constexpr std::string_view kAwkward = "zqawkward";

/// How a text that stands for `kAwkward\"&<` hides what would end it.
/// Attributes escape the quote and the ampersand, and not every writer escapes the bracket: so it is looked at apart.
TextEscape escape_of(std::string_view text) {
  std::string_view rest = after(text, kAwkward);
  const bool quote = rest.starts_with("&quot;&amp;"), number = rest.starts_with("&#34;&amp;");
  if (!quote && !number) return TextEscape::none;
  rest = after(rest, "&amp;");
  return rest.starts_with("&lt;") ? TextEscape::xml : TextEscape::attribute;
}

/// Names in attributes.
void find_name_escape(Prober& prober, const TurnFacts& turn, CallForm& form, Next next) {
  const auto name = std::find_if(form.call.begin(), form.call.end(),
                                 [](const CallPart& part) { return part.kind == CallPart::Kind::name; });
  if (name == form.call.end()) return;
  const SceneCall call{std::string(kAwkward) + "\"&<", std::string(kIds[0]), R"({"zqkey_a": "zqval_a1"})"};
  const Shot& shot = prober.take({.content = {}, .calls = {call}, .next = next});
  if (shot) name->escape = escape_of(turn_of(turn, shot).text);
}

/// All arguments at once, where they are handed over as text: the object between the call's beginning and its end.
void find_whole(Prober& prober, const TurnFacts& turn, CallForm& form, std::size_t part, Next next) {
  constexpr std::string_view kObject = R"({"zqkey_a": "zqval_a1"})";
  constexpr std::size_t kLongest = 64;
  if (part == 0 || form.call[part - 1].kind != CallPart::Kind::literal || part + 1 == form.call.size()) return;
  const Convention found = prober.convention;
  prober.convention.text_arguments = true;
  const std::string text = turn_with(prober, turn, next, kObject);
  prober.convention = found;
  const std::size_t at = text.find(kObject);
  ReplyMarker& end = form.call[part + 1].literal;
  const std::string& begin = form.call[part - 1].literal.texts.front();
  const std::size_t from = at == kNone ? kNone : text.find(begin, text.find(kTools[0]));
  const std::size_t to = at == kNone ? kNone : text.find(end.texts.front(), at);
  if (from == kNone || to == kNone || from + begin.size() > at) return;
  const std::string_view before = std::string_view(text).substr(from + begin.size(), at - from - begin.size());
  const std::string after = text.substr(at + kObject.size(), to - at - kObject.size());
  if (is_blank(before) || is_blank(after) || before.size() > kLongest || after.size() > kLongest) return;
  form.call[part].arguments.tags.whole = marker_of(before);
  end.texts.push_back(std::string(trimmed(after)) + end.texts.front());
}

}  // namespace

void refine_tags(Prober& prober, const TurnFacts& turn, CallForm& form, Next next) {
  find_name_escape(prober, turn, form, next);
  for (CallPart& part : form.call) {
    if (part.kind != CallPart::Kind::arguments || part.arguments.codec != CallArguments::Codec::tags) continue;
    find_whole(prober, turn, form, static_cast<std::size_t>(&part - form.call.data()), next);
    ArgumentTags& tags = part.arguments.tags;
    const auto take = [&](std::string_view arguments) { return turn_with(prober, turn, next, arguments); };
    find_types(tags, take(R"({"zqkey_a": "zqval_a1"})"), take(R"({"zqkey_i": 4217})"));
    tags.key_escape = escape_of(take("{\"" + std::string(kAwkward) + "\\\"&<\": \"zqval_a1\"}"));
    const std::string markup = take(R"({"zqkey_a": "zqval<b>&amp;c"})");
    if (markup.find("<![CDATA[") != kNone) {
      tags.escape = ArgumentTags::Escape::cdata;
    } else if (markup.find("zqval&lt;b") != kNone) {
      tags.escape = ArgumentTags::Escape::xml;
    }
    const std::string nested = take(R"({"zqkey_o": {"zqinner": ["zqitem", true, null]}})");
    if (nested.find("'zqinner'") != kNone) tags.style = ArgumentTags::Style::python;
    const std::string list = take(R"({"zqkey_l": ["zqitem1", "zqitem2"]})");
    const std::string_view before_item = std::string_view(list).substr(0, std::min(list.find("zqitem1"), list.size()));
    const std::string& open = tags.open.texts.front();
    const std::size_t tag = before_item.rfind(open);
    if (tag == kNone || list.find("zqitem1") == kNone || after(before_item.substr(tag), "zqkey_l").size() > 0) continue;
    const std::string_view key = before_item.substr(tag + open.size());
    const std::size_t end = key.find(tags.key_close.texts.front());
    if (end != kNone && key.substr(0, end) != kKeyA && key.substr(0, end) != "zqkey_l" && !key.substr(0, end).empty())
      tags.item = std::string(key.substr(0, end));
  }
}

}  // namespace parlance::probe
