// bytes: what str.encode gives, and its commonest methods.
//
// Rules: CPython 3.11 Objects/bytesobject.c. A template meets bytes only through str.encode and
// int.to_bytes, so there is what one does with those: look, search, decode, print.
// Begin reading at kBytesType, then the table.

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "jinja/methods.h"
#include "value/format_parts.h"
#include "value/iterate.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

std::string_view bytes_of(const Object* object) {
  return static_cast<const BytesObject*>(object)->bytes;
}

constexpr std::string_view kHex = "0123456789abcdef";

Value bytes_text(Runtime& rt, Object* self, bool) {
  const std::string_view bytes = bytes_of(self);
  if (!rt.charge_bytes(bytes.size()) || !rt.reserve(bytes.size() * 4)) return Value::invalid();
  const bool has_single = bytes.find('\'') != bytes.npos;
  const char quote = has_single && bytes.find('"') == bytes.npos ? '"' : '\'';
  std::string out = std::string("b") + quote;
  for (char c : bytes) {
    if (c == quote || c == '\\') {
      out += std::string("\\") + c;
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
    } else if (c < ' ' || c == '\x7f') {
      out += std::string("\\x") + kHex[static_cast<unsigned char>(c) >> 4] +
             kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return make_computed(rt, out + quote);
}

bool bytes_truth(Runtime&, Object* self) { return !bytes_of(self).empty(); }
std::int64_t bytes_length(Runtime&, Object* self) {
  return static_cast<std::int64_t>(bytes_of(self).size());
}

void bytes_iterate(Runtime& rt, Object* self, Iterator& it) {
  const std::string_view bytes = bytes_of(self);
  if (!rt.charge(bytes.size()) || !rt.reserve(bytes.size() * sizeof(Value))) return;
  auto* const values = rt.arena.allocate_array<Value>(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    values[i] = Value::of_int(static_cast<unsigned char>(bytes[i]));
  it.mode = Iterator::Mode::items;
  it.item = values;
  it.item_end = values + bytes.size();
}

Value bytes_item(Runtime& rt, Object* self, Value key) {
  const std::string_view bytes = bytes_of(self);
  if (key.kind != Kind::integer && key.kind != Kind::boolean) {
    return rt.fail(ErrorCode::type,
                   "byte indices must be integers or slices, not " + std::string(type_name(key)),
                   key);
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::int64_t at = (key.flags & Value::kBig) != 0 ? size
                          : key.integer < 0              ? key.integer + size
                                                         : key.integer;
  if (at < 0 || at >= size) return {};
  return Value::of_int(static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]));
}

/// What a bytes method searches for: other bytes, or one byte as a number.
bool read_needle(Runtime& rt, Value v, std::string& out) {
  if (is_object(v, kBytesType)) {
    out = bytes_of(v.object);
    return true;
  }
  if (v.kind != Kind::integer && v.kind != Kind::boolean) {
    rt.fail(
        ErrorCode::type,
        "argument should be integer or bytes-like object, not '" + std::string(type_name(v)) + "'",
        v);
    return false;
  }
  if ((v.flags & Value::kBig) != 0 || v.integer < 0 || v.integer > 255) {
    rt.fail(ErrorCode::value, "byte must be in range(0, 256)", v);
    return false;
  }
  out = static_cast<char>(v.integer);
  return true;
}

bool bytes_contain(Runtime& rt, Object* self, Value item) {
  std::string needle;
  if (!read_needle(rt, item, needle)) return false;
  return needle.empty() || Finder(rt, needle).next(bytes_of(self), 0) != std::string_view::npos;
}

bool bytes_equal(Runtime&, Object* a, Object* b) { return bytes_of(a) == bytes_of(b); }

// ---- methods

std::string_view self_bytes(const Call& call) { return bytes_of(call[0].object); }

/// The one affix or separator that startswith and its kin are given.
bool bytes_argument(const Call& call, std::size_t i, std::string_view& out) {
  if (is_object(call[i], kBytesType)) {
    out = bytes_of(call[i].object);
    return true;
  }
  call.fail(ErrorCode::type,
            "a bytes-like object is required, not '" + std::string(type_name(call[i])) + "'");
  return false;
}

Value fail_decode(Call& call, std::string_view codec, std::size_t at, std::string_view reason) {
  const auto byte = static_cast<unsigned char>(self_bytes(call)[at]);
  return call.fail(ErrorCode::unicode_decode, "'" + std::string(codec) +
                                                  "' codec can't decode byte 0x" + kHex[byte >> 4] +
                                                  kHex[byte & 15] + " in position " +
                                                  std::to_string(at) + ": " + std::string(reason));
}

/// Decodes as UTF-8 (or ASCII, a part of it): what is malformed is refused, left out or replaced.
Value decode_utf8(Call& call, std::string_view errors, bool only_ascii) {
  const std::string_view bytes = self_bytes(call);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [c, size] = utf8::decode(bytes.data() + at, bytes.data() + bytes.size());
    const bool fine = static_cast<unsigned char>(bytes[at]) < 0x80 ||
                      (!only_ascii && size > 1 && !utf8::is_surrogate(c));
    if (fine) {
      out.append(bytes.substr(at, size));
    } else if (errors == "replace") {
      utf8::append(out, utf8::kReplacement);
    } else if (errors != "ignore") {
      return only_ascii ? fail_decode(call, "ascii", at, "ordinal not in range(128)")
                        : fail_decode(call, "utf-8", at, "invalid start byte");
    }
    at += fine ? size : 1;
  }
  return make_computed(call.rt, out);
}

Value bytes_decode(Call& call) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (call[i].is_string()) continue;
    return fail_type(call, i,
                     "decode() argument '" + std::string(call.builtin->bound.parameters[i].name) +
                         "' must be str, not ");
  }
  const std::string_view bytes = self_bytes(call);
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 3))
    return Value::invalid();
  const std::string_view name = text(call.rt, call[1]);
  const std::string_view errors = text(call.rt, call[2]);
  if (name == "utf-8" || name == "utf8" || name == "UTF-8") return decode_utf8(call, errors, false);
  if (name == "ascii") return decode_utf8(call, errors, true);
  if (name != "latin-1" && name != "latin1" && name != "iso-8859-1") {
    return call.fail(ErrorCode::lookup, "unknown encoding: " + std::string(name));
  }
  std::string out;
  for (char c : bytes) utf8::append(out, static_cast<unsigned char>(c));
  return make_computed(call.rt, out);
}

