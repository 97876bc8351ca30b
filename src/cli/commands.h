// The commands of `parlance`, as a table: main.cpp offers them all, each has its own file.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::cli {

class Options;

/// What a command does once the command line is read; returns the exit code.
using Run = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view sentence;
  /// Declares the options of the command; they live as long as the Run it returns.
  Run (*declare)(Options& app);
  /// What the exit codes 0 and 1 say of it. 2, 3 and 4 mean the same everywhere (kFailures).
  std::string_view done = "done";
  std::string_view refused = "";  ///< empty: it does not end so
  /// With --json, tells programs on standard output that the command line is wrong; null: nothing is said there.
  void (*tell_refused)(const Error& error) = nullptr;
};
std::span<const Command> commands();

/// An exit code that means the same for every command.
struct Failure {
  int code;
  std::string_view meaning;
};
inline constexpr Failure kFailures[] = {
    {2, "the command line is wrong, or names something that parlance does not have, such as a format"},
    {3, "a file or the request cannot be read or is not valid, or the output cannot be written"},
    {4, "a limit was reached"},
};
/// The exit codes of a command, as lines below its help.
std::string exit_codes_text(const Command& command);

/// Declares a command's options and those that all commands have.
Run declare_all(const Command& command, Options& app);

Run declare_render(Options& app);
Run declare_template(Options& app);
Run declare_list(Options& app);
Run declare_read(Options& app);
Run declare_convert(Options& app);
Run declare_format(Options& app);
Run declare_check(Options& app);
Run declare_tokens(Options& app);
Run declare_prefix(Options& app);
Run declare_grammar(Options& app);
Run declare_serve(Options& app);
Run declare_agent(Options& app);
void tell_agent_refused(const Error& error);
Run declare_capture(Options& app);
Run declare_replay(Options& app);
Run declare_completions(Options& app);
Run declare_help(Options& app);

}  // namespace parlance::cli
