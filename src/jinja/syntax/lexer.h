// Lexer: template text to tokens, one at a time, exactly as Jinja2 3.1 cuts it with default
// delimiters.
//
// Leans on SourceText, which has normalised the newlines. Tokens are made on demand because
// Jinja2's are: a mistake in the text counts only once the parser has come that far. Begin reading
// at Lexer::next; literals (numbers, strings) are in literals.h.
#pragma once
#include <string>
#include <string_view>

#include "jinja/syntax/parser.h"
#include "jinja/syntax/token.h"

namespace parlance::jinja {

/// The first thing wrong with a template; later ones are consequences and are dropped.
struct Problem {
  bool happened = false;
  ErrorCode code{};
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string message;
  std::string hint;

  void set(ErrorCode new_code, std::uint32_t new_begin, std::uint32_t new_end, std::string new_message,
           std::string new_hint = {});
};

class Lexer {
 public:
  /// `text` is that of a SourceText: a zero byte stands behind it.
  Lexer(Runtime& rt, std::string_view text, const SyntaxOptions& options, Problem& problem);

  /// Makes `token` the next token; its value is set for the kinds that have one. After the last
  /// token that one again; not to be asked any more once there was a problem.
  void next(Token& token) {
    token.word = Word::none;
    while (!(is_in_code() ? lex_code(token) : lex_between_code(token))) {
    }
  }

 private:
  /// What the text at pos_ is part of.
  enum class State : std::uint8_t { text, tag, raw, variable, block };
  bool is_in_code() const { return state_ == State::variable || state_ == State::block; }

  // One function for each state: true when `token` is one for the parser.
  bool lex_between_code(Token& token);
  bool lex_text(Token& token);
  bool lex_tag(Token& token);
  bool lex_raw(Token& token);
  bool lex_code(Token& token);

  bool lex_name(Token& token);
  bool lex_number(Token& token);
  bool lex_string(Token& token);
  bool lex_operator(Token& token);
  bool lex_wide(Token& token);
  bool lex_end_of_code(Token& token);

  std::size_t end_of_string(bool& has_escape) const;
  std::size_t find_tag(std::size_t from) const;
  std::size_t end_of_data(std::size_t begin, std::size_t tag) const;
  std::size_t match_raw_begin() const;
  std::size_t match_raw_end(std::size_t from) const;
  bool skip_comment(Token& token);
  std::size_t skip_space(std::size_t pos) const;
  std::size_t after_tag(std::size_t closer, char sign) const;

  bool balance(TokenKind kind, Token& token);
  bool fail_unbalanced(char due, Token& token);
  bool unexpected_character(Token& token);
  bool emit(Token& token, TokenKind kind, std::size_t end);
  bool emit_data(Token& token, std::size_t begin, std::size_t end);
  bool end_here(Token& token);
  bool fail(Token& token, std::size_t begin, std::size_t end, std::string message, ErrorCode code = ErrorCode::syntax,
            std::string hint = {});

  char at(std::size_t i) const { return i < size_ ? text_[i] : '\0'; }
  bool has(std::size_t i, char a, char b) const { return i + 1 < size_ && text_[i] == a && text_[i + 1] == b; }

  Runtime& rt_;
  const char* text_;
  std::size_t size_;  ///< without the final newline, unless it is kept
  std::size_t pos_ = 0;
  State state_ = State::text;
  bool trim_blocks_;
  bool lstrip_blocks_;
  std::string open_brackets_;     ///< the closing brackets that are due, innermost last
  std::uint32_t last_begin_ = 0;  ///< of the latest token: Jinja2 says the template ends on its line
  std::uint32_t last_end_ = 0;
  Problem& problem_;
};

}  // namespace parlance::jinja
