// Compiler: routines, scopes, registers, labels. Start at run().
#include "jinja/compiler.h"

#include <algorithm>
#include <utility>

#include "jinja/children.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

bool same_constant(const Value& a, const Value& b) {
  return a.kind == b.kind && a.flags == b.flags && a.size == b.size && a.integer == b.integer;
}

Value missing_name(Runtime& rt, std::string_view name) {
  Value v;
  v.flags = Value::kMissing;
  v.undefined = rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::name, Value::view(name), {}});
  return v;
}

}  // namespace

// ---- scopes

Compiler::Scope Compiler::inner(Scope& outer) const {
  return Scope{Symbols(const_cast<NameTable&>(names_), &outer.symbols, outer.symbols.level() + 1), outer.routine, false,
               false, outer.escape, outer.is_volatile};
}

void Compiler::enter(Scope& scope) {
  entered_ = p_.code.size();
  for (const Symbols::LoadEntry& entry : scope.symbols.loads()) load_ident(scope, entry);
}

/// A run of names for a run of registers is looked up by one instruction.
void Compiler::resolve(std::uint32_t target, std::uint32_t name) {
  Instruction* last = p_.code.size() > entered_ ? &p_.code.back() : nullptr;
  if (last != nullptr && last->op == Op::resolve && last->a + last->c == target && last->b + last->c == name) {
    ++last->c;
  } else {
    emit(Op::resolve, nullptr, target, name, 1);
  }
}

void Compiler::load_ident(Scope& scope, const Symbols::LoadEntry& entry) {
  if (entry.how == Load::parameter || !scope.symbols.is_read_on_entry(entry.ident.name)) return;
  std::uint32_t target = register_of(*scope.routine, entry.ident);
  NameId name = entry.ident.name;
  if (entry.how == Load::resolve) {
    bool in_block = p_.routines[scope.routine->index].kind == Routine::Kind::block || !blocks_.empty();
    if (in_block) {
      emit(Op::resolve_block, nullptr, target, variable_name(name));
    } else {
      resolve(target, variable_name(name));
    }
  } else if (entry.how == Load::undefined) {
    emit(Op::copy, nullptr, target, constant(p_.names[variable_name(name)].missing));
  } else {
    Place from = read_ident(scope, entry.alias, nullptr);
    emit(Op::copy, nullptr, target, from.code);
    release(from);
  }
}

Place Compiler::read_ident(Scope& scope, Ident ident, const Node* at) {
  RoutineState* owner = scope.routine;
  std::uint32_t levels = 0;
  while (ident.level < owner->base_level && owner->outer != nullptr) {
    owner = owner->outer;
    ++levels;
  }
  std::uint32_t reg = register_of(*owner, ident);
  if (levels == 0) return {reg, false};
  for (RoutineState* r = scope.routine->outer;; r = r->outer) {
    p_.routines[r->index].escapes = true;
    if (r == owner) break;
  }
  Place place{temporary(), true};
  emit(Op::outer, at, place.code, reg, 0, levels);
  return place;
}

// ---- routines and registers

std::uint32_t Compiler::begin_routine(Routine::Kind kind, std::string_view name) {
  Routine routine;
  routine.kind = kind;
  routine.name = name;
  routine.entry = static_cast<std::uint32_t>(p_.code.size());
  p_.routines.push_back(std::move(routine));
  return static_cast<std::uint32_t>(p_.routines.size() - 1);
}

void Compiler::finish_routine(RoutineState& state) {
  emit(Op::return_, nullptr);
  p_.routines[state.index].registers = static_cast<std::uint32_t>(state.used.size());
}

std::uint32_t Compiler::register_of(RoutineState& routine, Ident ident) {
  for (const auto& [known, reg] : routine.registers) {
    if (known == ident) return reg;
  }
  auto reg = static_cast<std::uint32_t>(routine.used.size());
  routine.used.push_back(true);
  routine.registers.emplace_back(ident, reg);
  return reg;
}

std::uint32_t Compiler::temporary(std::uint32_t count) {
  std::vector<bool>& used = routine_->used;
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; i < used.size() && count <= 4; ++i) {
    run = used[i] ? 0 : run + 1;
    if (run == count) {
      for (std::uint32_t j = 0; j < count; ++j) used[i - j] = true;
      return i + 1 - count;
    }
  }
  auto first = static_cast<std::uint32_t>(used.size());
  used.insert(used.end(), count, true);
  return first;
}

void Compiler::release(Place place) {
  if (place.temporary) routine_->used[place.code] = false;
}

void Compiler::release_run(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) routine_->used[first + i] = false;
}

Place Compiler::target_or_temporary(const Place* target) {
  return target != nullptr ? *target : Place{temporary(), true};
}

// ---- instructions

namespace {
/// The field whose operand the machine takes for a register without asking: what stands there is seldom a constant.
std::uint32_t* register_field(Instruction& i) {
  switch (i.op) {
    case Op::emit:
    case Op::jump_if:
    case Op::jump_unless:
    case Op::jump_attribute:
    case Op::jump_attribute_kind:
    case Op::jump_attribute_truth:
    case Op::jump_if_kind:
    case Op::jump_unless_kind:
    case Op::for_begin:
    case Op::set_attribute: return &i.a;
    case Op::get_attribute:
    case Op::get_item:
    case Op::slice:
    case Op::length:
    case Op::call:
    case Op::make_namespace: return &i.b;
    default: return nullptr;
  }
}
}  // namespace

