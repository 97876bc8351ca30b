// Ranges are sorted by address and joined, so that a question is a binary search.
#include "losses/reached.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace parlance {
namespace {

bool before(const char* a, const char* b) { return std::less<>()(a, b); }

/// Do these bytes open a container, with a text in Python's quotes behind them?
bool opens_python(const Span& span, std::string_view prompt) {
  if (span.end == span.begin || span.end >= prompt.size() || prompt[span.end] != '\'') return false;
  return prompt[span.end - 1] == '{' || prompt[span.end - 1] == '[';
}

/// May it become Latin where its case changes? The ligature of f and i becomes "FI", the Kelvin sign "k".
bool may_become_latin(char32_t c, char32_t beyond) {
  for (const auto map : {unicode::to_lower, unicode::to_upper, unicode::to_title, unicode::to_fold}) {
    char32_t made[unicode::kMaxMapping];
    const std::uint32_t count = map(c, made);
    if (std::any_of(made, made + count, [&](char32_t one) { return one < beyond; })) return true;
  }
  return false;
}

}  // namespace

/// The letters and digits of a text, as far as no filter changes them: ASCII's without their case, and all others of
/// scripts beyond Latin as one sign, since they may change with theirs.
class Reached::Signs {
 public:
  Signs(std::string_view text, Escapes escapes) : text_(text), escapes_(escapes) {}

  /// The next one, or 0.
  char32_t next() {
    while (at_ < text_.size()) {
      place_ = at_;
      if (const char32_t sign = sign_of(code_point()); sign != 0) return sign;
    }
    return 0;
  }
  /// Where the latest stands.
  std::size_t place() const { return place_; }

 private:
  static constexpr char32_t kBeyondLatin = 0x370;

  static char32_t sign_of(char32_t c) {
    if (c >= kBeyondLatin) return may_become_latin(c, kBeyondLatin) ? 0 : kBeyondLatin;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : 0;
  }

  char32_t code_point() {
    if (escapes_ == Escapes::percent && text_[at_] == '%') return percent();
    if (escapes_ == Escapes::json && text_[at_] == '\\' && at_ + 1 < text_.size()) {
      constexpr std::size_t kDigits = 4;
      std::uint32_t value = 0;
      const char* const digits = text_.data() + at_ + 2;
      const bool has_digits = text_[at_ + 1] == 'u' && at_ + 2 + kDigits <= text_.size();
      if (has_digits && std::from_chars(digits, digits + kDigits, value, 16).ptr == digits + kDigits) {
        at_ += 2 + kDigits;
        return value;
      }
      at_ += 2;
      return 0;
    }
    const utf8::Decoded one = utf8::decode(text_.data() + at_, text_.data() + text_.size());
    at_ += one.size;
    return one.code_point;
  }

  /// A character whose bytes are written %C3%A9; a percent sign alone is none that counts.
  char32_t percent() {
    constexpr std::size_t kWritten = 3;
    char bytes[4];  // of the longest character
    std::size_t count = 0;
    for (std::size_t at = at_; count < sizeof bytes && at + kWritten <= text_.size(); at += kWritten) {
      const int high = ascii::hex_value(text_[at + 1]), low = ascii::hex_value(text_[at + 2]);
      if (text_[at] != '%' || high < 0 || low < 0) break;
      bytes[count++] = static_cast<char>(high * 16 + low);
    }
    if (count == 0) return ++at_, 0;
    const utf8::Decoded one = utf8::decode(bytes, bytes + count);
    at_ += one.size * kWritten;
    return one.code_point;
  }

  std::string_view text_;
  Escapes escapes_;
  std::size_t at_ = 0;
  std::size_t place_ = 0;
};

void Reached::take(std::span<const Span> spans, std::string_view prompt) {
  prompt_ = prompt;
  spans_ = spans;
  bool any_derived = false;
  ranges_.clear();
  printed_.clear();
  ids_.clear();
  python_ids_.clear();
  for (const Span& span : spans) {
    if (span.input != nullptr) {
      const bool derived = span.origin != Origin::input;
      ranges_.push_back(
          {span.input, span.input + (derived ? 1 : span.end - span.begin), derived, {span.begin, span.end}});
      any_derived = any_derived || derived;
    } else if (span.input_id != 0 && span.input_id < kProgramSource) {
      ids_.push_back(span.input_id);
      if (opens_python(span, prompt)) python_ids_.push_back(span.input_id);
    }
  }
  std::sort(ids_.begin(), ids_.end());
  std::sort(python_ids_.begin(), python_ids_.end());
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.begin == b.begin ? a.prompt.begin < b.prompt.begin : before(a.begin, b.begin);
  });
  if (any_derived) printed_ = ranges_;
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

