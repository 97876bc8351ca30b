// Which of a tokenizer's control tokens stand in a format's markers. Begin reading at ReplyFormat::with_control.
#include <algorithm>

#include "parlance/reply_format.h"
#include "reply/marker_texts.h"

namespace parlance {

ReplyFormat ReplyFormat::with_control(std::span<const std::string> tokens, std::span<const std::string> ends) const {
  ReplyFormat made = *this;
  const reply::MarkerTexts markers(*this);
  for (const std::string& token : tokens) {
    if (token.empty() || token.size() > reply::kLongestMarker) continue;
    const bool stands = markers.have(token) || std::find(ends.begin(), ends.end(), token) != ends.end();
    const bool is_known = std::find(made.control.begin(), made.control.end(), token) != made.control.end();
    if (stands && !is_known) made.control.push_back(token);
  }
  return made;
}

}  // namespace parlance
