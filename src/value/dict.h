// Dicts and lists: making them in an arena, looking things up, Python's key equality.
#pragma once
#include <span>

#include "base/bytes.h"
#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// A list (or tuple) over `items`, which must live as long as the arena. Not copied.
Value make_list(Runtime& rt, const Value* items, std::size_t size, Kind kind = Kind::list);
Value copy_list(Runtime& rt, std::span<const Value> items, Kind kind = Kind::list);
inline std::span<const Value> items(Value list) { return {list.list->items, list.list->size}; }
inline std::span<const DictEntry> entries(Value dict) { return {dict.dict->entries, dict.dict->size}; }

/// find_key() of a dict with an index.
const DictEntry* find_indexed_key(const DictObject& dict, std::string_view key);
/// find_key() of a dict without one, for most names: so much of the key is looked at once.
inline const DictEntry* find_short_key(const DictObject& dict, const ShortName& name) {
  for (const DictEntry *e = dict.entries, *const end = e + dict.size; e != end; ++e) {
    if (e->key.size == name.size() && e->key.kind == Kind::string && name.is(e->key.data)) return e;
  }
  return nullptr;
}
/// The entry with this string key, or null.
inline const DictEntry* find_key(const DictObject& dict, std::string_view key) {
  if (dict.index != nullptr) return find_indexed_key(dict, key);
  if (ShortName::fits(key)) return find_short_key(dict, ShortName(key));
  for (const DictEntry *e = dict.entries, *const end = e + dict.size; e != end; ++e) {
    if (e->key.size == key.size() && e->key.kind == Kind::string && equal_bytes(e->key.data, key.data(), key.size()))
      return e;
  }
  return nullptr;
}
/// The member of a dict, or null; null too for what is no dict.
inline const Value* member(Value dict, std::string_view key) {
  if (dict.kind != Kind::dict) return nullptr;
  const DictEntry* entry = find_key(*dict.dict, key);
  return entry == nullptr ? nullptr : &entry->value;
}
/// The same as a value: undefined where there is none.
inline Value member_value(Value dict, std::string_view key) {
  const Value* found = member(dict, key);
  return found == nullptr ? Value() : *found;
}
/// The entry whose key equals `key` as in Python (1 == 1.0 == True); null if absent. Fails with type for unhashable
/// keys.
const DictEntry* find(Runtime& rt, const DictObject& dict, Value key);

/// hash() for dict keys: equal values have equal hashes. Fails with type ("unhashable type: 'list'").
std::uint64_t hash_value(Runtime& rt, Value v);
std::uint64_t hash_text(std::string_view text);

/// Grows a dict while it is being made; nobody else may see it before finish().
class DictBuilder {
 public:
  explicit DictBuilder(Runtime& rt, std::uint32_t expected = 0);
  /// dict[key] = value: the first key and its position stay, the last value wins. False after a failure (unhashable).
  bool set(Value key, Value value);
  /// set() for a string key, which must live as long as the arena.
  void set(std::string_view key, Value value) { set(Value::view(key), value); }
  const DictEntry* find(Value key) { return parlance::find(rt_, *dict_, key); }
  std::uint32_t size() const { return dict_->size; }
  Value finish();

 private:
  void grow();
  Runtime& rt_;
  DictObject* dict_;
};

/// Grows a list while it is being made.
class ListBuilder {
 public:
  explicit ListBuilder(Runtime& rt, std::uint32_t expected = 0);
  void append(Value v) {
    if (size_ == capacity_) grow();
    items_[size_++] = v;
  }
  std::uint32_t size() const { return size_; }
  Value* data() { return items_; }
  Value finish(Kind kind = Kind::list) { return make_list(rt_, items_, size_, kind); }

 private:
  void grow();
  Runtime& rt_;
  Value* items_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

/// Puts an index over the entries of a dict made by hand (JSON reader); needed above kLinearDict entries.
void build_index(Arena& arena, DictObject& dict);

}  // namespace parlance
