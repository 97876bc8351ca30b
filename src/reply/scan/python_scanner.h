// PythonScanner: a Python call with keyword arguments, whose values are literals, becomes a JSON object. Byte by byte;
// nothing is evaluated.
//
//     tool_call(location="beijing", days=[1], exact=True)  ->  {"location": "beijing", "days": [1], "exact": true}
//
// What ast.literal_eval reads and JSON can say is read: both quotes, triple quotes, r and u, escapes, texts side by
// side, numbers in all bases, lists, tuples, dicts, None, comments. Also what models write: true, false and null, sets
// of texts and numbers (as lists), numbers with zeros in front, line ends in short texts, and quotes in them behind
// which nothing that ends a text stands. Bytes, complex numbers, f-strings and expressions are bad. Numbers keep their
// spelling where it is JSON. Begin reading at feed(); texts are in python_string.cpp.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reply/scan/argument_names.h"
#include "reply/scan/held.h"
#include "reply/scan/json_scanner.h"
#include "reply/scan/scanned_piece.h"

namespace parlance::reply {

class PythonScanner {
 public:
  /// `callee` must outlive the scanner.
  PythonScanner(const std::string& callee, std::uint32_t depth, std::uint32_t pending)
      : callee_(&callee), pending_limit_(pending), depth_limit_(static_cast<std::uint16_t>(depth)) {}

  /// Goes on inside of JSON, before a key or a value that JSON does not have; what was read so far has been given out.
  PythonScanner(const JsonScanner& json, std::uint32_t depth, std::uint32_t pending);

  /// As if it had just been made, with the room that it has.
  void restart(const std::string& callee, std::uint32_t depth, std::uint32_t pending);

  /// Feeds bytes from `p` on while they are more; `p` is then behind the call's last bracket (done), at the byte that
  /// is not its own (bad), or at `end`. Sets `out` to the JSON that is certain: whole code points only; a bracket
  /// may turn out to be no tuple until its first comma, a brace to be a set until its first colon, and holds back all
  /// that follows until then.
  Scan run(const char*& p, const char* end, std::string& out);
  std::string_view expected() const { return expected_; }
  /// Whether run() stopped because the name of an argument was there before.
  bool take_repeated() {
    const bool repeats = repeats_;
    repeats_ = false;
    return repeats;
  }
  /// Where a byte was bad, or no more come: what was read before and is not in any JSON, as it was written.
  std::string unsaid() const { return std::string(unsaid_.view()); }
  /// How many round brackets are open, the call's own too; and the quote of the text that is, or 0.
  std::size_t open_brackets() const;
  std::size_t open_braces() const;
  char open_quote() const { return at_ >= At::quote ? quote_ : '\0'; }

 private:
  enum class At : std::uint8_t {
    callee,
    open,
    name_or_end,
    name,
    equals,
    value,
    value_or_end,
    key_or_end,
    key_word,
    colon,
    after,
    after_text,
    word,
    number,
    sign,
    prefix,
    quote,
    quotes,
    text,
    closing,
    escape,
    digits,
    octal,
  };
  static constexpr std::uint32_t bits(std::initializer_list<At> places) {
    std::uint32_t bits = 0;
    for (const At at : places) bits |= 1U << static_cast<unsigned>(at);
    return bits;
  }
  enum class In : std::uint8_t { call, list, bracket, dict, set };
  struct Frame {
    In in;
    bool filled = false;      ///< it has an element
    bool decided = true;      ///< bracket: it is a tuple; dict: it is no set
    std::uint32_t place = 0;  ///< of these, where the JSON bracket goes in pending_
  };
  /// What is open, and the names of the call's arguments.
  struct Brackets {
    std::vector<Frame> frames;
    ArgumentNames names;
  };
  static char close_of(In in) { return in == In::list ? ']' : in == In::dict || in == In::set ? '}' : ')'; }

  Scan feed(char c);
  const char* skip_plain(const char* p, const char* end);
  const char* skip_word(const char* p, const char* end);
  std::size_t take_decided();
  Scan feed_noted(const char* p);
  bool waits(const char* p) const;
  std::string& json() { return piece_->json; }
  std::vector<Frame>& frames() { return brackets_->frames; }
  Scan bad(const char* expected) {
    expected_ = expected;
    return Scan::bad;
  }
  Scan go(At at) {
    at_ = at;
    return Scan::more;
  }
  /// Of most bytes one look says that they are no blank, and begin nothing that is.
  bool skip_blank(char c) { return (c <= '#' || c == '\\' || comment_ || continued_) && skip_blank_slowly(c); }
  bool skip_blank_slowly(char c);
  Scan step(char c);
  Scan feed_structure(char c);
  Scan feed_callee(char c);
  Scan feed_name(char c);
  Scan begin_name(char c);
  Scan begin_value(char c);
  Scan begin_word(char c);
  Scan begin_element();
  Scan end_element(char c);
  Scan push(In in);
  Scan pop();
  Scan comma();
  Scan feed_word(char c);
  Scan feed_number(char c);
  Scan end_scalar(std::string_view json, char c);
  // texts
  Scan feed_text(char c);
  Scan begin_text(char quote);
  Scan feed_quote(char c);
  Scan feed_plain(char c);
  Scan feed_closing(char c);
  Scan feed_escape(char c);
  Scan feed_digits(char c);
  Scan feed_octal(char c);
  Scan feed_after_text(char c);
  Scan put_char(char32_t c);
  Scan end_text(char c);
  bool ends_text(char c) const;
  Scan resume_text(char c);
  Scan feed_prefix(char c);
  void become_set();

  const std::string* callee_;
  const char* expected_ = "";
  ScannedPiece* piece_ = nullptr;  ///< what run() reads
  HeldText pending_;               ///< JSON that is not certain yet
  HeldText unsaid_;                ///< between two pieces: the bytes that were read and that no JSON says
  /// a name, word or number so far; white space behind a closing quote, which may yet be text
  HeldText word_;
  Box<Brackets> brackets_;
  std::uint32_t pending_limit_;
  std::uint32_t undecided_from_ = 0;  ///< where in the JSON the first bracket is that may be a tuple
  std::uint16_t undecided_ = 0;       ///< how many there are
  std::uint16_t depth_limit_;
  std::uint16_t seen_ = 0;  ///< bytes of the callee
  At at_ = At::callee;
  char sign_ = 0;  ///< of the number, or 0
  char quote_ = 0;
  std::uint8_t count_ = 0;  ///< closing quotes seen, or digits to come
  bool comment_ : 1 = false;
  bool continued_ : 1 = false;    ///< a backslash outside of texts
  bool is_key_ : 1 = false;       ///< the scalar being read is the key of a dict
  bool scalar_key_ : 1 = false;   ///< the last key was no text
  bool may_be_text_ : 1 = false;  ///< the closing quote
  bool repeats_ : 1 = false;      ///< the last name came before
  // texts
  bool joining_ : 1 = false;  ///< a text that continues the one before
  bool raw_ : 1 = false;
  bool triple_ : 1 = false;
  bool after_return_ : 1 = false;
  char32_t value_ = 0;
  Utf8Scanner utf8_;
};

/// A literal of Python as JSON: "" if it is none.
std::string json_of_python(std::string_view text, std::uint32_t depth);

/// A number of Python as one of JSON: "" if it is none.
std::string json_of_python_number(std::string_view text);

}  // namespace parlance::reply
