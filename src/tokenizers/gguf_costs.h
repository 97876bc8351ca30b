// The vocabulary of a GGUF file whose tokens cost whole numbers (GgufWay::costs), as llama.cpp uses it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizers/merging_tokenizer.h"

namespace parlance {

struct GgufCostsParts {
  std::vector<std::string> texts;  ///< by id; "" for the token of a byte, and one that no text becomes
  std::vector<std::int32_t> scores;
  std::array<TokenId, 256> bytes;  ///< what stands for the bytes of a character that no token begins with
};

std::unique_ptr<RunEncoder> gguf_costs(GgufCostsParts parts);

}  // namespace parlance
