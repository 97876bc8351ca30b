// The special tokens that a model's configuration names, with the precedence of transformers.
#pragma once
#include <string_view>
#include <vector>

#include "parlance/source.h"
#include "sources/json_file.h"

namespace parlance {

/// The files that name them.
inline constexpr std::string_view kTokenizerConfig = "tokenizer_config.json";
inline constexpr std::string_view kSpecialTokensMap = "special_tokens_map.json";

/// The variables that special tokens become: transformers' SPECIAL_TOKENS_ATTRIBUTES that are
/// strings.
inline constexpr std::string_view kSpecialTokenNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                          "pad_token", "cls_token", "mask_token"};

/// What tokenizer_config.json and special_tokens_map.json say of one name, text or object, or null.
/// The map overrides the configuration unless that has its tokens decoded (added_tokens_decoder).
/// `from`, if given, becomes the file that says it.
const Value* find_special_token(const JsonFile& config, const JsonFile& map, std::string_view name,
                                const JsonFile** from = nullptr);

/// A token's text: a string, or an object with `content`; undefined for everything else.
Value special_token_text(const Value* token);

/// Those that have a text: the names above, then members that are called `…_token`, and the configuration's
/// extra_special_tokens where they are named.
std::vector<SpecialToken> special_tokens_of(const JsonFile& config, const JsonFile& map);

}  // namespace parlance
