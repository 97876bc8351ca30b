// Compiling statements. statement() dispatches; each statement has a function that follows Jinja2's visitor of it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "jinja/compile/compiler.h"
#include "jinja/compile/settling.h"
#include "jinja/syntax/children.h"
#include "value/iterate.h"
#include "value/markup.h"

namespace parlance::jinja {
namespace {

constexpr std::uint32_t kDeepestStatement = 100;   // Python's own limit on indentation
constexpr std::uint32_t kPythonNestedBlocks = 20;  // Python's limit on nested `for` statements of one function

/// Does anything under `node` assign a name `loop`? Jinja2 forbids that inside a loop.
/// Jinja2 looks for it in the whole loop, bodies of inner loops included, and refuses the template.
const Node* stores_loop(const Node* node) {
  if (node->kind == NodeKind::name) {
    const auto& name = as<Name>(node);
    return name.access == Access::store && name.name == "loop" ? node : nullptr;
  }
  const Node* found = nullptr;
  for_each_child(node, [&](const Node* child) {
    if (found == nullptr) found = stores_loop(child);
  });
  return found;
}

bool has_scoped_block(const Node* node) {
  if (node->kind == NodeKind::block && as<Block>(node).scoped) return true;
  bool found = false;
  if (!is_expression(node->kind))
    for_each_child(node, [&](const Node* child) { found = found || has_scoped_block(child); });
  return found;
}

/// How the body of a loop uses its loop variable.
struct LoopUse {
  NameId name;             ///< `loop`
  bool as_object = false;  ///< other than through simple fields, or from an inner routine
  bool peeks = false;      ///< looks at what is still to come
};

/// By their numbers in kLoopFields: revindex0, revindex, last, length and nextitem.
bool is_peeking(int field) { return field >= 2 && field != 4 && field != 7 && field < 9; }

/// Jinja2 makes an object for each loop that mentions `loop`. Most bodies ask for simple fields only, for which the
/// numbers that the loop keeps are enough. An inner macro needs the object, since it may be called when the loop is
/// elsewhere.
void find_loop_use(const Node* node, bool inner_routine, LoopUse& use);

void find_loop_use(const Nodes& nodes, bool inner_routine, LoopUse& use) {
  for (const Node* n : nodes) find_loop_use(n, inner_routine, use);
}

void find_loop_use(const Node* node, bool inner_routine, LoopUse& use) {
  if (!may_mention(node, use.name)) return;
  if (node->kind == NodeKind::call) {  // loop.index() is looked up as a method, in the variable
    const Node* callee = as<CallNode>(node).callee;
    if (callee->kind == NodeKind::get_attribute) find_loop_use(as<GetAttribute>(callee).object, inner_routine, use);
  }
  if (node->kind == NodeKind::get_attribute && !inner_routine) {
    const auto& attribute = as<GetAttribute>(node);
    const bool of_loop = attribute.object->kind == NodeKind::name && as<Name>(attribute.object).name == "loop";
    if (const int field = of_loop ? simple_loop_field(attribute.name) : -1; field >= 0) {
      use.peeks = use.peeks || is_peeking(field);
      return;
    }
  }
  if (node->kind == NodeKind::name && as<Name>(node).name == "loop") use.as_object = true;
  if (node->kind == NodeKind::for_) {
    // The body has a loop variable of its own if it uses one; the rest means ours.
    const auto& inner = as<For>(node);
    find_loop_use(inner.iterable, inner_routine, use);
    if (inner.test != nullptr) find_loop_use(inner.test, inner_routine || inner.recursive, use);
    return find_loop_use(inner.otherwise, inner_routine || inner.recursive, use);
  }
  bool routine = node->kind == NodeKind::macro || node->kind == NodeKind::call_block;
  // A scoped block gets the loop as a variable of its context.
  if (node->kind == NodeKind::block && as<Block>(node).scoped) use.as_object = true;
  for_each_child(node, [&](const Node* child) { find_loop_use(child, inner_routine || routine, use); });
}

}  // namespace

void Compiler::statements(const Nodes& nodes, Scope& scope) {
  for (const Node* n : nodes) {
    if (failed()) return;
    statement(n, scope);
  }
}

/// `depth_` follows Python's rule for the code that Jinja2 would generate: each block of it is indented once more.
void Compiler::statement(const Node* node, Scope& scope) {
  std::uint32_t depth_before = depth_;
  if (++depth_ > kDeepestStatement) {
    return fail(ErrorCode::python_syntax, node, "too many levels of indentation");
  }
  switch (node->kind) {
    case NodeKind::output: output(as<Output>(node), scope); break;
    case NodeKind::for_: for_loop(as<For>(node), scope); break;
    case NodeKind::if_: if_statement(as<If>(node), scope); break;
    case NodeKind::macro: macro(as<Macro>(node), scope); break;
    case NodeKind::call_block: call_block(as<CallBlock>(node), scope); break;
    case NodeKind::filter_block: filter_block(as<FilterBlock>(node), scope); break;
    case NodeKind::with: with(as<With>(node), scope); break;
    case NodeKind::block: block(as<Block>(node), scope); break;
    case NodeKind::assign: assign(as<Assign>(node), scope); break;
    case NodeKind::assign_block: assign_block(as<AssignBlock>(node), scope); break;
    case NodeKind::break_:
    case NodeKind::continue_: break_or_continue(*node, scope); break;
    case NodeKind::autoescape: autoescape(as<Autoescape>(node), scope); break;
    case NodeKind::generation: generation(as<Generation>(node), scope); break;
    case NodeKind::include: load_template(*node, as<Include>(node).name, scope); break;
    case NodeKind::import: load_template(*node, as<Import>(node).name, scope); break;
    case NodeKind::from_import: load_template(*node, as<FromImport>(node).name, scope); break;
    case NodeKind::extends:
      if (!scope.toplevel) fail(ErrorCode::unknown_builtin, node, "cannot use extend from a non top-level scope");
      load_template(*node, as<Extends>(node).name, scope);
      break;
    default: break;
  }
  depth_ = depth_before;
}

// ---- output

/// Prints a constant when the template is compiled. Text of the template keeps its address, hence its origin; what had
/// to be written anew is derived from the place of the expression.
bool Compiler::output_constant(const Node* node, Scope& scope) {
  bool is_data = node->kind == NodeKind::constant && as<Constant>(node).is_data;
  if (is_data) {
    output_text(as<Constant>(node).value, node);
    return true;
  }
  std::optional<Value> value = fold(node, scope, true);
  if (!value) return false;
  Value printed = scope.escape ? escape_html(rt_, *value) : to_text(rt_, *value);
  if (printed.is_invalid()) {
    rt_.failure = {};  // as in Jinja2: what cannot be printed now fails when it is reached
    return false;
  }
  std::string_view bytes = text(rt_, printed);
  bool literal = value->is_string() && bytes.data() == value->data;
  output_text(
      literal ? Value::view(bytes) : make_derived(rt_, bytes, Value::view(p_.source.text().substr(node->begin, 1))),
      node);
  return true;
}

/// {{ a if c else b }} puts out one of two parts, so each part may be text of the template or a chain.
void Compiler::output_choice(const Conditional& node, Scope& scope) {
  Softened softened(scope);
  Label otherwise, done;
  jump_when(node.test, false, otherwise, scope);
  output_part(node.then, scope);
  if (node.otherwise != nullptr) {
    emit_jump(Op::jump, &node, done);
    bind(otherwise);
    output_part(node.otherwise, scope);
    return bind(done);
  }
  bind(otherwise);  // an undefined value prints nothing
}

namespace {
bool writes_to_target(const Node* node) {
  const Builtin* row = node->kind == NodeKind::filter ? find_filter(as<Filter>(node).name) : nullptr;
  return row != nullptr && row->writes_to_target;
}
}  // namespace

/// May the parts of a chain be put out one by one? They are texts and what writes text to the prompt, so no part can
/// fail because of another.
/// A filter that writes JSON straight to the prompt needs no string in between; then 'x' + y|tojson need not be joined.
bool Compiler::parts_stand_alone(const NodeList& parts, const Scope& scope) const {
  return escape_mode(scope) == 0 && std::any_of(parts.begin(), parts.end(), writes_to_target) &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Node* part) { return is_text(part) || writes_to_target(part); });
}

