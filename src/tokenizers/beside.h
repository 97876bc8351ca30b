// What stands beside a tokenizer's file: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json, generation_config.json and config.json, each of which may be missing. Begin reading at
// read_beside.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parlance/tokenizer.h"
#include "tokenizers/adapters.h"

namespace parlance {

struct Beside {
  std::vector<NamedToken> named;
  std::vector<std::string> unset;  ///< names that are said to have no token
  std::string eos_source;          ///< "tokenizer_config.json: eos_token": who names the eos_token
  std::vector<AddedToken> added;   ///< with an id of -1 where a file gives only the text
  MoreTokens more;                 ///< the same as a tokenizer.json needs them
  bool lists_special = false;      ///< a list of special tokens is there before a .model is read, be it empty
  std::vector<std::int64_t> ends;  ///< generation_config.json's eos_token_id
  std::optional<bool> add_bos;
  std::optional<bool> add_eos;
  std::optional<bool> legacy;
  std::optional<bool> add_prefix_space;
  std::string tokenizer_class;  ///< by which transformers reads the tokenizer; without "Fast"
  std::vector<std::string> notes;
  std::vector<std::string> files;  ///< that were there
};

/// Fails with file; json (place); model_file (a file that is no JSON object).
Result<Beside> read_beside(const std::string& folder);

}  // namespace parlance
