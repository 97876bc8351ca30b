// OpenAI's names for Ollama's fields. Begin reading at OpenAiNames::complete.
#include "gotemplate/ollama/openai.h"

namespace parlance::gotemplate {
namespace {

const Value* member_of(Value dict, std::string_view name) {
  if (dict.kind != Kind::dict) return nullptr;
  const DictEntry* entry = find_key(*dict.dict, name);
  return entry == nullptr ? nullptr : &entry->value;
}

bool is_empty(Value text) { return length_of(text) == 0; }

/// The name of the tool that was called under this id.
/// From the end, since the call stands just before its result. A long chat of results costs the square of its length,
/// so the messages that are
// passed are charged; once the steps are gone the render fails anyway.
Value called_name(Runtime& rt, std::span<const Turn> before, Value id) {
  for (std::size_t i = before.size(); i-- > 0;) {
    if (i % 8 == 0 && !rt.charge(1)) break;
    const Value calls = before[i][Turn::calls];
    if (is_nil(calls)) continue;
    if (!rt.charge(items(calls).size() / 8)) break;
    for (const Value& call : items(calls)) {
      const Value given = field(call, 0);
      if (given.is_leaf() && leaf_text(given) == leaf_text(id)) return field(field(call, 1), 1);
    }
  }
  return Value::view("");
}

std::string tag_of(std::size_t number) { return "[img-" + std::to_string(number) + "]"; }

bool is_image(std::string_view type) { return type == "image_url" || type == "image" || type == "input_image"; }

}  // namespace

Value OpenAiNames::image_tag(std::size_t number) { return make_computed(d_.rt(), tag_of(number)); }

/// What Ollama's prompt builder does: "[img]" in the text is where an image goes, as "[img-N]"; images without such a
/// place come first. N counts over the whole chat.
Value OpenAiNames::with_tags(Value content, std::size_t images) {
  constexpr std::string_view kPlace = "[img]";
  const std::string_view words = content.is_leaf() ? leaf_text(content) : std::string_view();
  StringBuilder text(d_.rt());
  std::size_t placed = 0, at = 0;
  for (std::size_t place; placed < images && (place = words.find(kPlace, at)) != words.npos; ++placed) {
    text.append(content, at, place);
    text.append_derived(tag_of(images_ + placed), content, place);
    at = place + kPlace.size();
  }
  if (at == 0) {
    text.append(content);
  } else {
    text.append(content, at, words.size());
  }
  StringBuilder whole(d_.rt());
  for (std::size_t i = placed; i < images; ++i) whole.append(image_tag(images_ + i));
  whole.append(text.finish());
  images_ += images;
  return whole.finish();
}

bool OpenAiNames::read_parts(Value parts, Turn& turn) {
  StringBuilder text(d_.rt());
  for (const Value& part : items(parts)) {
    const Value* type = member_of(part, "type");
    const Value* words = member_of(part, "text");
    if (&part != parts.list->items) text.append_static("\n\n");
    if (words != nullptr && words->is_string()) {
      text.append(*words);
    } else if (type != nullptr && type->is_leaf() && is_image(leaf_text(*type))) {
      text.append(image_tag(images_++));
    } else {
      return d_.fail("a part of the content is neither text nor an image", part);
    }
  }
  has_parts_ = true;
  turn[Turn::content] = text.finish();
  return !d_.rt().failed();
}

void OpenAiNames::complete(Value message, std::span<const Turn> before, Turn& turn) {
  for (const std::string_view name : {"reasoning_content", "reasoning"}) {
    const Value* reasoning = member_of(message, name);
    if (is_empty(turn[Turn::thinking]) && reasoning != nullptr && reasoning->is_string())
      turn[Turn::thinking] = *reasoning;
  }
  if (turn.role_name() == "tool" && is_empty(turn[Turn::tool_name])) {
    const Value* name = member_of(message, "name");
    const bool named = name != nullptr && name->is_string();
    const Value id = turn[Turn::tool_call_id];
    turn[Turn::tool_name] = named                           ? *name
                            : is_empty(id) || !id.is_leaf() ? Value::view("")
                                                            : called_name(d_.rt(), before, id);
  }
  const std::size_t images = length_of(turn[Turn::images]);
  const bool tagged = has_parts_ || (turn[Turn::content].is_leaf() &&
                                     leaf_text(turn[Turn::content]).find("[img-") != std::string_view::npos);
  has_parts_ = false;
  if (images > 0 && !tagged) turn[Turn::content] = with_tags(turn[Turn::content], images);
}

/// Ollama's own `think` wins, then OpenAI's reasoning_effort, then the switch that other servers have.
void OpenAiNames::think(const DictObject& variables, ChatRequest& out) {
  if (out.think_set) return;
  const DictEntry* effort = find_key(variables, "reasoning_effort");
  const DictEntry* enabled = find_key(variables, "enable_thinking");
  if (effort != nullptr && effort->value.is_leaf()) {
    out.think_set = true;
    out.think = leaf_text(effort->value) != "none";
    if (out.think) out.think_level = effort->value;
  } else if (enabled != nullptr && enabled->value.kind == Kind::boolean) {
    out.think_set = true;
    out.think = enabled->value.integer != 0;
    if (out.think) out.think_level = Value::view("medium");
  }
}

}  // namespace parlance::gotemplate
