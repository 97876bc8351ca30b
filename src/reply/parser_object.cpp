// An object that is a call: keys, and which role each has on its level. Begin reading at read_object.
//
// Values are in parser_value.cpp.
#include <algorithm>
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::is_json_space;
using reply::Scan;

namespace {

constexpr std::size_t kLongestKey = 256;
constexpr std::string_view kFence = "```";
constexpr std::size_t kLongestFence = 16;

}  // namespace

const char* ReplyParser::State::read_object(const char* p, const char* end) {
  switch (call_->at) {
    case Call::At::in_key: return read_key(p, end);
    case Call::At::value: return read_value(p, end);
    case Call::At::mended: return read_mended(p, end);
    case Call::At::quoted: return read_quoted(p, end);
    default: break;
  }
  return take_frame_byte(*p) ? p + 1 : p;
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
  const bool value = call_->at == Call::At::value_begin || call_->at == Call::At::arguments_only;
  return value ? begin_value(c) : take_member_byte(c);
}

bool ReplyParser::State::take_member_byte(char c) {
  using At = Call::At;
  const auto take = [&](At next) {
    put_frame({&c, 1});
    call_->at = next;
    return true;
  };
  switch (call_->at) {
    case At::object_open:
      if (c == '{' && fence_ends()) return take(At::key_or_end);
      if (c == '[' && begins_list()) return take(At::object_open);
      if (continues_fence(c)) return take(At::object_open);
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
        call_->word = std::string(1, c);
        call_->json().scanner = reply::JsonScanner(machine_->limits.depth);
        call_->json().scanner.feed(c);
        return take(At::in_key);
      }
      if (c == '\'') return begin_quoted(At::in_key);
      break;
  }
  if (c == '}' && call_->at == At::key && call_->named) out_.malformed(0, "a key", Fault::mended);  // behind a comma
  if (c == '}' && (call_->at != At::key || call_->named)) return end_object();
  if (lacks_brace(c)) return end_part(), false;
  fail(call_->at == At::comma_or_end ? "',' or '}'" : call_->at == At::key ? "a key" : "a key or '}'");
  return false;
}

/// A call that stands alone may come as a list of calls.
bool ReplyParser::State::begins_list() const {
  const bool alone = form().form->layout == CallLayout::single && form().form->call.size() == 3 && form().is_literal(0);
  return alone && call_->part == 1 && call_->opening != 0 && lead_.view().find('[', call_->opening) == std::string_view::npos;
}

/// Whether a fence may stand here: behind what opens the call, or the list of calls.
bool ReplyParser::State::may_be_fenced() const {
  const bool list = place_ == Place::list && call_->at == Call::At::list_open && form().form->open.exists();
  const bool alone = form().form->layout == CallLayout::single && form().is_literal(0) && call_->part == 1;
  return (list || alone) && call_->opening != 0;
}

/// What stands there so far, but for blanks.
std::string_view ReplyParser::State::opened() const {
  return may_be_fenced() ? reply::trimmed_left(lead_.view().substr(call_->opening)) : std::string_view();
}

