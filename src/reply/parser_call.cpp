// Calls that are JSON objects, alone or in a list: the name is found, the arguments pass through as they are.
//
// Until the name is known everything is held, the opening marker included, since a call that goes wrong before is text.
// Begin reading at read_object; read_value does the work.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Scan;

namespace {

constexpr std::size_t kLongestKey = 256;
constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

bool is_one_of(const std::vector<std::string>& keys, std::string_view key) {
  for (const std::string& known : keys) {
    if (known == key) return true;
  }
  return false;
}

/// The text of a JSON string that is written as `literal`, quotes included.
std::string text_of(std::string_view literal) {
  std::string text;
  reply::JsonUnescape unescape;
  for (const char c : literal.substr(1, literal.size() - 2)) unescape.feed(c, text);
  unescape.finish(text);
  return text;
}

}  // namespace

void ReplyParser::State::begin_object(const Mark& mark, std::string source) {
  absorb_ = {};
  if (place_ == Place::broken) begin_content(Gap::none);
  form_ = mark.index;
  place_ = Place::object;
  held_ = std::move(source);
  call_ = Call();
  call_.scanner = reply::JsonScanner(machine_->limits.depth);
  call_.inner = call_.scanner;
  call_.at = form().layout == CallLayout::list ? Call::At::list_open : Call::At::object_open;
}

const char* ReplyParser::State::read_object(const char* p, const char* end) {
  switch (call_.at) {
    case Call::At::in_key: return read_key(p, end);
    case Call::At::value: return read_value(p, end);
    default: break;
  }
  return take_frame_byte(*p) ? p + 1 : p;
}

/// Bytes between keys and values: part of the call's beginning while it has none.
void ReplyParser::State::put_frame(std::string_view bytes) {
  if (call_.named) {
    put_markup(bytes);
  } else {
    held_ += bytes;
  }
}

/// Whether the byte was taken; else the place has changed.
bool ReplyParser::State::take_frame_byte(char c) {
  if (room(kNoLimit) == 0) {
    fail("the name of the call sooner");
    return false;
  }
  if (is_json_space(c)) {
    put_frame({&c, 1});
    return true;
  }
  if (call_.at == Call::At::value_begin || call_.at == Call::At::arguments_only) return begin_value(c);
  return call_.at <= Call::At::list_next ? take_list_byte(c) : take_member_byte(c);
}

bool ReplyParser::State::take_list_byte(char c) {
  using At = Call::At;
  const bool loose = form().commas_optional;
  const At at = call_.at;
  const bool object = c == '{' && (at == At::list_first || at == At::list_item || (at == At::list_next && loose));
  const bool close = c == ']' && (at == At::list_first || at == At::list_next || (at == At::list_item && loose));
  const bool comma = c == ',' && at == At::list_next;
  if (at == At::list_open ? c != '[' : !(object || close || comma)) {
    fail(at == At::list_open ? "'['" : at == At::list_first ? "'{' or ']'" : at == At::list_item ? "'{'" : "',' or ']'");
    return false;
  }
  put_frame({&c, 1});
  call_.at = at == At::list_open ? At::list_first : object ? At::key_or_end : At::list_item;
  if (close) end_section();
  return true;
}

bool ReplyParser::State::take_member_byte(char c) {
  using At = Call::At;
  const auto take = [&](At next) {
    put_frame({&c, 1});
    call_.at = next;
    return true;
  };
  switch (call_.at) {
    case At::object_open:
      if (c == '{') return take(At::key_or_end);
      fail("'{'");
      return false;
    case At::colon:
      if (c == ':') return take(At::value_begin);
      fail("':'");
      return false;
    case At::comma_or_end:
      if (c == ',') return take(At::key);
      break;
    default:  // a key
      if (c == '"') {
        call_.word.assign(1, c);
        call_.scanner = reply::JsonScanner(machine_->limits.depth);
        call_.scanner.feed(c);
        return take(At::in_key);
      }
      break;
  }
  if (c == '}' && call_.at != At::key) return end_object();
  fail(call_.at == At::comma_or_end ? "',' or '}'" : call_.at == At::key ? "a key" : "a key or '}'");
  return false;
}

