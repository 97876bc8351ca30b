// Events, one after the other. Begin reading at EventEmitter::take.
#include "reply/read/event_emitter.h"

#include <algorithm>

#include "base/utf8.h"
#include "json/json.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

/// Whether a byte is the same inside a string of JSON; ASCII only.
bool needs_no_escape(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

}  // namespace

void EventEmitter::begin_reply(std::size_t ahead) {
  flush();
  origin_ = static_cast<std::uint32_t>(place_ + ahead);
  call_ = 0;
}

std::size_t EventEmitter::in_reply(std::size_t size) const {
  const std::uint64_t end = place_ + size;
  return end <= origin_ ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(end - origin_, size));
}

void EventEmitter::say(ReplyEvent& event) {
  flush();
  send(event);
}

void EventEmitter::malformed(std::size_t ahead, std::string_view expected, Fault fault) {
  flush();
  ReplyEvent event;
  event.kind = Kind::malformed;
  event.position = position(place_ + ahead);
  event.call = current();
  event.fault = fault;
  event.text = expected;
  (*sink_)(event);
}

void EventEmitter::piece(Kind kind, std::string_view source, std::string_view meant) {
  if (source.empty() && meant.empty()) return;
  ReplyEvent event;
  event.kind = kind;
  event.source = source;
  event.text = meant;
  say(event);
}

void EventEmitter::end_call(bool complete, std::string_view id) {
  ReplyEvent event;
  event.kind = Kind::call_end;
  event.complete = complete;
  event.detail = id;
  say(event);
}

/// Text is cut where the reply begins; what arguments mean is not, since they would be no JSON.
void EventEmitter::give(Kind kind, bool escaped, std::string_view bytes) {
  if (bytes.empty()) return;
  if (escaped) return give_escaped(bytes);
  ReplyEvent event{.kind = kind, .call = current(), .position = position(place_), .source = bytes, .text = bytes};
  const bool straddles = place_ < origin_;
  place_ += bytes.size();
  if (straddles) {
    event.source.remove_prefix(std::min(
        bytes.size(), bytes.size() - static_cast<std::size_t>(place_ - std::min<std::uint64_t>(place_, origin_))));
    if (kind != Kind::arguments) event.text = event.source;
    if (event.text.empty()) return;
  }
  (*sink_)(event);
}

void EventEmitter::give_escaped(std::string_view bytes) {
  ReplyEvent event;
  event.kind = Kind::arguments;
  event.source = bytes;
  event.text = bytes;
  if (std::all_of(bytes.begin(), bytes.end(), needs_no_escape)) return send(event);
  std::string json;
  append_json_string(json, bytes);
  event.text = std::string_view(json).substr(1, json.size() - 2);
  send(event);
}

void EventEmitter::send(ReplyEvent& event) {
  event.position = position(place_);
  event.call = current();
  const bool straddles = place_ < origin_;
  place_ += event.source.size();
  if (straddles) {
    const std::uint64_t behind = place_ - std::min<std::uint64_t>(place_, origin_);
    if (behind < event.source.size())
      event.source.remove_prefix(event.source.size() - static_cast<std::size_t>(behind));
  }
  const bool nothing = event.source.empty() && event.text.empty() && event.kind == Kind::marker;
  if (!nothing) (*sink_)(event);
}

void EventEmitter::flush_carry() {
  const std::size_t size = carry_size_;
  carry_size_ = 0;
  give(carry_kind_, carry_escaped_, {carry_.data(), size});
}

/// Moves what belongs to the code point that was cut; false while it is not whole.
bool EventEmitter::complete_carry(std::string_view& bytes) {
  while (!bytes.empty() && utf8::is_continuation(bytes.front())) {
    carry_[carry_size_++] = bytes.front();
    bytes.remove_prefix(1);
    if (incomplete_tail({carry_.data(), carry_size_}) == 0) return true;
  }
  return !bytes.empty();
}

void EventEmitter::take(Kind kind, bool escaped, std::string_view bytes) {
  if (bytes.empty()) return;
  if (carry_size_ != 0) {
    if ((kind == carry_kind_ && escaped == carry_escaped_) && !complete_carry(bytes)) return;
    flush();
  }
  const std::size_t tail = incomplete_tail(bytes);
  give(kind, escaped, bytes.substr(0, bytes.size() - tail));
  carry_kind_ = kind;
  carry_escaped_ = escaped;
  carry_size_ = static_cast<std::uint8_t>(bytes.copy(carry_.data(), tail, bytes.size() - tail));
}

}  // namespace parlance::reply
