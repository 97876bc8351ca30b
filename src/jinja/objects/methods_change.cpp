// The methods that change a list or a dict. The immutable sandbox refuses them (methods.cpp); a template compiled with
// CompileOptions::allow_changes has them, for what it made itself: the conversation stays as it is.
//
// A change makes new items, and puts them into the old object: views and iterators of what was there stay valid, and a
// loop goes over what was there when it began (COMPATIBILITY.md). Hence a change costs what copying the object costs.
// Rules: CPython 3.11. Begin reading at change_list and set_dict.
#include <algorithm>
#include <vector>

#include "jinja/objects/dict_update.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/sorter.h"
#include "value/iterate.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// Puts `changed` into the list; none, as Python's methods give. What a render made is in its arena, which may be
/// written.
Value change_list(Call& call, std::span<const Value> changed) {
  const Value made = copy_list(call.rt, changed);
  if (made.is_invalid() || !call.rt.charge(changed.size() + 1)) return Value::invalid();
  auto* list = const_cast<ListObject*>(call[0].list);
  list->items = made.list->items;
  list->size = made.list->size;
  return Value::none();
}

std::vector<Value> members(const Call& call) { return {items(call[0]).begin(), items(call[0]).end()}; }

/// Whether copying the list stays within the limits; to be asked first.
bool may_copy(Call& call) { return call.rt.reserve(std::uint64_t{call[0].list->size} * 2 * sizeof(Value)); }

Value list_append(Call& call) {
  if (!may_copy(call)) return Value::invalid();
  std::vector<Value> changed = members(call);
  changed.push_back(call[1]);
  return change_list(call, changed);
}

Value list_extend(Call& call) {
  Iterator it;
  if (!may_copy(call) || !iterate(call.rt, call[1], it)) return Value::invalid();
  std::vector<Value> changed = members(call);
  for (Value item; it.next(call.rt, item);) {
    if (!call.rt.charge(1) || !call.rt.reserve((changed.size() + 1) * sizeof(Value))) return Value::invalid();
    changed.push_back(item);
  }
  return call.rt.failed() ? Value::invalid() : change_list(call, changed);
}

/// Argument i as a position in the list, as Python counts from either end; clamped to it.
bool position(Call& call, std::size_t i, std::int64_t& out) {
  if (!index_argument(call, i, out)) return false;
  const std::int64_t size = call[0].list->size;
  if (out < 0) out = std::max<std::int64_t>(out + size, 0);
  out = std::min(out, size);
  return true;
}

Value list_insert(Call& call) {
  std::int64_t at = 0;
  if (!may_copy(call) || !position(call, 1, at)) return Value::invalid();
  std::vector<Value> changed = members(call);
  changed.insert(changed.begin() + at, call[2]);
  return change_list(call, changed);
}

Value list_pop(Call& call) {
  std::int64_t at = 0;
  if (!may_copy(call) || !index_argument(call, 1, at)) return Value::invalid();
  const std::int64_t size = call[0].list->size;
  if (size == 0) return call.fail(ErrorCode::index, "pop from empty list");
  if (at < 0) at += size;
  if (at < 0 || at >= size) return call.fail(ErrorCode::index, "pop index out of range");
  std::vector<Value> changed = members(call);
  const Value taken = changed[static_cast<std::size_t>(at)];
  changed.erase(changed.begin() + at);
  return change_list(call, changed).is_invalid() ? Value::invalid() : taken;
}

Value list_remove(Call& call) {
  if (!may_copy(call)) return Value::invalid();
  std::vector<Value> changed = members(call);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const bool same = equal(call.rt, changed[i], call[1]);
    if (call.rt.failed() || !call.rt.charge(1)) return Value::invalid();
    if (!same) continue;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    return change_list(call, changed);
  }
  return call.fail(ErrorCode::value, "list.remove(x): x not in list");
}

