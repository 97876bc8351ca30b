// Macro objects: their attributes and printed form (Jinja2's runtime.Macro, BlockReference, TemplateReference).
#include "jinja/machine/macro.h"

#include "jinja/objects/builtins.h"
#include "value/dict.h"

namespace parlance::jinja {
namespace {

Value macro_text(Runtime& rt, Object* object, bool) {
  const Routine& routine = *static_cast<MacroObject*>(object)->routine;
  if (routine.kind == Routine::Kind::caller) return make_static("<Macro anonymous>");
  return make_computed(rt, "<Macro '" + std::string(routine.name) + "'>");
}

Value macro_attribute(Runtime& rt, Object* object, std::string_view name) {
  const Routine& routine = *static_cast<MacroObject*>(object)->routine;
  if (name == "name") return routine.kind == Routine::Kind::caller ? Value::none() : Value::view(routine.name);
  if (name == "arguments") {
    ListBuilder list(rt, static_cast<std::uint32_t>(routine.parameters.size()));
    for (std::string_view parameter : routine.parameters) list.append(Value::view(parameter));
    return list.finish(Kind::tuple);
  }
  if (name == "catch_kwargs") return Value::boolean(routine.takes_kwargs);
  if (name == "catch_varargs") return Value::boolean(routine.takes_varargs);
  if (name == "caller") return Value::boolean(routine.reads_caller);
  if (name == "explicit_caller") return Value::boolean(routine.explicit_caller);
  return {};
}

Value self_text(Runtime&, Object*, bool) { return make_static("<TemplateReference None>"); }

Value self_attribute(Runtime& rt, Object* object, std::string_view name) {
  const Program& program = *static_cast<SelfObject*>(object)->program;
  for (const BlockInfo& block : program.blocks) {
    if (block.name == name) {
      return object_value(
          rt.arena.make<BlockReference>(BlockReference{{&kBlockReferenceType}, &program.routines[block.routine]}));
    }
  }
  return {};
}

Value self_item(Runtime& rt, Object* object, Value key) {
  Value found = key.is_string() ? self_attribute(rt, object, text(rt, key)) : Value{};
  if (!found.is_undefined()) return found;
  return rt.fail(ErrorCode::key, "no such block", key);
}

}  // namespace

Value make_macro(Runtime& rt, const Routine& routine, Frame* outer) {
  return object_value(rt.arena.make<MacroObject>(MacroObject{{&kMacroType}, &routine, outer}));
}

Value make_self(Runtime& rt, const Program& program) {
  return object_value(rt.arena.make<SelfObject>(SelfObject{{&kSelfType}, &program}));
}

const ObjectType kMacroType{
    .name = "Macro",
    .to_text = macro_text,
    .get_attribute = macro_attribute,
    .refused_names = " _argument_count _async_invoke _default_autoescape _environment _func _invoke ",
    .is_callable = true};
const ObjectType kSelfType{.name = "TemplateReference",
                           .to_text = self_text,
                           .get_item = self_item,
                           .refused_names = " _TemplateReference__context "};
const ObjectType kBlockReferenceType{
    .name = "BlockReference", .refused_names = " _async_call _context _depth _stack ", .is_callable = true};

}  // namespace parlance::jinja
