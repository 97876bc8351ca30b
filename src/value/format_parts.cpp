// The pieces that both formatting languages of Python are made of; see format_parts.h.
//
// Leans on value/string.h. Begin reading at append_repeated.

#include "value/format_parts.h"

#include <array>
#include <charconv>

#include "base/utf8.h"

namespace parlance {
namespace {

struct BaseRow {
  char code;
  int base;
  std::string_view prefix;
};

constexpr std::array<BaseRow, 4> kBases = {{
    {'b', 2, "0b"},
    {'o', 8, "0o"},
    {'x', 16, "0x"},
    {'X', 16, "0X"},
}};

const BaseRow* base_row(char32_t code) {
  for (const BaseRow& row : kBases) {
    if (static_cast<char32_t>(row.code) == code) return &row;
  }
  return nullptr;
}

constexpr std::string_view kSpaces = "                                                                ";

}  // namespace

/// "%.3s". A count of bytes or more cannot cut anything, so the usual huge precision needs no walk.
Value first_characters(Runtime& rt, Value s, std::int64_t count) {
  const std::string_view bytes = text(rt, s);
  if (static_cast<std::uint64_t>(count) >= bytes.size()) return s;
  return substring(rt, s, 0, utf8::offset_of(bytes, static_cast<std::size_t>(count)));
}

bool append_repeated(Runtime& rt, StringBuilder& out, std::string_view unit, std::uint64_t count) {
  if (count == 0) return true;
  if (unit == " " && count <= kSpaces.size()) {
    out.append_static(kSpaces.substr(0, count));
    return true;
  }
  // First alone, since `count * unit.size()` may overflow. The second reserve() records the failure.
  if (count >= Runtime::kMaxText || !rt.reserve(count * unit.size())) {
    rt.reserve(Runtime::kMaxText);
    return false;
  }
  const std::size_t size = count * unit.size();
  char* at = rt.arena.allocate_text(size);
  const std::string_view made(at, size);
  for (; count > 0; --count, at += unit.size()) unit.copy(at, unit.size());
  out.append(Value::view(made));
  return rt.charge_bytes(size);
}

/// ascii(): only what repr() left outside ASCII becomes an escape, in the shortest of \x, \u and \U. All else stays a
/// piece of the original.
Value to_ascii(Runtime& rt, Value repr) {
  const std::string_view bytes = text(rt, repr);
  if (utf8::is_ascii(bytes)) return repr;
  StringBuilder out(rt);
  std::size_t from = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [c, size] = utf8::decode(bytes.data() + at, bytes.data() + bytes.size());
    if (c >= 0x80) {
      const std::string digits = hex_digits(c);
      const std::size_t width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
      std::string escape = c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U";
      escape.append(width - digits.size(), '0').append(digits);
      out.append(repr, from, at);
      out.append_derived(escape, repr, at);
      from = at + size;
    }
    at += size;
  }
  out.append(repr, from, bytes.size());
  return out.finish(repr.is_markup());
}

int integer_base(char32_t code) {
  const BaseRow* row = base_row(code);
  return row == nullptr ? 10 : row->base;
}

std::string_view integer_prefix(char32_t code) {
  const BaseRow* row = base_row(code);
  return row == nullptr ? std::string_view() : row->prefix;
}

void uppercase(std::string& ascii) {
  for (char& c : ascii) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
}

std::string hex_digits(std::uint32_t number) {
  char digits[8];
  return {digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr};
}

}  // namespace parlance
