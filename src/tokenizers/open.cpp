// open_tokenizer: which adapter reads a path.
#include "tokenizers/adapters.h"

namespace parlance {

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, const TokenizerOptions&) {
  return Error(ErrorCode::tokenizer, "no tokenizer can be read from '" + path + "'");
}

}  // namespace parlance
