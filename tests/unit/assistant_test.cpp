// The assistant's ranges of templates without generation tags: where turns begin, whatever follows them, and however
// long the conversation is. The law over the corpus is tests/mask_law.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/template.h"

namespace parlance {
namespace {

struct Said {
  std::string role, content;
};

/// The texts that are the assistant's.
std::vector<std::string> learnt(std::string_view source, const std::vector<Said>& messages,
                                RenderOptions options = {}) {
  const Result<Template> compiled = Template::compile(source);
  EXPECT_TRUE(compiled) << compiled.error().display();
  Conversation chat;
  for (const Said& said : messages) EXPECT_TRUE(chat.add({.role = said.role, .content = said.content}));
  options.want_assistant = true;
  const Result<Rendering> prompt = compiled->render(chat, options);
  EXPECT_TRUE(prompt) << prompt.error().display();
  std::vector<std::string> texts;
  for (const TextRange& range : prompt->assistant())
    texts.emplace_back(prompt->text().substr(range.begin, range.end - range.begin));
  return texts;
}

using AssistantTexts = std::vector<std::string>;
const std::vector<Said> kChat = {{"user", "Hi"}, {"assistant", "Hello"}, {"user", "Go"}, {"assistant", "Done"}};
const std::vector<Said> kOpen(kChat.begin(), kChat.end() - 1);

// The generation prompt is written behind a user only, so that a conversation that the assistant ends has none to
// compare with.
constexpr std::string_view kAfterUser =
    "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt and messages[-1].role == 'user' %}<|start|>assistant<|message|>{% endif %}";

TEST(Assistant, BeginsBehindTheGenerationPromptAlsoAtTheEnd) {
  EXPECT_EQ(learnt(kAfterUser, kChat), (AssistantTexts{"Hello<|end|>", "Done<|end|>"}));
  EXPECT_EQ(learnt(kAfterUser, kOpen), (AssistantTexts{"Hello<|end|>"}));
}

// Templates of models whose calls and results are one turn look ahead from the calls.
TEST(Assistant, LearnsNoResultsThatTheTemplateWritesIntoTheTurn) {
  constexpr std::string_view kAhead =
      "{% for m in messages %}{% if m.role != 'tool' %}<|{{ m.role }}|>{{ m.content }}<|over|>"
      "{% if loop.nextitem is defined and loop.nextitem.role == 'tool' %}<|result|>{{ loop.nextitem.content }}</>"
      "{% endif %}{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
  const std::vector<Said> chat = {
      {"user", "Hi"}, {"assistant", "look()"}, {"tool", "a cat"}, {"assistant", "A cat."}, {"user", "Go"}};
  EXPECT_EQ(learnt(kAhead, chat), (AssistantTexts{"look()<|over|>", "A cat.<|over|>"}));
}

TEST(Assistant, LearnsNoTextOfTheUserWhereAGoTemplateLosesATurn) {
  constexpr std::string_view kOnePair = "{{ if .Prompt }}<user>{{ .Prompt }}{{ end }}<bot>{{ .Response }}<end>";
  Conversation chat;
  ASSERT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "Go"}, {"role": "assistant", "content": "",
    "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "user", "content": "more"}]})"));
  const Result<Template> compiled = Template::compile(kOnePair, {.syntax = Syntax::go});
  ASSERT_TRUE(compiled);
  const Result<Rendering> prompt = compiled->render(chat, {.want_assistant = true});
  ASSERT_TRUE(prompt);
  for (const TextRange& range : prompt->assistant())
    EXPECT_EQ(prompt->text().substr(range.begin, range.end - range.begin).find("more"), std::string_view::npos);
}

/// The texts that are the assistant's in a prompt of a Go template.
std::vector<std::string> learnt_by_go(std::string_view source, const char* request) {
  Conversation chat;
  EXPECT_TRUE(chat.read(request));
  const Result<Template> compiled = Template::compile(source, {.syntax = Syntax::go});
  EXPECT_TRUE(compiled) << compiled.error().display();
  const Result<Rendering> prompt = compiled->render(chat, {.want_assistant = true});
  EXPECT_TRUE(prompt) << prompt.error().display();
  std::vector<std::string> texts;
  for (const TextRange& range : prompt->assistant())
    texts.emplace_back(prompt->text().substr(range.begin, range.end - range.begin));
  return texts;
}

