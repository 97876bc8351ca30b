// The names under which clients and templates know an assistant's reasoning.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

namespace parlance {

/// Members of a message, the most common first. transformers and Ollama look for some of them in orders of their own.
inline constexpr std::string_view kReasoningNames[] = {"reasoning_content", "reasoning", "thinking"};

inline bool is_reasoning_name(std::string_view name) {
  return std::find(std::begin(kReasoningNames), std::end(kReasoningNames), name) != std::end(kReasoningNames);
}

}  // namespace parlance
