// print(): a syntax tree written back, every operation in parentheses, for tests and for people.
//
// tests/oracle/parse_oracle.py writes Jinja2's own nodes in the same notation. Walks recursively,
// as the parser bounds the height of trees. Begin reading at TreePrinter::statement and
// TreePrinter::expression.
#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "jinja/syntax/parser.h"
#include "value/number.h"

namespace parlance::jinja {
namespace {

constexpr std::string_view kCompareSymbols[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};
constexpr std::string_view kBinarySymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

class TreePrinter {
 public:
  /// `newlines`: where the lines of the source end, to print the line of each node; or null.
  explicit TreePrinter(const std::vector<std::size_t>* newlines) : newlines_(newlines) {}
  std::string take() { return std::move(out_); }

  void statements(const Nodes& nodes) {
    for (const Node* node : nodes) statement(node);
  }
  void statement(const Node* node);
  void expression(const Node* node);

 private:
  template <typename... Parts>
  void put(const Parts&... parts) {
    (one(parts), ...);
  }
  void one(std::string_view text) { out_ += text; }
  void one(const Node* node) { expression(node); }

  /// A tag on its own line, then what it encloses, one step further in.
  /// The end of a tag is printed with a null node: Jinja2 has no node for it, hence no line.
  template <typename... Parts>
  void tag(const Node* node, const Parts&... parts) {
    indent();
    put("{% ", parts..., " %}");
    line_of(node);
    out_ += '\n';
  }
  void body(const Nodes& nodes) {
    ++depth_;
    statements(nodes);
    --depth_;
  }
  void indent() { out_.append(2 * depth_, ' '); }
  void line_of(const Node* node) {
    if (newlines_ == nullptr || node == nullptr) return;
    // The anchor, not the beginning: Jinja2's `lineno`, which the oracle prints.
    const auto next = std::lower_bound(newlines_->begin(), newlines_->end(), node->anchor);
    put("@", std::to_string(next - newlines_->begin() + 1));
  }

  void compound(const Node* node);
  void bare(const Node* node);
  void template_reference(const Node* node);
  void output(const Output& node);
  void for_loop(const For& node);
  void if_chain(const If& node);
  void with(const With& node);
  void from_import(const FromImport& node);
  void constant(const Value& value);
  void string(std::string_view text);
  void list(std::string_view open, const Nodes& items, std::string_view close);
  void subscript(const GetItem& node);
  void slice(const Slice& node);
  void arguments(const Arguments& arguments);
  void filter(const Filter& node);
  void dict(const Dict& node);
  void comparison(const Compare& node);
  void conditional(const Conditional& node);
  std::string filter_chain(const Node* filter);
  std::string signature(const ArrayOf<Name*>& parameters, const Nodes& defaults);
  std::string sub(const Node* node);
  static std::string_view context(bool with_context) { return with_context ? " with context" : " without context"; }

