// Symbols: which variable a name means in each scope, worked out as Jinja2's idtracking does.
//
// Jinja2 turns names into Python locals `l_<level>_<name>` and lets Python's closures do the rest. The same
// pairs (level, name) are called idents here; the compiler gives each a register in the routine that owns it.
// Start at Symbols::analyze_body; the rules (alias, resolve, undefined on entry) decide what a `set` inside an
// `if` or a loop does to the outer variable.
#pragma once
#include <bit>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/inline_vector.h"
#include "jinja/syntax/ast.h"

namespace parlance::jinja {

using NameId = std::uint32_t;

// What Node::inside says of a node and all below it:
inline constexpr std::uint8_t kAssignment = 1;  ///< assigns a variable, or may see variables later, as macros do
inline constexpr std::uint8_t kOtherName = 2;   ///< mentions a name that has no bit in Node::mentions
inline constexpr std::uint8_t kBlock = 4;       ///< a block: then all names count as mentioned

/// Node::mentions has a bit for each of the first 64 names, which are all that most templates have. 0 for others.
inline std::uint64_t name_bit(NameId name) { return name < 64 ? std::uint64_t{1} << name : 0; }
inline void note_mention(const Node* node, NameId name) {
  node->mentions = name_bit(name);
  node->inside = node->mentions == 0 ? kOtherName : 0;
}
inline bool may_mention(const Node* node, NameId name) {
  const std::uint64_t bit = name_bit(name);
  return bit != 0 ? (node->mentions & bit) != 0 : (node->inside & kOtherName) != 0;
}

struct Ident {
  std::uint32_t level = 0;
  NameId name = 0;
  /// Both at once: the compiler's lists are looked through by idents.
  bool operator==(const Ident& other) const {
    return std::bit_cast<std::uint64_t>(*this) == std::bit_cast<std::uint64_t>(other);
  }
};

/// Gives each distinct name a small number. Names are the same when Python takes them for one identifier (NFKC);
/// what such a name is looked up by is its first spelling.
class NameTable {
 public:
  NameId intern(std::string_view name);
  /// intern() of a name in the tree, which remembers its number.
  NameId id_of(const Name& name) {
    if (name.id == 0) name.id = intern(name.name) + 1;
    return name.id - 1;
  }
  std::string_view name(NameId id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  static constexpr NameId kNone = ~NameId{0};
  NameId find(std::string_view normalised) const;
  NameId add(std::string_view normalised, std::string_view spelling);
  void grow();
  void place(NameId id);
  std::size_t slot_of(std::string_view normalised) const;
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  std::vector<std::string_view> names_;
  std::vector<std::string_view> normalised_names_;
  std::vector<std::uint32_t> slots_;
  std::deque<std::string> normalised_;  ///< owns names that NFKC changed
};

/// How an ident gets its value when its scope is entered.
enum class Load : std::uint8_t { parameter, resolve, alias, undefined };

class Symbols {
 public:
  struct LoadEntry {
    Ident ident;
    Load how;
    Ident alias;
  };
  Symbols(NameTable& names, const Symbols* parent, std::uint32_t level)
      : names_(&names), parent_(parent), level_(level), known_(parent == nullptr ? 0 : parent->known_) {}

  std::uint32_t level() const { return level_; }
  std::span<const LoadEntry> loads() const { return loads_; }
  std::span<const NameId> stores() const { return stores_; }
  /// May the value that a name has when the scope is entered be read? If not, it need not be loaded.
  bool is_read_on_entry(NameId name) const { return name_bit(name) == 0 || (read_early_ & name_bit(name)) != 0; }
  bool find(NameId name, Ident& out) const;
  const LoadEntry* find_load(Ident ident) const;
  Ident declare_parameter(NameId name);
  void load(NameId name);
  void store(NameId name);

  // What a scope-opening node declares; `visit` is for the children of one that is transparent.
  void analyze_body(const Nodes& nodes);
  void analyze_for_body(const For& node);
  void analyze_for_test(const For& node);
  void analyze_with(const With& node);
  void analyze_parameters(const ArrayOf<Name*>& parameters, const Nodes& defaults);
  void visit(const Node* node, bool as_parameter = false);

  /// Stored names of this scope and its parents with the idents they mean, innermost first (for scoped blocks).
  std::vector<std::pair<NameId, Ident>> all_stores() const;

 private:
  void note_reads(std::uint64_t names) { read_early_ |= names & ~assigned_; }
  void note_reads_within(const Node* node);
  bool only_reads_known(const Node* node) const { return node->inside == 0 && (node->mentions & ~known_) == 0; }
  void add_reference(NameId name, Ident ident);
  void visit_arguments(const Arguments& arguments);
  void visit_if(const If& node);
  void visit_statement(const Node* node);
  struct Branch;
  void merge_names(const Symbols& branch, std::size_t known);
  void merge_loads(const Symbols& branch, std::size_t known, bool empty_one_follows);
  void merge_branches(std::span<const Branch> branches);
  void set_load(Ident ident, Load how, Ident alias);
  void define(NameId name, Load how, Ident alias = {});

  NameTable* names_;
  const Symbols* parent_;
  std::uint32_t level_;
  struct Reference {
    NameId name;
    Ident ident;
  };
  InlineVector<Reference, 8> refs_;
  InlineVector<LoadEntry, 8> loads_;
  InlineVector<NameId, 8> stores_;
  // Names as in Node::mentions; those that have no bit there count as read, and not as assigned or known.
  std::uint64_t known_;           ///< that find() knows
  std::uint64_t assigned_ = 0;    ///< that every way to here has assigned
  std::uint64_t read_early_ = 0;  ///< that some way may read before
};

/// One way through an `if`.
struct Symbols::Branch {
  const Symbols* symbols;
  bool empty_one_follows;
};

/// Is `name` read in `nodes` before anything there assigns it? Jinja2's find_undeclared, which decides whether a macro
/// gets caller, varargs and kwargs, and whether a loop needs its loop variable.
/// `id` is its number.
bool is_undeclared(const Nodes& nodes, std::string_view name, NameId id);

}  // namespace parlance::jinja
