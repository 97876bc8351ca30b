// Begin reading at TextSearch::text.
#include "losses/text_search.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/nearest.h"
#include "conversation/conversation.h"
#include "conversation/media_parts.h"
#include "json/document.h"
#include "value/string.h"

namespace parlance {

constexpr std::string_view kMissing = "not in the prompt";

std::string Place::below(const Place* other) const {
  if (this == other) return {};
  std::string out = parent == nullptr ? std::string() : parent->below(other);
  if (index >= 0) return out.append("[").append(std::to_string(index)).append("]");
  if (parent != nullptr) out += '.';
  return out.append(name);
}

bool has_words(std::string_view text) { return !ascii::is_blank(text); }

bool has_content(Value value) {
  if (value.is_none() || value.is_undefined()) return false;
  if (value.is_string()) return has_words(value);
  if (value.is_sequence()) return value.list->size != 0;
  if (value.kind == Kind::dict) return value.dict->size != 0;
  return value.kind != Kind::boolean || value.integer != 0;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_words(Value text) {
  bool found = false;
  if (text.is_string()) for_each_piece(text, [&](std::string_view piece) { found = found || has_words(piece); });
  return found;
}

void TextSearch::lose(std::string_view subject, std::string path, std::string hint) {
  losses_.push_back({LossKind::lost, subject, std::move(path), std::string(kMissing), std::move(hint)});
}

void TextSearch::leave_out(std::string_view subject, std::string path) {
  losses_.push_back({LossKind::left_out, subject, std::move(path), std::string(kMissing), {}});
}

std::size_t TextSearch::lost_since(const Tally& tally) const {
  return count_lost(std::span<const Loss>(losses_).subspan(tally.first_loss));
}

void TextSearch::lose_whole(const Tally& tally, std::string_view subject, std::string path) {
  const auto parts = losses_.begin() + static_cast<std::ptrdiff_t>(tally.first_loss);
  const bool of_one = std::all_of(parts, losses_.end(), [&](const Loss& loss) { return loss.path.starts_with(path); });
  if (!of_one) return;  // a pass joined what the request has apart
  losses_.erase(std::remove_if(parts, losses_.end(), [](const Loss& loss) { return loss.kind == LossKind::lost; }),
                losses_.end());
  lose(subject, std::move(path));
}

void TextSearch::id(Value value, const Place& place) {
  if (!left_out_ || !value.is_string() || !has_words(value) || is_reached(value)) return;
  std::string path = path_of(value, place);
  if (is_first(path)) leave_out("id", std::move(path));
}

void TextSearch::lose_member(std::string_view subject, Value value, const Place& place, Tally& all, std::string hint) {
  std::string path = path_of(value, place);
  const bool is_known = mentions(place.name) || (place.parent == nullptr && facts_.reads(place.name));
  all.add(!is_known);
  if (!is_known) return lose(subject, std::move(path), std::move(hint));
  Doubt doubt{{}, {LossKind::lost, subject, std::move(path), std::string(kMissing), std::move(hint)}};
  for (const Place* at = &place; at != nullptr; at = at->parent)
    doubt.steps.insert(doubt.steps.begin(), {at->name, at->index});
  doubts_.push_back(std::move(doubt));
}

std::string TextSearch::in_text(std::string path, const Place& place) const {
  if (path.empty()) return place.text();
  const bool is_in_text = text_place_ != nullptr && path == text_path_;
  return is_in_text ? path + place.below(text_place_) : path;
}

std::string TextSearch::path_of(Value value, const Place& place) const {
  return in_text(conversation_.path_of(value), place);
}

bool TextSearch::is_reached(Value value) const {
  if (!value.is_string()) return reached_.has(origin_of(value));
  bool found = false;
  for_each_piece(value, [&](std::string_view piece) { found = found || reached_.any_of(piece); });
  return found;
}

Value TextSearch::given(std::string_view name) const {
  const ConversationState& state = inside_of(conversation_);
  return member_value(is_converted() ? state.converted : state.document.root(), name);
}

Value TextSearch::given_tool(std::int64_t number) const {
  const Value tools = given("tools");
  const bool has = tools.is_sequence() && number >= 0 && number < static_cast<std::int64_t>(tools.list->size);
  return has ? tools.list->items[number] : Value();
}

std::set<std::string, std::less<>> TextSearch::said_paths() const {
  std::set<std::string, std::less<>> paths;
  for (const Loss& loss : losses_) paths.insert(loss.path);
  for (const Doubt& doubt : doubts_) paths.insert(doubt.loss.path);
  return paths;
}

bool TextSearch::is_any_reached(Value value) const {
  if (is_reached(value)) return true;
  if (value.is_sequence()) return std::ranges::any_of(items(value), [&](Value one) { return is_any_reached(one); });
  if (value.kind != Kind::dict) return false;
  return std::ranges::any_of(entries(value), [&](const DictEntry& one) {
    return is_any_reached(one.value) || (one.key.is_string() && is_reached(one.key));
  });
}

bool TextSearch::is_python(Value value) const {
  if (!value.is_sequence() && value.kind != Kind::dict) return false;
  if (reached_.has_as_python(origin_of(value))) return true;
  if (value.is_sequence()) return std::ranges::any_of(items(value), [&](Value one) { return is_python(one); });
  return std::ranges::any_of(entries(value), [&](const DictEntry& one) { return is_python(one.value); });
}

namespace {

/// Are these very bytes a piece of the text? Blank ones, as between pieces, are nobody's.
bool has_piece(Value text, std::string_view words) {
  if (!text.is_string() || !has_words(words)) return false;
  bool found = false;
  for_each_piece(text, [&](std::string_view piece) { found = found || piece.data() == words.data(); });
  return found;
}

}  // namespace

bool TextSearch::is_given_reasoning(Value text) const {
  const Value messages = member_value(inside_of(conversation_).converted, "messages");
  bool found = false;
  for (const Value& message : messages.is_sequence() ? items(messages) : std::span<const Value>()) {
    const Value reasoning = member_value(message, "reasoning_content");
    if (!reasoning.is_string()) continue;
    for_each_piece(reasoning, [&](std::string_view given) { found = found || has_piece(text, given); });
  }
  return found;
}

/// The template reads a name that is nearly this one, and not this one.
std::string TextSearch::misspelt(std::string_view name) const {
  if (facts_.syntax == Syntax::go || facts_.mentions(name)) return {};
  NearestName nearest(name);
  for (const std::string& one : facts_.members) nearest.offer(one);
  return nearest.best().empty() ? ""
                                : "the template reads '" + nearest.best() + "' and not '" + std::string(name) + "'";
}

void TextSearch::text(Value value, std::string_view subject, const Place& place, Tally& all, Cuts cuts) {
  if (value.is_string()) {
    for_each_piece(value, [&](std::string_view bytes) { piece(bytes, subject, place, all, cuts); });
  } else if (value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::boolean) {
    const bool lost = !is_reached(value);
    all.add(lost);
    if (lost) lose(subject, path_of(value, place));
  }
}

void TextSearch::piece(std::string_view bytes, std::string_view subject, const Place& place, Tally& all, Cuts cuts) {
  if (!has_words(bytes)) return;
  const bool is_ours = is_stand_in(bytes) && path_of_address(inside_of(conversation_), bytes.data()).empty();
  if (is_ours) return;  // what it stands for is noted
  const bool lost = !reached_.any_of(bytes) && !is_left_out(bytes, cuts);
  all.add(lost);
  if (!lost) return cut(bytes, subject, place, cuts);
  lose(subject, in_text(path_of_address(inside_of(conversation_), bytes.data()), place), misspelt(place.name));
}

/// An answer of a turn that is over, and all of it reasoning.
bool TextSearch::is_left_out(std::string_view bytes, Cuts cuts) const {
  const std::string_view words = ascii::trimmed(bytes);
  const auto begin = static_cast<std::size_t>(words.data() - bytes.data());
  return cuts == Cuts::over && thought_in(bytes, begin, begin + words.size(), marks_) == Thought::words;
}

/// What of a text is missing: the first place that should not, and the first that is left out by design.
void TextSearch::cut(std::string_view bytes, std::string_view subject, const Place& place, Cuts cuts) {
  constexpr int kMostLooked = 32;  // gaps that may be reasoning: to see that takes as long as the text is
  bool said_lost = false, said_left_out = !left_out_;
  int looked = 0;
  for (const Reached::Gap& gap : reached_.gaps(bytes)) {
    if (said_lost && said_left_out) return;
    const bool may_be = cuts != Cuts::no && looked++ < kMostLooked;
    const Thought thought = may_be ? thought_in(bytes, gap.begin, gap.end, marks_) : Thought::no;
    const bool by_design = thought == Thought::mark || (thought == Thought::words && cuts == Cuts::over);
    bool& said = by_design ? said_left_out : said_lost;
    if (said) continue;
    said = true;
    note({by_design ? LossKind::left_out : LossKind::lost, by_design ? "text" : subject,
          in_text(path_of_address(inside_of(conversation_), bytes.data()), place),
          "only a part of it is in the prompt: byte " + std::to_string(gap.begin) + " is missing",
          thought == Thought::words && !by_design ? "the template does not show reasoning here" : ""});
  }
}

void TextSearch::members(Value dict, std::string_view subject, const Place& place, Tally& all) {
  for (const DictEntry& entry : entries(dict)) {
    leaves(is_key_reached(dict, entry.key), entry.value, subject, place[leaf_text(entry.key)], all);
  }
}

void TextSearch::leaves(bool key_is_reached, Value value, std::string_view subject, const Place& place, Tally& all) {
  if (value.kind == Kind::dict && value.dict->size != 0) {
    members(value, subject, place, all);
  } else if (value.is_sequence() && value.list->size != 0) {
    const bool printed = key_is_reached || is_reached(value);
    for (std::uint32_t i = 0; i < value.list->size; ++i) leaves(printed, value.list->items[i], subject, place[i], all);
  } else if (has_words(value)) {
    text(value, subject, place, all);
  } else {
    const bool lost = !key_is_reached && !is_reached(value);
    all.add(lost);
    if (lost) lose(subject, path_of(value, place));
  }
}

}  // namespace parlance