Value list_reverse(Call& call) {
  if (!may_copy(call)) return Value::invalid();
  std::vector<Value> changed = members(call);
  std::reverse(changed.begin(), changed.end());
  return change_list(call, changed);
}

/// A key would be a function, and templates have none to give.
Value list_sort(Call& call) {
  Runtime& rt = call.rt;
  std::int64_t reverse = 0;
  if (!call[1].is(Kind::none)) return fail_type(call, 1, "sort() takes no key here but None, not ");
  if (!may_copy(call) || !small_argument(call, 2, reverse)) return Value::invalid();
  Sorter sorter(rt, 1, key_less);
  const bool taken = sorter.collect(call[0], [](Value item, Value* keys) {
    keys[0] = item;
    return true;
  });
  if (!taken || !sorter.sort(reverse != 0)) return Value::invalid();
  return change_list(call, items(sorter.finish()));
}

Value list_clear(Call& call) { return change_list(call, {}); }

/// Puts `kept` into the dict, but for the one with `without`, and then `more`.
Value set_dict(Call& call, std::span<const DictEntry> kept, const Value* without, std::span<const DictEntry> more) {
  if (!call.rt.charge(kept.size() + more.size() + 1) ||
      !call.rt.reserve((kept.size() + more.size()) * 2 * sizeof(DictEntry))) {
    return Value::invalid();
  }
  DictBuilder builder(call.rt);
  for (const DictEntry& entry : kept) {
    const bool left_out = without != nullptr && equal(call.rt, entry.key, *without);
    if (!left_out && !builder.set(entry.key, entry.value)) return Value::invalid();
  }
  for (const DictEntry& entry : more) {
    if (!builder.set(entry.key, entry.value)) return Value::invalid();
  }
  const Value made = builder.finish();
  if (call.rt.failed() || made.is_invalid()) return Value::invalid();
  *const_cast<DictObject*>(call[0].dict) = *made.dict;
  return Value::none();
}

Value change_dict(Call& call, const Value* without, std::span<const DictEntry> more) {
  return set_dict(call, entries(call[0]), without, more);
}

Value dict_update(Call& call) {
  DictBuilder more(call.rt, call.rest.keyword_count);
  if (call.given(1) && !update_dict(call.rt, more, call[1])) return Value::invalid();
  for (std::uint32_t i = 0; i < call.rest.keyword_count; ++i) {
    if (!more.set(call.rest.keywords[i].key, call.rest.keywords[i].value)) return Value::invalid();
  }
  const Value made = more.finish();
  return made.is_invalid() ? made : change_dict(call, nullptr, entries(made));
}

Value dict_setdefault(Call& call) {
  const DictEntry* there = find(call.rt, *call[0].dict, call[1]);
  if (call.rt.failed()) return Value::invalid();
  if (there != nullptr) return there->value;
  const DictEntry added[] = {{call[1], call[2]}};
  return change_dict(call, nullptr, added).is_invalid() ? Value::invalid() : call[2];
}

Value dict_pop(Call& call) {
  const DictEntry* there = find(call.rt, *call[0].dict, call[1]);
  if (call.rt.failed()) return Value::invalid();
  if (there == nullptr) {
    if (call.given(2)) return call[2];
    const Value name = to_repr(call.rt, call[1]);
    return name.is_invalid() ? name : call.fail(ErrorCode::key, std::string(text(call.rt, name)));
  }
  const Value taken = there->value;
  const Value key = call[1];
  return change_dict(call, &key, {}).is_invalid() ? Value::invalid() : taken;
}

Value dict_popitem(Call& call) {
  const std::span<const DictEntry> there = entries(call[0]);
  if (there.empty()) return call.fail(ErrorCode::key, "'popitem(): dictionary is empty'");
  const Value last[] = {there.back().key, there.back().value};
  const Value taken = copy_list(call.rt, last, Kind::tuple);
  const std::span<const DictEntry> kept =
      there.first(there.size() - 1);  // by place: a key may equal nothing, as NaN does
  return taken.is_invalid() || set_dict(call, kept, nullptr, {}).is_invalid() ? Value::invalid() : taken;
}

