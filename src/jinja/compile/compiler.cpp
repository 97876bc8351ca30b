// The whole of a template: its routines and scopes. Start at run().
#include "jinja/compile/compiler.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "jinja/syntax/children.h"
#include "value/operators.h"

namespace parlance::jinja {

// ---- scopes

Compiler::Scope Compiler::inner(Scope& outer) const {
  return Scope{Symbols(const_cast<NameTable&>(names_), &outer.symbols, outer.symbols.level() + 1),
               outer.routine,
               false,
               false,
               outer.escape,
               outer.is_volatile};
}

void Compiler::enter(Scope& scope) {
  entered_ = p_.code.size();
  for (const Symbols::LoadEntry& entry : scope.symbols.loads()) load_ident(scope, entry);
}

// ---- the whole template

void Compiler::add_block(const Block& block) {
  for (const Block* known : blocks_) {
    if (known->name == block.name) {
      fail(ErrorCode::unknown_builtin, &block, "block '" + std::string(block.name) + "' defined twice");
    }
  }
  blocks_.push_back(&block);
  p_.blocks.push_back({block.name, 0});
}

bool Compiler::run(const Nodes& nodes) {
  census_ = take_census(nodes, names_);
  p_.assigned = std::move(census_.assigned);
  for (const Block* block : census_.blocks) add_block(*block);
  if (failed()) return false;

  RoutineState root;
  root.index = begin_routine(Routine::Kind::root, "");
  routine_ = &root;
  Scope scope{Symbols(names_, nullptr, 0), &root, true};
  if (mentions(nodes, "self")) {
    Ident self = scope.symbols.declare_parameter(names_.intern("self"));
    emit(Op::make_self, nullptr, register_of(root, self));
  }
  scope.symbols.analyze_body(nodes);
  enter(scope);
  macros_ = top_level_macros(nodes, names_);
  statements(nodes, scope);
  place_inputs(scope);
  finish_routine(root);
  compile_blocks();
  follow_jumps();
  join_questions();
  rt_.arena.sort_log();  // so that readers need not
  return !failed();
}

/// Where a value that a loop reads is, when the loop runs. What has no place was never compiled to be read.
bool Compiler::place_input(const Scope& root, FoundLoop::Input& input) const {
  Ident ident;
  input.facts.is_register = root.symbols.find(input.name, ident);
  const auto number = input.facts.is_register ? known_register(*root.routine, ident) : known_variable(input.name);
  input.facts.number = number.value_or(0);
  return number.has_value();
}

void Compiler::place_inputs(const Scope& root) {
  for (FoundLoop& found : found_loops_) {
    ResumableLoop& loop = p_.resumable.emplace_back();
    loop.behind = found.behind;
    loop.ahead = found.ahead;
    for (FoundLoop::Input& input : found.inputs) {
      if (place_input(root, input)) loop.inputs.push_back(input.facts);
    }
    for (const auto& [macro, routine] : macro_routines_) {
      const bool called = std::find(found.macros.begin(), found.macros.end(), macro) != found.macros.end();
      if (called) loop.macros.push_back(routine);
    }
  }
}

void Compiler::compile_blocks() {
  for (std::size_t i = 0; i < blocks_.size() && !failed(); ++i) {
    const Block& block = *blocks_[i];
    RoutineState state;
    state.index = begin_routine(Routine::Kind::block, block.name);
    p_.blocks[i].routine = state.index;
    routine_ = &state;
    Scope scope{Symbols(names_, nullptr, 0), &state};
    if (mentions(block.body, "self")) {
      emit(Op::make_self, nullptr, register_of(state, scope.symbols.declare_parameter(names_.intern("self"))));
    }
    if (mentions(block.body, "super")) {
      Ident super = scope.symbols.declare_parameter(names_.intern("super"));
      Value why =
          Value::view(rt_.arena.copy_text("there is no parent block called '" + std::string(block.name) + "'."));
      emit(Op::undefined, nullptr, register_of(state, super), constant(why));
    }
    scope.symbols.analyze_body(block.body);
    enter(scope);
    statements(block.body, scope);
    finish_routine(state);
  }
}

VariableNumbers::VariableNumbers(std::span<const VariableName> names)
    : slots_(std::bit_ceil(2 * names.size() + 1)), mask_(slots_.size() - 1) {
  constexpr std::size_t kMostSteps = 16;  // more than usual templates take
  if (place(names, kMostSteps)) return;
  by_all_ = true;
  place(names, slots_.size());
}

/// False: a name stands further from its first slot than `most_steps`.
bool VariableNumbers::place(std::span<const VariableName> names, std::size_t most_steps) {
  std::fill(slots_.begin(), slots_.end(), kNone);
  for (std::uint32_t number = 0; number < names.size(); ++number) {
    const std::size_t first = first_slot(names[number].name);
    std::size_t at = first;
    while (slots_[at & mask_] != kNone) ++at;
    if (at - first > most_steps) return false;
    slots_[at & mask_] = number;
  }
  return true;
}

std::size_t VariableNumbers::longest_search() const {
  std::size_t longest = 0, run = 0;
  for (std::size_t at = 0; at < 2 * slots_.size(); ++at) {  // twice: a run may go on at the beginning
    run = slots_[at & mask_] == kNone ? 0 : run + 1;
    longest = std::max(longest, run + 1);
  }
  return longest;
}

void Program::fit() {
  const auto fit_all = [](auto&... tables) { (tables.shrink_to_fit(), ...); };
  fit_all(code, extents, constants, operands, routines, names, assigned, sites, shapes, bound, blocks, resumable);
  arena.fit();
}

Result<std::unique_ptr<Program>> compile(std::string name, std::string_view text, const SyntaxOptions& options,
                                         const Limits& limits) {
  auto program = std::make_unique<Program>(SourceText(std::move(name), text, true));
  program->arena.set_limit(limits.memory_bytes);
  Runtime rt(program->arena, limits);
  rt.allow_changes = program->allow_changes = options.allow_changes;
  rt.limits_globals = program->limits_globals = options.limits_globals;
  constexpr std::size_t kUsual = 64;  // what a usual template has no more of, so that its tables are made once
  program->code.reserve(text.size() / 16 + kUsual);
  program->extents.reserve(text.size() / 16 + kUsual);
  program->constants.reserve(2 * kUsual);
  program->operands.reserve(2 * kUsual);
  program->names.reserve(kUsual / 4);
  program->sites.reserve(kUsual / 2);
  program->sites.emplace_back();
  Arena tree;  // of the syntax tree, which nobody needs afterwards
  tree.set_limit(limits.memory_bytes);
  Result<Nodes> nodes = parse(rt, tree, program->source, options);
  if (!nodes) return nodes.error();
  Compiler compiler(*program, rt);
  if (!compiler.run(*nodes)) return compiler.failure();
  program->numbers = VariableNumbers(program->names);
  program->fit();
  return program;
}

}  // namespace parlance::jinja
