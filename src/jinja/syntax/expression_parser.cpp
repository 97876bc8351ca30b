// The rules for expressions, from the weakest binding to the strongest, then targets and arguments.
//
// Source of the grammar, the messages and the line given to each node: Jinja2 3.1 parser.py.
// Begin reading at parse_expression and parse_operators.
#include "jinja/syntax/expression_parser.h"

#include <algorithm>
#include <array>

#include "jinja/syntax/literals.h"

namespace parlance::jinja {
namespace {

/// The parser's own recursion never goes deeper than this, whatever the caller's limits say.
constexpr std::uint32_t kMaxNesting = 500;

/// What stands for a node where parsing failed. Nobody writes to it.
Constant nothing{Node{NodeKind::constant, 0, 1, 0, 0, 0, 0}, {}, false};
Node* no_expression() { return &nothing; }

struct OperatorRow {
  TokenKind token;
  Level level;
  BinaryOp binary;
  CompareOp compare;
};
constexpr OperatorRow kOperators[] = {
    {TokenKind::eq, Level::compare, {}, CompareOp::eq},
    {TokenKind::ne, Level::compare, {}, CompareOp::ne},
    {TokenKind::lt, Level::compare, {}, CompareOp::lt},
    {TokenKind::le, Level::compare, {}, CompareOp::le},
    {TokenKind::gt, Level::compare, {}, CompareOp::gt},
    {TokenKind::ge, Level::compare, {}, CompareOp::ge},
    {TokenKind::add, Level::sum, BinaryOp::add, {}},
    {TokenKind::sub, Level::sum, BinaryOp::sub, {}},
    {TokenKind::tilde, Level::concat, {}, {}},
    {TokenKind::mul, Level::product, BinaryOp::mul, {}},
    {TokenKind::div, Level::product, BinaryOp::div, {}},
    {TokenKind::floor_div, Level::product, BinaryOp::floor_div, {}},
    {TokenKind::mod, Level::product, BinaryOp::mod, {}},
    {TokenKind::pow, Level::power, BinaryOp::pow, {}},
};

constexpr std::size_t kTokenKinds = static_cast<std::size_t>(TokenKind::semicolon) + 1;
/// kOperators by token kind; Level::none where a token is no operator.
constexpr std::array<OperatorRow, kTokenKinds> kOperatorOfKind = [] {
  std::array<OperatorRow, kTokenKinds> rows{};
  for (const OperatorRow& row : kOperators) rows[static_cast<std::size_t>(row.token)] = row;
  return rows;
}();
const OperatorRow& operator_of(TokenKind kind) { return kOperatorOfKind[static_cast<std::size_t>(kind)]; }

Level above(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

/// What Jinja2 calls the class of a node, in lower case, as "can't assign to" messages show it.
std::string_view class_name(const Node& node) {
  switch (node.kind) {
    case NodeKind::name: return "name";
    case NodeKind::constant: return "const";
    case NodeKind::tuple: return "tuple";
    case NodeKind::list: return "list";
    case NodeKind::dict: return "dict";
    case NodeKind::conditional: return "condexpr";
    case NodeKind::filter: return "filter";
    case NodeKind::test: return "test";
    case NodeKind::call: return "call";
    case NodeKind::get_item: return "getitem";
    case NodeKind::get_attribute: return "getattr";
    case NodeKind::slice: return "slice";
    case NodeKind::concat: return "concat";
    case NodeKind::compare: return "compare";
    case NodeKind::logical: return as<Logical>(&node).is_and ? "and" : "or";
    case NodeKind::not_: return "not";
    case NodeKind::negative: return "neg";
    case NodeKind::positive: return "pos";
    case NodeKind::binary: break;
    default: return "nsref";
  }
  constexpr std::string_view kBinaryNames[] = {"add", "sub", "mul", "div", "floordiv", "mod", "pow"};
  return kBinaryNames[static_cast<std::size_t>(as<Binary>(&node).op)];
}

bool is_reserved(std::string_view name) {
  switch (find_word(name)) {
    case Word::true_:
    case Word::True_:
    case Word::false_:
    case Word::False_:
    case Word::none_:
    case Word::None_: return true;
    default: return false;
  }
}

/// Jinja2's can_assign(). An attribute or an element is none, since templates change no data; namespace is the
/// exception.
bool can_assign(const Node& target) {
  switch (target.kind) {
    case NodeKind::name: return !is_reserved(as<Name>(&target).name);
    case NodeKind::namespace_ref: return true;
    case NodeKind::tuple: {
      const Nodes& items = as<Items>(&target).items;
      return std::all_of(items.begin(), items.end(), [](const Node* item) { return can_assign(*item); });
    }
    default: return false;
  }
}

}  // namespace

ExpressionParser::ExpressionParser(Runtime& rt, Arena& nodes, const SourceText& source, const SyntaxOptions& options)
    : rt_(rt), tree_(nodes), stream_(rt, source, options), max_depth_(std::min(rt.limits.depth, kMaxNesting)) {
  nodes_.reserve(128);
}

void ExpressionParser::raise(Node& parent, const Pair& pair) {
  raise(parent, pair.key);
  raise(parent, pair.value);
}

void ExpressionParser::raise(Node& parent, const Arguments& arguments) {
  raise(parent, arguments.positional);
  raise(parent, arguments.keywords);
  raise(parent, arguments.star);
  raise(parent, arguments.star_star);
}

// ---- failing

Node* ExpressionParser::fail(const Token& at, std::string message) {
  stream_.fail(at, std::move(message));
  return no_expression();
}

/// Jinja2 tells a line alone. The node's own bytes are shown where they begin in that line, else its beginning.
void ExpressionParser::fail_at(const Node& node, std::string message, ErrorCode code) {
  const bool starts_there =
      node.anchor >= node.begin &&
      stream_.text().substr(node.begin, node.anchor - node.begin).find('\n') == std::string_view::npos;
  if (starts_there) return stream_.fail(node.begin, node.end, std::move(message), code);
  stream_.fail(node.anchor, node.anchor + 1, std::move(message), code);
}

void ExpressionParser::fail_depth() {
  const Token& at = stream_.current();
  stream_.fail(at.begin, at.end, "the template nests too deeply", ErrorCode::limit_depth);
}

void ExpressionParser::fail_size(const Node& node) {
  if (node.height > kMaxTreeHeight) return fail_depth();
  const Token& at = stream_.current();
  stream_.fail(at.begin, at.end, "the template is too large", ErrorCode::limit_memory);
}

// ---- operators

Node* ExpressionParser::parse_expression() { return parse_conditional(); }

/// `a if b else c` goes on to the right in its else, and to the left in what it is put in: `a if b if c` is (a if b) if
/// c.
Node* ExpressionParser::parse_conditional() {
  const std::uint32_t begin = stream_.current().begin;
  std::uint32_t anchor = begin;
  Node* then = parse_operators(Level::or_);
  while (stream_.skip_if(Word::if_)) {
    Node* test = parse_operators(Level::or_);
    Node* otherwise = nullptr;
    if (stream_.skip_if(Word::else_)) {
      Nest nest(*this);
      otherwise = nest.ok() ? parse_conditional() : no_expression();
    }
    then = make<Conditional>(NodeKind::conditional, begin, anchor, test, then, otherwise);
    anchor = stream_.current().begin;
  }
  return then;
}

/// The level of the operator at the current token if it is at least `floor`; else none.
Level ExpressionParser::next_level(Level floor) {
  const Token& token = stream_.current();
  Level level = operator_of(token.kind).level;
  switch (token.word) {
    case Word::or_: level = Level::or_; break;
    case Word::and_: level = Level::and_; break;
    case Word::in: level = Level::compare; break;
    case Word::not_:
      if (floor <= Level::compare && stream_.look().word == Word::in) level = Level::compare;
      break;
    default: break;
  }
  return level >= floor ? level : Level::none;
}

/// Operators of `floor` and stronger ones.
///
/// Jinja2 has one function for each level and gives the first operation of a level the line where
/// its left operand begins, later ones of that level the line of their operator.
Node* ExpressionParser::parse_operators(Level floor) {
  const std::uint32_t begin = stream_.current().begin;
  Node* left = floor <= Level::not_ && stream_.at(Word::not_) ? parse_not() : parse_unary(true);
  Level last = Level::none;
  for (;;) {
    const Level level = next_level(floor);
    if (level == Level::none) return left;
    const std::uint32_t anchor = level == last ? stream_.current().begin : begin;
    left = parse_operation(left, level, begin, anchor);
    last = level;
  }
}

Node* ExpressionParser::parse_operation(Node* left, Level level, std::uint32_t begin, std::uint32_t anchor) {
  if (level == Level::compare) return parse_comparison(left, begin);
  if (level == Level::concat) return parse_concat(left, begin);
  const Token op = stream_.advance();
  Node* right = parse_operators(above(level));
  if (level <= Level::and_) {
    return make<Logical>(NodeKind::logical, begin, anchor, level == Level::and_, left, right);
  }
  return make<Binary>(NodeKind::binary, begin, anchor, operator_of(op.kind).binary, left, right, op.begin);
}

Node* ExpressionParser::parse_not() {
  const Token word = stream_.advance();
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  Node* operand = parse_operators(Level::not_);
  return make<Unary>(NodeKind::not_, word.begin, word.begin, operand);
}

/// A chain of comparisons is one node, as in Python: each middle operand is evaluated once.
Node* ExpressionParser::parse_comparison(Node* first, std::uint32_t begin) {
  Collector<Operand> rest(operands_, arena());
  while (next_level(Level::compare) == Level::compare) {
    const Token op = stream_.advance();
    CompareOp compare = operator_of(op.kind).compare;
    if (op.word == Word::in) compare = CompareOp::in;
    if (op.word == Word::not_) {
      stream_.advance();
      compare = CompareOp::not_in;
    }
    rest.push(Operand{compare, parse_operators(Level::sum)});
  }
  return make<Compare>(NodeKind::compare, begin, stream_.current().begin, first, rest.take());
}

Node* ExpressionParser::parse_concat(Node* first, std::uint32_t begin) {
  Collector<Node*> parts = collect_nodes();
  parts.push(first);
  while (stream_.skip_if(TokenKind::tilde)) parts.push(parse_operators(Level::product));
  return make<Concat>(NodeKind::concat, begin, begin, parts.take());
}

/// A filter binds weaker than a sign, and stronger than an operator: `-1 | abs` is (-1) | abs. So behind a sign no
/// filters are taken.
Node* ExpressionParser::parse_unary(bool with_filters) {
  const std::uint32_t begin = stream_.current().begin;
  Node* node = nullptr;
  switch (stream_.current().kind) {
    case TokenKind::sub: node = parse_sign(NodeKind::negative); break;
    case TokenKind::add: node = parse_sign(NodeKind::positive); break;
    default: node = parse_primary(false); break;
  }
  node = parse_postfix(node, begin);
  return with_filters ? parse_filters_and_tests(node, begin) : node;
}

Node* ExpressionParser::parse_sign(NodeKind kind) {
  const Token sign = stream_.advance();
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  Node* operand = parse_unary(false);
  return make<Unary>(kind, sign.begin, sign.begin, operand);
}

// ---- what follows a value

Node* ExpressionParser::parse_postfix(Node* node, std::uint32_t begin) {
  for (;;) {
    switch (stream_.current().kind) {
      case TokenKind::dot: node = parse_attribute(node, begin); break;
      case TokenKind::left_bracket: node = parse_subscript(node, begin); break;
      case TokenKind::left_paren: node = parse_call(node, begin); break;
      default: return node;
    }
  }
}

/// Behind a filter or a test come only more of them, and calls.
Node* ExpressionParser::parse_filters_and_tests(Node* node, std::uint32_t begin) {
  for (;;) {
    if (stream_.at(TokenKind::pipe)) {
      node = parse_filters(node, begin, false);
    } else if (stream_.at(Word::is)) {
      node = parse_test(node, begin);
    } else if (stream_.at(TokenKind::left_paren)) {
      node = parse_call(node, begin);
    } else {
      return node;
    }
  }
}

/// `x.0` is an element and no attribute. Which of the two is looked for first is visible where a dict has a key
/// `items`.
Node* ExpressionParser::parse_attribute(Node* object, std::uint32_t begin) {
  const Token dot = stream_.advance();
  const Token attribute = stream_.advance();
  if (attribute.kind == TokenKind::name) {
    return make<GetAttribute>(NodeKind::get_attribute, begin, dot.begin, object, stream_.text(attribute),
                              attribute.begin);
  }
  if (attribute.kind != TokenKind::integer) return fail(attribute, "expected name or number");
  Node* key = make<Constant>(NodeKind::constant, attribute.begin, attribute.begin, attribute.value, false);
  return make<GetItem>(NodeKind::get_item, begin, dot.begin, object, key);
}

Node* ExpressionParser::parse_subscript(Node* object, std::uint32_t begin) {
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  const Token bracket = stream_.advance();
  Collector<Node*> keys = collect_nodes();
  while (stream_.before(TokenKind::right_bracket)) {
    if (keys.size() != 0) stream_.expect(TokenKind::comma);
    keys.push(parse_subscript_item());
  }
  Node* key = nullptr;
  if (keys.size() == 1) {
    key = keys[0];
  } else {
    key = make<Items>(NodeKind::tuple, bracket.end, bracket.begin, keys.take(), Access::load);
  }
  stream_.expect(TokenKind::right_bracket);
  return make<GetItem>(NodeKind::get_item, begin, bracket.begin, object, key);
}

Node* ExpressionParser::parse_subscript_item() {
  const std::uint32_t begin = stream_.current().begin;
  Node* start = nullptr;
  if (!stream_.at(TokenKind::colon)) {
    start = parse_expression();
    if (!stream_.at(TokenKind::colon)) return start;
  }
  stream_.advance();
  Node* stop = stream_.at(TokenKind::colon) ? nullptr : parse_slice_bound();
  Node* step = stream_.skip_if(TokenKind::colon) ? parse_slice_bound() : nullptr;
  return make<Slice>(NodeKind::slice, begin, begin, start, stop, step);
}

Node* ExpressionParser::parse_slice_bound() {
  const bool ends = stream_.at(TokenKind::right_bracket) || stream_.at(TokenKind::comma);
  return ends ? nullptr : parse_expression();
}

Node* ExpressionParser::parse_call(Node* callee, std::uint32_t begin) {
  const std::uint32_t paren = stream_.current().begin;
  const Arguments arguments = parse_arguments();
  return make<CallNode>(NodeKind::call, begin, paren, callee, arguments);
}

/// Jinja2 allows less than Python: positional arguments, then `*`, then keywords, and `**` last. A comma at the end may
/// stand only behind an argument.
Arguments ExpressionParser::parse_arguments() {
  Arguments arguments;
  Nest nest(*this);
  if (!nest.ok()) return arguments;
  const Token paren = stream_.expect(TokenKind::left_paren);
  Collector<Node*> positional = collect_nodes();
  Collector<Keyword> keywords(keywords_, arena());
  const auto demand = [&](bool in_order) {
    if (!in_order) fail(paren, "invalid syntax for function call expression");
  };
  for (bool first = true; stream_.before(TokenKind::right_paren); first = false) {
    if (!first) {
      stream_.expect(TokenKind::comma);
      if (stream_.at(TokenKind::right_paren)) break;
    }
    if (stream_.at(TokenKind::mul)) {
      demand(arguments.star == nullptr && arguments.star_star == nullptr);
      stream_.advance();
      arguments.star = parse_expression();
    } else if (stream_.at(TokenKind::pow)) {
      demand(arguments.star_star == nullptr);
      stream_.advance();
      arguments.star_star = parse_expression();
    } else if (stream_.at(TokenKind::name) && stream_.look().kind == TokenKind::assign) {
      demand(arguments.star_star == nullptr);
      const Token name = stream_.advance();
      stream_.advance();
      Node* value = parse_expression();
      keywords.push(Keyword{stream_.text(name), value, name.begin, stream_.last_end()});
    } else {
      demand(arguments.star == nullptr && arguments.star_star == nullptr && keywords.size() == 0);
      positional.push(parse_expression());
    }
  }
  stream_.expect(TokenKind::right_paren);
  arguments.positional = positional.take();
  arguments.keywords = keywords.take();
  return arguments;
}

/// A name of a filter or test, with dots in it perhaps; `first` is its first part. It views the
/// source where it stands there in one piece.
std::string_view ExpressionParser::parse_dotted_name(const Token& first) {
  const std::string_view begin = stream_.text(first);
  if (!stream_.at(TokenKind::dot)) return begin;
  std::string name(begin);
  while (stream_.skip_if(TokenKind::dot)) {
    name.append(".").append(stream_.text(stream_.expect(TokenKind::name)));
  }
  const std::string_view in_source = stream_.text().substr(first.begin, name.size());
  return in_source == name ? in_source : rt_.arena.copy_text(name);
}

Node* ExpressionParser::parse_filters(Node* subject, std::uint32_t begin, bool begins) {
  while (begins || stream_.at(TokenKind::pipe)) {
    if (!begins) stream_.advance();
    begins = false;
    const Token token = stream_.expect(TokenKind::name);
    const std::string_view name = parse_dotted_name(token);
    Arguments arguments;
    if (stream_.at(TokenKind::left_paren)) arguments = parse_arguments();
    subject = make<Filter>(NodeKind::filter, begin, token.begin, subject, name, arguments);
  }
  return subject;
}

Node* ExpressionParser::parse_test(Node* subject, std::uint32_t begin) {
  const Token is = stream_.advance();
  const bool negated = stream_.skip_if(Word::not_);
  const std::string_view name = parse_dotted_name(stream_.expect(TokenKind::name));
  const Arguments arguments = stream_.at(TokenKind::left_paren) ? parse_arguments() : parse_test_argument();
  Node* test = make<Filter>(NodeKind::test, begin, is.begin, subject, name, arguments);
  return negated ? make<Unary>(NodeKind::not_, begin, is.begin, test) : test;
}

/// A test may have one argument without parentheses, as in `x is divisibleby 3`.
Arguments ExpressionParser::parse_test_argument() {
  Arguments arguments;
  switch (stream_.current().kind) {
    case TokenKind::name:
    case TokenKind::string:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::left_bracket:
    case TokenKind::left_brace: break;
    default: return arguments;
  }
  const Word word = stream_.current().word;
  if (word == Word::else_ || word == Word::or_ || word == Word::and_) return arguments;
  if (word == Word::is) {
    fail(stream_.current(), "You cannot chain multiple tests with is");
    return arguments;
  }
  const std::uint32_t begin = stream_.current().begin;
  Collector<Node*> positional = collect_nodes();
  positional.push(parse_postfix(parse_primary(false), begin));
  arguments.positional = positional.take();
  return arguments;
}

// ---- values

Node* ExpressionParser::parse_primary(bool with_namespace) {
  const Token& token = stream_.current();
  switch (token.kind) {
    case TokenKind::name: return parse_name(with_namespace);
    case TokenKind::string: return parse_string();
    case TokenKind::integer:
    case TokenKind::real: {
      const Token number = stream_.advance();
      return make<Constant>(NodeKind::constant, number.begin, number.begin, number.value, false);
    }
    case TokenKind::left_paren: return parse_parentheses();
    case TokenKind::left_bracket: return parse_list();
    case TokenKind::left_brace: return parse_dict();
    default: return fail(token, "unexpected " + quoted(stream_.describe(token)));
  }
}

/// Any name is a variable here, `in` and `and` too; only the constants are taken.
Node* ExpressionParser::parse_name(bool with_namespace) {
  const Token token = stream_.advance();
  const auto constant = [&](Value value) {
    return make<Constant>(NodeKind::constant, token.begin, token.begin, value, false);
  };
  switch (token.word) {
    case Word::true_:
    case Word::True_: return constant(Value::boolean(true));
    case Word::false_:
    case Word::False_: return constant(Value::boolean(false));
    case Word::none_:
    case Word::None_: return constant(Value::none());
    default: break;
  }
  if (with_namespace && stream_.skip_if(TokenKind::dot)) {
    const Token attribute = stream_.expect(TokenKind::name);
    return make<NamespaceRef>(NodeKind::namespace_ref, token.begin, token.begin, stream_.text(token),
                              stream_.text(attribute));
  }
  return make<Name>(NodeKind::name, token.begin, token.begin, stream_.text(token), Access::load);
}

/// Strings that follow one another are one.
Node* ExpressionParser::parse_string() {
  const Token first = stream_.advance();
  if (!stream_.at(TokenKind::string)) {
    return make<Constant>(NodeKind::constant, first.begin, first.begin, first.value, false);
  }
  std::string joined(first.value.data, first.value.size);
  struct Part {
    std::size_t offset;
    const char* source;
  };
  std::vector<Part> parts = {{0, stream_.text(first).data() + 1}};
  while (stream_.at(TokenKind::string)) {
    const Token next = stream_.advance();
    parts.push_back({joined.size(), stream_.text(next).data() + 1});
    joined.append(next.value.data, next.value.size);
  }
  const std::string_view text = rt_.arena.copy_text(joined);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i + 1 < parts.size() ? parts[i + 1].offset : text.size();
    rt_.arena.log_derived(text.data() + parts[i].offset, end - parts[i].offset, TextSource{parts[i].source, 0});
  }
  return make<Constant>(NodeKind::constant, first.begin, first.begin, Value::view(text), false);
}

Node* ExpressionParser::parse_parentheses() {
  const Token paren = stream_.advance();
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  Node* node = parse_tuple(TupleForm::in_parentheses);
  stream_.expect(TokenKind::right_paren);
  if (node->kind == NodeKind::tuple) {
    node->begin = paren.begin;
    node->end = stream_.last_end();
  }
  return node;
}

Node* ExpressionParser::parse_list() {
  const Token bracket = stream_.advance();
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  Collector<Node*> items = collect_nodes();
  while (stream_.before(TokenKind::right_bracket)) {
    if (items.size() != 0) stream_.expect(TokenKind::comma);
    if (stream_.at(TokenKind::right_bracket)) break;
    items.push(parse_expression());
  }
  stream_.expect(TokenKind::right_bracket);
  return make<Items>(NodeKind::list, bracket.begin, bracket.begin, items.take(), Access::load);
}

Node* ExpressionParser::parse_dict() {
  const Token brace = stream_.advance();
  Nest nest(*this);
  if (!nest.ok()) return no_expression();
  Collector<Pair> pairs(pairs_, arena());
  while (stream_.before(TokenKind::right_brace)) {
    if (pairs.size() != 0) stream_.expect(TokenKind::comma);
    if (stream_.at(TokenKind::right_brace)) break;
    Node* key = parse_expression();
    stream_.expect(TokenKind::colon);
    Node* value = parse_expression();
    pairs.push(Pair{key, value});
  }
  stream_.expect(TokenKind::right_brace);
  return make<Dict>(NodeKind::dict, brace.begin, brace.begin, pairs.take());
}

Node* ExpressionParser::parse_tuple(TupleForm form) {
  const std::uint32_t begin = stream_.current().begin;
  std::uint32_t anchor = begin;
  Collector<Node*> items = collect_nodes();
  bool is_tuple = false;
  for (;;) {
    if (items.size() != 0) stream_.expect(TokenKind::comma);
    const TokenKind kind = stream_.current().kind;
    if (kind == TokenKind::variable_end || kind == TokenKind::block_end || kind == TokenKind::right_paren ||
        kind == TokenKind::invalid) {
      break;
    }
    switch (form) {
      case TupleForm::target: items.push(parse_primary(false)); break;
      case TupleForm::namespace_target: items.push(parse_primary(true)); break;
      case TupleForm::no_conditional: items.push(parse_operators(Level::or_)); break;
      default: items.push(parse_expression()); break;
    }
    if (!stream_.at(TokenKind::comma)) break;
    is_tuple = true;
    anchor = stream_.current().begin;
  }
  if (!is_tuple) {
    if (items.size() != 0) return items[0];
    if (form != TupleForm::in_parentheses) {
      const Token& token = stream_.current();
      return fail(token, "Expected an expression, got " + quoted(stream_.describe(token)));
    }
  }
  return make<Items>(NodeKind::tuple, begin, anchor, items.take(), Access::load);
}

// ---- targets

void ExpressionParser::set_access(Node* target, Access access) {
  if (target->kind == NodeKind::name) as<Name>(target).access = access;
  if (target->kind != NodeKind::tuple) return;
  as<Items>(target).access = access;
  for (Node* item : as<Items>(target).items) set_access(item, access);
}

Node* ExpressionParser::parse_target(Target kind) {
  if (kind == Target::name) return parse_name_target(Access::store);
  Node* target = parse_tuple(kind == Target::any ? TupleForm::target : TupleForm::namespace_target);
  if (!can_assign(*target)) {
    fail_at(*target, "can't assign to " + quoted(class_name(*target)));
  }
  set_access(target, Access::store);
  return target;
}

Name* ExpressionParser::parse_name_target(Access access) {
  const Token token = stream_.expect(TokenKind::name);
  Name* name = make<Name>(NodeKind::name, token.begin, token.begin, stream_.text(token), access);
  if (!can_assign(*name)) fail_at(*name, "can't assign to 'name'");
  return name;
}

}  // namespace parlance::jinja
