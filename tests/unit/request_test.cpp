// RequestReader: requests, the template for each, how their replies are read; what they ask of a grammar.
#include "parlance/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/inside.h"
#include "request/known_tools.h"

namespace parlance {
namespace {

constexpr const char* kFormatName = "terminal-agent";

/// A built-in format as a model.
ModelSource model_of(std::string_view name) {
  const BuiltinFormat* format = find_format(name);
  ModelSource model;
  model.templates.push_back({"default", std::string(format->text), std::string(name), format->syntax});
  for (const auto& [token, text] : format->special_tokens)
    model.special_tokens.push_back({std::string(token), std::string(text)});
  return model;
}

Template compiled(std::string_view text) { return *Template::compile(text); }

constexpr const char* kPlainChat =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% "
    "endif %}";
constexpr const char* kBody =
    R"({"id": {"a": 1}, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]})";

TEST(RequestReader, ReadsARequestForItsTemplate) {
  const RequestReader reader(compiled(kPlainChat));
  const Result<ChatRequest> request = reader.read(kBody);
  ASSERT_TRUE(request) << request.error().display();
  EXPECT_EQ(request->id, R"({"a":1})");
  EXPECT_TRUE(request->conversation.variables()["id"].is_undefined());
  const Result<Template>& chosen = reader.template_for(request->conversation);
  ASSERT_TRUE(chosen);
  const Result<Rendering> prompt = chosen->render(request->conversation);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->text(), "<user>Hi</><assistant>");
}

TEST(RequestReader, ItsFormatsKnowTheTokenizersControlTokens) {
  const std::vector<std::string> tokens = {"<|im_end|>", "<|elsewhere|>", "</s>"};
  ModelSource model = model_of(kFormatName);
  model.special_tokens.push_back({"eos_token", "</s>"});
  const RequestReader reader(std::move(model), {.control_tokens = tokens});
  Result<ChatRequest> request = reader.read(kBody);
  ASSERT_TRUE(request);
  const Result<ReplyStart> start = reader.reply_to(*request);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->format.source().control, (std::vector<std::string>{"<|im_end|>", "</s>"}));
  const Result<ReplyStart> without = RequestReader(model_of(kFormatName)).reply();
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->format.source().control.empty());
}

/// A tokenizer of single bytes and these tokens, of which each is declared special.
CallbackTokenizer tokenizer_with(const std::vector<AddedToken>& added, TokenizerFacts facts = {}) {
  return CallbackTokenizer({.added = added,
                            .encode =
                                [](std::string_view run, std::vector<TokenId>& ids) {
                                  for (const char byte : run) ids.push_back(100 + static_cast<unsigned char>(byte));
                                  return Result<void>();
                                },
                            .token_text =
                                [added](TokenId id) {
                                  if (id >= 100) return std::string(1, static_cast<char>(id - 100));
                                  const auto found = std::ranges::find(added, id, &AddedToken::id);
                                  return found == added.end() ? std::string() : found->text;
                                },
                            .facts = std::move(facts)});
}

TEST(RequestReader, StopTokensAreThoseOfTheReplyFormat) {
  // All are declared special: by them alone, what closes a call looks like the end of a turn.
  TokenizerFacts facts;
  facts.ends = {{4, "generation_config.json: eos_token_id"}};
  const CallbackTokenizer tokenizer = tokenizer_with({{1, "<|im_end|>", true},
                                                      {2, "<tool_call>", true},
                                                      {3, "</tool_call>", true},
                                                      {4, "<|eos|>", true},
                                                      {5, "<|im_start|>", true}},
                                                     facts);
  constexpr const char* kOpensAtResults =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls %}<tool_call>"
      "{{ c.function | tojson }}</tool_call>{% endfor %}{% if not m.tool_calls %}<|im_end|>{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const RequestReader reader(compiled(kOpensAtResults));
  const Result<std::vector<StopToken>> stops = reader.stop_tokens(tokenizer);
  ASSERT_TRUE(stops) << stops.error().display();
  std::vector<std::string> texts;
  for (const StopToken& stop : *stops) texts.push_back(stop.text);
  const Result<ReplyStart> start = reader.reply();
  ASSERT_TRUE(start);
  const ReplyFormat& format = start->format.source();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "</tool_call>"), 0) << format.to_json();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "<|im_end|>"), 1) << format.to_json();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "<|eos|>"), 1);
}

