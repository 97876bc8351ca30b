// Filters about lookup and absence: default, attr.
//
// Source of the rules: Jinja2 3.1.6 filters.py. Begin reading at kMappingFilters, at the end.
#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/objects.h"

namespace parlance::jinja {
namespace {

Value filter_default(Call& call) {
  if (call[0].is_undefined()) return call[1];
  bool unwanted = call.truth(2) && !call.truth(0);
  if (call.rt.failed()) return Value::invalid();
  return unwanted ? call[1] : call[0];
}

/// Does the value have this attribute (not item)?
bool has_attribute(Runtime& rt, Value v, std::string_view name) {
  if (find_method(v, name) != nullptr || (is_group(v) && !group_attribute(v, name).is_undefined())) return true;
  if (v.is(Kind::object) && v.object->type->get_attribute != nullptr &&
      !v.object->type->get_attribute(rt, v.object, name).is_undefined()) {
    return true;
  }
  Value ignored;
  return find_attribute(rt, v, name, ignored) != AttributeKind::absent;
}

Value filter_attr(Call& call) {
  Runtime& rt = call.rt;
  if (!call[1].is_string()) {
    return call.fail(ErrorCode::type, "attribute name must be string, not '" + std::string(type_name(call[1])) + "'");
  }
  if (call[0].is_undefined()) return get_attribute(rt, call[0], call[1]);
  const bool there = has_attribute(rt, call[0], text(rt, call[1]));
  if (rt.failed()) return Value::invalid();
  return there ? get_attribute(rt, call[0], call[1]) : no_attribute(rt, call[0], call[1]);
}

constexpr Builtin kMappingFilters[] = {
    {"default", "d", "value, default_value='', boolean=false", filter_default,
     "The value, or `default_value` if it is undefined; if `boolean`, also if it is false.",
     "{{ ''|default('none', true) }} -> none"},
    {"attr", "", "obj, name", filter_attr,
     "An attribute of the value, never an item; undefined if there is no such attribute.",
     "{{ {'k': 1}|attr('k') is defined }} -> False"},
};

}  // namespace

std::span<const Builtin> mapping_filters() { return kMappingFilters; }

}  // namespace parlance::jinja
