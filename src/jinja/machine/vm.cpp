// Machine::run: the loop over instructions. It is one long function because that is what keeps the state of the
// machine in registers; each case is either a line or a call.
#include "jinja/machine/vm.h"

#include <algorithm>
#include <cstring>

#include "jinja/objects/builtins.h"
#include "jinja/objects/limited_globals.h"
#include "value/markup.h"
#include "value/operators.h"
#include "value/text_of.h"

namespace parlance::jinja {
namespace {

/// The member of a namespace among the first few, which cost no steps.
DictEntry* known_member(NamespaceObject& ns, const Value& name) {
  constexpr std::uint32_t kFew = 16;
  for (DictEntry *e = ns.entries, *end = e + std::min(ns.size, kFew); e != end; ++e) {
    if (e->key.size == name.size && e->key.is_string() && equal_bytes(e->key.data, name.data, name.size)) return e;
  }
  return nullptr;
}

/// Takes the steps of the iterations that are left, `each` for one, where there are as many, and goes behind them.
void pass_rest(LoopState& loop, Runtime& rt, std::int64_t each) {
  if (!loop.plain || loop.iterator.mode != Iterator::Mode::items || loop.peeked != LoopState::Peeked::no) return;
  const std::int64_t left = loop.iterator.item_end - loop.iterator.item;
  if (left * each >= rt.steps_left) return;
  rt.steps_left -= left * each;
  loop.iterator.item = loop.iterator.item_end;
  loop.index0 += left;
}

bool kind_in(const Value& v, std::uint16_t kinds) { return ((1u << static_cast<unsigned>(v.kind)) & kinds) != 0; }

}  // namespace

const DictEntry* near_other_member(const Value& object, const AttributeSite& site) {
  if (object.kind != Kind::dict) return placed_member(object, site);
  return site.on_dict ? nullptr : find_key(*object.dict, leaf_text(site.name));
}

Machine::Machine(const Program& program, Runtime& rt, parlance::Output& output, FrameStack& stack,
                 const Variables& variables)
    : program_(program),
      sites_(program.sites.data()),
      operands_(program.operands.data()),
      bases_{0, reinterpret_cast<std::uintptr_t>(program.constants.data()) - (std::uintptr_t{kConstant} << 4)},
      rt_(rt),
      output_(output),
      stack_(stack) {
  const std::size_t names = program.names.size();
  const std::size_t tables = program.blocks.empty() ? names : names * 2;  // only blocks look at context_
  bound_ = rt.arena.allocate_array<Value>(tables);
  context_ = bound_ + names;
  bind_names(variables);
  for (std::size_t i = names; i < tables; ++i) bound_[i] = Value::invalid();
}

// ---- names

void Machine::bind_names(const Variables& variables) {
  Value* next = bound_;
  for (const VariableName& name : program_.names) *next++ = name.unset;
  const auto bind = [this](const DictEntry& variable) {
    if (!variable.key.is_leaf()) return;
    const std::uint32_t number = program_.numbers.find(leaf_text(variable.key), program_.names);
    if (number != VariableNumbers::kNone) bound_[number] = variable.value;
  };
  if (variables.base != nullptr) std::for_each_n(variables.base->entries, variables.base->size, bind);
  std::ranges::for_each(variables.overrides, bind);
}

Value Machine::lookup_in_block(std::uint32_t name) {
  for (std::uint32_t i = 0; i < frame_->scoped_count; ++i) {
    if (frame_->scoped[i].key.integer == name) return frame_->scoped[i].value;
  }
  return context_[name].is_invalid() ? variable(name) : context_[name];
}

// ---- attributes and items

Value Machine::attribute(Value object, std::uint32_t number) {
  const AttributeSite& site = sites_[number];
  if (site.is_item) return item(object, site.name);
  if (object.kind == Kind::dict && !site.on_dict) {
    const DictEntry* found = find_key(*object.dict, leaf_text(site.name));
    return found != nullptr ? found->value : no_attribute(rt_, object, site.name);
  }
  if (is_object(object, kNamespaceType) && !leaf_text(site.name).starts_with('_')) {
    const DictEntry* entry = known_member(*static_cast<NamespaceObject*>(object.object), site.name);
    if (entry != nullptr) return entry->value;
  }
  return get_attribute(rt_, object, site.name);
}

Value Machine::item(const Value& object, const Value& key) {
  if (object.kind == Kind::dict && key.is_leaf()) {
    if (const DictEntry* found = find_key(*object.dict, leaf_text(key))) return found->value;
  }
  return get_item(rt_, object, key);
}

// ---- output

bool Machine::emit_value(Value v, bool escape) {
  if (v.is_string() && !escape) {
    output_.emit(rt_, v);
    return true;
  }
  Value printed = escape ? escape_html(rt_, v) : to_text(rt_, v);
  if (printed.is_invalid()) return false;
  output_.emit(rt_, printed);
  return true;
}

/// Emits operands that are all strings in one run each; if one is not, or does not fit, nothing.
bool Machine::emit_leaves(const std::uint32_t* list, std::uint32_t count) {
  if (output_.makes_pieces()) return emit_leaf_pieces(list, count);
  char* at = output_.at();
  const char* const end = at + output_.room();
  for (const std::uint32_t* const stop = list + count; list != stop; ++list) {
    const Value& v = in(*list);
    if (v.kind != Kind::string || v.flags != 0 || v.size > static_cast<std::size_t>(end - at)) return false;
    copy_bytes(at, v.data, v.size);
    at += v.size;
  }
  output_.put(at);
  return true;
}

bool Machine::emit_leaf_pieces(const std::uint32_t* list, std::uint32_t count) {
  Piece* const room = output_.room_for(rt_, count);
  if (room == nullptr) return false;
  Piece* next = room;
  std::uint64_t bytes = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Value& v = in(list[k]);
    if (v.kind != Kind::string || v.flags != 0) return false;
    *next = {v.data, v.size, v.extra};
    next += v.size != 0;
    bytes += v.size;
  }
  output_.take(static_cast<std::uint32_t>(next - room), bytes);
  return true;
}

