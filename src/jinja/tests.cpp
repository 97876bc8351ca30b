// The tests of `is`: what Jinja2's tests.py has, under all their names.
//
// Begin reading at kTests, at the end.
#include "base/unicode.h"
#include "jinja/objects/builtins.h"
#include "value/iterate.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

Value answer(Call& call, bool yes) { return call.rt.failed() ? Value::invalid() : Value::boolean(yes); }

// ---- Kinds

Value test_defined(Call& call) { return Value::boolean(!call[0].is_undefined()); }
Value test_undefined(Call& call) { return Value::boolean(call[0].is_undefined()); }
Value test_none(Call& call) { return Value::boolean(call[0].is_none()); }
Value test_boolean(Call& call) { return Value::boolean(call[0].is(Kind::boolean)); }
Value test_true(Call& call) { return Value::boolean(call[0].is(Kind::boolean) && call[0].integer != 0); }
Value test_false(Call& call) { return Value::boolean(call[0].is(Kind::boolean) && call[0].integer == 0); }
Value test_integer(Call& call) { return Value::boolean(call[0].is(Kind::integer)); }
Value test_float(Call& call) { return Value::boolean(call[0].is(Kind::real)); }
Value test_number(Call& call) { return Value::boolean(is_number(call[0])); }
Value test_string(Call& call) { return Value::boolean(call[0].is_string()); }
Value test_escaped(Call& call) { return Value::boolean(call[0].is_markup()); }

Value test_mapping(Call& call) {
  bool yes = call[0].is(Kind::dict) || (call[0].is(Kind::object) && call[0].object->type->is_mapping);
  return Value::boolean(yes);
}

/// Every kind with members has them all; an object's type says what it has.
bool has_members(Value v, bool (*object_has)(const ObjectType&)) {
  switch (v.kind) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict: return true;
    case Kind::object: return object_has(*v.object->type);
    default: return false;
  }
}

/// What has a length and subscripts: mappings and undefined values too.
Value test_sequence(Call& call) {
  return Value::boolean(has_members(
      call[0], [](const ObjectType& type) { return type.length != nullptr && (type.is_sequence || type.is_mapping); }));
}

Value test_iterable(Call& call) {
  return Value::boolean(
      has_members(call[0], [](const ObjectType& type) { return type.iterate != nullptr || type.next != nullptr; }));
}

/// Jinja2's Undefined has a __call__, which fails.
Value test_callable(Call& call) {
  bool yes = call[0].is_undefined() || (call[0].is(Kind::object) && call[0].object->type->is_callable);
  return Value::boolean(yes);
}

// ---- Numbers

Value remainder(Call& call, Value divisor) { return binary(call.rt, BinaryOperator::modulo, call[0], divisor); }

Value remainder_is(Call& call, Value divisor, std::int64_t wanted) {
  if (call[0].is_small_int() && divisor.is_small_int() && divisor.integer == 2) {
    return Value::boolean((call[0].integer & 1) == wanted);
  }
  Value rest = remainder(call, divisor);
  return rest.is_invalid() ? rest : answer(call, equal(call.rt, rest, Value::of_int(wanted)));
}

Value test_odd(Call& call) { return remainder_is(call, Value::of_int(2), 1); }
Value test_even(Call& call) { return remainder_is(call, Value::of_int(2), 0); }
Value test_divisibleby(Call& call) { return remainder_is(call, call[1], 0); }

// ---- Text

Value test_lower(Call& call) {
  Value s = call.text_of(0);
  if (s.is_invalid() || !call.rt.charge_bytes(s.size)) return Value::invalid();
  return answer(call, unicode::str_is_lower(text(call.rt, s)));
}

Value test_upper(Call& call) {
  Value s = call.text_of(0);
  if (s.is_invalid() || !call.rt.charge_bytes(s.size)) return Value::invalid();
  return answer(call, unicode::str_is_upper(text(call.rt, s)));
}

// ---- Comparison

template <Comparison op>
Value test_compare(Call& call) {
  return answer(call, compare(call.rt, op, call[0], call[1]));
}

Value test_in(Call& call) { return answer(call, contains(call.rt, call[1], call[0])); }

/// Are two strings of the same kind one object? CPython shares what is empty or one Latin-1
/// character; else the bytes must be the same ones.
bool same_text(Runtime& rt, Value a, Value b) {
  if (a.size != b.size || a.is_markup() != b.is_markup()) return false;
  std::string_view x = text(rt, a), y = text(rt, b);
  if (x.data() == y.data()) return true;
  bool shared = x.size() <= 1 || (x.size() == 2 && static_cast<unsigned char>(x[0]) <= 0xC3);
  return !a.is_markup() && shared && x == y;
}

