// From the slots of two calls to the form of all. Begin reading at find_calls.
#include "probe/calls.h"

#include <algorithm>

#include "probe/slots.h"
#include "probe/stretch.h"

namespace parlance::probe {
namespace {

using Kind = CallPart::Kind;

CallPart literal(std::string_view text) {
  CallPart part;
  part.literal = marker_of(text);
  return part;
}

bool is_id_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' || c == '-';
}

std::size_t id_run_begin(std::string_view text, std::size_t end) {
  while (end > 0 && is_id_char(text[end - 1])) --end;
  return end;
}

/// The one place where two literals differ by a number that counts.
struct Counter {
  std::size_t begin = 0;
  std::size_t end = 0;
  int base = 0;
};

std::optional<Counter> counter_of(std::string_view first, std::string_view second) {
  if (first.size() != second.size() || first == second) return std::nullopt;
  std::size_t at = 0;
  while (first[at] == second[at]) ++at;
  const char a = first[at];
  if ((a != '0' && a != '1') || second[at] != a + 1 || first.substr(at + 1) != second.substr(at + 1)) return std::nullopt;
  return Counter{at, at + 1, a - '0'};
}

/// Makes the parts of a call from its slots, and the literals between them.
class PartsMaker {
 public:
  PartsMaker(std::string_view body, const std::vector<Slot>& slots, const std::vector<Slot>& others)
      : body_(body), slots_(slots), others_(others) {}
  std::vector<CallPart> make(std::string_view begin, std::string_view end) {
    pending_ = std::string(begin);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      add_slot(slots_[i].part);
      if (i + 1 == slots_.size()) break;
      between(between_of(slots_, i), others_.empty() ? between_of(slots_, i) : between_of(others_, i));
    }
    pending_ += end;
    flush();
    return std::move(parts_);
  }

 private:
  std::string_view between_of(const std::vector<Slot>& slots, std::size_t i) const {
    return body_.substr(slots[i].end, slots[i + 1].begin - slots[i].end);
  }
  void flush() {
    if (!is_blank(pending_)) parts_.push_back(literal(pending_));
    pending_.clear();
  }
  void add_slot(const CallPart& part) {
    if (part.kind == Kind::name) before_name_ = pending_;
    flush();
    parts_.push_back(part);
  }
  void between(std::string_view text, std::string_view other) {
    pending_ = std::string(text);
    if (const auto counter = counter_of(text, other)) fold(text, *counter);
  }
  /// A number that counts is the call's id, with what stands together with it.
  void fold(std::string_view text, const Counter& counter) {
    std::size_t end = counter.end;
    while (end < text.size() && is_id_char(text[end])) ++end;
    const std::size_t begin = id_run_begin(text, counter.begin);
    std::string pattern = std::string(text.substr(begin, counter.begin - begin)) + "{" + std::to_string(counter.base) + "}";
    pattern += text.substr(counter.end, end - counter.end);
    if (begin == 0 && !parts_.empty() && parts_.back().kind == Kind::name) {
      parts_.pop_back();
      if (!parts_.empty()) parts_.pop_back();  // the literal before the name, whose end belongs to the id
      const std::size_t run = id_run_begin(before_name_, before_name_.size());
      pattern = before_name_.substr(run) + "{name}" + pattern;
      pending_ = before_name_.substr(0, run);
    } else {
      pending_ = std::string(text.substr(0, begin));
    }
    flush();
    CallPart id;
    id.kind = Kind::id;
    id.pattern = pattern;
    parts_.push_back(id);
    pending_ = std::string(text.substr(end));
  }

  std::string_view body_;
  const std::vector<Slot>& slots_;
  const std::vector<Slot>& others_;
  std::vector<CallPart> parts_;
  std::string pending_;      ///< literal text that no part has yet
  std::string before_name_;  ///< the literal text before the last name
};

/// The key in `…LEAD "KEY":`, and where the lead begins.
std::string_view key_of_colon(std::string_view text, char lead, std::size_t& from) {
  if (!text.ends_with(':')) return {};
  text = trimmed_right(text.substr(0, text.size() - 1));
  if (!text.ends_with('"')) return {};
  const std::size_t quote = text.rfind('"', text.size() - 2);
  if (quote == std::string_view::npos) return {};
  const std::string_view before = trimmed_right(text.substr(0, quote));
  if (!before.ends_with(lead)) return {};
  from = before.size() - 1;
  return text.substr(quote + 1, text.size() - quote - 2);
}

