// What a.b and a['b'] mean: Jinja2's environment.getattr and getitem under the immutable sandbox.
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/objects.h"
#include "value/dict.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

Value undefined_because(Runtime& rt, UndefinedInfo::Form form, Value object, Value key) {
  Value v;
  v.undefined = rt.arena.make<UndefinedInfo>(UndefinedInfo{form, key, object});
  return v;
}

/// The attribute `name` of `object` as Python's getattr and the sandbox give it; false when there is none.
bool python_attribute(Runtime& rt, Value object, Value name, Value& out) {
  std::string_view spelled = text(rt, name);
  if (object.kind == Kind::object && object.object->type->get_attribute != nullptr) {
    out = object.object->type->get_attribute(rt, object.object, spelled);
    if (!out.is_undefined() || out.undefined != nullptr) return true;
  }
  if (is_group(object)) {
    out = group_attribute(object, spelled);
    if (!out.is_undefined()) return true;
  }
  if (const Builtin* row = find_method(object, spelled)) {
    out = object_value(rt.arena.make<BoundMethod>(BoundMethod{{&kBoundMethodType}, object, row}));
    return true;
  }
  if (const Builtin* row = rt.allow_changes ? find_change(rt, object, spelled) : nullptr) {
    out = object_value(rt.arena.make<BoundMethod>(BoundMethod{{&kBoundMethodType}, object, row}));
    return true;
  }
  AttributeKind kind = find_attribute(rt, object, spelled, out);
  if (kind == AttributeKind::unsafe) out = undefined_because(rt, UndefinedInfo::Form::unsafe, object, name);
  return kind != AttributeKind::absent;
}

/// object[key], or false where Python raises TypeError or LookupError.
bool python_item(Runtime& rt, Value object, Value key, Value& out) {
  if (object.kind == Kind::dict) {
    const DictEntry* entry = find(rt, *object.dict, key);
    if (entry != nullptr) out = entry->value;
    if (rt.failed() && rt.failure.code == ErrorCode::type) rt.failure = {};
    return entry != nullptr;
  }
  if (key.is_string() && object.kind != Kind::object) return false;
  if (object.is_sequence() && key.is_small_int()) {
    std::int64_t at = key.integer < 0 ? key.integer + object.list->size : key.integer;
    if (at < 0 || at >= object.list->size) return false;
    out = object.list->items[at];
    return true;
  }
  if (object.kind == Kind::object && object.object->type->get_item == nullptr) return false;  // without its message
  out = subscript(rt, object, key);
  if (!out.is_invalid()) return true;
  ErrorCode code = rt.failure.code;
  if (code == ErrorCode::type || code == ErrorCode::key || code == ErrorCode::index) rt.failure = {};
  return false;
}

/// The methods of Markup that Python code wraps print as such; the others are those of str.
bool is_python_method(std::string_view name) {
  constexpr std::string_view kWrapped =
      " capitalize casefold center escape expandtabs format format_map join ljust lower lstrip partition"
      " removeprefix removesuffix replace rjust rpartition rsplit rstrip split splitlines strip"
      " striptags swapcase title translate unescape upper zfill ";
  return is_word_of(kWrapped, name);
}

Value bound_method_text(Runtime& rt, Object* object, bool) {
  auto& method = *static_cast<BoundMethod*>(object);
  if (method.self.is_markup() && is_python_method(method.row->name)) {
    const Value self =
        method.row->name == "escape" ? make_static("<class 'markupsafe.Markup'>") : to_repr(rt, method.self);
    if (self.is_invalid()) return self;
    StringBuilder out(rt);
    out.append_static("<bound method Markup.");
    out.append_static(method.row->name);
    out.append_static(" of ");
    out.append(self);
    out.append_static(">");
    return out.finish();
  }
  return make_computed(rt, "<built-in method " + std::string(method.row->name) + " of " +
                               std::string(type_name(method.self)) + " object at 0x7f0000000000>");
}

/// Methods of the same object are equal, though each look-up makes a new one.
bool bound_methods_equal(Runtime&, Object* a, Object* b) {
  const auto& x = *static_cast<BoundMethod*>(a);
  const auto& y = *static_cast<BoundMethod*>(b);
  return x.row == y.row && x.self.kind == y.self.kind && x.self.integer == y.self.integer;
}

std::uint64_t bound_method_hash(Runtime&, Object* object) {
  return hash_text(static_cast<BoundMethod*>(object)->row->name);
}

}  // namespace

const ObjectType kBoundMethodType{
    .name = "builtin_function_or_method",
    .to_text = bound_method_text,
    .equal = bound_methods_equal,
    .is_callable = true,
    .hash = bound_method_hash,
};

Value no_attribute(Runtime& rt, Value object, Value name) {
  using Form = UndefinedInfo::Form;
  return undefined_because(rt, is_dunder(text(rt, name)) ? Form::unsafe : Form::attribute, object, name);
}

Value get_attribute(Runtime& rt, Value object, Value name) {
  Value out;
  if (object.is_undefined() && find_attribute(rt, object, text(rt, name), out) == AttributeKind::absent) {
    return fail_undefined(rt, object);
  }
  if (python_attribute(rt, object, name, out) || rt.failed()) return rt.failed() ? Value::invalid() : out;
  if (python_item(rt, object, name, out) || rt.failed()) return rt.failed() ? Value::invalid() : out;
  return no_attribute(rt, object, name);
}

Value get_item(Runtime& rt, Value object, Value key) {
  if (object.is_undefined()) return fail_undefined(rt, object);
  Value out;
  if (python_item(rt, object, key, out) || rt.failed()) return rt.failed() ? Value::invalid() : out;
  if (key.is_string() && (python_attribute(rt, object, key, out) || rt.failed())) {
    return rt.failed() ? Value::invalid() : out;
  }
  return key.is_string() ? no_attribute(rt, object, key)
                         : undefined_because(rt, UndefinedInfo::Form::element, object, key);
}

}  // namespace parlance::jinja
