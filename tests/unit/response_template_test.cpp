// response_template: what is written is read back, what transformers refuses is refused with its path.
#include "parlance/response_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "parlance/derive.h"
#include "parlance/source.h"
#include "share.h"

namespace parlance {
namespace {

ReplyFormat format_from(std::string_view json) {
  Result<ReplyFormat> format = ReplyFormat::from_json(json);
  EXPECT_TRUE(format) << format.error().display();
  return format ? *format : ReplyFormat();
}

/// As it is written: what is read also drops the text between tags, and takes values there for strings.
std::string strict(ReplyFormat format) {
  for (CallForm& form : format.calls) {
    for (CallPart& part : form.call) {
      part.arguments.tags.text_between = false;
      part.arguments.tags.style = ArgumentTags::Style::json;
    }
  }
  return format.to_json();
}

/// A format that a response_template says whole.
void expect_round_trip(std::string_view json) {
  const ReplyFormat format = format_from(json);
  const Result<WrittenResponseTemplate> written = write_response_template(format);
  ASSERT_TRUE(written) << written.error().display();
  const Result<ReadResponseTemplate> read = read_response_template(written->json);
  ASSERT_TRUE(read) << written->json << "\n" << read.error().display();
  EXPECT_EQ(strict(read->format), format.to_json()) << written->json;
  EXPECT_TRUE(read->notes.empty());
}

TEST(ResponseTemplate, IsReadAsItWasWritten) {
  expect_round_trip(R"({"prompt": "<a>", "reasoning": {"open": "<think>", "close": "</think>"},
    "calls": [{"call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"]}], "end": )"
                    R"(["<end>"]})");
  expect_round_trip(R"({"prompt": "<a>", "reasoning": {"open": "<think>", "close": "</think>", "ended_by_calls": true},
    "calls": [{"call": ["<f=", {"name": true}, ">", {"arguments": "json"}, "</f>"]}], "end": ["<end>"]})");
  expect_round_trip(R"({"prompt": "<a>", "calls": [{"layout": "list", "open": "[CALLS]",
    "call": [{"object": {"call_id": "id", "function": {"name": "name", "parameters": "arguments"}}}], "close": )"
                    R"("[END]"}], "end": ["<end>"]})");
  expect_round_trip(R"({"prompt": "<a>", "calls": [{"call": ["<call>", {"name": true}, ">", {"arguments": {"tags":
    {"open": "<arg=", "key_close": ">", "close": "</arg>"}}}, "</call>"]}], "end": ["<end>"]})");
  expect_round_trip(
      R"({"prompt": "<a>", "calls": [{"call": ["<call>", {"name": true}, {"arguments": {"bare": "<q>"}}, )"
      R"("</call>"]}]})");
}

TEST(ResponseTemplate, ListsOfPythonsCallsHaveAParserOfTheirOwn) {
  expect_round_trip(R"({"prompt": "<a>", "calls": [{"layout": "list", "open": "<calls>", "close": "</calls>",
    "call": [{"name": true}, {"arguments": {"keywords": ""}}]}], "end": ["<end>"]})");
  const std::string begin = R"({"start_anchor": "<a>", "fields": {"content": {"close": "<end>"}, "tool_calls": {)"
                            R"("open": "<calls>", "close": "</calls>", "content": "python-call-list", )";
  const Result<ReadResponseTemplate> read =
      read_response_template(begin + R"("transform_each": true, "transform": {"type": "function", "function": )"
                                     R"({"name": "{name}", "arguments": "{arguments}"}}}}})");
  ASSERT_TRUE(read) << read.error().display();
  ASSERT_EQ(read->format.calls.size(), 1U);
  EXPECT_EQ(read->format.calls[0].layout, CallLayout::list);
  ASSERT_EQ(read->format.calls[0].call.size(), 2U);
  EXPECT_EQ(read->format.calls[0].call[1].arguments.codec, CallArguments::Codec::keywords);
  const Result<ReadResponseTemplate> whole =
      read_response_template(begin + R"("transform": {"calls": "{content}"}}}})");
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().input_path(), "fields.tool_calls.transform");
}

std::string path_of_refusal(std::string_view json) {
  const Result<ReadResponseTemplate> read = read_response_template(json);
  return read ? "read" : std::string(read.error().input_path());
}

