// The tools of a request as the reader needs them: names, and which types a value may have.
//
// Begin reading at Types.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/reply.h"

namespace parlance::reply {

/// The types that a JSON Schema allows, and those of its members and items; made once, never changed.
class Types {
 public:
  using Node = std::uint32_t;
  static constexpr Node kUnknown = 0;
  enum Type : std::uint8_t { kString = 1, kInteger = 2, kReal = 4, kBoolean = 8, kObject = 16, kArray = 32, kNull = 64 };
  static constexpr std::uint8_t kAny = 127;

  struct Schema {
    std::uint8_t types = kAny;
    bool null_text = false;  ///< the string "null" is a value of it
    std::map<std::string, Node, std::less<>> members{};
    Node others = kUnknown;
    Node items = kUnknown;
  };
  const Schema& operator[](Node node) const { return nodes_[node]; }
  Node member(Node of, std::string_view key) const;

  std::vector<Schema> nodes_{Schema{}};
};

/// The Types that a schema's word means; any for a word that means none.
std::uint8_t type_named(std::string_view name);
/// The Type of a value that JSON can say.
std::uint8_t type_of_value(Value v);
/// The place in a schema that a reference like "#/a/b" names, or null.
const Value* place_in_schema(const Value& root, std::string_view reference);

/// The Type of a JSON value that is written as `json`, which has no white space around it.
std::uint8_t type_of_json(std::string_view json);

/// The same in words, without strings: "an integer or null".
std::string names_of_types(std::uint8_t types);

/// The error where tools, which errors call `name`, are no list.
Error no_list_of_tools(std::string_view name);

}  // namespace parlance::reply

namespace parlance {

struct ReplyTools::Data {
  std::map<std::string, reply::Types::Node, std::less<>> tools;
  std::map<std::string, bool, std::less<>> custom;  ///< the names of custom tools: whether no function has them besides
  reply::Types types;
  Document document;  ///< all of them, as they were given
  std::map<std::string, Value, std::less<>> parameters;  ///< of those that are declared once: their schemas in it
};

}  // namespace parlance
