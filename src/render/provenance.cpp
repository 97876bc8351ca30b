// Provenance: regions tried in the order of how often they occur: constants, input, template source, derived text.
#include "render/provenance.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/bytes.h"
#include "render/literal_spans.h"
#include "render/rendering.h"

namespace parlance {

bool looks_like_control(std::string_view bytes) {
  constexpr std::string_view kShortest = "<||>";
  if (bytes.size() < kShortest.size()) return false;
  for (std::size_t at = bytes.find('<'); at != bytes.npos; at = bytes.find('<', at + 1)) {
    std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with("|") && rest.find("|>", 1) != rest.npos) return true;
    if (rest.starts_with("\xEF\xBD\x9C") && rest.find("\xEF\xBD\x9C>", 3) != rest.npos) return true;
  }
  return false;
}

/// Spans are charged to the render's memory. Past the limit the failure is recorded and the same room is written again
/// from its beginning, so that callers need no check for each span.
void Provenance::grow() {
  constexpr std::size_t kLeast = 64;
  const std::size_t used = count();
  const RenderingFields into = fields_of(into_);
  const std::size_t capacity = std::max(kLeast, into.span_capacity * 2);
  if (!rt_.reserve(capacity * sizeof(Span)) && used != 0) {
    next_ = into.spans.get();
    return;
  }
  auto grown = std::make_unique_for_overwrite<Span[]>(capacity);
  std::copy_n(into.spans.get(), used, grown.get());
  into.spans = std::move(grown);
  into.span_capacity = capacity;
  next_ = into.spans.get() + used;
  end_ = into.spans.get() + capacity;
}

// A span is filled where it stands, ends apart: what is returned by value is copied before it has reached the cache.

void Provenance::describe_literal(const char* address, Span& span) const {
  span.origin = Origin::literal;
  span.template_begin = static_cast<std::uint32_t>(address - template_.text.data());
}

/// What a byte is, seen from where it is now: as it stands in the template or the input, or derived from either. What
/// was derived twice may be made of more than the place that its first byte leads to.
void Provenance::describe_byte(const char* address, Span& span) {
  constexpr int kMostHops = 64;  // a text derived from a derived text and so on
  for (int hops = 0; hops < kMostHops; ++hops) {
    if (in_template(address)) return describe_literal(address, span);
    if (in_input(address, span.message)) {
      span.origin = Origin::input;
      span.input = address;
      return;
    }
    const Arena::Derived* derived = arena_.find_sorted_derived(address);
    if (derived != nullptr) span.input_id = kMixedSource;
    if (derived == nullptr) derived = template_.arena.find_sorted_derived(address);
    if (derived == nullptr) break;
    if (derived->source_data == nullptr) return describe_number(derived->source_id, span);
    address = derived->source_data;
  }
  span.input_id = 0;
}

/// What was made from a number or a container; from a number's text, made into another, if there is an id already.
void Provenance::describe_number(std::uint32_t id, Span& span) {
  const bool again = span.input_id != 0;
  span.input_id = id == kNumberSource && !again ? kNumberSource : 0;
  if (id == 0 || id >= kProgramSource || !in_input(id, span.message)) return;
  span.origin = Origin::derived;
  span.input_id = id;
}

/// Fills a new span with what is known of bytes made from `source`.
void Provenance::describe(TextSource source, std::string_view bytes, Span& span) {
  if (source.data == nullptr) return describe_number(source.id, span);
  describe_byte(source.data, span);
  if (source.id != 0) span.input_id = source.id;
  if (span.origin == Origin::input) span.origin = Origin::derived;
  if (span.origin == Origin::literal) span.control = looks_like_control(bytes);
}

/// The number of the first record at or after `address`. Pieces mostly come in the order they were made, so it mostly
/// is where the last piece stopped.
std::size_t Provenance::first_record(std::span<const Arena::Derived> log, const char* address,
                                     std::size_t guess) const {
  if (guess < log.size() && log[guess].begin == address) return guess;
  auto after = std::upper_bound(log.begin(), log.end(), address,
                                [](const char* a, const Arena::Derived& d) { return std::less<>()(a, d.begin); });
  if (after != log.begin() && address < (after - 1)->begin + (after - 1)->size) --after;
  return static_cast<std::size_t>(after - log.begin());
}

