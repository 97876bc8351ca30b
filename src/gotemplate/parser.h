// Parser: tokens to trees, with Go's grammar, its look-ahead of three tokens and its complaints.
//
// {{define}} and {{block}} are parsed by a parser of their own on the same lexer, as Go does, since
// that shows in which variables they see and which line a message names. Source of the rules:
// Go 1.26 text/template/parse/parse.go. Begin reading at TreeParser::parse.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gotemplate/lexer.h"
#include "gotemplate/program.h"

namespace parlance::gotemplate {

/// Names to numbers; the names are views of the template's text or of the program's arena.
using Numbers = std::unordered_map<std::string_view, std::uint32_t>;

/// What the parsers of one text share.
struct ParseSession {
  Program& program;
  Lexer lexer;
  std::uint32_t max_depth;
  std::uint32_t depth = 0;      ///< of parentheses and blocks, open right now
  Numbers variables{{"$", 0}};  ///< of their names
  Numbers trees{};              ///< of their names, as places in the program's
  bool failed = false;
  // The two flags become different errors: what is too deep is our limit, all else is Go's complaint.
  bool too_deep = false;
  std::string message{};  ///< of the failure
  std::string hint{};
  std::uint32_t line = 0, begin = 0, end = 0;
};

class TreeParser {
 public:
  TreeParser(ParseSession& session, std::string_view name) : s_(session), arena_(session.program.arena), name_(name) {}
  /// The whole text. False after a failure, which the session knows.
  bool parse();

 private:
  using NodeList = std::vector<const Node*>;

  // tokens
  Token next();
  Token peek();
  void back() { ++pending_; }
  void back2(const Token& first);
  void back3(const Token& second, const Token& first);
  Token next_after_space();
  Token peek_after_space();
  bool expect(TokenKind kind, std::string_view context, Token* out = nullptr);
  bool fail(std::string message);
  bool unexpected(const Token& token, std::string_view context);

  // structure
  bool parse_definition();
  bool add_tree(const ListNode* root);
  const ListNode* item_list(const Node*& stop);
  const Node* text_or_action();
  const Node* action();
  const Node* loop_control(NodeKind kind, const Token& token);
  const Node* branch(NodeKind kind, std::string_view context, std::uint32_t begin);
  const Node* else_control();
  const Node* block_control();
  const Node* invoke_control();
  bool template_name(const Token& token, std::string_view context, std::string_view& name);
  const Node* invoke(const Token& token, std::string_view name, const PipelineNode* pipeline);

  // pipelines
  const PipelineNode* pipeline(std::string_view context, TokenKind end);
  bool declarations(std::string_view context, PipelineNode& pipe);
  bool check(const PipelineNode& pipe, std::string_view context);
  const CommandNode* command();
  const Node* operand();
  const Node* with_fields(const Node* term);
  const Node* term();
  const Node* term_of(const Token& token);
  const Node* parenthesised();
  const Node* identifier(const Token& token);
  const Node* number(const Token& token);
  const Node* string(const Token& token);
  const Node* use_variable(const Token& token);

  // nodes
  template <typename T>
  T* make(NodeKind kind, std::uint32_t begin, std::uint32_t end) {
    T* node = new (arena_.allocate(sizeof(T))) T{};
    node->kind = kind;
    node->begin = begin;
    node->end = end;
    return node;
  }
  const ListNode* list_of(const NodeList& nodes, std::uint32_t begin);
  VariableNode* variable_node(const Token& token);
  void declare(std::string_view variable);
  void leave_scope(std::size_t variables);
  Names names_of(const std::vector<Token>& tokens);

  ParseSession& s_;
  Arena& arena_;
  std::string_view name_;
  // A stack of tokens put back: tokens_[pending_ - 1] comes next, tokens_[0] is the one read last. Three is Go's bound.
  Token tokens_[3];
  int pending_ = 0;
  std::vector<std::string_view> variables_{};  ///< in scope, but for $
  Numbers in_scope_{{"$", 1}};                 ///< how often each of them is declared
  std::uint32_t action_line_ = 0;
  // Open ranges around this place: break and continue are errors where there is none. A block has its own parser,
  // so a range around it does not count, as in Go.
  int ranges_ = 0;
};

}  // namespace parlance::gotemplate