constexpr const char* kFourWords = R"({"messages": [{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Go"}, {"role": "assistant", "content": )"
                                   R"("Done"}]})";

// The prompt for the calls has tools before the question, and the whole prompt has not.
TEST(Assistant, LearnsCallsWholeWhereToolsStandBeforeTheLastQuestion) {
  constexpr std::string_view kToolsLast =
      "{{ range $i, $_ := .Messages }}{{ if eq .Role \"user\" }}"
      "{{ if le (len (slice $.Messages $i)) 2 }}[TOOLS]{{ $.Tools }}[/TOOLS]{{ end }}[INST]{{ .Content }}[/INST]"
      "{{ else if eq .Role \"assistant\" }}{{ if .ToolCalls }}[CALLS]{{ range .ToolCalls }}{{ .Function.Name }}"
      "{{ end }}{{ else }}{{ .Content }}{{ end }}</s>{{ else }}[RESULT]{{ .Content }}[/RESULT]{{ end }}{{ end }}";
  EXPECT_EQ(
      learnt_by_go(kToolsLast, R"({"tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
      "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "",
        "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}, {"role": "tool", "content": "a cat"}]})"),
      (AssistantTexts{"[CALLS]look</s>"}));
}

TEST(Assistant, LearnsNoHeaderThatAGoTemplateWritesBehindTheLastTurn) {
  constexpr std::string_view kAlways =
      "{{ range $i, $_ := .Messages }}<|{{ if eq .Role \"assistant\" }}model{{ else }}user{{ end }}|>\n{{ .Content "
      "}}<end>\n"
      "{{ if eq (len (slice $.Messages $i)) 1 }}<|model|>\n{{ end }}{{ end }}\n";
  EXPECT_EQ(learnt_by_go(kAlways, kFourWords), (AssistantTexts{"Hello<end>\n", "Done<end>\n"}));
  constexpr std::string_view kOtherName =
      "{{ range .Messages }}\n<|{{ .Role }}>\n{{ .Content }}<end>\n{{ end }}<|model>\n";
  EXPECT_EQ(learnt_by_go(kOtherName, kFourWords), (AssistantTexts{"Hello<end>\n", "Done<end>\n"}));
}

TEST(Assistant, LearnsNoHeaderBehindTheFirstTurnOfAll) {
  constexpr std::string_view kLast =
      "{{ range $i, $_ := .Messages }}<|{{ .Role }}|>\n{{ .Content }}<end>\n"
      "{{ if eq (len (slice $.Messages $i)) 1 }}<|assistant|>\n{{ end }}{{ end }}\n";
  EXPECT_EQ(learnt_by_go(kLast, R"({"messages": [{"role": "assistant", "content": "Hello"}]})"),
            (AssistantTexts{"Hello<end>\n"}));
}

// What the system says later was not said when the reply was written.
TEST(Assistant, DoesNotDependOnWhatTheSystemSaysLater) {
  constexpr std::string_view kSystemLast =
      "{{ range $i, $_ := .Messages }}{{ if eq .Role \"user\" }}[INST]{{ if eq (len (slice $.Messages $i)) 1 }}{{ "
      "$.System }}\n{{ end }}{{ .Content }}[/INST] {{ else if eq .Role \"assistant\" }}{{ .Content }}</s>{{ end }}{{ "
      "end }}";
  EXPECT_EQ(learnt_by_go(kSystemLast, R"({"messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "content": " Hello"}, {"role": "system", "content": "S"}, {"role": "user", "content": )"
                                      R"("Go"}]})"),
            (AssistantTexts{" Hello</s>"}));
}

