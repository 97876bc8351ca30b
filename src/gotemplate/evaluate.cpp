// The executor's evaluation: pipelines, commands, operands, fields, calls. Begin reading at
// Executor::pipeline.
//
// A Value that says `invalid` means a failure was recorded; `undefined` is Go's zero reflect.Value.
#include <algorithm>
#include <cstddef>
#include <new>

#include "base/nearest.h"
#include "gotemplate/exec.h"
#include "gotemplate/json.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {

// ---- pipelines

/// Each stage's value is the last argument of the next. Interfaces are opened between stages, as Go does, and a
/// variable gets the value that the last stage gave.
Value Executor::pipeline(Value dot, const PipelineNode& pipe) {
  at(pipe);
  if (pipe.size == 1 && pipe.declared_count == 0) return unbox(command(dot, *pipe.commands[0], nullptr));
  Value value;
  const Value* final = nullptr;
  for (std::uint32_t i = 0; i < pipe.size; ++i) {
    value = command(dot, *pipe.commands[i], final);
    if (value.is_invalid()) return value;
    value = unbox(value);
    final = &value;
  }
  for (std::uint8_t i = 0; i < pipe.declared_count; ++i) {
    if (!pipe.assigns) {
      variables_.push_back({pipe.declared[i]->variable, value});
    } else if (!assign(*pipe.declared[i], value)) {
      return Value::invalid();
    }
  }
  return value;
}

Value Executor::not_a_function(const CommandNode& command) {
  return fail("can't give argument to non-function " + node_text(*command.arguments[0]));
}

/// What stands first decides what a command is. `final` is the value of the stage before, null in the first stage: the
/// difference counts, since a field that is no method refuses any argument, also a nil one.
Value Executor::command(Value dot, const CommandNode& command, const Value* final) {
  const Node& first = *command.arguments[0];
  const Arguments arguments{command.arguments + 1, command.size - 1, final};
  switch (first.kind) {
    case NodeKind::field: at(first); return fields(dot, first, as<FieldNode>(first).names, dot, arguments);
    case NodeKind::variable: {
      at(first);
      const auto& node = as<VariableNode>(first);
      const Value value = variable(node);
      if (value.is_invalid()) return value;
      if (node.names.size != 0) return fields(value, first, node.names, dot, arguments);
      return arguments.none() ? value : not_a_function(command);
    }
    case NodeKind::chain: {
      at(first);
      const auto& node = as<ChainNode>(first);
      if (node.of->kind == NodeKind::nil) return fail("indirection through explicit nil in " + node_text(first));
      const Value value = operand(dot, *node.of);
      return value.is_invalid() ? value : fields(value, first, node.names, dot, arguments);
    }
    case NodeKind::identifier: {
      at(first);
      const auto& node = as<IdentifierNode>(first);
      return call(*node.function, command, node.name, dot, arguments);
    }
    case NodeKind::pipeline:
      if (!arguments.none()) return not_a_function(command);
      return pipeline(dot, as<PipelineNode>(first));
    default: break;
  }
  return operand_command(dot, command, final);
}

/// Constants and the dot, which take no arguments.
Value Executor::operand_command(Value dot, const CommandNode& command, const Value* final) {
  const Node& first = *command.arguments[0];
  at(first);
  if (command.size > 1 || final != nullptr) return not_a_function(command);
  switch (first.kind) {
    case NodeKind::dot: return dot;
    case NodeKind::nil: return fail("nil is not a command");
    default: return constant(as<ConstantNode>(first));
  }
}

Value Executor::constant(const ConstantNode& node) {
  if (node.value.is_undefined()) {
    at(node);
    return fail(std::string(node.source) + " overflows int");
  }
  return node.value;
}

/// From the innermost out, down to the frame of the template that runs: an invoked template sees `$` and its own alone.
/// The search is charged where it is long, or loops that declare many variables would be quadratic for free.
Value* Executor::find_variable(const VariableNode& node) {
  constexpr std::size_t kNear = 16;
  for (std::size_t i = variables_.size(); i-- > frame_;) {
    if (variables_[i].name != node.variable) continue;
    if (const std::size_t passed = variables_.size() - i; passed > kNear) rt_.charge(passed / kNear);
    return &variables_[i].value;
  }
  fail("undefined variable: " + std::string(node.name));
  return nullptr;
}

