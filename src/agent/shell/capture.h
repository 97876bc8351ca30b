// Capture: a command's output. Its begin and its end stay in memory, the whole goes into a file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/sandbox/descriptor.h"

namespace parlance::agent {

/// How much of a command's output is kept. Bytes.
struct OutputLimits {
  std::uint64_t shown = 16 << 10;  ///< of the output in the answer: half its begin, half its end
  std::uint64_t file = 64 << 20;   ///< of the whole, in a file
  std::uint64_t stop = 256 << 20;  ///< a command that has written more is interrupted
};

/// A command's output as a model reads it.
struct Output {
  std::string text{};       ///< valid UTF-8; what was left out is said in it, in brackets
  std::uint64_t bytes = 0;  ///< of the whole, as the command wrote it
  bool cut = false;         ///< something was left out
  std::string file{};       ///< where a command can read the whole; "": all is in `text`
};

class Capture {
 public:
  /// `path` is the file, `inside` its path for commands. The file is made once something does not fit.
  Capture(const OutputLimits& limits, std::string path, std::string inside)
      : limits_(limits), path_(std::move(path)), inside_(std::move(inside)) {}

  void add(std::string_view bytes);
  std::uint64_t bytes() const { return bytes_; }
  Output finish();

 private:
  void write_out(std::string_view bytes);

  OutputLimits limits_;
  std::string path_, inside_;
  std::string head_, tail_;  ///< the tail grows to twice its size before its begin goes
  std::uint64_t bytes_ = 0, written_ = 0;
  Descriptor file_;
  bool full_ = false;
};

}  // namespace parlance::agent
