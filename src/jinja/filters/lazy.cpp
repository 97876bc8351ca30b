// Filters that give an iterator: map, select, reject, selectattr, rejectattr, slice, batch, unique,
// items, reverse.
//
// Each is a Generator (jinja/objects/objects.h) whose step does what the body of Jinja2's generator
// function does; arguments are looked at only when the first value is asked for, so errors surface
// there. Source of the rules: Jinja2 3.1.6 filters.py. Begin reading at RowGenerator.
#include <algorithm>
#include <cstring>

#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/objects.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// Arguments that outlive the call they were given to.
/// The caller's arrays are registers of its frame, which the next instruction may overwrite.
PassedArguments keep(Runtime& rt, const PassedArguments& in) {
  PassedArguments out = in;
  auto* positional = rt.arena.allocate_array<Value>(in.positional_count);
  auto* keywords = rt.arena.allocate_array<DictEntry>(in.keyword_count);
  std::copy(in.positional, in.positional + in.positional_count, positional);
  std::copy(in.keywords, in.keywords + in.keyword_count, keywords);
  out.positional = positional;
  out.keywords = keywords;
  return out;
}

Value remove_keyword(PassedArguments& arguments, std::string_view name) {
  auto* keywords = const_cast<DictEntry*>(arguments.keywords);  // a copy made by keep()
  for (std::uint32_t i = 0; i < arguments.keyword_count; ++i) {
    if (leaf_text(keywords[i].key) != name) continue;
    Value value = keywords[i].value;
    std::copy(keywords + i + 1, keywords + arguments.keyword_count, keywords + i);
    --arguments.keyword_count;
    return value;
  }
  return Value::invalid();
}

/// The row `name` names, or null with Jinja2's TemplateRuntimeError recorded.
/// Jinja2 looks the name up in a dict, so an unhashable name is a TypeError before it is an unknown one.
const Builtin* row_named(Runtime& rt, Value name, std::string_view what) {
  if (name.is_string()) {
    std::string_view wanted = text(rt, name);
    const Builtin* row = what == "filter" ? find_filter(wanted) : find_test(wanted);
    if (row != nullptr) return row;
  } else {
    hash_value(rt, name);
  }
  Value shown = to_repr(rt, name);
  if (rt.failed() || shown.is_invalid()) return nullptr;
  std::string message = "No " + std::string(what) + " named " + std::string(text(rt, shown)) + ".";
  if (name.is_undefined()) {
    message += " (" + undefined_message(rt, name) + "; did you forget to quote the callable name?)";
  }
  rt.fail(ErrorCode::runtime, std::move(message), name);
  return nullptr;
}

/// What map, select and their kind share: a source, arguments, and the row applied to each member.
/// Filled in two steps: start_row() when the filter is called, prepare_…() when the first member is asked for. The row
/// is found at the first member only: an empty list maps with a filter that does not exist.
struct RowGenerator : Generator {
  Value source;
  PassedArguments arguments;
  Iterator it;
  bool started;
  AttributeGetter getter;
  bool by_row;  ///< a filter or test is applied, named by the first of `arguments`
  Value name;
  const Builtin* row;
  bool wanted;  ///< select: the outcome that keeps a member

  Value apply(Runtime& rt, Value item, std::string_view what) {
    if (row == nullptr) row = row_named(rt, name, what);
    return row == nullptr ? Value::invalid() : call_builtin(rt, *row, &item, arguments);
  }
  void take_name() {
    by_row = true;
    name = arguments.positional[0];
    ++arguments.positional;
    --arguments.positional_count;
  }
};

bool prepare_map(Runtime& rt, RowGenerator& g) {
  if (g.arguments.positional_count == 0) {
    Value attribute = remove_keyword(g.arguments, "attribute");
    if (attribute.is_invalid()) {
      rt.fail(ErrorCode::filter_argument, "map requires a filter argument");
      return false;
    }
    Value fallback = remove_keyword(g.arguments, "default");
    if (!fallback.is_invalid()) g.getter.fallback = fallback;
    if (g.arguments.keyword_count == 0) return make_getter(rt, attribute, g.getter);
    std::string shown(text(rt, to_repr(rt, g.arguments.keywords[0].key)));
    rt.fail(ErrorCode::filter_argument, "Unexpected keyword argument " + shown);
    return false;
  }
  g.take_name();
  return true;
}

