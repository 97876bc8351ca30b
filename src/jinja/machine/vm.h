// Machine: runs a Program. vm.cpp is the loop over instructions, vm_calls.cpp everything that enters a routine.
//
// Template recursion (macros, recursive loops, blocks) uses frames of its own, never the native stack: how deep a
// stranger's template goes is then a limit that the caller sets, and not a crash.
#pragma once
#include <span>

#include "engine/output.h"
#include "jinja/compile/program.h"
#include "jinja/machine/loop.h"
#include "jinja/machine/macro.h"
#include "jinja/machine/resume.h"
#include "jinja/machine/turns.h"
#include "jinja/objects/builtins.h"

namespace parlance::jinja {

/// One activation of a routine.
struct Frame {
  Value* registers;
  LoopState** loops;
  parlance::Output::Mark* captures;
  const Routine* routine;
  Frame* outer;   ///< frame of the enclosing routine, for its variables
  Frame* caller;  ///< frame to return to
  const Instruction* return_to;
  std::uint32_t result;      ///< register of the caller that gets the text
  std::uint32_t loop_depth;  ///< depth0 of a recursive loop
  parlance::Output::Mark mark;
  const DictEntry* scoped;  ///< what a scoped block was given: name number as key, value
  std::uint32_t scoped_count;
  std::size_t stack_mark;  ///< where the frame stack stood before
};

/// Memory for frames that nothing refers to after they return. Chunks are kept and reused.
class FrameStack {
 public:
  char* push(std::size_t bytes);
  std::size_t mark() const { return chunk_ * kChunk + used_; }
  void pop_to(std::size_t mark) {
    chunk_ = mark / kChunk;
    used_ = mark % kChunk;
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 18;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
};

/// The variables of a render: `overrides` come before `base`.
struct Variables {
  const DictObject* base = nullptr;
  std::span<const DictEntry> overrides;
};

/// The member of a namespace, if it stands where namespace() put it.
inline DictEntry* placed_member(const Value& object, const AttributeSite& site) {
  if (!is_object(object, kNamespaceType)) return nullptr;
  const auto& ns = *static_cast<const NamespaceObject*>(object.object);
  return site.place < ns.size && ns.entries[site.place].key.data == site.keyword ? ns.entries + site.place : nullptr;
}

/// near_member() of what is no dict, or has many keys, or of a long name. Apart, so that the usual case has no
/// registers to save.
const DictEntry* near_other_member(const Value& object, const AttributeSite& site);

/// A key of a dict, or the member of a namespace where namespace() put it: nothing that could fail. Null: look further.
inline const DictEntry* near_member(const Value& object, const AttributeSite& site) {
  const bool is_usual =
      object.kind == Kind::dict && !site.on_dict && object.dict->index == nullptr && site.short_name.size() != 0;
  return is_usual ? find_short_key(*object.dict, site.short_name) : near_other_member(object, site);
}

/// list[number], where there is such an item. Null: look further.
inline const Value* near_item(const Value& object, const Value& key) {
  if (!object.is_sequence() || !key.is_small_int()) return nullptr;
  const std::int64_t at = key.integer < 0 ? key.integer + object.list->size : key.integer;
  return at >= 0 && at < object.list->size ? object.list->items + at : nullptr;
}

class Machine {
 public:
  /// What the variables hold, and all else that is given, must live as long as the machine.
  Machine(const Program& program, Runtime& rt, parlance::Output& output, FrameStack& stack, const Variables& variables);
  /// Notes the turns of messages while running. To be called before run().
  void record_turns(TurnRecorder& recorder) {
    turns_ = &recorder;
    is_watched_ = true;
  }
  /// Leaves out iterations that the last run had, and notes those that the next may leave out. To be called before
  /// run(). Not where templates may change what they are given.
  void resume(Resumption& resumption) {
    if (program_.allow_changes) return;
    resumption_ = &resumption;
    is_watched_ = true;
    resumption.next.resize(program_.resumable.size());
  }
  /// Runs the root. False after a failure: rt.failure says what, failed_at() where.
  bool run();
  /// Source bytes of the instruction that failed.
  Extent failed_at() const { return program_.extents[static_cast<std::size_t>(pc_ - 1 - program_.code.data())]; }
  /// The macros and loops around the failure, newest first, for Error::trace.
  std::vector<std::string> trace() const;

 private:
  friend class LoopWatch;  // resume.cpp

