// The command line: reads it, runs the command, gives its exit code. The commands are in
// commands.cpp.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "parlance/version.h"

namespace parlance::cli {
namespace {

/// The option nearest to one that does not exist.
std::string hint_for(const CLI::App& app, const std::string& argument) {
  NearestName nearest(argument);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::string full = "--" + name;
      if (full == argument) return {};
      nearest.offer(full);
    }
  }
  return nearest.hint();
}

/// The option that the error is about, where it has a near one.
std::string hint_for_option(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string hint;
  for (int i = 1; i < argc && hint.empty(); ++i) {
    const bool is_it = std::strncmp(argv[i], "--", 2) == 0 && std::strstr(error.what(), argv[i]) != nullptr;
    if (is_it) hint = hint_for(app, argv[i]);
  }
  return hint;
}

/// Says so, if the first word is no command.
bool is_unknown_command(std::string_view word, Error::Parts& parts) {
  NearestName nearest(word);
  for (const Command& command : commands()) {
    if (command.name == word) return false;
    nearest.offer(command.name);
  }
  if (word.starts_with('-')) return false;
  parts.message = "there is no command '" + std::string(word) + "'";
  parts.hint = nearest.hint();
  return true;
}

/// What CLI11 says of the number of an option's values, as people say it; the rest as it is.
std::string in_plain_words(const CLI::ParseError& error) {
  const std::string said = error.what();
  const std::string option = said.substr(0, said.find(':'));
  if (error.get_name() == "RequiredError" && said == "A subcommand is required")
    return "a command is missing: parlance COMMAND, as in parlance render";
  if (error.get_name() != "ArgumentMismatch") return said;
  if (said.find("At Most 1 required") != said.npos) return option + " is given more than once, and takes one value";
  if (said.ends_with(" missing")) return option + " needs a value";
  return said;
}

int refuse(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  Error::Parts parts;
  parts.code = ErrorCode::usage;
  parts.message = in_plain_words(error);
  if (argc < 2 || !is_unknown_command(argv[1], parts)) parts.hint = hint_for_option(app, error, argc, argv);
  const std::string whole = app.get_parent() == nullptr ? "" : app.get_parent()->get_name() + " ";
  if (parts.hint.empty()) parts.hint = "see " + whole + app.get_name() + " --help";
  const Error refusal(std::move(parts));
  const bool wants_json =
      std::any_of(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--json") == 0; });
  for (const Command& command : commands())
    if (wants_json && command.name == app.get_name() && command.tell_refused != nullptr) command.tell_refused(refusal);
  return report(refusal);
}

bool is_command(std::string_view word) {
  const std::span<const Command> all = commands();
  return std::any_of(all.begin(), all.end(), [word](const Command& command) { return command.name == word; });
}

/// `parlance help VERB` is `parlance VERB --help`, and `parlance help` is `parlance --help`; with options it is a
/// command of its own.
std::vector<char*> without_help(int argc, char** argv) {
  static char option[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::strcmp(argv[1], "help") != 0) return words;
  if (argc == 2) words[1] = option;
  if (argc == 3 && is_command(argv[2])) words = {argv[0], argv[2], option};
  return words;
}

/// Below the examples. Written only where help is asked for.
void add_exit_codes(const Command& command, CLI::App& app) {
  const std::string examples = app.get_footer();
  app.footer(std::string());
  app.footer([examples, &command] { return examples + (examples.empty() ? "" : "\n\n") + exit_codes_text(command); });
}

/// CLI11 writes a value that may be left out as `--color{always} WHEN`; others write `--color[=WHEN]`. As wide as
/// before.
std::string as_others_write(std::string help) {
  constexpr std::string_view kTheirs = "{always} WHEN", kUsual = "[=WHEN]      ";
  static_assert(kTheirs.size() == kUsual.size());
  for (std::size_t at = help.find(kTheirs); at != help.npos; at = help.find(kTheirs, at))
    help.replace(at, kTheirs.size(), kUsual);
  return help;
}

/// What the system does not give is an error like others.
int run_chosen(const Run& chosen) {
  try {
    return chosen();
  } catch (const std::bad_alloc&) {
    return report(Error(ErrorCode::limit_memory, "there is not enough memory"));
  } catch (const std::system_error& failed) {
    Error error(ErrorCode::usage, std::string("this cannot be run here: ") + failed.what());
    if (failed.code() == std::errc::resource_unavailable_try_again)
      error = error.hint("ulimit -u says how many processes and threads this user may have");
    return report(error);
  }
}

/// Reads the command line with `app` and runs the command.
int run(CLI::App& app, int argc, char** argv) {
  Run chosen;
  const CLI::App* used = &app;
  const bool is_one = argc > 1 && is_command(argv[1]);
  for (const Command& command : commands()) {
    // Only the command that is used is added, and declares its options: that is most of what starting costs.
    if (is_one && argv[1] != command.name) continue;
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.sentence));
    if (!is_one) continue;
    Options options(*sub);
    chosen = declare_all(command, options);
    add_exit_codes(command, *sub);
    used = sub;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(as_others_write(app.help()));
  } catch (const CLI::CallForVersion&) {
    return print(app.version() + "\n");
  } catch (const CLI::ParseError& error) {
    return refuse(*used, error, argc, argv);
  }
  return finish_output(chosen ? run_chosen(chosen) : report(Error(ErrorCode::usage, "no command")));
}

/// Where one of the three is closed, what is opened next would get its number, and what is said. A descriptor that
/// cannot be used that way stands for it: whoever reads or writes is told so, as before.
void keep_numbers_of_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number) return;
  }
}

int run(int argc, char** argv) {
  CLI::App app("parlance: chat templates, rendered exactly");
  app.name("parlance");
  app.set_version_flag("-V,--version", "parlance " PARLANCE_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  std::vector<char*> words = without_help(argc, argv);
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  return run(app, count, words.data());
}

}  // namespace
}  // namespace parlance::cli

int main(int argc, char** argv) {
  parlance::cli::keep_numbers_of_streams();
  return parlance::cli::run(argc, argv);
}
