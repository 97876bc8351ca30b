// Characters from U+0080 on: which class they are in, which digit they are, how their case maps.
//
// utf8proc answers for general categories, simple case mappings and folding; unicode_tables.inc
// holds what it lacks, and which code points Unicode 14 has not assigned, so that characters which
// a newer utf8proc knows are none, as in CPython 3.11. Only this file sees utf8proc and the tables.
// Source of the rules: CPython 3.11 Tools/unicode/makeunicodedata.py. Begin reading at category,
// then at the functions at the end.

#include "base/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>

#include "base/utf8.h"

namespace parlance::unicode {
namespace {

/// Digits that count up by one from the value of the first.
struct DigitRun {
  uint32_t first;
  uint32_t last;
  int value;
};

/// A mapping to several characters, all of the first plane; unused places are zero.
struct SpecialMapping {
  char16_t from;
  char16_t to[kMaxMapping];
};

#include "base/unicode_tables.inc"

/// The pages of 256 code points that a table touches: spares most characters a search.
class PageSet {
 public:
  constexpr void add(uint32_t first, uint32_t last) {
    for (uint32_t page = first >> 8; page <= last >> 8; ++page) {
      words_[page / 64] |= uint64_t{1} << page % 64;
    }
  }
  /// False beyond U+10FFFF.
  constexpr bool has(char32_t c) const { return c <= utf8::kMaxCodePoint && (words_[c >> 14] >> (c >> 8) % 64 & 1); }

 private:
  std::array<uint64_t, 0x1100 / 64> words_{};
};

/// A set of code points given by its edges.
class CodePointSet {
 public:
  constexpr explicit CodePointSet(std::span<const uint32_t> edges) : edges_(edges) {
    for (size_t i = 0; i + 1 < edges.size(); i += 2) pages_.add(edges[i], edges[i + 1] - 1);
  }

  /// Inside is what lies past an odd number of edges.
  bool contains(char32_t c) const {
    if (!pages_.has(c)) return false;
    const auto passed = std::upper_bound(edges_.begin(), edges_.end(), static_cast<uint32_t>(c));
    return (passed - edges_.begin()) % 2 != 0;
  }

 private:
  std::span<const uint32_t> edges_;
  PageSet pages_;
};

constexpr CodePointSet kUnassignedSet(kUnassigned);
constexpr CodePointSet kOtherLowercaseSet(kOtherLowercase);
constexpr CodePointSet kOtherUppercaseSet(kOtherUppercase);
constexpr CodePointSet kNumericLetterSet(kNumericLetters);
constexpr CodePointSet kOtherCaseIgnorableSet(kOtherCaseIgnorable);
constexpr CodePointSet kXidStartFlipSet(kXidStartFlips);
constexpr CodePointSet kXidContinueFlipSet(kXidContinueFlips);

/// Special mappings, sorted by the character they map.
class MappingTable {
 public:
  constexpr explicit MappingTable(std::span<const SpecialMapping> rows) : rows_(rows) {
    for (const SpecialMapping& row : rows) pages_.add(row.from, row.from);
  }

  /// Writes the mapping of `c` and returns its size; 0 if it has none here.
  uint32_t write(char32_t c, char32_t* out) const {
    if (!pages_.has(c)) return 0;
    const auto row =
        std::lower_bound(rows_.begin(), rows_.end(), c, [](const SpecialMapping& a, char32_t b) { return a.from < b; });
    if (row == rows_.end() || row->from != c) return 0;
    uint32_t size = 0;
    for (; size < kMaxMapping && row->to[size] != 0; ++size) out[size] = row->to[size];
    return size;
  }

