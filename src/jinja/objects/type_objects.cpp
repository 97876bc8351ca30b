// What `dict` has besides being called.
//
// Rules: CPython 3.11 Objects/genericaliasobject.c (what prints, what is passed on to the type) and
// Objects/descrobject.c (a method whose object is an argument). Begin reading at the two object
// types.
#include "jinja/objects/type_objects.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "engine/call.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/limited_globals.h"
#include "jinja/objects/methods.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

// ---- dict.items and its kin

/// A method of dict that takes the dict as its first argument.
struct DictMethod : Object {
  const Builtin* row;
};

const Builtin& row_of(const Object* self) { return *static_cast<const DictMethod*>(self)->row; }

Value dict_method_text(Runtime& rt, Object* self, bool) {
  return make_computed(rt, "<method '" + std::string(row_of(self).name) + "' of 'dict' objects>");
}

Value dict_method_call(Runtime& rt, Object* self, const PassedArguments& in) {
  const std::string name(row_of(self).name);
  if (in.positional_count == 0) {
    return rt.fail(ErrorCode::type, "unbound method dict." + name + "() needs an argument");
  }
  if (!in.positional[0].is(Kind::dict)) {
    return rt.fail(ErrorCode::type, "descriptor '" + name + "' for 'dict' objects doesn't apply to a '" +
                                        std::string(type_name(in.positional[0])) + "' object");
  }
  return call_builtin(rt, row_of(self), nullptr, in);
}

bool dict_methods_equal(Runtime&, Object* a, Object* b) { return &row_of(a) == &row_of(b); }

std::uint64_t dict_method_hash(Runtime&, Object* self) { return hash_text(row_of(self).name); }

const ObjectType kDictMethodType{
    .name = "method_descriptor",
    .to_text = dict_method_text,
    .call = dict_method_call,
    .equal = dict_methods_equal,
    .is_callable = true,
    .hash = dict_method_hash,
};

/// What would change a dict, and what types have that templates must not see.
bool is_refused_of_type(std::string_view name) {
  constexpr std::string_view kRefused[] = {"clear", "mro", "pop", "popitem", "setdefault", "update"};
  return is_dunder(name) || std::find(std::begin(kRefused), std::end(kRefused), name) != std::end(kRefused);
}

// ---- dict['x']

struct DictAlias : Object {
  Value dict_type;
  Value key;  ///< a tuple for several
};

const DictAlias& alias_of(const Object* self) { return *static_cast<const DictAlias*>(self); }

/// A type among the arguments prints by its name, everything else as repr() has it.
bool append_argument(Runtime& rt, StringBuilder& out, Value argument) {
  if (is_object(argument, kFunctionType)) {
    struct Spelling {
      std::string_view name, shown;
    };
    constexpr Spelling kTypes[] = {{"dict", "dict"},
                                   {"range", "jinja2.sandbox.safe_range"},
                                   {"namespace", "jinja2.utils.Namespace"},
                                   {"cycler", "jinja2.utils.Cycler"},
                                   {"joiner", "jinja2.utils.Joiner"},
                                   {"lipsum", "jinja2.utils.generate_lorem_ipsum"}};
    for (const Spelling& type : kTypes) {
      if (type.name != static_cast<const FunctionObject*>(argument.object)->row->name) continue;
      out.append_static(type.shown);
      return true;
    }
  }
  const Value shown = to_repr(rt, argument);
  if (!shown.is_invalid()) out.append(shown);
  return !shown.is_invalid();
}

Value alias_text(Runtime& rt, Object* self, bool) {
  Nesting nest(rt);
  if (!nest.ok()) return Value::invalid();
  const Value key = alias_of(self).key;
  StringBuilder out(rt);
  out.append_static("dict[");
  if (!key.is(Kind::tuple) || key.list->size == 0) {
    if (!append_argument(rt, out, key)) return Value::invalid();
  } else {
    for (const Value* item = key.list->items; item != key.list->items + key.list->size; ++item) {
      if (item != key.list->items) out.append_static(", ");
      if (!append_argument(rt, out, *item)) return Value::invalid();
    }
  }
  out.append_static("]");
  return out.finish();
}

Value alias_attribute(Runtime& rt, Object* self, std::string_view name) {
  return dict_type_attribute(rt, alias_of(self).dict_type, name);
}

Value alias_item(Runtime& rt, Object* self, Value) {
  const Value shown = to_repr(rt, object_value(self));
  if (shown.is_invalid()) return shown;
  return rt.fail(ErrorCode::type, "There are no type variables left in " + std::string(text(rt, shown)));
}

Value alias_call(Runtime& rt, Object* self, const PassedArguments& in) {
  Object* const type = alias_of(self).dict_type.object;
  return type->type->call(rt, type, in);
}

bool aliases_equal(Runtime& rt, Object* a, Object* b) { return equal(rt, alias_of(a).key, alias_of(b).key); }

std::uint64_t alias_hash(Runtime& rt, Object* self) { return ~hash_value(rt, alias_of(self).key); }

const ObjectType kDictAliasType{
    .name = "types.GenericAlias",
    .to_text = alias_text,
    .get_item = alias_item,
    .get_attribute = alias_attribute,
    .call = alias_call,
    .equal = aliases_equal,
    .is_callable = true,
    .hash = alias_hash,
};

}  // namespace

Value dict_type_attribute(Runtime& rt, Value dict_type, std::string_view name) {
  if (is_refused_of_type(name)) return refused_attribute(rt, dict_type, name);
  const Value dict = DictBuilder(rt).finish();
  const Builtin* row = find_method(dict, name);
  if (row == nullptr) return left_out();
  if (name == "fromkeys") {
    return object_value(rt.arena.make<BoundMethod>(BoundMethod{{&kBoundMethodType}, dict, row}));
  }
  return object_value(rt.arena.make<DictMethod>(DictMethod{{&kDictMethodType}, row}));
}

Value make_dict_alias(Runtime& rt, Value dict_type, Value key) {
  return object_value(rt.arena.make<DictAlias>(DictAlias{{&kDictAliasType}, dict_type, key}));
}

}  // namespace parlance::jinja
