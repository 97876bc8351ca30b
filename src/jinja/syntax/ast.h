// The syntax tree of a Jinja template: plain structs in an arena, as Jinja2's own nodes.
//
// Every node keeps the bytes [begin, end) of the source it came from. Start at Node and the two lists of
// kinds; parser.cpp makes them, printer.cpp writes them back, compiler*.cpp turns them into instructions.
#pragma once
#include <cstdint>
#include <string_view>

#include "parlance/value.h"

namespace parlance::jinja {

enum class NodeKind : std::uint8_t {
  // expressions
  name,
  constant,
  tuple,
  list,
  dict,
  conditional,
  filter,
  test,
  call,
  get_item,
  get_attribute,
  slice,
  concat,
  compare,
  binary,
  logical,
  not_,
  negative,
  positive,
  namespace_ref,
  // statements
  output,
  for_,
  if_,
  macro,
  call_block,
  filter_block,
  with,
  block,
  assign,
  assign_block,
  break_,
  continue_,
  autoescape,
  generation,
  include,
  import,
  from_import,
  extends,
};

/// `anchor` is the offset whose line Jinja2 gives the node (its `lineno`, which error messages and
/// tracebacks repeat): mostly `begin`, but the dot of `a.b`, the parenthesis of a call, the name of a filter.
/// `height` counts the levels below; the parser bounds it by kMaxTreeHeight, so walkers may recurse.
/// `inside` and `mentions` are for walkers that look for something, which need not enter where it is not; the compiler
/// fills them (compile/symbols.h).
struct Node {
  NodeKind kind;
  mutable std::uint8_t inside;
  std::uint16_t height;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t anchor;
  mutable std::uint64_t mentions;
};
/// Jinja2 on CPython fails at a few hundred levels itself.
inline constexpr std::uint32_t kMaxTreeHeight = 1000;

/// An array in the arena, which runs no destructors: hence no std::vector.
template <typename T>
struct ArrayOf {
  T* data = nullptr;
  std::uint32_t size = 0;
  T* begin() const { return data; }
  T* end() const { return data + size; }
  T& operator[](std::size_t i) const { return data[i]; }
  bool empty() const { return size == 0; }
};
using Nodes = ArrayOf<Node*>;

// ---- expressions

enum class Access : std::uint8_t { load, store, parameter };
struct Name : Node {
  std::string_view name;
  Access access;
  mutable std::uint32_t id = 0;  ///< one more than its number in the compiler's table of names, once it has one
};
/// Literal, or raw template text when `is_data` (then `value` views the template's own source, whitespace control
/// applied).
struct Constant : Node {
  Value value;
  bool is_data;
};
struct Items : Node {
  Nodes items;
  Access access;
};  // tuple, list
struct Pair {
  Node* key;
  Node* value;
};
struct Dict : Node {
  ArrayOf<Pair> pairs;
};
/// then if test else otherwise
struct Conditional : Node {
  Node* test;
  Node* then;
  Node* otherwise;
};  // otherwise may be null
/// name=value in a call.
struct Keyword {
  std::string_view name;
  Node* value;
  std::uint32_t begin;
  std::uint32_t end;
};
/// Arguments of a call, filter or test: positional, keyword, and one *x and one **x at most.
struct Arguments {
  Nodes positional;
  ArrayOf<Keyword> keywords;
  Node* star = nullptr;
  Node* star_star = nullptr;
};
/// node|name(...); `subject` is null directly inside {% filter %}. Also `is name(...)` with kind test.
struct Filter : Node {
  Node* subject;
  std::string_view name;
  Arguments arguments;
};
/// callee(arguments); a method's call has a GetAttribute as its callee.
struct CallNode : Node {
  Node* callee;
  Arguments arguments;
};
/// object[key]; a key may be a Slice. `a.0` is this as well, with an integer for a key.
struct GetItem : Node {
  Node* object;
  Node* key;
};
/// object.name, which tries the attribute first and then the item; object['name'] tries them the other way round.
struct GetAttribute : Node {
  Node* object;
  std::string_view name;
  std::uint32_t name_begin;
};
/// start:stop:step, inside of a GetItem only.
struct Slice : Node {
  Node* start;
  Node* stop;
  Node* step;
};  // each may be null
/// a ~ b ~ c: one node for the whole chain, as in Jinja2, hence one conversion of each part to a string.
struct Concat : Node {
  Nodes parts;
};
enum class CompareOp : std::uint8_t { eq, ne, lt, le, gt, ge, in, not_in };
struct Operand {
  CompareOp op;
  Node* value;
};
/// first < a < b …: a chain as Python's, where each operand is evaluated once at most.
struct Compare : Node {
  Node* first;
  ArrayOf<Operand> rest;
};
enum class BinaryOp : std::uint8_t { add, sub, mul, div, floor_div, mod, pow };  // same order as BinaryOperator
struct Binary : Node {
  BinaryOp op;
  Node* left;
  Node* right;
  std::uint32_t op_begin;
};
/// a and b, a or b: the value is one of the operands, not a boolean.
struct Logical : Node {
  bool is_and;
  Node* left;
  Node* right;
};
struct Unary : Node {
  Node* operand;
};  // not_, negative, positive
/// `ns.attr` as the target of a set.
struct NamespaceRef : Node {
  std::string_view name;
  std::string_view attribute;
};

// ---- statements

/// Template text and {{ … }} side by side; text is a Constant with is_data.
struct Output : Node {
  Nodes parts;
};
/// {% for target in iterable if test %}; `otherwise` runs if nothing passed the test.
struct For : Node {
  Node* target;
  Node* iterable;
  Nodes body;
  Nodes otherwise;
  Node* test;
  bool recursive;
};
/// `elifs` have a test and a body only.
struct If : Node {
  Node* test;
  Nodes body;
  ArrayOf<If*> elifs;
  Nodes otherwise;
};
struct Macro : Node {
  std::string_view name;
  ArrayOf<Name*> parameters;
  Nodes defaults;
  Nodes body;
};
/// {% call(params) callee(...) %}: `call` is a CallNode.
struct CallBlock : Node {
  Node* call;
  ArrayOf<Name*> parameters;
  Nodes defaults;
  Nodes body;
};
struct FilterBlock : Node {
  Nodes body;
  Node* filter;
};  // filter: a Filter whose innermost subject is null
/// {% with a=1, b=a %}: each value is evaluated in the scope outside, so `a` is not the new one.
struct With : Node {
  Nodes targets;
  Nodes values;
  Nodes body;
};
struct Block : Node {
  std::string_view name;
  Nodes body;
  bool scoped;
  bool required;
};
/// {% set target = value %}: a target is a Name, a tuple of them, or a NamespaceRef.
struct Assign : Node {
  Node* target;
  Node* value;
};
/// {% set target | filter %}…{% endset %}: the text of the body becomes the value.
struct AssignBlock : Node {
  Node* target;
  Node* filter;
  Nodes body;
};  // filter may be null
struct Autoescape : Node {
  Node* enabled;
  Nodes body;
};
/// {% generation %}, a tag of transformers: marks what the assistant wrote.
struct Generation : Node {
  Nodes body;
};
struct Include : Node {
  Node* name;
  bool ignore_missing;
  bool with_context;
};
struct Import : Node {
  Node* name;
  std::string_view target;
  bool with_context;
};
struct ImportedName {
  std::string_view name;
  std::string_view alias;
};
struct FromImport : Node {
  Node* name;
  ArrayOf<ImportedName> names;
  bool with_context;
};
struct Extends : Node {
  Node* name;
};

template <typename T>
T& as(Node* n) {
  return *static_cast<T*>(n);
}
template <typename T>
const T& as(const Node* n) {
  return *static_cast<const T*>(n);
}

}  // namespace parlance::jinja
