// JSONL: progress goes to standard error, if that is a terminal.
#include "cli/lines.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "cli/input.h"
#include "cli/output.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

void show_progress(const BulkProgress& progress) {
  std::fprintf(stderr, "\r%" PRIu64 " rendered, %" PRIu64 " failed, %" PRIu64 " MB read ",
               progress.lines - progress.failed, progress.failed, progress.bytes / 1'000'000);
}

}  // namespace

Result<BulkProgress> run_bulk(const std::string& input, const BulkOptions& bulk) {
  Result<InputStream> stream = InputStream::open(input, "the requests");
  if (!stream) return stream.error();
  if (Result<void> opened = open_output(); !opened) return opened.error();
  Result<BulkProgress> done = render_jsonl(stream->file(), STDOUT_FILENO, bulk);
  if (Result<void> whole = stream->finish(); done && !whole) return whole.error();
  return done;
}

int run_lines(const std::string& input, BulkOptions& bulk, const PromptSetup& setup, const TemplateWish& wish,
              const LossWish& losses) {
  bulk.compile = wish.compile;
  bulk.on_loss = losses.on_loss();
  int code = 0;
  if (wish.any()) {
    bulk.chat_template = setup.chosen->compiled(false);
    if (setup.found.is_model) bulk.with_tools = setup.chosen->compiled(true);
    if (!*bulk.chat_template) code = report(bulk.chat_template->error());
  }
  const bool on_terminal = ::isatty(STDERR_FILENO) != 0;
  if (on_terminal) bulk.progress = show_progress;
  const Result<BulkProgress> done = run_bulk(input, bulk);
  if (on_terminal && done) {
    show_progress(*done);
    std::fputc('\n', stderr);
  }
  if (!done) return report(done.error());
  report_lines(losses, *done);
  return code == 0 && losses.fail_on_error && done->failed != 0 ? 1 : code;
}

}  // namespace parlance::cli
