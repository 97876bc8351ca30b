// Sorter: a stable sort of Python values that stops at the first failure.
//
// Comparing Python values can fail midway, which std::stable_sort cannot be told. Runs under 64
// members are sorted as CPython does (Objects/listobject.c: count_run, then binary insertion), so
// that the same pair is compared first and the same TypeError results. Used by sort, dictsort,
// groupby, pprint and list.sort.
#pragma once
#include <span>

#include "value/dict.h"
#include "value/iterate.h"
#include "value/runtime.h"

namespace parlance::jinja {

/// Sorts members by keys, `width` of them for each.
class Sorter {
 public:
  struct Entry {
    Value item;
    const Value* keys;
  };
  /// a < b of two arrays of keys; a failure is recorded in the runtime.
  using Less = bool (*)(Runtime&, const Value* a, const Value* b, std::size_t width);

  Sorter(Runtime& rt, std::size_t width, Less less) : rt_(rt), width_(width), less_(less) {}

  /// Takes the members of `value` with the keys that key_of(item, out) writes (false: it failed);
  /// false after a failure.
  template <typename KeyOf>
  bool collect(Value value, KeyOf key_of) {
    Value list = to_list(rt_, value);
    if (list.is_invalid() || !prepare(list.list->size)) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      Value* keys = keys_ + i * width_;
      entries_[i] = {list.list->items[i], keys};
      if (!rt_.charge(1) || !key_of(entries_[i].item, keys)) return false;
    }
    return true;
  }
  bool sort(bool reverse);
  std::span<const Entry> entries() const { return {entries_, size_}; }
  /// The members as a list.
  Value finish();

 private:
  bool prepare(std::size_t size);
  bool less(const Entry& a, const Entry& b) {
    return !rt_.failed() && rt_.charge(1) && less_(rt_, a.keys, b.keys, width_);
  }
  void sort_run(Entry* first, std::size_t n);
  void merge_sort(Entry* first, std::size_t n, Entry* spare);
  void merge(Entry* first, std::size_t middle, std::size_t n, Entry* spare);

  Runtime& rt_;
  std::size_t width_;
  Less less_;
  Entry* entries_ = nullptr;
  Value* keys_ = nullptr;
  std::size_t size_ = 0;
};

/// One key needs no look at equality. That matters for keys without order: two equal ones fail in Python too.
bool key_less(Runtime& rt, const Value* a, const Value* b, std::size_t);

}  // namespace parlance::jinja