// Behind a message that the template takes out of the list, the generation prompt opens a thought.
TEST(Assistant, LearnsCallsThatATemplateWritesBehindItsLoop) {
  constexpr std::string_view kBehind =
      "{% set last = messages[-1] if messages[-1].role == 'assistant' else none %}"
      "{% for m in (messages[:-1] if last else messages) %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{{ '<think>\n' }}{% elif last %}{{ '<|assistant|>\n' }}"
      "{{ last.content }}<end>{% endif %}";
  const std::vector<Said> chat = {{"user", "Hi"}, {"assistant", "look()"}};
  EXPECT_EQ(learnt(kBehind, chat, {.add_generation_prompt = false}), (AssistantTexts{"look()<end>"}));
}

TEST(Assistant, LearnsTheBlankThatTheGenerationPromptLeavesToIt) {
  constexpr std::string_view kBlank =
      "{% for m in messages %}{{ m.role|upper }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt "
      "%}ASSISTANT:{% endif %}";
  EXPECT_EQ(learnt(kBlank, kOpen), (AssistantTexts{" Hello\n"}));
}

TEST(Assistant, GenerationPromptOfATurnThatHistoryOpensOtherwise) {
  constexpr std::string_view kThinks =
      "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|start|>assistant\n<think>\n{% endif %}";
  EXPECT_EQ(learnt(kThinks, kOpen), (AssistantTexts{"Hello<|end|>\n"}));
}

// The thought is opened in the literal that the header is.
TEST(Assistant, GenerationPromptInOneLiteral) {
  constexpr std::string_view kThinks =
      "{% for m in messages %}{% if m.role == 'user' %}{{ '<user>' + m.content }}{% else %}{{ '<bot>' }}{{ m.content }}"
      "{{ '<end>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<bot><think>' }}{% endif %}";
  EXPECT_EQ(learnt(kThinks, kOpen), (AssistantTexts{"Hello<end>"}));
  EXPECT_EQ(learnt(kThinks, {{"assistant", "Hello"}, {"user", "Hi"}, {"assistant", ""}}),
            (AssistantTexts{"Hello<end>", "<end>"}));
  EXPECT_EQ(learnt(kThinks, {{"user", "Hi"}, {"assistant", "<thin"}}), (AssistantTexts{"<thin<end>"}));
}

// A loop that only looks for a message, and is left at it, has written nothing that follows.
TEST(Assistant, LearnsNoTextBehindALoopThatOnlyLooks) {
  constexpr std::string_view kTurns =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  for (const std::string look : {
           "{% for m in messages %}{% if m.role == 'assistant' %}{% break %}{% endif %}{% endfor %}Hello",
           "{% set ns = namespace(m='') %}{% for m in messages[::-1] %}{% if m.role == 'assistant' %}"
           "{% set ns.m = m.content %}{% break %}{% endif %}{% endfor %}{{ ns.m }}",
           "{% for m in messages %}{% for c in m.content %}{% if c == 'o' %}{% break %}{% endif %}{% endfor %}"
           "{% endfor %}Hello",
           "{% for m in messages if m.role == 'assistant' %}{% break %}{% endfor %}Hello",
           "{% for m in messages %}{% set x %}{{ m.role }}{% endset %}{% if x == 'assistant' %}{% break %}{% endif %}"
           "{% endfor %}Hello",
           "{% for m in messages %}{% if m.role == 'assistant' %}{% set x %}{{ m.role }}{% break %}{% endset %}{% "
           "endif %}"
           "{% endfor %}Hello",
       })
    EXPECT_EQ(learnt(look + std::string(kTurns), kChat), (AssistantTexts{"Hello<|over|>", "Done<|over|>"})) << look;
}

// What a loop writes before it is left is of its turn; what stands behind the loop is not.
TEST(Assistant, LearnsNoTextBehindALoopThatIsLeft) {
  constexpr std::string_view kLeft =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>{% if m.content == 'Done' %}{% break %}{% endif %}"
      "{% endfor %}Hello Done {% for n in [1] %}{{ n }}{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  EXPECT_EQ(learnt(kLeft, kChat), (AssistantTexts{"Hello<|over|>", "Done<|over|>"}));
}