 private:
  std::span<const SpecialMapping> rows_;
  PageSet pages_;
};

constexpr MappingTable kLowerTable(kSpecialLower);
constexpr MappingTable kUpperTable(kSpecialUpper);
constexpr MappingTable kTitleTable(kSpecialTitle);

bool is_unassigned(char32_t c) { return c > utf8::kMaxCodePoint || kUnassignedSet.contains(c); }

utf8proc_category_t category(char32_t c) {
  if (is_unassigned(c)) return UTF8PROC_CATEGORY_CN;
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

template <class... Categories>
constexpr uint32_t any_of(Categories... categories) {
  return ((uint32_t{1} << categories) | ...);
}

constexpr uint32_t kCasedLetters = any_of(UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT);
constexpr uint32_t kLetters = kCasedLetters | any_of(UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO);
constexpr uint32_t kNumbers = any_of(UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO);
constexpr uint32_t kUnprintable =
    any_of(UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS, UTF8PROC_CATEGORY_CO, UTF8PROC_CATEGORY_CN,
           UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_ZS);
constexpr uint32_t kIgnorable = any_of(UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_CF,
                                       UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_SK);
constexpr uint32_t kIdentifierStart = kLetters | any_of(UTF8PROC_CATEGORY_NL);
constexpr uint32_t kIdentifierContinue =
    kIdentifierStart | any_of(UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_PC);

bool in_categories(char32_t c, uint32_t set) { return any_of(category(c)) & set; }

uint32_t write_one(char32_t c, char32_t* out) {
  *out = c;
  return 1;
}

using SimpleMapping = utf8proc_int32_t (*)(utf8proc_int32_t);

/// The special mapping of `c`, else utf8proc's, unless that is of a later Unicode than 14.
uint32_t write_mapping(const MappingTable& special, SimpleMapping simple, char32_t c, char32_t* out) {
  if (c > utf8::kMaxCodePoint) return write_one(c, out);
  if (const uint32_t size = special.write(c, out)) return size;
  const auto mapped = static_cast<char32_t>(simple(static_cast<utf8proc_int32_t>(c)));
  const bool newer = mapped != c && (is_unassigned(c) || is_unassigned(mapped));
  return write_one(newer ? c : mapped, out);
}

}  // namespace

namespace detail {

bool wide_is_alpha(char32_t c) { return in_categories(c, kLetters); }

bool wide_is_numeric(char32_t c) { return in_categories(c, kNumbers) || kNumericLetterSet.contains(c); }

bool wide_is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || kOtherLowercaseSet.contains(c); }

bool wide_is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || kOtherUppercaseSet.contains(c); }

bool wide_is_cased(char32_t c) {
  return in_categories(c, kCasedLetters) || kOtherLowercaseSet.contains(c) || kOtherUppercaseSet.contains(c);
}

bool wide_is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

// Category Zs, or bidirectional class WS, B or S: a list that has not grown since Unicode 4.
bool wide_is_space(char32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool wide_is_printable(char32_t c) { return !in_categories(c, kUnprintable); }

bool wide_is_case_ignorable(char32_t c) { return in_categories(c, kIgnorable) || kOtherCaseIgnorableSet.contains(c); }

bool wide_is_xid_start(char32_t c) { return in_categories(c, kIdentifierStart) != kXidStartFlipSet.contains(c); }

bool wide_is_xid_continue(char32_t c) {
  return in_categories(c, kIdentifierContinue) != kXidContinueFlipSet.contains(c);
}

int wide_decimal_value(char32_t c) {
  const auto next = std::upper_bound(std::begin(kDecimalZeros), std::end(kDecimalZeros), static_cast<uint32_t>(c));
  // The first zero is the ASCII one, so a wide `c` has one before it.
  const uint32_t value = c - *std::prev(next);
  return value < 10 ? static_cast<int>(value) : -1;
}

int wide_digit_value(char32_t c) {
  const auto run = std::lower_bound(std::begin(kDigitRuns), std::end(kDigitRuns), c,
                                    [](const DigitRun& a, char32_t b) { return a.last < b; });
  if (run == std::end(kDigitRuns) || c < run->first) return wide_decimal_value(c);
  return run->value + static_cast<int>(c - run->first);
}

}  // namespace detail

uint32_t to_lower(char32_t c, char32_t out[kMaxMapping]) {
  if (detail::is_ascii(c)) return write_one(is_upper(c) ? c + 0x20 : c, out);
  return write_mapping(kLowerTable, utf8proc_tolower, c, out);
}

uint32_t to_upper(char32_t c, char32_t out[kMaxMapping]) {
  if (detail::is_ascii(c)) return write_one(is_lower(c) ? c - 0x20 : c, out);
  return write_mapping(kUpperTable, utf8proc_toupper, c, out);
}

uint32_t to_title(char32_t c, char32_t out[kMaxMapping]) {
  if (detail::is_ascii(c)) return to_upper(c, out);
  return write_mapping(kTitleTable, utf8proc_totitle, c, out);
}

uint32_t to_fold(char32_t c, char32_t out[kMaxMapping]) {
  if (detail::is_ascii(c)) return to_lower(c, out);
  if (is_unassigned(c)) return write_one(c, out);
  utf8proc_int32_t folded[kMaxMapping];
  int boundary_state = 0;
  const auto size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded, kMaxMapping, UTF8PROC_CASEFOLD,
                                            &boundary_state);
  if (size < 1 || size > static_cast<utf8proc_ssize_t>(kMaxMapping)) return write_one(c, out);
  if (is_unassigned(static_cast<char32_t>(folded[0]))) return write_one(c, out);
  std::copy_n(folded, size, out);
  return static_cast<uint32_t>(size);
}

std::string nfkc(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  constexpr auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  if (size < 0) return std::string(text);
  std::string result(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
  std::free(mapped);
  return result;
}

}  // namespace parlance::unicode
