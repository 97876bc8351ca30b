// Fuzz target: any bytes as a vocabulary that is merged: a GGUF file, a tekken.json, or a tiktoken file. Opening ends
// in an error or in a tokenizer that keeps what check_tokens.h says.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check_tokens.h"
#include "tokenizers/adapters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const parlance::TiktokenOptions options{.split = "gpt-2", .special_tokens = {"<|user|>", "<s>"}};
  const bool is_gguf = bytes.starts_with("GGUF"), is_json = bytes.starts_with('{');
  const auto opened = is_gguf   ? parlance::read_gguf_vocabulary(bytes, "fuzz.gguf")
                      : is_json ? parlance::open_tekken(bytes, "tekken.json")
                                : parlance::open_tiktoken(bytes, "fuzz.tiktoken", options, {});
  if (opened) {
    parlance::fuzz::check_law(**opened, parlance::fuzz::text_of(**opened));
  } else if (opened.error().display().empty()) {
    std::abort();
  }
  return 0;
}
