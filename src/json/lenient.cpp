// LenientReader: json.loads with a stack of its own, so that nesting costs no native recursion.
//
// Values of open containers stand in one row (values_) until their container closes and takes them.
// Sources of the rules: CPython 3.11 Modules/_json.c (scan_once, _parse_object, _parse_array,
// scanstring, _match_number) and Lib/json/decoder.py. Begin reading at read_values.
#include "json/lenient.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/keys.h"
#include "json/read.h"
#include "value/number.h"
#include "value/string.h"

namespace parlance {

using ascii::hex_value;
using json_escape::is_high_surrogate;
using json_escape::is_low_surrogate;
using json_escape::unescaped;

namespace {

/// So many decimal digits always fit an int64.
constexpr std::size_t kSmallDigits = 18;

struct Word {
  std::string_view text;
  Value value;
};
const Word kWords[] = {
    {"null", Value::none()},
    {"true", Value::boolean(true)},
    {"false", Value::boolean(false)},
    {"NaN", Value::of_real(std::numeric_limits<double>::quiet_NaN())},
    {"Infinity", Value::of_real(HUGE_VAL)},
    {"-Infinity", Value::of_real(-HUGE_VAL)},
};

/// Offset of the first malformed byte; `text` has one.
std::size_t first_malformed(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  for (;;) {
    const utf8::Decoded d = utf8::decode(p, end);
    if (d.size <= 1 && (p >= end || static_cast<unsigned char>(*p) >= 0x80)) break;
    p += d.size;
  }
  return static_cast<std::size_t>(p - text.data());
}

/// How many bytes from `at` on belong to the malformed sequence there: as far as it could still
/// become one.
std::size_t malformed_size(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const std::size_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t size = 1;
  while (size < whole && at + size < text.size() && utf8::is_continuation(text[at + size]) &&
         (size > 1 || (byte(at + 1) >= least && byte(at + 1) <= most)))
    ++size;
  return size;
}

/// What CPython's decoder says about the malformed sequence at `at`.
std::string malformed_message(std::string_view text, std::size_t at) {
  const std::size_t size = malformed_size(text, at);
  const auto lead = static_cast<unsigned char>(text[at]);
  std::string message = "'utf-8' codec can't decode byte";
  if (size == 1) {
    char hex[3] = {};
    std::to_chars(hex, hex + 2, lead, 16);
    message += " 0x" + std::string(hex) + " in position " + std::to_string(at);
  } else {
    message += "s in position " + std::to_string(at) + "-" + std::to_string(at + size - 1);
  }
  if (lead < 0xC2 || lead > 0xF4) return message + ": invalid start byte";
  return message + (at + size == text.size() ? ": unexpected end of data" : ": invalid continuation byte");
}

}  // namespace

bool LenientReader::fail(std::string_view message, std::size_t offset, ErrorCode code) {
  failure_ = {code, std::string(message), offset};
  return false;
}

bool LenientReader::fail_as_runtime(std::size_t offset) { return fail(rt_.failure.message, offset, rt_.failure.code); }

bool LenientReader::fail_memory() {
  rt_.fail(ErrorCode::limit_memory, "the values of the JSON text would pass the memory limit");
  return fail_as_runtime(pos_);
}

bool LenientReader::check_bytes() {
  if (!utf8::is_valid(text_, true)) {
    const std::size_t at = first_malformed(text_);
    return fail(malformed_message(text_, at), at);
  }
  if (text_.starts_with("\xEF\xBB\xBF")) return fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
  return true;
}

Value LenientReader::read() {
  if (!check_bytes()) return Value::invalid();
  skip_space();
  if (!read_values()) return Value::invalid();
  skip_space();
  if (pos_ != text_.size()) {
    fail("Extra data", pos_);
    return Value::invalid();
  }
  return values_.front();
}

void LenientReader::skip_space() {
  while (pos_ < text_.size() &&
         (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\t' || text_[pos_] == '\r'))
    ++pos_;
}

// ---- values

/// Reads until the outermost value is complete.
bool LenientReader::read_values() {
  do {
    if (!read_one()) return false;
  } while (!open_.empty());
  return true;
}

/// Reads what begins at pos_: a scalar and all that closes after it, or the opening of a container.
bool LenientReader::read_one() {
  if (pos_ >= text_.size()) return fail("Expecting value", pos_);
  switch (text_[pos_]) {
    case '{':
      if (!open(Kind::dict)) return false;
      return at('}') ? close() && finish_value() : read_key();
    case '[':
      if (!open(Kind::list)) return false;
      return at(']') ? close() && finish_value() : true;
    case '"': return read_string() && finish_value();
    default: return (digit_at(pos_) || at('-') ? read_number() : read_word()) && finish_value();
  }
}

/// After a value: closes what ends here and stops where the next value begins.
bool LenientReader::finish_value() {
  while (!open_.empty()) {
    const bool in_dict = open_.back().kind == Kind::dict;
    skip_space();
    if (at(in_dict ? '}' : ']')) {
      if (!close()) return false;
      continue;
    }
    if (!at(',')) return fail("Expecting ',' delimiter", pos_);
    ++pos_;
    skip_space();
    return in_dict ? read_key() : true;
  }
  return true;
}

bool LenientReader::open(Kind kind) {
  if (open_.size() >= kJsonDepth) {
    const std::string what = kind == Kind::dict ? "object" : "array";
    return fail("maximum recursion depth exceeded while decoding a JSON " + what + " from a unicode string", pos_,
                ErrorCode::limit_depth);
  }
  open_.push_back({kind, origin(), values_.size()});
  ++pos_;
  skip_space();
  return true;
}

/// Makes the innermost container of the values since it opened, at its closing bracket.
bool LenientReader::close() {
  const Open o = open_.back();
  open_.pop_back();
  ++pos_;
  const std::size_t count = values_.size() - o.first;
  const std::size_t bytes = count * sizeof(Value);
  if (!rt_.arena.has_room(bytes + sizeof(DictObject))) return fail_memory();
  Value* taken = rt_.arena.allocate_array<Value>(count);
  if (count != 0) std::memcpy(taken, values_.data() + o.first, bytes);
  values_.resize(o.first);
  Value v;
  v.kind = o.kind;
  v.origin = o.origin;
  if (o.kind == Kind::list) {
    v.list = rt_.arena.make<ListObject>(ListObject{static_cast<std::uint32_t>(count), o.origin, taken});
    return push(v);
  }
  const auto pairs = static_cast<std::uint32_t>(count / 2);
  auto* dict =
      rt_.arena.make<DictObject>(DictObject{pairs, o.origin, reinterpret_cast<DictEntry*>(taken), nullptr, 0, pairs});
  if (settle_keys(rt_.arena, *dict)) repeats_ = true;
  v.dict = dict;
  return push(v);
}

bool LenientReader::push(Value v) {
  const std::size_t full = values_.capacity();
  if (values_.size() == full && !rt_.arena.has_room(full * 2 * sizeof(Value))) return fail_memory();
  values_.push_back(v);
  return true;
}

bool LenientReader::push_scalar(Value v) {
  v.origin = origin();
  return push(v);
}

bool LenientReader::read_key() {
  if (!at('"')) return fail("Expecting property name enclosed in double quotes", pos_);
  if (!read_string()) return false;
  skip_space();
  if (!at(':')) return fail("Expecting ':' delimiter", pos_);
  ++pos_;
  skip_space();
  return true;
}

bool LenientReader::read_word() {
  for (const Word& word : kWords) {
    if (!text_.substr(pos_).starts_with(word.text)) continue;
    pos_ += word.text.size();
    return push_scalar(word.value);
  }
  return fail("Expecting value", pos_);
}

// ---- numbers

bool LenientReader::read_number() {
  const std::size_t begin = pos_;
  const bool negative = at('-');
  if (negative) ++pos_;
  if (!digit_at(pos_)) {
    pos_ = begin;
    return read_word();  // -Infinity, or nothing
  }
  if (at('0')) {
    ++pos_;
  } else {
    skip_digits();
  }
  const std::size_t integer_end = pos_;
  if (at('.') && digit_at(pos_ + 1)) {
    ++pos_;
    skip_digits();
  }
  if (at('e') || at('E')) {
    const std::size_t sign = pos_ + 1 < text_.size() && (text_[pos_ + 1] == '+' || text_[pos_ + 1] == '-') ? 1 : 0;
    if (digit_at(pos_ + 1 + sign)) {
      pos_ += 1 + sign;
      skip_digits();
    }
  }
  if (pos_ == integer_end) return read_integer(text_.substr(begin + negative, pos_ - begin - negative), negative);
  const std::optional<double> real = parse_real(text_.substr(begin, pos_ - begin));
  return push_scalar(Value::of_real(real.value_or(0)));
}

bool LenientReader::read_integer(std::string_view digits, bool negative) {
  if (digits.size() <= kSmallDigits) {
    std::int64_t i = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), i);
    return push_scalar(Value::of_int(negative ? -i : i));
  }
  if (digits.size() > kMostDigits) {
    return fail("Exceeds the limit (4300 digits) for integer string conversion: value has " +
                    std::to_string(digits.size()) + " digits; use sys.set_int_max_str_digits() to increase the limit",
                pos_ - digits.size(), ErrorCode::value);
  }
  const Value v = integer_from_digits(rt_, digits, 10, negative);
  return v.is_invalid() ? fail_as_runtime(pos_ - digits.size()) : push_scalar(v);
}

// ---- strings

/// Moves pos_ over characters that stand for themselves.
void LenientReader::skip_plain() {
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\\' &&
         static_cast<unsigned char>(text_[pos_]) >= 0x20)
    ++pos_;
}

