// UTF-8 as a str. CPython's own decoder begins with bytes for each character and copies all of it again for each wider
// one that it meets; a prompt of a megabyte with one emoji takes it longer than the prompt took to render.
//
// Begin reading at text_to_python.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "gil.h"
#include "objects.h"

namespace parlance::python {

namespace {

/// Raises UnicodeDecodeError where it is not UTF-8, if `errors` does.
nb::str decoded_by_python(std::string_view text, const char* errors) {
  PyObject* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), errors);
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

/// A character, and how many bytes it takes; 0 bytes where there is none.
struct Character {
  Py_UCS4 value = 0;
  std::ptrdiff_t size = 0;
};

/// The character that begins here, which is not ASCII. Lone surrogates are characters; all else is as UTF-8 has it.
inline Character character_at(const unsigned char* p, const unsigned char* end) {
  const Py_UCS4 first = *p;
  const std::ptrdiff_t left = end - p;
  const auto is_next = [p](int i) { return (p[i] & 0xC0) == 0x80; };
  const auto bits = [p](int i) { return static_cast<Py_UCS4>(p[i] & 0x3F); };
  if (first >= 0xE0 && first < 0xF0) {
    if (left < 3 || !is_next(1) || !is_next(2)) return {};
    const Py_UCS4 value = (first & 0x0F) << 12 | bits(1) << 6 | bits(2);
    return {value, value < 0x800 ? 0 : 3};
  }
  if (first < 0xE0) {
    if (first < 0xC2 || left < 2 || !is_next(1)) return {};
    return {(first & 0x1F) << 6 | bits(1), 2};
  }
  if (left < 4 || !is_next(1) || !is_next(2) || !is_next(3)) return {};
  const Py_UCS4 value = (first & 0x0F) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3);
  return {value, value < 0x10000 || value > 0x10FFFF ? 0 : 4};
}

#ifndef Py_LIMITED_API

/// How many characters a text has, and the first byte of the largest.
struct Extent {
  std::size_t characters = 0;
  unsigned char largest = 0;
};

/// Sixteen bytes at once, in instructions that each processor has.
using Bytes = unsigned char __attribute__((vector_size(16)));

Extent extent_of(std::string_view text) {
  constexpr std::size_t kBlock = 255 * sizeof(Bytes);  // whose counts fit into bytes
  Extent extent;
  Bytes largest{};
  std::size_t at = 0;
  while (text.size() - at >= sizeof(Bytes)) {
    Bytes count{};
    const std::size_t end = at + std::min(text.size() - at, kBlock) / sizeof(Bytes) * sizeof(Bytes);
    for (; at < end; at += sizeof(Bytes)) {
      Bytes block;
      std::memcpy(&block, text.data() + at, sizeof block);
      count -= reinterpret_cast<Bytes>((block & 0xC0) != 0x80);  // true is -1
      largest = block > largest ? block : largest;
    }
    for (std::size_t i = 0; i < sizeof(Bytes); ++i) extent.characters += count[i];
  }
  for (std::size_t i = 0; i < sizeof(Bytes); ++i) extent.largest = std::max(extent.largest, largest[i]);
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    extent.characters += (byte & 0xC0) != 0x80;
    extent.largest = std::max(extent.largest, byte);
  }
  return extent;
}

Py_UCS4 largest_character(unsigned char first_byte) {
  if (first_byte < 0x80) return 0x7F;
  if (first_byte < 0xC4) return 0xFF;
  return first_byte < 0xF0 ? 0xFFFF : 0x10FFFF;
}

constexpr std::ptrdiff_t kStep = 16;

/// Of ASCII. The two do not overlap, which the compiler has to know to do it in a few instructions.
template <typename Unit>
void widen_step(const unsigned char* __restrict from, Unit* __restrict to) {
  for (std::ptrdiff_t i = 0; i < kStep; ++i) to[i] = from[i];
}

/// Writes the characters of three bytes, such as Chinese, that stand here one behind the other. Whatever else stands
/// there is left, also where it is not UTF-8.
template <typename Unit>
void write_run_of_three(const unsigned char*& p, const unsigned char* end, Unit*& out) {
  while (end - p >= 3) {
    const std::uint32_t bytes = static_cast<std::uint32_t>(p[0]) << 16 | static_cast<std::uint32_t>(p[1]) << 8 | p[2];
    const std::uint32_t value = (bytes >> 4 & 0xF000) | (bytes >> 2 & 0xFC0) | (bytes & 0x3F);
    if ((bytes & 0xF0C0C0) != 0xE08080 || value < 0x800) return;
    *out++ = static_cast<Unit>(value);
    p += 3;
  }
}

