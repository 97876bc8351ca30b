// Turns: which bytes of the prompt each message's turn of the template's main loop wrote.
//
// A chat template writes a message's turn in one iteration of a loop over the messages. While it runs, the machine
// notes where iterations begin and end; render/assistant.cpp makes masks of that.
#pragma once
#include <cstdint>
#include <vector>

#include "value/object.h"

namespace parlance::jinja {

/// The item of a loop over numbers, as range(messages|length): whose turn an iteration is shows what it wrote.
inline constexpr DictObject kNumber{};

/// One iteration of a loop over dicts or numbers, at the top level of the output.
struct Turn {
  const DictObject* item;
  std::uint64_t begin;
  std::uint64_t end;
};

class TurnRecorder {
 public:
  /// The loop `depth` deep begins an iteration (or ends: `item` is null) with `bytes` of the prompt written. Most write
  /// nothing, since they only look for something: so whatever else there is to do comes last.
  void note(std::uint32_t depth, const DictObject* item, std::uint64_t bytes) {
    if (open_.size() <= depth) [[unlikely]]
      return begin_first(depth, item, bytes);
    const Open before = open_[depth];
    open_[depth] = {item, bytes};
    if (before.item != nullptr && bytes > before.begin) [[unlikely]]
      add(before, bytes);
  }
  void clear() {
    turns_.clear();
    for (Open& open : open_) open = {};
  }
  const std::vector<Turn>& turns() const { return turns_; }

 private:
  struct Open {
    const DictObject* item = nullptr;
    std::uint64_t begin = 0;
  };
  [[gnu::noinline]] void begin_first(std::uint32_t depth, const DictObject* item, std::uint64_t bytes) {
    open_.resize(depth + std::size_t{1});
    open_[depth] = {item, bytes};
  }
  [[gnu::noinline]] void add(Open turn, std::uint64_t end) { turns_.push_back({turn.item, turn.begin, end}); }

  std::vector<Turn> turns_;
  std::vector<Open> open_;  ///< those that have begun, by depth
};

}  // namespace parlance::jinja
