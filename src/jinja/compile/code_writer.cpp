// Instructions, registers and tables of a program. Start at CodeWriter::emit.
#include "jinja/compile/code_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "jinja/objects/builtins.h"
#include "value/string.h"

namespace parlance::jinja {
namespace {

bool same_constant(const Value& a, const Value& b) {
  return a.integer == b.integer && a.kind == b.kind && a.flags == b.flags && a.size == b.size;
}

Value missing_name(Runtime& rt, std::string_view name) {
  Value v;
  v.flags = Value::kMissing;
  v.undefined = rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::name, Value::view(name), {}});
  return v;
}

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

/// May the instruction write to the output itself? What is called gives its text back.
bool writes(Op op) {
  switch (op) {
    case Op::emit_text:
    case Op::emit:
    case Op::emit_raw:
    case Op::emit_join:
    case Op::emit_sum:
    case Op::emit_filter:
    case Op::run_block: return true;
    default: return false;
  }
}

}  // namespace

// ---- routines and registers

std::uint32_t CodeWriter::begin_routine(Routine::Kind kind, std::string_view name) {
  Routine routine;
  routine.kind = kind;
  routine.name = name;
  routine.entry = static_cast<std::uint32_t>(p_.code.size());
  p_.routines.push_back(std::move(routine));
  return static_cast<std::uint32_t>(p_.routines.size() - 1);
}

void CodeWriter::finish_routine(RoutineState& state) {
  emit(Op::return_, nullptr);
  p_.routines[state.index].registers = static_cast<std::uint32_t>(state.used.size());
}

std::uint32_t CodeWriter::register_of(RoutineState& routine, Ident ident) {
  if (const std::optional<std::uint32_t> known = known_register(routine, ident)) return *known;
  auto reg = static_cast<std::uint32_t>(routine.used.size());
  routine.used.push_back(true);
  routine.registers.emplace_back(ident, reg);
  return reg;
}

std::optional<std::uint32_t> CodeWriter::known_register(const RoutineState& routine, Ident ident) {
  // From the newest on: inner scopes, whose names are asked for most, come last.
  for (auto entry = routine.registers.rbegin(); entry != routine.registers.rend(); ++entry) {
    if (entry->first == ident) return entry->second;
  }
  return {};
}

std::optional<std::uint32_t> CodeWriter::known_variable(NameId name) const {
  const bool known = name < variable_names_.size() && variable_names_[name] != 0;
  return known ? std::optional(variable_names_[name] - 1) : std::nullopt;
}

