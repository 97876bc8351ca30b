// Where reasoning stands in an assistant's turn, and what the prompt opens of it. Begin reading at find_reasoning.
#pragma once
#include <string>
#include <vector>

#include "probe/cuts.h"
#include "probe/switches.h"
#include "probe/turn.h"

namespace parlance::probe {

struct FoundReasoning {
  ReplyMarker open;
  ReplyMarker close;
  std::string key;  ///< the member of a message that carries it
  bool with_text = false;
  bool with_calls = false;
  bool with_last_calls = false;
  bool calls_inside = false;  ///< calls follow reasoning that nothing has closed
  bool in_history = false;
  bool open_is_guessed = false;  ///< no experiment shows what opens it: its spelling is the closing tag's
  std::string before_content;    ///< between its close and an answer, white space aside
  std::string experiment;
  std::string shown;
  /// Where only a setting shows it: that, and the member that carries it then.
  std::vector<std::pair<std::string, std::string>> setting;
  std::string setting_key;
};

/// What the experiments of a template have shown so far.
struct ReasoningFacts {
  const std::vector<ThinkingStart>& starts;
  const std::vector<Cut>& cuts;
  bool calls_show = false;
};
FoundReasoning find_reasoning(Prober& prober, const TurnFacts& turn, const ReasoningFacts& known);

/// Members that may carry reasoning: the usual ones, and what the template mentions that sounds like it.
std::vector<std::string> reasoning_keys(const TemplateFacts& facts);

/// What prompts end with under the settings of each variable that switches thinking; the first is the default.
std::vector<ThinkingStart> find_starts(Prober& prober, const TurnFacts& turn,
                                       const std::vector<ThinkingSwitch>& switches);

/// What a prompt ends with behind the header of the assistant's turn, as the history shows it.
std::string_view behind_opener(const TurnFacts& turn, std::string_view prompt);
/// Whether a prompt's end leaves the reply inside reasoning.
bool ends_in_reasoning(std::string_view prompt, const ReplyMarker& open, const ReplyMarker& close);

}  // namespace parlance::probe
