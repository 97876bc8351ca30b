// JsonScanner: is this the next byte of a JSON value? One byte at a time, in bounded memory.
//
// Strict as RFC 8259, UTF-8 in strings included; escapes of lone surrogates are let through as they are. It keeps no
// text: who feeds it knows the bytes. Begin reading at feed().
//
// It is no source of tokens for TokenReader (json/tokens.h), nor that one's for it. A reply comes in pieces that may
// end within any token, and each byte that can leave must leave with its piece; so the state between two bytes has to
// be kept, and a byte that cannot stand has to be named before what follows is known. TokenReader needs a whole text,
// finds its tokens 64 bytes at a time and unescapes strings in place: fed byte by byte it would lose its speed, and
// with whole tokens the reader of replies would hold them back. What json.loads alone accepts is a third matter
// (json/lenient.h), read only where TokenReader refused, with Python's words for what is wrong. What all share stands
// once: the escapes (json/escape.h) and the classes of bytes (base/ascii.h).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reply/scan/held.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {

enum class Scan : std::uint8_t {
  more,         ///< the byte belongs to the value, which goes on
  done,         ///< the byte was its last
  done_before,  ///< the value (a number) ended before this byte
  bad,          ///< the byte cannot stand here; expected() says what could
};

/// UTF-8 as the standard defines it, byte by byte.
class Utf8Scanner {
 public:
  /// Is `c` the next byte of well-formed text?
  bool feed(unsigned char c);
  bool inside() const { return need_ != 0; }

 private:
  std::uint8_t need_ = 0;  ///< continuation bytes to come
  std::uint8_t low_ = 0x80, high_ = 0xBF;
};

class JsonScanner {
 public:
  static constexpr std::uint32_t kDepth = 256;
  explicit JsonScanner(std::uint32_t depth = kDepth)
      : limit_(static_cast<std::uint16_t>(depth < kDepth ? depth : kDepth)) {}

  Scan feed(char c);
  /// Feeds bytes from `p` on while they are simply more. `p` is then behind the last byte of the value (done), at the
  /// byte that is not its own (done_before, bad), or at `end`.
  Scan run(const char*& p, const char* end);
  /// What could stand in place of the byte that was bad, or of the end.
  std::string_view expected() const;
  std::uint32_t depth() const { return depth_; }
  /// How many objects are open.
  std::uint32_t objects() const;
  /// Where any character may follow.
  bool inside_text() const { return at_ == At::string && !utf8_.inside(); }
  bool inside_escape() const { return at_ == At::escape; }
  bool inside_hex() const { return at_ == At::hex; }
  bool inside_string() const { return at_ == At::string || at_ == At::escape || at_ == At::hex; }
  /// The letter of JSON that `c` of Python's True, False or None stands for here; '\0' for none.
  char letter_of_python(char c) const;
  /// Where a comma was the last sign.
  bool behind_comma() const { return at_ == At::key || (at_ == At::value && depth_ != 0 && !inside_object()); }
  /// As if it had not been there.
  void drop_comma() { at_ = At::comma_or_end; }
  /// Where a value or a key may begin; inside of which brackets, the outermost first: is each an object?
  bool at_begin() const {
    return at_ == At::value || at_ == At::value_or_end || at_ == At::key || at_ == At::key_or_end;
  }
  bool at_key() const { return at_ == At::key || at_ == At::key_or_end; }
  bool behind_colon() const { return at_ == At::value && depth_ != 0 && inside_object(); }
  std::vector<bool> brackets() const;
  /// Whether what was fed is a whole value; a number may be one and still go on.
  bool complete() const { return depth_ == 0 && (at_ == At::comma_or_end || is_whole_number()); }

 private:
  enum class At : std::uint8_t {
    value,
    value_or_end,
    key,
    key_or_end,
    colon,
    comma_or_end,
    string,
    escape,
    hex,
    literal,
    minus,
    zero,
    digits,
    point,
    fraction,
    exponent,
    sign,
    power,
  };
  bool is_whole_number() const;
  bool inside_object() const { return (frames_ >> ((depth_ - 1u) % 64) & 1) != 0; }
  std::string_view rest_of_literal() const;
  Scan begin_value(char c);
  Scan begin_literal(char first);
  Scan begin_string(bool key);
  Scan push(bool object);
  Scan pop();
  Scan end_value();
  Scan step(char c);
  Scan feed_structure(char c);
  Scan feed_string(char c);
  Scan feed_number(char c);
  Scan end_number(char c);

  At at_ = At::value;
  bool key_ = false;  ///< the string is a key
  bool too_deep_ = false;
  std::uint8_t left_ = 0;  ///< hex digits, or letters, to come
  Utf8Scanner utf8_;
  char literal_ = 0;  ///< the first letter of true, false or null; left_ letters are to come
  std::uint16_t limit_;
  std::uint16_t depth_ = 0;
  std::uint64_t frames_ = 0;  ///< for each of the innermost levels up to a multiple of 64: is it an object?
  HeldText outer_;            ///< the same for the levels outside of those, 8 bytes for 64
};

}  // namespace parlance::reply
