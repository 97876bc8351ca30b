// PieceTrie: which of many texts a text begins with, found byte by byte.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance {

/// The longest text that a vocabulary may have in a trie. From each place of a prompt a walk may go as far as the
/// longest text does: with a text of a million a's, a prompt of a's would take a million steps for each of its bytes.
/// Texts in use are below 200 bytes.
inline constexpr std::size_t kMaxTrieText = 1024;
/// The most bytes that all of them may have together, each of which may need a node. Those of the largest vocabularies
/// in use are 3 MB.
inline constexpr std::size_t kMaxTrieBytes = std::size_t{16} << 20;

/// Nodes are numbers, 0 is the root. Copies nothing of the texts. Threads: any number may read at once.
class PieceTrie {
 public:
  using Node = std::int32_t;
  static constexpr std::int32_t kNone = -1;

  /// Of texts with a value each, which is not negative; none is empty, and of equal ones the last counts.
  explicit PieceTrie(std::vector<std::pair<std::string_view, std::int32_t>> texts = {});

  /// Of all that are not empty, each with its number.
  static PieceTrie of(const std::vector<std::string>& texts);

  /// The node that a byte leads to, or kNone.
  Node step(Node node, std::uint8_t byte) const {
    if (node == 0) return first_[byte];
    const auto place = static_cast<std::size_t>(node);
    const std::uint32_t end = links_[place + 1];
    std::uint32_t low = links_[place], high = end;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (bytes_[middle] < byte) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < end && bytes_[low] == byte ? static_cast<Node>(low) : kNone;
  }
  /// The value of the text that ends here, or kNone.
  std::int32_t value(Node node) const { return values_[static_cast<std::size_t>(node)]; }
  /// The size of the longest of the texts that this one begins with; 0 for none.
  std::size_t longest(std::string_view text) const;
  /// How far this text and one of them are the same.
  std::size_t reach(std::string_view text) const;

 private:
  // By node; nodes are numbered level by level, so those that a node leads to follow each other.
  std::vector<std::uint8_t> bytes_;  ///< the one that leads here; ascending among those that one node leads to
  std::vector<std::int32_t> values_;
  std::vector<std::uint32_t> links_;  ///< the first node that it leads to; they end where the next one's begin
  std::vector<Node> first_;           ///< of the root, by byte
};

}  // namespace parlance