/// From cheap to dear: a constant, a choice, parts one by one, a join without a string, and last any value.
void Compiler::output_part(const Node* node, Scope& scope) {
  if (failed() || output_constant(node, scope)) return;
  if (node->kind == NodeKind::conditional) return output_choice(as<Conditional>(node), scope);
  NodeList parts;
  bool sum =
      node->kind == NodeKind::binary && as<Binary>(node).op == BinaryOp::add && sum_parts(as<Binary>(node), parts);
  if (node->kind == NodeKind::concat) {
    for (const Node* part : as<Concat>(node).parts) parts.push_back(part);
  }
  if (parts_stand_alone(parts, scope)) {
    for (const Node* part : parts) output_part(part, scope);
    return;
  }
  if (sum || node->kind == NodeKind::concat) {
    std::uint32_t count = 0;
    Places held;
    std::uint32_t first = part_list(parts, sum, scope, count, held);
    emit(sum ? Op::emit_sum : Op::emit_join, node, 0, first, count, escape_mode(scope));
    for (Place p : held) release(p);
    return;
  }
  Place place = expression(node, scope);
  if (failed()) return;
  // The filter was compiled a moment ago: with another code the same instruction writes to the prompt.
  if (writes_to_target(node) && p_.code.back().op == Op::filter) {
    p_.code.back().op = Op::emit_filter;
    p_.code.back().n = escape_mode(scope);
  } else {
    emit(Op::emit, node, place.code, 0, 0, escape_mode(scope));
  }
  release(place);
}

