// Literals of a template: where a number or string ends, and what it is worth.
//
// Leans on value/number.h for the arithmetic. The lexer asks; nobody else needs these.
// Source: Jinja2 3.1 lexer.py (integer_re, float_re, string_re, Lexer.wrap) and CPython 3.11's
// unicode-escape codec (Objects/unicodeobject.c). Begin reading at scan_number.
#pragma once
#include <string>
#include <string_view>

#include "value/runtime.h"

namespace parlance::jinja {

/// A number's bytes are [0, size) of the text it was looked for in; size 0: there is none.
struct NumberScan {
  std::size_t size = 0;
  bool is_real = false;
};
/// The longest number that `text` begins with. `after_dot`: a dot stands before it, so it is no
/// float.
NumberScan scan_number(std::string_view text, bool after_dot);

/// What went wrong with a literal; an empty message when nothing did.
struct LiteralProblem {
  ErrorCode code = ErrorCode::syntax;
  std::string message;
  std::string hint;
};
/// The value of what scan_number found.
Value number_value(Runtime& rt, std::string_view digits, bool is_real, LiteralProblem& problem);

/// The value of a string literal's inside (without quotes), which may have escapes: text in the
/// arena, logged as derived from the literal.
Value decode_string(Runtime& rt, std::string_view inside, LiteralProblem& problem);

/// repr() of a text, as Python puts characters and names into messages.
std::string quoted(std::string_view text);

}  // namespace parlance::jinja
