// str methods that assemble: join, replace, padding, expandtabs, format; and the shorthands of
// methods.h.
//
// Rules: CPython 3.11 Objects/unicodeobject.c; for Markup receivers markupsafe 3, which escapes
// what goes into the result (argument_for_self). Unchanged bytes stay pieces of the strings they
// came from. Begin reading at the table at the end.

#include <algorithm>

#include "base/utf8.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "value/format_parts.h"
#include "value/iterate.h"

namespace parlance::jinja {

Value fail_type(const Call& call, std::size_t i, std::string_view what) {
  return call.rt.fail(ErrorCode::type, std::string(what) + std::string(type_name(call[i])), call[i]);
}

bool index_argument(const Call& call, std::size_t i, std::int64_t& out) {
  const Value v = call[i];
  if (v.kind == Kind::boolean || v.is_small_int()) {
    out = v.integer;
    return true;
  }
  if (v.kind == Kind::integer) {
    call.rt.fail(ErrorCode::overflow, "Python int too large to convert to C ssize_t", v);
  } else {
    call.rt.fail(ErrorCode::type, "'" + std::string(type_name(v)) + "' object cannot be interpreted as an integer", v);
  }
  return false;
}

bool small_argument(const Call& call, std::size_t i, std::int64_t& out) {
  const bool big = (call[i].flags & Value::kBig) != 0 && call[i].kind == Kind::integer;
  if (!big && !index_argument(call, i, out)) return false;
  if (!big && out >= INT32_MIN && out <= INT32_MAX) return true;
  call.fail(ErrorCode::overflow, "Python int too large to convert to C int");
  return false;
}

bool bound_argument(const Call& call, std::size_t i, std::int64_t absent, std::int64_t& out) {
  const Value v = call[i];
  if (v.is_none()) {
    out = absent;
    return true;
  }
  if (v.kind == Kind::integer || v.kind == Kind::boolean) return call.integer(i, out);
  call.rt.fail(ErrorCode::type, "slice indices must be integers or None or have an __index__ method", v);
  return false;
}

/// markupsafe escapes what goes into a Markup, whatever the method: the result is safe because all its parts are.
Value argument_for_self(const Call& call, std::size_t i) {
  return call[0].is_markup() ? escape_html(call.rt, call[i]) : call[i];
}

/// substring() for one cut. The charge covers its search through the pieces of a rope.
Value cut(Runtime& rt, Value s, std::size_t begin, std::size_t end) {
  if (!s.is_leaf() && !rt.charge(1 + s.rope->count / 16)) return Value::invalid();
  return substring(rt, s, begin, end);
}

namespace {

Value finish_like_self(Call& call, StringBuilder& out) { return out.finish(call[0].is_markup()); }

Value text_join(Call& call) {
  const Value self = call[0];
  Iterator it;
  if (!iterate(call.rt, call[1], it)) {
    if (self.is_markup()) return Value::invalid();
    // CPython drops the TypeError of iter() and raises its own.
    call.rt.failure = {};
    return call.rt.fail(ErrorCode::type, "can only join an iterable", call[1]);
  }
  StringBuilder out(call.rt);
  Value item;
  for (std::size_t i = 0; it.next(call.rt, item); ++i) {
    if (self.is_markup()) item = escape_html(call.rt, item);
    if (item.is_invalid()) return item;
    if (!item.is_string()) {
      return call.rt.fail(
          ErrorCode::type,
          "sequence item " + std::to_string(i) + ": expected str instance, " + std::string(type_name(item)) + " found",
          item);
    }
    if (i != 0) out.append(self);
    out.append(item);
    if (!call.rt.charge(1)) return Value::invalid();
  }
  return finish_like_self(call, out);
}

/// Puts `with` between all code points of `self`, at most `most` times; what replacing "" means.
/// `most` counts down from -1 for "all of them" and then never reaches 0.
Value intersperse(Call& call, Value with, std::int64_t most) {
  const Value self = call[0];
  const std::string_view bytes = text(call.rt, self);
  StringBuilder out(call.rt);
  std::size_t at = 0;
  while (most != 0 && call.rt.charge(1) && call.rt.reserve(64)) {
    out.append(with);
    --most;
    if (at == bytes.size()) break;
    const std::size_t size = utf8::decode(bytes.data() + at, bytes.data() + bytes.size()).size;
    out.append(cut(call.rt, self, at, at + size));
    at += size;
  }
  if (call.rt.failed()) return Value::invalid();
  out.append(cut(call.rt, self, at, bytes.size()));
  return finish_like_self(call, out);
}

Value replace_all(Call& call, std::string_view old, Value with, std::int64_t most) {
  const Value self = call[0];
  const std::string_view bytes = text(call.rt, self);
  if (!call.rt.charge_bytes(bytes.size())) return Value::invalid();
  Finder finder(call.rt, old);
  std::size_t at = finder.next(bytes, 0);
  // The same object as in CPython: an unchanged string keeps its pieces and costs nothing.
  if (at == std::string_view::npos || most == 0) return call.rt.failed() ? Value::invalid() : self;
  StringBuilder out(call.rt);
  std::size_t from = 0;
  for (; at != std::string_view::npos && most != 0; at = finder.next(bytes, from), --most) {
    if (!call.rt.charge(1) || !call.rt.reserve(64)) return Value::invalid();
    out.append(cut(call.rt, self, from, at));
    out.append(with);
    from = at + old.size();
  }
  if (call.rt.failed()) return Value::invalid();
  out.append(cut(call.rt, self, from, bytes.size()));
  return finish_like_self(call, out);
}

Value text_replace(Call& call) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (call[i].is_string() || (i == 2 && call[0].is_markup())) continue;
    return fail_type(call, i, "replace() argument " + std::to_string(i) + " must be str, not ");
  }
  std::int64_t most = -1;
  if (!index_argument(call, 3, most)) return Value::invalid();
  const Value with = argument_for_self(call, 2);
  if (with.is_invalid()) return with;
  const std::string_view old = text(call.rt, call[1]);
  return old.empty() ? intersperse(call, with, most) : replace_all(call, old, with, most);
}

