// Adding markers to tries. Begin reading at add.
#include "reply/read/marker_ways.h"

#include "reply/marker_texts.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {

Mark mark_of(const ReplyMarker& marker, Meaning meaning, std::size_t index) {
  return {.meaning = meaning, .index = static_cast<std::uint16_t>(index), .after = marker.after};
}

void add(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index, const std::string& lead) {
  Mark mark = mark_of(marker, meaning, index);
  mark.closed = static_cast<std::uint16_t>(lead.size());
  for (const std::string& text : marker.texts) {
    for (std::size_t skipped = 0; skipped <= marker.before.size(); ++skipped) {
      trie.add(lead + marker.before.substr(skipped), text, mark);
    }
  }
  for (const std::string& text : marker.loose) trie.add_loose(lead + marker.before, text, mark);
  mark.faulty = true;
  mark.after = " ";  // what parts a header from its text where nothing else does
  for (const std::string& text : marker.faulty) trie.add(lead, text, mark);
}

void add_with_returns(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index) {
  add(trie, marker, meaning, index);
  std::string before;
  for (const char c : marker.before) before += c == '\n' ? "\r\n" : std::string(1, c);
  if (before == marker.before) return;
  for (const std::string& text : marker.texts) trie.add(before, text, mark_of(marker, meaning, index));
}

void add_bare(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index, std::uint16_t skipped) {
  Mark mark = mark_of(marker, meaning, index);
  mark.skipped = skipped;
  for (const std::string& text : marker.texts) trie.add({}, is_blank(text) ? text : trimmed(text), mark);
  for (const std::string& text : marker.loose) trie.add_loose({}, text, mark);
}

void add_fenced(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index) {
  for (const std::string& text : marker.texts) {
    if (!is_blank(text) && !text.starts_with('`')) trie.add({}, "```\n" + text, mark_of(marker, meaning, index));
  }
}

void add_ends(MarkerTrie& trie, const ReplyFormat& format, const std::string& lead) {
  for (std::size_t i = 0; i < format.turns.size(); ++i) add(trie, format.turns[i].open, Meaning::turn, i, lead);
  for (std::size_t i = 0; i < format.end.size(); ++i) add(trie, format.end[i], Meaning::end, i, lead);
}

void add_call(MarkerTrie& trie, const ReplyFormat& format, std::size_t i) {
  const CallForm& form = format.calls[i];
  if (form.headed) return;
  const bool literal = form.call.front().kind == CallPart::Kind::literal;
  const bool single = form.layout == CallLayout::single;
  if (!single) add(trie, form.open, Meaning::call_open, i);
  if (literal && single) add(trie, form.call.front().literal, Meaning::call_open, i);
  if (literal && !single && form.open_optional) add(trie, form.call.front().literal, Meaning::call_item, i);
}

void add_calls(MarkerTrie& trie, const ReplyFormat& format) {
  for (std::size_t i = 0; i < format.calls.size(); ++i) add_call(trie, format, i);
}

void add_strays(MarkerTrie& trie, const ReplyFormat& format) {
  for (std::size_t i = 0; i < format.calls.size(); ++i)
    trie.add({}, token_of_opener(format.calls[i]), mark_of(opener_of(format.calls[i]), Meaning::stray, i));
}

}  // namespace parlance::reply
