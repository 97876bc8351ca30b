// Tests of jinja/syntax/lexer.h: what becomes a token, what white space control takes away, what literals
// mean. Whole templates are compared with Jinja2 by tests/oracle/parse_oracle.py; here are the
// cases worth knowing by name. Begin reading at kControlRows.
#include "jinja/syntax/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/source_text.h"
#include "base/utf8.h"

namespace parlance::jinja {
namespace {

using namespace std::string_view_literals;

/// A template's tokens, and what they live in.
struct Lexed {
  explicit Lexed(std::string_view text, SyntaxOptions options = {})
      : source("<template>", text, true), rt(arena, limits) {
    Lexer lexer(rt, source.text(), options, problem);
    Token token;
    for (lexer.next(token); token.kind != TokenKind::end_of_template; lexer.next(token)) {
      tokens.push_back(token);
      if (token.kind == TokenKind::invalid) return;
    }
  }

  std::string_view text(const Token& token) const { return source.text().substr(token.begin, token.end - token.begin); }
  /// Template text as it is kept, everything else as it stands, separated by spaces.
  std::string shown() const {
    std::string all;
    for (const Token& token : tokens) {
      if (!all.empty()) all += ' ';
      all += token.kind == TokenKind::data ? "'" + std::string(text(token)) + "'" : std::string(text(token));
    }
    return all;
  }

