// How an assistant's turn begins and ends. Begin reading at find_turn.
#include "probe/turn.h"

#include <algorithm>

#include "base/nearest.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

/// How many bytes behind the user's text still belong to the user's turn.
std::size_t user_close(const Shot& answer, const Shot& asked, const Shot& alone, const Shot& users) {
  const std::size_t user = answer.text.rfind(kUser);
  const Stretch tail = answer.whole().from(user + kUser.size());
  const bool switched = alone && asked && alone.text != asked.text;  // the generation prompt can be left out
  if (switched && tail.text.starts_with(alone.tail().text)) return alone.tail().size();
  if (!users) return 0;
  const std::size_t first = users.text.find(kUser);  // two users in a row: what ends the first turn begins the gap
  if (first == std::string::npos) return 0;
  const Stretch next = users.whole().from(first + kUser.size());
  return before_cut_tag(tail.text, common_prefix(tail, next, Same::text));
}

void add_end(std::vector<std::string>& ends, std::string_view text) {
  if (!text.empty() && std::find(ends.begin(), ends.end(), text) == ends.end()) ends.emplace_back(text);
}

/// What stands behind the answer where a user's turn follows, up to the user's text.
std::string behind_answer(const Shot& shot, std::string_view next) {
  const std::size_t said = shot.text.rfind(kContent);
  if (said == std::string::npos) return {};
  const std::size_t from = said + kContent.size();
  const std::size_t to = shot.text.find(next, from);
  return shot.text.substr(from, to == std::string::npos ? std::string::npos : to - from);
}

void find_end(TurnFacts& turn, const Shot& last, const Shot& middle) {
  std::string at_last = last ? behind_answer(last, kNextUser) : std::string();
  const std::string in_middle = middle ? behind_answer(middle, kNextUser) : at_last;
  if (is_blank(at_last)) {  // nothing closes the turn: the next one's opener does
    turn.after_content.clear();
    add_end(turn.ends, first_tag(in_middle));
    return;
  }
  std::size_t size = 0;
  while (size < at_last.size() && size < in_middle.size() && at_last[size] == in_middle[size]) ++size;
  size = before_cut_tag(in_middle, size);
  if (is_blank(std::string_view(at_last).substr(0, size))) size = at_last.size();
  turn.after_content = at_last.substr(0, size);
}

}  // namespace

/// As text or as parts, with tools declared or without. Where no words show as they are, the first that renders.
bool choose_content(Prober& prober) {
  std::optional<Convention> renders;
  for (const bool parts : {false, true}) {
    for (const bool tools : {true, false}) {
      prober.convention.parts = parts;
      prober.convention.tools = tools;
      const Shot& middle = prober.take({.next = Next::user});
      if (middle && middle.text.find(kContent) != std::string::npos &&
          middle.text.find(kUser) < middle.text.find(kContent))
        return true;
      const Shot& last = prober.take({});
      if (last && last.tail().text.find(kContent) != std::string_view::npos) return true;
      if (!renders && (middle || last)) renders = prober.convention;
    }
  }
  if (renders) prober.convention = *renders;
  return false;
}

namespace {

std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() &&
         ((text[size] >= 'a' && text[size] <= 'z') || (text[size] >= 'A' && text[size] <= 'Z') || text[size] == '_'))
    ++size;
  return size;
}

/// Whether two headers go on with different names of one role, and behind these alike: `assistant\n` in the history,
/// `model\n` in the prompt.
bool names_role_otherwise(std::string_view history, std::string_view prompt) {
  history = trimmed_left(history);
  prompt = trimmed_left(prompt);
  std::size_t same = 0;  // what both begin with, up to the word in which they part
  for (std::size_t i = 0; i < std::min(history.size(), prompt.size()) && history[i] == prompt[i]; ++i) {
    if (word_size(history.substr(i, 1)) == 0) same = i + 1;
  }
  history.remove_prefix(same);
  prompt.remove_prefix(same);
  const std::size_t here = word_size(history), there = word_size(prompt);
  if (here == 0 || there == 0 || history.substr(0, here) == prompt.substr(0, there) || here == history.size())
    return false;
  return prompt.substr(there).starts_with(history.substr(here));
}

/// What a prompt ends with is the turn's header, also where more stands before it than before an answer of the history.
void widen_header(TurnFacts& turn, std::string_view asked) {
  const std::string header = turn.opener + turn.before_content;
  if (is_blank(turn.before_content)) return;
  // a header of the history that has nothing in common with the prompt's is one too
  const std::string_view tail = asked.substr(asked.rfind(kUser) + kUser.size());
  const bool other = (is_blank(turn.opener) && !std::string_view(turn.before_content).starts_with(trimmed(tail))) ||
                     names_role_otherwise(turn.before_content, tail.substr(std::min(turn.header, tail.size())));
  if (!other && !trimmed_right(asked).ends_with(trimmed_right(header))) return;
  turn.header += turn.before_content.size();
  turn.opener = header;
  turn.before_content.clear();
}