/// A template that writes an object by hand, and perhaps not to its end, still means one: {"name": "N", "arguments": A
void make_object(std::vector<CallPart>& parts) {
  if (parts.size() < 4 || parts[0].kind != Kind::literal || parts[1].kind != Kind::name || parts[2].kind != Kind::literal ||
      parts[3].kind != Kind::arguments || parts[3].arguments.codec != CallArguments::Codec::json) {
    return;
  }
  const std::string before = parts[0].literal.texts.front();
  std::string_view between = parts[2].literal.texts.front();
  if (!before.ends_with('"') || !between.starts_with('"')) return;
  std::size_t begin = 0;
  std::size_t comma = 0;
  const std::string_view name_key = key_of_colon(trimmed_right(std::string_view(before).substr(0, before.size() - 1)), '{', begin);
  between.remove_prefix(1);
  const std::string_view arguments_key = key_of_colon(trimmed(between), ',', comma);
  if (name_key.empty() || arguments_key.empty()) return;
  CallPart object;
  object.kind = Kind::object;
  object.arguments = parts[3].arguments;
  object.members = {{CallMember::Role::name, std::string(name_key)}, {CallMember::Role::arguments, std::string(arguments_key)}};
  std::vector<CallPart> made;
  const std::string lead = parts[0].literal.before + before.substr(0, begin);
  if (!is_blank(lead)) made.push_back(literal(lead));
  made.push_back(object);
  for (std::size_t i = 4; i < parts.size(); ++i) {
    CallPart part = parts[i];
    if (i == 4 && part.kind == Kind::literal && part.literal.texts.front().starts_with('}')) {
      const std::string rest = part.literal.texts.front().substr(1) + part.literal.after;
      if (is_blank(rest)) continue;
      part = literal(rest);
    }
    made.push_back(part);
  }
  parts = std::move(made);
}

/// Stretches of a turn with calls, as positions in its body.
struct Layout {
  std::size_t head = 0;         ///< where what belongs to the calls begins
  std::size_t call_begin = 0;   ///< of the first call
  std::size_t call_end = 0;
  std::string separator;
  std::size_t last_end = 0;     ///< of the last call
};

bool same_shape(const std::vector<Slot>& a, const std::vector<Slot>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].part.kind != b[i].part.kind) return false;
  }
  return true;
}

/// Two calls side by side: what is the same round both is their own. `head` is where the turn's opener ends, which may be
/// the begin of the first call.
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
  form.separator = form.commas_optional ? std::string(separator) : std::string(separator.substr(separator.find(',') + 1));
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

/// Where the opener of the turn goes on in the call without a gap, as in `<|start|>assistant to=`, it is part of the marker.
void join_opener(const TurnFacts& turn, CallPart& opening, std::size_t call_begin) {
  if (opening.kind != Kind::literal || call_begin != turn.opener.size() || turn.opener.empty()) return;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_letter(turn.opener.back())) return;
  const std::size_t chain = last_chain_begin(turn.opener);
  opening.literal = marker_of(turn.opener.substr(chain) + opening.literal.before + opening.literal.texts.front() + opening.literal.after);
}

}  // namespace

Stretch body_of(const TurnFacts& turn, const Shot& shot) {
  const Stretch whole = turn_of(turn, shot);
  return whole.from(std::min(whole.size(), turn.opener.size()));
}

Stretch turn_of(const TurnFacts& turn, const Shot& shot) {
  const std::size_t user = shot.text.rfind(kUser);
  if (user == std::string::npos) return {};
  const std::size_t from = std::min(shot.text.size(), user + kUser.size() + turn.close);
  const std::size_t result = shot.text.find(kResult, from);
  return shot.whole().part(from, result == std::string::npos ? shot.text.size() : result);
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
  for (const Slot& slot : first) found.ids_shown = found.ids_shown || slot.part.kind == Kind::id;
  std::size_t head = std::min(turn.opener.size(), first.front().begin);
  if (text.text.substr(head).starts_with(turn.before_content)) head += turn.before_content.size();
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
    find_section(found, text.text.substr(opened, layout.call_begin - opened), text.text.substr(layout.last_end), turn.after_content,
                 layout.separator);
  }
  PartsMaker maker(text.text, first, same_shape(first, second) ? second : first);
  found.form.call = maker.make(text.text.substr(layout.call_begin, first.front().begin - layout.call_begin),
                               text.text.substr(first.back().end, layout.call_end - first.back().end));
  make_object(found.form.call);
  CallPart& opening = found.form.call.front();
  if (opening.kind == Kind::literal && layout.call_begin < std::min(head, turn.opener.size())) {
    const std::size_t own = head - layout.call_begin;  // white space of the turn's opener is not the call's
    if (own <= opening.literal.before.size()) opening.literal.before.erase(0, own);
  }
  join_opener(turn, opening, layout.call_begin);
  for (CallPart& part : found.form.call) {
    if (part.kind == Kind::object) found.form.id_pattern = std::exchange(part.pattern, {});
  }
  found.form.initial = found.form.call.front().kind != Kind::literal && !found.form.open.exists();
  return found;
}

}  // namespace parlance::probe
