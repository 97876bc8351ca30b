// A trie of bytes, laid out level by level. The rules about white space and single words are those of `tokenizers`
// (added_vocabulary.rs: find_matches). Begin reading at ControlMatcher::find.
#include "tokens/tokenizer/control_matcher.h"

#include <utf8proc.h>

#include <algorithm>
#include <functional>

#include "base/utf8.h"

namespace parlance {
namespace {

/// \s of Rust's regex: the property White_Space.
bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Letters by the property Other_Alphabetic that are neither letters nor marks by category.
bool is_circled_letter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

/// \w of Rust's regex: Alphabetic, marks, decimal digits, connectors, and the two joiners.
bool is_word(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  if (c == 0x200C || c == 0x200D || is_circled_letter(c)) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return false;
  }
}

bool has_word_beside(std::string_view text, std::size_t begin, std::size_t end) {
  const char* data = text.data();
  const utf8::Decoded before = utf8::decode_back(data, data + begin);
  const utf8::Decoded after = utf8::decode(data + end, data + text.size());
  return (before.size != 0 && is_word(before.code_point)) || (after.size != 0 && is_word(after.code_point));
}

std::size_t space_before(std::string_view text, std::size_t at) {
  for (;;) {
    const utf8::Decoded c = utf8::decode_back(text.data(), text.data() + at);
    if (c.size == 0 || !is_space(c.code_point)) return at;
    at -= c.size;
  }
}

std::size_t space_after(std::string_view text, std::size_t at) {
  for (;;) {
    const utf8::Decoded c = utf8::decode(text.data() + at, text.data() + text.size());
    if (c.size == 0 || !is_space(c.code_point)) return at;
    at += c.size;
  }
}

ByteSpan span(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

/// A match with its white space; what the one before took is not taken again.
ControlMatch match_at(const AddedToken& token, std::string_view text, std::size_t begin, std::size_t free_from) {
  const std::size_t end = begin + token.text.size();
  const std::size_t first = token.lstrip ? std::max(space_before(text, begin), free_from) : begin;
  return {&token, span(begin, end), span(first, token.rstrip ? space_after(text, end) : end)};
}

/// White space of ASCII.
bool is_plain_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// A match with the white space of ASCII that no other one has taken; marks all of it as taken.
ControlMatch take_free(const AddedToken& token, std::string_view text, std::size_t begin, std::vector<bool>& taken) {
  const std::size_t end = begin + token.text.size();
  std::size_t first = begin, last = end;
  while (token.lstrip && first > 0 && !taken[first - 1] && is_plain_space(text[first - 1])) --first;
  while (token.rstrip && last < text.size() && !taken[last] && is_plain_space(text[last])) ++last;
  std::fill(taken.begin() + static_cast<std::ptrdiff_t>(first), taken.begin() + static_cast<std::ptrdiff_t>(last),
            true);
  return {&token, span(begin, end), span(first, last)};
}

/// Walks along the trusted ranges with a place that only grows.
class TrustedEnd {
 public:
  explicit TrustedEnd(const std::vector<ByteSpan>& ranges) : at_(ranges.begin()), last_(ranges.end()) {}
  /// Where the range that holds `place` ends; 0 where none does.
  std::size_t operator()(std::size_t place) {
    while (at_ != last_ && at_->end <= place) ++at_;
    return at_ != last_ && at_->begin <= place ? at_->end : 0;
  }

 private:
  std::vector<ByteSpan>::const_iterator at_, last_;
};

}  // namespace

bool is_blank(std::string_view text) { return !text.empty() && space_after(text, 0) == text.size(); }

std::vector<const AddedToken*> ControlMatcher::pointers(std::span<const AddedToken> tokens) {
  std::vector<const AddedToken*> all;
  for (const AddedToken& token : tokens) all.push_back(&token);
  return all;
}

ControlMatcher::ControlMatcher(const std::vector<const AddedToken*>& tokens) {
  std::vector<const AddedToken*> sorted;
  for (const AddedToken* token : tokens) {
    if (!token->text.empty()) sorted.push_back(token);
  }
  const auto less = [](const AddedToken* a, const AddedToken* b) { return a->text < b->text; };
  std::stable_sort(sorted.begin(), sorted.end(), less);
  // Level by level: what a node still has to place are the tokens [begin, end), which agree in `depth` bytes.
  struct Open {
    std::uint32_t node;
    std::size_t begin, end, depth;
  };
  nodes_.emplace_back();
  std::vector<Open> open{{0, 0, sorted.size(), 0}};
  for (std::size_t next = 0; next < open.size(); ++next) {
    Open at = open[next];
    for (; at.begin < at.end && sorted[at.begin]->text.size() == at.depth; ++at.begin)
      nodes_[at.node].token = sorted[at.begin];
    nodes_[at.node].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (at.begin < at.end) {
      const auto byte = static_cast<std::uint8_t>(sorted[at.begin]->text[at.depth]);
      std::size_t end = at.begin + 1;
      while (end < at.end && static_cast<std::uint8_t>(sorted[end]->text[at.depth]) == byte) ++end;
      open.push_back({static_cast<std::uint32_t>(nodes_.size()), at.begin, end, at.depth + 1});
      nodes_.push_back({.byte = byte});
      ++nodes_[at.node].children;
      at.begin = end;
    }
  }
  for (std::uint32_t i = 1; i <= nodes_[0].children; ++i) roots_[nodes_[i].byte] = i;
  for (const AddedToken* token : sorted) lengths_.push_back(token->text.size());
  std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
}

const ControlMatcher::Node* ControlMatcher::child(const Node& node, std::uint8_t byte) const {
  const Node* first = nodes_.data() + node.first_child;
  const Node* last = first + node.children;
  const Node* found = std::lower_bound(first, last, byte, [](const Node& n, std::uint8_t b) { return n.byte < b; });
  return found != last && found->byte == byte ? found : nullptr;
}

/// The longest token at `begin` that counts there: a control token only if it ends by `trusted_end`.
const AddedToken* ControlMatcher::longest(std::string_view text, std::size_t begin, std::size_t trusted_end) const {
  const AddedToken* found = nullptr;
  const Node* node = &nodes_[roots_[static_cast<std::uint8_t>(text[begin])]];
  for (std::size_t end = begin + 1; node != nullptr; ++end) {
    if (node->token != nullptr && (end <= trusted_end || !node->token->control)) found = node->token;
    node = end < text.size() ? child(*node, static_cast<std::uint8_t>(text[end])) : nullptr;
  }
  return found;
}

/// The token at `begin` that is `length` bytes long, if it counts there.
const AddedToken* ControlMatcher::of_length(std::string_view text, std::size_t begin, std::size_t trusted_end,
                                            std::size_t length) const {
  const Node* node = &nodes_[roots_[static_cast<std::uint8_t>(text[begin])]];
  for (std::size_t end = begin + 1; node != nullptr && end < begin + length; ++end)
    node = child(*node, static_cast<std::uint8_t>(text[end]));
  if (node == nullptr || node->token == nullptr) return nullptr;
  return begin + length <= trusted_end || !node->token->control ? node->token : nullptr;
}

std::vector<ControlMatch> ControlMatcher::find_longest_first(std::string_view text,
                                                             const std::vector<ByteSpan>* trusted) const {
  static const std::vector<ByteSpan> kNone;
  TrustedEnd trusted_end(trusted != nullptr ? *trusted : kNone);
  struct Start {
    std::size_t begin, longest, trusted_end;
  };
  std::vector<Start> starts;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (roots_[static_cast<std::uint8_t>(text[at])] == 0) continue;
    const std::size_t end = trusted != nullptr ? trusted_end(at) : text.size();
    if (const AddedToken* token = longest(text, at, end)) starts.push_back({at, token->text.size(), end});
  }
  std::vector<ControlMatch> found;
  std::vector<bool> taken(starts.empty() ? 0 : text.size());
  for (const std::size_t length : starts.empty() ? std::vector<std::size_t>() : lengths_) {
    for (const Start& start : starts) {
      // What is taken already is longer, so it covers an end of whatever it overlaps.
      if (start.longest < length || taken[start.begin] || taken[start.begin + length - 1]) continue;
      const AddedToken* token = of_length(text, start.begin, start.trusted_end, length);
      if (token != nullptr) found.push_back(take_free(*token, text, start.begin, taken));
    }
  }
  std::sort(found.begin(), found.end(),
            [](const ControlMatch& a, const ControlMatch& b) { return a.bytes.begin < b.bytes.begin; });
  return found;
}

std::vector<ControlMatch> ControlMatcher::find(std::string_view text, const std::vector<ByteSpan>* trusted) const {
  static const std::vector<ByteSpan> kNone;
  std::vector<ControlMatch> found;
  TrustedEnd trusted_end(trusted != nullptr ? *trusted : kNone);
  std::size_t free_from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (roots_[static_cast<std::uint8_t>(text[at])] == 0) continue;
    const AddedToken* token = longest(text, at, trusted != nullptr ? trusted_end(at) : text.size());
    if (token == nullptr) continue;
    if (!token->single_word || !has_word_beside(text, at, at + token->text.size())) {
      found.push_back(match_at(*token, text, at, free_from));
      free_from = found.back().taken.end;
    }
    at += token->text.size() - 1;
  }
  return found;
}

}  // namespace parlance
