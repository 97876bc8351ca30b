// JsonObject: an object of JSON, written member by member.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "value/json.h"

namespace parlance::apis {

class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) {
    append_json_string(key(name), value);
    return *this;
  }
  JsonObject& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& null(std::string_view name) { return raw(name, "null"); }
  /// `json` as it is.
  JsonObject& raw(std::string_view name, std::string_view json) {
    key(name) += json;
    return *this;
  }
  std::string take() { return std::move(out_ += '}'); }

 private:
  std::string& key(std::string_view name) {
    if (out_.size() > 1) out_ += ", ";
    append_json_string(out_, name);
    return out_ += ": ";
  }
  std::string out_ = "{";
};

}  // namespace parlance::apis
