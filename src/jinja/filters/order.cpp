// Filters that compare members: sort, dictsort, groupby, min, max.
//
// Source of the rules: Jinja2 3.1.6 filters.py. The sort itself is sorter.h. Begin reading at
// kOrderFilters, at the end.
#include <algorithm>

#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/objects.h"
#include "jinja/objects/sorter.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// Keys as Python compares lists: what is equal is not ordered.
bool lists_less(Runtime& rt, const Value* a, const Value* b, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    if (!equal(rt, a[i], b[i])) return !rt.failed() && less(rt, a[i], b[i]);
  }
  return false;
}

// ---- sort

/// One getter for each comma-separated path; false after a failure.
bool make_getters(Runtime& rt, Value attribute, bool fold, std::span<AttributeGetter>& out) {
  std::string_view paths = attribute.is_string() ? text(rt, attribute) : std::string_view();
  std::size_t count = 1 + static_cast<std::size_t>(std::count(paths.begin(), paths.end(), ','));
  if (!rt.reserve(count * sizeof(AttributeGetter))) return false;
  auto* getters = rt.arena.allocate_array<AttributeGetter>(count);
  for (std::size_t i = 0, begin = 0; i < count; ++i) {
    new (&getters[i]) AttributeGetter;
    getters[i].fold = fold;
    Value path = attribute;
    if (attribute.is_string()) {
      std::size_t end = std::min(paths.find(',', begin), paths.size());
      path = Value::view(paths.substr(begin, end - begin));
      begin = end + 1;
    }
    if (!make_getter(rt, path, getters[i])) return false;
  }
  out = {getters, count};
  return true;
}

/// Argument i as list.sort takes `reverse`: an int that fits C's; false with the failure recorded.
bool read_reverse(const Call& call, std::size_t i, bool& out) {
  std::int64_t number = 0;
  if (!call.integer(i, number)) return false;
  out = number != 0;
  if (number == static_cast<int>(number)) return true;
  call.fail(ErrorCode::overflow, "Python int too large to convert to C int");
  return false;
}

Value filter_sort(Call& call) {
  Runtime& rt = call.rt;
  bool reverse = false, fold = !call.truth(2);
  std::span<AttributeGetter> getters;
  if (rt.failed() || !make_getters(rt, call[3], fold, getters) || !read_reverse(call, 1, reverse))
    return Value::invalid();
  Sorter sorter(rt, getters.size(), lists_less);
  bool ok = sorter.collect(call[0], [&](Value item, Value* keys) {
    for (std::size_t i = 0; i < getters.size(); ++i) {
      keys[i] = getters[i].get(rt, item);
      if (keys[i].is_invalid()) return false;
    }
    return true;
  });
  return ok && sorter.sort(reverse) ? sorter.finish() : Value::invalid();
}

Value filter_dictsort(Call& call) {
  Runtime& rt = call.rt;
  bool fold = !call.truth(1);
  std::string_view by = call[2].is_string() ? text(rt, call[2]) : std::string_view();
  if (by != "key" && by != "value") return fail_filter(call, "You can only sort by either \"key\" or \"value\"");
  if (!call[0].is(Kind::dict)) return fail_attribute(rt, call[0], "items");
  std::size_t position = by == "key" ? 0 : 1;
  bool reverse = false;
  if (rt.failed() || !read_reverse(call, 3, reverse)) return Value::invalid();
  std::span<const Value> pairs = dict_members(rt, call[0], DictView::items);
  Sorter sorter(rt, 1, key_less);
  bool ok = sorter.collect(make_list(rt, pairs.data(), pairs.size()), [&](Value item, Value* keys) {
    Value key = item.list->items[position];
    keys[0] = fold ? fold_case(rt, key) : key;
    return !keys[0].is_invalid();
  });
  return ok && sorter.sort(reverse) ? sorter.finish() : Value::invalid();
}

// ---- groupby