Value Executor::variable(const VariableNode& node) {
  const Value* found = find_variable(node);
  return found == nullptr || rt_.failed() ? Value::invalid() : *found;
}

bool Executor::assign(const VariableNode& node, Value value) {
  Value* const found = find_variable(node);
  if (found == nullptr || rt_.failed()) return false;
  *found = value;
  return true;
}

// ---- fields

Value Executor::fields(Value receiver, const Node& node, const Names& names, Value dot, const Arguments& arguments) {
  for (std::uint32_t i = 0; i + 1 < names.size; ++i) {
    receiver = field_of(receiver, node, names.items[i], dot, {});
    if (receiver.is_invalid()) return receiver;
  }
  return field_of(receiver, node, names.items[names.size - 1], dot, arguments);
}

Value Executor::no_field(Value receiver, const Name& name) {
  const Value failed = fail(
      "can't evaluate field " + std::string(name.view()) + " in type " + std::string(facts(static_type(receiver)).name),
      unbox(receiver));
  const Type type = static_type(receiver);
  const Type structure = facts(type).kind == GoKind::pointer ? facts(type).element : type;
  NearestName nearest(name.view());
  for (const Field& known : fields_of(structure)) nearest.offer(known.name);
  rt_.failure.hint = nearest.hint();
  return failed;
}

Value Executor::map_field(Value receiver, const Name& name, const Arguments& arguments) {
  if (!arguments.none()) return fail(std::string(name.view()) + " is not a method but has arguments");
  if (mode_.cut && !is_nil(receiver) && find_key(*receiver.dict, name.view()) == nullptr) return {};
  return map_element(rt_, receiver, name.view());
}

/// evalField: a method of that name, else a struct's field, else a map's element. The first lines are the case that
/// nearly all fields are, without what only errors and methods need to know.
Value Executor::field_of(Value receiver, const Node& node, const Name& name, Value dot, const Arguments& arguments) {
  if (receiver.is_undefined()) return {};
  if (receiver.kind == Kind::list && !name.maybe_method && arguments.none()) {
    // A struct or a pointer to one, as nearly always.
    const Type type = type_of(receiver);
    const Type structure = facts(type).kind == GoKind::pointer ? facts(type).element : type;
    const int index = field_index(structure, name.symbol);
    if (index >= 0) {
      const Value value = field(receiver, static_cast<std::size_t>(index));
      return fields_of(structure)[static_cast<std::size_t>(index)].type == Type::any ? box(value) : value;
    }
  }
  bool nil = false;
  const Value target = indirect(receiver, nil);
  const auto nil_pointer = [&] {
    return fail("nil pointer evaluating " + std::string(facts(static_type(receiver)).name) + "." +
                std::string(name.view()));
  };
  if (nil && is_boxed(target)) return nil_pointer();
  Type type = type_of(target);
  if (name.maybe_method) {
    // Methods of the pointer too: what it points to can be taken the address of again.
    const Type owner = type == Type::ordered_body ? Type::ordered : type;
    const Method found = method_of(owner, name.view());
    if (found != Method::none) return method(with_type(target, owner), found, node, name, dot, arguments);
  }
  switch (facts(type).kind) {
    case GoKind::structure: break;
    case GoKind::map: return map_field(target, name, arguments);
    case GoKind::pointer:
      if (nil && type == Type::ordered && name.view() == "om") return nil_pointer();
      return no_field(receiver, name);
    default: return no_field(receiver, name);
  }
  if (type == Type::ordered_body && name.view() == "om") {
    return fail("om is an unexported field of struct type " + std::string(facts(static_type(receiver)).name));
  }
  const int index = field_index(type, name.symbol);
  if (index < 0) return no_field(receiver, name);
  if (!arguments.none()) return fail(std::string(name.view()) + " has arguments but cannot be invoked as function");
  const Value value = field(target, static_cast<std::size_t>(index));
  return fields_of(type)[static_cast<std::size_t>(index)].type == Type::any ? box(value) : value;
}

// ---- methods of the data model

