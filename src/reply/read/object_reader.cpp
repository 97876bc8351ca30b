// Keys of an object, and which role each has on its level. Begin reading at read_object.
#include "reply/read/object_reader.h"

#include <algorithm>

#include "reply/read/fence.h"

namespace parlance::reply {
namespace {

constexpr std::size_t kLongestKey = 256;

/// The key of a call's name; "a name" where there is none.
std::string name_key(const Form& form) {
  for (const ObjectLevel& level : form.levels) {
    for (const CallMember& member : *level.members) {
      if (member.role == CallMember::Role::name) return member.key;
    }
  }
  return "a name";
}

}  // namespace

std::unique_ptr<PartReader> object_reader(const Reading& in, bool is_call) {
  return std::make_unique<ObjectReader>(is_call, in.limits().depth);
}

bool ObjectReader::restart(const CallPart& part, const Reading& in) {
  const bool is_call = part.kind == CallPart::Kind::object;
  if (!is_call && part.arguments.codec != CallArguments::Codec::json) return false;
  *this = ObjectReader(is_call, in.limits().depth);
  return true;
}

void ObjectReader::read_part(const char*& p, const char* end) { p = read_object(p, end); }

/// Says that the call begins, and its arguments if they stood before the name.
bool ObjectReader::begin_call() {
  if (quoted_ && in().is_wanted()) in().out.malformed(in().lead.view().find('\''), "'\"'", Fault::mended);
  std::string source;
  if (!in().commit(&source)) return fail("a declared tool"), false;
  if (!has_arguments_ || arguments_to_ == 0) return true;
  const std::string_view arguments = std::string_view(source).substr(arguments_from_, arguments_to_ - arguments_from_);
  if (put_arguments(arguments, false) == arguments.size()) end_arguments();
  return true;
}

const char* ObjectReader::read_object(const char* p, const char* end) {
  switch (at_) {
    case At::in_key: return read_key(p, end);
    case At::value: return read_value(p, end);
    case At::mended: return read_mended(p, end);
    case At::quoted: return read_quoted(p, end);
    case At::proof: return read_proof(p, end);
    default: break;
  }
  return take_frame_byte(*p) ? p + 1 : p;
}

/// Whether the byte was taken; else it stands differently now.
bool ObjectReader::take_frame_byte(char c) {
  if (room(kNoLimit) == 0) {
    fail("the name of the call sooner");
    return false;
  }
  if (is_json_space(c)) {
    in().put_frame({&c, 1});
    return true;
  }
  const bool value = at_ == At::value_begin || at_ == At::arguments_only;
  return value ? begin_value(c) : take_member_byte(c);
}

bool ObjectReader::take_member_byte(char c) {
  const auto take = [&](At next) {
    in().put_frame({&c, 1});
    at_ = next;
    return true;
  };
  switch (at_) {
    case At::object_open:
      if (c == '{' && Fence(in()).is_whole()) return take(At::key_or_end);
      if (c == '[' && begins_list()) return take(At::object_open);
      if (Fence(in()).goes_on(c)) return take(At::object_open);
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
        word() = std::string(1, c);
        scanner_ = JsonScanner(in().limits().depth);
        scanner_.feed(c);
        return take(At::in_key);
      }
      if (c == '\'') return begin_quoted(At::in_key);
      break;
  }
  if (c == '}' && at_ == At::key && in().call->named) in().out.malformed(0, "a key", Fault::mended);  // behind a comma
  if (c == '}' && (at_ != At::key || in().call->named)) return end_object();
  if (lacks_brace(c)) return answer({Step::What::done}), false;
  fail(at_ == At::comma_or_end ? "',' or '}'" : at_ == At::key ? "a key" : "a key or '}'");
  return false;
}

/// A call that stands alone may come as a list of calls.
bool ObjectReader::begins_list() const {
  const bool alone =
      in().form().form->layout == CallLayout::single && in().form().form->call.size() == 3 && in().form().is_literal(0);
  return alone && in().call->part == 1 && in().call->opening != 0 &&
         in().lead.view().find('[', in().call->opening) == std::string_view::npos;
}

/// Name and arguments are there, and what closes the call begins before the object is closed.
bool ObjectReader::lacks_brace(char c) {
  const std::size_t next = in().call->part + std::size_t{1};
  const bool all = in().call->named && has_arguments_ && at_ == At::comma_or_end;
  if (!all || in().form().form->layout != CallLayout::single || !in().form().is_literal(next) ||
      !in().form().literals[next].begins(c))
    return false;
  in().out.malformed(0, "'}'");
  return true;
}

// ---- keys

/// A text in single quotes, as Python writes it: a key, or a short value.
bool ObjectReader::begin_quoted(At at) {
  if (!quoted_ && in().call->named) in().out.malformed(0, "'\"'", Fault::mended);
  quoted_ = true;
  word() = "'";
  at_ = at;
  in().put_frame("'");
  return true;
}

