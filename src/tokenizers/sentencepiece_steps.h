// The steps around a model that a .model asks for, as those of a tokenizer.json: what transformers' generic class makes
// of the model's own settings.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

/// What is made of a text before it is cut. `is_legacy`: each text between tokens gets the dummy prefix, not the first
/// alone.
std::string normalizer_of(const SpModel& model, bool is_legacy);
/// A blank in front, and user-defined pieces apart, the longest first, since they are never merged; or null.
std::string pre_tokenizer_of(const SpModel& model, bool is_legacy, std::vector<std::string> user_defined);
/// A blank in front of a text that begins with none: "always", "first" or "never".
std::string blank_in_front(std::string_view scheme);

/// A text, of any bytes, as a JSON string.
void append_json_text(std::string& json, std::string_view text);

}  // namespace parlance
