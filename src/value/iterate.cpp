// Iteration: what iter(), next(), list(), len() and bool() do for each kind of value.
//
// Strings are walked piece by piece, so the characters of a rope are views of the originals and
// nothing is flattened. Begin reading at iterate().
#include "value/iterate.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

std::uint32_t piece_count(Value s) { return s.is_leaf() ? 1 : s.rope->count; }

std::string_view piece_of(Value s, std::uint32_t i) {
  if (s.is_leaf()) return leaf_text(s);
  return {s.rope->pieces[i].data, s.rope->pieces[i].size};
}

/// Sets a text iterator to the beginning of piece `i`; `step` counts pieces in this mode.
void enter_piece(Iterator& it, std::uint32_t i) {
  const std::string_view piece = i < piece_count(it.text) ? piece_of(it.text, i) : std::string_view();
  it.at = piece.data();
  it.text_end = piece.data() + piece.size();
  it.step = i;
}

/// Characters of a Markup are plain strings, as in Python, which leaves str.__iter__ to str.
bool next_character(Iterator& it, Value& out) {
  while (it.at == it.text_end) {
    const auto next = static_cast<std::uint32_t>(it.step) + 1;
    if (next >= piece_count(it.text)) return false;
    enter_piece(it, next);
  }
  const std::uint32_t size = utf8::decode(it.at, it.text_end).size;
  out = Value::view({it.at, size});
  it.at += size;
  return true;
}

std::int64_t characters_left(const Iterator& it) {
  std::size_t n = utf8::count({it.at, static_cast<std::size_t>(it.text_end - it.at)});
  for (auto i = static_cast<std::uint32_t>(it.step) + 1; i < piece_count(it.text); ++i)
    n += utf8::count(piece_of(it.text, i));
  return static_cast<std::int64_t>(n);
}

void iterate_items(Value v, Iterator& it) {
  it.mode = Iterator::Mode::items;
  it.item = v.list->items;
  it.item_end = v.list->items + v.list->size;
}

void iterate_keys(Value v, Iterator& it) {
  it.mode = Iterator::Mode::entries_key;
  it.entry = v.dict->entries;
  it.entry_end = v.dict->entries + v.dict->size;
}

void iterate_text(Value v, Iterator& it) {
  it.mode = Iterator::Mode::text;
  it.text = v;
  enter_piece(it, 0);
}

bool iterate_object(Runtime& rt, Object* object, Iterator& it) {
  if (object->type->iterate != nullptr) {
    object->type->iterate(rt, object, it);
    return !rt.failed();
  }
  it.mode = Iterator::Mode::object;  // its own iterator
  it.object = object;
  return true;
}

bool is_iterable_object(Value v) {
  return v.kind == Kind::object && (v.object->type->iterate != nullptr || v.object->type->next != nullptr);
}

}  // namespace

/// A generator cannot tell how many are left, as Python's have no len().
std::int64_t Iterator::remaining() const {
  switch (mode) {
    case Mode::done: return 0;
    case Mode::items: return item_end - item;
    case Mode::items_back: return item - item_end;
    case Mode::entries_key: return entry_end - entry;
    case Mode::text: return characters_left(*this);
    case Mode::range: return left;
    case Mode::object: break;
  }
  return -1;
}

bool Iterator::next_slow(Runtime& rt, Value& out) {
  switch (mode) {
    case Mode::done:
    case Mode::items: return false;
    case Mode::items_back:
      if (item == item_end) return false;
      out = *--item;
      return true;
    case Mode::entries_key:
      if (entry == entry_end) return false;
      out = entry++->key;
      return true;
    case Mode::text: return next_character(*this, out);
    case Mode::range:
      if (left == 0) return false;
      out = Value::of_int(value);
      // Past the last item the sum may leave int64; it is not used then.
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(step));
      --left;
      return true;
    case Mode::object: return object->type->next(rt, object, out);
  }
  return false;
}

/// The iterator views the value's own memory. That is safe even where a template may change a list: a change makes new
/// items and leaves the old ones to their views (methods_change.cpp).
bool iterate(Runtime& rt, Value v, Iterator& it) {
  it = Iterator();
  switch (v.kind) {
    case Kind::list:
    case Kind::tuple: iterate_items(v, it); return true;
    case Kind::dict: iterate_keys(v, it); return true;
    case Kind::string: iterate_text(v, it); return true;
    case Kind::undefined: return true;
    case Kind::invalid: return false;
    default: break;
  }
  if (is_iterable_object(v)) return iterate_object(rt, v.object, it);
  rt.fail(ErrorCode::type, "'" + std::string(type_name(v)) + "' object is not iterable", v);
  return false;
}

Value to_list(Runtime& rt, Value v, Kind kind) {
  // list(x) is a new list in Python. It may share the items, since a change of either makes new ones.
  if (v.is_sequence()) return make_list(rt, v.list->items, v.list->size, kind);
  Iterator it;
  if (!iterate(rt, v, it)) return Value::invalid();
  const std::int64_t known = it.remaining();
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(known, 0));
  // Both limits are asked before the memory is taken.
  if (!rt.charge(room) || !rt.reserve(room * sizeof(Value))) return Value::invalid();
  ListBuilder list(rt, static_cast<std::uint32_t>(room));
  for (Value item; it.next(rt, item);) {
    if (known < 0 && !rt.charge(1)) break;
    list.append(item);
    if (rt.failed()) break;
  }
  return rt.failed() ? Value::invalid() : list.finish(kind);
}

std::int64_t length_of(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::undefined: return 0;
    case Kind::string: {
      const std::size_t n = length(rt, v);
      return rt.failed() ? -1 : static_cast<std::int64_t>(n);
    }
    case Kind::list:
    case Kind::tuple: return v.list->size;
    case Kind::dict: return v.dict->size;
    case Kind::object:
      if (v.object->type->length != nullptr) return v.object->type->length(rt, v.object);
      break;
    case Kind::invalid: return -1;
    default: break;
  }
  rt.fail(ErrorCode::type, "object of type '" + std::string(type_name(v)) + "' has no len()", v);
  return -1;
}

bool truth(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::boolean: return v.integer != 0;
    case Kind::integer: return v.integer != 0;  // a big integer's pointer is never null
    case Kind::real: return v.real != 0;
    case Kind::string: return v.size != 0;
    case Kind::list:
    case Kind::tuple: return v.list->size != 0;
    case Kind::dict: return v.dict->size != 0;
    case Kind::object: break;
    default: return false;
  }
  const ObjectType& type = *v.object->type;
  if (type.truth != nullptr) return type.truth(rt, v.object);
  return type.length == nullptr || type.length(rt, v.object) != 0;
}

}  // namespace parlance
