// Results as JSON text, for --json and --jsonl.
#pragma once
#include <string>

#include "parlance/losses.h"

namespace parlance {

/// Which members a result has besides `text` and `generation`.
struct ResultParts {
  bool spans = false;  ///< and `notes`, `losses`, `placeholders`
  bool assistant = false;
};

/// `"text": …, "generation": …` and so on: the members without the braces.
void append_rendering(std::string& out, const Conversation& conversation,
                      const CheckedRendering& checked, const ResultParts& parts);
/// `"error": {"type", "message", "line", "column", …}`. `input_line` is the line that a JSON error
/// is on, 0 for its own.
void append_error(std::string& out, const Error& error, std::uint64_t input_line = 0);
/// `"id": …, ` for an id that is not undefined.
void append_id(std::string& out, Value id);

}  // namespace parlance
