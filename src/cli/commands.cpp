// The table of commands.
#include "cli/commands.h"

#include "cli/options/options.h"
#include "cli/output.h"

namespace parlance::cli {

namespace {

constexpr std::string_view kAnswered = "rendered; with --jsonl: every line got an answer, some of them an error";
constexpr std::string_view kFailed =
    "the template, or the data it met, failed; with --strict: something of the request is not in the prompt; with "
    "--jsonl: the template does not compile, or each line's answer is an error, with --fail-on-error: one is";

constexpr Command kCommands[] = {
    {"render", "Render a conversation with a chat template", declare_render, kAnswered, kFailed},
    {"tokens", "Tokenize a rendered conversation, so that no content can forge a control token", declare_tokens,
     "done; with --jsonl: every line got an answer, some of them an error",
     "the template, or the data it met, failed; the prompt does not continue the ids of --extend; with --jsonl as "
     "render"},
    {"prefix", "Say where two requests stop sharing a prefix, why, and what it costs", declare_prefix, "done",
     "the template, or the data it met, failed; with --check: B does not begin with A; with --jsonl as render"},
    {"template", "Show a model's template and the settings that come with it", declare_template, "done"},
    {"read", "Read a model's reply as a message, or as events while it streams", declare_read,
     "read, even if the reply is malformed; with --jsonl: every line got an answer, some of them an error",
     "the template does not compile; with --conversation: the prompt is not one of the format; with --jsonl as "
     "render"},
    {"convert", "Convert a chat request from one API to another", declare_convert,
     "written; with --jsonl: every line got an answer, some of them an error",
     "with --strict: something was lost or is missing; with --jsonl: each line's answer is an error, with "
     "--fail-on-error: one is"},
    {"format", "Show how a template's model writes its replies, and what the template supports", declare_format,
     "there is a format, possibly a partial one",
     "there is none: the template does not compile, or no answer could be rendered"},
    {"check", "Test the laws of a template and its replies on generated conversations", declare_check,
     "the format is verified, and every law that applies holds; with --jsonl: each turn reads back",
     "a law is broken or could not be tested, or the format is partial or missing (see parlance format); with --jsonl: "
     "a "
     "turn does not read back, or as render"},
    {"grammar", "Write a grammar that constrains a model to well-formed replies", declare_grammar, "written",
     "there is no such grammar: no value fits a schema, or the format has no way to do what was asked"},
    {"serve", "Serve a model's chats over HTTP, in front of an engine that takes token ids", declare_serve,
     "ended by SIGTERM or SIGINT", "the template does not compile"},
    {"agent", "Give a model a goal and a terminal in a sandbox, and see it through", declare_agent,
     "the goal is reached, and what was changed is verified",
     "the model ended without verification. Of this command alone: 5, the engine or the transcript failed; 130, it was "
     "stopped",
     tell_agent_refused},
    {"replay", "Render and read the turns of a capture again, and compare", declare_replay,
     "every turn came out as it was recorded", "something came out otherwise"},
    {"capture", "List the turns that a gateway has recorded, or write training rows of them", declare_capture, "done"},
    {"list", "List what parlance knows, such as filters and formats", declare_list, "listed"},
    {"completions", "Print a completion script for bash, zsh or fish", declare_completions, "printed"},
    {"help", "Show the help of a command, or with --json the options of all commands", declare_help, "shown"},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::string exit_codes_text(const Command& command) {
  std::string text = "Exit codes:\n  0  " + std::string(command.done);
  if (!command.refused.empty()) text.append("\n  1  ").append(command.refused);
  for (const Failure& failure : kFailures)
    text.append("\n  ").append(std::to_string(failure.code)).append("  ").append(failure.meaning);
  return text;
}

Run declare_all(const Command& command, Options& app) {
  Run run = command.declare(app);
  app.add_option("-o,--output", output_path(), "Write to a file, compressed if its name ends in .gz or .zst")
      .placeholder("FILE");
  app.forbid_empty();
  return run;
}

}  // namespace parlance::cli
