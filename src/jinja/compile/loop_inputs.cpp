// The walk over a loop's body that finds what its iterations read. Start at read_loop_inputs.
#include "jinja/compile/loop_inputs.h"

#include <algorithm>

#include "jinja/compile/compiler.h"
#include "jinja/syntax/children.h"

namespace parlance::jinja {
namespace {

constexpr std::int64_t kFurthest = 4;  // items that an iteration may look ahead or back

bool is_name(const Node* node, std::string_view name) {
  return node->kind == NodeKind::name && as<Name>(node).name == name;
}

/// A name other than `loop`.
const Name* other_name(const Node* node) {
  return node->kind == NodeKind::name && !is_name(node, "loop") ? &as<Name>(node) : nullptr;
}

std::optional<std::int64_t> small_constant(const Node* node) {
  if (node->kind != NodeKind::constant) return {};
  const Value& value = as<Constant>(node).value;
  constexpr std::int64_t kMost = 1'000'000;
  const bool is_small = value.is_small_int() && value.integer <= kMost && value.integer >= -kMost;
  return is_small ? std::optional(value.integer) : std::nullopt;
}

/// x + 1, 1 + x and x - 1 as x and 1 or -1; anything else as itself and 0.
const Node* without_offset(const Node* node, std::int64_t& offset) {
  if (node->kind != NodeKind::binary) return node;
  const auto& sum = as<Binary>(node);
  if (sum.op != BinaryOp::add && sum.op != BinaryOp::sub) return node;
  if (const auto right = small_constant(sum.right)) {
    offset += sum.op == BinaryOp::add ? *right : -*right;
    return without_offset(sum.left, offset);
  }
  const auto left = sum.op == BinaryOp::add ? small_constant(sum.left) : std::nullopt;
  if (!left) return node;
  offset += *left;
  return without_offset(sum.right, offset);
}

/// How far from loop.index0 the value is: 1 for loop.index.
std::optional<std::int64_t> from_index(const Node* node) {
  std::int64_t offset = 0;
  node = without_offset(node, offset);
  if (node->kind != NodeKind::get_attribute || !is_name(as<GetAttribute>(node).object, "loop")) return {};
  const std::string_view field = as<GetAttribute>(node).name;
  if (field == "index0") return offset;
  return field == "index" ? std::optional(offset + 1) : std::nullopt;
}

/// x.member and x['member'].
const Name* member_of_name(const Node* node, std::string_view& member) {
  if (node->kind == NodeKind::get_attribute) {
    member = as<GetAttribute>(node).name;
    return other_name(as<GetAttribute>(node).object);
  }
  if (node->kind != NodeKind::get_item || as<GetItem>(node).key->kind != NodeKind::constant) return nullptr;
  const Value& key = as<Constant>(as<GetItem>(node).key).value;
  if (!key.is_leaf()) return nullptr;
  member = {key.data, key.size};
  return other_name(as<GetItem>(node).object);
}

/// The name of `x`, `x.member` or `x|length`, plus or minus a number.
const Name* bound_of(const Node* node, LoopInput& facts) {
  facts.use = LoopInput::Use::bound;
  node = without_offset(node, facts.offset);
  if (node->kind == NodeKind::filter) {
    const auto& filter = as<Filter>(node);
    const Arguments& given = filter.arguments;
    const bool is_plain = given.positional.empty() && given.keywords.empty() && given.star == nullptr &&
                          given.star_star == nullptr && filter.subject != nullptr;
    facts.is_length = is_plain && (filter.name == "length" || filter.name == "count");
    return facts.is_length ? other_name(filter.subject) : nullptr;
  }
  const Name* const name = other_name(node);
  return name != nullptr ? name : member_of_name(node, facts.member);
}

class InputReader {
 public:
  InputReader(const LoopSurroundings& around, FoundLoop& into) : around_(around), found_(into) {}
  bool read(const For& node) {
    bind(node.target);
    for (const Node* n : node.body) visit(n);
    in_macro_ = true;
    is_ours_ = false;
    for (std::size_t i = 0; i < found_.macros.size(); ++i) {
      bound_.clear();
      macro(*found_.macros[i]);
    }
    return !failed_;
  }

