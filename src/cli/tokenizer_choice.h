// Which tokenizer a command uses: --tokenizer, or the one in the model's own folder.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/prompt_options.h"
#include "parlance/tokens.h"

namespace parlance::cli {

struct TokenizerWish {
  std::string path;                         ///< --tokenizer
  std::vector<std::string> special_tokens;  ///< --special-token: for a SentencePiece model that lacks them
};
void declare_tokenizer_options(CLI::App& app, TokenizerWish& wish);

/// Opens it, and gives the templates the special tokens it names where the model has none of that name.
/// Fails with usage where none is named, and as open_tokenizer() does.
Result<std::unique_ptr<Tokenizer>> open_chosen(const TokenizerWish& wish, const PromptOptions& prompt,
                                               FoundTemplates& found);

}  // namespace parlance::cli
