// Going ahead, and failing with Jinja2's words. Begin reading at TokenStream::fail.
#include "jinja/syntax/token_stream.h"

#include "jinja/syntax/literals.h"

namespace parlance::jinja {

std::string_view TokenStream::describe(const Token& token) const {
  return token.kind == TokenKind::name ? text(token) : description(token.kind);
}

void TokenStream::step() {
  if (at_problem()) return;
  last_end_ = current_.end;
  if (!has_next_) return lexer_.next(current_);
  current_ = next_;
  has_next_ = false;
}

void TokenStream::fail(std::uint32_t begin, std::uint32_t end, std::string message, ErrorCode code, std::string hint) {
  problem_.set(code, begin, end, std::move(message), std::move(hint));
  current_.kind = TokenKind::invalid;
  current_.word = Word::none;
}

void TokenStream::fail_expected(std::string_view wanted) {
  if (at(TokenKind::end_of_template)) {
    return fail(current_, "unexpected end of template, expected " + quoted(wanted) + ".");
  }
  fail(current_, "expected token " + quoted(wanted) + ", got " + quoted(describe(current_)));
}

}  // namespace parlance::jinja
