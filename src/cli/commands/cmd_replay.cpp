// parlance replay: the turns of a capture once more, compared with what was recorded. Begin reading at run_replay.
#include <memory>

#include "cli/commands.h"
#include "cli/options/options.h"
#include "cli/options/served_model.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "serve/record/replay.h"

namespace parlance::cli {
namespace {

struct ReplayCommand {
  std::vector<std::string> paths;
  ServedWish instead;  ///< in place of what the capture names
  bool json = false;
};

/// The model that the capture names, or the one that the command line does.
Result<serve::ModelOptions> open_captured(const ReplayCommand& command, std::string_view source) {
  ServedWish wish;
  if (Result<void> read = read_source(source, wish); !read) return read.error();
  const TemplateWish& given = command.instead.prompt.wish;
  if (given.any()) {
    wish.prompt.wish.file = given.file;
    wish.prompt.wish.model = given.model;
    wish.prompt.wish.format = given.format;
    if (!given.model.empty()) wish.tokenizer.path.clear();
  }
  if (!command.instead.tokenizer.path.empty()) wish.tokenizer.path = command.instead.tokenizer.path;
  return open_served(wish);
}

std::string line_of(const ReplayCommand& command, const serve::ReplayDifference& one) {
  if (!command.json) return one.file + ":" + std::to_string(one.record) + ": " + one.what + ": " + one.sentence + "\n";
  JsonWriter made('{');
  made.text("file", one.file).number("record", static_cast<std::int64_t>(one.record)).text("what", one.what);
  return made.text("sentence", one.sentence).take() + "\n";
}

int run_replay(const ReplayCommand& command) {
  int written = 0;
  const auto open = [&](std::string_view source, const std::string&) { return open_captured(command, source); };
  const auto say_difference = [&](const serve::ReplayDifference& one) {
    if (one.what == "versions")
      say_note(one.file + ": " + one.sentence);
    else if (written == 0)
      written = print(line_of(command, one));
  };
  const Result<serve::ReplayReport> done = serve::replay(command.paths, open, say_difference);
  if (!done) return report(done.error());
  if (written != 0) return written;
  say_note(std::to_string(done->turns) + " turns, " + std::to_string(done->different) + " records differ");
  return done->different == 0 ? 0 : 1;
}

constexpr const char* kReplayExamples = R"(Examples:
  parlance replay capture/                          every session of a capture
  parlance replay capture/FILE.jsonl -t new.jinja   what another template would have changed)";

}  // namespace

Run declare_replay(Options& app) {
  auto command = std::make_shared<ReplayCommand>();
  ReplayCommand& c = *command;
  app.examples(kReplayExamples);
  app.add_option("FILE", c.paths, "Files that parlance serve --capture wrote, or its folder")
      .placeholder("FILE")
      .required();
  app.add_option("-t,--template", c.instead.prompt.wish.file, "This template in place of the capture's")
      .placeholder("FILE");
  app.add_option("-m,--model", c.instead.prompt.wish.model, "This model in place of the capture's")
      .placeholder("MODEL");
  app.add_option("-f,--format", c.instead.prompt.wish.format, "This built-in format in place of the capture's")
      .placeholder("FORMAT");
  app.add_option("--tokenizer", c.instead.tokenizer.path, "This tokenizer in place of the capture's")
      .placeholder("PATH");
  app.add_flag("--json", c.json, "Print each difference as an object a line");
  return [command] { return run_replay(*command); };
}

}  // namespace parlance::cli
