// Strings of JSON and Python in which markers do not occur, though escapes may spell them: what a reader takes for the end of a
// value, and not for a part of it. Begin reading at Style::guarded_string.
#include <algorithm>

#include "base/format.h"
#include "grammar/stop_automaton.h"
#include "grammar/style.h"
#include "reply/text_codec.h"

namespace parlance::grammar {

/// A rule for each state of the markers' automaton. An escape leads back to its start.
NodeId Style::guarded_string(char quote) const {
  std::vector<Stop> stops;
  for (const std::string& text : never_) stops.push_back({text, kNone});
  const StopAutomaton automaton(stops);
  const auto q = static_cast<char32_t>(quote);
  const std::vector<Range> special = kind_ == Kind::json ? normalized({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}})
                                                         : normalized({{0, 0}, {'\r', '\r'}, {'\\', '\\'}, {q, q}});
  std::vector<NodeId> states;
  std::vector<RuleId> rules;
  for (StopAutomaton::State s = 0; s < automaton.size(); ++s) {
    rules.push_back(ir_.add_rule("string-rest"));
    states.push_back(ir_.rule(rules.back()));
  }
  const NodeId end = ir_.literal({&quote, 1});
  const NodeId escape = ir_.choice({escape_of_any(), stray_backslash()});
  for (StopAutomaton::State s = 0; s < automaton.size(); ++s) {
    std::vector<Range> others = special;
    std::vector<NodeId> ways{end, ir_.sequence({escape, states[0]})};
    for (const auto& [c, step] : automaton.edges(s)) {
      others.push_back({c, c});
      if (step.stop == kNone && !contains(special, c)) ways.push_back(ir_.sequence({ir_.chars({{c, c}}), states[step.state]}));
    }
    ways.push_back(ir_.sequence({ir_.chars(complement(normalized(std::move(others)))), states[0]}));
    ir_.set_body(rules[s], ir_.choice(ways));
  }
  const NodeId any_unit = ir_.choice({ir_.chars(complement(special)), escape});
  const NodeId whole = ir_.token(ir_.sequence({end, states[0]}));
  ir_.set_guard(whole, {ir_.token(ir_.sequence({end, ir_.repeat(any_unit, 0, kUnbounded), end})), never_});
  return whole;
}

bool Style::holds_never(std::string_view text) const {
  return std::any_of(never_.begin(), never_.end(), [&](const std::string& marker) {
    const std::vector<std::string_view> words = reply::soft_words(marker);
    return !words.empty() && text.find(words[0]) != text.npos;
  });
}

/// A string of JSON in which markers are spelled by escapes of what they begin with.
std::string Style::spelled(std::string json) const {
  if (!holds_never(json)) return json;
  std::string out;
  for (const char c : json) {
    const bool begins = c != '"' && c != '\\' && contains(begins_, static_cast<unsigned char>(c));
    out += begins ? format("\\u{:04x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace parlance::grammar
