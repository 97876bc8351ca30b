// JSON Schema as nodes: what a schema allows, written in a Style.
//
// A set of schemas that all hold is taken apart into leaves without references and alternatives; a leaf says what each
// type may be. Containers become rules, made one after the other from a list, so that nothing here nests with the
// schema. What a node cannot express is left out, which widens, and noted. Begin reading at Schema::value.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/numbers.h"
#include "grammar/style.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/references.h"
#include "schema/types.h"
#include "value/dict.h"

namespace parlance::grammar {

using schema::Types, schema::kNull, schema::kBoolean, schema::kInteger, schema::kFraction, schema::kString,
    schema::kArray, schema::kObject, schema::kNumber, schema::kAnyType;

/// Notes without repetition, up to a bound.
class Notes {
 public:
  void add(std::string path, std::string_view keyword, std::string_view why, bool left_out = false);
  std::size_t size() const { return notes_.size(); }
  std::vector<GrammarNote> take() { return std::move(notes_); }

 private:
  std::vector<GrammarNote> notes_;
  std::set<std::tuple<std::string, std::string, std::string>> seen_;  ///< path, keyword and reason
};

/// What the schemas of one request share: what they may cost together, and what is made once for all.
class Shared {
 public:
  /// Takes steps of about a microsecond each; false once there are none left.
  bool spend(std::size_t steps) {
    left_ -= std::min(left_, steps);
    return left_ > 0;
  }
  std::map<std::pair<std::uint32_t, bool>, NodeId> multiples{};  ///< of a divisor, with negative ones or without

 private:
  std::size_t left_ = 2'000'000;
};

/// Schemas that all hold at once. An empty list allows everything.
using Schemas = std::vector<Value>;

/// A member of an object.
struct Property {
  std::string name{};
  Schemas schemas{};
  bool required = false;
  bool possible = true;  ///< false: it must not be there
};

/// What a leaf says about objects.
struct Shape {
  std::vector<Property> properties{};  ///< as declared, those only required at the end
  bool extra = false;                  ///< whether other members may follow
  Schemas extra_schemas{};
  bool impossible = false;  ///< no object at all
  bool not_empty = false;
  Value schema{};  ///< the first of those that say it, for notes
};

/// How the members of an object are written, each by its own function.
struct MemberWriter {
  std::function<NodeId(const Property&)> member{};  ///< never() where it cannot be written
  std::function<NodeId(const Shape&)> extra{};      ///< a member of any other name
  NodeId separator = kNone;
  bool may_repeat = true;  ///< a member that comes twice is read all the same
};

/// The members of an object as they are written.
struct Members {
  struct One {
    NodeId node;
    bool required;
    std::string_view name{};
  };
  std::vector<One> declared{};
  NodeId other = kNone;  ///< one of any other name; never() where there is none
};

/// What a leaf says about arrays whose items have all the same schemas.
struct Items {
  Schemas schemas{};
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
};

/// The schemas of one document, from one root.
class Schema {
 public:
  struct Context {
    Ir& ir;
    const Document& document;
    Notes& notes;
    Shared& shared;
    bool open = false;        ///< see GrammarOptions
    bool any_order = false;   ///< see GrammarOptions
    std::string_view path{};  ///< what notes put before the path of a schema
    bool sorted = false;      ///< members come in the order of their names, too: see CallForm
  };
  /// References within it begin at `root`.
  Schema(const Context& context, Value root) : context_(context), ir_(context.ir), references_(root) {}

  /// A value of these types that all schemas allow. make_rules() must follow.
  NodeId value(const Style& style, const Schemas& schemas, std::string_view name, Types types = kAnyType);
  NodeId any(const Style& style);
  /// The types that a value may have.
  Types types_of(const Schemas& schemas);
  /// The kinds of objects that the schemas allow; none where they allow no object.
  std::vector<Shape> shapes(const Schemas& schemas);
  /// The members of an object, in their order or in any.
  NodeId members(const Shape& shape, const MemberWriter& writer, std::string_view name);
  /// The kinds of arrays that the schemas allow; those with items in front that have schemas of their own are left out.
  std::vector<Items> arrays(const Schemas& schemas);
  /// Makes the rules that value() has promised.
  void make_rules();
  void note(Value schema, std::string_view keyword, std::string_view why, bool left_out = false);

