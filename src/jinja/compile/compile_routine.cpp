// Compiling what becomes a routine of its own, or captures the text of its body: macros, call and filter blocks,
// blocks.
#include <algorithm>

#include "jinja/compile/compiler.h"

namespace parlance::jinja {

/// Follows Jinja2's macro_body. The code of a routine stands where the macro does, with a jump over it, so that a
/// template is one piece of code and a routine is a place in it.
///
/// The order counts. Parameters get their registers first, in their order, since a call fills registers 0, 1, … without
/// looking at names. Then come `caller`, `kwargs` and `varargs`, each only if the body mentions it: by that Jinja2
/// decides whether a call may pass more than the parameters, which is visible as an error. Defaults are evaluated in
/// the routine, one after the other, because a default may name the parameters before it.
std::uint32_t Compiler::macro_routine(Routine::Kind kind, std::string_view name, const ArrayOf<Name*>& parameters,
                                      const Nodes& defaults, const Nodes& body, const Node* at, Scope& outer) {
  Label over;
  emit_jump(Op::jump, at, over);
  RoutineState state;
  state.index = begin_routine(kind, name);
  state.outer = routine_;
  Scope scope = inner(outer);
  scope.routine = &state;
  state.base_level = scope.symbols.level();
  scope.symbols.analyze_parameters(parameters, defaults);
  scope.symbols.analyze_body(body);

  Routine facts;
  bool own_kwargs = false, own_varargs = false;
  for (std::uint32_t i = 0; i < parameters.size; ++i) {
    std::string_view parameter = parameters[i]->name;
    for (std::uint32_t j = 0; j < i; ++j) {
      if (parameters[j]->name == parameter) {
        fail(ErrorCode::python_syntax, at,
             "duplicate argument 'l_" + std::to_string(state.base_level) + "_" + std::string(parameter) +
                 "' in function definition");
      }
    }
    facts.parameters.push_back(parameter);
    own_kwargs = own_kwargs || parameter == "kwargs";
    own_varargs = own_varargs || parameter == "varargs";
    if (parameter == "caller") {
      facts.explicit_caller = true;
      bool has_default = i + defaults.size >= parameters.size;
      if (mentions(body, "caller") && !has_default) {
        fail(ErrorCode::unknown_builtin, at,
             "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a "
             "default.");
      }
    }
    register_of(state, Ident{state.base_level, names_.intern(parameter)});
  }
  auto special = [&](std::string_view special_name, bool wanted) {
    if (!wanted) return false;
    register_of(state, scope.symbols.declare_parameter(names_.intern(special_name)));
    return true;
  };
  bool reads_caller = mentions(body, "caller");
  facts.takes_caller = special("caller", reads_caller && !facts.explicit_caller);
  facts.takes_kwargs = special("kwargs", mentions(body, "kwargs") && !own_kwargs);
  facts.takes_varargs = special("varargs", mentions(body, "varargs") && !own_varargs);
  {
    Routine& routine = p_.routines[state.index];
    routine.parameters = facts.parameters;
    routine.takes_caller = facts.takes_caller;
    routine.takes_kwargs = facts.takes_kwargs;
    routine.takes_varargs = facts.takes_varargs;
    routine.explicit_caller = facts.explicit_caller;
    routine.reads_caller = reads_caller;
  }
  RoutineState* before = routine_;
  routine_ = &state;
  std::uint32_t depth_before = depth_;
  enter(scope);
  for (std::uint32_t i = 0; i < parameters.size; ++i) {
    Label given;
    emit_jump(Op::default_parameter, parameters[i], given, i);
    std::uint32_t first_default = parameters.size - defaults.size;
    if (i >= first_default) {
      expression_into(defaults[i - first_default], scope, i);
    } else {
      std::string why = "parameter '" + std::string(parameters[i]->name) + "' was not provided";
      emit(Op::undefined, parameters[i], i, constant(Value::view(rt_.arena.copy_text(why))));
    }
    bind(given);
  }
  statements(body, scope);
  finish_routine(state);
  routine_ = before;
  depth_ = depth_before;
  bind(over);
  return state.index;
}

/// At the top level a macro is also exported to the context, where blocks of the template look for it.
void Compiler::macro(const Macro& node, Scope& scope) {
  std::uint32_t routine =
      macro_routine(Routine::Kind::macro, node.name, node.parameters, node.defaults, node.body, &node, scope);
  macro_routines_.emplace_back(&node, routine);
  std::uint32_t reg = variable_register(node.name, scope);
  emit(Op::make_macro, &node, reg, routine);
  if (scope.toplevel && !blocks_.empty()) {
    emit(Op::store_context, &node, variable_name(names_.intern(node.name)), reg);
  }
}

/// The body becomes a macro without a name that the call gets as `caller`. It is made anew each time, as it closes over
/// the variables around.
void Compiler::call_block(const CallBlock& node, Scope& scope) {
  std::uint32_t routine =
      macro_routine(Routine::Kind::caller, "", node.parameters, node.defaults, node.body, &node, scope);
  Place caller{temporary(), true};
  emit(Op::make_macro, &node, caller.code, routine);
  Place result = call(as<CallNode>(node.call), scope, nullptr, &caller);
  emit(Op::emit_raw, &node, result.code);
  release(result);
  release(caller);
}

/// The body is captured, and stands where the filter's value is missing in the syntax tree: block_subject_ takes its
/// place while the filter is compiled. Filters nest, so the one before is put back.
void Compiler::filter_block(const FilterBlock& node, Scope& scope) {
  std::size_t routines_before = p_.routines.size();
  Scope body = inner(scope);
  body.symbols.analyze_body(node.body);
  body.symbols.visit(node.filter);
  enter(body);
  std::uint32_t capture = begin_capture(&node);
  statements(node.body, body);
  Place value = end_capture(&node, capture, escape_mode(body));
  const Place* before = block_subject_;
  Place captured{value.code, false};
  block_subject_ = &captured;
  Place result = expression(node.filter, body);
  block_subject_ = before;
  emit(Op::emit_raw, &node, result.code);
  release(result);
  release(value);
  reset_after(body, routines_before);
}

/// A block is a routine that is called where it stands. Only a scoped one sees the variables around; Jinja2 gives it a
/// copy of all that are assigned up to here, so each of them is passed.
void Compiler::block(const Block& node, Scope& scope) {
  if (node.required) {
    std::string message = "Required block '" + std::string(node.name) + "' not found";
    emit(Op::fail, &node, constant(Value::view(rt_.arena.copy_text(message))), 0, 0,
         static_cast<std::uint32_t>(ErrorCode::runtime));
  }
  std::uint32_t index = 0;
  while (p_.blocks[index].name != node.name) ++index;
  OperandList list;
  Places held;
  if (node.scoped) {
    for (const auto& [name, ident] : scope.symbols.all_stores()) {
      held.push_back(read_ident(scope, ident, &node));
      list.push_back(variable_name(name));
      list.push_back(held.back().code);
    }
  }
  std::uint32_t first = add_operands(list);
  emit(Op::run_block, &node, first, index, static_cast<std::uint32_t>(list.size() / 2));
  for (Place p : held) release(p);
}

}  // namespace parlance::jinja
