// for_each_child: the children of a syntax node in the order of Jinja2's node fields.
#pragma once
#include "jinja/syntax/ast.h"

namespace parlance::jinja {

/// The order is that of `fields` in jinja2/nodes.py, by which its visitors walk. What they meet first must be met first
/// here: the test of a `for` behind its bodies, the condition of an inline `if` before both values.
namespace detail {
template <typename Visit>
void each(const Nodes& nodes, Visit& visit) {
  for (Node* n : nodes) visit(n);
}
template <typename Visit>
void maybe(Node* n, Visit& visit) {
  if (n != nullptr) visit(n);
}
template <typename Visit>
void each_argument(const Arguments& a, Visit& visit) {
  each(a.positional, visit);
  for (const Keyword& k : a.keywords) visit(k.value);
  maybe(a.star, visit);
  maybe(a.star_star, visit);
}
template <typename Visit>
void each_expression_child(const Node* node, Visit& visit) {
  switch (node->kind) {
    case NodeKind::tuple:
    case NodeKind::list: return each(as<Items>(node).items, visit);
    case NodeKind::dict:
      for (const Pair& p : as<Dict>(node).pairs) {
        visit(p.key);
        visit(p.value);
      }
      return;
    case NodeKind::conditional: {
      const auto& c = as<Conditional>(node);
      visit(c.test);
      visit(c.then);
      return maybe(c.otherwise, visit);
    }
    case NodeKind::filter:
    case NodeKind::test:
      maybe(as<Filter>(node).subject, visit);
      return each_argument(as<Filter>(node).arguments, visit);
    case NodeKind::call: visit(as<CallNode>(node).callee); return each_argument(as<CallNode>(node).arguments, visit);
    case NodeKind::get_item: visit(as<GetItem>(node).object); return visit(as<GetItem>(node).key);
    case NodeKind::get_attribute: return visit(as<GetAttribute>(node).object);
    case NodeKind::slice:
      maybe(as<Slice>(node).start, visit);
      maybe(as<Slice>(node).stop, visit);
      return maybe(as<Slice>(node).step, visit);
    case NodeKind::concat: return each(as<Concat>(node).parts, visit);
    case NodeKind::compare:
      visit(as<Compare>(node).first);
      for (const Operand& o : as<Compare>(node).rest) visit(o.value);
      return;
    case NodeKind::binary: visit(as<Binary>(node).left); return visit(as<Binary>(node).right);
    case NodeKind::logical: visit(as<Logical>(node).left); return visit(as<Logical>(node).right);
    case NodeKind::not_:
    case NodeKind::negative:
    case NodeKind::positive: return visit(as<Unary>(node).operand);
    default: return;
  }
}
template <typename Visit>
void each_statement_child(const Node* node, Visit& visit) {
  switch (node->kind) {
    case NodeKind::output: return each(as<Output>(node).parts, visit);
    case NodeKind::for_: {
      const auto& f = as<For>(node);
      visit(f.target);
      visit(f.iterable);
      each(f.body, visit);
      each(f.otherwise, visit);
      return maybe(f.test, visit);
    }
    case NodeKind::if_: {
      const auto& i = as<If>(node);
      visit(i.test);
      each(i.body, visit);
      for (If* e : i.elifs) visit(e);
      return each(i.otherwise, visit);
    }
    case NodeKind::macro:
      for (Name* p : as<Macro>(node).parameters) visit(p);
      each(as<Macro>(node).defaults, visit);
      return each(as<Macro>(node).body, visit);
    case NodeKind::call_block:
      visit(as<CallBlock>(node).call);
      for (Name* p : as<CallBlock>(node).parameters) visit(p);
      each(as<CallBlock>(node).defaults, visit);
      return each(as<CallBlock>(node).body, visit);
    case NodeKind::filter_block: each(as<FilterBlock>(node).body, visit); return visit(as<FilterBlock>(node).filter);
    case NodeKind::with:
      each(as<With>(node).targets, visit);
      each(as<With>(node).values, visit);
      return each(as<With>(node).body, visit);
    case NodeKind::block: return each(as<Block>(node).body, visit);
    case NodeKind::assign: visit(as<Assign>(node).target); return visit(as<Assign>(node).value);
    case NodeKind::assign_block:
      visit(as<AssignBlock>(node).target);
      maybe(as<AssignBlock>(node).filter, visit);
      return each(as<AssignBlock>(node).body, visit);
    case NodeKind::autoescape: visit(as<Autoescape>(node).enabled); return each(as<Autoescape>(node).body, visit);
    case NodeKind::generation: return each(as<Generation>(node).body, visit);
    case NodeKind::include: return visit(as<Include>(node).name);
    case NodeKind::import: return visit(as<Import>(node).name);
    case NodeKind::from_import: return visit(as<FromImport>(node).name);
    case NodeKind::extends: return visit(as<Extends>(node).name);
    default: return;
  }
}
}  // namespace detail

inline bool is_expression(NodeKind kind) { return kind < NodeKind::output; }

template <typename Visit>
void for_each_child(const Node* node, Visit visit) {
  if (is_expression(node->kind)) {
    detail::each_expression_child(node, visit);
  } else {
    detail::each_statement_child(node, visit);
  }
}

}  // namespace parlance::jinja