/// Of a chat as JSON.
AssistantTexts learnt_of_json(std::string_view source, std::string_view json) {
  const Result<Template> compiled = Template::compile(source);
  EXPECT_TRUE(compiled) << compiled.error().display();
  Conversation chat;
  EXPECT_TRUE(chat.read(json));
  const Result<Rendering> prompt = compiled->render(chat, {.want_assistant = true});
  EXPECT_TRUE(prompt) << prompt.error().display();
  AssistantTexts texts;
  for (const TextRange& range : prompt->assistant())
    texts.emplace_back(prompt->text().substr(range.begin, range.end - range.begin));
  return texts;
}

TEST(Assistant, LearnsNothingOfWeight0) {
  constexpr std::string_view kLoop =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  constexpr std::string_view kTags =
      "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|end|>"
      "{% endgeneration %}{% else %}{{ m.content }}<|end|>{% endif %}{% endfor %}";
  constexpr std::string_view kChat0 =
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "bad", "weight": 0},
         {"role": "user", "content": "b"}, {"role": "assistant", "content": "good", "weight": 1},
         {"role": "user", "content": "c"}, {"role": "assistant", "content": "plain"},
         {"role": "user", "content": "d"}, {"role": "assistant", "content": "worse", "weight": 0.0},
         {"role": "user", "content": "e"}, {"role": "assistant", "content": "worst", "weight": false},
         {"role": "user", "content": "f"}, {"role": "assistant", "content": "Axolotl's", "train": false},
         {"role": "user", "content": "g"}, {"role": "assistant", "content": "ms-swift's", "loss": false},
         {"role": "user", "content": "h"}, {"role": "assistant", "content": "both", "train": true, "loss": true},
         {"role": "user", "content": "i"}, {"role": "assistant", "content": "null", "weight": null, "train": false},
         {"role": "user", "content": "j"}, {"role": "assistant", "content": "at odds", "weight": 1, "loss": false}]})";
  for (const std::string_view source : {kLoop, kTags})
    EXPECT_EQ(learnt_of_json(source, kChat0), (AssistantTexts{"good<|end|>", "plain<|end|>", "both<|end|>"}));
}

// Ollama joins messages of a role in a row to one turn.
TEST(Assistant, LearnsNothingOfWeight0WithinATurn) {
  constexpr std::string_view kTurns = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}</>{{ end }}<assistant>";
  const auto chat = [](const char* first, const char* second) {
    return std::string(R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "One")") +
           first + R"(}, {"role": "assistant", "content": "Two")" + second +
           R"(}, {"role": "user", "content": "Go"}, {"role": "assistant", "content": "Done"}]})";
  };
  constexpr const char* kNot = R"(, "weight": 0)";
  EXPECT_EQ(learnt_by_go(kTurns, chat("", "").c_str()), (AssistantTexts{"One\n\nTwo</>", "Done</>"}));
  EXPECT_EQ(learnt_by_go(kTurns, chat(kNot, "").c_str()), (AssistantTexts{"Two</>", "Done</>"}));
  EXPECT_EQ(learnt_by_go(kTurns, chat("", kNot).c_str()), (AssistantTexts{"One", "Done</>"}));
  EXPECT_EQ(learnt_by_go(kTurns, chat(kNot, kNot).c_str()), (AssistantTexts{"Done</>"}));
}

// Tags around calls and the results that the template looks ahead for.
TEST(Assistant, ResultsWithinATurnOfWeight0AreNotLearnt) {
  constexpr std::string_view kTags =
      "{% for m in messages %}{% if m.role == 'user' %}<u>{{ m.content }}</u>{% elif m.role == 'assistant' %}<a>"
      "{% generation %}{{ m.content }}{% if loop.nextitem is defined and loop.nextitem.role == 'tool' %}"
      "<r>{{ loop.nextitem.content }}</r>{% endif %}</a>{% endgeneration %}{% endif %}{% endfor %}";
  const auto chat = [](const char* weight) {
    return R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "look")" +
           std::string(weight) +
           R"(}, {"role": "tool", "content": "a cat"}, {"role": "assistant", "content": "A cat."}]})";
  };
  EXPECT_EQ(learnt_of_json(kTags, chat("")), (AssistantTexts{"look<r>a cat</r></a>", "A cat.</a>"}));
  EXPECT_EQ(learnt_of_json(kTags, chat(R"(, "weight": 0)")), (AssistantTexts{"A cat.</a>"}));
}

