// Whether a closing tag in a value closes it, or is text that looks like one.
//
//     <p=text>the tag </p> is text here</p><p=days>3</p>
//
// What follows decides: behind a value stands another argument, or the end of the call. Where the value's own tag is missing
// and another one ends it, more must follow, since the tag may still come. Until it is decided, all is held: white space up
// to a gap's length, a key, and the markers themselves. Begin reading at decide; match_in_value asks it.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::MarkerTrie;
using reply::Meaning;
using reply::TagReader;
using reply::Types;

namespace {

constexpr std::size_t kLongestGap = 64;

bool ends_reply(Meaning meaning) { return meaning == Meaning::end || meaning == Meaning::turn; }

/// Whether the marker consists of several tags, so that it hardly stands in a text by itself.
bool has_two_tags(std::string_view marker) {
  const std::size_t inside = marker.find('>');
  return inside != marker.npos && marker.find('<', inside) != marker.npos;
}

}  // namespace

const MarkerTrie& ReplyParser::State::markers(Waiting::Among among) const {
  switch (among) {
    case Waiting::Among::behind: return form().tags.behind;
    case Waiting::Among::over: return form().tags.over;
    case Waiting::Among::key: return form().tags.key;
    case Waiting::Among::content: break;
  }
  return machine_->content;
}

/// Of two that are waited for one may change alone: then anything may.
void ReplyParser::State::wait_for(Waiting::For what, std::size_t place, Waiting::Among among, std::uint8_t blanks) const {
  Waiting& waiting = call_->tags().waiting;
  waiting.what = waiting.what == Waiting::For::nothing ? what : Waiting::For::anything;
  waiting.place = static_cast<std::uint16_t>(place);
  waiting.among = among;
  waiting.blanks = blanks;
}

/// Whether what is held, with `c` behind it, depends on the same as without.
bool ReplyParser::State::waits_on(char c) const {
  Waiting& waiting = call_->tags().waiting;
  Cursor own{waiting.own, waiting.own_blanks};
  const bool longer = waiting.own != MarkerTrie::kRoot && trie().step(own, c);
  if (longer && trie().has_mark(own)) return false;
  waiting.own = longer ? own.node : MarkerTrie::kRoot;
  waiting.own_blanks = own.blanks;
  switch (waiting.what) {
    case Waiting::For::nothing: return longer;
    case Waiting::For::blanks: return is_json_space(c) && waiting.place-- > 0;
    case Waiting::For::text: return reply::may_be_in_text(c) && !markers(waiting.among).begins(c) && waiting.place-- > 0;
    case Waiting::For::marker: break;
    case Waiting::For::anything: return false;
  }
  const MarkerTrie& among = markers(waiting.among);
  Cursor at{waiting.place, waiting.blanks};
  if (!among.step(at, c) || among.has_mark(at)) return false;
  waiting.place = at.node;
  waiting.blanks = at.blanks;
  return true;
}

/// A control token that was fed as one is no text.
bool ReplyParser::State::is_certain(std::string_view source) const {
  if (!tokens_) return false;
  for (const std::string& text : machine_->format.control) {
    if (source.find(text) != source.npos) return true;
  }
  return false;
}

/// What is held of a value is no string, and whole: with a tag behind it, it would be nothing.
bool ReplyParser::State::is_whole_value() const {
  return call_->tags().value == TagReader::Value::typed && !reply::is_blank(call_->word) && !json_of_value(call_->word).empty();
}

/// The marker of `markers` behind white space. `no` where none is, `more` where it depends on what follows.
ReplyParser::State::Ahead ReplyParser::State::look_ahead(Waiting::Among among, std::string_view rest, std::uint64_t place) const {
  std::size_t blanks = 0;
  while (blanks < rest.size() && blanks <= kLongestGap && is_json_space(rest[blanks])) ++blanks;
  if (blanks > kLongestGap) return {};
  if (blanks == rest.size()) {
    wait_for(Waiting::For::blanks, kLongestGap - blanks);
    return {Verdict::more, blanks, {}};
  }
  const Found found = match_in(markers(among), rest.substr(blanks), place + blanks);
  if (found.more) {
    wait_for(Waiting::For::marker, found.at.node, among, found.at.blanks);
    return {Verdict::more, blanks + found.size, found.mark};
  }
  return {found.size == 0 ? Verdict::no : Verdict::yes, blanks + found.size, found.mark};
}

ReplyParser::State::Verdict ReplyParser::State::decide(const Mark& mark, std::string_view bytes, std::size_t size, std::uint64_t place, bool last) const {
  const std::string_view source = bytes.substr(0, size), rest = bytes.substr(size);
  if (call_->tags().cdata || is_certain(source) || is_whole_value()) return Verdict::yes;
  switch (mark.meaning) {
    case Meaning::tag_open: return decide_open(rest, place + size, true);
    case Meaning::tag_close: return decide_close(rest, place + size, last);
    default: return decide_end(source, rest, place + size, last);
  }
}

/// The tag of the next argument: its key follows; one that the tool has, where the value's own tag is missing.
ReplyParser::State::Verdict ReplyParser::State::decide_open(std::string_view rest, std::uint64_t place, bool declared) const {
  const MarkerTrie& closers = form().tags.key;
  for (std::size_t i = 0; i < rest.size() && i < machine_->limits.name; ++i) {
    if (closers.begins(rest[i])) {
      const Found found = match_in(closers, rest.substr(i), place + i);
      if (found.more) {
        wait_for(Waiting::For::marker, found.at.node, Waiting::Among::key, found.at.blanks);
        return Verdict::more;
      }
      if (found.size != 0) return !ends_reply(found.mark.meaning) && may_be_key(rest.substr(0, i), declared) ? Verdict::yes : Verdict::no;
    }
    const bool fits = reply::may_be_in_text(rest[i]) || (rest[i] == '<' && tags().key_escape == TextEscape::attribute);
    if (!fits) return Verdict::no;
  }
  if (rest.size() >= machine_->limits.name) return Verdict::no;
  wait_for(Waiting::For::text, machine_->limits.name - rest.size() - 1, Waiting::Among::key);
  return Verdict::more;
}

