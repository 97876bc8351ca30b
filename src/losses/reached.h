// Reached: which bytes and values of the input a prompt has, asked the other way round than spans tell it.
//
// A span says where bytes of the prompt came from. A search for losses asks of each text in the request whether any
// span came from it; so the inputs of all spans are sorted by address once, and each question is a binary search.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parlance/render.h"

namespace parlance {

class Reached {
 public:
  /// Takes the addresses and ids out of the spans of a prompt; they must be of the conversation whose values are asked
  /// for. Lifetime: that of both.
  void take(std::span<const Span> spans, std::string_view prompt);

  /// Does the prompt have any of these bytes, unchanged or as what was made of them?
  bool any_of(std::string_view text) const;
  /// Bytes of a text that the prompt does not have, white space around them aside.
  struct Gap {
    std::size_t begin, end;
  };
  /// All of them, in their order. Of what was made of the text, as a filter makes it, letters and digits are compared:
  /// from the first that is missing all counts as missing.
  std::vector<Gap> gaps(std::string_view text) const;
  /// Was a text printed in pieces, with something else between them?
  bool is_scattered(std::string_view text) const;
  /// Was the value with this origin id printed?
  bool has(std::uint32_t origin) const;
  /// Was the container with this origin id printed as Python writes it, {'a': …}? JSON has no such quotes.
  bool has_as_python(std::uint32_t origin) const;

 private:
  /// How a filter may have written characters otherwise.
  enum class Escapes : std::uint8_t {
    none,
    json,    ///< \u00e9
    percent  ///< %C3%A9, as in a URL
  };
  class Signs;
  struct Range {
    const char* begin;
    const char* end;
    bool derived;  ///< `begin` was the source of something; how much of what follows is not known
    TextRange prompt;
  };
  std::vector<Gap> gaps_between(std::string_view text, std::size_t range) const;
  bool is_whole(std::string_view text) const;
  std::size_t first_missing(std::string_view text, Escapes escapes) const;

  std::span<const Span> spans_;
  std::string_view prompt_;
  std::vector<Range> printed_;             ///< by address, as they were printed; empty where nothing is derived
  std::vector<Range> ranges_;              ///< by address, apart from each other
  std::vector<std::uint32_t> ids_;         ///< sorted
  std::vector<std::uint32_t> python_ids_;  ///< sorted: of containers
};

}  // namespace parlance
