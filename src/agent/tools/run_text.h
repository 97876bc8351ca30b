// What the agent's tools have in common: how long a run may take, and what a model reads of it.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "agent/shell/resident.h"

namespace parlance::agent {

struct SandboxToolOptions {
  double timeout = 120;                 ///< seconds, where a call names none
  std::function<double()> remaining{};  ///< seconds that are left of the whole run; null: no limit
  double longest = 3600;                ///< that a call may name
  OutputLimits output{};
  std::function<void(Stream, std::string_view)> on_output{};
  /// Is told of a run's output once all of it has come.
  std::function<void(Stream, const Output&)> on_output_end{};
  std::string place{};  ///< a sentence for the model about where it works, in the description of a tool; or ""
  int cancel = -1;      ///< a descriptor; what runs is interrupted when it can be read
};

/// Seconds that a run may take for which `wished` are asked.
double seconds_for(const SandboxToolOptions& options, double wished);
RunOptions run_options(const SandboxToolOptions& options, double timeout);
void tell_output_end(const SandboxToolOptions& options, const RunResult& run);

bool succeeded(const RunResult& run);
/// "exit status 0, 0.01 s"
std::string status_of_run(const RunResult& run);
/// "0.01 s"
std::string seconds_text(double seconds);
/// The status, then stdout, stderr and what the sandbox's limits did.
std::string text_of_run(const RunResult& run, bool time);
/// The sentences in brackets, each on a line of its own.
void add_sentences(std::string& text, const std::vector<std::string>& sentences);

}  // namespace parlance::agent
