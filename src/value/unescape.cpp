// From markup back to text: html.unescape of Python and striptags of markupsafe.
//
// Rules: CPython 3.11 Lib/html/__init__.py (a name without its semicolon counts if it begins with
// one of the old names; numbers that browsers read as Windows-1252) and markupsafe 3
// Markup.striptags. The names are in html_entities.inc. Begin reading at unescape_html.

#include <algorithm>
#include <array>
#include <string>

#include "base/unicode.h"
#include "base/utf8.h"
#include "value/markup.h"
#include "value/string.h"

namespace parlance {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Characters in place, not pointers to them: a table of pointers would be relocated, all of it, at
/// every start of a program.
struct Entity {
  char name_bytes[33];  ///< without '&'; with its ';' unless it may do without
  char text_bytes[7];
  constexpr std::string_view name() const { return name_bytes; }
  constexpr std::string_view text() const { return text_bytes; }
};

constexpr Entity kEntities[] = {
#include "value/html_entities.inc"
};

const Entity* find_entity(std::string_view name) {
  const auto* const found =
      std::lower_bound(std::begin(kEntities), std::end(kEntities), name,
                       [](const Entity& row, std::string_view wanted) { return row.name() < wanted; });
  return found != std::end(kEntities) && found->name() == name ? found : nullptr;
}

/// What the numbers 128 to 159 mean, as Windows-1252 has them; 0: the control character itself.
constexpr std::array<char16_t, 32> kWindows = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                               0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                               0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                               0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// Characters that no document may hold: a reference to one stands for nothing.
bool is_forbidden(std::uint32_t c) {
  const bool control = (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F;
  return control || (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

std::string character_numbered(std::uint32_t number) {
  std::string out;
  if (number >= 128 && number < 160) {
    const char16_t mapped = kWindows[number - 128];
    utf8::append(out, mapped == 0 ? number : mapped);
  } else if (number == 0 || utf8::is_surrogate(number) || number > utf8::kMaxCodePoint) {
    utf8::append(out, utf8::kReplacement);
  } else if (!is_forbidden(number)) {
    utf8::append(out, number);
  }
  return out;
}

/// A reference found after '&': its bytes without the '&', and what they stand for.
struct Reference {
  std::size_t size = 0;
  std::string text;
};

int reference_digit(char c, bool hexadecimal) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return hexadecimal && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// "#123;" or "#x1F;"; the semicolon may be missing.
bool read_number(std::string_view s, Reference& out) {
  const bool hexadecimal = s.size() > 1 && (s[1] | 0x20) == 'x';
  const std::size_t first = hexadecimal ? 2 : 1;
  std::size_t at = first;
  std::uint32_t number = 0;
  for (; at < s.size(); ++at) {
    const int digit = reference_digit(s[at], hexadecimal);
    if (digit < 0) break;
    if (number <= utf8::kMaxCodePoint) number = number * (hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  if (at == first) return false;
  out.text = character_numbered(number);
  out.size = at + (at < s.size() && s[at] == ';');
  return true;
}

/// "amp;" or the longest old name that the text begins with.
bool read_name(std::string_view s, Reference& out) {
  constexpr std::size_t kLongest = 32;
  std::size_t end = 0;
  for (std::size_t n = 0; end < s.size() && n < kLongest; ++n) {
    if (std::string_view("\t\n\f <&#;").find(s[end]) != kNone) break;
    end += utf8::decode(s.data() + end, s.data() + s.size()).size;
  }
  if (end == 0) return false;
  if (end < s.size() && s[end] == ';') ++end;
  for (std::size_t size = end; size > 1; --size) {
    const Entity* entity = find_entity(s.substr(0, size));
    if (entity == nullptr) continue;
    out = {size, std::string(entity->text())};
    return true;
  }
  return false;
}

/// What is between tags and comments. One that is never closed stays, with all that follows it.
std::string without_tags(std::string_view s) {
  constexpr std::string_view kOpen = "<!--";
  constexpr std::string_view kClose = "-->";
  std::string out;
  std::size_t from = 0;
  for (std::size_t open = s.find('<'); open != kNone; open = s.find('<', from)) {
    const bool comment = s.substr(open).starts_with(kOpen);
    const std::size_t close = comment ? s.find(kClose, open + kOpen.size()) : s.find('>', open);
    if (close == kNone) break;
    out.append(s.substr(from, open - from));
    from = close + (comment ? kClose.size() : 1);
  }
  return out.append(s.substr(from));
}

/// Runs of white space as one space, none at the ends.
std::string with_single_spaces(std::string_view s) {
  std::string out;
  bool pending = false;
  for (std::size_t at = 0; at < s.size();) {
    const auto [c, size] = utf8::decode(s.data() + at, s.data() + s.size());
    const bool space = unicode::is_space(c);
    if (!space && pending && !out.empty()) out += ' ';
    if (!space) out.append(s.substr(at, size));
    pending = space;
    at += size;
  }
  return out;
}

}  // namespace

Value unescape_html(Runtime& rt, Value s) {
  s = with_markup(s, false);
  const std::string_view bytes = text(rt, s);
  if (!rt.charge_bytes(bytes.size() * 4)) return Value::invalid();
  std::size_t at = bytes.find('&');
  if (at == kNone) return s;
  StringBuilder out(rt);
  std::size_t from = 0;
  for (; at != kNone; at = bytes.find('&', at + 1)) {
    if (!rt.charge(1) || !rt.reserve(64)) return Value::invalid();
    const std::string_view rest = bytes.substr(at + 1);
    Reference reference;
    if (!(rest.starts_with('#') ? read_number(rest, reference) : read_name(rest, reference))) continue;
    out.append(s, from, at);
    out.append_derived(reference.text, s, at);
    at += reference.size;
    from = at + 1;
  }
  out.append(s, from, bytes.size());
  return out.finish();
}

Value strip_tags(Runtime& rt, Value s) {
  const std::string_view bytes = text(rt, s);
  if (!rt.charge_bytes(bytes.size() * 4) || !rt.reserve(bytes.size() * 4)) return Value::invalid();
  const std::string stripped = with_single_spaces(without_tags(bytes));
  const Value plain = stripped == bytes ? with_markup(s, false) : make_derived(rt, stripped, s);
  return unescape_html(rt, plain);
}

}  // namespace parlance
