// Fuzz target: any bytes as a SentencePiece model. Opening ends in an error or in a tokenizer that keeps
// what check_tokens.h says.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check_tokens.h"
#include "tokenizers/adapters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parlance::SentencePieceOptions options;
  options.special_tokens = {"<|user|>"};
  options.prefix_each_run = size % 2 == 0;
  const auto opened = parlance::open_sentencepiece(bytes, "fuzz.model", options, {});
  if (opened) {
    parlance::fuzz::check_law(**opened, parlance::fuzz::text_of(**opened));
  } else if (opened.error().code() != parlance::ErrorCode::tokenizer || opened.error().display().empty()) {
    std::abort();
  }
  return 0;
}
