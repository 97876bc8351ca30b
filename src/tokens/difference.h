// Where two prompts differ, and what input and what line of the template that is. Begin reading at compare_prompts().
//
// A server's cache is lost at the first token that differs, and the reason is rarely visible there: a template drops
// reasoning from older turns, or a client changed an earlier message. So both sides are traced back to their origins.
#pragma once
#include <string>
#include <string_view>

#include "parlance/session.h"

namespace parlance {

/// How far two texts are the same, in bytes; never within a character.
std::size_t common_text(std::string_view a, std::string_view b);
/// place_of_span for the part of a span from a byte on. A literal with escapes may show a place a few columns off.
Location place_from(const Rendering& rendering, Span span, std::size_t byte);
/// A prompt at one of its bytes.
PromptSide side_at(const Rendering& rendering, const Conversation& conversation, std::size_t byte);
/// A text from a byte on, cut to what people read.
std::string excerpt_of(std::string_view text, std::size_t byte);
/// The path of the first input that is in both requests, and not the same; "" if there is none, messages that only
/// `after` has apart. With the template's `facts`: what it does not read is no cause.
std::string changed_input(const Conversation& before, const Conversation& after, const TemplateFacts* facts = nullptr);
/// history_rewritten, with the place and the input.
Error rewritten(const PrefixDifference& difference);

}  // namespace parlance
