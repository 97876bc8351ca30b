// JsonWriter: writes JSON objects and lists member by member, without building a document.
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

/// Appends `text` as a JSON string in quotes. UTF-8 is kept; lone surrogates and malformed bytes are escaped, so the
/// string is always valid JSON.
void append_json_string(std::string& out, std::string_view text);

/// Writes an object, `JsonWriter('{')`, or a list, `JsonWriter('[')`, with ", " between members and ": " after a name.
/// It does not check for duplicate names.
class JsonWriter {
 public:
  explicit JsonWriter(char open) : out_(1, open), close_(open == '{' ? '}' : ']') {}

  /// List: the string to which to append the next item.
  std::string& next() {
    if (out_.size() > 1) out_ += ", ";
    return out_;
  }
  /// List: appends an item that is JSON already.
  JsonWriter& item(std::string_view json) {
    next() += json;
    return *this;
  }
  JsonWriter& item_text(std::string_view text) {
    append_json_string(next(), text);
    return *this;
  }

  /// Object: the string to which to append the value of the next member.
  std::string& key(std::string_view name) {
    append_json_string(next(), name);
    return out_ += ": ";
  }
  JsonWriter& text(std::string_view name, std::string_view value) {
    append_json_string(key(name), value);
    return *this;
  }
  JsonWriter& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  /// Writes nothing if there is no value.
  JsonWriter& flag(std::string_view name, const std::optional<bool>& value) {
    return value ? raw(name, *value ? "true" : "false") : *this;
  }
  JsonWriter& null(std::string_view name) { return raw(name, "null"); }
  /// Appends a value that is JSON already.
  JsonWriter& raw(std::string_view name, std::string_view json) {
    key(name) += json;
    return *this;
  }

  /// Returns the whole text. The writer is as new afterwards.
  std::string take() {
    out_ += close_;
    return std::exchange(out_, std::string(1, close_ == '}' ? '{' : '['));
  }

 private:
  std::string out_;
  char close_;
};

}  // namespace parlance
