// The parser's structure: lists, actions, control. Pipelines are in parser_pipeline.cpp. Begin
// reading at parse().
#include "gotemplate/parser.h"

#include <algorithm>

#include "gotemplate/quote.h"
#include "value/runtime.h"

namespace parlance::gotemplate {

// ---- tokens

Token TreeParser::next() {
  if (pending_ > 0) {
    --pending_;
  } else {
    tokens_[0] = s_.lexer.next();
  }
  return tokens_[pending_];
}

Token TreeParser::peek() {
  if (pending_ > 0) return tokens_[pending_ - 1];
  pending_ = 1;
  return tokens_[0] = s_.lexer.next();
}

/// Go looks up to three tokens ahead: `$x :=` with a blank between is known only at the third.
void TreeParser::back2(const Token& first) {
  tokens_[1] = first;
  pending_ = 2;
}

void TreeParser::back3(const Token& second, const Token& first) {
  tokens_[1] = first;
  tokens_[2] = second;
  pending_ = 3;
}

Token TreeParser::next_after_space() {
  Token token = next();
  while (token.kind == TokenKind::space) token = next();
  return token;
}

Token TreeParser::peek_after_space() {
  const Token token = next_after_space();
  back();
  return token;
}

bool TreeParser::expect(TokenKind kind, std::string_view context, Token* out) {
  const Token token = next_after_space();
  if (out != nullptr) *out = token;
  return token.kind == kind || unexpected(token, context);
}

/// The place is that of the token read last, whatever is to blame: Go does so.
bool TreeParser::fail(std::string message) {
  if (s_.failed) return false;
  s_.failed = true;
  s_.message = std::move(message);
  s_.line = tokens_[0].line;
  s_.begin = tokens_[0].begin;
  s_.end = tokens_[0].end();
  return false;
}

bool TreeParser::unexpected(const Token& token, std::string_view context) {
  if (token.kind != TokenKind::error) return fail("unexpected " + token.display() + " in " + std::string(context));
  std::string message(token.text);
  if (action_line_ != 0 && action_line_ != token.line) {
    message += message.ends_with(" action") ? "" : " in action";
    message += " started at :" + std::to_string(action_line_);
  }
  return fail(std::move(message));
}

// ---- structure

const ListNode* TreeParser::list_of(const NodeList& nodes, std::uint32_t begin) {
  auto* list = make<ListNode>(NodeKind::list, begin, begin);
  auto* items = arena_.allocate_array<const Node*>(nodes.size());
  std::copy(nodes.begin(), nodes.end(), items);
  list->items = items;
  list->size = static_cast<std::uint32_t>(nodes.size());
  if (arena_.over_limit()) fail("");
  return list;
}

/// Definitions may stand only at the top level. Two of one name are an error unless one of them is empty (add_tree), so
/// a template can be declared before it is written.
bool TreeParser::parse() {
  NodeList nodes;
  const std::uint32_t begin = peek().begin;
  while (peek().kind != TokenKind::eof) {
    if (peek().kind == TokenKind::left_delimiter) {
      const Token delimiter = next();
      if (next_after_space().kind == TokenKind::define) {
        TreeParser definition(s_, "definition");
        if (!definition.parse_definition()) return false;
        continue;
      }
      back2(delimiter);
    }
    const Node* node = text_or_action();
    if (node == nullptr) return false;
    if (node->kind == NodeKind::end || node->kind == NodeKind::else_) return fail("unexpected " + node_text(*node));
    nodes.push_back(node);
  }
  return add_tree(list_of(nodes, begin));
}

bool TreeParser::parse_definition() {
  constexpr std::string_view kContext = "define clause";
  const Token name = next_after_space();
  if (name.kind != TokenKind::string && name.kind != TokenKind::raw_string) return unexpected(name, kContext);
  if (!template_name(name, kContext, name_)) return false;
  if (!expect(TokenKind::right_delimiter, kContext)) return false;
  const Node* stop = nullptr;
  const ListNode* root = item_list(stop);
  if (root == nullptr) return false;
  if (stop->kind != NodeKind::end) return fail("unexpected " + node_text(*stop) + " in " + std::string(kContext));
  return add_tree(root);
}

/// A blank tree gives way to any other of its name.
bool TreeParser::add_tree(const ListNode* root) {
  if (s_.failed) return false;
  std::vector<const Tree*>& trees = s_.program.trees;
  const Tree* tree = arena_.make<Tree>(name_, root);
  const auto [at, fresh] = s_.trees.try_emplace(name_, static_cast<std::uint32_t>(trees.size()));
  if (fresh) {
    trees.push_back(tree);
  } else if (is_blank_tree(*trees[at->second]->root)) {
    trees[at->second] = tree;
  } else if (!is_blank_tree(*root)) {
    return fail("template: multiple definition of template " + quoted(name_));
  }
  return true;
}

/// Nodes up to an end or else, which `stop` then is. Who asked decides whether it may stand there: a range takes
/// either, a define only an end.
const ListNode* TreeParser::item_list(const Node*& stop) {
  NodeList nodes;
  const std::uint32_t begin = peek_after_space().begin;
  while (peek_after_space().kind != TokenKind::eof) {
    const Node* node = text_or_action();
    if (node == nullptr) return nullptr;
    if (node->kind == NodeKind::end || node->kind == NodeKind::else_) {
      stop = node;
      return list_of(nodes, begin);
    }
    nodes.push_back(node);
  }
  fail("unexpected EOF");
  return nullptr;
}

/// action_line_ is set only while an action is open: an error of the lexer inside adds where the action started if that
/// is on another line.
const Node* TreeParser::text_or_action() {
  const Token token = next_after_space();
  if (token.kind == TokenKind::text) {
    auto* node = make<TextNode>(NodeKind::text, token.begin, token.end());
    node->text = token.text;
    return node;
  }
  if (token.kind != TokenKind::left_delimiter) {
    unexpected(token, "input");
    return nullptr;
  }
  action_line_ = token.line;
  const Node* node = action();
  action_line_ = 0;
  return node;
}

const Node* TreeParser::action() {
  const Token token = next_after_space();
  switch (token.kind) {
    case TokenKind::block: return block_control();
    case TokenKind::break_: return loop_control(NodeKind::break_, token);
    case TokenKind::continue_: return loop_control(NodeKind::continue_, token);
    case TokenKind::else_: return else_control();
    case TokenKind::end:
      if (!expect(TokenKind::right_delimiter, "end")) return nullptr;
      return make<Node>(NodeKind::end, token.begin, token.end());
    case TokenKind::if_: return branch(NodeKind::if_, "if", token.begin);
    case TokenKind::range: return branch(NodeKind::range, "range", token.begin);
    case TokenKind::template_: return invoke_control();
    case TokenKind::with: return branch(NodeKind::with, "with", token.begin);
    default: break;
  }
  back();
  const Token first = peek();
  const PipelineNode* pipe = pipeline("command", TokenKind::right_delimiter);
  if (pipe == nullptr) return nullptr;
  auto* node = make<ActionNode>(NodeKind::action, first.begin, pipe->end);
  node->pipeline = pipe;
  return node;
}

const Node* TreeParser::loop_control(NodeKind kind, const Token& token) {
  const std::string_view context = kind == NodeKind::break_ ? "{{break}}" : "{{continue}}";
  const Token after = next_after_space();
  if (after.kind != TokenKind::right_delimiter) {
    unexpected(after, context);
    return nullptr;
  }
  if (ranges_ == 0) {
    fail(std::string(context) + " outside {{range}}");
    return nullptr;
  }
  return make<Node>(kind, token.begin, token.end());
}

/// `else if` and `else with` leave the keyword where it is; branch() goes on from there.
const Node* TreeParser::else_control() {
  const Token token = peek_after_space();
  if (token.kind != TokenKind::if_ && token.kind != TokenKind::with && !expect(TokenKind::right_delimiter, "else")) {
    return nullptr;
  }
  return make<Node>(NodeKind::else_, token.begin, token.end());
}

/// if, with and range. An `else if` nests in the else of the one before and shares its end, so a chain of a thousand is
/// a thousand deep; depth is counted here to bound the native stack, and later the executor's.
const Node* TreeParser::branch(NodeKind kind, std::string_view context, std::uint32_t begin) {
  if (++s_.depth > s_.max_depth) {
    s_.too_deep = true;
    fail("blocks nest too deeply");
    return nullptr;
  }
  const std::size_t variables = variables_.size();
  auto* node = make<BranchNode>(kind, begin, begin);
  node->pipeline = pipeline(context, TokenKind::right_delimiter);
  if (node->pipeline == nullptr) return nullptr;
  node->begin = node->pipeline->begin;
  node->end = node->pipeline->end;
  ranges_ += kind == NodeKind::range;
  const Node* stop = nullptr;
  node->list = item_list(stop);
  ranges_ -= kind == NodeKind::range;
  if (node->list == nullptr) return nullptr;
  if (stop->kind == NodeKind::else_) {
    const TokenKind follows = peek().kind;
    const bool chained =
        (kind == NodeKind::if_ && follows == TokenKind::if_) || (kind == NodeKind::with && follows == TokenKind::with);
    if (chained) {
      const Token word = next();
      const Node* inner = branch(kind, context, word.begin);
      if (inner == nullptr) return nullptr;
      node->else_list = list_of({inner}, stop->begin);
    } else {
      node->else_list = item_list(stop);
      if (node->else_list == nullptr) return nullptr;
      if (stop->kind != NodeKind::end) {
        fail("expected end; found " + node_text(*stop));
        return nullptr;
      }
    }
  }
  leave_scope(variables);
  --s_.depth;
  return node;
}

bool TreeParser::template_name(const Token& token, std::string_view context, std::string_view& name) {
  if (token.kind != TokenKind::string && token.kind != TokenKind::raw_string) return unexpected(token, context);
  const auto text = unquote(token.text);
  if (!text) return fail("invalid syntax");
  name = arena_.copy_text(*text);
  return true;
}

const Node* TreeParser::invoke(const Token& token, std::string_view name, const PipelineNode* pipe) {
  auto* node = make<InvokeNode>(NodeKind::invoke, token.begin, pipe == nullptr ? token.end() : pipe->end);
  node->name = name;
  node->pipeline = pipe;
  return node;
}

/// {{block "name" pipeline}} defines a template and invokes it. Its body is parsed by a parser of its own: variables of
/// the template around are not seen in it.
const Node* TreeParser::block_control() {
  constexpr std::string_view kContext = "block clause";
  const Token token = next_after_space();
  std::string_view name;
  if (!template_name(token, kContext, name)) return nullptr;
  const PipelineNode* pipe = pipeline(kContext, TokenKind::right_delimiter);
  if (pipe == nullptr) return nullptr;
  if (++s_.depth > s_.max_depth) {
    s_.too_deep = true;
    fail("blocks nest too deeply");
    return nullptr;
  }
  TreeParser block(s_, name);
  const Node* stop = nullptr;
  const ListNode* root = block.item_list(stop);
  if (root == nullptr) return nullptr;
  --s_.depth;
  if (stop->kind != NodeKind::end) {
    fail("unexpected " + node_text(*stop) + " in " + std::string(kContext));
    return nullptr;
  }
  if (!block.add_tree(root)) return nullptr;
  return invoke(token, name, pipe);
}

const Node* TreeParser::invoke_control() {
  constexpr std::string_view kContext = "template clause";
  const Token token = next_after_space();
  std::string_view name;
  if (!template_name(token, kContext, name)) return nullptr;
  const PipelineNode* pipe = nullptr;
  if (next_after_space().kind != TokenKind::right_delimiter) {
    back();
    pipe = pipeline(kContext, TokenKind::right_delimiter);
    if (pipe == nullptr) return nullptr;
  }
  return invoke(token, name, pipe);
}

// ---- the door

namespace {

/// {{template}} finds its tree here, once and for all.
class Linker {
 public:
  explicit Linker(const ParseSession& session) : s_(session) {}
  void link(const ListNode& list) {
    for (std::uint32_t i = 0; i < list.size; ++i) link_node(*list.items[i]);
  }

