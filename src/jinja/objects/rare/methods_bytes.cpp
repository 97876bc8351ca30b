// bytes: what str.encode gives, its operators, and the methods that see bytes as numbers.
//
// Rules: CPython 3.11 Objects/bytesobject.c, Objects/bytes_methods.c. The methods that bytes shares
// with str are in methods_bytes_text.cpp. Begin reading at kBytesType, then the table.

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "jinja/objects/rare/codecs.h"
#include "value/iterate.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

std::string_view bytes_of(const Object* object) { return static_cast<const BytesObject*>(object)->bytes; }

constexpr std::string_view kHex = "0123456789abcdef";

/// repr(), and str() as well.
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
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      out += std::string("\\x") + kHex[static_cast<unsigned char>(c) >> 4] + kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return make_computed(rt, out + quote);
}

bool bytes_truth(Runtime&, Object* self) { return !bytes_of(self).empty(); }
std::int64_t bytes_length(Runtime&, Object* self) { return static_cast<std::int64_t>(bytes_of(self).size()); }

/// A byte of a text is no number that the template computed.
Value byte_value(char byte) {
  Value value = Value::of_int(static_cast<unsigned char>(byte));
  value.origin = kMixedSource;
  return value;
}

/// Values for all bytes at once, 16 bytes for each: bytes are rare in templates, and the limits bound them.
void bytes_iterate(Runtime& rt, Object* self, Iterator& it) {
  const std::string_view bytes = bytes_of(self);
  if (!rt.charge(bytes.size()) || !rt.reserve(bytes.size() * sizeof(Value))) return;
  auto* const values = rt.arena.allocate_array<Value>(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) values[i] = byte_value(bytes[i]);
  it.mode = Iterator::Mode::items;
  it.item = values;
  it.item_end = values + bytes.size();
}

Value bytes_item(Runtime& rt, Object* self, Value key) {
  const std::string_view bytes = bytes_of(self);
  if (key.kind != Kind::integer && key.kind != Kind::boolean) {
    return rt.fail(ErrorCode::type, "byte indices must be integers or slices, not " + std::string(type_name(key)), key);
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  // A big integer is out of range in any case, and the missing value makes the caller say so.
  const std::int64_t at = (key.flags & Value::kBig) != 0 ? size : key.integer < 0 ? key.integer + size : key.integer;
  if (at < 0 || at >= size) return {};
  return byte_value(bytes[static_cast<std::size_t>(at)]);
}

/// What a bytes method searches for: other bytes, or one byte as a number.
/// b'abc'.find(98) looks for the byte; a bool is an int here too.
bool read_needle(Runtime& rt, Value v, std::string& out) {
  if (is_object(v, kBytesType)) {
    out = bytes_of(v.object);
    return true;
  }
  if (v.kind != Kind::integer && v.kind != Kind::boolean) {
    rt.fail(ErrorCode::type, "argument should be integer or bytes-like object, not '" + std::string(type_name(v)) + "'",
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

/// start:stop:step of bytes.
Value bytes_slice(Runtime& rt, Object* self, Value start, Value stop, Value step) {
  const std::string_view bytes = bytes_of(self);
  SliceBounds bounds{};
  if (!read_slice(rt, static_cast<std::int64_t>(bytes.size()), start, stop, step, bounds)) return Value::invalid();
  if (!rt.charge_bytes(bytes.size())) return Value::invalid();
  std::string out;
  for (std::int64_t i = 0; i < bounds.count; ++i) {
    out += bytes[static_cast<std::size_t>(bounds.start + i * bounds.step)];
  }
  return make_bytes(rt, out);
}

int bytes_order(Runtime&, Object* a, Object* b) {
  const int order = bytes_of(a).compare(bytes_of(b));
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

std::uint64_t bytes_hash(Runtime&, Object* self) { return hash_text(bytes_of(self)); }

Value join_bytes(Runtime& rt, Value a, Value b) {
  const std::uint64_t size = std::uint64_t{bytes_of(a.object).size()} + bytes_of(b.object).size();
  if (!rt.charge_bytes(size) || !rt.reserve(size)) return Value::invalid();
  return make_bytes(rt, std::string(bytes_of(a.object)).append(bytes_of(b.object)));
}

Value repeat_bytes(Runtime& rt, Value self, Value count) {
  const std::string_view bytes = bytes_of(self.object);
  if ((count.flags & Value::kBig) != 0) {
    return rt.fail(ErrorCode::overflow, "cannot fit 'int' into an index-sized integer", count);
  }
  if (count.integer <= 0 || bytes.empty()) return make_bytes(rt, "");
  const auto times = static_cast<std::uint64_t>(count.integer);
  if (times >= Runtime::kMaxText / bytes.size()) {
    if (times > static_cast<std::uint64_t>(INT64_MAX) / bytes.size())
      return rt.fail(ErrorCode::overflow, "repeated bytes are too long", self);
    rt.reserve(Runtime::kMaxText);
    return Value::invalid();
  }
  if (!rt.charge_bytes(times * bytes.size()) || !rt.reserve(2 * times * bytes.size())) return Value::invalid();
  std::string out;
  for (std::uint64_t i = 0; i < times; ++i) out += bytes;
  return make_bytes(rt, out);
}

/// bytes + bytes, bytes * int.
Value bytes_binary(Runtime& rt, BinaryOperator op, Value a, Value b) {
  const bool left = is_object(a, kBytesType);
  if (op == BinaryOperator::add && left) {
    if (is_object(b, kBytesType)) return join_bytes(rt, a, b);
    return rt.fail(ErrorCode::type, "can't concat " + std::string(type_name(b)) + " to bytes", b);
  }
  if (op != BinaryOperator::multiply) return {};
  return is_integral(left ? b : a) ? repeat_bytes(rt, left ? a : b, left ? b : a) : Value{};
}

// ---- methods

std::string_view self_bytes(const Call& call) { return bytes_of(call[0].object); }

Value bytes_decode(Call& call) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!call[i].is_string()) {
      return fail_type(
          call, i, "decode() argument '" + std::string(call.builtin->bound.parameters[i].name) + "' must be str, not ");
    }
    std::string_view given;
    if (!utf8_argument(call, i, given)) return Value::invalid();
    if (given.find('\0') != given.npos) {
      return call.fail(ErrorCode::value, "embedded null character");
    }
  }
  const std::string_view bytes = self_bytes(call);
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 8)) return Value::invalid();
  std::string out;
  const bool fine = decode_bytes(call, bytes, text(call.rt, call[1]), text(call.rt, call[2]), out);
  return fine ? make_computed(call.rt, out) : Value::invalid();
}

