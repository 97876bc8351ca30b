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

Span Provenance::literal(const char* address) const {
  Span span;
  span.origin = Origin::literal;
  span.template_begin = static_cast<std::uint32_t>(address - template_text_.data());
  return span;
}

Span Provenance::place_of_source(TextSource source) {
  Span span;
  if (source.data == nullptr) {
    if (source.id != 0 && in_input(source.id, span.message)) {
      span.origin = Origin::derived;
      span.input_id = source.id;
    }
    return span;
  }
  if (!in_input(source.data, span.message)) return place_of(source.data);
  span.origin = Origin::derived;
  span.input = source.data;
  return span;
}

Span Provenance::place_of(const char* address) {
  Span span;
  if (in_input(address, span.message)) {
    span.origin = Origin::input;
    span.input = address;
    span.control = span.message < 0 && is_special_token(conversation_, address);
    return span;
  }
  if (in_template(address)) return literal(address);
  const Arena::Derived* derived = arena_.find_sorted_derived(address);
  if (derived == nullptr) derived = program_.arena.find_sorted_derived(address);
  if (derived == nullptr || derived->source.data == address) return span;
  span = place_of_source(derived->source);
  if (span.origin == Origin::input) span.origin = Origin::derived;
  return span;
}

void Provenance::append(Span span, std::uint64_t begin, std::uint64_t size, const char* address,
                        std::vector<Span>& spans) {
  span.begin = static_cast<std::uint32_t>(begin);
  span.end = static_cast<std::uint32_t>(begin + size);
  if (!spans.empty() && last_end_ == address) {
    Span& last = spans.back();
    bool same = last.end == begin && last.origin == span.origin && last.message == span.message &&
                last.origin == Origin::input && last.control == span.control;
    if (same) {
      last.end = span.end;
      last_end_ = address + size;
      return;
    }
  }
  spans.push_back(span);
  last_end_ = address + size;
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
    const char* stop = end;
    Span span;
    if (record < log.size() && log[record].begin < end) {
      const Arena::Derived& found = log[record];
      if (next < found.begin) {
        stop = found.begin;  // between records: the engine's own bytes
      } else {
        stop = std::min(end, found.begin + found.size);
        span = place_of_source(found.source);
        if (span.origin == Origin::literal) {
          span.control = looks_like_control({next, static_cast<std::size_t>(stop - next)});
        }
        ++record;
      }
    }
    append(span, at + static_cast<std::uint64_t>(next - piece.data), static_cast<std::uint64_t>(stop - next), next,
           spans);
    next = stop;
  }
  if (own) record_ = record;
}

void Provenance::append_spans(const Piece& piece, std::uint64_t at, std::vector<Span>& spans) {
  Span span;
  if (in_template(piece.data)) {
    span = literal(piece.data);
    span.control = looks_like_control({piece.data, piece.size});
    return append(span, at, piece.size, piece.data, spans);
  }
  if (in_input(piece.data, span.message)) {
    span.origin = Origin::input;
    span.input = piece.data;
    span.control = span.message < 0 && is_special_token(conversation_, piece.data);
    return append(span, at, piece.size, piece.data, spans);
  }
  append_derived(piece, at, spans);
}

}  // namespace parlance
