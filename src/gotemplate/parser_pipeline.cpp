// The parser's pipelines, commands and operands. Begin reading at pipeline().
#include <algorithm>

#include "base/nearest.h"
#include "gotemplate/functions.h"
#include "gotemplate/number.h"
#include "gotemplate/parser.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {

/// Commands with `|` between them. `context` is what errors call the statement; a range is also told by it, since only
/// a range may declare two variables.
const PipelineNode* TreeParser::pipeline(std::string_view context, TokenKind end) {
  const Token first = peek_after_space();
  auto* pipe = make<PipelineNode>(NodeKind::pipeline, first.begin, first.end());
  if (!declarations(context, *pipe)) return nullptr;
  std::vector<const CommandNode*> commands;
  for (;;) {
    const Token token = next_after_space();
    switch (token.kind) {
      case TokenKind::boolean:
      case TokenKind::character_constant:
      case TokenKind::complex:
      case TokenKind::dot:
      case TokenKind::field:
      case TokenKind::identifier:
      case TokenKind::number:
      case TokenKind::nil:
      case TokenKind::raw_string:
      case TokenKind::string:
      case TokenKind::variable:
      case TokenKind::left_parenthesis: {
        back();
        const CommandNode* made = command();
        if (made == nullptr) return nullptr;
        commands.push_back(made);
        pipe->end = made->end;
        continue;
      }
      default: break;
    }
    if (token.kind != end) {
      unexpected(token, context);
      return nullptr;
    }
    auto* items = arena_.allocate_array<const CommandNode*>(commands.size());
    std::copy(commands.begin(), commands.end(), items);
    pipe->commands = items;
    pipe->size = static_cast<std::uint32_t>(commands.size());
    return check(*pipe, context) ? pipe : nullptr;
  }
}

/// `$x :=`, `$x =`, and `$i, $x :=` in a range; or nothing, with the variable put back.
bool TreeParser::declarations(std::string_view context, PipelineNode& pipe) {
  while (peek_after_space().kind == TokenKind::variable) {
    const Token variable = next();
    const Token adjacent = peek();
    const Token after = peek_after_space();
    const bool assigns = after.kind == TokenKind::assign;
    const bool is_comma = after.kind == TokenKind::character && after.text == ",";
    if (assigns || after.kind == TokenKind::declare || is_comma) {
      next_after_space();
      pipe.declared[pipe.declared_count++] = variable_node(variable);
      declare(variable.text);
      if (!is_comma) {
        pipe.assigns = assigns;
        return true;
      }
      if (context != "range" || pipe.declared_count >= 2) {
        return fail("too many declarations in " + std::string(context));
      }
      const TokenKind second = peek_after_space().kind;
      if (second != TokenKind::variable && second != TokenKind::right_delimiter &&
          second != TokenKind::right_parenthesis) {
        return fail("range can only initialize variables");
      }
      continue;
    }
    if (adjacent.kind == TokenKind::space) {
      back3(variable, adjacent);
    } else {
      back2(variable);
    }
    return true;
  }
  return true;
}

/// A value from the stage before becomes an argument of the next, so a later stage must be something that takes one.
/// What a name stands for is not known yet: only constants and the dot are refused here.
bool TreeParser::check(const PipelineNode& pipe, std::string_view context) {
  if (pipe.size == 0) return fail("missing value for " + std::string(context));
  for (std::uint32_t i = 1; i < pipe.size; ++i) {
    switch (pipe.commands[i]->arguments[0]->kind) {
      case NodeKind::boolean:
      case NodeKind::dot:
      case NodeKind::nil:
      case NodeKind::number:
      case NodeKind::string: return fail("non executable command in pipeline stage " + std::to_string(i + 1));
      default: break;
    }
  }
  return true;
}

/// Operands with blanks between them. A blank is a token here because `f.x` and `f .x` differ: a field of f, or f with
/// an argument.
const CommandNode* TreeParser::command() {
  auto* node = make<CommandNode>(NodeKind::command, peek_after_space().begin, 0);
  NodeList arguments;
  for (;;) {
    peek_after_space();
    const Node* made = operand();
    if (s_.failed) return nullptr;
    if (made != nullptr) {
      arguments.push_back(made);
      node->end = made->end;
    }
    const Token token = next();
    if (token.kind == TokenKind::space) continue;
    if (token.kind == TokenKind::right_delimiter || token.kind == TokenKind::right_parenthesis) {
      back();
    } else if (token.kind != TokenKind::pipe) {
      unexpected(token, "operand");
      return nullptr;
    }
    break;
  }
  if (arguments.empty()) {
    fail("empty command");
    return nullptr;
  }
  auto* items = arena_.allocate_array<const Node*>(arguments.size());
  std::copy(arguments.begin(), arguments.end(), items);
  node->arguments = items;
  node->size = static_cast<std::uint32_t>(arguments.size());
  return node;
}

const Node* TreeParser::operand() {
  const Node* node = term();
  if (node == nullptr || peek().kind != TokenKind::field) return node;
  return with_fields(node);
}

