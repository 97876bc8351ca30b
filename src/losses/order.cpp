// Two results change what names their calls: the prompt stays the same if it shows nothing of that. Then they change
// places: the prompt stays the same if their order makes no difference, as where the template drops them. Begin reading
// at find_disorder.
#include "losses/order.h"

#include <map>
#include <string>

#include "conversation/edit.h"
#include "conversation/result_order.h"

namespace parlance {
namespace {

/// Pairs that are looked at, also without a render. Where the prompt shows the calls of so many it shows those of all.
constexpr std::size_t kMostPairs = 4096;

/// A message with the ids and names of another.
Value named_as(Runtime& rt, Value message, Value other) {
  Value made = message;
  for (const std::string_view name : kIds) {
    const Value theirs = member_value(other, name);
    if (!theirs.is_undefined()) made = with_member(rt, made, name, theirs);
    if (theirs.is_undefined() && member(made, name) != nullptr)
      made = filtered(rt, made, [name](std::string_view key) { return key != name; });
  }
  return made;
}

class Disorder {
 public:
  Disorder(const Experiment& experiment, std::size_t most)
      : experiment_(experiment), most_(most), trial_(experiment), given_(experiment, Trial::With::spans) {}

  void find(const ResultRun& run, std::size_t first, std::vector<Loss>& losses) {
    std::multimap<std::int32_t, std::uint32_t> before;  // calls and their results, as far as they were passed
    for (std::uint32_t i = 0; i < run.calls.size(); ++i) {
      if (run.calls[i] == ResultRun::kNone) continue;
      const std::uint32_t number = run.first + i;
      const auto earlier = number < first ? before.end() : before.upper_bound(run.calls[i]);
      for (auto later = earlier; later != before.end() && most_ > 0 && pairs_ < kMostPairs; ++later, ++pairs_) {
        if (!are_confused(later->second, number)) continue;
        losses.push_back(loss_of(later->second, number));
        return;
      }
      before.emplace(run.calls[i], number);
    }
  }

 private:
  Value message(std::uint32_t number) const { return items(experiment_.conversation.messages())[number]; }

  /// Does the prompt tell neither result's call, and would it be another in the order of the calls?
  bool are_confused(std::uint32_t number, std::uint32_t other) {
    if (!render_as_given() || are_named(number, other)) return false;
    --most_;
    const Value one = message(number), two = message(other);
    if (!trial_.is_same(*as_given_, [&](Runtime& rt, Value variables) {
          return with_two(rt, variables, number, named_as(rt, one, two), other, named_as(rt, two, one));
        }))
      return false;
    const auto ordered =
        trial_.text([&](Runtime& rt, Value variables) { return with_two(rt, variables, number, two, other, one); });
    return ordered && *ordered != as_given_->text();
  }

  bool render_as_given() {
    if (as_given_ != nullptr) return true;
    as_given_ = given_.render([](Runtime& /*rt*/, Value variables) { return variables; });
    if (as_given_ == nullptr) most_ = 0;
    if (as_given_ != nullptr) reached_.take(as_given_->spans(), as_given_->text());
    return as_given_ != nullptr;
  }

  /// Does the prompt have an id or a name of both in which they differ? That takes no render to see.
  bool are_named(std::uint32_t number, std::uint32_t other) const {
    for (const std::string_view name : kIds) {
      const Value one = member_value(message(number), name), two = member_value(message(other), name);
      const bool are_two = one.is_leaf() && two.is_leaf() && leaf_text(one) != leaf_text(two);
      if (are_two && reached_.any_of(leaf_text(one)) && reached_.any_of(leaf_text(two))) return true;
    }
    return false;
  }

  Value with_two(Runtime& rt, Value variables, std::uint32_t number, Value one, std::uint32_t other, Value two) const {
    ListEditor messages(rt, experiment_.conversation.messages());
    messages.set(number, one);
    messages.set(other, two);
    return with_member(rt, variables, "messages", messages.finish());
  }

  std::string path_of(std::uint32_t number) const {
    const std::string path = experiment_.conversation.path_of(message(number));
    return path.empty() ? "messages[" + std::to_string(number) + "]" : path;
  }

  Loss loss_of(std::uint32_t number, std::uint32_t other) const {
    return {LossKind::lost, "order", path_of(number),
            "stands in front of " + path_of(other) +
                ", the result of an earlier call, and the prompt does not say which call each of them answers",
            "give results in the order of their calls, or the pass order-results does it"};
  }

  const Experiment& experiment_;
  std::size_t most_;
  std::size_t pairs_ = 0;
  Trial trial_;
  Trial given_;
  const Rendering* as_given_ = nullptr;  ///< null until it is needed
  Reached reached_;
};

}  // namespace

void find_disorder(const Experiment& experiment, std::size_t most, std::size_t first, std::vector<Loss>& losses) {
  const Value messages = experiment.conversation.messages();
  if (messages.kind != Kind::list) return;
  Disorder disorder(experiment, most);
  for (const ResultRun& run : result_runs(items(messages))) {
    if (!run.is_ordered()) disorder.find(run, first, losses);
  }
}

std::vector<Loss> losses_of_order(const Template& chat_template, const Conversation& conversation,
                                  const RenderOptions& options, Workspace& workspace, std::size_t first) {
  std::vector<Loss> losses;
  const Experiment experiment{chat_template, conversation, options, workspace};
  find_disorder(experiment, LossOptions().experiments, first, losses);
  return losses;
}

}  // namespace parlance
