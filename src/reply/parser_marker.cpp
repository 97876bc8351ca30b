// Whether the bytes of a marker are one: where it stands, and which of its texts were fed as control tokens.
//
// Begin reading at match_in.
#include "reply/parser.h"

namespace parlance {

using reply::MarkerTrie;
using reply::Meaning;

namespace {

/// Whether a marker looks like a control token, which nobody writes by chance: <|…|>, or [WORD].
bool is_shaped(std::string_view source) {
  source = reply::trimmed(source);
  if (source.find("<|") != source.npos || source.find("|>") != source.npos) return true;
  constexpr std::string_view kWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  return source.size() > 2 && source.front() == '[' && source.find_first_not_of(kWord, 1) == source.size() - 1 && source.back() == ']';
}

}  // namespace

/// Whether a call begins by a text that its model was not taught, and that is no control token: it may well be quoted.
bool ReplyParser::State::is_other_way(std::string_view source) const {
  const ReplyMarker& opening = form().form->open.exists() ? form().form->open : form().form->call.front().literal;
  if (opening.texts.size() < 2 || is_shaped(source)) return false;
  const auto without_blanks = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (!reply::is_json_space(c)) out += c;
    }
    return out;
  };
  return without_blanks(source) != without_blanks(opening.texts.front());
}

/// A marker that opens reasoning is text inside it, but for one that repeats what the prompt has opened; and inside of an answer,
/// which may speak of it, unless it is a control token or the reply has opened reasoning by it before. So is one that closes
/// reasoning inside of an answer.
bool ReplyParser::State::counts(const Mark& mark, std::string_view source, std::uint64_t place) const {
  if (tokens_ && !is_fed_so(source, place)) return false;
  if (mark.meaning == Meaning::end && place + source.size() <= out_.origin()) return false;  // the prompt's own
  const bool opens = mark.meaning == Meaning::call_open || mark.meaning == Meaning::call_item;
  if (opens && place_ == Place::text && machine_->forms[mark.index].form->initial && !fresh_) return false;
  if (mark.meaning == Meaning::surplus && source.size() == 1) return form().last_bracket == source;
  const bool closes = mark.meaning == Meaning::reasoning_close;
  if (mark.meaning != Meaning::reasoning_open && !(closes && region_ == Region::content && place_ == Place::text)) return true;
  if (region_ == Region::reasoning) return blank_reasoning_;
  return !answers_ || in_prompt_ || (closes && unclosed_) || (opened_ && !closes) || is_shaped(source) || is_certain(source);
}

/// Whether each control token in a marker's bytes was fed as one; the prompt's are taken for such.
bool ReplyParser::State::is_fed_so(std::string_view source, std::uint64_t place) const {
  const auto is_control = [&](std::uint64_t from, std::uint64_t to) {
    if (from < out_.origin()) return true;
    for (const Control& one : rare_->controls) {
      if (one.from == from && one.to == to) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < source.size();) {
    std::size_t size = 0;
    for (const std::string& text : machine_->format.control) {
      if (text.size() > size && source.substr(i).starts_with(text)) size = text.size();
    }
    if (size != 0 && !is_control(place + i, place + i + size)) return false;
    i += size == 0 ? 1 : size;
  }
  return true;
}

/// The longest marker that `bytes`, which stand at `place`, begin with.
ReplyParser::State::Found ReplyParser::State::match_in(const MarkerTrie& markers, std::string_view bytes, std::uint64_t place) const {
  Found found;
  Cursor at;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!markers.step(at, bytes[i])) return found;
    if (markers.has_mark(at) && counts(markers.mark(at), bytes.substr(0, i + 1), place)) {
      found.size = i + 1;
      found.mark = markers.mark(at);
    }
    if (markers.is_leaf(at)) return found;
  }
  found.more = true;
  found.at = at;
  return found;
}

}  // namespace parlance
