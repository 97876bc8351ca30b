// A build without libsentencepiece: a .model cannot be opened.
#include "tokenizers/adapters.h"

namespace parlance {

Result<std::unique_ptr<Tokenizer>> open_sentencepiece(std::string_view, const std::string& path,
                                                      const SentencePieceOptions&,
                                                      std::span<const AddedToken>) {
  Error::Parts parts;
  parts.code = ErrorCode::tokenizer;
  parts.message = path + ": a SentencePiece model, which this build does not read";
  parts.hint =
      "build with libsentencepiece (Debian: libsentencepiece-dev) and PARLANCE_SENTENCEPIECE=ON";
  return Error(std::move(parts));
}

}  // namespace parlance