/// What is left of a piece that was derived.
struct Provenance::Rest {
  const char* next;
  const char* end;
  std::size_t record;   ///< in the log, the first that ends behind `next`
  std::uint32_t shift;  ///< from the lower half of an address to a place in the prompt
  std::uint32_t at(const char* address) const {
    return shift + static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address));
  }
};

/// Appends the spans of records as long as they follow one another and lead to near places in the input: most do, since
/// what is written as JSON is a message's or a tool's.
void Provenance::append_near(std::span<const Arena::Derived> log, Rest& rest) {
  const Rest all = rest;
  const Arena::Derived* record = log.data() + all.record;
  Span* span = next_;
  const Arena::Derived* const stop = record + std::min(log.size() - all.record, static_cast<std::size_t>(end_ - next_));
  const char* next = all.next;
  for (; record != stop && record->begin <= next && next < all.end; ++record, ++span) {
    const char* const data = record->source_data;
    const std::uint32_t id = record->source_id;
    const DocumentStorage::Neighbours& near = data == nullptr ? near_id_ : near_;
    if (!near.hold(data == nullptr ? id : reinterpret_cast<std::uintptr_t>(data))) break;
    const std::uint32_t begin = all.at(next);
    next = std::min(all.end, record->begin + record->size);
    put_span(span, begin, all.at(next), Origin::derived, near.message, id, data);
  }
  rest.next = next;
  rest.record = static_cast<std::size_t>(record - log.data());
  next_ = span;
}

/// `own`: it was made by this render, not by the compiler.
void Provenance::append_derived(const Piece& piece, std::uint32_t at, bool own) {
  const std::span<const Arena::Derived> log = own ? arena_.sorted_derived() : template_.arena.sorted_derived();
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(piece.data));
  Rest rest{piece.data, piece.data + piece.size, first_record(log, piece.data, own ? record_ : log.size()), at - low};
  append_near(log, rest);
  while (rest.next < rest.end) {
    const char* const begin = rest.next;
    Span* const span = add_empty();
    if (rest.record < log.size() && log[rest.record].begin <= begin) {
      const Arena::Derived& record = log[rest.record++];
      rest.next = std::min(rest.end, record.begin + record.size);
      describe(record.source(), {begin, static_cast<std::size_t>(rest.next - begin)}, *span);
      if (own && span->origin == Origin::literal) span->input_id = kMixedSource;
    } else {  // between records stand the engine's own bytes
      rest.next = rest.record < log.size() ? std::min(rest.end, log[rest.record].begin) : rest.end;
      if (!own && !template_.arena.holds_text(piece.data)) span->input_id = kProgramSource;
    }
    span->begin = rest.at(begin);
    span->end = rest.at(rest.next);
    if (span->origin == Origin::derived) append_near(log, rest);
  }
  if (own) record_ = rest.record;
}

/// What SpanMaker::append_derived cannot say at once.
void Provenance::append_from_afar(const char* base, const char* begin, const char* end, TextSource source) {
  Span* const span = add_empty();
  describe(source, {begin, static_cast<std::size_t>(end - begin)}, *span);
  if (span->origin == Origin::literal) span->input_id = kMixedSource;
  span->begin = static_cast<std::uint32_t>(begin - base);
  span->end = static_cast<std::uint32_t>(end - base);
}

void Provenance::append_input(const Piece& piece, std::uint32_t at, std::int32_t message) {
  const char* const stopped = last_end_;
  last_end_ = piece.data + piece.size;
  if (stopped == piece.data && count() != 0) {  // side by side in the input: one span
    Span& last = next_[-1];
    if (last.end == at && last.origin == Origin::input) {
      last.end += piece.size;
      return;
    }
  }
  const bool control = message < 0 && special_tokens_.cover(piece.data);
  *add() = {at, at + piece.size, Origin::input, control, message, 0, 0, piece.data};
}

