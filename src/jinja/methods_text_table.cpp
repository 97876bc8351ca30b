// str methods about single characters and their codes: encode, maketrans, translate.
//
// Rules: CPython 3.11 Objects/unicodeobject.c (translate, maketrans) and Python/codecs.c (what an
// error handler puts in the place of a character). Begin reading at text_encode and text_translate.

#include <array>
#include <string>

#include "base/utf8.h"
#include "jinja/methods.h"
#include "value/format_parts.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

// ---- encode

/// An encoding by what it can hold: code points below `limit`, written as UTF-8 or as single bytes.
struct Encoding {
  std::string_view
      names;  ///< normalised: lower case, '-' for every other sign; separated by blanks
  std::string_view shown;  ///< as CPython's messages name it
  char32_t limit;
};

constexpr std::array<Encoding, 3> kEncodings = {{
    {"utf-8 utf8 u8 utf cp65001", "utf-8", 0x110000},
    {"ascii us-ascii 646 ansi-x3.4-1968 iso646-us", "ascii", 0x80},
    {"latin-1 latin1 latin iso-8859-1 iso8859-1 8859 cp819 l1", "latin-1", 0x100},
}};

std::string normalised(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    out += c == '_' || c == ' ' ? '-' : c;
  }
  return out;
}

const Encoding* find_encoding(std::string_view name) {
  const std::string wanted = " " + normalised(name) + " ";
  for (const Encoding& row : kEncodings) {
    if ((" " + std::string(row.names) + " ").find(wanted) != std::string::npos) return &row;
  }
  return nullptr;
}

bool fits(const Encoding& encoding, char32_t c) {
  return c < encoding.limit && !utf8::is_surrogate(c);
}

std::string backslashed(char32_t c) {
  const std::string digits = hex_digits(c);
  const std::size_t width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  const std::string_view mark = c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U";
  return std::string(mark) + std::string(width - digits.size(), '0') + digits;
}

/// What error handler `errors` writes for a character that does not fit; false if it refuses.
bool handle_unencodable(const Encoding& encoding, std::string_view errors, char32_t c,
                        std::string& out) {
  if (errors == "ignore") return true;
  if (errors == "replace") return out += '?', true;
  if (errors == "xmlcharrefreplace")
    return out += "&#" + std::to_string(std::uint32_t{c}) + ";", true;
  if (errors == "backslashreplace") return out += backslashed(c), true;
  if (errors == "surrogatepass" && encoding.limit > 0xFFFF) return utf8::append(out, c), true;
  if (errors == "surrogateescape" && c >= 0xDC80 && c <= 0xDCFF)
    return out += static_cast<char>(c - 0xDC00), true;
  return false;
}

constexpr std::array<std::string_view, 7> kHandlers = {
    "strict",           "ignore",        "replace",        "xmlcharrefreplace",
    "backslashreplace", "surrogatepass", "surrogateescape"};

bool is_handler(std::string_view name) {
  for (std::string_view known : kHandlers) {
    if (known == name) return true;
  }
  return false;
}

/// The characters from `at` on that do not fit, which CPython's message shows as one range.
Value fail_encode(const Call& call, const Encoding& encoding, std::string_view bytes,
                  std::size_t at) {
  const char* const end = bytes.data() + bytes.size();
  const char32_t first = utf8::decode(bytes.data() + at, end).code_point;
  std::size_t stop = at;
  std::size_t count = 0;
  while (stop < bytes.size()) {
    const auto [c, size] = utf8::decode(bytes.data() + stop, end);
    if (fits(encoding, c)) break;
    stop += size;
    ++count;
  }
  const std::size_t index = utf8::count(bytes.substr(0, at));
  const std::string_view reason = encoding.limit > 0xFFFF  ? "surrogates not allowed"
                                  : encoding.limit == 0x80 ? "ordinal not in range(128)"
                                                           : "ordinal not in range(256)";
  std::string message = "'" + std::string(encoding.shown) + "' codec can't encode character";
  if (count == 1) {
    message += " '" + backslashed(first) + "' in position " + std::to_string(index);
  } else {
    message += "s in position " + std::to_string(index) + "-" + std::to_string(index + count - 1);
  }
  return call.fail(ErrorCode::unicode_encode, message + ": " + std::string(reason));
}

