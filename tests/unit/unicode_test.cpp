// Tests of base/utf8.h and base/unicode.h: tables of the cases worth knowing, and laws over random
// bytes. Every code point is compared with CPython elsewhere, by tests/oracle/unicode_oracle.py;
// the expectations here are its answers too.
// Begin reading at TEST(Utf8, ...) for bytes, at kCaseRows for case, at kQuestionRows for classes.

#include "base/unicode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "share.h"

namespace parlance {
namespace {

using namespace std::string_view_literals;

/// Bytes in a heap block of exactly their size, so that a sanitizer sees any read past them.
struct Exact {
  explicit Exact(std::string_view text) : bytes(new char[text.size()]), size(text.size()) {
    std::copy(text.begin(), text.end(), bytes.get());
  }
  std::string_view view() const { return {bytes.get(), size}; }
  std::unique_ptr<char[]> bytes;
  size_t size;
};

std::vector<utf8::Decoded> walk(std::string_view text) {
  std::vector<utf8::Decoded> found;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end; p += found.back().size) {
    found.push_back(utf8::decode(p, end));
  }
  return found;
}

std::vector<utf8::Decoded> walk_back(std::string_view text) {
  std::vector<utf8::Decoded> found;
  for (const char* p = text.data() + text.size(); p > text.data(); p -= found.back().size) {
    found.push_back(utf8::decode_back(text.data(), p));
  }
  return {found.rbegin(), found.rend()};
}

constexpr std::string_view kWellFormed[] = {"a",
                                            "\0"sv,
                                            "\x7F",
                                            "é",
                                            "你",
                                            "한",
                                            "\u0800",
                                            "\uFFFF",
                                            "\U0001F600",
                                            "\U0010FFFF",
                                            "\xED\xA0\x80",
                                            "\xED\xBF\xBF",
                                            "0123456789abcdefghijklmnopqrstuvwxyz"};
constexpr std::string_view kIllFormed[] = {"\xC0\x80",
                                           "\xE0\x9F\xBF",
                                           "\xF0\x8F\xBF\xBF",
                                           "\xF4\x90\x80\x80",
                                           "\xF8",
                                           "\xFF",
                                           "\xE4\xBD",
                                           "\xF0\x9F\x98",
                                           "\xC3",
                                           "\x80",
                                           "\xBF",
                                           "\xED"};

/// Random bytes: half of the time well-formed, otherwise nearly so.
std::string random_bytes(std::mt19937& random) {
  std::string bytes;
  const bool well_formed = random() % 2 != 0;
  for (size_t left = random() % 30; left > 0; --left) {
    bytes += kWellFormed[random() % std::size(kWellFormed)];
    if (well_formed) continue;
    if (random() % 3 == 0) bytes += kIllFormed[random() % std::size(kIllFormed)];
    if (random() % 4 == 0) bytes += static_cast<char>(random());
  }
  return bytes;
}

TEST(Utf8, EveryCodePointGoesThereAndBack) {
  for (char32_t c = 0; c <= utf8::kMaxCodePoint; c += testing::is_sparse() && c > 0x10100 && c < 0x10FFF0 ? 7 : 1) {
    char bytes[4];
    const uint32_t size = utf8::encode(c, bytes);
    ASSERT_EQ(size, c < 0x80 ? 1u : c < 0x800 ? 2u : c < 0x10000 ? 3u : 4u);
    const utf8::Decoded forward = utf8::decode(bytes, bytes + size);
    const utf8::Decoded back = utf8::decode_back(bytes, bytes + size);
    ASSERT_EQ(forward.code_point, c);
    ASSERT_EQ(forward.size, size);
    ASSERT_EQ(back.code_point, c);
    ASSERT_EQ(back.size, size);
    const std::string_view text(bytes, size);
    ASSERT_EQ(utf8::is_valid(text, false), !utf8::is_surrogate(c));
    ASSERT_TRUE(utf8::is_valid(text, true));
    ASSERT_EQ(utf8::has_surrogates(text), utf8::is_surrogate(c));
    for (uint32_t cut = 1; cut < size; ++cut) {
      ASSERT_EQ(utf8::decode(bytes, bytes + cut).size, 1u);
      ASSERT_FALSE(utf8::is_valid(text.substr(0, cut), true));
    }
  }
}

TEST(Utf8, WhatCannotBeEncodedBecomesTheReplacement) {
  std::string out;
  utf8::append(out, 0x110000);
  utf8::append(out, 0xFFFFFFFF);
  EXPECT_EQ(out, "\uFFFD\uFFFD");
}

TEST(Utf8, AtTheEndThereIsNothing) {
  const char* const p = "x";
  EXPECT_EQ(utf8::decode(p, p).size, 0u);
  EXPECT_EQ(utf8::decode_back(p, p).size, 0u);
}

TEST(Utf8, MalformedBytesAreOneReplacementEach) {
  struct Row {
    std::string_view text;
    std::string_view repaired;
  };
  constexpr Row kRows[] = {
      {"\x80"sv, "\uFFFD"},
      {"a\xC3"sv, "a\uFFFD"},
      {"\xC3z"sv, "\uFFFDz"},
      {"\xC0\x80"sv, "\uFFFD\uFFFD"},
      {"\xE0\x80\x80"sv, "\uFFFD\uFFFD\uFFFD"},
      {"\xF0\x80\x80\x80"sv, "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xF4\x90\x80\x80"sv, "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xE4\xBD\xE4\xBD\xA0"sv, "\uFFFD\uFFFD你"},
      {"\xF0\x9F\x98"sv, "\uFFFD\uFFFD\uFFFD"},
      {"\xED\xA0\x80"sv, "\xED\xA0\x80"sv},
      {"\uFFFDok"sv, "\uFFFDok"},
      {""sv, ""sv},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(utf8::repair(row.text), row.repaired);
    EXPECT_EQ(utf8::is_valid(row.text, true), row.text == row.repaired);
  }
}

TEST(Utf8, ValidityNamesTheWorst) {
  EXPECT_EQ(utf8::validity(""), utf8::Validity::valid);
  EXPECT_EQ(utf8::validity("plain, 你好, \U0001F600"), utf8::Validity::valid);
  EXPECT_EQ(utf8::validity("\xED\xA0\x80 then good"), utf8::Validity::has_surrogates);
  EXPECT_EQ(utf8::validity("\xED\xA0\x80 then \xFF"), utf8::Validity::malformed);
  EXPECT_FALSE(utf8::has_surrogates("한국어 \xED"));
}

TEST(Utf8, LawsHoldOnRandomBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < testing::share_of(50000); ++round) {
    const Exact exact(random_bytes(random));
    const std::string_view text = exact.view();
    const auto forward = walk(text);
    const auto back = walk_back(text);
    ASSERT_EQ(forward.size(), back.size());
    std::string rebuilt;
    bool surrogates = false;
    for (size_t i = 0; i < forward.size(); ++i) {
      ASSERT_EQ(forward[i].code_point, back[i].code_point);
      ASSERT_EQ(forward[i].size, back[i].size);
      utf8::append(rebuilt, forward[i].code_point);
      surrogates |= utf8::is_surrogate(forward[i].code_point);
    }
    ASSERT_EQ(utf8::repair(text), rebuilt);
    ASSERT_TRUE(utf8::is_valid(rebuilt, true));
    ASSERT_EQ(utf8::is_valid(text, true), rebuilt == text);
    ASSERT_EQ(utf8::has_surrogates(text), surrogates);
    ASSERT_EQ(utf8::count(rebuilt), forward.size());
  }
}

