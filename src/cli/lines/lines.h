// JSONL from a command's input to its output, with progress where somebody watches.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/losses.h"
#include "cli/options/prompt_options.h"
#include "parlance/bulk.h"

namespace parlance::cli {

/// What a user asks of a run over lines.
struct LineWish {
  unsigned threads = 0;
  std::uint64_t skip = 0;
  std::vector<std::string> keep;  ///< as given: names, with commas between them
  bool writes_requests = false;   ///< the answers are the rows' requests

  /// The option that was given; "": none.
  std::string given() const;
};
/// Declares the options of --jsonl: --threads, --skip-lines, --append, --keep, --fail-on-error.
void declare_lines(Options& app, LineWish& wish, LossWish& losses);
/// They are --jsonl's alone. Fails with usage where they are given without it.
Result<void> check_line_options(bool lines, const LineWish& wish, const LossWish& losses);

/// Answers lines: answer_lines() or render_lines(), with what the command wants of them.
using LineRun =
    std::function<Result<BulkProgress>(const BulkInput& input, const BulkOutput& output, const BulkOptions& options)>;
/// A run that answers each line alike. Lifetime: `worker` must outlive it; several threads call it at once.
LineRun each_line(const BulkWorker& worker);

/// Answers the lines of a file or of standard input on the command's output; the exit code. It is 0 once every line was
/// answered and one of them not by an error; what failed and what was lost is summed up on standard error.
int run_lines(const std::string& input, const LineWish& wish, const LossWish& losses, const LineRun& run);
/// The same for requests that are rendered by the command's templates, unless the lines bring their own: where none of
/// them compiles, that is the one error, and no output is opened.
int run_lines(const std::string& input, const LineWish& wish, const PromptSetup& setup, const LossWish& losses,
              const LineRun& run);

}  // namespace parlance::cli
