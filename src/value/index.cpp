// Subscripts and slices, with CPython's bounds and words.
//
// Strings count code points but are cut by bytes: a subscript looks only at the bytes up to its
// character, and whatever is cut shares the bytes of the original. Rules: CPython 3.11
// Objects/sliceobject.c (PySlice_Unpack, PySlice_AdjustIndices). Begin reading at subscript and
// slice.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "value/bigint.h"
#include "value/dict.h"
#include "value/operators.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

std::string named(std::string_view before, Value v, std::string_view after) {
  return std::string(before).append(type_name(v)).append(after);
}

Value fail_not_subscriptable(Runtime& rt, Value v) {
  return rt.fail(ErrorCode::type, named("'", v, "' object is not subscriptable"), v);
}

// ---- subscripts

/// The key of a list or string as an index; false with the failure recorded.
/// bool is an int in Python, so xs[true] is xs[1].
bool index_of(Runtime& rt, Value container, Value key, std::int64_t& out) {
  if (key.kind != Kind::integer && key.kind != Kind::boolean) {
    if (container.is_string()) {
      rt.fail(ErrorCode::type, named("string indices must be integers, not '", key, "'"), key);
    } else {
      rt.fail(ErrorCode::type, named("", container, " indices must be integers or slices, not ").append(type_name(key)),
              key);
    }
    return false;
  }
  if (is_big(key)) {
    rt.fail(ErrorCode::index, "cannot fit 'int' into an index-sized integer", key);
    return false;
  }
  out = key.integer;
  return true;
}

Value list_item(Runtime& rt, Value list, Value key) {
  std::int64_t index = 0;
  if (!index_of(rt, list, key, index)) return Value::invalid();
  if (index < 0) index += list.list->size;
  if (index < 0 || index >= list.list->size) {
    return rt.fail(ErrorCode::index, named("", list, " index out of range"), list);
  }
  return list.list->items[index];
}

/// Byte offset of code point `index` from the front; `bytes.size()` when there is none.
/// A code point has a byte at least: an index past the bytes is past the end, without a walk. Plain ASCII needs none
/// either.
std::size_t offset_from_front(std::string_view bytes, std::int64_t index) {
  if (static_cast<std::uint64_t>(index) >= bytes.size()) return bytes.size();
  const auto n = static_cast<std::size_t>(index);
  return utf8::ascii_prefix(bytes.substr(0, n)) == n ? n : utf8::offset_of(bytes, n);
}

/// Byte offset of the code point `back` places before the end (1 is the last); npos when there is
/// none.
std::size_t offset_from_back(std::string_view bytes, std::uint64_t back) {
  if (back > bytes.size()) return std::string_view::npos;
  if (utf8::is_ascii(bytes.substr(bytes.size() - back))) return bytes.size() - back;
  const char* const begin = bytes.data();
  const char* p = begin + bytes.size();
  for (std::uint64_t i = 0; i < back; ++i) {
    if (p == begin) return std::string_view::npos;
    p -= utf8::decode_back(begin, p).size;
  }
  return static_cast<std::size_t>(p - begin);
}

/// Charged by the bytes that are looked at: text[0] and text[-1] of a long text cost a step.
Value string_item(Runtime& rt, Value s, Value key) {
  std::int64_t index = 0;
  if (!index_of(rt, s, key, index)) return Value::invalid();
  const std::string_view bytes = text(rt, s);
  // Negated without sign, since -INT64_MIN overflows.
  const std::uint64_t seen = index < 0 ? -static_cast<std::uint64_t>(index) : static_cast<std::uint64_t>(index);
  if (rt.failed() || !rt.charge_bytes(std::min<std::uint64_t>(seen, bytes.size()))) return Value::invalid();
  const std::size_t begin = index < 0 ? offset_from_back(bytes, seen) : offset_from_front(bytes, index);
  if (begin >= bytes.size()) return rt.fail(ErrorCode::index, "string index out of range", s);
  const std::size_t size = utf8::decode(bytes.data() + begin, bytes.data() + bytes.size()).size;
  return substring(rt, s, begin, begin + size);
}

Value dict_item(Runtime& rt, Value dict, Value key) {
  const DictEntry* const entry = find(rt, *dict.dict, key);
  if (entry != nullptr) return entry->value;
  if (rt.failed()) return Value::invalid();
  const Value shown = to_repr(rt, key);
  if (shown.is_invalid()) return shown;
  return rt.fail(ErrorCode::key, std::string(text(rt, shown)), dict);
}