namespace {

struct MethodShape {
  std::uint32_t parameters;
  std::string_view refusal;  ///< why templates cannot call it; empty: they can
};

MethodShape shape_of(Method method) {
  switch (method) {
    case Method::get: return {1, "invalid function signature for Get: second return value should be error; is bool"};
    case Method::set: return {2, "function Set has 0 return values; should be 1 or 2"};
    default: return {0, ""};
  }
}

}  // namespace

/// Go checks the count of arguments before the signature, so the wrong count of a method that cannot be called at all
/// is what the error speaks of.
Value Executor::method(Value receiver, Method method, const Node& node, const Name& name, Value dot,
                       const Arguments& arguments) {
  (void)dot;
  const MethodShape shape = shape_of(method);
  const std::uint32_t given = arguments.size + (arguments.final != nullptr ? 1 : 0);
  if (given != shape.parameters) {
    return fail("wrong number of args for " + std::string(name.view()) + ": want " + std::to_string(shape.parameters) +
                " got " + std::to_string(given));
  }
  if (!shape.refusal.empty()) return fail(std::string(shape.refusal));
  const Value result = method_result(receiver, method);
  return result.is_invalid() && rt_.failed() ? wrap_failure(node, name.view()) : result;
}

Value Executor::method_result(Value receiver, Method method) {
  switch (method) {
    case Method::string: return string_method(rt_, receiver);
    case Method::type_script: return type_script_of(rt_, receiver);
    case Method::marshal_json: {
      const Value text = json_text(rt_, receiver);
      if (text.is_invalid()) return text;
      return with_type(Value::view(parlance::text(rt_, text)), Type::bytes);
    }
    case Method::to_map: return with_type(receiver, Type::property_map);
    case Method::length: return go_int(static_cast<std::int64_t>(length_of(receiver)));
    case Method::all:  // a function, which is never nil
      return with_type(is_nil(receiver) ? DictBuilder(rt_).finish() : receiver, Type::property_pairs);
    case Method::none:
    case Method::get:
    case Method::set: break;
  }
  return {};
}

// ---- calls

namespace {

/// What `call` calls a function that was piped in: reflect.Value.String().
std::string piped_name(Runtime& rt, Value v) {
  if (v.is_undefined()) return "<invalid Value>";
  if (is_text(v)) return std::string(text(rt, v));
  return "<" + std::string(facts(static_type(v)).name) + " Value>";
}

}  // namespace

Value Executor::call(const Function& function, const Node& node, std::string_view name, Value dot,
                     const Arguments& arguments) {
  if (mode_.cut && function.of_ollama) return fail(quoted(name) + " is not a defined function");
  const Signature& signature = function.row.bound;
  const std::uint32_t fixed = signature.count;
  const std::uint32_t count = arguments.size + (arguments.final != nullptr ? 1 : 0);
  if (signature.varargs ? count < fixed : count != fixed) {
    const bool counts_all = !signature.varargs;
    return fail("wrong number of args for " + std::string(name) + ": want " + (counts_all ? "" : "at least ") +
                std::to_string(fixed) + " got " + std::to_string(counts_all ? count : arguments.size));
  }
  if (function.special == Special::all || function.special == Special::first) {
    return short_circuit(function.special == Special::first, dot, arguments);
  }
  constexpr std::uint32_t kFew = 8;
  alignas(Value) std::byte few[kFew * sizeof(Value)];  // not made before they are known
  auto* values = count <= kFew ? reinterpret_cast<Value*>(few) : rt_.arena.allocate_array<Value>(count);
  for (std::uint32_t i = 0; i < arguments.size; ++i) {
    new (values + i) Value(argument(dot, i < fixed ? function.fixed : function.rest, *arguments.nodes[i]));
    if (values[i].is_invalid()) return values[i];
  }
  if (arguments.final != nullptr) {
    new (values + count - 1) Value(validate(*arguments.final, count - 1 < fixed ? function.fixed : function.rest));
    if (values[count - 1].is_invalid()) return values[count - 1];
  }
  return run_builtin(function, node, name, values, count);
}