// What ends a turn is written with several tokens, and one stands behind it, or none.
TEST(RequestReader, TheTokenBehindAnEndOfSeveralTokensIsAStopToken) {
  const CallbackTokenizer tokenizer =
      tokenizer_with({{1, "<|open|>", true}, {2, "<|close|>", true}, {3, "<|sep|>", true}, {4, "<|over|>", true}});
  for (const bool is_over : {true, false}) {
    const std::string turn =
        "{% macro close(tag) %}{{ '<|close|>' + tag + '<|sep|>' }}{% endmacro %}"
        "{% for m in messages %}<|open|>{{ m.role }}<|sep|><|open|>text<|sep|>{{ m.content }}{{ close('text') }}"
        "{{ close('message') }}" +
        std::string(is_over ? "<|over|>" : "") +
        "{% endfor %}{% if add_generation_prompt %}<|open|>assistant<|sep|>{% endif %}";
    const Result<std::vector<StopToken>> stops = RequestReader(compiled(turn.c_str())).stop_tokens(tokenizer);
    ASSERT_TRUE(stops) << stops.error().display();
    ASSERT_EQ(stops->size(), is_over ? 1u : 0u) << turn;
    if (is_over) {
      EXPECT_EQ(stops->front().text, "<|over|>");
      EXPECT_EQ(stops->front().id, 4);
    }
  }
}

TEST(RequestReader, HasTheIdOfARequestThatFails) {
  const RequestReader reader(compiled(kPlainChat));
  ChatRequest request;
  EXPECT_FALSE(reader.read_into(request, R"({"id": 7})"));
  EXPECT_EQ(request.id, "7");
  EXPECT_FALSE(reader.read_into(request, "{"));
  EXPECT_EQ(request.id, "");
}

TEST(RequestReader, PutsVariablesAndWhatTheModelBringsIntoRequests) {
  ModelSource model;
  model.templates.push_back({"default", "{{ bos_token }}{{ messages[0].content }} {{ who }}", "x", Syntax::jinja});
  model.special_tokens.push_back({"bos_token", "<s>"});
  model.system = "Be brief.";
  const RequestReader reader(std::move(model), {.variables = {{"who", R"("Ada")"}}});
  const Result<ChatRequest> request = reader.read(R"({"messages": [{"role": "user", "content": "Hi"}], "who": "Bob"})");
  ASSERT_TRUE(request);
  const Result<Rendering> prompt = reader.chat_template(false)->render(request->conversation);
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->text(), "<s>Be brief. Ada");
}

TEST(RequestReader, ChoosesTheTemplateByTheTools) {
  ModelSource model;
  model.templates.push_back({"default", "plain", "x", Syntax::jinja});
  model.templates.push_back({"tool_use", "tools", "x", Syntax::jinja});
  const RequestReader reader(std::move(model));
  const auto text_for = [&](std::string_view body) {
    const Result<ChatRequest> request = reader.read(body);
    const Result<Rendering> prompt = reader.template_for(request->conversation)->render(request->conversation);
    return std::string(prompt->text());
  };
  EXPECT_EQ(text_for(R"({"messages": []})"), "plain");
  EXPECT_EQ(text_for(R"({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]})"), "tools");
}

TEST(RequestReader, WithoutATemplateItReadsAndHasNoPrompt) {
  const RequestReader reader{ModelSource()};
  EXPECT_TRUE(reader.read(kBody));
  ASSERT_FALSE(reader.chat_template(false));
  EXPECT_EQ(reader.chat_template(false).error().code(), ErrorCode::no_template);
  EXPECT_FALSE(reader.reply());
}

TEST(RequestReader, SaysHowTheReplyIsRead) {
  const RequestReader reader(model_of(kFormatName));
  Result<ChatRequest> request = reader.read(R"({"messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": )"
                                            R"({}}}}]})");
  ASSERT_TRUE(request);
  const Result<ReplyStart> start = reader.reply_to(*request);
  ASSERT_TRUE(start) << start.error().display();
  EXPECT_TRUE(start->options.tools.declares("look"));
  EXPECT_TRUE(start->options.prompt.has_value());
  EXPECT_TRUE(start->notes.empty());
  EXPECT_FALSE(start->format.source().calls.empty());
  ReplyParser parser(start->format, start->options);
  ReplyMessage message;
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed("Hello", sink);
  parser.finish(sink);
  EXPECT_EQ(message.content, "Hello");
}