/// Writes as many characters as the text has leading bytes; false where it is not UTF-8.
template <typename Unit>
bool write_characters(std::string_view text, Unit* out) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    while (end - p >= kStep) {
      std::uint64_t halves[2];
      std::memcpy(halves, p, sizeof halves);
      if (((halves[0] | halves[1]) & 0x8080808080808080u) != 0) break;
      widen_step(p, out);
      p += kStep;
      out += kStep;
    }
    // What is not ASCII seldom stands alone.
    for (const auto* const until = p + std::min(end - p, kStep); p < until;) {
      if constexpr (sizeof(Unit) > 1) write_run_of_three(p, end, out);
      if (p >= until) break;
      const Character next = *p < 0x80 ? Character{*p, 1} : character_at(p, end);
      if (next.size == 0) return false;
      p += next.size;
      *out++ = static_cast<Unit>(next.value);
    }
  }
  return true;
}

bool write_into(PyObject* made, std::string_view text, unsigned char largest) {
  if (largest < 0x80) {
    std::memcpy(PyUnicode_1BYTE_DATA(made), text.data(), text.size());
    return true;
  }
  switch (PyUnicode_KIND(made)) {
    case PyUnicode_1BYTE_KIND: return write_characters(text, PyUnicode_1BYTE_DATA(made));
    case PyUnicode_2BYTE_KIND: return write_characters(text, PyUnicode_2BYTE_DATA(made));
    default: return write_characters(text, PyUnicode_4BYTE_DATA(made));
  }
}

/// Mostly decided by the first bytes of what is not.
bool is_ascii(std::string_view text) {
  constexpr std::size_t kWords = 4, kBlock = kWords * sizeof(std::uint64_t);
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (; static_cast<std::size_t>(end - p) >= kBlock; p += kBlock) {
    std::uint64_t words[kWords];
    std::memcpy(words, p, kBlock);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) return false;
  }
  unsigned char rest = 0;
  for (; p < end; ++p) rest |= static_cast<unsigned char>(*p);
  return rest < 0x80;
}

nb::object new_str(std::size_t characters, Py_UCS4 largest) {
  nb::object made = nb::steal(PyUnicode_New(static_cast<Py_ssize_t>(characters), largest));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

/// An invalid object where the text is not UTF-8. `lets_go` of the GIL: a str that nobody else has is written without.
nb::object decoded(std::string_view text, bool lets_go) {
  const Extent extent = is_ascii(text) ? Extent{text.size(), 0} : extent_of(text);
  nb::object made = new_str(extent.characters, largest_character(extent.largest));
  std::optional<GilRelease> release;
  if (lets_go) release.emplace();
  const bool is_whole = write_into(made.ptr(), text, extent.largest);
  release.reset();
  if (!is_whole) made.reset();
  return made;
}

#endif

/// With U+FFFD for each byte that is in no character, as ReplyMessage::to_json has it.
std::string repaired(std::string_view text) {
  std::string made;
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    const std::ptrdiff_t size = *p < 0x80 ? 1 : character_at(p, end).size;
    made.append(size == 0 ? "\xEF\xBF\xBD"
                          : std::string_view(reinterpret_cast<const char*>(p), static_cast<std::size_t>(size)));
    p += size == 0 ? 1 : size;
  }
  return made;
}

}  // namespace

nb::str exact_text_to_python(std::string_view text, [[maybe_unused]] bool is_constant) {
#ifndef Py_LIMITED_API
  constexpr std::size_t kLarge = std::size_t{256} << 10;  // copying it takes longer than waiting for the GIL
  // A shorter text may be one that Python keeps.
  constexpr std::size_t kLeast = 16;
  const nb::object made = text.size() < kLeast ? nb::object() : decoded(text, is_constant && text.size() >= kLarge);
  if (made.is_valid()) return nb::borrow<nb::str>(made);
#endif
  return decoded_by_python(text, "surrogatepass");
}

nb::str text_to_python(std::string_view text) {
  try {
    return exact_text_to_python(text);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_UnicodeDecodeError)) throw;
    return decoded_by_python(repaired(text), "surrogatepass");
  }
}

}  // namespace parlance::python
