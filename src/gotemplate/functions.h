// The functions that templates call: one row each, in the table of functions.cpp.
//
// A row is a Builtin (name, parameters, sentence, example) and what Go's types say of its
// parameters. The executor evaluates arguments accordingly; a function sees values of the right
// types only. Begin reading at Function.
#pragma once
#include <span>
#include <string_view>

#include "engine/call.h"
#include "gotemplate/types.h"

namespace parlance::gotemplate {

/// The type of a parameter.
enum class Accepts : std::uint8_t {
  value,  ///< reflect.Value: anything, and it shows whether an interface held it
  any,    ///< interface {}: anything; undefined for nil
  text,   ///< string
};

enum class Special : std::uint8_t { none, all, first, call };  ///< `and`, `or` and `call` need the executor

struct Function {
  Builtin row;
  Accepts fixed;  ///< of the parameters with names
  Accepts rest;   ///< of the others, if there are any
  Special special = Special::none;
  bool of_ollama = false;  ///< not of Go: unknown to a template that Ollama cut short
};

std::span<const Function> function_table();
/// The row of this name, or null.
const Function* find_function(std::string_view name);

/// eq, lt and the like. False with a failure recorded.
bool equal_values(Runtime& rt, Value a, Value b, bool& result);
bool less_values(Runtime& rt, Value a, Value b, bool& result);
Value function_eq(Call& call);
Value function_ne(Call& call);
Value function_lt(Call& call);
Value function_le(Call& call);
Value function_gt(Call& call);
Value function_ge(Call& call);
Value function_html(Call& call);
Value function_js(Call& call);
Value function_urlquery(Call& call);

/// Go's truth: what is not the zero of its type.
bool is_true_beyond_text(Value v);
inline bool is_true(Value v) {
  if (v.is_undefined() || v.is_none()) return false;
  if (v.kind == Kind::boolean) return v.integer != 0;
  return v.is_leaf() ? v.size != 0 : is_true_beyond_text(v);
}
/// A pointer's or interface's target, however often; `nil` when that is where it ends.
inline Value indirect(Value v, bool& nil) {
  nil = false;
  if (is_boxed(v)) {
    const Value inside = unbox(v);
    nil = inside.is_undefined();
    if (nil) return v;
    v = inside;
  }
  if (v.is_undefined() || facts(type_of(v)).kind != GoKind::pointer) return v;
  nil = is_nil(v);
  return nil ? v : with_type(v, facts(type_of(v)).element);
}
/// ToTypeScriptType of a property.
Value type_script_of(Runtime& rt, Value property);
/// text/template's index out of a slice or string, or an error's sentence.
Value index_value(Runtime& rt, Value item, Value index);
/// An element of a map by key; the zero of its elements if there is none.
Value map_element(Runtime& rt, Value map, std::string_view key);

}  // namespace parlance::gotemplate
