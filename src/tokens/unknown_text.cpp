// Begin reading at find_unknown.
#include "tokens/unknown_text.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokens/span_cursor.h"

namespace parlance {
namespace {

/// Adds to a list, in order; whole characters, of which a token may be a part.
void add(std::string_view text, ByteSpan bytes, bool dropped, std::vector<UnknownText>& into) {
  while (bytes.begin > 0 && utf8::is_continuation(text[bytes.begin])) --bytes.begin;
  while (bytes.end < text.size() && utf8::is_continuation(text[bytes.end])) ++bytes.end;
  UnknownText* const last = into.empty() ? nullptr : &into.back();
  if (last != nullptr && last->dropped == dropped && last->bytes.end >= bytes.begin) {
    last->bytes.end = std::max(last->bytes.end, bytes.end);
  } else {
    into.push_back({bytes, {}, dropped});
  }
}

}  // namespace

std::vector<UnknownText> find_unknown(const EncodedText& encoded, const TokenizerFacts& facts, std::size_t most) {
  constexpr std::size_t kShown = 64;  // bytes
  std::vector<UnknownText> found;
  if (!facts.unk && encoded.dropped.empty()) return found;
  auto dropped = encoded.dropped.begin();
  const auto add_dropped_before = [&](std::uint32_t byte) {
    for (; dropped != encoded.dropped.end() && dropped->begin < byte && found.size() <= most; ++dropped)
      add(encoded.text, *dropped, true, found);
  };
  for (const EncodedToken& token : encoded.tokens) {
    if (found.size() > most) break;
    if (token.id != facts.unk || token.added || token.bytes.begin == token.bytes.end) continue;
    add_dropped_before(token.bytes.begin);
    add(encoded.text, token.bytes, false, found);
  }
  add_dropped_before(UINT32_MAX);
  if (found.size() > most) found.resize(most);
  for (UnknownText& one : found)
    one.text = utf8::whole_prefix(encoded.text.substr(one.bytes.begin, one.bytes.end - one.bytes.begin), kShown);
  return found;
}

void find_paths(std::vector<UnknownText>& unknown, std::span<const Span> spans, const Conversation& conversation) {
  SpanCursor cursor(spans);
  for (UnknownText& text : unknown) {
    for (const Span& span : cursor.of(text.bytes)) {
      if (text.path = path_of_span(conversation, span); !text.path.empty()) break;
    }
  }
}

}  // namespace parlance
