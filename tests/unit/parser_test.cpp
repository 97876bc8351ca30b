// Tests of jinja/syntax/parser.h: the trees of expressions and statements, and every message of a refusal.
// Jinja2 itself is asked by tests/oracle/parse_oracle.py, over templates and random mutants; the
// expectations here are its answers too. Begin reading at kExpressionRows.
#include "jinja/syntax/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace parlance::jinja {
namespace {

/// A parsed template, and what it lives in.
struct Parsed {
  explicit Parsed(std::string_view text, std::uint32_t depth = 200)
      : limits{.depth = depth},
        source("chat.jinja", text, true),
        rt(arena, limits),
        result(parse(rt, nodes, source, {})) {}

  std::string shown() const { return result ? print(*result) : result.error().message(); }

  Arena arena, nodes;
  Limits limits;
  SourceText source;
  Runtime rt;
  Result<Nodes> result;
};

std::string expression(std::string_view text) {
  const std::string shown = Parsed("{{ " + std::string(text) + " }}").shown();
  return shown.starts_with("{{ ") ? shown.substr(3, shown.size() - 7) : shown;
}

struct ParserRow {
  std::string_view source;
  std::string_view tree;
};
constexpr ParserRow kExpressionRows[] = {
    {"a + b * c", "(a + (b * c))"},
    {"a - b - c", "((a - b) - c)"},
    {"a ** b ** c", "((a ** b) ** c)"},
    {"-a ** 2", "((-a) ** 2)"},
    {"2 ** -a", "(2 ** (-a))"},
    {"-a.b|f", "((-a.b)|f())"},
    {"- -+a", "(-(-(+a)))"},
    {"a ~ b ~ c + d", "((a ~ b ~ c) + d)"},
    {"a ~ b * c", "(a ~ (b * c))"},
    {"a // b % c / d", "(((a // b) % c) / d)"},
    {"not a == b", "(not (a == b))"},
    {"not not a and b", "((not (not a)) and b)"},
    {"a or b and not c or d", "((a or (b and (not c))) or d)"},
    {"a < b <= c != d", "(a < b <= c != d)"},
    {"a not in b in c", "(a not in b in c)"},
    {"a if b", "(a if b)"},
    {"a if b else c if d else e", "(a if b else (c if d else e))"},
    {"a if b if c", "((a if b) if c)"},
    {"a or b if c", "((a or b) if c)"},
    {"a.b[c](d).e", "a.b[c](d).e"},
    {"a.0.1", "a[0][1]"},
    {"a[1:2, ::3]", "a[1:2, ::3]"},
    {"a[:], a[1:], a[:1:]", "(a[:], a[1:], a[:1])"},
    {"a[]", "a[]"},
    {"a[(1,)]", "a[(1,)]"},
    {"a|b|c(1)|d.e", "(((a|b())|c(1))|d.e())"},
    {"a|b . c", "(a|b.c())"},
    {"a|f()(1)", "(a|f())(1)"},
    {"a is b", "(a is b())"},
    {"a is not b", "(not (a is b()))"},
    {"a is b c", "(a is b(c))"},
    {"a is b c.d[0](1)|f", "((a is b(c.d[0](1)))|f())"},
    {"a is b -1", "((a is b()) - 1)"},
    {"a is b (1, 2)", "(a is b(1, 2))"},
    {"a is b 'x' 'y'", "(a is b(\"xy\"))"},
    {"a is b [1] and c", "((a is b([1])) and c)"},
    {"a is b or c", "((a is b()) or c)"},
    {"a is b else", "expected token 'end of print statement', got 'else'"},
    {"a is b() is c", "((a is b()) is c())"},
    {"a is in [1]", "(a is in([1]))"},
    {"f(a, b=c, *d, **e)", "f(a, b=c, *d, **e)"},
    {"f(*a, b=c,)", "f(b=c, *a)"},
    {"a, b", "(a, b)"},
    {"a,", "(a,)"},
    {"()", "()"},
    {"(a)", "a"},
    {"(a,)", "(a,)"},
    {"[a, b,]", "[a, b]"},
    {"{'a': 1, b: {},}", "{\"a\": 1, b: {}}"},
    {"true, True, false, False, none, None", "(true, true, false, false, none, none)"},
    {"'a' \"b\"\n'\\n'", "\"ab\\n\""},
    {"1.0, 1e100, 0x10, 1_000", "(1.0, 1e+100, 16, 1000)"},
    {"123456789012345678901234567890", "123456789012345678901234567890"},
    {"in", "in"},
    {"a == not", "(a == not)"},
};

TEST(Parser, Expressions) {
  for (const ParserRow& row : kExpressionRows) EXPECT_EQ(expression(row.source), row.tree) << row.source;
}

TEST(Parser, WhatIsPrintedParsesToTheSame) {
  for (const ParserRow& row : kExpressionRows) {
    if (row.tree.starts_with("expected")) continue;
    EXPECT_EQ(expression(row.tree), row.tree);
  }
}

constexpr ParserRow kStatementRows[] = {
    {"a{{ b }}{# c #}d", "\"a\"\n{{ b }}\n\"d\"\n"},
    {"{% for a, (b, c) in d if e recursive %}1{% else %}2{% endfor %}",
     "{% for (a, (b, c)) in d if e recursive %}\n  \"1\"\n{% else %}\n  \"2\"\n{% endfor %}\n"},
    {"{% for a in b, c: %}{% break %}{% continue %}{% endfor %}",
     "{% for a in (b, c) %}\n  {% break %}\n  {% continue %}\n{% endfor %}\n"},
    {"{% if a, %}1{% elif b %}2{% elif c %}{% else %}3{% endif %}",
     "{% if (a,) %}\n  \"1\"\n{% elif b %}\n  \"2\"\n{% elif c %}\n{% else %}\n  \"3\"\n{% endif "
     "%}\n"},
    {"{% set a = b, c %}", "{% set a = (b, c) %}\n"},
    {"{% set a, b.c = d %}", "{% set (a, b.c) = d %}\n"},
    {"{% set a|f|g(1) %}x{% endset %}", "{% set a|f()|g(1) %}\n  \"x\"\n{% endset %}\n"},
    {"{% macro m(a, b=1) %}x{% endmacro %}", "{% macro m(a, b=1) %}\n  \"x\"\n{% endmacro %}\n"},
    {"{% call(a, b=1) m(2) %}{% endcall %}", "{% call(a, b=1) m(2) %}\n{% endcall %}\n"},
    {"{% call m.n() %}{% endcall %}", "{% call m.n() %}\n{% endcall %}\n"},
    {"{% filter f|g(1) %}x{% endfilter %}", "{% filter f()|g(1) %}\n  \"x\"\n{% endfilter %}\n"},
    {"{% with a = 1, b = 2 %}{% endwith %}", "{% with a = 1, b = 2 %}\n{% endwith %}\n"},
    {"{% with %}{% endwith %}", "{% with %}\n{% endwith %}\n"},
    {"{% block a scoped required %} {# #}{% endblock a %}", "{% block a scoped required %}\n  \" \"\n{% endblock %}\n"},
    {"{% autoescape a %}{% endautoescape %}", "{% autoescape a %}\n{% endautoescape %}\n"},
    {"{% generation %}x{% endgeneration %}", "{% generation %}\n  \"x\"\n{% endgeneration %}\n"},
    {"{% print a, b if c %}", "{{ a }}\n{{ (b if c) }}\n"},
    {"{% include 'a' ignore missing without context %}", "{% include \"a\" ignore missing without context %}\n"},
    {"{% include ['a', b] %}", "{% include [\"a\", b] with context %}\n"},
    {"{% import 'a' as b with context %}", "{% import \"a\" as b with context %}\n"},
    {"{% from 'a' import b, c as d with context %}", "{% from \"a\" import b, c as d with context %}\n"},
    {"{% from 'a' import with %}", "{% from \"a\" import with without context %}\n"},
    {"{% from 'a' import b 'with' context %}", "{% from \"a\" import b with context %}\n"},
    {"{% extends 'a' if b %}", "{% extends (\"a\" if b) %}\n"},
};

TEST(Parser, Statements) {
  for (const ParserRow& row : kStatementRows) EXPECT_EQ(Parsed(row.source).shown(), row.tree) << row.source;
}

struct RefusalRow {
  std::string_view source;
  std::string_view message;
  std::uint32_t line = 1;
  std::uint32_t column = 0;  ///< 0: not asked
};
constexpr RefusalRow kRefusalRows[] = {
    {"{{ }}", "Expected an expression, got 'end of print statement'", 1, 4},
    {"{{ a b }}", "expected token 'end of print statement', got 'b'", 1, 6},
    {"{{ a", "unexpected end of template, expected 'end of print statement'.", 1, 4},
    {"{{ + }}", "unexpected 'end of print statement'", 1, 6},
    {"{{ a + ", "unexpected 'end of template'", 1, 6},
    {"{{ a. }}", "expected name or number", 1, 7},
    {"{{ a[1 }}", "unexpected '}', expected ']'", 1, 8},
    {"{{ a|1 }}", "expected token 'name', got 'integer'", 1, 6},
    {"{{ a is }}", "expected token 'name', got 'end of print statement'"},
    {"{{ a is b is c }}", "You cannot chain multiple tests with is", 1, 11},
    {"{{ f(a=1, b) }}", "invalid syntax for function call expression", 1, 5},
    {"{{ f(**a, b=1) }}", "invalid syntax for function call expression", 1, 5},
    {"{{ f(*a, *b) }}", "invalid syntax for function call expression", 1, 5},
    {"{{ f(,) }}", "unexpected ','", 1, 6},
    {"{{ {a} }}", "expected token ':', got '}'", 1, 6},
    {"{{ a[::1:] }}", "expected token ',', got ':'", 1, 9},
    {"{% %}", "tag name expected", 1, 4},
    {"{% 1 %}", "tag name expected", 1, 4},
    {"{% foo %}", "Encountered unknown tag 'foo'.", 1, 4},
    {"{% endif %}", "Encountered unknown tag 'endif'.", 1, 4},
    {"{% if a %}\n{% foo %}",
     "Encountered unknown tag 'foo'. Jinja was looking for the following tags: 'elif' or 'else' or "
     "'endif'. The innermost block that needs to be closed is 'if'.",
     2, 4},
    {"{% if a %}{% for b in c %}{% endif %}",
     "Encountered unknown tag 'endif'. You probably made a nesting mistake. Jinja is expecting "
     "this "
     "tag, but currently looking for 'endfor' or 'else'. The innermost block that needs to be "
     "closed "
     "is 'for'.",
     1, 30},
    {"{% for a in b %}\n\nx\n",
     "Unexpected end of template. Jinja was looking for the following tags: 'endfor' or 'else'. "
     "The "
     "innermost block that needs to be closed is 'for'.",
     2},
    {"{% for a, in b %}", "expected token 'in', got 'b'", 1, 14},
    {"{% for a.b in c %}", "expected token 'in', got '.'"},
    {"{% for 1 in c %}", "can't assign to 'const'", 1, 8},
    {"{% set true = 1 %}", "can't assign to 'const'", 1, 8},
    {"{% set (a,\nb + c) = 1 %}", "can't assign to 'tuple'", 1},
    {"{% set (a\n,\nb.c) = 1 %}", "can't assign to 'tuple'", 2},
    {"{% set [a] = 1 %}", "can't assign to 'list'"},
    {"{% set a.b.c = 1 %}", "expected token 'end of statement block', got '.'"},
    {"{% set a %}",
     "Unexpected end of template. Jinja was looking for the following tags: 'endset'. The "
     "innermost block that needs to be closed is 'set'."},
    {"{% macro none() %}", "can't assign to 'name'"},
    {"{% macro m(a=1, b) %}", "non-default argument follows default argument", 1, 18},
    {"{% call a %}", "expected call", 1, 4},
    {"{% block a-b %}",
     "Block names in Jinja have to be valid Python identifiers and may not contain "
     "hyphens, use an underscore instead.",
     1, 11},
    {"{% block a required %}x{% endblock %}", "Required blocks can only contain comments or whitespace"},
    {"{% endblock a %}", "Encountered unknown tag 'endblock'."},
    {"{% include 'a' ignore %}", "expected token 'end of statement block', got 'ignore'"},
    {"{% import 'a' %}", "expected token 'as', got 'end of statement block'"},
    {"{% from 'a' import b, %}", "expected token 'name', got 'end of statement block'"},
    {"{% raw %}\n{% endraw %}{% foo %}", "Encountered unknown tag 'foo'.", 2},
    {"{%- raw -%}\n\na", "Missing end of raw directive", 3},
};

TEST(Parser, Refusals) {
  for (const RefusalRow& row : kRefusalRows) {
    const Parsed parsed(row.source);
    ASSERT_FALSE(parsed.result) << row.source;
    const Error& error = parsed.result.error();
    EXPECT_EQ(error.code(), ErrorCode::syntax) << row.source;
    EXPECT_EQ(error.message(), row.message) << row.source;
    EXPECT_EQ(error.where().line, row.line) << row.source;
    EXPECT_TRUE(row.column == 0 || row.column == error.where().column)
        << row.source << " at column " << error.where().column;
  }
}

TEST(Parser, UnderscoredNamesCannotBeImported) {
  const Parsed parsed("{% from 'a' import _b %}");
  ASSERT_FALSE(parsed.result);
  EXPECT_EQ(parsed.result.error().python_class(), "TemplateAssertionError");
  EXPECT_EQ(parsed.result.error().message(), "names starting with an underline can not be imported");
}

TEST(Parser, SaysWhereTheOpenBlockBegan) {
  const Parsed parsed("{% if a %}\n{% for b in c %}\n");
  ASSERT_FALSE(parsed.result);
  EXPECT_EQ(parsed.result.error().hint(), "'for' is open since line 2");
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  while (times-- != 0) all += piece;
  return all;
}

TEST(Parser, DepthIsBounded) {
  constexpr std::size_t kMany = 100000;
  const std::string hostile[] = {
      "{{ " + repeated("(", kMany),      "{{ " + repeated("[", kMany),
      "{{ " + repeated("{1:", kMany),    "{{ " + repeated("-", kMany),
      "{{ " + repeated("not ", kMany),   "{{ " + repeated("a[", kMany),
      "{{ " + repeated("f(", kMany),     "{{ " + repeated("a if b else ", kMany),
      "{{ " + repeated("a|f(", kMany),   "{{ a" + repeated(".b", kMany),
      "{{ a" + repeated("|f", kMany),    "{{ a" + repeated("+a", kMany),
      "{{ a" + repeated("()", kMany),    "{{ a" + repeated("**a", kMany),
      "{{ a" + repeated(" if b", kMany), repeated("{% if a %}", kMany),
      repeated("{% filter a %}", kMany), "{% set " + repeated("(", kMany),
  };
  for (const std::string& text : hostile) {
    const Parsed parsed(text);
    ASSERT_FALSE(parsed.result) << text.substr(0, 20);
    EXPECT_EQ(parsed.result.error().code(), ErrorCode::limit_depth) << text.substr(0, 20);
  }
}

TEST(Parser, DepthFollowsTheLimit) {
  const auto parentheses = [](std::size_t n) { return "{{ " + repeated("(", n) + "a" + repeated(")", n) + " }}"; };
  EXPECT_TRUE(Parsed(parentheses(50), 50).result);
  EXPECT_FALSE(Parsed(parentheses(51), 50).result);
  EXPECT_FALSE(Parsed(parentheses(100000), 1000000).result);
}

TEST(Parser, LongButFlatIsFine) {
  EXPECT_TRUE(Parsed("{{ a" + repeated("~a", 20000) + " }}").result);
  EXPECT_TRUE(Parsed("{{ [" + repeated("1,", 20000) + "] }}").result);
  EXPECT_TRUE(Parsed("{% if a %}" + repeated("{% elif b %}", 20000) + "{% endif %}").result);
}

TEST(Parser, TemplateTextIsNotCopied) {
  const Parsed parsed("ab{# #}cd");
  ASSERT_TRUE(parsed.result);
  const Nodes& parts = as<Output>((*parsed.result)[0]).parts;
  ASSERT_EQ(parts.size, 2u);
  EXPECT_EQ(as<Constant>(parts[0]).value.data, parsed.source.text().data());
  EXPECT_EQ(as<Constant>(parts[1]).value.data, parsed.source.text().data() + 7);
}

TEST(Parser, JoinedStringsRememberTheirParts) {
  Parsed parsed("{{ 'ab' 'cd' }}");
  ASSERT_TRUE(parsed.result);
  const Value joined = as<Constant>(as<Output>((*parsed.result)[0]).parts[0]).value;
  EXPECT_EQ(parsed.arena.find_derived(joined.data)->source_data, parsed.source.text().data() + 4);
  EXPECT_EQ(parsed.arena.find_derived(joined.data + 2)->source_data, parsed.source.text().data() + 9);
}

TEST(Parser, NodesKnowTheirPlaces) {
  const std::string_view text = "{{ (a + b).c|f }}";
  const Parsed parsed(text);
  ASSERT_TRUE(parsed.result);
  const auto bytes = [text](const Node* n) { return text.substr(n->begin, n->end - n->begin); };
  const Node* filter = as<Output>((*parsed.result)[0]).parts[0];
  EXPECT_EQ(bytes(filter), "(a + b).c|f");
  EXPECT_EQ(text[filter->anchor], 'f');
  const Node* attribute = as<Filter>(filter).subject;
  EXPECT_EQ(bytes(attribute), "(a + b).c");
  EXPECT_EQ(text[attribute->anchor], '.');
  EXPECT_EQ(bytes(as<GetAttribute>(attribute).object), "a + b");
}

}  // namespace
}  // namespace parlance::jinja
