// Python's names of the types behind values, as error messages print them.
#include "value/object.h"

namespace parlance {

std::string_view type_name(Value v) {
  switch (v.kind) {
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return v.is_markup() ? "Markup" : "str";
    case Kind::list: return "list";
    case Kind::tuple: return "tuple";
    case Kind::dict: return "dict";
    case Kind::object: return v.object->type->name;
    case Kind::invalid: break;
  }
  return "invalid";
}

}  // namespace parlance
