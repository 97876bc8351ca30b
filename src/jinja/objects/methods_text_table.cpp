// str methods about single characters and their codes: encode, maketrans, translate.
//
// Rules: CPython 3.11 Objects/unicodeobject.c (translate, maketrans); the encodings are in codecs.h.
// Begin reading at text_encode and text_translate.

#include <string>

#include "base/utf8.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "jinja/objects/rare/codecs.h"
#include "value/iterate.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

// ---- encode

Value text_encode(Call& call) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!call[i].is_string()) {
      return fail_type(
          call, i, "encode() argument '" + std::string(call.builtin->bound.parameters[i].name) + "' must be str, not ");
    }
    std::string_view given;
    if (!utf8_argument(call, i, given)) return Value::invalid();
    if (given.find('\0') != given.npos) {
      return call.fail(ErrorCode::value, "embedded null character");
    }
  }
  const std::string_view bytes = text(call.rt, call[0]);
  const std::string_view encoding = text(call.rt, call[1]), errors = text(call.rt, call[2]);
  constexpr std::size_t kLongest = 12;  // what a byte may become
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * kLongest)) return Value::invalid();
  std::string out;
  const bool fits = encode_text(call, bytes, encoding, errors, out);
  return fits ? make_bytes(call.rt, out) : Value::invalid();
}

// ---- maketrans

char32_t only_character(std::string_view bytes) {
  return utf8::decode(bytes.data(), bytes.data() + bytes.size()).code_point;
}

Value maketrans_from_dict(Call& call) {
  if (call[1].kind != Kind::dict) {
    return call.fail(ErrorCode::type, "if you give only one argument to maketrans it must be a dict");
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
    return call.fail(ErrorCode::type, "first maketrans argument must be a string if there is a second argument");
  }
  if (!call[2].is_string()) return fail_type(call, 2, "maketrans() argument 2 must be str, not ");
  const bool deletes = call.given(3);
  if (deletes && !call[3].is_string()) return fail_type(call, 3, "maketrans() argument 3 must be str, not ");
  if (length(call.rt, call[1]) != length(call.rt, call[2])) {
    return call.fail(ErrorCode::value, "the first two maketrans arguments must have equal length");
  }
  DictBuilder out(call.rt);
  const auto each = [&](std::string_view from, std::string_view to) {
    for (std::size_t i = 0, j = 0; i < from.size() && call.rt.charge(1) && call.rt.reserve(64);) {
      const auto key = utf8::decode(from.data() + i, from.data() + from.size());
      const auto image = utf8::decode(to.data() + j, to.data() + to.size());
      out.set(Value::of_int(key.code_point), image.size == 0 ? Value::none() : Value::of_int(image.code_point));
      i += key.size;
      j += image.size;
    }
  };
  each(text(call.rt, call[1]), text(call.rt, call[2]));
  if (deletes) each(text(call.rt, call[3]), {});
  return call.rt.failed() ? Value::invalid() : out.finish();
}

Value text_maketrans(Call& call) { return call.given(2) ? maketrans_from_strings(call) : maketrans_from_dict(call); }

// ---- translate

/// table[c], where a missing key means "leave the character alone" (missing).
Value look_up(Call& call, Value table, char32_t c) {
  const Value missing = left_out();
  if (table.kind == Kind::dict) {
    const DictEntry* entry = find(call.rt, *table.dict, Value::of_int(c));
    return entry == nullptr ? missing : entry->value;
  }
  if (table.is_sequence()) return c < table.list->size ? table.list->items[c] : missing;
  if (table.is_string() && c >= length(call.rt, table)) return call.rt.failed() ? Value::invalid() : missing;
  if (is_object(table, kBytesType) && c >= static_cast<std::uint64_t>(length_of(call.rt, table))) {
    return missing;
  }
  return subscript(call.rt, table, Value::of_int(c));
}

/// Appends what the table gives for one character; the character itself is bytes [begin, end) of
/// self.
bool append_translated(Call& call, StringBuilder& out, Value image, std::size_t begin, std::size_t end) {
  if (image.is_invalid()) return false;
  if (is_left_out(image)) {
    out.append(cut(call.rt, call[0], begin, end));
  } else if (image.is_string()) {
    out.append(image);
  } else if (image.kind == Kind::integer || image.kind == Kind::boolean) {
    if ((image.flags & Value::kBig) != 0 || image.integer < 0 || image.integer > utf8::kMaxCodePoint) {
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
    if (!append_translated(call, out, look_up(call, call[1], c), at, at + size)) return Value::invalid();
    at += size;
  }
  return out.finish(call[0].is_markup());
}

constexpr Builtin kTextTableMethods[] = {
    {"encode", "", "self, /, encoding='utf-8', errors='strict'", text_encode,
     "The bytes of the string in an encoding (utf-8, utf-16, utf-32, ascii, latin-1 or cp1252).",
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
  fail_surrogate(call, out);
  return false;
}

std::span<const Builtin> text_table_methods() { return kTextTableMethods; }

}  // namespace parlance::jinja
