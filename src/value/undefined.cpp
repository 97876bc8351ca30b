// What an undefined value says when it is used, in Jinja2's words (jinja2/runtime.py: Undefined,
// jinja2/utils.py: object_type_repr). Begin reading at undefined_message.
#include <array>

#include "value/operators.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

struct ModuleRow {
  std::string_view type;
  std::string_view module;
};

/// The types that are not Python builtins: there a message names the module too.
constexpr std::array<ModuleRow, 9> kModules = {{
    {"Markup", "markupsafe"},
    {"Undefined", "jinja2.runtime"},
    {"Macro", "jinja2.runtime"},
    {"LoopContext", "jinja2.runtime"},
    {"TemplateReference", "jinja2.runtime"},
    {"Namespace", "jinja2.utils"},
    {"Cycler", "jinja2.utils"},
    {"Joiner", "jinja2.utils"},
    {"TemplateDict", "transformers.utils.chat_template_utils"},
}};

std::string describe(Value object) {
  if (object.is_none()) return "None";
  const std::string_view name = type_name(object);
  std::string text;
  for (const ModuleRow& row : kModules) {
    // Jinja2's object_type_repr leaves the module out only for builtins and None.
    if (row.type == name) text = std::string(row.module) + ".";
  }
  return text.append(name).append(" object");
}

std::string repr_of(Runtime& rt, Value v) {
  const Value shown = to_repr(rt, v);
  return shown.is_invalid() ? std::string() : std::string(text(rt, shown));
}

}  // namespace

std::string undefined_message(Runtime& rt, Value undefined) {
  if (undefined.undefined == nullptr) return "None is undefined";  // Undefined() without arguments
  const UndefinedInfo& info = *undefined.undefined;
  switch (info.form) {
    case UndefinedInfo::Form::hint: return std::string(text(rt, info.key));
    case UndefinedInfo::Form::name: return repr_of(rt, info.key) + " is undefined";
    case UndefinedInfo::Form::unsafe:
      return "access to attribute " + repr_of(rt, info.key) + " of '" + std::string(type_name(info.object)) +
             "' object is unsafe.";
    case UndefinedInfo::Form::attribute:
    case UndefinedInfo::Form::element: break;
  }
  if (info.key.is_string()) return "'" + describe(info.object) + "' has no attribute " + repr_of(rt, info.key);
  return describe(info.object) + " has no element " + repr_of(rt, info.key);
}

namespace {

/// Is it a method that changes a list or a dict? What else is refused of them begins with an underscore.
bool would_change(const UndefinedInfo& info) {
  const bool is_container = info.object.kind == Kind::list || info.object.kind == Kind::dict;
  return is_container && info.key.is_leaf() && !leaf_text(info.key).starts_with('_');
}

}  // namespace

Value fail_undefined(Runtime& rt, Value undefined) {
  const UndefinedInfo* info = undefined.undefined;
  const bool refused = info != nullptr && info->form == UndefinedInfo::Form::unsafe;
  const bool first = !rt.failed();
  rt.fail(refused ? ErrorCode::security : ErrorCode::undefined, undefined_message(rt, undefined), undefined);
  if (first && refused && !rt.allow_changes && would_change(*info)) {
    rt.failure.hint =
        "as transformers does; the option allow_changes lets a template change the lists and dicts it made";
  }
  return Value::invalid();
}

}  // namespace parlance