 private:
  /// Schemas that hold, and alternatives to choose from.
  struct Leaf {
    Schemas all{};
    Schemas followed{};                                         ///< those that only refer to others
    std::vector<std::pair<Value, std::string_view>> choices{};  ///< a schema, and its anyOf or oneOf
    bool impossible = false;
  };
  /// A rule that value() has handed out and whose body is still to be made. The list of tasks takes the place of
  /// recursion, so a schema that contains itself, or nests a thousand deep, costs no native stack.
  struct Task {
    RuleId rule;
    const Style* style;
    std::vector<Leaf> leaves;
    Types types;
    std::string name;
  };

  // schema_leaves.cpp
  void add(Leaf& leaf, const Schemas& schemas);
  void add_dict(Leaf& leaf, Value schema, std::vector<Value>& pending);
  std::vector<Leaf> leaves(const Schemas& schemas);
  bool may_overlap(Value alternatives);
  bool differ(Value a, Value b);
  // schema_value.cpp
  Types types(const Leaf& leaf);
  bool has_constants(const Leaf& leaf) const;
  std::string key_of(const Style& style, Types types, std::span<const Leaf> leaves) const;
  NodeId make_value(const Style& style, std::vector<Leaf> leaves, std::string_view name, Types types);
  void note_unread(const Leaf& leaf);
  NodeId body(const Style& style, const Leaf& leaf, Types types, std::string_view name);
  bool constants(const Style& style, const Leaf& leaf, Types types, NodeId& node);
  std::optional<NodeId> constant(const Style& style, Value value);
  // schema_number.cpp
  NodeId number(const Leaf& leaf, Types types);
  std::optional<NodeId> multiple(const Leaf& leaf, const Bounds& bounds, bool whole);
  NodeId multiples_of(std::uint32_t divisor, bool negative_too);
  Bounds bounds(const Leaf& leaf);
  // schema_string.cpp
  std::optional<std::uint32_t> count(const Leaf& leaf, std::string_view keyword, bool largest);
  NodeId string(const Style& style, const Leaf& leaf);
  std::function<NodeId(const Unit&)> content(const Leaf& leaf);
  // schema_object.cpp
  Shape shape(const Leaf& leaf);
  void find_properties(const Leaf& leaf, Shape& shape);
  void decide_property(const Leaf& leaf, Property& property);
  void decide_extra(const Leaf& leaf, Shape& shape);
  void count_properties(const Leaf& leaf, Shape& shape);
  bool matches(Value schema, std::string_view pattern, std::string_view name);
  NodeId in_order(const Shape& shape, const MemberWriter& writer, const Members& all, std::string_view name);
  // schema_any_order.cpp
  NodeId in_any_order(const Shape& shape, const MemberWriter& writer, const Members& all, std::string_view name);
  NodeId object(const Style& style, const Leaf& leaf, std::string_view name);
  NodeId extra_member(const Style& style, const Leaf& leaf, const Shape& shape, std::string_view name);
  // schema_array.cpp
  void read_items(const Leaf& leaf, std::vector<Schemas>& front, Schemas& rest);
  NodeId more_items(const Style& style, NodeId item, std::uint32_t least, std::uint32_t most, bool first);
  NodeId array(const Style& style, const Leaf& leaf, std::string_view name);

  Value get(Value schema, std::string_view keyword) const {
    const DictEntry* entry = find_key(*schema.dict, keyword);
    return entry == nullptr ? Value() : entry->value;
  }
  bool has(const Leaf& leaf, std::string_view keyword) const;

  Context context_;
  Ir& ir_;
  schema::References references_;
  // The maps below use addresses of dicts as identity: the document outlives the Schema and never moves.
  std::deque<Task> tasks_;
  std::unordered_map<const void*, bool> overlapping_;  ///< of alternatives of a oneOf: may_overlap()
  /// what value() gave for a style, schemas as they were given, and types
  std::unordered_map<std::string, NodeId> asked_;
  std::unordered_map<std::string, NodeId> known_;  ///< the same for the leaves of the schemas
  std::map<const Style*, NodeId> any_;
};

}  // namespace parlance::grammar