// As Gemma 4's: calls, then the results that the template looks ahead for, then the words that came with the calls; and
// reasoning of the last question's turns only.
constexpr std::string_view kWordsLast =
    "{% for m in messages %}{% if m.role != 'tool' %}<|{{ m.role }}|>"
    "{% if m.reasoning_content and not messages[loop.index0:]|selectattr('role', 'equalto', 'user')|list %}"
    "<|channel>{{ m.reasoning_content }}<channel|>{% endif %}"
    "{% for c in m.tool_calls or [] %}<|call>{{ c.function.name }}({{ c.function.arguments.at }})<call|>{% endfor %}"
    "{% set has_result = loop.nextitem is defined and loop.nextitem.role == 'tool' %}"
    "{% if has_result %}<|result>{{ m.tool_calls[0].function.name }}={{ loop.nextitem.content }}<result|>{% endif %}"
    "{{ m.content }}{{ '<|result>' if m.tool_calls and not has_result else '<|over|>' }}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// A call with these members too, its result, and what is said then.
std::string call_and_result(const std::string& members, const std::string& then) {
  return R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", )" + members +
         R"(, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": {"at": "x"}}}]},
         {"role": "tool", "tool_call_id": "1", "content": "a cat"})" +
         then + "]}";
}
constexpr const char* kAnswerAndMore = R"(, {"role": "assistant", "content": "A cat."}, {"role": "user",
    "content": "Go"}, {"role": "assistant", "content": "Done"})";

TEST(Assistant, LearnsCallsWholeWhereTheTurnAloneIsWrittenOtherwise) {
  const AssistantTexts texts =
      learnt_of_json(kWordsLast, call_and_result(R"("content": "Wait.", "reasoning_content": "Hm.")", kAnswerAndMore));
  ASSERT_FALSE(texts.empty());
  EXPECT_TRUE(texts[0].starts_with("<|call>look(x)<call|>")) << texts[0];
}

// Words of the assistant's behind the results are its own; and what ends the calls does not depend on such words.
TEST(Assistant, LearnsWordsThatStandBehindTheResultsOfTheirCalls) {
  for (const std::string reasoning : {"", R"(, "reasoning_content": "Hm.")"}) {
    EXPECT_EQ(learnt_of_json(kWordsLast, call_and_result(R"("content": "Wait.")" + reasoning, kAnswerAndMore)),
              (AssistantTexts{"<|call>look(x)<call|><|result>", "Wait.<|over|>", "A cat.<|over|>", "Done<|over|>"}));
    EXPECT_EQ(learnt_of_json(kWordsLast, call_and_result(R"("content": "")" + reasoning, kAnswerAndMore)),
              (AssistantTexts{"<|call>look(x)<call|><|result>", "A cat.<|over|>", "Done<|over|>"}));
  }
  EXPECT_EQ(learnt_of_json(kWordsLast, call_and_result(R"("content": "Wait.", "reasoning_content": "Hm.")", "")),
            (AssistantTexts{"<|channel>Hm.<channel|><|call>look(x)<call|><|result>", "Wait.<|over|>"}));
  EXPECT_EQ(learnt_of_json(kWordsLast, call_and_result(R"("content": "Wait.", "weight": 0)", kAnswerAndMore)),
            (AssistantTexts{"A cat.<|over|>", "Done<|over|>"}));
}