 private:
  void visit(const Node* node);
  void visit_all(const Node* node) {
    for_each_child(node, [this](const Node* child) { visit(child); });
  }
  void attribute(const Node* node);
  void item(const GetItem& node);
  bool comparison(const Compare& node);
  void inner_loop(const For& node);
  void macro(const Macro& node);
  void call_block(const CallBlock& node);
  void bind(const Node* target);
  void note(NameId name, const LoopInput& facts);
  bool is_local(NameId name) const;

  const LoopSurroundings& around_;
  FoundLoop& found_;
  std::vector<NameId> bound_;  ///< targets and parameters of what the walk is in
  bool is_ours_ = true;        ///< `loop` means the loop that is asked about
  bool in_macro_ = false;      ///< of the top level
  bool failed_ = false;
};

void InputReader::bind(const Node* target) {
  if (target->kind == NodeKind::name) return bound_.push_back(around_.names.id_of(as<Name>(target)));
  for_each_child(target, [this](const Node* child) { bind(child); });
}

/// Is what the name means always made by the iteration itself?
bool InputReader::is_local(NameId name) const {
  if (std::find(bound_.begin(), bound_.end(), name) != bound_.end()) return true;
  const auto stores = around_.body.stores();
  const bool is_stored = std::find(stores.begin(), stores.end(), name) != stores.end();
  return is_stored && !in_macro_ && !around_.body.is_read_on_entry(name);
}

void InputReader::note(NameId name, const LoopInput& facts) {
  if (is_local(name)) return;
  const bool known = std::any_of(found_.inputs.begin(), found_.inputs.end(), [&](const FoundLoop::Input& input) {
    return input.name == name && input.facts == facts;
  });
  if (known) return;
  found_.inputs.push_back({name, facts});
  for (const TopMacro& one : around_.macros) {
    const auto end = found_.macros.end();
    if (one.name == name && std::find(found_.macros.begin(), end, one.macro) == end) found_.macros.push_back(one.macro);
  }
}

void InputReader::visit(const Node* node) {
  if (failed_) return;
  switch (node->kind) {
    case NodeKind::name:
      if (as<Name>(node).access != Access::load) return;
      if (is_name(node, "loop")) {
        failed_ = failed_ || is_ours_;
        return;
      }
      return note(around_.names.id_of(as<Name>(node)), {});
    case NodeKind::namespace_ref: {
      const auto& target = as<NamespaceRef>(node);
      return note(around_.names.intern(target.name),
                  {.use = LoopInput::Use::member, .is_written = true, .member = target.attribute});
    }
    case NodeKind::get_attribute: return attribute(node);
    case NodeKind::get_item: return item(as<GetItem>(node));
    case NodeKind::compare: return comparison(as<Compare>(node)) ? void() : visit_all(node);
    case NodeKind::for_: return inner_loop(as<For>(node));
    case NodeKind::macro: return macro(as<Macro>(node));
    case NodeKind::call_block: return call_block(as<CallBlock>(node));
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::include:
    case NodeKind::import:
    case NodeKind::from_import:
    case NodeKind::extends: failed_ = true; return;
    default: return visit_all(node);
  }
}

/// What depends on how many items are still to come, or on what the loop was asked before, is not for us.
void InputReader::attribute(const Node* node) {
  const auto& of = as<GetAttribute>(node);
  if (is_ours_ && is_name(of.object, "loop")) {
    constexpr std::string_view kKnown[] = {"index0", "index",    "first",    "last",
                                           "depth0", "previtem", "nextitem", "depth"};
    failed_ = failed_ || std::find(std::begin(kKnown), std::end(kKnown), of.name) == std::end(kKnown);
    return;
  }
  std::string_view member;
  const Name* const name = member_of_name(node, member);
  if (name == nullptr) return visit(of.object);
  note(around_.names.id_of(*name), {.use = LoopInput::Use::member, .member = member});
}

void InputReader::item(const GetItem& node) {
  const Name* const object = other_name(node.object);
  if (object == nullptr || object->access != Access::load) return visit_all(&node);
  const NameId name = around_.names.id_of(*object);
  std::string_view member;
  if (member_of_name(&node, member) != nullptr) return note(name, {.use = LoopInput::Use::member, .member = member});
  if (const auto number = small_constant(node.key); number && *number >= 0) {
    return note(name, {.use = LoopInput::Use::item, .offset = *number});
  }
  const auto offset = is_ours_ ? from_index(node.key) : std::nullopt;
  if (!offset || *offset > kFurthest || *offset < -kFurthest) return visit_all(&node);
  note(name, {.use = LoopInput::Use::near, .offset = *offset});
  found_.ahead = std::max(found_.ahead, static_cast<std::uint32_t>(std::max<std::int64_t>(*offset, 0)));
  found_.behind = std::max(found_.behind, static_cast<std::uint32_t>(std::max<std::int64_t>(-*offset, 0)));
}

/// `loop.index0 > ns.last_query_index`: what counts is on which side of the bound the iterations are.
bool InputReader::comparison(const Compare& node) {
  if (!is_ours_ || node.rest.size != 1 || node.rest[0].op > CompareOp::ge) return false;
  const Node* bound = node.rest[0].value;
  std::optional<std::int64_t> index = from_index(node.first);
  if (!index) {
    index = from_index(bound);
    bound = node.first;
  }
  if (!index) return false;
  LoopInput facts;
  const Name* const name = bound_of(bound, facts);
  if (name == nullptr || name->access != Access::load) return false;
  facts.offset -= *index;
  note(around_.names.id_of(*name), facts);
  return true;
}

/// x[a:b], of a name.
const GetItem* slice_of_name(const Node* node) {
  const bool is_slice = node->kind == NodeKind::get_item && as<GetItem>(node).key->kind == NodeKind::slice;
  return is_slice && other_name(as<GetItem>(node).object) != nullptr ? &as<GetItem>(node) : nullptr;
}

void InputReader::inner_loop(const For& node) {
  const GetItem* const slice = in_macro_ ? nullptr : slice_of_name(node.iterable);
  if (slice != nullptr) found_.lookers.push_back(&node);
  visit(slice != nullptr ? slice->key : node.iterable);
  for (const Node* n : node.otherwise) visit(n);
  const std::size_t before = bound_.size();
  bind(node.target);
  if (node.test != nullptr) visit(node.test);
  const bool was_ours = is_ours_;
  is_ours_ = false;
  for (const Node* n : node.body) visit(n);
  is_ours_ = was_ours;
  bound_.resize(before);
}

void InputReader::macro(const Macro& node) {
  const std::size_t before = bound_.size();
  for (const Name* parameter : node.parameters) bind(parameter);
  for (const Node* n : node.defaults) visit(n);
  for (const Node* n : node.body) visit(n);
  bound_.resize(before);
}

void InputReader::call_block(const CallBlock& node) {
  visit(node.call);
  const std::size_t before = bound_.size();
  for (const Name* parameter : node.parameters) bind(parameter);
  for (const Node* n : node.defaults) visit(n);
  for (const Node* n : node.body) visit(n);
  bound_.resize(before);
}

}  // namespace

std::optional<FoundLoop> read_loop_inputs(const For& node, const LoopSurroundings& around) {
  FoundLoop found;
  if (node.recursive || node.test != nullptr || !node.otherwise.empty()) return {};
  if (!InputReader(around, found).read(node)) return {};
  return found;
}

std::vector<TopMacro> top_level_macros(const Nodes& nodes, NameTable& names) {
  std::vector<TopMacro> macros;
  const auto add_all = [&](const Nodes& more) {
    const std::vector<TopMacro> found = top_level_macros(more, names);
    macros.insert(macros.end(), found.begin(), found.end());
  };
  for (const Node* node : nodes) {
    if (node->kind == NodeKind::macro) macros.push_back({names.intern(as<Macro>(node).name), &as<Macro>(node)});
    if (node->kind != NodeKind::if_) continue;
    add_all(as<If>(node).body);
    for (const If* other : as<If>(node).elifs) add_all(other->body);
    add_all(as<If>(node).otherwise);
  }
  return macros;
}

}  // namespace parlance::jinja
