// The lexer's states, each a function that says which comes next. Begin reading at Lexer::next.
#include "gotemplate/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/unicode.h"
#include "base/utf8.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {
namespace {

constexpr std::string_view kLeft = "{{";
constexpr std::string_view kRight = "}}";
constexpr std::size_t kTrimMarker = 2;  // the minus and a blank

constexpr std::pair<std::string_view, TokenKind> kKeywords[] = {
    {".", TokenKind::dot},
    {"block", TokenKind::block},
    {"break", TokenKind::break_},
    {"else", TokenKind::else_},
    {"continue", TokenKind::continue_},
    {"define", TokenKind::define},
    {"end", TokenKind::end},
    {"if", TokenKind::if_},
    {"nil", TokenKind::nil},
    {"range", TokenKind::range},
    {"template", TokenKind::template_},
    {"with", TokenKind::with},
};

bool is_blank(std::int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_name_character(std::int32_t c) {
  if (c < 0) return false;
  const auto cp = static_cast<char32_t>(c);
  return c == '_' || unicode::is_alpha(cp) || unicode::is_decimal(cp);
}

TokenKind kind_of_word(std::string_view word) {
  for (const auto& [keyword, kind] : kKeywords) {
    if (word == keyword) return kind;
  }
  if (word == "true" || word == "false") return TokenKind::boolean;
  return TokenKind::identifier;
}

}  // namespace

/// What parse.item.String() gives, since messages of errors contain it.
std::string Token::display() const {
  if (kind == TokenKind::eof) return "EOF";
  if (kind == TokenKind::error) return std::string(text);
  if (kind >= TokenKind::block) return "<" + std::string(text) + ">";
  // Go's "%.10q..." for more than ten bytes cuts after ten code points.
  constexpr std::size_t kShown = 10;
  if (text.size() <= kShown) return quoted(text);
  return quoted(first_code_points(text, kShown)) + "...";
}

/// The next code point, or kEnd. What is no UTF-8 counts as U+FFFD, byte by byte, as in Go.
std::int32_t Lexer::take() {
  if (at_ >= text_.size()) {
    last_size_ = 0;
    return kEnd;
  }
  const utf8::Decoded next = decode_go(text_.data() + at_, text_.data() + text_.size());
  at_ += next.size;
  last_size_ = next.size;
  if (next.code_point == '\n') ++line_;
  return static_cast<std::int32_t>(next.code_point);
}

/// Once only: the size of one code point is remembered, as in Go.
void Lexer::back() {
  at_ -= last_size_;
  if (last_size_ != 0 && text_[at_] == '\n') --line_;
  last_size_ = 0;
}

std::int32_t Lexer::peek() {
  const std::int32_t c = take();
  back();
  return c;
}

bool Lexer::accept(std::string_view valid) {
  const std::int32_t c = take();
  if (c >= 0 && c < 0x80 && valid.find(static_cast<char>(c)) != valid.npos) return true;
  back();
  return false;
}

void Lexer::accept_run(std::string_view valid) {
  while (accept(valid)) {
  }
}

/// `{{-` trims only if a blank follows: `{{-3}}` is a number.
bool Lexer::left_trim_at(std::size_t at) const {
  return at + 1 < text_.size() && text_[at] == '-' && is_blank(text_[at + 1]);
}
bool Lexer::right_trim_at(std::size_t at) const {
  return at + 1 < text_.size() && is_blank(text_[at]) && text_[at + 1] == '-';
}

/// " -}}" closes as well as "}}". Both are looked for at each step, since a blank may begin the closing delimiter.
bool Lexer::at_right_delimiter(bool& trims) const {
  trims = right_trim_at(at_) && starts_with(at_ + kTrimMarker, kRight);
  return trims || starts_with(at_, kRight);
}

/// After a name must come something that cannot belong to it.
bool Lexer::at_terminator() {
  const std::int32_t c = peek();
  if (c == kEnd || is_blank(c)) return true;
  if (c == '.' || c == ',' || c == '|' || c == ':' || c == ')' || c == '(') return true;
  return starts_with(at_, kRight);
}

std::size_t Lexer::blanks_from(std::size_t at) const {
  std::size_t end = at;
  while (end < text_.size() && is_blank(text_[end])) ++end;
  return end - at;
}

/// Skips what lies before the place reached; its newlines have not been counted.
void Lexer::ignore() {
  line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  begin_ = at_;
  begin_line_ = line_;
}

Lexer::State Lexer::emit(TokenKind kind) {
  token_ = {kind, static_cast<std::uint32_t>(begin_), begin_line_, text_.substr(begin_, at_ - begin_)};
  begin_ = at_;
  begin_line_ = line_;
  return State::done;
}

/// The parser reads on until it meets the error, so nothing must come behind it.
Lexer::State Lexer::fail(std::string sentence) {
  sentence_ = std::move(sentence);
  token_ = {TokenKind::error, static_cast<std::uint32_t>(begin_), begin_line_, sentence_};
  text_ = text_.substr(0, 0);
  at_ = begin_ = 0;
  return State::done;
}

/// Go's lexer is a chain of state functions, each of which returns the next. Here each returns its name, and a token
/// ends the chain; what must be remembered from token to token is only whether an action is open.
Token Lexer::next() {
  token_ = {TokenKind::eof, static_cast<std::uint32_t>(at_), begin_line_, "EOF"};
  State state = inside_ ? State::inside : State::text;
  while (state != State::done) {
    switch (state) {
      case State::text: state = in_text(); break;
      case State::left_delimiter: state = in_left_delimiter(); break;
      case State::right_delimiter: state = in_right_delimiter(); break;
      case State::inside: state = in_action(); break;
      case State::space: state = in_space(); break;
      case State::done: break;
    }
  }
  return token_;
}

/// Text up to the next action. An action that trims takes the white space before it along; if nothing is left, there is
/// no token of it.
Lexer::State Lexer::in_text() {
  const std::size_t found = text_.find(kLeft, at_);
  if (found == text_.npos) {
    at_ = text_.size();
    if (at_ == begin_) return emit(TokenKind::eof);
    const std::size_t begin = begin_;
    line_ +=
        static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.end(), '\n'));
    return emit(TokenKind::text);
  }
  if (found == at_) return State::left_delimiter;
  std::size_t end = found;
  if (left_trim_at(found + kLeft.size())) {
    while (end > begin_ && is_blank(text_[end - 1])) --end;
  }
  at_ = end;
  line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  emit(TokenKind::text);
  at_ = found;
  ignore();
  return token_.text.empty() ? State::left_delimiter : State::done;
}