TEST(ResponseTemplate, WhatClosesReasoningFirstIsNoEndOfTheReply) {
  const char* const json =
      R"({"prompt": "<a>", "reasoning": {"open": "<think>", "close": "</think>", "ended_by_calls": true},
      "calls": [{"call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"]}],
      "end": ["<|end_of_turn|>", "<|end|>"]})";
  const Result<ReplyFormat> format = ReplyFormat::from_json(json);
  ASSERT_TRUE(format) << format.error().display();
  const Result<WrittenResponseTemplate> written = write_response_template(*format);
  ASSERT_TRUE(written) << written.error().display();
  const Result<ReadResponseTemplate> read = read_response_template(written->json);
  ASSERT_TRUE(read) << read.error().display();
  EXPECT_EQ(read->format.to_json(), format->to_json());
}

TEST(ResponseTemplate, RefusesWithThePathOfTheMember) {
  const struct {
    std::string_view json, path;
  } kCases[] = {
      {R"([])", ""},
      {R"({"fields": {"content": {}}})", "start_anchor"},
      {R"({"start_anchor": "a"})", "fields"},
      {R"({"start_anchor": "a", "fields": {}})", "fields"},
      {R"({"start_anchor": "", "fields": {"content": {}}})", "start_anchor"},
      {R"({"start_anchor": "a", "start_anchor_pattern": "a", "fields": {"content": {}}})", "start_anchor"},
      {R"({"version": 2, "start_anchor": "a", "fields": {"content": {}}})", "version"},
      {R"({"defaults": 1, "start_anchor": "a", "fields": {"content": {}}})", "defaults"},
      {R"({"start_anchor": "a", "feilds": {}, "fields": {"content": {}}})", "feilds"},
      {R"({"start_anchor": "a", "fields": {"content": 1}})", "fields.content"},
      {R"({"start_anchor": "a", "fields": {"content": {"opne": "x"}}})", "fields.content.opne"},
      {R"({"start_anchor": "a", "fields": {"content": {"content": "yaml"}}})", "fields.content.content"},
      {R"({"start_anchor": "a", "fields": {"content": {"close": []}}})", "fields.content.close"},
      {R"({"start_anchor": "a", "fields": {"content": {"close": ["x", 1]}}})", "fields.content.close[1]"},
      {R"({"start_anchor": "a", "fields": {"content": {"open": "x", "open_pattern": "x"}}})", "fields.content.open"},
      {R"({"start_anchor": "a", "fields": {"content": {"join": ""}}})", "fields.content.join"},
      {R"({"start_anchor": "a", "fields": {"content": {"transform_each": true}}})", "fields.content.transform_each"},
      {R"({"start_anchor": "a", "fields": {"content": {"transform": {"x": "a {content}"}}}})",
       "fields.content.transform.x"},
      {R"({"start_anchor": "a", "fields": {"content": {}, "thinking": {}}})", "fields.thinking"},
      {R"({"start_anchor": "a", "fields": {"tool_calls": {"open_pattern": "a{2}(b|c)*", "content": "json"}}})",
       "fields.tool_calls.open_pattern"},
      {R"({"start_anchor": "a", "fields": {"tool_calls": {"open_pattern": "<c>(?P<name>\\w+).*?>", "close": "e", )"
       R"("repeats": true, "content": "json",
        "transform": {"function": {"name": "{name}", "arguments": "{content}"}}}}})",
       "fields.tool_calls"},
      {R"({"start_anchor": "a", "fields": {"tool_calls": {"open": "x", "content": "kv-lines"}}})",
       "fields.tool_calls.content"},
      {R"({"start_anchor": "a", "fields": {"content": {"open": "<n>", "close": "</n>", "content": "int"}}})",
       "fields.content.content"},
      {R"({"start_anchor": "a", "fields": {"content": {"content": "json"}}})", "fields.content.content"},
      {R"({"start_anchor": "a", "fields": {"thinking": {"open": "<t>", "close": "</t>", "content": "bool"}}})",
       "fields.thinking.content"},
      {R"({"start_anchor": "a", "fields": {"score": {"open": "<s>", "close": "</s>", "content": "float"}}})",
       "fields.score.content"},
      {R"({"start_anchor": "a", "fields": {"content": {"transform": {"text": "{content}"}}}})",
       "fields.content.transform"},
      {R"({"start_anchor": "a", "fields": {"thinking": {"open_pattern": "<(?P<which>t)>", "close": "</t>"}}})",
       "fields.thinking.open_pattern"},
      {R"({"start_anchor": "a", "fields": {"tool_calls": {"open": "<c>", "close_pattern": "</(?<x>c)>", )"
       R"("content": "json"}}})",
       "fields.tool_calls.close_pattern"},
  };
  for (const auto& one : kCases) EXPECT_EQ(path_of_refusal(one.json), one.path) << one.json;
  EXPECT_EQ(read_response_template("{").error().code(), ErrorCode::json);
}