enum class Side { left, both, right };

/// Padding with the fill character on the given sides; `center` leans left as CPython's does.
template <Side side>
Value text_pad(Call& call) {
  std::int64_t width = 0;
  if (!index_argument(call, 1, width)) return Value::invalid();
  const Value fill = argument_for_self(call, 2);
  if (fill.is_invalid()) return fill;
  if (!fill.is_string()) return fail_type(call, 2, "The fill character must be a unicode character, not ");
  if (length(call.rt, fill) != 1) {
    return call.fail(ErrorCode::type, "The fill character must be exactly one character long");
  }
  const Value self = call[0];
  const auto size = static_cast<std::int64_t>(length(call.rt, self));
  if (call.rt.failed()) return Value::invalid();
  if (width <= size) return self;
  const std::int64_t total = width - size;
  std::int64_t before = side == Side::right ? 0 : total;
  // CPython's rule for the odd character: it goes to the left if the width is odd too. str.center and format() differ.
  if (side == Side::both) before = total / 2 + (total & width & 1);
  const std::string_view unit = text(call.rt, fill);
  // All at once, so that a width past the limit fails before anything is made.
  const std::uint64_t bytes = std::min<std::uint64_t>(total, Runtime::kMaxText) * unit.size();
  if (!call.rt.reserve(bytes)) return Value::invalid();
  StringBuilder out(call.rt);
  if (!append_repeated(call.rt, out, unit, static_cast<std::uint64_t>(before))) return Value::invalid();
  out.append(self);
  if (!append_repeated(call.rt, out, unit, static_cast<std::uint64_t>(total - before))) return Value::invalid();
  return finish_like_self(call, out);
}

