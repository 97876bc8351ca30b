// Holding what was seen against the format. Begin reading at hold.
#include "probe/held.h"

#include <algorithm>

#include "probe/calls.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

void add_once(std::vector<std::string>& list, std::string sentence) {
  if (std::find(list.begin(), list.end(), sentence) == list.end()) list.push_back(std::move(sentence));
}

// ---- what prompts end with

/// All markers that a reply, or the prompt before it, may hold.
std::vector<const ReplyMarker*> markers_of(const ReplyFormat& format) {
  std::vector<const ReplyMarker*> all = {&format.reasoning_open, &format.reasoning_close, &format.content_open,
                                         &format.content_close};
  for (const CallForm& form : format.calls) {
    all.push_back(&form.open);
    if (!form.call.empty()) all.push_back(&form.call.front().literal);
  }
  std::erase_if(all, [](const ReplyMarker* marker) { return !marker->exists(); });
  return all;
}

/// `text` behind a marker that it begins with; all of it where it begins with none.
/// The longest, since a marker may begin with another one.
std::string_view behind_marker(std::string_view text, const std::vector<const ReplyMarker*>& markers) {
  std::size_t longest = 0;
  for (const ReplyMarker* marker : markers) {
    for (const std::string& known : marker->texts) {
      if (text.starts_with(known)) longest = std::max(longest, known.size());
      if (std::string_view(known).starts_with(text)) return {};  // the reply goes on inside of it
    }
  }
  return text.substr(longest);
}

/// What the format does not know of what a prompt ends with behind the turn's opener; "" if it knows all.
std::string_view unknown_end(const ReplyFormat& format, std::string_view end) {
  const std::vector<const ReplyMarker*> markers = markers_of(format);
  for (;;) {
    end = trimmed(end);
    const std::string_view rest = behind_marker(end, markers);
    if (rest.empty() || rest.size() == end.size()) return rest;
    end = rest;
  }
}

/// A marker as a reply writes it that goes on from a prompt: what stands there already is left out.
/// The longest beginning of the marker that the prompt ends with counts as written already.
std::string written(std::string_view prompt, const ReplyMarker& marker) {
  if (!marker.exists()) return {};
  const std::string_view text = marker.texts.front();
  std::size_t there = std::min(prompt.size(), text.size());
  while (there > 0 && !prompt.ends_with(text.substr(0, there))) --there;
  return std::string(text.substr(there)) + marker.after;
}

std::string closing(const ReplyMarker& marker) {
  return marker.exists() ? marker.before + marker.texts.front() + marker.after : std::string();
}

/// A reply of the format's own markers to a prompt that ends so.
std::string reply_to(const ReplyFormat& format, const ThinkingStart& start, const std::string& reasoning,
                     const std::string& content) {
  if (reasoning.empty()) return written(start.prompt, format.content_open) + content;
  std::string reply = start.in_reasoning ? std::string() : written(start.prompt, format.reasoning_open);
  reply.append(reasoning).append(closing(format.reasoning_close));
  if (format.content_open.exists()) reply.append(format.content_open.texts.front()).append(format.content_open.after);
  return reply.append(content);
}

void expect_alike(std::vector<std::string>& faults, std::string_view what, std::string_view found,
                  std::string_view wanted) {
  if (trimmed(found) != trimmed(wanted))
    faults.push_back(std::string(what) + " is '" + shortened(found) + "', not '" + shortened(wanted) + "'");
}

/// A prompt may end with a marker that no turn of the history shows. Words are harmless, since the answer goes on
/// behind them; anything else may open something that the format does not know, and then the format is not verified.
void hold_start(const TurnFacts& turn, const ThinkingStart& start, DerivedFormat& derived) {
  const ReplyFormat& format = derived.format;
  const std::string where = name_of_start(start);
  derived.tried.push_back({"prompt ends", where});
  if (const std::string_view unknown = unknown_end(format, behind_opener(turn, start.prompt)); !unknown.empty()) {
    const std::string what = "prompts end with '" + shortened(unknown) + "' (" + where + "), which no turn shows: ";
    if (!are_words(unknown)) return add_once(derived.missing, what + "what that begins is not known");
    add_once(derived.notes, what + "the answer goes on from there");
  }
  const ReadBack reader(format, start.prompt);
  for (const std::string_view reasoning : {std::string_view(), kReasoning}) {
    for (const std::string& fault :
         faults_of_reply(reader, format, start, std::string(reasoning), std::string(kContent))) {
      add_once(derived.missing, "a reply to a prompt (" + where + "): " + fault);
    }
  }
}

