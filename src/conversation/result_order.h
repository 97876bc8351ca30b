// Which call each result answers, and in which order results stand: some templates print results one behind the other
// and nothing of the calls that they name.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "parlance/value.h"

namespace parlance {

/// Results that stand in a row, directly behind the message, or messages, with their calls.
struct ResultRun {
  static constexpr std::int32_t kNone = -1;

  std::uint32_t first = 0;          ///< the number of the first result's message
  std::vector<std::int32_t> calls;  ///< of each result its call's number among those in front; kNone: it names none

  bool is_ordered() const;
  /// The numbers of the messages in the order of their calls. Results of one call keep their order; those that name
  /// none keep their place.
  std::vector<std::uint32_t> in_order() const;
};

/// The runs of two results or more among these messages. A result names its call by tool_call_id; where the calls have
/// no ids, by its name, if all calls have different names.
std::vector<ResultRun> result_runs(std::span<const Value> messages);

}  // namespace parlance
