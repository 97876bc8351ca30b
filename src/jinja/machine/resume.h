// Resumption: what one run notes of its loops, so that the next one need not make all iterations again.
//
// For who renders a conversation again that has grown at its end. In front of some of the last iterations of a loop
// over messages the machine notes a checkpoint: how far the output is, what the loop has changed. In the next run, if
// the items up to there are the same, and if all that the iterations read around the loop is the same or tells them the
// same (compile/loop_inputs.h), their text stands in the known prompt already. One piece points to it, what they
// changed is set, their steps are charged, and the loop goes on at the checkpoint. What stands before the loop is
// always run.
//
// Nothing is taken over from a run whose prompt was not accepted. Begin reading at LoopWatch::note.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "value/object.h"

namespace parlance::jinja {

/// A value that the iterations of a loop read, kept beyond the run.
struct SeenValue {
  enum class Kind : std::uint8_t {
    value,  ///< one that outlives the run, and has to be the very same
    text,   ///< a text that does not
    items,  ///< a list of which items near the iteration's are read
    bound,  ///< what the number of the iteration is compared with
    macro,  ///< the number of a routine
  };
  Kind kind = Kind::value;
  std::int64_t number = 0;  ///< bound; macro; items: how far ahead
  Value value;
  std::string text;
  const Value* items = nullptr;
  std::uint32_t count = 0;
};

/// A member of a namespace.
struct LoopMember {
  std::uint32_t input;  ///< number of the input that is the namespace
  std::uint32_t place;  ///< in it: what the loop adds is added in the same order
  Value name;
  Value value;
};

/// The state of a run in front of an iteration.
struct LoopCheckpoint {
  std::uint32_t item = 0;       ///< its number
  std::uint64_t bytes = 0;      ///< of the prompt
  std::int64_t steps_left = 0;  ///< as if nothing had been left out; so is the memory
  std::uint64_t memory = 0;
  std::uint64_t random_state = 0;
  std::vector<LoopMember> members;  ///< those that the loop assigns
};

struct LoopRecord {
  const Value* items = nullptr;  ///< that it runs over; null: nothing is known
  std::uint32_t count = 0;
  LoopCheckpoint front;         ///< the first place to leave it from
  std::vector<SeenValue> seen;  ///< then
  std::vector<LoopCheckpoint> ends;
  bool has_looked = false;  ///< further than at its inputs (Op::look_around): what follows is no place to go on at

  void reset();
};

/// Of one prompt after the other.
struct Resumption {
  std::vector<LoopRecord> known;  ///< of the run that wrote `text`, by the loops' numbers
  std::vector<LoopRecord> next;   ///< of the run that goes on or was the last
  std::string_view text;          ///< the known prompt; none: nothing may be left out
  std::uint64_t until = 0;        ///< nothing behind this byte of the new prompt may be left out
  std::uint64_t left_out = 0;     ///< iterations
  std::uint64_t memory = 0;       ///< that they took

  /// To be called before a run.
  void begin(std::string_view known_text, std::uint64_t last_byte);
  /// The prompt of the last run is the known one from now on.
  void accept() { known.swap(next); }
};

class Machine;
struct Instruction;
/// The machine is about to begin an iteration of a loop of the root: `next` is its for_next.
void note_iteration(Machine& machine, const Instruction& next);

}  // namespace parlance::jinja
