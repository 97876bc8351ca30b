// Tests of base/source_text.h: newlines, lines, columns, excerpts.
#include "base/source_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace parlance {
namespace {

TEST(SourceText, NewlinesBecomeOneByte) {
  const SourceText source("t", "a\r\nb\rc\nd\r\r\n", true);
  EXPECT_EQ(source.text(), "a\nb\nc\nd\n\n");
  const SourceText as_given("t", "a\r\nb", false);
  EXPECT_EQ(as_given.text(), "a\r\nb");
}

TEST(SourceText, OffsetsLeadBackToTheTextAsGiven) {
  const std::string given = "a\r\nb\rc\r\n\r\nd";
  const SourceText source("t", given, true);
  ASSERT_EQ(source.text(), "a\nb\nc\n\nd");
  for (std::size_t i = 0; i < source.text().size(); ++i) {
    const char there = given[source.original_offset(i)];
    EXPECT_EQ(there == '\r' ? '\n' : there, source.text()[i]) << i;
  }
  EXPECT_EQ(source.original_offset(source.text().size()), given.size());
}

TEST(SourceText, LinesAndColumnsCountFromOne) {
  const SourceText source("t", "ab\né你c\n", true);
  const Location c = source.locate(source.text().find('c'), source.text().find('c') + 1);
  EXPECT_EQ(c.name, "t");
  EXPECT_EQ(c.line, 2u);
  EXPECT_EQ(c.column, 3u);
  EXPECT_EQ(c.end_column, 4u);
  EXPECT_EQ(c.excerpt, (std::vector<std::string>{"ab", "é你c"}));
  EXPECT_EQ(c.excerpt_line, 1u);
  EXPECT_EQ(source.line_of(0), 1u);
  EXPECT_EQ(source.line_of(2), 1u);
  EXPECT_EQ(source.line_of(3), 2u);
  EXPECT_EQ(source.line_of(1000), 3u);
}

TEST(SourceText, ARangeOverLinesEndsWithItsFirst) {
  const SourceText source("t", "one\ntwo\nthree\nfour", true);
  const Location where = source.locate(5, 10);
  EXPECT_EQ(where.line, 2u);
  EXPECT_EQ(where.column, 2u);
  EXPECT_EQ(where.end_column, 4u);
  EXPECT_EQ(where.end, 10u);
  EXPECT_EQ(where.excerpt, (std::vector<std::string>{"one", "two", "three"}));
}

TEST(SourceText, TheEdgesAreSafe) {
  const SourceText empty("t", "", true);
  const Location nowhere = empty.locate(5, 3);
  EXPECT_EQ(nowhere.line, 1u);
  EXPECT_EQ(nowhere.column, 1u);
  EXPECT_EQ(nowhere.excerpt, std::vector<std::string>{""});
  const SourceText malformed("t", "\xFF\xC3\n\x80", true);
  for (std::size_t i = 0; i <= 4; ++i) EXPECT_LE(malformed.locate(i, 5).line, 2u);
}

TEST(SourceText, LongLinesAreCutAroundThePlace) {
  const SourceText source("t", std::string(500, 'a') + "X" + std::string(500, 'b') + "\nshort", true);
  const Location where = source.locate(500, 501);
  EXPECT_EQ(where.column, 501u);
  ASSERT_EQ(where.excerpt.size(), 2u);
  EXPECT_EQ(where.excerpt[0].size(), 120u);
  EXPECT_EQ(where.excerpt[0][where.column - where.excerpt_column], 'X');
  EXPECT_EQ(where.excerpt[1], "");
}

TEST(SourceText, MovingKeepsTheBytesInPlace) {
  SourceText source("t", "ab", true);
  const char* const bytes = source.text().data();
  const SourceText moved = std::move(source);
  EXPECT_EQ(moved.text().data(), bytes);
}

}  // namespace
}  // namespace parlance
