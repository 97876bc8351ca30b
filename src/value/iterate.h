// Iteration: Python's iter() and next() over every kind of value, without allocation for the usual ones.
#pragma once
#include "value/runtime.h"

namespace parlance {

/// An iterator in place. Get one from iterate(); call next() until it returns false, then look at rt.failed().
struct Iterator {
  enum class Mode : std::uint8_t { done, items, items_back, entries_key, text, range, object };
  Mode mode = Mode::done;
  union {
    const Value* item;       // items, items_back: the next (for items_back: one past the next)
    const DictEntry* entry;  // entries_key
    const char* at;          // text
    std::int64_t value;      // range
    Object* object;          // object: asked through its type's next()
  };
  union {
    const Value* item_end;
    const DictEntry* entry_end;
    const char* text_end;
    std::int64_t left;  // range: how many are left
  };
  std::int64_t step = 0;  // range
  Value text;             // text: the string, for provenance of its characters (and Markup)

  Iterator() : item(nullptr), item_end(nullptr) {}
  bool next(Runtime& rt, Value& out) {
    if (mode == Mode::items) {
      if (item == item_end) return false;
      out = *item++;
      return true;
    }
    return next_slow(rt, out);
  }
  /// How many are left, or -1 if only iterating can tell.
  std::int64_t remaining() const;

 private:
  bool next_slow(Runtime& rt, Value& out);
};

/// iter(v): fills `it`; false (failure recorded: TypeError, or UndefinedError never, since Jinja2's
/// Undefined iterates as empty) when `v` is not iterable. Dicts give keys, strings characters.
bool iterate(Runtime& rt, Value v, Iterator& it);
/// list(v).
Value to_list(Runtime& rt, Value v, Kind kind = Kind::list);
/// len(v); negative after a failure.
std::int64_t length_of(Runtime& rt, Value v);
/// bool(v) as Python; undefined is false.
bool truth(Runtime& rt, Value v);

}  // namespace parlance
