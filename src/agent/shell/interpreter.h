// Interpreter: one Python process in the sandbox, for models that write code. Its variables stay from code to
// code; if it ends, another takes its place.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "agent/shell/resident.h"

namespace parlance::agent {

struct CodeResult {
  RunResult run{};      ///< `out` has what was printed, the value of the last expression, and the traceback, in order
  bool failed = false;  ///< there was an exception
  bool restarted = false;  ///< Python ended, and the next code begins without its variables

  /// What was printed, the last value or the traceback, standard error, and why it ended, in this order.
  std::string text() const;
  /// Of these, why it ended and what became of Python, as sentences.
  std::vector<std::string> notes() const;
  /// The observation where a template leaves its form to others: a block of three backticks and `result`.
  std::string observation() const;
};

class Interpreter {
 public:
  /// `sandbox` must outlive it. The first code starts Python.
  explicit Interpreter(const Sandbox& sandbox) : sandbox_(sandbox) {}

  /// Fails with: file; usage (there is no Python in the sandbox).
  Result<CodeResult> run(const std::string& code, const RunOptions& options);
  /// Do programs run that some code has left?
  bool has_others() const { return python_ && python_->has_others(); }

 private:
  const Sandbox& sandbox_;
  std::unique_ptr<Resident> python_;
  bool was_started_ = false;
};

}  // namespace parlance::agent