const char* ObjectReader::read_quoted(const char* p, const char* end) {
  for (; p != end; ++p) {
    if (room(kLongestKey) == 0) {
      fail("a shorter text");
      return p;
    }
    const std::string_view begun = word();
    const std::size_t slashes = begun.size() - 1 - begun.find_last_not_of('\\');
    in().put_frame({p, 1});
    word() += {p, 1};
    if (*p == '\'' && slashes % 2 == 0) return end_quoted(), p + 1;
  }
  return p;
}

void ObjectReader::end_quoted() {
  const bool key = at_ == At::in_key;
  word() = json_of_python(word(), in().limits().depth);
  if (word().empty()) return fail("a text");
  if (key) return end_key();
  if (role_ != Role::name && role_ != Role::id) word().clear();
  end_value();
}

const char* ObjectReader::read_key(const char* p, const char* end) {
  if (word().view().starts_with('\'')) return read_quoted(p, end);
  const char* const begin = p;
  const std::size_t left = room(kLongestKey);
  if (left == 0) {
    fail("a shorter key");
    return p;
  }
  const Scan scan = scanner_.run(p, p + std::min(left, static_cast<std::size_t>(end - p)));
  in().put_frame({begin, p});
  word() += {begin, static_cast<std::size_t>(p - begin)};
  if (scan == Scan::bad) fail(scanner_.expected());
  if (scan == Scan::done) end_key();
  return p;
}

void ObjectReader::end_key() {
  const std::string key = text_of_json(word());
  word().clear();
  at_ = At::colon;
  take_role(key);
  // An answer in JSON looks like a call only as long as its keys are those of one.
  const bool usual = key == "type" || key == "id";  // as clients write calls
  const bool stranger = role_ == Role::other && !usual;
  if (stranger) stranger_ = true;
  if (stranger && in().call->silent && !in().call->named && in().form().form->initial) fail("a key of a call");
}

void ObjectReader::take_role(const std::string& key) {
  using Meant = CallMember::Role;
  const ObjectLevel& level = in().form().levels[level_];
  role_ = Role::other;
  for (std::size_t i = 0; i < level.members->size(); ++i) {
    const CallMember& member = (*level.members)[i];
    if (member.role == Meant::any_name || member.key != key) continue;
    switch (member.role) {
      case Meant::name:
        if (in().call->name.empty()) role_ = Role::name;
        return;
      case Meant::arguments: role_ = Role::arguments; return;
      case Meant::id: role_ = Role::id; return;
      case Meant::inner:
        role_ = Role::inner;
        inner_ = level.inner[i];
        return;
      default: role_ = Role::constant; return;
    }
  }
  if (!level.any_name || !in().call->name.empty() || key.empty()) return;
  in().call->name = key;
  role_ = Role::arguments;
}

// ---- the end

bool ObjectReader::end_object() {
  if (level_ != 0) {
    in().put_frame("}");
    level_ = in().form().levels[level_].parent;
    at_ = At::comma_or_end;
    return true;
  }
  if (!in().call->named) {
    fail(in().call->name.empty() ? "a member '" + name_key(in().form()) + "'" : "the arguments");
    return false;
  }
  if (!has_arguments_ && stranger_) in().out.malformed(0, "the arguments");
  if (!has_arguments_) in().put_meant("{}");
  in().put_markup("}");
  answer({Step::What::done});
  return true;
}

// ---- what went wrong

bool ObjectReader::measure(Recovery& recovery, const Reading& in) const {
  if (at_ == At::object_open) return true;
  recovery.depth = 1;
  for (std::size_t level = level_; level != 0; level = in.form().levels[level].parent) ++recovery.depth;
  if (at_ == At::mended) {
    recovery.depth = static_cast<std::uint16_t>(recovery.depth + python_->open_braces());
    recovery.quote = python_->open_quote();
    return true;
  }
  if (at_ == At::value) recovery.depth = static_cast<std::uint16_t>(recovery.depth + scanner_.objects());
  const bool text = at_ == At::value && role_ == Role::arguments && shape_ == Shape::text;
  const bool in_string = (at_ == At::value || at_ == At::in_key) && scanner_.inside_string();
  if (text || in_string) recovery.quote = '"';
  return true;
}

CutName ObjectReader::cut_name() const {
  const bool in_text = at_ == At::in_key || at_ == At::value;
  return {at_ != At::object_open, in_text, scanner_.expected()};
}

void ObjectReader::say_cut_off(std::string& held) {
  if (at_ == At::mended) return in().out.piece(Kind::broken, {}, python_->unsaid());
  if (!bare_key_ && !bare_word_) return;
  if (!bare_word_ || !say_bare_word(held)) in().out.text(Kind::broken, held);
  held.clear();
}

}  // namespace parlance::reply