bool Machine::emit_parts(const Instruction& i, bool is_sum) {
  const std::uint32_t* list = operands_ + i.b;
  const bool escape = escapes(i.n);
  if (i.n != 0 && !escape && emit_leaves(list, i.c)) return true;
  bool plain = !escape;
  for (std::uint32_t k = 0; k < i.c; ++k) {
    const Value& v = in(list[k]);
    plain = plain && (v.is_string() ? !v.is_markup() : !is_sum);
  }
  if (!plain) {
    Value whole = is_sum ? sum(i) : join(i);
    return !whole.is_invalid() && emit_value(whole, escape);
  }
  for (std::uint32_t k = 0; k < i.c; ++k) {
    if (!emit_value(in(list[k]), false)) return false;
  }
  return true;
}

Value Machine::sum(const Instruction& i) {
  const std::uint32_t* list = operands_ + i.b;
  Value total = in(list[0]);
  for (std::uint32_t k = 1; k < i.c; ++k) {
    Value next = in(list[k]);
    bool plain = total.is_string() && next.is_string() && !((total.flags | next.flags) & Value::kMarkup);
    total = plain ? concat(rt_, total, next) : binary(rt_, BinaryOperator::add, total, next);
    if (total.is_invalid()) return total;
  }
  return total;
}

/// A rope that is appended to (`ns.text = ns.text ~ more`) shares its pieces with the result instead of copying them.
Value Machine::join_onto(Value total, const Instruction& i) {
  total.flags &= static_cast<std::uint8_t>(~Value::kMarkup);
  for (std::uint32_t k = 1; k < i.c && !total.is_invalid(); ++k) {
    Value part = to_text(rt_, in(operands_[i.b + k]));
    total = part.is_invalid() ? part : concat(rt_, total, part);
  }
  return total;
}

