// Lexer: Go template text to tokens, with Go's own cuts, positions and complaints.
//
// Pull-based: each call of next() gives one token. After an error token, the text counts as over.
// Source of the rules: Go 1.26 text/template/parse/lex.go. Begin reading at Lexer::next.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance::gotemplate {

enum class TokenKind : std::uint8_t {
  error,
  boolean,
  character,
  character_constant,
  complex,
  assign,
  declare,
  eof,
  field,
  identifier,
  left_delimiter,
  left_parenthesis,
  number,
  pipe,
  raw_string,
  right_delimiter,
  right_parenthesis,
  space,
  string,
  text,
  variable,
  // Keywords; the rest of the kinds are before them.
  block,
  break_,
  continue_,
  dot,
  define,
  else_,
  end,
  if_,
  nil,
  range,
  template_,
  with,
};

struct Token {
  TokenKind kind = TokenKind::eof;
  std::uint32_t begin = 0;  ///< byte offset
  std::uint32_t line = 0;   ///< of the beginning, from 1
  std::string_view text;    ///< the bytes; of an error, its sentence (alive until the next token)
  std::uint32_t end() const { return begin + static_cast<std::uint32_t>(kind == TokenKind::error ? 0 : text.size()); }
  /// As complaints show it.
  std::string display() const;
};

/// Gives the tokens of one text. The text must outlive the tokens, which are views of it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  enum class State : std::uint8_t { text, left_delimiter, right_delimiter, inside, space, done };

  static constexpr std::int32_t kEnd = -1;
  std::int32_t take();
  std::int32_t peek();
  void back();
  bool accept(std::string_view valid);
  void accept_run(std::string_view valid);
  bool starts_with(std::size_t at, std::string_view what) const {
    return at <= text_.size() && text_.substr(at).starts_with(what);
  }
  bool left_trim_at(std::size_t at) const;
  bool right_trim_at(std::size_t at) const;
  bool at_right_delimiter(bool& trims) const;
  bool at_terminator();
  std::size_t blanks_from(std::size_t at) const;
  void ignore();

  State emit(TokenKind kind);
  State fail(std::string sentence);

  State in_text();
  State in_left_delimiter();
  State in_comment();
  State in_right_delimiter();
  State in_action();
  State after_first(std::int32_t c);
  State in_space();
  State in_identifier();
  State in_name(TokenKind kind);
  State in_number();
  bool scan_number();
  State in_quoted(char quote);
  State in_raw_quote();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t begin_line_ = 1;
  // at_ is the place reached; begin_ and begin_line_ are where the current token began. line_ belongs to at_.
  std::uint32_t last_size_ = 0;  ///< bytes of what take() took last, for back()
  // Go's lexer counts parentheses itself, so an unclosed one is reported at the closing delimiter.
  int parentheses_ = 0;
  bool inside_ = false;
  Token token_;
  std::string sentence_;
};

}  // namespace parlance::gotemplate
