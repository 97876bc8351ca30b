// Merging by a list of neighbours and a heap of the pairs that may become one; a pair whose parts have changed since it
// was put there is passed over. Begin reading at Merger::merge.
#include "tokenizers/merger.h"

#include <algorithm>
#include <queue>

#include "base/utf8.h"

namespace parlance {
namespace {

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

/// A part of the word, in a list.
struct Symbol {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;  ///< 0: it is a part of another now
  std::int32_t before = -1;
  std::int32_t after = -1;
  std::int32_t number = -1;  ///< of its text; -1 where no merge knows it
};

struct Candidate {
  float priority = 0;
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::uint32_t size = 0;  ///< of both
  std::int32_t becomes = -1;
  bool operator<(const Candidate& other) const {
    return priority < other.priority || (priority == other.priority && left > other.left);
  }
};

}  // namespace

struct Merger::Work {
  std::string_view word;
  const std::vector<bool>* hidden;
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate> heap;
};

Merger::Merger(MergerParts parts)
    : texts_(std::move(parts.texts)),
      size_(texts_.size()),
      priorities_(std::move(parts.priorities)),
      by_pair_(parts.by_pair),
      from_bytes_(parts.from_bytes),
      whole_words_(parts.whole_words),
      whole_newlines_(parts.whole_newlines),
      takes_longest_(parts.takes_longest) {
  // What merges name and the vocabulary lacks comes behind it. Room is made first: views of short texts must not move.
  texts_.reserve(size_ + 3 * parts.merges.size());
  symbols_.reserve(size_);
  for (std::size_t id = 0; id < size_; ++id) {
    if (texts_[id].empty()) continue;
    symbols_.emplace(texts_[id], static_cast<std::int32_t>(id));
    longest_ = std::max(longest_, texts_[id].size());
  }
  if (takes_longest_) trie_ = PieceTrie::of(texts_);
  pairs_.reserve(parts.merges.size());
  for (std::size_t rank = 0; rank < parts.merges.size(); ++rank) {
    const auto& [left, right] = parts.merges[rank];
    if (left.empty() || right.empty()) continue;
    const std::int32_t first = intern(left), second = intern(right);
    pairs_.emplace(pair_key(first, second), Merged{-static_cast<float>(rank), intern(left + right)});
  }
}

std::int32_t Merger::intern(const std::string& text) {
  if (const auto found = symbols_.find(text); found != symbols_.end()) return found->second;
  texts_.push_back(text);
  longest_ = std::max(longest_, text.size());
  const auto number = static_cast<std::int32_t>(texts_.size() - 1);
  symbols_.emplace(texts_.back(), number);
  return number;
}

std::int32_t Merger::symbol_of(std::string_view text) const {
  if (text.size() > longest_) return -1;
  const auto found = symbols_.find(text);
  return found == symbols_.end() ? -1 : found->second;
}

TokenId Merger::find(std::string_view text) const {
  const std::int32_t symbol = symbol_of(text);
  return symbol >= 0 && static_cast<std::size_t>(symbol) < size_ ? symbol : -1;
}

bool Merger::is_hidden(std::int32_t symbol, const std::vector<bool>* hidden) const {
  const auto place = static_cast<std::size_t>(symbol);
  return hidden != nullptr && place < hidden->size() && (*hidden)[place];
}

/// May these two become one?
void Merger::offer(Work& work, std::int32_t left, std::int32_t right) const {
  if (left < 0 || right < 0) return;
  const Symbol& first = work.symbols[static_cast<std::size_t>(left)];
  const Symbol& second = work.symbols[static_cast<std::size_t>(right)];
  Candidate made{.left = left, .right = right, .size = first.size + second.size};
  if (by_pair_) {
    if (first.number < 0 || second.number < 0) return;
    const auto found = pairs_.find(pair_key(first.number, second.number));
    if (found == pairs_.end()) return;
    made.priority = found->second.priority;
    made.becomes = found->second.symbol;
  } else {
    made.becomes = symbol_of(work.word.substr(first.begin, made.size));
    if (made.becomes < 0) return;
    made.priority = priorities_[static_cast<std::size_t>(made.becomes)];
  }
  if (!is_hidden(made.becomes, work.hidden)) work.heap.push(made);
}

void Merger::merge_all(Work& work) const {
  for (std::size_t i = 1; i < work.symbols.size(); ++i)
    offer(work, static_cast<std::int32_t>(i - 1), static_cast<std::int32_t>(i));
  while (!work.heap.empty()) {
    const Candidate best = work.heap.top();
    work.heap.pop();
    Symbol& left = work.symbols[static_cast<std::size_t>(best.left)];
    Symbol& right = work.symbols[static_cast<std::size_t>(best.right)];
    if (left.size == 0 || right.size == 0 || left.size + right.size != best.size) continue;
    left.size = best.size;
    left.number = best.becomes;
    left.after = right.after;
    right.size = 0;
    if (right.after >= 0) work.symbols[static_cast<std::size_t>(right.after)].before = best.left;
    offer(work, left.before, best.left);
    offer(work, best.left, left.after);
  }
}

/// Where no token fits, a byte is none.
void Merger::take_longest(std::string_view word, const std::vector<bool>* hidden,
                          std::vector<MergedPiece>& into) const {
  while (!word.empty()) {
    MergedPiece best{.id = -1, .size = 1};
    PieceTrie::Node node = 0;
    for (std::size_t at = 0; at < word.size(); ++at) {
      node = trie_.step(node, static_cast<std::uint8_t>(word[at]));
      if (node == PieceTrie::kNone) break;
      const std::int32_t id = trie_.value(node);
      if (id != PieceTrie::kNone && !is_hidden(id, hidden)) best = {id, static_cast<std::uint32_t>(at + 1)};
    }
    into.push_back(best);
    word.remove_prefix(best.size);
  }
}

void Merger::merge(std::string_view word, const std::vector<bool>* hidden, std::vector<MergedPiece>& into) const {
  if (takes_longest_) return take_longest(word, hidden, into);
  if (whole_words_ || (whole_newlines_ && word.find_first_not_of('\n') == word.npos)) {
    if (const TokenId id = find(word); id >= 0 && !is_hidden(id, hidden)) {
      into.push_back({id, static_cast<std::uint32_t>(word.size())});
      return;
    }
  }
  Work work{word, hidden, {}, {}};
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = from_bytes_ ? 1 : utf8::decode(word.data() + at, word.data() + word.size()).size;
    const auto number = static_cast<std::int32_t>(work.symbols.size());
    work.symbols.push_back({.begin = static_cast<std::uint32_t>(at),
                            .size = static_cast<std::uint32_t>(size),
                            .before = number - 1,
                            .after = number + 1,
                            .number = by_pair_ ? symbol_of(word.substr(at, size)) : -1});
    at += size;
  }
  if (work.symbols.empty()) return;
  work.symbols.back().after = -1;
  merge_all(work);
  for (const Symbol& symbol : work.symbols) {
    if (symbol.size == 0) continue;
    const TokenId id = find(word.substr(symbol.begin, symbol.size));
    into.push_back({id >= 0 && !is_hidden(id, hidden) ? id : -1, symbol.size});
  }
}

}  // namespace parlance
