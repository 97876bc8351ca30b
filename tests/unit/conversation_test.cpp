// Conversation: reading, building, and the way from addresses and values back to paths.
#include "conversation/conversation.h"

#include <gtest/gtest.h>

#include "conversation/edit.h"
#include "parlance/parlance.h"
#include "unit/value_as_json.h"

namespace parlance {
namespace {

using testing::as_json;

Conversation read(std::string_view json, const ReadOptions& options = {}) {
  Result<Conversation> read = Conversation::from_json(json, options);
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().display());
  return read ? std::move(*read) : Conversation();
}

Value value_at(Value v, std::string_view key) {
  const Value* found = member(v, key);
  return found == nullptr ? Value{} : *found;
}
Value value_at(Value v, std::size_t i) { return items(v)[i]; }

/// The path of each content in a prompt, and the number of its message if asked for.
std::string places(const Conversation& chat, bool has_numbers = true) {
  const Template compiled = *Template::compile("{% for m in messages %}{{ m.content }}{% endfor %}");
  const Result<Rendering> prompt = compiled.render(chat);
  EXPECT_TRUE(prompt) << prompt.error().display();
  std::string found;
  for (const Span& span : prompt->spans())
    found += path_of_span(chat, span) + (has_numbers ? "=" + std::to_string(span.message) : "") + " ";
  return found;
}

const Message kSystem = {.role = "system", .content = "s"}, kUser = {.role = "user", .content = "u"};

TEST(Conversation, WhatCannotBePutBeforeChangesNothing) {
  Conversation chat = read(R"({"messages": [{"role": "user", "content": "a"}]})");
  ASSERT_TRUE(chat.add(kUser));
  const std::string before = places(chat);
  const std::vector<Message> refused[] = {{kSystem, {.role = "system", .members = {{"x", "{bad"}}}},
                                          {kSystem, {.role = "system", .content = "\xff"}}};
  for (const std::vector<Message>& one : refused) {
    EXPECT_FALSE(chat.put_before(one));
    EXPECT_EQ(places(chat), before);
  }
  ASSERT_TRUE(chat.put_before({{kSystem}}));
  EXPECT_EQ(places(chat), "model.messages[0].content=0 messages[0].content=1 messages[1].content=2 ");
}

TEST(Conversation, NothingPutBeforeChangesNothing) {
  Conversation none = read(R"({"x": 1})", {.normalise = false});
  ASSERT_TRUE(none.put_before({}));
  EXPECT_EQ(as_json(none.variables()), R"({"x":1})");
  EXPECT_FALSE(none.put_before({{{.role = "system", .content = "\xff"}}}));
  EXPECT_EQ(as_json(none.variables()), R"({"x":1})");
  Conversation text = read(R"({"messages": "x"})", {.normalise = false});
  const Result<void> refused = text.put_before({{kSystem}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conversation);
  EXPECT_EQ(refused.error().input_path(), "messages");
}

TEST(Conversation, BytesThatAreNotUtf8HaveThePathOfTheRequest) {
  Conversation chat = read(R"({"messages": [{"role": "user", "content": "a"}]})");
  ASSERT_TRUE(chat.put_before({{kSystem, kSystem}}));
  EXPECT_EQ(chat.add({.role = "user", .content = "\xff"}).error().input_path(), "messages[1].content");
  EXPECT_EQ(chat.put_before({{kSystem, {.role = "system", .name = "\xff"}}}).error().input_path(),
            "model.messages[1].name");
}

TEST(Conversation, EachMessageHasAPathOfItsOwn) {
  const auto set = [](Conversation& chat) {
    return chat.set_json("messages", R"([{"role": "user", "content": "a"}])").has_value();
  };
  const auto add = [](Conversation& chat) { return chat.add(kUser).has_value(); };
  const auto put = [](Conversation& chat) { return chat.put_before({{kSystem}}).has_value(); };
  Conversation one, two, three;
  EXPECT_TRUE(set(one) && put(one) && add(one));
  EXPECT_TRUE(set(two) && add(two) && put(two));
  EXPECT_TRUE(put(three) && add(three));
  for (const Conversation* chat : {&one, &two}) {
    EXPECT_EQ(places(*chat, false), "model.messages[0].content messages[0].content messages[1].content ");
  }
  EXPECT_EQ(places(three), "model.messages[0].content=0 messages[0].content=1 ");
  Conversation none = read(R"({"x": 1})", {.normalise = false});
  ASSERT_TRUE(put(none));
  EXPECT_EQ(as_json(none.messages()), R"([{"role":"system","content":"s"}])");
}

TEST(Conversation, TakesNoBytesThatAreNotUtf8) {
  const std::pair<Message, const char*> refused[] = {
      {{.role = "\xc3"}, "messages[0].role"},
      {{.role = "user", .content = "a\xff"}, "messages[0].content"},
      {{.role = "tool", .content = "a", .tool_call_id = "\x80"}, "messages[0].tool_call_id"},
      {{.role = "assistant", .tool_calls = {{.name = "f"}, {.name = "\xe2\x82"}}},
       "messages[0].tool_calls[1].function.name"}};
  for (const auto& [message, path] : refused) {
    Conversation chat;
    const Result<void> added = chat.add(message);
    ASSERT_FALSE(added) << path;
    EXPECT_EQ(added.error().code(), ErrorCode::unicode_decode);
    EXPECT_EQ(added.error().input_path(), path);
  }
  Conversation chat;
  EXPECT_TRUE(chat.add({.role = "user", .content = "\xed\xa0\x80"})) << "half a surrogate pair, as JSON can write it";
}

TEST(Conversation, BeginsWithWhatTransformersAlwaysPasses) {
  const Conversation chat;
  EXPECT_EQ(as_json(chat.variables()), R"({"messages":[],"tools":null,"documents":null})");
}

TEST(Conversation, RefusesWhatIsNoRequest) {
  const struct {
    const char* json;
    ErrorCode code;
    const char* path;
  } rows[] = {
      {"{", ErrorCode::json, ""},
      {"[]", ErrorCode::conversation, ""},
      {"{}", ErrorCode::conversation, ""},
      {R"({"messages": {}})", ErrorCode::conversation, "messages"},
      {R"({"messages": [{}, 1]})", ErrorCode::conversation, "messages[1]"},
  };
  for (const auto& row : rows) {
    const Result<Conversation> read = Conversation::from_json(row.json);
    ASSERT_FALSE(read.has_value()) << row.json;
    EXPECT_EQ(read.error().code(), row.code) << row.json;
    EXPECT_EQ(read.error().input_path(), row.path) << row.json;
  }
}

TEST(Conversation, IsEmptyAfterAFailedRead) {
  Conversation chat = read(R"({"messages": [{"role": "user", "content": "x"}]})");
  ASSERT_FALSE(chat.read("nonsense"));
  EXPECT_EQ(chat.messages().list->size, 0u);
  ASSERT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "y"}]})"));
  EXPECT_EQ(chat.path_of(value_at(value_at(chat.messages(), 0), "content")), "messages[0].content");
}

