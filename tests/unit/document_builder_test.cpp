// DocumentBuilder: a document of values is the document of their JSON text, with its paths and its messages; what does
// not fit is refused. Begin reading at give.
#include "parlance/document_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "parlance/json.h"
#include "parlance/source.h"
#include "parlance/template.h"
#include "value_as_json.h"

namespace parlance {
namespace {

/// `lends`: every second string is lent.
void give(DocumentBuilder& builder, Value value, bool lends = false) {
  switch (value.kind) {
    case Kind::boolean: return builder.boolean(value.integer != 0);
    case Kind::real: return builder.real(value.real);
    case Kind::string:
      return lends && value.text().size() % 2 == 0 ? builder.lent_string(value.text()) : builder.string(value.text());
    case Kind::integer:
      return value.is_small_int() ? builder.integer(value.integer) : builder.integer(json_text(value));
    case Kind::list:
      builder.begin_list();
      for (const Value item : value.items()) give(builder, item, lends);
      return builder.end_list();
    case Kind::dict:
      builder.begin_dict();
      for (const DictEntry& entry : value.members()) {
        builder.key(entry.key.text());
        give(builder, entry.value, lends);
      }
      return builder.end_dict();
    default: return builder.none();
  }
}

void collect_paths(const Document& document, Value value, std::vector<std::string>& into) {
  into.push_back(document.path_of(value));
  for (const Value item : value.items()) collect_paths(document, item, into);
  for (const DictEntry& entry : value.members()) {
    into.push_back(document.path_of(entry.key));
    collect_paths(document, entry.value, into);
  }
}

std::vector<std::string> paths_of(const Document& document) {
  std::vector<std::string> paths;
  collect_paths(document, document.root(), paths);
  return paths;
}

constexpr std::string_view kRequestTexts[] = {
    "null",
    "[]",
    "{}",
    R"("text")",
    R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}], "tools": [{}], "n": )"
    R"(1})",
    R"({"n": [1, -1, 1.5, 1e400, 123456789012345678901234567890, -5e-324, true, false], "": {"": [[[]]]}, "é\ud800": )"
    R"(1})",
    R"({"a": 1, "b": 2, "a": {"c": [3]}, "messages": ["x", 5, {"k": []}, {}], "z": "end"})",
    R"({"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "10": 10, "9": "again"})",
};

TEST(DocumentBuilder, MakesWhatTheJsonTextMakes) {
  DocumentBuilder builder;
  Document built;  // one for all, so that memory is used again
  for (const std::string_view text : kRequestTexts) {
    Document parsed;
    ASSERT_TRUE(parsed.parse(text)) << text;
    for (const bool lends : {true, false, true}) {
      give(builder, parsed.root(), lends);
      const Result<void> done = built.build(builder);
      ASSERT_TRUE(done) << text << done.error().display();
      EXPECT_EQ(testing::as_json(built.root()), testing::as_json(parsed.root())) << text;
      EXPECT_EQ(paths_of(built), paths_of(parsed)) << text;
    }
  }
}

/// Every byte of a prompt is from the same place and of the same message.
TEST(DocumentBuilder, PromptsHaveTheSameSpans) {
  for (const BuiltinFormat& format : builtin_formats()) {
    if (format.syntax != Syntax::jinja) continue;
    const auto chat_template = Template::compile(format.text);
    ASSERT_TRUE(chat_template) << format.name;
    Document request;
    ASSERT_TRUE(request.parse(format.example)) << format.name;
    DocumentBuilder builder;
    give(builder, request.root(), true);
    Conversation built, read;
    ASSERT_TRUE(built.read(builder)) << format.name;
    ASSERT_TRUE(read.read(format.example)) << format.name;
    for (Conversation* const chat : {&built, &read}) {
      for (const auto& [name, text] : format.special_tokens) (void)chat->set_string(name, text);
    }
    const auto of_built = chat_template->render(built);
    const auto of_read = chat_template->render(read);
    ASSERT_TRUE(of_built && of_read) << format.name;
    ASSERT_EQ(of_built->text(), of_read->text()) << format.name;
    ASSERT_EQ(of_built->spans().size(), of_read->spans().size()) << format.name;
    for (std::size_t i = 0; i < of_read->spans().size(); ++i) {
      const Span& a = of_built->spans()[i];
      const Span& b = of_read->spans()[i];
      EXPECT_EQ(std::tie(a.begin, a.end, a.origin, a.message), std::tie(b.begin, b.end, b.origin, b.message));
      EXPECT_EQ(path_of_span(built, a), path_of_span(read, b)) << format.name;
    }
  }
}

