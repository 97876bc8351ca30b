// Ranges are sorted by address and joined, so that a question is a binary search.
#include "losses/reached.h"

#include <algorithm>
#include <functional>

#include "base/arena.h"

namespace parlance {
namespace {

bool before(const char* a, const char* b) { return std::less<>()(a, b); }

/// Do these bytes open a container, with a text in Python's quotes behind them?
bool opens_python(const Span& span, std::string_view prompt) {
  if (span.end == span.begin || span.end >= prompt.size() || prompt[span.end] != '\'') return false;
  return prompt[span.end - 1] == '{' || prompt[span.end - 1] == '[';
}

}  // namespace

void Reached::take(std::span<const Span> spans, std::string_view prompt) {
  ranges_.clear();
  ids_.clear();
  python_ids_.clear();
  for (const Span& span : spans) {
    if (span.input != nullptr) {
      const bool derived = span.origin != Origin::input;
      ranges_.push_back({span.input, span.input + (derived ? 1 : span.end - span.begin), derived});
    } else if (span.input_id != 0 && span.input_id < kProgramSource) {
      ids_.push_back(span.input_id);
      if (opens_python(span, prompt)) python_ids_.push_back(span.input_id);
    }
  }
  std::sort(ids_.begin(), ids_.end());
  std::sort(python_ids_.begin(), python_ids_.end());
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return before(a.begin, b.begin); });
  std::size_t kept = 0;
  for (const Range& range : ranges_) {
    if (kept != 0 && !before(ranges_[kept - 1].end, range.begin)) {
      Range& last = ranges_[kept - 1];
      if (before(last.end, range.end)) last.end = range.end;
      last.derived = last.derived || range.derived;
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

bool Reached::any_of(std::string_view text) const {
  const auto after = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& range) { return !before(text.data(), range.end); });
  return after != ranges_.end() && before(after->begin, text.data() + text.size());
}

std::size_t Reached::first_gap(std::string_view text) const {
  constexpr std::string_view kBlanks = " \t\r\n";
  const char* const end = text.data() + text.size();
  auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                    [&](const Range& one) { return !before(text.data(), one.end); });
  const char* at = text.data();
  std::size_t gap = text.npos;
  for (; before(at, end); ++range) {
    const bool more = range != ranges_.end() && before(range->begin, end);
    if (more && range->derived) return text.npos;
    const char* const until = more ? range->begin : end;
    if (before(at, until) && gap == text.npos) {
      const std::string_view missing(at, static_cast<std::size_t>(until - at));
      const std::size_t word = missing.find_first_not_of(kBlanks);
      if (word != missing.npos) gap = static_cast<std::size_t>(at - text.data()) + word;
    }
    if (!more) break;
    at = range->end;
  }
  return gap;
}

bool Reached::has(std::uint32_t origin) const {
  return origin != 0 && std::binary_search(ids_.begin(), ids_.end(), origin);
}

bool Reached::has_as_python(std::uint32_t origin) const {
  return origin != 0 && std::binary_search(python_ids_.begin(), python_ids_.end(), origin);
}

}  // namespace parlance
