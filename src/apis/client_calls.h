// Calls of tools that OpenAI's Responses defines by a type and the client runs (conversation/client_tools.h): there
// they are items of types of their own.
#pragma once
#include <string>
#include <string_view>

namespace parlance::apis {

struct ClientCall {
  std::string_view tool;  ///< the type of the tool, and the name of its calls
  std::string_view item;
  std::string_view id_prefix;
};
/// Null for other tools.
const ClientCall* find_client_call(std::string_view tool);

/// The members of the item that say what is to be done, `"action": {…}`; "" where the arguments are not those of the
/// tool.
std::string client_call_action(const ClientCall& call, std::string_view arguments);

}  // namespace parlance::apis