/// What ends a turn does not begin the next: the opener begins behind it.
void cut_opener(TurnFacts& turn) {
  std::vector<std::string> ends = turn.ends;
  add_end(ends, first_tag(turn.after_content));
  for (const std::string& end : ends) {
    const std::size_t at = turn.opener.rfind(end);
    if (at == std::string::npos) continue;
    std::size_t cut = at + end.size();
    while (cut < turn.opener.size() && is_space(turn.opener[cut])) ++cut;
    turn.close += cut;
    turn.opener.erase(0, cut);
  }
}

}  // namespace

TurnFacts find_turn(Prober& prober) {
  TurnFacts turn;
  if (!choose_content(prober)) return turn;
  const Shot& last = prober.take({});
  const Shot& middle = prober.take({.next = Next::user});
  const Shot& answer = last && last.tail().text.find(kContent) != std::string_view::npos ? last : middle;
  const std::size_t user = answer.text.rfind(kUser);
  if (user == std::string::npos) return turn;
  const Stretch tail = answer.whole().from(user + kUser.size());
  const std::size_t said = tail.text.find(kContent);
  if (said == std::string_view::npos) return turn;
  turn.found = true;

  const Shot& asked = prober.take({.assistant = false, .generation = true});
  const Shot& alone = prober.take({.assistant = false});
  const Shot& users = prober.take({.assistant = false, .next = Next::user});
  turn.header = said;
  if (asked) turn.header = std::min(said, common_prefix(tail, asked.tail(), Same::text));
  if (turn.header < said) turn.header = before_cut_tag(tail.text, turn.header);
  turn.close = std::min(user_close(answer, asked, alone, users), turn.header);
  turn.opener = std::string(tail.text.substr(turn.close, turn.header - turn.close));
  turn.before_content = std::string(tail.text.substr(turn.header, said - turn.header));
  find_end(turn, last, middle);
  cut_opener(turn);
  if (asked) widen_header(turn, asked.text);
  cut_opener(turn);
  turn.prompt = asked ? reply_prompt(turn, asked) : turn.opener;
  return turn;
}

namespace {

/// NAME:LINE:COLUMN: CLASS: MESSAGE
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A name that the template reads, where it should read one that each conversation has; "" if none is near.
std::string misspelt_name(const TemplateFacts& facts) {
  for (const std::string_view wanted : {"messages", "content", "role"}) {
    if (facts.reads(wanted) || facts.mentions(wanted)) continue;
    NearestName nearest(wanted);
    for (const std::vector<std::string>* names : {&facts.variables, &facts.members, &facts.texts}) {
      for (const std::string& name : *names) nearest.offer(name);
    }
    if (!nearest.best().empty())
      return "; the template reads '" + nearest.best() + "': did you mean '" + std::string(wanted) + "'?";
  }
  return {};
}

}  // namespace

std::string why_no_answer(Prober& prober) {
  const Convention tried = std::exchange(prober.convention, {});
  const Shot& shot = prober.take({});
  prober.convention = tried;
  if (!shot) return shot.error ? first_line(shot.error->display()) : shot.problem;
  const std::string lacks = is_blank(shot.text)                          ? "the prompt is empty"
                            : shot.text.find(kUser) == std::string::npos ? "the prompt does not hold the user's text"
                                                                         : "the prompt does not hold the answer";
  return lacks + misspelt_name(prober.facts());
}

std::size_t header_size(const TurnFacts& turn, std::string_view text) {
  const std::string_view opener = trimmed_left(turn.opener);
  const std::string_view behind = trimmed_left(text);
  return !opener.empty() && behind.starts_with(opener) ? text.size() - behind.size() + opener.size() : 0;
}

void shorten_header(TurnFacts& turn, const Shot& calls) {
  const std::size_t user = calls.text.rfind(kUser);
  if (!turn.found || !calls || user == std::string::npos) return;
  const std::string_view text =
      std::string_view(calls.text).substr(std::min(calls.text.size(), user + kUser.size() + turn.close));
  if (header_size(turn, text) != 0) return;
  std::size_t same = 0;
  while (same < std::min(text.size(), turn.opener.size()) && text[same] == turn.opener[same]) ++same;
  if (same < turn.opener.size()) same = before_cut_tag(turn.opener, same);
  const std::string cut = turn.opener.substr(same);
  turn.before_content = cut + turn.before_content;
  turn.opener.resize(same);
  turn.header = turn.close + same;
}

std::string behind_last_end(const TurnFacts& turn, std::string_view text) {
  const std::string_view end = first_tag(turn.after_content);
  const std::size_t ended = end.empty() ? std::string_view::npos : text.rfind(end);
  return std::string(ended == std::string_view::npos ? text : trimmed_left(text.substr(ended + end.size())));
}

std::string reply_prompt(const TurnFacts& turn, const Shot& shot) {
  const std::string_view tail = shot.tail().text;
  return behind_last_end(turn, tail.substr(std::min(turn.close, tail.size())));
}

}  // namespace parlance::probe