Value Machine::join(const Instruction& i) {
  const std::uint32_t* list = operands_ + i.b;
  bool markup = false;
  bool escape = i.n == static_cast<std::uint16_t>(EscapeMode::always);
  for (std::uint32_t k = 0; k < i.c && escape; ++k) markup = markup || in(list[k]).is_markup();
  const Value& first = in(list[0]);
  if (!markup && first.is_string() && !first.is_leaf()) return join_onto(first, i);
  StringBuilder builder(rt_);
  for (std::uint32_t k = 0; k < i.c; ++k) {
    const Value& given = in(list[k]);
    const Value part = markup ? escape_html(rt_, given) : given.is_string() ? given : to_text(rt_, given);
    if (part.is_invalid()) return part;
    builder.append(part);
  }
  return builder.finish(markup);
}

bool Machine::check_text(Value v, bool first) {
  if (v.is_string()) return true;
  Value other = make_static("");
  // Any + of a string and this fails; a number of it that does not is a bug that the oracle would show.
  return !(first ? binary(rt_, BinaryOperator::add, v, other) : binary(rt_, BinaryOperator::add, other, v))
              .is_invalid();
}

// ---- values

Value Machine::collection(const Instruction& i, Kind kind) {
  const std::uint32_t* list = operands_ + i.b;
  Value* made = rt_.arena.allocate_array<Value>(i.c);
  for (std::uint32_t k = 0; k < i.c; ++k) made[k] = in(list[k]);
  return make_list(rt_, made, i.c, kind);
}

Value Machine::dictionary(const Instruction& i) {
  const std::uint32_t* list = operands_ + i.b;
  DictBuilder dict(rt_, i.c / 2);
  for (std::uint32_t k = 0; k < i.c; k += 2) {
    if (!dict.set(in(list[k]), in(list[k + 1]))) return Value::invalid();
  }
  return dict.finish();
}

bool Machine::compare_others(std::uint16_t op, const Value& a, const Value& b) {
  if (!a.is_small_int() || !b.is_small_int()) return compare(rt_, static_cast<Comparison>(op), a, b);
  switch (static_cast<Comparison>(op)) {
    case Comparison::equal: return a.integer == b.integer;
    case Comparison::not_equal: return a.integer != b.integer;
    case Comparison::less: return a.integer < b.integer;
    case Comparison::less_equal: return a.integer <= b.integer;
    case Comparison::greater: return a.integer > b.integer;
    case Comparison::greater_equal: return a.integer >= b.integer;
    default: return compare(rt_, static_cast<Comparison>(op), a, b);
  }
}

bool Machine::slow_truth(const Value& v) {
  if (v.is_sequence()) return v.list->size != 0;
  if (v.kind == Kind::dict) return v.dict->size != 0;
  return truth(rt_, v);
}

Value Machine::filter(const Instruction& i, TextTarget* target) {
  const BoundCall& bound = program_.bound[i.c];
  alignas(Value) std::byte memory[Signature::kMost * sizeof(Value)];  // not cleared: each argument is written
  Value* arguments = reinterpret_cast<Value*>(memory);
  for (std::size_t k = 1; k < bound.row->bound.count; ++k)
    new (arguments + k) Value(program_.constants[bound.defaults + k]);
  new (arguments) Value(in(i.b));
  const std::uint32_t* list = operands_ + bound.first;
  for (std::uint32_t k = 0; k < bound.given; ++k) arguments[list[2 * k]] = in(list[2 * k + 1]);
  Call call{rt_, bound.row, arguments, {}, target};
  return bound.row->run(call);
}

Value Machine::length(const Value& v, std::uint16_t less) {
  std::int64_t n = length_of(rt_, v);
  return rt_.failed() ? Value::invalid() : Value::of_int(n - less);
}

