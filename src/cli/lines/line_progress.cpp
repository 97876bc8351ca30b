// See line_progress.h.
#include "cli/lines/line_progress.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

namespace parlance::cli {
namespace {

/// 4:05, 1:00:00
std::string time_as_text(double seconds) {
  const auto all = static_cast<std::uint64_t>(seconds + 0.5);
  std::array<char, 32> text{};
  if (all < 3600)
    std::snprintf(text.data(), text.size(), "%" PRIu64 ":%02" PRIu64, all / 60, all % 60);
  else
    std::snprintf(text.data(), text.size(), "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, all / 3600, all / 60 % 60,
                  all % 60);
  return text.data();
}

}  // namespace

std::string LineProgress::line_of(const BulkProgress& progress, bool is_last) const {
  constexpr double kMostSeconds = 1e9;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double share = is_last ? -1 : std::min(share_(), 1.0);
  std::string line = share < 0 ? "" : std::to_string(static_cast<int>(share * 100)) + " %, ";
  line += std::to_string(progress.lines - progress.failed) + " answered, " + std::to_string(progress.failed) +
          " failed, " + std::to_string(progress.bytes / 1'000'000) + " MB read";
  if (seconds > 0.1)
    line +=
        ", " + std::to_string(static_cast<std::uint64_t>(static_cast<double>(progress.lines) / seconds)) + " lines/s";
  const double done = share - share_before_;
  const double left = done > 0 ? seconds * (1 - share) / done : kMostSeconds;
  if (is_last) return line + ", " + time_as_text(seconds);
  return share < 0 || seconds < 1 || left >= kMostSeconds ? line : line + ", " + time_as_text(left) + " left";
}

void LineProgress::print(std::string line) {
  const std::size_t width = line.size();
  line.resize(std::max(width, width_), ' ');
  width_ = width;
  std::fprintf(stderr, "\r%s ", line.c_str());
}

void LineProgress::show(const BulkProgress& progress) {
  if (share_before_ < 0) {  // the lines that were skipped took no time
    const bool has_skipped = progress.skipped != 0;
    share_before_ = has_skipped ? std::max(share_(), 0.0) : 0;
    if (has_skipped) begin_ = Clock::now();
  }
  print(line_of(progress, false));
}

void LineProgress::end(const BulkProgress& progress) {
  print(line_of(progress, true));
  std::fputc('\n', stderr);
}

}  // namespace parlance::cli
