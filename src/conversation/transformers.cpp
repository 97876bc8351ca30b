// What apply_chat_template of transformers does to a request before the template sees it.
//
// Source of the rules: transformers 5.24.0, tokenization_utils_base.py (apply_chat_template) and
// utils/chat_template_utils.py (_alias_reasoning_fields, render_jinja_template). Begin reading at
// check_as_transformers.
#include "conversation/transformers.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "conversation/normalise.h"
#include "value/iterate.h"

namespace parlance {
namespace {

/// Parameters of the method that say what becomes of the prompt; what else it is given are variables.
constexpr std::string_view kParameters[] = {
    "chat_template",
    "conversation",
    "max_length",
    "padding",
    "return_assistant_tokens_mask",
    "return_dict",
    "return_tensors",
    "sanitize_control_tokens",
    "tokenize",
    "tokenizer_kwargs",
    "truncation",
};
constexpr std::string_view kContinue = "continue_final_message";

/// Each request's keys are asked for, and few have the length of one of these.
constexpr std::uint64_t kLengths = [] {
  std::uint64_t lengths = 0;
  for (const std::string_view name : kParameters) lengths |= std::uint64_t{1} << name.size();
  return lengths;
}();

bool is_parameter(std::string_view key) {
  if (key.size() >= 64 || (kLengths >> key.size() & 1) == 0) return false;
  return std::find(std::begin(kParameters), std::end(kParameters), key) != std::end(kParameters);
}

Result<void> check_objects(const Value& variables, std::string_view name) {
  const Value* list = member(variables, name);
  if (list == nullptr || !list->is_sequence()) return {};
  for (std::uint32_t i = 0; i < list->list->size; ++i) {
    if (list->list->items[i].kind == Kind::dict) continue;
    const std::string path = std::string(name) + "[" + std::to_string(i) + "]";
    return not_a_conversation("`" + path + "` is not an object", path);
  }
  return {};
}

}  // namespace

Result<void> check_as_transformers(const Value& variables, bool of_batch) {
  const Value* messages = member(variables, "messages");
  if (!of_batch && messages != nullptr && messages->kind == Kind::list && messages->list->size == 0) {
    return not_a_conversation("an empty conversation: transformers wants one message at least", "messages");
  }
  const Value* continues = member(variables, kContinue);
  if (continues != nullptr && continues->is_string() && continues->size != 0) {
    return not_a_conversation("`continue_final_message` is true or false here, not the name of a member",
                              std::string(kContinue));
  }
  for (const std::string_view name : kLists) {
    if (Result<void> checked = check_objects(variables, name); !checked) return checked;
  }
  return {};
}

namespace passes {

void method_parameters(Normaliser& n) {
  const Value continues = take_variable(n.state, kContinue);
  n.state.continue_final = truth(n.rt, continues);  // as the method asks
  bool any = false;
  for (const DictEntry& entry : entries(n.state.variables)) {
    if (!is_parameter(leaf_text(entry.key))) continue;
    n.variable = leaf_text(entry.key);
    n.note();
    any = true;
  }
  if (!any) return;
  n.state.variables = filtered(n.rt, n.state.variables, [](std::string_view key) { return !is_parameter(key); });
}

Value null_members(Normaliser& n, Value message) {
  const std::span<const DictEntry> members = entries(message);
  const auto is_null = [](const DictEntry& entry) { return entry.value.is_none(); };
  if (std::none_of(members.begin(), members.end(), is_null)) return message;
  DictBuilder kept(n.rt, message.dict->size);
  for (const DictEntry& entry : members) {
    if (is_null(entry)) {
      n.note(leaf_text(entry.key));
    } else {
      kept.set(entry.key, entry.value);
    }
  }
  return with_origin(kept.finish(), message.dict->origin);
}

Value reasoning_aliases(Normaliser& n, Value message) {
  static constexpr std::string_view kNames[] = {"reasoning_content", "thinking", "reasoning"};  // the first one counts
  const Value* reasoning = nullptr;
  for (const std::string_view name : kNames) {
    const Value* given = member(message, name);
    if (given != nullptr && !given->is_none()) {
      reasoning = given;
      break;
    }
  }
  if (reasoning == nullptr) return message;
  DictBuilder aliased(n.rt, message.dict->size + 2);
  aliased.set("thinking", *reasoning);
  for (const DictEntry& entry : entries(message)) aliased.set(entry.key, entry.value);
  aliased.set("reasoning_content", *reasoning);
  n.note();
  return with_origin(aliased.finish(), message.dict->origin);
}

}  // namespace passes
}  // namespace parlance