/// `if value:` stands before everything else in Jinja2's body: for an empty source even wrong arguments pass.
bool step_map(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<RowGenerator&>(base);
  if (!g.started) {
    g.started = true;
    if (!truth(rt, g.source) || !prepare_map(rt, g) || !iterate(rt, g.source, g.it)) return false;
  }
  Value item;
  if (!g.it.next(rt, item)) return false;
  out = g.by_row ? g.apply(rt, item, "filter") : g.getter.get(rt, item);
  return !out.is_invalid();
}

bool prepare_select(Runtime& rt, RowGenerator& g, bool by_attribute) {
  if (by_attribute) {
    if (g.arguments.positional_count == 0) {
      rt.fail(ErrorCode::filter_argument, "Missing parameter for attribute name");
      return false;
    }
    if (!make_getter(rt, g.arguments.positional[0], g.getter)) return false;
    ++g.arguments.positional;
    --g.arguments.positional_count;
  }
  if (g.arguments.positional_count != 0) g.take_name();
  return true;
}

template <bool by_attribute>
bool step_select(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<RowGenerator&>(base);
  if (!g.started) {
    g.started = true;
    if (!truth(rt, g.source) || !prepare_select(rt, g, by_attribute) || !iterate(rt, g.source, g.it)) return false;
  }
  while (g.it.next(rt, out) && rt.charge(1)) {
    Value answer = g.getter.get(rt, out);
    if (g.by_row && !answer.is_invalid()) answer = g.apply(rt, answer, "test");
    if (answer.is_invalid()) return false;
    bool holds = truth(rt, answer);
    if (rt.failed()) return false;
    if (holds == g.wanted) return true;
  }
  return false;
}

Value start_row(Call& call, std::string_view name, bool (*step)(Runtime&, Generator&, Value&), bool wanted) {
  auto* g = start_generator<RowGenerator>(call.rt, name, step);
  g->source = call[0];
  g->arguments = keep(call.rt, call.rest);
  g->wanted = wanted;
  return object_value(g);
}

Value filter_map(Call& call) { return start_row(call, "sync_do_map", step_map, true); }
Value filter_select(Call& call) { return start_row(call, "select_or_reject", step_select<false>, true); }
Value filter_reject(Call& call) { return start_row(call, "select_or_reject", step_select<false>, false); }
Value filter_selectattr(Call& call) { return start_row(call, "select_or_reject", step_select<true>, true); }
Value filter_rejectattr(Call& call) { return start_row(call, "select_or_reject", step_select<true>, false); }

// ---- slice, batch

struct SliceGenerator : Generator {
  Value source, slices, fill;
  bool started;
  Value list;
  std::int64_t count, next, begin;
};

/// `slices` as an integer, failing where Python's // or range() would.
bool slice_count(Runtime& rt, Value slices, std::int64_t& out) {
  if (slices.is_undefined()) {
    fail_undefined(rt, slices);
    return false;
  }
  if (equal(rt, slices, Value::of_int(0))) {
    rt.fail(ErrorCode::zero_division, "integer division or modulo by zero");
    return false;
  }
  std::optional<std::int64_t> index = to_index(rt, slices);
  if (index) out = *index;
  return index.has_value();
}

bool step_slice(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<SliceGenerator&>(base);
  if (!g.started) {
    g.started = true;
    g.list = to_list(rt, g.source);
    if (g.list.is_invalid() || !slice_count(rt, g.slices, g.count)) return false;
  }
  if (g.next >= g.count) return false;
  std::int64_t size = g.list.list->size, extra = size % g.count;
  std::int64_t take = size / g.count + (g.next < extra ? 1 : 0);
  std::span<const Value> part =
      items(g.list).subspan(static_cast<std::size_t>(g.begin), static_cast<std::size_t>(take));
  // Jinja2 fills each column that is shorter than the first ones, even if the division left no rest (`extra` is 0).
  bool filled = !g.fill.is_none() && g.next >= extra;
  g.begin += take;
  ++g.next;
  if (!filled) {
    out = make_list(rt, part.data(), part.size());
    return true;
  }
  ListBuilder column(rt, static_cast<std::uint32_t>(part.size()) + 1);
  for (const Value& item : part) column.append(item);
  column.append(g.fill);
  out = column.finish();
  return rt.charge(part.size());
}

