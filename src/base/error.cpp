// The facts of errors.def, and how an Error is shown to a person.
//
// Leans on visible.h for what fits on a terminal. Begin reading at Error::display.
#include "parlance/error.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "base/visible.h"

namespace parlance {
namespace {

constexpr ErrorFacts kFacts[] = {
#define PARLANCE_ERROR(code, python_class, title, http, exit, sentence) \
  {#code, python_class, title, http, exit, sentence},
#include "parlance/errors.def"
#undef PARLANCE_ERROR
};

struct Range {
  char32_t first, last;
};
/// What terminals show two columns wide: the blocks of East Asian Width W and F, and emoji.
constexpr Range kWideCharacters[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97F}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

std::size_t width_of(char32_t c) {
  for (const Range& range : kWideCharacters) {
    if (c >= range.first && c <= range.last) return 2;
  }
  return 1;
}

void append_source_line(std::string& out, std::string_view number, std::string_view line) {
  out.append(number).append(" |");
  if (!line.empty()) out += ' ';
  append_visible(out, line, "\t");
  out += '\n';
}

template <typename Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    p += next.size;
    visit(next.code_point == '\t' ? U'\t' : visible(next.code_point));
  }
}

/// The line with ^~~~ below columns [first, last) of `line`, counted from 0. Tabs stand below tabs.
void append_carets(std::string& out, std::size_t margin, std::string_view line, std::size_t first, std::size_t last) {
  out.append(margin, ' ').append(" | ");
  std::size_t column = 0;
  std::string marks;
  for_each_code_point(line, [&](char32_t c) {
    if (column < first) {
      if (c == '\t')
        out += '\t';
      else
        out.append(width_of(c), ' ');
    } else if (column < last) {
      marks.append(c == '\t' ? 1 : width_of(c), '~');
    }
    ++column;
  });
  if (marks.empty()) marks = "~";  // the end of the line or of the text
  marks[0] = '^';
  out += marks;
  out += '\n';
}

void append_excerpt(std::string& out, const Location& where) {
  const std::size_t margin = 2 + std::to_string(where.excerpt_line + where.excerpt.size()).size();
  for (std::size_t i = 0; i < where.excerpt.size(); ++i) {
    const std::size_t number = where.excerpt_line + i;
    std::string label = std::to_string(number);
    label.insert(0, margin - label.size(), ' ');
    append_source_line(out, label, where.excerpt[i]);
    if (number != where.line) continue;
    const std::size_t hidden = where.excerpt_column;
    append_carets(out, margin, where.excerpt[i], where.column - std::min<std::size_t>(where.column, hidden),
                  where.end_column - std::min<std::size_t>(where.end_column, hidden));
  }
}

void append_note(std::string& out, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  append_visible(out.append("  ").append(label).append(": "), text, "\t");
  out += '\n';
}

}  // namespace

const ErrorFacts& facts(ErrorCode code) { return kFacts[static_cast<std::size_t>(code)]; }

namespace {

template <typename Part>
Error with(Error::Parts parts, Part Error::Parts::*member, Part part) {
  parts.*member = std::move(part);
  return Error(std::move(parts));
}

}  // namespace

Error Error::at(Location where) const { return with(*parts_, &Parts::where, std::move(where)); }
Error Error::input(std::string path) const { return with(*parts_, &Parts::input_path, std::move(path)); }
Error Error::hint(std::string text) const { return with(*parts_, &Parts::hint, std::move(text)); }
Error Error::trace(std::vector<std::string> around) const { return with(*parts_, &Parts::trace, std::move(around)); }

Error::Error(ErrorCode code, std::string message) : Error(Parts{code, std::move(message), {}, {}, {}, {}}) {}

std::string Error::display() const {
  const Location& at = where();
  std::string out;
  append_visible(out, at.name, "");
  if (!at.name.empty()) out += ':';
  if (at.line != 0) out += std::to_string(at.line) + ":" + std::to_string(at.column) + ":";
  if (!out.empty()) out += ' ';
  append_visible(out.append(facts(code()).title).append(": "), message());
  out += '\n';
  if (at.line != 0) append_excerpt(out, at);
  append_note(out, "input", input_path());
  append_note(out, "hint", hint());
  for (const std::string& step : trace()) append_note(out, "in", step);
  return out;
}

}  // namespace parlance
