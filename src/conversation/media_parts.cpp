// Passes over images, sounds and films; see passes_for_templates.h.
#include "conversation/media_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "value/string.h"

namespace parlance {

const MediaType* find_media_type(std::string_view name) {
  const auto* row = std::find_if(std::begin(kMediaTypes), std::end(kMediaTypes),
                                 [&](const MediaType& type) { return type.name == name; });
  return row == std::end(kMediaTypes) ? nullptr : row;
}

namespace {

/// The last one stands for all else.
constexpr std::pair<std::string_view, std::string_view> kStandIns[] = {
    {"image", "[an image, which this model cannot see]"},
    {"audio", "[a sound, which this model cannot hear]"},
    {"video", "[a film, which this model cannot see]"},
    {"file", "[a file, which this model cannot read]"}};

}  // namespace

std::string_view stand_in_for(std::string_view carries) {
  for (const auto& [kind, line] : kStandIns) {
    if (kind == carries) return line;
  }
  return std::rbegin(kStandIns)->second;
}

bool is_stand_in(std::string_view text) {
  return std::ranges::any_of(kStandIns, [&](const auto& one) { return one.second == text; });
}

namespace {

constexpr std::string_view kUrl = "_url";

/// What a part carries: an address, or the data themselves. Undefined where it does not say.
Value link_of(Value part, std::string_view type) {
  const Value* carried = member(part, type);
  if (carried == nullptr) return {};
  for (const std::string_view name : {"url", "data"}) {
    if (const Value* inner = member(*carried, name)) return *inner;
  }
  return *carried;
}

}  // namespace

Value renamed_part(Runtime& rt, Value part, std::string_view from, std::string_view to) {
  Value link = link_of(part, from);
  const Value rest = filtered(rt, part, [&](std::string_view key) { return key != from && key != "type"; });
  const DictEntry type{Value::view("type"), Value::view(to)};
  if (link.is_undefined()) return with_members(rt, rest, {&type, 1});
  if (to.ends_with(kUrl)) {
    DictBuilder wrapped(rt, 1);
    wrapped.set("url", link);
    link = wrapped.finish();
  }
  const DictEntry said[] = {type, {Value::view(to), link}};
  return with_members(rt, rest, said);
}

namespace passes {
namespace {

/// The type of a part that has no text; "" for others.
std::string_view media_type(Value part) {
  const Value* type = member(part, "type");
  const MediaType* row = type != nullptr && type->is_leaf() ? find_media_type(leaf_text(*type)) : nullptr;
  return row == nullptr ? std::string_view() : row->name;
}

/// The row of the pass's setting for parts of this type in messages of this role, or null.
const MediaShape* find_shape(const Normaliser& n, std::string_view role, std::string_view type) {
  const std::vector<MediaShape>& shapes = n.setting->media;
  const auto found = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const MediaShape& shape) { return shape.role == role && shape.type == type; });
  return found == shapes.end() ? nullptr : &*found;
}

std::string_view role_of(Value message) {
  const Value* role = member(message, "role");
  return role != nullptr && role->is_leaf() ? leaf_text(*role) : std::string_view();
}

/// "content[2]", which lives as long as the conversation.
std::string_view place_of_part(Normaliser& n, std::uint32_t part) {
  return n.state.arena.copy_text("content[" + std::to_string(part) + "]");
}

/// Changes the parts that have no text to what `change(part, type, number)` returns.
template <typename ChangePart>
Value map_media(Normaliser& n, Value message, ChangePart change) {
  const Value* content = member(message, "content");
  if (content == nullptr || content->kind != Kind::list) return message;
  ListEditor parts(n.rt, *content);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Value old = parts[i];
    const std::string_view type = old.kind == Kind::dict ? media_type(old) : std::string_view();
    if (type.empty()) continue;
    const Value made = change(old, type, i);
    if (made.dict != old.dict) parts.set(i, made);
  }
  return parts.changed() ? with_member(n.rt, message, "content", parts.finish()) : message;
}

/// Ollama's images of a message; none where that is no list.
std::span<const Value> images_of(Value message) {
  const Value* images = member(message, kImages);
  return images == nullptr || images->kind != Kind::list ? std::span<const Value>() : items(*images);
}

/// Is what the part says text? Of some type nobody knows, that is its member `text`.
bool has_own_text(Value part) {
  constexpr std::string_view kTexts[] = {"text", "refusal", "thinking", "reasoning"};
  if (part.kind != Kind::dict) return true;
  if (!media_type(part).empty()) return false;
  const Value text = member_value(part, "text"), type = member_value(part, "type");
  return text.is_string() ||
         (type.is_leaf() && std::find(std::begin(kTexts), std::end(kTexts), leaf_text(type)) != std::end(kTexts));
}

void refuse(Normaliser& n, Value message, Value refused, const std::string& what, const std::string& at) {
  const std::string own = path_of_value(n.state, refused);
  n.fail(Error(ErrorCode::conversation,
               "the template has no place for " + what + " in a message of the role " + std::string(role_of(message)))
             .input(own.empty() ? place_of(n.state, {n.pass, n.given_message(), -1, {}, -1, at}) : own)
             .hint("the pass text-only leaves such parts out and says so"));
}

/// The line that stands for a part without text.
Value line_for(Value part) {
  const std::string_view type = part.kind == Kind::dict ? media_type(part) : std::string_view();
  const MediaType* row = find_media_type(type);
  return Value::view(stand_in_for(row == nullptr ? std::string_view() : row->carries));
}

