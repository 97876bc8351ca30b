// JSONL from a command's input to its output, with progress where somebody watches.
#pragma once
#include <functional>
#include <string>

#include "cli/losses.h"
#include "cli/prompt_options.h"
#include "parlance/bulk.h"

namespace parlance::cli {

/// Answers lines: answer_lines() or render_lines(), with what the command wants of them.
using LineRun =
    std::function<Result<BulkProgress>(const BulkInput& input, const BulkOutput& output, const BulkOptions& options)>;
/// --threads and --fail-on-error are --jsonl's alone. Fails with usage where they are given without it.
Result<void> check_for_lines(bool lines, unsigned threads, bool fail_on_error = false);
/// A run that answers each line alike. Lifetime: `worker` must outlive it; several threads call it at once.
LineRun each_line(const BulkWorker& worker);

/// Answers the lines of a file or of standard input on the command's output. Fails with file, usage.
Result<BulkProgress> run_bulk(const std::string& input, const LineRun& run, const BulkOptions& options);
/// The same for requests that are rendered by the command's templates, unless the lines bring their own. Exit code 0
/// once every line was answered, be it by an error; unless there was nothing to render them with, or the wish is to
/// fail. What was lost is summed up on standard error.
int run_lines(const std::string& input, unsigned threads, const PromptSetup& setup, const LossWish& losses,
              const LineRun& run);

}  // namespace parlance::cli
