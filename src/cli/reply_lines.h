// parlance read --jsonl: a reply a line in, a message a line out.
#pragma once
#include "cli/losses.h"
#include "cli/reply_choice.h"

namespace parlance::cli {

/// {"id", "request", "reply"} on each line of the input; {"id", "message", "finish_reason", "diagnostics"}, with
/// --as {"id", "response"}, or "error", on each line of the output. Exit code 0 once every line was answered,
/// unless the wish is to fail.
int run_reply_lines(const std::string& input, const ReplySource& source, const ReplyWish& wish, unsigned threads,
                    const LossWish& losses);

}  // namespace parlance::cli
