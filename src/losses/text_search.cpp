// Begin reading at TextSearch::text.
#include "losses/text_search.h"

#include <algorithm>

#include "base/nearest.h"
#include "conversation/conversation.h"
#include "json/document.h"
#include "value/string.h"

namespace parlance {

constexpr std::string_view kMissing = "not in the prompt";

std::string Place::text() const {
  std::string out = parent == nullptr ? std::string() : parent->text();
  if (index >= 0) return out.append("[").append(std::to_string(index)).append("]");
  if (!out.empty()) out += '.';
  return out.append(name);
}

bool has_words(std::string_view text) { return text.find_first_not_of(" \t\r\n") != text.npos; }

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

std::string TextSearch::path_of(Value value, const Place& place) const {
  std::string path = conversation_.path_of(value);
  return path.empty() ? place.text() : path;
}

bool TextSearch::is_reached(Value value) const {
  if (!value.is_string()) return reached_.has(origin_of(value));
  bool found = false;
  for_each_piece(value, [&](std::string_view piece) { found = found || reached_.any_of(piece); });
  return found;
}

Value TextSearch::given_tool(std::int64_t number) const {
  const ConversationState& state = inside_of(conversation_);
  const Value tools = member_value(is_converted() ? state.converted : state.document.root(), "tools");
  const bool has = tools.is_sequence() && number >= 0 && number < static_cast<std::int64_t>(tools.list->size);
  return has ? tools.list->items[number] : Value();
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

bool TextSearch::is_given_reasoning(Value text) const {
  const Value messages = member_value(inside_of(conversation_).converted, "messages");
  bool found = false;
  for (const Value& message : messages.is_sequence() ? items(messages) : std::span<const Value>()) {
    const Value reasoning = member_value(message, "reasoning_content");
    if (!reasoning.is_string()) continue;
    for_each_piece(reasoning, [&](std::string_view piece) { found = found || piece.data() == text.data; });
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

void TextSearch::text(Value value, std::string_view subject, const Place& place, Tally& all, bool cuts) {
  if (value.is_string()) {
    for_each_piece(value, [&](std::string_view bytes) { piece(bytes, subject, place, all, cuts); });
  } else if (value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::boolean) {
    const bool lost = !is_reached(value);
    all.add(lost);
    if (lost) lose(subject, path_of(value, place));
  }
}

void TextSearch::piece(std::string_view bytes, std::string_view subject, const Place& place, Tally& all, bool cuts) {
  if (!has_words(bytes)) return;
  const bool lost = !reached_.any_of(bytes);
  all.add(lost);
  const std::size_t gap = lost ? bytes.npos : reached_.first_gap(bytes);
  if (!lost && (gap == bytes.npos || (cuts && !left_out_))) return;
  std::string path = path_of_address(inside_of(conversation_), bytes.data());
  if (path.empty()) path = place.text();
  if (lost) return lose(subject, std::move(path), misspelt(place.name));
  const LossKind kind = cuts ? LossKind::left_out : LossKind::lost;
  note({kind,
        cuts ? "text" : subject,
        std::move(path),
        "only a part of it is in the prompt: byte " + std::to_string(gap) + " is missing",
        {}});
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
