// Reasoning is looked for in three places: a turn of the history that carries it, what prompts open under the settings
// of thinking, and the texts that turns were seen to be cut at. Begin reading at find_reasoning.
#include "probe/reasoning.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/reasoning_names.h"
#include "probe/calls.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

using ascii::is_letter;

/// The last chain of tags in `text`, with the white space round it; "" if there is none.
std::string_view last_tag_with_space(std::string_view text) {
  std::size_t begin = last_chain_begin(text);
  if (begin == text.size()) return {};
  while (begin > 0 && is_space(text[begin - 1])) --begin;
  return text.substr(begin);
}

void set_markers(FoundReasoning& found, std::string_view open, std::string_view close, std::string experiment) {
  found.open = marker_of(open);
  found.close = marker_of(close);
  found.shown = shortened(std::string(open) + "…" + std::string(close));
  found.experiment = std::move(experiment);
}

/// Where the closing text ends that `after` begins with: a chain of tags with the white space round it.
std::size_t close_end(std::string_view after) {
  const std::string_view tag = first_tag(after);
  if (tag.empty() || tags_of(tag).empty()) return 0;
  std::size_t end = static_cast<std::size_t>(tag.data() - after.data()) + tag.size();
  while (end < after.size() && is_space(after[end])) ++end;
  return end;
}

