// derive(): one format for one behaviour, however a template is written; what is found, and what is said to be missing.
#include "parlance/derive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parlance/check.h"
#include "parlance/reply.h"
#include "parlance/source.h"
#include "probe/fit.h"
#include "reply_cases.h"

namespace parlance {
namespace {

Template compile(std::string_view text, Syntax syntax = Syntax::jinja) {
  CompileOptions options;
  options.syntax = syntax;
  Result<Template> compiled = Template::compile(text, options);
  EXPECT_TRUE(compiled) << (compiled ? "" : std::string(compiled.error().message()));
  return *compiled;
}

DerivedFormat derived(std::string_view text, Syntax syntax = Syntax::jinja) {
  Result<DerivedFormat> found = derive(compile(text, syntax));
  EXPECT_TRUE(found);
  return found ? *found : DerivedFormat();
}

std::string sentences(const DerivedFormat& format) {
  std::string out;
  for (const std::string& sentence : format.missing) out += sentence + "\n";
  return out;
}

constexpr std::string_view kTaggedTemplate = R"({%- for message in messages %}
{%- if message.role == 'assistant' %}
{{- '<s>assistant\n' }}
{%- if message.reasoning_content %}{{- '<think>\n' + message.reasoning_content + '\n</think>\n\n' }}{%- endif %}
{{- message.content }}
{%- for call in message.tool_calls or [] %}
{{- '\n<call>\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + )"
                                             R"('}\n</call>' }}
{%- endfor %}
{{- '<e>\n' }}
{%- else %}
{{- '<s>' + message.role + '\n' + message.content + '<e>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<s>assistant\n' }}{%- endif %})";

/// The same with other names, `~` for `+`, a macro, literals cut elsewhere, and output as text.
constexpr std::string_view kRewritten = R"({%- macro one(c) -%}
{{ '\n<ca' ~ 'll>\n{"na' }}me": "{{ c['function']['name'] }}", "arguments": {{ c['function']['arguments'] | tojson }}}
</call>
{%- endmacro %}
{%- macro head(who) %}{{ '<' ~ 's>' ~ who ~ '\n' }}{% endmacro %}
{%- for m in messages -%}
{%- if m['role'] != 'assistant' -%}
{{ head(m['role']) ~ m['content'] ~ '<e>\n' }}
{%- else -%}
{%- set thoughts = m['reasoning_content'] | default('', true) -%}
{{ head('assistant') }}
{%- if thoughts %}<think>
{{ thoughts }}
</think>

{% endif -%}
{{ m['content'] }}
{%- if m['tool_calls'] is defined and m['tool_calls'] -%}
{%- for entry in m['tool_calls'] -%}{{ one(entry) }}{%- endfor -%}
{%- endif -%}
{{ '<e>\n' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ head('assistant') }}{%- endif -%})";

TEST(Derive, FindsWhatATemplateWrites) {
  const DerivedFormat found = derived(kTaggedTemplate);
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  EXPECT_EQ(
      found.format.to_json(),
      R"({"prompt": "<s>assistant\n", "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"}, )"
      R"("calls": [{"call": ["\n<call>\n", {"object": {"name": "name", "arguments": "arguments", "parameters": )"
      R"("arguments", )"
      R"("function": {"name": "name", "arguments": "arguments", "parameters": "arguments"}}}, "\n</call>"]}], "end": )"
      R"(["<e>"]})");
  EXPECT_TRUE(found.capabilities.calls);
  EXPECT_TRUE(found.capabilities.parallel_calls);
  EXPECT_TRUE(found.capabilities.content_with_calls);
  EXPECT_EQ(found.capabilities.reasoning_key, "reasoning_content");
  EXPECT_LT(found.renders, 150u);
}

TEST(Derive, DoesNotLookAtHowATemplateIsWritten) {
  EXPECT_EQ(derived(kRewritten).format.to_json(), derived(kTaggedTemplate).format.to_json());
}

std::string replaced(std::string_view text, std::string_view old, std::string_view by) {
  std::string made(text);
  const std::size_t at = made.find(old);
  EXPECT_NE(at, made.npos);
  return made.replace(at, old.size(), by);
}

std::string outline_of_reply(const DerivedFormat& found, std::string_view reply) {
  return testing::outline_of(testing::message_of(found.format, {}, reply));
}

/// White space that a template indents its own text with.
TEST(Derive, FramingThatIsTooLongDoesNotCostTheCalls) {
  const DerivedFormat found = derived(replaced(kTaggedTemplate, R"('\n<call>\n)", R"('                    <call>\n)"));
  EXPECT_TRUE(found.format.validate());
  EXPECT_EQ(found.verdict, Verdict::partial);
  EXPECT_NE(sentences(found).find("the white space round a marker"), std::string::npos) << sentences(found);
  const std::string call = "<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>";
  EXPECT_EQ(outline_of_reply(found, call), outline_of_reply(derived(kTaggedTemplate), call));
}

TEST(Derive, WhatDoesNotFitIntoAFormatIsLeftOut) {
  ReplyFormat format = derived(kTaggedTemplate).format;
  const ReplyFormat right = format;
  EXPECT_TRUE(probe::fit(format).empty());
  format.content_open = format.reasoning_open;
  const std::vector<std::string> left_out = probe::fit(format);
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out.front(), "what opens and closes content is left out: the same marker as reasoning.open");
  EXPECT_EQ(format, right);
  format.calls.front().call.clear();
  EXPECT_EQ(probe::fit(format).front(), "the format contradicts itself: a call has 1 to 16 parts");
}

/// A turn with calls that has a line's end more before its header than one with an answer.
TEST(Derive, TheHeaderIsNoneOfACallsMarker) {
  const DerivedFormat found = derived(R"({%- for m in messages %}
{%- if m.role == 'assistant' and m.tool_calls %}
{{- '\n<|h|>assistant<|/h|>\n\n' }}{{ m.content or '' }}
{%- for c in m.tool_calls %}
{{- '{"name": "' + c.function.name + '", "parameters": ' + (c.function.arguments | tojson) + '}' }}
{%- endfor %}
{{- '\n<|eot|>' }}
{%- else %}
{{- '<|h|>' + m.role + '<|/h|>\n\n' + m.content + '\n<|eot|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '\n<|h|>assistant<|/h|>\n\n' }}{%- endif %})");
  EXPECT_FALSE(found.format.content_open.exists());
  ASSERT_EQ(found.format.calls.size(), 1u) << sentences(found);
  EXPECT_TRUE(found.format.calls.front().initial);
  EXPECT_FALSE(found.format.calls.front().open.exists());
}

/// A header that ends with a word goes on in a call only where each call begins so.
TEST(Derive, OfTwoCallsTheHeaderBeginsNone) {
  const DerivedFormat found = derived(R"({%- for m in messages %}
{{- '<t>' + ('model' if m.role == 'assistant' else m.role) }}
{%- if m.tool_calls %}
{%- for c in m.tool_calls %}
{{- '<call>' + c.function.name + '<args>' + (c.function.arguments | tojson) + '</call>' }}
{%- endfor %}
{{- '\n<e>' }}
{%- else %}
{{- '\n' + m.content + '<e>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<t>model' }}{%- endif %})");
  EXPECT_EQ(found.format.prompt, "<t>model");
  ASSERT_EQ(found.format.calls.size(), 1u) << sentences(found);
  EXPECT_EQ(found.format.calls.front().call.front().literal.texts.front(), "<call>");
}

TEST(Derive, ATemplateWithoutCallsHasNone) {
  const DerivedFormat found = derived(
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}[assistant]{% "
      "endif %}");
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  EXPECT_TRUE(found.format.calls.empty());
  ASSERT_EQ(found.format.end.size(), 1u);
  EXPECT_EQ(found.format.end[0].texts.front(), "</s>");
}

/// A turn with calls is written by `calls`.
DerivedFormat derived_with(std::string_view calls) {
  return derived("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.tool_calls %}" + std::string(calls) +
                 "{% endif %}</s>{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}");
}

TEST(Derive, CallsThatGoWrongAreNotTakenForNone) {
  const DerivedFormat found = derived_with("{{ [1] + 1 }}");
  EXPECT_EQ(found.verdict, Verdict::partial);
  ASSERT_FALSE(found.missing.empty());
  EXPECT_EQ(found.missing[0],
            "calls: no conversation with one renders: can only concatenate list (not \"int\") to list");
}

TEST(Derive, ATemplateMayRefuseCalls) {
  const DerivedFormat found = derived_with("{{ raise_exception('no calls here') }}");
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  EXPECT_FALSE(found.capabilities.calls);
}

TEST(Derive, ATemplateThatOnlyRaisesIsNone) {
  const DerivedFormat found = derived("{{ raise_exception('never') }}");
  EXPECT_EQ(found.verdict, Verdict::none);
  EXPECT_FALSE(found.missing.empty());
}

TEST(Derive, PromptsAreBoundedTogether) {
  const DerivedFormat found =
      derived("{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{{ 'x' * 1000000 }}");
  EXPECT_LT(found.renders, 20u);
}

TEST(Derive, EveryBuiltInTemplateIsVerified) {
  for (const BuiltinFormat& builtin : builtin_formats()) {
    DeriveOptions options;
    const Result<ReplyFormat> own = ReplyFormat::from_json(builtin.reply);
    ASSERT_TRUE(own);
    const Template chat_template = compile(builtin.text, builtin.syntax);
    options.format = *own;
    const Result<DerivedFormat> given = derive(chat_template, options);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->verdict, Verdict::verified) << builtin.name << ": " << sentences(*given);
    if (builtin.name == "chatglm3") continue;  // its headers are of the specification, which no history shows
    const DerivedFormat found = derived(builtin.text, builtin.syntax);
    EXPECT_EQ(found.verdict, Verdict::verified) << builtin.name << ": " << sentences(found);
  }
}

// ---- what prompts open, and what turns are cut at

/// A template whose prompts end with `end`, and whose history shows an answer as `said`.
DerivedFormat derived_around(std::string_view end, std::string_view said = "m.content") {
  return derived("{% for m in messages %}<|{{ m.role }}|>{{ " + std::string(said) +
                 " if m.role == 'assistant' else m.content }}<|end|>{% endfor %}" +
                 "{% if add_generation_prompt %}<|assistant|>" + std::string(end) + "{% endif %}");
}

ReplyMessage read_reply(const DerivedFormat& derived, const ReplyOptions& options, std::string_view reply) {
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(derived.format, options);
  const auto sink = [&message](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message;
}

ReplyMessage read_reply(const DerivedFormat& derived, std::string_view prompt, std::string_view reply) {
  ReplyOptions options;
  options.prompt = std::string(prompt);
  return read_reply(derived, options, reply);
}

TEST(Derive, ATagThatPromptsLeaveOpenIsReasoning) {
  for (const std::string_view name :
       {"think", "thinking", "reasoning", "thought", "seed:think", "musing", "Deep_Thought", "x.y"}) {
    for (const bool square : {false, true}) {
      for (const std::string_view space : {"", "\n", "\n\n"}) {
        const std::string open = (square ? "[" : "<") + std::string(name) + (square ? "]" : ">");
        const std::string close = std::string(1, open.front()) + "/" + open.substr(1);
        const DerivedFormat found = derived_around(open + std::string(space));
        EXPECT_EQ(found.verdict, Verdict::verified) << open << sentences(found);
        ASSERT_EQ(found.starts.size(), 1u);
        EXPECT_TRUE(found.starts[0].in_reasoning) << open;
        const ReplyMessage message =
            read_reply(found, found.starts[0].prompt, "so it is\n" + close + "\n\nThe answer<|end|>");
        EXPECT_EQ(message.reasoning, "so it is") << open;
        EXPECT_EQ(message.content, "The answer") << open;
      }
    }
  }
}

/// Objects that only a quirk tells of are read as freely as those that templates show.
TEST(Derive, ObjectsOfQuirksMayNameTheirArgumentsOtherwise) {
  const DerivedFormat found = derived_with(
      "<|tool_call_start|>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in "
      "c.function.arguments.items() "
      "%}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]"
      "<|tool_call_end|>");
  for (const std::string_view call : {R"("name": "f", "parameters": {"a": 1})", R"("name": "f", "arguments": {"a": 1})",
                                      R"("function": {"name": "f", "arguments": {"a": 1}})"}) {
    const ReplyMessage message =
        read_reply(found, "", "<|tool_call_start|>[{" + std::string(call) + "}]<|tool_call_end|>");
    ASSERT_EQ(message.calls.size(), 1u) << call << found.format.to_json();
    EXPECT_EQ(message.calls[0].name, "f") << call;
    EXPECT_EQ(message.calls[0].arguments, R"({"a": 1})") << call;
  }
}

constexpr std::string_view kFunctionsInTags =
    "{% for c in m.tool_calls %}{{ '\\n<tool_call>\\n<function=' + c.function.name + '>\\n' }}"
    "{% for k, v in c.function.arguments.items() %}{{ '<parameter=' + k + '>\\n' }}"
    "{{ v if v is string else v | tojson }}{{ '\\n</parameter>\\n' }}{% endfor %}{{ '</function>\\n</tool_call>' }}"
    "{% endfor %}";

/// Models leave out the sign before the name, and then only a tool's name tells a call from text.
TEST(Derive, ATagMayLackTheSignBeforeItsName) {
  const DerivedFormat found = derived_with(kFunctionsInTags);
  ReplyOptions options;
  options.tools = *ReplyTools::from_json(R"([{"type": "function", "function": {"name": "look"}}])");
  for (const std::string_view tag : {"<function look>", "<functionlook>", "<function=look>"}) {
    const ReplyMessage message =
        read_reply(found, options, "<tool_call>\n" + std::string(tag) + "\n</function>\n</tool_call>");
    ASSERT_EQ(message.calls.size(), 1u) << tag << found.format.to_json();
    EXPECT_EQ(message.calls[0].name, "look") << tag;
    EXPECT_TRUE(message.calls[0].complete) << tag;
    EXPECT_EQ(message.diagnostics.size(), tag == "<function=look>" ? 0u : 1u) << tag;
  }
  for (const std::string_view text : {"<tool_call>\n<functions>\n</function>\n</tool_call>", "<function look>"})
    EXPECT_EQ(read_reply(found, options, text).content, text);
}

/// The outer tag says that a call is meant: what has no tool's name is an error, and what the end cut off is cut.
TEST(Derive, ATagWithoutItsSignThatIsNoCallIsAnError) {
  using Fault = ReplyEvent::Fault;
  const DerivedFormat found = derived_with(kFunctionsInTags);
  ReplyOptions options;
  options.tools = *ReplyTools::from_json(R"([{"type": "function", "function": {"name": "look"}}])");
  constexpr std::pair<std::string_view, Fault> kReplies[] = {
      {"Yes.\n\n<tool_call>\n<function loook>\n<parameter=at>\nx\n</parameter>\n</function>\n</tool_call>",
       Fault::syntax},
      {"Yes.\n\n<tool_call>\n<functions>\n</function>\n</tool_call>", Fault::syntax},
      {"Yes.\n\n<tool_call>\n<function lo", Fault::cut}};
  for (const auto& [reply, fault] : kReplies) {
    const ReplyMessage message = read_reply(found, options, reply);
    EXPECT_EQ(message.content, reply);
    ASSERT_EQ(message.diagnostics.size(), 1u) << reply;
    EXPECT_EQ(message.diagnostics[0].fault, fault) << reply;
  }
  const ReplyMessage begun = read_reply(found, options, "Yes.\n\n<tool_call>\n<function look>\n");
  ASSERT_EQ(begun.calls.size(), 1u);
  EXPECT_FALSE(begun.calls[0].complete);
}

TEST(Derive, WhatPromptsOpenAndNothingClosesIsMissing) {
  for (const std::string_view end : {"<|think|>", "<|aside>", "<|begin_of_thought|>\n", "◁think▷", "<think><deep>",
                                     "<|user|>", "</think><|x|>", "<think>Sure"}) {
    const DerivedFormat found = derived_around(end);
    EXPECT_EQ(found.verdict, Verdict::partial) << end << found.format.to_json();
    ASSERT_FALSE(found.missing.empty()) << end;
    EXPECT_TRUE(found.missing[0].starts_with("prompts end with '")) << end << sentences(found);
  }
  for (const std::string_view end : {"", " ", "\n"}) EXPECT_EQ(derived_around(end).verdict, Verdict::verified) << end;
}

/// A variable that shows answers as they are: the tag that the prompt opens looks like the end of the header.
TEST(Derive, ATagThatSettingsOpenAndCloseIsNoHeader) {
  constexpr std::string_view kRaw = R"({%- for m in messages %}
{%- if m.role == 'assistant' %}{{- '<s>assistant\n' }}
{%- if raw %}{{- ('<think>' if thinking else '</think>') + m.content }}
{%- else %}{{- '<think>' + m.reasoning_content | default('') + '</think>' + m.content }}{%- endif %}
{{- '<e>\n' }}
{%- else %}{{- '<s>' + m.role + '\n' + m.content + '<e>\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<s>assistant\n' + ('<think>' if thinking else '</think>') }}{%- endif %})";
  DeriveOptions options;
  options.variables = {{"raw", "true"}, {"thinking", "true"}};
  const Result<DerivedFormat> raw = derive(compile(kRaw), options);
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->verdict, Verdict::partial);
  EXPECT_NE(sentences(*raw).find("with '</think>' (thinking = false)"), std::string::npos) << sentences(*raw);
  EXPECT_EQ(derived(kRaw).format.reasoning_close.texts.front(), "</think>");
}

TEST(Derive, WordsAtAPromptsEndAreSaid) {
  const DerivedFormat found = derived_around("Answer: ");
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  ASSERT_FALSE(found.notes.empty());
  EXPECT_TRUE(found.notes[0].starts_with("prompts end with 'Answer:'")) << found.notes[0];
}

TEST(Derive, CutsAreProvenByRendering) {
  constexpr std::string_view kCuts[] = {
      "m.content.split('</x>')[-1]",
      "m.content.rsplit('</x>', 1)[-1]",
      "(m.content.split('</x>') | last)",
      "m.content.partition('</x>')[2] or m.content",
      "m.content.rpartition('</x>')[2]",
      "(m.content[m.content.find('</x>') + 4:] if '</x>' in m.content else m.content)",
      "m.content.split('</x>')[-1].lstrip('\n')"};
  for (const std::string_view cut : kCuts) {
    for (const std::string_view end : {"", "<x>\n"}) {
      const DerivedFormat found = derived_around(end, "(" + std::string(cut) + ")");
      // of a cut alone the opening tag is only the spelling of the closing one
      EXPECT_EQ(found.verdict, end.empty() ? Verdict::partial : Verdict::verified) << cut << sentences(found);
      EXPECT_EQ(sentences(found), end.empty() ? "what opens reasoning is a guess: turns of the history are cut at "
                                                "'</x>', and nothing shows '<x>'\n"
                                              : "");
      ASSERT_TRUE(found.format.reasoning_close.exists()) << cut;
      EXPECT_EQ(found.format.reasoning_close.texts.front(), "</x>") << cut;
      EXPECT_EQ(found.format.reasoning_open.texts.front(), "<x>") << cut;
      const ReplyMessage message =
          read_reply(found, found.starts[0].prompt, std::string(end.empty() ? "<x>" : "") + "so</x>The answer<|end|>");
      EXPECT_EQ(message.reasoning, "so") << cut;
      EXPECT_EQ(message.content, "The answer") << cut;
    }
  }
}

/// A template that names a tag, and does nothing with it that cuts turns, has no reasoning.
TEST(Derive, TagsThatAreOnlyNamedAreNotBelieved) {
  for (const std::string_view said :
       {"m.content.replace('</think>', '')", "('</think>' if false else '') ~ m.content",
        "m.content.split('</think>') | join('</think>')", "(m.content if '</think>' in m.content else m.content)",
        "m.content.split('</think>')[0]"}) {
    const DerivedFormat found = derived_around("", "(" + std::string(said) + ")");
    EXPECT_FALSE(found.format.reasoning_close.exists()) << said << found.format.to_json();
    EXPECT_EQ(found.verdict, Verdict::verified) << said << sentences(found);
  }
}

TEST(Derive, ACutWithoutAnOpenerIsMissing) {
  const DerivedFormat found = derived_around("", "m.content.split('<|over_now|>')[-1]");
  EXPECT_EQ(found.verdict, Verdict::partial);
  EXPECT_EQ(sentences(found),
            "turns of the history are cut at '<|over_now|>', and nothing shows what stands before that\n");
}

TEST(Derive, AnyVariableMayOpenReasoning) {
  const DerivedFormat found = derived_around("{% if deep_mode %}<musing>\n{% endif %}");
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  ASSERT_EQ(found.starts.size(), 2u);
  EXPECT_EQ(found.starts[1].variable, "deep_mode");
  EXPECT_TRUE(found.starts[1].in_reasoning);
}

TEST(Derive, WhatWasTriedIsSaid) {
  const DerivedFormat found = derived(kTaggedTemplate);
  const auto count = [&](std::string_view kind) {
    return std::count_if(found.tried.begin(), found.tried.end(),
                         [&](const TriedExperiment& one) { return one.kind == kind; });
  };
  EXPECT_EQ(count("answers"), 1);
  EXPECT_EQ(count("reasoning"), 1);
  EXPECT_GT(count("calls"), 8);
  EXPECT_EQ(count("prompt ends"), 1);
}

// ---- switches of thinking, and roles

/// "deep_thinking=true" of each start but the first, and what efforts set: "none: deep_thinking=false".
std::string switches_of(std::string_view condition) {
  const DerivedFormat found = derived(
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}[assistant]" +
      std::string(condition) + "{% endif %}");
  std::string out;
  for (const ThinkingStart& start : found.starts) {
    if (!start.variable.empty()) out += start.variable + "=" + start.value + " ";
  }
  for (const EffortSetting& setting : found.capabilities.efforts) {
    if (setting.effort != "none" && setting.effort != "low") continue;
    out += setting.effort + ":";
    for (const EffortVariable& variable : setting.variables) out += variable.name + "=" + variable.value;
    out += " ";
  }
  return out;
}

TEST(Derive, StartsAndEffortsKnowTheSameSwitches) {
  EXPECT_EQ(switches_of("{% if deep_thinking %}<think>{% endif %}"),
            "deep_thinking=true deep_thinking=false none:deep_thinking=false low:deep_thinking=true ");
  EXPECT_EQ(switches_of("{% if not skip_thinking %}<think>{% endif %}"),
            "skip_thinking=false skip_thinking=true none:skip_thinking=true low:skip_thinking=false ");
  EXPECT_EQ(switches_of("{% if thinking_budget is defined %}<budget>{{ thinking_budget }}</budget>{% endif %}"),
            "thinking_budget=512 thinking_budget=0 none:thinking_budget=0 low: ");
  EXPECT_EQ(switches_of("{% if effort in ('low', 'high') %}<{{ effort }}>{% endif %}"),
            "effort=\"low\" effort=\"high\" none:effort=\"low\" low:effort=\"low\" ");
  EXPECT_EQ(switches_of("{% if rethink %}{% endif %}"), "");
  EXPECT_EQ(
      switches_of("{% if thinking == 'enabled' %}<think>{% elif thinking == 'disabled' %}<think></think>{% endif %}"),
      "thinking=\"enabled\" thinking=\"disabled\" none:thinking=\"disabled\" low:thinking=\"enabled\" ");
  EXPECT_EQ(switches_of(
                "{% if enable_thinking == 'on' %}<think>{% elif enable_thinking == 'off' %}<think></think>{% endif %}"),
            "enable_thinking=\"on\" enable_thinking=\"off\" none:enable_thinking=\"off\" low:enable_thinking=\"on\" ");
  EXPECT_EQ(
      switches_of(
          "{% if thinking == 'enabled' %}<think>{% elif thinking in ['disabled', 'low'] %}<{{ thinking }}>{% endif %}"),
      "thinking=\"disabled\" thinking=\"low\" none:thinking=\"disabled\" low:thinking=\"low\" ");
}

std::string roles_of(std::string_view show) {
  std::string out;
  for (const auto& [role, fate] :
       derived("{% for m in messages %}[{{ m.role }}]" + std::string(show) + "</s>{% endfor %}").capabilities.roles) {
    out += role + " " + std::string(name_of(fate)) + " ";
    if (role == "system") break;
  }
  return out;
}

TEST(Derive, RolesAreTriedInWhicheverShapeShows) {
  constexpr const char* kRender = "user renders assistant renders system renders ";
  EXPECT_EQ(roles_of("{{ m.content }}"), kRender);
  EXPECT_EQ(roles_of("{% for p in m.content %}{{ p.text }}{% endfor %}"), kRender);
  EXPECT_EQ(roles_of("{% if m.content is string %}{{ raise_exception('parts') }}{% endif %}{% for p in m.content %}{{ "
                     "p.text }}{% endfor %}"),
            kRender);
  EXPECT_EQ(roles_of("{% if m.role == 'system' %}{{ raise_exception('none') }}{% endif %}{{ m.content }}"),
            "user renders assistant renders system raises ");
  EXPECT_EQ(roles_of("{% if m.role != 'system' %}{{ m.content }}{% endif %}"),
            "user renders assistant renders system dropped ");
}

TEST(Check, LawsHoldForAPlainTemplate) {
  CheckOptions options;
  options.count = 60;
  const Result<CheckReport> report = check(compile(kTaggedTemplate), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->laws.size(), laws().size());
  for (const LawResult& law : report->laws)
    EXPECT_NE(law.outcome, LawResult::Outcome::broken) << law.law << ": " << law.example;
}

TEST(Check, EndsWhereItIsStopped) {
  CheckOptions options;
  std::size_t asked = 0;
  options.stopped = [&asked] { return ++asked == 5; };
  const Result<CheckReport> stopped = check(compile(kTaggedTemplate), options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), ErrorCode::python_runtime);
  EXPECT_EQ(asked, 5u) << "nobody is asked again";
}