/// One with this field beside content.
std::string path_with(std::string_view name, std::string_view field, std::string_view content = "{}") {
  return path_of_refusal(R"({"start_anchor": "<a>", "fields": {"content": )" + std::string(content) + ", \"" +
                         std::string(name) + "\": " + std::string(field) + "}}");
}

TEST(ResponseTemplate, RefusesPatternsThatWouldBeReadOtherwise) {
  const std::string in_markers = R"({"open": "<r>", "close": "</r>"})";
  EXPECT_EQ(path_with("thinking", R"({"open_pattern": "^|<t>", "close": "</t>"})"), "read");
  EXPECT_EQ(path_with("thinking", R"({"open_pattern": "^<t>", "close": "</t>"})"), "fields.thinking.open_pattern");
  EXPECT_EQ(path_with("thinking", R"({"open_pattern": "^", "close": "</t>"})"), "fields.thinking.open_pattern");
  EXPECT_EQ(path_with("thinking", R"({"open_pattern": "<t>|.*<u>", "close": "</t>"})"), "fields.thinking.open_pattern");
  EXPECT_EQ(path_with("thinking", R"({"open": "<t>", "close_pattern": "</t>|\\w+>"})"),
            "fields.thinking.close_pattern");
  EXPECT_EQ(path_with("thinking", R"({"close": "</t>"})", in_markers), "fields.thinking");
  EXPECT_EQ(path_with("other", R"({"open": "<o>"})", R"({"open_pattern": "[^<]*<r>"})"), "fields.content.open_pattern");
  constexpr std::string_view kCalls =
      R"("content": "json", "transform": {"type": "function", "function": "{content}"}})";
  const auto calls = [&](std::string_view borders) {
    return path_with("tool_calls", std::string(borders) + kCalls.data());
  };
  EXPECT_EQ(calls(R"({"open_pattern": "<c>", "close_pattern": "</c>|</[^>]+>", )"), "fields.tool_calls.close_pattern");
  EXPECT_EQ(calls(R"({"open_pattern": "<c>^", "close": "</c>", )"), "fields.tool_calls.open_pattern");
}

/// Of an object that may hold the call in a further one, its keys are no other spellings of themselves.
TEST(ResponseTemplate, SaysOfAFurtherObjectThatItIsOne) {
  const auto losses_of = [](std::string_view object) {
    const std::string json = R"({"calls": [{"call": ["<c>", {"object": )" + std::string(object) + R"(}, "</c>"]}]})";
    const Result<WrittenResponseTemplate> written = write_response_template(*ReplyFormat::from_json(json));
    std::string losses;
    for (const std::string& one : written->losses)
      if (one.starts_with("a call with")) losses += one + "; ";
    return losses;
  };
  EXPECT_EQ(losses_of(R"({"name": "name", "arguments": "arguments", "parameters": "arguments",
                          "function": {"name": "name", "arguments": "arguments", "parameters": "arguments"}})"),
            "a call with \"parameters\" in place of \"arguments\" is an error; "
            "a call with name and arguments in \"function\" is an error; ");
  EXPECT_EQ(losses_of(R"({"function": {"name": "name", "arguments": "arguments", "parameters": "arguments"}})"),
            "a call with \"function.parameters\" in place of \"function.arguments\" is an error; ");
}

TEST(ResponseTemplate, SaysWhereRegionsAreJoinedOtherwise) {
  const auto notes = [](std::string_view fields) {
    const Result<ReadResponseTemplate> read =
        read_response_template(R"({"start_anchor": "<a>", "fields": )" + std::string(fields) + "}");
    EXPECT_TRUE(read) << read.error().display();
    std::string out;
    for (const std::string& note : read->notes) out += note + "\n";
    return out;
  };
  EXPECT_EQ(notes(R"({"thinking": {"open": "<t>", "close": "</t>", "repeats": true, "join": " "},
                      "content": {"repeats": true, "join": "\n"}})"),
            "fields.thinking.join: not used: nothing stands between two regions, not \" \"\n"
            "fields.content.join: not used: nothing stands between two regions, not \"\\n\"\n");
  EXPECT_EQ(notes(R"({"content": {"open": "<c>", "close": "</c>", "repeats": true, "join": ""}})"),
            "fields.content.join: not used: a newline stands between two regions, not \"\"\n");
  EXPECT_EQ(notes(R"({"content": {"repeats": true, "join": ""}})"), "");
}

