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

/// What a template can or cannot, by name.
constexpr std::pair<std::string_view, bool TemplateCapabilities::*> kFlags[] = {
    {"text_content", &TemplateCapabilities::text_content},
    {"parts_content", &TemplateCapabilities::parts_content},
    {"tools", &TemplateCapabilities::tools},
    {"calls", &TemplateCapabilities::calls},
    {"parallel_calls", &TemplateCapabilities::parallel_calls},
    {"content_with_calls", &TemplateCapabilities::content_with_calls},
    {"calls_behind_content", &TemplateCapabilities::calls_behind_content},
    {"object_arguments", &TemplateCapabilities::object_arguments},
    {"text_arguments", &TemplateCapabilities::text_arguments},
    {"escapes_text", &TemplateCapabilities::escapes_text},
    {"text_arguments_needed", &TemplateCapabilities::text_arguments_needed},
    {"call_ids_shown", &TemplateCapabilities::call_ids_shown},
    {"call_ids_needed", &TemplateCapabilities::call_ids_needed},
    {"absent_content_needed", &TemplateCapabilities::absent_content_needed},
    {"null_content_needed", &TemplateCapabilities::null_content_needed},
    {"reasoning_with_text", &TemplateCapabilities::reasoning_with_text},
    {"reasoning_with_calls", &TemplateCapabilities::reasoning_with_calls},
    {"reasoning_in_history", &TemplateCapabilities::reasoning_in_history},
    {"reasoning_excludes_content", &TemplateCapabilities::reasoning_excludes_content},
    {"reasoning_names_alike", &TemplateCapabilities::reasoning_names_alike},
};

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
  append_list(out, "media", can.media, [&](const MediaShape& shape) {
    append_text(out += "{", "role", shape.role);
    append_text(out += ", ", "type", shape.type);
    append_text(out += ", ", "shown_as", shape.shown_as);
    out += "}";
  });
  append_list(out, "efforts", can.efforts, [&](const EffortSetting& setting) {
    append_text(out += "{", "effort", setting.effort);
    out += ", \"variables\": {";
    for (const EffortVariable& variable : setting.variables) {
      if (&variable != &setting.variables.front()) out += ", ";
      append_json_string(out, variable.name);
      out += ": " + variable.value;
    }
    out += "}}";
  });
  for (const auto& [name, flag] : kFlags) append_flag(out, name, can.*flag);
  append_text(out += ", ", "call_ids", name_of(can.call_ids));
  if (!can.reasoning_key.empty()) append_text(out += ", ", "reasoning_key", can.reasoning_key);
  if (!can.reasoning_member.empty()) append_text(out += ", ", "reasoning_member", can.reasoning_member);
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
  append_list(out, "tried", tried, [&](const TriedExperiment& one) {
    append_text(out += "{", "kind", one.kind);
    append_text(out += ", ", "name", one.name);
    out += "}";
  });
  append_capabilities(out, capabilities);
  return out + ", \"renders\": " + std::to_string(renders) + "}";
}

}  // namespace parlance