Value Executor::run_builtin(const Function& function, const Node& node, std::string_view name, const Value* values,
                            std::uint32_t count) {
  if (!rt_.charge(1)) return wrap_failure(node, name);
  const std::uint32_t fixed = function.row.bound.count;
  Value result;
  if (function.special == Special::call) {
    const auto& command = as<CommandNode>(node);
    const bool has_word = node.kind == NodeKind::command && command.size > 1;
    result = call_value(values[0], has_word ? node_text(*command.arguments[1]) : piped_name(rt_, values[0]));
  } else {
    Call call{rt_, &function.row, values, {values + fixed, count - fixed, nullptr, 0}};
    result = function.row.run(call);
  }
  return rt_.failed() ? wrap_failure(node, name) : result;
}

/// The builtin `call`: nothing in the data can be called by a template.
Value Executor::call_value(Value function, const std::string& name) {
  function = unbox(function);
  const auto refuse = [&](std::string message) {
    return rt_.fail(ErrorCode::go_execute, std::move(message), function);
  };
  if (function.is_undefined()) return refuse("call of nil");
  const TypeFacts& type = facts(type_of(function));
  if (type.kind != GoKind::callable) return refuse("non-function " + name + " of type " + std::string(type.name));
  return refuse("function " + name + " has 0 return values; should be 1 or 2");
}

/// `and` and `or` evaluate no argument behind the one that decides, and give that argument itself. The value from the
/// stage before is the last of them: it has been evaluated already.
Value Executor::short_circuit(bool stop_at, Value dot, const Arguments& arguments) {
  Value value;
  for (std::uint32_t i = 0; i < arguments.size; ++i) {
    value = argument(dot, Accepts::value, *arguments.nodes[i]);
    if (value.is_invalid() || is_true(value) == stop_at) return value;
  }
  return arguments.final != nullptr ? *arguments.final : value;
}

// ---- arguments

/// An operand's value before anything is asked of its type. Not for nil and constants.
Value Executor::operand(Value dot, const Node& node) {
  at(node);
  switch (node.kind) {
    case NodeKind::dot: return dot;
    case NodeKind::field: return fields(dot, node, as<FieldNode>(node).names, dot, {});
    case NodeKind::variable: {
      const auto& named = as<VariableNode>(node);
      const Value value = variable(named);
      if (value.is_invalid() || named.names.size == 0) return value;
      return fields(value, node, named.names, dot, {});
    }
    case NodeKind::pipeline: {
      if (++nesting_ > kMostNesting) {
        rt_.fail(ErrorCode::limit_depth, "pipelines nest too deeply");
        return Value::invalid();
      }
      const Value value = pipeline(dot, as<PipelineNode>(node));
      --nesting_;
      return value;
    }
    case NodeKind::identifier: {
      const auto& named = as<IdentifierNode>(node);
      return call(*named.function, node, named.name, dot, {});
    }
    case NodeKind::chain: {
      const auto& chain = as<ChainNode>(node);
      if (chain.of->kind == NodeKind::nil) return fail("indirection through explicit nil in " + node_text(node));
      const Value value = operand(dot, *chain.of);
      return value.is_invalid() ? value : fields(value, node, chain.names, dot, {});
    }
    default: return constant(as<ConstantNode>(node));
  }
}

/// A constant is checked by what it is written as and not by its value, so its errors show the source: `expected
/// string; found 3`.
Value Executor::argument(Value dot, Accepts type, const Node& node) {
  at(node);
  switch (node.kind) {
    case NodeKind::nil:
      if (type == Accepts::text) return fail("cannot assign nil to string");
      return {};
    case NodeKind::boolean:
    case NodeKind::number:
    case NodeKind::string: return literal_argument(type, node);
    default: break;
  }
  const Value value = operand(dot, node);
  return value.is_invalid() ? value : validate(value, type);
}

Value Executor::literal_argument(Accepts type, const Node& node) {
  if (type == Accepts::text && node.kind != NodeKind::string) return fail("expected string; found " + node_text(node));
  return constant(as<ConstantNode>(node));
}

/// validateType: undefined stands for nil where nil will do.
Value Executor::validate(Value value, Accepts type) {
  if (type == Accepts::value) return value;
  if (type == Accepts::any) return unbox(value);
  if (value.is_undefined()) return fail("invalid value; expected string");
  const Value inside = unbox(value);
  if (inside.is_undefined()) return fail("wrong type for value; expected string; got interface {}");
  if (is_text(inside)) return inside;
  return fail("wrong type for value; expected string; got " + std::string(facts(type_of(inside)).name), inside);
}

}  // namespace parlance::gotemplate
