// The program's operator new and delete, with the size of each block in front of it. Begin reading at take.
#include "heap_counter.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace parlance::test {
namespace {

HeapCount counted;
bool forbidden = false;

/// In front of each block: its size, and how far behind malloc's block it begins.
struct Head {
  std::size_t size;
  std::size_t offset;
};

void* take(std::size_t size, std::size_t alignment) {
  const std::size_t room = std::max(alignment, sizeof(Head));
  auto* const block = static_cast<char*>(std::malloc(size + 2 * room));
  if (block == nullptr) return nullptr;
  const auto past = reinterpret_cast<std::uintptr_t>(block) % alignment;
  char* const begin = block + room + (past == 0 ? 0 : alignment - past);
  *reinterpret_cast<Head*>(begin - sizeof(Head)) = {size, static_cast<std::size_t>(begin - block)};
  ++counted.allocations;
  counted.live_bytes += size;
  if (forbidden) std::abort();
  return begin;
}

void give_back(void* begin) {
  if (begin == nullptr) return;
  const Head head = *reinterpret_cast<Head*>(static_cast<char*>(begin) - sizeof(Head));
  counted.live_bytes -= head.size;
  std::free(static_cast<char*>(begin) - head.offset);
}

void* take_or_end(std::size_t size, std::size_t alignment) {
  void* const begin = take(size, alignment);
  if (begin == nullptr) std::abort();
  return begin;
}

}  // namespace

HeapCount heap_count() { return counted; }

NoAllocations::NoAllocations() : before_(counted.allocations) {
  forbidden = std::getenv("PARLANCE_STOP_AT_ALLOCATION") != nullptr;
}
NoAllocations::~NoAllocations() { forbidden = false; }

}  // namespace parlance::test

namespace {
constexpr std::size_t kUsual = alignof(std::max_align_t);
std::size_t number(std::align_val_t alignment) { return std::max(static_cast<std::size_t>(alignment), kUsual); }
}  // namespace

using parlance::test::give_back;
using parlance::test::take;
using parlance::test::take_or_end;

void* operator new(std::size_t size) { return take_or_end(size, kUsual); }
void* operator new[](std::size_t size) { return take_or_end(size, kUsual); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, kUsual); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, kUsual); }
void* operator new(std::size_t size, std::align_val_t at) { return take_or_end(size, number(at)); }
void* operator new[](std::size_t size, std::align_val_t at) { return take_or_end(size, number(at)); }
void* operator new(std::size_t size, std::align_val_t at, const std::nothrow_t&) noexcept {
  return take(size, number(at));
}
void* operator new[](std::size_t size, std::align_val_t at, const std::nothrow_t&) noexcept {
  return take(size, number(at));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
