// Completions of command lines for three shells, from what the commands declare. Begin reading at kShells.
#include <algorithm>

#include "cli/describe.h"

namespace parlance::cli {
namespace {

using Commands = std::vector<CommandText>;

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out.append(out.empty() ? "" : between).append(word);
  return out;
}

std::string replaced(std::string_view text, char what, std::string_view with) {
  std::string out;
  for (const char c : text) c == what ? out.append(with) : out.append(1, c);
  return out;
}

/// In single quotes of a shell of Bourne's kind.
std::string shell_quoted(std::string_view text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

// ---- bash

/// What follows an option, or stands as an argument.
std::string bash_values(const OptionText& option) {
  if (option.kind == ValueKind::file) return "_parlance_files";
  if (option.kind == ValueKind::any) return ":";
  return "_parlance_words " + shell_quoted(joined(option.values, " "));
}

std::string bash_command(const CommandText& command) {
  std::string values, names;
  for (const OptionText& option : command.options) {
    names.append(names.empty() ? "" : " ").append(joined(option.names, " "));
    const bool has_value = option.takes_value || option.value_is_optional;
    const std::vector<std::string> after = option.takes_value ? option.names : std::vector<std::string>{};
    std::vector<std::string> patterns = after;
    for (const std::string& name : option.names) {
      if (has_value && name.starts_with("--")) patterns.push_back(name + "=");
    }
    if (has_value)
      values.append("        ")
          .append(joined(patterns, "|"))
          .append(") ")
          .append(bash_values(option))
          .append("; return ;;\n");
  }
  const std::string argument = command.arguments.empty() ? ":" : bash_values(command.arguments.front());
  return "    " + command.name + ")\n      case $before in\n" + values +
         "      esac\n      if [[ $current == -* ]]; then _parlance_words " + shell_quoted(names) + "; else " +
         argument + "; fi ;;\n";
}

std::string write_bash(const Commands& commands) {
  std::string out = R"(# Completions of parlance for bash, written by `parlance completions bash`.
_parlance_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_parlance_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); }
_parlance() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # bash splits --option=value into three words.
  if [[ $current == "=" ]]; then before=$before= current=
  elif [[ $before == "=" ]]; then before=${COMP_WORDS[COMP_CWORD-2]}=; fi
  if (( COMP_CWORD == 1 )); then
    _parlance_words )" +
                    shell_quoted(joined(names_of(commands), " ") + " --help --version") + R"(
    return
  fi
  case ${COMP_WORDS[1]} in
)";
  for (const CommandText& command : commands) out += bash_command(command);
  return out + "  esac\n}\ncomplete -F _parlance parlance\n";
}

// ---- zsh

std::string zsh_escaped(std::string_view text) {
  return replaced(replaced(replaced(replaced(replaced(text, '\\', "\\\\"), '[', "\\["), ']', "\\]"), ':', "\\:"), '\'',
                  "'\\''");
}

std::string zsh_action(const OptionText& option) {
  if (option.kind == ValueKind::file) return "_files";
  return option.kind == ValueKind::any ? " " : "(" + joined(option.values, " ") + ")";
}

/// One specification of _arguments: '(-t --template)'{-t+,--template=}'[sentence]:FILE:_files'.
std::string zsh_option(const OptionText& option) {
  std::vector<std::string> forms;
  for (const std::string& name : option.names) {
    const std::string_view value = option.value_is_optional ? "=-"
                                   : !option.takes_value    ? ""
                                   : name.starts_with("--") ? "="
                                                            : "+";
    forms.push_back(name + std::string(value));
  }
  std::string out = shell_quoted(option.may_repeat ? "*" : "(" + joined(option.names, " ") + ")");
  out += forms.size() == 1 ? forms.front() : "{" + joined(forms, ",") + "}";
  out.append("'[").append(zsh_escaped(option.sentence)).append("]");
  if (!option.placeholder.empty()) {
    out.append(option.value_is_optional ? "::" : ":")
        .append(zsh_escaped(option.placeholder))
        .append(":")
        .append(zsh_action(option));
  }
  return out + "'";
}

std::string zsh_command(const CommandText& command) {
  std::string out = "    " + command.name + ")\n      _arguments -s -S : \\\n";
  for (const OptionText& option : command.options) out.append("        ").append(zsh_option(option)).append(" \\\n");
  int number = 0;
  for (const OptionText& argument : command.arguments) {
    const std::string_view colon = argument.is_required ? ":" : "::";
    out.append("        '")
        .append(std::to_string(++number))
        .append(colon)
        .append(zsh_escaped(argument.placeholder))
        .append(":");
    out.append(zsh_action(argument)).append("' \\\n");
  }
  return out + "        && return 0 ;;\n";
}

std::string write_zsh(const Commands& commands) {
  std::string out =
      "#compdef parlance\n# Completions of parlance for zsh, written by `parlance completions zsh`.\n_parlance() {\n  "
      "local -a commands=(\n";
  for (const CommandText& command : commands)
    out.append("    ").append(shell_quoted(command.name + ":" + command.sentence)).append("\n");
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe -t commands command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandText& command : commands) out += zsh_command(command);
  return out +
         "  esac\n  return 1\n}\nif [[ $funcstack[1] == _parlance ]]; then _parlance \"$@\"; else compdef _parlance "
         "parlance; fi\n";
}

// ---- fish

/// In single quotes of fish.
std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string fish_values(const OptionText& option) {
  const std::string words = option.values.empty() ? "" : " -a " + fish_quoted(joined(option.values, " "));
  if (option.value_is_optional) return " -f" + words;
  return option.kind == ValueKind::file ? " -r -F" : " -x" + words;
}

std::string fish_command(const CommandText& command) {
  const std::string begin = "complete -c parlance -n '__fish_seen_subcommand_from " + command.name + "'";
  std::string out;
  for (const OptionText& option : command.options) {
    out += begin;
    for (const std::string& name : option.names)
      out.append(name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
    if (!option.placeholder.empty()) out += fish_values(option);
    out.append(" -d ").append(fish_quoted(option.sentence)).append("\n");
  }
  const bool takes_file = std::any_of(command.arguments.begin(), command.arguments.end(),
                                      [](const OptionText& a) { return a.kind == ValueKind::file; });
  if (!takes_file) out += begin + " -f\n";
  for (const OptionText& argument : command.arguments) {
    if (argument.kind == ValueKind::listed)
      out.append(begin).append(" -a ").append(fish_quoted(joined(argument.values, " "))).append("\n");
  }
  return out;
}

std::string write_fish(const Commands& commands) {
  std::string out =
      "# Completions of parlance for fish, written by `parlance completions fish`.\ncomplete -c parlance -n "
      "__fish_use_subcommand -f\n";
  for (const CommandText& command : commands) {
    out.append("complete -c parlance -n __fish_use_subcommand -a ")
        .append(command.name)
        .append(" -d ")
        .append(fish_quoted(command.sentence))
        .append("\n");
  }
  for (const CommandText& command : commands) out += fish_command(command);
  return out;
}

}  // namespace

const CompletedShell kShells[3] = {
    {"bash", "bash-completion/completions/parlance", write_bash},
    {"zsh", "zsh/vendor-completions/_parlance", write_zsh},
    {"fish", "fish/vendor_completions.d/parlance.fish", write_fish},
};

}  // namespace parlance::cli
