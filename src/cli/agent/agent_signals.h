// AgentSignals: what signals ask of a run of `parlance agent`. The first Ctrl-C ends the command that runs; a second
// one within two seconds, SIGTERM, or SIGHUP as the terminal goes, ends the agent.
#pragma once
#include <signal.h>

namespace parlance::cli {

/// Shall the agent end?
bool wants_end();
/// Was there a signal that nobody has been told of?
bool has_interrupt();

/// While it lives, Ctrl-C does not end the program, and neither does who reads its output no more: that ends the run.
/// There is one at a time.
class AgentSignals {
 public:
  AgentSignals();
  AgentSignals(const AgentSignals&) = delete;
  AgentSignals& operator=(const AgentSignals&) = delete;
  /// The program ends next: Ctrl-C once more must not change how.
  ~AgentSignals();
  /// Was there a signal since this was asked last?
  bool was_interrupted() const;
  /// Can be read once there was a signal, until clear().
  int descriptor() const;
  void clear() const;

 private:
  struct sigaction before_[3]{};
};

}  // namespace parlance::cli