Lexer::State Lexer::in_left_delimiter() {
  at_ += kLeft.size();
  const std::size_t marker = left_trim_at(at_) ? kTrimMarker : 0;
  if (starts_with(at_ + marker, "/*")) {
    at_ += marker;
    ignore();
    return in_comment();
  }
  emit(TokenKind::left_delimiter);
  inside_ = true;
  at_ += marker;
  ignore();
  parentheses_ = 0;
  return State::done;
}

/// A comment is an action of its own: it must close right behind its end, and only a trim marker may stand between.
Lexer::State Lexer::in_comment() {
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == text_.npos) return fail("unclosed comment");
  at_ = end + 2;
  bool trims = false;
  if (!at_right_delimiter(trims)) return fail("comment ends before closing delimiter");
  at_ += kRight.size() + (trims ? kTrimMarker : 0);
  if (trims) at_ += blanks_from(at_);
  ignore();
  return State::text;
}

/// A closing delimiter that trims takes the white space behind it along, newlines included; ignore() counts those, or
/// the lines of all later errors would be too small.
Lexer::State Lexer::in_right_delimiter() {
  bool trims = false;
  at_right_delimiter(trims);
  if (trims) {
    at_ += kTrimMarker;
    ignore();
  }
  at_ += kRight.size();
  emit(TokenKind::right_delimiter);
  if (trims) {
    at_ += blanks_from(at_);
    ignore();
  }
  inside_ = false;
  return State::done;
}

Lexer::State Lexer::in_action() {
  bool trims = false;
  if (at_right_delimiter(trims)) {
    return parentheses_ == 0 ? State::right_delimiter : fail("unclosed left paren");
  }
  const std::int32_t c = take();
  if (c == kEnd) return fail("unclosed action");
  if (is_blank(c)) {
    back();
    return State::space;
  }
  return after_first(c);
}

