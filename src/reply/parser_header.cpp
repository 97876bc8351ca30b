// Headers of turns, and the calls that a header begins.
//
// All is held until it is clear what the header is: in a reply it is one only if it is empty, or a name with the marker of
// a call behind it; else it is text. In a conversation every header is one. Begin reading at read_header.
#include "reply/parser.h"

#include <algorithm>
#include <utility>

namespace parlance {

using reply::Machine;
using reply::MarkerTrie;

namespace {

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

/// Whether the byte may belong to a header.
bool ReplyParser::State::take_header_byte(char c) {
  const std::string& close = machine_->format.turns[turn_].header_close;
  if (c == close[close_seen_]) {
    ++close_seen_;
  } else if (conversation_) {
    close_seen_ = c == close[0] ? 1 : 0;
  } else if (close_seen_ > 0 || !may_be_in_name(c)) {
    return false;
  }
  return held_.size() - header_from_ < std::min<std::size_t>(machine_->limits.name, 4096);
}

const char* ReplyParser::State::read_header(const char* p, const char* end) {
  const std::size_t size = machine_->format.turns[turn_].header_close.size();
  for (; p != end; ++p) {
    if (!take_header_byte(*p)) {
      refuse_header();
      return p;
    }
    held_ += *p;
    if (close_seen_ < size) continue;
    header_to_ = static_cast<std::uint16_t>(held_.size() - size);
    end_header();
    return p + 1;
  }
  return p;
}

void ReplyParser::State::say_turn(std::string_view source, std::string_view header) {
  const ReplyTurn& turn = machine_->format.turns[turn_];
  ReplyEvent event;
  event.kind = Kind::turn;
  event.source = source;
  event.text = turn.role;
  event.detail = header;
  out_.say(event);
  place_ = Place::text;
  region_ = turn.role == "assistant" ? Region::content : Region::plain;
  gap_ = region_ == Region::content ? Gap::start : Gap::none;
  answers_ = false;
}

void ReplyParser::State::end_header() {
  const std::string header = held_.substr(header_from_, header_to_ - header_from_);
  const bool calls = machine_->format.turns[turn_].role == "assistant" && !header.empty();
  const std::size_t named = calls ? machine_->form_of_header(header) : Machine::kNone;
  if (named != Machine::kNone) {
    form_ = static_cast<std::uint8_t>(named);
    place_ = Place::opening;
    cursor_ = {};
    close_seen_ = static_cast<std::uint16_t>(held_.size());  // what follows is the form's marker
    return;
  }
  if (!conversation_ && !header.empty()) return refuse_header();
  const std::string source = std::exchange(held_, {});
  say_turn(source, header);
}

/// It is text. What begins a conversation's turn remains one, without a header.
void ReplyParser::State::refuse_header() {
  const std::string held = std::exchange(held_, {});
  const std::size_t marker = std::exchange(header_from_, std::uint16_t{0});
  if (marker > 0) {
    say_turn(std::string_view(held).substr(0, marker), {});
  } else {
    begin_content(Gap::start);
  }
  again(held.substr(marker));
}

const char* ReplyParser::State::read_opening(const char* p, const char* end) {
  const MarkerTrie& markers = trie();
  for (; p != end; ++p) {
    if (!markers.step(cursor_, *p)) {
      refuse_opening();
      return p;
    }
    held_ += *p;
    if (!markers.has_mark(cursor_)) continue;
    absorb_ = markers.mark(cursor_).after;
    cursor_ = {};
    begin_headed();
    return p + 1;
  }
  return p;
}

void ReplyParser::State::refuse_opening() {
  cursor_ = {};
  if (!conversation_) return refuse_header();
  const std::string held = std::exchange(held_, {});
  say_turn(std::string_view(held).substr(0, close_seen_), std::string_view(held).substr(header_from_, header_to_ - header_from_));
  again(held.substr(close_seen_));
}

/// A conversation may end in a turn's marker, which is where a reply is to begin: a turn without a line's end.
void ReplyParser::State::finish_header() {
  if (place_ == Place::opening) return refuse_opening();
  if (!conversation_) return refuse_header();
  const std::string held = std::exchange(held_, {});
  ReplyEvent event;
  event.kind = Kind::end;
  event.source = held;
  event.text = machine_->format.turns[turn_].role;
  event.detail = std::string_view(held).substr(header_from_);
  out_.say(event);
  place_ = Place::text;
}

}  // namespace parlance
