// Which loops settle. Start at settling_if.
#include "jinja/compile/settling.h"

#include <algorithm>

#include "jinja/compile/symbols.h"
#include "jinja/syntax/children.h"

namespace parlance::jinja {
namespace {

/// Is the name assigned anywhere under the node, or is something made there that could see variables later?
bool assigns_or_closes(const Node* node, std::string_view name) {
  if ((node->inside & kAssignment) == 0) return false;
  switch (node->kind) {
    case NodeKind::name: return as<Name>(node).access != Access::load && as<Name>(node).name == name;
    case NodeKind::macro:
    case NodeKind::call_block:
    case NodeKind::block:
    case NodeKind::include:
    case NodeKind::import:
    case NodeKind::from_import:
    case NodeKind::extends: return true;
    default: break;
  }
  bool found = false;
  for_each_child(node, [&](const Node* child) { found = found || assigns_or_closes(child, name); });
  return found;
}

bool assigns_or_closes(const For& loop, std::string_view name) {
  return assigns_or_closes(loop.target, name) || std::any_of(loop.body.begin(), loop.body.end(), [&](const Node* node) {
           return assigns_or_closes(node, name);
         });
}

/// A number that is made of lengths and of the number of the iteration: if it could be worked out once, it always can.
bool is_count(const Node* node, const For& loop) {
  switch (node->kind) {
    case NodeKind::constant: return as<Constant>(node).value.is_small_int();
    case NodeKind::binary: {
      const auto& sum = as<Binary>(node);
      const bool fits = sum.op == BinaryOp::add || sum.op == BinaryOp::sub;
      return fits && is_count(sum.left, loop) && is_count(sum.right, loop);
    }
    case NodeKind::get_attribute: {
      const auto& field = as<GetAttribute>(node);
      const bool of_loop = field.object->kind == NodeKind::name && as<Name>(field.object).name == "loop";
      return of_loop && (field.name == "index0" || field.name == "index");
    }
    case NodeKind::filter: {
      const auto& filter = as<Filter>(node);
      const Arguments& given = filter.arguments;
      const bool is_length = filter.name == "length" && given.positional.empty() && given.keywords.empty() &&
                             given.star == nullptr && given.star_star == nullptr;
      return is_length && filter.subject != nullptr && filter.subject->kind == NodeKind::name &&
             !assigns_or_closes(loop, as<Name>(filter.subject).name);
    }
    default: return false;
  }
}

bool does_nothing(const Node* node, const For& loop) {
  if (node->kind == NodeKind::output) {
    const Nodes& parts = as<Output>(node).parts;
    return std::all_of(parts.begin(), parts.end(), [](const Node* part) {
      return part->kind == NodeKind::constant && as<Constant>(part).is_data && as<Constant>(part).value.size == 0;
    });
  }
  return node->kind == NodeKind::assign && as<Assign>(node).target->kind == NodeKind::name &&
         is_count(as<Assign>(node).value, loop);
}

}  // namespace

const Node* settling_test(const If& node) {
  const Node* test = node.test;
  while (test->kind == NodeKind::logical && as<Logical>(test).is_and) test = as<Logical>(test).left;
  return test;
}

const If* settling_if(const For& loop) {
  if (loop.recursive || loop.test != nullptr || loop.target->kind != NodeKind::name) return nullptr;
  const If* found = nullptr;
  for (const Node* node : loop.body) {
    // What stands behind the `if` would not be reached in the iteration that leaves the loop, though it may fail.
    const bool is_passed = node->kind == NodeKind::output || found == nullptr;
    if (is_passed && does_nothing(node, loop)) continue;
    if (node->kind != NodeKind::if_ || found != nullptr) return nullptr;
    found = &as<If>(node);
  }
  if (found == nullptr || !found->elifs.empty() || !found->otherwise.empty()) return nullptr;
  const Node* test = settling_test(*found);
  while (test->kind == NodeKind::not_) test = as<Unary>(test).operand;
  if (test->kind != NodeKind::get_attribute) return nullptr;
  const Node* const object = as<GetAttribute>(test).object;
  const bool is_known = object->kind == NodeKind::name && as<Name>(object).name != "loop";
  return is_known && !assigns_or_closes(loop, as<Name>(object).name) ? found : nullptr;
}

}  // namespace parlance::jinja
