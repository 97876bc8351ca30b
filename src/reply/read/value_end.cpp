// Whether a closing tag closes its value; see value_end.h. Begin reading at ValueEnd::decide.
#include "reply/read/value_end.h"

#include <utility>

#include "base/inside.h"
#include "reply/marker_texts.h"
#include "reply/read/text_reading.h"

namespace parlance::reply {
namespace {

bool ends_reply(Meaning meaning) { return meaning == Meaning::end || meaning == Meaning::turn; }

/// Whether the marker consists of several tags, so that it hardly stands in a text by itself.
bool has_two_tags(std::string_view marker) {
  const std::size_t inside = marker.find('>');
  return inside != marker.npos && marker.find('<', inside) != marker.npos;
}

}  // namespace

const MarkerTrie& ValueEnd::markers(Waiting::Among among) const {
  switch (among) {
    case Waiting::Among::behind: return in_.form().tags.behind;
    case Waiting::Among::over: return in_.form().tags.over;
    case Waiting::Among::key: return in_.form().tags.key;
    case Waiting::Among::content: break;
  }
  return in_.machine->content;
}

/// Of two that are waited for one may change alone: then anything may.
void ValueEnd::wait_for(Waiting::For what, std::size_t place, Waiting::Among among, std::uint8_t blanks) {
  waiting_.what = waiting_.what == Waiting::For::nothing ? what : Waiting::For::anything;
  waiting_.place = static_cast<std::uint16_t>(place);
  waiting_.among = among;
  waiting_.blanks = blanks;
}

const char* ValueEnd::wait(const char* p, const char* end) {
  const char* const begin = p;
  MarkerTrie::Cursor longer{waiting_.own, waiting_.own_blanks};
  if (longer.node == MarkerTrie::kRoot) {
    p = wait_ahead(p, end);
  } else if (waiting_.what == Waiting::For::nothing) {
    p = own().follow(longer, p, end);
  } else {
    for (; p != end; ++p) {  // both, byte by byte: a longer marker may end
      if (longer.node != MarkerTrie::kRoot && own().follow(longer, p, p + 1) == p) {
        if (MarkerTrie::Cursor ended = longer; own().step(ended, *p)) break;
        longer = {};
      }
      if (wait_ahead(p, p + 1) == p) break;
    }
  }
  waiting_.own = longer.node;
  waiting_.own_blanks = longer.blanks;
  if (waiting_.ahead_to != 0) waiting_.ahead_to = static_cast<std::uint16_t>(waiting_.ahead_to + (p - begin));
  return p;
}

/// The same for what stands behind the value's own marker.
const char* ValueEnd::wait_ahead(const char* p, const char* end) {
  switch (waiting_.what) {
    case Waiting::For::blanks:
      for (; p != end && is_json_space(*p) && waiting_.place != 0; ++p) --waiting_.place;
      return p;
    case Waiting::For::text: {
      const MarkerTrie& among = markers(waiting_.among);
      for (; p != end && may_be_in_text(*p) && !among.begins(*p) && waiting_.place != 0; ++p) --waiting_.place;
      return p;
    }
    case Waiting::For::marker: {
      MarkerTrie::Cursor at{waiting_.place, waiting_.blanks};
      p = markers(waiting_.among).follow(at, p, end);
      waiting_.place = at.node;
      waiting_.blanks = at.blanks;
      return p;
    }
    default: return p;
  }
}

/// The marker of `markers` behind white space. `no` where none is, `more` where it depends on what follows.
ValueEnd::Ahead ValueEnd::look_ahead(Waiting::Among among, std::string_view rest, std::uint64_t place) {
  std::size_t blanks = 0;
  while (blanks < rest.size() && blanks <= kLongestGap && is_json_space(rest[blanks])) ++blanks;
  if (blanks > kLongestGap) return {};
  if (blanks == rest.size()) {
    wait_for(Waiting::For::blanks, kLongestGap - blanks);
    return {Verdict::more, blanks, {}};
  }
  const auto from = static_cast<std::uint16_t>(place + blanks - start_);
  const bool again = before_.ahead_to > from && before_.ahead_from == from && before_.among == among;
  const std::string_view bytes = rest.substr(blanks);
  const Found found = again ? in_.match_on(markers(among), bytes, place + blanks, {before_.place, before_.blanks},
                                           std::size_t{before_.ahead_to} - from)
                            : in_.match(markers(among), bytes, place + blanks);
  if (found.more) {
    wait_for(Waiting::For::marker, found.at.node, among, found.at.blanks);
    waiting_.ahead_from = from;
    const bool alone = waiting_.what == Waiting::For::marker && found.size == 0;
    waiting_.ahead_to = alone ? static_cast<std::uint16_t>(from + bytes.size()) : std::uint16_t{0};
    return {Verdict::more, blanks + found.size, found.mark};
  }
  return {found.size == 0 ? Verdict::no : Verdict::yes, blanks + found.size, found.mark};
}

ValueEnd::Verdict ValueEnd::decide(const Mark& mark, std::string_view bytes, std::size_t size, std::uint64_t place,
                                   bool last) {
  const std::string_view source = bytes.substr(0, size), rest = bytes.substr(size);
  if (open_.value.is_raw() || in_.is_certain(source) || open_.value.is_whole(in_)) return Verdict::yes;
  switch (mark.meaning) {
    case Meaning::tag_open: return decide_open(rest, place + size, !is_control_tag(trimmed(source)));
    case Meaning::tag_close: return decide_close(rest, place + size, last);
    default: return decide_end(source, rest, place + size, last);
  }
}

/// The tag of the next argument: its key follows; one that the tool has, where the value's own tag is missing.
ValueEnd::Verdict ValueEnd::decide_open(std::string_view rest, std::uint64_t place, bool declared) {
  const MarkerTrie& closers = in_.form().tags.key;
  for (std::size_t i = 0; i < rest.size() && i < in_.limits().name; ++i) {
    if (closers.begins(rest[i])) {
      const Found found = in_.match(closers, rest.substr(i), place + i);
      if (found.more) {
        wait_for(Waiting::For::marker, found.at.node, Waiting::Among::key, found.at.blanks);
        return Verdict::more;
      }
      if (found.size != 0)
        return !ends_reply(found.mark.meaning) && may_be_key(rest.substr(0, i), declared) ? Verdict::yes : Verdict::no;
    }
    const bool fits = may_be_in_text(rest[i]) || (rest[i] == '<' && tags_.key_escape == TextEscape::attribute);
    if (!fits) return Verdict::no;
  }
  if (rest.size() >= in_.limits().name) return Verdict::no;
  wait_for(Waiting::For::text, in_.limits().name - rest.size() - 1, Waiting::Among::key);
  return Verdict::more;
}

bool ValueEnd::may_be_key(std::string_view key, bool declared) const {
  if (key.empty() || trimmed(key) != key) return false;
  if (!declared) return true;
  const reply::DeclaredTools* data = inside_of(in_.tools()).get();
  if (data == nullptr) return true;
  const Types::Schema& schema = data->types[open_.schema];
  const std::string meant = tags_.key_escape == TextEscape::none ? std::string() : without_entities(key);
  return schema.members.empty() || schema.others != Types::kUnknown ||
         schema.members.contains(meant.empty() ? key : std::string_view(meant));
}

/// The value's own tag.
ValueEnd::Verdict ValueEnd::decide_close(std::string_view rest, std::uint64_t place, bool last) {
  const Verdict enough = last ? Verdict::yes : Verdict::more;
  if (!tags_.close_end.empty()) {
    const std::string key = std::string(open_.key) + tags_.close_end;
    if (!rest.starts_with(key)) {
      wait_for(Waiting::For::anything);
      return key.starts_with(rest) ? enough : Verdict::no;
    }
    rest.remove_prefix(key.size());
    place += key.size();
  }
  if (tags_.text_between) return Verdict::yes;  // anything may follow
  const Ahead ahead = look_ahead(Waiting::Among::behind, rest, place);
  if (ahead.verdict == Verdict::more) return enough;
  if (ahead.mark.meaning == Meaning::tag_close && open_.depth == 0) return Verdict::no;
  if (ahead.mark.meaning != Meaning::tag_open) return ahead.verdict;
  const Verdict key = decide_open(rest.substr(ahead.size), place + ahead.size, false);
  return key == Verdict::more ? enough : key;
}

/// The end of the call, where the value's own tag is missing. At the end of a reply it may still have been to come,
/// unless all that closes a call is there.
ValueEnd::Verdict ValueEnd::decide_end(std::string_view source, std::string_view rest, std::uint64_t place, bool last) {
  bool several = has_two_tags(source);
  if (in_.form().form->layout == CallLayout::section && in_.form().form->close.exists()) {
    const Ahead closing = look_ahead(Waiting::Among::over, rest, place);
    if (closing.verdict != Verdict::yes || closing.mark.meaning != Meaning::call_close) return closing.verdict;
    several = true;
    rest.remove_prefix(closing.size);
    place += closing.size;
  }
  const Ahead ahead = look_ahead(Waiting::Among::content, rest, place);
  return ahead.verdict == Verdict::more && last && several ? Verdict::yes : ahead.verdict;
}

Found ValueEnd::match_again(std::string_view bytes, std::uint64_t place, bool last) {
  const MarkerTrie& markers = own();
  Found found;
  bool undecided = false;
  before_ = std::exchange(waiting_, {});
  start_ = place;
  std::size_t i = before_.marked == 0 ? 0 : before_.marked - std::size_t{1};
  MarkerTrie::Cursor at = before_.marked == 0 ? markers.begin(bytes.front()) : MarkerTrie::Cursor{before_.marked_at, 0};
  if (at.node == MarkerTrie::kRoot) return found;
  while (true) {
    if (markers.has_mark(at) && in_.counts(markers.mark(at), bytes.substr(0, i + 1), place)) {
      const Verdict verdict = decide(markers.mark(at), bytes, i + 1, place, last);
      if (verdict == Verdict::yes) found = {i + 1, false, markers.mark(at)};
      if (verdict != Verdict::no) undecided = verdict == Verdict::more;
      if (waiting_.marked == 0) {
        waiting_.marked = static_cast<std::uint16_t>(i + 1);
        waiting_.marked_at = at.node;
      }
    }
    if (markers.is_leaf(at)) {
      found.more = undecided;
      return found;
    }
    if (++i == bytes.size()) break;
    found.more = undecided;
    if (!markers.step(at, bytes[i])) return found;
  }
  found.more = !last || undecided || found.size == 0;
  waiting_.own = at.node;
  waiting_.own_blanks = at.blanks;
  return found;
}

}  // namespace parlance::reply