/// The arguments of the call in a reply that a response_template reads.
std::string arguments_read(std::string_view content_args, std::string_view reply, const ReplyTools& tools) {
  const Result<ReadResponseTemplate> read = read_response_template(
      R"({"start_anchor": "<a>", "fields": {"tool_calls": {"open_pattern": "<c>(?P<name>\\w+)>", "close": "</c>",
          "repeats": true, "content": "xml-inline", "content_args": {)" +
      std::string(content_args) + R"("tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>"},
          "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}})");
  EXPECT_TRUE(read) << read.error().display();
  const Result<CompiledReplyFormat> format = CompiledReplyFormat::make(read->format);
  EXPECT_TRUE(format);
  ReplyParser parser(*format, {.tools = tools});
  ReplyMessage message;
  const auto take = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, take);
  parser.finish(take);
  return message.calls.empty() ? "" : message.calls.front().arguments;
}

TEST(ResponseTemplate, ValuesInTagsAreStringsWhereNobodyHasATypeForThem) {
  constexpr std::string_view kReply = "<c>f><p=v>1.50</p><p=w>null</p><p=x>7</p></c>";
  constexpr std::string_view kStrings = R"({"v": "1.50", "w": "null", "x": "7"})";
  constexpr std::string_view kJson = R"("value_parser": {"name": "json", "args": {"allow_non_json": true}}, )";
  EXPECT_EQ(arguments_read("", kReply, {}), kStrings);
  EXPECT_EQ(arguments_read(R"("value_parser": {"name": "text"}, )", kReply, {}), kStrings);
  EXPECT_EQ(arguments_read(kJson, kReply, {}), R"({"v": 1.50, "w": null, "x": 7})");
  const Result<ReplyTools> tools = ReplyTools::from_json(
      R"([{"name": "f", "parameters": {"type": "object", "properties": {"v": {"type": "number"}, "w": {}}}}])");
  ASSERT_TRUE(tools);
  EXPECT_EQ(arguments_read("", kReply, *tools), R"({"v": 1.50, "w": "null", "x": "7"})");
}

TEST(ResponseTemplate, DropsWhatTransformersDrops) {
  const Result<ReadResponseTemplate> read = read_response_template(R"x({"start_anchor": "<a>", "fields": {
    "thinking": {"open_pattern": "(?:^|<t>\\s*)", "close": "</t>"},
    "tool_calls": {"open_pattern": "<c>(?P<name>\\w+):", "close": "</c>", "repeats": true, "content": "xml-inline",
      "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>"},
      "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}})x");
  ASSERT_TRUE(read) << read.error().display();
  EXPECT_TRUE(read->format.drops_other_text);
  const Result<WrittenResponseTemplate> written = write_response_template(read->format);
  ASSERT_TRUE(written) << written.error().display();
  EXPECT_EQ(std::count(written->losses.begin(), written->losses.end(), "text outside of all markers is content"), 1);
  EXPECT_EQ(read->format.prompt, "<a><t>");
  EXPECT_EQ(read->notes.size(), 1U);
  const std::vector<CallPart>& parts = read->format.calls.front().call;
  EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](const CallPart& p) { return p.arguments.tags.text_between; }));
}