TEST(RequestReader, AFormatThatIsGivenIsNotDerived) {
  Result<ReplyFormat> format = ReplyFormat::from_json(find_format(kFormatName)->reply);
  ASSERT_TRUE(format);
  const RequestReader reader(ModelSource(), {.reply_format = *format});
  const Result<ReplyStart> start = reader.reply();
  ASSERT_TRUE(start);
  EXPECT_EQ(start->format.source(), *format);
  EXPECT_EQ(start->doubt, "");
}

TEST(RequestReader, ARequestThatIsNotRenderedHasAReplyAllTheSame) {
  const RequestReader reader(
      compiled("{{ raise_exception('no') if messages[0].content == 'bad' else messages[0].content }}"),
      {.reply_format = ReplyFormat()});
  Result<ChatRequest> request = reader.read(R"({"messages": [{"role": "user", "content": "bad"}]})");
  ASSERT_TRUE(request);
  const Result<ReplyStart> start = reader.reply_to(*request);
  ASSERT_TRUE(start);
  ASSERT_EQ(start->notes.size(), 1u);
  EXPECT_NE(start->notes.front().find("from where its prompts usually end"), std::string::npos);
}

TEST(RequestReader, ManyThreadsReadAtOnce) {
  const RequestReader reader(model_of(kFormatName));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Result<ChatRequest> request = reader.read(kBody);
      EXPECT_TRUE(request && reader.reply_to(*request));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(GrammarOptions, AreWhatARequestAsksOfItsReply) {
  const Result<GrammarOptions> options =
      grammar_options(R"({"tools": [{"name": "f"}], "tool_choice": {"type": "tool", "name": "f"},
    "parallel_tool_calls": false, "response_format": {"type": "json_object"}})");
  ASSERT_TRUE(options) << options.error().display();
  EXPECT_EQ(options->choice, ToolChoice::named);
  EXPECT_EQ(options->name, "f");
  EXPECT_FALSE(options->parallel);
  EXPECT_EQ(options->response.kind, ResponseFormat::Kind::json_object);
  EXPECT_EQ(grammar_options(R"({"tool_choice": 7})").error().input_path(), "tool_choice");
  EXPECT_EQ(grammar_options("[]").error().code(), ErrorCode::conversation);
}

TEST(GrammarOptions, TheChoiceOfOneToolIsOneCall) {
  const auto parallel = [](const char* choice, const char* more) {
    const Result<GrammarOptions> options =
        grammar_options(std::string(R"({"tools": [{"name": "f"}], "tool_choice": )") + choice + more + "}");
    EXPECT_TRUE(options) << choice << more;
    return options && options->parallel;
  };
  constexpr const char* kNamed[] = {R"({"type": "function", "function": {"name": "f"}})",
                                    R"({"type": "function", "name": "f"})", R"({"type": "tool", "name": "f"})"};
  for (const char* const choice : kNamed) {
    EXPECT_FALSE(parallel(choice, "")) << choice;
    EXPECT_FALSE(parallel(choice, R"(, "parallel_tool_calls": null)")) << choice;
    EXPECT_TRUE(parallel(choice, R"(, "parallel_tool_calls": true)")) << choice;
  }
  EXPECT_TRUE(parallel(R"("required")", ""));
}

/// A list of so many, the last one first if `turned`.
template <class Make>
std::string list_of_many(int count, bool turned, Make make) {
  std::string list;
  for (int number = 0; number < count; ++number)
    list.append(number > 0 ? ", " : "").append(make(std::to_string(turned ? count - 1 - number : number)));
  return "[" + list + "]";
}

/// Where each allowed one were looked for among all tools, this would take minutes.
TEST(GrammarOptions, ManyToolsAndAsManyThatAreAllowed) {
  constexpr int kMany = 40000;
  const auto function = [](const std::string& number) { return R"({"type": "function", "name": "t)" + number + "\"}"; };
  const auto space = [&function](const std::string& number) {
    return R"({"type": "namespace", "name": "s)" + number + R"(", "tools": [)" + function(number) + "]}";
  };
  const auto space_name = [](const std::string& number) {
    return R"({"type": "namespace", "name": "s)" + number + "\"}";
  };
  const auto body = [](const std::string& tools, const std::string& allowed) {
    return R"({"input": "Hi", "tools": )" + tools +
           R"(, "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": )" + allowed + "}}";
  };
  const Result<GrammarOptions> named =
      grammar_options(body(list_of_many(kMany, false, function), list_of_many(kMany, true, function)));
  ASSERT_TRUE(named) << named.error().display();
  EXPECT_EQ(named->tools, list_of_many(kMany, false, [](const std::string& number) {
              return R"({"type":"function","name":"t)" + number + "\"}";
            }));
  Conversation chat;
  const Result<void> read = chat.read(body(list_of_many(kMany, false, space), list_of_many(kMany, true, space_name)));
  ASSERT_TRUE(read) << read.error().display();
  const Result<GrammarOptions> in_spaces = grammar_options(chat);
  ASSERT_TRUE(in_spaces) << in_spaces.error().display();
  EXPECT_EQ(std::ranges::count(in_spaces->tools, '{'), std::ranges::count(json_text(chat.tools()), '{'));
}

