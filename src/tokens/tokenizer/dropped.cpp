// Text of which a tokenizer that does not say so itself made no token. Begin reading at
// Tokenizer::encode_and_find_dropped.
#include <algorithm>
#include <span>

#include "parlance/tokenizer.h"
#include "tokens/tokenizer/control_matcher.h"

namespace parlance {

Result<void> Tokenizer::encode_and_compare_places(std::string_view text, const std::vector<ByteSpan>* trusted,
                                                  std::vector<EncodedToken>& into,
                                                  std::vector<ByteSpan>& dropped) const {
  const std::size_t first = into.size();
  if (Result<void> done = encode(text, trusted, into); !done) return done;
  std::uint32_t at = 0;
  const auto look_before = [&](std::uint32_t end) {
    if (at < end && !is_blank(text.substr(at, end - at))) dropped.push_back({at, end});
  };
  for (const EncodedToken& token : std::span(into).subspan(first)) {
    look_before(token.bytes.begin);
    at = std::max(at, token.bytes.end);
  }
  look_before(static_cast<std::uint32_t>(text.size()));
  return {};
}

}  // namespace parlance
