// Members of a chat request that no template sees.
#pragma once
#include <string_view>

namespace parlance {

/// Does a member of a chat request steer the server or the sampler? What some template reads, or what asks for another
/// prompt, does not: tool_choice, parallel_tool_calls, response_format, reasoning_effort, chat_template.
bool is_request_member(std::string_view key);

}  // namespace parlance
