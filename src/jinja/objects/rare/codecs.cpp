// Encodings by table: a row says how wide a unit is and what fits, one walk does the rest.
//
// Begin reading at kCodecs. Error handlers are applied in one place for each direction.
#include "jinja/objects/rare/codecs.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "value/format_parts.h"

namespace parlance::jinja {
namespace {

// ---- which encoding

enum class Form : std::uint8_t { utf8, single, cp1252, utf16, utf32 };

struct Codec {
  std::string_view names;  ///< as normalised() gives them, separated by blanks
  std::string_view shown;  ///< as CPython's messages name it
  Form form;
  char32_t limit;           ///< code points below it fit
  std::string_view reason;  ///< why others do not
  bool big_endian = false;
  bool mark = false;  ///< a byte order mark is written, and read
};

constexpr std::string_view kSurrogate = "surrogates not allowed";
constexpr std::string_view kUnmapped = "character maps to <undefined>";
constexpr char32_t kAll = utf8::kMaxCodePoint + 1;

constexpr std::array<Codec, 11> kCodecs = {{
    {"utf_8 utf8 u8 utf utf8_ucs2 utf8_ucs4 cp65001", "utf-8", Form::utf8, kAll, kSurrogate},
    {"ascii 646 ansi_x3.4_1968 ansi_x3_4_1968 ansi_x3.4_1986 cp367 csascii ibm367 iso646_us "
     "iso_646.irv_1991 iso_ir_6 us us_ascii",
     "ascii", Form::single, 0x80, "ordinal not in range(128)"},
    {"latin_1 8859 cp819 csisolatin1 ibm819 iso8859 iso8859_1 iso_8859_1 iso_8859_1_1987 "
     "iso_ir_100 "
     "l1 latin latin1",
     "latin-1", Form::single, 0x100, "ordinal not in range(256)"},
    {"cp1252 1252 windows_1252", "charmap", Form::cp1252, kAll, kUnmapped},
    {"utf_8_sig", "utf-8", Form::utf8, kAll, kSurrogate, false, true},
    {"utf_16 utf16 u16", "utf-16", Form::utf16, kAll, kSurrogate, false, true},
    {"utf_16_le utf_16le unicodelittleunmarked", "utf-16-le", Form::utf16, kAll, kSurrogate},
    {"utf_16_be utf_16be unicodebigunmarked", "utf-16-be", Form::utf16, kAll, kSurrogate, true},
    {"utf_32 utf32 u32", "utf-32", Form::utf32, kAll, kSurrogate, false, true},
    {"utf_32_le utf_32le", "utf-32-le", Form::utf32, kAll, kSurrogate},
    {"utf_32_be utf_32be", "utf-32-be", Form::utf32, kAll, kSurrogate, true},
}};

/// Lower case, and one '_' for each run of other signs between letters, digits and dots.
std::string normalised(std::string_view name) {
  std::string out;
  bool gap = false;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
      if (gap && !out.empty()) out += '_';
      gap = false;
      out += c;
    } else {
      gap = true;
    }
  }
  return out;
}

const Codec* find_codec(const Call& call, std::string_view name) {
  const std::string wanted = " " + normalised(name) + " ";
  for (const Codec& row : kCodecs) {
    if ((" " + std::string(row.names) + " ").find(wanted) != std::string::npos) return &row;
  }
  call.fail(ErrorCode::lookup, "unknown encoding: " + std::string(name));
  return nullptr;
}

/// cp1252 from 0x80 to 0x9F; 0 where it has nothing. Elsewhere it is Latin-1.
constexpr std::array<char16_t, 32> kCp1252 = {0x20AC, 0,      0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                              0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0,      0x17D,  0,
                                              0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                              0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0,      0x17E,  0x178};

/// The byte for a character, or -1.
int cp1252_byte(char32_t c) {
  if (c < 0x80 || (c >= 0xA0 && c < 0x100)) return static_cast<int>(c);
  const auto at = std::find(kCp1252.begin(), kCp1252.end(), c);
  return at == kCp1252.end() || c == 0 ? -1 : static_cast<int>(0x80 + (at - kCp1252.begin()));
}

