// What a tokenizer cannot write of a prompt, as losses.
#pragma once
#include <span>
#include <vector>

#include "parlance/losses.h"
#include "parlance/tokens.h"

namespace parlance::cli {

/// A loss for each input with such text, and one more where some of it became the unknown token and some none.
void lose_unknown(std::span<const UnknownText> unknown, const Tokenizer& tokenizer, std::vector<Loss>& losses);

}  // namespace parlance::cli
