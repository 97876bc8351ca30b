// References: what a $ref in a JSON Schema refers to. One reading for the reader of replies, the check of calls and
// grammars.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "value/dict.h"

namespace parlance::schema {

/// The references of one document. Begin reading at resolve.
class References {
 public:
  /// References within it begin at `root`, which must live as long.
  explicit References(Value root) : root_(root) {}
  /// The schema that `reference` means: a JSON pointer (#/$defs/x, percent-encoded or not), an $anchor (#x), or an $id,
  /// alone or with one of these behind it. Undefined where nothing in the document has that name. Source: JSON Schema
  /// 2020-12, core 8; RFC 6901.
  Value resolve(std::string_view reference);

 private:
  void find_names();
  Value look_up(std::string_view reference);

  Value root_;
  std::map<std::string, Value, std::less<>> names_;     ///< of $id and $anchor
  std::map<std::string, Value, std::less<>> resolved_;  ///< but for pointers from the root
  bool found_ = false;
};

}  // namespace parlance::schema
