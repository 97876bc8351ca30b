// Leaving out iterations that another run has made. Start at LoopWatch::note.
#include "jinja/machine/resume.h"

#include <algorithm>
#include <cstring>

#include "jinja/machine/vm.h"

namespace parlance::jinja {
namespace {

constexpr std::uint32_t kEnds = 8;                // checkpoints of a loop
constexpr std::size_t kMostText = 4096;           // bytes of a text that is kept to be compared
constexpr std::int64_t kMostBound = 1ll << 40;    // what sums of bounds and offsets stay far from overflow with
constexpr std::size_t kMostPiece = 0x7FFF'FFFFu;  // bytes

using Use = LoopInput::Use;

/// Bit by bit: equal texts of two messages are not the same, since what the loop leaves behind says where it came from.
bool same_value(const Value& a, const Value& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Are the first `count` items of both the same objects?
bool same_items(const Value* a, const Value* b, std::size_t count) {
  return a == b || count == 0 || std::memcmp(a, b, count * sizeof(Value)) == 0;
}

/// Does the value tell the iterations [front, end) what it told them then?
bool tells_same(const SeenValue& then, const SeenValue& now, std::int64_t front, std::int64_t end) {
  if (then.kind != now.kind) return false;
  switch (then.kind) {
    case SeenValue::Kind::value: return same_value(then.value, now.value);
    case SeenValue::Kind::text: return then.text == now.text && then.value.flags == now.value.flags;
    case SeenValue::Kind::macro: return then.number == now.number;
    case SeenValue::Kind::bound:
      return then.number == now.number || (then.number < front && now.number < front) ||
             (then.number >= end && now.number >= end);
    case SeenValue::Kind::items: {
      const std::int64_t seen = end + now.number;
      return then.number == now.number && seen >= 0 && seen <= then.count && seen <= now.count &&
             same_items(then.items, now.items, static_cast<std::size_t>(seen));
    }
  }
  return false;
}

/// The member of a namespace, or null.
const DictEntry* member_of(const NamespaceObject& ns, std::string_view name) {
  for (std::uint32_t i = 0; i < ns.size; ++i) {
    if (leaf_text(ns.entries[i].key) == name) return ns.entries + i;
  }
  return nullptr;
}

SeenValue seen(const Value& value) {
  SeenValue made;
  made.value = value;
  return made;
}

SeenValue seen(SeenValue::Kind kind, std::int64_t number) {
  SeenValue made;
  made.kind = kind;
  made.number = number;
  return made;
}

/// A text of this run's, as a copy.
bool copy_text(const Value& value, SeenValue& into) {
  into.kind = SeenValue::Kind::text;
  into.value.flags = value.flags & Value::kMarkup;
  if (value.is_leaf()) {
    if (value.size > kMostText) return false;
    into.text.assign(value.data, value.size);
    return true;
  }
  for (const Piece& piece : std::span(value.rope->pieces, value.rope->count)) {
    if (into.text.size() + piece.size > kMostText) return false;
    into.text.append(piece.data, piece.size);
  }
  return true;
}

}  // namespace

void LoopRecord::reset() {
  items = nullptr;
  seen.clear();
  ends.clear();
  has_looked = false;
}

void Resumption::begin(std::string_view known_text, std::uint64_t last_byte) {
  for (LoopRecord& record : next) record.reset();
  text = known_text;
  until = last_byte;
  left_out = memory = 0;
}

/// A loop of the root while it runs.
class LoopWatch {
 public:
  LoopWatch(Machine& machine, const Instruction& next)
      : machine_(machine),
        rt_(machine.rt_),
        resumption_(*machine.resumption_),
        loop_(machine.program_.resumable[next.b - 1]),
        state_(*machine.frame_->loops[next.n]),
        number_(next.b - 1) {}
  void note();

 private:
  Value value_of(const LoopInput& input) const {
    return input.is_register ? machine_.frame_->registers[input.number] : machine_.variable(input.number);
  }
  bool observe(LoopRecord& into);
  bool observe_input(const LoopInput& input, LoopRecord& into);
  bool observe_namespace(const NamespaceObject& ns, LoopRecord& into);
  bool observe_value(const Value& value, LoopRecord& into);
  bool outlives_run(const Value& value) const;
  LoopCheckpoint checkpoint(std::uint32_t item) const;
  bool keep_members(std::vector<LoopMember>& into) const;
  void put_members(const LoopCheckpoint& at);
  bool may_go_on_at(const LoopRecord& known, const LoopRecord& now, const LoopCheckpoint& end) const;
  void go_on(const LoopRecord& known, const LoopRecord& now);

