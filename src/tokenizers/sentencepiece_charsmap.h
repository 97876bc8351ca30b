// precompiled_charsmap: what a SentencePiece model replaces in a text before it is cut into pieces.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "parlance/tokenizer.h"

namespace parlance {

/// The most bytes that a run of `size` bytes may become by being normalised. A rule may make 256 bytes of one, and each
/// needs some 30 more to be cut into tokens; no character of Unicode becomes more than 13 times as long by NFKC with
/// blanks as U+2581.
constexpr std::size_t most_normalized(std::size_t size) { return (std::size_t{1} << 20) + 16 * size; }
/// limit_memory
Error normalized_too_long(std::size_t size);

/// If a rule leaves nothing (`becomes`) of what stands at `at` of a text, appends its place; not that of white space
/// and of marks.
void note_taken(std::string_view text, std::size_t at, std::size_t size, std::string_view becomes,
                std::vector<ByteSpan>& dropped);

/// Is this a table that can be used with any text? "" if it is, else what is wrong.
std::string_view fault_of_charsmap(std::string_view charsmap);

/// A table without a fault. Threads: any number may read at once.
class CharsmapRules {
 public:
  explicit CharsmapRules(std::string_view charsmap = {});

  struct Match {
    std::size_t size = 0;   ///< of what is replaced; 0: nothing is
    std::string_view text;  ///< what it becomes; a view of the rules
  };
  /// The rule for the longest of the texts that this one begins with.
  Match longest(std::string_view text) const;

 private:
  std::uint32_t links_of(std::uint32_t index) const {
    const std::uint32_t unit = units_[index];
    return index ^ ((unit >> 10) << ((unit & (1U << 9)) >> 6));
  }
  std::vector<std::uint32_t> units_;  ///< a double array
  std::string texts_;                 ///< each ends with a zero byte
};

}  // namespace parlance
