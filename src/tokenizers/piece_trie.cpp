// The trie of sorted texts, made level by level: a node is a range of them that begin alike.
#include "tokenizers/piece_trie.h"

#include <algorithm>

namespace parlance {
namespace {

/// Sorted texts that begin alike: a node.
struct Range {
  std::size_t begin, end;
};

}  // namespace

/// The ranges of one level at a time are kept: there are never more of them than texts.
PieceTrie::PieceTrie(std::vector<std::pair<std::string_view, std::int32_t>> texts)
    : bytes_(1), values_(1, kNone), first_(256, kNone) {
  std::stable_sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Range> level = {{0, texts.size()}}, next;
  std::size_t node = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    next.clear();
    for (const Range range : level) {
      std::size_t at = range.begin;
      for (; at < range.end && texts[at].first.size() == depth; ++at) values_[node] = texts[at].second;
      links_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      while (at < range.end) {
        const char byte = texts[at].first[depth];
        const std::size_t begin = at;
        while (at < range.end && texts[at].first[depth] == byte) ++at;
        if (node == 0) first_[static_cast<std::uint8_t>(byte)] = static_cast<Node>(bytes_.size());
        bytes_.push_back(static_cast<std::uint8_t>(byte));
        values_.push_back(kNone);
        next.push_back({begin, at});
      }
      ++node;
    }
    level.swap(next);
  }
  links_.push_back(static_cast<std::uint32_t>(bytes_.size()));
}

PieceTrie PieceTrie::of(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string_view, std::int32_t>> numbered;
  for (std::size_t number = 0; number < texts.size(); ++number) {
    if (!texts[number].empty()) numbered.emplace_back(texts[number], static_cast<std::int32_t>(number));
  }
  return PieceTrie(std::move(numbered));
}

std::size_t PieceTrie::longest(std::string_view text) const {
  std::size_t found = 0;
  Node node = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    node = step(node, static_cast<std::uint8_t>(text[at]));
    if (node == kNone) break;
    if (value(node) != kNone) found = at + 1;
  }
  return found;
}

std::size_t PieceTrie::reach(std::string_view text) const {
  Node node = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    node = step(node, static_cast<std::uint8_t>(text[at]));
    if (node == kNone) return at;
  }
  return text.size();
}

}  // namespace parlance
