// By which class transformers reads a model's tokenizer. The classes are facts about transformers:
// data/transformers_types.def, data/class_tokens.def.
#pragma once
#include <string>
#include <string_view>

#include "sources/json_file.h"

namespace parlance {

/// As AutoTokenizer finds it by tokenizer_config.json and config.json: what is named, or what belongs to the
/// model_type; without "Fast". "" where nothing says it.
std::string tokenizer_class_of(const JsonFile& config, const JsonFile& model);

/// Does transformers take the class for a mistake, and follow the tokenizer.json? It does so where the file has a part
/// that such a class never has.
bool is_mistaken_class(std::string_view class_name, std::string_view json);
/// Is there a class of which this may be said?
bool may_be_mistaken(std::string_view class_name);

/// Of a class that has no special tokens by itself.
inline constexpr std::string_view kNoTokens = "{}";
/// The special tokens that the class has by itself: a JSON object of texts, or objects with flags, by name.
std::string_view tokens_of_class(std::string_view class_name);

}  // namespace parlance
