// What grammars note: each reason once, whether something is left out, and options that a format cannot follow.
#include <gtest/gtest.h>

#include <algorithm>

#include "parlance/grammar.h"
#include "parlance/source.h"

namespace parlance {
namespace {

/// Each note's reason, "-" in front where something is left out.
std::vector<std::string> notes_of(std::string_view format, const GrammarOptions& options) {
  const auto read = ReplyFormat::from_json(find_format(format)->reply);
  EXPECT_TRUE(read.has_value());
  const auto grammar = make_grammar(*read, options);
  EXPECT_TRUE(grammar.has_value());
  std::vector<std::string> all;
  for (const GrammarNote& note : grammar->notes()) all.push_back((note.left_out ? "-" : "") + note.why);
  return all;
}

using Reasons = std::vector<std::string>;

TEST(GrammarNotesTest, EachReasonOfAKeyword) {
  const std::string tools =
      R"([{"name": "f", "parameters": {"properties": {"a": {}, "b": {}, "c-d": {}, "e": {}, "f-g": {}, "h": {}, "i": )"
      R"({}, "j": {}}}}])";
  EXPECT_EQ(notes_of("chatglm3", {.tools = tools}),
            (Reasons{"-'c-d' is not a Python name: left out", "-'f-g' is not a Python name: left out"}));
  EXPECT_EQ(notes_of("chatglm3", {.tools = tools, .any_order = true}),
            (Reasons{"-'c-d' is not a Python name: left out", "-'f-g' is not a Python name: left out",
                     "-too many for any order: they come as declared"}));
}

/// Each alternative of a pattern has anchors of its own: `^b` is not anchored in the second.
TEST(GrammarNotesTest, AnchorsOfAnotherAlternativeDoNotCount) {
  const auto notes = [](std::string_view pattern) {
    const auto grammar = make_value_grammar(R"({"type": "string", "pattern": ")" + std::string(pattern) + "\"}");
    EXPECT_TRUE(grammar.has_value());
    return grammar->notes().size();
  };
  EXPECT_EQ(notes("^$|(?:^b)"), 1u);
  EXPECT_EQ(notes("^a$|b^"), 1u);
  EXPECT_EQ(notes("^a|^(?:^b)"), 0u);
  EXPECT_EQ(notes("^(?:^a|^b)$"), 0u);
}

/// A pattern that would be looked for in a name for a second and more, for each name, is not.
TEST(GrammarNotesTest, PatternsThatTakeTooLong) {
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += ".*";
  const std::string name(190, 'a');
  const std::string tools = R"([{"name": "f", "parameters": {"properties": {")" + name +
                            R"(": {}}, "patternProperties": {")" + pattern + R"(": {"type": "integer"}}}}])";
  const Reasons notes = notes_of("rnj-1", {.tools = tools});
  EXPECT_NE(std::find(notes.begin(), notes.end(), "a pattern that takes too long to look for in a name"), notes.end());
}

/// No silence about text around calls where none is allowed.
TEST(GrammarNotesTest, TextAroundCalls) {
  GrammarOptions options{.tools = R"([{"name": "now"}])", .text_around_calls = true};
  const Reasons unclear{"-no text around calls: in this format it could not be told from them"};
  EXPECT_EQ(notes_of("rnj-1", options), Reasons{});
  EXPECT_EQ(notes_of("chatglm3", options), unclear);
  options.choice = ToolChoice::required;
  EXPECT_EQ(notes_of("rnj-1", options), Reasons{"-no text around calls: calls are demanded, and stand alone"});
  options.choice = ToolChoice::none;
  EXPECT_EQ(notes_of("chatglm3", options), Reasons{});
  EXPECT_EQ(notes_of("chatglm3", {.text_around_calls = true}), Reasons{});
}

}  // namespace
}  // namespace parlance
