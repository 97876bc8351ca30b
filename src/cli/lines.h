// JSONL from a command's input to its output, with progress where somebody watches.
#pragma once
#include "bulk/jsonl.h"
#include "cli/losses.h"
#include "cli/prompt_options.h"

namespace parlance::cli {

/// Renders the lines of a file or of standard input to the command's output. Fails with file, usage.
Result<BulkProgress> run_bulk(const std::string& input, const BulkOptions& bulk);
/// Compiles the templates for `bulk`, unless the lines bring their own, and runs it. Exit code 0 once every line was
/// answered, be it by an error; unless there was nothing to render them with, or the wish is to fail. What was lost is summed up
/// on standard error.
int run_lines(const std::string& input, BulkOptions& bulk, const PromptSetup& setup, const TemplateWish& wish, const LossWish& losses);

}  // namespace parlance::cli