bool fits(const Codec& codec, char32_t c) {
  if (codec.form == Form::cp1252) return cp1252_byte(c) >= 0;
  return c < codec.limit && !utf8::is_surrogate(c);
}

// ---- encoding

void put_unit(const Codec& codec, std::uint32_t unit, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(unit >> 8 * (codec.big_endian ? bytes - 1 - i : i));
  }
}

/// A character that fits, or a surrogate that shall pass.
void put(const Codec& codec, char32_t c, std::string& out) {
  switch (codec.form) {
    case Form::utf8: utf8::append(out, c); return;
    case Form::single: out += static_cast<char>(c); return;
    case Form::cp1252: out += static_cast<char>(cp1252_byte(c)); return;
    case Form::utf32: put_unit(codec, c, 4, out); return;
    case Form::utf16: break;
  }
  if (c < 0x10000) return put_unit(codec, c, 2, out);
  put_unit(codec, 0xD800 + ((c - 0x10000) >> 10), 2, out);
  put_unit(codec, 0xDC00 + (c & 0x3FF), 2, out);
}

std::string backslashed(char32_t c) {
  const std::string digits = hex_digits(c);
  const std::size_t width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  const std::string_view mark = c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U";
  return std::string(mark) + std::string(width - digits.size(), '0') + digits;
}

/// CPython's but for `namereplace`: the names of characters are not known here.
constexpr std::array<std::string_view, 7> kHandlers = {
    "strict", "ignore", "replace", "xmlcharrefreplace", "backslashreplace", "surrogatepass", "surrogateescape"};

bool is_handler(const Call& call, std::string_view name) {
  if (std::find(kHandlers.begin(), kHandlers.end(), name) != kHandlers.end()) return true;
  call.fail(ErrorCode::lookup, "unknown error handler name '" + std::string(name) + "'");
  return false;
}

bool is_wide(const Codec& codec) { return codec.form == Form::utf16 || codec.form == Form::utf32; }

/// What error handler `errors` writes for a character that does not fit; false if it refuses.
bool handle_unencodable(const Codec& codec, std::string_view errors, char32_t c, std::string& out) {
  std::string instead;
  if (errors == "replace") instead = "?";
  if (errors == "xmlcharrefreplace") instead = "&#" + std::to_string(std::uint32_t{c}) + ";";
  if (errors == "backslashreplace") instead = backslashed(c);
  for (char each : instead) put(codec, static_cast<char32_t>(each), out);
  if (!instead.empty() || errors == "ignore") return true;
  if (errors == "surrogatepass" && (is_wide(codec) || codec.form == Form::utf8)) return put(codec, c, out), true;
  if (errors == "surrogateescape" && c >= 0xDC80 && c <= 0xDCFF && !is_wide(codec))
    return out += static_cast<char>(c - 0xDC00), true;
  return false;
}

/// The characters from `at` on that do not fit, which CPython's message shows as one range.
void fail_encode(const Call& call, const Codec& codec, std::string_view text, std::size_t at) {
  const char* const end = text.data() + text.size();
  const char32_t first = utf8::decode(text.data() + at, end).code_point;
  std::size_t count = 0;
  for (std::size_t stop = at; stop < text.size(); ++count) {
    const auto [c, size] = utf8::decode(text.data() + stop, end);
    if (fits(codec, c)) break;
    stop += size;
  }
  const std::size_t index = utf8::count(text.substr(0, at));
  std::string message = "'" + std::string(codec.shown) + "' codec can't encode character";
  if (count == 1) {
    message += " '" + backslashed(first) + "' in position " + std::to_string(index);
  } else {
    message += "s in position " + std::to_string(index) + "-" + std::to_string(index + count - 1);
  }
  call.fail(ErrorCode::unicode_encode, message + ": " + std::string(codec.reason));
}

// ---- decoding

/// What stands at one place: a character, or so many bytes that are none.
struct Found {
  char32_t character = 0;
  std::size_t size = 0;
  std::string_view problem{};  ///< empty for a character
};

std::uint32_t unit_at(const Codec& codec, std::string_view bytes, std::size_t at, int width) {
  std::uint32_t unit = 0;
  for (int i = 0; i < width; ++i) {
    const std::size_t place = at + static_cast<std::size_t>(codec.big_endian ? i : width - 1 - i);
    unit = unit << 8 | static_cast<unsigned char>(bytes[place]);
  }
  return unit;
}

