// str methods that change case: lower, upper, title, capitalize, swapcase, casefold.
//
// Rules: CPython 3.11 Objects/unicodeobject.c; the mappings are in base/unicode.h. ASCII text is
// mapped byte by byte into the arena, each leaf logged as derived from its own bytes; text that
// would not change is returned as it is. The filters of the same names use lower_text and
// upper_text too. Begin reading at map_case, then at change_case.

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ascii.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/objects/methods.h"
#include "value/markup.h"

namespace parlance::jinja {
namespace {

using ascii::is_letter;

// ---- changes that see one character at a time, so that a rope is changed piece by piece

using Mapping = void (*)(std::string& out, std::string_view text);

enum class Scan : std::uint8_t { unchanged, ascii, wide };

/// Is `piece` ASCII, and has it letters from first to last? Eight bytes at a time.
Scan scan(std::string_view piece, char first, char last) {
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  const std::uint64_t from = kEach * static_cast<std::uint64_t>(0x80 - first);
  const std::uint64_t past = kEach * static_cast<std::uint64_t>(0x7F - last);
  std::uint64_t wide = 0, within = 0;
  const char* p = piece.data();
  for (std::size_t left = piece.size(); left != 0;) {
    std::size_t n = std::min<std::size_t>(left, 8);
    std::uint64_t word = 0;
    std::memcpy(&word, p, n);
    wide |= word;
    within |= (word + from) & ~(word + past);  // the high bits, if all bytes are ASCII
    p += n;
    left -= n;
  }
  if ((wide & kEach << 7) != 0) return Scan::wide;
  return (within & kEach << 7) != 0 ? Scan::ascii : Scan::unchanged;
}

/// An ASCII piece with the letters first..last in the other case, derived from it.
Value flip_ascii(Runtime& rt, std::string_view piece, char first, char last) {
  char* out = rt.arena.allocate_text(piece.size());
  for (std::size_t i = 0; i < piece.size(); ++i) {
    bool flip = piece[i] >= first && piece[i] <= last;
    out[i] = static_cast<char>(flip ? piece[i] ^ 0x20 : piece[i]);
  }
  rt.arena.log_derived(out, piece.size(), {piece.data(), 0});
  return Value::view({out, piece.size()});
}

/// One piece through `map`; `first`..`last` are the ASCII letters it changes.
Value map_piece(Runtime& rt, std::string_view piece, Mapping map, char first, char last) {
  Scan found = scan(piece, first, last);
  if (found == Scan::unchanged) return Value::view(piece);
  if (found == Scan::ascii) {
    return rt.reserve(piece.size()) ? flip_ascii(rt, piece, first, last) : Value::invalid();
  }
  if (!rt.reserve(3 * piece.size())) return Value::invalid();
  std::string mapped;
  map(mapped, piece);
  return mapped == piece ? Value::view(piece) : make_derived(rt, mapped, Value::view(piece));
}

Value map_case(Runtime& rt, Value s, Mapping map, char first, char last) {
  if (!rt.charge_bytes(s.size)) return Value::invalid();
  if (s.is_leaf()) {
    Value mapped = map_piece(rt, leaf_text(s), map, first, last);
    return mapped.is_invalid() ? mapped : with_markup(mapped, s.is_markup());
  }
  StringBuilder out(rt);
  for_each_piece(s, [&](std::string_view piece) { out.append(map_piece(rt, piece, map, first, last)); });
  return out.finish(s.is_markup());
}

// ---- changes that see what stands before, or behind

/// How a change maps an ASCII character after another (0 before the first), and the general rule.
struct CaseRule {
  char (*ascii)(char c, char previous);
  void (*append)(std::string& out, std::string_view text);
};

constexpr CaseRule kSwap = {[](char c, char) { return ascii::upper(c) == c ? ascii::lower(c) : ascii::upper(c); },
                            unicode::append_swapcase};
constexpr CaseRule kTitle = {
    [](char c, char previous) { return is_letter(previous) ? ascii::lower(c) : ascii::upper(c); },
    unicode::append_title};
constexpr CaseRule kCapitalize = {
    [](char c, char previous) { return previous == '\0' ? ascii::upper(c) : ascii::lower(c); },
    unicode::append_capitalize};

/// The start of the text has no previous character; a NUL inside the text must not look like it.
char as_previous(char c) { return c == '\0' ? ' ' : c; }

template <const CaseRule& rule>
bool changes_nothing(std::string_view text) {
  char previous = '\0';
  for (char c : text) {
    if (rule.ascii(c, previous) != c) return false;
    previous = as_previous(c);
  }
  return true;
}

template <const CaseRule& rule>
Value change_ascii(Runtime& rt, Value self) {
  if (self.is_leaf() && changes_nothing<rule>(leaf_text(self))) return self;
  if (!rt.reserve(self.size)) return Value::invalid();
  char* const out = rt.arena.allocate_text(self.size);
  char* at = out;
  char previous = '\0';
  for_each_piece(self, [&](std::string_view piece) {
    rt.arena.log_derived(at, piece.size(), {piece.data(), 0});
    for (char c : piece) {
      *at++ = rule.ascii(c, previous);
      previous = as_previous(c);
    }
  });
  return Value::view({out, self.size});
}

template <const CaseRule& rule>
Value change_wide(Runtime& rt, Value self) {
  if (!rt.reserve(std::uint64_t{self.size} * 4)) return Value::invalid();
  const std::string_view whole = text(rt, self);
  std::string changed;
  rule.append(changed, whole);
  return changed == whole ? self : make_derived(rt, changed, self);
}

template <const CaseRule& rule>
Value change_case(Call& call) {
  const Value self = call[0];
  const bool ascii = is_ascii(call.rt, self);
  if (call.rt.failed()) return Value::invalid();
  const Value changed = ascii ? change_ascii<rule>(call.rt, self) : change_wide<rule>(call.rt, self);
  return changed.is_invalid() ? changed : with_markup(changed, self.is_markup());
}

Value text_lower(Call& call) { return lower_text(call.rt, call[0]); }
Value text_upper(Call& call) { return upper_text(call.rt, call[0]); }
Value text_casefold(Call& call) { return map_case(call.rt, call[0], unicode::append_casefold, 'A', 'Z'); }

constexpr Builtin kTextCaseMethods[] = {
    {"capitalize", "", "self, /", change_case<kCapitalize>,
     "The first character in title case, the rest in lower case.", "{{ 'hELLO'.capitalize() }} -> Hello"},
    {"casefold", "", "self, /", text_casefold, "The string prepared for comparing without case.",
     "{{ 'Straße'.casefold() }} -> strasse"},
    {"lower", "", "self, /", text_lower, "The string in lower case.", "{{ 'ABC'.lower() }} -> abc"},
    {"swapcase", "", "self, /", change_case<kSwap>, "Upper case for lower case and the reverse.",
     "{{ 'aB'.swapcase() }} -> Ab"},
    {"title", "", "self, /", change_case<kTitle>,
     "Every word with its first letter in title case, the rest in lower case.", "{{ 'tool use'.title() }} -> Tool Use"},
    {"upper", "", "self, /", text_upper, "The string in upper case.", "{{ 'abc'.upper() }} -> ABC"},
};

}  // namespace

Value lower_text(Runtime& rt, Value s) {
  // A final sigma depends on its neighbours, which may be in other pieces.
  if ((s.flags & Value::kRope) != 0 && text(rt, s).find("\xCE\xA3") != std::string_view::npos) {
    std::string mapped;
    unicode::append_lower(mapped, text(rt, s));
    return with_markup(make_derived(rt, mapped, s), s.is_markup());
  }
  return map_case(rt, s, unicode::append_lower, 'A', 'Z');
}

Value upper_text(Runtime& rt, Value s) { return map_case(rt, s, unicode::append_upper, 'a', 'z'); }

std::span<const Builtin> text_case_methods() { return kTextCaseMethods; }

}  // namespace parlance::jinja