Value text_encode(Call& call) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!call[i].is_string()) {
      return fail_type(call, i,
                       "encode() argument '" + std::string(call.builtin->bound.parameters[i].name) +
                           "' must be str, not ");
    }
    std::string_view given;
    if (!utf8_argument(call, i, given)) return Value::invalid();
    if (given.find('\0') != given.npos) {
      return call.fail(ErrorCode::value, "embedded null character");
    }
  }
  const std::string_view name = text(call.rt, call[1]);
  const Encoding* encoding = find_encoding(name);
  if (encoding == nullptr) {
    return call.fail(ErrorCode::lookup, "unknown encoding: " + std::string(name));
  }
  const std::string_view bytes = text(call.rt, call[0]);
  const std::string_view errors = text(call.rt, call[2]);
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 4))
    return Value::invalid();
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [c, size] = utf8::decode(bytes.data() + at, bytes.data() + bytes.size());
    if (fits(*encoding, c)) {
      encoding->limit > 0xFFFF ? utf8::append(out, c) : out.push_back(static_cast<char>(c));
    } else if (!is_handler(errors)) {
      return call.fail(ErrorCode::lookup,
                       "unknown error handler name '" + std::string(errors) + "'");
    } else if (!handle_unencodable(*encoding, errors, c, out)) {
      return fail_encode(call, *encoding, bytes, at);
    }
    at += size;
  }
  return make_bytes(call.rt, out);
}

// ---- maketrans

char32_t only_character(std::string_view bytes) {
  return utf8::decode(bytes.data(), bytes.data() + bytes.size()).code_point;
}

Value maketrans_from_dict(Call& call) {
  if (call[1].kind != Kind::dict) {
    return call.fail(ErrorCode::type,
                     "if you give only one argument to maketrans it must be a dict");
  }
  DictBuilder out(call.rt, call[1].dict->size);
  for (const DictEntry& entry : entries(call[1])) {
    Value key = entry.key;
    if (key.is_string()) {
      if (length(call.rt, key) != 1) {
        return call.fail(ErrorCode::value, "string keys in translate table must be of length 1");
      }
      key = Value::of_int(only_character(leaf_text(key)));
    } else if (key.kind != Kind::integer && key.kind != Kind::boolean) {
      return call.fail(ErrorCode::type, "keys in translate table must be strings or integers");
    }
    if (!out.set(key, entry.value)) return Value::invalid();
  }
  return out.finish();
}

Value maketrans_from_strings(Call& call) {
  if (!call[1].is_string()) {
    return call.fail(ErrorCode::type,
                     "first maketrans argument must be a string if there is a second argument");
  }
  if (!call[2].is_string()) return fail_type(call, 2, "maketrans() argument 2 must be str, not ");
  const bool deletes = call.given(3);
  if (deletes && !call[3].is_string())
    return fail_type(call, 3, "maketrans() argument 3 must be str, not ");
  if (length(call.rt, call[1]) != length(call.rt, call[2])) {
    return call.fail(ErrorCode::value, "the first two maketrans arguments must have equal length");
  }
  DictBuilder out(call.rt);
  const auto each = [&](std::string_view from, std::string_view to) {
    for (std::size_t i = 0, j = 0; i < from.size() && call.rt.charge(1) && call.rt.reserve(64);) {
      const auto key = utf8::decode(from.data() + i, from.data() + from.size());
      const auto image = utf8::decode(to.data() + j, to.data() + to.size());
      out.set(Value::of_int(key.code_point),
              image.size == 0 ? Value::none() : Value::of_int(image.code_point));
      i += key.size;
      j += image.size;
    }
  };
  each(text(call.rt, call[1]), text(call.rt, call[2]));
  if (deletes) each(text(call.rt, call[3]), {});
  return call.rt.failed() ? Value::invalid() : out.finish();
}

