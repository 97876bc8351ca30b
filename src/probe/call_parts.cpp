// The parts of one call, from its slots and the texts between them. Begin reading at make_parts.
#include "probe/call_parts.h"

#include "base/ascii.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

using PartKind = CallPart::Kind;

bool is_id_char(char c) { return ascii::is_word(c) || c == '.' || c == ':' || c == '-'; }

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
  if ((a != '0' && a != '1') || second[at] != a + 1 || first.substr(at + 1) != second.substr(at + 1))
    return std::nullopt;
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
    if (!is_blank(pending_)) parts_.push_back(literal_part(pending_));
    pending_.clear();
  }
  void add_slot(const CallPart& part) {
    if (part.kind == PartKind::name) before_name_ = pending_;
    const std::string blank = is_blank(pending_) ? pending_ : std::string();
    flush();
    parts_.push_back(part);
    parts_.back().before = blank;
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
    std::string pattern =
        std::string(text.substr(begin, counter.begin - begin)) + "{" + std::to_string(counter.base) + "}";
    pattern += text.substr(counter.end, end - counter.end);
    if (begin == 0 && !parts_.empty() && parts_.back().kind == PartKind::name) {
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
    id.kind = PartKind::id;
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
  if (parts.size() < 4 || parts[0].kind != PartKind::literal || parts[1].kind != PartKind::name ||
      parts[2].kind != PartKind::literal || parts[3].kind != PartKind::arguments ||
      parts[3].arguments.codec != CallArguments::Codec::json) {
    return;
  }
  const std::string before = parts[0].literal.texts.front();
  std::string_view between = parts[2].literal.texts.front();
  if (!before.ends_with('"') || !between.starts_with('"')) return;
  std::size_t begin = 0;
  std::size_t comma = 0;
  const std::string_view name_key =
      key_of_colon(trimmed_right(std::string_view(before).substr(0, before.size() - 1)), '{', begin);
  between.remove_prefix(1);
  const std::string_view arguments_key = key_of_colon(trimmed(between), ',', comma);
  if (name_key.empty() || arguments_key.empty()) return;
  CallPart object;
  object.kind = PartKind::object;
  object.arguments = parts[3].arguments;
  object.members = {{CallMember::Role::name, std::string(name_key)},
                    {CallMember::Role::arguments, std::string(arguments_key)}};
  std::vector<CallPart> made;
  const std::string lead = parts[0].literal.before + before.substr(0, begin);
  if (!is_blank(lead)) made.push_back(literal_part(lead));
  made.push_back(object);
  for (std::size_t i = 4; i < parts.size(); ++i) {
    CallPart part = parts[i];
    if (i == 4 && part.kind == PartKind::literal && part.literal.texts.front().starts_with('}')) {
      const std::string rest = part.literal.texts.front().substr(1) + part.literal.after;
      if (is_blank(rest)) continue;
      part = literal_part(rest);
    }
    made.push_back(part);
  }
  parts = std::move(made);
}

}  // namespace

std::vector<CallPart> make_parts(std::string_view turn, const std::vector<Slot>& slots, const std::vector<Slot>& others,
                                 CallEnds ends) {
  PartsMaker maker(turn, slots, others);
  std::vector<CallPart> parts = maker.make(ends.begin, ends.end);
  make_object(parts);
  return parts;
}

}  // namespace parlance::probe
