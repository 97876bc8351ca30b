// From offsets to lines, columns and excerpts. All of it is computed when somebody asks: a text
// that gives no error pays for its copy only. Begin reading at SourceText::locate.
#include "base/source_text.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"

namespace parlance {
namespace {

/// Long lines (minified JSON, templates of one line) are cut to this many columns around the place.
constexpr std::size_t kExcerptColumns = 120;
constexpr std::size_t kColumnsBefore = 70;

/// More than a small string holds within itself, so that moving the owner never moves the bytes.
constexpr std::size_t kAlwaysOnHeap = 64;

std::size_t line_begin(std::string_view text, std::size_t offset) {
  const std::size_t newline = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  return newline == text.npos ? 0 : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t offset) {
  return std::min(text.find('\n', offset), text.size());
}

/// Columns [first, first + kExcerptColumns) of a line, columns counted from 0.
std::string cut(std::string_view line, std::size_t first) {
  const std::size_t begin = utf8::offset_of(line, first);
  line.remove_prefix(begin);
  return std::string(line.substr(0, utf8::offset_of(line, kExcerptColumns)));
}

}  // namespace

SourceText::SourceText(std::string name, std::string_view text, bool normalise_newlines) : name_(std::move(name)) {
  text_.reserve(std::max(text.size(), kAlwaysOnHeap));
  while (normalise_newlines) {
    const std::size_t cr = text.find('\r');
    if (cr == text.npos) break;
    text_.append(text.substr(0, cr)).push_back('\n');
    const bool has_lf = cr + 1 < text.size() && text[cr + 1] == '\n';
    if (has_lf) removed_.push_back(static_cast<std::uint32_t>(text_.size()));
    text.remove_prefix(cr + (has_lf ? 2 : 1));
  }
  text_.append(text);
}

std::uint32_t SourceText::line_of(std::size_t offset) const {
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text_.size()));
  return 1 + static_cast<std::uint32_t>(std::count(text_.begin(), end, '\n'));
}

std::size_t SourceText::original_offset(std::size_t offset) const {
  const auto after = std::upper_bound(removed_.begin(), removed_.end(), offset);
  return offset + static_cast<std::size_t>(after - removed_.begin());
}

Location SourceText::locate(std::size_t begin, std::size_t end) const {
  const std::string_view text = text_;
  begin = std::min(begin, text.size());
  end = std::clamp(end, begin, text.size());
  const std::size_t first = line_begin(text, begin);
  const std::size_t last = line_end(text, begin);
  const std::size_t column = utf8::count(text.substr(first, begin - first));
  const std::size_t width = utf8::count(text.substr(begin, std::min(end, last) - begin));

  Location where;
  where.name = name_;
  where.begin = original_offset(begin);
  where.end = original_offset(end);
  where.line = line_of(begin);
  where.column = static_cast<std::uint32_t>(column + 1);
  where.end_column = static_cast<std::uint32_t>(column + width + 1);

  const std::size_t hidden = column + width > kExcerptColumns && column > kColumnsBefore ? column - kColumnsBefore : 0;
  where.excerpt_column = static_cast<std::uint32_t>(hidden + 1);
  where.excerpt_line = where.line;
  const auto show = [&](std::size_t from) {
    where.excerpt.push_back(cut(text.substr(from, line_end(text, from) - from), hidden));
  };
  if (first > 0) {
    --where.excerpt_line;
    show(line_begin(text, first - 1));
  }
  show(first);
  if (last + 1 < text.size()) show(last + 1);
  return where;
}

}  // namespace parlance