void Compiler::output(const Output& node, Scope& scope) {
  for (const Node* part : node.parts) output_part(part, scope);
}

// ---- if

void Compiler::if_statement(const If& node, Scope& scope) {
  Softened softened(scope);
  Label done;
  auto branch = [&](const Node* test, const Nodes& body, bool last) {
    Label next;
    if (&node == settling_.node) {
      settling_condition(test, settling_test(node), *settling_.settled, next, scope);
    } else {
      jump_when(test, false, next, scope);
    }
    statements(body, scope);
    if (!last) emit_jump(Op::jump, test, done);
    bind(next);
  };
  branch(node.test, node.body, node.elifs.empty() && node.otherwise.empty());
  for (std::uint32_t i = 0; i < node.elifs.size; ++i) {
    const If& elif = *node.elifs[i];
    branch(elif.test, elif.body, i + 1 == node.elifs.size && node.otherwise.empty());
  }
  statements(node.otherwise, scope);
  bind(done);
}

// ---- loops

/// No routine was made inside means that nobody can notice: most scopes emit nothing here.
void Compiler::reset_after(Scope& scope, std::size_t routines_before) {
  // Jinja2 clears a scope's variables behind it, which only a closure made inside can notice.
  if (p_.routines.size() == routines_before) return;
  for (const Symbols::LoadEntry& entry : scope.symbols.loads()) {
    std::uint32_t reg = register_of(*scope.routine, entry.ident);
    emit(Op::copy, nullptr, reg, constant(p_.names[variable_name(entry.ident.name)].missing));
  }
}