/// Calls without a mark, right behind what was said: no law is broken, since nobody can tell where such a call begins.
TEST(Check, CallsWithoutMarksAreNotLookedForBehindAnAnswer) {
  const DerivedFormat found = derived_with(
      "{% for c in m.tool_calls %}{\"name\": \"{{ c.function.name }}\", \"parameters\": {{ c.function.arguments | "
      "tojson }}}{% endfor %}");
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  EXPECT_TRUE(found.capabilities.content_with_calls);
  EXPECT_FALSE(found.capabilities.calls_behind_content);
}

TEST(Check, ATemplateThatShowsNothingHoldsNothing) {
  for (const std::string_view text : {"", "{% for m in mesages %}{{ m.content }}{% endfor %}", "{{ nope.x }}"}) {
    const Result<CheckReport> report = check(compile(text));
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->holds()) << text;
    EXPECT_EQ(report->laws.front().outcome, LawResult::Outcome::untried) << text;
  }
}

TEST(Check, AWrongFormatBreaksALaw) {
  CheckOptions options;
  options.count = 60;
  Result<ReplyFormat> wrong = ReplyFormat::from_json(R"({"prompt": "<s>assistant\n", "end": ["<e>"]})");
  ASSERT_TRUE(wrong);
  options.derive.format = *wrong;
  const Result<CheckReport> report = check(compile(kTaggedTemplate), options);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->holds());
  EXPECT_EQ(report->laws.front().outcome, LawResult::Outcome::broken);
}