/// Bytes from pos_ to the string's end, or to the text's: no decoded string is longer.
std::size_t LenientReader::raw_size() const {
  std::size_t end = pos_;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  return (end < text_.size() ? end : text_.size()) - pos_;
}

bool LenientReader::read_string() {
  const std::size_t begin = pos_++;
  if (options_.share) {
    skip_plain();
    if (at('"')) return push(Value::view(text_.substr(begin + 1, pos_++ - begin - 1)));
    pos_ = begin + 1;
  }
  const bool in_arena = options_.buffer == nullptr;
  // One byte more than the string has: neighbours in the text must not be neighbours in memory, or pieces would merge.
  const std::size_t room = in_arena ? raw_size() + 1 : 0;
  if (in_arena && !rt_.arena.has_room(room)) return fail_memory();
  char* const start = in_arena ? rt_.arena.allocate_text(room) : out_;
  char* out = start;
  if (!decode_string(begin, out)) return false;
  const auto size = static_cast<std::size_t>(out - start);
  if (in_arena) {
    rt_.arena.shrink_text(room - size - 1);
    rt_.arena.log_derived(start, size, source_of(rt_, options_.source, begin + 1));
  } else {
    out_ = out + 1;
  }
  return push(Value::view({start, size}));
}

/// The characters from pos_ to the closing quote, which it passes.
bool LenientReader::decode_string(std::size_t begin, char*& out) {
  for (;;) {
    const std::size_t plain = pos_;
    skip_plain();
    out = std::copy_n(text_.data() + plain, pos_ - plain, out);
    if (pos_ >= text_.size()) return fail("Unterminated string starting at", begin);
    if (at('"')) break;
    if (!at('\\')) return fail("Invalid control character at", pos_);
    if (!read_escape(begin, out)) return false;
  }
  ++pos_;
  return true;
}

