// Begin reading at name_guarded.
#include "tokens/guarded_text.h"

#include "tokens/span_cursor.h"

namespace parlance {

std::vector<GuardedText> name_guarded(std::span<const EncodedToken> forged, std::span<const Span> spans,
                                      std::string_view text, const Conversation& conversation, const TrustRule& rule) {
  std::vector<GuardedText> guarded;
  SpanCursor cursor(spans);
  for (const EncodedToken& token : forged) {
    GuardedText one{token.bytes, token.id, {}};
    for (const Span& span : cursor.of(token.bytes)) {
      if (rule.holds(span, text.substr(span.begin, span.end - span.begin))) continue;
      one.path = path_of_span(conversation, span);
      if (!one.path.empty()) break;
    }
    guarded.push_back(std::move(one));
  }
  return guarded;
}

}  // namespace parlance
