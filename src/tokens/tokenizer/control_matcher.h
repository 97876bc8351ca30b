// ControlMatcher: where added tokens stand in a text, for tokenizers that cannot look for them themselves.
//
// Looks at bytes only: a token's `normalized` flag says nothing here. Begin reading at ControlMatcher::find.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// An added token in a text.
struct ControlMatch {
  const AddedToken* token = nullptr;
  ByteSpan bytes;  ///< of its own text
  ByteSpan taken;  ///< the same with the white space it takes along
};

/// Nothing but white space, and not empty: such a token is a way to write text, not a control token.
bool is_blank(std::string_view text);

/// Finds added tokens, leftmost first and the longest of those that begin at a place, as Hugging Face's `tokenizers`
/// does; of two tokens of the same text the later one counts.
///
/// Time: a walk in a trie from each byte that begins a token, so the text's length times, at worst, the longest
/// token's. Threads: any number may find() at once.
class ControlMatcher {
 public:
  ControlMatcher() = default;
  /// `tokens` must outlive the matcher and stay where they are. Those without text are left out.
  explicit ControlMatcher(std::span<const AddedToken> tokens) : ControlMatcher(pointers(tokens)) {}
  explicit ControlMatcher(const std::vector<const AddedToken*>& tokens);

  /// The tokens in `text`, in order. `trusted` (sorted, disjoint, not touching) null: wherever their text is; else a
  /// control token only where all bytes of its text lie in one range, and others everywhere.
  ///
  /// What lies between the `taken` of one and the next is a run of text. As in `tokenizers`, a token may begin in the
  /// white space that the one before took along; then there is no run between them. A token that must be a single word
  /// and is not hides the shorter ones that begin inside of it.
  std::vector<ControlMatch> find(std::string_view text, const std::vector<ByteSpan>* trusted) const;

  /// The same where tokens overlap otherwise: the longest ones are looked for first, in all of the text, then those
  /// that are shorter in what is left, as llama.cpp does; of tokens of one length the leftmost place counts. It knows
  /// no single words.
  std::vector<ControlMatch> find_longest_first(std::string_view text, const std::vector<ByteSpan>* trusted) const;

 private:
  struct Node {
    std::uint32_t first_child = 0;
    std::uint16_t children = 0;
    std::uint8_t byte = 0;  ///< of the edge that leads here
    const AddedToken* token = nullptr;
  };
  static std::vector<const AddedToken*> pointers(std::span<const AddedToken> tokens);
  const Node* child(const Node& node, std::uint8_t byte) const;
  const AddedToken* longest(std::string_view text, std::size_t begin, std::size_t trusted_end) const;
  const AddedToken* of_length(std::string_view text, std::size_t begin, std::size_t trusted_end,
                              std::size_t length) const;

  std::vector<Node> nodes_;                 ///< the children of one stand together, ascending by byte
  std::array<std::uint32_t, 256> roots_{};  ///< node of each first byte; 0: none
  std::vector<std::size_t> lengths_;        ///< that tokens have, descending
};

}  // namespace parlance
