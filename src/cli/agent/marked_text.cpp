// Begin reading at MarkedText::add.
#include "cli/agent/marked_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/segments.h"

namespace parlance::cli {
namespace {

constexpr std::string_view kMark = "│ ";
constexpr std::size_t kMarkColumns = 2, kTab = 8;
constexpr std::size_t kNarrowest = 8;  // columns; what is narrower is no terminal that anybody reads

/// At most so many columns: who counts too many only ends a line too early.
std::size_t columns_of_character(char32_t c) { return c < 0x1100 ? 1 : 2; }

}  // namespace

std::size_t columns_of(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string MarkedText::add(std::string_view text, Line line, std::size_t columns, std::string_view style,
                            std::string_view plain) {
  std::string safe, out;
  append_segment(safe, text, false, last_);
  if (!text.empty()) last_ = utf8::decode_back(text.data(), text.data() + text.size()).code_point;
  bool styled = false, marks = line == Line::quoted;
  const auto end_style = [&] {
    if (styled) out += plain;
    styled = false;
  };
  const char* const end = safe.data() + safe.size();
  for (const char* p = safe.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    if (next.code_point == '\n') {
      end_style();
      out += at_begin_ && marks ? "│\n" : "\n";
      at_begin_ = true;
      marks = true;  // what goes on behind it
      ++p;
      continue;
    }
    const std::size_t wide = next.code_point == '\t' ? kTab - column_ % kTab : columns_of_character(next.code_point);
    if (!at_begin_ && columns >= kNarrowest && column_ + wide > columns) {
      end_style();
      out += '\n';
      at_begin_ = marks = true;
    }
    if (at_begin_) {
      out += marks ? kMark : std::string_view();
      column_ = marks ? kMarkColumns : 0;
      at_begin_ = false;
    }
    if (!styled) out += style;
    styled = true;
    out.append(p, next.size);
    column_ += wide;
    p += next.size;
  }
  end_style();
  return out;
}

std::string MarkedText::line_break() {
  const bool was_begin = at_begin_;
  at_begin_ = true;
  return was_begin ? "" : "\n";
}

}  // namespace parlance::cli