Value Machine::mark_safe(const Value& v) {
  if (!rt_.autoescape) return v;
  Value text_of_it = to_text(rt_, v);
  return text_of_it.is_invalid() ? text_of_it : with_markup(text_of_it, true);
}

bool Machine::unpack(const Instruction& i) {
  const Value& v = in(i.b);
  Value* out = frame_->registers + i.a;
  Iterator it;
  if (!iterate(rt_, v, it)) {
    // A failure of the iteration itself stays; for a value that cannot be iterated Python has words of its own.
    if (rt_.failure.code == ErrorCode::type) {
      rt_.failure.message = "cannot unpack non-iterable " + std::string(type_name(v)) + " object";
    }
    return false;
  }
  std::uint32_t got = 0;
  for (Value next; it.next(rt_, next);) {
    if (got == i.c) {
      rt_.fail(ErrorCode::value, "too many values to unpack (expected " + std::to_string(i.c) + ")", v);
      return false;
    }
    out[got++] = next;
  }
  if (rt_.failed() || got == i.c) return !rt_.failed();
  rt_.fail(ErrorCode::value,
           "not enough values to unpack (expected " + std::to_string(i.c) + ", got " + std::to_string(got) + ")", v);
  return false;
}

// ---- loops

bool Machine::begin_loop(const Instruction& i) {
  LoopState* loop = frame_->loops[i.n];
  if (i.b != 0) {
    loop = rt_.arena.make<LoopState>();
    frame_->loops[i.n] = loop;
  }
  constexpr ListObject kNothing{};
  const Value& over = in(i.a);
  const bool is_list = over.is_sequence();
  loop->begin(is_list ? *over.list : kNothing,
              frame_->routine->kind == Routine::Kind::loop && i.n == 0 ? frame_->loop_depth : 0);
  loop->plain = is_list;
  return is_list || iterate(rt_, over, loop->iterator);
}

bool Machine::report_limit() {
  if (!rt_.charge(0)) return false;
  if (output_.bytes() > rt_.limits.output_bytes) {
    fail_output_limit(rt_);
  }
  return rt_.reserve(0) && !rt_.failed();
}

// ---- the rest

bool Machine::set_namespace(const Instruction& i) {
  const Value& target = in(i.a);
  if (!is_object(target, kNamespaceType) && (i.n & 1) != 0) {
    // Jinja2 checks the targets of an assignment, and forgets those of a block.
    rt_.fail(ErrorCode::type, "'" + std::string(type_name(target)) + "' object does not support item assignment",
             target);
    return false;
  }
  if (!is_object(target, kNamespaceType)) {
    rt_.fail(ErrorCode::runtime, "cannot assign attribute on non-namespace object", target);
    return false;
  }
  auto& ns = *static_cast<NamespaceObject*>(target.object);
  if (DictEntry* there = known_member(ns, in(i.b))) {
    there->value = in(i.c);
    return true;
  }
  if (!check_namespace_name(rt_, in(i.b))) return false;
  namespace_set(rt_, ns, leaf_text(in(i.b)), in(i.c));
  return !rt_.failed();
}

Value Machine::namespace_of(const CallShape& shape) {
  const auto count = static_cast<std::uint32_t>(shape.keywords.size());
  NamespaceObject* ns = make_namespace(rt_, count);
  const std::uint32_t* values = operands_ + shape.first;
  bool is_fine = true;
  for (std::uint32_t k = 0; k < count; ++k) {
    ns->entries[k] = {shape.keywords[k], in(values[k])};
    is_fine = is_fine && shape.keywords[k].data[0] != '_';
  }
  return is_fine || check_namespace_names(rt_, {ns->entries, count}) ? object_value(ns) : Value::invalid();
}

Value Machine::undefined_hint(Value why) {
  Value v;
  v.undefined = rt_.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::hint, why, {}});
  return v;
}

