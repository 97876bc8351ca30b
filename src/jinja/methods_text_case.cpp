// str methods that change case: lower, upper, title, capitalize, swapcase, casefold.
//
// Rules: CPython 3.11 Objects/unicodeobject.c; the mappings are in base/unicode.h. ASCII text is
// mapped byte by byte into the arena, each leaf logged as derived from its own bytes; text that
// would not change is returned as it is. Begin reading at change_case.

#include <string>

#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/methods.h"

namespace parlance::jinja {
namespace {

char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char upper_ascii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// One of the six changes: how it maps an ASCII character after another (0 before the first), and
/// the general rule. `by_leaf`: what a character becomes does not depend on its neighbours.
struct CaseRule {
  char (*ascii)(char c, char previous);
  void (*append)(std::string& out, std::string_view text);
  bool by_leaf;
};

constexpr CaseRule kLower = {[](char c, char) { return lower_ascii(c); }, unicode::append_lower,
                             false};
constexpr CaseRule kUpper = {[](char c, char) { return upper_ascii(c); }, unicode::append_upper,
                             true};
constexpr CaseRule kFold = {[](char c, char) { return lower_ascii(c); }, unicode::append_casefold,
                            true};
constexpr CaseRule kSwap = {
    [](char c, char) { return upper_ascii(c) == c ? lower_ascii(c) : upper_ascii(c); },
    unicode::append_swapcase, false};
constexpr CaseRule kTitle = {
    [](char c, char previous) { return is_letter(previous) ? lower_ascii(c) : upper_ascii(c); },
    unicode::append_title, false};
constexpr CaseRule kCapitalize = {
    [](char c, char previous) { return previous == '\0' ? upper_ascii(c) : lower_ascii(c); },
    unicode::append_capitalize, false};

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
  std::string changed;
  if (!rule.by_leaf || self.is_leaf()) {
    const std::string_view whole = text(rt, self);
    rule.append(changed, whole);
    return changed == whole ? self : make_derived(rt, changed, self);
  }
  StringBuilder out(rt);
  std::size_t offset = 0;
  for_each_piece(self, [&](std::string_view piece) {
    changed.clear();
    rule.append(changed, piece);
    out.append_derived(changed, self, offset);
    offset += piece.size();
  });
  return out.finish();
}

template <const CaseRule& rule>
Value change_case(Call& call) {
  const Value self = call[0];
  const bool ascii = is_ascii(call.rt, self);
  if (call.rt.failed()) return Value::invalid();
  const Value changed =
      ascii ? change_ascii<rule>(call.rt, self) : change_wide<rule>(call.rt, self);
  return changed.is_invalid() ? changed : with_markup(changed, self.is_markup());
}

constexpr Builtin kRows[] = {
    {"capitalize", "", "self, /", change_case<kCapitalize>,
     "The first character in title case, the rest in lower case.",
     "{{ 'hELLO'.capitalize() }} -> Hello"},
    {"casefold", "", "self, /", change_case<kFold>,
     "The string prepared for comparing without case.", "{{ 'Straße'.casefold() }} -> strasse"},
    {"lower", "", "self, /", change_case<kLower>, "The string in lower case.",
     "{{ 'ABC'.lower() }} -> abc"},
    {"swapcase", "", "self, /", change_case<kSwap>, "Upper case for lower case and the reverse.",
     "{{ 'aB'.swapcase() }} -> Ab"},
    {"title", "", "self, /", change_case<kTitle>,
     "Every word with its first letter in title case, the rest in lower case.",
     "{{ 'tool use'.title() }} -> Tool Use"},
    {"upper", "", "self, /", change_case<kUpper>, "The string in upper case.",
     "{{ 'abc'.upper() }} -> ABC"},
};

}  // namespace

std::span<const Builtin> text_case_methods() { return kRows; }

}  // namespace parlance::jinja
