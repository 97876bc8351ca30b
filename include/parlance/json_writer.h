// Writing JSON: strings, objects and lists, member by member, for what has no document.
//
//     parlance::JsonWriter answer('{');
//     answer.text("id", id).number("tokens", 42).raw("usage", usage_json);
//     send(answer.take());    // {"id": "…", "tokens": 42, "usage": {…}}
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace parlance {

/// Appends `text` as a JSON string in quotes: UTF-8 kept, lone surrogates and malformed bytes escaped; always valid
/// JSON.
void append_json_string(std::string& out, std::string_view text);

/// An object, `JsonWriter('{')`, or a list, `JsonWriter('[')`, with ", " between two members and ": " behind a name.
/// Names are not compared: one that is written twice stands there twice.
class JsonWriter {
 public:
  explicit JsonWriter(char open) : out_(1, open), close_(open == '{' ? '}' : ']') {}

  /// Of a list: the text to append the next item to.
  std::string& next() {
    if (out_.size() > 1) out_ += ", ";
    return out_;
  }
  /// Of a list: an item, JSON as it is.
  JsonWriter& item(std::string_view json) {
    next() += json;
    return *this;
  }
  JsonWriter& item_text(std::string_view text) {
    append_json_string(next(), text);
    return *this;
  }

  /// Of an object: the text to append the value of the next member to.
  std::string& key(std::string_view name) {
    append_json_string(next(), name);
    return out_ += ": ";
  }
  JsonWriter& text(std::string_view name, std::string_view value) {
    append_json_string(key(name), value);
    return *this;
  }
  JsonWriter& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  /// Nothing where there is no value.
  JsonWriter& flag(std::string_view name, const std::optional<bool>& value) {
    return value ? raw(name, *value ? "true" : "false") : *this;
  }
  JsonWriter& null(std::string_view name) { return raw(name, "null"); }
  /// `json` as it is.
  JsonWriter& raw(std::string_view name, std::string_view json) {
    key(name) += json;
    return *this;
  }

  /// The whole. Ends the use of this object.
  std::string take() { return std::move(out_ += close_); }

 private:
  std::string out_;
  char close_;
};

}  // namespace parlance
