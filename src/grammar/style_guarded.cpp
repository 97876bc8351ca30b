// Strings of JSON and Python in which markers do not occur, though escapes may spell them: what a reader takes for the
// end of a value, and not for a part of it. Begin reading at Style::guarded_string.
#include <algorithm>

#include "base/format.h"
#include "base/utf8.h"
#include "grammar/stop_automaton.h"
#include "grammar/style.h"
#include "json/writer.h"
#include "reply/scan/text_codec.h"

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
      if (step.stop == kNone && !contains(special, c))
        ways.push_back(ir_.sequence({ir_.chars({{c, c}}), states[step.state]}));
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

/// The text as a string of JSON in which escapes spell what markers begin with.
/// Each character that a marker begins with becomes \uXXXX, a pair of surrogates above U+FFFF. The reader takes a
/// marker by its written bytes, so it sees none; a JSON parser gives the text back.
std::string Style::spelled(std::string_view text) const {
  std::string json = json_string(text);
  if (!holds_never(json)) return json;
  json = '"';
  for (const char* p = text.data(); p != text.data() + text.size();) {
    const utf8::Decoded c = utf8::decode(p, text.data() + text.size());
    const std::string one = json_inside({p, c.size});
    p += c.size;
    const bool begins = c.code_point != '"' && c.code_point != '\\' && contains(begins_, c.code_point);
    const char32_t above = c.code_point - 0x10000;
    if (!begins)
      json += one;
    else if (c.code_point < 0x10000)
      json += format("\\u{:04x}", static_cast<std::uint32_t>(c.code_point));
    else
      json += format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
  }
  return json += '"';
}

}  // namespace parlance::grammar
