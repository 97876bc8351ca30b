// Splitter of a build without the Rust crate: says how to get it.
#include "tokenizers/splitter.h"

namespace parlance {

struct Splitter::State {};

Splitter::Splitter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Splitter::Splitter(Splitter&&) noexcept = default;
Splitter& Splitter::operator=(Splitter&&) noexcept = default;
Splitter::~Splitter() = default;

Result<Splitter> Splitter::make(std::span<const std::string>, const Options&) {
  return Error(ErrorCode::tokenizer, "this build does not read tokenizers that split text by regular expressions")
      .hint("build with cargo 1.85 or later and -DPARLANCE_HF_TOKENIZERS=ON");
}

Result<void> Splitter::split(std::string_view, std::vector<ByteSpan>&) const { return {}; }
bool Splitter::keeps_text() const { return true; }

}  // namespace parlance
