// A grammar is made by make_grammar() and make_value_grammar() alone.
#include "parlance/parlance.h"

bool is_empty(const parlance::ReplyFormat& format) {
#ifdef WRONG
  auto grammar = parlance::Result<parlance::Grammar>(parlance::Grammar(nullptr));
#else
  auto grammar = parlance::make_grammar(format);
#endif
  return grammar.has_value() && grammar->is_empty();
}