using BuilderCall = void (*)(DocumentBuilder&);
struct RefusedCall {
  ErrorCode code;
  std::string_view message;
  BuilderCall call;
};
constexpr RefusedCall kRefusedCalls[] = {
    {ErrorCode::usage, "a list or dict is still open", [](DocumentBuilder& b) { b.begin_list(); }},
    {ErrorCode::usage, "a second value behind the outermost one", [](DocumentBuilder& b) { b.none(), b.none(); }},
    {ErrorCode::usage, "a key outside of a dict", [](DocumentBuilder& b) { b.key("a"); }},
    {ErrorCode::usage, "a key where a value belongs", [](DocumentBuilder& b) { b.begin_list(), b.key("a"); }},
    {ErrorCode::usage, "a key where a value belongs",
     [](DocumentBuilder& b) { b.begin_dict(), b.key("a"), b.key("b"); }},
    {ErrorCode::usage, "a value in a dict without its key", [](DocumentBuilder& b) { b.begin_dict(), b.string("a"); }},
    {ErrorCode::usage, "a key without its value", [](DocumentBuilder& b) { b.begin_dict(), b.key("a"), b.end_dict(); }},
    {ErrorCode::usage, "the end of a list or dict that is not open", [](DocumentBuilder& b) { b.end_list(); }},
    {ErrorCode::usage, "the end of a list or dict that is not open",
     [](DocumentBuilder& b) { b.begin_dict(), b.end_list(); }},
    {ErrorCode::unicode_decode, "a text is not UTF-8", [](DocumentBuilder& b) { b.string("\xFF"); }},
    {ErrorCode::value, "an integer is not written in at most 4300 decimal digits",
     [](DocumentBuilder& b) { b.integer("1x"); }},
    {ErrorCode::limit_depth, "values nest deeper than 1000 levels",
     [](DocumentBuilder& b) {
       for (int i = 0; i < 100000; ++i) b.begin_list();
     }},
};

TEST(DocumentBuilder, RefusesWhatDoesNotFit) {
  DocumentBuilder builder;
  Document document;
  for (const RefusedCall& row : kRefusedCalls) {
    row.call(builder);
    const Result<void> done = document.build(builder);
    ASSERT_FALSE(done) << row.message;
    EXPECT_EQ(done.error().code(), row.code) << row.message;
    EXPECT_EQ(done.error().message(), row.message);
    EXPECT_TRUE(document.root().is_none());
    builder.integer(5);  // it is empty again
    ASSERT_TRUE(document.build(builder));
    EXPECT_EQ(document.root().integer, 5);
  }
}

/// A text that was lent may change once the document is built, and what was given up is not looked at.
TEST(DocumentBuilder, CopiesWhatWasLentWhenItIsBuilt) {
  DocumentBuilder builder;
  Document document;
  builder.lent_string(std::string(1000, 'x'));
  builder.clear();
  std::string text = "lent";
  builder.begin_list();
  builder.string("before");
  builder.lent_string(text);
  builder.lent_string("");
  builder.string("behind");
  builder.end_list();
  EXPECT_EQ(builder.text_size(), 20U);  // each with a byte behind it
  ASSERT_TRUE(document.build(builder));
  text = "gone";
  EXPECT_EQ(testing::as_json(document.root()), R"(["before","lent","","behind"])");
  EXPECT_EQ(builder.text_size(), 0U);
}

TEST(DocumentBuilder, MayBeMovedFrom) {
  DocumentBuilder builder;
  builder.begin_list();
  DocumentBuilder other = std::move(builder);
  EXPECT_EQ(other.depth(), 1U);
  EXPECT_EQ(builder.depth(), 0U);  // NOLINT(bugprone-use-after-move)
  builder.string("fresh");
  Document document;
  ASSERT_TRUE(document.build(builder));
  EXPECT_EQ(document.root().text(), "fresh");
}

}  // namespace
}  // namespace parlance
