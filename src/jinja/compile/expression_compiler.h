// ExpressionCompiler: expressions to instructions, in the scopes of Jinja2's code generator (symbols.h).
//
//     compile_expression.cpp   values
//     compile_condition.cpp    jumps on truth, without making booleans
//     fold.cpp                 constant subexpressions
//
// The second of the three layers of the compiler; compiler.h is the last. Begin reading at expression.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/compile/code_writer.h"
#include "jinja/objects/builtins.h"

namespace parlance::jinja {

/// Of object.name, and of object['name'] with a name that stands there: the object. Null for all other nodes.
inline const Node* object_of_member(const Node* node) {
  if (node->kind == NodeKind::get_attribute) return as<GetAttribute>(node).object;
  if (node->kind != NodeKind::get_item) return nullptr;
  const auto& item = as<GetItem>(node);
  const bool is_name = item.key->kind == NodeKind::constant && as<Constant>(item.key).value.is_leaf();
  return is_name ? item.object : nullptr;
}

class ExpressionCompiler : public CodeWriter {
 protected:
  using CodeWriter::CodeWriter;

  /// One of Jinja2's frames.
  struct Scope {
    Symbols symbols;
    RoutineState* routine;
    bool toplevel = false;
    bool soft = false;  // directly inside an if: unknown filters fail when they are reached
    // Jinja2's eval context: whether autoescaping is on as far as the compiler knows, and whether it cannot know.
    bool escape = false;
    bool is_volatile = false;
  };

  /// While it lives, `scope` is directly inside an if.
  class Softened {
   public:
    explicit Softened(Scope& scope) : scope_(scope), before_(scope.soft) { scope.soft = true; }
    ~Softened() { scope_.soft = before_; }
    Softened(const Softened&) = delete;

   private:
    Scope& scope_;
    bool before_;
  };

  // ---- variables
  void resolve(std::uint32_t target, std::uint32_t name);
  void load_ident(Scope& scope, const Symbols::LoadEntry& entry);
  Place read_ident(Scope& scope, Ident ident, const Node* at);

  // ---- compile_expression.cpp
  Place expression(const Node* node, Scope& scope, const Place* target = nullptr);
  void expression_into(const Node* node, Scope& scope, std::uint32_t target);
  Place folded_place(const Node* node, Value value);
  Place name(const Name& node, Scope& scope);
  Place unary(Op op, const Node& node, Scope& scope, const Place* target);
  Place binary_operation(const Binary& node, Scope& scope, const Place* target);
  std::optional<std::uint32_t> taken_from_length(const Binary& node, Place left, Place right) const;
  Place sum_or_binary(const Binary& node, Scope& scope, const Place* target);
  Place logical(const Logical& node, Scope& scope);
  Place comparison(const Compare& node, Scope& scope, const Place* target);
  Place chained_comparison(const Compare& node, Scope& scope);
  Place conditional(const Conditional& node, Scope& scope);
  Place attribute(const GetAttribute& node, Scope& scope, const Place* target);
  Place item(const GetItem& node, Scope& scope, const Place* target);
  std::uint32_t member_site(const Node* node);
  Place slice(const GetItem& node, Scope& scope, const Place* target);
  Place collection(Op op, std::span<const Node* const> parts, const Node& node, Scope& scope, const Place* target);
  Place operand_of(const Builtin& row, const Node* node, Scope& scope);
  Place filter_or_test(const Filter& node, Scope& scope, const Place* target);
  Place unknown_builtin(const Filter& node, Scope& scope);
  bool bind_statically(const Builtin& row, const Arguments& arguments, NodeList& by_parameter) const;
  Place call(const CallNode& node, Scope& scope, const Place* target, const Place* caller = nullptr);
  std::uint32_t call_shape(const Arguments& arguments, Scope& scope, const Node& at, const Place* caller, Places& held);
  bool makes_namespace(const CallNode& node, std::uint32_t shape);
  bool check_keywords(const Arguments& arguments, const Node& at, bool of_call_block = false);
  std::optional<std::uint32_t> direct_loop(const Node* object, Scope& scope);
  bool sum_parts(const Binary& node, NodeList& parts) const;
  std::uint32_t part_list(std::span<const Node* const> parts, bool checked, Scope& scope, std::uint32_t& count,
                          Places& held);

  // ---- compile_condition.cpp
  void jump_when(const Node* node, bool when, Label& label, Scope& scope);
  bool jump_on_test(const Filter& node, bool when, Label& label, Scope& scope);
  bool jump_on_attribute(const Node* node, Op op, Label& label, Scope& scope, bool when, const Operand* operand,
                         std::uint16_t kinds = 0);

  // ---- fold.cpp
  std::optional<Value> fold(const Node* node, const Scope& scope, bool for_output = false);
  std::optional<Value> try_fold(const Node* node);
  std::optional<Value> fold_arguments_and_run(const Filter& node);

  static bool is_text(const Node* node) {
    return node->kind == NodeKind::constant && as<Constant>(node).value.is_string();
  }
  static std::uint32_t escape_mode(const Scope& scope) {
    return static_cast<std::uint32_t>(scope.is_volatile ? EscapeMode::by_context
                                      : scope.escape    ? EscapeMode::always
                                                        : EscapeMode::never);
  }

  std::vector<const Block*> blocks_;
  const Place* block_subject_ = nullptr;  // what a filter without subject applies to: the text of its block
  std::size_t entered_ = 0;               // where the code of the scope begins that is being entered
  std::uint32_t depth_ = 0;               // nesting of expression() and statement()

 private:
  bool volatile_fold_ = false;  // folding although autoescaping is not known: no filters, no template text
};

/// Fields of the loop variable that need no object: their number for loop_field, or -1.
int simple_loop_field(std::string_view name);

}  // namespace parlance::jinja
