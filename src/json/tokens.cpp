// TokenReader: a machine of three states (a value, what follows it, a key) over the tokens of a text.
//
// Values stand on a stack until their container closes and takes them as one row. The text after the last token reads
// as a NUL, which no state accepts, so there are no other checks for its end. Begin reading at Run::read.
#include "json/tokens.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>

#include "base/ascii.h"
#include "base/parse_double.h"
#include "json/keys.h"
#include "json/read.h"
#include "json/token_source.h"
#include "json/unescape.h"
#include "value/dict.h"
#include "value/fresh.h"

namespace parlance {

using json_tokens::IndexedTokens;
using json_tokens::ScannedTokens;

namespace {

static_assert(sizeof(DictEntry) == 2 * sizeof(Value));
static_assert(JsonReader::kPadding >= json_escape::kBlock);

using ascii::is_digit;

const char* skip_digits(const char* p) {
  while (is_digit(*p)) ++p;
  return p;
}

/// What is no number and no word that is beyond doubt.
constexpr Value kRefused{Kind::invalid};

Value word(const char*& p, Value value, std::string_view spelling) {
  if (std::memcmp(p, spelling.data(), spelling.size()) != 0) return kRefused;
  p += spelling.size();
  return value;
}

/// `end` is where the digits before the point or exponent end.
Value read_real(const char*& p, const char* end) {
  if (*end == '.') {
    const char* const fraction = end + 1;
    end = skip_digits(fraction);
    if (end == fraction) return kRefused;
  }
  if (*end == 'e' || *end == 'E') {
    const char* const exponent = end + (end[1] == '+' || end[1] == '-' ? 2 : 1);
    end = skip_digits(exponent);
    if (end == exponent) return kRefused;
  }
  double number;
  const auto [stop, error] = parse_double(p, end, number);
  if (error != std::errc()) return kRefused;
  p = end;
  return Value::of_real(number);
}

Value read_number(const char*& p) {
  const char* const digits = *p == '-' ? p + 1 : p;
  const char* const end = skip_digits(digits);
  if (end == digits || (*digits == '0' && end != digits + 1)) return kRefused;
  if (*end == '.' || *end == 'e' || *end == 'E') return read_real(p, end);
  std::int64_t number;
  const auto [stop, error] = std::from_chars(p, end, number);
  if (error != std::errc()) return kRefused;
  p = end;
  return Value::of_int(number);
}

/// The number or word at `p`, which it passes; invalid for what is refused.
Value read_scalar(const char*& p) {
  switch (*p) {
    case 't': return word(p, Value::boolean(true), "true");
    case 'f': return word(p, Value::boolean(false), "false");
    case 'n': return word(p, Value::none(), "null");
    default: return *p == '-' || is_digit(*p) ? read_number(p) : kRefused;
  }
}

}  // namespace

/// One pass. Kept in registers: never take its address.
template <bool kWrite, typename Tokens>
class TokenReader::Run {
 public:
  Run(const TokenReader& reader, Tokens tokens)
      : tokens_(tokens), top_(reader.stack_), nodes_(reader.memory_), level_(reader.levels_) {}

  [[gnu::always_inline]] inline bool read(const TokenReader& reader, Value& root, std::uint32_t& origin);

 private:
  [[gnu::always_inline]] inline void open(bool is_dict, std::uint32_t origin) {
    *level_++ = {top_, keys_, origin, in_dict_, repeats_};
    keys_ = 0;
    in_dict_ = is_dict;
    repeats_ = false;
  }
  [[gnu::always_inline]] inline void close(const TokenReader& reader);
  [[gnu::always_inline]] inline bool push_string(char* quote);
  [[gnu::always_inline]] inline bool push_scalar(const char* p, std::uint32_t origin);
  [[gnu::always_inline]] inline void add_key() {
    const std::uint64_t bit = key_bit(top_[-1]);
    repeats_ = repeats_ || (keys_ & bit) != 0;
    keys_ |= bit;
  }

