// TextTarget: the prompt itself, for writers that make much text which is to be emitted at once: they write straight
// into it, and its spans are made while they do. Nothing is copied, and nothing is looked for afterwards.
//
// Implemented by Output (engine/output.h) and Provenance (render/provenance.h). Begin reading at TextTarget::open.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/arena.h"
#include "json/document.h"
#include "parlance/span.h"
#include "value/runtime.h"

namespace parlance {

/// Writes a span that is no literal, word by word: field by field it would be eight stores, and there are many spans.
inline void put_span(Span* to, std::uint32_t begin, std::uint32_t end, Origin origin, std::int32_t message,
                     std::uint32_t id, const char* input) {
  static_assert(sizeof(Span) == 32 && offsetof(Span, origin) == 8 && offsetof(Span, message) == 12 &&
                offsetof(Span, input_id) == 20 && offsetof(Span, input) == 24);
  if constexpr (std::endian::native != std::endian::little || sizeof input != 8) {
    *to = {begin, end, origin, false, message, 0, id, input};
  } else {
    const auto put = [to](std::size_t at, std::uint64_t low, std::uint64_t high) {
      const std::uint64_t word = low | high << 32;
      std::memcpy(reinterpret_cast<char*>(to) + at, &word, sizeof word);
    };
    put(0, begin, end);
    put(8, static_cast<std::uint64_t>(origin), static_cast<std::uint32_t>(message));
    put(16, 0, id);
    put(24, reinterpret_cast<std::uintptr_t>(input), 0);
  }
}

/// Makes spans in the order of the prompt.
class SpanMaker {
 public:
  SpanMaker(const SpanMaker&) = delete;
  /// Appends the span of bytes [begin, end) of the text at `base`, made from `source`; both zero: computed.
  void append_derived(const char* base, const char* begin, const char* end, TextSource source) {
    if (!append_near(base, begin, end, source)) append_from_afar(base, begin, end, source);
  }
  /// The same where the source is near those that were asked about last. False, and nothing is appended, if it is not.
  bool append_near(const char* base, const char* begin, const char* end, TextSource source) {
    const bool by_id = source.data == nullptr;
    const DocumentStorage::Neighbours& near = by_id ? near_id_ : near_;
    if (next_ == end_ || !near.hold(by_id ? source.id : reinterpret_cast<std::uintptr_t>(source.data))) return false;
    put_span(next_++, static_cast<std::uint32_t>(begin - base), static_cast<std::uint32_t>(end - base), Origin::derived,
             near.message, source.id, source.data);
    return true;
  }
  /// The same for what is made from the number or container with this id.
  bool append_near(const char* base, const char* begin, const char* end, std::uint32_t id) {
    Span* const at = next_;
    if (at == end_ || !near_id_.hold(id)) return false;
    next_ = at + 1;
    put_span(at, static_cast<std::uint32_t>(begin - base), static_cast<std::uint32_t>(end - base), Origin::derived,
             near_id_.message, id, nullptr);
    return true;
  }
  /// Appends the spans of an item of a container: of [begin, middle), which is from the container with this id, and of
  /// [middle, end), which is from the text at `data`. False, and nothing is appended, where both are not near.
  bool append_item(const char* base, const char* begin, const char* middle, const char* end, std::uint32_t id,
                   const char* data) {
    Span* const at = next_;
    const bool is_near = near_id_.hold(id) && near_.hold(reinterpret_cast<std::uintptr_t>(data));
    if (!is_near || end_ - at < 2) return false;
    const auto cut = static_cast<std::uint32_t>(middle - base);
    const std::int32_t container = near_id_.message, text = near_.message;
    next_ = at + 2;
    put_span(at, static_cast<std::uint32_t>(begin - base), cut, Origin::derived, container, id, nullptr);
    put_span(at + 1, cut, static_cast<std::uint32_t>(end - base), Origin::derived, text, 0, data);
    return true;
  }
  /// Copies pieces to the place `at` of the text that begins at `text`, and appends their spans. Returns where they
  /// end. Only where the arena's log is sorted.
  virtual char* copy_all(std::span<const Piece> pieces, const char* text, char* at) = 0;

 protected:
  SpanMaker() = default;
  ~SpanMaker() = default;
  virtual void append_from_afar(const char* base, const char* begin, const char* end, TextSource source) = 0;

  // The stretches of input looked at last: neighbours in the prompt are mostly neighbours in the input.
  DocumentStorage::Neighbours near_;
  DocumentStorage::Neighbours near_id_;
  Span* next_ = nullptr;  ///< where the next span goes
  Span* end_ = nullptr;   ///< where there is no room left
};

/// Text that only grows.
class TextTarget {
 public:
  TextTarget(const TextTarget&) = delete;
  /// Asked before writing: may it be written to now? Until close() nobody else emits, and nobody makes text in the
  /// arena.
  virtual bool open(Runtime& rt) = 0;
  /// Makes room for `bytes` behind `at`, which is how far it was written. False (recorded) where that is past the
  /// limit; room may be asked for past it, to be sure.
  virtual bool extend(Runtime& rt, char* at, std::size_t bytes) = 0;
  virtual void close(Runtime& rt, char* at) = 0;
  /// The whole text, where to go on, and where the room ends. Anew after each extend().
  char* begin() const { return begin_; }
  char* at() const { return at_; }
  char* end() const { return begin_ + capacity_; }
  /// Who is to know where the bytes come from; null: nobody.
  SpanMaker* spans() const { return spans_; }

 protected:
  TextTarget() = default;
  ~TextTarget() = default;

  char* begin_ = nullptr;
  char* at_ = nullptr;
  std::size_t capacity_ = 0;
  SpanMaker* spans_ = nullptr;
};

}  // namespace parlance
