// The str methods of unicode.h over whole texts: case changes and the is... questions.
//
// Runs of ASCII are copied whole and changed in place; other characters go one by one through the
// mappings of unicode.cpp. A capital sigma at the end of a word becomes a final one.
// Source of the rules: CPython 3.11 Objects/unicodeobject.c (do_lower, do_title, do_capitalize,
// do_swapcase, handle_capital_sigma, unicode_is*_impl). Begin reading at append_mapped.

#include "base/unicode.h"
#include "base/utf8.h"

namespace parlance::unicode {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;

using Question = bool (*)(char32_t);

constexpr bool is_between(char c, char first, char last) { return c >= first && c <= last; }

// Without branches, so that compilers turn a loop over them into vector code; and objects rather
// than functions, so that they are inlined where they are passed.
constexpr auto ascii_lower = [](char c) { return static_cast<char>(c + (is_between(c, 'A', 'Z') << 5)); };
constexpr auto ascii_upper = [](char c) { return static_cast<char>(c - (is_between(c, 'a', 'z') << 5)); };
constexpr auto ascii_swapcase = [](char c) {
  return static_cast<char>(c ^ (is_between(static_cast<char>(c | 0x20), 'a', 'z') << 5));
};

/// Appends the ASCII characters that `text` begins with, mapped; returns how many they are.
template <class MapAscii>
size_t append_ascii(std::string& out, std::string_view text, MapAscii map_ascii) {
  const size_t size = utf8::ascii_prefix(text);
  out.append(text.data(), size);
  char* const end = out.data() + out.size();
  for (char* c = end - size; c < end; ++c) *c = map_ascii(*c);
  return size;
}

/// Appends `text` with `map_ascii(char)` applied to each ASCII character and
/// `map_wide(p, decoded, mapped)` to each other one, which is at `p`.
template <class MapAscii, class MapWide>
void append_mapped(std::string& out, std::string_view text, MapAscii map_ascii, MapWide map_wide) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    p += append_ascii(out, {p, static_cast<size_t>(end - p)}, map_ascii);
    const char* kept = p;  // from here on nothing has changed, and nothing is appended yet
    while (p < end && static_cast<uint8_t>(*p) >= 0x80) {
      const utf8::Decoded next = utf8::decode(p, end);
      char32_t mapped[kMaxMapping];
      const uint32_t size = map_wide(p, next, mapped);
      const bool is_malformed = next.size == 1;
      if (size != 1 || mapped[0] != next.code_point || is_malformed) {
        out.append(kept, p);
        for (uint32_t i = 0; i < size; ++i) utf8::append(out, mapped[i]);
        kept = p + next.size;
      }
      p += next.size;
    }
    out.append(kept, p);
  }
}

bool follows_cased(const char* begin, const char* p) {
  while (p > begin) {
    const utf8::Decoded previous = utf8::decode_back(begin, p);
    if (!is_case_ignorable(previous.code_point)) return is_cased(previous.code_point);
    p -= previous.size;
  }
  return false;
}

bool precedes_cased(const char* p, const char* end) {
  while (p < end) {
    const utf8::Decoded next = utf8::decode(p, end);
    if (!is_case_ignorable(next.code_point)) return is_cased(next.code_point);
    p += next.size;
  }
  return false;
}

/// The lower case of character `c` of `text`, which is at `p`. Sigmas are themselves not ignorable,
/// so looking around each of them passes over any character twice at most.
uint32_t to_lower_at(std::string_view text, const char* p, utf8::Decoded c, char32_t* out) {
  if (c.code_point != kCapitalSigma) return to_lower(c.code_point, out);
  const bool ends_word = follows_cased(text.data(), p) && !precedes_cased(p + c.size, text.data() + text.size());
  *out = ends_word ? kFinalSigma : kSmallSigma;
  return 1;
}

/// Appends what follows `start` in lower case; what stands before it is context.
void append_lower_from(std::string& out, std::string_view text, size_t start) {
  append_mapped(out, text.substr(start), ascii_lower,
                [text](const char* p, utf8::Decoded c, char32_t* mapped) { return to_lower_at(text, p, c, mapped); });
}

/// Whether `text` is not empty and every character of it answers yes.
template <class Predicate>
bool all_characters(std::string_view text, Predicate predicate) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    if (!predicate(next.code_point)) return false;
    p += next.size;
  }
  return !text.empty();
}

