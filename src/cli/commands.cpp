// The table of commands, and which program each is in. Compiled once for each program.
#include "cli/commands.h"

#include <unistd.h>

#include <filesystem>

#include "cli/report.h"

namespace parlance::cli {

namespace {

#ifdef PARLANCE_TOKENS_PROGRAM
constexpr Program kThis = Program::tokens;
#define PARLANCE_MAIN(declare) nullptr
#define PARLANCE_TOKENS(declare) declare
#else
constexpr Program kThis = Program::main;
#define PARLANCE_MAIN(declare) declare
#define PARLANCE_TOKENS(declare) nullptr
#endif

constexpr Command kCommands[] = {
    {"render", "Render a conversation with a chat template", Program::main, PARLANCE_MAIN(declare_render)},
    {"tokens", "The same as token ids that no content can forge, with masks", Program::tokens,
     PARLANCE_TOKENS(declare_tokens)},
    {"prefix", "Say where two requests stop sharing a prefix, why, and what it costs", Program::tokens,
     PARLANCE_TOKENS(declare_prefix)},
    {"template", "Show a model's template and what comes along with it", Program::main, PARLANCE_MAIN(declare_template)},
    {"read", "Read a model's reply as a message, or as events while it streams", Program::main, PARLANCE_MAIN(declare_read)},
    {"format", "Show how a template's model writes its replies, and what the template can", Program::main,
     PARLANCE_MAIN(declare_format)},
    {"check", "Try the laws of a template and its replies with generated conversations", Program::main,
     PARLANCE_MAIN(declare_check)},
    {"grammar", "Write a grammar that keeps a model to well-formed replies", Program::tokens, PARLANCE_TOKENS(declare_grammar)},
    {"list", "List the filters, tests, globals, methods and errors there are", Program::main,
     PARLANCE_MAIN(declare_list)},
};

const char* name_of(Program program) { return program == Program::tokens ? "parlance-tokens" : "parlance"; }

}  // namespace

std::span<const Command> commands() { return kCommands; }
Program this_program() { return kThis; }

int become(Program program, char** argv) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string path = (self.parent_path() / name_of(program)).string();
  ::execv(path.c_str(), argv);
  Error::Parts parts;
  parts.code = ErrorCode::file;
  parts.message = "this command is in the program " + std::string(name_of(program)) + ", which is not at '" + path + "'";
  parts.hint = "it is built and installed with the tokenizers: cmake --build BUILD --target parlance_tokens_cli";
  return report(Error(std::move(parts)));
}

}  // namespace parlance::cli