std::uint32_t CodeWriter::temporary(std::uint32_t count) {
  std::vector<bool>& used = routine_->used;
  std::uint32_t run = 0;
  std::uint32_t& first_free = routine_->first_free;
  while (first_free < used.size() && used[first_free]) ++first_free;
  for (std::uint32_t i = first_free; i < used.size() && count <= 4; ++i) {
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

void CodeWriter::release(Place place) {
  if (place.temporary) release_register(place.code);
}

void CodeWriter::release_run(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) release_register(first + i);
}

Place CodeWriter::target_or_temporary(const Place* target) {
  return target != nullptr ? *target : Place{temporary(), true};
}

// ---- instructions

std::uint32_t CodeWriter::emit(Op op, const Node* at, std::uint32_t a, std::uint32_t b, std::uint32_t c,
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

void CodeWriter::emit_jump(Op op, const Node* at, Label& label, std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  const std::uint32_t before = label.last;
  label.last = emit(op, at, a, b, before, n);
}

void CodeWriter::bind(Label& label) {
  if (!pending_text_.empty()) flush_text();
  bind_to(label, static_cast<std::uint32_t>(p_.code.size()));
}

void CodeWriter::bind_to(Label& label, std::uint32_t target) {
  for (std::uint32_t jump = label.last; jump != Label::kNone;) jump = std::exchange(p_.code[jump].c, target);
  label.last = Label::kNone;
}

std::uint32_t CodeWriter::constant(Value v) {
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

std::uint32_t CodeWriter::add_operands(const OperandList& list) {
  auto first = static_cast<std::uint32_t>(p_.operands.size());
  p_.operands.insert(p_.operands.end(), list.begin(), list.end());
  return first;
}

std::uint32_t CodeWriter::variable_name(NameId name) {
  if (name >= variable_names_.size()) variable_names_.resize(names_.size(), 0);
  if (variable_names_[name] != 0) return variable_names_[name] - 1;
  VariableName entry;
  entry.name = names_.name(name);
  entry.missing = missing_name(rt_, entry.name);
  const Value global = global_value(rt_, entry.name);
  entry.is_global = !global.is_undefined();
  entry.unset = entry.is_global ? global : entry.missing;
  p_.names.push_back(entry);
  variable_names_[name] = static_cast<std::uint32_t>(p_.names.size());
  return variable_names_[name] - 1;
}

std::uint32_t CodeWriter::known_site(std::string_view name, bool is_item) {
  constexpr std::uint32_t kFew = 64;  // comparing them takes less than a table
  const auto count = static_cast<std::uint32_t>(p_.sites.size());
  for (std::uint32_t i = 1; i < std::min(count, kFew); ++i) {
    if (p_.sites[i].is_item == is_item && equal_bytes(leaf_text(p_.sites[i].name), name)) return i;
  }
  if (count <= kFew) return 0;
  const auto key = [](std::string_view of, bool item) { return (item ? "[" : ".") + std::string(of); };
  for (std::uint32_t i = std::max<std::uint32_t>(kFew, further_sites_.size() + kFew); i < count; ++i)
    further_sites_.emplace(key(leaf_text(p_.sites[i].name), p_.sites[i].is_item), i);
  const auto found = further_sites_.find(key(name, is_item));
  return found == further_sites_.end() ? 0 : found->second;
}

std::uint32_t CodeWriter::site(std::string_view name) {
  if (const std::uint32_t known = known_site(name, false); known != 0) return known;
  Value dict, ignored;
  dict.kind = Kind::dict;
  AttributeSite entry;
  entry.name = Value::view(name);
  if (ShortName::fits(name)) entry.short_name = ShortName(name);
  entry.text_method = find_method(Value::view(""), name);
  if (name == "startswith") entry.affix = AttributeSite::Affix::prefix;
  if (name == "endswith") entry.affix = AttributeSite::Affix::suffix;
  entry.dict_method = find_method(dict, name);
  entry.on_dict = entry.dict_method != nullptr || find_attribute(rt_, dict, name, ignored) != AttributeKind::absent;
  p_.sites.push_back(entry);
  return static_cast<std::uint32_t>(p_.sites.size() - 1);
}

std::uint32_t CodeWriter::item_site(Value key) {
  if (const std::uint32_t known = known_site(leaf_text(key), true); known != 0) return known;
  AttributeSite entry;
  entry.name = p_.constants[constant(key) & ~kConstant];
  entry.is_item = true;
  if (ShortName::fits(leaf_text(key))) entry.short_name = ShortName(leaf_text(key));
  p_.sites.push_back(entry);
  return static_cast<std::uint32_t>(p_.sites.size() - 1);
}

void CodeWriter::fail(ErrorCode code, const Node* at, std::string message, std::string hint) {
  if (failed()) return;
  failure_ = Error(code, std::move(message)).at(p_.source.locate(at->begin, at->end)).hint(std::move(hint));
}

// ---- literal text

void CodeWriter::output_text(Value v, const Node* at) {
  if (v.size == 0) return;
  if (pending_text_.empty()) pending_at_ = at;
  pending_text_.push_back(v);
}

void CodeWriter::flush_text() {
  const auto texts = pending_text_;
  pending_text_.clear();  // emit() below must not come back here
  Value all = texts[0];
  std::size_t size = 0;
  for (const Value& v : texts) size += v.size;
  if (texts.size() > 1) {
    char* copy = rt_.arena.allocate_text(size);
    all = Value::view({copy, size});
    for (const Value& v : texts) {
      std::memcpy(copy, v.data, v.size);
      log_copy(copy, v);
      copy += v.size;
    }
  }
  all.flags = 0;
  emit(Op::emit_text, pending_at_, constant(all));
}

namespace {
bool holds(const Arena::Derived& record, const char* address) {
  return address >= record.begin && address < record.begin + record.size;
}
}  // namespace

/// The number of the log's record of this text. Mostly the parser made it, and its records are in order; or it was made
/// just now. Sorting the log for each would cost more than the rest of the compiler.
std::size_t CodeWriter::find_record(const char* address) {
  constexpr std::size_t kNew = 32;
  const auto in_order = [&](std::size_t count) {
    const auto log = rt_.arena.sorted_derived().first(count);
    const auto ends_before = [](const Arena::Derived& record, const char* at) {
      return record.begin + record.size <= at;
    };
    return static_cast<std::size_t>(std::lower_bound(log.begin(), log.end(), address, ends_before) - log.begin());
  };
  const auto log = rt_.arena.sorted_derived();
  if (const std::size_t found = in_order(sorted_records_); found < sorted_records_ && holds(log[found], address)) {
    return found;
  }
  const std::size_t least = std::max(sorted_records_, log.size() - std::min(log.size(), kNew));
  for (std::size_t i = log.size(); i-- > least;) {
    if (holds(log[i], address)) return i;
  }
  rt_.arena.sort_log();
  sorted_records_ = log.size();
  return in_order(sorted_records_);
}

/// Copies the provenance records of text that the compiler derived: they follow each other, since a text is logged at
/// once.
void CodeWriter::log_copy(const char* copy, Value v) {
  Arena& arena = rt_.arena;
  if (!arena.holds_text(v.data)) return arena.log_derived(copy, v.size, {v.data, 0});
  const char* const end = v.data + v.size;
  const std::size_t size = arena.sorted_derived().size();
  for (std::size_t i = find_record(v.data); i < size; ++i) {
    const Arena::Derived record = arena.sorted_derived()[i];  // logging moves the log
    if (record.begin >= end || record.begin + record.size <= v.data) return;
    const char* const from = std::max(record.begin, v.data);
    const char* const to = std::min(record.begin + record.size, end);
    arena.log_derived(copy + (from - v.data), static_cast<std::size_t>(to - from), record.source());
  }
}

Value CodeWriter::in_one_run(Value rope) {
  char* at = rt_.arena.allocate_text(rope.size);
  Value flat = Value::view({at, rope.size});
  flat.flags = rope.flags & Value::kMarkup;
  for_each_piece(rope, [&](std::string_view piece) {
    if (piece.empty()) return;
    std::memcpy(at, piece.data(), piece.size());
    log_copy(at, Value::view(piece));  // two literals may be one piece, where they are neighbours in memory
    at += piece.size();
  });
  return flat;
}

// ---- when all is written

/// What jumps to a jump goes on to where that leads: ends of branches are often ends of what is around them. Exits of
/// loops stay, since their distance is what a turn of the loop costs.
void CodeWriter::follow_jumps() {
  for (Instruction& i : p_.code) {
    if (!jumps(i.op)) continue;
    for (int hops = 0; hops < 8 && p_.code[i.c].op == Op::jump; ++hops) i.c = p_.code[i.c].c;
    const Op there = p_.code[i.c].op;
    if (i.op == Op::jump && (there == Op::for_next || there == Op::for_scan)) i.op = Op::go_on;
  }
}

/// The loop whose for_next stands at `top` ends here.
void CodeWriter::end_loop(std::uint32_t top) {
  const bool is_silent =
      std::none_of(p_.code.begin() + top, p_.code.end(), [](const Instruction& i) { return writes(i.op); });
  if (is_silent && p_.code[top].op == Op::for_next) p_.code[top].op = Op::for_scan;
}

/// What is asked about a member is mostly asked before it is used: `if x.y is string`, `if x.y`, and then x.y. Nothing
/// moves, so who jumps to the second of the two still finds it.
void CodeWriter::join_questions() {
  for (std::size_t at = 0; at + 1 < p_.code.size(); ++at) {
    Instruction& question = p_.code[at];
    const Instruction& use = p_.code[at + 1];
    if (use.op != Op::get_attribute || use.b != question.a || use.c != question.n) continue;
    if (question.op == Op::jump_attribute_kind) question.op = Op::jump_attribute_kind_or_get;
    if (question.op == Op::jump_attribute_truth) question.op = Op::jump_attribute_truth_or_get;
  }
}

}  // namespace parlance::jinja
