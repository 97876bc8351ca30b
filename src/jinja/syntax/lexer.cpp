// The states of the lexer: text between tags, the beginning of a tag, raw text, code inside a tag.
//
// Source of the rules: Jinja2 3.1 lexer.py, Lexer.__init__ and tokeniter. Begin reading at
// Lexer::next, then the state functions in the order in which a template meets them.
#include "jinja/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/unicode.h"
#include "base/utf8.h"
#include "jinja/syntax/literals.h"

namespace parlance::jinja {
namespace {

/// What a byte can begin inside a tag. `name` and `digit` last: they are what names go on with.
/// is_name_byte() compares by this order.
enum class ByteClass : std::uint8_t { other, space, quote, wide, name, digit };

/// The white space is str.isspace() in ASCII, 0x1C to 0x1F included, as \s in Jinja2's patterns.
constexpr std::array<ByteClass, 256> kByteClasses = [] {
  std::array<ByteClass, 256> classes{};
  for (int c = 0; c < 128; ++c) {
    ByteClass& found = classes[static_cast<std::size_t>(c)];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') found = ByteClass::name;
    if (c >= '0' && c <= '9') found = ByteClass::digit;
    if (c == '\'' || c == '"') found = ByteClass::quote;
    if (c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F)) found = ByteClass::space;
  }
  for (std::size_t c = 128; c < 256; ++c) classes[c] = ByteClass::wide;
  return classes;
}();

ByteClass class_of(char c) { return kByteClasses[static_cast<unsigned char>(c)]; }
bool is_name_byte(char c) { return class_of(c) >= ByteClass::name; }

struct Range {
  char32_t first, last;
};
/// Marks that may continue a name in Unicode 14 but are not in the table Jinja2 ships
/// (_identifier.py), which was made with an older Unicode.
constexpr Range kUnknownMarks[] = {
    {0x898, 0x89f},     {0x8ca, 0x8d2},     {0xb55, 0xb55},     {0xc3c, 0xc3c},     {0xd81, 0xd81},
    {0xeba, 0xeba},     {0x1715, 0x1715},   {0x180f, 0x180f},   {0x1abf, 0x1ace},   {0x1dfa, 0x1dfa},
    {0xa82c, 0xa82c},   {0x10eab, 0x10eac}, {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x11073, 0x11074},
    {0x110c2, 0x110c2}, {0x111ce, 0x111cf}, {0x11930, 0x11935}, {0x11937, 0x11938}, {0x1193b, 0x1193e},
    {0x11940, 0x11940}, {0x11942, 0x11943}, {0x119d1, 0x119d7}, {0x119da, 0x119e0}, {0x119e4, 0x119e4},
    {0x16f4f, 0x16f4f}, {0x16f7f, 0x16f87}, {0x16fe4, 0x16fe4}, {0x16ff0, 0x16ff1}, {0x1cf00, 0x1cf2d},
    {0x1cf30, 0x1cf46}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef},
};

/// What Jinja2's name pattern takes; whether the whole is an identifier is asked afterwards.
bool is_name_character(char32_t c) {
  if (unicode::is_alnum(c) || c == '_') return true;
  if (!unicode::is_xid_continue(c)) return false;
  for (const Range& range : kUnknownMarks) {
    if (c >= range.first && c <= range.last) return unicode::is_alnum(c);
  }
  return true;
}

/// Operators of one character, by that character; `invalid` for all other bytes.
constexpr std::array<TokenKind, 256> kSingleOperators = [] {
  std::array<TokenKind, 256> kinds{};
  kinds.fill(TokenKind::invalid);
#define PARLANCE_OPERATOR(kind, symbol) \
  if (sizeof(symbol) == 2) kinds[static_cast<unsigned char>(symbol[0])] = TokenKind::kind;
#include "jinja/syntax/token.def"
#undef PARLANCE_OPERATOR
  return kinds;
}();

/// Tried before the single ones: Jinja2 sorts its operators by length.
TokenKind double_operator(char first, char second) {
  if (second == '=') {
    switch (first) {
      case '=': return TokenKind::eq;
      case '!': return TokenKind::ne;
      case '>': return TokenKind::ge;
      case '<': return TokenKind::le;
      default: return TokenKind::invalid;
    }
  }
  if (first == '/' && second == '/') return TokenKind::floor_div;
  if (first == '*' && second == '*') return TokenKind::pow;
  return TokenKind::invalid;
}

