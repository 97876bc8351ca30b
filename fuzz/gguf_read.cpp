// Fuzz target: any bytes as a GGUF file. Reading its header must end, in views of those bytes or in
// an error with a place in them; every token that is looked up must lie in them too.
#include <cstdint>
#include <cstdlib>

#include "sources/gguf.h"

namespace {

void must_lie_in(std::string_view part, std::string_view whole) {
  if (part.empty()) return;
  if (part.data() < whole.data() || part.data() + part.size() > whole.data() + whole.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = parlance::read_gguf(bytes, "fuzz.gguf");
  if (!header) {
    if (header.error().where().begin > size || header.error().display().empty()) std::abort();
    return 0;
  }
  for (const parlance::GgufTemplate& found : header->templates) {
    must_lie_in(found.name == "default" ? found.key : found.name, bytes);
    must_lie_in(found.text, bytes);
  }
  const std::uint64_t count = header->tokens.size();
  for (std::uint64_t i = 0; i < count; i += 1 + count / 16) must_lie_in(*header->tokens.at(i), bytes);
  for (const parlance::GgufTokenId& token : header->token_ids) {
    if (const auto text = header->tokens.at(static_cast<std::uint64_t>(token.id))) must_lie_in(*text, bytes);
  }
  return 0;
}