/// What a token is, by its first character. A point is a field where no digit follows: `.5` is a number.
Lexer::State Lexer::after_first(std::int32_t c) {
  switch (c) {
    case '=': return emit(TokenKind::assign);
    case ':': return take() == '=' ? emit(TokenKind::declare) : fail("expected :=");
    case '|': return emit(TokenKind::pipe);
    case '"': return in_quoted('"');
    case '`': return in_raw_quote();
    case '$': return in_name(TokenKind::variable);
    case '\'': return in_quoted('\'');
    case '.':
      if (at_ < text_.size() && (text_[at_] < '0' || text_[at_] > '9')) return in_name(TokenKind::field);
      break;
    case '(': ++parentheses_; return emit(TokenKind::left_parenthesis);
    case ')':
      if (--parentheses_ < 0) return fail("unexpected right paren");
      return emit(TokenKind::right_parenthesis);
    default: break;
  }
  if (c == '.' || c == '+' || c == '-' || (c >= '0' && c <= '9')) {
    back();
    return in_number();
  }
  if (is_name_character(c)) {
    back();
    return in_identifier();
  }
  if (c >= ' ' && c <= '~') return emit(TokenKind::character);
  return fail("unrecognized character in action: " + code_point_name(static_cast<char32_t>(c)));
}

/// A closing delimiter that trims begins with a blank, which is not part of the space before it.
Lexer::State Lexer::in_space() {
  std::size_t count = 0;
  while (is_blank(peek())) {
    take();
    ++count;
  }
  if (right_trim_at(at_ - 1) && starts_with(at_ - 1 + kTrimMarker, kRight)) {
    if (text_[--at_] == '\n') --line_;
    if (count == 1) return State::right_delimiter;
  }
  return emit(TokenKind::space);
}

Lexer::State Lexer::in_identifier() {
  while (is_name_character(peek())) take();
  if (!at_terminator()) return fail("bad character " + code_point_name(static_cast<char32_t>(peek())));
  return emit(kind_of_word(text_.substr(begin_, at_ - begin_)));
}

/// A field or variable, whose first character has been taken.
Lexer::State Lexer::in_name(TokenKind kind) {
  if (at_terminator()) return emit(kind == TokenKind::variable ? kind : TokenKind::dot);
  while (is_name_character(peek())) take();
  if (!at_terminator()) return fail("bad character " + code_point_name(static_cast<char32_t>(peek())));
  return emit(kind);
}

/// A number is only as far scanned as its end needs; strconv's rules, and so which numbers there are, are in
/// number.cpp. Two numbers in a row with a sign between are one complex constant: `1+2i`.
Lexer::State Lexer::in_number() {
  const auto bad = [this] { return fail("bad number syntax: " + quoted(text_.substr(begin_, at_ - begin_))); };
  if (!scan_number()) return bad();
  const std::int32_t sign = peek();
  if (sign != '+' && sign != '-') return emit(TokenKind::number);
  if (!scan_number() || text_[at_ - 1] != 'i') return bad();
  return emit(TokenKind::complex);
}

/// Takes every byte that a number may have, underscores included, and does not check their order: `0x` and `1__2` pass
/// here as they do in Go, and strconv refuses them. A letter right behind is an error of the lexer's.
bool Lexer::scan_number() {
  constexpr std::string_view kDecimal = "0123456789_";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF_";
  std::string_view digits = kDecimal;
  accept("+-");
  if (accept("0")) {
    if (accept("xX")) {
      digits = kHex;
    } else if (accept("oO")) {
      digits = "01234567_";
    } else if (accept("bB")) {
      digits = "01_";
    }
  }
  accept_run(digits);
  if (accept(".")) accept_run(digits);
  const bool exponent = digits == kDecimal ? accept("eE") : digits == kHex && accept("pP");
  if (exponent) {
    accept("+-");
    accept_run(kDecimal);
  }
  accept("i");
  if (!is_name_character(peek())) return true;
  take();
  return false;
}

/// An escape is skipped, not read: `"\"` must not end at its second quote. A newline ends the string with an error even
/// behind a backslash.
Lexer::State Lexer::in_quoted(char quote) {
  for (;;) {
    std::int32_t c = take();
    if (c == '\\') {
      c = take();
      if (c != kEnd && c != '\n') continue;
    }
    if (c == kEnd || c == '\n') {
      return fail(quote == '"' ? "unterminated quoted string" : "unterminated character constant");
    }
    if (c == quote) return emit(quote == '"' ? TokenKind::string : TokenKind::character_constant);
  }
}

Lexer::State Lexer::in_raw_quote() {
  for (;;) {
    const std::int32_t c = take();
    if (c == kEnd) return fail("unterminated raw quoted string");
    if (c == '`') return emit(TokenKind::raw_string);
  }
}

}  // namespace parlance::gotemplate