void Compiler::for_loop(const For& node, Scope& scope) {
  if (const Node* store = census_.assigns_loop ? stores_loop(&node) : nullptr) {
    return fail(ErrorCode::unknown_builtin, store, "Can't assign to special loop variable in for-loop target");
  }
  for (const auto& [looker, number] : lookers_) {
    if (looker == &node) emit(Op::look_around, &node, number);
  }
  if (node.recursive) return recursive_loop(node, scope);
  bool extended = mentions(node.body, "loop") || (census_.has_scoped_block && has_scoped_block(&node));
  Scope loop_scope = inner(scope);
  if (extended) loop_scope.symbols.declare_parameter(names_.intern("loop"));
  loop_scope.symbols.analyze_for_body(node);
  Place iterable = expression(node.iterable, scope);
  loop_over(node, scope, loop_scope, iterable, extended);
}

/// `loop(items)` runs the loop again over something else, so the loop is a routine: its parameter is what to iterate
/// over, its result the text it wrote.
void Compiler::recursive_loop(const For& node, Scope& scope) {
  Place iterable = expression(node.iterable, scope);
  Label over;
  emit_jump(Op::jump, &node, over);
  RoutineState state;
  state.index = begin_routine(Routine::Kind::loop, "loop");
  state.outer = routine_;
  state.used.push_back(true);  // register 0: what to loop over
  Scope loop_scope = inner(scope);
  loop_scope.routine = &state;
  state.base_level = loop_scope.symbols.level();
  loop_scope.symbols.declare_parameter(names_.intern("loop"));
  loop_scope.symbols.analyze_for_body(node);
  RoutineState* before = routine_;
  routine_ = &state;
  Scope outer = scope;  // as seen from inside: else and test belong to the routine too
  outer.routine = &state;
  loop_over(node, outer, loop_scope, Place{0, false}, true);
  finish_routine(state);
  routine_ = before;
  bind(over);
  Place result{temporary(), true};
  emit(Op::recurse, &node, result.code, state.index, iterable.code);
  emit(Op::emit_raw, &node, result.code);
  release(result);
  release(iterable);
}

/// One more loop in front of the loop. It is over before the other begins, so both use the same number.
Place Compiler::filtered(const For& node, Scope& scope, Place iterable) {
  // `for x in xs if test` with a loop variable: the survivors are collected first.
  Place list{temporary(), true};
  Place kept{temporary(), true};
  std::uint32_t number = routine_->loop_depth++;
  Routine& routine = p_.routines[routine_->index];
  routine.loops = std::max(routine.loops, routine_->loop_depth);
  Label next, done, reject;
  emit(Op::collect_begin, &node, list.code);
  emit_jump(Op::for_begin, node.iterable, done, iterable.code, 0, number);
  bind(next);
  auto top = static_cast<std::uint32_t>(p_.code.size());
  emit_jump(Op::for_next, &node, done, kept.code, 0, number);
  // The test sees the target and the scope around. Names that the body sets are not there yet.
  Scope test_scope = inner(scope);
  test_scope.symbols.analyze_for_test(node);
  assign_target(node.target, kept.code, test_scope);
  enter(test_scope);
  jump_when(node.test, false, reject, test_scope);
  emit(Op::collect, &node, list.code, kept.code);
  bind(reject);
  p_.code[emit(Op::jump, &node)].c = top;
  bind(done);
  emit(Op::collect_end, &node, list.code);
  --routine_->loop_depth;
  release(kept);
  return list;
}

