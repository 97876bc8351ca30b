// The tokens that a SentencePiece model names itself, without opening it as a tokenizer.
#pragma once
#include <string>

#include "parlance/result.h"

namespace parlance {

/// Of a .model, as a JSON object: those of bos_token, eos_token and unk_token that it has, as transformers' generic
/// class takes them; the default of one whose text is not UTF-8. "{}" of what is no such file. Fails with file.
Result<std::string> names_of_sentencepiece(const std::string& path);

}  // namespace parlance