bool Reached::is_scattered(std::string_view text) const {
  const Span* before_it = nullptr;
  for (const Span& span : spans_) {
    if (span.input == nullptr || before(span.input, text.data()) || !before(span.input, text.data() + text.size()))
      continue;
    if (before_it != nullptr && before(before_it->input, span.input) && before_it->end != span.begin) return true;
    before_it = &span;
  }
  return false;
}

std::vector<Reached::Gap> Reached::gaps(std::string_view text) const {
  const char* const end = text.data() + text.size();
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& one) { return !before(text.data(), one.end); });
  const auto last =
      std::partition_point(first, ranges_.end(), [&](const Range& one) { return before(one.begin, end); });
  if (std::none_of(first, last, [](const Range& one) { return one.derived; }))
    return gaps_between(text, static_cast<std::size_t>(first - ranges_.begin()));
  if (is_whole(text)) return {};
  std::size_t at = 0;
  for (const Escapes escapes : {Escapes::json, Escapes::none, Escapes::percent}) {
    if (at < text.size()) at = std::max(at, first_missing(text, escapes));
  }
  return at >= text.size() ? std::vector<Gap>() : std::vector<Gap>{{at, text.size()}};
}

/// Was it printed as it is, in quotes perhaps? What JSON has mostly was.
bool Reached::is_whole(std::string_view text) const {
  const auto range = std::partition_point(printed_.begin(), printed_.end(),
                                          [&](const Range& one) { return before(one.begin, text.data()); });
  if (range == printed_.end() || range->begin != text.data()) return false;
  const std::string_view made = prompt_.substr(range->prompt.begin, range->prompt.end - range->prompt.begin);
  return made.starts_with(text) || made.substr(1).starts_with(text);
}

/// Gaps between the ranges from number `range` on.
std::vector<Reached::Gap> Reached::gaps_between(std::string_view text, std::size_t range) const {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  std::vector<Gap> gaps;
  for (; before(at, end); ++range) {
    const bool more = range < ranges_.size() && before(ranges_[range].begin, end);
    const char* const until = more ? ranges_[range].begin : end;
    if (before(at, until)) {
      const std::string_view missing(at, static_cast<std::size_t>(until - at));
      const std::string_view words = ascii::trimmed(missing);
      const auto begin = static_cast<std::size_t>(words.data() - text.data());
      if (!words.empty()) gaps.push_back({begin, begin + words.size()});
    }
    if (!more) break;
    at = ranges_[range].end;
  }
  return gaps;
}

/// Where the first letter or digit of a text stands that is not in what was printed of it; npos: all are there.
std::size_t Reached::first_missing(std::string_view text, Escapes escapes) const {
  const char* const end = text.data() + text.size();
  auto range = std::partition_point(printed_.begin(), printed_.end(),
                                    [&](const Range& one) { return before(one.begin, text.data()); });
  Signs wanted(text, Escapes::none), found({}, escapes);
  for (char32_t sign = wanted.next(); sign != 0; sign = wanted.next()) {
    for (char32_t one = found.next(); one != sign; one = found.next()) {
      if (one != 0) continue;
      if (range == printed_.end() || !before(range->begin, end)) return wanted.place();
      found = Signs(prompt_.substr(range->prompt.begin, range->prompt.end - range->prompt.begin), escapes);
      ++range;
    }
  }
  return text.npos;
}

bool Reached::has(std::uint32_t origin) const {
  return origin != 0 && std::binary_search(ids_.begin(), ids_.end(), origin);
}

bool Reached::has_as_python(std::uint32_t origin) const {
  return origin != 0 && std::binary_search(python_ids_.begin(), python_ids_.end(), origin);
}

}  // namespace parlance