Value bytes_hex(Call& call) {
  const std::string_view bytes = self_bytes(call);
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 2))
    return Value::invalid();
  std::string out;
  for (char c : bytes) {
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
  return make_computed(call.rt, out);
}

Value bytes_find(Call& call) {
  std::string needle;
  if (!read_needle(call.rt, call[1], needle)) return Value::invalid();
  const std::size_t at = needle.empty() ? 0 : Finder(call.rt, needle).next(self_bytes(call), 0);
  if (call.rt.failed()) return Value::invalid();
  return Value::of_int(at == std::string_view::npos ? -1 : static_cast<std::int64_t>(at));
}

Value bytes_count(Call& call) {
  std::string needle;
  if (!read_needle(call.rt, call[1], needle)) return Value::invalid();
  const std::string_view bytes = self_bytes(call);
  if (needle.empty()) return Value::of_int(static_cast<std::int64_t>(bytes.size()) + 1);
  Finder finder(call.rt, needle);
  std::int64_t found = 0;
  for (std::size_t at = finder.next(bytes, 0); at != bytes.npos;
       at = finder.next(bytes, at + needle.size()))
    ++found;
  return call.rt.failed() ? Value::invalid() : Value::of_int(found);
}

template <bool at_start>
Value bytes_affix(Call& call) {
  std::string_view affix;
  if (!is_object(call[1], kBytesType)) {
    return call.fail(ErrorCode::type, std::string(call.builtin->name) +
                                          " first arg must be bytes or a tuple of bytes, not " +
                                          std::string(type_name(call[1])));
  }
  bytes_argument(call, 1, affix);
  return Value::boolean(at_start ? self_bytes(call).starts_with(affix)
                                 : self_bytes(call).ends_with(affix));
}