Value filter_slice(Call& call) {
  auto* g = start_generator<SliceGenerator>(call.rt, "sync_do_slice", step_slice);
  g->source = call[0];
  g->slices = call[1];
  g->fill = call[2];
  return object_value(g);
}

struct BatchGenerator : Generator {
  Value source, width, fill;
  bool started, ended;
  Iterator it;
  Value held;  ///< the member that did not fit the last batch
  bool holds;
};

/// Appends `fill` until the batch is full; false after a failure.
/// Jinja2 writes `[fill_with] * (linecount - len(tmp))`, so a width may be any number and fails where that product
/// does.
bool fill_batch(Runtime& rt, const BatchGenerator& g, ListBuilder& batch) {
  Value size = Value::of_int(batch.size());
  if (!compare(rt, Comparison::less, size, g.width)) return !rt.failed();
  Value lacking = binary(rt, BinaryOperator::subtract, g.width, size);
  if (lacking.is(Kind::real)) {
    rt.fail(ErrorCode::type, "can't multiply sequence by non-int of type 'float'");
  } else if ((lacking.flags & Value::kBig) != 0) {
    rt.fail(ErrorCode::overflow, "cannot fit 'int' into an index-sized integer", g.width);
  }
  std::optional<std::int64_t> n = rt.failed() ? std::nullopt : to_index(rt, lacking);
  if (!n || !rt.reserve(static_cast<std::uint64_t>(std::min<std::int64_t>(*n, Runtime::kMaxText)) * sizeof(Value)) ||
      !rt.charge(static_cast<std::uint64_t>(*n))) {
    return false;
  }
  for (std::int64_t i = 0; i < *n; ++i) batch.append(g.fill);
  return true;
}

bool step_batch(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<BatchGenerator&>(base);
  if (!g.started && !iterate(rt, g.source, g.it)) return false;
  g.started = true;
  if (g.ended) return false;
  ListBuilder batch(rt);
  if (g.holds) batch.append(g.held);
  g.holds = false;
  for (Value item; g.it.next(rt, item);) {
    if (!rt.charge(1)) return false;
    // Compared by ==, as in Jinja2: a width of 2.0 works, and one of 2.5 is never reached.
    if (equal(rt, Value::of_int(batch.size()), g.width)) {
      g.held = item;
      g.holds = true;
      out = batch.finish();
      return true;
    }
    batch.append(item);
  }
  g.ended = true;
  if (rt.failed() || batch.size() == 0 || (!g.fill.is_none() && !fill_batch(rt, g, batch))) return false;
  out = batch.finish();
  return true;
}

Value filter_batch(Call& call) {
  auto* g = start_generator<BatchGenerator>(call.rt, "do_batch", step_batch);
  g->source = call[0];
  g->width = call[1];
  g->fill = call[2];
  return object_value(g);
}

// ---- unique, items, reverse

struct UniqueGenerator : Generator {
  Value source, attribute;
  bool started;
  AttributeGetter getter;
  Iterator it;
  DictBuilder* seen;
};

bool step_unique(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<UniqueGenerator&>(base);
  if (!g.started) {
    g.started = true;
    g.seen = rt.arena.make<DictBuilder>(rt);
    if (!make_getter(rt, g.attribute, g.getter) || !iterate(rt, g.source, g.it)) return false;
  }
  while (g.it.next(rt, out) && rt.charge(1)) {
    Value key = g.getter.get(rt, out);
    if (key.is_invalid()) return false;
    bool known = g.seen->find(key) != nullptr;
    if (rt.failed()) return false;
    if (!known) return g.seen->set(key, Value::none());
  }
  return false;
}

Value filter_unique(Call& call) {
  bool fold = !call.truth(1);
  if (call.rt.failed()) return Value::invalid();
  auto* g = start_generator<UniqueGenerator>(call.rt, "sync_do_unique", step_unique);
  g->source = call[0];
  g->attribute = call[2];
  g->getter.fold = fold;
  return object_value(g);
}

struct ItemsGenerator : Generator {
  Value source;
  std::uint32_t next;
};

