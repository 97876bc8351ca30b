// The command line: reads it, runs the command, gives its exit code. The commands are in
// commands.cpp.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "cli/version.h"

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

int refuse(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  Error::Parts parts;
  parts.code = ErrorCode::usage;
  parts.message = error.what();
  if (argc < 2 || !is_unknown_command(argv[1], parts)) parts.hint = hint_for_option(app, error, argc, argv);
  const std::string whole = app.get_parent() == nullptr ? "" : app.get_parent()->get_name() + " ";
  if (parts.hint.empty()) parts.hint = "see " + whole + app.get_name() + " --help";
  return report(Error(std::move(parts)));
}

/// What names something cannot be empty: `--tools "$UNSET"` would count as not given. Free text may be.
void forbid_empty(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const bool free_text = option->nonpositional() && option->get_type_name() == "TEXT";
    if (option->get_items_expected_max() == 0 || free_text) continue;
    const char* const why = option->get_type_name() == "FILE" ? "takes the name of a file, not an empty text" : "names nothing: the text is empty";
    option->check([why](const std::string& given) { return given.empty() ? std::string(why) : std::string(); });
  }
}

int run(int argc, char** argv) {
  CLI::App app("parlance: chat templates, rendered exactly");
  app.name("parlance");
  app.set_version_flag("--version", std::string("parlance ") + PARLANCE_VERSION,
                       "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  Run chosen;
  const CLI::App* used = &app;
  for (const Command& command : commands()) {
    // Only the command that is used declares its options: that is most of what starting costs.
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.sentence));
    if (argc < 2 || argv[1] != command.name) continue;
    if (command.program != this_program()) return become(command.program, argv);
    chosen = command.declare(*sub);
    forbid_empty(*sub);
    used = sub;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::string help = app.help();
    return std::fputs(help.c_str(), stdout) < 0;
  } catch (const CLI::CallForVersion&) {
    return std::puts(app.version().c_str()) < 0;
  } catch (const CLI::ParseError& error) {
    return refuse(*used, error, argc, argv);
  }
  return chosen ? chosen() : report(Error(ErrorCode::usage, "no command"));
}

}  // namespace
}  // namespace parlance::cli

int main(int argc, char** argv) { return parlance::cli::run(argc, argv); }
