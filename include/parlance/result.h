// Result<T>: a value or an Error, which the caller cannot overlook.
//
// The same shape as C++23's std::expected<T, Error>, so that it can become that.
#pragma once
#include <type_traits>
#include <utility>
#include <variant>

#include "parlance/error.h"

namespace parlance {

/// A T, or the Error that explains why there is none.
///
///     auto compiled = parlance::Template::compile(text);
///     if (!compiled) return report(compiled.error());
///     use(*compiled);
///
/// Reading the value of a failed Result, or the error of a successful one, is a programming error that nothing checks.
/// A temporary Result returns its value and its error by value, and has no `->`, since the pointer could dangle.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() & { return &value(); }
  const T* operator->() const& { return &value(); }
  const T* operator->() const&& = delete;
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  bool has_value() const { return error_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const& { return *std::get_if<1>(&error_); }
  Error error() && { return std::move(*std::get_if<1>(&error_)); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace parlance
