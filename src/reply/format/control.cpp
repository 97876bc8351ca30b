// Which of a tokenizer's control tokens stand in a format's markers. Begin reading at ReplyFormat::with_control.
#include <algorithm>

#include "json/writer.h"
#include "parlance/reply_format.h"

namespace parlance {

ReplyFormat ReplyFormat::with_control(std::span<const std::string> tokens, std::span<const std::string> ends) const {
  constexpr std::size_t kLongest = 128;  // of a marker, see validate()
  ReplyFormat made = *this;
  const std::string markers = to_json();
  for (const std::string& token : tokens) {
    if (token.empty() || token.size() > kLongest) continue;
    const bool stands =
        markers.find(json_inside(token)) != markers.npos || std::find(ends.begin(), ends.end(), token) != ends.end();
    const bool is_known = std::find(made.control.begin(), made.control.end(), token) != made.control.end();
    if (stands && !is_known) made.control.push_back(token);
  }
  return made;
}

}  // namespace parlance
