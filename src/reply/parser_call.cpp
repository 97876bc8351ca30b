// Calls that are JSON objects, alone or in a list: the name is found, the arguments pass through as they are.
//
// Until the name is known everything is held, the opening marker included, since a call that goes wrong before is text.
// Begin reading at read_object; values are in parser_value.cpp.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Scan;

namespace {

constexpr std::size_t kLongestKey = 256;

bool is_one_of(const std::vector<std::string>& keys, std::string_view key) {
  for (const std::string& known : keys) {
    if (known == key) return true;
  }
  return false;
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
  if (room(Call::kNoLimit) == 0) {
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
  const std::string key = reply::text_of_json(call_.word);
  call_.at = Call::At::colon;
  call_.role = Call::Role::other;
  if (is_one_of(form().name_members, key) && !call_.named) call_.role = Call::Role::name;
  if (is_one_of(form().argument_members, key)) call_.role = Call::Role::arguments;
  if (is_one_of(form().id_members, key)) call_.role = Call::Role::id;
  call_.word.clear();
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