// ---- keys

/// How many bytes may still be held, and added to a word of at most `longest`.
std::size_t ReplyParser::State::room(std::size_t longest) const {
  const ReplyLimits& limits = machine_->limits;
  std::size_t room = kNoLimit;
  if (!call_.named) room = limits.pending - std::min<std::size_t>(limits.pending, held_.size());
  return std::min(room, longest - std::min(longest, call_.word.size()));
}

const char* ReplyParser::State::read_key(const char* p, const char* end) {
  const char* const begin = p;
  const std::size_t left = room(kLongestKey);
  if (left == 0) {
    fail("a shorter key");
    return p;
  }
  const Scan scan = call_.scanner.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  put_frame({begin, p});
  call_.word.append(begin, p);
  if (scan == Scan::bad) fail(call_.scanner.expected());
  if (scan == Scan::done) end_key();
  return p;
}

void ReplyParser::State::end_key() {
  const std::string key = text_of(call_.word);
  call_.at = Call::At::colon;
  call_.role = Call::Role::other;
  if (is_one_of(form().name_members, key) && !call_.named) call_.role = Call::Role::name;
  if (is_one_of(form().argument_members, key)) call_.role = Call::Role::arguments;
  if (is_one_of(form().id_members, key)) call_.role = Call::Role::id;
  call_.word.clear();
}

// ---- values

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
  const std::size_t left = room(is_short ? machine_->limits.name : kNoLimit);
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
      std::string name = text_of(call_.word);
      call_.word.clear();
      if (name.empty()) {
        fail("a name");
        return false;
      }
      name_call(std::move(name));
      return true;
    }
    case Call::Role::id:
      call_.id = call_.word.starts_with('"') ? text_of(call_.word) : call_.word;
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
  if (form().name_place != NamePlace::header) return true;
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

// ---- ends

bool ReplyParser::State::end_object() {
  if (!call_.named) {
    fail("a member '" + form().name_members.front() + "'");
    return false;
  }
  if (!call_.has_arguments) out_.piece(Kind::arguments, {}, "{}");
  put_markup("}");
  out_.end_call(true, call_.id);
  if (form().layout == CallLayout::single) {
    end_section();
    return true;
  }
  const bool committed = call_.committed;
  call_ = Call();
  call_.committed = committed;
  call_.inner = reply::JsonScanner(machine_->limits.depth);
  call_.at = Call::At::list_next;
  return true;
}

void ReplyParser::State::end_section() {
  put_markup(held_);
  held_.clear();
  begin_tail();
}

/// The next byte cannot stand here: without a name it was text, else the call remains incomplete.
void ReplyParser::State::fail(std::string_view expected) {
  const std::string wanted(expected);
  const std::string held = std::exchange(held_, {});
  out_.malformed(held.size(), wanted);
  if (!call_.committed) {
    place_ = Place::text;
    gap_ = Gap::none;
    return put_text(held);
  }
  if (call_.named) out_.end_call(false, call_.id);
  place_ = Place::broken;
  put_text(held);
}

void ReplyParser::State::finish_object() {
  using At = Call::At;
  if (call_.committed && call_.named) return out_.end_call(false, call_.id);
  const std::string held = std::exchange(held_, {});
  const bool between = call_.committed && call_.at <= At::list_next;
  if (between) return put_markup(held);
  const bool in_text = call_.at == At::in_key || call_.at == At::value;
  out_.malformed(held.size(), in_text ? call_.scanner.expected() : "the name of a call");
  place_ = call_.committed ? Place::broken : Place::text;
  gap_ = Gap::none;
  put_text(held);
}

}  // namespace parlance