/// Identity, as far as values have one: equal numbers of one kind count as the same object.
Value test_sameas(Call& call) {
  Value a = call[0], b = call[1];
  if (a.kind != b.kind) return Value::boolean(false);
  switch (a.kind) {
    case Kind::none: return Value::boolean(true);
    case Kind::string: return answer(call, same_text(call.rt, a, b));
    case Kind::integer: return Value::boolean(a.is_small_int() == b.is_small_int() && a.integer == b.integer);
    case Kind::tuple: return Value::boolean(a.list == b.list || (a.list->size == 0 && b.list->size == 0));
    case Kind::undefined: return Value::boolean(a.undefined == b.undefined && a.undefined != nullptr);
    default: return Value::boolean(a.integer == b.integer);  // booleans, bits of a float, addresses
  }
}

// ---- Names

/// `value in env.filters`: other hashable values are simply not there.
template <const Builtin* (*find_row)(std::string_view)>
Value test_name(Call& call) {
  if (call[0].is_string()) return answer(call, find_row(text(call.rt, call[0])) != nullptr);
  hash_value(call.rt, call[0]);
  return answer(call, false);
}

constexpr Builtin kTests[] = {
    {"defined", "", "value", test_defined, "Is the value defined?", "{{ nothing is defined }} -> False"},
    {"undefined", "", "value", test_undefined, "Is the value undefined?", "{{ nothing is undefined }} -> True"},
    {"none", "", "value", test_none, "Is the value none?", "{{ none is none }} -> True"},
    {"boolean", "", "value", test_boolean, "Is the value a boolean?", "{{ 1 is boolean }} -> False"},
    {"true", "", "value", test_true, "Is the value exactly true?", "{{ 1 is true }} -> False"},
    {"false", "", "value", test_false, "Is the value exactly false?", "{{ false is false }} -> True"},
    {"integer", "", "value", test_integer, "Is the value an integer? Booleans do not count.",
     "{{ true is integer }} -> False"},
    {"float", "", "value", test_float, "Is the value a float?", "{{ 1.0 is float }} -> True"},
    {"number", "", "value", test_number, "Is the value a number? Booleans count.", "{{ true is number }} -> True"},
    {"string", "", "value", test_string, "Is it a string?", "{{ 'a' is string }} -> True"},
    {"mapping", "", "value", test_mapping, "Is the value a mapping?", "{{ {} is mapping }} -> True"},
    {"sequence", "", "value", test_sequence,
     "Does the value have a length and subscripts? Strings and mappings do, generators do not.",
     "{{ {} is sequence }} -> True"},
    {"iterable", "", "value", test_iterable, "Can the value be iterated? Strings can.",
     "{{ 'a' is iterable }} -> True"},
    {"callable", "", "object, /", test_callable, "Can the value be called?", "{{ range is callable }} -> True"},
    {"escaped", "", "value", test_escaped, "Is the value marked as safe HTML?", "{{ 'a'|safe is escaped }} -> True"},
    {"odd", "", "value", test_odd, "Is the number odd?", "{{ 3 is odd }} -> True"},
    {"even", "", "value", test_even, "Is the number even?", "{{ 3 is even }} -> False"},
    {"divisibleby", "", "value, num", test_divisibleby, "Is the number divisible by the other?",
     "{{ 9 is divisibleby 3 }} -> True"},
    {"lower", "", "value", test_lower, "Does the string have letters, all in lower case?",
     "{{ 'a1' is lower }} -> True"},
    {"upper", "", "value", test_upper, "Does the string have letters, all in upper case?",
     "{{ '1' is upper }} -> False"},
    {"sameas", "", "value, other", test_sameas, "Are both the same object, not merely equal?",
     "{{ 1 is sameas true }} -> False"},
    {"in", "", "value, seq", test_in, "Is it an item, a key or a substring of the other?",
     "{{ 'b' is in 'abc' }} -> True"},
    {"eq", "== equalto", "a, b, /", test_compare<Comparison::equal>, "Are both equal?", "{{ 1 is eq 1.0 }} -> True"},
    {"ne", "!=", "a, b, /", test_compare<Comparison::not_equal>, "Do they differ?", "{{ 1 is ne 2 }} -> True"},
    {"lt", "< lessthan", "a, b, /", test_compare<Comparison::less>, "Is it less than the other?",
     "{{ 1 is lt 2 }} -> True"},
    {"le", "<=", "a, b, /", test_compare<Comparison::less_equal>, "Is it at most the other?",
     "{{ 2 is le 1 }} -> False"},
    {"gt", "> greaterthan", "a, b, /", test_compare<Comparison::greater>, "Is it greater than the other?",
     "{{ 2 is gt 1 }} -> True"},
    {"ge", ">=", "a, b, /", test_compare<Comparison::greater_equal>, "Is it at least the other?",
     "{{ 2 is ge 2 }} -> True"},
    {"filter", "", "value", test_name<find_filter>, "Is there a filter of this name?",
     "{{ 'upper' is filter }} -> True"},
    {"test", "", "value", test_name<find_test>, "Is there a test of this name?", "{{ 'odd' is test }} -> True"},
};

}  // namespace

std::span<const Builtin> test_table() { return kTests; }
const Builtin* find_test(std::string_view name) { return find_builtin(kTests, name); }

}  // namespace parlance::jinja