  const std::vector<std::size_t>* newlines_;
  std::string out_;
  std::size_t depth_ = 0;
};

// ---- statements

void TreePrinter::statement(const Node* node) {
  switch (node->kind) {
    case NodeKind::output: return output(as<Output>(node));
    case NodeKind::for_: return for_loop(as<For>(node));
    case NodeKind::if_: return if_chain(as<If>(node));
    case NodeKind::with: return with(as<With>(node));
    case NodeKind::assign: return tag(node, "set ", as<Assign>(node).target, " = ", as<Assign>(node).value);
    case NodeKind::break_: return tag(node, "break");
    case NodeKind::continue_: return tag(node, "continue");
    case NodeKind::include:
    case NodeKind::import:
    case NodeKind::from_import:
    case NodeKind::extends: return template_reference(node);
    case NodeKind::assign_block:
    case NodeKind::macro:
    case NodeKind::call_block:
    case NodeKind::filter_block:
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation: return compound(node);
    default: return expression(node);
  }
}

/// Statements with one body.
void TreePrinter::compound(const Node* node) {
  const auto enclose = [&](std::string_view word, const Nodes& nodes, const auto&... rest) {
    tag(node, word, rest...);
    body(nodes);
    tag(nullptr, "end", word);
  };
  switch (node->kind) {
    case NodeKind::assign_block: {
      const auto& set = as<AssignBlock>(node);
      const std::string filters = set.filter == nullptr ? "" : "|" + filter_chain(set.filter);
      return enclose("set", set.body, " ", set.target, filters);
    }
    case NodeKind::macro: {
      const auto& macro = as<Macro>(node);
      return enclose("macro", macro.body, " ", macro.name, signature(macro.parameters, macro.defaults));
    }
    case NodeKind::call_block: {
      const auto& call = as<CallBlock>(node);
      const std::string parameters = call.parameters.empty() ? "" : signature(call.parameters, call.defaults);
      return enclose("call", call.body, parameters, " ", call.call);
    }
    case NodeKind::filter_block: {
      const auto& filter = as<FilterBlock>(node);
      return enclose("filter", filter.body, " ", filter_chain(filter.filter));
    }
    case NodeKind::block: {
      const auto& block = as<Block>(node);
      return enclose("block", block.body, " ", block.name, block.scoped ? " scoped" : "",
                     block.required ? " required" : "");
    }
    case NodeKind::autoescape:
      return enclose("autoescape", as<Autoescape>(node).body, " ", as<Autoescape>(node).enabled);
    default: return enclose("generation", as<Generation>(node).body);
  }
}

void TreePrinter::template_reference(const Node* node) {
  switch (node->kind) {
    case NodeKind::include: {
      const auto& include = as<Include>(node);
      return tag(node, "include ", include.name, include.ignore_missing ? " ignore missing" : "",
                 context(include.with_context));
    }
    case NodeKind::import: {
      const auto& import = as<Import>(node);
      return tag(node, "import ", import.name, " as ", import.target, context(import.with_context));
    }
    case NodeKind::from_import: return from_import(as<FromImport>(node));
    default: return tag(node, "extends ", as<Extends>(node).name);
  }
}

void TreePrinter::output(const Output& node) {
  for (const Node* part : node.parts) {
    indent();
    const bool is_data = part->kind == NodeKind::constant && as<Constant>(part).is_data;
    if (is_data) {
      put(part);
    } else {
      put("{{ ", part, " }}");
    }
    out_ += '\n';
  }
}

void TreePrinter::for_loop(const For& node) {
  const std::string test = node.test == nullptr ? "" : " if " + sub(node.test);
  tag(&node, "for ", node.target, " in ", node.iterable, test, node.recursive ? " recursive" : "");
  body(node.body);
  if (!node.otherwise.empty()) {
    tag(nullptr, "else");
    body(node.otherwise);
  }
  tag(nullptr, "endfor");
}

void TreePrinter::if_chain(const If& node) {
  tag(&node, "if ", node.test);
  body(node.body);
  for (const If* branch : node.elifs) {
    tag(branch, "elif ", branch->test);
    body(branch->body);
  }
  if (!node.otherwise.empty()) {
    tag(nullptr, "else");
    body(node.otherwise);
  }
  tag(nullptr, "endif");
}

void TreePrinter::with(const With& node) {
  std::string pairs;
  for (std::uint32_t i = 0; i < node.targets.size; ++i) {
    pairs += (i == 0 ? " " : ", ") + sub(node.targets[i]) + " = " + sub(node.values[i]);
  }
  tag(&node, "with", pairs);
  body(node.body);
  tag(nullptr, "endwith");
}

void TreePrinter::from_import(const FromImport& node) {
  std::string names;
  for (const ImportedName& item : node.names) {
    names.append(names.empty() ? " " : ", ").append(item.name);
    if (item.alias != item.name) names.append(" as ").append(item.alias);
  }
  tag(&node, "from ", node.name, " import", names, context(node.with_context));
}

std::string TreePrinter::signature(const ArrayOf<Name*>& parameters, const Nodes& defaults) {
  std::string text = "(";
  for (std::uint32_t i = 0; i < parameters.size; ++i) {
    if (i != 0) text += ", ";
    text += sub(parameters[i]);
    // Defaults belong to the last parameters, as in Jinja2's Macro node.
    const std::uint32_t first_default = parameters.size - defaults.size;
    if (i >= first_default) text += "=" + sub(defaults[i - first_default]);
  }
  return text + ")";
}

/// Filters without a subject, as in {% filter upper|trim %}.
std::string TreePrinter::filter_chain(const Node* node) {
  const auto& last = as<Filter>(node);
  TreePrinter printer(newlines_);
  if (last.subject != nullptr) printer.put(filter_chain(last.subject), "|");
  printer.put(last.name);
  printer.arguments(last.arguments);
  printer.line_of(node);
  return printer.take();
}

// ---- expressions

std::string TreePrinter::sub(const Node* node) {
  TreePrinter printer(newlines_);
  printer.expression(node);
  return printer.take();
}

void TreePrinter::expression(const Node* node) {
  bare(node);
  line_of(node);
}

void TreePrinter::bare(const Node* node) {
  switch (node->kind) {
    case NodeKind::name: return put(as<Name>(node).name);
    case NodeKind::constant: return constant(as<Constant>(node).value);
    case NodeKind::tuple: {
      const Nodes& items = as<Items>(node).items;
      return list("(", items, items.size == 1 ? ",)" : ")");
    }
    case NodeKind::list: return list("[", as<Items>(node).items, "]");
    case NodeKind::dict: return dict(as<Dict>(node));
    case NodeKind::conditional: return conditional(as<Conditional>(node));
    case NodeKind::filter:
    case NodeKind::test: return filter(as<Filter>(node));
    case NodeKind::call: put(as<CallNode>(node).callee); return arguments(as<CallNode>(node).arguments);
    case NodeKind::get_item: return subscript(as<GetItem>(node));
    case NodeKind::get_attribute: return put(as<GetAttribute>(node).object, ".", as<GetAttribute>(node).name);
    case NodeKind::slice: return slice(as<Slice>(node));
    case NodeKind::concat: {
      std::string_view separator = "(";
      for (const Node* part : as<Concat>(node).parts) {
        put(separator, part);
        separator = " ~ ";
      }
      return put(")");
    }
    case NodeKind::compare: return comparison(as<Compare>(node));
    case NodeKind::binary: {
      const auto& binary = as<Binary>(node);
      return put("(", binary.left, " ", kBinarySymbols[static_cast<int>(binary.op)], " ", binary.right, ")");
    }
    case NodeKind::logical: {
      const auto& logical = as<Logical>(node);
      return put("(", logical.left, logical.is_and ? " and " : " or ", logical.right, ")");
    }
    case NodeKind::not_: return put("(not ", as<Unary>(node).operand, ")");
    case NodeKind::negative: return put("(-", as<Unary>(node).operand, ")");
    case NodeKind::positive: return put("(+", as<Unary>(node).operand, ")");
    case NodeKind::namespace_ref: return put(as<NamespaceRef>(node).name, ".", as<NamespaceRef>(node).attribute);
    default: return statement(node);
  }
}

void TreePrinter::list(std::string_view open, const Nodes& items, std::string_view close) {
  put(open);
  for (std::uint32_t i = 0; i < items.size; ++i) put(i == 0 ? "" : ", ", items[i]);
  put(close);
}

void TreePrinter::dict(const Dict& node) {
  put("{");
  for (std::uint32_t i = 0; i < node.pairs.size; ++i) {
    put(i == 0 ? "" : ", ", node.pairs[i].key, ": ", node.pairs[i].value);
  }
  put("}");
}

void TreePrinter::conditional(const Conditional& node) {
  put("(", node.then, " if ", node.test);
  if (node.otherwise != nullptr) put(" else ", node.otherwise);
  put(")");
}

void TreePrinter::comparison(const Compare& node) {
  put("(", node.first);
  for (const Operand& operand : node.rest) {
    put(" ", kCompareSymbols[static_cast<int>(operand.op)], " ", operand.value);
  }
  put(")");
}

void TreePrinter::filter(const Filter& node) {
  if (node.subject == nullptr) return put(filter_chain(&node));
  put("(", node.subject, node.kind == NodeKind::test ? " is " : "|", node.name);
  arguments(node.arguments);
  put(")");
}

/// A tuple as subscript is written without parentheses: its items may be slices.
void TreePrinter::subscript(const GetItem& node) {
  put(node.object);
  const bool is_plain = node.key->kind == NodeKind::tuple && as<Items>(node.key).items.size != 1;
  if (!is_plain) return put("[", node.key, "]");
  list("[", as<Items>(node.key).items, "]");
}

void TreePrinter::slice(const Slice& node) {
  if (node.start != nullptr) put(node.start);
  put(":");
  if (node.stop != nullptr) put(node.stop);
  if (node.step != nullptr) put(":", node.step);
}

void TreePrinter::arguments(const Arguments& arguments) {
  std::string_view separator = "";
  const auto next = [&](const auto&... parts) {
    put(separator, parts...);
    separator = ", ";
  };
  put("(");
  for (const Node* argument : arguments.positional) next(argument);
  for (const Keyword& keyword : arguments.keywords) next(keyword.name, "=", keyword.value);
  if (arguments.star != nullptr) next("*", arguments.star);
  if (arguments.star_star != nullptr) next("**", arguments.star_star);
  put(")");
}

void TreePrinter::constant(const Value& value) {
  switch (value.kind) {
    case Kind::none: return put("none");
    case Kind::boolean: return put(value.integer != 0 ? "true" : "false");
    case Kind::string: return string({value.data, value.size});
    default: break;
  }
  char buffer[kNumberText];
  if (value.kind == Kind::real) {
    const bool is_finite = value.real - value.real == 0;
    return put(is_finite ? std::string_view(buffer, write_real(buffer, value.real) - buffer) : "1e999");
  }
  if (!value.is_small_int()) return append_big(out_, *value.big);
  put(std::string_view(buffer, write_int(buffer, value.integer) - buffer));
}

void TreePrinter::string(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    const char32_t c = next.code_point;
    if (c == '"' || c == '\\') {
      out_.append("\\").push_back(*p);
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      out_.append("\\x").append({kHex[c >> 4], kHex[c & 15]});
    } else if (utf8::is_surrogate(c)) {
      out_.append("\\u").append({kHex[c >> 12], kHex[c >> 8 & 15], kHex[c >> 4 & 15], kHex[c & 15]});
    } else {
      out_.append(p, next.size);
    }
    p += next.size;
  }
  out_ += '"';
}

}  // namespace

std::string print(const Node* node) {
  TreePrinter printer(nullptr);
  printer.statement(node);
  return printer.take();
}

std::string print(const Nodes& nodes) {
  TreePrinter printer(nullptr);
  printer.statements(nodes);
  return printer.take();
}

std::string print_with_lines(const Nodes& nodes, const SourceText& source) {
  std::vector<std::size_t> newlines;
  const std::string_view text = source.text();
  for (std::size_t i = text.find('\n'); i != text.npos; i = text.find('\n', i + 1)) newlines.push_back(i);
  TreePrinter printer(&newlines);
  printer.statements(nodes);
  return printer.take();
}

}  // namespace parlance::jinja
