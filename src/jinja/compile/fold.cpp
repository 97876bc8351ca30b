// Constant folding, to the letter of Jinja2's optimizer: what it folds it also evaluates early, and a folded value
// that Python cannot read back from its repr (inf, nan) fails as a NameError when it is used.
#include <algorithm>
#include <cmath>

#include "jinja/compile/expression_compiler.h"
#include "jinja/syntax/children.h"
#include "value/iterate.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// Jinja2's has_safe_repr: only these kinds may become constants.
bool is_plain(Value v, int depth = 0) {
  if (depth > 50) return false;
  switch (v.kind) {
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::string: return true;
    case Kind::list:
    case Kind::tuple:
      for (const Value& item : items(v)) {
        if (!is_plain(item, depth + 1)) return false;
      }
      return true;
    case Kind::dict:
      for (const DictEntry& e : entries(v)) {
        if (!is_plain(e.key, depth + 1) || !is_plain(e.value, depth + 1)) return false;
      }
      return true;
    default: return false;
  }
}

/// What a template may change cannot be a constant, which all renders share: each time it is made anew.
bool may_change(Value v) {
  if (v.kind == Kind::list || v.kind == Kind::dict) return true;
  return v.kind == Kind::tuple && std::any_of(items(v).begin(), items(v).end(), may_change);
}

/// The filters that Jinja2 hands the context to, which it never folds.
bool takes_context(std::string_view filter) {
  for (const std::string_view name : {"map", "random", "reject", "rejectattr", "select", "selectattr"}) {
    if (filter == name) return true;
  }
  return false;
}

/// A quick look at whether folding can work at all, so that ordinary expressions do not pay for trying.
bool may_fold(const Node* node) {
  switch (node->kind) {
    case NodeKind::name:
    case NodeKind::call:
    case NodeKind::namespace_ref: return false;
    // These may be decided by their first operands alone.
    case NodeKind::logical: return may_fold(as<Logical>(node).left);
    case NodeKind::compare: return may_fold(as<Compare>(node).first);
    case NodeKind::conditional: return may_fold(as<Conditional>(node).test);
    case NodeKind::filter:
      if (takes_context(as<Filter>(node).name)) return false;
      [[fallthrough]];
    case NodeKind::test:
      if (as<Filter>(node).subject == nullptr) return false;
      break;
    default: break;
  }
  bool all = true;
  for_each_child(node, [&](const Node* child) { all = all && may_fold(child); });
  return all;
}

}  // namespace

/// Jinja2 folds constants when it compiles, and that can be seen: an error in a folded expression is left for the
/// render, what a filter made is made once, and a value whose repr is not itself is not folded. So the same is folded
/// here, no more and no less. Failure, steps and random numbers of the trial are taken back.
std::optional<Value> ExpressionCompiler::fold(const Node* node, const Scope& scope, bool for_output) {
  if (node->kind == NodeKind::constant) return as<Constant>(node).value;
  if ((scope.is_volatile && !for_output) || !may_fold(node)) return std::nullopt;
  volatile_fold_ = scope.is_volatile;
  rt_.autoescape = scope.escape;
  std::uint64_t random_before = rt_.random_state;
  std::optional<Value> value = try_fold(node);
  rt_.autoescape = false;
  bool failed = rt_.failed() || (value && value->is_invalid());
  rt_.failure = {};
  rt_.steps_left = static_cast<std::int64_t>(rt_.limits.steps);
  // What is printed at once may be anything; what an expression goes on with must survive its repr.
  if (!value || failed || (!for_output && !is_plain(*value)) || rt_.random_state != random_before) return std::nullopt;
  if (rt_.allow_changes && may_change(*value)) return std::nullopt;
  if (!value->is_string() || value->is_leaf()) return value;
  if (!rt_.arena.has_room(value->size)) return std::nullopt;
  return in_one_run(*value);
}

/// An unknown filter is no failure here: it may stand in a branch that no render enters.
std::optional<Value> ExpressionCompiler::fold_arguments_and_run(const Filter& node) {
  const Builtin* row = node.kind == NodeKind::filter ? find_filter(node.name) : find_test(node.name);
  if (row == nullptr || volatile_fold_) return std::nullopt;
  std::vector<Value> positional;
  std::vector<DictEntry> keywords;
  auto again = [this](const Node* n) -> std::optional<Value> {
    std::optional<Value> v = try_fold(n);
    return v && !v->is_invalid() && !rt_.failed() ? v : std::nullopt;
  };
  for (const Node* n : node.arguments.positional) {
    std::optional<Value> v = again(n);
    if (!v) return std::nullopt;
    positional.push_back(*v);
  }
  for (const Keyword& k : node.arguments.keywords) {
    std::optional<Value> v = again(k.value);
    if (!v) return std::nullopt;
    keywords.push_back({Value::view(k.name), *v});
  }
  if (node.arguments.star != nullptr || node.arguments.star_star != nullptr) return std::nullopt;
  std::optional<Value> subject = again(node.subject);
  if (!subject) return std::nullopt;
  PassedArguments arguments{positional.data(), static_cast<std::uint32_t>(positional.size()), keywords.data(),
                            static_cast<std::uint32_t>(keywords.size())};
  return call_builtin(rt_, *row, &*subject, arguments);
}