/// Malformed UTF-8: as many bytes as could still have become a character count as one error.
Found malformed_utf8(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return {0, 1, "invalid start byte"};
  const std::size_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte is what keeps out overlong forms, surrogates and what is past U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t good = 1;
  while (good < std::min(whole, rest.size())) {
    const bool fine = good == 1 ? byte(1) >= low && byte(1) <= high : (byte(good) & 0xC0) == 0x80;
    if (!fine) return {0, good, "invalid continuation byte"};
    ++good;
  }
  return {0, good, "unexpected end of data"};
}

Found find_utf8(std::string_view rest) {
  const auto [c, size] = utf8::decode(rest.data(), rest.data() + rest.size());
  const bool is_well_formed = size > 1 || static_cast<unsigned char>(rest[0]) < 0x80;
  return is_well_formed && !utf8::is_surrogate(c) ? Found{c, size} : malformed_utf8(rest);
}

Found find_utf16(const Codec& codec, std::string_view bytes, std::size_t at) {
  const std::size_t left = bytes.size() - at;
  if (left < 2) return {0, left, "truncated data"};
  const std::uint32_t first = unit_at(codec, bytes, at, 2);
  if (!utf8::is_surrogate(first)) return {first, 2};
  if (first >= 0xDC00) return {0, 2, "illegal encoding"};
  if (left < 4) return {0, left, "unexpected end of data"};
  const std::uint32_t second = unit_at(codec, bytes, at + 2, 2);
  if (second < 0xDC00 || second > 0xDFFF) return {0, 2, "illegal UTF-16 surrogate"};
  return {0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 4};
}

Found find_utf32(const Codec& codec, std::string_view bytes, std::size_t at) {
  if (bytes.size() - at < 4) return {0, bytes.size() - at, "truncated data"};
  const std::uint32_t c = unit_at(codec, bytes, at, 4);
  if (c > utf8::kMaxCodePoint) return {0, 4, "code point not in range(0x110000)"};
  if (utf8::is_surrogate(c)) return {0, 4, "code point in surrogate code point range(0xd800, 0xe000)"};
  return {c, 4};
}

Found find_character(const Codec& codec, std::string_view bytes, std::size_t at) {
  const auto byte = static_cast<unsigned char>(bytes[at]);
  switch (codec.form) {
    case Form::utf8: return find_utf8(bytes.substr(at));
    case Form::utf16: return find_utf16(codec, bytes, at);
    case Form::utf32: return find_utf32(codec, bytes, at);
    case Form::single: return byte < codec.limit ? Found{byte, 1} : Found{0, 1, codec.reason};
    case Form::cp1252: break;
  }
  if (byte < 0x80 || byte >= 0xA0) return {byte, 1};
  const char32_t c = kCp1252[byte - 0x80u];
  return c != 0 ? Found{c, 1} : Found{0, 1, codec.reason};
}

void fail_decode(const Call& call, const Codec& codec, std::string_view bytes, std::size_t at, Found found) {
  std::string message = "'" + std::string(codec.shown) + "' codec can't decode byte";
  if (found.size == 1) {
    message +=
        " 0x" + backslashed(static_cast<unsigned char>(bytes[at])).substr(2) + " in position " + std::to_string(at);
  } else {
    message += "s in position " + std::to_string(at) + "-" + std::to_string(at + found.size - 1);
  }
  call.fail(ErrorCode::unicode_decode, message + ": " + std::string(found.problem));
}

/// The surrogate that stands at `at`, where the encoding has a way to write one; its size or 0.
std::size_t pass_surrogate(const Codec& codec, std::string_view bytes, std::size_t at, std::string& out) {
  const std::string_view rest = bytes.substr(at);
  const auto give = [&](char32_t c, std::size_t size) -> std::size_t {
    if (!utf8::is_surrogate(c)) return 0;
    utf8::append(out, c);
    return size;
  };
  switch (codec.form) {
    case Form::utf8: {
      const auto [c, size] = utf8::decode(rest.data(), rest.data() + rest.size());
      return give(c, size);
    }
    case Form::utf16: return rest.size() < 2 ? 0 : give(unit_at(codec, bytes, at, 2), 2);
    case Form::utf32: return rest.size() < 4 ? 0 : give(unit_at(codec, bytes, at, 4), 4);
    default: return 0;
  }
}

