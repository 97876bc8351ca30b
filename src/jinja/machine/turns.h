// Turns: which bytes of the prompt each message's turn of the template's main loop wrote.
//
// A chat template writes a message's turn in one iteration of a loop over the messages. While it runs, the machine
// notes where iterations begin and end; render/assistant.cpp makes masks of that.
#pragma once
#include <cstdint>
#include <vector>

#include "value/object.h"

namespace parlance::jinja {

/// One iteration of a loop over dicts, at the top level of the output.
struct Turn {
  const DictObject* item;
  std::uint64_t begin;
  std::uint64_t end;
};

class TurnRecorder {
 public:
  /// The loop `depth` deep begins an iteration (or ends: `item` is null) with `bytes` of the prompt written.
  void note(std::uint32_t depth, const DictObject* item, std::uint64_t bytes) {
    if (open_.size() <= depth) open_.resize(depth + 1);
    Turn& turn = open_[depth];
    if (turn.item != nullptr && bytes > turn.begin) turns_.push_back({turn.item, turn.begin, bytes});
    turn = {item, bytes, bytes};
  }
  void clear() {
    turns_.clear();
    open_.clear();
  }
  const std::vector<Turn>& turns() const { return turns_; }

 private:
  std::vector<Turn> turns_;
  std::vector<Turn> open_;
};

}  // namespace parlance::jinja
