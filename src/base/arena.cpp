// Arena: chunks that double in size up to a bound; the first chunk of each kind survives reset().
#include "base/arena.h"

#include <algorithm>
#include <cstdlib>

namespace parlance {
namespace {
constexpr std::size_t kFirstChunk = std::size_t{16} << 10;
constexpr std::size_t kLargestChunk = std::size_t{1} << 20;

void free_after(auto& chunks, std::size_t keep) {
  for (std::size_t i = keep; i < chunks.size(); ++i) std::free(chunks[i].data);
  if (chunks.size() > keep) chunks.resize(keep);
}
}  // namespace

Arena::~Arena() {
  free_after(chunks_, 0);
  free_after(text_chunks_, 0);
}

char* Arena::new_chunk(std::vector<Chunk>& chunks, std::size_t bytes, std::size_t& size) {
  std::size_t grown = chunks.empty() ? kFirstChunk : std::min(chunks.back().size * 2, kLargestChunk);
  size = std::max(bytes, grown);
  char* data = static_cast<char*>(std::malloc(size));
  if (data == nullptr) std::abort();  // the system itself is out of memory: nothing sensible is left to do
  chunks.push_back({data, size});
  used_ += size;
  return data;
}

void* Arena::allocate_slow(std::size_t bytes) {
  std::size_t size = 0;
  char* data = new_chunk(chunks_, bytes, size);
  next_ = data + bytes;
  end_ = data + size;
  return data;
}

char* Arena::allocate_text_slow(std::size_t bytes) {
  std::size_t size = 0;
  char* data = new_chunk(text_chunks_, bytes, size);
  text_next_ = data + bytes;
  text_end_ = data + size;
  return data;
}

void Arena::grow_log() {
  const auto size = static_cast<std::size_t>(log_next_ - log_.get());
  const std::size_t capacity = std::max<std::size_t>(64, size * 2);
  auto grown = std::make_unique_for_overwrite<Derived[]>(capacity);
  std::copy_n(log_.get(), size, grown.get());
  log_ = std::move(grown);
  log_next_ = log_.get() + size;
  log_end_ = log_.get() + capacity;
}

void Arena::sort_slow() {
  // std::less orders unrelated pointers too.
  auto by_address = [](const Derived& a, const Derived& b) { return std::less<>()(a.begin, b.begin); };
  std::sort(log_.get(), log_next_, by_address);
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

void Arena::reset_chunks() {
  if (chunks_.size() > 1) free_after(chunks_, 1);
  if (text_chunks_.size() > 1) free_after(text_chunks_, 1);
  used_ = 0;
  if (!chunks_.empty()) {
    next_ = chunks_[0].data;
    end_ = next_ + chunks_[0].size;
    used_ += chunks_[0].size;
  }
  if (!text_chunks_.empty()) {
    text_next_ = text_chunks_[0].data;
    text_end_ = text_next_ + text_chunks_[0].size;
    used_ += text_chunks_[0].size;
  }
  log_next_ = log_.get();
  sorted_ = true;
  newest_ = nullptr;
}

}  // namespace parlance
