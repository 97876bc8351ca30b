// A Go template's part of a render: decoding the request, running, and the assistant's ranges.
//
// Everything before and after is shared with Jinja in template.cpp. Begin reading at run_go.
#pragma once
#include <vector>

#include "gotemplate/ollama/ollama.h"
#include "parlance/template.h"

namespace parlance {

/// Bytes of the prompt that a turn of the messages wrote.
struct GoTurn {
  std::uint32_t first;  ///< number of its first message
  bool is_assistant;
  std::uint64_t begin;
  std::uint64_t end;
};

class GoTurnRecorder : public gotemplate::TurnObserver {
 public:
  void note(std::uint32_t depth, const gotemplate::Turn* turn, std::uint64_t bytes) override;
  void clear() {
    turns_.clear();
    open_.clear();
  }
  const std::vector<GoTurn>& turns() const { return turns_; }

 private:
  struct Open {
    const gotemplate::Turn* turn = nullptr;
    std::uint64_t begin = 0;
  };
  std::vector<GoTurn> turns_;
  std::vector<Open> open_;
};

/// Memory that runs reuse.
struct GoMemory {
  gotemplate::VariableStack variables;
  GoTurnRecorder turns;
};

/// Runs `program` over variables; the prompt is in `output`. Fails with go_request, go_execute, go_panic, and limits.
/// The variables are mostly the conversation's own; null is as an empty dict.
Result<void> run_go(const gotemplate::Program& program, const Conversation& conversation, const DictObject* variables,
                    const RenderOptions& options, Runtime& rt, Output& output, GoMemory& memory);

/// The assistant's ranges, from the turns that the last run noted. What a turn has in common with
/// the end of the prompt for it (the messages before it, rendered) is its header and no part of it;
/// where there is nothing in common, the range begins at the first byte that came from the message.
void fill_go_assistant(const gotemplate::Program& program, const Conversation& conversation,
                       const RenderOptions& options, const std::vector<GoTurn>& turns, Rendering& into);

}  // namespace parlance
