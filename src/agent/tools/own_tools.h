// The agent's own tools, by the names that models call them by.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace parlance::agent {

struct OwnTool {
  std::string_view name;
  std::string_view argument;  ///< what is run, the one argument that each call has
};

inline constexpr OwnTool kTerminalTool{"terminal", "command"}, kInterpreterTool{"interpreter", "code"};
inline constexpr std::array kOwnTools = {kTerminalTool, kInterpreterTool};

inline bool is_own_tool(std::string_view name) {
  return std::ranges::any_of(kOwnTools, [name](const OwnTool& own) { return own.name == name; });
}

}  // namespace parlance::agent
