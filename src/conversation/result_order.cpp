// Begin reading at result_runs.
#include "conversation/result_order.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "conversation/edit.h"

namespace parlance {
namespace {

std::string_view text_in(Value dict, std::string_view name) {
  const Value* const text = member(dict, name);
  return text != nullptr && text->is_leaf() ? leaf_text(*text) : std::string_view();
}

bool calls_tools(Value message) {
  const Value calls = member_value(message, "tool_calls");
  return calls.is_sequence() && calls.list->size != 0;
}

bool gives_result(Value message) {
  const Value* const role = member(message, "role");
  return is_text(role, "tool") || is_text(role, "function") || member(message, "tool_call_id") != nullptr;
}

/// The calls that results may name.
class Calls {
 public:
  void add_all_of(Value message) {
    for (const Value call : items(member_value(message, "tool_calls"))) add(call);
  }

  std::int32_t number_of(Value result) const {
    if (!by_id_.empty()) return found(by_id_, text_in(result, "tool_call_id"));
    if (!have_own_names_) return ResultRun::kNone;
    const std::string_view name = text_in(result, "name");
    return found(by_name_, name.empty() ? text_in(result, "tool_name") : name);
  }

 private:
  using Numbers = std::unordered_map<std::string_view, std::int32_t>;

  void add(Value call) {
    const Value function = member_value(call, "function");
    const std::string_view id = text_in(call, "id"), name = text_in(function.is(Kind::dict) ? function : call, "name");
    if (!id.empty()) by_id_.emplace(id, count_);
    if (!by_name_.emplace(name, count_).second) have_own_names_ = false;
    ++count_;
  }

  static std::int32_t found(const Numbers& numbers, std::string_view key) {
    const auto one = numbers.find(key);
    return key.empty() || one == numbers.end() ? ResultRun::kNone : one->second;
  }

  Numbers by_id_, by_name_;
  bool have_own_names_ = true;
  std::int32_t count_ = 0;
};

ResultRun run_of(std::span<const Value> calling, std::span<const Value> results, std::size_t first) {
  Calls calls;
  for (const Value message : calling) calls.add_all_of(message);
  ResultRun run{static_cast<std::uint32_t>(first), {}};
  for (const Value result : results) run.calls.push_back(calls.number_of(result));
  return run;
}

}  // namespace

bool ResultRun::is_ordered() const {
  std::int32_t last = kNone;
  for (const std::int32_t call : calls) {
    if (call == kNone) continue;
    if (call < last) return false;
    last = call;
  }
  return true;
}

std::vector<std::uint32_t> ResultRun::in_order() const {
  std::vector<std::uint32_t> named;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i] != kNone) named.push_back(i);
  }
  std::ranges::stable_sort(named, {}, [this](std::uint32_t i) { return calls[i]; });
  std::vector<std::uint32_t> order;
  auto next = named.begin();
  for (std::uint32_t i = 0; i < calls.size(); ++i) order.push_back(first + (calls[i] == kNone ? i : *next++));
  return order;
}

std::vector<ResultRun> result_runs(std::span<const Value> messages) {
  std::vector<ResultRun> runs;
  for (std::size_t i = 0; i < messages.size();) {
    const std::size_t begin = i;
    while (i < messages.size() && calls_tools(messages[i])) ++i;
    const std::size_t first = i;
    while (i < messages.size() && gives_result(messages[i]) && !calls_tools(messages[i])) ++i;
    if (first > begin && i - first > 1)
      runs.push_back(run_of(messages.subspan(begin, first - begin), messages.subspan(first, i - first), first));
    if (i == begin) ++i;
  }
  return runs;
}

}  // namespace parlance