TEST(Utf8, CountsAndOffsetsAgreeWithAWalk) {
  std::mt19937 random(12);
  for (int round = 0; round < 3000; ++round) {
    const Exact exact(utf8::repair(random_bytes(random)));
    const std::string_view text = exact.view();
    const auto characters = walk(text);
    ASSERT_EQ(utf8::count(text), characters.size());
    size_t offset = 0;
    size_t ascii = 0;
    for (size_t i = 0; i < characters.size(); ++i) {
      ASSERT_EQ(utf8::offset_of(text, i), offset);
      if (ascii == i && characters[i].code_point < 0x80) ++ascii;
      offset += characters[i].size;
    }
    ASSERT_EQ(utf8::offset_of(text, characters.size()), text.size());
    ASSERT_EQ(utf8::offset_of(text, size_t{0} - 1), text.size());
    ASSERT_EQ(utf8::ascii_prefix(text), ascii);
    ASSERT_EQ(utf8::is_ascii(text), ascii == text.size());
  }
}

TEST(Utf8, CutsBetweenCharacters) {
  constexpr std::string_view kText = "aé€😀";  // of 1, 2, 3 and 4 bytes
  struct Row {
    size_t most;
    std::string_view prefix, suffix;
  };
  for (const Row& row :
       {Row{0, "", ""}, Row{1, "a", ""}, Row{2, "a", ""}, Row{3, "aé", ""}, Row{4, "aé", "😀"}, Row{6, "aé€", "😀"},
        Row{7, "aé€", "€😀"}, Row{9, "aé€", "é€😀"}, Row{10, kText, kText}, Row{99, kText, kText}}) {
    EXPECT_EQ(utf8::whole_prefix(kText, row.most), row.prefix) << row.most;
    EXPECT_EQ(utf8::whole_suffix(kText, row.most), row.suffix) << row.most;
  }
  const std::string malformed(100, '\x80');
  EXPECT_EQ(utf8::whole_prefix(malformed, 50).size(), 47u);
  EXPECT_EQ(utf8::whole_suffix(malformed, 50).size(), 47u);
}

