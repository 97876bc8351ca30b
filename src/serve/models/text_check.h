// TextCheck: whether an engine that takes text alone puts tokens in front of each text by itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "parlance/tokenizer.h"
#include "serve/http/task.h"

namespace parlance::serve {

struct ServedModel;

/// It asks how many tokens the engine counts in two texts. That is advice: it is asked beside the requests and the
/// looks, for a few seconds at the most, and none of them fails by it.   Threads: any.
class TextCheck {
 public:
  TextCheck();
  /// Who is told what there is to warn of, each thing once. To be called before anything is counted.
  void tell(std::function<void(std::string_view sentence)> told);
  /// Begins to count, unless that is known, under way, or failed a short while ago. Does not wait.
  Task<> begin(const ServedModel& model);
  /// How many tokens at the prompt's beginning the engine puts there by itself. Waits for the first count, and only
  /// where the prompt begins with such tokens.
  Task<std::size_t> in_front(const ServedModel& model, std::span<const TokenId> prompt);
  /// The engine says that the prompt of a reply had so many tokens. Where that shows that what was counted is no
  /// longer so, it is counted again.
  void compare(const ServedModel& model, std::span<const TokenId> prompt, std::int64_t told);
  /// The engine may have ended: it is counted again, unless it was a short while ago.
  void doubt();
  /// The engine was not there: another may answer by now.
  void forget();

 private:
  struct State;
  std::shared_ptr<State> state_;  // a count goes on without the model
};

}  // namespace parlance::serve
