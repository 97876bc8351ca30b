// Reasoning is looked for in three places: a turn of the history that carries it, what prompts open under the settings of
// thinking, and the texts that the template cuts turns at. Begin reading at find_reasoning.
#include "probe/reasoning.h"

#include <algorithm>

#include "probe/calls.h"
#include "probe/stretch.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kKeys[] = {"reasoning_content", "reasoning", "thinking"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string longest_word(std::string_view text) {
  std::string best;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end - i > best.size()) best = std::string(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  for (char& c : best) c = static_cast<char>(c | 0x20);
  return best;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

/// The last chain of tags in `text`, with the white space round it; "" if there is none.
std::string_view last_tag_with_space(std::string_view text) {
  std::size_t begin = last_chain_begin(text);
  if (begin == text.size()) return {};
  while (begin > 0 && is_space(text[begin - 1])) --begin;
  return text.substr(begin);
}

bool is_tag(std::string_view text) {
  const std::vector<Tag> tags = tags_of(text);
  return tags.size() == 1 && tags[0].begin == 0 && tags[0].end == text.size();
}

/// Of the texts that the template mentions, a tag that closes `open`: another one about the same word.
std::string closing_text(const TemplateFacts& facts, std::string_view open) {
  const std::string word = longest_word(open);
  if (word.size() < 3) return {};
  for (const std::string& text : facts.texts) {
    for (const Tag& tag : tags_of(text)) {
      const std::string found = text.substr(tag.begin, tag.end - tag.begin);
      if (found != trimmed(open) && lower(found).find(word) != kNone && found.find('/') != kNone) return found;
    }
  }
  return {};
}

/// A pair of tags that the template cuts turns at: </word>, and <word> if it is mentioned.
bool cut_pair(const TemplateFacts& facts, std::string& open, std::string& close) {
  for (const std::string& text : facts.texts) {
    const std::string_view inner = trimmed(text);
    if (!is_tag(inner) || lower(inner).find("think") == kNone || inner.find('/') == kNone) continue;
    close = std::string(inner);
    open = close;
    open.erase(open.find('/'), 1);
    return true;
  }
  return false;
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
bool read_turn(FoundReasoning& found, const TurnFacts& turn, const Shot& shot, std::string_view next_word, std::string experiment) {
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
    if (own < turn.opener.size() && own + opener.size() > turn.opener.size() && is_blank(text.substr(own, turn.opener.size() - own))) {
      opener.remove_prefix(turn.opener.size() - own);  // white space of the turn's opener
    }
    set_markers(found, opener, close, std::move(experiment));
    if (next != kNone) found.before_content = std::string(trimmed(after.substr(close.size())));
  }
  return true;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

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
      found.with_calls = read_turn(found, turn, prober.take(scene), "", "reasoning beside a call with its result") || found.with_last_calls;
    }
    if (found.with_text || found.with_calls || found.in_history) {
      found.key = key;
      return found;
    }
  }
  return found;
}

/// The same where only a setting of thinking shows it: its markers are known, but what turns show by themselves is not.
FoundReasoning from_settings(Prober& prober, const TurnFacts& turn) {
  const TemplateFacts& facts = prober.facts();
  for (const char* const variable : {"enable_thinking", "thinking", "think"}) {
    const bool go = facts.syntax == Syntax::go;
    if (go ? std::string_view(variable) != "think" : !facts.reads(variable)) continue;
    const FoundReasoning shown = from_history(prober, turn, false, {{variable, "true"}});
    if (!shown.open.exists() || !shown.close.exists()) continue;
    FoundReasoning found;
    found.open = shown.open;
    found.close = shown.close;
    found.shown = shown.shown;
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

/// What a prompt opens, and what one closes that had been opened.
FoundReasoning from_prompts(const TemplateFacts& facts, const TurnFacts& turn, const std::vector<ThinkingStart>& starts) {
  FoundReasoning found;
  for (const ThinkingStart& start : starts) {
    if (start.prompt.size() <= turn.opener.size() || !start.prompt.starts_with(turn.opener)) continue;
    const std::string_view extra = std::string_view(start.prompt).substr(turn.opener.size());
    const std::vector<Tag> tags = tags_of(extra);
    if (tags.size() == 2) {
      const std::size_t middle = tags[1].begin;
      std::size_t close = middle;
      while (close > tags[0].end && is_space(extra[close - 1])) --close;
      set_markers(found, extra.substr(0, close), extra.substr(close), "a prompt that opens and closes it");
      return found;
    }
    const std::string close = tags.size() == 1 ? closing_text(facts, extra.substr(tags[0].begin, tags[0].end - tags[0].begin)) : "";
    if (!close.empty()) {
      set_markers(found, extra, "\n" + close + "\n\n", "what a prompt opens, and the text that turns are cut at");
      return found;
    }
  }
  std::string open, close;
  if (cut_pair(facts, open, close)) set_markers(found, open + "\n", "\n" + close + "\n\n", "the text that turns are cut at");
  return found;
}

}  // namespace

std::vector<std::string> reasoning_keys(const TemplateFacts& facts) {
  std::vector<std::string> keys(std::begin(kKeys), std::end(kKeys));
  if (facts.syntax == Syntax::go) return keys;
  std::erase_if(keys, [&](const std::string& key) { return !facts.mentions(key); });
  for (const std::vector<std::string>* names : {&facts.members, &facts.texts}) {
    for (const std::string& name : *names) {
      const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || c == '_'; });
      const bool sounds = name.find("reason") != kNone || name.find("think") != kNone || name.find("thought") != kNone || name.ends_with("_plan");
      if (is_name && sounds && std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
    }
  }
  return keys;
}

bool ends_in_reasoning(std::string_view prompt, const ReplyMarker& open, const ReplyMarker& close) {
  if (!open.exists()) return false;
  const std::size_t opened = prompt.rfind(open.texts.front());
  if (opened == kNone) return false;
  return !close.exists() || prompt.find(close.texts.front(), opened + open.texts.front().size()) == kNone;
}

std::vector<ThinkingStart> find_starts(Prober& prober, const TurnFacts& turn, const std::vector<ThinkingSwitch>& switches) {
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
  return starts;
}

FoundReasoning find_reasoning(Prober& prober, const TurnFacts& turn, const std::vector<ThinkingStart>& starts, bool calls_show) {
  FoundReasoning found = from_history(prober, turn, calls_show);
  if (!found.close.exists()) {
    const FoundReasoning parts = from_parts(prober, turn, calls_show);
    if (parts.close.exists()) found = parts;
  }
  if (found.open.exists() && found.close.exists()) return found;
  if (!found.close.exists()) {
    const FoundReasoning set = from_settings(prober, turn);
    if (set.close.exists()) return set;
  }
  const FoundReasoning prompts = from_prompts(prober.facts(), turn, starts);
  if (!found.close.exists()) {
    const FoundReasoning kept = found;
    found = prompts;
    found.key = kept.key;
  } else if (!found.open.exists() && prompts.open.exists()) {
    found.open = prompts.open;
  }
  return found;
}

}  // namespace parlance::probe
