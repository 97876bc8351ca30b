// BareScanner: an object whose keys have no quotes and whose strings stand between a marker, without escapes, becomes
// JSON.
//
//     {city:<|"|>Paris<|"|>,days:3,deep:[1,true,None]}  ->  {"city": "Paris", "days": 3, "deep": [1, true, null]}
//
// Nothing stands for the marker inside of a string. Begin reading at run().
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "reply/scan/argument_names.h"
#include "reply/scan/held.h"
#include "reply/scan/json_scanner.h"
#include "reply/scan/scanned_piece.h"

namespace parlance::reply {

/// The arguments that the called tool has. Lifetime: `of` lives as long as a run().
struct KnownArguments {
  const void* of = nullptr;
  bool (*has)(const void* of, std::string_view name) = nullptr;  ///< null: nobody knows
  bool have(std::string_view name) const { return has != nullptr && has(of, name); }
};

class BareScanner {
 public:
  /// `quote` must outlive the scanner.
  BareScanner(const std::string& quote, std::uint32_t depth, std::uint32_t pending)
      : quote_(&quote), limit_(depth), pending_limit_(pending) {}
  /// As if it had just been made, with the room that it has.
  void restart(const std::string& quote, std::uint32_t depth, std::uint32_t pending);

  /// Feeds bytes from `p` on while they are more; `p` is then behind the object's last bracket (done), at the byte that
  /// is not its own (bad), or at `end`. Sets `out` to the JSON, whole code points only.
  Scan run(const char*& p, const char* end, std::string& out, const KnownArguments& arguments = {});
  std::string_view expected() const { return expected_; }
  /// Where a byte was bad, or no more come: what was read before and is not in any JSON, as it was written.
  std::string unsaid() const { return std::string(unsaid_.view()); }
  /// What should have stood before the byte behind which run() stopped, since it was mended; or null.
  const char* take_mended() { return std::exchange(mended_, nullptr); }
  /// What was due where it stopped because a name was there before; or null.
  const char* take_repeated() { return std::exchange(repeated_, nullptr); }

 private:
  enum class At : std::uint8_t {
    open,
    key_or_end,
    key,
    in_key,
    colon,
    value,
    item,
    value_or_end,
    text,
    word,
    quote,
    json_text,
    after
  };
  Scan feed(char c);
  Scan feed_noted(const char* p);
  bool waits(const char* p) const;
  const char* skip_plain(const char* p, const char* end);
  const char* skip_word(const char* p, const char* end);
  std::string& json() { return piece_->json; }
  std::string_view quote() const { return *quote_; }
  Scan bad(const char* expected) {
    expected_ = expected;
    return Scan::bad;
  }
  Scan go(At at) {
    at_ = at;
    return Scan::more;
  }
  Scan push(char bracket);
  Scan pop();
  bool drops_comma(char c);
  Scan begin_key(char c);
  Scan begin_value(char c);
  Scan feed_key(char c);
  Scan feed_word(char c);
  Scan feed_quote(char c);
  Scan feed_text(char c);
  Scan feed_json_text(char c);
  Scan feed_after(char c);
  std::string_view key_behind_comma() const;
  bool holds_comma(char c) const;
  bool lacks_first_quote(std::string_view text) const;
  bool is_own(char c) const;
  void count_bracket(char c);
  Scan hold(char c, bool comma);
  void put_word(std::string_view value);
  void put_unquoted(std::string_view text);
  void put(char c);
  void put_key(std::string_view key);
  /// CPython refuses longer integers too (sys.int_info.default_max_str_digits). It bounds what is held of a word or
  /// key.
  std::size_t longest_word() const { return std::min<std::size_t>(4300, pending_limit_); }
  bool inside_object() const { return stack_.back() == '{'; }

  const std::string* quote_;
  const KnownArguments* arguments_ = nullptr;  ///< during run()
  const char* expected_ = "";
  ScannedPiece* piece_ = nullptr;  ///< what run() reads
  HeldText pending_;               ///< the beginning of a code point
  HeldText unsaid_;                ///< between two pieces: the bytes that were read and that no JSON says
  HeldText stack_;                 ///< brackets
  HeldText word_;                  ///< a key, number or literal
  ArgumentNames names_;
  std::uint32_t limit_;
  std::uint32_t pending_limit_;
  // Of a word; counted where a byte comes, since a look back at each takes time quadratic in its length.
  std::uint16_t comma_ = 0;          ///< where a comma is that may be its own
  std::uint16_t behind_commas_ = 0;  ///< where the run of commas and blanks ends that begins there
  std::uint16_t open_braces_ = 0;
  std::uint16_t open_squares_ = 0;
  bool is_text_ = false;  ///< no number and no literal
  At at_ = At::open;
  bool quoted_key_ = false;
  const char* mended_ = nullptr;
  const char* repeated_ = nullptr;
  bool garbled_ = false;  ///< a string is no UTF-8
  Utf8Scanner utf8_;
  /// bytes of the quote; of an escape in a JSON string: 1 behind the backslash, 2 to 5 hex digits to come
  std::uint8_t seen_ = 0;
};

}  // namespace parlance::reply
