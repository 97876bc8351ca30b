// Tests of parlance/error.h: the rows of errors.def, and what a person reads.
#include "parlance/error.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/source_text.h"

namespace parlance {
namespace {

Error::Parts parts_at(std::string_view text, std::string_view marked, std::string message) {
  const SourceText source("chat.jinja", text, true);
  const std::size_t begin = source.text().find(marked);
  Error::Parts parts;
  parts.code = ErrorCode::undefined;
  parts.message = std::move(message);
  parts.where = source.locate(begin, begin + marked.size());
  return parts;
}

TEST(Error, FactsBelongToTheirCodes) {
  EXPECT_EQ(facts(ErrorCode::syntax).name, "syntax");
  EXPECT_EQ(facts(ErrorCode::syntax).python_class, "TemplateSyntaxError");
  EXPECT_EQ(facts(ErrorCode::limit_steps).exit_code, 4);
  EXPECT_EQ(facts(ErrorCode::no_template).http_status, 404);
  EXPECT_EQ(facts(ErrorCode::usage).name, "usage");
}

TEST(Error, DisplayWithoutAPlace) {
  const Error error(ErrorCode::usage, "no such option: --fast");
  EXPECT_EQ(error.display(), "usage: no such option: --fast\n");
  EXPECT_EQ(Error(ErrorCode::history_rewritten, "x").display(), "history rewritten: x\n");
  EXPECT_EQ(Error(ErrorCode::value, "x").display(), "wrong value: x\n");
}

TEST(Error, DisplayShowsThePlaceInItsLines) {
  const Error error(parts_at("{% for m in messages %}\n{{ m.kontent }}\n{% endfor %}", "m.kontent",
                             "'dict object' has no attribute 'kontent'"));
  EXPECT_EQ(error.display(),
            "chat.jinja:2:4: undefined: 'dict object' has no attribute 'kontent'\n"
            "  1 | {% for m in messages %}\n"
            "  2 | {{ m.kontent }}\n"
            "    |    ^~~~~~~~~\n"
            "  3 | {% endfor %}\n");
}

TEST(Error, DisplayOfEverythingElse) {
  Error::Parts parts = parts_at("{{ a }}", "a", "no");
  parts.input_path = "messages[3].content";
  parts.hint = "did you mean 'content'?";
  parts.trace = {"macro 'inner', line 7", "macro 'outer', line 9"};
  EXPECT_EQ(Error(parts).display(),
            "chat.jinja:1:4: undefined: no\n"
            "  1 | {{ a }}\n"
            "    |    ^\n"
            "  input: messages[3].content\n"
            "  hint: did you mean 'content'?\n"
            "  in: macro 'inner', line 7\n"
            "  in: macro 'outer', line 9\n");
}

TEST(Error, CaretsStandBelowTabsAndWideCharacters) {
  EXPECT_EQ(Error(parts_at("\t\u4f60\u597d{{ \u4e16a }}", "\u4e16a", "no")).display(),
            "chat.jinja:1:7: undefined: no\n"
            "  1 | \t\u4f60\u597d{{ \u4e16a }}\n"
            "    | \t       ^~~\n");
}

TEST(Error, CaretsAtTheEndOfALine) {
  const SourceText source("t", "ab\n\n", true);
  Error::Parts parts;
  parts.where = source.locate(2, 2);
  EXPECT_EQ(Error(parts).display(),
            "t:1:3: syntax error: \n"
            "  1 | ab\n"
            "    |   ^\n"
            "  2 |\n");
}

TEST(Error, TheTerminalIsNotObeyed) {
  const std::string shown = Error(parts_at("\x1b[31m{{ a }}\x7f", "a", "no")).display();
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_NE(shown.find("\u241B[31m{{ a }}\u2421"), std::string::npos);
}

TEST(Error, TheTerminalIsNotObeyedAnywhere) {
  // a title, a return, a backspace, an 8-bit CSI, an override
  const std::string evil = "a\x1b]0;x\x07\r\x08\xc2\x9b\x31\x6d\xe2\x80\xae";
  Error::Parts parts;
  parts.code = ErrorCode::type;
  parts.message = parts.where.name = parts.input_path = parts.hint = evil;
  parts.trace = {evil};
  const std::string kept = "a\u241B]0;x\u2407\u240D\u2408\uFFFD1m\uFFFD";
  EXPECT_EQ(Error(parts).display(),
            kept + ": wrong type: " + kept + "\n  input: " + kept + "\n  hint: " + kept + "\n  in: " + kept + "\n");
}

TEST(Error, LineNumbersAreAligned) {
  std::string text;
  for (int i = 1; i < 10; ++i) text += "x\n";
  EXPECT_EQ(Error(parts_at(text + "HERE\ny", "HERE", "no")).display(),
            "chat.jinja:10:1: undefined: no\n"
            "   9 | x\n"
            "  10 | HERE\n"
            "     | ^~~~\n"
            "  11 | y\n");
}

TEST(Error, CopiesShareAndCanBeChanged) {
  const Error first(parts_at("{{ a }}", "a", "no"));
  const Error second = first.hint("other");
  EXPECT_EQ(first.hint(), "");
  EXPECT_EQ(second.hint(), "other");
  EXPECT_EQ(second.message(), "no");
}

}  // namespace
}  // namespace parlance
