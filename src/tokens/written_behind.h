// WrittenBehind: what a template writes behind a reply, so that another form of that reply, which goes on with the ids
// that were sampled, may be held against it.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "render/prompt_pieces.h"

namespace parlance {

struct WrittenBehind {
  std::string text;       ///< the end of the prompt
  std::size_t least = 0;  ///< so many bytes of it, at its end, have all that the messages behind the reply say

  /// Is this what stands there, and all of what those messages say?
  bool ends_with(std::string_view added) const { return added.size() >= least && text.ends_with(added); }
};

/// Of a prompt, from a byte on; `number` is that of the first message behind the reply.
inline WrittenBehind written_from(const PromptEnd& prompt, std::size_t from, std::size_t number) {
  const auto is_new = [number](const Span& span) {
    const bool is_said = span.origin == Origin::input || span.origin == Origin::derived;
    return is_said && span.message >= 0 && static_cast<std::size_t>(span.message) >= number;
  };
  const auto spans = prompt.rendering->spans();
  const auto first = std::find_if(spans.begin(), spans.end(), is_new);
  const std::size_t size = prompt.rendering->text().size();
  return {std::string(prompt.text_from(from)), first == spans.end() ? 0 : size - first->begin};
}

}  // namespace parlance