/// A loop has three costs, and pays only those that its body asks for. Without `loop` it steps over items. With simple
/// fields of it (`loop.first`) it keeps numbers. Only where the body uses `loop` itself, or a macro inside does, an
/// object is made. A test is made item by item; but if the body looks ahead (`loop.last`, `loop.length`), the items
/// that pass have to be known before the first turn, so they are collected.
///
/// `else` runs where no turn did. That is a register, set by each turn, and not a count: `continue` and a test that
/// fails leave it as it is, as in Jinja2.
void Compiler::loop_over(const For& node, Scope& outer, Scope& scope, Place iterable, bool extended) {
  if (++routine_->python_blocks > kPythonNestedBlocks) {
    return fail(ErrorCode::python_syntax, &node, "too many statically nested blocks");
  }
  std::size_t routines_before = p_.routines.size();
  LoopUse use{names_.intern("loop")};
  if (extended) find_loop_use(node.body, false, use);
  bool object = extended && (use.as_object || node.recursive);
  bool collect = node.test != nullptr && extended && (use.peeks || object);
  if (collect) {
    Place list = filtered(node, outer, iterable);
    release(iterable);
    iterable = list;
  }
  Loop loop;
  loop.extended = extended;
  loop.number = routine_->loop_depth++;
  loop.captures = routine_->capture_depth;
  if (extended) scope.symbols.find(names_.intern("loop"), loop.ident);
  Routine& routine = p_.routines[routine_->index];
  routine.loops = std::max(routine.loops, routine_->loop_depth);
  std::uint32_t untouched = node.otherwise.empty() ? 0 : temporary();
  if (!node.otherwise.empty()) emit(Op::copy, &node, untouched, constant(Value::boolean(true)));

  const std::uint32_t resumable = resumable_number(node, outer, scope, object);
  emit_jump(Op::for_begin, node.iterable, loop.done, iterable.code, object, loop.number);
  if (object) emit(Op::loop_object, &node, register_of(*routine_, loop.ident), 0, 0, loop.number);
  auto top = static_cast<std::uint32_t>(p_.code.size());
  routine_->loops.push_back(std::move(loop));
  bool lazy_test = node.test != nullptr && !collect;
  std::uint32_t item = 0;
  bool plain = node.target->kind == NodeKind::name;
  item = plain ? variable_register(as<Name>(node.target).name, scope) : temporary();
  const Op next = lazy_test ? Op::for_candidate : Op::for_next;  // a candidate counts once its test has passed
  emit_jump(next, &node, routine_->loops.back().done, item, resumable, routine_->loops.back().number);
  if (!plain) assign_target(node.target, item, scope);
  if (lazy_test) test_candidate(node, outer, item, top);
  enter(scope);
  Label settled;
  loop_body(node, scope, settled);
  if (!node.otherwise.empty()) emit(Op::copy, &node, untouched, constant(Value::boolean(false)));
  if (!pending_text_.empty()) flush_text();
  bind_to(routine_->loops.back().next, top);
  p_.code[emit(Op::jump, &node)].c = top;
  if (settled.last != Label::kNone) {
    bind(settled);
    p_.code[emit(Op::for_rest, &node, 0, 0, 0, routine_->loops.back().number)].c = top;
  }
  end_loop(top);
  bind(routine_->loops.back().done);
  routine_->loops.pop_back();
  --routine_->loop_depth;
  --routine_->python_blocks;
  if (!plain) release_register(item);
  release(iterable);
  reset_after(scope, routines_before);
  if (!node.otherwise.empty()) loop_else(node, outer, untouched);
}

/// `settled`: where to go once no iteration does anything any more.
void Compiler::loop_body(const For& node, Scope& scope, Label& settled) {
  const Settling before = std::exchange(settling_, {node.otherwise.empty() ? settling_if(node) : nullptr, &settled});
  statements(node.body, scope);
  settling_ = before;
}

/// jump_when() of a conjunction, where its first part, if it is false, is a reason to leave the loop.
void Compiler::settling_condition(const Node* test, const Node* first, Label& settled, Label& otherwise, Scope& scope) {
  if (test == first) return jump_when(test, false, settled, scope);
  settling_condition(as<Logical>(test).left, first, settled, otherwise, scope);
  jump_when(as<Logical>(test).right, false, otherwise, scope);
}

/// One more than its number in Program::resumable; 0 if it is none.
std::uint32_t Compiler::resumable_number(const For& node, const Scope& outer, const Scope& scope, bool object) {
  const bool at_top = routine_->index == 0 && outer.symbols.level() == 0 && routine_->loops.empty();
  if (!at_top || object || census_.binds_loop) return 0;
  std::optional<FoundLoop> found = read_loop_inputs(node, {names_, scope.symbols, macros_});
  if (!found) return 0;
  const auto number = static_cast<std::uint32_t>(found_loops_.size());
  for (const For* looker : found->lookers) lookers_.emplace_back(looker, number);
  found_loops_.push_back(std::move(*found));
  return number + 1;
}