/// Fields after a term. A position is that of the first of them, as Go has it.
const Node* TreeParser::with_fields(const Node* term) {
  std::vector<Token> fields;
  const auto first_names = [&](const Names& names) {
    for (std::uint32_t i = 0; i < names.size; ++i) {
      Token token;
      token.text = names.items[i].view();
      fields.push_back(token);
    }
  };
  if (term->kind == NodeKind::field) first_names(as<FieldNode>(*term).names);
  if (term->kind == NodeKind::variable) first_names(as<VariableNode>(*term).names);
  const std::uint32_t begin = peek().begin;
  std::uint32_t end = begin;
  while (peek().kind == TokenKind::field) {
    Token token = next();
    end = token.end();
    token.text.remove_prefix(1);
    fields.push_back(token);
  }
  switch (term->kind) {
    case NodeKind::field: {
      auto* node = make<FieldNode>(NodeKind::field, begin, end);
      node->names = names_of(fields);
      return node;
    }
    case NodeKind::variable: {
      auto* node = make<VariableNode>(NodeKind::variable, begin, end);
      node->variable = as<VariableNode>(*term).variable;
      node->name = as<VariableNode>(*term).name;
      node->names = names_of(fields);
      return node;
    }
    case NodeKind::boolean:
    case NodeKind::string:
    case NodeKind::number:
    case NodeKind::nil:
    case NodeKind::dot: fail("unexpected . after term " + quoted(node_text(*term))); return nullptr;
    default: break;
  }
  auto* node = make<ChainNode>(NodeKind::chain, begin, end);
  node->of = term;
  node->names = names_of(fields);
  return node;
}

/// The symbol and the question whether a name may be a method are answered here, once, and not at each use in a loop.
Names TreeParser::names_of(const std::vector<Token>& tokens) {
  auto* names = arena_.allocate_array<Name>(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    names[i] = {Value::view(text), field_symbol(text), is_method_name(text)};
  }
  return {names, static_cast<std::uint32_t>(tokens.size())};
}

/// Null where no operand begins, which is no error: the caller says what it expected instead.
const Node* TreeParser::term() {
  const Token token = next_after_space();
  switch (token.kind) {
    case TokenKind::identifier: return identifier(token);
    case TokenKind::dot: return make<Node>(NodeKind::dot, token.begin, token.end());
    case TokenKind::nil: return make<Node>(NodeKind::nil, token.begin, token.end());
    case TokenKind::variable: return use_variable(token);
    case TokenKind::field: {
      auto* node = make<FieldNode>(NodeKind::field, token.begin, token.end());
      Token name = token;
      name.text.remove_prefix(1);
      node->names = names_of({name});
      return node;
    }
    case TokenKind::boolean: {
      auto* node = make<ConstantNode>(NodeKind::boolean, token.begin, token.end());
      node->value = Value::boolean(token.text == "true");
      node->source = token.text;
      return node;
    }
    case TokenKind::character_constant:
    case TokenKind::complex:
    case TokenKind::number: return number(token);
    case TokenKind::left_parenthesis: return parenthesised();
    case TokenKind::string:
    case TokenKind::raw_string: return string(token);
    default: back(); return nullptr;
  }
}

/// Parentheses nest without a block, so they count towards the same depth: `((((…` would otherwise end the native
/// stack.
const Node* TreeParser::parenthesised() {
  if (++s_.depth > s_.max_depth) {
    s_.too_deep = true;
    fail("max expression depth exceeded");
    return nullptr;
  }
  const Node* node = pipeline("parenthesized pipeline", TokenKind::right_parenthesis);
  --s_.depth;
  return node;
}

/// A function must be known when the template is parsed; the table is fixed, as Ollama's is.
const Node* TreeParser::identifier(const Token& token) {
  const Function* function = find_function(token.text);
  if (function == nullptr) {
    NearestName nearest(token.text);
    for (const Function& known : function_table()) nearest.offer(known.row.name);
    s_.hint = nearest.hint();
    fail("function " + quoted(token.text) + " not defined");
    return nullptr;
  }
  auto* node = make<IdentifierNode>(NodeKind::identifier, token.begin, token.end());
  node->name = token.text;
  node->function = function;
  return node;
}

const Node* TreeParser::number(const Token& token) {
  std::string problem;
  const Value value = read_number(arena_, token, problem);
  if (value.is_invalid()) {
    fail(std::move(problem));
    return nullptr;
  }
  auto* node = make<ConstantNode>(NodeKind::number, token.begin, token.end());
  node->value = value;
  node->source = token.text;
  return node;
}

/// A string without escapes is a view of the template's text, so that what it prints is a literal.
const Node* TreeParser::string(const Token& token) {
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  auto* node = make<ConstantNode>(NodeKind::string, token.begin, token.end());
  node->source = token.text;
  const auto text = unquote(token.text);
  if (!text) {
    fail("invalid syntax");
    return nullptr;
  }
  if (*text == inside) {
    node->value = Value::view(inside);
    return node;
  }
  const std::string_view copy = arena_.copy_text(*text);
  arena_.log_derived(copy.data(), copy.size(), {inside.data(), 0});
  node->value = Value::view(copy);
  return node;
}

/// A variable's number is by its name alone, and scopes are on the executor's stack: the innermost with the number
/// wins.
VariableNode* TreeParser::variable_node(const Token& token) {
  auto* node = make<VariableNode>(NodeKind::variable, token.begin, token.end());
  node->name = token.text;
  const auto fresh = static_cast<std::uint32_t>(s_.variables.size());
  node->variable = s_.variables.try_emplace(token.text, fresh).first->second;
  return node;
}

/// Scopes are counted rather than searched: a template with thousands of variables is parsed in linear time. The count
/// is per name, since an inner scope may declare a name again.
void TreeParser::declare(std::string_view variable) {
  variables_.push_back(variable);
  ++in_scope_[variable];
}

void TreeParser::leave_scope(std::size_t variables) {
  for (; variables_.size() > variables; variables_.pop_back()) --in_scope_[variables_.back()];
}

const Node* TreeParser::use_variable(const Token& token) {
  const auto found = in_scope_.find(token.text);
  if (found != in_scope_.end() && found->second > 0) return variable_node(token);
  fail("undefined variable " + quoted(token.text));
  return nullptr;
}

}  // namespace parlance::gotemplate
