// The table of commands, and which program each is in. Compiled once for each program.
#include "cli/commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/output.h"
#include "cli/report.h"

namespace parlance::cli {

namespace {

#ifdef PARLANCE_TOKENS_PROGRAM
constexpr Program kThis = Program::tokens;
#define PARLANCE_TOKENS(declare) declare
#else
constexpr Program kThis = Program::main;
#define PARLANCE_TOKENS(declare) nullptr
#endif

constexpr std::string_view kAnswered = "rendered; with --jsonl: every line was answered, be it by an error";
constexpr std::string_view kFailed = "the template, or the data it met, failed; with --jsonl: the template does not compile, or with --fail-on-error a line was "
                                      "answered by an error; with --strict: something of the request is not in the prompt";

constexpr Command kCommands[] = {
    {"render", "Render a conversation with a chat template", Program::main, declare_render, kAnswered, kFailed},
    {"tokens", "The same as token ids that no content can forge, with masks", Program::tokens, PARLANCE_TOKENS(declare_tokens),
     "done; with --jsonl: every line was answered, be it by an error",
     "the template, or the data it met, failed; the prompt does not go on from the ids of --extend; with --jsonl and --strict as render"},
    {"prefix", "Say where two requests stop sharing a prefix, why, and what it costs", Program::tokens,
     PARLANCE_TOKENS(declare_prefix), "done", "the template, or the data it met, failed; with --check: B does not begin with A"},
    {"template", "Show a model's template and what comes along with it", Program::main, declare_template, "done"},
    {"read", "Read a model's reply as a message, or as events while it streams", Program::main, declare_read,
     "read, whatever went wrong in the reply; with --jsonl: every line was answered, be it by an error",
     "the template does not compile, or fails in each experiment; with --conversation: the prompt is not one of the format"},
    {"format", "Show how a template's model writes its replies, and what the template can", Program::main, declare_format,
     "there is a format, be it a partial one", "there is none: the template does not compile, or no answer could be rendered"},
    {"check", "Try the laws of a template and its replies with generated conversations", Program::main, declare_check,
     "the format is verified, and all laws hold that apply",
     "a law is broken or untried, the format is partial, or there is none (as parlance format says)"},
    {"grammar", "Write a grammar that keeps a model to well-formed replies", Program::tokens, PARLANCE_TOKENS(declare_grammar), "written",
     "there is no such grammar: nothing fits a schema, or the format cannot do what is asked for"},
    {"list", "List what there is: filters, tests, functions, errors, formats, passes, models", Program::main, declare_list, "listed"},
    {"completions", "Print what completes command lines in bash, zsh or fish", Program::tokens, PARLANCE_TOKENS(declare_completions), "printed"},
    {"help", "Show what a command takes, as its --help does, or all of it for programs", Program::tokens, PARLANCE_TOKENS(declare_help), "shown"},
};

const char* name_of(Program program) { return program == Program::tokens ? "parlance-tokens" : "parlance"; }

}  // namespace

std::span<const Command> commands() { return kCommands; }
Program this_program() { return kThis; }

std::string exit_codes_text(const Command& command) {
  std::string text = "Exit codes:\n  0  " + std::string(command.done);
  if (!command.refused.empty()) text.append("\n  1  ").append(command.refused);
  for (const Failure& failure : kFailures) text.append("\n  ").append(std::to_string(failure.code)).append("  ").append(failure.meaning);
  return text;
}

namespace {

/// What names something cannot be empty: `--tools "$UNSET"` would count as not given. Free text may be.
void forbid_empty(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const bool free_text = option->nonpositional() && option->get_type_name() == "TEXT";
    if (option->get_items_expected_max() == 0 || free_text) continue;
    const char* const why = option->get_type_name() == "FILE" ? "takes the name of a file, not an empty text" : "names nothing: the text is empty";
    option->check([why](const std::string& given) { return given.empty() ? std::string(why) : std::string(); });
  }
}

}  // namespace

Run declare_all(const Command& command, CLI::App& app) {
  Run run = command.declare(app);
  app.add_option("-o,--output", output_path(), "Write to a file; to a compressed one where it ends in .gz or .zst")->type_name("FILE");
  forbid_empty(app);
  return run;
}

int become(Program program, char** argv) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string path = (self.parent_path() / name_of(program)).string();
  ::execv(path.c_str(), argv);
  Error::Parts parts;
  parts.code = ErrorCode::file;
  parts.message = "what does this is in the program " + std::string(name_of(program)) + ", which is not at '" + path + "'";
  parts.hint = "it is built and installed with the tokenizers: cmake --build BUILD --target parlance_tokens_cli";
  return report(Error(std::move(parts)));
}

}  // namespace parlance::cli
