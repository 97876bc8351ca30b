// Calls that a template only tells of: an example in the prompt, between tags. Begin reading at find_prose.
//
// Templates that show no calls in history often teach them in words: "return a JSON object within <tool_call> tags".
// Such an example is worth more than nothing, and less than a render, so what is found here is always a guess
// (Verdict::partial).
#pragma once
#include <optional>
#include <string_view>

#include "parlance/derive.h"

namespace parlance::probe {

/// A form that a prompt with tools teaches by example: tags round a JSON object with a name and arguments, or round a
/// list of such. What it gives is a guess: nothing was rendered that could be read back.
std::optional<CallForm> find_prose(std::string_view prompt);

/// Tags of reasoning and of the answer that a prompt names, as in `<think></think>`; the answer's may be missing.
struct ToldTags {
  ReplyMarker reasoning_open;
  ReplyMarker reasoning_close;
  ReplyMarker content_open;
  ReplyMarker content_close;
};
std::optional<ToldTags> find_told_tags(std::string_view words);

}  // namespace parlance::probe