namespace {
/// A constant's span, moved to where the constant stands: both its ends are moved by one addition. All that is written
/// comes from registers: changing some after copying all would wait for the copy.
inline void copy_moved(Span* to, const Span& constant, std::uint32_t at) {
  static_assert(std::is_trivially_copyable_v<Span> && offsetof(Span, begin) == 0 && offsetof(Span, end) == 4);
  constexpr std::size_t kRest = sizeof(std::uint64_t);
  const auto* const from = reinterpret_cast<const char*>(&constant);
  auto* const span = reinterpret_cast<char*>(to);
  std::uint64_t ends;
  std::memcpy(&ends, from, kRest);
  ends += at * std::uint64_t{0x1'0000'0001};
  std::memcpy(span, &ends, kRest);
  std::memcpy(span + kRest, from + kRest, sizeof(Span) - kRest);
}
}  // namespace

// In the order of frequency. The ranges do not overlap, so the order is only speed: except that a constant known as a
// whole comes first, since it may have several spans.
void Provenance::append_spans(const Piece& piece, std::uint32_t at) {
  if (const std::span<const Span> known = template_.literals.of(piece); !known.empty()) {
    for (const Span& constant : known) {
      copy_moved(add(), constant, at);
    }
  } else if (near_.hold(reinterpret_cast<std::uintptr_t>(piece.data))) {
    append_input(piece, at, near_.message);
  } else if (in_template(piece.data)) {
    Span* const span = add_empty();
    describe_literal(piece.data, *span);
    span->begin = at;
    span->end = at + piece.size;
    span->control = looks_like_control({piece.data, piece.size});
  } else if (storage_.neighbours(messages_, piece.data, near_)) {
    append_input(piece, at, near_.message);
  } else if (arena_.holds_text(piece.data)) {
    append_derived(piece, at, true);
  } else if (std::int32_t message = -1;
             !template_.arena.holds_text(piece.data) && find_place(conversation_, piece.data, message)) {
    append_input(piece, at, message);
  } else {
    append_derived(piece, at, false);
  }
}

/// Is it of the document? Its message is known from the last piece, or looked for now.
[[gnu::always_inline]] inline bool Provenance::find_message(const char* data) {
  return near_.hold(reinterpret_cast<std::uintptr_t>(data)) || storage_.neighbours(messages_, data, near_);
}

/// Most pieces are constants of one span, or stand in a message: those are added here. What the loop needs is in
/// variables of its own, since text that is written could be anything.
char* Provenance::copy_all(std::span<const Piece> pieces, const char* text, char* to) {
  const std::span<const Span> constants = template_.literals.only();
  const std::string_view derived = arena_.first_text();
  Span* span = next_;
  const Span* end = end_;
  for (const Piece& next : pieces) {
    const Piece piece = next;
    const auto at = static_cast<std::uint32_t>(to - text);
    copy_bytes(to, piece.data, piece.size);
    to += piece.size;
    const Span& constant = constants[piece.literal < constants.size() ? piece.literal : 0];
    if (constant.end == piece.size && span != end) {
      copy_moved(span++, constant, at);
      continue;
    }
    const bool is_derived = static_cast<std::size_t>(piece.data - derived.data()) < derived.size();
    const bool is_input = !is_derived && find_message(piece.data);
    if (is_input && near_.message >= 0 && last_end_ != piece.data && span != end) {
      put_span(span++, at, at + piece.size, Origin::input, near_.message, 0, piece.data);
      last_end_ = piece.data + piece.size;
      continue;
    }
    next_ = span;
    if (is_derived)
      append_derived(next, at, true);
    else if (is_input)
      append_input(next, at, near_.message);
    else
      append_spans(next, at);
    span = next_;
    end = end_;
  }
  next_ = span;
  return to;
}

}  // namespace parlance
