// The table of commands.
#include "cli/commands.h"

namespace parlance::cli {

namespace {
constexpr Command kCommands[] = {
    {"render", "Render a conversation with a chat template", declare_render},
    {"list", "List the filters, tests, globals, methods and errors there are", declare_list},
};
}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace parlance::cli
