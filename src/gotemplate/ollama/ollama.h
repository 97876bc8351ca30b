// Running a template over a request as Ollama does: once over all messages, or once for each
// exchange.
//
// Source: Ollama's template/template.go, Execute. Begin reading at OllamaRun::run.
#pragma once
#include "gotemplate/exec.h"
#include "gotemplate/ollama/request.h"

namespace parlance::gotemplate {

/// Told where the bytes of a message's turn are.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;
  /// A turn of the loop `depth` deep begins (or ends: null) with `bytes` of the prompt written. For
  /// a template of exchanges it is the run that shows the assistant's message.
  virtual void note(std::uint32_t depth, const Turn* turn, std::uint64_t bytes) = 0;
};

class OllamaRun : private LoopObserver {
 public:
  OllamaRun(const Program& program, Runtime& rt, Output& output, VariableStack& variables)
      : program_(program), rt_(rt), executor_(rt, output, variables), output_(output) {}
  void observe(TurnObserver& observer) { observer_ = &observer; }

  /// False after a failure: rt.failure says what, failed_at() where in the template if anywhere.
  bool run(const ChatRequest& request);
  const Node* failed_at() const { return executor_.failed_at(); }

 private:
  void note(std::uint32_t depth, Value element, std::uint64_t bytes) override;
  bool run_messages(const ChatRequest& request);
  bool run_exchanges(const ChatRequest& request);
  /// What stands for one exchange.
  struct Exchange {
    Value system, prompt, response;
    const Turn* answer = nullptr;
  };
  bool run_exchange(const Tree& tree, RunMode mode, const ChatRequest& request, const Exchange& exchange);
  Value data(const ChatRequest& request, std::initializer_list<DictEntry> entries);
  Value message_list(const ChatRequest& request);

  const Program& program_;
  Runtime& rt_;
  Executor executor_;
  Output& output_;
  TurnObserver* observer_ = nullptr;
  /// The struct of a message, to know a loop's element again.
  struct Structure {
    const ListObject* list;
    const Turn* turn;
  };
  std::span<Structure> structures_;  ///< by address; none where nobody observes
};

}  // namespace parlance::gotemplate
