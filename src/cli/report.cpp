// Errors and output through C's stdio.
#include "cli/report.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/utf8.h"
#include "base/visible.h"
#include "cli/options/option_words.h"
#include "cli/output.h"
#include "parlance/json_writer.h"

namespace parlance::cli {

namespace {

/// \u202E; two of them for what is beyond U+FFFF.
void append_json_escape(std::string& out, char32_t c) {
  std::array<char, 16> text{};
  const bool is_long = c > 0xFFFF;
  const unsigned high = is_long ? 0xD800 + ((static_cast<unsigned>(c) - 0x10000) >> 10) : static_cast<unsigned>(c);
  const unsigned low = 0xDC00 + ((static_cast<unsigned>(c) - 0x10000) & 0x3FF);
  const int size = is_long ? std::snprintf(text.data(), text.size(), "\\u%04x\\u%04x", high, low)
                           : std::snprintf(text.data(), text.size(), "\\u%04x", high);
  out.append(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

int report(const Error& error) {
  std::string text = error.where().name.empty() ? "parlance: " : "";  // a place in a file speaks for itself
  text += in_options(error).display();
  if (text.empty() || text.back() != '\n') text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  return facts(error.code()).exit_code;
}

void say(std::string_view what, std::string_view text) {
  std::string line(what);
  append_visible(line += ": ", text, "\t");  // one line: a newline in data would begin a note of its own
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string in_quotes(std::string_view text) {
  std::string json, out;
  append_json_string(json, text);
  const char* const end = json.data() + json.size();
  for (const char* p = json.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    if (visible(next.code_point) == next.code_point) {
      out.append(p, next.size);
    } else {
      append_json_escape(out, next.code_point);
    }
    p += next.size;
  }
  return out;
}

int print(std::string_view text) { return print(std::span(&text, 1)); }

int print(std::span<const std::string_view> pieces) {
  if (Result<void> opened = open_output(); !opened) return report(opened.error());
  constexpr std::size_t kBuffer = std::size_t{1} << 16;
  if (pieces.size() > 1) std::setvbuf(stdout, nullptr, _IOFBF, kBuffer);
  bool written = true;
  for (const std::string_view piece : pieces) {
    written = written && (piece.empty() || std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size());
  }
  if (written && std::fflush(stdout) == 0) return 0;
  return report(output_error(errno));
}

}  // namespace parlance::cli
