// JSONL: progress goes to standard error, if that is a terminal.
#include "cli/lines/lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/error_members.h"
#include "cli/lines/line_input.h"
#include "cli/lines/line_progress.h"
#include "cli/numbers.h"
#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

/// How many failures are named at the end: enough to see what is wrong, few enough to be read.
constexpr std::size_t kNamedFailures = 3;

constexpr std::string_view kAll = "all";

/// The names of --keep. Fails with usage.
Result<void> read_keep(const LineWish& wish, BulkOptions& options) {
  for (const std::string& names : wish.keep) {
    for (std::string_view rest = names;;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string name(rest.substr(0, comma));
      if (name.empty()) return usage("--keep '" + names + "': a name is empty", "--keep source,split");
      if (name == kAll) options.keep_all = true;
      if (std::ranges::find(options.keep, name) == options.keep.end()) options.keep.push_back(name);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return {};
}

/// What of --keep came to nothing. Requests that are written alone have the row's members anyway.
void report_kept(const LineWish& wish, const BulkOptions& options, const BulkProgress& done) {
  for (const auto& [name, count] : done.hidden) {
    if (wish.writes_requests && !tells_errors(name)) continue;
    const std::string of = std::to_string(count) + " of " + std::to_string(done.lines) + " lines";
    say_note("--keep " + name + ": " +
             (tells_errors(name)
                  ? "answers that are errors have a member of this name, so the row's is not kept in " + of
                  : "the answer has a member of this name, which stands in " + of + " in place of the row's"));
  }
  for (const std::string& name : options.keep) {
    const bool is_known = name == "id" || done.kept.contains(name) || done.hidden.contains(name);
    if (done.lines != 0 && !options.keep_all && !is_known) say_note("--keep " + name + ": no line has it");
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
  app.add_flag("--append", output_appends(), "For --jsonl: add to the file of -o in place of writing it anew");
  app.add_option("--keep", wish.keep,
                 "For --jsonl: members of the row that its answer has too,\nsuch as source,split; all for each of them")
      .placeholder("NAMES")
      .one_value();
  declare_fail_on_error(app, losses);
}

Result<void> check_line_options(bool lines, const LineWish& wish, const LossWish& losses) {
  const std::string given = output_appends() ? "--append" : wish.given();
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

/// A run none of whose lines has an answer is no success.
int code_of(const LossWish& losses, const BulkProgress& done) {
  const bool is_vain = done.lines != 0 && done.failed == done.lines;
  return is_vain || (losses.fail_on_error && done.failed != 0) ? 1 : 0;
}

/// One run, and what is said of it.
class LineJob {
 public:
  LineJob(const std::string& input, const LineWish& wish, const LossWish& losses)
      : input_(input), wish_(wish), losses_(losses) {
    options_.threads = wish.threads;
    options_.skip_lines = wish.skip;
    options_.most_failures = kNamedFailures;
    options_.reword = [](const Error& error) { return in_options(error); };
  }

  int run(const LineRun& run) {
    if (Result<void> read = read_keep(wish_, options_); !read) return report(read.error());
    Result<LineInput> lines = LineInput::open(input_);
    if (!lines) return report(lines.error());
    if (Result<void> opened = open(); !opened) return report(opened.error());
    let_unread_writes_fail();
    static const Interruption interruption;  // until the program ends: a packed output is closed behind the run
    options_.stop = [] { return interruption.signal() != 0; };
    const Result<BulkProgress> done = answer(run, *lines, interruption);
    if (!done) return fail(done.error());
    report_lines(losses_, *done);
    if (!losses_.quiet) report_kept(wish_, options_, *done);
    if (done->stopped) return stopped_by(interruption.signal());
    if (Result<void> whole = lines->finish(); !whole) return fail(whole.error());
    report_nothing(*done);
    return code_of(losses_, *done);
  }

 private:
  /// What is there already is added to, or written anew, as the user says; not lost by a run that goes on.
  Result<void> open() const {
    const std::string& path = output_path();
    const bool is_file = !output_is_stdout();
    if (output_appends() && !is_file) return usage("--append adds to the file of -o: give one");
    std::error_code none;
    const bool is_there =
        is_file && std::filesystem::is_regular_file(path, none) && !std::filesystem::is_empty(path, none);
    if (wish_.skip != 0 && is_there && !output_appends()) {
      return usage("-o " + path + " is there already, and --skip-lines goes on",
                   "--append adds to it; remove it to begin anew");
    }
    if (!is_file && has_read(STDOUT_FILENO))
      return usage("standard output is the file that is being read", "write to another, and rename it then");
    return open_output();
  }
  Result<BulkProgress> answer(const LineRun& run, LineInput& lines, const Interruption& interruption) {
    const bool shows = ::isatty(STDERR_FILENO) != 0 && ::isatty(STDOUT_FILENO) == 0;  // not amid the answers
    LineProgress progress([&lines] { return lines.share(); });
    if (shows) options_.progress = [&](const BulkProgress& now) { progress.show(now); };
    options_.ended = [&](const BulkProgress& last) {
      last_ = last;
      if (shows) progress.end(last);
    };
    return run(lines.bytes(interruption), write_lines, options_);
  }

  /// "lines 1 to 70 of chats.jsonl"
  std::string done_lines() const {
    const std::uint64_t first = std::min(wish_.skip, last_.behind) + 1;
    const std::string of = " of " + (is_stdin(input_) ? "the input" : input_);
    if (last_.behind < first) return "no line" + of;
    if (last_.behind == first) return "line " + std::to_string(first) + of;
    return "lines " + std::to_string(first) + " to " + std::to_string(last_.behind) + of;
  }
  /// "" where nothing was done.
  std::string how_to_go_on() const {
    const std::uint64_t done = std::max(last_.behind, wish_.skip);
    if (done == 0) return {};
    const std::string skip = "the same command with --skip-lines " + std::to_string(done);
    const bool is_file = !output_is_stdout();
    return skip + (is_file ? " --append" : ", added to what is there") + " goes on";
  }
  int stopped_by(int signal) const {
    const std::string hint = how_to_go_on();
    say("parlance", "interrupted: done with " + done_lines() + (hint.empty() ? "" : "; " + hint));
    return 128 + signal;
  }
  int fail(const Error& error) const {
    if (output_failure() == EPIPE && output_is_stdout()) return 128 + SIGPIPE;  // silently, as others
    if (output_failure() == 0) {
      if (last_.lines != 0) say_note("answered before it failed: " + done_lines());
      return report(error);
    }
    Error::Parts parts = error.parts();
    if (!output_is_kept()) {
      parts.message += output_appends() ? "; what was added is taken back" : "; none of it is kept";
      return report(Error(std::move(parts)));
    }
    parts.message += "; written are the answers to " + done_lines();
    parts.hint = how_to_go_on();
    return report(Error(std::move(parts)));
  }
  void report_nothing(const BulkProgress& done) const {
    if (done.behind == 0 && !losses_.quiet) say_note(input_name(input_) + ": empty, so there are no answers");
    if (wish_.skip <= done.behind) return;
    say_note("--skip-lines " + std::to_string(wish_.skip) + ": the input has " + std::to_string(done.behind) +
             (done.behind == 1 ? " line" : " lines") + ", so there was nothing to do");
  }

  const std::string& input_;
  const LineWish& wish_;
  const LossWish& losses_;
  BulkOptions options_;
  BulkProgress last_;  ///< what was done when the run ended, be it by a failure
};

}  // namespace

int run_lines(const std::string& input, const LineWish& wish, const LossWish& losses, const LineRun& run) {
  return LineJob(input, wish, losses).run(run);
}

namespace {

/// Each line would be answered by this error. One of a model's templates may be for requests with tools alone.
Result<void> check_templates(const PromptSetup& setup) {
  if (setup.model.templates.empty()) return {};
  const Result<Template>& plain = setup.reader->chat_template(false);
  return plain || setup.reader->chat_template(true) ? Result<void>() : Result<void>(plain.error());
}

}  // namespace

int run_lines(const std::string& input, const LineWish& wish, const PromptSetup& setup, const LossWish& losses,
              const LineRun& run) {
  const Result<void> compiled = check_templates(setup);
  if (compiled) return run_lines(input, wish, losses, run);
  const int code = report(compiled.error());
  // A file that may be of an earlier run is left alone; a program that reads the answers gets one for each line.
  if (!output_is_stdout()) return code;
  const int ended = run_lines(input, wish, losses, run);
  return ended != 0 ? ended : code;
}

}  // namespace parlance::cli
