// Go's view of a Value: its type, its kind, and whether an interface holds it.
//
// A Value carries its Go type in `extra`. JSON leaves `extra` zero, and then the Value's own kind
// says the type that encoding/json would have made: every number is a float64, every list an
// []interface {}. So JSON needs no conversion.
//
//     Go                         Value
//     the zero reflect.Value     undefined
//     nil of some type           none, with that type; the nil interface: none and boxed
//     struct                     list of its fields, in the order of fields.def
//     pointer to a struct        the struct, with the pointer's type
//     complex128                 tuple of two reals
//     []byte                     string
//     map                        dict (its order is that of the input; who prints or ranges sorts)
//
// Begin reading at type_of. The tables are types.def, fields.def and the methods in types.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "value/dict.h"

namespace parlance::gotemplate {

/// The number of a row of types.def. `invalid` must stay row 0: JSON leaves `extra` zero, and type_of then asks the
/// kind.
enum class Type : std::uint8_t {
#define PARLANCE_TYPE(id, name, kind, element) id,
#include "gotemplate/types.def"
#undef PARLANCE_TYPE
};

/// reflect.Kind, as far as it occurs.
enum class GoKind : std::uint8_t {
  invalid,
  interface,
  boolean,
  integer,
  byte,
  real,
  complex,
  string,
  map,
  slice,
  structure,
  pointer,
  callable
};

/// A row of types.def. `element` is the type of a slice's or map's elements, and of what a pointer points to; `invalid`
/// for all others.
struct TypeFacts {
  std::string_view name;
  GoKind kind;
  Type element;
};
inline constexpr TypeFacts kTypes[] = {
#define PARLANCE_TYPE(id, name, kind, element) {name, GoKind::kind, Type::element},
#include "gotemplate/types.def"
#undef PARLANCE_TYPE
};
inline constexpr std::size_t kTypeCount = std::size(kTypes);
constexpr const TypeFacts& facts(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

/// A row of fields.def. Go finds a field by `name`; JSON is written with `json_name`, and without the member where the
/// tag says omitempty and the value is empty.
struct Field {
  Type owner;
  std::string_view name;
  std::string_view json_name;
  bool omit_empty;
  Type type;
};
inline constexpr Field kFields[] = {
#define PARLANCE_FIELD(owner, name, json_name, omit_empty, type) {Type::owner, name, json_name, omit_empty, Type::type},
#include "gotemplate/fields.def"
#undef PARLANCE_FIELD
};
/// The fields of a struct, in order.
std::span<const Field> fields_of(Type structure);
/// The number that all fields of this name share; -1 for a name no struct has. Templates look it up
/// once.
std::int16_t field_symbol(std::string_view name);
/// Which field of the struct has this symbol; -1 for none.
struct FieldIndexes {
  std::int8_t of[kTypeCount][std::size(kFields)];
};
extern const FieldIndexes kFieldIndexes;
inline int field_index(Type structure, std::int16_t symbol) {
  return symbol < 0 ? -1 : kFieldIndexes.of[static_cast<std::size_t>(structure)][static_cast<std::size_t>(symbol)];
}

/// The methods that templates can call.
enum class Method : std::uint8_t { none, string, marshal_json, type_script, to_map, length, get, set, all };
/// The method of a value of this type (or of the pointer that the value can be taken the address
/// of).
Method method_of(Type type, std::string_view name);
/// May the name be that of a method of any type?
bool is_method_name(std::string_view name);
/// Whether fmt calls a String() of the type. The pointer type of ordered maps is absent: Ollama gives it none, so fmt
/// prints the struct.
inline bool has_string_method(Type type) {
  return type == Type::tools || type == Type::tool || type == Type::arguments || type == Type::properties ||
         type == Type::property_type;
}

inline constexpr std::uint16_t kBoxed = 0x100;  ///< in `extra`: the static type is interface {}

inline Value with_type(Value v, Type type) {
  v.extra = static_cast<std::uint16_t>(type);
  return v;
}
/// nil of a type.
inline Value nil_of(Type type) { return with_type(Value::none(), type); }

/// The type of the value itself, whatever holds it; `any` for the nil interface.
inline Type type_of(Value v) {
  if ((v.extra & 0xFF) != 0) return static_cast<Type>(v.extra & 0xFF);
  switch (v.kind) {
    case Kind::boolean: return Type::boolean;
    case Kind::integer:
    case Kind::real: return Type::real;
    case Kind::string: return Type::text;
    case Kind::list: return Type::slice_of_any;
    case Kind::dict: return Type::map_of_any;
    case Kind::none: return Type::any;
    default: return Type::invalid;
  }
}
inline bool is_boxed(Value v) { return (v.extra & kBoxed) != 0; }
/// What reflect.Value.Type() says.
inline Type static_type(Value v) { return is_boxed(v) ? Type::any : type_of(v); }
inline GoKind kind_of(Value v) { return is_boxed(v) ? GoKind::interface : facts(type_of(v)).kind; }
/// The value as the element of something whose elements are interfaces.
inline Value box(Value v) {
  v.extra |= kBoxed;
  return v;
}
/// What an interface holds; undefined for nil. Others unchanged.
inline Value unbox(Value v) {
  if (!is_boxed(v)) return v;
  v.extra &= 0xFF;
  return v.kind == Kind::none && type_of(v) == Type::any ? Value{} : v;
}
inline bool is_nil(Value v) { return v.kind == Kind::none; }
/// A Go string (not []byte).
inline bool is_text(Value v) { return v.kind == Kind::string && type_of(v) == Type::text; }
inline Value go_int(std::int64_t i) { return with_type(Value::of_int(i), Type::integer); }
/// A float64, be it from JSON (where it may be an integer of any size) or Go's own.
double real_of(Value v);

/// A struct's field, with its type.
inline Value field(Value structure, std::size_t i) { return structure.list->items[i]; }
/// Element i of a slice or string, as reflect.Value.Index gives it.
Value element(Value slice, std::size_t i);
/// Length of a string, slice or map; 0 for nil.
std::size_t length_of(Value v);
/// The zero value of a type.
Value zero_of(Runtime& rt, Type type);
/// Entries in the order of their keys' bytes; in the arena.
std::span<const DictEntry> sorted_entries(Runtime& rt, const DictObject& map);

}  // namespace parlance::gotemplate
