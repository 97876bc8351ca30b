// Python's type `dict` as templates meet it: the global `dict` is one, with attributes and
// subscripts.
//
// dict.items is a method without its object, dict['x'] (and so dict.x, where there is no such
// attribute) a types.GenericAlias. Begin reading at dict_type_attribute.
#pragma once
#include <string_view>

#include "value/object.h"

namespace parlance::jinja {

/// dict.name; undefined with kMissing if there is none. Methods that would change a dict are
/// unsafe.
Value dict_type_attribute(Runtime& rt, Value dict_type, std::string_view name);
/// dict[key]: an alias that prints "dict[...]" and is called as dict is.
Value make_dict_alias(Runtime& rt, Value dict_type, Value key);

}  // namespace parlance::jinja
