// The arena objects behind a Value: lists, dicts, ropes, undefined reasons, and everything "object".
//
// Start at ObjectType: a table of what one kind of object can do, as Python's type slots are. A slot
// left null means "a Python object without that ability"; value/ and jinja/ then raise what CPython raises.
#pragma once
#include <cstdint>
#include <string_view>

#include "parlance/value.h"

namespace parlance {

struct Runtime;

/// list and tuple. `items` may point into another list's items: slices share, since nothing is mutable.
struct ListObject {
  std::uint32_t size;
  std::uint32_t origin;  ///< origin id of the input container, 0 for one made by the template
  const Value* items;
};

/// dict: entries in insertion order, strings as keys always leaves; above kLinearDict entries an open-addressed index
/// finds them.
struct DictObject {
  std::uint32_t size;
  std::uint32_t origin;
  DictEntry* entries;
  std::uint32_t* index;      ///< null while linear; else slots holding entry number + 1, 0 for empty
  std::uint32_t index_mask;  ///< slots - 1
  std::uint32_t capacity;
};
inline constexpr std::uint32_t kLinearDict = 8;

/// Bytes of one origin.
struct Piece {
  const char* data;
  std::uint32_t size;
  std::uint32_t literal = 0;  ///< Value::extra of the leaf: for Jinja, which constant it is (render/literal_spans.h)
};

/// A concatenation of leaves. Ropes that extend one another share `pieces` (see string.cpp).
struct Rope {
  const Piece* pieces;
  std::uint32_t count;
  mutable const char* flat;  ///< the bytes in one run, once somebody asked; null before
  struct PieceBuffer* buffer;
};

/// Why a value is undefined: what Jinja2's Undefined carries.
struct UndefinedInfo {
  enum class Form : std::uint8_t { name, attribute, element, hint, unsafe };
  Form form;
  Value key;     ///< the name, attribute or subscript that was looked up; the hint itself for `hint`
  Value object;  ///< what it was looked up in
};

struct Call;
struct Iterator;
enum class BinaryOperator : std::uint8_t;

/// What one kind of object can do. One constant per kind; see jinja/objects/objects.h and value/iterate.h.
struct ObjectType {
  std::string_view name;  ///< Python's type name, e.g. "generator"
  /// str() and repr(); null prints `<name object at 0x…>`.
  Value (*to_text)(Runtime&, Object*, bool repr) = nullptr;
  /// bool(); null is true.
  bool (*truth)(Runtime&, Object*) = nullptr;
  /// len(); null: no len(). Returns a negative number after a recorded failure.
  std::int64_t (*length)(Runtime&, Object*) = nullptr;
  /// iter(); null: not iterable. Fills `it`.
  void (*iterate)(Runtime&, Object*, Iterator& it) = nullptr;
  /// next() for objects that are their own iterator; returns false at the end or after a failure.
  bool (*next)(Runtime&, Object*, Value& out) = nullptr;
  /// obj[key]; null: not subscriptable. Undefined without a reason means "no such key".
  Value (*get_item)(Runtime&, Object*, Value key) = nullptr;
  /// obj.name before anything else; undefined without a reason means "no such attribute".
  Value (*get_attribute)(Runtime&, Object*, std::string_view name) = nullptr;
  /// The attributes that the sandbox refuses though Python has them: words, each between spaces.
  std::string_view refused_names = {};
  /// obj(...); null: not callable (or callable only by the VM: macros, loop).
  Value (*call)(Runtime&, Object*, const struct PassedArguments&) = nullptr;
  /// item in obj; null: by iteration.
  bool (*contains)(Runtime&, Object*, Value item) = nullptr;
  /// a == b for two objects of this type; null: identity.
  bool (*equal)(Runtime&, Object*, Object*) = nullptr;
  /// Is it a collections.abc.Sequence / Mapping / Callable for Jinja2's tests `sequence`, `mapping`, `callable`?
  bool is_sequence = false;  ///< has __len__ and __getitem__
  bool is_mapping = false;
  bool is_callable = false;
  bool is_hashable = true;
  /// obj[key] is asked of a class, by __class_getitem__, so that the object is no mapping for `'%s' % obj`.
  bool subscripts_as_class = false;
  /// obj[start:stop:step] with absent bounds none; null: no slices.
  Value (*get_slice)(Runtime&, Object*, Value start, Value stop, Value step) = nullptr;
  /// a OP b where one of the two is of this type; undefined without a reason means "not supported"; null: nothing is.
  Value (*binary)(Runtime&, BinaryOperator op, Value a, Value b) = nullptr;
  /// -1, 0 or 1 for two objects of this type; null: they have no order.
  int (*order)(Runtime&, Object*, Object*) = nullptr;
  /// hash(), which must agree with `equal`; null: by identity.
  std::uint64_t (*hash)(Runtime&, Object*) = nullptr;
};

/// The head of every object; concrete ones derive from it and are made in an arena.
struct Object {
  const ObjectType* type;
};

inline Value object_value(Object* object) {
  Value v;
  v.kind = Kind::object;
  v.object = object;
  return v;
}
inline bool is_object(Value v, const ObjectType& type) { return v.kind == Kind::object && v.object->type == &type; }

/// Arguments of a call that have not been bound to parameters yet.
struct PassedArguments {
  const Value* positional = nullptr;
  std::uint32_t positional_count = 0;
  const DictEntry* keywords = nullptr;  ///< keys are leaf strings, all different
  std::uint32_t keyword_count = 0;
};

/// Python's name of a value's type, as error messages print it: "NoneType", "str", "dict", "Markup", …
std::string_view type_name(Value v);

}  // namespace parlance
