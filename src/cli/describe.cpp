// Walks the commands; see describe.h. What stands for a value is told by its placeholder: kValues.
#include "cli/describe.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.h"
#include "cli/lists.h"
#include "cli/options/options.h"
#include "cli/options/tokenizer_choice.h"
#include "cli/texts_json.h"
#include "cli/token_stats.h"
#include "parlance/conversation.h"
#include "parlance/grammar.h"
#include "parlance/json_writer.h"
#include "parlance/reply_api.h"
#include "parlance/reply_kinds.h"
#include "parlance/request_api.h"
#include "parlance/source.h"
#include "parlance/transformers.h"

namespace parlance::cli {
namespace {

using Values = std::vector<std::string>;

Values format_names() {
  Values values;
  for (const BuiltinFormat& format : builtin_formats()) values.emplace_back(format.name);
  return values;
}

Values pass_names() {
  Values values;
  for (const NormalisePass& pass : normalise_passes()) values.emplace_back(pass.name);
  return values;
}

Values shell_names() {
  Values values;
  for (const CompletedShell& shell : kShells) values.emplace_back(shell.name);
  return values;
}

Values release_names() {
  Values values;
  for (const TransformersRelease& release : transformers_releases()) values.emplace_back(release.name);
  return values;
}

Values command_names() {
  Values values;
  for (const Command& command : commands()) values.emplace_back(command.name);
  return values;
}

struct ValuesRow {
  std::string_view placeholder;
  Values (*values)();  ///< null: files
};
/// Placeholders whose values a shell can offer. Every other one is free text.
constexpr ValuesRow kValues[] = {
    {"FILE", nullptr},
    {"PATH", nullptr},
    {"IDS", nullptr},
    {"MODEL", nullptr},
    {"FORMAT", format_names},
    {"PASS", pass_names},
    {"PASS[:ARGUMENT]", pass_names},
    {"SHELL", shell_names},
    {"COMMAND", command_names},
    {"LIST", list_names},
    {"LANGUAGE",
     [] {
       return Values{"jinja", "go"};
     }},
    {"SYNTAX", [] { return Values(grammar_syntax_names().begin(), grammar_syntax_names().end()); }},
    {"API", [] { return Values(reply_api_names().begin(), reply_api_names().end()); }},
    {"REQUEST_API", [] { return Values(request_api_names().begin(), request_api_names().end()); }},
    {"READER", model_readers},
    {"POLICY", [] { return Values(too_long_names().begin(), too_long_names().end()); }},
    {"KIND", [] { return Values(reply_kind_names().begin() + 1, reply_kind_names().end()); }},
    {"VERSION", release_names},
    {"EFFORT", [] { return Values(reasoning_efforts().begin(), reasoning_efforts().end()); }},
    {"CHOICE",
     [] {
       return Values{"auto", "required", "none"};
     }},
    {"WHEN",
     [] {
       return Values{"auto", "always", "never"};
     }},
};

void take_values(OptionText& text) {
  for (const ValuesRow& row : kValues) {
    if (row.placeholder != text.placeholder) continue;
    text.kind = row.values == nullptr ? ValueKind::file : ValueKind::listed;
    if (row.values != nullptr) text.values = row.values();
  }
}

/// One line: help breaks long sentences by hand.
std::string without_line_breaks(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  const bool is_argument = option.get_positional();
  text.sentence = without_line_breaks(option.get_description());
  text.by_default = option.get_default_str();
  text.takes_value = option.get_items_expected_max() != 0;
  text.value_is_optional = !text.takes_value && type == "WHEN";
  text.is_required = option.get_required();
  text.may_repeat = option.get_items_expected_max() > 1;
  text.placeholder = is_argument ? option.get_name(true) : text.takes_value || text.value_is_optional ? type : "";
  take_values(text);
  if (is_argument && type == "FILE") text.kind = ValueKind::file;
  return text;
}

CommandText text_of(const Command& command) {
  CLI::App app;
  app.set_help_flag("-h,--help", "Print this help");
  Options options(app);
  const Run run = declare_all(command, options);  // the options live in it
  CommandText text;
  text.name = command.name;
  text.sentence = command.sentence;
  text.examples = app.get_footer();
  for (const CLI::Option* option : std::as_const(app).get_options()) {
    (option->get_positional() ? text.arguments : text.options).push_back(text_of(*option));
  }
  text.exits.push_back({0, command.done});
  if (!command.refused.empty()) text.exits.push_back({1, command.refused});
  for (const Failure& failure : kFailures) text.exits.push_back({failure.code, failure.meaning});
  return text;
}

std::string options_as_json(const std::vector<OptionText>& options) {
  JsonWriter list('[');
  for (const OptionText& option : options) {
    JsonWriter row('{');
    row.key("names") += texts_as_json(option.names);
    if (!option.placeholder.empty()) row.text("placeholder", option.placeholder);
    row.text("sentence", option.sentence);
    if (!option.by_default.empty()) row.text("default", option.by_default);
    if (!option.values.empty()) row.key("values") += texts_as_json(option.values);
    row.flag("takes_value", option.takes_value).flag("value_is_optional", option.value_is_optional);
    row.flag("required", option.is_required).flag("may_repeat", option.may_repeat);
    list.next() += row.take();
  }
  return list.take();
}

}  // namespace

std::vector<CommandText> describe_commands() {
  std::vector<CommandText> texts;
  for (const Command& command : commands()) texts.push_back(text_of(command));
  return texts;
}

std::string write_json(const std::vector<CommandText>& commands) {
  JsonWriter list('[');
  for (const CommandText& command : commands) {
    JsonWriter row('{');
    row.text("name", command.name).text("sentence", command.sentence);
    row.key("arguments") += options_as_json(command.arguments);
    row.key("options") += options_as_json(command.options);
    JsonWriter exits('[');
    for (const ExitText& exit : command.exits) {
      JsonWriter one('{');
      one.number("code", exit.code).text("meaning", exit.meaning);
      exits.next() += one.take();
    }
    row.key("exit_codes") += exits.take();
    list.next() += row.take();
  }
  return list.take() + "\n";
}

}  // namespace parlance::cli
