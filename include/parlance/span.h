// Spans: where the bytes of a prompt came from.
#pragma once
#include <cstdint>
#include <string_view>

namespace parlance {

/// Where bytes came from.
enum class Origin : std::uint8_t {
  literal,   ///< text of the template itself
  input,     ///< bytes of the input, unchanged
  derived,   ///< made from the input: JSON escapes, changed case, a printed number
  computed,  ///< made by the template alone: loop.index, True
};
std::string_view origin_name(Origin origin);

/// Bytes [begin, end) of the prompt that came from one place. The spans of a rendering cover it without gaps, in order.
/// It is small: place_of_span and path_of_span compute line, column and path on demand.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Origin origin = Origin::computed;
  bool control = false;              ///< a literal shaped like a control token (<|…|>), or a special-token variable
  std::int32_t message = -1;         ///< index of the message to which the bytes belong; -1 for none
  std::uint32_t template_begin = 0;  ///< literal: byte offset in the template's text
  /// Derived from a number or container: its origin id. The three highest ids have meanings of their own:
  /// * the bytes were made from more than the place named here, as a filter makes them during a render;
  /// * the bytes are a printed number that the template computed;
  /// * the bytes are a constant of parlance.
  std::uint32_t input_id = 0;
  alignas(8) const char* input = nullptr;  ///< input, derived: an address that Conversation knows
};

/// Half-open byte range of the prompt.
struct TextRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

}  // namespace parlance