Value text_zfill(Call& call) {
  std::int64_t width = 0;
  if (!index_argument(call, 1, width)) return Value::invalid();
  const Value self = call[0];
  const auto size = static_cast<std::int64_t>(length(call.rt, self));
  if (call.rt.failed()) return Value::invalid();
  if (width <= size) return self;
  const std::string_view bytes = text(call.rt, self);
  const std::size_t sign = !bytes.empty() && (bytes[0] == '+' || bytes[0] == '-') ? 1 : 0;
  StringBuilder out(call.rt);
  out.append(self, 0, sign);
  if (!append_repeated(call.rt, out, "0", static_cast<std::uint64_t>(width - size))) return Value::invalid();
  out.append(self, sign, bytes.size());
  return finish_like_self(call, out);
}

Value text_expandtabs(Call& call) {
  std::int64_t tab = 0;
  if (!small_argument(call, 1, tab)) return Value::invalid();
  const Value self = call[0];
  const std::string_view bytes = text(call.rt, self);
  StringBuilder out(call.rt);
  std::size_t from = 0;
  std::int64_t column = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    // A column is a code point, and both \n and \r begin a line, as in CPython.
    if (!utf8::is_continuation(c)) ++column;
    if (c == '\n' || c == '\r') column = 0;
    if (c != '\t') continue;
    --column;
    const std::int64_t spaces = tab > 0 ? tab - column % tab : 0;
    column += spaces;
    out.append(cut(call.rt, self, from, at));
    if (!append_repeated(call.rt, out, " ", static_cast<std::uint64_t>(spaces))) return Value::invalid();
    from = at + 1;
    if (!call.rt.charge(1) || !call.rt.reserve(64)) return Value::invalid();
  }
  if (!call.rt.charge_bytes(bytes.size())) return Value::invalid();
  out.append(cut(call.rt, self, from, bytes.size()));
  return finish_like_self(call, out);
}

Value text_format(Call& call) { return format_braces(call.rt, call[0], call.rest); }

Value text_format_map(Call& call) {
  if (call.rest.keyword_count != 0) {
    return call.fail(ErrorCode::type, "format_map() takes no keyword arguments");
  }
  if (call.rest.positional_count != 1) {
    return call.fail(ErrorCode::type, "format_map() takes exactly one argument (" +
                                          std::to_string(call.rest.positional_count) + " given)");
  }
  return format_map(call.rt, call[0], call.rest.positional[0]);
}

constexpr Builtin kTextMethods[] = {
    {"center", "", "self, width, fillchar=' ', /", text_pad<Side::both>,
     "The string in the middle of `width` characters.", "{{ 'a'.center(3, '*') }} -> *a*"},
    {"expandtabs", "", "self, /, tabsize=8", text_expandtabs,
     "Tabs replaced by spaces up to the next multiple of `tabsize`.", "{{ 'a\\tb'.expandtabs(4) }} -> a   b"},
    {"format", "", "self, /, *args, **kwargs", text_format, "The string with each {field} replaced by an argument.",
     "{{ '{0}-{x}'.format(1, x=2) }} -> 1-2"},
    {"format_map", "", "self, /, *args, **kwargs", text_format_map,
     "The string with each {field} replaced by a value of the mapping.", "{{ '{x}'.format_map({'x': 2}) }} -> 2"},
    {"join", "", "self, iterable, /", text_join, "The strings of `iterable` with this string between them.",
     "{{ ', '.join(['a', 'b']) }} -> a, b"},
    {"ljust", "", "self, width, fillchar=' ', /", text_pad<Side::right>,
     "The string filled up at the right to `width` characters.", "{{ 'a'.ljust(3, '.') }} -> a.."},
    {"replace", "", "self, old, new, count=-1, /", text_replace,
     "Every `old`, or the first `count` of them, replaced by `new`.", "{{ 'banana'.replace('a', 'o') }} -> bonono"},
    {"rjust", "", "self, width, fillchar=' ', /", text_pad<Side::left>,
     "The string filled up at the left to `width` characters.", "{{ '7'.rjust(3, '0') }} -> 007"},
    {"zfill", "", "self, width, /", text_zfill, "The string filled up with zeros after its sign.",
     "{{ '-7'.zfill(4) }} -> -007"},
};

}  // namespace

std::span<const Builtin> text_methods() { return kTextMethods; }

}  // namespace parlance::jinja