/// Up to four bytes past ASCII, each as a surrogate; how many.
std::size_t escape_bytes(std::string_view bad, std::string& out) {
  std::size_t count = 0;
  while (count < std::min<std::size_t>(bad.size(), 4) && static_cast<unsigned char>(bad[count]) >= 0x80) {
    utf8::append(out, 0xDC00u + static_cast<unsigned char>(bad[count++]));
  }
  return count;
}

/// What error handler `errors` makes of malformed bytes: how many it has dealt with, 0 if it
/// refuses.
std::size_t handle_undecodable(const Codec& codec, std::string_view errors, std::string_view bytes, std::size_t at,
                               Found found, std::string& out) {
  if (errors == "ignore") return found.size;
  if (errors == "replace") return utf8::append(out, utf8::kReplacement), found.size;
  if (errors == "surrogatepass") return pass_surrogate(codec, bytes, at, out);
  if (errors == "surrogateescape") return escape_bytes(bytes.substr(at, found.size), out);
  if (errors != "backslashreplace") return 0;
  for (char c : bytes.substr(at, found.size)) out += backslashed(static_cast<unsigned char>(c));
  return found.size;
}

/// Reads a byte order mark; returns the codec with the order it tells, and where the text begins.
Codec read_mark(Codec codec, std::string_view bytes, std::size_t& begin) {
  constexpr char32_t kMark = 0xFEFF;
  if (!codec.mark) return codec;
  for (const bool big_endian : {false, true}) {
    Codec tried = codec;
    tried.big_endian = big_endian;
    std::string mark;
    put(tried, kMark, mark);
    if (!bytes.starts_with(mark)) continue;
    begin = mark.size();
    codec = tried;
    break;
  }
  // From here on messages name the order.
  if (codec.form == Form::utf16) codec.shown = codec.big_endian ? "utf-16-be" : "utf-16-le";
  if (codec.form == Form::utf32) codec.shown = codec.big_endian ? "utf-32-be" : "utf-32-le";
  return codec;
}

}  // namespace

bool encode_text(const Call& call, std::string_view text, std::string_view encoding, std::string_view errors,
                 std::string& out) {
  const Codec* codec = find_codec(call, encoding);
  if (codec == nullptr) return false;
  if (codec->mark) put(*codec, 0xFEFF, out);
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, size] = utf8::decode(text.data() + at, text.data() + text.size());
    if (fits(*codec, c)) {
      put(*codec, c, out);
    } else if (!is_handler(call, errors)) {
      return false;
    } else if (!handle_unencodable(*codec, errors, c, out)) {
      fail_encode(call, *codec, text, at);
      return false;
    }
    at += size;
  }
  return true;
}

bool decode_bytes(const Call& call, std::string_view bytes, std::string_view encoding, std::string_view errors,
                  std::string& out) {
  if (bytes.empty()) return true;  // CPython does not even look at the names
  const Codec* row = find_codec(call, encoding);
  if (row == nullptr) return false;
  std::size_t at = 0;
  const Codec codec = read_mark(*row, bytes, at);
  while (at < bytes.size()) {
    const Found found = find_character(codec, bytes, at);
    if (found.problem.empty()) {
      utf8::append(out, found.character);
      at += found.size;
      continue;
    }
    if (!is_handler(call, errors)) return false;
    if (errors == "xmlcharrefreplace") {
      call.fail(ErrorCode::type, "don't know how to handle UnicodeDecodeError in error callback");
      return false;
    }
    const std::size_t handled = handle_undecodable(codec, errors, bytes, at, found, out);
    if (handled == 0) {
      fail_decode(call, codec, bytes, at, found);
      return false;
    }
    at += handled;
  }
  return true;
}

void fail_surrogate(const Call& call, std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto [c, size] = utf8::decode(text.data() + at, text.data() + text.size());
    if (!fits(kCodecs[0], c)) break;
    at += size;
  }
  fail_encode(call, kCodecs[0], text, at);
}

}  // namespace parlance::jinja