// The loop is threaded: every instruction ends by jumping to the next one's label, so that the processor predicts each
// jump by the instruction it follows. A switch in a loop, with its one shared jump, costs 8 % more on a short render.
#define CASE(name) at_##name
#define NEXT                                              \
  do {                                                    \
    running = pc++;                                       \
    pc_ = pc;                                             \
    goto* kLabels[static_cast<std::size_t>(running->op)]; \
  } while (false)
#define CHECKED_NEXT                \
  do {                              \
    if (rt_.failed()) return false; \
    NEXT;                           \
  } while (false)

bool Machine::run() {
  use_frame(new_frame(program_.routines[0], nullptr));
  const Instruction* const code = program_.code.data();
  const Instruction* pc = code + program_.routines[0].entry;
  Value* r = frame_->registers;
  // What calls out leaves pc_ behind, for failed_at() and for the frames it may enter; what enters or leaves a frame
  // comes back through these two.
  auto leave_to = [&](bool ok) {
    pc = pc_;
    r = frame_->registers;
    return ok;
  };
  static const void* const kLabels[] = {
#define PARLANCE_OP(name, operands, sentence) &&at_##name,
#include "jinja/compile/opcodes.def"
#undef PARLANCE_OP
  };
  const Instruction* running;
#define i (*running)
  NEXT;
  CASE(emit_text) : {
    const Value& v = in(i.a);
    output_.emit(rt_, v.data, v.size, v.extra);
    NEXT;
  }
  CASE(emit) : {
    const Value& v = r[i.a];
    if (v.kind == Kind::string && v.flags == 0 && i.n == 0) {
      output_.emit(rt_, v.data, v.size, v.extra);
      NEXT;
    }
    if (!emit_value(v, escapes(i.n))) return false;
    NEXT;
  }
  CASE(emit_raw) : if (!in(i.a).is_string()) {
    rt_.fail(ErrorCode::type, "sequence item 0: expected str instance, " + std::string(type_name(in(i.a))) + " found",
             in(i.a));
    return false;
  }
  output_.emit(rt_, in(i.a));
  NEXT;
  CASE(emit_join)
      : CASE(emit_sum)
      : if (i.n == 0 && emit_leaves(operands_ + i.b, i.c)) NEXT;  // the usual case: texts, and no escaping
  if (!emit_parts(i, i.op == Op::emit_sum)) return false;
  NEXT;
  CASE(check_text) : if (!check_text(in(i.a), i.n != 0)) return false;
  NEXT;
  CASE(check_defined) : if (in(i.a).is_undefined()) {
    fail_undefined(rt_, in(i.a));
    return false;
  }
  NEXT;
  CASE(copy) : r[i.a] = in(i.b);
  NEXT;
  CASE(resolve) : for (std::uint32_t k = 0; k < i.c; ++k) r[i.a + k] = bound_[i.b + k];
  NEXT;
  CASE(resolve_block) : r[i.a] = lookup_in_block(i.b);
  NEXT;
  CASE(outer) : {
    Frame* owner = frame_;
    for (std::uint16_t up = i.n; up != 0; --up) owner = owner->outer;
    r[i.a] = owner->registers[i.b];
    NEXT;
  }
  CASE(get_attribute) : {
    if (const DictEntry* found = near_member(r[i.b], sites_[i.c])) {
      r[i.a] = found->value;
      NEXT;
    }
    r[i.a] = other_member(r[i.b], i.c);
    CHECKED_NEXT;
  }
  CASE(get_item) : {
    const Value& key = in(i.c);
    if (const Value* found = near_item(r[i.b], key)) {
      r[i.a] = *found;
      NEXT;
    }
    r[i.a] = item(r[i.b], key);
    CHECKED_NEXT;
  }
  CASE(slice) : {
    const std::uint32_t* list = operands_ + i.c;
    r[i.a] = slice(rt_, r[i.b], in(list[0]), in(list[1]), in(list[2]));
    CHECKED_NEXT;
  }
  CASE(add) : CASE(subtract) : {
    const Value& a = in(i.b);
    const Value& b = in(i.c);
    std::int64_t result;
    bool fits = a.is_small_int() && b.is_small_int() &&
                !(i.op == Op::add ? __builtin_add_overflow(a.integer, b.integer, &result)
                                  : __builtin_sub_overflow(a.integer, b.integer, &result));
    if (fits) {
      std::uint32_t origin = a.origin != 0 ? a.origin : b.origin;
      r[i.a] = Value::of_int(result);
      r[i.a].origin = origin;
      NEXT;
    }
    r[i.a] = binary(rt_, static_cast<BinaryOperator>(i.n), a, b);
    CHECKED_NEXT;
  }
  CASE(binary) : r[i.a] = binary(rt_, static_cast<BinaryOperator>(i.n), in(i.b), in(i.c));
  CHECKED_NEXT;
  CASE(sum) : r[i.a] = sum(i);
  CHECKED_NEXT;
  CASE(join) : r[i.a] = join(i);
  CHECKED_NEXT;
  CASE(negate) : r[i.a] = negate(rt_, in(i.b));
  CHECKED_NEXT;
  CASE(positive) : r[i.a] = positive(rt_, in(i.b));
  CHECKED_NEXT;
  CASE(not_) : r[i.a] = Value::boolean(!is_true(in(i.b)));
  CHECKED_NEXT;
  CASE(compare) : r[i.a] = Value::boolean(compare_values(i.n, in(i.b), in(i.c)));
  CHECKED_NEXT;
  CASE(jump) : pc = code + i.c;
  NEXT;
  CASE(jump_if) : if (is_true(r[i.a])) pc = code + i.c;
  CHECKED_NEXT;
  CASE(jump_unless) : if (!is_true(r[i.a])) pc = code + i.c;
  CHECKED_NEXT;
  CASE(jump_compare) : if (compare_values(i.n, in(i.a), in(i.b))) pc = code + i.c;
  CHECKED_NEXT;
  CASE(jump_compare_unless) : if (!compare_values(i.n, in(i.a), in(i.b))) pc = code + i.c;
  CHECKED_NEXT;
  CASE(jump_attribute) : {
    const Value& wanted = in(i.b);
    const DictEntry* found = near_member(r[i.a], sites_[i.n >> 4]);
    if (found != nullptr && (i.n & 6) == 0 && found->value.is_leaf() && wanted.is_leaf()) {  // == or != of texts
      if (equal_bytes(leaf_text(found->value), leaf_text(wanted)) == ((i.n & 1) == (i.n >> 3 & 1))) pc = code + i.c;
      NEXT;
    }
    const Value& v = found != nullptr ? found->value : other_member(r[i.a], i.n >> 4);
    if (compare_values(i.n & 7, v, wanted) == ((i.n & 8) == 0)) pc = code + i.c;
    CHECKED_NEXT;
  }
  CASE(jump_attribute_kind) : {
    const Value& v = member(r[i.a], i.n);
    if (kind_in(v, static_cast<std::uint16_t>(i.b)) == ((i.b & kConstant) == 0)) pc = code + i.c;
    CHECKED_NEXT;
  }
  CASE(jump_attribute_truth) : if (is_true(member(r[i.a], i.n)) == (i.b != 0)) pc = code + i.c;
  CHECKED_NEXT;
  CASE(jump_attribute_kind_or_get) : {
    const Value& v = member(r[i.a], i.n);
    if (kind_in(v, static_cast<std::uint16_t>(i.b)) == ((i.b & kConstant) == 0)) {
      pc = code + i.c;
    } else {
      r[pc++->a] = v;
    }
    CHECKED_NEXT;
  }
  CASE(jump_attribute_truth_or_get) : {
    const Value& v = member(r[i.a], i.n);
    if (is_true(v) == (i.b != 0)) {
      pc = code + i.c;
    } else {
      r[pc++->a] = v;
    }
    CHECKED_NEXT;
  }
  CASE(is_kind) : r[i.a] = Value::boolean(kind_in(in(i.b), i.n));
  NEXT;
  CASE(jump_if_kind) : if (kind_in(r[i.a], i.n)) pc = code + i.c;
  NEXT;
  CASE(jump_unless_kind) : if (!kind_in(r[i.a], i.n)) pc = code + i.c;
  NEXT;
  CASE(filter) : r[i.a] = filter(i, nullptr);
  CHECKED_NEXT;
  CASE(emit_filter) : {
    const bool escape = escapes(i.n);
    const Value v = filter(i, escape ? nullptr : &output_);
    if (v.is_invalid() || !emit_value(v, escape)) return false;
    CHECKED_NEXT;
  }
  CASE(length) : if (r[i.b].is_sequence()) {
    r[i.a] = Value::of_int(std::int64_t{r[i.b].list->size} - i.n);
    NEXT;
  }
  r[i.a] = length(r[i.b], i.n);
  CHECKED_NEXT;
  CASE(apply) : r[i.a] = apply(i);
  CHECKED_NEXT;
  CASE(call) : if (!leave_to(call_shape(i))) return false;
  NEXT;
  CASE(make_namespace) : if (!is_namespace_function(r[i.b])) goto at_call;
  r[i.a] = namespace_of(program_.shapes[i.c]);
  if (!step_limits(1)) return false;
  NEXT;
  CASE(call_method) : if (!leave_to(call_method(i))) return false;
  NEXT;
  CASE(make_list) : r[i.a] = collection(i, Kind::list);
  NEXT;
  CASE(make_tuple) : r[i.a] = collection(i, Kind::tuple);
  NEXT;
  CASE(make_dict) : r[i.a] = dictionary(i);
  CHECKED_NEXT;
  CASE(for_begin) : if (i.b == 0 && r[i.a].is_sequence() && frame_->routine->kind != Routine::Kind::loop) {
    frame_->loops[i.n]->begin(*r[i.a].list, 0);
    NEXT;
  }
  if (!begin_loop(i)) return false;
  NEXT;
  CASE(go_on) : running = code + i.c;
  pc_ = pc = running + 1;
  CASE(for_next) : CASE(for_scan) : {
    if (!step_limits(static_cast<std::uint32_t>(i.c - static_cast<std::uint32_t>(&i - code)))) return false;
    const bool more = is_watched_ ? watched_next(i) : frame_->loops[i.n]->next(rt_, r[i.a]);
    if (!more) pc = code + i.c;
    CHECKED_NEXT;
  }
  CASE(for_rest) : pass_rest(*frame_->loops[i.n], rt_, std::int64_t{code[i.c].c} - i.c);  // as for_next takes them
  pc = code + i.c;
  NEXT;
  CASE(for_left) : if (turns_ != nullptr) note_turn(i.n, nullptr);
  NEXT;
  CASE(look_around) : if (resumption_ != nullptr) resumption_->next[i.a].has_looked = true;
  NEXT;
  CASE(for_candidate) : {
    if (!step_limits(static_cast<std::uint32_t>(i.c - static_cast<std::uint32_t>(&i - code)))) return false;
    const bool more = frame_->loops[i.n]->iterator.next(rt_, r[i.a]);
    if (!more && turns_ != nullptr) note_turn(i.n, nullptr);
    if (!more) pc = code + i.c;
    CHECKED_NEXT;
  }
  CASE(for_accept) : frame_->loops[i.n]->accept(r[i.a]);
  if (turns_ != nullptr) note_turn(i.n, &r[i.a]);
  NEXT;
  CASE(loop_object) : r[i.a] = loop_object(i.n);
  NEXT;
  CASE(loop_field) : if (i.b == static_cast<std::uint32_t>(LoopField::index0)) {
    r[i.a] = Value::of_int(frame_->loops[i.n]->index0);
    NEXT;
  }
  r[i.a] = loop_field(rt_, *frame_->loops[i.n], static_cast<LoopField>(i.b));
  CHECKED_NEXT;
  CASE(unpack) : if (!unpack(i)) return false;
  NEXT;
  CASE(collect_begin) : {
    auto* list = rt_.arena.make<ListBuilder>(rt_);
    r[i.a].kind = Kind::integer;
    r[i.a].object = reinterpret_cast<Object*>(list);
    NEXT;
  }
  CASE(collect) : reinterpret_cast<ListBuilder*>(r[i.a].object)->append(in(i.b));
  CHECKED_NEXT;
  CASE(collect_end) : r[i.a] = reinterpret_cast<ListBuilder*>(r[i.a].object)->finish();
  NEXT;
  CASE(capture_begin) : frame_->captures[i.n] = output_.begin_capture();
  NEXT;
  CASE(capture_end) : r[i.a] = output_.end_capture(rt_, frame_->captures[i.n], escapes(i.b));
  CHECKED_NEXT;
  CASE(mark_safe) : r[i.a] = mark_safe(in(i.b));
  CHECKED_NEXT;
  CASE(generation_begin) : frame_->captures[i.n] = output_.begin_generation();
  NEXT;
  CASE(generation_end) : output_.end_generation(frame_->captures[i.n]);
  NEXT;
  CASE(make_macro) : {
    auto& routine = program_.routines[i.b];
    r[i.a] = make_macro(rt_, routine, frame_);
    auto& macro = *static_cast<MacroObject*>(r[i.a].object);
    macro.scoped = frame_->scoped;
    macro.scoped_count = frame_->scoped_count;
    NEXT;
  }
  CASE(recurse) : if (!leave_to(enter_recursive_loop(program_.routines[i.b], frame_, in(i.c), 0, i.a))) return false;
  NEXT;
  CASE(set_attribute) : if (DictEntry* there = placed_member(r[i.a], sites_[i.n >> 1])) {
    there->value = in(i.c);
    NEXT;
  }
  if (!set_namespace(i)) return false;
  NEXT;
  CASE(check_namespace) : if (!is_object(in(i.a), kNamespaceType)) {
    rt_.fail(ErrorCode::runtime, "cannot assign attribute on non-namespace object", in(i.a));
    return false;
  }
  NEXT;
  CASE(store_context) : context_[i.a] = in(i.b);
  NEXT;
  CASE(run_block) : if (!leave_to(run_block(i))) return false;
  NEXT;
  CASE(make_self) : r[i.a] = make_self(rt_, program_);
  NEXT;
  CASE(default_parameter) : if (!is_left_out(r[i.a])) pc = code + i.c;
  NEXT;
  CASE(undefined) : r[i.a] = undefined_hint(in(i.b));
  NEXT;
  CASE(read_name) : r[i.a] = in(i.b);
  if (r[i.a].is_undefined() && r[i.a].undefined == in(i.c).undefined)
    r[i.a].undefined = rt_.arena.make<UndefinedInfo>(*in(i.c).undefined);
  NEXT;
  CASE(autoescape) : {
    bool before = rt_.autoescape;
    rt_.autoescape = is_true(in(i.a));
    r[i.b] = Value::boolean(before);
    NEXT;
  }
  CASE(load_template) : if (!load_template(in(i.a), i.n)) {
    if (i.b == 0 || rt_.failure.code != ErrorCode::templates_not_found) return false;
    rt_.failure = {};  // ignore missing
  }
  NEXT;
  CASE(fail) : rt_.fail(static_cast<ErrorCode>(i.n), std::string(leaf_text(in(i.a))));
  return false;
  CASE(return_) : if (frame_->caller == nullptr) return step_limits(0);
  leave();
  leave_to(true);
  CHECKED_NEXT;
#undef i
}

#undef CASE
#undef NEXT
#undef CHECKED_NEXT

}  // namespace parlance::jinja