std::uint32_t Compiler::emit(Op op, const Node* at, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                             std::uint32_t n) {
  if (!pending_text_.empty()) flush_text();
  Instruction made{op, static_cast<std::uint16_t>(n), a, b, c};
  if (std::uint32_t* field = register_field(made); field != nullptr && (*field & kConstant) != 0) {
    const Place copied{temporary(), true};
    emit(Op::copy, at, copied.code, *field);
    *field = copied.code;
    release(copied);  // nothing comes between
  }
  p_.code.push_back(made);
  p_.extents.push_back(at == nullptr ? Extent{0, 0} : Extent{at->begin, at->end});
  return static_cast<std::uint32_t>(p_.code.size() - 1);
}

void Compiler::emit_jump(Op op, const Node* at, Label& label, std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  const std::uint32_t before = label.last;
  label.last = emit(op, at, a, b, before, n);
}

void Compiler::bind(Label& label) {
  if (!pending_text_.empty()) flush_text();
  bind_to(label, static_cast<std::uint32_t>(p_.code.size()));
}

void Compiler::bind_to(Label& label, std::uint32_t target) {
  for (std::uint32_t jump = label.last; jump != Label::kNone;) jump = std::exchange(p_.code[jump].c, target);
  label.last = Label::kNone;
}

std::uint32_t Compiler::constant(Value v) {
  // Strings are compared by address: the same literal twice has two origins.
  std::size_t scan = std::min<std::size_t>(p_.constants.size(), 16);
  for (std::size_t i = p_.constants.size() - scan; i < p_.constants.size(); ++i) {
    if (same_constant(p_.constants[i], v)) return static_cast<std::uint32_t>(i) | kConstant;
  }
  const std::size_t number = p_.constants.size() + 1;
  if (v.is_leaf()) v.extra = number <= 0xFFFF ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
  p_.constants.push_back(v);
  return static_cast<std::uint32_t>(p_.constants.size() - 1) | kConstant;
}

std::uint32_t Compiler::add_operands(const OperandList& list) {
  auto first = static_cast<std::uint32_t>(p_.operands.size());
  p_.operands.insert(p_.operands.end(), list.begin(), list.end());
  return first;
}

std::uint32_t Compiler::variable_name(NameId name) {
  if (name >= variable_names_.size()) variable_names_.resize(names_.size(), 0);
  if (variable_names_[name] != 0) return variable_names_[name] - 1;
  VariableName entry;
  entry.name = names_.name(name);
  entry.missing = missing_name(rt_, entry.name);
  entry.global = global_value(rt_, entry.name);
  p_.names.push_back(entry);
  variable_names_[name] = static_cast<std::uint32_t>(p_.names.size());
  return variable_names_[name] - 1;
}

void Compiler::fail(ErrorCode code, const Node* at, std::string message, std::string hint) {
  if (failed()) return;
  Error::Parts parts;
  parts.code = code;
  parts.message = std::move(message);
  parts.hint = std::move(hint);
  parts.where = p_.source.locate(at->begin, at->end);
  failure_ = Error(std::move(parts));
}

// ---- the whole template

namespace {
/// Does the instruction go on at c, always or under a condition? (Those of loops are not meant.)
bool jumps(Op op) {
  switch (op) {
    case Op::jump:
    case Op::jump_if:
    case Op::jump_unless:
    case Op::jump_compare:
    case Op::jump_compare_unless:
    case Op::jump_attribute:
    case Op::jump_attribute_kind:
    case Op::jump_attribute_truth:
    case Op::jump_if_kind:
    case Op::jump_unless_kind: return true;
    default: return false;
  }
}
}  // namespace

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
  statements(nodes, scope);
  finish_routine(root);
  compile_blocks();
  follow_jumps();
  join_questions();
  rt_.arena.sort_log();  // so that readers need not
  return !failed();
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
      Value why = Value::view(rt_.arena.copy_text("there is no parent block called '" + std::string(block.name) + "'."));
      emit(Op::undefined, nullptr, register_of(state, super), constant(why));
    }
    scope.symbols.analyze_body(block.body);
    enter(scope);
    statements(block.body, scope);
    finish_routine(state);
  }
}

/// What jumps to a jump goes on to where that leads: ends of branches are often ends of what is around them. Exits of loops
/// stay, since their distance is what a turn of the loop costs.
void Compiler::follow_jumps() {
  for (Instruction& i : p_.code) {
    if (!jumps(i.op)) continue;
    for (int hops = 0; hops < 8 && p_.code[i.c].op == Op::jump; ++hops) i.c = p_.code[i.c].c;
    if (i.op == Op::jump && p_.code[i.c].op == Op::for_next) i.op = Op::go_on;
  }
}

/// What is asked about a member is mostly asked before it is used: `if x.y is string`, `if x.y`, and then x.y. Nothing moves,
/// so who jumps to the second of the two still finds it.
void Compiler::join_questions() {
  for (std::size_t at = 0; at + 1 < p_.code.size(); ++at) {
    Instruction& question = p_.code[at];
    const Instruction& use = p_.code[at + 1];
    if (use.op != Op::get_attribute || use.b != question.a || use.c != question.n) continue;
    if (question.op == Op::jump_attribute_kind) question.op = Op::jump_attribute_kind_or_get;
    if (question.op == Op::jump_attribute_truth) question.op = Op::jump_attribute_truth_or_get;
  }
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
  Result<Nodes> nodes = parse(rt, program->source, options);
  if (!nodes) return nodes.error();
  Compiler compiler(*program, rt);
  if (!compiler.run(*nodes)) return compiler.failure();
  return program;
}

}  // namespace parlance::jinja