// As Jamba's: a turn is closed where the next message or the end of the conversation comes, outside of its iteration.
TEST(Assistant, LearnsTheEndOfATurnThatIsWrittenBehindIt) {
  const auto closed = [](std::string_view behind) {
    return "{% for m in messages %}{% if not loop.first %}<|over|>{% endif %}<|{{ m.role }}|>{{ m.content }}"
           "{% endfor %}" +
           std::string(behind) + "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  };
  const AssistantTexts both = {"Hello<|over|>", "Done<|over|>"}, none = {"Hello", "Done"};
  EXPECT_EQ(learnt(closed("<|over|>"), kChat), both);
  EXPECT_EQ(learnt(closed("<|over|>"), kOpen), (AssistantTexts{"Hello<|over|>"}));
  EXPECT_EQ(learnt(closed("<|over|>"), kChat, {.add_generation_prompt = true}), both);
  EXPECT_EQ(learnt_of_json("{{ documents|length }}" + closed("<|over|>"), R"({"documents": [{"text": "x"}],
      "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Done"}]})"),
            (AssistantTexts{"Done<|over|>"}))
      << "whatever the request's variables";
  EXPECT_EQ(learnt(closed(""), kChat), none) << "the last turn has none, so it is in no turn's range";
  EXPECT_EQ(learnt(closed("<|ever|>"), kChat), none) << "what begins alike is not the same token";
  EXPECT_EQ(learnt("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>", kChat), none)
      << "a generation prompt that nobody asked for is no end";
}

TEST(Assistant, TwoInARowBothHaveHeaders) {
  const std::vector<Said> row = {{"user", "Hi"}, {"assistant", "One"}, {"assistant", "Two"}, {"user", "Go"}};
  EXPECT_EQ(learnt(kAfterUser, row), (AssistantTexts{"One<|end|>", "Two<|end|>"}));
}

TEST(Assistant, TemplatesThatDoNotGoThroughMessages) {
  constexpr std::string_view kPairs =
      "{% for one in messages|batch(1) %}[{{ one[0].role }}]{{ one[0].content }};{% endfor %}"
      "{% if add_generation_prompt %}[assistant]{% endif %}";
  EXPECT_EQ(learnt(kPairs, kOpen), (AssistantTexts{"Hello;"}));
  EXPECT_EQ(learnt(kPairs, kChat), (AssistantTexts{"Hello;", "Done;"}));
}

TEST(Assistant, TemplatesThatGoThroughTheNumbersOfMessages) {
  constexpr std::string_view kNumbers =
      "{% for i in range(messages|length) %}{% set m = messages[i] %}[{{ m.role }}]{{ m.content }};{% endfor %}"
      "{% if add_generation_prompt %}[assistant]{% endif %}";
  EXPECT_EQ(learnt(kNumbers, kOpen), (AssistantTexts{"Hello;"}));
  EXPECT_EQ(learnt(kNumbers, kChat), (AssistantTexts{"Hello;", "Done;"}));
  const std::vector<Said> silent = {{"user", "Hi"}, {"assistant", ""}, {"user", "Go"}, {"assistant", "Done"}};
  EXPECT_EQ(learnt(kNumbers, silent), (AssistantTexts{";", "Done;"}));
  std::vector<Said> many;
  for (int i = 0; i < 2000; ++i) many.push_back({i % 2 == 0 ? "user" : "assistant", std::string(200, 'x')});
  EXPECT_EQ(learnt(kNumbers, many), AssistantTexts(1000, std::string(200, 'x') + ";"));
}