TEST(Conversation, KeepsPathsThroughNormalisation) {
  const Conversation chat = read(R"({"messages": [
      {"role": "user", "content": "hi"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{\"a\\n\": \"b\", \"n\": 5, \"s\": )"
                                 R"(\"t\\u00e9\"}"}}]}]})");
  const Value function = value_at(value_at(value_at(value_at(chat.messages(), 1), "tool_calls"), 0), "function");
  const Value arguments = value_at(function, "arguments");
  const std::string path = "messages[1].tool_calls[0].function.arguments";
  EXPECT_EQ(as_json(arguments), "{\"a\\n\":\"b\",\"n\":5,\"s\":\"t\xC3\xA9\"}");
  EXPECT_EQ(chat.path_of(value_at(function, "name")), "messages[1].tool_calls[0].function.name");
  EXPECT_EQ(chat.path_of(value_at(arguments, "s")), path);
  EXPECT_EQ(chat.path_of(value_at(arguments, "n")), path);
  EXPECT_EQ(chat.path_of(arguments), path);
  std::int32_t message = -1;
  EXPECT_TRUE(find_place(inside_of(chat), value_at(arguments, "s").data, message));
  EXPECT_EQ(message, 1);
  EXPECT_TRUE(find_place(inside_of(chat), value_at(arguments, "n").origin, message));
  EXPECT_EQ(message, 1);
  EXPECT_FALSE(find_place(inside_of(chat), "elsewhere", message));
}