  Machine& machine_;
  Runtime& rt_;
  Resumption& resumption_;
  const ResumableLoop& loop_;
  LoopState& state_;
  std::uint32_t number_;
};

// ---- what is kept

/// Is the value the template's or the conversation's, or no address at all?
bool LoopWatch::outlives_run(const Value& value) const {
  const auto stays = [this](const void* address) { return !rt_.arena.holds(address); };
  switch (value.kind) {
    case Kind::none:
    case Kind::boolean:
    case Kind::real: return true;
    case Kind::integer: return value.is_small_int() || stays(value.big);
    case Kind::string: return value.is_leaf() && (value.size == 0 || stays(value.data));
    case Kind::list:
    case Kind::tuple: return stays(value.list) && stays(value.list->items);
    case Kind::dict: return stays(value.dict);
    case Kind::object: return stays(value.object);
    case Kind::undefined: return value.undefined == nullptr || stays(value.undefined);
    case Kind::invalid: return false;
  }
  return false;
}

bool LoopWatch::observe_namespace(const NamespaceObject& ns, LoopRecord& into) {
  into.seen.push_back(seen(Value::of_int(ns.size)));
  for (std::uint32_t i = 0; i < ns.size; ++i) {
    const DictEntry& entry = ns.entries[i];
    if (!outlives_run(entry.key) || !outlives_run(entry.value)) return false;
    into.seen.push_back(seen(entry.key));
    into.seen.push_back(seen(entry.value));
  }
  return true;
}

/// All of a value counts. False: it is none that can be compared with another run's.
bool LoopWatch::observe_value(const Value& value, LoopRecord& into) {
  if (is_object(value, kNamespaceType)) {
    return observe_namespace(*static_cast<const NamespaceObject*>(value.object), into);
  }
  if (is_object(value, kMacroType)) {
    const auto& macro = *static_cast<const MacroObject*>(value.object);
    const auto number = static_cast<std::uint32_t>(macro.routine - machine_.program_.routines.data());
    into.seen.push_back(seen(SeenValue::Kind::macro, number));
    const bool is_known = std::find(loop_.macros.begin(), loop_.macros.end(), number) != loop_.macros.end();
    return is_known && macro.outer == machine_.frame_ && macro.scoped == nullptr;
  }
  if (value.is_undefined()) {
    SeenValue nothing;
    nothing.value.flags = value.flags;
    into.seen.push_back(outlives_run(value) ? seen(value) : nothing);
    return true;
  }
  into.seen.push_back(seen(value));
  if (outlives_run(value)) return true;
  return value.is_string() && copy_text(value, into.seen.back());
}

bool LoopWatch::observe_input(const LoopInput& input, LoopRecord& into) {
  Value value = value_of(input);
  if (!input.member.empty() && is_object(value, kNamespaceType)) {
    const DictEntry* const found = member_of(*static_cast<const NamespaceObject*>(value.object), input.member);
    value = found != nullptr ? found->value : Value();
    if (is_object(value, kNamespaceType)) return false;
  }
  if (input.use == Use::item && value.is_sequence() && input.offset < value.list->size) {
    value = value.list->items[input.offset];
    if (is_object(value, kNamespaceType)) return false;  // what the loop assigns would not be found again
  } else if (input.use == Use::near && value.is_sequence()) {
    SeenValue list = seen(SeenValue::Kind::items, input.offset);
    list.items = value.list->items;
    list.count = value.list->size;
    into.seen.push_back(std::move(list));
    return list.items == nullptr || !rt_.arena.holds(list.items);
  } else if (input.use == Use::bound) {
    const bool is_length = input.is_length && value.is_sequence();
    const std::int64_t number = is_length ? value.list->size : value.integer;
    const bool is_number = is_length || (!input.is_length && value.is_small_int());
    if (is_number && number < kMostBound && number > -kMostBound) {
      into.seen.push_back(seen(SeenValue::Kind::bound, number + input.offset));
      return true;
    }
  }
  return observe_value(value, into);
}

bool LoopWatch::observe(LoopRecord& into) {
  return std::all_of(loop_.inputs.begin(), loop_.inputs.end(),
                     [&](const LoopInput& input) { return observe_input(input, into); });
}

/// The members that the loop may assign. Of a namespace that is used as a whole, they are all.
bool LoopWatch::keep_members(std::vector<LoopMember>& into) const {
  for (std::uint32_t k = 0; k < loop_.inputs.size(); ++k) {
    const LoopInput& input = loop_.inputs[k];
    const Value value = value_of(input);
    if (!is_object(value, kNamespaceType)) continue;
    const auto& ns = *static_cast<const NamespaceObject*>(value.object);
    const bool is_whole = input.member.empty();
    for (std::uint32_t place = 0; place < ns.size; ++place) {
      const DictEntry& entry = ns.entries[place];
      if (!is_whole && !(input.is_written && leaf_text(entry.key) == input.member)) continue;
      if (!outlives_run(entry.key) || !outlives_run(entry.value)) return false;
      into.push_back({k, place, entry.key, entry.value});
    }
  }
  std::ranges::stable_sort(into, {}, &LoopMember::place);
  return true;
}

LoopCheckpoint LoopWatch::checkpoint(std::uint32_t item) const {
  const parlance::Output& output = machine_.output_;
  const std::uint64_t pieces = std::uint64_t{2} * output.piece_count() * sizeof(Piece);
  return {.item = item,
          .bytes = output.bytes(),
          .steps_left = rt_.steps_left,
          .memory = rt_.arena.used() + pieces + resumption_.memory,
          .random_state = rt_.random_state,
          .members = {}};
}

// ---- going on

void LoopWatch::put_members(const LoopCheckpoint& at) {
  for (const LoopMember& member : at.members) {
    const Value value = value_of(loop_.inputs[member.input]);
    namespace_set(rt_, *static_cast<NamespaceObject*>(value.object), leaf_text(member.name), member.value);
  }
}

/// Is there room within the limits and the known text, and would the iterations do the same once more?
bool LoopWatch::may_go_on_at(const LoopRecord& known, const LoopRecord& now, const LoopCheckpoint& end) const {
  const LoopCheckpoint& front = known.front;
  // Also captures count as output while they are made, which was within the limit from there.
  if (now.front.bytes != front.bytes || end.bytes - front.bytes > kMostPiece) return false;
  if (end.bytes > std::min<std::uint64_t>(resumption_.until, resumption_.text.size())) return false;
  if (front.steps_left - end.steps_left >= rt_.steps_left) return false;
  if (front.random_state != now.front.random_state || front.random_state != end.random_state) return false;
  const std::size_t items = std::size_t{end.item} + loop_.ahead;
  if (items > now.count || !same_items(known.items, now.items, items)) return false;
  return std::equal(known.seen.begin(), known.seen.end(), now.seen.begin(), now.seen.end(),
                    [&](const SeenValue& a, const SeenValue& b) { return tells_same(a, b, front.item, end.item); });
}

/// Leaves out as many iterations as it can.
void LoopWatch::go_on(const LoopRecord& known, const LoopRecord& now) {
  const auto found = std::find_if(known.ends.rbegin(), known.ends.rend(),
                                  [&](const LoopCheckpoint& end) { return may_go_on_at(known, now, end); });
  if (found == known.ends.rend()) return;
  const LoopCheckpoint& front = known.front;
  const auto size = static_cast<std::uint32_t>(found->bytes - front.bytes);
  machine_.output_.emit(rt_, resumption_.text.data() + front.bytes, size);
  const std::int64_t left = rt_.steps_left - (front.steps_left - found->steps_left);
  put_members(*found);
  rt_.steps_left = left;
  resumption_.memory += found->memory - front.memory;
  resumption_.left_out += found->item - front.item;
  state_.iterator.item = now.items + found->item;
  state_.index0 = std::int64_t{found->item} - 1;
  state_.peeked = LoopState::Peeked::no;
}

void LoopWatch::note() {
  LoopRecord& record = resumption_.next[number_];
  if (state_.index0 < 0) {
    const Value* const items = state_.iterator.item;
    const bool is_list = state_.plain && state_.iterator.mode == Iterator::Mode::items && items != nullptr;
    record.items = is_list && !rt_.arena.holds(items) ? items : nullptr;
    record.count = record.items == nullptr ? 0 : static_cast<std::uint32_t>(state_.iterator.item_end - items);
  }
  if (record.items == nullptr) return;
  if (state_.index0 + 1 == loop_.behind) {
    record.front = checkpoint(loop_.behind);
    if (!observe(record)) return record.reset();
    const std::vector<LoopRecord>& known = resumption_.known;
    const bool is_known = !resumption_.text.empty() && number_ < known.size() && known[number_].items != nullptr;
    if (is_known) go_on(known[number_], record);
  }
  const auto item = static_cast<std::uint32_t>(state_.index0 + 1);
  const std::uint32_t last = item + loop_.ahead;
  const bool is_near_end = last <= record.count && last + kEnds > record.count;
  if (item <= loop_.behind || !is_near_end || record.has_looked) return;
  LoopCheckpoint end = checkpoint(item);
  if (keep_members(end.members)) record.ends.push_back(std::move(end));
}

void note_iteration(Machine& machine, const Instruction& next) { LoopWatch(machine, next).note(); }

}  // namespace parlance::jinja
