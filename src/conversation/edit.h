// Copies of dicts and lists with something changed: values are immutable, so a change is a shallow
// copy that shares all other parts, keys and strings included, and keeps the origin id of what it
// replaces.
#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include "value/dict.h"

namespace parlance {

inline bool is_text(const Value* v, std::string_view text) {
  return v != nullptr && v->is_leaf() && leaf_text(*v) == text;
}

/// Gives a new container the origin id of an old one.
Value with_origin(Value made, std::uint32_t origin);
/// `dict` with these members set: in place where it has them, else at the end.
Value with_members(Runtime& rt, Value dict, std::span<const DictEntry> members);
inline Value with_member(Runtime& rt, Value dict, std::string_view key, Value value) {
  const DictEntry entry{Value::view(key), value};
  return with_members(rt, dict, {&entry, 1});
}

/// The members for which `keep(key)` is true.
template <typename Keep>
Value filtered(Runtime& rt, Value dict, Keep keep) {
  DictBuilder copy(rt, dict.dict->size);
  for (const DictEntry& entry : entries(dict)) {
    if (keep(leaf_text(entry.key))) copy.set(entry.key, entry.value);
  }
  return with_origin(copy.finish(), dict.dict->origin);
}

/// A member under the name that it has elsewhere.
struct Renamed {
  std::string_view from, to;
  Value value;
};
/// These members, those that are given, in the order in which `like` has them; behind them what it has not.
Value in_order_of(Runtime& rt, Value like, std::initializer_list<Renamed> members);
/// Whether the last of several members of a dict has that name.
bool ends_with_member(Value dict, std::string_view name);

/// A list that is copied when its first item changes.
class ListEditor {
 public:
  ListEditor(Runtime& rt, Value list) : rt_(&rt), list_(list) {}
  std::uint32_t size() const { return list_.list->size; }
  std::uint32_t origin() const { return list_.list->origin; }
  Value operator[](std::uint32_t i) const { return copy_ != nullptr ? copy_[i] : list_.list->items[i]; }
  void set(std::uint32_t i, Value v);
  bool changed() const { return copy_ != nullptr; }
  /// The list as it is now.
  Value finish();

 private:
  Runtime* rt_;
  Value list_;
  Value* copy_ = nullptr;
};

}  // namespace parlance