/// The size of the white space character that ends at `end`; 0 if none does.
std::size_t space_before(const char* begin, const char* end) {
  if (end == begin) return 0;
  const ByteClass last = class_of(end[-1]);
  if (last != ByteClass::wide) return last == ByteClass::space ? 1 : 0;
  const utf8::Decoded wide = utf8::decode_back(begin, end);
  return unicode::is_space(wide.code_point) ? wide.size : 0;
}

}  // namespace

/// The first problem is the cause, later ones follow from it.
void Problem::set(ErrorCode new_code, std::uint32_t new_begin, std::uint32_t new_end, std::string new_message,
                  std::string new_hint) {
  if (happened) return;
  happened = true;
  code = new_code;
  begin = new_begin;
  end = new_end;
  message = std::move(new_message);
  hint = std::move(new_hint);
}

Lexer::Lexer(Runtime& rt, std::string_view text, const SyntaxOptions& options, Problem& problem)
    : rt_(rt),
      text_(text.data()),
      size_(text.size()),
      trim_blocks_(options.trim_blocks),
      lstrip_blocks_(options.lstrip_blocks),
      problem_(problem) {
  // One newline, as Jinja2: a template file ends in one that nobody means.
  if (!options.keep_trailing_newline && text.ends_with('\n')) --size_;
}

bool Lexer::lex_between_code(Token& token) {
  switch (state_) {
    case State::text: return lex_text(token);
    case State::tag: return lex_tag(token);
    default: return lex_raw(token);
  }
}

// ---- text

bool Lexer::lex_text(Token& token) {
  if (pos_ >= size_) return end_here(token);
  // Text is a view of the template: white space control moves its ends and copies nothing.
  const std::size_t tag = find_tag(pos_);
  const std::size_t begin = pos_;
  const std::size_t end = tag < size_ ? end_of_data(begin, tag) : size_;
  pos_ = tag;
  if (tag < size_) state_ = State::tag;
  return emit_data(token, begin, end);
}

/// The first "{{", "{%" or "{#" from `from` on; size_ if there is none.
std::size_t Lexer::find_tag(std::size_t from) const {
  while (from + 1 < size_) {
    const void* brace = std::memchr(text_ + from, '{', size_ - 1 - from);
    if (brace == nullptr) break;
    const std::size_t i = static_cast<std::size_t>(static_cast<const char*>(brace) - text_);
    if (text_[i + 1] == '{' || text_[i + 1] == '%' || text_[i + 1] == '#') return i;
    from = i + 1;
  }
  return size_;
}

/// Where the text [begin, tag) before a tag really ends: `-` strips all white space before it;
/// lstrip_blocks strips the tag's own indentation, if the tag is the first on its line.
std::size_t Lexer::end_of_data(std::size_t begin, std::size_t tag) const {
  const char sign = at(tag + 2);
  std::size_t end = tag;
  if (sign == '-') {
    while (const std::size_t size = space_before(text_ + begin, text_ + end)) end -= size;
    return end;
  }
  // lstrip_blocks is for blocks and comments: {{ … }} keeps the white space before it.
  if (sign == '+' || !lstrip_blocks_ || text_[tag + 1] == '{') return tag;
  while (end > begin && text_[end - 1] == ' ') --end;  // indentation is nearly always this
  while (end > begin && text_[end - 1] != '\n') {
    const std::size_t size = space_before(text_ + begin, text_ + end);
    if (size == 0) return tag;
    end -= size;
  }
  // Text after another tag on the same line is no indentation: `end` has then come to the end of that tag.
  return end == 0 || text_[end - 1] == '\n' ? end : tag;
}

// ---- tags

bool Lexer::lex_tag(Token& token) {
  const char kind = text_[pos_ + 1];
  if (kind == '#') return skip_comment(token);
  // Raw comes before blocks: Jinja2's pattern for a raw tag is the first of its rules.
  const std::size_t after_raw = kind == '%' ? match_raw_begin() : 0;
  if (after_raw != 0) {
    pos_ = after_raw;
    state_ = State::raw;
    return false;
  }
  const bool has_sign = at(pos_ + 2) == '-' || at(pos_ + 2) == '+';
  state_ = kind == '%' ? State::block : State::variable;
  return emit(token, kind == '%' ? TokenKind::block_begin : TokenKind::variable_begin, pos_ + (has_sign ? 3 : 2));
}

