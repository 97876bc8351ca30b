// InlineVector: a vector whose first few items need no memory of their own. For the many short lists of a compilation.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace parlance {

template <typename T, std::size_t kFew>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  InlineVector() = default;
  InlineVector(const InlineVector& other) { append(other.begin(), other.end()); }
  InlineVector& operator=(const InlineVector& other) {
    if (this == &other) return *this;
    clear();
    append(other.begin(), other.end());
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  /// `item` may be one of its own.
  void push_back(const T& item) {
    const T copy = item;
    if (size_ == capacity_) grow(size_ + 1);
    std::memcpy(static_cast<void*>(data() + size_++), &copy, sizeof(T));
  }
  /// `first` to `last` must not be its own.
  void append(const T* first, const T* last) {
    const auto count = static_cast<std::size_t>(last - first);
    if (size_ + count > capacity_) grow(size_ + count);
    if (count != 0) std::memcpy(static_cast<void*>(data() + size_), first, count * sizeof(T));
    size_ += count;
  }
  operator std::span<const T>() const { return {data(), size_}; }  // NOLINT: implicit, as a vector's

 private:
  T* data() { return more_ != nullptr ? reinterpret_cast<T*>(more_.get()) : reinterpret_cast<T*>(few_); }
  const T* data() const {
    return more_ != nullptr ? reinterpret_cast<const T*>(more_.get()) : reinterpret_cast<const T*>(few_);
  }
  void grow(std::size_t least) {
    const std::size_t capacity = std::max(least, capacity_ * 2);
    auto grown = std::make_unique_for_overwrite<std::byte[]>(capacity * sizeof(T));
    if (size_ != 0) std::memcpy(grown.get(), data(), size_ * sizeof(T));
    more_ = std::move(grown);
    capacity_ = capacity;
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = kFew;
  std::unique_ptr<std::byte[]> more_;
  alignas(T) std::byte few_[kFew * sizeof(T)];
};

}  // namespace parlance
