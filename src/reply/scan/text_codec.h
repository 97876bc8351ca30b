// Small codecs: JSON's escapes away and on, entities away, and where UTF-8 may be cut.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace parlance::reply {

using ascii::is_blank;
using ascii::trimmed;
using ascii::trimmed_left;
inline bool is_json_space(char c) { return ascii::is_space(c); }
inline constexpr std::array<bool, 256> kPlainInJson = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x80; ++c) plain[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
  return plain;
}();
/// Whether a byte goes on a JSON string and stands for itself, whatever is around it.
inline bool is_plain(char c) { return kPlainInJson[static_cast<unsigned char>(c)]; }
/// White space past this belongs to no marker and to no value.
inline constexpr std::uint8_t kLongestGap = 64;
/// Whether a name of a tool may have this byte.
bool may_be_in_name(char c);
/// Whether a text between two markers (an id, a key) may have this byte.
inline bool may_be_in_text(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '<' && c != 0x7F; }
/// The words of a marker: between two of them any white space may stand, or none. That is so where it has white space
/// inside, and between two tags.
std::vector<std::string_view> soft_words(std::string_view marker);

/// How many bytes at the end of `text` begin a UTF-8 sequence that is not whole: at most 3.
std::size_t incomplete_tail(std::string_view text);

/// Appends a code point as it stands in a JSON string. Surrogates become \udXXX.
void append_json_char(std::string& out, char32_t c);

/// Takes the escapes out of the inside of a JSON string that a JsonScanner has found to be one. Surrogates without a
/// partner stay escapes.
class JsonUnescape {
 public:
  void feed(char c, std::string& out);
  /// At the end of the string.
  void finish(std::string& out);

 private:
  void take(char32_t unit, std::string& out);

  std::uint8_t left_ = 0;  ///< hex digits to come
  bool escape_ = false;
  std::uint32_t unit_ = 0;
  std::uint32_t high_ = 0;  ///< a high surrogate that may find its partner
};

/// No entity is longer, "&" and ";" included.
inline constexpr std::size_t kLongestEntity = 10;
/// What stands for `entity`, which is "&…;", or "".
std::string text_of_entity(std::string_view entity);
/// With what stands for each entity; what is none stays as it is.
std::string without_entities(std::string_view text);

/// The text of a JSON string that is written as `literal`, quotes included.
std::string text_of_json(std::string_view literal);

}  // namespace parlance::reply
