// open_hf_json of a build without the Rust crate: says how to get it.
#include "tokenizers/adapters.h"

namespace parlance {

Result<std::unique_ptr<Tokenizer>> open_hf_json(std::string_view, const std::string& path, const MoreTokens&) {
  return Error(ErrorCode::tokenizer, "this build does not read tokenizer.json: '" + path + "'")
      .hint("build with cargo 1.85 or later and -DPARLANCE_HF_TOKENIZERS=ON");
}

}  // namespace parlance