/// The test of a loop sees its target and the scope around, and not the body's names: it has a scope of its own.
void Compiler::test_candidate(const For& node, Scope& outer, std::uint32_t item, std::uint32_t top) {
  Scope test_scope = inner(outer);
  test_scope.routine = routine_;
  test_scope.symbols.analyze_for_test(node);
  enter(test_scope);
  Label again;
  const bool extended = std::exchange(routine_->loops.back().extended, false);  // `loop` is not ours in the test
  jump_when(node.test, false, again, test_scope);
  routine_->loops.back().extended = extended;
  bind_to(again, top);
  emit(Op::for_accept, &node, item, 0, 0, routine_->loops.back().number);
}

void Compiler::loop_else(const For& node, Scope& outer, std::uint32_t untouched) {
  std::size_t routines_before = p_.routines.size();
  Scope scope = inner(outer);
  scope.routine = routine_;
  scope.symbols.analyze_body(node.otherwise);
  Label skip;
  emit_jump(Op::jump_unless, &node, skip, untouched);
  enter(scope);
  statements(node.otherwise, scope);
  reset_after(scope, routines_before);
  bind(skip);
  release_register(untouched);
}

/// `break` in a captured body leaves the capture open: what it held is dropped, as in Jinja2, whose buffer is a local
/// list.
void Compiler::discard_captures(const Loop& loop, const Node& at) {
  for (std::uint32_t open = routine_->capture_depth; open > loop.captures; --open) {
    Place dropped{temporary(), true};
    emit(Op::capture_end, &at, dropped.code, 0, 0, open - 1);
    release(dropped);
  }
}

/// A macro or {% generation %} inside of a loop is a function in Jinja2's code, which a `break` cannot leave.
void Compiler::break_or_continue(const Node& node, Scope&) {
  bool is_break = node.kind == NodeKind::break_;
  if (routine_->loops.size() <= routine_->first_breakable) {
    return fail(ErrorCode::python_syntax, &node, is_break ? "'break' outside loop" : "'continue' not properly in loop");
  }
  Loop& loop = routine_->loops.back();
  discard_captures(loop, node);
  if (is_break) emit(Op::for_left, &node, 0, 0, 0, loop.number);
  emit_jump(Op::jump, &node, is_break ? loop.done : loop.next);
}

// ---- assignment

std::uint32_t Compiler::variable_register(std::string_view name, Scope& scope) {
  Ident ident;
  scope.symbols.find(names_.intern(name), ident);
  return register_of(*scope.routine, ident);
}

/// What is set at the top level is seen by blocks, which look in the context.
void Compiler::store_name(const Name& node, std::uint32_t value, Scope& scope) {
  std::uint32_t reg = variable_register(node.name, scope);
  if (reg != value) emit(Op::copy, &node, reg, value);
  if (scope.toplevel && !blocks_.empty()) {
    emit(Op::store_context, &node, variable_name(names_.id_of(node)), reg);
  }
}

/// `a, b = value` unpacks into a run of registers first: Python raises for a wrong number before it assigns any.
void Compiler::assign_target(const Node* target, std::uint32_t value, Scope& scope) {
  if (target->kind == NodeKind::name) return store_name(as<Name>(target), value, scope);
  if (target->kind == NodeKind::namespace_ref) {
    const auto& ref = as<NamespaceRef>(target);
    Ident ident;
    scope.symbols.find(names_.intern(ref.name), ident);
    Place object = read_ident(scope, ident, target);
    const std::uint32_t name = constant(Value::view(ref.attribute));
    const std::uint32_t number = site(ref.attribute);
    // The number of the site shares its operand with a flag; one that does not fit is found by its name.
    const std::uint32_t known = number < kMostSites ? number : 0;
    emit(Op::set_attribute, target, object.code, name, value, (target_of_block_ ? 1 : 0) | known << 1);
    return release(object);
  }
  const Nodes& parts = as<Items>(target).items;
  std::uint32_t run = temporary(std::max<std::uint32_t>(parts.size, 1));
  emit(Op::unpack, target, run, value, parts.size);
  for (std::uint32_t i = 0; i < parts.size; ++i) assign_target(parts[i], run + i, scope);
  release_run(run, std::max<std::uint32_t>(parts.size, 1));
}

