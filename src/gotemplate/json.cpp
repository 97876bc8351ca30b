// JSON as Go writes it. Begin reading at JsonEncoder::value.
#include "gotemplate/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "gotemplate/number.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {
namespace {

/// Bytes that do not stand for themselves in a JSON string, or begin something that may not.
constexpr auto kSpecial = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c < 0x20; ++c) special[c] = true;
  for (const char c : std::string_view("\"\\<>&")) special[static_cast<unsigned char>(c)] = true;
  for (std::size_t c = 0x80; c < 0x100; ++c) special[c] = true;
  return special;
}();

constexpr char kHex[] = "0123456789abcdef";

/// encoding/json writes these letters; every other control character, < > & and U+2028/9 are \u00XX, since Go's default
/// is that JSON may be put into HTML.
char json_escape_letter(char32_t c) {
  switch (c) {
    case '"':
    case '\\': return static_cast<char>(c);
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return '\0';
  }
}

char* put_escape(char* at, char32_t c) {
  *at++ = '\\';
  if (const char letter = json_escape_letter(c); letter != '\0') {
    *at++ = letter;
    return at;
  }
  *at++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *at++ = kHex[c >> shift & 0xF];
  return at;
}

/// Writes one special byte, or the character it begins; moves `p` past it.
char* put_special(char* at, const char*& p, const char* end) {
  if (static_cast<unsigned char>(*p) < 0x80) return put_escape(at, static_cast<unsigned char>(*p++));
  const utf8::Decoded next = decode_go(p, end);
  const bool malformed = next.size == 1;
  if (malformed || next.code_point == 0x2028 || next.code_point == 0x2029) {
    p += next.size;
    return put_escape(at, next.code_point);
  }
  for (std::uint32_t i = 0; i < next.size; ++i) *at++ = *p++;
  return at;
}

class JsonEncoder {
 public:
  JsonEncoder(Runtime& rt, Sink& sink) : rt_(rt), sink_(sink) {}

  bool value(Value v) {
    if (is_text(v)) return text(v);
    return other_value(v);
  }

 private:
  bool other_value(Value v);
  bool text(Value v);
  const char* escaped(const char* p, const char* end_of_piece, const char* end);
  bool number(Value v);
  bool real(double d);
  bool base64(Value bytes);
  bool list(Value v);
  bool structure(Value v);
  bool map(Value v, bool sorted);
  bool key(Value name);
  /// What omitempty leaves out: nil, and what has a length, of length 0. An interface or pointer is
  /// empty only when nil.
  static bool is_empty(const Field& field, Value v) {
    const GoKind kind = facts(field.type).kind;
    return is_nil(v) || (kind != GoKind::interface && kind != GoKind::pointer && length_of(v) == 0);
  }

  Runtime& rt_;
  Sink& sink_;
};

/// Up to the end of a piece, or of the character that crosses it; gives where it came to.
const char* JsonEncoder::escaped(const char* p, const char* end_of_piece, const char* end) {
  constexpr std::size_t kWorst = 6;
  constexpr std::size_t kSlice = 1024;
  while (p < end_of_piece) {
    // A slice may end inside a character: decoding looks to the end of the text.
    const auto left = static_cast<std::size_t>(end_of_piece - p);
    const char* const stop = p + std::min(kSlice, left);
    char* at = sink_.reserve((static_cast<std::size_t>(stop - p) + 4) * kWorst);
    if (at == nullptr) return end;
    while (p < stop) {
      if (kSpecial[static_cast<unsigned char>(*p)]) {
        at = put_special(at, p, end);
      } else {
        *at++ = *p++;
      }
    }
    sink_.advance_to(at);
  }
  return p;
}

/// Each piece of the text is what its own bytes are derived from.
bool JsonEncoder::text(Value v) {
  const std::string_view bytes = sink_.flat(v);
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  const char* end_of_piece = p;
  sink_.from(v);
  sink_.put('"');
  for_each_piece(v, [&](std::string_view piece) {
    if (rt_.failed()) return;
    end_of_piece += piece.size();
    sink_.from(Value::view(piece));
    p = escaped(p, end_of_piece, end);
  });
  sink_.put('"');
  return !rt_.failed();
}

/// Source: Go 1.26 encoding/json/encode.go, floatEncoder.encode: as ES6 has it.
bool JsonEncoder::real(double d) {
  if (!std::isfinite(d)) return false;
  char* at = sink_.reserve(40);
  if (at == nullptr) return false;
  const double magnitude = std::fabs(d);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  constexpr double kExact = 9007199254740992.0;  // from here on to_chars writes every digit, Go the shortest and zeros
  if (!scientific && magnitude >= kExact) {
    std::string text = d < 0 ? "-" : "";
    append_plain_float(text, magnitude);
    sink_.put(text);
    return true;
  }
  char* end = std::to_chars(at, at + 40, d, scientific ? std::chars_format::scientific : std::chars_format::fixed).ptr;
  // e-09 is written e-9
  if (scientific && end - at >= 4 && end[-4] == 'e' && end[-3] == '-' && end[-2] == '0') {
    end[-2] = end[-1];
    --end;
  }
  sink_.advance_to(end);
  return true;
}

