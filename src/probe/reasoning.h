// Where reasoning stands in an assistant's turn, and what the prompt opens of it. Begin reading at find_reasoning.
#pragma once
#include <string>
#include <vector>

#include "probe/switches.h"
#include "probe/turn.h"

namespace parlance::probe {

struct FoundReasoning {
  ReplyMarker open;
  ReplyMarker close;
  std::string key;               ///< the member of a message that carries it
  bool with_text = false;
  bool with_calls = false;
  bool with_last_calls = false;
  bool calls_inside = false;     ///< calls follow reasoning that nothing has closed
  bool in_history = false;
  std::string before_content;    ///< between its close and an answer, white space aside
  std::string experiment;
  std::string shown;
};

FoundReasoning find_reasoning(Prober& prober, const TurnFacts& turn, const std::vector<ThinkingStart>& starts, bool calls_show);

/// Members that may carry reasoning: the usual ones, and what the template mentions that sounds like it.
std::vector<std::string> reasoning_keys(const TemplateFacts& facts);

/// What prompts end with under the settings of each variable that switches thinking; the first is the default.
std::vector<ThinkingStart> find_starts(Prober& prober, const TurnFacts& turn, const std::vector<ThinkingSwitch>& switches);

/// Whether a prompt's end leaves the reply inside reasoning.
bool ends_in_reasoning(std::string_view prompt, const ReplyMarker& open, const ReplyMarker& close);

}  // namespace parlance::probe
