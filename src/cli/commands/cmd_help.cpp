// parlance help and parlance completions: the command line about itself. `parlance help COMMAND` alone is main.cpp's.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

struct HelpCommand {
  std::string command;
  std::string folder;
  bool json = false;
  bool man = false;
};

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Result<void>() : Error(ErrorCode::file, path.string() + ": cannot be written");
}

/// Manual pages and completions, where packages have them below share/.
int write_shared(const std::vector<CommandText>& commands, const std::filesystem::path& folder) {
  std::vector<std::pair<std::filesystem::path, std::string>> files;
  files.emplace_back("man/man1/parlance.1", write_man_page(commands, nullptr));
  for (const CommandText& command : commands)
    files.emplace_back("man/man1/parlance-" + command.name + ".1", write_man_page(commands, &command));
  for (const CompletedShell& shell : kShells) files.emplace_back(shell.where, shell.write(commands));
  for (const auto& [path, text] : files) {
    if (Result<void> written = write_file(folder / path, text); !written) return report(written.error());
  }
  return 0;
}

int run_help(const HelpCommand& command) {
  std::vector<CommandText> commands = describe_commands();
  if (!command.folder.empty()) return write_shared(commands, command.folder);
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandText& text) { return text.name == command.command; });
  if (found == commands.end() && !command.command.empty()) {
    NearestName nearest(command.command);
    for (const CommandText& text : commands) nearest.offer(text.name);
    return report(usage("there is no command '" + command.command + "'", nearest.hint()));
  }
  if (command.man) return print(write_man_page(commands, found == commands.end() ? nullptr : &*found));
  if (found != commands.end()) commands = {*found};
  return print(write_json(commands));
}

int run_completions(const std::string& name) {
  for (const CompletedShell& shell : kShells) {
    if (shell.name == name) return print(shell.write(describe_commands()));
  }
  return report(usage("there are no completions for '" + name + "'", "bash, zsh or fish"));
}

constexpr const char* kHelpFooter = R"(Examples:
  parlance help render                   what parlance render --help prints
  parlance help --man render | man -l -
  parlance help --json                   all commands and options, for programs)";

constexpr const char* kCompletionsFooter = R"(Examples:
  source <(parlance completions bash)
  parlance completions zsh > ~/.zfunc/_parlance          a folder of $fpath
  parlance completions fish > ~/.config/fish/completions/parlance.fish)";

}  // namespace

Run declare_help(Options& app) {
  auto command = std::make_shared<HelpCommand>();
  app.examples(kHelpFooter);
  app.add_option("COMMAND", command->command, "The command; without, all of them");
  app.add_flag("--json", command->json, "Print the options of all commands, or of COMMAND, as JSON");
  app.add_flag("--man", command->man, "Print the manual page");
  app.add_option("--write", command->folder,
                 "Write manual pages and completions below this folder, as packages have them in share/")
      .placeholder("PATH");
  return [command] { return run_help(*command); };
}

Run declare_completions(Options& app) {
  auto shell = std::make_shared<std::string>();
  app.examples(kCompletionsFooter);
  app.add_option("SHELL", *shell, "bash, zsh or fish").required();
  return [shell] { return run_completions(*shell); };
}

}  // namespace parlance::cli