  Arena arena;
  Limits limits;
  SourceText source;
  Runtime rt;
  Problem problem;
  std::vector<Token> tokens;
};

struct ControlRow {
  std::string_view source;
  std::string_view trimming;  ///< trim_blocks and lstrip_blocks
  std::string_view plain;     ///< neither
};
constexpr ControlRow kControlRows[] = {
    {"a\n  {% if %}\nb", "'a\n' {% if %} 'b'", "'a\n  ' {% if %} '\nb'"},
    {"a\n  {%+ if +%}\nb", "'a\n  ' {%+ if +%} '\nb'", "'a\n  ' {%+ if +%} '\nb'"},
    {"a\n  {%- if -%}\n  b", "'a' {%- if -%} 'b'", "'a' {%- if -%} 'b'"},
    {"a \t\n\t{% if %} \nb", "'a \t\n' {% if %} ' \nb'", "'a \t\n\t' {% if %} ' \nb'"},
    {"a {% if %}", "'a ' {% if %}", "'a ' {% if %}"},
    {"  {% if %}", "{% if %}", "'  ' {% if %}"},
    {"\u00a0{% if %}", "{% if %}", "'\u00a0' {% if %}"},
    {"{{ a }}\n  {{ b }}\nc", "{{ a }} '\n  ' {{ b }} '\nc'", "{{ a }} '\n  ' {{ b }} '\nc'"},
    {"{{ a }}  {% if %}", "{{ a }} '  ' {% if %}", "{{ a }} '  ' {% if %}"},
    {"  {{- a -}}  ", "{{- a -}}", "{{- a -}}"},
    {"{{+1}}", "{{+ 1 }}", "{{+ 1 }}"},
    {"a\n  {# c #}\n  {% if %}", "'a\n' {% if %}", "'a\n  ' '\n  ' {% if %}"},
    {"a\n  {#- c -#}\n  b", "'a' 'b'", "'a' 'b'"},
    {"a\n  {#+ c +#}\nb", "'a\n  ' '\nb'", "'a\n  ' '\nb'"},
    {"x{#-#}y{#--#} z", "'x' 'y' 'z'", "'x' 'y' 'z'"},
    {"  {% raw %}\n {{ a }}\n  {% endraw %}\nb", "'\n {{ a }}\n' 'b'", "'  ' '\n {{ a }}\n  ' '\nb'"},
    {"a {%- raw -%} \n{{ {%- endraw -%}\n b", "'a' '{{' 'b'", "'a' '{{' 'b'"},
    {"{% raw %}{% endraw x %}{%+ endraw +%}\n", "'{% endraw x %}'", "'{% endraw x %}'"},
    {"{% rawx %}", "{% rawx %}", "{% rawx %}"},
    {"a\n", "'a'", "'a'"},
    {"a\n\n", "'a\n'", "'a\n'"},
    {"a\r\nb\rc\r\n", "'a\nb\nc'", "'a\nb\nc'"},
    {"{{ {'a': {}} }}", "{{ { 'a' : { } } }}", "{{ { 'a' : { } } }}"},
    {"{#", "", ""},
    {"a{% raw %}", "'a'", "'a'"},
};

TEST(Lexer, WhiteSpaceControl) {
  for (const ControlRow& row : kControlRows) {
    EXPECT_EQ(Lexed(row.source, {true, true, false}).shown(), row.trimming) << row.source;
    EXPECT_EQ(Lexed(row.source, {false, false, false}).shown(), row.plain) << row.source;
  }
}

TEST(Lexer, TheLastNewlineMayBeKept) {
  EXPECT_EQ(Lexed("a\n", {true, true, true}).shown(), "'a\n'");
  EXPECT_EQ(Lexed("{% if %}\n", {true, true, true}).shown(), "{% if %}");
  EXPECT_EQ(Lexed("\n").shown(), "");
}

struct StringRow {
  std::string_view literal;
  std::string_view value;
};
constexpr StringRow kStringRows[] = {
    {"''", ""},
    {"'a\"b'", "a\"b"},
    {R"("a'b")", "a'b"},
    {R"('\'\"\\')", "'\"\\"},
    {R"('\a\b\f\n\r\t\v')", "\a\b\f\n\r\t\v"},
    {R"('\x41\u00e9\u20AC\U0001F600')", "Aé€😀"},
    {R"('\ud800')", "\xED\xA0\x80"},
    {R"('\0\101\7778')",
     "\0A\xC7\xBF"
     "8"sv},
    {R"('\q\8\{')", "\\q\\8\\{"},
    {"'a\\\nb'", "ab"},
    {"'a\nb'", "a\nb"},
    {"'é你'", "é你"},
    {R"('\é\你\😀')", R"(\xe9\u4f60\U0001f600)"},
};

TEST(Lexer, Strings) {
  for (const StringRow& row : kStringRows) {
    const Lexed lexed("{{ " + std::string(row.literal));
    ASSERT_EQ(lexed.tokens.size(), 2u) << row.literal;
    const Value value = lexed.tokens[1].value;
    EXPECT_EQ(std::string_view(value.data, value.size), row.value) << row.literal;
  }
}

TEST(Lexer, StringsPointAtTheSource) {
  Lexed lexed(R"({{ 'plain' 'e\x41' )");
  const Value plain = lexed.tokens[1].value;
  EXPECT_EQ(plain.data, lexed.source.text().data() + 4);
  const Value decoded = lexed.tokens[2].value;
  const Arena::Derived* derived = lexed.arena.find_derived(decoded.data);
  ASSERT_NE(derived, nullptr);
  EXPECT_EQ(derived->source_data, lexed.source.text().data() + 12);
}

struct NumberRow {
  std::string_view text;
  std::string_view tokens;
};
constexpr NumberRow kNumberRows[] = {
    {"42", "42"},           {"1_000", "1_000"},  {"1__0", "1 __0"},       {"1_", "1 _"},          {"00_0", "00_0"},
    {"01", "0 1"},          {"0x_fF", "0x_fF"},  {"0b12", "0b1 2"},       {"0b2", "0 b2"},        {"0o17", "0o17"},
    {"0x", "0 x"},          {"1.5", "1.5"},      {"1.", "1 ."},           {".5", ". 5"},          {"1e5", "1e5"},
    {"1E+5", "1E+5"},       {"1e", "1 e"},       {"1.5e-x", "1.5 e - x"}, {"1_0.5_0", "1_0.5_0"}, {"01.5", "01.5"},
    {"a.1.5", "a . 1 . 5"}, {"1..5", "1 . . 5"}, {"1a", "1 a"},           {"1\u0663", "1\u0663"},
};

TEST(Lexer, Numbers) {
  for (const NumberRow& row : kNumberRows) {
    const Lexed lexed("{{" + std::string(row.text));
    EXPECT_EQ(lexed.shown(), "{{ " + std::string(row.tokens)) << row.text;
  }
}

TEST(Lexer, ValuesOfNumbers) {
  const auto value = [](std::string_view text) { return Lexed("{{" + std::string(text)).tokens.at(1).value; };
  EXPECT_EQ(value("1_000").integer, 1000);
  EXPECT_EQ(value("0x_fF").integer, 255);
  EXPECT_EQ(value("0o17").integer, 15);
  EXPECT_EQ(value("0b101").integer, 5);
  EXPECT_EQ(value("1\u0663").integer, 13);
  EXPECT_EQ(value("9223372036854775807").integer, INT64_MAX);
  EXPECT_FALSE(value("9223372036854775808").is_small_int());
  EXPECT_EQ(value("1_0.5").real, 10.5);
  EXPECT_EQ(value("1e5").real, 100000.0);
  EXPECT_GT(value("1e999").real, 1e308);
}

struct ProblemRow {
  std::string_view source;
  std::string_view message;
  std::size_t begin;
  ErrorCode code = ErrorCode::syntax;
};
constexpr ProblemRow kProblemRows[] = {
    {"{{ a ! }}", "unexpected char '!' at 5", 5},
    {"é{{ $ }}", "unexpected char '$' at 4", 5},
    {"{{ 'abc }}", R"(unexpected char "'" at 3)", 3},
    {"{{ \x01 }}", R"(unexpected char '\x01' at 3)", 3},
    {"{{ \u200b", R"(unexpected char '\u200b' at 3)", 3},
    {"{{ ) }}", "unexpected ')'", 3},
    {"{{ (] }}", "unexpected ']', expected ')'", 4},
    {"{{ { }}", "unexpected '}'", 6},
    {"{{ (%} ", "unexpected '}', expected ')'", 5},
    {"a {# b", "Missing end of comment tag", 2},
    {"{% raw %} b {% endraw", "Missing end of raw directive", 9},
    {"{{ \u0663 }}", "Invalid character in identifier", 3},
    {"{{ a\u00b2 }}", "Invalid character in identifier", 3},
    {R"({{ '\x4' }})", R"(truncated \xXX escape)", 3},
    {R"({{ '\u12g4' }})", R"(truncated \uXXXX escape)", 3},
    {R"({{ '\U0011' }})", R"(truncated \UXXXXXXXX escape)", 3},
    {R"({{ '\U00110000' }})", "illegal Unicode character", 3},
    {R"({{ '\N' }})", R"(malformed \N character escape)", 3},
    {R"({{ '\N{DASH}' }})",
     R"(unknown Unicode character name (none is known here: write the character itself, or \uXXXX))", 3},
    {"{{ \u0663.5 }}", "invalid character '\u0663' (U+0663)", 3, ErrorCode::python_syntax},
};

TEST(Lexer, Problems) {
  for (const ProblemRow& row : kProblemRows) {
    const Lexed lexed(row.source);
    ASSERT_TRUE(lexed.problem.happened) << row.source;
    EXPECT_EQ(lexed.problem.message, row.message) << row.source;
    EXPECT_EQ(lexed.problem.begin, row.begin) << row.source;
    EXPECT_EQ(lexed.problem.code, row.code) << row.source;
    EXPECT_EQ(lexed.tokens.back().kind, TokenKind::invalid) << row.source;
  }
}

TEST(Lexer, TooManyDigits) {
  const Lexed fits("{{ " + std::string(4300, '9'));
  EXPECT_FALSE(fits.problem.happened);
  const Lexed too_many("{{ " + std::string(4301, '9'));
  EXPECT_EQ(too_many.problem.code, ErrorCode::value);
}

TEST(Lexer, Words) {
  for (const std::string_view word : {"and", "endautoescape", "True", "true", "without", "if", "in", "is"}) {
    EXPECT_EQ(text_of(find_word(word)), word);
  }
  for (const std::string_view name : {"", "a", "i", "iff", "TRUE", "endraw", "raw", "message", "loop"}) {
    EXPECT_EQ(find_word(name), Word::none) << name;
  }
}

}  // namespace
}  // namespace parlance::jinja
