// Prints what src/base/unicode.h says, for unicode_oracle.py to compare with python3.
//
// `unicode_dump characters` prints one line for each code point; `unicode_dump texts` reads texts
// in hexadecimal, one a line, and prints one line for each. The columns are those of the two rows
// of tables below; unicode_oracle.py names them in the same order. Begin reading at main.

#include <cstdio>
#include <cstring>
#include <string>

#include "base/unicode.h"
#include "base/utf8.h"
#include "oracle/hex.h"

namespace parlance {
namespace {

using CharacterTest = bool (*)(char32_t);
constexpr CharacterTest kCharacterTests[] = {
    unicode::is_alpha,     unicode::is_decimal,      unicode::is_digit,      unicode::is_numeric,
    unicode::is_alnum,     unicode::is_lower,        unicode::is_upper,      unicode::is_title,
    unicode::is_space,     unicode::is_printable,    unicode::is_cased,      unicode::is_case_ignorable,
    unicode::is_xid_start, unicode::is_xid_continue, unicode::is_line_break,
};

using CharacterMapping = uint32_t (*)(char32_t, char32_t*);
constexpr CharacterMapping kCharacterMappings[] = {unicode::to_lower, unicode::to_upper, unicode::to_title,
                                                   unicode::to_fold};

using TextMapping = void (*)(std::string&, std::string_view);
constexpr TextMapping kTextMappings[] = {
    unicode::append_lower,      unicode::append_upper,    unicode::append_title,
    unicode::append_capitalize, unicode::append_swapcase, unicode::append_casefold,
};

using TextTest = bool (*)(std::string_view);
constexpr TextTest kTextTests[] = {
    unicode::str_is_alpha, unicode::str_is_decimal,   unicode::str_is_digit,      unicode::str_is_numeric,
    unicode::str_is_alnum, unicode::str_is_lower,     unicode::str_is_upper,      unicode::str_is_title,
    unicode::str_is_space, unicode::str_is_printable, unicode::str_is_identifier, unicode::str_is_ascii,
};

void dump_character(char32_t c) {
  std::string line;
  for (const CharacterTest test : kCharacterTests) line += test(c) ? '1' : '0';
  line += ' ' + std::to_string(unicode::decimal_value(c));
  line += ' ' + std::to_string(unicode::digit_value(c));
  for (const CharacterMapping mapping : kCharacterMappings) {
    char32_t mapped[unicode::kMaxMapping];
    const uint32_t size = mapping(c, mapped);
    std::string bytes;
    for (uint32_t i = 0; i < size; ++i) utf8::append(bytes, mapped[i]);
    line += ' ' + to_hex(bytes);
  }
  std::puts(line.c_str());
}

void dump_text(std::string_view text) {
  std::string line;
  for (const TextTest test : kTextTests) line += test(text) ? '1' : '0';
  line += utf8::is_valid(text, true) ? '1' : '0';
  line += utf8::has_surrogates(text) ? '1' : '0';
  const size_t count = utf8::count(text);
  line += ' ' + std::to_string(count);
  line += ' ' + std::to_string(utf8::offset_of(text, count / 2));
  for (const TextMapping mapping : kTextMappings) {
    std::string out = "|";
    mapping(out, text);
    line += ' ' + to_hex(out);
  }
  std::puts(line.c_str());
}

void each_line(void (*dump)(std::string_view)) {
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    dump(from_hex(line));
    line.clear();
  }
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "characters") == 0) {
    for (char32_t c = 0; c <= parlance::utf8::kMaxCodePoint; ++c) parlance::dump_character(c);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "texts") == 0) {
    parlance::each_line(parlance::dump_text);
    return 0;
  }
  std::fputs("usage: unicode_dump characters | texts < hexadecimal lines\n", stderr);
  return 2;
}