/// The texts round reasoning in the turn of `shot`, if it shows.
bool read_turn(FoundReasoning& found, const TurnFacts& turn, const Shot& shot, std::string_view next_word,
               std::string experiment) {
  if (!shot) return false;
  const std::string_view text = turn_of(turn, shot).text;
  const std::size_t at = text.find(kReasoning);
  if (at == kNone) return false;
  const std::size_t behind = at + kReasoning.size();
  const std::size_t next = next_word.empty() ? kNone : text.find(next_word, behind);
  const std::string_view after = next == kNone ? text.substr(behind) : text.substr(behind, next - behind);
  const std::size_t size = close_end(after);
  const std::string_view close = size == 0 && next != kNone ? after : after.substr(0, size);
  if (is_blank(close)) return false;
  if (!found.close.exists()) {
    std::string_view opener = last_tag_with_space(text.substr(0, at));
    const std::size_t own = static_cast<std::size_t>(opener.data() - text.data());
    if (own < turn.opener.size() && own + opener.size() > turn.opener.size() &&
        is_blank(text.substr(own, turn.opener.size() - own))) {
      opener.remove_prefix(turn.opener.size() - own);  // white space of the turn's opener
    }
    set_markers(found, opener, close, std::move(experiment));
    if (next != kNone) found.before_content = std::string(trimmed(after.substr(close.size())));
  }
  return true;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The best evidence: the template itself writes reasoning between its markers. The first name that shows decides, in
/// the order in which clients use them.
FoundReasoning from_history(Prober& prober, const TurnFacts& turn, bool calls_show, const Variables& variables = {}) {
  FoundReasoning found;
  for (const std::string& key : reasoning_keys(prober.facts())) {
    Scene scene{.reasoning = std::string(kReasoning), .reasoning_key = key, .variables = variables};
    found.with_text = read_turn(found, turn, prober.take(scene), kContent, "reasoning beside an answer");
    scene.next = Next::user;
    const Shot& history = prober.take(scene);
    found.in_history = history && history.text.find(kReasoning) != std::string::npos;
    if (found.in_history) read_turn(found, turn, history, kContent, "reasoning in a turn of the history");
    if (calls_show) {
      scene.next = Next::nothing;
      scene.content.reset();
      scene.calls = plain_calls(1);
      found.with_last_calls = read_turn(found, turn, prober.take(scene), "", "reasoning beside a call");
      scene.next = Next::result;
      found.with_calls = read_turn(found, turn, prober.take(scene), "", "reasoning beside a call with its result") ||
                         found.with_last_calls;
    }
    if (found.with_text || found.with_calls || found.in_history) {
      found.key = key;
      return found;
    }
  }
  return found;
}

/// Settings under which a turn may show what it does not show by itself: those of all switches, and all other variables
/// with such names, which may act on the history alone.
std::vector<Variables> settings_to_try(const TemplateFacts& facts, const std::vector<ThinkingStart>& starts) {
  std::vector<Variables> settings;
  for (const ThinkingStart& start : starts) {
    if (!start.variable.empty()) settings.push_back({{start.variable, start.value}});
  }
  if (facts.syntax == Syntax::go && settings.empty()) settings.push_back({{"think", "true"}});
  for (const std::string& variable : facts.variables) {
    const bool known = std::any_of(settings.begin(), settings.end(),
                                   [&](const Variables& one) { return one.front().first == variable; });
    if (!known && speaks_of_thinking(variable)) settings.push_back({{variable, "true"}});
  }
  return settings;
}

/// The same where only a setting of thinking shows it: its markers are known, but what turns show by themselves is not.
FoundReasoning from_settings(Prober& prober, const TurnFacts& turn, const std::vector<ThinkingStart>& starts) {
  for (const Variables& setting : settings_to_try(prober.facts(), starts)) {
    const FoundReasoning shown = from_history(prober, turn, false, setting);
    if (!shown.open.exists() || !shown.close.exists()) continue;
    FoundReasoning found;
    found.open = shown.open;
    found.close = shown.close;
    found.shown = shown.shown;
    found.setting = setting;
    found.setting_key = shown.key;
    found.experiment = "reasoning in a turn under a setting of thinking";
    return found;
  }
  return {};
}

/// Whether the turn holds content as Python prints it: then the template does not know its parts.
bool prints_parts(const TurnFacts& turn, const Shot& shot) {
  const std::string_view text = turn_of(turn, shot).text;
  return text.find("'type'") != kNone || text.find("\"type\"") != kNone;
}

bool shows_reasoning(const Shot& shot) { return shot && shot.text.find(kReasoning) != std::string::npos; }

/// Whether reasoning is closed before the first call.
bool closes_reasoning(const FoundReasoning& found, const TurnFacts& turn, const Shot& shot) {
  const std::string_view text = turn_of(turn, shot).text;
  const std::size_t begin = std::min(text.find(kReasoning), text.size());
  const std::string_view between = text.substr(begin, std::min(text.find(kValuesA[0], begin), text.size()) - begin);
  return between.find(found.close.texts.front()) != kNone;
}

/// A part of content, or a block, as some templates want reasoning.
FoundReasoning from_parts(Prober& prober, const TurnFacts& turn, bool calls_show) {
  const TemplateFacts& facts = prober.facts();
  for (const std::string_view where : {kPartKey, kBlockKey}) {
    if (where == kBlockKey && !facts.mentions("blocks")) continue;
    for (const std::string_view type : {"thinking", "reasoning", "thoughts"}) {
      if (!facts.mentions(type)) continue;
      FoundReasoning found;
      Scene scene{.reasoning = std::string(kReasoning), .reasoning_key = std::string(where) + std::string(type)};
      const Shot& shot = prober.take(scene);
      if (!shot || prints_parts(turn, shot)) continue;
      found.with_text = read_turn(found, turn, shot, kContent, "reasoning as a part of content");
      if (!found.with_text) continue;
      found.key = scene.reasoning_key;
      scene.next = Next::user;
      found.in_history = shows_reasoning(prober.take(scene));
      if (!calls_show) return found;
      scene.next = Next::nothing;
      scene.content.reset();
      scene.calls = plain_calls(1);
      found.with_last_calls = shows_reasoning(prober.take(scene));
      scene.next = Next::result;
      const Shot& answered = prober.take(scene);
      found.with_calls = shows_reasoning(answered) || found.with_last_calls;
      found.calls_inside = shows_reasoning(answered) && !closes_reasoning(found, turn, answered);
      return found;
    }
  }
  return {};
}

/// What closes `open`: what turns are cut at, best where the spelling says so too, or the tag that its spelling tells.
std::string closing_of(const std::vector<Cut>& cuts, std::string_view open) {
  std::string spelled = plain_closing(open);
  const bool known = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.close == spelled; });
  return known || cuts.empty() ? spelled : cuts.front().close;
}

bool closes(const std::vector<Cut>& cuts, std::string_view open, std::string_view close) {
  return close == plain_closing(open) ||
         std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.close == close; });
}

/// Whether a tag ends turns: then it does not end reasoning.
bool ends_turn(const TurnFacts& turn, std::string_view tag) {
  return first_tag(turn.after_content) == tag || std::find(turn.ends.begin(), turn.ends.end(), tag) != turn.ends.end();
}

