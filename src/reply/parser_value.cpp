// The values of a call's members: its name, its id, its arguments, and others.
//
// Arguments leave as they come once the name is known. Begin reading at read_value.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Scan;

/// How many bytes may still be held, and added to a word of at most `longest`.
std::size_t ReplyParser::State::room(std::size_t longest) const {
  const ReplyLimits& limits = machine_->limits;
  std::size_t room = Call::kNoLimit;
  if (!call_.named) room = limits.pending - std::min<std::size_t>(limits.pending, held_.size());
  return std::min(room, longest - std::min(longest, call_.word.size()));
}

bool ReplyParser::State::begin_value(char c) {
  if (call_.role == Call::Role::name && c != '"') {
    fail("a name");
    return false;
  }
  if (call_.role == Call::Role::arguments && !begin_arguments(c)) return false;
  call_.scanner = reply::JsonScanner(machine_->limits.depth);
  call_.at = Call::At::value;
  return false;  // the value's own reader takes it
}

bool ReplyParser::State::begin_arguments(char c) {
  const bool fits = c == '{' || c == '"' || c == 'n';
  if (!fits || call_.has_arguments) {
    fail(fits ? "the arguments once" : "an object of arguments");
    return false;
  }
  call_.has_arguments = true;
  call_.shape = c == '{' ? Call::Shape::object : c == '"' ? Call::Shape::text : Call::Shape::nothing;
  call_.arguments_from = held_.size();
  call_.raw_escape = call_.text_begun = call_.text_done = false;
  return true;
}

const char* ReplyParser::State::read_value(const char* p, const char* end) {
  const char* const begin = p;
  const bool is_short = call_.role == Call::Role::name || call_.role == Call::Role::id;
  const std::size_t left = room(is_short ? machine_->limits.name : Call::kNoLimit);
  if (left == 0) {
    fail("less before the arguments");
    return p;
  }
  const Scan scan = call_.scanner.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  const std::size_t put = put_value({begin, p});
  if (put != static_cast<std::size_t>(p - begin)) return begin + put;
  if (scan == Scan::bad) {
    fail(call_.scanner.expected());
  } else if (scan != Scan::more) {
    end_value();
  }
  return p;
}

/// How many bytes were taken: all, or those before the one that made the call fail.
std::size_t ReplyParser::State::put_value(std::string_view bytes) {
  if (call_.role == Call::Role::arguments && call_.named) return put_arguments(bytes, true);
  if (call_.role == Call::Role::name || call_.role == Call::Role::id) call_.word += bytes;
  put_frame(bytes);
  return bytes.size();
}

/// Bytes of arguments whose call has begun; without a source where they were held, and are in it already.
std::size_t ReplyParser::State::put_arguments(std::string_view bytes, bool has_source) {
  if (call_.shape == Call::Shape::text) return put_argument_text(bytes, has_source);
  if (call_.shape == Call::Shape::nothing) {
    if (has_source) put_markup(bytes);
  } else if (has_source) {
    out_.text(Kind::arguments, bytes);
  } else {
    out_.piece(Kind::arguments, {}, bytes);
  }
  return bytes.size();
}

/// Arguments as a string: what it holds must be an object. The scanner has seen to the escapes.
std::size_t ReplyParser::State::put_argument_text(std::string_view bytes, bool has_source) {
  std::string text = std::exchange(call_.text_tail, {});
  std::string one;
  std::size_t used = 0;
  bool good = true;
  for (; used < bytes.size() && good; ++used) {
    const char c = bytes[used];
    if (c == '"' && !call_.raw_escape) continue;  // the string's own quotes
    call_.raw_escape = c == '\\' && !call_.raw_escape;
    one.clear();
    call_.unescape.feed(c, one);
    for (const char decoded : one) {
      if (!call_.text_begun && is_json_space(decoded)) continue;
      good = call_.text_begun ? !call_.text_done || is_json_space(decoded) : decoded == '{';
      call_.text_begun = true;
      if (!good || call_.text_done) continue;
      const Scan scan = call_.inner.feed(decoded);
      good = good && scan != Scan::bad;
      call_.text_done = scan == Scan::done;
      if (good) text += decoded;
    }
  }
  if (!good) --used;
  const std::size_t cut = good ? reply::incomplete_tail(text) : 0;
  call_.text_tail = text.substr(text.size() - cut);
  text.resize(text.size() - cut);
  out_.piece(Kind::arguments, has_source ? bytes.substr(0, used) : std::string_view(), text);
  if (!good) fail(call_.text_done ? "the end of the text" : call_.inner.expected());
  return used;
}

bool ReplyParser::State::end_value() {
  call_.at = Call::At::comma_or_end;
  switch (call_.role) {
    case Call::Role::name: {
      std::string name = reply::text_of_json(call_.word);
      call_.word.clear();
      if (name.empty()) {
        fail("a name");
        return false;
      }
      name_call(std::move(name));
      return true;
    }
    case Call::Role::id:
      call_.id = call_.word.starts_with('"') ? reply::text_of_json(call_.word) : call_.word;
      call_.word.clear();
      return true;
    case Call::Role::arguments:
      call_.arguments_to = held_.size();
      return !call_.named || end_arguments();
    default: return true;
  }
}

/// Nothing, or an empty text, is an empty object.
bool ReplyParser::State::end_arguments() {
  if (call_.shape == Call::Shape::nothing || (call_.shape == Call::Shape::text && !call_.text_begun)) {
    out_.piece(Kind::arguments, {}, "{}");
  } else if (call_.shape == Call::Shape::text && !call_.text_done) {
    fail(call_.inner.expected());
    return false;
  }
  if (!form().headed) return true;
  out_.end_call(true, call_.id);
  begin_tail();
  return true;
}

/// The call can begin: what was held becomes the event's source, and arguments that stood before the name follow.
void ReplyParser::State::name_call(std::string name) {
  const std::string held = std::exchange(held_, {});
  call_.named = call_.committed = true;
  out_.flush();
  out_.next_call();
  ReplyEvent event;
  event.kind = Kind::call_begin;
  event.form = static_cast<std::uint32_t>(form_);
  event.source = held;
  event.text = name;
  event.detail = call_.id;
  out_.say(event);
  if (!call_.has_arguments) return;
  const std::string_view arguments = held;
  const std::size_t size = call_.arguments_to - call_.arguments_from;
  if (put_arguments(arguments.substr(call_.arguments_from, size), false) == size) end_arguments();
}

}  // namespace parlance