namespace {

template <typename Fold>
std::optional<Value> fold_items(Runtime& rt, const Nodes& nodes, Kind kind, Fold fold) {
  ListBuilder list(rt, nodes.size);
  for (const Node* n : nodes) {
    std::optional<Value> v = fold(n);
    if (!v) return std::nullopt;
    list.append(*v);
  }
  return list.finish(kind);
}

template <typename Fold>
std::optional<Value> fold_dict(Runtime& rt, const Dict& node, Fold fold) {
  DictBuilder dict(rt);
  for (const Pair& pair : node.pairs) {
    std::optional<Value> key = fold(pair.key);
    std::optional<Value> value = key ? fold(pair.value) : std::nullopt;
    if (!value || !dict.set(*key, *value)) return std::nullopt;
  }
  return dict.finish();
}

template <typename Fold>
std::optional<Value> fold_compare(Runtime& rt, const Compare& node, Fold fold) {
  std::optional<Value> left = fold(node.first);
  if (!left) return std::nullopt;
  bool result = true;
  for (const Operand& operand : node.rest) {
    std::optional<Value> right = fold(operand.value);
    if (!right) return std::nullopt;
    result = compare(rt, static_cast<Comparison>(operand.op), *left, *right);
    if (rt.failed()) return std::nullopt;
    if (!result) break;
    left = right;
  }
  return Value::boolean(result);
}

template <typename Fold>
std::optional<Value> fold_logical(Runtime& rt, const Logical& node, Fold fold) {
  std::optional<Value> left = fold(node.left);
  if (!left) return std::nullopt;
  return truth(rt, *left) == node.is_and ? fold(node.right) : left;
}

template <typename Fold>
std::optional<Value> fold_conditional(Runtime& rt, const Conditional& node, Fold fold) {
  std::optional<Value> test = fold(node.test);
  if (!test) return std::nullopt;
  if (truth(rt, *test)) return fold(node.then);
  return node.otherwise == nullptr ? std::nullopt : fold(node.otherwise);
}

template <typename Fold>
std::optional<Value> fold_concat(Runtime& rt, const Concat& node, Fold fold) {
  StringBuilder builder(rt);
  for (const Node* n : node.parts) {
    std::optional<Value> v = fold(n);
    if (!v) return std::nullopt;
    Value part = to_text(rt, *v);
    if (part.is_invalid()) return std::nullopt;
    builder.append(part);
  }
  return builder.finish();
}

template <typename Fold>
std::optional<Value> fold_item(Runtime& rt, const GetItem& node, Fold fold) {
  std::optional<Value> object = fold(node.object);
  if (!object) return std::nullopt;
  if (node.key->kind != NodeKind::slice) {
    std::optional<Value> key = fold(node.key);
    return key ? std::optional<Value>(get_item(rt, *object, *key)) : std::nullopt;
  }
  const auto& bounds = as<Slice>(node.key);
  Value parts[3] = {Value::none(), Value::none(), Value::none()};
  const Node* nodes[3] = {bounds.start, bounds.stop, bounds.step};
  for (int i = 0; i < 3; ++i) {
    if (nodes[i] == nullptr) continue;
    std::optional<Value> v = fold(nodes[i]);
    if (!v) return std::nullopt;
    parts[i] = *v;
  }
  Value part = slice(rt, *object, parts[0], parts[1], parts[2]);
  // Folding asks environment.getitem, for which what cannot be sliced has no such element.
  if (part.is_invalid() && rt.failure.code == ErrorCode::type) {
    rt.failure = {};
    Value missing;
    missing.undefined =
        rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::element, Value::none(), *object});
    return missing;
  }
  return part;
}

}  // namespace

std::optional<Value> ExpressionCompiler::try_fold(const Node* node) {
  auto again = [this](const Node* n) -> std::optional<Value> {
    std::optional<Value> v = try_fold(n);
    return v && !v->is_invalid() && !rt_.failed() ? v : std::nullopt;
  };
  switch (node->kind) {
    case NodeKind::constant: {
      Value v = as<Constant>(node).value;
      if (as<Constant>(node).is_data && rt_.autoescape) v.flags |= Value::kMarkup;
      return v;
    }
    case NodeKind::tuple: return fold_items(rt_, as<Items>(node).items, Kind::tuple, again);
    case NodeKind::list: return fold_items(rt_, as<Items>(node).items, Kind::list, again);
    case NodeKind::dict: return fold_dict(rt_, as<Dict>(node), again);
    case NodeKind::conditional: return fold_conditional(rt_, as<Conditional>(node), again);
    case NodeKind::filter:
    case NodeKind::test: return fold_arguments_and_run(as<Filter>(node));
    case NodeKind::get_item: return fold_item(rt_, as<GetItem>(node), again);
    case NodeKind::get_attribute: {
      std::optional<Value> object = again(as<GetAttribute>(node).object);
      return object ? std::optional<Value>(get_attribute(rt_, *object, Value::view(as<GetAttribute>(node).name)))
                    : std::nullopt;
    }
    case NodeKind::concat: return fold_concat(rt_, as<Concat>(node), again);
    case NodeKind::compare: return fold_compare(rt_, as<Compare>(node), again);
    case NodeKind::logical: return fold_logical(rt_, as<Logical>(node), again);
    case NodeKind::binary: {
      std::optional<Value> left = again(as<Binary>(node).left);
      std::optional<Value> right = left ? again(as<Binary>(node).right) : std::nullopt;
      if (!right) return std::nullopt;
      return binary(rt_, static_cast<BinaryOperator>(as<Binary>(node).op), *left, *right);
    }
    case NodeKind::not_:
    case NodeKind::negative:
    case NodeKind::positive: {
      std::optional<Value> v = again(as<Unary>(node).operand);
      if (!v) return std::nullopt;
      if (node->kind == NodeKind::not_) return Value::boolean(!truth(rt_, *v));
      return node->kind == NodeKind::negative ? negate(rt_, *v) : positive(rt_, *v);
    }
    default: return std::nullopt;
  }
}

}  // namespace parlance::jinja
