// Filters that take something apart or together at once: first, last, length, list, join, sum,
// random.
//
// Source of the rules: Jinja2 3.1.6 filters.py. Sorting is in order.cpp, lazy filters in lazy.cpp.
// Begin reading at kSequenceFilters, at the end.
#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/objects.h"
#include "jinja/objects/rare/bytes.h"
#include "value/markup.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

Value filter_first(Call& call) {
  Iterator it;
  Value out;
  if (!iterate(call.rt, call[0], it)) return Value::invalid();
  if (it.next(call.rt, out)) return out;
  return call.rt.failed() ? Value::invalid() : undefined_hint(call.rt, "No first item, sequence was empty.");
}

/// The last member without making an iterator, for strings, lists and tuples that are not empty.
bool last_directly(Runtime& rt, Value v, Value& out) {
  if (v.is_sequence() && v.list->size != 0) {
    out = v.list->items[v.list->size - 1];
    return true;
  }
  if (!v.is_string() || v.size == 0) return false;
  std::string_view bytes = text(rt, v);
  if (rt.failed()) return false;
  std::size_t size = utf8::decode_back(bytes.data(), bytes.data() + bytes.size()).size;
  out = substring(rt, v, bytes.size() - size, bytes.size());
  return true;
}

Value filter_last(Call& call) {
  Runtime& rt = call.rt;
  Value out, v = call[0];
  if (last_directly(rt, v, out)) return out;
  if (rt.failed()) return Value::invalid();
  if (!v.is_string()) {
    Iterator it;
    Value reversed = make_reversed(rt, v);
    if (reversed.is_undefined()) {
      return call.fail(ErrorCode::type, "'" + std::string(type_name(v)) + "' object is not reversible");
    }
    if (reversed.is_invalid() || !iterate(rt, reversed, it)) return Value::invalid();
    if (it.next(rt, out)) return out;
  }
  return rt.failed() ? Value::invalid() : undefined_hint(rt, "No last item, sequence was empty.");
}

Value filter_length(Call& call) {
  if (call[0].is_string()) return Value::of_int(static_cast<std::int64_t>(length(call.rt, call[0])));
  std::int64_t n = length_of(call.rt, call[0]);
  return n < 0 ? Value::invalid() : Value::of_int(n);
}

Value filter_list(Call& call) { return to_list(call.rt, call[0]); }

/// A number in [0, below), below > 0, from the render's own sequence (splitmix64).
std::uint64_t random_below(Runtime& rt, std::uint64_t below) {
  std::uint64_t z = rt.random_state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) % below;
}

Value filter_random(Call& call) {
  std::int64_t n = length_of(call.rt, call[0]);
  if (n < 0) return Value::invalid();
  if (n == 0) return undefined_hint(call.rt, "No random item, sequence was empty.");
  auto at = static_cast<std::int64_t>(random_below(call.rt, static_cast<std::uint64_t>(n)));
  return subscript(call.rt, call[0], Value::of_int(at));
}

// ---- join

/// Calls add(text) for the members' texts (of `attribute`, if not none); false after a failure.
template <typename Add>
bool each_text(Runtime& rt, Value value, Value attribute, Add add) {
  AttributeGetter getter;
  Iterator it;
  if (!make_getter(rt, attribute, getter) || !iterate(rt, value, it)) return false;
  for (Value item; it.next(rt, item);) {
    if (!getter.parts.empty()) item = getter.get(rt, item);
    Value s = item.is_string() || item.is_invalid() ? item : to_text(rt, item);
    if (s.is_invalid() || !rt.charge(1)) return false;
    add(s);
  }
  return !rt.failed();
}

/// join() under autoescape: one Markup among the members or as separator makes all of it Markup.
Value join_escaped(Call& call, Value separator) {
  Runtime& rt = call.rt;
  ListBuilder parts(rt);
  bool markup = separator.is_markup();
  bool ok = each_text(rt, call[0], call[2], [&](Value s) {
    markup = markup || s.is_markup();
    parts.append(s);
  });
  if (ok && markup) separator = escape_html(rt, separator);
  if (!ok || separator.is_invalid()) return Value::invalid();
  StringBuilder out(rt);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    Value part = markup ? escape_html(rt, parts.data()[i]) : parts.data()[i];
    if (part.is_invalid()) return part;
    if (i != 0) out.append(separator);
    out.append(part);
  }
  return out.finish(markup);
}

Value filter_join(Call& call) {
  Runtime& rt = call.rt;
  Value separator = call.text_of(1);
  if (separator.is_invalid()) return separator;
  if (rt.autoescape) return join_escaped(call, separator);
  StringBuilder out(rt);
  bool first = true;
  bool ok = each_text(rt, call[0], call[2], [&](Value s) {
    if (!first) out.append(separator);
    first = false;
    out.append(s);
  });
  return ok ? out.finish() : Value::invalid();
}

Value filter_sum(Call& call) {
  Runtime& rt = call.rt;
  AttributeGetter getter;
  Iterator it;
  Value total = call[2];
  if (!make_getter(rt, call[1], getter) || !iterate(rt, call[0], it)) return Value::invalid();
  if (total.is_string()) return call.fail(ErrorCode::type, "sum() can't sum strings [use ''.join(seq) instead]");
  if (is_object(total, kBytesType))
    return call.fail(ErrorCode::type, "sum() can't sum bytes [use b''.join(seq) instead]");
  for (Value item; it.next(rt, item);) {
    item = getter.get(rt, item);
    if (item.is_invalid() || !rt.charge(1)) return Value::invalid();
    total = binary(rt, BinaryOperator::add, total, item);
    if (total.is_invalid()) return total;
  }
  return rt.failed() ? Value::invalid() : total;
}

constexpr Builtin kSequenceFilters[] = {
    {"length", "count", "value, /", filter_length, "The number of items or characters.", "{{ 'añb'|length }} -> 3"},
    {"first", "", "seq", filter_first, "The first item or character; undefined if there is none.",
     "{{ [5, 6]|first }} -> 5"},
    {"last", "", "seq", filter_last, "The last item or character; undefined if there is none.",
     "{{ {'a': 1, 'b': 2}|last }} -> b"},
    {"list", "", "value", filter_list, "A list of the items, or of a string's characters.",
     "{{ 'abc'|list }} -> ['a', 'b', 'c']"},
    {"random", "", "seq", filter_random,
     "A random item, undefined if there is none. The seed is an option of the render; Python would pick another item.",
     "{{ [7]|random }} -> 7"},
    {"join", "", "value, d='', attribute=none", filter_join,
     "The items, or an attribute of each, joined into one string with `d` between them.",
     "{{ [1, 'b', none]|join(', ') }} -> 1, b, None"},
    {"sum", "", "iterable, attribute=none, start=0", filter_sum,
     "The sum of the items, or of an attribute of each, plus `start`.", "{{ [{'n': 2}, {'n': 3}]|sum('n') }} -> 5"},
};

}  // namespace

std::span<const Builtin> sequence_filters() { return kSequenceFilters; }

}  // namespace parlance::jinja
