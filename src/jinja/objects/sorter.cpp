// The sort behind sorter.h: CPython's start of a run, binary insertion, and merging above 64
// members.
#include "jinja/objects/sorter.h"

#include <algorithm>

#include "value/operators.h"

namespace parlance::jinja {

bool Sorter::prepare(std::size_t size) {
  if (!rt_.reserve(size * (sizeof(Entry) * 2 + width_ * sizeof(Value)))) return false;
  size_ = size;
  entries_ = rt_.arena.allocate_array<Entry>(size);
  keys_ = rt_.arena.allocate_array<Value>(size * width_);
  return true;
}

/// Only a strictly falling run is reversed, or equal members would change places.
void Sorter::sort_run(Entry* first, std::size_t n) {
  std::size_t sorted = std::min<std::size_t>(n, 2);
  if (n > 1 && less(first[1], first[0])) {
    while (sorted < n && less(first[sorted], first[sorted - 1])) ++sorted;
    std::reverse(first, first + sorted);
  } else {
    while (sorted < n && !rt_.failed() && !less(first[sorted], first[sorted - 1])) ++sorted;
  }
  for (; sorted < n && !rt_.failed(); ++sorted) {
    Entry pivot = first[sorted];
    std::size_t low = 0, high = sorted;
    while (low < high) {
      std::size_t middle = (low + high) / 2;
      if (less(pivot, first[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    std::move_backward(first + low, first + sorted, first + sorted + 1);
    first[low] = pivot;
  }
}

/// Merges two sorted halves. Of equal members the left goes first, so the sort is stable. Halves in order already cost
/// one comparison.
void Sorter::merge(Entry* first, std::size_t middle, std::size_t n, Entry* spare) {
  if (rt_.failed() || !less(first[middle], first[middle - 1])) return;
  std::copy(first, first + middle, spare);
  std::size_t left = 0, right = middle, out = 0;
  while (left < middle && right < n && !rt_.failed()) {
    first[out++] = less(first[right], spare[left]) ? first[right++] : spare[left++];
  }
  std::copy(spare + left, spare + middle, first + out);
}

void Sorter::merge_sort(Entry* first, std::size_t n, Entry* spare) {
  constexpr std::size_t kRun = 64;
  if (n < kRun) return sort_run(first, n);
  std::size_t middle = n / 2;
  merge_sort(first, middle, spare);
  if (rt_.failed()) return;
  merge_sort(first + middle, n - middle, spare);
  merge(first, middle, n, spare);
}

bool Sorter::sort(bool reverse) {
  // CPython reverses before and after, which keeps equal members in their order under reverse=True as well.
  if (reverse) std::reverse(entries_, entries_ + size_);
  merge_sort(entries_, size_, rt_.arena.allocate_array<Entry>(size_ / 2 + 1));
  if (reverse) std::reverse(entries_, entries_ + size_);
  return !rt_.failed();
}

Value Sorter::finish() {
  Value* sorted = rt_.arena.allocate_array<Value>(size_);
  for (std::size_t i = 0; i < size_; ++i) sorted[i] = entries_[i].item;
  return make_list(rt_, sorted, size_);
}

bool key_less(Runtime& rt, const Value* a, const Value* b, std::size_t) { return less(rt, *a, *b); }

}  // namespace parlance::jinja
