// Headers of turns, and the calls that a header begins.
//
// All is held until it is clear what the header is: in a reply it is one only if it is empty, or a name with the marker
// of a call behind it; else it is text. In a conversation every header is one. Begin reading at read_header.
#include <algorithm>
#include <utility>

#include "reply/read/outside_reader.h"

namespace parlance::reply {
namespace {

bool may_be_in_header(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr char kDummyPrefix = ' ';

}  // namespace

/// The blank before a turn's text, if its format has one.
std::string_view OutsideReader::dummy_prefix() const {
  return in_.machine->format.turns[header_.turn].dummy_prefix ? std::string_view(&kDummyPrefix, 1) : std::string_view();
}

/// The header as it was read. A reply's may have a dummy prefix of its own, since a model's decoder may show one.
std::string OutsideReader::header_text() const {
  std::string_view header = std::string_view(in_.held.bytes).substr(header_.from, header_.to - header_.from);
  if (!in_.conversation && !dummy_prefix().empty() && header.starts_with(kDummyPrefix)) header.remove_prefix(1);
  return std::string(header);
}

/// Whether the byte may belong to a header.
bool OutsideReader::take_header_byte(char c) {
  const std::string& close = in_.machine->format.turns[header_.turn].header_close;
  const bool first = in_.held.bytes.size() == header_.from;
  if (first && c == kDummyPrefix && !in_.conversation && !dummy_prefix().empty()) return true;
  if (c == close[header_.closed]) {
    ++header_.closed;
  } else if (in_.conversation) {
    header_.closed = c == close[0] ? 1 : 0;
  } else if (header_.closed > 0 || !may_be_in_header(c)) {
    return false;
  }
  return in_.held.bytes.size() - header_.from < std::min<std::size_t>(in_.limits().name, 4096);
}

const char* OutsideReader::read_header(const char* p, const char* end) {
  const std::size_t size = in_.machine->format.turns[header_.turn].header_close.size();
  for (; p != end; ++p) {
    if (!take_header_byte(*p)) {
      refuse_header();
      return p;
    }
    in_.held.bytes += *p;
    if (header_.closed < size) continue;
    header_.to = static_cast<std::uint16_t>(in_.held.bytes.size() - size);
    end_header();
    return p + 1;
  }
  return p;
}

void OutsideReader::say_turn(std::string_view source, std::string_view header) {
  const ReplyTurn& turn = in_.machine->format.turns[header_.turn];
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::turn;
  event.source = source;
  event.text = turn.role;
  event.detail = header;
  in_.out.say(event);
  in_.place = Place::text;
  in_.answer.region = turn.role == "assistant" ? Region::content : Region::plain;
  in_.gap = in_.answer.region == Region::content ? Gap::start : Gap::none;
  in_.answer.answers = false;
}

void OutsideReader::end_header() {
  const std::string header = header_text();
  const bool calls = in_.machine->format.turns[header_.turn].role == "assistant" && !header.empty();
  const std::size_t named = calls ? in_.machine->form_of_header(header) : Machine::kNone;
  if (named != Machine::kNone) {
    in_.form_index = static_cast<std::uint8_t>(named);
    in_.place = Place::opening;
    in_.held.cursor = {};
    header_.closed = static_cast<std::uint16_t>(in_.held.bytes.size());  // what follows is the form's marker
    return;
  }
  if (!in_.conversation && !header.empty()) return refuse_header();
  const std::string source = in_.held.take();
  say_turn(source, header);
  in_.absorb = dummy_prefix();
}

/// It is text. What begins a conversation's turn remains one, without a header.
void OutsideReader::refuse_header() {
  const std::string held = in_.held.take();
  const std::size_t marker = std::exchange(header_.from, std::uint16_t{0});
  if (marker > 0) {
    say_turn(std::string_view(held).substr(0, marker), {});
  } else {
    in_.begin_content(Gap::start);
  }
  in_.give_back(std::string_view(held).substr(marker));
}

const char* OutsideReader::read_opening(const char* p, const char* end) {
  const MarkerTrie& markers = in_.form().open;
  for (; p != end; ++p) {
    if (in_.held.bytes.size() == header_.closed && *p == kDummyPrefix && !dummy_prefix().empty()) {
      in_.held.bytes += *p;
      continue;
    }
    if (!markers.step(in_.held.cursor, *p)) {
      refuse_opening();
      return p;
    }
    in_.held.bytes += *p;
    if (!markers.has_mark(in_.held.cursor)) continue;
    in_.absorb = markers.mark(in_.held.cursor).after;
    in_.held.cursor = {};
    std::string name = header_text();
    header_.from = 0;
    CallReader(in_).begin_headed(std::move(name));
    return p + 1;
  }
  return p;
}

void OutsideReader::refuse_opening() {
  in_.held.cursor = {};
  if (!in_.conversation) return refuse_header();
  const std::string held = in_.held.take();
  say_turn(std::string_view(held).substr(0, header_.closed),
           std::string_view(held).substr(header_.from, header_.to - header_.from));
  in_.absorb = dummy_prefix();
  in_.give_back(std::string_view(held).substr(header_.closed));
}

/// A conversation may end in a turn's marker, which is where a reply is to begin: a turn without a newline.
bool OutsideReader::finish_header() {
  if (in_.place == Place::opening) return refuse_opening(), true;
  if (!in_.conversation) return refuse_header(), true;
  const std::string held = in_.held.take();
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::end;
  event.source = held;
  event.text = in_.machine->format.turns[header_.turn].role;
  event.detail = std::string_view(held).substr(header_.from);
  in_.out.say(event);
  in_.place = Place::text;
  return true;
}

}  // namespace parlance::reply
