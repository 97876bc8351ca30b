// JSONL: progress goes to standard error, if that is a terminal.
#include "cli/lines.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cli/line_input.h"
#include "cli/numbers.h"
#include "cli/option_words.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

void show_progress(const BulkProgress& progress) {
  std::fprintf(stderr, "\r%" PRIu64 " answered, %" PRIu64 " failed, %" PRIu64 " MB read ",
               progress.lines - progress.failed, progress.failed, progress.bytes / 1'000'000);
}

/// How many failures are named at the end: enough to see what is wrong, few enough to be read.
constexpr std::size_t kNamedFailures = 3;

constexpr std::string_view kAll = "all";

/// The names of --keep. Fails with usage.
Result<void> read_keep(const LineWish& wish, BulkOptions& options) {
  for (const std::string& names : wish.keep) {
    for (std::string_view rest = names; !rest.empty() || names.ends_with(',');) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string name(rest.substr(0, comma));
      if (name.empty()) return usage("--keep " + names + ": a name is empty", "--keep source,split");
      if (name == kAll) options.keep_all = true;
      options.keep.push_back(name);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
      if (rest.empty()) return usage("--keep " + names + ": a name is empty", "--keep source,split");
    }
  }
  return {};
}

/// What of --keep came to nothing.
void report_kept(const BulkOptions& options, const BulkProgress& done) {
  for (const auto& [name, count] : done.hidden) {
    say_note("--keep " + name + ": the answer has a member of this name, which stands in " + std::to_string(count) +
             " of " + std::to_string(done.lines) + " lines in place of the row's");
  }
  for (const std::string& name : options.keep) {
    if (done.lines != 0 && !options.keep_all && !done.kept.contains(name) && !done.hidden.contains(name))
      say_note("--keep " + name + ": no line has it");
  }
}

}  // namespace

std::string LineWish::given() const {
  return threads != 0 ? "--threads" : skip != 0 ? "--skip-lines" : keep.empty() ? "" : "--keep";
}

void declare_lines(Options& app, LineWish& wish, LossWish& losses) {
  app.add_option("--threads", wish.threads, "For --jsonl; 0 for all cores")
      .placeholder("N")
      .check(whole_number(0, kMostThreads));
  add_number(app, "--skip-lines", wish.skip,
             "For --jsonl: go on behind this many lines of the input, which keep their numbers");
  app.add_option("--keep", wish.keep,
                 "For --jsonl: members of the row that its answer has too,\nsuch as source,split; all for each of them")
      .placeholder("NAMES")
      .one_value();
  declare_fail_on_error(app, losses);
}

Result<void> check_for_lines(bool lines, const LineWish& wish, const LossWish& losses) {
  const std::string given = wish.given();
  if (lines || (given.empty() && !losses.fail_on_error)) return {};
  return usage(
      (given.empty() ? "--fail-on-error" : given) + " is for --jsonl",
      given.empty() ? "a single request that fails has an exit code of its own; --strict makes losses fail" : "");
}

LineRun each_line(const BulkWorker& worker) {
  return [&worker](const BulkInput& input, const BulkOutput& output, const BulkOptions& options) {
    return answer_lines(
        input, output, [&worker] { return worker; }, options);
  };
}

namespace {

/// The run itself. Fails with file, usage.
Result<BulkProgress> run_bulk(const std::string& input, const LineRun& run, const BulkOptions& options) {
  Result<LineInput> lines = LineInput::open(input);
  if (!lines) return lines.error();
  if (Result<void> opened = open_output(); !opened) return opened.error();
  BulkOptions shown = options;
  const bool shows = ::isatty(STDERR_FILENO) != 0 && ::isatty(STDOUT_FILENO) == 0;  // not amid the answers
  if (shows) shown.progress = show_progress;
  Result<BulkProgress> done = run(lines->bytes(), bulk_output(STDOUT_FILENO), shown);
  if (shows && done) {
    show_progress(*done);
    std::fputc('\n', stderr);
  }
  if (Result<void> whole = lines->finish(); done && !whole) return whole.error();
  return done;
}

/// A run none of whose lines has an answer is no success.
int code_of(const LossWish& losses, const BulkProgress& done) {
  const bool is_vain = done.lines != 0 && done.failed == done.lines;
  return is_vain || (losses.fail_on_error && done.failed != 0) ? 1 : 0;
}

}  // namespace

int run_lines(const std::string& input, const LineWish& wish, const LossWish& losses, const LineRun& run) {
  BulkOptions options{.threads = wish.threads, .skip_lines = wish.skip, .most_failures = kNamedFailures};
  options.reword = [](const Error& error) { return in_options(error); };
  if (Result<void> read = read_keep(wish, options); !read) return report(read.error());
  const Result<BulkProgress> done = run_bulk(input, run, options);
  if (!done) return report(done.error());
  report_lines(losses, *done);
  report_kept(options, *done);
  if (wish.skip > done->behind) {
    say_note("--skip-lines " + std::to_string(wish.skip) + ": the input has " + std::to_string(done->behind) +
             " lines, so there was nothing to do");
  }
  return code_of(losses, *done);
}

int run_lines(const std::string& input, const LineWish& wish, const PromptSetup& setup, const LossWish& losses,
              const LineRun& run) {
  int code = 0;
  if (!setup.model.templates.empty()) {
    const Result<Template>& compiled = setup.reader->chat_template(false);
    if (!compiled) code = report(compiled.error());
  }
  const int ended = run_lines(input, wish, losses, run);
  return ended != 0 ? ended : code;
}

}  // namespace parlance::cli
