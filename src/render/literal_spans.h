// LiteralSpans: the spans of a template's constants, worked out once for all its renders.
//
// A piece of output that is a constant has the same spans in every render, moved to where it stands. Which one it is,
// one more than its number, stands in Value::extra and Piece::literal, and follows it through concatenations.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.h"
#include "parlance/render.h"
#include "parlance/value.h"
#include "value/object.h"

namespace parlance {

/// Immutable once made, so any number of threads may use it.
class LiteralSpans {
 public:
  LiteralSpans() = default;
  /// `text` and `arena` hold the template's source and what the compiler made of it.
  LiteralSpans(std::span<const Value> constants, std::string_view text, const Arena& arena);

  /// The spans of a piece, as if it stood at 0; empty if it is not a constant as a whole.
  std::span<const Span> of(const Piece& piece) const {
    const Place& place = places_[row(piece)];
    const std::span<const Span> spans(spans_.data() + place.first, place.count);
    return spans.empty() || spans.back().end != piece.size ? std::span<const Span>() : spans;
  }
  /// By Piece::literal, the same where it is one span only, as it mostly is: a span that ends elsewhere than the piece
  /// if it is not.
  std::span<const Span> only() const { return only_; }

 private:
  struct Place {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// Go's values note something else there.
  std::size_t row(const Piece& piece) const { return piece.literal < only_.size() ? piece.literal : 0; }

  // By Piece::literal, with 0 for what is no constant.
  std::vector<Place> places_ = std::vector<Place>(1);
  std::vector<Span> only_ = std::vector<Span>(1);
  std::vector<Span> spans_;
};

}  // namespace parlance