template <bool upper>
Value bytes_case(Call& call) {
  const std::string_view bytes = self_bytes(call);
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size()))
    return Value::invalid();
  std::string out(bytes);
  for (char& c : out) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return make_bytes(call.rt, out);
}

Value bytes_split(Call& call) {
  std::string_view separator;
  if (!bytes_argument(call, 1, separator)) return Value::invalid();
  if (separator.empty()) return call.fail(ErrorCode::value, "empty separator");
  const std::string_view bytes = self_bytes(call);
  ListBuilder list(call.rt);
  Finder finder(call.rt, separator);
  std::size_t from = 0;
  for (std::size_t at = 0; (at = finder.next(bytes, from)) != bytes.npos;
       from = at + separator.size()) {
    if (!call.rt.charge(1) || !call.rt.reserve(64)) return Value::invalid();
    list.append(make_bytes(call.rt, bytes.substr(from, at - from)));
  }
  list.append(make_bytes(call.rt, bytes.substr(from)));
  return call.rt.failed() ? Value::invalid() : list.finish();
}

constexpr Builtin kRows[] = {
    {"count", "", "self, sub, /", bytes_count, "How often `sub` occurs without overlapping.",
     "{{ 'banana'.encode().count('an'.encode()) }} -> 2"},
    {"decode", "", "self, /, encoding='utf-8', errors='strict'", bytes_decode,
     "The text that the bytes encode.", "{{ 'é'.encode().decode() }} -> é"},
    {"endswith", "", "self, suffix, /", bytes_affix<false>, "Whether the bytes end with `suffix`.",
     "{{ 'ab'.encode().endswith('b'.encode()) }} -> True"},
    {"find", "", "self, sub, /", bytes_find, "The first position of `sub`, or -1.",
     "{{ 'ab'.encode().find('b'.encode()) }} -> 1"},
    {"hex", "", "self, /", bytes_hex, "Two hexadecimal digits for each byte.",
     "{{ 'é'.encode().hex() }} -> c3a9"},
    {"lower", "", "self, /", bytes_case<false>, "ASCII letters in lower case.",
     "{{ 'AB'.encode().lower() }} -> b'ab'"},
    {"split", "", "self, sep, /", bytes_split, "The parts between separators.",
     "{{ 'a-b'.encode().split('-'.encode()) }} -> [b'a', b'b']"},
    {"startswith", "", "self, prefix, /", bytes_affix<true>,
     "Whether the bytes begin with `prefix`.",
     "{{ 'ab'.encode().startswith('a'.encode()) }} -> True"},
    {"upper", "", "self, /", bytes_case<true>, "ASCII letters in upper case.",
     "{{ 'ab'.encode().upper() }} -> b'AB'"},
};

}  // namespace

const ObjectType kBytesType = {
    .name = "bytes",
    .to_text = bytes_text,
    .truth = bytes_truth,
    .length = bytes_length,
    .iterate = bytes_iterate,
    .get_item = bytes_item,
    .contains = bytes_contain,
    .equal = bytes_equal,
    .is_sequence = true,
};

Value make_bytes(Runtime& rt, std::string_view bytes) {
  if (!rt.reserve(bytes.size())) return Value::invalid();
  auto* const object = rt.arena.make<BytesObject>();
  object->type = &kBytesType;
  object->bytes = rt.arena.copy_text(bytes);
  return object_value(object);
}

std::span<const Builtin> bytes_methods() { return kRows; }

}  // namespace parlance::jinja