/// An object says "missing"; the words depend on the key, as Python's KeyError and IndexError do.
Value object_item(Runtime& rt, Value object, Value key) {
  const ObjectType& type = *object.object->type;
  if (type.get_item == nullptr) return fail_not_subscriptable(rt, object);
  const Value item = type.get_item(rt, object.object, key);
  if (!item.is_undefined() || item.undefined != nullptr) return item;
  if (!is_integral(key)) {
    const Value shown = to_repr(rt, key);
    return rt.fail(ErrorCode::key, std::string(text(rt, shown)), object);
  }
  return rt.fail(ErrorCode::index, named("", object, " object index out of range"), object);
}

// ---- slices

bool read_unusual_bound(Runtime& rt, Value v, std::int64_t& out);

/// One bound; false with the failure recorded.
inline bool read_bound(Runtime& rt, const Value& v, std::int64_t absent, std::int64_t& out) {
  if (v.is_none() || v.is_small_int()) {
    out = v.is_none() ? absent : v.integer;
    return true;
  }
  return read_unusual_bound(rt, v, out);
}

[[gnu::noinline]] bool read_unusual_bound(Runtime& rt, Value v, std::int64_t& out) {
  if (v.is_invalid()) return false;
  if (!is_integral(v)) {
    rt.fail(ErrorCode::type, "slice indices must be integers or None or have an __index__ method", v);
    return false;
  }
  out = *to_index(rt, v);
  return true;
}

/// A bound as a position of `length` members; `back` is 1 when the slice runs backwards.
/// A backward slice may stop before the first member, at -1: that is why its range is one place lower.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t length, std::int64_t back) {
  if (bound < 0) bound += length;
  return std::clamp<std::int64_t>(bound, -back, length - back);
}

Value slice_list(Runtime& rt, Value list, const SliceBounds& range) {
  if (range.count == 0) return make_list(rt, nullptr, 0, list.kind);
  const Value* const first = list.list->items + range.start;
  const auto count = static_cast<std::size_t>(range.count);
  if (range.step == 1) return make_list(rt, first, count, list.kind);
  if (!rt.charge(count / 4) || !rt.reserve(count * sizeof(Value))) return Value::invalid();
  Value* const taken = rt.arena.allocate_array<Value>(count);
  std::int64_t at = range.start;
  for (std::size_t i = 0; i < count; ++i) {
    taken[i] = list.list->items[at];
    // Not behind the last, where the sum may overflow: xs[0:1:2**62].
    if (i + 1 < count) at += range.step;
  }
  return make_list(rt, taken, count, list.kind);
}

/// list[::-1], which templates use to find the last message of some kind.
Value backwards(Runtime& rt, Value list) {
  const std::uint32_t count = list.list->size;
  if (!rt.charge(count / 4) || !rt.reserve(std::uint64_t{count} * sizeof(Value))) return Value::invalid();
  Value* const taken = rt.arena.allocate_array<Value>(count);
  std::reverse_copy(list.list->items, list.list->items + count, taken);
  return make_list(rt, taken, count, list.kind);
}

/// Picks every so many-th character of those it is shown.
class Picker {
 public:
  Picker(Runtime& rt, std::int64_t skip, std::int64_t stride, std::int64_t count)
      : out_(rt), skip_(skip), stride_(stride), left_(count) {}
  /// False when nothing more is wanted.
  bool see(std::string_view character) {
    if (skip_-- != 0) return true;
    out_.append(Value::view(character));
    skip_ = stride_ - 1;
    return --left_ != 0;
  }
  bool see_forward(std::string_view run) {
    for (const char *p = run.data(), *end = p + run.size(); p < end;) {
      const std::size_t size = utf8::decode(p, end).size;
      if (!see({p, size})) return false;
      p += size;
    }
    return true;
  }
  bool see_backward(std::string_view run) {
    for (const char* p = run.data() + run.size(); p > run.data();) {
      const std::size_t size = utf8::decode_back(run.data(), p).size;
      p -= size;
      if (!see({p, size})) return false;
    }
    return true;
  }
  Value finish(bool markup) { return out_.finish(markup); }

 private:
  StringBuilder out_;
  std::int64_t skip_;
  std::int64_t stride_;
  std::int64_t left_;
};

