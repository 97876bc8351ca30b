// From the slots of two calls to the form of all. Begin reading at find_calls.
#include "probe/calls.h"

#include <algorithm>

#include "probe/call_parts.h"
#include "probe/call_slots.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

using PartKind = CallPart::Kind;

/// Stretches of a turn with calls, as positions in its body.
struct Layout {
  std::size_t head = 0;        ///< where what belongs to the calls begins
  std::size_t call_begin = 0;  ///< of the first call
  std::size_t call_end = 0;
  std::string separator;
  std::size_t last_end = 0;  ///< of the last call
};

bool same_shape(const std::vector<Slot>& a, const std::vector<Slot>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].part.kind != b[i].part.kind) return false;
  }
  return true;
}

/// Two calls side by side: what is the same round both is their own. `head` is where the turn's opener ends, which may
/// be the begin of the first call.
Layout lay_beside(Stretch turn, std::size_t head, const std::vector<Slot>& first, const std::vector<Slot>& second) {
  const std::size_t begin = first.back().end;
  const std::size_t end = second.front().begin;
  const std::size_t last = second.back().end;
  const std::size_t open = shared_end(turn, begin, end, turn.first(first.front().begin));
  const std::size_t close = std::min(shared_begin(turn, begin, end, turn.from(last)), end - begin - open);
  Layout layout;
  layout.head = head;
  layout.call_begin = first.front().begin - open;
  layout.call_end = begin + close;
  layout.separator = std::string(turn.text.substr(begin + close, end - begin - open - close));
  layout.last_end = last + close;
  return layout;
}

/// The brackets of a list are its own; what stands round them is the marker.
void make_list(CallForm& form, std::string_view open, std::string_view close, std::string_view separator) {
  form.layout = CallLayout::list;
  open = trimmed_right(open);
  open.remove_suffix(1);
  close = trimmed_left(close);
  close.remove_prefix(1);
  form.open = marker_of(open);
  form.close = marker_of(close);
  form.commas_optional = separator.find(',') == std::string_view::npos;
  form.separator =
      form.commas_optional ? std::string(separator) : std::string(separator.substr(separator.find(',') + 1));
}

/// What stands behind the last call: what closes the calls, and the end of the turn.
struct Rest {
  std::string_view close;
  std::string_view ending;
};

constexpr std::size_t kLongestClose = 96;

/// At the first tag that also ends an answer; else behind the first tag, if calls have opened something.
Rest split_rest(std::string_view rest, std::string_view turn_end, bool has_open) {
  for (const Tag& tag : tags_of(turn_end)) {
    std::size_t at = rest.find(turn_end.substr(tag.begin, tag.end - tag.begin));
    if (at == std::string_view::npos || at > kLongestClose) continue;
    while (at > 0 && is_space(rest[at - 1])) --at;
    return {rest.substr(0, at), rest.substr(at)};
  }
  if (tags_of(turn_end).empty() && !is_blank(turn_end) && rest.ends_with(turn_end)) {
    return {rest.substr(0, rest.size() - turn_end.size()), rest.substr(rest.size() - turn_end.size())};
  }
  if (!has_open) return {{}, rest};
  const std::size_t bracket = trimmed_left(rest).starts_with(']') ? rest.find(']') + 1 : 0;
  const std::string_view tag = first_tag(rest.substr(bracket));
  if (tag.empty()) return {rest.substr(0, bracket), rest.substr(bracket)};
  const std::size_t end = static_cast<std::size_t>(tag.data() - rest.data()) + tag.size();
  return {rest.substr(0, end), rest.substr(end)};
}

void find_section(FoundCalls& found, std::string_view open, std::string_view rest, std::string_view turn_end,
                  std::string_view separator) {
  const std::string_view opener = trimmed_right(open);
  const Rest parts = split_rest(rest, turn_end, !opener.empty());
  found.ending = std::string(parts.ending);
  const bool comma = trimmed(separator) == "," || is_blank(separator);
  if (opener.ends_with('[') && comma && trimmed_left(parts.close).starts_with(']')) {
    return make_list(found.form, open, parts.close, separator);
  }
  found.form.separator = std::string(separator);
  if (is_blank(open) && is_blank(parts.close)) return;
  if (is_blank(open)) {
    found.ending = std::string(rest);
    return;
  }
  found.form.layout = CallLayout::section;
  found.form.open = marker_of(open);
  found.form.close = marker_of(parts.close);
}

/// Where the opener of the turn goes on in the call without a gap, as in `<|start|>assistant to=`, it is part of the
/// marker.
void join_opener(const TurnFacts& turn, CallPart& opening, std::size_t call_begin) {
  if (opening.kind != PartKind::literal || call_begin != turn.opener.size() || turn.opener.empty()) return;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_letter(turn.opener.back())) return;
  const std::size_t chain = last_chain_begin(turn.opener);
  opening.literal = marker_of(turn.opener.substr(chain) + opening.literal.before + opening.literal.texts.front() +
                              opening.literal.after);
}

