// The commands of `parlance`, as a table: main.cpp offers them all, each has its own file.
#pragma once
#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace parlance::cli {

/// Where a command is.
enum class Program {
  main,    ///< parlance itself
  tokens,  ///< parlance-tokens beside it, which the main program becomes: what reads tokenizers is larger than all the
           ///< rest, and would make each render start later
};

/// What a command does once the command line is read; returns the exit code.
using Run = std::function<int()>;

struct Command {
  std::string_view name;
  std::string_view sentence;
  Program program;
  /// Declares the options of the command; they live as long as the Run it returns.
  Run (*declare)(CLI::App& app);
};
std::span<const Command> commands();
/// Which of the two this is.
Program this_program();
/// Becomes the other program, with the same arguments; returns the exit code if that fails.
int become(Program program, char** argv);

Run declare_render(CLI::App& app);
Run declare_template(CLI::App& app);
Run declare_list(CLI::App& app);
Run declare_read(CLI::App& app);
Run declare_format(CLI::App& app);
Run declare_check(CLI::App& app);
Run declare_tokens(CLI::App& app);
Run declare_prefix(CLI::App& app);
Run declare_grammar(CLI::App& app);

}  // namespace parlance::cli
