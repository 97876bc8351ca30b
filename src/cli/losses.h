// What prompts lost, on standard error: --quiet, --verbose, --strict, --fail-on-error.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "parlance/bulk.h"

namespace parlance::cli {

class Options;

struct LossWish {
  bool quiet = false;
  bool verbose = false;
  bool strict = false;
  bool fail_on_error = false;  ///< of --jsonl
  bool in_lines = false;       ///< of --jsonl --json: each line of the output has its losses
  /// Are losses looked for?
  bool wanted() const { return !quiet || strict; }
  OnLoss on_loss() const { return strict ? OnLoss::fail : quiet ? OnLoss::ignore : OnLoss::count; }
};

void declare_losses(Options& app, LossWish& wish);
/// --jsonl's own: --fail-on-error.
void declare_fail_on_error(Options& app, LossWish& wish);

/// Renders one request and, where `says`, tells on standard error what it lost. Fails as the render does, and for a
/// loss where --strict says so.
Result<CheckedRendering> render_checked(const LossWish& wish, const Template& compiled,
                                        const Conversation& conversation, const RenderOptions& options, bool says);
/// Tells what else was lost, and fails for it, as render_checked() does.
Result<void> check_losses(const LossWish& wish, const std::vector<Loss>& losses, bool says);
/// "2 × message, 1 × tool"
std::string list_of(const std::map<std::string_view, std::uint64_t>& counts);
/// Says how many lines failed, with the first of them, also where the wish is to be quiet; and what lines lost.
void report_lines(const LossWish& wish, const BulkProgress& done);

}  // namespace parlance::cli
