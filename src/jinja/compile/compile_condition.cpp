// Compiling conditions: jumps on the truth of an expression, without making a boolean value on the way.
#include "jinja/compile/expression_compiler.h"
#include "value/iterate.h"

namespace parlance::jinja {
namespace {

constexpr std::uint16_t bit(Kind kind) { return static_cast<std::uint16_t>(1u << static_cast<unsigned>(kind)); }
constexpr std::uint16_t kAllKinds = 0x7FF;
constexpr std::uint32_t kMostFusedSites = 1u << 12;  // what jump_attribute has room for

/// Tests that only look at the kind of a value. tests.cpp has them too, for select('string') and the like.
struct KindTest {
  std::string_view name;
  std::uint16_t kinds;
};
constexpr KindTest kKindTests[] = {
    {"defined", static_cast<std::uint16_t>(kAllKinds & ~bit(Kind::undefined))},
    {"undefined", bit(Kind::undefined)},
    {"none", bit(Kind::none)},
    {"string", bit(Kind::string)},
    {"boolean", bit(Kind::boolean)},
    {"integer", bit(Kind::integer)},
    {"float", bit(Kind::real)},
    {"mapping", bit(Kind::dict)},
};

}  // namespace

/// `message.role == "user"`, or `message["role"]`, is what chat templates ask most. One instruction reads the
/// attribute, compares it and jumps, so neither the attribute nor the boolean goes through a register. False: it is no
/// such condition, and nothing was compiled.
bool ExpressionCompiler::jump_on_attribute(const Node* node, Op op, Label& label, Scope& scope, bool when,
                                           const Operand* operand, std::uint16_t kinds) {
  const Node* const whose = object_of_member(node);
  if (whose == nullptr || direct_loop(whose, scope) || fold(node, scope)) return false;
  // The other side must not be able to fail, or it would fail after what has to fail first: the attribute.
  if (operand != nullptr && operand->value->kind != NodeKind::constant) return false;
  std::uint32_t number = member_site(node);
  if (number >= kMostFusedSites) return false;
  Place object = expression(whose, scope);
  if (op == Op::jump_attribute) {
    Place other = expression(operand->value, scope);
    std::uint32_t n = (number << 4) | (when ? 0 : 8) | static_cast<std::uint32_t>(operand->op);
    emit_jump(op, node, label, object.code, other.code, n);
    release(other);
  } else {
    std::uint32_t b = op == Op::jump_attribute_truth ? when : kinds | (when ? 0 : kConstant);
    emit_jump(op, node, label, object.code, b, number);
  }
  release(object);
  return true;
}

bool ExpressionCompiler::jump_on_test(const Filter& node, bool when, Label& label, Scope& scope) {
  const Arguments& arguments = node.arguments;
  bool plain = arguments.positional.empty() && arguments.keywords.empty() && arguments.star == nullptr &&
               arguments.star_star == nullptr;
  if (!plain) return false;
  for (const KindTest& test : kKindTests) {
    if (test.name != node.name) continue;
    if (jump_on_attribute(node.subject, Op::jump_attribute_kind, label, scope, when, nullptr, test.kinds)) return true;
    Place subject = expression(node.subject, scope);
    emit_jump(when ? Op::jump_if_kind : Op::jump_unless_kind, &node, label, subject.code, 0, test.kinds);
    release(subject);
    return true;
  }
  return false;
}

/// Jumps to the label if the truth of the expression is `when`. `not` only turns `when` around, `and` and `or` become
/// jumps.
void ExpressionCompiler::jump_when(const Node* node, bool when, Label& label, Scope& scope) {
  if (failed()) return;
  if (std::optional<Value> value = fold(node, scope); value && !value->is_undefined()) {
    Place place = folded_place(node, *value);  // a NameError for inf and nan comes from here
    if (place.is_constant()) {
      if (truth(rt_, *value) == when) emit_jump(Op::jump, node, label);
      return;
    }
    emit_jump(when ? Op::jump_if : Op::jump_unless, node, label, place.code);
    release(place);
    return;
  }
  if (node->kind == NodeKind::not_) return jump_when(as<Unary>(node).operand, !when, label, scope);
  if (node->kind == NodeKind::logical) {
    const auto& logical = as<Logical>(node);
    if (logical.is_and != when) {
      // `and` leaves on the first false, `or` on the first true: both sides jump to the same place.
      jump_when(logical.left, when, label, scope);
      return jump_when(logical.right, when, label, scope);
    }
    Label skip;
    jump_when(logical.left, !when, skip, scope);
    jump_when(logical.right, when, label, scope);
    return bind(skip);
  }
  if (node->kind == NodeKind::compare && as<Compare>(node).rest.size == 1) {
    const auto& compare = as<Compare>(node);
    if (jump_on_attribute(compare.first, Op::jump_attribute, label, scope, when, &compare.rest[0])) return;
    Place left = expression(compare.first, scope);
    Place right = expression(compare.rest[0].value, scope);
    emit_jump(when ? Op::jump_compare : Op::jump_compare_unless, node, label, left.code, right.code,
              static_cast<std::uint32_t>(compare.rest[0].op));
    release(left);
    return release(right);
  }
  if (node->kind == NodeKind::test && jump_on_test(as<Filter>(node), when, label, scope)) return;
  if (jump_on_attribute(node, Op::jump_attribute_truth, label, scope, when, nullptr)) return;
  Place value = expression(node, scope);
  emit_jump(when ? Op::jump_if : Op::jump_unless, node, label, value.code);
  release(value);
}

}  // namespace parlance::jinja
