// Symbols: the rules of Jinja2's idtracking, and is_undeclared().
#include "jinja/compile/symbols.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/syntax/children.h"
#include "value/dict.h"

namespace parlance::jinja {

// ---- NameTable: open addressing over hash_text

/// Python compares identifiers in NFKC, and Jinja2 makes Python of a template: `ﬁ` and `fi` are one variable. In the
/// context it is looked up by the first spelling.
NameId NameTable::intern(std::string_view name) {
  if (const NameId known = find(name); known != kNone) return known;
  if (utf8::is_ascii(name)) return add(name, name);
  std::string normalised = unicode::nfkc(name);
  if (normalised == name) return add(name, name);
  if (const NameId known = find(normalised); known != kNone) return known;
  return add(normalised_.emplace_back(std::move(normalised)), name);
}

NameId NameTable::find(std::string_view normalised) const {
  if (slots_.empty()) return kNone;
  for (std::size_t at = slot_of(normalised); slots_[at] != 0; at = next(at)) {
    if (equal_bytes(normalised_names_[slots_[at] - 1], normalised)) return slots_[at] - 1;
  }
  return kNone;
}

NameId NameTable::add(std::string_view normalised, std::string_view spelling) {
  const auto id = static_cast<NameId>(names_.size());
  if ((names_.size() + 1) * 2 > slots_.size()) grow();
  names_.push_back(spelling);
  normalised_names_.push_back(normalised);
  place(id);
  return id;
}

void NameTable::grow() {
  slots_.assign(std::max<std::size_t>(128, slots_.size() * 2), 0);
  names_.reserve(slots_.size() / 2);
  normalised_names_.reserve(slots_.size() / 2);
  for (NameId known = 0; known < names_.size(); ++known) place(known);
}

void NameTable::place(NameId id) {
  std::size_t at = slot_of(normalised_names_[id]);
  while (slots_[at] != 0) at = next(at);
  slots_[at] = id + 1;
}

std::size_t NameTable::slot_of(std::string_view normalised) const {
  return hash_text(normalised) & (slots_.size() - 1);
}

// ---- Symbols

/// The name as the innermost scope knows it. A linear search: a scope of a chat template knows a dozen names, and
/// hashing one costs more than comparing ids.
bool Symbols::find(NameId name, Ident& out) const {
  for (const Symbols* s = this; s != nullptr; s = s->parent_) {
    for (const auto& [known, ident] : s->refs_) {
      if (known == name) {
        out = ident;
        return true;
      }
    }
  }
  return false;
}

const Symbols::LoadEntry* Symbols::find_load(Ident ident) const {
  for (const Symbols* s = this; s != nullptr; s = s->parent_) {
    for (const LoadEntry& entry : s->loads_) {
      if (entry.ident == ident) return &entry;
    }
  }
  return nullptr;
}

void Symbols::set_load(Ident ident, Load how, Ident alias) {
  for (LoadEntry& entry : loads_) {
    if (entry.ident == ident) {
      entry = {ident, how, alias};
      return;
    }
  }
  loads_.push_back({ident, how, alias});
}

/// An identifier of this scope for the name. A second definition changes how it is loaded, and not what it is.
void Symbols::define(NameId name, Load how, Ident alias) {
  Ident ident{level_, name};
  auto known = std::find_if(refs_.begin(), refs_.end(), [&](const auto& ref) { return ref.name == name; });
  if (known == refs_.end()) add_reference(name, ident);
  set_load(ident, how, alias);
}

void Symbols::add_reference(NameId name, Ident ident) {
  refs_.push_back({name, ident});
  known_ |= name_bit(name);
}

Ident Symbols::declare_parameter(NameId name) {
  if (std::find(stores_.begin(), stores_.end(), name) == stores_.end()) stores_.push_back(name);
  define(name, Load::parameter);
  return {level_, name};
}

/// A read of a name that no scope around knows: it is resolved from the context where the scope is entered, not where
/// it is read.
void Symbols::load(NameId name) {
  note_reads(name_bit(name));
  Ident known;
  if (!find(name, known)) define(name, Load::resolve);
}

/// A name that is assigned belongs to this scope from its begin on, like Python's locals: it starts as what the scope
/// around calls so, or as undefined.
void Symbols::store(NameId name) {
  assigned_ |= name_bit(name);
  if (std::find(stores_.begin(), stores_.end(), name) == stores_.end()) stores_.push_back(name);
  for (const auto& ref : refs_) {
    if (ref.name == name) return;
  }
  Ident outer;
  if (parent_ != nullptr && parent_->find(name, outer)) return define(name, Load::alias, outer);
  define(name, Load::undefined);
}

// A branch began as a copy, so its lists begin with the `known` entries that were there then, in the same places.

void Symbols::merge_names(const Symbols& branch, std::size_t known) {
  for (std::size_t i = known; i < branch.refs_.size(); ++i) {
    const Reference& ref = branch.refs_[i];
    const auto same = [&](const Reference& other) { return other.name == ref.name; };
    if (std::none_of(refs_.begin() + known, refs_.end(), same)) add_reference(ref.name, ref.ident);
  }
}

/// What a branch found out about how names are loaded counts, unless a later branch is empty: to Jinja2 that one says
/// again what was known before all branches.
void Symbols::merge_loads(const Symbols& branch, std::size_t known, bool empty_one_follows) {
  if (!empty_one_follows) std::copy_n(branch.loads_.begin(), known, loads_.begin());
  for (std::size_t i = known; i < branch.loads_.size(); ++i) {
    const LoadEntry& entry = branch.loads_[i];
    const auto same = [&](const LoadEntry& other) { return other.ident == entry.ident; };
    const auto at = std::find_if(loads_.begin() + known, loads_.end(), same);
    if (at == loads_.end()) {
      loads_.push_back(entry);
    } else {
      *at = entry;
    }
  }
}

/// What is known behind an `if`: which branch has run is not, so a name that any of them assigned may still have its
/// value from before. It is loaded from the scope around, or resolved from the context.
void Symbols::merge_branches(std::span<const Branch> branches) {
  InlineVector<NameId, 8> stored;
  const std::size_t known_stores = stores_.size(), known_refs = refs_.size(), known_loads = loads_.size();
  for (const Branch& branch : branches) {
    for (std::size_t i = known_stores; i < branch.symbols->stores_.size(); ++i) {
      const NameId name = branch.symbols->stores_[i];
      if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
    }
    merge_names(*branch.symbols, known_refs);
    merge_loads(*branch.symbols, known_loads, branch.empty_one_follows);
    read_early_ |= branch.symbols->read_early_;
  }
  stores_.append(stored.begin(), stored.end());
  for (NameId name : stored) {
    Ident target, outer;
    find(name, target);
    if (parent_ != nullptr && parent_->find(name, outer)) {
      set_load(target, Load::alias, outer);
    } else {
      set_load(target, Load::resolve, {});
    }
  }
}

/// Jinja2 follows three branches: the body, all elifs together, the else. Only those that are there are copied.
void Symbols::visit_if(const If& node) {
  visit(node.test);
  const bool has_elifs = !node.elifs.empty(), has_else = !node.otherwise.empty();
  Symbols body = *this;
  std::optional<Symbols> elifs, otherwise;
  InlineVector<Branch, 3> branches;
  for (Node* n : node.body) body.visit(n);
  branches.push_back({&body, !has_elifs || !has_else});
  if (has_elifs) {
    elifs.emplace(*this);
    for (If* n : node.elifs) elifs->visit(n);
    branches.push_back({&*elifs, !has_else});
  }
  if (has_else) {
    otherwise.emplace(*this);
    for (Node* n : node.otherwise) otherwise->visit(n);
    branches.push_back({&*otherwise, false});
  }
  merge_branches(branches);
  if (has_else && !has_elifs) assigned_ |= body.assigned_ & otherwise->assigned_;
}

/// A scope within this one may read, at any time from now on, what it mentions.
void Symbols::note_reads_within(const Node* node) {
  if ((node->inside & kBlock) != 0) read_early_ = ~std::uint64_t{0};  // a scoped one is given all there is
  note_reads(node->mentions);
}

namespace {
bool opens_scope(NodeKind kind) {
  switch (kind) {
    case NodeKind::for_:
    case NodeKind::macro:
    case NodeKind::call_block:
    case NodeKind::filter_block:
    case NodeKind::with:
    case NodeKind::assign_block:
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation: return true;
    default: return false;
  }
}
}  // namespace

/// Follows FrameSymbolVisitor: of a statement with a scope of its own only what is evaluated outside of that scope
/// counts here, such as what a loop iterates over, and not its body.
void Symbols::visit_statement(const Node* node) {
  if (opens_scope(node->kind)) note_reads_within(node);
  switch (node->kind) {
    case NodeKind::if_: return visit_if(as<If>(node));
    case NodeKind::macro: return store(names_->intern(as<Macro>(node).name));
    case NodeKind::for_: return visit(as<For>(node).iterable);
    case NodeKind::call_block: return visit(as<CallBlock>(node).call);
    case NodeKind::filter_block: return visit(as<FilterBlock>(node).filter);
    case NodeKind::with:
      for (Node* n : as<With>(node).values) visit(n);
      return;
    case NodeKind::assign: visit(as<Assign>(node).value); return visit(as<Assign>(node).target);
    case NodeKind::assign_block: return visit(as<AssignBlock>(node).target);
    case NodeKind::block:
    case NodeKind::autoescape:
    case NodeKind::generation: return;  // scopes of their own
    case NodeKind::import: visit(as<Import>(node).name); return store(names_->intern(as<Import>(node).target));
    case NodeKind::from_import:
      visit(as<FromImport>(node).name);
      for (const ImportedName& n : as<FromImport>(node).names) store(names_->intern(n.alias));
      return;
    default: for_each_child(node, [&](const Node* child) { visit(child); });
  }
}

void Symbols::visit(const Node* node, bool as_parameter) {
  if (only_reads_known(node)) return note_reads(node->mentions);
  if (node->kind == NodeKind::name) {
    const auto& name = as<Name>(node);
    NameId id = names_->id_of(name);
    if (as_parameter || name.access == Access::parameter) {
      declare_parameter(id);
    } else if (name.access == Access::store) {
      store(id);
    } else {
      load(id);
    }
    return;
  }
  if (node->kind == NodeKind::namespace_ref) return load(names_->intern(as<NamespaceRef>(node).name));
  if (is_expression(node->kind)) {
    for_each_child(node, [&](const Node* child) { visit(child, as_parameter); });
  } else {
    visit_statement(node);
  }
}

void Symbols::analyze_body(const Nodes& nodes) {
  for (Node* n : nodes) visit(n);
}

void Symbols::analyze_for_body(const For& node) {
  visit(node.target, true);
  analyze_body(node.body);
}

void Symbols::analyze_for_test(const For& node) {
  visit(node.target, true);
  visit(node.test);
}

void Symbols::analyze_with(const With& node) {
  analyze_body(node.targets);
  analyze_body(node.body);
}

void Symbols::analyze_parameters(const ArrayOf<Name*>& parameters, const Nodes& defaults) {
  for (Name* p : parameters) visit(p);
  analyze_body(defaults);
}

/// dump_stores(): what a scoped block is given. The innermost assignment of a name wins.
std::vector<std::pair<NameId, Ident>> Symbols::all_stores() const {
  std::vector<std::pair<NameId, Ident>> all;
  for (const Symbols* s = this; s != nullptr; s = s->parent_) {
    for (NameId name : s->stores_) {
      auto same = [name](const auto& entry) { return entry.first == name; };
      Ident ident;
      if (std::find_if(all.begin(), all.end(), same) == all.end() && find(name, ident)) all.emplace_back(name, ident);
    }
  }
  return all;
}

// ---- find_undeclared

namespace {
enum class Seen { nothing, read, assigned };

/// Walks in Jinja2's order; the first mention of the name decides. Blocks are not entered.
Seen first_mention(const Node* node, std::string_view name, NameId id) {
  if (!may_mention(node, id)) return Seen::nothing;
  if (node->kind == NodeKind::name) {
    const auto& n = as<Name>(node);
    if (n.name != name) return Seen::nothing;
    return n.access == Access::load ? Seen::read : Seen::assigned;
  }
  if (node->kind == NodeKind::block) return Seen::nothing;
  Seen seen = Seen::nothing;
  for_each_child(node, [&](const Node* child) {
    if (seen == Seen::nothing) seen = first_mention(child, name, id);
  });
  return seen;
}
}  // namespace

bool is_undeclared(const Nodes& nodes, std::string_view name, NameId id) {
  for (Node* n : nodes) {
    Seen seen = first_mention(n, name, id);
    if (seen != Seen::nothing) return seen == Seen::read;
  }
  return false;
}

}  // namespace parlance::jinja
