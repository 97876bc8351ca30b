// The parts of utf8.h that look at whole strings, eight bytes at a step where it pays.
//
// A word holds eight bytes; its byte lanes are tested and added in parallel ("SWAR"), which is
// portable, needs no compiler flags and does not depend on byte order.
// Leans on utf8.h. Begin reading at continuation_lanes, then count.

#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace parlance::utf8 {
namespace {

constexpr size_t kWordSize = sizeof(uint64_t);
constexpr uint64_t kLaneOnes = 0x0101010101010101;
constexpr uint64_t kLaneHighBits = 0x8080808080808080;
// A byte lane can be added to this often before it overflows.
constexpr size_t kLaneCapacity = 255;

uint64_t load_word(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, kWordSize);
  return word;
}

/// One in each lane whose byte is a continuation byte (0b10xxxxxx).
uint64_t continuation_lanes(uint64_t word) { return word >> 7 & ~word >> 6 & kLaneOnes; }

/// The sum of lanes that may each be as large as kLaneCapacity.
size_t add_lanes(uint64_t lanes) {
  constexpr uint64_t kEvenLanes = 0x00FF00FF00FF00FF;
  const uint64_t pairs = (lanes & kEvenLanes) + (lanes >> 8 & kEvenLanes);
  return static_cast<size_t>(pairs * 0x0001000100010001 >> 48);
}

size_t count_continuations(const char* p, const char* end) {
  size_t found = 0;
  for (; p < end; ++p) found += is_continuation(*p);
  return found;
}

}  // namespace

size_t count(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  size_t continuations = 0;
  for (size_t words = text.size() / kWordSize; words > 0;) {
    const size_t batch = std::min(words, kLaneCapacity);
    uint64_t lanes = 0;
    for (size_t i = 0; i < batch; ++i) lanes += continuation_lanes(load_word(p + i * kWordSize));
    continuations += add_lanes(lanes);
    p += batch * kWordSize;
    words -= batch;
  }
  return text.size() - continuations - count_continuations(p, end);
}

size_t offset_of(std::string_view text, size_t n) {
  if (n == 0) return 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  for (; static_cast<size_t>(end - p) >= kWordSize; p += kWordSize) {
    const size_t continuations = continuation_lanes(load_word(p)) * kLaneOnes >> 56;
    const size_t starts = kWordSize - continuations;
    if (n < starts) break;
    n -= starts;
  }
  for (; p < end; ++p) {
    if (!is_continuation(*p) && n-- == 0) break;
  }
  return static_cast<size_t>(p - begin);
}

size_t ascii_prefix(std::string_view text) {
  constexpr size_t kStep = 4 * kWordSize;
  const char* const p = text.data();
  size_t i = 0;
  for (; text.size() - i >= kStep; i += kStep) {
    const uint64_t any = load_word(p + i) | load_word(p + i + kWordSize) | load_word(p + i + 2 * kWordSize) |
                         load_word(p + i + 3 * kWordSize);
    if (any & kLaneHighBits) break;
  }
  while (text.size() - i >= kWordSize && !(load_word(p + i) & kLaneHighBits)) i += kWordSize;
  while (i < text.size() && static_cast<uint8_t>(p[i]) < 0x80) ++i;
  return i;
}

bool is_ascii(std::string_view text) { return ascii_prefix(text) == text.size(); }

Validity validity(std::string_view text) {
  Validity result = Validity::valid;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (true) {
    p += ascii_prefix({p, static_cast<size_t>(end - p)});
    if (p == end) return result;
    do {
      const Decoded next = decode(p, end);
      if (next.size == 1) return Validity::malformed;
      if (is_surrogate(next.code_point)) result = Validity::has_surrogates;
      p += next.size;
    } while (p < end && static_cast<uint8_t>(*p) >= 0x80);
  }
}

bool is_valid(std::string_view text, bool allow_surrogates) {
  const Validity found = validity(text);
  return found == Validity::valid || (allow_surrogates && found == Validity::has_surrogates);
}

bool has_surrogates(std::string_view text) {
  // Surrogates are the sequences ED A0..BF xx; no other sequence contains the byte ED.
  for (size_t i = text.find('\xED'); i != std::string_view::npos; i = text.find('\xED', i + 1)) {
    const Decoded found = decode(text.data() + i, text.data() + text.size());
    if (is_surrogate(found.code_point)) return true;
  }
  return false;
}

std::string repair(std::string_view text) {
  std::string out;
  const char* const end = text.data() + text.size();
  const char* copied = text.data();
  for (const char* p = copied; p < end;) {
    const Decoded next = decode(p, end);
    if (next.size == 1 && next.code_point == kReplacement) {
      out.append(copied, p);
      append(out, kReplacement);
      copied = p + 1;
    }
    p += next.size;
  }
  out.append(copied, end);
  return out;
}

}  // namespace parlance::utf8