TEST(Conversation, CanBeBuilt) {
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "2 + 2?"}));
  ASSERT_TRUE(chat.add({.role = "assistant",
                        .content = "",
                        .reasoning_content = "easy",
                        .tool_calls = {{.id = "1", .name = "add", .arguments_json = R"({"a": 2, "b": "\u0041"})"}}}));
  ASSERT_TRUE(chat.set_json("tools", R"([{"name": "add"}])"));
  ASSERT_TRUE(chat.set_string("bos_token", "<s>"));
  ASSERT_TRUE(chat.set_default_string("bos_token", "<other>"));
  EXPECT_EQ(
      as_json(chat.variables()),
      R"({"messages":[{"role":"user","content":"2 + 2?"},{"role":"assistant","content":"","reasoning_content":"easy",)"
      R"("tool_calls":[{"id":"1","type":"function","function":{"name":"add","arguments":{"a":2,"b":"A"}}}]}],)"
      R"("tools":[{"name":"add"}],"documents":null,"bos_token":"<s>"})");
  const Value call = value_at(value_at(value_at(chat.messages(), 1), "tool_calls"), 0);
  EXPECT_EQ(chat.path_of(value_at(value_at(chat.messages(), 0), "content")), "messages[0].content");
  EXPECT_EQ(chat.path_of(value_at(call, "id")), "messages[1].tool_calls[0].id");
  EXPECT_EQ(chat.path_of(value_at(value_at(value_at(call, "function"), "arguments"), "b")),
            "messages[1].tool_calls[0].function.arguments.b");
  EXPECT_EQ(chat.path_of(value_at(value_at(value_at(chat.variables(), "tools"), 0), "name")), "tools[0].name");
  std::int32_t message = 7;
  EXPECT_TRUE(
      find_place(inside_of(chat), value_at(value_at(value_at(call, "function"), "arguments"), "b").data, message));
  EXPECT_EQ(message, 1);
  EXPECT_TRUE(SpecialTokenTexts(inside_of(chat)).cover(value_at(chat.variables(), "bos_token").data));
  EXPECT_FALSE(SpecialTokenTexts(inside_of(chat)).cover(value_at(call, "id").data));
}

TEST(Conversation, AVariableIsUtf8OrRefused) {
  Conversation chat;
  ASSERT_TRUE(chat.set_string("bos_token", "<s>"));
  const Result<void> set = chat.set_string("bos_token", "a\xff");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), ErrorCode::unicode_decode);
  EXPECT_EQ(set.error().message(), "bos_token is not UTF-8");
  EXPECT_EQ(set.error().input_path(), "bos_token");
  EXPECT_EQ(as_json(value_at(chat.variables(), "bos_token")), R"("<s>")");
  const Result<void> missing = chat.set_default_string("eos_token", "\xc3");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().input_path(), "eos_token");
  EXPECT_TRUE(chat.set_default_string("bos_token", "\xc3")) << "it is there";
  EXPECT_TRUE(chat.set_string("half", "\xed\xa0\x80")) << "half a surrogate pair";
  for (const Result<void>& named : {chat.set_string("\xff", "a"), chat.set_json("\xff", "1")}) {
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().message(), "the name of a variable is not UTF-8");
  }
}

TEST(Conversation, TextsSideBySideInAPromptKeepTheirPaths) {
  Conversation chat;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(chat.add({.role = "assistant",
                          .content = "",
                          .reasoning_content = "easy",
                          .tool_calls = {{.id = "1", .name = "f", .arguments_json = R"({"a": "x\n", "b": "y\n"})"}}}));
  }
  const Result<Template> shown = Template::compile(
      "{% for m in messages %}{{ m.role ~ m.content ~ m.reasoning_content }}"
      "{% for c in m.tool_calls %}{{ c.id ~ c.function.name ~ c.function.arguments.a ~ c.function.arguments.b }}"
      "{% endfor %}{% endfor %}");
  ASSERT_TRUE(shown);
  const Result<Rendering> prompt = shown->render(chat);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->text(), "assistanteasy1fx\ny\nassistanteasy1fx\ny\n");
  std::vector<std::string> paths;
  for (const Span& span : prompt->spans()) paths.push_back(path_of_span(chat, span));
  std::vector<std::string> expected;
  for (const std::string message : {"messages[0].", "messages[1]."}) {
    const std::string function = message + "tool_calls[0].function.";
    expected.insert(expected.end(), {message + "role", message + "reasoning_content", message + "tool_calls[0].id",
                                     function + "name", function + "arguments.a", function + "arguments.b"});
  }
  EXPECT_EQ(paths, expected);
}

TEST(Conversation, CanBeReadAgainAfterAMove) {
  const std::string json = R"({"messages": [{"role": "user", "content": "Hi"}]})";
  Conversation chat = read(json);
  Conversation taken = std::move(chat);
  ASSERT_TRUE(chat.read(json));
  EXPECT_EQ(as_json(chat.messages()), as_json(taken.messages()));
  taken = std::move(chat);
  ASSERT_TRUE(chat.consume(json));
  EXPECT_EQ(as_json(chat.messages()), as_json(taken.messages()));
  taken = std::move(chat);
  ASSERT_FALSE(chat.read("{"));
  EXPECT_EQ(as_json(chat.messages()), "[]");
}

