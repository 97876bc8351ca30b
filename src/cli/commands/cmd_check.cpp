// parlance check: the laws of a template and its format of replies, each with a counter-example where it is broken.
//
// Begin reading at run_check.
#include <memory>

#include "cli/commands.h"
#include "cli/lines/check_rows.h"
#include "cli/numbers.h"
#include "cli/options/derive_choice.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/options/reply_choice.h"
#include "cli/report.h"
#include "parlance/check.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

struct CheckCommand {
  PromptOptions prompt;
  std::size_t count = 200;
  std::uint64_t seed = 1;
  bool json = false;
  bool list = false;
  bool jsonl = false;
  std::string rows;
  LineWish lines;
  LossWish losses;  ///< --fail-on-error, --quiet
};

constexpr int kBroken = 1;

int list_laws() {
  std::string out;
  for (const LawInfo& law : laws())
    out.append(law.name).append(14 - law.name.size(), ' ').append(law.sentence).append("\n");
  return print(out);
}

std::string report_as_json(const CheckReport& report) {
  JsonWriter json('{');
  json.text("verdict", name_of(report.derived.verdict)).flag("holds", report.holds());
  JsonWriter missing('[');
  for (const std::string& sentence : report.derived.missing) append_json_string(missing.next(), sentence);
  json.key("missing") += missing.take();
  JsonWriter list('[');
  for (const LawResult& law : report.laws) {
    JsonWriter row('{');
    row.text("law", law.law)
        .text("outcome", name_of(law.outcome))
        .number("tried", static_cast<std::int64_t>(law.tried));
    if (!law.example.empty()) row.text("example", law.example);
    list.next() += row.take();
  }
  json.key("laws") += list.take();
  return json.take() + "\n";
}

std::string report_as_text(const CheckReport& report) {
  std::string out = "format: " + std::string(name_of(report.derived.verdict)) + "\n";
  for (const std::string& sentence : report.derived.missing) out += "  missing: " + sentence + "\n";
  for (const LawResult& law : report.laws) {
    out.append(law.law).append(14 - law.law.size(), ' ').append(name_of(law.outcome));
    if (law.outcome == LawResult::Outcome::holds) out += ", " + std::to_string(law.tried) + " tried";
    if (!law.example.empty()) out += ": " + law.example;
    out += "\n";
  }
  return out;
}

int check_turns_of_rows(CheckCommand& command) {
  if (command.json) return report(usage("--json and --jsonl exclude each other", "lines are JSON anyway"));
  ReplyWish wish;
  wish.prompt = command.prompt;
  const Result<ReplySource> source = open_reply_source(wish);
  if (!source) return report(source.error());
  return check_rows(command.rows, source->setup, command.lines, command.losses);
}

int run_check(CheckCommand& command) {
  if (command.list) return list_laws();
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked)
    return report(checked.error());
  if (command.jsonl) return check_turns_of_rows(command);
  if (!command.rows.empty())
    return report(usage("rows are read with --jsonl", "parlance check … --jsonl " + command.rows));
  CheckOptions options;
  options.count = command.count;
  options.seed = command.seed;
  const Result<CheckReport> checked = check_replies(command.prompt, options);
  if (!checked) return report(checked.error());
  if (const std::optional<Error> limit = limit_of(checked->derived, command.prompt)) return report_render(*limit);
  const int printed = print(command.json ? report_as_json(*checked) : report_as_text(*checked));
  if (printed != 0) return printed;
  return checked->holds() ? 0 : kBroken;
}

constexpr const char* kCheckExamples = R"(Examples:
  parlance check -f terminal-agent              what holds for a built-in format
  parlance check -t chat_template.jinja --count 2000 --json    for a pipeline
  parlance check -m path/to/model --jsonl chats.jsonl          do the turns of a data set read back?)";

}  // namespace

Run declare_check(Options& app) {
  auto command = std::make_shared<CheckCommand>();
  CheckCommand& c = *command;
  app.examples(kCheckExamples);
  app.add_option("ROWS", c.rows, "With --jsonl: a data set of conversations; - or nothing for standard input")
      .placeholder("FILE");
  declare_template_options(app, c.prompt);
  declare_limits(app, c.prompt);
  declare_variables(app, c.prompt.variables);
  app.add_option("--count", c.count, "Conversations generated for each law")
      .placeholder("N")
      .check(whole_number(1, 1'000'000))
      .show_default();
  app.add_option("--seed", c.seed, "Seed of the generator")
      .placeholder("N")
      .check(whole_number(0, ~std::uint64_t{0}))
      .show_default();
  app.add_flag("--json", c.json, "Print the report as a JSON object");
  app.add_flag("--jsonl", c.jsonl,
               "Read back each assistant's turn of the conversations in ROWS, one\na line; {\"turns\", \"holds\", "
               "\"faults\"} a line out, in order");
  app.add_flag("-q,--quiet", c.losses.quiet, "For --jsonl: do not sum up what does not read back");
  declare_lines(app, c.lines, c.losses);
  app.add_flag("--laws", c.list, "List the laws and do nothing else");
  return [command] { return run_check(*command); };
}

}  // namespace parlance::cli
