// TextSearch: finds many texts, such as those of a vocabulary's added tokens, by one walk over another.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::serve {

/// It never changes. Threads: any.
class TextSearch {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t number = 0;  ///< of the text, as they were given
  };

  TextSearch() = default;
  /// Empty texts are nowhere. Of two that are the same, the first counts.
  explicit TextSearch(const std::vector<std::string>& texts);

  /// The first place, from byte `from` on, where a text begins, and the longest that begins there. Unset: there is
  /// none.
  std::optional<Match> find(std::string_view in, std::size_t from) const;

 private:
  std::optional<std::size_t> longest_at(std::string_view in, std::size_t at) const;

  std::vector<std::pair<std::string, std::size_t>> sorted_;  ///< with the number of each
  std::array<bool, 256> begins_{};                           ///< bytes that a text begins with
  int only_byte_ = -1;                                       ///< the one that all begin with
};

}  // namespace parlance::serve
