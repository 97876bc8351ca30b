// ExpressionParser: expressions, assignment targets and arguments, to nodes in the arena.
//
// Leans on TokenStream. Binary operators are parsed by one loop over a table of levels; everything
// that can nest passes a Nest, which bounds the recursion. Source of the grammar: Jinja2 3.1
// parser.py. Begin reading at parse_expression; statement_parser.h is the other half.
#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "jinja/syntax/token_stream.h"

namespace parlance::jinja {

/// Collects the items of one list on a vector that all lists of their kind share, so that
/// a list within a list costs no allocation. take() moves them to the arena.
template <typename T>
class Collector {
 public:
  Collector(std::vector<T>& shared, Arena& arena) : shared_(shared), arena_(arena), begin_(shared.size()) {}
  Collector(const Collector&) = delete;
  ~Collector() { shared_.resize(begin_); }

  void push(const T& item) { shared_.push_back(item); }
  std::size_t size() const { return shared_.size() - begin_; }
  T& operator[](std::size_t i) { return shared_[begin_ + i]; }
  ArrayOf<T> take() {
    ArrayOf<T> items;
    items.size = static_cast<std::uint32_t>(size());
    items.data = arena_.template allocate_array<T>(size());
    std::copy(shared_.begin() + static_cast<std::ptrdiff_t>(begin_), shared_.end(), items.data);
    shared_.resize(begin_);
    return items;
  }

 private:
  std::vector<T>& shared_;
  Arena& arena_;
  std::size_t begin_;
};

/// How strongly operators bind, weakest first; those of one level group to the left.
enum class Level : std::uint8_t { none, or_, and_, not_, compare, sum, concat, product, power };

class ExpressionParser {
 public:
  ExpressionParser(Runtime& rt, Arena& nodes, const SourceText& source, const SyntaxOptions& options);

 protected:
  enum class Target : std::uint8_t { any, with_namespace, name };
  enum class TupleForm : std::uint8_t {
    open,            ///< anything, separated by commas
    no_conditional,  ///< the same without `a if b`
    in_parentheses,  ///< may also be empty
    target,          ///< only names and literals
    namespace_target,
  };

  Node* parse_expression();
  /// One expression, or a tuple of them without parentheses.
  Node* parse_tuple(TupleForm form);
  /// What a value can be given to; fails for anything else.
  Node* parse_target(Target kind);
  Name* parse_name_target(Access access);
  /// Filters behind `subject`, or for a null `subject` a chain of its own; `begins`: its first has
  /// no bar.
  Node* parse_filters(Node* subject, std::uint32_t begin, bool begins);
  void set_access(Node* target, Access access);

  TokenStream& stream() { return stream_; }
  /// Memory of nodes and their lists.
  Arena& arena() { return tree_; }
  /// A failure, and a node to go on with until the failure is noticed.
  Node* fail(const Token& at, std::string message);
  /// The same at a node, on the line that Jinja2 gives it.
  void fail_at(const Node& node, std::string message, ErrorCode code = ErrorCode::syntax);

  /// A node that ends at the latest token; its height follows from the children among `fields`.
  template <typename T, typename... Fields>
  T* make(NodeKind kind, std::uint32_t begin, std::uint32_t anchor, Fields... fields) {
    T* node = arena().make<T>(Node{kind, 0, 1, begin, stream_.last_end(), anchor, 0}, fields...);
    (raise(*node, fields), ...);
    if (node->height > kMaxTreeHeight || arena().over_limit()) fail_size(*node);
    return node;
  }

  /// Guards the recursion of the parser itself: `Nest nest(*this); if (!nest.ok()) …`
  class Nest {
   public:
    explicit Nest(ExpressionParser& parser) : parser_(parser), ok_(++parser.depth_ <= parser.max_depth_) {
      if (!ok_) parser.fail_depth();
    }
    Nest(const Nest&) = delete;
    ~Nest() { --parser_.depth_; }
    bool ok() const { return ok_; }

   private:
    ExpressionParser& parser_;
    bool ok_;
  };

  Collector<Node*> collect_nodes() { return {nodes_, arena()}; }

 private:
  Node* parse_conditional();
  Node* parse_operators(Level floor);
  Node* parse_not();
  Node* parse_operation(Node* left, Level level, std::uint32_t begin, std::uint32_t anchor);
  Node* parse_comparison(Node* first, std::uint32_t begin);
  Node* parse_concat(Node* first, std::uint32_t begin);
  Node* parse_unary(bool with_filters);
  Node* parse_sign(NodeKind kind);
  Node* parse_postfix(Node* node, std::uint32_t begin);
  Node* parse_filters_and_tests(Node* node, std::uint32_t begin);
  Node* parse_primary(bool with_namespace);
  Node* parse_name(bool with_namespace);
  Node* parse_string();
  Node* parse_parentheses();
  Node* parse_list();
  Node* parse_dict();
  Node* parse_attribute(Node* object, std::uint32_t begin);
  Node* parse_subscript(Node* object, std::uint32_t begin);
  Node* parse_subscript_item();
  Node* parse_slice_bound();
  Node* parse_call(Node* callee, std::uint32_t begin);
  Node* parse_test(Node* subject, std::uint32_t begin);
  Arguments parse_arguments();
  Arguments parse_test_argument();
  std::string_view parse_dotted_name(const Token& first);
  Level next_level(Level floor);
  void fail_depth();
  void fail_size(const Node& node);

  // How the children of a node raise its height; fields that are no nodes do not.
  static void raise(Node& parent, const Node* child) {
    if (child != nullptr && child->height >= parent.height) {
      parent.height = static_cast<std::uint16_t>(child->height + 1);
    }
  }
  template <typename T>
  static void raise(Node& parent, const ArrayOf<T>& children) {
    for (const T& child : children) raise(parent, child);
  }
  static void raise(Node& parent, const Arguments& arguments);
  static void raise(Node& parent, const Pair& pair);
  static void raise(Node& parent, const Keyword& keyword) { raise(parent, keyword.value); }
  static void raise(Node& parent, const Operand& operand) { raise(parent, operand.value); }
  static void raise(Node&, const ImportedName&) {}
  static void raise(Node&, std::string_view) {}
  static void raise(Node&, Value) {}
  template <typename T>
    requires(std::is_enum_v<T> || std::is_arithmetic_v<T>)
  static void raise(Node&, T) {}

  Runtime& rt_;
  Arena& tree_;
  TokenStream stream_;
  std::uint32_t depth_ = 0;
  std::uint32_t max_depth_;
  std::vector<Node*> nodes_;
  std::vector<Keyword> keywords_;
  std::vector<Operand> operands_;
  std::vector<Pair> pairs_;
};

}  // namespace parlance::jinja
