// ControlIds: which of a tokenizer's ids are control tokens.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

class ControlIds {
 public:
  /// `plain_added`: those that were added and are not special are none (TokenizeOptions).
  explicit ControlIds(const TokenizerFacts& facts, bool plain_added = false) : ids_(facts.markers), unk_(facts.unk) {
    ids_.reserve(facts.markers.size() + facts.added.size());
    for (const AddedToken& token : facts.added) {
      if (token.control && (token.special || !plain_added)) ids_.push_back(token.id);
    }
    std::sort(ids_.begin(), ids_.end());
  }
  bool contains(TokenId id) const {
    // Control tokens stand at the begin and the end of most vocabularies, so few ids come past this.
    if (ids_.empty() || id < ids_.front() || id > ids_.back()) return false;
    return std::binary_search(ids_.begin(), ids_.end(), id);
  }
  /// Is it one, and not text that the model does not know?
  bool is_control(const EncodedToken& token) const { return contains(token.id) && (token.added || unk_ != token.id); }

 private:
  std::vector<TokenId> ids_;
  std::optional<TokenId> unk_;
};

/// May a text be encoded from this token on? It must be a control token, with which no dummy prefix can become one
/// token, and not within a run that the model weighs as a whole.
inline bool begins_run(const TokenizerFacts& facts, TokenId id) {
  const auto token = std::lower_bound(facts.added.begin(), facts.added.end(), id,
                                      [](const AddedToken& t, TokenId wanted) { return t.id < wanted; });
  const bool is_mark = token != facts.added.end() && token->id == id && token->control && !token->text.starts_with(' ');
  return is_mark && !(facts.weighs_runs && std::binary_search(facts.symbols.begin(), facts.symbols.end(), id));
}

/// What the tokenizer by itself puts before a text and the ids do not begin with: they may begin with a part of it.
std::vector<TokenId> missing_before(const TokenizerFacts& facts, const std::vector<TokenId>& ids);

}  // namespace parlance
