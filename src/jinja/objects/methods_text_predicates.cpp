// str methods that answer a question about all characters: isalpha, isspace and their kin.
//
// Rules: CPython 3.11 Objects/unicodeobject.c; the questions themselves are in base/unicode.h.

#include "base/unicode.h"
#include "jinja/objects/methods.h"

namespace parlance::jinja {
namespace {

template <bool (*question)(std::string_view)>
Value ask(Call& call) {
  const std::string_view self = text(call.rt, call[0]);
  if (!call.rt.charge_bytes(self.size())) return Value::invalid();
  return Value::boolean(question(self));
}

constexpr Builtin kTextPredicateMethods[] = {
    {"isalnum", "", "self, /", ask<unicode::str_is_alnum>, "Whether every character is a letter or a digit.",
     "{{ 'a1'.isalnum() }} -> True"},
    {"isalpha", "", "self, /", ask<unicode::str_is_alpha>, "Whether every character is a letter.",
     "{{ 'abc'.isalpha() }} -> True"},
    {"isascii", "", "self, /", ask<unicode::str_is_ascii>,
     "Whether every character is ASCII; true for the empty string.", "{{ 'abc'.isascii() }} -> True"},
    {"isdecimal", "", "self, /", ask<unicode::str_is_decimal>, "Whether every character is a decimal digit.",
     "{{ '42'.isdecimal() }} -> True"},
    {"isdigit", "", "self, /", ask<unicode::str_is_digit>, "Whether every character is a digit, superscripts included.",
     "{{ '42'.isdigit() }} -> True"},
    {"isidentifier", "", "self, /", ask<unicode::str_is_identifier>, "Whether the string could be a name in Python.",
     "{{ 'a_1'.isidentifier() }} -> True"},
    {"islower", "", "self, /", ask<unicode::str_is_lower>, "Whether there are cased characters, all in lower case.",
     "{{ 'abc'.islower() }} -> True"},
    {"isnumeric", "", "self, /", ask<unicode::str_is_numeric>,
     "Whether every character stands for a number, fractions included.", "{{ '42'.isnumeric() }} -> True"},
    {"isprintable", "", "self, /", ask<unicode::str_is_printable>,
     "Whether repr() would show every character as it is; true for the empty string.",
     "{{ 'a b'.isprintable() }} -> True"},
    {"isspace", "", "self, /", ask<unicode::str_is_space>, "Whether every character is white space.",
     "{{ ' '.isspace() }} -> True"},
    {"istitle", "", "self, /", ask<unicode::str_is_title>,
     "Whether every word begins with an uppercase letter and goes on in lower case.",
     "{{ 'Title Case'.istitle() }} -> True"},
    {"isupper", "", "self, /", ask<unicode::str_is_upper>, "Whether there are cased characters, all in upper case.",
     "{{ 'ABC'.isupper() }} -> True"},
};

}  // namespace

std::span<const Builtin> text_predicate_methods() { return kTextPredicateMethods; }

}  // namespace parlance::jinja