 private:
  void link_node(const Node& node) {
    if (node.kind == NodeKind::invoke) {
      // The nodes are this compilation's own until it returns.
      auto& invoke = const_cast<InvokeNode&>(as<InvokeNode>(node));
      const auto found = s_.trees.find(invoke.name);
      invoke.tree = found == s_.trees.end() ? nullptr : s_.program.trees[found->second];
    } else if (node.kind == NodeKind::if_ || node.kind == NodeKind::with || node.kind == NodeKind::range) {
      const auto& branch = as<BranchNode>(node);
      link(*branch.list);
      if (branch.else_list != nullptr) link(*branch.else_list);
    }
  }

  const ParseSession& s_;
};

Error parse_error(const Program& program, const ParseSession& session) {
  const bool too_large = !session.too_deep && program.arena.over_limit();
  const ErrorCode code = session.too_deep ? ErrorCode::limit_depth
                         : too_large      ? ErrorCode::limit_memory
                                          : ErrorCode::go_parse;
  return Error(code, too_large ? "the template needs too much memory" : session.message)
      .at(program.source.locate(session.begin, session.end))
      .hint(session.hint);
}

}  // namespace

/// Trees are linked last, since a template may be invoked before it is defined. One that is never defined is an error
/// only when it is invoked, as in Go.
Result<std::unique_ptr<Program>> compile(std::string name, std::string_view text, const Limits& limits) {
  if (text.size() >= Runtime::kMaxText) return Error(ErrorCode::limit_memory, "a template of 2 GiB or more");
  auto program = std::make_unique<Program>(SourceText(std::move(name), text, false));
  program->arena.set_limit(limits.memory_bytes);
  ParseSession session{*program, Lexer(program->source.text()), that_hold(limits).depth};
  TreeParser parser(session, "");
  if (!parser.parse()) return parse_error(*program, session);
  if (!lay_out(*program, session.message)) {
    return Error(ErrorCode::go_parse, session.message)
        .hint("Ollama refuses {{ template \"name\" }} without a value: give it the dot as well");
  }
  Linker linker(session);
  for (const Tree* tree : program->trees) linker.link(*tree->root);
  return program;
}

}  // namespace parlance::gotemplate
