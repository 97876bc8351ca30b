// JSONL: progress goes to standard error, if that is a terminal.
#include "cli/lines.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "cli/input.h"
#include "cli/option_words.h"
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

}  // namespace

Result<void> check_for_lines(bool lines, unsigned threads, bool fail_on_error) {
  if (lines || (threads == 0 && !fail_on_error)) return {};
  return usage(
      std::string(threads != 0 ? "--threads" : "--fail-on-error") + " is for --jsonl",
      threads != 0 ? "" : "a single request that fails has an exit code of its own; --strict makes losses fail");
}

LineRun each_line(const BulkWorker& worker) {
  return [&worker](const BulkInput& input, const BulkOutput& output, const BulkOptions& options) {
    return answer_lines(
        input, output, [&worker] { return worker; }, options);
  };
}

Result<BulkProgress> run_bulk(const std::string& input, const LineRun& run, const BulkOptions& options) {
  Result<InputStream> stream = InputStream::open(input, "the requests");
  if (!stream) return stream.error();
  if (Result<void> opened = open_output(); !opened) return opened.error();
  const BulkInput bytes = bulk_input(stream->file());
  // Of an archive that is cut off, the last line is half a line and no request.
  const BulkInput whole_bytes = [&](std::string& text) -> Result<bool> {
    Result<bool> more = bytes(text);
    if (!more || *more) return more;
    if (Result<void> whole = stream->finish(); !whole) return whole.error();
    return more;
  };
  BulkOptions worded = options;
  worded.reword = [](const Error& error) { return in_options(error); };
  worded.most_failures = kNamedFailures;
  const bool shows = ::isatty(STDERR_FILENO) != 0 && ::isatty(STDOUT_FILENO) == 0;  // not amid the answers
  if (shows) worded.progress = show_progress;
  Result<BulkProgress> done = run(whole_bytes, bulk_output(STDOUT_FILENO), worded);
  if (shows && done) {
    show_progress(*done);
    std::fputc('\n', stderr);
  }
  if (Result<void> whole = stream->finish(); done && !whole) return whole.error();
  return done;
}

int run_lines(const std::string& input, unsigned threads, const PromptSetup& setup, const LossWish& losses,
              const LineRun& run) {
  int code = 0;
  if (!setup.model.templates.empty()) {
    const Result<Template>& compiled = setup.reader->chat_template(false);
    if (!compiled) code = report(compiled.error());
  }
  const Result<BulkProgress> done = run_bulk(input, run, {.threads = threads});
  if (!done) return report(done.error());
  report_lines(losses, *done);
  return code == 0 && losses.fail_on_error && done->failed != 0 ? 1 : code;
}

}  // namespace parlance::cli