LawResult law_of(const CheckReport& report, std::string_view name) {
  for (const LawResult& law : report.laws) {
    if (law.law == name) return law;
  }
  return {};
}

/// A reader forgives what stands between calls, so that only the grammar shows that the format does not know it.
TEST(Check, AGrammarThatRefusesWhatTheTemplateWritesBreaksALaw) {
  const Template written = compile(
      "{% for m in messages %}{% if m.role == 'assistant' %}<s>assistant\n{{ m.content }}{% for c in m.tool_calls or "
      "[] %}"
      "{% if not loop.first %}\n\n{% endif %}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | "
      "tojson }}</call>{% endfor %}<e>"
      "{% else %}<s>{{ m.role }}\n{{ m.content }}<e>{% endif %}{% endfor %}{% if add_generation_prompt "
      "%}<s>assistant\n{% endif %}");
  constexpr std::string_view kCall =
      R"("call": ["<call>", {"object": {"name": "name", "arguments": "arguments"}}, "</call>"])";
  for (const bool right : {true, false}) {
    CheckOptions options;
    options.count = 60;
    const std::string separator = right ? R"(, "separator": "\n\n")" : "";
    const auto format = ReplyFormat::from_json(R"({"prompt": "<s>assistant\n", "calls": [{)" + std::string(kCall) +
                                               separator + R"(}], "end": ["<e>"]})");
    ASSERT_TRUE(format);
    options.derive.format = *format;
    const Result<CheckReport> report = check(written, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(law_of(*report, "read-back").outcome, LawResult::Outcome::holds) << law_of(*report, "read-back").example;
    EXPECT_EQ(law_of(*report, "grammar").outcome, right ? LawResult::Outcome::holds : LawResult::Outcome::broken)
        << law_of(*report, "grammar").example;
    if (!right) {
      EXPECT_NE(law_of(*report, "grammar").example.find("the grammar of any number of calls refuses it"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace parlance