/// White space behind each call that no literal of its has: before what separates calls, or closes them.
void keep_blanks_behind(FoundCalls& found, std::string_view end) {
  if (end.empty() || !is_blank(end) || found.form.call.back().kind == PartKind::literal) return;
  found.form.separator.insert(0, end);
  if (found.form.close.exists()) found.form.close.before.insert(0, end);
}

}  // namespace

Stretch body_of(const TurnFacts& turn, const Shot& shot) {
  const Stretch whole = turn_of(turn, shot);
  const std::size_t header = header_size(turn, whole.text);
  return whole.from(std::min(whole.size(), header == 0 ? turn.opener.size() : header));
}

Stretch turn_of(const TurnFacts& turn, const Shot& shot) {
  const std::size_t user = shot.text.rfind(kUser);
  if (user == std::string::npos) return {};
  const std::size_t from = std::min(shot.text.size(), user + kUser.size() + turn.close);
  const std::size_t result = shot.text.find(kResult, from);
  return shot.whole().part(from, result == std::string::npos ? shot.text.size() : result);
}

bool sorts_arguments(Prober& prober, const TurnFacts& turn, Next next) {
  const std::string last_first =
      "{\"" + std::string(kKeyB) + "\": \"zqlast\", \"" + std::string(kKeyA) + "\": \"zqfirst\"}";
  const Shot& shot =
      prober.take({.content = {}, .calls = {{std::string(kTools[0]), std::string(kIds[0]), last_first}}, .next = next});
  if (!shot) return false;
  const std::string_view text = turn_of(turn, shot).text;
  const std::size_t last = text.find("zqlast"), first = text.find("zqfirst");
  return last != text.npos && first < last;
}

std::optional<FoundCalls> find_calls(const TurnFacts& turn, const Shot& one, const Shot& two) {
  FoundCalls found;
  Stretch text = two ? turn_of(turn, two) : Stretch{};
  std::vector<Slot> first = find_slots(text, 0);
  std::vector<Slot> second = find_slots(text, 1);
  if (first.empty() || second.empty()) {
    if (!one) return std::nullopt;
    text = turn_of(turn, one);
    first = find_slots(text, 0);
    second.clear();
    if (first.empty()) return std::nullopt;
  }
  for (const Slot& slot : first) {
    found.ids_shown = found.ids_shown || slot.part.kind == PartKind::id;
    found.bare = found.bare || slot.bare;
  }
  const std::size_t header = header_size(turn, text.text);
  std::size_t head = std::min(header == 0 ? turn.opener.size() : header, first.front().begin);
  // what stands between the header and an answer; white space there is the call's own
  if (!is_blank(turn.before_content) && text.text.substr(head).starts_with(turn.before_content))
    head += turn.before_content.size();
  head = std::min(head, first.front().begin);
  Layout layout;
  if (second.empty()) {
    found.calls = 1;
    const Rest rest = split_rest(text.text.substr(first.back().end), turn.after_content, true);
    layout = {head, head, first.back().end + rest.close.size(), "", first.back().end + rest.close.size()};
    found.ending = std::string(rest.ending);
  } else {
    found.calls = 2;
    if (!same_shape(first, second)) found.problem = "two calls are not written alike";
    layout = lay_beside(text, head, first, second);
    const std::size_t opened = std::min(head, layout.call_begin);
    find_section(found, text.text.substr(opened, layout.call_begin - opened), text.text.substr(layout.last_end),
                 turn.after_content, layout.separator);
  }
  const CallEnds ends{text.text.substr(layout.call_begin, first.front().begin - layout.call_begin),
                      text.text.substr(first.back().end, layout.call_end - first.back().end)};
  found.form.call = make_parts(text.text, first, same_shape(first, second) ? second : first, ends);
  CallPart& opening = found.form.call.front();
  if (opening.kind == PartKind::literal && layout.call_begin < std::min(head, turn.opener.size())) {
    const std::size_t own = head - layout.call_begin;  // white space of the turn's opener is not the call's
    if (own <= opening.literal.before.size()) {        // before a further call it is what separates them
      if (found.calls == 2) found.form.separator += opening.literal.before.substr(0, own);
      opening.literal.before.erase(0, own);
    }
  }
  // Two calls show whether each begins with the header: then it is a part of the call already.
  if (found.calls == 1) join_opener(turn, opening, layout.call_begin);
  keep_blanks_behind(found, ends.end);
  for (CallPart& part : found.form.call) {
    if (part.kind == PartKind::object) found.form.id_pattern = std::exchange(part.pattern, {});
  }
  found.form.initial = found.form.call.front().kind != PartKind::literal && !found.form.open.exists();
  return found;
}

}  // namespace parlance::probe
