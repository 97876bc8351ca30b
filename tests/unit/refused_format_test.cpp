// Tests that no reader is made of a format that validate() refuses, and that the error names the field.
#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "parlance/derive.h"
#include "parlance/reply.h"
#include "parlance/request.h"
#include "parlance/template.h"

namespace parlance {
namespace {

static_assert(!std::is_constructible_v<ReplyParser, const ReplyFormat&>);
static_assert(!std::is_constructible_v<ReplyParser, const ReplyFormat&, const ReplyOptions&>);
static_assert(!std::is_constructible_v<CompiledReplyFormat, const ReplyFormat&>);

CallPart literal(std::string text) { return {.literal = {.texts = {std::move(text)}}}; }

CallForm form_of(std::vector<CallPart> parts) { return {.call = std::move(parts)}; }

CallPart object() {
  return {.kind = CallPart::Kind::object,
          .members = {{.role = CallMember::Role::name, .key = "name"},
                      {.role = CallMember::Role::arguments, .key = "arguments"}}};
}

struct RefusedFormat {
  const char* path;
  std::function<void(ReplyFormat& format)> spoil;
};

const RefusedFormat kRefusedFormats[] = {
    {"", [](ReplyFormat& f) { f.end.assign(17, {.texts = {"<end>"}}); }},
    {"reasoning.open", [](ReplyFormat& f) { f.reasoning_open.texts = {""}; }},
    {"reasoning.open", [](ReplyFormat& f) { f.reasoning_open.texts = {std::string(129, 'x')}; }},
    {"reasoning.close", [](ReplyFormat& f) { f.reasoning_close.texts.clear(); }},
    {"reasoning.close", [](ReplyFormat& f) { f.reasoning_close.before = "no blank"; }},
    {"content.open", [](ReplyFormat& f) { f.content_open.loose = {"a*b"}; }},
    {"content.close", [](ReplyFormat& f) { f.content_close.texts = {"<think>"}; }},
    {"turns[0].open", [](ReplyFormat& f) { f.turns = {{.role = "user"}}; }},
    {"turns[0].role", [](ReplyFormat& f) { f.turns = {{.open = {.texts = {"<turn>"}}}}; }},
    {"turns[0].dummy_prefix",
     [](ReplyFormat& f) { f.turns = {{.role = "user", .open = {.texts = {"<turn>"}}, .dummy_prefix = true}}; }},
    {"end[0]", [](ReplyFormat& f) { f.end = {{}}; }},
    {"end[1]",
     [](ReplyFormat& f) {
       f.end = {{.texts = {"<end>"}}, {.texts = {"<think>"}}};
     }},
    {"last", [](ReplyFormat& f) { f.last = {""}; }},
    {"control", [](ReplyFormat& f) { f.control = {std::string(129, 'x')}; }},
    {"calls[0].call", [](ReplyFormat& f) { f.calls = {CallForm()}; }},
    {"calls[0].call", [](ReplyFormat& f) { f.calls = {form_of({object()})}; }},
    {"calls[0].call", [](ReplyFormat& f) { f.calls = {form_of({literal("<call>")})}; }},
    {"calls[0].call[1].object.a.b",
     [](ReplyFormat& f) {
       CallPart part = object();
       const CallMember constant{.role = CallMember::Role::constant, .key = "b", .constant = "no JSON"};
       part.members.push_back({.role = CallMember::Role::inner, .key = "a", .members = {constant}});
       f.calls = {form_of({literal("<call>"), part})};
     }},
    {"calls[0].call[1].arguments.tags.open",
     [](ReplyFormat& f) {
       CallForm form = form_of({literal("<call>"), {.kind = CallPart::Kind::arguments}, literal("</call>")});
       form.name = "f";
       form.call[1].arguments.codec = CallArguments::Codec::tags;
       f.calls = {form};
     }},
    {"calls[0].open",
     [](ReplyFormat& f) {
       f.calls = {form_of({literal("<call>"), object()})};
       f.calls[0].layout = CallLayout::section;
     }},
    {"calls[0].headed",
     [](ReplyFormat& f) {
       f.calls = {form_of({literal("<call>"), {.kind = CallPart::Kind::arguments}})};
       f.calls[0].headed = true;
     }},
};

ReplyFormat valid_format() {
  ReplyFormat format;
  format.reasoning_open.texts = {"<think>"};
  format.reasoning_close.texts = {"</think>"};
  return format;
}

void expect_refusal(const Error& error, const std::string& path) {
  EXPECT_EQ(error.code(), ErrorCode::value) << path;
  EXPECT_EQ(error.input_path(), path) << error.display();
  EXPECT_FALSE(error.message().empty()) << path;
}

TEST(ReplyRefused, MakesNoReader) {
  ASSERT_TRUE(CompiledReplyFormat::make(valid_format()));
  ASSERT_TRUE(ReplyParser::make(valid_format()));
  for (const RefusedFormat& refused : kRefusedFormats) {
    ReplyFormat format = valid_format();
    refused.spoil(format);
    const Result<CompiledReplyFormat> compiled = CompiledReplyFormat::make(format);
    ASSERT_FALSE(compiled) << refused.path;
    expect_refusal(compiled.error(), refused.path);
    const Result<ReplyParser> parser = ReplyParser::make(format);
    ASSERT_FALSE(parser) << refused.path;
    expect_refusal(parser.error(), refused.path);
    const Result<std::string> conversation = read_conversation(format, "text");
    ASSERT_FALSE(conversation) << refused.path;
    expect_refusal(conversation.error(), refused.path);
  }
}

TEST(ReplyRefused, IsNoneOfAReaderOfRequests) {
  const Template chat = *Template::compile("{{ messages[0].content }}");
  for (const RefusedFormat& refused : kRefusedFormats) {
    ReplyFormat format = valid_format();
    refused.spoil(format);
    const Result<DerivedFormat> derived = derive(chat, {.format = format});
    ASSERT_FALSE(derived) << refused.path;
    expect_refusal(derived.error(), refused.path);
    const RequestReader reader(chat, {.reply_format = format});
    Result<ChatRequest> request = reader.read(R"({"messages": [{"role": "user", "content": "Hi"}]})");
    ASSERT_TRUE(request) << request.error().display();
    const std::string path = "reply_format." + std::string(refused.path);
    const Result<ReplyStart> start = reader.reply_to(*request);
    ASSERT_FALSE(start) << refused.path;
    expect_refusal(start.error(), path);
    ASSERT_FALSE(reader.reply()) << refused.path;
    const CallbackTokenizer tokenizer({});
    const Result<std::vector<StopToken>> stops = reader.stop_tokens(tokenizer);
    ASSERT_FALSE(stops) << refused.path;
    expect_refusal(stops.error(), path);
  }
}

TEST(ReplyRefused, WithoutTurnsReadsNoConversation) {
  const CompiledReplyFormat compiled = *CompiledReplyFormat::make(valid_format());
  const Result<ReplyParser> parser = ReplyParser::of_conversation(compiled);
  ASSERT_FALSE(parser);
  expect_refusal(parser.error(), "turns");
}

/// A tokenizer's control tokens make no valid format one that is refused.
TEST(ReplyCompiled, WithControlIsThatOfTheFormat) {
  ReplyFormat format = valid_format();
  format.end = {{.texts = {"<end>"}}};
  const CompiledReplyFormat compiled = *CompiledReplyFormat::make(format);
  const std::vector<std::string> tokens = {"<think>", "<other>", "", std::string(200, 'x'), "<eos>"};
  const std::vector<std::string> ends = {"<eos>"};
  const CompiledReplyFormat made = compiled.with_control(tokens, ends);
  EXPECT_EQ(made.source().to_json(), format.with_control(tokens, ends).to_json());
  EXPECT_EQ(made.source().control, (std::vector<std::string>{"<think>", "<eos>"}));
  EXPECT_TRUE(made.source().validate());
  EXPECT_TRUE(compiled.source().control.empty());
}

}  // namespace
}  // namespace parlance
