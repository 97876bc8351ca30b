// What every tokenizer of the library asks of a text and of the ranges of it that are trusted.
#pragma once
#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "parlance/tokenizer.h"

namespace parlance {

/// Fails with value (no UTF-8), limit_memory (longer than a ByteSpan can say).
inline Result<void> check_text(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    return Error(ErrorCode::limit_memory, "a text of more than 4 GiB cannot be made tokens");
  if (utf8::is_valid(text, false)) return {};
  return Error(ErrorCode::value, "the text to make tokens of is not UTF-8");
}

/// Does `span`, which is not empty, lie in one of these ranges (sorted, disjoint, not touching)?
inline bool lies_in(ByteSpan span, const std::vector<ByteSpan>& ranges) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), span.begin,
                                      [](std::uint32_t at, const ByteSpan& range) { return at < range.begin; });
  return span.begin < span.end && after != ranges.begin() && span.end <= std::prev(after)->end;
}

}  // namespace parlance