  // vm.cpp
  const Value& in(std::uint32_t operand) const {
    return *reinterpret_cast<const Value*>(bases_[operand >> 31] + (std::uint64_t{operand} << 4));
  }
  void use_frame(Frame* frame) {
    frame_ = frame;
    bases_[0] = reinterpret_cast<std::uintptr_t>(frame->registers);
  }
  /// Takes steps from the budget and looks at the limits that nothing else looks at.
  bool step_limits(std::uint32_t steps) {
    rt_.steps_left -= steps;
    bool fine = rt_.steps_left >= 0 && output_.bytes() <= rt_.limits.output_bytes && !rt_.arena.over_limit();
    return (fine || report_limit()) && !rt_.failed();
  }
  [[gnu::cold]] bool report_limit();
  void note_turn(std::uint32_t loop, const Value* item);
  /// Gives each name its value: the render's variable, else the global.
  void bind_names(const Variables& variables);
  const Value& variable(std::uint32_t name) const { return bound_[name]; }
  Value lookup_in_block(std::uint32_t name);
  Value attribute(Value object, std::uint32_t site);
  /// attribute() with the usual case, a key of a dict, in line.
  const Value& member(const Value& object, std::uint32_t number) {
    const DictEntry* found = near_member(object, sites_[number]);
    return found != nullptr ? found->value : other_member(object, number);
  }
  const Value& other_member(const Value& object, std::uint32_t number) { return member_ = attribute(object, number); }
  Value item(const Value& object, const Value& key);
  bool escapes(std::uint32_t mode) const {
    return mode != 0 && (mode == static_cast<std::uint32_t>(EscapeMode::always) || rt_.autoescape);
  }
  bool emit_value(Value v, bool escape);
  bool emit_leaf_pieces(const std::uint32_t* list, std::uint32_t count);
  bool emit_leaves(const std::uint32_t* list, std::uint32_t count);
  bool emit_parts(const Instruction& i, bool sum);
  Value sum(const Instruction& i);
  Value join(const Instruction& i);
  Value join_onto(Value total, const Instruction& i);
  bool check_text(Value v, bool first);
  Value collection(const Instruction& i, Kind kind);
  Value dictionary(const Instruction& i);
  bool compare_values(std::uint16_t op, const Value& a, const Value& b) {
    if (op <= 1 && a.is_leaf() && b.is_leaf()) return equal_bytes({a.data, a.size}, {b.data, b.size}) != (op == 1);
    return compare_others(op, a, b);
  }
  bool compare_others(std::uint16_t op, const Value& a, const Value& b);
  bool is_true(const Value& v) {
    switch (v.kind) {
      case Kind::boolean: return v.integer != 0;
      case Kind::string: return v.size != 0;
      case Kind::undefined:
      case Kind::none: return false;
      default: return slow_truth(v);
    }
  }
  bool slow_truth(const Value& v);
  /// `target`: where the result may be written, if it is emitted anyway.
  Value filter(const Instruction& i, TextTarget* target);
  Value length(const Value& v, std::uint16_t less);
  Value mark_safe(const Value& v);
  bool unpack(const Instruction& i);
  bool begin_loop(const Instruction& i);
  bool watched_next(const Instruction& i);
  Value loop_object(std::uint32_t number);
  bool set_namespace(const Instruction& i);
  Value namespace_of(const CallShape& shape);
  Value undefined_hint(Value why);

  // vm_calls.cpp
  PassedArguments gather(const CallShape& shape, bool& ok);
  bool add_mapping(const Value& more, DictBuilder& keywords);
  Value call_row(const Builtin& row, const Value* self, const CallShape& shape);
  Value apply(const Instruction& i);
  bool call(Value callee, const CallShape& shape, std::uint32_t result);
  bool call_shape(const Instruction& i);
  bool call_method(const Instruction& i);
  bool call_macro(Object* object, const PassedArguments& arguments, std::uint32_t result);
  bool bind_macro(const Routine& routine, const PassedArguments& arguments, Frame& frame);
  bool call_loop(const LoopObject& loop, const PassedArguments& arguments, std::uint32_t result);
  bool load_template(Value name, std::uint16_t how);
  Frame* new_frame(const Routine& routine, Frame* outer);
  bool enter(Frame* frame, std::uint32_t result);
  void leave();
  bool run_block(const Instruction& i);
  bool enter_recursive_loop(const Routine& routine, Frame* outer, Value over, std::uint32_t depth,
                            std::uint32_t result);

  const Program& program_;
  const AttributeSite* sites_;
  const std::uint32_t* operands_;
  Value member_;  ///< what other_member() found
  /// Where the values of operands begin: registers of the running frame, and constants as if there were kConstant
  /// before them.
  std::uintptr_t bases_[2];
  static_assert(sizeof(Value) == 1 << 4);
  Runtime& rt_;
  parlance::Output& output_;
  FrameStack& stack_;
  Frame* frame_ = nullptr;
  const Instruction* pc_ = nullptr;  ///< the next instruction, whenever run() calls out
  TurnRecorder* turns_ = nullptr;
  Resumption* resumption_ = nullptr;
  bool is_watched_ = false;  ///< by one of the two
  std::uint32_t depth_ = 0;
  Value* bound_;    ///< by name number
  Value* context_;  ///< what top-level sets gave to blocks; invalid: nothing
};

}  // namespace parlance::jinja
