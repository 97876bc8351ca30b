// Tools that an API defines by a type alone and the client runs: Anthropic's bash_20250124, Responses' shell. Real
// models are trained on them; others are told what the API's documentation says of their input.
#pragma once
#include <string_view>

#include "value/runtime.h"

namespace parlance {

struct ClientTool {
  std::string_view type;  ///< that of the tool, or what it begins with
  std::string_view name;  ///< that of its calls, where the tool itself has none
  std::string_view description;
  std::string_view schema;  ///< of its input, as JSON
};

/// Null for types that the API runs, and for those of which no form is known here.
const ClientTool* find_anthropic_client_tool(std::string_view type);
const ClientTool* find_responses_client_tool(std::string_view type);

/// Whether the client runs a tool of Responses, where there is one of this type at all: not in a container of the
/// API's, and not by the API's own search. Other tools are not offered.
bool runs_at_client(Value tool);

/// Whether the client runs a tool or a call of the type tool_search of Responses: the API has a search of its own, too.
/// Calls and results of the API's own have no id.
bool is_searched_by_client(Value of);

}  // namespace parlance