Value text_of_lines(Normaliser& n, std::span<const Value> lines) {
  StringBuilder all(n.rt);
  for (const Value& line : lines) {
    if (all.size() != 0) all.append_static("\n");
    all.append(line);
  }
  const Value made = all.finish();
  if (!made.is_invalid()) text(n.rt, made);  // renders share it, so it must not be flattened by the first that asks
  return made;
}

/// Notes that a line stands in the place of what the template has no place for.
void note_stand_in(Normaliser& n, std::string_view place) {
  n.note(place);
  n.state.changes.back().what = "the template has no place for it: a line says so";
  n.state.changes.back().loses = "part";
}

/// What a tool gave stays in the conversation for good, whatever the user asks next, so it cannot be refused.
bool is_of_tool(Value message) { return is_role(message, "tool"); }

Value text_only_content(Normaliser& n, Value message) {
  const Value* content = member(message, "content");
  if (content == nullptr || content->kind != Kind::list || !n.concerns(message)) return message;
  ListBuilder kept(n.rt, content->list->size);
  std::vector<Value> lines;
  for (std::uint32_t i = 0; i < content->list->size; ++i) {
    const Value part = content->list->items[i];
    if (has_own_text(part)) {
      kept.append(part);
      continue;
    }
    n.note(place_of_part(n, i));
    n.state.changes.back().loses = "part";
    lines.push_back(line_for(part));
  }
  const Value made = kept.finish();
  if (made.list->size == content->list->size) return message;
  return with_member(n.rt, message, "content",
                     made.list->size == 0 ? text_of_lines(n, lines) : with_origin(made, content->list->origin));
}

}  // namespace

/// In front of the text, where Ollama's server puts them.
Value image_parts(Normaliser& n, Value message) {
  const std::span<const Value> images = images_of(message);
  const MediaShape* shape = images.empty() ? nullptr : find_shape(n, role_of(message), kImages);
  if (shape == nullptr || shape->shown_as.empty()) return message;
  const Value content = member_value(message, "content");
  const std::uint32_t more = content.kind == Kind::list ? content.list->size : 1;
  ListBuilder parts(n.rt, static_cast<std::uint32_t>(images.size()) + more);
  for (const Value& image : images) {
    DictBuilder part(n.rt, 2);
    part.set("type", Value::view("image"));
    part.set("image", image);
    parts.append(renamed_part(n.rt, part.finish(), "image", n.state.arena.copy_text(shape->shown_as)));
  }
  if (content.is_leaf() && !leaf_text(content).empty()) {
    DictBuilder part(n.rt, 2);
    part.set("type", Value::view("text"));
    part.set("text", content);
    parts.append(part.finish());
  } else if (content.kind == Kind::list) {
    for (const Value& part : items(content)) parts.append(part);
  }
  n.note(kImages);
  const Value rest = filtered(n.rt, message, [](std::string_view key) { return key != kImages; });
  return with_member(n.rt, rest, "content", parts.finish());
}

/// Without Ollama's images; `says_so`: a line for each stands behind the text.
Value without_images(Normaliser& n, Value message, bool says_so) {
  const Value rest = filtered(n.rt, message, [](std::string_view key) { return key != kImages; });
  const Value content = member_value(rest, "content");
  if (!says_so || content.kind == Kind::list) return rest;
  std::vector<Value> lines;
  if (content.is_string() && content.size != 0) lines.push_back(content);
  lines.resize(lines.size() + images_of(message).size(), Value::view(stand_in_for("image")));
  return with_member(n.rt, rest, "content", text_of_lines(n, lines));
}

Value text_only(Normaliser& n, Value message) {
  const Value texts = text_only_content(n, message);
  if (images_of(message).empty() || !n.concerns(message)) return texts;
  n.note(kImages);
  n.state.changes.back().loses = "part";
  return without_images(n, texts, says_nothing(member_value(texts, "content")));
}

Value part_types(Normaliser& n, Value message) {
  const std::string_view role = role_of(message);
  return map_media(n, message, [&](Value part, std::string_view type, std::uint32_t number) {
    const MediaShape* shape = find_shape(n, role, type);
    if (shape == nullptr || shape->shown_as.empty() || shape->shown_as == type) return part;
    n.note(place_of_part(n, number));
    return renamed_part(n.rt, part, type, shape->shown_as);
  });
}

Value no_place(Normaliser& n, Value message) {
  const std::string_view role = role_of(message);
  if (!images_of(message).empty() && find_shape(n, role, kImages) != nullptr) {
    if (is_of_tool(message)) {
      note_stand_in(n, kImages);
      return without_images(n, message, true);
    }
    refuse(n, message, images_of(message).front(), "an image", "images[0]");
  }
  return map_media(n, message, [&](Value part, std::string_view type, std::uint32_t number) {
    if (find_shape(n, role, type) == nullptr) return part;
    if (is_of_tool(message)) {
      note_stand_in(n, place_of_part(n, number));
      DictBuilder line(n.rt, 2);
      line.set("type", Value::view("text"));
      line.set("text", line_for(part));
      return with_origin(line.finish(), origin_of(part));
    }
    refuse(n, message, part, "a part of the type " + std::string(type), "content[" + std::to_string(number) + "]");
    return part;
  });
}

void refuse_unknown_part(Normaliser& n, Value message, Value part) {
  if (has_own_text(part) || !media_type(part).empty() || n.state.passes.skips(Pass::no_place)) return;
  const Value type = member_value(part, "type");
  refuse(n, message, part,
         type.is_leaf() ? "a part of the type " + std::string(leaf_text(type)) : "a part that has no type and no text",
         "content");
}

}  // namespace passes
}  // namespace parlance