/// A tag that prompts open under one setting and close under another is none of the turn's header, even if a history
/// that shows answers as they are has it there. Where the format knows no reasoning, what is in it was not seen.
void hold_opened(DerivedFormat& derived) {
  if (derived.format.reasoning_close.exists()) return;
  for (const ThinkingStart& opened : derived.starts) {
    const std::string_view prompt = trimmed(opened.prompt);
    const std::size_t at = prompt.rfind('<');
    if (at == prompt.npos || prompt.back() != '>' || prompt.substr(at).starts_with("</")) continue;
    const std::string closing = "</" + std::string(prompt.substr(at + 1));
    for (const ThinkingStart& closed : derived.starts) {
      if (!trimmed(closed.prompt).ends_with(closing)) continue;
      return add_once(derived.missing, "prompts end with '" + std::string(prompt.substr(at)) + "' (" +
                                           name_of_start(opened) + ") and with '" + closing + "' (" +
                                           name_of_start(closed) + "): no turn shows what stands between the two");
    }
  }
}

// ---- what turns are cut at

void hold_cut(const Cut& cut, DerivedFormat& derived) {
  derived.tried.push_back({"cuts", cut.close});
  for (const ReplyMarker* marker : markers_of(derived.format)) {
    const auto knows = [&](const std::string& text) { return text.find(cut.close) != std::string::npos; };
    if (std::any_of(marker->texts.begin(), marker->texts.end(), knows)) return;
  }
  add_once(derived.missing,
           "turns of the history are cut at '" + cut.close + "', and nothing shows what stands before that");
}

// ---- turns under settings

using Setting = std::pair<std::string, std::string>;

std::vector<Setting> settings_of(const std::vector<ThinkingStart>& starts, const FoundReasoning& reasoning) {
  std::vector<Setting> settings = reasoning.setting;
  for (const ThinkingStart& start : starts) {
    const Setting one{start.variable, start.value};
    if (!start.variable.empty() && std::find(settings.begin(), settings.end(), one) == settings.end())
      settings.push_back(one);
  }
  return settings;
}

// The most unusual thing of the scene is what it was tried for.
std::string_view kind_of(const Scene& scene) {
  if (!scene.variables.empty()) return "settings";
  if (!scene.calls.empty()) return "calls";
  return scene.reasoning.empty() ? "answers" : "reasoning";
}

}  // namespace

std::string_view body_under(const TurnFacts& turn, const Shot& shot) {
  if (!shot) return {};
  const std::string_view text = turn_of(turn, shot).text;
  return text.starts_with(turn.opener) ? text.substr(turn.opener.size()) : std::string_view();
}

std::vector<std::string> faults_of_reply(const ReadBack& reader, const ReplyFormat& format, const ThinkingStart& start,
                                         const std::string& reasoning, const std::string& content) {
  std::vector<std::string> faults;
  const bool two_ways = format.reasoning_open.exists() && format.reasoning_close.exists();
  if (reasoning.empty() ? start.in_reasoning : !two_ways) return faults;
  const ReplyMessage message = reader.message(reply_to(format, start, reasoning, content));
  expect_alike(faults, "content", message.content, content);
  expect_alike(faults, "reasoning", message.reasoning, reasoning);
  return faults;
}

std::string name_of_start(const ThinkingStart& start) {
  return start.variable.empty() ? "by default" : start.variable + " = " + start.value;
}

std::vector<WrittenTurn> write_all(Prober& prober, const Seen& seen, const DerivedFormat& derived) {
  std::vector<WrittenTurn> turns = write_turns(prober, seen.turn, derived, seen.next);
  const std::string& key = seen.reasoning.key.empty() ? seen.reasoning.setting_key : seen.reasoning.key;
  for (const auto& setting : settings_of(derived.starts, seen.reasoning)) {
    for (const bool calls : {false, true}) {
      if (calls && derived.format.calls.empty()) continue;
      Scene scene{
          .reasoning = std::string(key.empty() ? "" : kReasoning), .reasoning_key = key, .variables = {setting}};
      if (calls) {
        scene.content.reset();
        scene.calls = plain_calls(1);
        scene.next = seen.next;
      }
      const std::string_view body = body_under(seen.turn, prober.take(scene));
      if (!body.empty())
        turns.push_back({setting.first + " = " + setting.second + (calls ? ": a call" : ": an answer"),
                         scene,
                         {},
                         std::string(body)});
    }
  }
  return turns;
}

void read_all(const std::vector<WrittenTurn>& turns, const TurnFacts& turn, DerivedFormat& derived) {
  read_turns(turns, turn, derived);
  for (const WrittenTurn& one : turns) derived.tried.push_back({std::string(kind_of(one.scene)), one.name});
}

void hold(const TurnFacts& turn, const std::vector<Cut>& cuts, DerivedFormat& derived) {
  if (!derived.format.validate()) return;
  for (const ThinkingStart& start : derived.starts) {
    const auto alike = [&](const ThinkingStart& one) { return one.prompt == start.prompt; };
    if (&*std::find_if(derived.starts.begin(), derived.starts.end(), alike) == &start) {
      hold_start(turn, start, derived);
    } else {
      derived.tried.push_back({"prompt ends", name_of_start(start)});
    }
  }
  hold_opened(derived);
  for (const Cut& cut : cuts) hold_cut(cut, derived);
}

}  // namespace parlance::probe
