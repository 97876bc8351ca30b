// The table of functions, and those that look into values: len, index, slice, print, json, dates.
//
// Comparisons are in compare.cpp, escapes in escape.cpp; `and`, `or` and `call` are the executor's.
// Source: Go 1.26 text/template/funcs.go; Ollama's template/template.go. Begin reading at
// kFunctions.
#include "gotemplate/functions.h"

#include <algorithm>

#include "base/civil_time.h"
#include "gotemplate/json.h"
#include "gotemplate/print.h"

namespace parlance::gotemplate {

bool is_true_beyond_text(Value v) {
  v = unbox(v);
  if (v.is_undefined() || is_nil(v)) return false;
  switch (facts(type_of(v)).kind) {
    case GoKind::boolean:
    case GoKind::integer:
    case GoKind::byte: return v.integer != 0;
    case GoKind::real: return real_of(v) != 0;
    case GoKind::complex: return v.list->items[0].real != 0 || v.list->items[1].real != 0;
    case GoKind::string:
    case GoKind::map:
    case GoKind::slice: return length_of(v) != 0;
    default: return true;
  }
}

/// A missing key gives the zero of the elements' type, as MapIndex and index do; for interfaces that is nil, which
/// prints as <no value>.
Value map_element(Runtime& rt, Value map, std::string_view key) {
  const Type element = facts(type_of(map)).element;
  const DictEntry* entry = is_nil(map) ? nullptr : find_key(*map.dict, key);
  if (entry == nullptr) return zero_of(rt, element);
  return element == Type::any ? box(entry->value) : entry->value;
}

namespace {

Value fail(Runtime& rt, std::string message, Value culprit = {}) {
  return rt.fail(ErrorCode::go_execute, std::move(message), culprit);
}

std::string_view type_name_of(Value v) { return facts(static_type(v)).name; }

/// indexArg: false (recorded) for what is no index up to `limit`. An interface is none, whatever it
/// holds.
bool read_index(Runtime& rt, Value v, std::size_t limit, std::size_t& out) {
  if (v.is_undefined()) {
    fail(rt, "cannot index slice/array with nil");
    return false;
  }
  const Type type = static_type(v);
  if (type != Type::integer && type != Type::byte) {
    fail(rt, "cannot index slice/array with type " + std::string(facts(type).name), v);
    return false;
  }
  if (v.integer < 0 || static_cast<std::uint64_t>(v.integer) > limit) {
    fail(rt, "index out of range: " + std::to_string(v.integer));
    return false;
  }
  out = static_cast<std::size_t>(v.integer);
  return true;
}

Value index_map(Runtime& rt, Value map, Value key) {
  key = unbox(key);
  if (key.is_undefined()) return fail(rt, "value is nil; should be of type string");
  if (!is_text(key)) {
    return fail(rt, "value has type " + std::string(facts(type_of(key)).name) + "; should be string", key);
  }
  return map_element(rt, map, text(rt, key));
}

}  // namespace

Value index_value(Runtime& rt, Value item, Value index) {
  bool nil = false;
  item = indirect(item, nil);
  if (nil) return fail(rt, "index of nil pointer", item);
  switch (facts(type_of(item)).kind) {
    case GoKind::map: return index_map(rt, item, index);
    case GoKind::slice:
    case GoKind::string: break;
    default: return fail(rt, "can't index item of type " + std::string(type_name_of(item)), item);
  }
  const std::size_t size = length_of(item);
  std::size_t at = 0;
  if (!read_index(rt, unbox(index), size, at)) return Value::invalid();
  if (at == size) {
    // The check above lets the length itself through; reflect does not.
    const bool is_string = facts(type_of(item)).kind == GoKind::string;
    return fail(rt, is_string ? "reflect: string index out of range" : "reflect: slice index out of range", item);
  }
  if (item.kind == Kind::string && !item.is_leaf()) {
    const std::string_view bytes = text(rt, item);
    return with_type(Value::of_int(static_cast<unsigned char>(bytes[at])), Type::byte);
  }
  return element(item, at);
}

namespace {

Value function_index(Call& call) {
  Value item = unbox(call[0]);
  if (item.is_undefined()) return fail(call.rt, "index of untyped nil");
  item = call[0];
  for (std::uint32_t i = 0; i < call.rest.positional_count; ++i) {
    item = index_value(call.rt, item, call.rest.positional[i]);
    if (item.is_invalid()) return item;
  }
  return item;
}

/// item[begin:end] of a string or slice, sharing what it holds. A slice's capacity is its length
/// here.
Value part_of(Runtime& rt, Value item, std::size_t begin, std::size_t end) {
  const Type type = type_of(item);
  if (item.kind == Kind::string) return with_type(substring(rt, item, begin, end), type);
  if (is_nil(item)) return item;
  return with_type(make_list(rt, item.list->items + begin, end - begin), type);
}

/// Unlike index, Go's slice does not look into interfaces for its bounds: an index that comes out of the request's data
/// is refused. Hence read_index without unbox.
Value function_slice(Call& call) {
  Runtime& rt = call.rt;
  if (unbox(call[0]).is_undefined()) return fail(rt, "slice of untyped nil");
  bool nil = false;
  const Value item = indirect(call[0], nil);
  if (nil) return fail(rt, "slice of nil pointer");
  const std::uint32_t count = call.rest.positional_count;
  if (count > 3) return fail(rt, "too many slice indexes: " + std::to_string(count));
  const GoKind kind = facts(type_of(item)).kind;
  if (kind == GoKind::string && count == 3) return fail(rt, "cannot 3-index slice a string");
  if (kind != GoKind::string && kind != GoKind::slice) {
    return fail(rt, "can't slice item of type " + std::string(type_name_of(item)), item);
  }
  const std::size_t size = length_of(item);
  std::size_t at[3] = {0, size, size};
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!read_index(rt, call.rest.positional[i], size, at[i])) return Value::invalid();
  }
  const auto crossed = [&](std::size_t a, std::size_t b) {
    return fail(rt, "invalid slice index: " + std::to_string(a) + " > " + std::to_string(b));
  };
  if (at[0] > at[1]) return crossed(at[0], at[1]);
  if (at[1] > at[2]) return crossed(at[1], at[2]);
  return part_of(rt, item, at[0], at[1]);
}

