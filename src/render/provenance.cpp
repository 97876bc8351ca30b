// Provenance: regions tried in the order of how often they occur: input, template source, derived text.
#include "render/provenance.h"

#include <algorithm>


namespace parlance {

bool looks_like_control(std::string_view bytes) {
  for (std::size_t at = bytes.find('<'); at != bytes.npos; at = bytes.find('<', at + 1)) {
    std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with("|") && rest.find("|>", 1) != rest.npos) return true;
    if (rest.starts_with("\xEF\xBD\x9C") && rest.find("\xEF\xBD\x9C>", 3) != rest.npos) return true;
  }
  return false;
}

void Provenance::fill_literal(const char* address, Span& span) const {
  span.origin = Origin::literal;
  span.template_begin = static_cast<std::uint32_t>(address - template_text_.data());
}

void Provenance::fill_input(const char* address, Span& span) {
  span.origin = Origin::input;
  span.input = address;
  span.control = span.message < 0 && is_special_token(conversation_, address);
}

void Provenance::fill_from_source(TextSource source, Span& span) {
  if (source.data == nullptr) {
    if (source.id == 0 || !in_input(source.id, span.message)) return;
    span.origin = Origin::derived;
    span.input_id = source.id;
  } else if (in_input(source.data, span.message)) {
    span.origin = Origin::derived;
    span.input = source.data;
  } else {
    constexpr int kMostHops = 64;  // a text derived from a derived text and so on
    fill_from_address(source.data, span, kMostHops);
    if (span.origin == Origin::input) span.origin = Origin::derived;
  }
}

void Provenance::fill_from_address(const char* address, Span& span, int hops) {
  while (hops-- > 0) {
    if (in_template(address)) return fill_literal(address, span);
    if (in_input(address, span.message)) return fill_input(address, span);
    const Arena::Derived* derived = arena_.find_sorted_derived(address);
    if (derived == nullptr) derived = program_.arena.find_sorted_derived(address);
    if (derived == nullptr) return;
    if (derived->source.data == nullptr) return fill_from_source(derived->source, span);
    address = derived->source.data;
  }
}

void Provenance::append_derived(const Piece& piece, std::uint64_t at, std::vector<Span>& spans) {
  const char* next = piece.data;
  const char* end = piece.data + piece.size;
  bool own = arena_.holds_text(next);
  std::span<const Arena::Derived> log = own ? arena_.sorted_derived() : program_.arena.sorted_derived();
  // Pieces mostly come in the order they were made, so the first record is where the last piece stopped.
  std::size_t record = own ? record_ : log.size();
  bool right_here = record < log.size() && log[record].begin == next;
  if (!right_here) {
    auto after = std::upper_bound(log.begin(), log.end(), next,
                                  [](const char* a, const Arena::Derived& d) { return std::less<>()(a, d.begin); });
    if (after != log.begin() && next < (after - 1)->begin + (after - 1)->size) --after;
    record = static_cast<std::size_t>(after - log.begin());
  }
  while (next < end) {
    // Between records stand the engine's own bytes.
    bool logged = record < log.size() && log[record].begin <= next;
    const char* stop = end;
    if (logged) stop = std::min(end, log[record].begin + log[record].size);
    if (!logged && record < log.size()) stop = std::min(end, log[record].begin);
    Span& span = add(spans, at + static_cast<std::uint64_t>(next - piece.data), static_cast<std::uint64_t>(stop - next));
    if (logged) {
      fill_from_source(log[record++].source, span);
      if (span.origin == Origin::literal) {
        span.control = looks_like_control({next, static_cast<std::size_t>(stop - next)});
      }
    }
    next = stop;
  }
  if (own) record_ = record;
}

void Provenance::append_spans(const Piece& piece, std::uint64_t at, std::vector<Span>& spans) {
  if (in_template(piece.data)) {
    Span& span = add(spans, at, piece.size);
    fill_literal(piece.data, span);
    span.control = looks_like_control({piece.data, piece.size});
    return;
  }
  std::int32_t message = -1;
  bool merged_literals = program_.arena.holds_text(piece.data);
  if (merged_literals || !in_input(piece.data, message)) return append_derived(piece, at, spans);
  // Pieces that stand side by side in the input are one span.
  if (last_end_ == piece.data && !spans.empty() && spans.back().end == at && spans.back().origin == Origin::input) {
    spans.back().end += piece.size;
  } else {
    Span& span = add(spans, at, piece.size);
    span.message = message;
    fill_input(piece.data, span);
  }
  last_end_ = piece.data + piece.size;
}

}  // namespace parlance
