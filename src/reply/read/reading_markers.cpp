// Whether the bytes of a marker are one: where it stands, and which of its texts were fed as control tokens.
//
// Begin reading at Reading::match.
#include "base/ascii.h"
#include "reply/read/reading.h"

namespace parlance::reply {

bool is_shaped(std::string_view source) {
  source = trimmed(source);
  if (source.find("<|") != source.npos || source.find("|>") != source.npos) return true;
  constexpr std::string_view kWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  return source.size() > 2 && source.front() == '[' && source.find_first_not_of(kWord, 1) == source.size() - 1 &&
         source.back() == ']';
}

/// A marker that opens reasoning is text inside it, but for one that repeats what the prompt has opened; and inside of
/// an answer, which may speak of it, unless it is a control token or the reply has opened reasoning by it before. So is
/// one that closes reasoning inside of an answer.
bool Reading::counts_there(const Mark& mark, std::string_view source, std::uint64_t at) const {
  if (tokens && !is_fed_so(source, at)) return false;
  if (mark.meaning == Meaning::end && at + source.size() <= out.origin()) return false;  // the prompt's own
  const bool opens = mark.meaning == Meaning::call_open || mark.meaning == Meaning::call_item;
  if (opens && place == Place::text && machine->forms[mark.index].form->initial && !answer.fresh) return false;
  if (mark.meaning == Meaning::surplus && source.size() == 1) return form().last_bracket == source;
  if (mark.faulty && !opens) return may_be_faulty(source);
  const bool closes = mark.meaning == Meaning::reasoning_close;
  if (mark.meaning != Meaning::reasoning_open && !(closes && answer.region == Region::content && place == Place::text))
    return true;
  if (answer.region == Region::reasoning) return answer.blank_reasoning;
  return !answer.answers || in_prompt || (closes && answer.unclosed) || (answer.opened && !closes) ||
         is_shaped(source) || is_certain(source);
}

/// A marker of reasoning or content that lacks a part is one only where the answer has not begun, which may speak of
/// it.
bool Reading::may_be_faulty(std::string_view source) const {
  if (place != Place::text || in_prompt) return false;
  return is_certain(source) || (answer.region == Region::content && !answer.answers);
}

/// Whether each control token in a marker's bytes was fed as one; the prompt's are taken for such.
bool Reading::is_fed_so(std::string_view source, std::uint64_t at) const {
  const auto is_control = [&](std::uint64_t from, std::uint64_t to) {
    if (from < out.origin()) return true;
    for (const Control& one : rare->controls) {
      if (one.from == from && one.to == to) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < source.size();) {
    std::size_t size = 0;
    for (const std::string& text : machine->format.control) {
      if (text.size() > size && source.substr(i).starts_with(text)) size = text.size();
    }
    if (size != 0 && !is_control(at + i, at + i + size)) return false;
    i += size == 0 ? 1 : size;
  }
  return true;
}

/// The same of the beginning of a marker: a control token comes whole.
bool Reading::may_be_fed_so(std::string_view begin, std::uint64_t at) const {
  if (!tokens) return true;
  for (const std::string& text : machine->format.control) {
    for (std::size_t size = 1; size < text.size(); ++size) {
      if (begin.ends_with(std::string_view(text).substr(0, size))) return false;
    }
  }
  return is_fed_so(begin, at);
}

Found Reading::match(const MarkerTrie& markers, std::string_view bytes, std::uint64_t at) const {
  Found found;
  found.more = bytes.empty();
  if (found.more) return found;
  const MarkerTrie::Cursor first = markers.begin(bytes.front());
  return first.node == MarkerTrie::kRoot ? found : match_on(markers, bytes, at, first, 1);
}

Found Reading::match_on(const MarkerTrie& markers, std::string_view bytes, std::uint64_t at, MarkerTrie::Cursor cursor,
                        std::size_t size) const {
  Found found;
  const auto is_head = [&] {  // of a longer word
    return size < bytes.size() && ascii::is_word(bytes[size - 1]) && ascii::goes_on_name(bytes[size]);
  };
  while (true) {
    const bool is_marker = markers.has_mark(cursor) && !(markers.mark(cursor).ends_word() && is_head());
    if (is_marker && counts(markers.mark(cursor), bytes.substr(0, size), at)) {
      found.size = size;
      found.mark = markers.mark(cursor);
    }
    if (markers.is_leaf(cursor)) return found;
    if (size == bytes.size()) break;
    if (!markers.step(cursor, bytes[size++])) return found;
  }
  found.more = true;
  found.at = cursor;
  return found;
}

/// Nothing is longer than a marker behind which nothing goes on.
Found Reading::match_held(const MarkerTrie& markers, std::size_t from) const {
  const std::string_view bytes = std::string_view(held.bytes).substr(from);
  const bool longest = !bytes.empty() && held.cursor.node != MarkerTrie::kRoot && markers.is_leaf(held.cursor) &&
                       markers.has_mark(held.cursor);
  if (!longest || !counts(markers.mark(held.cursor), bytes, here() + from)) return match(markers, bytes, here() + from);
  Found found;
  found.size = bytes.size();
  found.mark = markers.mark(held.cursor);
  return found;
}

bool Reading::has_control(std::string_view source) const {
  for (const std::string& text : machine->format.control) {
    if (source.find(text) != source.npos) return true;
  }
  return false;
}

}  // namespace parlance::reply
