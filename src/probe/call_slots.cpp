// Finding the slots of a call. Begin reading at find_slots.
#include "probe/call_slots.h"

#include <algorithm>

#include "base/ascii.h"
#include "json/json.h"
#include "parlance/json.h"
#include "probe/prompt_diff.h"
#include "reply/scan/json_scanner.h"
#include "value/dict.h"
#include "value/runtime.h"

namespace parlance::probe {
namespace {

using Codec = CallArguments::Codec;

/// The places of what a call's arguments are made of.
struct ArgumentPlaces {
  std::size_t key_a, value_a, key_b, value_b;
  std::size_t value_a_end, value_b_end;
};

/// Values are looked for first, and keys backwards from them: a key's word may stand in the text before, where the
/// template lists the tools.
std::optional<ArgumentPlaces> places_of(std::string_view body, std::size_t index) {
  ArgumentPlaces at{};
  at.value_a = body.find(kValuesA[index]);
  at.value_b = body.find(kValuesB[index]);
  if (at.value_a == kNone || at.value_b == kNone || at.value_b < at.value_a) return std::nullopt;
  at.key_a = body.rfind(kKeyA, at.value_a);
  at.key_b = body.rfind(kKeyB, at.value_b);
  at.value_a_end = at.value_a + kValuesA[index].size();
  at.value_b_end = at.value_b + kValuesB[index].size();
  if (at.key_a == kNone || at.key_b == kNone || at.key_b < at.value_a_end) return std::nullopt;
  return at;
}

/// The nearest JSON object round [first, last), not before `from`.
/// Each brace before `first` is tried as the beginning, from the nearest outwards, since braces in texts and of the
/// template itself are no objects.
std::optional<Tag> object_round(std::string_view body, std::size_t from, std::size_t first, std::size_t last) {
  for (std::size_t at = first; at-- > from;) {
    if (body[at] != '{') continue;
    const std::optional<std::size_t> end = json_end(body, at);
    if (end && *end >= last) return Tag{at, *end};
  }
  return std::nullopt;
}

CallArguments codec(Codec which) {
  CallArguments arguments;
  arguments.codec = which;
  return arguments;
}

Slot arguments_slot(CallArguments arguments, std::size_t begin, std::size_t end) {
  Slot slot;
  slot.part.kind = CallPart::Kind::arguments;
  slot.part.arguments = std::move(arguments);
  slot.begin = begin;
  slot.end = end;
  return slot;
}

/// A JSON object, or a string of JSON that holds one.
/// An escaped quote before the key says that the object stands inside of a JSON string.
std::optional<Slot> json_slot(std::string_view body, const ArgumentPlaces& at) {
  const bool escaped = at.key_a > 1 && body[at.key_a - 2] == '\\';
  const auto object = escaped ? std::nullopt : object_round(body, 0, at.key_a, at.value_b_end);
  if (object) {
    return arguments_slot(codec(Codec::json), object->begin, object->end);
  }
  const std::size_t brace = body.rfind('{', at.key_a);
  if (brace == kNone || brace == 0 || body[brace - 1] != '"') return std::nullopt;
  const std::optional<std::size_t> end = json_end(body, brace - 1);
  if (!end || *end < at.value_b_end) return std::nullopt;
  CallArguments text = codec(Codec::json);
  text.as_text = true;
  return arguments_slot(text, brace - 1, *end);
}

bool is_word_or_dot(char c) { return ascii::is_word(c) || c == '.'; }

/// name(key='value', …)
/// The callee tells two notations apart: look(at='x') has the tool's name in front, which is a slot of its own; another
/// word there belongs to the notation. `bare` is a value without quotes.
std::optional<Slot> keywords_slot(std::string_view body, const ArgumentPlaces& at, std::size_t index) {
  const std::string_view between = body.substr(at.key_a + kKeyA.size(), at.value_a - at.key_a - kKeyA.size());
  const bool bare = between == "=" && (body[at.value_a_end] == ',' || body[at.value_a_end] == ' ');
  if (between != "='" && between != "=\"" && !bare) return std::nullopt;
  const std::size_t bracket = body.rfind('(', at.key_a);
  const std::size_t end = body.find(')', at.value_b_end);
  if (bracket == kNone || end == kNone) return std::nullopt;
  std::size_t begin = bracket;
  while (begin > 0 && is_word_or_dot(body[begin - 1])) --begin;
  CallArguments keywords = codec(Codec::keywords);
  const std::string_view callee = body.substr(begin, bracket - begin);
  if (callee == kTools[index]) {
    begin = bracket;
  } else if (callee.starts_with(kTools[index])) {  // name.call(
    begin += kTools[index].size();
    keywords.callee = std::string(callee.substr(kTools[index].size()));
  } else {
    keywords.callee = std::string(callee);
  }
  Slot slot = arguments_slot(keywords, begin, end + 1);
  slot.bare = bare;
  return slot;
}

/// {key:<quote>value<quote>,…}
/// The quote is whatever stands between the colon and the value, if the same stands behind the value.
std::optional<Slot> bare_slot(std::string_view body, const ArgumentPlaces& at) {
  const std::string_view between = body.substr(at.key_a + kKeyA.size(), at.value_a - at.key_a - kKeyA.size());
  if (between.size() < 2 || between[0] != ':' || at.key_a == 0 || body[at.key_a - 1] != '{') return std::nullopt;
  const std::string_view quote = trimmed(between.substr(1));
  if (quote.empty() || !body.substr(at.value_a_end).starts_with(quote)) return std::nullopt;
  const std::size_t end = body.find('}', at.value_b_end);
  if (end == kNone) return std::nullopt;
  CallArguments bare = codec(Codec::bare);
  bare.quote = std::string(quote);
  return arguments_slot(bare, at.key_a - 1, end + 1);
}

struct Ends {
  std::size_t close = 0;  ///< bytes behind the first that both ends have
  std::size_t open = 0;   ///< bytes before the second that both begins have
};

/// What a gap [from, to) of `text` shares with what stands before `head_end` and from `tail_begin` on.
Ends share(Stretch text, std::size_t head_end, std::size_t from, std::size_t to, std::size_t tail_begin) {
  Ends ends{shared_begin(text, from, to, text.from(tail_begin)), shared_end(text, from, to, text.first(head_end))};
  if (ends.close + ends.open > to - from) ends.close = to - from - ends.open;
  return ends;
}

/// A tag for each argument. The closing tag may name the key again.
/// The gap between two arguments holds the end of the first and the beginning of the second. Where the key is not
/// repeated, comparison tells them apart: the end also stands behind the second argument, the beginning also before the
/// first.
std::optional<Slot> tags_slot(Stretch body, const ArgumentPlaces& at) {
  const std::string_view text = body.text;
  CallArguments tags = codec(Codec::tags);
  tags.tags.key_close = marker_of(text.substr(at.key_a + kKeyA.size(), at.value_a - at.key_a - kKeyA.size()));
  const std::string_view gap = text.substr(at.value_a_end, at.key_b - at.value_a_end);
  std::size_t begin = 0;
  std::size_t end = 0;
  if (const std::size_t again = gap.find(kKeyA); again != kNone) {
    std::size_t behind = again + kKeyA.size();
    const std::size_t bracket = gap.find('>', behind);
    if (bracket == kNone) return std::nullopt;
    tags.tags.close = marker_of(gap.substr(0, again));
    tags.tags.close_end = std::string(gap.substr(behind, bracket + 1 - behind));
    tags.tags.open = marker_of(gap.substr(bracket + 1));
    begin = at.key_a - (gap.size() - bracket - 1);
    const std::size_t last = text.find(kKeyB, at.value_b_end);
    const std::size_t last_bracket = last == kNone ? kNone : text.find('>', last);
    if (last_bracket == kNone) return std::nullopt;
    end = last_bracket + 1;
  } else {
    const Ends ends = share(body, at.key_a, at.value_a_end, at.key_b, at.value_b_end);
    tags.tags.open = marker_of(text.substr(at.key_b - ends.open, ends.open));
    tags.tags.close = marker_of(gap.substr(0, ends.close));
    begin = at.key_a - ends.open;
    end = at.value_b_end + ends.close;
  }
  if (!tags.tags.open.exists() || !tags.tags.close.exists() || !tags.tags.key_close.exists()) return std::nullopt;
  return arguments_slot(std::move(tags), begin, end);
}

/// From the notation with the most structure to the one with the least: tags would accept nearly anything.
std::optional<Slot> find_arguments(Stretch body, std::size_t index) {
  const auto at = places_of(body.text, index);
  if (!at) return std::nullopt;
  if (auto slot = json_slot(body.text, *at)) return slot;
  if (auto slot = keywords_slot(body.text, *at, index)) return slot;
  if (auto slot = bare_slot(body.text, *at)) return slot;
  return tags_slot(body, *at);
}

// ---- JSON objects round name and arguments

std::string json_of_value(Runtime& rt, Value value) {
  std::string out;
  append_json(rt, out, value);
  return out;
}

bool value_holds(Value value, std::string_view word) {
  if (value.kind == Kind::string) return leaf_text(value).find(word) != kNone;
  if (value.kind == Kind::dict) {
    for (const DictEntry& entry : entries(value)) {
      if (value_holds(entry.key, word) || value_holds(entry.value, word)) return true;
    }
  }
  return false;
}

/// Some templates number the calls of a turn in place of an id.
bool is_counter(Value value) {
  const std::string_view text = value.kind == Kind::string ? leaf_text(value) : std::string_view();
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct ObjectReader {
  Runtime& rt;
  std::size_t index;
  bool named = false, argued = false, identified = false;
  bool as_text = false;
  std::string id_pattern;

  /// A value decides by the probe's own words. What holds none of them is the template's and constant.
  CallMember member(Value key_value, Value value) {
    CallMember found;
    const std::string_view key = leaf_text(key_value);
    found.key = std::string(key);
    const bool is_text = value.kind == Kind::string;
    if (is_text && leaf_text(value) == kTools[index]) {
      found.role = CallMember::Role::name;
      named = true;
    } else if (key == kTools[index]) {
      found.role = CallMember::Role::any_name;
      found.key.clear();
      named = argued = true;
    } else if (is_text && leaf_text(value) == kIds[index]) {
      found.role = CallMember::Role::id;
      identified = true;
    } else if (value.kind == Kind::dict && find_key(*value.dict, kKeyA) != nullptr) {
      found.role = CallMember::Role::arguments;
      argued = true;
    } else if (is_text && value_holds(value, kKeyA)) {
      found.role = CallMember::Role::arguments;
      argued = as_text = true;
    } else if (value.kind == Kind::dict && value_holds(value, kTools[index])) {
      found.role = CallMember::Role::inner;
      found.members = members(value);
    } else if (is_counter(value) && leaf_text(value) == std::to_string(index)) {
      found.role = CallMember::Role::id;
      id_pattern = "{0}";
      identified = true;
    } else {
      found.role = CallMember::Role::constant;
      found.constant = json_of_value(rt, value);
    }
    return found;
  }
  std::vector<CallMember> members(Value object) {
    std::vector<CallMember> found;
    for (const DictEntry& entry : entries(object)) found.push_back(member(entry.key, entry.value));
    return found;
  }
};

/// The widest JSON object round the arguments that holds the call's name and nothing of another call.
/// Outwards while no other call is inside: the list round several calls belongs to the section, not to a call.
std::optional<Slot> object_slot(std::string_view body, const Slot& arguments, std::size_t index) {
  std::optional<Tag> best;
  std::size_t first = arguments.begin;
  for (int depth = 0; depth < 4; ++depth) {
    const auto object = object_round(body, 0, first, arguments.end);
    if (!object) break;
    const std::string_view inside = body.substr(object->begin, object->end - object->begin);
    bool alone = true;
    for (std::size_t i = 0; i < 3; ++i) alone = alone && (i == index || inside.find(kTools[i]) == kNone);
    if (!alone) break;
    if (inside.find(kTools[index]) != kNone) best = object;
    first = object->begin;
  }
  if (!best) return std::nullopt;
  Document document;
  if (!document.parse(body.substr(best->begin, best->end - best->begin)) || document.root().kind != Kind::dict)
    return std::nullopt;
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  ObjectReader reader{rt, index};
  Slot slot;
  slot.part.kind = CallPart::Kind::object;
  slot.part.members = reader.members(document.root());
  slot.part.arguments.as_text = reader.as_text;
  slot.part.pattern = reader.id_pattern;
  slot.begin = best->begin;
  slot.end = best->end;
  if (!reader.named || !reader.argued) return std::nullopt;
  return slot;
}

/// A word inside of a slot is the slot's own, as the name in an object; others may repeat, as in a closing tag.
void add_words(std::vector<Slot>& slots, std::string_view body, std::string_view word, CallPart::Kind kind) {
  for (std::size_t at = body.find(word); at != kNone; at = body.find(word, at + word.size())) {
    bool inside = false;
    for (const Slot& slot : slots) inside = inside || (slot.begin <= at && at < slot.end);
    if (inside) continue;
    Slot slot;
    slot.part.kind = kind;
    slot.begin = at;
    slot.end = at + word.size();
    slots.push_back(slot);
  }
}

}  // namespace

std::optional<std::size_t> json_end(std::string_view text, std::size_t begin) {
  reply::JsonScanner scanner;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const reply::Scan scan = scanner.feed(text[at]);
    if (scan == reply::Scan::done) return at + 1;
    if (scan != reply::Scan::more) return std::nullopt;
  }
  return std::nullopt;
}

std::vector<Slot> find_slots(Stretch body, std::size_t index) {
  std::vector<Slot> slots;
  const std::optional<Slot> arguments = find_arguments(body, index);
  if (!arguments) return slots;
  const bool is_json = arguments->part.arguments.codec == Codec::json;
  const std::optional<Slot> object = is_json ? object_slot(body.text, *arguments, index) : std::nullopt;
  slots.push_back(object ? *object : *arguments);
  if (!object) add_words(slots, body.text, kTools[index], CallPart::Kind::name);
  add_words(slots, body.text, kIds[index], CallPart::Kind::id);
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  return slots;
}

}  // namespace parlance::probe