bool ReplyParser::State::may_be_key(std::string_view key, bool declared) const {
  if (key.empty() || reply::trimmed(key) != key) return false;
  if (!declared) return true;
  const ReplyTools::Data* data = machine_->tools.data();
  if (data == nullptr) return true;
  const Types::Schema& schema = data->types[call_->tags().top().schema];
  const std::string meant = tags().key_escape == TextEscape::none ? std::string() : reply::without_entities(key);
  return schema.members.empty() || schema.others != Types::kUnknown || schema.members.contains(meant.empty() ? key : std::string_view(meant));
}

/// The value's own tag.
ReplyParser::State::Verdict ReplyParser::State::decide_close(std::string_view rest, std::uint64_t place, bool last) const {
  const Verdict enough = last ? Verdict::yes : Verdict::more;
  if (!tags().close_end.empty()) {
    const std::string key = std::string(call_->tags().key) + tags().close_end;
    if (!rest.starts_with(key)) {
      wait_for(Waiting::For::anything);
      return key.starts_with(rest) ? enough : Verdict::no;
    }
    rest.remove_prefix(key.size());
    place += key.size();
  }
  const Ahead ahead = look_ahead(Waiting::Among::behind, rest, place);
  if (ahead.verdict == Verdict::more) return enough;
  if (ahead.mark.meaning == Meaning::tag_close && call_->tags().depth() == 0) return Verdict::no;
  if (ahead.mark.meaning != Meaning::tag_open) return ahead.verdict;
  const Verdict key = decide_open(rest.substr(ahead.size), place + ahead.size, false);
  return key == Verdict::more ? enough : key;
}

/// The end of the call, where the value's own tag is missing. At the end of a reply it may still have been to come, unless
/// all that closes a call is there.
ReplyParser::State::Verdict ReplyParser::State::decide_end(std::string_view source, std::string_view rest, std::uint64_t place, bool last) const {
  bool several = has_two_tags(source);
  if (form().form->layout == CallLayout::section && form().form->close.exists()) {
    const Ahead closing = look_ahead(Waiting::Among::over, rest, place);
    if (closing.verdict != Verdict::yes || closing.mark.meaning != Meaning::call_close) return closing.verdict;
    several = true;
    rest.remove_prefix(closing.size);
    place += closing.size;
  }
  const Ahead ahead = look_ahead(Waiting::Among::content, rest, place);
  return ahead.verdict == Verdict::more && last && several ? Verdict::yes : ahead.verdict;
}

/// The longest marker that `bytes` begin with and that ends the value.
ReplyParser::State::Found ReplyParser::State::match_in_value(std::string_view bytes, std::uint64_t place, bool last) const {
  const MarkerTrie& markers = trie();
  Found found;
  Cursor at;
  bool undecided = false;
  call_->tags().waiting = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    found.more = undecided;
    if (!markers.step(at, bytes[i])) return found;
    if (markers.has_mark(at) && counts(markers.mark(at), bytes.substr(0, i + 1), place)) {
      const Verdict verdict = decide(markers.mark(at), bytes, i + 1, place, last);
      if (verdict == Verdict::yes) found = {i + 1, false, markers.mark(at)};
      if (verdict != Verdict::no) undecided = verdict == Verdict::more;
    }
    if (markers.is_leaf(at)) {
      found.more = undecided;
      return found;
    }
  }
  found.more = !last || undecided || found.size == 0;
  call_->tags().waiting.own = at.node;
  call_->tags().waiting.own_blanks = at.blanks;
  return found;
}

const char* ReplyParser::State::read_tag_value(const char* p, const char* end) {
  if (!held_.empty()) {
    const char* const begin = p;
    while (p != end && waits_on(*p)) ++p;
    const std::size_t size = std::min<std::size_t>(static_cast<std::size_t>(end - p), kLongestGap);
    held_.append(begin, p + size);
    if (size != 0) settle_value(false);
    return p + size;
  }
  const MarkerTrie& markers = trie();
  const char* begin = p;
  while ((p = markers.skip(p, end)) != end) {
    const Found any = match({p, end}, here() + static_cast<std::size_t>(p - begin));
    if (any.size == 0 && !any.more) {
      ++p;
      continue;
    }
    put_text({std::exchange(begin, p), p});  // whether it is an end depends on the value so far
    const Found found = match_in_value({p, end}, here(), false);
    if (found.more) {
      held_.assign(p, end);
      return end;
    }
    if (found.size != 0) {
      meet(found.mark, std::string(p, found.size));
      return p + found.size;
    }
    ++p;
  }
  put_text({begin, end});
  return end;
}

/// What is held of a value begins with a marker, or its first byte is text, or it depends. False where it depends.
bool ReplyParser::State::settle_value(bool last) {
  const Found found = match_in_value(held_, here(), last);
  if (found.more) return false;
  const std::string held = std::exchange(held_, {});
  if (found.size != 0) {
    meet(found.mark, held.substr(0, found.size));
    again(held.substr(found.size));
  } else {
    put_text(std::string_view(held).substr(0, 1));
    again(held.substr(1));
  }
  return true;
}

}  // namespace parlance