/// False when all is well: a comment is no token.
bool Lexer::skip_comment(Token& token) {
  const std::size_t begin = pos_;
  std::size_t inside = begin + 2;
  if (at(inside) == '-' || at(inside) == '+') ++inside;
  std::size_t closer = inside;
  while (closer < size_ && !has(closer, '#', '}')) {
    const void* const next = std::memchr(text_ + closer + 1, '#', size_ - closer - 1);
    closer = next == nullptr ? size_ : static_cast<std::size_t>(static_cast<const char*>(next) - text_);
  }
  state_ = State::text;
  // Jinja2 lets a template end right where a comment begins.
  if (closer == size_ && inside != size_) {
    return fail(token, begin, inside, "Missing end of comment tag", ErrorCode::syntax,
                "the comment that begins here is never closed with #}");
  }
  pos_ = closer == size_ ? size_ : after_tag(closer + 2, closer > inside ? text_[closer - 1] : '\0');
  return false;
}

/// Where the text goes on behind a tag whose last byte is before `closer`; `sign` stood before its
/// delimiter.
std::size_t Lexer::after_tag(std::size_t closer, char sign) const {
  if (sign == '-') return skip_space(closer);
  if (sign != '+' && trim_blocks_ && at(closer) == '\n' && closer < size_) return closer + 1;
  return closer;
}

/// If a raw tag begins at pos_, the offset behind it; else 0.
std::size_t Lexer::match_raw_begin() const {
  std::size_t i = pos_ + 2;
  if (at(i) == '-' || at(i) == '+') ++i;
  i = skip_space(i);
  if (size_ - i < 3 || std::memcmp(text_ + i, "raw", 3) != 0) return 0;
  i = skip_space(i + 3);
  // No newline is trimmed here, and there is no "+%}".
  if (has(i, '%', '}')) return i + 2;
  return at(i) == '-' && has(i + 1, '%', '}') ? skip_space(i + 3) : 0;
}

/// If the "{%" at `from` begins an endraw tag, the offset behind that; else 0.
std::size_t Lexer::match_raw_end(std::size_t from) const {
  std::size_t i = from + 2;
  if (at(i) == '-' || at(i) == '+') ++i;
  i = skip_space(i);
  if (size_ - i < 6 || std::memcmp(text_ + i, "endraw", 6) != 0) return 0;
  i = skip_space(i + 6);
  const char sign = at(i);
  if (sign == '-' || sign == '+') ++i;
  return has(i, '%', '}') ? after_tag(i + 2, sign) : 0;
}

/// Nothing but an endraw tag counts here. One that does not match is text, as in {% endrawx %}.
bool Lexer::lex_raw(Token& token) {
  const std::size_t begin = pos_;
  state_ = State::text;
  if (begin == size_) return false;
  for (std::size_t tag = begin; tag + 1 < size_; ++tag) {
    if (!has(tag, '{', '%')) continue;
    const std::size_t after = match_raw_end(tag);
    if (after == 0) continue;
    pos_ = after;
    return emit_data(token, begin, end_of_data(begin, tag));
  }
  return fail(token, begin, begin + 1, "Missing end of raw directive", ErrorCode::syntax,
              "the raw block that begins here is never closed with {% endraw %}");
}

// ---- code

bool Lexer::lex_code(Token& token) {
  std::size_t pos = pos_;
  while (pos < size_ && class_of(text_[pos]) == ByteClass::space) ++pos;
  pos_ = pos;
  if (pos >= size_) return end_here(token);
  switch (class_of(text_[pos])) {
    case ByteClass::name: return lex_name(token);
    case ByteClass::digit: return lex_number(token);
    case ByteClass::quote: return lex_string(token);
    case ByteClass::wide: return lex_wide(token);
    default: return lex_operator(token);
  }
}

