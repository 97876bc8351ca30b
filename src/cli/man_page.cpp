// Manual pages in the macros of man(7), from what the commands declare. Begin reading at write_man_page.
#include "cli/describe.h"
#include "parlance/version.h"

namespace parlance::cli {
namespace {

/// Text as it is: no character of it is roff's.
std::string as_is(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + as_is(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + as_is(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string page_name(const CommandText* command) {
  return command == nullptr ? "parlance" : "parlance-" + command->name;
}

std::string head(const CommandText* command, std::string_view sentence) {
  const std::string name = page_name(command);
  return ".TH " + upper(as_is(name)) + " 1 \"\" \"parlance " PARLANCE_VERSION "\" \"parlance\"\n.SH NAME\n" +
         as_is(name) + " \\- " + as_is(sentence) + "\n";
}

std::string term(const OptionText& option) {
  std::string out;
  for (const std::string& name : option.names) out.append(out.empty() ? "" : ", ").append(bold(name));
  if (option.names.empty()) return italic(option.placeholder);
  if (option.value_is_optional) return out + "[=" + italic(option.placeholder) + "]";
  return option.takes_value ? out + " " + italic(option.placeholder) : out;
}

std::string entry(const OptionText& option) {
  std::string out = ".TP\n" + term(option) + "\n" + as_is(option.sentence);
  if (option.is_required) out += " (required)";
  if (!option.by_default.empty()) out.append(" (").append(as_is(option.by_default)).append(")");
  return out + "\n";
}

std::string exit_status(const std::vector<ExitText>& exits) {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitText& exit : exits)
    out.append(".TP\n.B ").append(std::to_string(exit.code)).append("\n").append(as_is(exit.meaning)).append("\n");
  return out;
}

std::string page_of(const CommandText& command) {
  std::string out = head(&command, command.sentence) + ".SH SYNOPSIS\n.B " + as_is("parlance " + command.name) +
                    "\n[\\fIoptions\\fR]\n";
  for (const OptionText& argument : command.arguments) {
    out += (argument.is_required ? italic(argument.placeholder) : "[" + italic(argument.placeholder) + "]") + "\n";
  }
  out += ".SH OPTIONS\n";
  for (const OptionText& argument : command.arguments) out += entry(argument);
  for (const OptionText& option : command.options) out += entry(option);
  out += exit_status(command.exits);
  if (!command.examples.empty()) {
    const std::size_t titled = command.examples.find("Examples:\n");
    const std::string examples = titled == 0 ? command.examples.substr(10) : command.examples;
    out += ".SH EXAMPLES\n.nf\n" + as_is(examples) + "\n.fi\n";
  }
  return out + ".SH SEE ALSO\n.BR parlance (1)\n";
}

std::string page_of_program(const std::vector<CommandText>& commands) {
  std::string out = head(nullptr, "chat templates, rendered exactly, and replies read");
  out +=
      ".SH SYNOPSIS\n.B parlance\n\\fIcommand\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n"
      "A model's own chat template and a conversation go in, the exact prompt comes out; the model's reply becomes a "
      "message again.\n"
      ".SH COMMANDS\n";
  for (const CommandText& command : commands) {
    out += ".TP\n" + bold(command.name) + "\n" + as_is(command.sentence) + "\n";
  }
  out += ".SH EXIT STATUS\n0 and 1 are what the page of a command says; 2, 3 and 4 mean the same for each.\n";
  std::string list;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    list += ".BR " + as_is("parlance-" + commands[i].name) + (i + 1 < commands.size() ? " (1),\n" : " (1)\n");
  }
  return out + ".SH SEE ALSO\n" + list;
}

}  // namespace

std::string write_man_page(const std::vector<CommandText>& commands, const CommandText* command) {
  return command == nullptr ? page_of_program(commands) : page_of(*command);
}

}  // namespace parlance::cli