bool step_items(Runtime& rt, Generator& base, Value& out) {
  auto& g = static_cast<ItemsGenerator&>(base);
  if (g.source.is_undefined()) return false;
  if (!g.source.is(Kind::dict)) {
    rt.fail(ErrorCode::type, "Can only get item pairs from a mapping.", g.source);
    return false;
  }
  if (g.next == g.source.dict->size) return false;
  const DictEntry& entry = g.source.dict->entries[g.next++];
  Value pair[] = {entry.key, entry.value};
  out = copy_list(rt, pair, Kind::tuple);
  return !out.is_invalid();
}

Value filter_items(Call& call) {
  auto* g = start_generator<ItemsGenerator>(call.rt, "do_items", step_items);
  g->source = call[0];
  return object_value(g);
}

Value filter_reverse(Call& call) {
  Runtime& rt = call.rt;
  if (call[0].is_string()) return slice(rt, call[0], Value::none(), Value::none(), Value::of_int(-1));
  Value reversed = make_reversed(rt, call[0]);
  if (!reversed.is_undefined()) return reversed;
  Value list = to_list(rt, call[0]);
  if (list.is_invalid()) {
    if (caught(rt, {ErrorCode::type})) return fail_filter(call, "argument must be iterable");
    return list;
  }
  Value copy = copy_list(rt, items(list));
  if (copy.is_invalid()) return copy;
  auto* first = const_cast<Value*>(copy.list->items);  // nobody else has seen it
  std::reverse(first, first + copy.list->size);
  return copy;
}

constexpr Builtin kLazyFilters[] = {
    {"map", "", "value, *args, **kwargs", filter_map,
     "Applies a filter to each item; with attribute= (and default=), takes an attribute of each. Lazy.",
     "{{ ['a', 'b']|map('upper')|list }} -> ['A', 'B']"},
    {"select", "", "value, *args, **kwargs", filter_select,
     "The items that pass a test; without a test, those that are true. Lazy.",
     "{{ [1, 2, 3]|select('odd')|list }} -> [1, 3]"},
    {"reject", "", "value, *args, **kwargs", filter_reject,
     "The items that fail a test; without a test, those that are false. Lazy.",
     "{{ [1, 2, 3]|reject('odd')|list }} -> [2]"},
    {"selectattr", "", "value, *args, **kwargs", filter_selectattr,
     "The items whose attribute passes a test; without a test, those whose attribute is true. Lazy.",
     "{{ [{'n': 1}, {'n': 2}]|selectattr('n', 'gt', 1)|list }} -> [{'n': 2}]"},
    {"rejectattr", "", "value, *args, **kwargs", filter_rejectattr,
     "The items whose attribute fails a test; without a test, those whose attribute is false. Lazy.",
     "{{ [{'n': 1}, {'n': 2}]|rejectattr('n', 'gt', 1)|list }} -> [{'n': 1}]"},
    {"slice", "", "value, slices, fill_with=none", filter_slice,
     "The items split into `slices` lists of nearly equal length; `fill_with` pads the short ones. Lazy.",
     "{{ range(5)|slice(2, '-')|list }} -> [[0, 1, 2], [3, 4, '-']]"},
    {"batch", "", "value, linecount, fill_with=none", filter_batch,
     "The items in lists of `linecount` each; `fill_with` pads the last one. Lazy.",
     "{{ range(5)|batch(2, '-')|list }} -> [[0, 1], [2, 3], [4, '-']]"},
    {"unique", "", "value, case_sensitive=false, attribute=none", filter_unique,
     "The items without duplicates, by value or by an attribute. Case is ignored unless `case_sensitive`. Lazy.",
     "{{ ['b', 'a', 'B']|unique|list }} -> ['b', 'a']"},
    {"items", "", "value", filter_items, "The (key, value) pairs of a mapping; an undefined value has no pairs. Lazy.",
     "{{ {'a': 1}|items|list }} -> [('a', 1)]"},
    {"reverse", "", "value", filter_reverse, "A string reversed, or an iterator over the items from last to first.",
     "{{ [1, 2]|reverse|list }} -> [2, 1]"},
};

}  // namespace

std::span<const Builtin> lazy_filters() { return kLazyFilters; }

}  // namespace parlance::jinja
