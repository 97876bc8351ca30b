// parlance capture: what a gateway has recorded, as a list or as training rows. Begin reading at run_capture.
#include <memory>

#include "cli/commands.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "serve/capture/export.h"
#include "serve/capture/index.h"

namespace parlance::cli {
namespace {

struct CaptureCommand {
  std::string action;
  std::vector<std::string> paths;
  std::string per = "session";
  bool failed = false;
  bool json = false;
};

std::string row_as_json(const serve::CaptureRow& row) {
  JsonWriter made('{');
  made.text("session", row.session).number("turn", row.turn).text("time", row.time).text("model", row.model);
  made.text("api", row.api).text("id", row.id).text("status", row.status);
  made.number("prompt_tokens", row.prompt_tokens).number("reused", row.reused);
  row.evaluated >= 0 ? made.number("evaluated", row.evaluated) : made.null("evaluated");
  made.number("sampled", row.sampled).text("flags", row.flags);
  return made.text("file", row.file).number("line", row.line).number("offset", row.offset).take() + "\n";
}

std::string row_as_text(const serve::CaptureRow& row) {
  std::string out = row.time + "  " + row.session + "  " + std::to_string(row.turn) + "  " + row.status + "  ";
  out += std::to_string(row.prompt_tokens) + " prompt, " + std::to_string(row.reused) + " reused, " +
         std::to_string(row.sampled) + " sampled";
  if (!row.flags.empty()) out += "  " + row.flags;
  return out + "\n";
}

/// The exit code where something of the capture is missing from what was printed.
constexpr int kLeftOut = 1;

std::string note_of(const serve::CaptureDamage& damage) {
  const std::string place = damage.file + ":" + std::to_string(damage.line) + ": ";
  if (damage.records == 1) return place + "the record's checksum does not match; it is skipped";
  return place + "the record's checksum does not match, nor do those of " + std::to_string(damage.records - 1) +
         " more in the file; they are skipped";
}

int list_turns(const CaptureCommand& command) {
  if (command.paths.size() != 1) return report(usage("list takes one folder"));
  const Result<serve::CaptureIndex> index = serve::indexed_turns(command.paths.front());
  if (!index) return report(index.error());
  std::string out;
  for (const serve::CaptureRow& row : index->turns) out += command.json ? row_as_json(row) : row_as_text(row);
  for (const serve::CaptureDamage& damage : index->damage) say_note(note_of(damage));
  const int code = print(out);
  return code != 0 || index->damage.empty() ? code : kLeftOut;
}

int export_turns(const CaptureCommand& command) {
  int code = 0;
  const auto take = [&code](std::string_view line) -> Result<void> {
    if (code == 0) code = print(line);
    return {};
  };
  bool is_whole = true;
  const auto note = [&is_whole](const std::string& sentence) {
    is_whole = false;
    say_note(sentence);
  };
  const Result<void> done =
      serve::export_rows(command.paths, {.per_turn = command.per == "turn", .failed = command.failed}, take, note);
  if (!done) return report(done.error());
  return code != 0 || is_whole ? code : kLeftOut;
}

int run_capture(const CaptureCommand& command) {
  return command.action == "list" ? list_turns(command) : export_turns(command);
}

constexpr const char* kCaptureExamples = R"(Examples:
  parlance capture list capture/                    each turn, by time
  parlance capture export capture/ > rows.jsonl     ids, labels and masks, a session a line
  parlance capture export capture/ --per turn)";

}  // namespace

Run declare_capture(Options& app) {
  auto command = std::make_shared<CaptureCommand>();
  CaptureCommand& c = *command;
  app.examples(kCaptureExamples);
  app.add_option("ACTION", c.action, "list: print each turn; export: print training rows as JSON lines")
      .one_of({"list", "export"})
      .required();
  app.add_option("PATH", c.paths, "The folder of parlance serve --capture; for export also its files").required();
  app.add_option("--per", c.per, "For export: a row for each session or for each turn")
      .one_of({"session", "turn"})
      .show_default();
  app.add_flag("--failed", c.failed, "For export: turns too whose engine failed or whose client went away");
  app.add_flag("--json", c.json, "For list: print an object a line");
  return [command] { return run_capture(*command); };
}

}  // namespace parlance::cli
