// A model as `parlance serve` offers it, from options or from what a capture says of them.
#pragma once
#include <string>
#include <string_view>

#include "cli/options/prompt_options.h"
#include "cli/options/tokenizer_choice.h"
#include "serve/serve.h"

namespace parlance::cli {

struct ServedWish {
  PromptOptions prompt;
  TokenizerWish tokenizer;
  TokenizeOptions tokenize;
};

/// Opens it, without an engine and a name. Fails with usage, and as prepare() and open_chosen() do.
Result<serve::ModelOptions> open_served(ServedWish& wish);
/// The options that decide about prompts, as an object; those that were not given are left out.
std::string source_json(const ServedWish& wish);
/// Sets the options that such an object has. Fails with json, value.
Result<void> read_source(std::string_view json, ServedWish& wish);

}  // namespace parlance::cli
