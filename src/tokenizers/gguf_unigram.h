// The Unigram vocabulary of a GGUF file (GgufWay::sums), as llama.cpp uses it: not in all as SentencePiece does.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tokenizers/merging_tokenizer.h"

namespace parlance {

struct GgufUnigramParts {
  std::vector<std::string> texts;  ///< by id, blanks as U+2581; "" for a token that no text becomes
  std::vector<double> scores;
  float unknown_score = 0;
  TokenId unknown = -1;
  std::vector<std::string> user_defined;
  std::string charsmap;  ///< without a fault (sentencepiece_charsmap.h)
  bool merges_blanks = false;
};

std::unique_ptr<RunEncoder> gguf_unigram(GgufUnigramParts parts);

}  // namespace parlance