/// Characters that are not neighbours: a piece for each, found in one walk over the string.
Value pick_characters(Runtime& rt, Value s, const SliceBounds& range, std::int64_t length) {
  if (!rt.charge(s.size / 4) || !rt.reserve(static_cast<std::uint64_t>(range.count) * sizeof(Piece))) {
    return Value::invalid();
  }
  const std::uint32_t pieces = s.is_leaf() ? 1 : s.rope->count;
  const auto run = [&](std::uint32_t i) {
    return s.is_leaf() ? leaf_text(s) : std::string_view{s.rope->pieces[i].data, s.rope->pieces[i].size};
  };
  if (range.step > 0) {
    Picker picker(rt, range.start, range.step, range.count);
    for (std::uint32_t i = 0; i < pieces && picker.see_forward(run(i)); ++i) continue;
    return picker.finish(s.is_markup());
  }
  Picker picker(rt, length - 1 - range.start, -range.step, range.count);
  for (std::uint32_t i = pieces; i > 0 && picker.see_backward(run(i - 1)); --i) continue;
  return picker.finish(s.is_markup());
}

Value slice_string(Runtime& rt, Value s, Value start, Value stop, Value step) {
  const auto characters = static_cast<std::int64_t>(length(rt, s));
  SliceBounds range{};
  if (rt.failed() || !read_slice(rt, characters, start, stop, step, range)) return Value::invalid();
  if (range.count == 0) return substring(rt, s, 0, 0);
  if (range.count > 1 && range.step != 1) return pick_characters(rt, s, range, characters);
  auto begin = static_cast<std::size_t>(range.start);
  auto end = static_cast<std::size_t>(range.start + range.count);
  if (static_cast<std::uint64_t>(characters) != s.size) {
    const std::string_view bytes = text(rt, s);
    if (rt.failed()) return Value::invalid();
    begin = utf8::offset_of(bytes, begin);
    end = begin + utf8::offset_of(bytes.substr(begin), static_cast<std::size_t>(range.count));
  }
  return substring(rt, s, begin, end);
}

}  // namespace

Value subscript(Runtime& rt, Value container, Value key) {
  switch (container.kind) {
    case Kind::list:
    case Kind::tuple: return list_item(rt, container, key);
    case Kind::dict: return dict_item(rt, container, key);
    case Kind::string: return string_item(rt, container, key);
    case Kind::object: return object_item(rt, container, key);
    case Kind::undefined: return fail_undefined(rt, container);
    case Kind::invalid: return container;
    default: return fail_not_subscriptable(rt, container);
  }
}

Value slice(Runtime& rt, Value container, Value start, Value stop, Value step) {
  switch (container.kind) {
    case Kind::list:
    case Kind::tuple: {
      if (start.is_none() && stop.is_none() && step.is_small_int() && step.integer == -1)
        return backwards(rt, container);
      SliceBounds range{};
      if (!read_slice(rt, container.list->size, start, stop, step, range)) return Value::invalid();
      return slice_list(rt, container, range);
    }
    case Kind::string: return slice_string(rt, container, start, stop, step);
    case Kind::dict: return rt.fail(ErrorCode::type, "unhashable type: 'slice'", container);
    case Kind::undefined: return fail_undefined(rt, container);
    case Kind::invalid: return container;
    case Kind::object: {
      const auto get_slice = container.object->type->get_slice;
      if (get_slice != nullptr) return get_slice(rt, container.object, start, stop, step);
      break;
    }
    default: break;
  }
  return fail_not_subscriptable(rt, container);
}

bool read_slice(Runtime& rt, std::int64_t length, Value start, Value stop, Value step, SliceBounds& out) {
  if (!read_bound(rt, step, 1, out.step)) return false;
  if (out.step == 0) {
    rt.fail(ErrorCode::value, "slice step cannot be zero", step);
    return false;
  }
  out.step = std::max(out.step, -kMost);
  const std::int64_t back = out.step < 0 ? 1 : 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (!read_bound(rt, start, back != 0 ? kMost : 0, first)) return false;
  if (!read_bound(rt, stop, back != 0 ? kLeast : kMost, last)) return false;
  out.start = clamp_bound(first, length, back);
  last = clamp_bound(last, length, back);
  const std::int64_t distance = back != 0 ? out.start - last : last - out.start;
  const std::int64_t stride = back != 0 ? -out.step : out.step;
  out.count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  return true;
}

/// A bound too large is the nearest that fits, as PySlice_Unpack has it.
std::optional<std::int64_t> to_index(Runtime& rt, Value v) {
  if (!is_integral(v)) {
    rt.fail(ErrorCode::type, named("'", v, "' object cannot be interpreted as an integer"), v);
    return std::nullopt;
  }
  if (is_big(v)) return v.big->negative ? kLeast : kMost;
  return v.integer;
}

}  // namespace parlance