TEST(Conversation, MessagesAreCountedWhateverTheLastOneHolds) {
  for (const char* last : {"5", "[]", "{}", "null, 5"}) {
    const std::string json = R"({"x": 1, "x": 2, "messages": [{"role": "user", "n": 1}, )" + std::string(last) + "]}";
    const Conversation chat = read(json, {.normalise = false});
    std::int32_t message = -1;
    EXPECT_TRUE(find_place(inside_of(chat), value_at(value_at(chat.messages(), 0), "role").data, message)) << last;
    EXPECT_EQ(message, 0) << last;
  }
}

TEST(Conversation, RefusesArgumentsThatAreNoObject) {
  for (const char* arguments : {"[]", "", "{", "5"}) {
    Conversation chat;
    const Result<void> added =
        chat.add({.role = "assistant", .content = "", .tool_calls = {{.name = "f", .arguments_json = arguments}}});
    ASSERT_FALSE(added) << arguments;
    EXPECT_EQ(added.error().code(), ErrorCode::json);
    EXPECT_EQ(chat.messages().list->size, 0u);
  }
}

TEST(Conversation, CanBeReadAndThenContinued) {
  Conversation chat = read(R"({"messages": [1, 2, 3, 4, 5]})", {.normalise = false});
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(chat.add({.role = "user", .content = std::to_string(i)}));
  }
  ASSERT_EQ(chat.messages().list->size, 45u);
  EXPECT_EQ(as_json(value_at(chat.messages(), 4)), "5");
  for (std::size_t i = 0; i < 40; ++i) {
    const Value content = value_at(value_at(chat.messages(), i + 5), "content");
    EXPECT_EQ(leaf_text(content), std::to_string(i));
    EXPECT_EQ(chat.path_of(content), "messages[" + std::to_string(i + 5) + "].content");
  }
}

TEST(Conversation, SpecialTokensOfTheRequestAreKnown) {
  const Conversation chat = read(R"({"messages": [], "bos_token": "<s>", "date": "today"})");
  EXPECT_TRUE(SpecialTokenTexts(inside_of(chat)).cover(value_at(chat.variables(), "bos_token").data));
  EXPECT_FALSE(SpecialTokenTexts(inside_of(chat)).cover(value_at(chat.variables(), "date").data));
}

TEST(Conversation, TakesAVariable) {
  Conversation chat = read(R"({"id": [1], "messages": []})", {.normalise = false});
  EXPECT_EQ(as_json(take_variable(inside_of(chat), "id")), "[1]");
  EXPECT_EQ(as_json(chat.variables()), R"({"messages":[]})");
  EXPECT_TRUE(take_variable(inside_of(chat), "id").is_undefined());
}

TEST(Conversation, IsBuiltWithPartsAndAnyMember) {
  Conversation chat;
  ASSERT_TRUE(chat.set_json("tools", R"([{"name": "f"}])"));
  ASSERT_TRUE(chat.add(
      {.role = "user",
       .name = "Ada",
       .parts = {{.text = "What is this?"}, {.type = "image_url", .members = {{"image_url", R"({"url": "cat.png"})"}}}},
       .members = {{"cache", "[1, null]"}}}));
  ASSERT_TRUE(chat.add({.role = "assistant", .content = "A cat.", .members = {{"content", "null"}}}));
  EXPECT_EQ(as_json(chat.messages()),
            R"([{"role":"user","content":[{"type":"text","text":"What is this?"},)"
            R"({"type":"image_url","image_url":{"url":"cat.png"}}],"name":"Ada","cache":[1,null]},)"
            R"({"role":"assistant","content":null}])");
  const Value url = chat.messages().items()[0]["content"].items()[1]["image_url"]["url"];
  EXPECT_EQ(url.text(), "cat.png");
  EXPECT_EQ(chat.path_of(url), "messages[0].content[1].image_url.url");
  EXPECT_EQ(json_text(chat.tools()), R"([{"name":"f"}])");
}

TEST(Conversation, AMemberThatIsNoJsonIsRefused) {
  Conversation chat;
  EXPECT_FALSE(chat.add({.role = "user", .members = {{"cache", "[1"}}}));
  EXPECT_FALSE(chat.add({.role = "user", .parts = {{.type = "image", .members = {{"image", "cat.png"}}}}}));
  EXPECT_EQ(chat.messages().items().size(), 0u);
}

