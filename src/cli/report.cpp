// Errors and output through C's stdio.
#include "cli/report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/visible.h"
#include "cli/output.h"

namespace parlance::cli {

int report(const Error& error) {
  std::string text = error.where().name.empty() ? "parlance: " : "";  // a place in a file speaks for itself
  text += error.display();
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
  return report(Error(ErrorCode::file, std::string("writing the output: ") + std::strerror(errno)));
}

}  // namespace parlance::cli