TEST(Assistant, NumbersThatAreNoMessagesHaveNoTurns) {
  const AssistantTexts both = {"Hello;..", "Done;.."};
  EXPECT_EQ(learnt("{% for m in messages %}[{{ m.role }}]{{ m.content }};{% for i in range(2) %}.{% endfor %}"
                   "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
                   kChat),
            both);
  EXPECT_EQ(
      learnt("{% for i in range(messages|length) %}[{{ messages[i].role }}]{{ messages[i].content }};"
             "{% for n in range(2) %}.{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
             kChat),
      both);
  EXPECT_EQ(
      learnt(
          "{% for some in messages|batch(1) %}{% for m in some %}[{{ m.role }}]{% for k in range(1) %}{{ m.content }}"
          "{% endfor %};..{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
          kChat),
      both)
      << "a loop over numbers within a turn";
  EXPECT_EQ(learnt("{% for i in range(0, messages|length, 2) %}[{{ messages[i].role }}]{{ messages[i].content }};"
                   "{% if messages[i + 1] is defined %}[{{ messages[i + 1].role }}]{{ messages[i + 1].content }};"
                   "{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
                   kChat),
            (AssistantTexts{"Hello;", "Done;"}));
  EXPECT_EQ(learnt("{% for i in range(2) %}{{ messages[0].content }}{% endfor %}"
                   "{% for i in range(messages|length) %}[{{ messages[i].role }}]{{ messages[i].content }};{% endfor %}"
                   "{% if add_generation_prompt %}[assistant]{% endif %}",
                   kChat),
            (AssistantTexts{"Hello;", "Done;"}))
      << "what is written twice is asked for";
}

TEST(Assistant, WhatIsNotKnownIsNoted) {
  const Result<Template> compiled =
      Template::compile("{% for one in messages|batch(1) %}[{{ one[0].role }}]{{ one[0].content }}{% endfor %}");
  Conversation chat;
  for (int i = 0; i < 400; ++i)
    EXPECT_TRUE(chat.add({.role = i % 2 == 0 ? "user" : "assistant", .content = std::string(200, 'x')}));
  const Result<Rendering> prompt = compiled->render(chat, {.want_assistant = true});
  ASSERT_TRUE(prompt);
  EXPECT_GT(prompt->assistant().size(), 20u);
  EXPECT_LT(prompt->assistant().size(), 200u);
  EXPECT_EQ(prompt->notes().size(), 200 - prompt->assistant().size());
  EXPECT_NE(prompt->notes()[0].find("]: what the assistant said is in no mask"), std::string::npos);
}

// A reply at the end, taken out of the list and written behind a generation prompt that opens a thought: the template
// refuses what would show where it begins.
TEST(Assistant, WordsInNoMaskAreNoted) {
  const Result<Template> compiled = Template::compile(
      "{% set last = messages[-1] if messages[-1].role == 'assistant' else none %}"
      "{% if messages|length == 1 and not last %}{{ raise_exception('too short') }}{% endif %}"
      "{% for m in (messages[:-1] if last else messages) %}<{{ m.role }}>{{ m.content }}{% endfor %}"
      "<assistant>{% if last %}<think>{{ last.content }}{% endif %}");
  ASSERT_TRUE(compiled);
  Conversation chat;
  EXPECT_TRUE(chat.add({.role = "user", .content = "Hi"}));
  EXPECT_TRUE(chat.add({.role = "assistant", .content = "Hello"}));
  const Result<Rendering> prompt = compiled->render(chat, {.want_assistant = true});
  ASSERT_TRUE(prompt);
  ASSERT_EQ(prompt->notes().size(), 1u) << prompt->assistant().size();
  EXPECT_NE(prompt->notes()[0].find("messages[1]: what the assistant said is in no mask"), std::string::npos)
      << prompt->notes()[0];
}

TEST(Assistant, LongConversationsAreAskedForInPart) {
  std::vector<Said> messages;
  AssistantTexts expected;
  for (int i = 0; i < 4000; ++i) {
    messages.push_back({"user", "Question " + std::to_string(i)});
    messages.push_back({"assistant", "Answer " + std::to_string(i)});
    expected.push_back("Answer " + std::to_string(i) + "<|end|>");
  }
  EXPECT_EQ(learnt(kAfterUser, messages), expected);
}

