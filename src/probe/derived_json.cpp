// DerivedFormat as JSON. Begin reading at DerivedFormat::to_json.
#include "json/writer.h"
#include "parlance/derive.h"

namespace parlance {
namespace {

std::string object_of(const std::vector<RoleFate>& roles) {
  Json json('{');
  for (const auto& [role, fate] : roles) json.text(role, name_of(fate));
  return json.take();
}

std::string orders_of(const TemplateCapabilities& can) {
  Json json('{');
  for (std::size_t i = 0; i < kMessageOrders; ++i) {
    const auto order = static_cast<MessageOrder>(i);
    if (can.fate(order) != MessageFate::untried) json.text(name_of(order), name_of(can.fate(order)));
  }
  return json.take();
}

/// What a template can or cannot, by name.
/// Names are what users read and scripts compare with: a new flag gets a row, an old one keeps its name.
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
    {"empty_tools_needed", &TemplateCapabilities::empty_tools_needed},
    {"reasoning_with_text", &TemplateCapabilities::reasoning_with_text},
    {"reasoning_with_calls", &TemplateCapabilities::reasoning_with_calls},
    {"reasoning_in_history", &TemplateCapabilities::reasoning_in_history},
    {"reasoning_excludes_content", &TemplateCapabilities::reasoning_excludes_content},
    {"reasoning_names_alike", &TemplateCapabilities::reasoning_names_alike},
};

std::string json_of(const ContentShape& shape) {
  Json json('{');
  json.text("role", shape.role).flag("text", shape.text).flag("parts", shape.parts);
  return json.flag("alike", shape.alike).take();
}

std::string json_of(const MediaShape& shape) {
  return Json('{').text("role", shape.role).text("type", shape.type).text("shown_as", shape.shown_as).take();
}

std::string json_of(const EffortSetting& setting) {
  Json variables('{');
  for (const EffortVariable& variable : setting.variables) variables.raw(variable.name, variable.value);
  return Json('{').text("effort", setting.effort).raw("variables", variables.take()).take();
}

std::string json_of(const ThinkingStart& start) {
  Json json('{');
  if (!start.variable.empty()) json.text("variable", start.variable).raw("value", start.value);
  return json.text("prompt", start.prompt).flag("in_reasoning", start.in_reasoning).take();
}

std::string json_of(const DerivedField& field) {
  return Json('{').text("field", field.field).text("experiment", field.experiment).text("shown", field.shown).take();
}

std::string json_of(const TriedExperiment& one) {
  return Json('{').text("kind", one.kind).text("name", one.name).take();
}

template <typename List>
std::string list_of(const List& list) {
  Json json('[');
  for (const auto& item : list) json.item(json_of(item));
  return json.take();
}

std::string json_of(const TemplateCapabilities& can) {
  Json json('{');
  json.raw("roles", object_of(can.roles)).raw("orders", orders_of(can)).raw("contents", list_of(can.contents));
  json.raw("media", list_of(can.media)).raw("efforts", list_of(can.efforts));
  for (const auto& [name, flag] : kFlags) json.flag(name, can.*flag);
  json.text("call_ids", name_of(can.call_ids));
  if (!can.reasoning_key.empty()) json.text("reasoning_key", can.reasoning_key);
  if (!can.reasoning_member.empty()) json.text("reasoning_member", can.reasoning_member);
  return json.take();
}

}  // namespace

std::string DerivedFormat::to_json() const {
  Json json('{');
  json.text("verdict", name_of(verdict)).raw("format", format.to_json());
  json.raw("missing", json_list(missing)).raw("notes", json_list(notes)).raw("starts", list_of(starts));
  json.raw("evidence", list_of(evidence)).raw("tried", list_of(tried)).raw("capabilities", json_of(capabilities));
  return json.number("renders", static_cast<std::int64_t>(renders)).take();
}

}  // namespace parlance