Value dict_clear(Call& call) {
  DictBuilder builder(call.rt);
  *const_cast<DictObject*>(call[0].dict) = *builder.finish().dict;
  return Value::none();
}

constexpr Builtin kListChanges[] = {
    {"append", "", "self, value, /", list_append, "Appends an item.",
     "{% set l = [1] %}{% set _ = l.append(2) %}{{ l }} -> [1, 2]"},
    {"clear", "", "self, /", list_clear, "Removes all items.", "{% set l = [1] %}{% set _ = l.clear() %}{{ l }} -> []"},
    {"extend", "", "self, iterable, /", list_extend, "Appends the items of an iterable.",
     "{% set l = [1] %}{% set _ = l.extend('ab') %}{{ l }} -> [1, 'a', 'b']"},
    {"insert", "", "self, index, value, /", list_insert, "Inserts an item at a position.",
     "{% set l = [1, 2] %}{% set _ = l.insert(1, 5) %}{{ l }} -> [1, 5, 2]"},
    {"pop", "", "self, index=-1, /", list_pop, "Removes an item and returns it.",
     "{% set l = [1, 2] %}{{ l.pop() }} {{ l }} -> 2 [1]"},
    {"remove", "", "self, value, /", list_remove, "Removes the first item that equals the value.",
     "{% set l = [1, 2, 1] %}{% set _ = l.remove(1) %}{{ l }} -> [2, 1]"},
    {"reverse", "", "self, /", list_reverse, "Reverses the list in place.",
     "{% set l = [1, 2] %}{% set _ = l.reverse() %}{{ l }} -> [2, 1]"},
    {"sort", "", "self, /, *, key=none, reverse=false", list_sort,
     "Sorts the list in place; equal items keep their order.",
     "{% set l = [2, 1, 3] %}{% set _ = l.sort() %}{{ l }} -> [1, 2, 3]"},
};

constexpr Builtin kDictChanges[] = {
    {"clear", "", "self, /", dict_clear, "Removes all keys.",
     "{% set d = {'a': 1} %}{% set _ = d.clear() %}{{ d }} -> {}"},
    {"pop", "", "self, key, default=missing, /", dict_pop, "Removes a key and returns its value.",
     "{% set d = {'a': 1} %}{{ d.pop('a') }} {{ d }} -> 1 {}"},
    {"popitem", "", "self, /", dict_popitem, "Removes the last key and returns it with its value.",
     "{% set d = {'a': 1, 'b': 2} %}{{ d.popitem() }} {{ d }} -> ('b', 2) {'a': 1}"},
    {"setdefault", "", "self, key, default=none, /", dict_setdefault,
     "The value for a key; inserts the default if the key is missing.",
     "{% set d = {} %}{{ d.setdefault('a', 1) }} {{ d }} -> 1 {'a': 1}"},
    {"update", "", "self, other=missing, /, **kwargs", dict_update,
     "Sets the keys of a dict or of pairs, and of keyword arguments.",
     "{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}, c=3) %}{{ d }} -> {'a': 1, 'b': 2, 'c': 3}"},
};

}  // namespace

std::span<const Builtin> list_changes() { return kListChanges; }
std::span<const Builtin> dict_changes() { return kDictChanges; }

/// What this render made lies in its arena. All else, also what passes or a caller built for a conversation without any
/// text of a request, is there for later renders.
const Builtin* find_change(const Runtime& rt, Value v, std::string_view name) {
  std::span<const Builtin> rows;
  if (v.kind == Kind::list && rt.arena.holds(v.list)) rows = kListChanges;
  if (v.kind == Kind::dict && rt.arena.holds(v.dict)) rows = kDictChanges;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Builtin& one) { return one.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace parlance::jinja