/// Python evaluates the value before it looks at the target; Jinja2 checks a namespace before both. The order is
/// visible where both fail: it decides which error is raised.
void Compiler::assign(const Assign& node, Scope& scope) {
  auto check = [&](const Node* target, auto& again) -> void {
    if (target->kind == NodeKind::namespace_ref) {
      Ident ident;
      scope.symbols.find(names_.intern(as<NamespaceRef>(target).name), ident);
      Place object = read_ident(scope, ident, target);
      emit(Op::check_namespace, target, object.code);
      return release(object);
    }
    for_each_child(target, [&](const Node* child) { again(child, again); });
  };
  // set_attribute checks too: the check in front only matters when evaluating the value could fail first.
  bool direct = node.target->kind == NodeKind::namespace_ref &&
                (node.value->kind == NodeKind::constant || node.value->kind == NodeKind::name);
  if (!direct) check(node.target, check);
  if (node.target->kind == NodeKind::name) {
    std::uint32_t reg = variable_register(as<Name>(node.target).name, scope);
    expression_into(node.value, scope, reg);
    return store_name(as<Name>(node.target), reg, scope);
  }
  Place value = expression(node.value, scope);
  assign_target(node.target, value.code, scope);
  release(value);
}

/// Captures nest within a routine, and each depth has its own slot in the frame: the program says how many there are.
std::uint32_t Compiler::begin_capture(const Node* at) {
  std::uint32_t capture = routine_->capture_depth++;
  Routine& routine = p_.routines[routine_->index];
  routine.captures = std::max(routine.captures, routine_->capture_depth);
  emit(Op::capture_begin, at, 0, 0, 0, capture);
  return capture;
}

Place Compiler::end_capture(const Node* at, std::uint32_t capture, std::uint32_t mode) {
  Place place{temporary(), true};
  emit(Op::capture_end, at, place.code, mode, 0, capture);
  --routine_->capture_depth;
  return place;
}

void Compiler::assign_captured(const Node* target, std::uint32_t value, Scope& scope) {
  target_of_block_ = true;
  assign_target(target, value, scope);
  target_of_block_ = false;
}

/// {% set x %}…{% endset %}: the text is markup where escaping is on, with a filter or without.
void Compiler::assign_block(const AssignBlock& node, Scope& scope) {
  std::size_t routines_before = p_.routines.size();
  Scope body = inner(scope);
  body.symbols.analyze_body(node.body);
  enter(body);
  std::uint32_t capture = begin_capture(&node);
  statements(node.body, body);
  Place value = end_capture(
      &node, capture, node.filter != nullptr ? escape_mode(body) : static_cast<std::uint32_t>(EscapeMode::by_context));
  // The filter's subject is the captured text, which has no node: block_subject_ stands for it.
  if (node.filter != nullptr) {
    const Place* before = block_subject_;
    Place captured{value.code, false};
    block_subject_ = &captured;
    Place filtered_value = expression(node.filter, body);
    block_subject_ = before;
    Place marked{temporary(), true};
    emit(Op::mark_safe, &node, marked.code, filtered_value.code);
    assign_captured(node.target, marked.code, scope);
    release(marked);
    release(filtered_value);
  } else {
    assign_captured(node.target, value.code, scope);
  }
  release(value);
  reset_after(body, routines_before);
}