TEST(GrammarOptions, ASchemaHasTheTypesOfJsonSchema) {
  const auto place = [](const std::string& schema) {
    const Result<GrammarOptions> options =
        grammar_options(R"({"response_format": {"type": "json_schema", "json_schema": {"schema": )" + schema + "}}}");
    return options ? "" : options.error().input_path();
  };
  constexpr const char* kAt = "response_format.json_schema.schema";
  EXPECT_EQ(place(R"({"type": "foo"})"), std::string(kAt) + ".type");
  EXPECT_EQ(place(R"({"properties": {"a": {"items": [{"type": ["null", 1]}]}}})"),
            std::string(kAt) + ".properties.a.items[0].type");
  EXPECT_EQ(place(R"({"patternProperties": {"^a": 5}})"), std::string(kAt) + ".patternProperties.^a");
  EXPECT_EQ(place(R"({"type": ["string", "null"], "properties": {"a": true, "type": {"const": {"type": "x"}}}})"), "");
  EXPECT_EQ(place(R"({"type": null, "items": null, "additionalProperties": false})"), "");
  EXPECT_EQ(grammar_options(R"({"guided_json": "{\"type\": \"foo\"}"})").error().input_path(), "guided_json.type");
}

TEST(GrammarOptions, MostCallsAreTheSameByTheBodyAndByTheConversation) {
  const auto most = [](const Result<GrammarOptions>& options) { return options ? options->max_calls : 99; };
  for (const char* const request :
       {R"({"input": "a", "max_tool_calls": 2})", R"({"messages": [], "max_tool_calls": 2})"}) {
    EXPECT_EQ(most(grammar_options(request)), 2u) << request;
    const Result<Conversation> chat = Conversation::from_json(request);
    ASSERT_TRUE(chat) << chat.error().display();
    EXPECT_EQ(most(grammar_options(*chat)), 2u) << request;
  }
  EXPECT_EQ(most(grammar_options(R"({"max_tool_calls": null})")), 0u);
  for (const char* const wrong : {"0", "-1", "1.5", "\"3\"", "true", "[]"}) {
    const Result<GrammarOptions> options = grammar_options(R"({"max_tool_calls": )" + std::string(wrong) + "}");
    ASSERT_FALSE(options) << wrong;
    EXPECT_EQ(options.error().input_path(), "max_tool_calls");
  }
}

TEST(GrammarOptions, OfAConversationHaveItsTools) {
  Conversation chat;
  const Result<GrammarOptions> before = grammar_options(chat);
  EXPECT_EQ(before->tools, "");
  ASSERT_TRUE(chat.set_json("tools", R"([{"name":"f"}])"));
  const Result<GrammarOptions> after = grammar_options(chat);
  EXPECT_EQ(after->tools, R"([{"name":"f"}])");
}

/// Which tools are the same, and how many are kept; by several threads, which TSan watches.
TEST(KnownTools, AreReadOnce) {
  const auto json_of = [](int number) { return R"([{"name": "f)" + std::to_string(number) + R"("}])"; };
  KnownTools known;
  const auto read = [&](int number) {
    const Result<ReplyTools> made = known.from_json(json_of(number));
    EXPECT_TRUE(made && made->declares("f" + std::to_string(number)));
    return made ? *made : ReplyTools();
  };
  const ReplyTools first = read(0);
  const auto is_first = [&](const ReplyTools& tools) { return inside_of(tools) == inside_of(first); };
  EXPECT_TRUE(is_first(read(0)));
  EXPECT_FALSE(known.from_json("{}"));
  EXPECT_FALSE(known.from_json("["));
  for (int i = 1; i < 16; ++i) EXPECT_FALSE(is_first(read(i)));
  EXPECT_TRUE(is_first(read(0)));
  for (int i = 16; i < 32; ++i) read(i);
  EXPECT_FALSE(is_first(read(0))) << "16 others were asked for since";
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) read(i % 20);
    });
  }
}

}  // namespace
}  // namespace parlance
