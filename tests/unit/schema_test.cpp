// What references in schemas mean, and that the reader of replies and the check of calls take them so; grammars have
// cases of their own.
#include <gtest/gtest.h>

#include "parlance/json.h"
#include "parlance/reply.h"
#include "parlance/source.h"
#include "schema/references.h"
#include "schema/types.h"
#include "value/string.h"

namespace parlance {
namespace {

constexpr std::string_view kDocument = R"({
  "$id": "https://example.com/root",
  "$defs": {
    "with blank": {"title": "blank"}, "a/b": {"title": "slash"}, "a~b": {"title": "tilde"}, "~x": {"title": "lone"},
    "named": {"$anchor": "there", "title": "anchor"},
    "other": {"$id": "https://example.com/schemas/other.json", "title": "id", "$defs": {"deep": {"title": "deep"}}}
  },
  "allOf": [{"title": "first"}, {"title": "second"}]})";

std::string title_of(std::string_view reference) {
  Document document;
  EXPECT_TRUE(document.parse(kDocument));
  const Value found = schema::References(document.root()).resolve(reference);
  const Value* title = found.is(Kind::dict) ? member(found, "title") : nullptr;
  return title != nullptr ? std::string(leaf_text(*title)) : found.is_undefined() ? "none" : "root";
}

TEST(SchemaReferences, ArePointersAnchorsAndIds) {
  const std::pair<std::string_view, std::string_view> kCases[] = {{"#", "root"},
                                                                  {"#/$defs/with%20blank", "blank"},
                                                                  {"#/$defs/with blank", "blank"},
                                                                  {"#/$defs/a~1b", "slash"},
                                                                  {"#/$defs/a~0b", "tilde"},
                                                                  {"#/$defs/~x", "lone"},
                                                                  {"#/allOf/1", "second"},
                                                                  {"#/allOf/2", "none"},
                                                                  {"#/allOf/x", "none"},
                                                                  {"#/allOf/", "none"},
                                                                  {"#there", "anchor"},
                                                                  {"#elsewhere", "none"},
                                                                  {"https://example.com/schemas/other.json", "id"},
                                                                  {"other.json", "id"},
                                                                  {"other.json#/$defs/deep", "deep"},
                                                                  {"missing.json", "none"},
                                                                  {"", "none"}};
  for (const auto& [reference, title] : kCases) EXPECT_EQ(title_of(reference), title) << reference;
}

TEST(SchemaTypes, HaveWordsOfPythonToo) {
  EXPECT_EQ(schema::type_named("number"), schema::kInteger | schema::kFraction);
  EXPECT_EQ(schema::type_named("float"), schema::type_named("number"));
  EXPECT_EQ(schema::type_named("dict"), schema::kObject);
  EXPECT_EQ(schema::type_named("decimal"), 0);
}

/// The arguments of a call in tags, whose argument `n` has the schema that `reference` means.
std::string arguments_of(std::string_view reference, std::string_view value) {
  const std::string tools = R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
    "properties": {"n": {"$ref": ")" +
                            std::string(reference) + R"("}}, "required": ["n"],
    "$defs": {"whole number": {"type": "integer"}, "text": {"$anchor": "text", "type": "string"}}}}}])";
  const auto known = ReplyTools::from_json(tools, "tools");
  EXPECT_TRUE(known);
  ReplyFormat format;
  CallForm form;
  form.call.resize(4);
  const auto literal = [](CallPart& part, const char* text) {
    part.kind = CallPart::Kind::literal;
    part.literal.texts = {text};
  };
  literal(form.call[0], "<call=");
  form.call[1].kind = CallPart::Kind::name;
  literal(form.call[2], ">");
  form.call[3].kind = CallPart::Kind::arguments;
  form.call.emplace_back();
  literal(form.call[4], "</call>");
  CallArguments& arguments = form.call[3].arguments;
  arguments.codec = CallArguments::Codec::tags;
  arguments.tags.open.texts = {"<p="};
  arguments.tags.key_close.texts = {">"};
  arguments.tags.close.texts = {"</p>"};
  format.calls.push_back(form);
  EXPECT_TRUE(format.validate()) << format.validate().error().display();
  ReplyParser parser = *ReplyParser::make(format, {.tools = *known});
  ReplyMessage message;
  const auto add = [&message](const ReplyEvent& event) { message.add(event); };
  parser.feed("<call=f><p=n>" + std::string(value) + "</p></call>", add);
  parser.finish(add);
  EXPECT_EQ(message.calls.size(), 1u);
  return message.calls.empty() ? "" : message.calls[0].arguments;
}

TEST(SchemaReferences, TellTheTypesOfValuesInTags) {
  EXPECT_EQ(arguments_of("#/$defs/whole%20number", "5"), R"({"n": 5})");
  EXPECT_EQ(arguments_of("#text", "5"), R"({"n": "5"})");
}

}  // namespace
}  // namespace parlance
