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

constexpr std::string_view kAnswered = "rendered; with --jsonl: every line got an answer, which may be an error";
constexpr std::string_view kFailed =
    "the template, or the data it met, failed; with --jsonl: the template does not compile, or with --fail-on-error a "
    "line was "
    "answered by an error; with --strict: something of the request is not in the prompt";

constexpr Command kCommands[] = {
    {"render", "Render a conversation with a chat template", Program::main, declare_render, kAnswered, kFailed},
    {"tokens", "Tokenize a rendered conversation, so that no content can forge a control token", Program::tokens,
     PARLANCE_TOKENS(declare_tokens), "done; with --jsonl: every line got an answer, which may be an error",
     "the template, or the data it met, failed; the prompt does not go on from the ids of --extend; with --jsonl and "
     "--strict as render"},
    {"prefix", "Say where two requests stop sharing a prefix, why, and what it costs", Program::tokens,
     PARLANCE_TOKENS(declare_prefix), "done",
     "the template, or the data it met, failed; with --check: B does not begin with A"},
    {"template", "Show a model's template and the settings that come with it", Program::main, declare_template, "done"},
    {"read", "Read a model's reply as a message, or as events while it streams", Program::main, declare_read,
     "read, even if the reply is malformed; with --jsonl: every line got an answer, which may be an error",
     "the template does not compile, or fails in each experiment; with --conversation: the prompt is not one of the "
     "format"},
    {"convert", "Convert a chat request from one API to another", Program::main, declare_convert,
     "written; with --jsonl: every line got an answer, which may be an error",
     "with --strict: something was lost or is missing; with --jsonl and --fail-on-error: a line's answer is an error"},
    {"format", "Show how a template's model writes its replies, and what the template supports", Program::main,
     declare_format, "there is a format, possibly a partial one",
     "there is none: the template does not compile, or no answer could be rendered"},
    {"check", "Test the laws of a template and its replies on generated conversations", Program::main, declare_check,
     "the format is verified, and every law that applies holds",
     "a law is broken or could not be tested, or the format is partial or missing (see parlance format)"},
    {"grammar", "Write a grammar that constrains a model to well-formed replies", Program::tokens,
     PARLANCE_TOKENS(declare_grammar), "written",
     "there is no such grammar: no value fits a schema, or the format has no way to do what was asked"},
    {"list", "List filters, tests, functions, errors, formats, passes or models", Program::main, declare_list,
     "listed"},
    {"completions", "Print a completion script for bash, zsh or fish", Program::tokens,
     PARLANCE_TOKENS(declare_completions), "printed"},
    {"help", "Show the help of a command, or with --json the options of all commands", Program::tokens,
     PARLANCE_TOKENS(declare_help), "shown"},
};

const char* name_of(Program program) { return program == Program::tokens ? "parlance-tokens" : "parlance"; }

}  // namespace

std::span<const Command> commands() { return kCommands; }
Program this_program() { return kThis; }

std::string exit_codes_text(const Command& command) {
  std::string text = "Exit codes:\n  0  " + std::string(command.done);
  if (!command.refused.empty()) text.append("\n  1  ").append(command.refused);
  for (const Failure& failure : kFailures)
    text.append("\n  ").append(std::to_string(failure.code)).append("  ").append(failure.meaning);
  return text;
}

namespace {

/// What names something cannot be empty: `--tools "$UNSET"` would count as not given. Free text may be.
void forbid_empty(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const bool free_text = option->nonpositional() && option->get_type_name() == "TEXT";
    if (option->get_items_expected_max() == 0 || free_text) continue;
    const char* const why = option->get_type_name() == "FILE" ? "takes the name of a file, not an empty text"
                                                              : "names nothing: the text is empty";
    option->check([why](const std::string& given) { return given.empty() ? std::string(why) : std::string(); });
  }
}

}  // namespace

Run declare_all(const Command& command, CLI::App& app) {
  Run run = command.declare(app);
  app.add_option("-o,--output", output_path(), "Write to a file; to a compressed one where it ends in .gz or .zst")
      ->type_name("FILE");
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
  parts.message = "this command needs '" + std::string(name_of(program)) + "', which was not found at '" + path + "'";
  parts.hint = "it is built and installed with the tokenizers: cmake --build BUILD --target parlance_tokens_cli";
  return report(Error(std::move(parts)));
}

}  // namespace parlance::cli