TEST(Conversation, TextOfAPartIsTheInputsOwn) {
  const Result<Template> compiled =
      Template::compile("{% for part in messages[0].content %}{{ part.text }}{% endfor %}");
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .parts = {{.text = "one"}, {.text = "two"}}}));
  const Result<Rendering> prompt = compiled->render(chat);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->text(), "onetwo");
  ASSERT_EQ(prompt->spans().size(), 2u);
  EXPECT_EQ(path_of_span(chat, prompt->spans()[1]), "messages[0].content[1].text");
  EXPECT_EQ(prompt->spans()[1].origin, Origin::input);
}

TEST(Conversation, WhatWasMovedFromIsEmpty) {
  Conversation chat = read(R"({"messages": [{"role": "user", "content": "Hi"}]})");
  const Conversation taken = std::move(chat);
  EXPECT_EQ(taken.messages().items().size(), 1u);
  const Conversation& empty = chat;  // NOLINT: what is left of it is the test
  EXPECT_EQ(as_json(empty.variables()), R"({"messages":[],"tools":null,"documents":null})");
  EXPECT_TRUE(empty.notes().empty());
  ASSERT_TRUE(chat.add({.role = "user", .content = "Again"}));
  EXPECT_EQ(chat.messages().items()[0]["content"].text(), "Again");
}

TEST(Moved, OthersAreNotFatalEither) {
  Document document;
  ASSERT_TRUE(document.parse("[1]"));
  const Document taken = std::move(document);
  EXPECT_TRUE(document.root().is_none());  // NOLINT
  Template compiled = *Template::compile("{{ messages|length }}");
  const Template copy = std::move(compiled);
  Workspace workspace;
  Workspace other = std::move(workspace);
  Rendering prompt;
  ASSERT_TRUE(compiled.render(Conversation(), {}, workspace, prompt));  // NOLINT
  EXPECT_EQ(prompt.text(), "0");
  RequestReader reader(compiled);
  const RequestReader taken_reader = std::move(reader);
  ASSERT_TRUE(reader.read(R"({"messages": []})"));  // NOLINT
  EXPECT_EQ(reader.chat_template(false).error().code(), ErrorCode::no_template);
  LossFinder finder(compiled);
  const LossFinder taken_finder = std::move(finder);
  EXPECT_FALSE(finder.render(Conversation(), {}, workspace));  // NOLINT
  ReplyApiWriter writer(ReplyApi::openai);
  ReplyApiWriter taken_writer = std::move(writer);
  writer.begin();  // NOLINT
  writer.add({});
  writer.finish();
  EXPECT_EQ(writer.to_json(), "{}");
  CompiledReplyFormat format = *CompiledReplyFormat::make(*ReplyFormat::from_json(R"({"end": ["<end>"]})"));
  const CompiledReplyFormat taken_format = std::move(format);
  EXPECT_TRUE(format.source().end.empty());  // NOLINT
  ReplyParser parser(format);
  const ReplyParser taken_parser = std::move(parser);
  parser.feed("a", [](const ReplyEvent&) { FAIL(); });  // NOLINT
  const Error error(ErrorCode::file, "gone");
  Error first = error;
  const Error second = std::move(first);
  EXPECT_EQ(first.message(), second.message());  // NOLINT
}

/// Limits that nobody could hold are lowered to what can.
TEST(Limits, OfAnySizeHold) {
  constexpr std::size_t kDeep = 100'000;
  const auto nested = [](std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < kDeep; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < kDeep; ++i) text += close;
    return text;
  };
  CompileOptions options;
  options.limits.depth = std::numeric_limits<std::uint32_t>::max();
  RenderOptions rendering;
  rendering.limits = {.steps = std::numeric_limits<std::uint64_t>::max(),
                      .depth = std::numeric_limits<std::uint32_t>::max()};
  const Template count = *Template::compile("{{ messages|length }}", options);
  const auto prompt = count.render(Conversation(), rendering);
  ASSERT_TRUE(prompt) << prompt.error().display();
  EXPECT_EQ(prompt->text(), "0");
  EXPECT_EQ(Template::compile("{{ " + nested("[", "]") + " }}", options).error().code(), ErrorCode::limit_depth);
  const Template loop = *Template::compile(
      "{% set ns = namespace(a=[]) %}{% for i in range(100000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a }}",
      options);
  EXPECT_EQ(loop.render(Conversation(), rendering).error().code(), ErrorCode::limit_depth);
  options.syntax = Syntax::go;
  EXPECT_EQ(Template::compile("{{ " + nested("(", ")") + " }}", options).error().code(), ErrorCode::limit_depth);
}

}  // namespace
}  // namespace parlance
