// SourceText: a named text, and the way from a byte offset to line, column and an excerpt for errors.
//
// The text is kept as Jinja2 sees it: "\r\n" and "\r" become "\n". When that changes anything, original
// offsets are recovered through a list of removed bytes, so positions always refer to the file as given.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"

namespace parlance {

/// Moving a SourceText leaves the bytes of text() where they are, so views of them stay valid.
class SourceText {
 public:
  /// `normalise_newlines`: as Jinja2 does before lexing.
  SourceText(std::string name, std::string_view text, bool normalise_newlines);
  const std::string& name() const { return name_; }
  /// A zero byte follows the text.
  std::string_view text() const { return text_; }
  /// Line of an offset into text(), from 1.
  std::uint32_t line_of(std::size_t offset) const;
  /// A full Location (line, column in code points, excerpt) of [begin, end) of text().
  Location locate(std::size_t begin, std::size_t end) const;
  /// The offset in the text as given for an offset into text().
  std::size_t original_offset(std::size_t offset) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> removed_;  ///< offsets in text_ before which one byte was dropped
};

}  // namespace parlance
