// Attribute paths, and the errors several filters share. See common.h.
#include "jinja/filters/common.h"

#include <algorithm>
#include <cstring>

#include "jinja/objects/builtins.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// One part of a dotted path: an int if str.isdigit() says so.
/// str.isdigit() takes digits that int() refuses, such as '²'. Jinja2's int() then raises a ValueError.
bool add_part(Runtime& rt, ListBuilder& parts, Value part) {
  std::string_view bytes = text(rt, part);
  if (!unicode::str_is_digit(bytes)) {
    parts.append(part);
    return true;
  }
  std::optional<Value> number = parse_int(rt, bytes, 10);
  if (!number) {
    rt.fail(ErrorCode::value, "invalid literal for int() with base 10: '" + std::string(bytes) + "'", part);
    return false;
  }
  parts.append(*number);
  return true;
}

}  // namespace

/// Each part is an item first, as environment.getitem does. The default stands in for every part that is missing, so
/// the parts behind it are looked up in the default.
Value AttributeGetter::get(Runtime& rt, Value item) const {
  for (const Value& part : parts) {
    item = get_item(rt, item, part);
    if (item.is_invalid()) return item;
    if (item.is_undefined() && !fallback.is_none()) item = fallback;
  }
  return fold ? fold_case(rt, item) : item;
}

/// "a.b.0" becomes 'a', 'b' and 0. A value that is no string is one part, whatever it is.
bool make_getter(Runtime& rt, Value attribute, AttributeGetter& out) {
  out.parts = {};
  if (attribute.is_none()) return true;
  ListBuilder parts(rt, 2);
  if (!attribute.is_string()) {
    parts.append(attribute);
  } else {
    std::string_view path = text(rt, attribute);
    std::size_t begin = 0;
    while (begin <= path.size()) {
      std::size_t dot = std::min(path.find('.', begin), path.size());
      if (!add_part(rt, parts, with_markup(Value::view(path.substr(begin, dot - begin)), false))) return false;
      begin = dot + 1;
    }
  }
  out.parts = {parts.data(), parts.size()};
  return !rt.failed();
}

Value plain_text(Runtime& rt, Value v) {
  Value s = to_text(rt, v);
  return s.is_invalid() ? s : with_markup(s, false);
}

Value fail_attribute(Runtime& rt, Value v, std::string_view name) {
  if (v.is_undefined()) return fail_undefined(rt, v);
  const auto get = v.is(Kind::object) ? v.object->type->get_attribute : nullptr;
  if (const Value found = get == nullptr ? Value() : get(rt, v.object, name); !found.is_undefined()) {
    return rt.fail(ErrorCode::type, "'" + std::string(type_name(found)) + "' object is not callable", v);
  }
  return rt.fail(ErrorCode::attribute,
                 "'" + std::string(type_name(v)) + "' object has no attribute '" + std::string(name) + "'", v);
}

bool size_argument(const Call& call, std::size_t i, std::int64_t& out) {
  if (call[i].is(Kind::integer) && !call[i].is_small_int()) {
    call.fail(ErrorCode::overflow, "Python int too large to convert to C ssize_t");
    return false;
  }
  return call.integer(i, out);
}

Value spaces(Runtime& rt, std::uint64_t n) {
  static constexpr std::string_view kSpaces = "                                                                ";
  if (n <= kSpaces.size()) return Value::view(kSpaces.substr(0, static_cast<std::size_t>(n)));
  if (!rt.reserve(n)) return Value::invalid();
  char* out = rt.arena.allocate_text(n);
  std::memset(out, ' ', n);
  return Value::view({out, static_cast<std::size_t>(n)});
}

Value undefined_hint(Runtime& rt, std::string_view hint) {
  Value v;
  v.undefined = rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::hint, Value::view(hint), {}});
  return v;
}

void Cutter::append(StringBuilder& out, std::size_t begin, std::size_t end) {
  if ((s_.flags & Value::kRope) == 0) return out.append(Value::view(leaf_text(s_).substr(begin, end - begin)));
  const Rope& rope = *s_.rope;
  while (begin < end && piece_ < rope.count) {
    const Piece& p = rope.pieces[piece_];
    std::size_t piece_end = piece_begin_ + p.size;
    if (begin < piece_end) {
      std::size_t upto = std::min(end, piece_end);
      out.append(Value::view({p.data + (begin - piece_begin_), upto - begin}));
      begin = upto;
      if (begin < piece_end) return;
    }
    piece_begin_ = piece_end;
    ++piece_;
  }
}

/// Knuth, Morris and Pratt's table of borders. find() of the standard library may take text × needle steps, which is
/// bearable for short needles only: 'aaa…b' in 'aaa…' is what a hostile template would look for.
Needle::Needle(Runtime& rt, std::string_view needle) : needle_(needle) {
  constexpr std::size_t kShort = 32;
  if (needle.size() <= kShort || !rt.reserve(needle.size() * sizeof(std::uint32_t))) return;
  back_ = rt.arena.allocate_array<std::uint32_t>(needle.size());
  back_[0] = 0;
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < needle.size(); ++i) {
    while (border != 0 && needle[border] != needle[i]) border = back_[border - 1];
    if (needle[border] == needle[i]) ++border;
    back_[i] = border;
  }
}

std::size_t Needle::find(std::string_view text, std::size_t from) const {
  if (back_ == nullptr) return text.find(needle_, from);
  std::uint32_t matched = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    while (matched != 0 && needle_[matched] != text[i]) matched = back_[matched - 1];
    if (needle_[matched] == text[i]) ++matched;
    if (matched == needle_.size()) return i + 1 - matched;
  }
  return std::string_view::npos;
}

/// Python's `except`: takes one of these failures back. Limits are never among them, so a template cannot catch those.
bool caught(Runtime& rt, std::initializer_list<ErrorCode> codes) {
  if (!rt.failed()) return true;
  for (ErrorCode code : codes) {
    if (rt.failure.code != code) continue;
    rt.failure = Failure{};
    return true;
  }
  return false;
}

}  // namespace parlance::jinja
