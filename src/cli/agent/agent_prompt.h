// The system message of an agent whose template has none for it.
#pragma once
#include <string>

#include "parlance/render.h"
#include "parlance/request.h"

namespace parlance::cli {

/// Has the template text of its own about a tool of this name? A template that was written for such an agent has.
bool speaks_of_tool(const RequestReader& reader, const RenderOptions& options, const std::string& tool);
/// How to work with `terminal`: plan, one command at a time, observe, adapt, verify.
std::string terminal_system(bool has_network);
/// The same for `interpreter`, which formats with code do not list among their tools: nobody else tells the model.
std::string interpreter_system(bool has_network);
/// What --system means: a text, or @FILE. Fails with file.
Result<std::string> read_system(const std::string& given);

}  // namespace parlance::cli
