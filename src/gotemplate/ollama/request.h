// ChatRequest: a chat request decoded as Ollama's server does it, into what its templates see.
//
// Decoding is strict as encoding/json is: a number where text belongs fails the request. Strings
// stay views of the input. Source: Ollama's api/types.go (the UnmarshalJSON methods) and
// template/template.go (collate). Begin reading at read_request.
#pragma once
#include <span>

#include "gotemplate/types.h"

namespace parlance::gotemplate {

/// One message, with neighbours of its role merged into it.
struct Turn {
  /// The fields of the struct that templates see, in its order.
  enum Field : std::uint8_t { role, content, thinking, images, calls, tool_name, tool_call_id };
  static constexpr std::size_t kFields = 7;
  Value fields[kFields];
  std::uint32_t first = 0;   ///< number of the message of the request; of several, the first
  std::uint32_t last = 0;    ///< the last
  std::uint32_t origin = 0;  ///< origin id of the first
  Value& operator[](Field f) { return fields[f]; }
  Value operator[](Field f) const { return fields[f]; }
  std::string_view role_name() const { return leaf_text(fields[role]); }
};

struct ChatRequest {
  std::span<Turn> turns;
  Value system;  ///< all system messages
  Value tools;
  bool think_set = false;
  bool think = false;
  Value think_level;
  Value prompt;
  Value suffix;
};

/// What the system says in all these turns; "" where it says nothing.
Value system_of(Runtime& rt, std::span<const Turn> turns);

/// Decodes the variables of a request. Unless `as_is`, what OpenAI's API calls otherwise is
/// understood too: content in parts, reasoning_content, the name of a tool's message,
/// reasoning_effort, enable_thinking; and images get their tags. False with go_request recorded, in
/// encoding/json's words.
bool read_request(Runtime& rt, const DictObject* variables, bool as_is, ChatRequest& out);

}  // namespace parlance::gotemplate
