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
#include "schema/types.h"

namespace parlance::reply {

/// The types that a JSON Schema allows, and those of its members and items; made once, never changed.
class Types {
 public:
  using Node = std::uint32_t;
  static constexpr Node kUnknown = 0;
  static constexpr std::uint8_t kString = schema::kString, kInteger = schema::kInteger, kReal = schema::kFraction,
                                kBoolean = schema::kBoolean, kObject = schema::kObject, kArray = schema::kArray,
                                kNull = schema::kNull, kAny = schema::kAnyType;

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

/// Whether a declared tool's name begins with this.
bool declares_beginning(const ReplyTools& tools, std::string_view begin);
/// The types that a schema's "type" means: any where it has none, or words that mean none.
std::uint8_t types_named(const Value* type);
/// The Type of a value that JSON can say.
std::uint8_t type_of_value(Value v);
/// The Type of a JSON value that is written as `json`, which has no white space around it.
std::uint8_t type_of_json(std::string_view json);

/// The same in words, without strings: "an integer or null".
std::string names_of_types(std::uint8_t types);

/// The error where tools, which errors call `name`, are no list.
Error no_list_of_tools(std::string_view name);

}  // namespace parlance::reply

namespace parlance {

struct reply::DeclaredTools {
  std::map<std::string, reply::Types::Node, std::less<>> tools;
  std::map<std::string, bool, std::less<>> custom;  ///< the names of custom tools: whether no function has them besides
  reply::Types types;
  Document document;                                     ///< all of them, as they were given
  std::map<std::string, Value, std::less<>> parameters;  ///< of those that are declared once: their schemas in it
};

}  // namespace parlance
