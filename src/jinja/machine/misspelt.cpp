// misspelt_hint: every name that could have been meant is offered; of a dict with very many keys, the first ones.
#include "jinja/machine/misspelt.h"

#include <algorithm>

#include "base/nearest.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::jinja {
namespace {

/// Offers what can have been meant: the name itself is not it.
class Candidates {
 public:
  explicit Candidates(std::string_view wanted) : wanted_(wanted), nearest_(wanted) {}

  void offer(std::string_view name) {
    if (name != wanted_) nearest_.offer(name);
  }
  void offer_keys(std::span<const DictEntry> all) {
    constexpr std::size_t kMostKeys = 1000;
    for (const DictEntry& entry : all.first(std::min(all.size(), kMostKeys))) {
      if (entry.key.is_leaf()) offer(leaf_text(entry.key));
    }
  }
  void offer_rows(std::span<const Builtin> table) {
    for (const Builtin& row : table) offer(row.name);
  }
  const NearestName& nearest() const { return nearest_; }

 private:
  std::string_view wanted_;
  NearestName nearest_;
};

void offer_variables(Candidates& candidates, const Program& program, const Variables& variables) {
  for (const std::string_view name : program.assigned) candidates.offer(name);
  candidates.offer_keys(variables.overrides);
  if (variables.base != nullptr) candidates.offer_keys({variables.base->entries, variables.base->size});
  candidates.offer_rows(global_table());
}

void offer_attributes(Candidates& candidates, Value object) {
  if (object.kind == Kind::dict) candidates.offer_keys(entries(object));
  const std::string_view type = type_name(object);
  for (const MethodTable& table : method_tables()) {
    if (table.type == type && !table.needs_allow_changes) candidates.offer_rows(table.rows);
  }
}

Candidates candidates_of(const UndefinedInfo& undefined, std::string_view wanted, const Program& program,
                         const Variables& variables) {
  using Form = UndefinedInfo::Form;
  Candidates candidates(wanted);
  if (undefined.form == Form::name) offer_variables(candidates, program, variables);
  if (undefined.form == Form::attribute || undefined.form == Form::element) {
    offer_attributes(candidates, undefined.object);
  }
  return candidates;
}

}  // namespace

std::string misspelt_hint(const UndefinedInfo& undefined, const Program& program, const Variables& variables) {
  if (!undefined.key.is_leaf()) return {};
  return candidates_of(undefined, leaf_text(undefined.key), program, variables).nearest().hint();
}

std::string nearest_name(const UndefinedInfo& undefined, const Program& program, const Variables& variables) {
  if (!undefined.key.is_leaf()) return {};
  return candidates_of(undefined, leaf_text(undefined.key), program, variables).nearest().best();
}

}  // namespace parlance::jinja