/// The one tag or other mark that `text` is, white space aside; "" where it is words, or more than one.
std::string_view only_mark(std::string_view text) {
  const std::string_view inner = trimmed(text);
  const std::vector<Tag> tags = tags_of(inner);
  if (tags.size() == 1 && tags[0].begin == 0 && tags[0].end == inner.size()) return inner;
  const bool other = tags.empty() && !are_words(inner) && std::none_of(inner.begin(), inner.end(), is_space);
  return other ? inner : std::string_view();
}

/// Reasoning that is opened and closed in `extra`, with a word at most inside of it.
bool read_pair(FoundReasoning& found, const std::vector<Cut>& cuts, std::string_view extra, const char* experiment) {
  const std::vector<Tag> tags = tags_of(extra);
  const auto tag = [&](std::size_t i) { return extra.substr(tags[i].begin, tags[i].end - tags[i].begin); };
  for (std::size_t i = 0; i + 1 < tags.size(); ++i) {
    // a word belongs to the opener
    const std::string_view between = trimmed(extra.substr(tags[i].end, tags[i + 1].begin - tags[i].end));
    if (!closes(cuts, tag(i), tag(i + 1)) || std::any_of(between.begin(), between.end(), is_space)) continue;
    std::size_t close = tags[i + 1].begin;
    while (close > tags[i].end && is_space(extra[close - 1])) --close;
    std::size_t end = tags[i + 1].end;
    while (end < extra.size() && is_space(extra[end])) ++end;
    set_markers(found, extra.substr(tags[i].begin, close - tags[i].begin), extra.substr(close, end - close),
                experiment);
    return true;
  }
  return false;
}

/// Of the white space in empty reasoning, what a prompt leaves behind the opener is the opener's.
/// "<think>\n\n</think>" does not tell which newline is whose; a prompt that ends with "<think>\n" does.
void share_space(FoundReasoning& found, std::string_view prompt) {
  const std::string_view opened = trimmed_right(prompt);
  const std::string_view space = prompt.substr(opened.size());
  if (!opened.ends_with(found.open.texts.front()) || !found.close.before.starts_with(space)) return;
  found.open.after = std::string(space);
  found.close.before.erase(0, space.size());
}

/// What one prompt opens and closes, or leaves open at its end.
bool read_start(FoundReasoning& found, const TurnFacts& turn, const std::vector<Cut>& cuts, std::string_view extra) {
  if (read_pair(found, cuts, extra, "a prompt that opens and closes it")) return true;
  const std::string_view mark = only_mark(extra);
  const std::string close = closing_of(cuts, mark);
  if (mark.empty() || close.empty() || ends_turn(turn, close) || close == mark) return false;
  const bool is_cut = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.close == close; });
  set_markers(found, extra, "\n" + close + "\n\n",
              is_cut ? "what a prompt opens, and the text that turns are cut at" : "what a prompt leaves open");
  return true;
}

/// What prompts open, and what turns are cut at.
FoundReasoning from_prompts(const TurnFacts& turn, const ReasoningFacts& known) {
  FoundReasoning found;
  for (const ThinkingStart& start : known.starts) {
    if (read_start(found, turn, known.cuts, behind_opener(turn, start.prompt))) return found;
  }
  if (read_pair(found, known.cuts, turn.opener + turn.before_content, "an answer behind reasoning that is empty")) {
    share_space(found, turn.prompt);
    return found;
  }
  for (const Cut& cut : known.cuts) {
    const std::string open = cut.open.empty() ? plain_opening(cut.close) : cut.open;
    if (open.empty() || ends_turn(turn, cut.close)) continue;
    set_markers(found, open + "\n", "\n" + cut.close + "\n\n", "the text that turns are cut at");
    found.open_is_guessed = cut.open.empty();
    return found;
  }
  return found;
}

/// Variables that may change what prompts end with though their names do not speak of thinking.
std::vector<std::string> other_variables(const TemplateFacts& facts) {
  constexpr std::size_t kMost = 8;
  constexpr std::string_view kOfRequests[] = {
      "messages", "tools", "documents", "functions", "add_generation_prompt", "continue_final_message"};
  std::vector<std::string> others;
  for (const std::string& variable : facts.variables) {
    const bool usual = std::find(std::begin(kOfRequests), std::end(kOfRequests), variable) != std::end(kOfRequests) ||
                       variable.ends_with("_token");
    if (!usual && !speaks_of_thinking(variable) && others.size() < kMost) others.push_back(variable);
  }
  return others;
}

}  // namespace

