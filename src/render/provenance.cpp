// Provenance: regions tried in the order of how often they occur: input, template source, derived text.
#include "render/provenance.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance {

bool looks_like_control(std::string_view bytes) {
  for (std::size_t at = bytes.find('<'); at != bytes.npos; at = bytes.find('<', at + 1)) {
    std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with("|") && rest.find("|>", 1) != rest.npos) return true;
    if (rest.starts_with("\xEF\xBD\x9C") && rest.find("\xEF\xBD\x9C>", 3) != rest.npos) return true;
  }
  return false;
}

Span Provenance::literal(const char* address, std::size_t size) {
  Span span;
  span.origin = Origin::literal;
  span.control = looks_like_control({address, size});
  Known& known = known_[(reinterpret_cast<std::uintptr_t>(address) >> 2) % known_.size()];
  if (known.address != address) {
    std::string_view text = program_.source.text();
    auto offset = static_cast<std::size_t>(address - text.data());
    std::size_t newline = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
    std::size_t line_begin = newline == text.npos ? 0 : newline + 1;
    known.address = address;
    known.line = program_.source.line_of(offset);
    known.column = static_cast<std::uint32_t>(utf8::count(text.substr(line_begin, offset - line_begin)) + 1);
  }
  span.line = known.line;
  span.column = known.column;
  return span;
}

Span Provenance::place_of_source(TextSource source) {
  if (source.data != nullptr) {
    Span span = place_of(source.data);
    if (span.origin == Origin::input) span.origin = Origin::derived;
    return span;
  }
  Span span;
  if (source.id != 0 && find_place(conversation_, source.id, span.message)) {
    span.origin = Origin::derived;
    span.input_id = source.id;
  }
  return span;
}

Span Provenance::place_of(const char* address) {
  Span span;
  if (find_place(conversation_, address, span.message)) {
    span.origin = Origin::input;
    span.input = address;
    span.control = span.message < 0 && is_special_token(conversation_, address);
    return span;
  }
  if (in_template(address)) return literal(address, 1);
  const Arena::Derived* derived = arena_.find_derived(address);
  if (derived == nullptr) derived = program_.arena.find_sorted_derived(address);
  if (derived == nullptr) return span;
  TextSource source = derived->source;
  if (source.data == address) return span;
  return place_of_source(source);
}

void Provenance::append(Span span, std::uint64_t begin, std::uint64_t size, const char* address,
                        std::vector<Span>& spans) {
  span.begin = begin;
  span.end = begin + size;
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
  const Arena& owner = arena_.find_derived(next) != nullptr || arena_.holds_text(next) ? arena_ : program_.arena;
  std::span<const Arena::Derived> log = owner.sorted_derived();
  auto record = std::upper_bound(log.begin(), log.end(), next,
                                 [](const char* a, const Arena::Derived& d) { return std::less<>()(a, d.begin); });
  if (record != log.begin() && next < (record - 1)->begin + (record - 1)->size) --record;
  while (next < end) {
    const char* stop = end;
    Span span;
    if (record != log.end() && record->begin < end) {
      if (next < record->begin) {
        stop = record->begin;  // between records: the engine's own bytes
      } else {
        stop = std::min(end, record->begin + record->size);
        TextSource source = record->source;
        if (source.data != nullptr && in_template(source.data)) {
          span = literal(source.data, 1);
          span.control = looks_like_control({next, static_cast<std::size_t>(stop - next)});
        } else {
          span = place_of_source(source);
        }
        ++record;
      }
    }
    append(span, at + static_cast<std::uint64_t>(next - piece.data), static_cast<std::uint64_t>(stop - next), next,
           spans);
    next = stop;
  }
}

void Provenance::append_spans(const Piece& piece, std::uint64_t at, std::vector<Span>& spans) {
  Span span;
  if (find_place(conversation_, piece.data, span.message)) {
    span.origin = Origin::input;
    span.input = piece.data;
    span.control = span.message < 0 && is_special_token(conversation_, piece.data);
    return append(span, at, piece.size, piece.data, spans);
  }
  if (in_template(piece.data)) return append(literal(piece.data, piece.size), at, piece.size, piece.data, spans);
  append_derived(piece, at, spans);
}

}  // namespace parlance
