// The commands of `parlance`, as a table: main.cpp offers them all, each has its own file.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace parlance::cli {

/// Where a command is.
enum class Program {
  main,    ///< parlance itself, and parlance-tokens, which has all
  tokens,  ///< parlance-tokens beside it, which the main program becomes: what reads tokenizers is larger than all the
           ///< rest, and would make each render start later
};

/// What a command does once the command line is read; returns the exit code.
using Run = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view sentence;
  Program program;
  /// Declares the options of the command; they live as long as the Run it returns. Null where this program has it not.
  Run (*declare)(CLI::App& app);
  /// What the exit codes 0 and 1 say of it. 2, 3 and 4 mean the same everywhere (kFailures).
  std::string_view done = "done";
  std::string_view refused = "";  ///< empty: it does not end so
};
std::span<const Command> commands();

/// An exit code that means the same for every command.
struct Failure {
  int code;
  std::string_view meaning;
};
inline constexpr Failure kFailures[] = {
    {2, "the command line is wrong"},
    {3, "a file or the request cannot be read or is not valid, or the output cannot be written"},
    {4, "a limit was reached"},
};
/// The exit codes of a command, as lines below its help.
std::string exit_codes_text(const Command& command);

/// Declares a command's options and those that all commands have.
Run declare_all(const Command& command, CLI::App& app);
/// Which of the two this is.
Program this_program();
/// Becomes the other program, with the same arguments; returns the exit code if that fails.
int become(Program program, char** argv);

Run declare_render(CLI::App& app);
Run declare_template(CLI::App& app);
Run declare_list(CLI::App& app);
Run declare_read(CLI::App& app);
Run declare_convert(CLI::App& app);
Run declare_format(CLI::App& app);
Run declare_check(CLI::App& app);
Run declare_tokens(CLI::App& app);
Run declare_prefix(CLI::App& app);
Run declare_grammar(CLI::App& app);
Run declare_completions(CLI::App& app);
Run declare_help(CLI::App& app);

}  // namespace parlance::cli
