// What several filter files need: attribute paths, case folding, lookups and the errors Python has
// for them.
//
// Begin reading at AttributeGetter (Jinja2 3.1.6 filters.py: make_attrgetter).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/unicode.h"
#include "base/utf8.h"
#include "engine/call.h"
#include "jinja/objects/methods.h"
#include "value/iterate.h"
#include "value/runtime.h"

namespace parlance::jinja {

/// Looks a dotted path up in each item: "a.b.0" is item['a']['b'][0] by Jinja2's rules.
struct AttributeGetter {
  std::span<const Value> parts;    ///< empty: the item itself
  bool fold = false;               ///< strings come out in lower case
  Value fallback = Value::none();  ///< unless none: replaces what is undefined at any part

  /// The looked up value; invalid after a failure.
  Value get(Runtime& rt, Value item) const;
};
/// Splits `attribute` (none, string or index) into a getter; false after a failure.
bool make_getter(Runtime& rt, Value attribute, AttributeGetter& out);

/// lower_text of strings, other values unchanged: how Jinja2 compares without case.
inline Value fold_case(Runtime& rt, Value v) { return v.is_string() ? lower_text(rt, v) : v; }

/// str(v): as to_text, but a Markup becomes a plain string.
Value plain_text(Runtime& rt, Value v);

/// Fails as Python does where a method is missing: AttributeError "'int' object has no attribute 'splitlines'", or
/// UndefinedError; TypeError where it is there and is no method, as in `namespace(items=1)`.
Value fail_attribute(Runtime& rt, Value v, std::string_view name);
/// Argument i as a C size: false with TypeError for others than integers, OverflowError past 64
/// bits.
bool size_argument(const Call& call, std::size_t i, std::int64_t& out);
/// `n` spaces.
Value spaces(Runtime& rt, std::uint64_t n);
/// An undefined value whose message is `hint`, which must live forever.
Value undefined_hint(Runtime& rt, std::string_view hint);
/// Forgets a failure that Python code would catch as one of these classes; false if it is of
/// another.
bool caught(Runtime& rt, std::initializer_list<ErrorCode> codes);
/// Fails with FilterArgumentError.
inline Value fail_filter(const Call& call, std::string message) {
  return call.fail(ErrorCode::filter_argument, std::move(message));
}

/// Cuts consecutive parts out of a string, in time proportional to its pieces altogether.
class Cutter {
 public:
  explicit Cutter(Value s) : s_(s) {}
  /// Appends bytes [begin, end) of the string to `out`, sharing its pieces. `begin` must never
  /// decrease.
  void append(StringBuilder& out, std::size_t begin, std::size_t end);

 private:
  Value s_;
  std::uint32_t piece_ = 0;
  std::size_t piece_begin_ = 0;
};

/// Searches for one text in others, in linear time whatever the texts are (Knuth, Morris, Pratt
/// past 32 bytes).
class Needle {
 public:
  /// `needle` must not be empty. Takes memory of the arena for long ones.
  Needle(Runtime& rt, std::string_view needle);
  /// The offset of the first occurrence at or after `from`, or npos.
  std::size_t find(std::string_view text, std::size_t from) const;

 private:
  std::string_view needle_;
  std::uint32_t* back_ = nullptr;  ///< length of the longest border of each prefix
};

/// \w of Python's `re`.
inline bool is_word_character(char32_t c) { return c == '_' || unicode::is_alnum(c); }

/// Calls visit(begin, end) for the lines str.splitlines() makes of `text`, without their ends.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  const char *base = text.data(), *end = base + text.size(), *begin = base;
  for (const char* p = base; p < end;) {
    utf8::Decoded d = utf8::decode(p, end);
    const char* stop = p;
    p += d.size;
    if (!unicode::is_line_break(d.code_point)) continue;
    if (d.code_point == '\r' && p < end && *p == '\n') ++p;
    visit(static_cast<std::size_t>(begin - base), static_cast<std::size_t>(stop - base));
    begin = p;
  }
  if (begin < end) visit(static_cast<std::size_t>(begin - base), text.size());
}

}  // namespace parlance::jinja
