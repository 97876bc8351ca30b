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

/// By the class that the configuration beside the model names, as transformers' AutoTokenizer chooses it. Fails with
/// tokenizer (a class that is not followed here, or a model that is neither BPE nor Unigram).
Result<SpAsJson> sentencepiece_as_json(const SpModel& model, const Beside& beside, const std::string& path);

}  // namespace parlance
