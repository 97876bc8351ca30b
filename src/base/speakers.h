// Who speaks, in the words of data sets.
#pragma once
#include <string_view>

namespace parlance {

/// A name that data sets have for a role, in small letters.
struct Speaker {
  std::string_view name, role;
  bool says_calls = false;  ///< its text is calls as JSON
};

inline constexpr Speaker kSpeakers[] = {
    {"human", "user"},
    {"user", "user"},
    {"prompter", "user"},
    {"gpt", "assistant"},
    {"chatgpt", "assistant"},
    {"assistant", "assistant"},
    {"model", "assistant"},
    {"bot", "assistant"},
    {"chatbot", "assistant"},
    {"ai", "assistant"},
    {"system", "system"},
    {"tool", "tool"},
    {"observation", "tool"},
    {"function_response", "tool"},
    {"tool_response", "tool"},
    {"function_call", "assistant", true},
    {"tool_call", "assistant", true},
};

}  // namespace parlance
