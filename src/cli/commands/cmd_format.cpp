// parlance format: how a template's model writes its replies, and what the template can.
//
// Begin reading at run_format.
#include <memory>

#include "cli/commands.h"
#include "cli/options/derive_choice.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "parlance/response_template.h"

namespace parlance::cli {
namespace {

struct FormatCommand {
  PromptOptions prompt;
  bool json = false;
  bool only_format = false;
  bool response_template = false;
};

void append_row(std::string& out, std::string_view name, std::string_view text) {
  out.append("  ").append(name);
  out.append(name.size() < 26 ? 26 - name.size() : 1, ' ');
  out.append(text).append("\n");
}

std::string yes(bool flag) { return flag ? "yes" : "no"; }

std::string shape_of(const ContentShape& shape) {
  if (!shape.text || !shape.parts) return shape.text ? "text" : "a list of parts";
  return shape.alike ? "text or a list of parts" : "text or a list of parts, which show otherwise";
}

std::string call_ids_of(const TemplateCapabilities& can) {
  std::string out = can.call_ids_shown ? "shown" : "not shown";
  if (can.call_ids_needed) out += ", needed";
  if (can.call_ids == CallIds::nine) out += ", nine letters and digits";
  if (can.call_ids == CallIds::named) out += ", with the tool's name";
  return out;
}

void append_capabilities(std::string& out, const TemplateCapabilities& can) {
  out += "\nthe template\n";
  for (const auto& [role, fate] : can.roles) append_row(out, "role " + role, name_of(fate));
  for (std::size_t i = 0; i < kMessageOrders; ++i) {
    const auto order = static_cast<MessageOrder>(i);
    if (can.fate(order) != MessageFate::untried) append_row(out, name_of(order), name_of(can.fate(order)));
  }
  for (const ContentShape& shape : can.contents) append_row(out, "content of " + shape.role, shape_of(shape));
  for (const MediaShape& shape : can.media) {
    append_row(out, shape.type + " of " + shape.role,
               shape.shown_as.empty()         ? "not shown"
               : shape.shown_as == shape.type ? "shown"
                                              : "shown as " + shape.shown_as);
  }
  append_row(out, "tools", can.tools ? "shown" : "not shown");
  append_row(out, "calls",
             !can.calls           ? "not shown"
             : can.parallel_calls ? "shown, several in a message"
                                  : "shown, one in a message");
  if (can.calls) {
    append_row(out, "content beside calls",
               !can.content_with_calls    ? "dropped"
               : can.calls_behind_content ? "kept"
                                          : "kept, and nothing marks where a call begins");
    append_row(out, "arguments", can.text_arguments_needed ? "text" : can.text_arguments ? "object or text" : "object");
    append_row(out, "call ids", call_ids_of(can));
  }
  if (!can.reasoning_key.empty()) {
    append_row(out, "reasoning", "in " + can.reasoning_key);
    append_row(out, "  beside an answer", yes(can.reasoning_with_text));
    append_row(out, "  beside calls", yes(can.reasoning_with_calls));
    append_row(out, "  of earlier turns", can.reasoning_in_history ? "kept" : "dropped");
  }
}

void append_efforts(std::string& out, const std::vector<EffortSetting>& efforts) {
  if (efforts.empty()) return;
  out += "\nan effort of reasoning sets\n";
  for (const EffortSetting& setting : efforts) {
    std::string row;
    for (const EffortVariable& variable : setting.variables)
      row += (row.empty() ? "" : ", ") + variable.name + " = " + variable.value;
    append_row(out, setting.effort, row.empty() ? "nothing: it has no effect" : row);
  }
}

std::string derived_as_text(const DerivedFormat& derived) {
  std::string out = "verdict: " + std::string(name_of(derived.verdict)) + "\n";
  for (const std::string& sentence : derived.missing) out += "  missing: " + sentence + "\n";
  out += "\nreplies\n  " + derived.format.to_json() + "\n";
  out += "\nhow it was found\n";
  for (const DerivedField& field : derived.evidence)
    append_row(out, field.field, field.experiment + ": " + in_quotes(field.shown));
  out += "\nprompts end with\n";
  for (const ThinkingStart& start : derived.starts) {
    const std::string name = start.variable.empty() ? "by default" : start.variable + " = " + start.value;
    append_row(out, name, in_quotes(start.prompt) + (start.in_reasoning ? ", in reasoning" : ""));
  }
  append_efforts(out, derived.capabilities.efforts);
  append_capabilities(out, derived.capabilities);
  if (!derived.notes.empty()) out += "\nwhat it loses\n";
  for (const std::string& sentence : derived.notes) out += "  " + sentence + "\n";
  return out;
}

/// Losses go to standard error, so that what is printed is the template alone.
int print_response_template(const DerivedFormat& derived) {
  ResponseTemplateOptions options;
  const std::string& key = derived.capabilities.reasoning_key;
  if (!key.empty() && key.find('[') == std::string::npos) options.reasoning_key = key;  // else a part of content
  const Result<WrittenResponseTemplate> written = write_response_template(derived.format, options);
  if (!written) return report(written.error());
  for (const std::string& loss : written->losses) say_note(loss);
  return print(written->json + "\n");
}

int print_derived(const FormatCommand& command, const DerivedFormat& derived) {
  if (command.response_template) return print_response_template(derived);
  if (command.only_format) return print(derived.format.to_json() + "\n");
  return print(command.json ? derived.to_json() + "\n" : derived_as_text(derived));
}

constexpr int kNone = 1;

int run_format(FormatCommand& command) {
  const Result<DerivedFormat> derived = derive_reply(command.prompt);
  if (!derived) return report(derived.error());
  if (const std::optional<Error> limit = limit_of(*derived, command.prompt)) return report_render(*limit);
  const bool none = derived->verdict == Verdict::none;
  if (none && (command.json || command.only_format || command.response_template)) say_note(derived->missing.front());
  const int printed = print_derived(command, *derived);
  return printed == 0 && none ? kNone : printed;
}

constexpr const char* kFormatExamples = R"(Examples:
  parlance format -f terminal-agent                    how its replies are written, and how that was found
  parlance format -t chat_template.jinja --json    the same for a program
  parlance format -m org/name --reply-format > f.json    what parlance read --reply-format takes
  parlance format -m org/name --response-template       what transformers' parse_response takes)";

}  // namespace

Run declare_format(Options& app) {
  auto command = std::make_shared<FormatCommand>();
  FormatCommand& c = *command;
  app.examples(kFormatExamples);
  declare_template_options(app, c.prompt);
  declare_limits(app, c.prompt);
  declare_variables(app, c.prompt.variables);
  app.add_flag("--json", c.json, "Print all findings as a JSON object");
  app.add_flag("--reply-format", c.only_format, "Print only the reply format, as JSON");
  app.add_flag("--response-template", c.response_template,
               "Print it as transformers' response_template, for tokenizer_config.json");
  return [command] { return run_format(*command); };
}

}  // namespace parlance::cli
