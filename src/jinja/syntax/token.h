// Tokens of a Jinja template, and the words among its names.
//
// Leans on token.def, the list of both. Jinja has no reserved words: a word is an ordinary name
// that the parser also asks for in some place, so it is marked once, while its bytes are being
// read. Begin reading at Token.
#pragma once
#include <cstdint>
#include <string_view>

#include "parlance/value.h"

namespace parlance::jinja {

enum class TokenKind : std::uint8_t {
#define PARLANCE_TOKEN(kind, description) kind,
#define PARLANCE_OPERATOR(kind, symbol) kind,
#include "jinja/syntax/token.def"
#undef PARLANCE_TOKEN
#undef PARLANCE_OPERATOR
};

enum class Word : std::uint8_t {
  none,  ///< no name at all, or a name like any other
#define PARLANCE_WORD(name, text) name,
#include "jinja/syntax/token.def"
#undef PARLANCE_WORD
};

/// One token: bytes [begin, end) of the source.
struct Token {
  TokenKind kind = TokenKind::end_of_template;
  Word word = Word::none;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Value value;  ///< data, string, integer, real
};

/// What error messages call a kind of token: "end of template", "==".
std::string_view description(TokenKind kind);
std::string_view text_of(Word word);
/// The word that `name` is, if any.
Word find_word(std::string_view name);

}  // namespace parlance::jinja
