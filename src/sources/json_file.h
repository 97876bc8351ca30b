// A JSON file of a model, read whole.
#pragma once
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "value/dict.h"

namespace parlance {

/// The member of a dict, or null; null too for what is no dict.
inline const Value* json_member(Value dict, std::string_view key) {
  if (dict.kind != Kind::dict) return nullptr;
  const DictEntry* entry = find_key(*dict.dict, key);
  return entry == nullptr ? nullptr : &entry->value;
}
/// A member's text; "" where there is none.
inline std::string_view json_text(Value dict, std::string_view key) {
  const Value* found = json_member(dict, key);
  return found != nullptr && found->is_leaf() ? leaf_text(*found) : std::string_view();
}

/// Its values live as long as it does.
class JsonFile {
 public:
  explicit JsonFile(std::string path) : path_(std::move(path)) {}

  /// Fails with file, json (place), value when the root is of another kind.
  Result<void> read(Kind kind = Kind::dict);
  /// The same, where the file may be missing: then it is empty.
  Result<void> read_if_there();
  const Value* operator[](std::string_view key) const { return json_member(document_.root(), key); }
  Value root() const { return document_.root(); }
  const std::string& path() const { return path_; }
  /// Whether there was such a file.
  bool was_there() const { return was_there_; }

 private:
  std::string path_;
  Document document_;
  bool was_there_ = false;
};

}  // namespace parlance