/// The nil interface makes Go's message itself fail inside reflect; its text is what a user of Go sees.
Value function_len(Call& call) {
  bool nil = false;
  const Value item = indirect(call[0], nil);
  if (nil) return fail(call.rt, "len of nil pointer");
  if (item.is_undefined()) return fail(call.rt, "reflect: call of reflect.Value.Type on zero Value");
  const GoKind kind = facts(type_of(item)).kind;
  if (kind == GoKind::map || kind == GoKind::slice || kind == GoKind::string) {
    return go_int(static_cast<std::int64_t>(length_of(item)));
  }
  return fail(call.rt, "len of type " + std::string(type_name_of(item)), item);
}

Value function_not(Call& call) { return Value::boolean(!is_true(call[0])); }

// ---- text

std::span<const Value> rest_of(const Call& call) { return {call.rest.positional, call.rest.positional_count}; }

Value function_print(Call& call) {
  Sink sink(call.rt);
  Printer(call.rt, sink).print(rest_of(call));
  return sink.finish();
}

Value function_println(Call& call) {
  Sink sink(call.rt);
  Printer(call.rt, sink).println(rest_of(call));
  return sink.finish();
}

Value function_printf(Call& call) {
  Sink sink(call.rt);
  Printer(call.rt, sink).printf(call[0], rest_of(call));
  return sink.finish();
}

Value function_json(Call& call) { return json_text(call.rt, call[0]); }

// ---- Ollama's dates

Value date_text(Runtime& rt, int year, int month, int day) {
  const auto padded = [](int n, std::size_t width) {
    std::string digits = std::to_string(n);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
  };
  return make_computed(rt, padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2));
}

