// Reasoning as a text that clients pass on unread: `encrypted_content` of OpenAI's Responses, the signature of a
// thinking block of Anthropic's without its text. It is no secret: whoever may have the answer may have the reasoning.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace parlance {

std::string sealed_reasoning(std::string_view text);
/// The text, where it was sealed by sealed_reasoning() and is UTF-8.
std::optional<std::string> opened_reasoning(std::string_view sealed);

}  // namespace parlance
