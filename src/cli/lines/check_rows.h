// parlance check --jsonl: does each assistant's turn of a data set read back as the message that it was?
#pragma once
#include "cli/lines/lines.h"
#include "cli/losses.h"
#include "cli/options/prompt_options.h"

namespace parlance::cli {

/// Renders each row up to each message of an assistant's, reads that turn as a reply, and compares.
/// {"id", "turns", "holds", "faults": [{"message", "part", "wanted", "read"}]} a line. The exit code is that of
/// run_lines(), or 1 where a row has a fault.
int check_rows(const std::string& input, const PromptSetup& setup, const LineWish& lines, const LossWish& losses);

}  // namespace parlance::cli