bool Lexer::lex_name(Token& token) {
  const char* const begin = text_ + pos_;
  const char* end = begin + 1;
  while (is_name_byte(*end)) ++end;  // the text ends in a byte that is none
  if (class_of(*end) == ByteClass::wide) return lex_wide(token);
  const auto size = static_cast<std::size_t>(end - begin);
  token.word = find_word({begin, size});
  return emit(token, TokenKind::name, pos_ + size);
}

/// Names, numbers and white space that are not all ASCII.
bool Lexer::lex_wide(Token& token) {
  const char* const limit = text_ + size_;
  const utf8::Decoded first = utf8::decode(text_ + pos_, limit);
  if (unicode::is_space(first.code_point)) {
    pos_ += first.size;
    return false;
  }
  if (unicode::is_decimal(first.code_point) &&
      scan_number({text_ + pos_, size_ - pos_}, pos_ > 0 && text_[pos_ - 1] == '.').size != 0) {
    return lex_number(token);
  }
  const char* end = text_ + pos_;
  while (end < limit) {
    const utf8::Decoded next = utf8::decode(end, limit);
    if (!is_name_character(next.code_point)) break;
    end += next.size;
  }
  const std::size_t stop = static_cast<std::size_t>(end - text_);
  if (stop == pos_) return unexpected_character(token);
  if (!unicode::str_is_identifier({text_ + pos_, stop - pos_})) {
    return fail(token, pos_, stop, "Invalid character in identifier");
  }
  token.word = find_word({text_ + pos_, stop - pos_});
  return emit(token, TokenKind::name, stop);
}

bool Lexer::lex_number(Token& token) {
  const bool after_dot = pos_ > 0 && text_[pos_ - 1] == '.';
  const NumberScan scan = scan_number({text_ + pos_, size_ - pos_}, after_dot);
  LiteralProblem problem;
  token.value = number_value(rt_, {text_ + pos_, scan.size}, scan.is_real, problem);
  if (token.value.is_invalid()) {
    return fail(token, pos_, pos_ + scan.size, problem.message, problem.code, problem.hint);
  }
  return emit(token, scan.is_real ? TokenKind::real : TokenKind::integer, pos_ + scan.size);
}

/// Where the quote is that ends the string at pos_; size_ or more if there is none. Most strings are short, but most
/// bytes of strings are in long ones.
std::size_t Lexer::end_of_string(bool& has_escape) const {
  constexpr std::size_t kShort = 24;
  const char quote = text_[pos_];
  std::size_t end = pos_ + 1;
  for (const std::size_t stop = std::min(size_, end + kShort); end < stop && text_[end] != '\\'; ++end) {
    if (text_[end] == quote) return end;
  }
  const auto find = [this](char c, std::size_t from, std::size_t to) {
    const void* const found = from < to ? std::memchr(text_ + from, c, to - from) : nullptr;
    return found == nullptr ? to : static_cast<std::size_t>(static_cast<const char*>(found) - text_);
  };
  for (std::size_t closer = find(quote, end, size_);;) {
    const std::size_t escape = find('\\', end, closer);
    if (escape >= closer) return closer;
    has_escape = true;
    end = escape + 2;
    if (end > closer) closer = find(quote, end, std::max(end, size_));
  }
}

/// Only strings with escapes are decoded; all others are views of the template.
bool Lexer::lex_string(Token& token) {
  bool has_escape = false;
  const std::size_t end = end_of_string(has_escape);
  if (end >= size_) return unexpected_character(token);
  const std::string_view inside(text_ + pos_ + 1, end - pos_ - 1);
  token.value = Value::view(inside);
  if (has_escape) {
    LiteralProblem problem;
    token.value = decode_string(rt_, inside, problem);
    if (token.value.is_invalid()) {
      return fail(token, pos_, end + 1, problem.message, problem.code, problem.hint);
    }
  }
  return emit(token, TokenKind::string, end + 1);
}

bool Lexer::lex_operator(Token& token) {
  const char c = text_[pos_];
  const bool may_end = c == '%' || c == '}' || c == '-' || c == '+';
  if (may_end && open_brackets_.empty() && lex_end_of_code(token)) return true;
  TokenKind kind = double_operator(c, at(pos_ + 1));
  if (kind != TokenKind::invalid) return emit(token, kind, pos_ + 2);
  kind = kSingleOperators[static_cast<unsigned char>(c)];
  if (kind == TokenKind::invalid) return unexpected_character(token);
  if (!balance(kind, token)) return true;
  return emit(token, kind, pos_ + 1);
}