Value function_current_date(Call& call) {
  const CivilTime& now = call.rt.now;
  return date_text(call.rt, now.year, now.month, now.day);
}

/// Calendar arithmetic on the caller's own date, without time zones: Ollama subtracts one day from the local date.
Value function_yesterday_date(Call& call) {
  CivilTime day = call.rt.now;
  if (--day.day == 0) {
    if (--day.month == 0) {
      day.month = 12;
      --day.year;
    }
    day.day = days_in_month(day.year, day.month);
  }
  return date_text(call.rt, day.year, day.month, day.day);
}

// ---- Ollama's types

/// Ollama's mapTypeScript table: what it does not know is any.
std::string_view type_script_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"string", "string"},
      {"number", "number"},
      {"integer", "number"},
      {"boolean", "boolean"},
      {"array", "any[]"},
      {"null", "null"},
      {"object", "Record<string, any>"},
  };
  const auto found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& row) { return row.first == name; });
  return found == std::end(kNames) ? "any" : found->second;
}

void put_alternative(Sink& sink, bool first, std::string_view name) {
  if (!first) sink.put(" | ");
  sink.put(name);
}

/// api.ToolProperty.ToTypeScriptType: anyOf wins over type, and anyOf may nest as deep as the request, hence the bound.
bool put_type_script(Runtime& rt, Sink& sink, Value property) {
  const Nesting nesting(rt);
  if (!nesting.ok() || !rt.charge(1)) return false;
  const Value any_of = field(property, 0);
  const Value types = field(property, 1);
  const std::size_t alternatives = length_of(any_of);
  for (std::size_t i = 0; i < alternatives; ++i) {
    sink.from_nothing();
    if (i > 0) sink.put(" | ");
    if (!put_type_script(rt, sink, any_of.list->items[i])) return false;
  }
  if (alternatives > 0) return true;
  const std::size_t count = length_of(types);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = sink.flat(types.list->items[i]);
    sink.from(types.list->items[i]);
    put_alternative(sink, i == 0, type_script_name(name));
  }
  if (count == 0) put_alternative(sink, true, "any");
  return true;
}

Value function_type_script(Call& call) {
  const Value v = unbox(call[0]);
  if (v.is_undefined() || type_of(v) != Type::property) return Value::view("any");
  return type_script_of(call.rt, v);
}

/// The executor runs these itself.
Value never_called(Call&) { return Value::invalid(); }