/// What is neither str nor bytes fails for its length first, if it has one.
bool fail_separator(const Call& call) {
  const std::int64_t size = length_of(call.rt, call[1]);
  if (size < 0) return false;
  size == 1 ? call.fail(ErrorCode::type, "sep must be str or bytes.")
            : call.fail(ErrorCode::value, "sep must be length 1.");
  return false;
}

/// The sign between groups of hex(): one ASCII character of a str or bytes; 0 for none.
bool hex_separator(const Call& call, char& out) {
  out = 0;
  if (!call.given(1)) return true;
  std::string_view given;
  if (call[1].is_string()) {
    given = text(call.rt, call[1]);
  } else if (is_object(call[1], kBytesType)) {
    given = bytes_of(call[1].object);
  } else {
    return fail_separator(call);
  }
  if (given.size() != 1 || static_cast<unsigned char>(given[0]) >= 0x80) {
    const bool one = given.size() == 1 || (call[1].is_string() && utf8::count(given) == 1);
    call.fail(ErrorCode::value, one ? "sep must be ASCII." : "sep must be length 1.");
    return false;
  }
  out = given[0];
  return true;
}

/// hex(sep, n): groups of n bytes from the right, of -n from the left.
Value bytes_hex(Call& call) {
  const std::string_view bytes = self_bytes(call);
  char separator = 0;
  std::int64_t group = 0;
  // Python converts the number before it looks at the separator, so of two wrong ones the number is told.
  if (!small_argument(call, 2, group) || !hex_separator(call, separator)) return Value::invalid();
  if (!call.rt.charge_bytes(bytes.size()) || !call.rt.reserve(bytes.size() * 3)) return Value::invalid();
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::string out;
  for (std::int64_t i = 0; i < size; ++i) {
    // Groups count from the right, as digits of a number do; a negative size counts them from the left.
    const bool border = group > 0 ? (size - i) % group == 0 : group < 0 && i % group == 0;
    if (separator != 0 && i > 0 && border) out += separator;
    const auto byte = static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return make_computed(call.rt, out);
}

Value bytes_fromhex(Call& call) {
  if (!call[1].is_string()) return fail_type(call, 1, "fromhex() argument must be str, not ");
  const std::string_view digits = text(call.rt, call[1]);
  if (!call.rt.charge_bytes(digits.size()) || !call.rt.reserve(digits.size())) return Value::invalid();
  const auto value_at = [&](std::size_t i) {
    const char c = i < digits.size() ? digits[i] : ' ';
    return kHex.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c);
  };
  std::string out;
  for (std::size_t i = 0; i < digits.size();) {
    if (std::string_view(" \t\n\v\f\r").find(digits[i]) != std::string_view::npos) {
      ++i;
      continue;
    }
    for (std::size_t k = i; k < i + 2; ++k) {
      if (value_at(k) != std::string_view::npos) continue;
      return call.fail(ErrorCode::value, "non-hexadecimal number found in fromhex() arg at position " +
                                             std::to_string(utf8::count(digits.substr(0, k))));
    }
    out += static_cast<char>(value_at(i) << 4 | value_at(i + 1));
    i += 2;
  }
  return make_bytes(call.rt, out);
}

