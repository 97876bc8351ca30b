// LiteralSpans: each constant goes the long way through Provenance once, as a prompt of its own.
#include "render/literal_spans.h"

#include "render/provenance.h"
#include "value/string.h"

namespace parlance {

LiteralSpans::LiteralSpans(std::span<const Value> constants, std::string_view text, const Arena& arena) {
  const Conversation nobody;
  const Arena nothing;
  const LiteralSpans none;
  Rendering alone;
  constants_.resize(constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Value& v = constants[i];
    if (!v.is_leaf() || v.size == 0) continue;
    Provenance provenance({text, arena, none}, nobody.state(), nothing, alone);
    provenance.append_spans({v.data, v.size}, 0);
    provenance.finish();
    const std::span<const Span> spans = alone.spans();
    constants_[i] = {v.data, v.size, static_cast<std::uint32_t>(spans_.size()), static_cast<std::uint32_t>(spans.size())};
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  }
}

}  // namespace parlance
