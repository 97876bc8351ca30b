// Vocabularies of ranks: tiktoken's files, and tekken.json, which is one with its own special tokens. A rank is an id,
// and says which pair of neighbours is merged first.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/merging_tokenizer.h"

namespace parlance {

/// The largest rank that is read. Those in use have 200,000 ranks.
inline constexpr std::size_t kMostRanks = std::size_t{1} << 22;

/// A special token of a vocabulary of ranks.
struct RankMark {
  std::int64_t id = -1;
  std::string text;
  bool special = true;
};

struct RankParts {
  std::string kind;                ///< "tiktoken, cl100k_base"
  std::vector<std::string> ranks;  ///< bytes by rank; "" where there are none
  std::size_t first_id = 0;        ///< of rank 0
  std::vector<RankMark> marks;
  std::vector<NamedToken> named;  ///< those of `marks` that have a name
  std::vector<std::string> patterns;
  bool drop_rest = true;  ///< text that no pattern matches is dropped, as tiktoken does
};

/// Fails with tokenizer: a pattern that is none, a byte that is no rank, marks that share an id or a text.
Result<std::unique_ptr<Tokenizer>> rank_tokenizer(RankParts parts, const std::string& path);

}  // namespace parlance
