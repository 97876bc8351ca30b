// parlance read --jsonl: a reply a line in, a message a line out.
#pragma once
#include "cli/lines/lines.h"
#include "cli/losses.h"
#include "cli/options/reply_choice.h"

namespace parlance::cli {

/// {"id", "request", "reply"}, or "messages" and "tools" beside "reply", on each line of the input. {"id", "message",
/// "finish_reason", "diagnostics"}, with --as {"id", "response"}, or "error", on each line of the output. The exit code
/// is that of run_lines().
int run_reply_lines(const std::string& input, const ReplySource& source, const ReplyWish& wish, const LineWish& lines,
                    const LossWish& losses);

}  // namespace parlance::cli