/// A number of the request is a float64 to Go, so an integer of 2^53 or more goes through a double and may change, as
/// it does there. Go's own ints (an index, a length) are written exactly.
bool JsonEncoder::number(Value v) {
  sink_.from(v);
  const Type type = type_of(v);
  const bool is_integer = type == Type::integer || type == Type::byte;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const bool exact = v.is_small_int() && v.integer > -kExact && v.integer < kExact;
  if (!is_integer && !exact) return real(real_of(v));
  char* at = sink_.reserve(24);
  if (at == nullptr) return false;
  sink_.advance_to(std::to_chars(at, at + 24, v.integer).ptr);
  return true;
}

/// encoding/base64's standard alphabet, with padding.
bool JsonEncoder::base64(Value v) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string_view bytes = sink_.flat(v);
  sink_.from(v);
  sink_.put('"');
  for (std::size_t i = 0; i < bytes.size() && !rt_.failed(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (std::size_t d = 0; d < 4; ++d) sink_.put(d <= count ? kAlphabet[group >> (18 - 6 * d) & 63] : '=');
  }
  sink_.put('"');
  return !rt_.failed();
}

bool JsonEncoder::list(Value v) {
  sink_.from(v);
  sink_.put('[');
  for (std::uint32_t i = 0; i < v.list->size; ++i) {
    sink_.from(v);
    if (i > 0) sink_.put(',');
    if (!value(v.list->items[i])) return false;
  }
  sink_.from(v);
  sink_.put(']');
  return true;
}

bool JsonEncoder::structure(Value v) {
  sink_.from(v);
  sink_.put('{');
  bool first = true;
  std::size_t i = 0;
  for (const Field& field : fields_of(type_of(v))) {
    const Value member = v.list->items[i++];
    if (field.omit_empty && is_empty(field, member)) continue;
    sink_.from(v);
    if (!first) sink_.put(',');
    first = false;
    sink_.put('"');
    sink_.put(field.json_name);
    sink_.put("\":");
    if (!value(member)) return false;
  }
  sink_.from(v);
  sink_.put('}');
  return true;
}

/// Ollama's ordered map writes its members in the order given; a Go map has none and is sorted.
bool JsonEncoder::map(Value v, bool sorted) {
  const DictObject& dict = *v.dict;
  const std::span<const DictEntry> entries =
      sorted ? sorted_entries(rt_, dict) : std::span<const DictEntry>{dict.entries, dict.size};
  sink_.from(v);
  sink_.put('{');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    sink_.from(v);
    if (i > 0) sink_.put(',');
    if (!text(entries[i].key)) return false;
    sink_.from(v);
    sink_.put(':');
    if (!value(entries[i].value)) return false;
  }
  sink_.from(v);
  sink_.put('}');
  return !rt_.failed();
}

/// Values nest as deep as the request does, and this recurses natively: Nesting holds it to the limit of depth, and
/// each value costs a step, since a template may print the same large value again and again.
bool JsonEncoder::other_value(Value v) {
  const Nesting nesting(rt_);
  if (!nesting.ok() || !rt_.charge(1)) return false;
  const Type type = type_of(v);
  if (v.is_undefined() || is_nil(v)) {
    // An empty PropertyType is an empty []string, which may be nil; everything else that is nil is
    // null.
    sink_.from(v);
    sink_.put("null");
    return true;
  }
  switch (facts(type).kind) {
    case GoKind::boolean:
      sink_.from(v);
      sink_.put(v.integer != 0 ? "true" : "false");
      return true;
    case GoKind::integer:
    case GoKind::byte:
    case GoKind::real: return number(v);
    case GoKind::slice:
      if (v.kind == Kind::string) return base64(v);
      if (type == Type::property_type && v.list->size == 1) return text(v.list->items[0]);
      return list(v);
    case GoKind::map: return map(v, true);
    case GoKind::pointer:
      if (type == Type::ordered) return map(v, false);
      return structure(with_type(v, facts(type).element));
    case GoKind::structure: return type == Type::ordered_body ? map(v, false) : structure(v);
    default: return false;
  }
}

}  // namespace

bool write_json(Runtime& rt, Sink& sink, Value v) { return JsonEncoder(rt, sink).value(v) && !rt.failed(); }

Value json_text(Runtime& rt, Value v) {
  Sink sink(rt);
  if (write_json(rt, sink, v)) return sink.finish();
  return rt.failed() ? Value::invalid() : Value::view("");
}

/// Source: Ollama's template/template.go and api/types.go.
Value string_method(Runtime& rt, Value v) {
  const Type type = type_of(v);
  if (type == Type::arguments || type == Type::properties) return is_nil(v) ? Value::view("{}") : json_text(rt, v);
  if (type != Type::property_type) return json_text(rt, v);
  const std::size_t size = length_of(v);
  if (size == 0) return Value::view("");
  if (size == 1) return v.list->items[0];
  Sink sink(rt);
  sink.put('[');
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) sink.put(' ');
    sink.share(v.list->items[i]);
  }
  sink.from_nothing();
  sink.put(']');
  return sink.finish();
}

}  // namespace parlance::gotemplate
