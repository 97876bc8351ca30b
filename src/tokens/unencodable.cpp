// Names the input with half a surrogate pair. Begin reading at unencodable.
#include "tokens/unencodable.h"

#include <algorithm>
#include <optional>

#include "base/surrogates.h"
#include "base/utf8.h"
#include "tokens/unknown_text.h"

namespace parlance {
namespace {

std::optional<ByteSpan> first_surrogate(std::string_view text, std::size_t from) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data() + std::min(from, text.size()); at < end;) {
    const utf8::Decoded next = utf8::decode(at, end);
    const auto begin = static_cast<std::uint32_t>(at - text.data());
    if (utf8::is_surrogate(next.code_point)) return ByteSpan{begin, begin + next.size};
    at += next.size;
  }
  return std::nullopt;
}

}  // namespace

Error unencodable(const Error& refused, const Rendering& rendering, std::size_t from,
                  const Conversation& conversation) {
  const std::optional<ByteSpan> half = first_surrogate(rendering.text(), from);
  if (!half) return refused;
  std::vector<UnknownText> found = {{.bytes = *half, .path = {}}};
  find_paths(found, rendering.spans(), conversation);
  return found.front().path.empty() ? lone_surrogate() : lone_surrogate().input(found.front().path);
}

}  // namespace parlance
