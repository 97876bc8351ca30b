// LiteralSpans: each constant goes the long way through Provenance once, as a prompt of its own.
#include "render/literal_spans.h"

#include "render/provenance.h"
#include "value/string.h"

namespace parlance {

LiteralSpans::LiteralSpans(std::span<const Value> constants, std::string_view text, const Arena& arena) {
  const Conversation nobody;
  Arena nothing;
  const Limits no_limits{.memory_bytes = ~std::uint64_t{0}};
  Runtime rt(nothing, no_limits);
  const LiteralSpans none;
  Rendering alone;
  places_.resize(constants.size() + 1);
  only_.resize(constants.size() + 1);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Value& v = constants[i];
    if (!v.is_leaf() || v.size == 0) continue;
    Provenance provenance({text, arena, none}, inside_of(nobody), rt, alone);
    provenance.append_spans({v.data, v.size}, 0);
    provenance.finish();
    const std::span<const Span> spans = alone.spans();
    places_[i + 1] = {static_cast<std::uint32_t>(spans_.size()), static_cast<std::uint32_t>(spans.size())};
    if (spans.size() == 1) only_[i + 1] = spans.front();
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  }
}

}  // namespace parlance
