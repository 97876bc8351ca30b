// White space that may belong to a marker: at the beginning of content, behind a call, between its parts and tags.
//
// It is held, with the beginning of a marker after it, until it is clear which it is. Begin reading at read_gap.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::MarkerTrie;
using reply::Meaning;

namespace {

constexpr std::size_t kLongestGap = 64;  // white space past this is text, whatever follows

/// How much of `framing` the white space ends with.
std::size_t framing_at_end(std::string_view blanks, std::string_view framing) {
  for (std::size_t size = std::min(blanks.size(), framing.size()); size > 0; --size) {
    if (blanks.substr(blanks.size() - size) == framing.substr(framing.size() - size)) return size;
  }
  return 0;
}

}  // namespace

bool ReplyParser::State::is_gap() const {
  switch (place_) {
    case Place::text: return gap_ != Gap::none;
    case Place::literal:
    case Place::next:
    case Place::proof:
    case Place::tag_between:
    case Place::tag_begin: return true;
    default: return false;
  }
}

/// Between calls without markers, a sign may stand that separates them.
bool ReplyParser::State::joins_calls(char c) const {
  if (c != ';' && c != ',') return false;
  const bool behind = machine_->has_initial && place_ == Place::text && (gap_ == Gap::after || gap_ == Gap::closed) && fresh_;
  return behind && region_ == Region::content && held_.find_first_of(";,") == held_.npos;
}

/// Behind a call's object or a list of calls: a bracket too many, or a sign before another object.
bool ReplyParser::State::is_surplus(char c) const {
  const bool brace = c == '}' || c == ']', sign = c == ';' || c == ',';
  if (!(brace || sign) || place_ != Place::literal) return false;
  const bool behind_list = c == ']' && form().form->layout == CallLayout::list && call_->part == form().form->call.size();
  if (!behind_list && !is_behind_object()) return false;
  return held_.find_first_of("}];,") == held_.npos;
}

const char* ReplyParser::State::read_gap(const char* p, const char* end) {
  const MarkerTrie& markers = trie();
  while (p != end) {
    const bool due = place_ == Place::literal && markers.begins(*p);  // a literal that is white space itself
    const bool space = is_json_space(*p) || joins_calls(*p) || is_surplus(*p);
    const bool blank = held_.size() == blanks_ && space && !due && blanks_ < kLongestGap;
    if (blank) {
      held_ += *p++;
      ++blanks_;
      continue;
    }
    const bool goes_on = markers.step(cursor_, *p);
    if (goes_on) held_ += *p++;
    if (goes_on && !markers.is_leaf(cursor_)) continue;
    const Found found = match(std::string_view(held_).substr(blanks_), here() + blanks_);
    if (found.size == 0) {
      leave_gap(held_.size() > blanks_ ? held_[blanks_] : *p);
    } else {
      meet_after_gap(found.mark, found.size);
    }
    return p;
  }
  return p;
}

/// No marker follows, but `next`. It was text all along, or a call that has no name, or one without its end.
void ReplyParser::State::leave_gap(char next) {
  const std::string held = std::exchange(held_, {});
  const std::size_t blanks = std::exchange(blanks_, 0);
  cursor_ = {};
  switch (place_) {
    case Place::literal:
      if (next == '{' && held.size() == blanks && is_behind_object()) return begin_another(held);
      return refuse_literal(held, blanks);
    case Place::next: return refuse_next(held, blanks, next);
    case Place::proof:
      fail("the end of the arguments");
      break;
    case Place::tag_between:
    case Place::tag_begin:
      if (refuse_in_tags(held, blanks, next)) return;
      break;
    default:
      gap_ = Gap::none;
      if (begin_initial(held, blanks, next)) return;
      break;
  }
  again(held);
}

void ReplyParser::State::meet_after_gap(const Mark& mark, std::size_t size) {
  const std::string held = std::exchange(held_, {});
  const std::size_t blanks = std::exchange(blanks_, 0);
  cursor_ = {};
  const std::size_t to = blanks + size;
  std::size_t text = 0;  // at the start, only framing is not content where the reply ends
  if (gap_ == Gap::start && place_ == Place::text && (mark.meaning == Meaning::turn || mark.meaning == Meaning::end)) {
    const ReplyFormat& format = machine_->format;
    const ReplyMarker& marker = mark.meaning == Meaning::turn ? format.turns[mark.index].open : format.end[mark.index];
    text = blanks - framing_at_end(std::string_view(held).substr(0, blanks), marker.before);
    put_text(std::string_view(held).substr(0, text));
  }
  if (place_ == Place::text) gap_ = Gap::none;
  const std::size_t surplus = place_ == Place::literal ? held.substr(0, blanks).find_first_of("}];,") : held.npos;
  if (surplus != held.npos) out_.malformed(surplus, literal_due());
  meet(mark, held.substr(text, to - text));
  again(held.substr(to));
}

/// A call without a marker, which can only stand where the answer begins.
bool ReplyParser::State::begin_initial(const std::string& held, std::size_t blanks, char next) {
  if (!machine_->has_initial || !fresh_ || region_ != Region::content || conversation_) return false;
  for (std::size_t i = 0; i < machine_->forms.size(); ++i) {
    const CallForm& form = *machine_->forms[i].form;
    const bool list = form.layout == CallLayout::list;
    const bool bare = form.initial && (list ? !form.open.exists() : form.call.front().kind != CallPart::Kind::literal);
    if (!bare && !(list && form.open_optional)) continue;
    open_call(i, held.substr(0, blanks));
    call_->silent = call_->loose = true;
    fresh_ = false;
    place_ = list ? Place::list : Place::next;
    call_->at = Call::At::list_open;
    if (list ? next == '[' : begins_item(next)) {
      if (!list) begin_part();
      again(held.substr(blanks));
      return true;
    }
    begin_content(Gap::none);
    lead_.clear();
    fresh_ = true;
  }
  return false;
}

bool ReplyParser::State::finish_text() {
  if (held_.empty()) return false;
  if (blanks_ == 0) {
    settle();
    return true;
  }
  if (gap_ == Gap::closed) {  // only there a closer is one
    const Found found = match(std::string_view(held_).substr(blanks_), here() + blanks_);
    if (found.size != 0) return meet_after_gap(found.mark, found.size), true;
  }
  const std::string held = std::exchange(held_, {});
  const std::size_t blanks = std::exchange(blanks_, std::uint8_t{0});
  cursor_ = {};
  const bool content = gap_ == Gap::start && place_ == Place::text;
  gap_ = Gap::none;
  if (content) {
    put_text(std::string_view(held).substr(0, blanks));
  } else {
    put_markup(std::string_view(held).substr(0, blanks));
  }
  again(held.substr(blanks));
  return true;
}

}  // namespace parlance
