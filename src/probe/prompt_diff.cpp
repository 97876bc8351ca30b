// Comparing stretches of prompts. Begin reading at common_prefix.
#include "probe/prompt_diff.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance::probe {
namespace {

/// A '<' in prose must not make the rest of a prompt one tag.
constexpr std::size_t kLongestTag = 96;

bool equal(Stretch a, std::size_t i, Stretch b, std::size_t j, Same same) {
  if (a.text[i] != b.text[j]) return false;
  return same == Same::text || (a.places[i] != 0 && a.places[i] == b.places[j]);
}

/// Where the tag that begins at `begin` ends, or `begin` if none does.
/// "<>" is no tag, and brackets of JSON are none: a '{' or, behind '[', a quote says that they are values.
std::size_t tag_end(std::string_view text, std::size_t begin) {
  const char open = text[begin];
  if (open != '<' && open != '[') return begin;
  const char close = open == '<' ? '>' : ']';
  for (std::size_t i = begin + 1; i < text.size() && i - begin < kLongestTag; ++i) {
    if (text[i] == close) return i + 1 > begin + 2 ? i + 1 : begin;
    if (text[i] == '\n' || text[i] == open || text[i] == '{' || (open == '[' && (text[i] == '"' || text[i] == '\'')))
      break;
  }
  return begin;
}

}  // namespace

/// Compares texts from the front. With Same::place a byte of the request never counts (its place is 0): equal values of
/// two calls are a coincidence of the experiment.
std::size_t common_prefix(Stretch a, Stretch b, Same same) {
  std::size_t size = 0;
  while (size < a.size() && size < b.size() && equal(a, size, b, size, same)) ++size;
  return size;
}

std::size_t common_suffix(Stretch a, Stretch b, Same same) {
  std::size_t size = 0;
  while (size < a.size() && size < b.size() && equal(a, a.size() - 1 - size, b, b.size() - 1 - size, same)) ++size;
  return size;
}

bool are_words(std::string_view text) {
  constexpr std::string_view kOthers = "_-.,:;!?'\"*#()";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool is_letter = ascii::is_alnum(c);
    return is_letter || is_space(c) || kOthers.find(c) != kOthers.npos;
  });
}

std::vector<Tag> tags_of(std::string_view text) {
  std::vector<Tag> tags;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = tag_end(text, i);
    if (end > i) tags.push_back({i, end});
    i = std::max(end, i + 1);
  }
  return tags;
}

namespace {

/// The chain of tags that `cut` would cut; empty if none.
/// From the front, since where a chain begins depends on the tags before it.
Tag cut_chain(std::string_view text, std::size_t cut) {
  for (std::size_t i = 0; i < text.size() && i < cut;) {
    const std::size_t end = chain_end(text, i);
    if (i < cut && cut < end) return {i, end};
    i = std::max(end, i + 1);
  }
  return {cut, cut};
}

}  // namespace

std::size_t before_cut_tag(std::string_view text, std::size_t cut) { return cut_chain(text, cut).begin; }
std::size_t behind_cut_tag(std::string_view text, std::size_t cut) { return cut_chain(text, cut).end; }

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

namespace {

/// Where a word ends that may join two tags: letters, and attributes behind it or alone, as in `assistant to=user`.
std::size_t word_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  while (end < text.size() && text[end] == ' ') {
    std::size_t key = end + 1;
    while (key < text.size() && is_word(text[key])) ++key;
    if (key == end + 1 || key >= text.size() || text[key] != '=') break;
    std::size_t value = key + 1;
    while (value < text.size() && (is_word(text[value]) || text[value] == '"' || text[value] == '.')) ++value;
    end = value;
  }
  return end;
}

}  // namespace

/// A chain is taken as one marker: in <|channel|>final<|message|> the word between the tags is part of it.
std::size_t chain_end(std::string_view text, std::size_t begin) {
  std::size_t end = tag_end(text, begin);
  if (end == begin) return begin;
  for (;;) {
    const std::size_t word = word_end(text, end);
    if (word == end || word >= text.size()) return end;
    const std::size_t next = tag_end(text, word);
    if (next == word) return end;
    end = next;
  }
}

std::size_t last_chain_begin(std::string_view text) {
  std::size_t begin = text.size();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = chain_end(text, i);
    if (end > i) begin = i;
    i = std::max(end, i + 1);
  }
  return begin;
}

namespace {

/// Bytes of the same place in the template are shared for certain; equal texts past them if they are more than white
/// space, as where the first of several calls is written by a literal of its own.
std::size_t more_than_blank(std::size_t same_place, std::size_t same_text, std::string_view extra) {
  return same_place > 0 && is_blank(extra) ? same_place : same_text;
}

}  // namespace

/// Both measures stop in the middle of a tag where two tags begin or end alike. So the result shrinks to whole tags.
std::size_t shared_end(Stretch text, std::size_t from, std::size_t to, Stretch other) {
  const Stretch part = text.part(from, to);
  const std::size_t place = common_suffix(part, other, Same::place);
  const std::size_t same = common_suffix(part, other, Same::text);
  const std::size_t size = more_than_blank(place, same, text.text.substr(to - same, same - place));
  return to - std::min(behind_cut_tag(text.text, to - size), to);
}

std::size_t shared_begin(Stretch text, std::size_t from, std::size_t to, Stretch other) {
  const Stretch part = text.part(from, to);
  const std::size_t place = common_prefix(part, other, Same::place);
  const std::size_t same = common_prefix(part, other, Same::text);
  const std::size_t size = more_than_blank(place, same, text.text.substr(from + place, same - place));
  return std::max(before_cut_tag(text.text, from + size), from) - from;
}

/// White space around a marker is its framing: models write it differently, and a reader must not insist on it.
ReplyMarker marker_of(std::string_view text) {
  ReplyMarker marker;
  const std::string_view inner = trimmed(text);
  if (inner.empty()) return marker;
  const std::size_t begin = static_cast<std::size_t>(inner.data() - text.data());
  marker.texts = {std::string(inner)};
  marker.before = std::string(text.substr(0, begin));
  marker.after = std::string(text.substr(begin + inner.size()));
  return marker;
}

CallPart literal_part(std::string_view text) {
  CallPart part;
  part.literal = marker_of(text);
  return part;
}

std::string_view first_tag(std::string_view text) {
  text = trimmed_left(text);
  if (text.empty()) return {};
  const std::size_t end = chain_end(text, 0);
  if (end > 0) return text.substr(0, end);
  std::size_t word = 1;
  while (word < text.size() && !is_space(text[word]) && text[word] != '<') ++word;
  return text.substr(0, word);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 48;
  if (text.size() <= kMost) return std::string(text);
  return std::string(utf8::whole_prefix(text, kMost)) + "…";
}

}  // namespace parlance::probe