  Tokens tokens_;
  Value* top_;   ///< of the stack: values of open containers, keys before their values
  char* nodes_;  ///< where the next container's contents go
  Level* level_;
  // The innermost container:
  std::uint64_t keys_ = 0;
  bool in_dict_ = false;
  bool repeats_ = false;
};

template <bool kWrite, typename Tokens>
bool TokenReader::Run<kWrite, Tokens>::read(const TokenReader& reader, Value& root, std::uint32_t& next_origin) {
  Level* const bottom = level_;
  std::uint32_t origin = next_origin;
value:
  switch (char* const p = tokens_.take(); *p) {
    case '"':
      if (!push_string(p)) return false;
      break;
    case '{':
    case '[':
      if (level_ == bottom + kJsonDepth) return false;
      open(*p == '{', origin++);
      if (!tokens_.take(static_cast<char>(*p + 2))) {  // its closing bracket
        if (in_dict_) goto key;
        goto value;
      }
      close(reader);
      break;
    default:
      if (!push_scalar(p, origin++)) return false;
  }
after:
  if (level_ == bottom) {
    next_origin = origin;
    copy_fresh(root, top_[-1]);
    return tokens_.at_end();
  }
  switch (const char c = *tokens_.take(); c) {
    case ',':
      if (!in_dict_) goto value;
      break;
    case '}':
    case ']':
      if (in_dict_ != (c == '}')) return false;
      close(reader);
      goto after;
    default: return false;
  }
key:
  if (char* const p = tokens_.take(); *p != '"' || !push_string(p)) return false;
  add_key();
  if (*tokens_.take() != ':') return false;
  goto value;
}

/// Takes the innermost container's values off the stack and puts it there instead.
template <bool kWrite, typename Tokens>
void TokenReader::Run<kWrite, Tokens>::close(const TokenReader& reader) {
  const Level& level = *--level_;
  const auto count = static_cast<std::uint32_t>(top_ - level.first);
  char* const object = nodes_;
  auto* const items = reinterpret_cast<Value*>(object + (in_dict_ ? sizeof(DictObject) : sizeof(ListObject)));
  nodes_ = reinterpret_cast<char*>(items + count);
  Value* const first = level.first;
  for (std::uint32_t i = 0; i < count; ++i) copy_fresh(items[i], first[i]);
  top_ = first;
  if (in_dict_) {
    auto* const pairs = reinterpret_cast<DictEntry*>(items);
    auto* const dict = new (object) DictObject{count / 2, level.origin, pairs, nullptr, 0, count / 2};
    if (kWrite && (repeats_ || count / 2 > kLinearDict) && settle_keys(reader.arena_, *dict)) reader.repeats_ = true;
    *top_++ = Value::of_dict(dict, level.origin);
  } else {
    *top_++ = Value::of_list(new (object) ListObject{count, level.origin, items}, level.origin);
  }
  keys_ = level.keys;
  in_dict_ = level.in_dict;
  repeats_ = level.repeats;
}

template <bool kWrite, typename Tokens>
bool TokenReader::Run<kWrite, Tokens>::push_string(char* quote) {
  char* const begin = quote + 1;
  auto [escape, end] = tokens_.take_string(begin);
  if (end == nullptr) return false;
  if (escape != end) {
    end = json_escape::unescape<kWrite>(escape, end);
    if (end == nullptr) return false;
  }
  *top_++ = Value::view({begin, static_cast<std::size_t>(end - begin)});
  return true;
}

template <bool kWrite, typename Tokens>
bool TokenReader::Run<kWrite, Tokens>::push_scalar(const char* p, std::uint32_t origin) {
  Value scalar = read_scalar(p);
  if (scalar.is_invalid() || !tokens_.take_scalar(p)) return false;
  scalar.origin = origin;
  copy_fresh(*top_++, scalar);
  return true;
}

TokenReader::Most TokenReader::most_of(std::string_view text) {
  constexpr std::size_t kShort = 4096;  // so little memory that counting is not worth it
  if (text.size() <= kShort) return {text.size() + 1, text.size()};
  // Each value follows one of these, or is the root. Counted in bytes, which compilers do 16 at a time.
  std::size_t opened = 0, followed = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::uint8_t opened_here = 0, followed_here = 0;
    for (const std::size_t stop = std::min(at + 128, text.size()); at < stop; ++at) {
      const auto c = static_cast<unsigned char>(text[at]);
      opened_here = static_cast<std::uint8_t>(opened_here + ((c | 0x20) == '{' ? 1 : 0));
      followed_here = static_cast<std::uint8_t>(followed_here + (c == ',' || c == ':' ? 1 : 0));
    }
    opened += opened_here;
    followed += followed_here;
  }
  return {opened + followed + 1, opened};
}

template <bool kWrite>
bool TokenReader::run(Value& root, std::uint32_t& origin) const {
  if (input_.tokens == nullptr) {
    return Run<kWrite, ScannedTokens>(*this, {input_.text, input_.size}).read(*this, root, origin);
  }
  return Run<kWrite, IndexedTokens>(*this, {input_.text, input_.tokens, input_.count}).read(*this, root, origin);
}

bool TokenReader::accepts() const {
  Value root;
  std::uint32_t origin = 1;
  return run<false>(root, origin);
}

bool TokenReader::read(Value& root, std::uint32_t& origin) const { return run<true>(root, origin); }

}  // namespace parlance