// The template writes a result's header into the turn of the calls.
TEST(Assistant, LongConversationsHaveNoHeadersOfResultsInTheirTurns) {
  constexpr std::string_view kAhead =
      "{% for m in messages %}{% if m.role != 'tool' %}<|{{ m.role }}|>"
      "{% for c in m.tool_calls or [] %}<|call>{{ c.function.name }}<call|>{% endfor %}"
      "{% if m.tool_calls %}{% if loop.nextitem is defined and loop.nextitem.role == 'tool' %}"
      "<|result>{{ m.tool_calls[0].function.name }}={{ loop.nextitem.content }}<result|>{% endif %}"
      "{% else %}{{ m.content }}<|over|>{% endif %}{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  const std::string result(400, 'x');
  for (const int before : {0, 300}) {
    std::string json = R"({"messages": [{"role": "user", "content": "Hi"})";
    AssistantTexts expected;
    for (int i = 0; i < before; ++i) {
      json += R"(, {"role": "assistant", "content": ")" + result + R"("}, {"role": "user", "content": "Go"})";
      expected.push_back(result + "<|over|>");
    }
    for (int i = 0; i < 100; ++i) {
      const std::string name = "look" + std::to_string(i);
      json += R"(, {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": ")" +
              name + R"(", "arguments": {}}}]}, {"role": "tool", "tool_call_id": "1", "content": ")" + result + R"("})";
      expected.push_back("<|call>" + name + "<call|>");
    }
    EXPECT_EQ(learnt_of_json(kAhead, json + "]}"), expected);
  }
}

// How turns open is learned once, from conversations that are no request's: what was rendered before changes nothing.
TEST(Assistant, DoesNotDependOnWhatWasRenderedBefore) {
  constexpr std::string_view kModes =
      "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|start|>assistant\n{% if not think %}<think></think>{% endif %}{% endif %}";
  const std::string begin = R"("messages": [{"role": "user", "content": "Hi"}, )";
  const std::string thinks = begin + R"({"role": "assistant", "content": "<think></think>A"}]})";
  const std::string requests[] = {
      R"({"think": false, )" + thinks, R"({"think": true, )" + thinks,
      R"({"think": true, )" + begin + R"({"role": "critic", "content": "A"}, {"role": "assistant", "content": "B"}]})",
      R"({"think": [1], )" + begin + R"({"role": "assistant", "content": "A"}]})"};
  const Result<Template> warm = Template::compile(kModes);
  const auto ranges = [](const Template& chat_template, const std::string& request) {
    Conversation chat;
    EXPECT_TRUE(chat.read(request, {.normalise = false}));
    std::string text;
    const Result<Rendering> prompt = chat_template.render(chat, {.want_assistant = true});
    for (const TextRange& range : prompt->assistant())
      text += std::string(prompt->text().substr(range.begin, range.end - range.begin)) + "|";
    return text;
  };
  EXPECT_EQ(ranges(*warm, requests[0]), "A<|end|>\n|");
  EXPECT_EQ(ranges(*warm, requests[1]), "<think></think>A<|end|>\n|");
  for (int round = 0; round < 2; ++round) {
    for (const std::string& request : requests) {
      const Result<Template> fresh = Template::compile(kModes);
      EXPECT_EQ(ranges(*warm, request), ranges(*fresh, request));
    }
  }
}

// More requests' variables than are kept.
TEST(Assistant, LearnsOfAnyNumberOfVariables) {
  constexpr std::string_view kNumbered =
      "{% for m in messages %}<{{ m.role }} {{ level }}>{{ m.content }}</>{% endfor %}"
      "{% if add_generation_prompt %}<assistant {{ level }}>{% endif %}";
  const Result<Template> chat_template = Template::compile(kNumbered);
  for (int level = 0; level < 50; ++level) {
    Conversation chat;
    ASSERT_TRUE(chat.add({.role = "user", .content = "Hi"}));
    ASSERT_TRUE(chat.add({.role = "assistant", .content = "Hello"}));
    ASSERT_TRUE(chat.set_json("level", std::to_string(level)));
    const Result<Rendering> prompt = chat_template->render(chat, {.want_assistant = true});
    ASSERT_EQ(prompt->assistant().size(), 1u);
    EXPECT_EQ(prompt->text().substr(prompt->assistant()[0].begin), "Hello</>");
  }
}

}  // namespace
}  // namespace parlance