/// All values are evaluated in the scope around: {% with a = 1, b = a %} does not see its own `a`.
void Compiler::with(const With& node, Scope& scope) {
  std::size_t routines_before = p_.routines.size();
  Scope body = inner(scope);
  body.symbols.analyze_with(node);
  enter(body);
  for (std::uint32_t i = 0; i < node.targets.size; ++i) {
    Place value = expression(node.values[i], scope);
    assign_target(node.targets[i], value.code, body);
    release(value);
  }
  statements(node.body, body);
  reset_after(body, routines_before);
}

// ---- the rest

/// Jinja2 makes a call block of it, called with nothing: what the body calls caller, kwargs and varargs is that call's.
void Compiler::give_call_names(const Generation& node, Scope& body) {
  std::vector<std::pair<Ident, Op>> given;
  for (const auto& [name, op] :
       {std::pair{"caller", Op::undefined}, std::pair{"kwargs", Op::make_dict}, std::pair{"varargs", Op::make_tuple}}) {
    if (mentions(node.body, name)) given.emplace_back(body.symbols.declare_parameter(names_.intern(name)), op);
  }
  body.symbols.analyze_body(node.body);
  enter(body);
  for (const auto& [ident, op] : given) {
    const std::uint32_t why = op == Op::undefined ? constant(make_static("No caller defined")) : 0;
    emit(op, &node, register_of(*routine_, ident), why);
  }
}

void Compiler::generation(const Generation& node, Scope& scope) {
  p_.has_generation = true;
  std::size_t routines_before = p_.routines.size();
  // Jinja2 makes a function of the body: its own scope, no way out for break, a fresh count of nested loops.
  std::size_t breakable_before = routine_->first_breakable;
  std::uint32_t blocks_before = routine_->python_blocks;
  routine_->first_breakable = routine_->loops.size();
  routine_->python_blocks = 0;
  Scope body = inner(scope);
  give_call_names(node, body);
  std::uint32_t capture = routine_->capture_depth++;
  Routine& routine = p_.routines[routine_->index];
  routine.captures = std::max(routine.captures, routine_->capture_depth);
  emit(Op::generation_begin, &node, 0, 0, 0, capture);
  statements(node.body, body);
  emit(Op::generation_end, &node, 0, 0, 0, capture);
  --routine_->capture_depth;
  routine_->first_breakable = breakable_before;
  routine_->python_blocks = blocks_before;
  reset_after(body, routines_before);
}

/// If the value is a constant, code of the body is compiled for it. Otherwise the scope is volatile: each instruction
/// that depends on escaping asks while it runs.
void Compiler::autoescape(const Autoescape& node, Scope& outer) {
  std::size_t routines_before = p_.routines.size();
  Scope scope = inner(outer);
  scope.symbols.visit(node.enabled);
  scope.symbols.analyze_body(node.body);
  enter(scope);
  Place before{temporary(), true};
  Place enabled = expression(node.enabled, scope);
  emit(Op::autoescape, &node, enabled.code, before.code);
  release(enabled);
  if (std::optional<Value> value = fold(node.enabled, scope)) {
    scope.escape = truth(rt_, *value);
  } else {
    scope.is_volatile = true;
  }
  statements(node.body, scope);
  Place forgotten{temporary(), true};
  emit(Op::autoescape, &node, before.code, forgotten.code);
  release(forgotten);
  release(before);
  reset_after(scope, routines_before);
}

void Compiler::load_template(const Node& node, const Node* name, Scope& scope) {
  // 0: get_template; 1: get_or_select_template; 2: select_template. Which one Jinja2 calls depends on the syntax alone.
  std::uint32_t how = 0;
  if (node.kind == NodeKind::include) {
    how = 1;
    if (name->kind == NodeKind::constant && as<Constant>(name).value.is_string()) how = 0;
    if (name->kind == NodeKind::tuple || name->kind == NodeKind::list) how = 2;
  }
  Place place = expression(name, scope);
  bool ignore = node.kind == NodeKind::include && as<Include>(&node).ignore_missing;
  emit(Op::load_template, &node, place.code, ignore, 0, how);
  release(place);
}

}  // namespace parlance::jinja
