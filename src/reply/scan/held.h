// What holds bytes only at times: HeldText, a string that is a pointer until it is needed; Box, a unique_ptr that
// copies.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace parlance::reply {

/// A unique_ptr that copies what it holds.
template <typename T>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) { return *this = Box(other); }
  Box& operator=(Box&&) noexcept = default;
  template <typename... Arguments>
  T& make(Arguments&&... arguments) {
    value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return *value_;
  }
  void reset() { value_.reset(); }
  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

/// Once it has held something it keeps the string, since the next text often comes soon.
/// A parser has many such texts and most are never used: a pointer takes 8 bytes where a std::string takes 32.
class HeldText {
 public:
  std::string_view view() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  operator std::string_view() const { return view(); }
  bool empty() const { return view().empty(); }
  std::size_t size() const { return view().size(); }
  char back() const { return view().back(); }
  HeldText& operator+=(std::string_view bytes) {
    if (!text_) text_.make();
    text_->append(bytes);
    return *this;
  }
  HeldText& operator+=(char byte) {
    if (!text_) text_.make();
    text_->push_back(byte);
    return *this;
  }
  /// What was held goes.
  void begin(char byte) {
    if (!text_) text_.make();
    text_->clear();
    text_->push_back(byte);
  }
  HeldText& operator=(std::string text) {
    if (text_) {
      *text_ = std::move(text);
    } else if (!text.empty()) {
      text_.make(std::move(text));
    }
    return *this;
  }
  /// Requires: !empty().
  void pop_back() { text_->pop_back(); }
  void assign(std::string_view text) {
    if (!text_ && !text.empty()) text_.make();
    if (text_) text_->assign(text);
  }
  /// Keeps a little room.
  /// One long argument must not keep its memory for the rest of the reply.
  void clear() {
    constexpr std::size_t kKept = 64;
    if (!text_) return;
    if (text_->capacity() > kKept) *text_ = {};
    text_->clear();
  }
  std::string take() { return text_ ? std::exchange(*text_, {}) : std::string(); }

 private:
  Box<std::string> text_;
};

}  // namespace parlance::reply
