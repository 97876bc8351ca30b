// The command line as data: every command with every option, walked out of what the commands declare to CLI11.
//
// `parlance help --json`, completions, manual pages and docs/cli.md are all made of it, so none of them can say
// anything else than `--help`. Begin reading at describe_commands.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace parlance::cli {

/// What may stand where an option or an argument takes a value.
enum class ValueKind { any, file, listed };

struct OptionText {
  std::vector<std::string> names;  ///< "-t", "--template"; none for an argument
  std::string placeholder;         ///< FILE; of an argument, its name; empty for a flag
  std::string sentence;
  std::string by_default;           ///< empty: nothing, or nothing to tell
  std::vector<std::string> values;  ///< those there are, where kind is listed
  ValueKind kind = ValueKind::any;
  bool takes_value = false;
  bool value_is_optional = false;  ///< --color, --color=auto
  bool is_required = false;
  bool may_repeat = false;
};

struct ExitText {
  int code;
  std::string_view meaning;
};

struct CommandText {
  std::string name;
  std::string sentence;
  std::vector<OptionText> arguments;
  std::vector<OptionText> options;
  std::string examples;  ///< the text below the options, without exit codes
  std::vector<ExitText> exits;
};

/// All commands, in the order of `parlance --help`.
std::vector<CommandText> describe_commands();

std::string write_json(const std::vector<CommandText>& commands);
/// A manual page in man(7): of one command, or of the program where `command` is null.
std::string write_man_page(const std::vector<CommandText>& commands, const CommandText* command);

/// Shells that completions can be written for, and one that writes them.
struct CompletedShell {
  std::string_view name;
  std::string_view where;  ///< the file to write, below the folder of shared data
  std::string (*write)(const std::vector<CommandText>& commands);
};
extern const CompletedShell kShells[3];

}  // namespace parlance::cli
