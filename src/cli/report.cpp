// Errors and output through C's stdio.
#include "cli/report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace parlance::cli {

int report(const Error& error) {
  std::string text = error.display();
  if (text.empty() || text.back() != '\n') text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  return facts(error.code()).exit_code;
}

int print(std::string_view text) {
  const bool written = text.empty() || std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  return report(Error(ErrorCode::file, std::string("writing the output: ") + std::strerror(errno)));
}

}  // namespace parlance::cli
