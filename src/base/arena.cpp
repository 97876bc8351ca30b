// Arena: chunks that double in size up to a bound. reset() keeps them, up to another.
#include "base/arena.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace parlance {
namespace {
constexpr std::size_t kLargestChunk = std::size_t{1} << 20;
/// Bytes of one kind that reset() keeps at most, unless the first chunk alone has more.
constexpr std::size_t kKept = std::size_t{4} << 20;

char* take(std::size_t bytes) {
  void* data = ::operator new(bytes, std::nothrow);
  if (data == nullptr) std::abort();  // the system itself is out of memory: nothing sensible is left to do
  return static_cast<char*>(data);
}

void give_back(char* data) { ::operator delete(data, std::nothrow); }

/// Gives back chunks behind the first that are more than reset() keeps.
[[gnu::noinline]] void keep_some(auto& list) {
  std::size_t kept = 1;
  for (std::size_t bytes = list[0].capacity; kept < list.size(); ++kept) {
    bytes += list[kept].capacity;
    if (bytes > kKept) break;
  }
  for (std::size_t i = kept; i < list.size(); ++i) give_back(list[i].data);
  list.resize(kept);
}
}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_.list) give_back(chunk.data);
  for (const Chunk& chunk : text_chunks_.list) give_back(chunk.data);
}

/// A chunk of the size that a new arena would take; it may be one that was kept.
Arena::Chunk& Arena::next_chunk(Chunks& chunks, std::size_t bytes) {
  const std::size_t number = chunks.in_use++;
  const std::size_t grown = number == 0 ? first_chunk_ : growth_ * chunks.list[number - 1].size / 4;
  const std::size_t size = std::max(bytes, std::min(grown, std::max(kLargestChunk, first_chunk_)));
  if (number == chunks.list.size()) {
    chunks.list.push_back({take(size), size, size});
  } else if (chunks.list[number].capacity < size) {
    give_back(std::exchange(chunks.list[number].data, nullptr));
    chunks.list[number] = {take(size), size, size};
  }
  chunks.list[number].size = size;
  used_ += size;
  return chunks.list[number];
}

void* Arena::allocate_slow(std::size_t bytes) {
  const Chunk& chunk = next_chunk(chunks_, bytes);
  next_ = chunk.data + bytes;
  end_ = chunk.data + chunk.size;
  return chunk.data;
}

char* Arena::allocate_text_slow(std::size_t bytes) {
  const Chunk& chunk = next_chunk(text_chunks_, bytes);
  text_next_ = chunk.data + bytes;
  text_end_ = chunk.data + chunk.size;
  return chunk.data;
}

void Arena::grow_log() {
  const auto size = static_cast<std::size_t>(log_next_ - log_.get());
  move_log(std::max<std::size_t>(64, size * 2));
}

void Arena::move_log(std::size_t capacity) {
  const auto size = static_cast<std::size_t>(log_next_ - log_.get());
  auto grown = std::make_unique_for_overwrite<Derived[]>(capacity);
  std::copy_n(log_.get(), size, grown.get());
  log_ = std::move(grown);
  log_next_ = log_.get() + size;
  log_end_ = log_.get() + capacity;
}

void Arena::fit() {
  if (log_next_ != log_end_) move_log(static_cast<std::size_t>(log_next_ - log_.get()));
}

void Arena::sort_slow() {
  // std::less orders unrelated pointers too.
  auto by_address = [](const Derived& a, const Derived& b) { return std::less<>()(a.begin, b.begin); };
  Derived* const unsorted = std::is_sorted_until(log_.get(), log_next_, by_address);
  constexpr std::ptrdiff_t kFew = 32;
  if (log_next_ - unsorted > kFew) {
    std::sort(log_.get(), log_next_, by_address);
  } else {  // a message more of a long conversation
    for (Derived* next = unsorted; next != log_next_; ++next)
      std::rotate(std::upper_bound(log_.get(), next, *next, by_address), next, next + 1);
  }
  sorted_ = true;
  end_run();
}

const Arena::Derived* Arena::find_sorted_derived(const char* address) const {
  const std::span<const Derived> log = sorted_derived();
  auto after = std::upper_bound(log.begin(), log.end(), address,
                                [](const char* a, const Derived& d) { return std::less<>()(a, d.begin); });
  if (after == log.begin()) return nullptr;
  const Derived& found = *(after - 1);
  return std::less<>()(address, found.begin + found.size) ? &found : nullptr;
}

/// Back to the first chunk, which counts from the start, with no more than a new arena's.
inline void Arena::rewind(Chunks& chunks, char*& next, char*& end) {
  if (chunks.in_use == 0) return;
  if (chunks.in_use > 1) keep_some(chunks.list);
  chunks.in_use = 1;
  Chunk& first = chunks.list[0];
  first.size = first_chunk_;
  next = first.data;
  end = next + first.size;
  used_ += first.size;
}

void Arena::reset_chunks() {
  used_ = 0;
  rewind(chunks_, next_, end_);
  rewind(text_chunks_, text_next_, text_end_);
  log_next_ = log_.get();
  sorted_ = true;
  newest_ = nullptr;
}

}  // namespace parlance