/// Sorted first, so that equal keys are neighbours; the sort is stable, so a group keeps the order of its members.
Value filter_groupby(Call& call) {
  Runtime& rt = call.rt;
  AttributeGetter getter;
  getter.fallback = call[2];
  getter.fold = !call.truth(3);
  if (rt.failed() || !make_getter(rt, call[1], getter)) return Value::invalid();
  Sorter sorter(rt, 1, key_less);
  bool ok = sorter.collect(call[0], [&](Value item, Value* keys) {
    keys[0] = getter.get(rt, item);
    return !keys[0].is_invalid();
  });
  if (!ok || !sorter.sort(false)) return Value::invalid();
  Value all = sorter.finish();
  ListBuilder groups(rt);
  AttributeGetter spelling = getter;
  spelling.fold = false;
  for (std::size_t begin = 0, n = sorter.entries().size(); begin < n;) {
    std::size_t end = begin + 1;
    Value key = sorter.entries()[begin].keys[0];
    while (end < n && equal(rt, key, sorter.entries()[end].keys[0])) ++end;
    // Groups ignore case, but the name of one is spelt as in its first member, as in Jinja2 since 3.1.
    if (getter.fold) key = spelling.get(rt, all.list->items[begin]);
    if (key.is_invalid() || rt.failed()) return Value::invalid();
    groups.append(make_group(rt, key, make_list(rt, all.list->items + begin, end - begin)));
    begin = end;
  }
  return rt.failed() ? Value::invalid() : groups.finish();
}

// ---- min, max

Value extreme(Call& call, Comparison better) {
  Runtime& rt = call.rt;
  AttributeGetter getter;
  Iterator it;
  Value best;
  if (!iterate(rt, call[0], it)) return Value::invalid();
  if (!it.next(rt, best)) {
    return rt.failed() ? Value::invalid() : undefined_hint(rt, "No aggregated item, sequence was empty.");
  }
  getter.fold = !call.truth(1);
  if (rt.failed() || !make_getter(rt, call[2], getter)) return Value::invalid();
  Value best_key = getter.get(rt, best);
  if (best_key.is_invalid()) return best_key;
  for (Value item; it.next(rt, item);) {
    Value key = getter.get(rt, item);
    if (key.is_invalid() || !rt.charge(1)) return Value::invalid();
    bool replaces = compare(rt, better, key, best_key);
    if (rt.failed()) return Value::invalid();
    // Of equal members the first stays, as by Python's min() and max().
    if (!replaces) continue;
    best = item;
    best_key = key;
  }
  return rt.failed() ? Value::invalid() : best;
}

Value filter_min(Call& call) { return extreme(call, Comparison::less); }
Value filter_max(Call& call) { return extreme(call, Comparison::greater); }

constexpr Builtin kOrderFilters[] = {
    {"sort", "", "value, reverse=false, case_sensitive=false, attribute=none", filter_sort,
     "A sorted list of the items. `attribute` may name several attributes, separated by commas. Case is ignored unless "
     "`case_sensitive`.",
     "{{ ['b', 'A', 'c']|sort(reverse=true) }} -> ['c', 'b', 'A']"},
    {"dictsort", "", "value, case_sensitive=false, by='key', reverse=false", filter_dictsort,
     "A list of a mapping's (key, value) pairs, sorted by 'key' or by 'value'.",
     "{{ {'b': 1, 'A': 2}|dictsort }} -> [('A', 2), ('b', 1)]"},
    {"groupby", "", "value, attribute, default=none, case_sensitive=false", filter_groupby,
     "The items grouped by an attribute: a sorted list of pairs with the fields `grouper` and `list`.",
     "{{ [{'k': 1, 'v': 'a'}]|groupby('k') }} -> [(1, [{'k': 1, 'v': 'a'}])]"},
    {"min", "", "value, case_sensitive=false, attribute=none", filter_min,
     "The smallest item, or the one with the smallest attribute; undefined if there is none.",
     "{{ [3, 1, 2]|min }} -> 1"},
    {"max", "", "value, case_sensitive=false, attribute=none", filter_max,
     "The largest item, or the one with the largest attribute; undefined if there is none.",
     "{{ ['a', 'C', 'b']|max }} -> C"},
};

}  // namespace

std::span<const Builtin> order_filters() { return kOrderFilters; }

}  // namespace parlance::jinja