TEST(Utf8, CountOfALongTextDoesNotOverflowItsLanes) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "\U0001F600";
  EXPECT_EQ(utf8::count(text), 50000u);
  EXPECT_EQ(utf8::count(std::string_view(text).substr(4)), 49999u);
  EXPECT_EQ(utf8::offset_of(text, 49999), 199996u);
}

struct CaseRow {
  std::string_view text;
  std::string_view lower;
  std::string_view upper;
  std::string_view title;
  std::string_view capitalize;
  std::string_view swapcase;
  std::string_view casefold;
};

constexpr CaseRow kCaseRows[] = {
    {"", "", "", "", "", "", ""},
    {"hello wORLD", "hello world", "HELLO WORLD", "Hello World", "Hello world", "HELLO World", "hello world"},
    {"they're 2nd_x", "they're 2nd_x", "THEY'RE 2ND_X", "They'Re 2Nd_X", "They're 2nd_x", "THEY'RE 2ND_X",
     "they're 2nd_x"},
    {"straße", "straße", "STRASSE", "Straße", "Straße", "STRASSE", "strasse"},
    {"ẞ", "ß", "ẞ", "ẞ", "ẞ", "ß", "ss"},
    {"ß", "ß", "SS", "Ss", "Ss", "SS", "ss"},
    {"İI", "i\u0307i", "İI", "İi", "İi", "i\u0307i", "i\u0307i"},
    {"ŉ", "ŉ", "ʼN", "ʼN", "ʼN", "ʼN", "ʼn"},
    {"ﬁﬃ", "ﬁﬃ", "FIFFI", "Fiﬃ", "Fiﬃ", "FIFFI", "fiffi"},
    {"ǆ ǅ Ǆ", "ǆ ǆ ǆ", "Ǆ Ǆ Ǆ", "ǅ ǅ ǅ", "ǅ ǆ ǆ", "Ǆ ǅ ǆ", "ǆ ǆ ǆ"},
    {"ᾳ ᾼ", "ᾳ ᾳ", "ΑΙ ΑΙ", "ᾼ ᾼ", "ᾼ ᾳ", "ΑΙ ᾼ", "αι αι"},
    {"ΟΔΟΣ", "οδος", "ΟΔΟΣ", "Οδος", "Οδος", "οδος", "οδοσ"},
    {"Σ ΑΣ. ΑΣ.Α Σ.", "σ ας. ασ.α σ.", "Σ ΑΣ. ΑΣ.Α Σ.", "Σ Ας. Ασ.Α Σ.", "Σ ας. ασ.α σ.", "σ ας. ασ.α σ.",
     "σ ασ. ασ.α σ."},
    {"Α\u0301Σ\u0301", "α\u0301ς\u0301", "Α\u0301Σ\u0301", "Α\u0301Σ\u0301", "Α\u0301ς\u0301", "α\u0301ς\u0301",
     "α\u0301σ\u0301"},
    {"Ꭰꭰ", "ꭰꭰ", "ᎠᎠ", "Ꭰꭰ", "Ꭰꭰ", "ꭰᎠ", "ᎠᎠ"},
    {"აბ", "აბ", "ᲐᲑ", "აბ", "აბ", "ᲐᲑ", "აბ"},
    {"ⅰⅡ ⓐⒷ", "ⅰⅱ ⓐⓑ", "ⅠⅡ ⒶⒷ", "Ⅰⅱ Ⓐⓑ", "Ⅰⅱ ⓐⓑ", "Ⅰⅱ Ⓐⓑ", "ⅰⅱ ⓐⓑ"},
    {"𐐀𐐨", "𐐨𐐨", "𐐀𐐀", "𐐀𐐨", "𐐀𐐨", "𐐨𐐀", "𐐨𐐨"},
    {"你好A", "你好a", "你好A", "你好A", "你好a", "你好a", "你好a"},
    {"\xED\xA0\x80xY", "\xED\xA0\x80xy", "\xED\xA0\x80XY", "\xED\xA0\x80Xy", "\xED\xA0\x80xy", "\xED\xA0\x80Xy",
     "\xED\xA0\x80xy"},
};

