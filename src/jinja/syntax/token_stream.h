// TokenStream: the token the parser looks at, the one behind it, and the first problem met.
//
// Leans on the lexer. A failure turns the current token into `invalid`, which no rule accepts, so
// that every rule on the way back ends by itself; the parser need not ask after each step. Source:
// Jinja2 3.1 lexer.py, TokenStream: tokens are fetched exactly when it fetches them, so that of
// several mistakes the same one is reported. Begin reading at advance and expect.
#pragma once
#include <string>
#include <string_view>

#include "base/source_text.h"
#include "jinja/syntax/lexer.h"

namespace parlance::jinja {

class TokenStream {
 public:
  TokenStream(Runtime& rt, const SourceText& source, const SyntaxOptions& options)
      : text_(source.text()), lexer_(rt, source.text(), options, problem_) {
    lexer_.next(current_);
  }

  const Token& current() const { return current_; }
  bool at(TokenKind kind) const { return current_.kind == kind; }
  bool at(Word word) const { return current_.word == word; }
  /// True from the first failure on.
  bool at_problem() const { return current_.kind == TokenKind::invalid; }
  /// For loops up to a closing token: false there, and after a failure.
  bool before(TokenKind closer) const { return !at(closer) && !at_problem(); }

  /// The token behind the current one.
  const Token& look() {
    if (!has_next_) {
      lexer_.next(next_);
      has_next_ = true;
    }
    return next_;
  }

  /// Goes one token ahead and returns the old one; in line, since most callers want little of it or nothing.
  [[gnu::always_inline]] inline Token advance() {
    const Token old = current_;
    step();
    return old;
  }

  template <typename KindOrWord>
  bool skip_if(KindOrWord wanted) {
    if (!at(wanted)) return false;
    advance();
    return true;
  }

  /// Goes past the token wanted and returns it; fails when another is there.
  template <typename KindOrWord>
  [[gnu::always_inline]] inline Token expect(KindOrWord wanted) {
    if (!at(wanted)) fail_expected(wanted);
    return advance();
  }

  /// The end of the latest token gone past.
  std::uint32_t last_end() const { return last_end_; }
  std::string_view text(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }
  std::string_view text() const { return text_; }
  /// What messages call the token: a name's own text, else the kind's description.
  std::string_view describe(const Token& token) const;

  void fail(std::uint32_t begin, std::uint32_t end, std::string message, ErrorCode code = ErrorCode::syntax,
            std::string hint = {});
  void fail(const Token& at, std::string message) { fail(at.begin, at.end, std::move(message)); }
  const Problem& problem() const { return problem_; }

 private:
  void step();
  void fail_expected(TokenKind kind) { fail_expected(description(kind)); }
  void fail_expected(Word word) { fail_expected(text_of(word)); }
  void fail_expected(std::string_view wanted);

  Problem problem_;
  std::string_view text_;
  Lexer lexer_;
  Token current_;
  Token next_;
  bool has_next_ = false;
  std::uint32_t last_end_ = 0;
};

}  // namespace parlance::jinja
