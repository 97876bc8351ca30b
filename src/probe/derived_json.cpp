// DerivedFormat as JSON. Begin reading at DerivedFormat::to_json.
#include "parlance/derive.h"
#include "value/json.h"

namespace parlance {
namespace {

void append_text(std::string& out, std::string_view key, std::string_view text) {
  append_json_string(out, key);
  append_json_string(out += ": ", text);
}

void append_flag(std::string& out, std::string_view key, bool flag) {
  append_json_string(out += ", ", key);
  out += flag ? ": true" : ": false";
}

template <typename List, typename Write>
void append_list(std::string& out, std::string_view key, const List& list, Write write) {
  append_json_string(out += ", ", key);
  out += ": [";
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ", ";
    first = false;
    write(item);
  }
  out += "]";
}

/// "key": {name: text, …}
void append_pairs(std::string& out, std::string_view key, const std::vector<std::pair<std::string, std::string>>& pairs) {
  append_json_string(out, key);
  out += ": {";
  for (const auto& [name, text] : pairs) append_text(&pairs.front().first == &name ? out : out += ", ", name, text);
  out += "}";
}

void append_capabilities(std::string& out, const TemplateCapabilities& can) {
  out += ", \"capabilities\": {";
  append_pairs(out, "roles", can.roles);
  out += ", ";
  append_pairs(out, "orders", can.orders);
  append_list(out, "contents", can.contents, [&](const ContentShape& shape) {
    append_text(out += "{", "role", shape.role);
    append_flag(out, "text", shape.text);
    append_flag(out, "parts", shape.parts);
    append_flag(out, "alike", shape.alike);
    out += "}";
  });
  append_flag(out, "text_content", can.text_content);
  append_flag(out, "parts_content", can.parts_content);
  append_flag(out, "tools", can.tools);
  append_flag(out, "calls", can.calls);
  append_flag(out, "parallel_calls", can.parallel_calls);
  append_flag(out, "content_with_calls", can.content_with_calls);
  append_flag(out, "object_arguments", can.object_arguments);
  append_flag(out, "text_arguments", can.text_arguments);
  append_flag(out, "escapes_text", can.escapes_text);
  append_flag(out, "text_arguments_needed", can.text_arguments_needed);
  append_text(out += ", ", "call_ids", name_of(can.call_ids));
  append_flag(out, "call_ids_shown", can.call_ids_shown);
  append_flag(out, "call_ids_needed", can.call_ids_needed);
  append_flag(out, "absent_content_needed", can.absent_content_needed);
  append_flag(out, "null_content_needed", can.null_content_needed);
  append_flag(out, "reasoning_with_text", can.reasoning_with_text);
  append_flag(out, "reasoning_with_calls", can.reasoning_with_calls);
  append_flag(out, "reasoning_in_history", can.reasoning_in_history);
  if (!can.reasoning_key.empty()) append_text(out += ", ", "reasoning_key", can.reasoning_key);
  if (!can.reasoning_member.empty()) append_text(out += ", ", "reasoning_member", can.reasoning_member);
  append_flag(out, "reasoning_excludes_content", can.reasoning_excludes_content);
  append_flag(out, "reasoning_names_alike", can.reasoning_names_alike);
  out += "}";
}

}  // namespace

std::string DerivedFormat::to_json() const {
  std::string out = "{";
  append_text(out, "verdict", name_of(verdict));
  out += ", \"format\": " + format.to_json();
  append_list(out, "missing", missing, [&](const std::string& sentence) { append_json_string(out, sentence); });
  append_list(out, "notes", notes, [&](const std::string& sentence) { append_json_string(out, sentence); });
  append_list(out, "starts", starts, [&](const ThinkingStart& start) {
    out += "{";
    if (!start.variable.empty()) {
      append_text(out, "variable", start.variable);
      out += ", \"value\": " + start.value + ", ";
    }
    append_text(out, "prompt", start.prompt);
    append_flag(out, "in_reasoning", start.in_reasoning);
    out += "}";
  });
  append_list(out, "evidence", evidence, [&](const DerivedField& field) {
    append_text(out += "{", "field", field.field);
    append_text(out += ", ", "experiment", field.experiment);
    append_text(out += ", ", "shown", field.shown);
    out += "}";
  });
  append_capabilities(out, capabilities);
  return out + ", \"renders\": " + std::to_string(renders) + "}";
}

}  // namespace parlance