std::vector<std::string> reasoning_keys(const TemplateFacts& facts) {
  std::vector<std::string> keys(std::begin(kReasoningNames), std::end(kReasoningNames));
  if (facts.syntax == Syntax::go) return keys;
  std::erase_if(keys, [&](const std::string& key) { return !facts.mentions(key); });
  for (const std::vector<std::string>* names : {&facts.members, &facts.texts}) {
    for (const std::string& name : *names) {
      const bool is_name =
          !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || c == '_'; });
      const bool sounds = name.find("reason") != kNone || name.find("think") != kNone ||
                          name.find("thought") != kNone || name.ends_with("_plan");
      if (is_name && sounds && std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
    }
  }
  return keys;
}

std::string_view behind_opener(const TurnFacts& turn, std::string_view prompt) {
  for (const std::string_view opener : {trimmed_left(turn.opener), trimmed(turn.opener)}) {
    const std::size_t at = opener.empty() ? 0 : prompt.rfind(opener);
    if (at != kNone) return prompt.substr(at + opener.size());
  }
  // another header than the history's: where it ends is not known, but for a tag that speaks for itself
  const std::size_t last = last_chain_begin(prompt);
  return plain_closing(trimmed(prompt.substr(last))).empty() ? std::string_view() : prompt.substr(last);
}

bool ends_in_reasoning(std::string_view prompt, const ReplyMarker& open, const ReplyMarker& close) {
  if (!open.exists()) return false;
  const std::size_t opened = prompt.rfind(open.texts.front());
  if (opened == kNone) return false;
  return !close.exists() || prompt.find(close.texts.front(), opened + open.texts.front().size()) == kNone;
}

namespace {

/// Whether a prompt under a variable that is true holds it as a text.
bool prints_value(const Shot& usual, const Shot& set) {
  return usual && set && count_of(set.text, "True") > count_of(usual.text, "True");
}

}  // namespace

std::vector<ThinkingStart> find_starts(Prober& prober, const TurnFacts& turn,
                                       const std::vector<ThinkingSwitch>& switches) {
  std::vector<ThinkingStart> starts;
  const auto add = [&](const std::string& name, const std::string& value, const Scene& scene) {
    const Shot& shot = prober.take(scene);
    if (shot) starts.push_back({name, value, reply_prompt(turn, shot), false});
  };
  add("", "", {.assistant = false, .generation = true});
  for (const ThinkingSwitch& one : switches) {
    for (const std::string& value : one.settings()) {
      add(one.variable, value, {.assistant = false, .generation = true, .variables = {{one.variable, value}}});
    }
  }
  for (const std::string& variable : other_variables(prober.facts())) {
    const Scene scene{.assistant = false, .generation = true, .variables = {{variable, "true"}}};
    // a text of the prompt, no switch
    if (prints_value(prober.take({.assistant = false, .generation = true}), prober.take(scene))) continue;
    add(variable, "true", scene);
    if (!starts.empty() && starts.back().variable == variable && starts.back().prompt == starts.front().prompt)
      starts.pop_back();
  }
  return starts;
}

/// In the order of trust: what a turn shows, what it shows as a part, what it shows under a setting, and at last what
/// prompts open or turns are cut at, which shows markers but no reasoning between them.
FoundReasoning find_reasoning(Prober& prober, const TurnFacts& turn, const ReasoningFacts& known) {
  FoundReasoning found = from_history(prober, turn, known.calls_show);
  if (!found.close.exists()) {
    const FoundReasoning parts = from_parts(prober, turn, known.calls_show);
    if (parts.close.exists()) found = parts;
  }
  if (found.open.exists() && found.close.exists()) return found;
  if (!found.close.exists()) {
    const FoundReasoning set = from_settings(prober, turn, known.starts);
    if (set.close.exists()) return set;
  }
  const FoundReasoning prompts = from_prompts(turn, known);
  if (!found.close.exists()) {
    const FoundReasoning kept = found;
    found = prompts;
    found.key = kept.key;
  } else if (!found.open.exists() && prompts.open.exists()) {
    found.open = prompts.open;
    found.open_is_guessed = prompts.open_is_guessed;
  }
  return found;
}

}  // namespace parlance::probe