template <Question kIs>
bool all_are(std::string_view text) {
  return all_characters(text, [](char32_t c) { return kIs(c); });
}

/// Whether some character is of the wanted case, and none of the other one or titlecase.
template <Question kIsWanted, Question kIsOther>
bool is_in_case(std::string_view text) {
  bool found = false;
  const auto fits = [&found](char32_t c) {
    if (kIsOther(c) || is_title(c)) return false;
    found = found || kIsWanted(c);
    return true;
  };
  return all_characters(text, fits) && found;
}

}  // namespace

void append_lower(std::string& out, std::string_view text) { append_lower_from(out, text, 0); }

void append_upper(std::string& out, std::string_view text) {
  append_mapped(out, text, ascii_upper,
                [](const char*, utf8::Decoded c, char32_t* mapped) { return to_upper(c.code_point, mapped); });
}

void append_casefold(std::string& out, std::string_view text) {
  append_mapped(out, text, ascii_lower,
                [](const char*, utf8::Decoded c, char32_t* mapped) { return to_fold(c.code_point, mapped); });
}

void append_capitalize(std::string& out, std::string_view text) {
  const utf8::Decoded first = utf8::decode(text.data(), text.data() + text.size());
  if (first.size == 0) return;
  char32_t mapped[kMaxMapping];
  const uint32_t size = to_title(first.code_point, mapped);
  for (uint32_t i = 0; i < size; ++i) utf8::append(out, mapped[i]);
  append_lower_from(out, text, first.size);
}

void append_title(std::string& out, std::string_view text) {
  bool in_word = false;
  const auto map_ascii = [&in_word](char c) {
    const char mapped = in_word ? ascii_lower(c) : ascii_upper(c);
    in_word = is_cased(static_cast<char32_t>(c));
    return mapped;
  };
  append_mapped(out, text, map_ascii, [&](const char* p, utf8::Decoded c, char32_t* mapped) {
    const bool goes_on = in_word;
    in_word = is_cased(c.code_point);
    return goes_on ? to_lower_at(text, p, c, mapped) : to_title(c.code_point, mapped);
  });
}

void append_swapcase(std::string& out, std::string_view text) {
  append_mapped(out, text, ascii_swapcase, [text](const char* p, utf8::Decoded c, char32_t* mapped) -> uint32_t {
    if (is_upper(c.code_point)) return to_lower_at(text, p, c, mapped);
    if (is_lower(c.code_point)) return to_upper(c.code_point, mapped);
    *mapped = c.code_point;
    return 1;
  });
}

bool str_is_alpha(std::string_view text) { return all_are<is_alpha>(text); }
bool str_is_decimal(std::string_view text) { return all_are<is_decimal>(text); }
bool str_is_digit(std::string_view text) { return all_are<is_digit>(text); }
bool str_is_numeric(std::string_view text) { return all_are<is_numeric>(text); }
bool str_is_alnum(std::string_view text) { return all_are<is_alnum>(text); }
bool str_is_space(std::string_view text) { return all_are<is_space>(text); }
bool str_is_lower(std::string_view text) { return is_in_case<is_lower, is_upper>(text); }
bool str_is_upper(std::string_view text) { return is_in_case<is_upper, is_lower>(text); }
bool str_is_ascii(std::string_view text) { return utf8::is_ascii(text); }

bool str_is_printable(std::string_view text) { return text.empty() || all_are<is_printable>(text); }

// Every word begins with an uppercase or titlecase letter and goes on in lower case.
bool str_is_title(std::string_view text) {
  bool in_word = false;
  bool found = false;
  const auto fits = [&](char32_t c) {
    const bool begins = is_upper(c) || is_title(c);
    const bool goes_on = !begins && is_lower(c);
    if ((begins && in_word) || (goes_on && !in_word)) return false;
    in_word = begins || goes_on;
    found = found || in_word;
    return true;
  };
  return all_characters(text, fits) && found;
}

bool str_is_identifier(std::string_view text) {
  bool at_start = true;
  return all_characters(text, [&](char32_t c) {
    const bool fits = at_start ? is_xid_start(c) || c == '_' : is_xid_continue(c);
    at_start = false;
    return fits;
  });
}

}  // namespace parlance::unicode