using TextMapping = void (*)(std::string&, std::string_view);

std::string changed(TextMapping mapping, std::string_view text) {
  std::string out = "before ";
  mapping(out, Exact(text).view());
  EXPECT_EQ(out.substr(0, 7), "before ");
  return out.substr(7);
}

TEST(UnicodeCase, TextsChangeAsInPython) {
  for (const CaseRow& row : kCaseRows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(changed(unicode::append_lower, row.text), row.lower);
    EXPECT_EQ(changed(unicode::append_upper, row.text), row.upper);
    EXPECT_EQ(changed(unicode::append_title, row.text), row.title);
    EXPECT_EQ(changed(unicode::append_capitalize, row.text), row.capitalize);
    EXPECT_EQ(changed(unicode::append_swapcase, row.text), row.swapcase);
    EXPECT_EQ(changed(unicode::append_casefold, row.text), row.casefold);
  }
}

TEST(UnicodeCase, AnyBytesStayWithinBounds) {
  constexpr TextMapping kMappings[] = {
      unicode::append_lower,      unicode::append_upper,    unicode::append_title,
      unicode::append_capitalize, unicode::append_swapcase, unicode::append_casefold,
  };
  std::mt19937 random(13);
  for (int round = 0; round < 5000; ++round) {
    const std::string bytes = random_bytes(random) + (random() % 2 ? "\u03A3" : "\xCE");
    for (const TextMapping mapping : kMappings) {
      ASSERT_EQ(changed(mapping, bytes), changed(mapping, utf8::repair(bytes)));
    }
  }
}

struct QuestionRow {
  const char* name;
  bool (*ask)(std::string_view);
  std::vector<std::string_view> yes;
  std::vector<std::string_view> no;
};

