// Which format of replies a command uses: derived from the template of -t, -m or -f, or a built-in format's own.
#pragma once
#include "cli/options/prompt_options.h"
#include "parlance/check.h"

namespace parlance::cli {

/// What the template of the options shows by experiment; for a built-in format with its own format of replies.
/// Fails with what keeps the template from being opened or compiled; usage when none is named.
Result<DerivedFormat> derive_reply(PromptOptions& options);

/// The laws of the same template, tried; a built-in format with its own format of replies.
Result<CheckReport> check_replies(PromptOptions& options, CheckOptions checking);

/// Where limits kept the experiments from an answer, so that nothing is known: that, with what raises the limit.
std::optional<Error> limit_of(const DerivedFormat& derived, const PromptOptions& options);

}  // namespace parlance::cli
