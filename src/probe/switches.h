// Variables that switch thinking, and the levels that a template knows, found by experiment. The only place that tells
// them.
//
// A variable's name only says that it is worth a try. Whether it does anything is seen in prompts: it is a switch if
// two of its values give two prompts, and it knows a level if that word gives another prompt than a word that nobody
// knows.
#pragma once
#include "probe/probe_request.h"

namespace parlance::probe {

/// Values that switch reasoning on and off, as JSON.
struct OnOff {
  std::string_view on, off;
};

/// Whether the name of a variable says that it is about thinking.
bool speaks_of_thinking(std::string_view variable);

/// What one variable does to a prompt.
struct ThinkingSwitch {
  std::string variable;
  const OnOff* values = nullptr;         ///< that make a difference; none where it has levels but such as switch off
  std::vector<std::string_view> levels;  ///< the words that it knows
  bool printed = false;                  ///< the prompt shows whatever it is given, or something made of it
  /// All that it may be set to, as JSON.
  std::vector<std::string> settings() const;
};

/// The variables of a template that change the end or the beginning of its prompts; of Go's templates those that Ollama
/// fills.
std::vector<ThinkingSwitch> find_switches(Prober& prober);

}  // namespace parlance::probe
