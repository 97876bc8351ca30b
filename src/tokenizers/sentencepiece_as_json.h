// A SentencePiece model as transformers reads it: made a tokenizer.json, which the crate `tokenizers` then runs.
#pragma once
#include <string>
#include <string_view>

#include "tokenizers/beside.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

/// A model as a tokenizer.json.
struct SpAsJson {
  std::string json;
  std::string reader;  ///< the name of transformers' class
};

/// Does transformers read the tokenizer of such a model (config.json's model_type) by its generic class, whatever class
/// the configuration names?
bool is_generic_type(std::string_view model_type);

/// By the class that the configuration beside the model names, as transformers' AutoTokenizer chooses it. Fails with
/// tokenizer (a class that is not followed here, or a model that is neither BPE nor Unigram).
Result<SpAsJson> sentencepiece_as_json(const SpModel& model, const Beside& beside, const std::string& path);

}  // namespace parlance
