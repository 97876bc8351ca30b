// Json: an object or a list of JSON, written member by member.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "value/json.h"

namespace parlance::cli {

/// An object or a list under construction.
class Json {
 public:
  explicit Json(char open) : out_(1, open), close_(open == '{' ? '}' : ']') {}
  std::string& next() {
    if (out_.size() > 1) out_ += ", ";
    return out_;
  }
  std::string& key(std::string_view name) {
    append_json_string(next(), name);
    return out_ += ": ";
  }
  Json& text(std::string_view name, std::string_view value) {
    append_json_string(key(name), value);
    return *this;
  }
  Json& number(std::string_view name, std::int64_t value) {
    key(name) += std::to_string(value);
    return *this;
  }
  Json& flag(std::string_view name, const std::optional<bool>& value) {
    if (value) key(name) += *value ? "true" : "false";
    return *this;
  }
  std::string take() { return std::move(out_ += close_); }

 private:
  std::string out_;
  char close_;
};

}  // namespace parlance::cli
