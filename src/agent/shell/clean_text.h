// What a terminal's output says, as plain text: without control sequences, with progress bars as their last state.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace parlance::agent {

struct CleanText {
  std::string text;  ///< valid UTF-8, without control characters but line ends and tabs; form feeds are line ends
  std::size_t replaced = 0;  ///< bytes that were no text, each run of them now U+FFFD
  bool overwritten = false;  ///< behind a carriage return stood other text than another state of a progress bar
};

/// `begins` and `ends`: is the output's begin and end there? Where it is cut, half a character is left out.
CleanText clean_text(std::string_view output, bool begins = true, bool ends = true);

}  // namespace parlance::agent
