// JSONL on a command's standard input and output, with progress where somebody watches.
#pragma once
#include "bulk/jsonl.h"
#include "cli/template_choice.h"

namespace parlance::cli {

/// Compiles the templates for `bulk` and runs it. Exit code 0 once every line was answered, be it by an error; unless there
/// was nothing to render them with.
int run_lines(BulkOptions& bulk, const FoundTemplates& found, const TemplateWish& wish);

}  // namespace parlance::cli
