// Which tokenizer a command uses: --tokenizer, or the one in the model's own folder; and what may be a control token.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/options/prompt_options.h"
#include "parlance/tokens.h"

namespace parlance::cli {

class Options;

struct TokenizerWish {
  std::string path;                         ///< --tokenizer
  std::vector<std::string> special_tokens;  ///< --special-token: for a tokenizer that lacks them
  std::string model_as;                     ///< --model-as: how a .model or a tokenizer.json is read
  std::string split;                        ///< --split: how a tiktoken file splits text
  bool quiet = false;                       ///< its notes are not printed
  bool verbose = false;                     ///< all of them are, not the first twenty
};
/// What --model-as takes.
std::vector<std::string> model_readers();
void declare_tokenizer_options(Options& app, TokenizerWish& wish);

/// Opens it, prints its notes on standard error unless `wish` is quiet, and gives the templates the special tokens it
/// names where the model has none of that name. Fails with usage where none is named, and as open_tokenizer() does.
Result<std::unique_ptr<Tokenizer>> open_chosen(const TokenizerWish& wish, const PromptOptions& prompt,
                                               PromptSetup& setup);

/// --trust and --no-protect.
void declare_protection_options(Options& app, TokenizeOptions& options);
/// Are they as they should be? Fails with usage.
Result<void> check_protection(const TokenizeOptions& options);

}  // namespace parlance::cli
