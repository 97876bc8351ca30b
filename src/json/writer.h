// Writing JSON by hand: one string, one object, one list.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/json.h"

namespace parlance {

/// The text as a JSON string, in quotes.
inline std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// The same without the quotes: what stands inside a string.
inline std::string json_inside(std::string_view text) {
  const std::string whole = json_string(text);
  return whole.substr(1, whole.size() - 2);
}

/// An object, `Json('{')`, or a list, `Json('[')`, written member by member, with ", " between two and ": " behind a
/// key.
class Json {
 public:
  explicit Json(char open) : out_(1, open), close_(open == '{' ? '}' : ']') {}

  /// Of a list: the text to append the next item to.
  std::string& next() {
    if (out_.size() > 1) out_ += ", ";
    return out_;
  }
  Json& item(std::string_view json) {
    next() += json;
    return *this;
  }
  Json& item_text(std::string_view text) {
    append_json_string(next(), text);
    return *this;
  }

  /// Of an object: the text to append the value of the next member to.
  std::string& key(std::string_view name) {
    append_json_string(next(), name);
    return out_ += ": ";
  }
  Json& text(std::string_view name, std::string_view value) {
    append_json_string(key(name), value);
    return *this;
  }
  Json& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  /// Nothing where there is no value.
  Json& flag(std::string_view name, const std::optional<bool>& value) {
    return value ? raw(name, *value ? "true" : "false") : *this;
  }
  Json& null(std::string_view name) { return raw(name, "null"); }
  /// `json` as it is.
  Json& raw(std::string_view name, std::string_view json) {
    key(name) += json;
    return *this;
  }

  /// The whole. Ends the use of this object.
  std::string take() { return std::move(out_ += close_); }

 private:
  std::string out_;
  char close_;
};

/// A list of strings.
template <typename Texts>
std::string json_list(const Texts& texts) {
  Json list('[');
  for (const auto& text : texts) list.item_text(text);
  return list.take();
}

}  // namespace parlance