Value text_maketrans(Call& call) {
  return call.given(2) ? maketrans_from_strings(call) : maketrans_from_dict(call);
}

// ---- translate

/// table[c], where a missing key means "leave the character alone" (missing).
Value look_up(Call& call, Value table, char32_t c) {
  Value missing;
  missing.flags = Value::kMissing;
  if (table.kind == Kind::dict) {
    const DictEntry* entry = find(call.rt, *table.dict, Value::of_int(c));
    return entry == nullptr ? missing : entry->value;
  }
  if (table.is_sequence()) return c < table.list->size ? table.list->items[c] : missing;
  if (table.is_string() && c >= length(call.rt, table))
    return call.rt.failed() ? Value::invalid() : missing;
  return subscript(call.rt, table, Value::of_int(c));
}

/// Appends what the table gives for one character; the character itself is bytes [begin, end) of
/// self.
bool append_translated(Call& call, StringBuilder& out, Value image, std::size_t begin,
                       std::size_t end) {
  if (image.is_invalid()) return false;
  if (image.is_undefined() && (image.flags & Value::kMissing) != 0) {
    out.append(cut(call.rt, call[0], begin, end));
  } else if (image.is_string()) {
    out.append(image);
  } else if (image.kind == Kind::integer || image.kind == Kind::boolean) {
    if ((image.flags & Value::kBig) != 0 || image.integer < 0 ||
        image.integer > utf8::kMaxCodePoint) {
      call.fail(ErrorCode::value, "character mapping must be in range(0x110000)");
      return false;
    }
    std::string character;
    utf8::append(character, static_cast<char32_t>(image.integer));
    out.append_derived(character, call[0], begin);
  } else if (!image.is_none()) {
    call.fail(ErrorCode::type, "character mapping must return integer, None or str");
    return false;
  }
  return true;
}

Value text_translate(Call& call) {
  const std::string_view bytes = text(call.rt, call[0]);
  StringBuilder out(call.rt);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [c, size] = utf8::decode(bytes.data() + at, bytes.data() + bytes.size());
    if (!call.rt.charge(1) || !call.rt.reserve(64)) return Value::invalid();
    if (!append_translated(call, out, look_up(call, call[1], c), at, at + size))
      return Value::invalid();
    at += size;
  }
  return out.finish(call[0].is_markup());
}

constexpr Builtin kRows[] = {
    {"encode", "", "self, /, encoding='utf-8', errors='strict'", text_encode,
     "The bytes of the string in an encoding (utf-8, ascii or latin-1).",
     "{{ 'é'.encode() }} -> b'\\xc3\\xa9'"},
    {"maketrans", "", "self, x, y=missing, z=missing, /", text_maketrans,
     "A table for translate: from a dict, or from two strings of equal length and one to delete.",
     "{{ ''.maketrans('a', 'b') }} -> {97: 98}"},
    {"translate", "", "self, table, /", text_translate,
     "Every character replaced by what the table says about its code.",
     "{{ 'abc'.translate({97: 'x', 98: none}) }} -> xc"},
};

}  // namespace

bool utf8_argument(const Call& call, std::size_t i, std::string_view& out) {
  out = text(call.rt, call[i]);
  if (!utf8::has_surrogates(out)) return !call.rt.failed();
  std::size_t at = 0;
  while (fits(kEncodings[0], utf8::decode(out.data() + at, out.data() + out.size()).code_point)) {
    at += utf8::decode(out.data() + at, out.data() + out.size()).size;
  }
  fail_encode(call, kEncodings[0], out, at);
  return false;
}

std::span<const Builtin> text_table_methods() { return kRows; }

}  // namespace parlance::jinja