/// The end of the tag, if it is here.
bool Lexer::lex_end_of_code(Token& token) {
  const bool is_block = state_ == State::block;
  const char c = text_[pos_];
  const bool has_sign = c == '-' || (is_block && c == '+');
  const std::size_t closer = pos_ + (has_sign ? 1 : 0);
  if (!has(closer, is_block ? '%' : '}', '}')) return false;
  state_ = State::text;
  std::size_t after = closer + 2;
  if (is_block || c == '-') after = after_tag(after, has_sign ? c : '\0');
  emit(token, is_block ? TokenKind::block_end : TokenKind::variable_end, closer + 2);
  pos_ = after;
  return true;
}

/// Keeps account of the brackets; false (and a failure in `token`) when this one closes another.
bool Lexer::balance(TokenKind kind, Token& token) {
  switch (kind) {
    case TokenKind::left_paren: open_brackets_.push_back(')'); return true;
    case TokenKind::left_bracket: open_brackets_.push_back(']'); return true;
    case TokenKind::left_brace: open_brackets_.push_back('}'); return true;
    case TokenKind::right_paren:
    case TokenKind::right_bracket:
    case TokenKind::right_brace: break;
    default: return true;
  }
  const char due = open_brackets_.empty() ? '\0' : open_brackets_.back();
  if (due != '\0') open_brackets_.pop_back();
  return due == text_[pos_] || !fail_unbalanced(due, token);
}

bool Lexer::fail_unbalanced(char due, Token& token) {
  std::string message = std::string("unexpected '") + text_[pos_] + "'";
  if (due != '\0') message += std::string(", expected '") + due + "'";
  return fail(token, pos_, pos_ + 1, std::move(message));
}

std::size_t Lexer::skip_space(std::size_t pos) const {
  for (;;) {
    while (pos < size_ && class_of(text_[pos]) == ByteClass::space) ++pos;
    if (pos == size_ || class_of(text_[pos]) != ByteClass::wide) return pos;
    const utf8::Decoded next = utf8::decode(text_ + pos, text_ + size_);
    if (!unicode::is_space(next.code_point)) return pos;
    pos += next.size;
  }
}

// ---- making tokens

[[gnu::always_inline]] inline bool Lexer::emit(Token& token, TokenKind kind, std::size_t end) {
  token.kind = kind;
  token.begin = last_begin_ = static_cast<std::uint32_t>(pos_);
  token.end = last_end_ = static_cast<std::uint32_t>(end);
  pos_ = end;
  return true;
}

/// Text of the template; when nothing is left of it, that is no token.
bool Lexer::emit_data(Token& token, std::size_t begin, std::size_t end) {
  if (begin == end) return false;
  token.kind = TokenKind::data;
  token.begin = last_begin_ = static_cast<std::uint32_t>(begin);
  token.end = last_end_ = static_cast<std::uint32_t>(end);
  token.value = Value::view({text_ + begin, end - begin});
  return true;
}

bool Lexer::end_here(Token& token) {
  token.kind = TokenKind::end_of_template;
  token.begin = last_begin_;
  token.end = last_end_;
  return true;
}

bool Lexer::unexpected_character(Token& token) {
  const std::uint32_t size = utf8::decode(text_ + pos_, text_ + size_).size;
  std::string hint;
  if (class_of(text_[pos_]) == ByteClass::quote) hint = "the string that begins here is never closed";
  return fail(token, pos_, pos_ + size,
              "unexpected char " + quoted({text_ + pos_, size}) + " at " + std::to_string(utf8::count({text_, pos_})),
              ErrorCode::syntax, std::move(hint));
}

bool Lexer::fail(Token& token, std::size_t begin, std::size_t end, std::string message, ErrorCode code,
                 std::string hint) {
  problem_.set(code, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), std::move(message),
               std::move(hint));
  token.kind = TokenKind::invalid;
  token.begin = static_cast<std::uint32_t>(begin);
  token.end = static_cast<std::uint32_t>(end);
  return true;
}

}  // namespace parlance::jinja
