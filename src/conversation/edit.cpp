// Copies with something changed; see edit.h.
#include "conversation/edit.h"

#include <algorithm>

namespace parlance {

Value with_origin(Value made, std::uint32_t origin) {
  // The container was just made and nobody else has it yet, so its own origin may still be written.
  if (made.kind == Kind::dict) const_cast<DictObject*>(made.dict)->origin = origin;
  if (made.is_sequence()) const_cast<ListObject*>(made.list)->origin = origin;
  made.origin = origin;
  return made;
}

Value with_members(Runtime& rt, Value dict, std::span<const DictEntry> members) {
  DictBuilder copy(rt, dict.dict->size + static_cast<std::uint32_t>(members.size()));
  for (const DictEntry& entry : entries(dict)) copy.set(entry.key, entry.value);
  for (const DictEntry& entry : members) copy.set(entry.key, entry.value);
  return with_origin(copy.finish(), dict.dict->origin);
}

void ListEditor::set(std::uint32_t i, Value v) {
  if (copy_ == nullptr) {
    copy_ = rt_->arena.allocate_array<Value>(list_.list->size);
    std::copy_n(list_.list->items, list_.list->size, copy_);
  }
  copy_[i] = v;
}

Value ListEditor::finish() {
  if (copy_ == nullptr) return list_;
  return with_origin(make_list(*rt_, copy_, list_.list->size, list_.kind), list_.list->origin);
}

Value in_order_of(Runtime& rt, Value like, std::initializer_list<Renamed> members) {
  DictBuilder made(rt, static_cast<std::uint32_t>(members.size()));
  for (const DictEntry& entry : entries(like)) {
    for (const Renamed& one : members) {
      if (one.from == leaf_text(entry.key) && !one.value.is_undefined()) made.set(one.to, one.value);
    }
  }
  for (const Renamed& one : members) {
    if (!one.value.is_undefined()) made.set(one.to, one.value);
  }
  return made.finish();
}

bool ends_with_member(Value dict, std::string_view name) {
  return dict.kind == Kind::dict && dict.dict->size > 1 && leaf_text(entries(dict).back().key) == name;
}

}  // namespace parlance
