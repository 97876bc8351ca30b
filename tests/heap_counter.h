// HeapCounter: what a program takes from the heap. A program that links heap_counter.cpp counts every operator new.
#pragma once
#include <cstddef>
#include <cstdint>

namespace parlance::test {

struct HeapCount {
  std::uint64_t allocations = 0;  ///< since the program began
  std::uint64_t live_bytes = 0;   ///< now, as they were asked for
};

HeapCount heap_count();

/// While it lives, an allocation ends the program if the environment says so (PARLANCE_STOP_AT_ALLOCATION=1): the
/// debugger then shows who allocates.
class NoAllocations {
 public:
  NoAllocations();
  ~NoAllocations();
  NoAllocations(const NoAllocations&) = delete;
  /// How many there were so far.
  std::uint64_t count() const { return heap_count().allocations - before_; }

 private:
  std::uint64_t before_;
};

}  // namespace parlance::test
