// How far a run over lines is, on a terminal: a line that is written over.
#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "parlance/bulk.h"

namespace parlance::cli {

class LineProgress {
 public:
  /// `share` says how much of the input was read, from 0 to 1; below 0: nobody knows.
  explicit LineProgress(std::function<double()> share) : share_(std::move(share)) {}

  void show(const BulkProgress& progress);
  /// The last line, which stays.
  void end(const BulkProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  std::string line_of(const BulkProgress& progress, bool is_last) const;
  void print(std::string line);

  std::function<double()> share_;
  Clock::time_point begin_ = Clock::now();
  double share_before_ = -1;  ///< of what was skipped
  std::size_t width_ = 0;
};

}  // namespace parlance::cli
