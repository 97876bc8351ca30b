// The facts of a tokenizer are in it.
#include <utility>

#include "parlance/parlance.h"

std::size_t size_of(parlance::CallbackTokenizer tokenizer) {
#ifdef WRONG
  return std::move(tokenizer).facts().vocabulary_size;
#else
  return tokenizer.facts().vocabulary_size;
#endif
}
