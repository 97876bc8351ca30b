// BareScanner: an object whose keys have no quotes and whose strings stand between a marker, without escapes, becomes JSON.
//
//     {city:<|"|>Paris<|"|>,days:3,deep:{list:[1,true,None]}}  ->  {"city": "Paris", "days": 3, "deep": {"list": [1, true, null]}}
//
// Nothing stands for the marker inside of a string. Begin reading at feed().
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "reply/json_scanner.h"

namespace parlance::reply {

class BareScanner {
 public:
  BareScanner(std::string_view quote, std::uint32_t depth) : quote_(quote), limit_(depth) {}

  /// more, done behind the object's last bracket, or bad.
  Scan feed(char c);
  /// Feeds bytes from `p` on while they are more; `p` is then where it stopped.
  Scan run(const char*& p, const char* end);
  std::string_view expected() const { return expected_; }
  /// Appends the JSON so far; whole code points only.
  void take(std::string& out);

 private:
  enum class At : std::uint8_t { open, key_or_end, key, in_key, colon, value, value_or_end, text, word, quote, after };
  Scan bad(std::string_view expected) {
    expected_ = expected;
    return Scan::bad;
  }
  Scan go(At at) {
    at_ = at;
    return Scan::more;
  }
  Scan push(char bracket);
  Scan pop();
  Scan begin_key(char c);
  Scan begin_value(char c);
  Scan feed_key(char c);
  Scan feed_word(char c);
  Scan feed_quote(char c);
  Scan feed_text(char c);
  Scan feed_after(char c);
  void put(char c);
  bool inside_object() const { return stack_.back() == '{'; }

  std::string_view quote_;
  std::string_view expected_{};
  std::uint32_t limit_;
  At at_ = At::open;
  bool quoted_key_ = false;
  bool garbled_ = false;   ///< a string is no UTF-8
  Utf8Scanner utf8_;
  std::uint8_t seen_ = 0;  ///< bytes of the quote
  std::string stack_;      ///< brackets
  std::string word_;       ///< a key, number or literal
  std::string pending_;    ///< JSON that take() has not given yet
};

}  // namespace parlance::reply
