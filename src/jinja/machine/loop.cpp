// The loop variable: Jinja2's LoopContext (runtime.py).
#include "jinja/machine/loop.h"

#include "jinja/compile/compiler.h"
#include "jinja/machine/vm.h"
#include "jinja/objects/builtins.h"
#include "value/operators.h"

namespace parlance::jinja {

bool LoopState::peek(Runtime& rt) {
  if (peeked == Peeked::no) peeked = iterator.next(rt, upcoming) ? Peeked::item : Peeked::end;
  return peeked == Peeked::item;
}

std::int64_t LoopState::length(Runtime& rt) {
  std::int64_t left = iterator.remaining();
  if (left < 0) {
    ListBuilder rest(rt);
    for (Value v; iterator.next(rt, v) && rt.charge(1) && !rt.failed();) rest.append(v);
    Value list = rest.finish();
    iterate(rt, list, iterator);
    left = rest.size();
  }
  return index0 + 1 + left + (peeked == Peeked::item ? 1 : 0);
}

namespace {
Value no_item(Runtime& rt, std::string_view why) {
  Value v;
  v.undefined = rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::hint, Value::view(why), {}});
  return v;
}
}  // namespace

Value loop_field(Runtime& rt, LoopState& loop, LoopField field) {
  switch (field) {
    case LoopField::index0: return Value::of_int(loop.index0);
    case LoopField::index: return Value::of_int(loop.index0 + 1);
    case LoopField::revindex0: return Value::of_int(loop.length(rt) - loop.index0 - 1);
    case LoopField::revindex: return Value::of_int(loop.length(rt) - loop.index0);
    case LoopField::first: return Value::boolean(loop.index0 == 0);
    case LoopField::last: return Value::boolean(!loop.peek(rt));
    case LoopField::length: return Value::of_int(loop.length(rt));
    case LoopField::previtem: return loop.index0 == 0 ? no_item(rt, "there is no previous item") : loop.before();
    case LoopField::nextitem: return loop.peek(rt) ? loop.upcoming : no_item(rt, "there is no next item");
    case LoopField::depth: return Value::of_int(std::int64_t{loop.depth0} + 1);
    case LoopField::depth0: return Value::of_int(loop.depth0);
  }
  return {};
}

namespace {

LoopState& state_of(Call& call) { return *static_cast<LoopObject*>(call[0].object)->state; }

Value loop_cycle(Call& call) {
  std::uint32_t count = call.rest.positional_count;
  if (count == 0) return call.fail(ErrorCode::type, "no items for cycling given");
  return call.rest.positional[state_of(call).index0 % count];
}

Value loop_changed(Call& call) {
  LoopState& loop = state_of(call);
  Value seen = copy_list(call.rt, {call.rest.positional, call.rest.positional_count}, Kind::tuple);
  bool same = !loop.last_changed.is_invalid() && equal(call.rt, loop.last_changed, seen);
  loop.last_changed = seen;
  return Value::boolean(!same);
}

constexpr Builtin kMethods[] = {
    {"cycle", "", "self, *args", loop_cycle, "The argument whose turn it is in this iteration.",
     "{% for x in 'abc' %}{{ loop.cycle('odd', 'even') }} {% endfor %} -> odd even odd"},
    {"changed", "", "self, *value", loop_changed, "Whether the arguments differ from those of the last call.",
     "{% for x in 'aab' %}{{ loop.changed(x) }} {% endfor %} -> True False True"},
};

Value loop_text(Runtime& rt, Object* object, bool) {
  LoopState& loop = *static_cast<LoopObject*>(object)->state;
  std::string text = "<LoopContext " + std::to_string(loop.index0 + 1) + "/" + std::to_string(loop.length(rt)) + ">";
  return make_computed(rt, text);
}

std::int64_t loop_length(Runtime& rt, Object* object) { return static_cast<LoopObject*>(object)->state->length(rt); }

// A loop is its own iterator: whoever iterates it takes items from the loop itself, each with the loop beside it.
void loop_iterate(Runtime&, Object* object, Iterator& it) {
  it.mode = Iterator::Mode::object;
  it.object = object;
}

bool loop_next(Runtime& rt, Object* object, Value& out) {
  Value pair[2] = {{}, object_value(object)};
  if (!static_cast<LoopObject*>(object)->state->next(rt, pair[0])) return false;
  out = copy_list(rt, pair, Kind::tuple);
  return !out.is_invalid();
}

}  // namespace

Value loop_attribute(Runtime& rt, Object* object, std::string_view name) {
  if (int field = simple_loop_field(name); field >= 0) {
    return loop_field(rt, *static_cast<LoopObject*>(object)->state, static_cast<LoopField>(field));
  }
  if (const Builtin* row = find_builtin(kMethods, name)) {
    return object_value(rt.arena.make<BoundMethod>(BoundMethod{{&kBoundMethodType}, object_value(object), row}));
  }
  return {};
}

const ObjectType kLoopType{.name = "LoopContext",
                           .to_text = loop_text,
                           .length = loop_length,
                           .iterate = loop_iterate,
                           .next = loop_next,
                           .get_attribute = loop_attribute,
                           .refused_names =
                               " _after _before _current _iterable _iterator _last_changed_value _length"
                               " _peek_next _recurse _to_iterator _undefined ",
                           .is_callable = true};

// ---- the machine's: what `loop` is, and iterations that somebody watches

Value Machine::loop_object(std::uint32_t number) {
  bool recursive = frame_->routine->kind == Routine::Kind::loop && number == 0;
  return object_value(rt_.arena.make<LoopObject>(LoopObject{{&kLoopType},
                                                            frame_->loops[number],
                                                            recursive ? frame_->routine : nullptr,
                                                            recursive ? frame_->outer : nullptr}));
}

/// next() of a loop, with somebody watching.
bool Machine::watched_next(const Instruction& i) {
  if (resumption_ != nullptr && i.b != 0) note_iteration(*this, i);
  Value& item = frame_->registers[i.a];
  const bool more = frame_->loops[i.n]->next(rt_, item);
  if (turns_ != nullptr && i.op != Op::for_scan) note_turn(i.n, more ? &item : nullptr);
  return more;
}

void Machine::note_turn(std::uint32_t loop, const Value* item) {
  // Only what the root's own loops write straight to the prompt is a turn.
  if (frame_->caller != nullptr || output_.is_capturing()) return;
  const DictObject* whose = nullptr;
  if (item != nullptr && item->kind == Kind::dict) whose = item->dict;
  // A loop within another one may be over numbers of anything.
  if (item != nullptr && item->kind == Kind::integer && loop == 0) whose = &kNumber;
  turns_->note(loop, whose, output_.bytes());
}

}  // namespace parlance::jinja
