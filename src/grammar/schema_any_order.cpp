// Members in any order. What is still to come is the state, a rule each, so that few are counted and many are not.
// Begin reading at Schema::in_any_order.
#include <algorithm>

#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostCountedMembers = 5;  ///< 31 rules with 80 members between them

/// Members that each come once, or not at all where they are not required, and members that may come at any time.
///
/// n members in any order are n! sequences. By what is still to come they are 2^n states, which is why few are counted.
class AnyOrder {
 public:
  AnyOrder(Ir& ir, NodeId separator, std::string_view name) : ir_(ir), separator_(separator), name_(name) {}
  std::vector<Members::One> once{};
  NodeId free = kNone;  ///< a member that may come again

  NodeId make(bool not_empty) {
    after_.assign(std::size_t{1} << once.size(), kNone);
    std::vector<NodeId> ways = {ir_.sequence({free, after(all())})};
    for (std::size_t i = 0; i < once.size(); ++i) ways.push_back(ir_.sequence({once[i].node, after(all() & ~bit(i))}));
    if (!not_empty && may_end(all())) ways.push_back(ir_.empty());
    return ir_.choice(ways);
  }

 private:
  static std::size_t bit(std::size_t i) { return std::size_t{1} << i; }
  std::size_t all() const { return bit(once.size()) - 1; }
  bool may_end(std::size_t left) const {
    for (std::size_t i = 0; i < once.size(); ++i) {
      if ((left & bit(i)) != 0 && once[i].required) return false;
    }
    return true;
  }

  /// What may follow a member while these are still to come.
  NodeId after(std::size_t left) {
    const NodeId more = ir_.repeat(ir_.sequence({separator_, free}), 0, kUnbounded);
    if (left == 0) return more;
    if (after_[left] != kNone) return after_[left];
    const RuleId rule = ir_.add_rule(name_ + "-rest");
    after_[left] = ir_.rule(rule);
    std::vector<NodeId> ways = {ir_.sequence({free, after_[left]})};
    for (std::size_t i = 0; i < once.size(); ++i) {
      if ((left & bit(i)) != 0) ways.push_back(ir_.sequence({once[i].node, after(left & ~bit(i))}));
    }
    const NodeId further = ir_.sequence({separator_, ir_.choice(ways)});
    ir_.set_body(rule, may_end(left) ? ir_.optional(further) : further);
    return after_[left];
  }

  Ir& ir_;
  const NodeId separator_;
  const std::string name_;
  std::vector<NodeId> after_;  ///< by the set of those still to come
};

}  // namespace

/// kNone where they keep their order after all.
NodeId Schema::in_any_order(const Shape& shape, const MemberWriter& writer, const Members& all, std::string_view name) {
  const std::size_t count = all.declared.size();
  if (count < 2 && all.other == ir_.never()) return kNone;
  const bool counted = count <= kMostCountedMembers;
  const Value schema = shape.schema;
  if (!counted && !writer.may_repeat) {
    note(schema, "properties", "too many for any order: they come as declared", true);
    return kNone;
  }
  const std::size_t each = std::min(count, kMostCountedMembers);
  if (!context_.shared.spend((each + 1) << each)) {  // a rule for each set of members, with what may follow
    note(schema, "properties", "too much work for any order: they come as declared", true);
    return kNone;
  }
  AnyOrder order(ir_, writer.separator, name);
  std::vector<NodeId> free = {all.other};
  for (const Members::One& one : all.declared) {
    const bool once = counted || (one.required && order.once.size() < kMostCountedMembers);
    if (once) {
      order.once.push_back(one);
    } else {
      free.push_back(one.node);
    }
  }
  order.free = ir_.choice(free);
  if (!counted) {
    const auto required = static_cast<std::size_t>(
        std::count_if(all.declared.begin(), all.declared.end(), [](const Members::One& one) { return one.required; }));
    note(schema, "properties", "in any order more than five are not kept from coming again");
    if (required > kMostCountedMembers) note(schema, "required", "in any order only the first five are sure to come");
  }
  return order.make(shape.not_empty);
}

}  // namespace parlance::grammar