const QuestionRow kQuestionRows[] = {
    {"isalpha", unicode::str_is_alpha, {"abc", "é你ªʰ", "ǅ"}, {"", "a1", "a b", "Ⅷ", "\u0301"}},
    {"isdecimal", unicode::str_is_decimal, {"019", "٣९"}, {"", "²", "①", "½", "1a"}},
    {"isdigit", unicode::str_is_digit, {"019", "٣²①"}, {"", "½", "五", "⑩"}},
    {"isnumeric", unicode::str_is_numeric, {"٣²½五Ⅷ", "⑩"}, {"", "-1", "1.5", "a"}},
    {"isalnum", unicode::str_is_alnum, {"a1", "你五½²"}, {"", "a_1", "a b"}},
    {"islower", unicode::str_is_lower, {"abc", "a1 b", "ªⓐⅷ"}, {"", "1", "aB", "ǆǅ", "你"}},
    {"isupper", unicode::str_is_upper, {"ABC", "A1 B", "ⒶⅧ"}, {"", "1", "aB", "Ǆǅ", "你"}},
    {"istitle", unicode::str_is_title, {"Ab Cd", "A1B", "ǅa", "A"}, {"", "AB", "ab", "1", "Aǅ"}},
    {"isspace",
     unicode::str_is_space,
     {" \t\n\v\f\r", "\x1C\x1D\x1E\x1F", "\u0085\u00A0\u1680\u2000\u200A\u2028\u2029\u202F\u205F", "\u3000"},
     {"", "\u200B", "\uFEFF", " a", "\u180E"}},
    {"isprintable",
     unicode::str_is_printable,
     {"", "a b", "é你\U0001F600", "\uFFFD"},
     {"\n", "\u00A0", "\u00AD", "\u200B", "\u3000", "\uE000", "\uFFFF", "\xED\xA0\x80", "\u0CF3"}},
    {"isidentifier",
     unicode::str_is_identifier,
     {"a", "_", "__x1", "你好", "a\u0301", "a٣", "℘", "a·", "ﬁ"},
     {"", "1a", "a b", "a-b", "\u037A", "\u0301a", "a\xED\xA0\x80", "aー\u309B"}},
    {"isascii", unicode::str_is_ascii, {"", "abc\x7F"}, {"\u0080", "abcdefgh你"}},
};

TEST(UnicodeQuestions, TextsAnswerAsInPython) {
  for (const QuestionRow& row : kQuestionRows) {
    for (const std::string_view text : row.yes) EXPECT_TRUE(row.ask(text)) << row.name << text;
    for (const std::string_view text : row.no) EXPECT_FALSE(row.ask(text)) << row.name << text;
  }
}

TEST(UnicodeQuestions, DigitsHaveValues) {
  struct Row {
    char32_t c;
    int decimal;
    int digit;
  };
  constexpr Row kRows[] = {
      {'0', 0, 0},      {'9', 9, 9},      {'a', -1, -1},     {'/', -1, -1},      {0x663, 3, 3},
      {0x96F, 9, 9},    {0xB2, -1, 2},    {0xB9, -1, 1},     {0x2460, -1, 1},    {0x2469, -1, -1},
      {0xBD, -1, -1},   {0x19DA, -1, 1},  {0x1D7CE, 0, 0},   {0x1D7FF, 9, 9},    {0x1FBF9, 9, 9},
      {0x1F100, -1, 0}, {0x1F10A, -1, 9}, {0x11F50, -1, -1}, {0x10FFFF, -1, -1}, {0xFFFFFFFF, -1, -1},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(unicode::decimal_value(row.c), row.decimal) << std::hex << uint32_t{row.c};
    EXPECT_EQ(unicode::digit_value(row.c), row.digit) << std::hex << uint32_t{row.c};
  }
}

TEST(UnicodeQuestions, BeyondUnicodeThereIsNothing) {
  for (const char32_t c : {0x110000u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(unicode::is_alnum(c) || unicode::is_cased(c) || unicode::is_case_ignorable(c));
    EXPECT_FALSE(unicode::is_space(c) || unicode::is_printable(c) || unicode::is_line_break(c));
    EXPECT_FALSE(unicode::is_xid_start(c) || unicode::is_xid_continue(c));
    for (const auto mapping : {unicode::to_lower, unicode::to_upper, unicode::to_title, unicode::to_fold}) {
      char32_t out[unicode::kMaxMapping];
      ASSERT_EQ(mapping(c, out), 1u);
      EXPECT_EQ(out[0], c);
    }
  }
}

TEST(UnicodeQuestions, LinesBreakWherePythonSplitsThem) {
  std::u32string breaks;
  for (char32_t c = 0; c <= utf8::kMaxCodePoint; ++c) {
    if (unicode::is_line_break(c)) breaks += c;
  }
  EXPECT_EQ(breaks, U"\n\v\f\r\x1C\x1D\x1E\u0085\u2028\u2029");
}

}  // namespace
}  // namespace parlance