bool LenientReader::read_escape(std::size_t begin, char*& out) {
  if (pos_ + 1 >= text_.size()) return fail("Unterminated string starting at", begin);
  if (text_[pos_ + 1] == 'u') return read_unicode_escape(out);
  const char c = unescaped(text_[pos_ + 1]);
  if (c == '\0') return fail("Invalid \\escape", pos_);
  *out++ = c;
  pos_ += 2;
  return true;
}

bool LenientReader::read_unicode_escape(char*& out) {
  constexpr std::size_t kEscape = 6;
  std::uint32_t unit = 0;
  if (!read_unit(pos_ + 2, unit)) return false;
  pos_ += kEscape;
  if (is_high_surrogate(unit) && text_.substr(pos_).starts_with("\\u")) {
    std::uint32_t low = 0;
    if (!read_unit(pos_ + 2, low)) return false;
    if (is_low_surrogate(low)) {
      unit = json_escape::join_surrogates(unit, low);
      pos_ += kEscape;
    }
  }
  char bytes[4];
  const std::uint32_t size = utf8::encode(unit, bytes);
  std::memcpy(out, bytes, size);
  out += size;
  return true;
}

/// Four hex digits, behind which CPython wants one more character.
bool LenientReader::read_unit(std::size_t first_digit, std::uint32_t& unit) {
  constexpr std::size_t kDigits = 4;
  bool ok = first_digit + kDigits < text_.size();
  for (std::size_t i = first_digit; ok && i < first_digit + kDigits; ++i) {
    const int digit = hex_value(text_[i]);
    ok = digit >= 0;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return ok || fail("Invalid \\uXXXX escape", first_digit - 1);
}

}  // namespace parlance