/// Whether the byte belongs to a line ```json.
bool ReplyParser::State::continues_fence(char c) const {
  const std::string_view fence = opened();
  if (!may_be_fenced() || fence.size() >= kLongestFence || fence.find_first_of("[ \t\r\n") != fence.npos) return false;
  return fence.size() < kFence.size() ? c == '`' : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether what stands before the object is no fence, or a whole one.
bool ReplyParser::State::fence_ends() const {
  const std::string_view fence = opened();
  return !fence.starts_with('`') || fence.starts_with(kFence);
}

/// Name and arguments are there, and what closes the call begins before the object is closed.
bool ReplyParser::State::lacks_brace(char c) {
  const std::size_t next = call_->part + std::size_t{1};
  const bool all = call_->named && call_->has_arguments && call_->at == Call::At::comma_or_end;
  if (!all || form().form->layout != CallLayout::single || !form().is_literal(next) || !form().literals[next].begins(c)) return false;
  out_.malformed(0, "'}'");
  return true;
}

// ---- keys

/// A text in single quotes, as Python writes it: a key, or a short value.
bool ReplyParser::State::begin_quoted(Call::At at) {
  if (!call_->quoted && call_->named) out_.malformed(0, "'\"'", Fault::mended);
  call_->quoted = true;
  call_->word = "'";
  call_->at = at;
  put_frame("'");
  return true;
}

const char* ReplyParser::State::read_quoted(const char* p, const char* end) {
  for (; p != end; ++p) {
    if (room(kLongestKey) == 0) {
      fail("a shorter text");
      return p;
    }
    const std::string_view word = call_->word;
    const std::size_t slashes = word.size() - 1 - word.find_last_not_of('\\');
    put_frame({p, 1});
    call_->word += {p, 1};
    if (*p == '\'' && slashes % 2 == 0) return end_quoted(), p + 1;
  }
  return p;
}

void ReplyParser::State::end_quoted() {
  const bool key = call_->at == Call::At::in_key;
  call_->word = reply::json_of_python(call_->word, machine_->limits.depth);
  if (call_->word.empty()) return fail("a text");
  if (key) return end_key();
  if (call_->role != Call::Role::name && call_->role != Call::Role::id) call_->word.clear();
  end_value();
}

const char* ReplyParser::State::read_key(const char* p, const char* end) {
  if (call_->word.view().starts_with('\'')) return read_quoted(p, end);
  const char* const begin = p;
  const std::size_t left = room(kLongestKey);
  if (left == 0) {
    fail("a shorter key");
    return p;
  }
  const Scan scan = call_->json().scanner.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  put_frame({begin, p});
  call_->word += {begin, static_cast<std::size_t>(p - begin)};
  if (scan == Scan::bad) fail(call_->json().scanner.expected());
  if (scan == Scan::done) end_key();
  return p;
}

void ReplyParser::State::end_key() {
  const std::string key = reply::text_of_json(call_->word);
  call_->word.clear();
  call_->at = Call::At::colon;
  take_role(key);
  // An answer in JSON looks like a call only as long as its keys are those of one.
  const bool usual = key == "type" || key == "id";  // as clients write calls
  const bool stranger = call_->role == Call::Role::other && !usual;
  if (stranger) call_->stranger = true;
  if (stranger && call_->silent && !call_->named && form().form->initial) fail("a key of a call");
}

void ReplyParser::State::take_role(const std::string& key) {
  using Role = CallMember::Role;
  const reply::ObjectLevel& level = form().levels[call_->level];
  call_->role = Call::Role::other;
  for (std::size_t i = 0; i < level.members->size(); ++i) {
    const CallMember& member = (*level.members)[i];
    if (member.role == Role::any_name || member.key != key) continue;
    switch (member.role) {
      case Role::name:
        if (call_->name.empty()) call_->role = Call::Role::name;
        return;
      case Role::arguments: call_->role = Call::Role::arguments; return;
      case Role::id: call_->role = Call::Role::id; return;
      case Role::inner:
        call_->role = Call::Role::inner;
        call_->inner = level.inner[i];
        return;
      default: call_->role = Call::Role::constant; return;
    }
  }
  if (!level.any_name || !call_->name.empty() || key.empty()) return;
  call_->name = key;
  call_->role = Call::Role::arguments;
}

// ---- the end

/// The key that should have been there.
std::string ReplyParser::State::name_key() const {
  for (const reply::ObjectLevel& level : form().levels) {
    for (const CallMember& member : *level.members) {
      if (member.role == CallMember::Role::name) return member.key;
    }
  }
  return "a name";
}

bool ReplyParser::State::end_object() {
  if (call_->level != 0) {
    put_frame("}");
    call_->level = form().levels[call_->level].parent;
    call_->at = Call::At::comma_or_end;
    return true;
  }
  if (!call_->named) {
    fail(call_->name.empty() ? "a member '" + name_key() + "'" : "the arguments");
    return false;
  }
  if (!call_->has_arguments && call_->stranger) out_.malformed(0, "the arguments");
  if (!call_->has_arguments) put_meant("{}");
  put_markup("}");
  end_part();
  return true;
}

}  // namespace parlance