TEST(ResponseTemplate, SaysWhatItCannotWrite) {
  const auto path = [](std::string_view json) {
    const Result<WrittenResponseTemplate> written = write_response_template(format_from(json));
    return written ? written->json : std::string(written.error().input_path());
  };
  EXPECT_EQ(path(R"({"calls": [{"layout": "list", "open": "[", "call": [{"object": {"{name}": "arguments"}}]}]})"),
            "calls[0].call[0]");
  EXPECT_EQ(path(R"({"calls": [{"call": ["<c>", {"name": true}, {"arguments": {"keywords": ""}}, "</c>"]}]})"),
            "calls[0].call[2]");
}

TEST(ResponseTemplate, ReadsPatternsOfOthers) {
  const Result<ReadResponseTemplate> read = read_response_template(R"({"start_anchor": "<a>\n", "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "tool_calls": {"open_pattern": "<\\|channel\\|>commentary to=functions\\.(?P<name>\\w+)(?: )"
                                                                   R"(json)?<\\|message\\|>", "close": "<|call|>",
      "repeats": true, "content": "json", "transform": {"type": "function", "function": {"name": "{name}", )"
                                                                   R"("arguments": "{content}"}}},
    "content": {"close": "<end>"}}})");
  ASSERT_TRUE(read) << read.error().display();
  EXPECT_EQ(read->format.to_json(),
            R"({"prompt": "<a>\n", "reasoning": {"open": "<think>", "close": "</think>"}, "calls": [{"call": )"
            R"(["<|channel|>commentary to=functions.", )"
            R"({"name": true}, {"texts": ["json<|message|>", "<|message|>"], "before": " "}, {"arguments": "json"}, )"
            R"("<|call|>"]}], "end": ["<end>"]})");
}

TEST(ResponseTemplate, AnyTextIsReadOrRefused) {
  const std::string_view good =
      R"x({"start_anchor": "<a>", "fields": {"thinking": {"open": ["<t>", "<u>"], "close_pattern": "</t>|(?=<c>)"},
    "tool_calls": {"open_pattern": "\\A\\s*(?:<c>|<d>)?<e>\\n?(?P<name>[^\\s>]+)>", "close_pattern": )x"
      R"x("(?:</c>|</d>)", "repeats": true,
      "content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>[^>]+)>(?P<value>.*?)</(?P=key)>"},
      "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}, "content": )x"
      R"x({"close": "<z>"}}})x";
  EXPECT_TRUE(read_response_template(good));
  constexpr std::string_view kBytes = "\\()[]{}|?*+.^$\"<>:,aP=!";
  std::mt19937 random(7);
  std::size_t accepted = 0;
  const int rounds = testing::share_of(20000);
  for (int i = 0; i < rounds; ++i) {
    std::string text(good);
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text.erase(at, 1 + random() % 3);
      else
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
    }
    const Result<ReadResponseTemplate> read = read_response_template(text);
    if (!read) continue;
    ++accepted;
    EXPECT_TRUE(read->format.validate()) << text;
  }
  EXPECT_GT(accepted, static_cast<std::size_t>(rounds) / 20);
  EXPECT_EQ(
      path_of_refusal(R"({"start_anchor": "a", "fields": {"tool_calls": {"open_pattern": "a\\", "content": "json"}}})"),
      "fields.tool_calls.open_pattern");
}

// ---- as a hint

DerivedFormat derive_with(std::string response_template) {
  Result<Template> compiled = Template::compile(find_format("terminal-agent")->text);
  EXPECT_TRUE(compiled);
  Result<DerivedFormat> derived = derive(*compiled, {.response_template = std::move(response_template)});
  EXPECT_TRUE(derived);
  return std::move(*derived);
}

bool has_note(const DerivedFormat& derived, std::string_view part) {
  for (const std::string& note : derived.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

constexpr std::string_view kGood = R"({"start_anchor": "<|im_start|>assistant\n", "fields": {
    "reasoning_content": {"open": "<think>", "close": "</think>"},
    "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "repeats": true, "content": "json",
      "transform": {"type": "function", "function": "{content}"}},
    "content": {"close": "<|im_end|>"}}})";

TEST(ResponseTemplate, IsUsedWhereItReadsTheTemplatesOwnTurns) {
  const DerivedFormat derived = derive_with(std::string(kGood));
  EXPECT_EQ(derived.verdict, Verdict::verified);
  EXPECT_EQ(derived.evidence.back().experiment, "response_template of tokenizer_config.json");
  EXPECT_FALSE(has_note(derived, "response_template"));
  EXPECT_EQ(derived.format.reasoning_open.texts, std::vector<std::string>{"<think>"});
}

TEST(ResponseTemplate, IsNotUsedWhereItReadsThemOtherwise) {
  std::string wrong(kGood);
  wrong.replace(wrong.find("<tool_call>"), 11, "<other_call>");
  const DerivedFormat derived = derive_with(wrong);
  EXPECT_EQ(derived.verdict, Verdict::verified);
  EXPECT_EQ(derived.format, derive_with("").format);
  EXPECT_TRUE(has_note(derived, "calls[0] is '<other_call>', where the template shows '<tool_call>'"));
  EXPECT_TRUE(has_note(derived, "response_template of tokenizer_config.json: not used: "));
}

TEST(ResponseTemplate, ThatIsBrokenIsANoteWithThePath) {
  const DerivedFormat derived = derive_with(R"({"start_anchor": "a", "fields": {"content": {"content": "yaml"}}})");
  EXPECT_EQ(derived.format, derive_with("").format);
  EXPECT_TRUE(has_note(derived, "not used: fields.content.content: must be one of"));
}

}  // namespace
}  // namespace parlance
