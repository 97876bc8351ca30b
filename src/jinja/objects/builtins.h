// The tables of everything a Jinja template can name: filters, tests, globals, methods.
//
// One place to add one: a row in the fitting file. filters/*.cpp hold the filters, tests.cpp the `is` tests,
// globals.cpp range/dict/cycler/joiner/namespace/lipsum/raise_exception/strftime_now, methods_*.cpp the
// methods of str, list, dict, tuple, int, float, bytes that Jinja2's immutable sandbox lets through.
#pragma once
#include <span>
#include <string_view>

#include "engine/builtin.h"
#include "engine/call.h"

namespace parlance::jinja {

/// Filters are spread over several tables, one for each file in filters/.
std::span<const std::span<const Builtin>> filter_tables();
const Builtin* find_filter(std::string_view name);
std::span<const Builtin> test_table();
const Builtin* find_test(std::string_view name);
std::span<const Builtin> global_table();
const Builtin* find_global(std::string_view name);
/// The global `name` as templates meet it; left_out() if there is none.
Value global_value(Runtime& rt, std::string_view name);

/// The method `name` of `v`'s type, or null. Only what the immutable sandbox allows is in the tables.
const Builtin* find_method(Value v, std::string_view name);
/// How the sandbox answers for an attribute of `v` that is no allowed method: does Python have it at all, and is it
/// refused? `unsafe`: SecurityError on use ("access to attribute 'append' of 'list' object is unsafe."); `data`: a
/// value (int.real, int.numerator, float.imag …) which is put into `out`; `absent`: no such attribute.
enum class AttributeKind { absent, unsafe, data };
AttributeKind find_attribute(Runtime& rt, Value v, std::string_view name, Value& out);

/// Jinja2's environment.getattr (attribute first, then item) and environment.getitem (item first, then attribute):
/// what `a.b` and `a['b']` mean. Missing gives an undefined value with its reason. In attribute.cpp.
Value get_attribute(Runtime& rt, Value object, Value name);
Value get_item(Runtime& rt, Value object, Value key);
/// What an attribute that is not there is: undefined, and unsafe if it is named `__x__`.
Value no_attribute(Runtime& rt, Value object, Value name);

/// A method together with its object: what `x.strip` is before it is called.
struct BoundMethod : Object {
  Value self;
  const Builtin* row;
};
extern const ObjectType kBoundMethodType;
/// A global function as a value.
struct FunctionObject : Object {
  const Builtin* row;
};
extern const ObjectType kFunctionType;

/// namespace(): the one thing a template may change. Attributes in a small growing table.
struct NamespaceObject : Object {
  DictEntry* entries;
  std::uint32_t size;
  std::uint32_t capacity;
};
extern const ObjectType kNamespaceType;
void namespace_set(Runtime& rt, NamespaceObject& ns, std::string_view name, Value value);
/// Is this the global function namespace()?
bool is_namespace_function(const Value& v);
/// namespace(**keywords), whose names differ: the entries are for the caller to fill in.
NamespaceObject* make_namespace(Runtime& rt, std::uint32_t count);

/// str.format(*args, **kwargs) as the sandbox runs it: fields go through get_attribute and get_item. In
/// format_braces.cpp.
Value format_braces(Runtime& rt, Value format, const PassedArguments& arguments);
/// str.format_map(mapping).
Value format_map(Runtime& rt, Value format, Value mapping);

}  // namespace parlance::jinja
