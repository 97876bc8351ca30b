// The tables of token.h: descriptions of tokens, and the hash that finds a word among names.
//
// The hash table is made by the compiler from token.def and has no collisions; when a new word
// brings one, hash() needs another mix. Begin reading at find_word.
#include "jinja/syntax/token.h"

#include <array>

#include "base/bytes.h"

namespace parlance::jinja {
namespace {

constexpr std::string_view kDescriptions[] = {
#define PARLANCE_TOKEN(kind, description) description,
#define PARLANCE_OPERATOR(kind, symbol) symbol,
#include "jinja/syntax/token.def"
#undef PARLANCE_TOKEN
#undef PARLANCE_OPERATOR
};

constexpr std::string_view kWords[] = {
    "",
#define PARLANCE_WORD(name, text) text,
#include "jinja/syntax/token.def"
#undef PARLANCE_WORD
};

constexpr std::size_t kSlots = 256;

/// All words have at least two letters.
constexpr std::size_t hash(std::string_view name) {
  const auto letter = [name](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  const std::size_t last = name.size() - 1;
  return (letter(0) + letter(last) * 9 + letter(last / 2) * 19 + last * 29) % kSlots;
}

constexpr std::array<Word, kSlots> kSlotsOfWords = [] {
  std::array<Word, kSlots> slots{};
  for (std::size_t i = 1; i < std::size(kWords); ++i) slots[hash(kWords[i])] = static_cast<Word>(i);
  return slots;
}();

constexpr bool has_collision() {
  for (std::size_t i = 1; i < std::size(kWords); ++i) {
    if (kSlotsOfWords[hash(kWords[i])] != static_cast<Word>(i)) return true;
  }
  return false;
}
static_assert(!has_collision());

}  // namespace

std::string_view description(TokenKind kind) { return kDescriptions[static_cast<std::size_t>(kind)]; }

std::string_view text_of(Word word) { return kWords[static_cast<std::size_t>(word)]; }

Word find_word(std::string_view name) {
  if (name.size() < 2) return Word::none;
  const Word word = kSlotsOfWords[hash(name)];
  return equal_bytes(text_of(word), name) ? word : Word::none;
}

}  // namespace parlance::jinja