Value bytes_isascii(Call& call) { return Value::boolean(utf8::is_ascii(self_bytes(call))); }

/// Argument i, which must be bytes.
bool bytes_argument(const Call& call, std::size_t i, std::string_view& out) {
  if (is_object(call[i], kBytesType)) {
    out = bytes_of(call[i].object);
    return true;
  }
  call.fail(ErrorCode::type, "a bytes-like object is required, not '" + std::string(type_name(call[i])) + "'");
  return false;
}

constexpr std::size_t kTable = 256;

std::string identity_table() {
  std::string table;
  for (std::size_t i = 0; i < kTable; ++i) table += static_cast<char>(i);
  return table;
}

Value bytes_maketrans(Call& call) {
  std::string_view from;
  std::string_view to;
  if (!bytes_argument(call, 1, from) || !bytes_argument(call, 2, to)) return Value::invalid();
  if (from.size() != to.size()) {
    return call.fail(ErrorCode::value, "maketrans arguments must have same length");
  }
  std::string table = identity_table();
  for (std::size_t i = 0; i < from.size(); ++i) table[static_cast<unsigned char>(from[i])] = to[i];
  return make_bytes(call.rt, table);
}

Value bytes_translate(Call& call) {
  const std::string identity = identity_table();
  std::string_view table = identity;
  std::string_view deleted;
  if (!call[1].is_none() && !bytes_argument(call, 1, table)) return Value::invalid();
  if (table.size() != kTable) {
    return call.fail(ErrorCode::value, "translation table must be 256 characters long");
  }
  if (call.given(2) && !bytes_argument(call, 2, deleted)) return Value::invalid();
  const std::string_view bytes = self_bytes(call);
  if (!call.rt.charge(bytes.size())) return Value::invalid();
  std::string out;
  for (char c : bytes) {
    if (deleted.find(c) == std::string_view::npos) out += table[static_cast<unsigned char>(c)];
  }
  return make_bytes(call.rt, out);
}

constexpr Builtin kBytesMethods[] = {
    {"decode", "", "self, /, encoding='utf-8', errors='strict'", bytes_decode, "The string that the bytes encode.",
     "{{ 'é'.encode().decode() }} -> é"},
    {"fromhex", "", "self, string, /", bytes_fromhex, "The bytes that hexadecimal digits spell.",
     "{{ ''.encode().fromhex('61 62') }} -> b'ab'"},
    {"hex", "", "self, /, sep=missing, bytes_per_sep=1", bytes_hex,
     "Two hexadecimal digits for each byte, with `sep` between groups.", "{{ 'é'.encode().hex() }} -> c3a9"},
    {"isascii", "", "self, /", bytes_isascii, "Whether every byte is ASCII.", "{{ 'é'.encode().isascii() }} -> False"},
    {"maketrans", "", "self, frm, to, /", bytes_maketrans,
     "A table for translate, from two runs of bytes of equal length.",
     "{{ 'ab'.encode().translate(''.encode().maketrans('a'.encode(), 'x'.encode())) }} -> b'xb'"},
    {"translate", "", "self, table, /, delete=missing", bytes_translate,
     "Every byte replaced by what the table has for it, without those in `delete`.",
     "{{ 'abc'.encode().translate(none, 'b'.encode()) }} -> b'ac'"},
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
    .get_slice = bytes_slice,
    .binary = bytes_binary,
    .order = bytes_order,
    .hash = bytes_hash,
};

Value make_bytes(Runtime& rt, std::string_view bytes) {
  if (!rt.reserve(bytes.size())) return Value::invalid();
  auto* const object = rt.arena.make<BytesObject>();
  object->type = &kBytesType;
  object->bytes = rt.arena.copy_text(bytes);
  return object_value(object);
}

std::span<const Builtin> bytes_methods() { return kBytesMethods; }

}  // namespace parlance::jinja