// The parameter that is a function's subject comes first; what is piped in comes last.
constexpr Function kFunctions[] = {
    {{"and", "", "value, *values", never_called,
      "The first argument that is false, else the last. Later arguments are not evaluated.", "{{ and 1 0 2 }} -> 0"},
     Accepts::value,
     Accepts::value,
     Special::all},
    {{"call", "", "function, *arguments", never_called,
      "The result of calling a function value. Ollama's data has none that a template can call.",
      "{{ call 1 }} -> execute"},
     Accepts::value,
     Accepts::value,
     Special::call},
    {{"eq", "", "value, *others", function_eq, "Is the first argument equal to one of the others?",
      "{{ eq \"a\" \"b\" \"a\" }} -> true"},
     Accepts::value,
     Accepts::value},
    {{"ge", "", "a, b", function_ge, "a >= b", "{{ ge 2 2 }} -> true"}, Accepts::value, Accepts::value},
    {{"gt", "", "a, b", function_gt, "a > b", "{{ gt \"b\" \"a\" }} -> true"}, Accepts::value, Accepts::value},
    {{"html", "", "*values", function_html,
      "The values as print writes them, with < > & \" ' and NUL escaped for HTML.", "{{ html \"<b>\" }} -> &lt;b&gt;"},
     Accepts::any,
     Accepts::any},
    {{"index", "", "item, *keys", function_index,
      "The element of a map or slice for a key or an index (from 0). Further keys index into the result.",
      "{{ index \"abc\" 1 }} -> 98"},
     Accepts::value,
     Accepts::value},
    {{"js", "", "*values", function_js, "The values as print writes them, escaped for a string in JavaScript.",
      "{{ js \"it's\" }} -> it\\'s"},
     Accepts::any,
     Accepts::any},
    {{"le", "", "a, b", function_le, "a <= b", "{{ le 1.5 2.5 }} -> true"}, Accepts::value, Accepts::value},
    {{"len", "", "item", function_len, "The number of elements of a map or slice, or of bytes of a string.",
      "{{ len \"é\" }} -> 2"},
     Accepts::value,
     Accepts::value},
    {{"lt", "", "a, b", function_lt, "a < b", "{{ lt 1 2 }} -> true"}, Accepts::value, Accepts::value},
    {{"ne", "", "a, b", function_ne, "a != b", "{{ ne 1 2 }} -> true"}, Accepts::value, Accepts::value},
    {{"not", "", "value", function_not, "Is the value false, zero, empty or nil?", "{{ not \"\" }} -> true"},
     Accepts::value,
     Accepts::value},
    {{"or", "", "value, *values", never_called,
      "The first argument that is true, else the last. Later arguments are not evaluated.", "{{ or 0 \"x\" 2 }} -> x"},
     Accepts::value,
     Accepts::value,
     Special::first},
    {{"print", "", "*values", function_print,
      "The values in their default format, with spaces between neighbours that are not strings.",
      "{{ print 1 2 \"a\" 3 }} -> 1 2a3"},
     Accepts::any,
     Accepts::any},
    {{"printf", "", "format, *values", function_printf,
      "The values formatted by the verbs of the format: %s %d %v %q %x %5.2f ...",
      "{{ printf \"%s=%03d\" \"n\" 7 }} -> n=007"},
     Accepts::text,
     Accepts::any},
    {{"println", "", "*values", function_println, "The values with spaces between them and a newline at the end.",
      "{{ len (println 1 \"a\") }} -> 4"},
     Accepts::any,
     Accepts::any},
    {{"slice", "", "item, *bounds", function_slice,
      "Part of a string or slice: from the first bound (0) to before the second (its length).",
      "{{ slice \"abcdef\" 1 3 }} -> bc"},
     Accepts::value,
     Accepts::value},
    {{"urlquery", "", "*values", function_urlquery, "The values as print writes them, escaped for the query of a URL.",
      "{{ urlquery \"a b&c\" }} -> a+b%26c"},
     Accepts::any,
     Accepts::any},
    {{"currentDate", "", "*ignored", function_current_date,
      "Today's date. The caller of the render says what day it is.", "{{ currentDate }} -> 2026-03-14"},
     Accepts::text,
     Accepts::text,
     Special::none,
     true},
    {{"json", "", "value", function_json,
      "The value as JSON without blanks, keys sorted, < > & escaped; empty for what JSON cannot "
      "hold.",
      "{{ json \"a<b\" }} -> \"a\\u003cb\""},
     Accepts::any,
     Accepts::any,
     Special::none,
     true},
    {{"toTypeScriptType", "", "property", function_type_script,
      "The type of a tool's parameter in TypeScript's notation; \"any\" for every other value.",
      "{{ toTypeScriptType 1 }} -> any"},
     Accepts::any,
     Accepts::any,
     Special::none,
     true},
    {{"yesterdayDate", "", "*ignored", function_yesterday_date, "Yesterday's date.",
      "{{ yesterdayDate }} -> 2026-03-13"},
     Accepts::text,
     Accepts::text,
     Special::none,
     true},
};

}  // namespace

Value type_script_of(Runtime& rt, Value property) {
  Sink sink(rt);
  if (!put_type_script(rt, sink, property)) return Value::invalid();
  return sink.finish();
}

std::span<const Function> function_table() { return kFunctions; }

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.row.name == name) return &function;
  }
  return nullptr;
}

}  // namespace parlance::gotemplate
