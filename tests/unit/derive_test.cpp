// derive(): one format for one behaviour, however a template is written; what is found, and what is said to be missing.
#include "parlance/derive.h"

#include <gtest/gtest.h>

#include "parlance/check.h"
#include "parlance/source.h"

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

constexpr std::string_view kPlain = R"({%- for message in messages %}
{%- if message.role == 'assistant' %}
{{- '<s>assistant\n' }}
{%- if message.reasoning_content %}{{- '<think>\n' + message.reasoning_content + '\n</think>\n\n' }}{%- endif %}
{{- message.content }}
{%- for call in message.tool_calls or [] %}
{{- '\n<call>\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\n</call>' }}
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
  const DerivedFormat found = derived(kPlain);
  EXPECT_EQ(found.verdict, Verdict::verified) << sentences(found);
  EXPECT_EQ(found.format.to_json(),
            R"({"prompt": "<s>assistant\n", "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"}, )"
            R"("calls": [{"call": ["\n<call>\n", {"object": {"name": "name", "arguments": "arguments", "parameters": "arguments", )"
            R"("function": {"name": "name", "arguments": "arguments", "parameters": "arguments"}}}, "\n</call>"]}], "end": ["<e>"]})");
  EXPECT_TRUE(found.capabilities.calls);
  EXPECT_TRUE(found.capabilities.parallel_calls);
  EXPECT_TRUE(found.capabilities.content_with_calls);
  EXPECT_EQ(found.capabilities.reasoning_key, "reasoning_content");
  EXPECT_LT(found.renders, 150u);
}

TEST(Derive, DoesNotLookAtHowATemplateIsWritten) { EXPECT_EQ(derived(kRewritten).format.to_json(), derived(kPlain).format.to_json()); }

TEST(Derive, ATemplateWithoutCallsHasNone) {
  const DerivedFormat found = derived("{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}");
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
  const DerivedFormat found = derived_with("{{ [3, 1].sort() }}");
  EXPECT_EQ(found.verdict, Verdict::partial);
  ASSERT_FALSE(found.missing.empty());
  EXPECT_EQ(found.missing[0], "calls: no conversation with one renders: access to attribute 'sort' of 'list' object is unsafe.");
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
  const DerivedFormat found = derived("{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{{ 'x' * 1000000 }}");
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

// ---- switches of thinking, and roles

/// "deep_thinking=true" of each start but the first, and what efforts set: "none: deep_thinking=false".
std::string switches_of(std::string_view condition) {
  const DerivedFormat found = derived("{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}[assistant]" +
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
  EXPECT_EQ(switches_of("{% if effort in ('low', 'high') %}<{{ effort }}>{% endif %}"), "effort=\"low\" effort=\"high\" none:effort=\"low\" low:effort=\"low\" ");
  EXPECT_EQ(switches_of("{% if rethink %}{% endif %}"), "");
  EXPECT_EQ(switches_of("{% if thinking == 'enabled' %}<think>{% elif thinking == 'disabled' %}<think></think>{% endif %}"),
            "thinking=\"enabled\" thinking=\"disabled\" none:thinking=\"disabled\" low:thinking=\"enabled\" ");
  EXPECT_EQ(switches_of("{% if enable_thinking == 'on' %}<think>{% elif enable_thinking == 'off' %}<think></think>{% endif %}"),
            "enable_thinking=\"on\" enable_thinking=\"off\" none:enable_thinking=\"off\" low:enable_thinking=\"on\" ");
  EXPECT_EQ(switches_of("{% if thinking == 'enabled' %}<think>{% elif thinking in ['disabled', 'low'] %}<{{ thinking }}>{% endif %}"),
            "thinking=\"disabled\" thinking=\"low\" none:thinking=\"disabled\" low:thinking=\"low\" ");
}

std::string roles_of(std::string_view show) {
  std::string out;
  for (const auto& [role, fate] : derived("{% for m in messages %}[{{ m.role }}]" + std::string(show) + "</s>{% endfor %}").capabilities.roles) {
    out += role + " " + fate + " ";
    if (role == "system") break;
  }
  return out;
}

TEST(Derive, RolesAreTriedInWhicheverShapeShows) {
  constexpr const char* kRender = "user renders assistant renders system renders ";
  EXPECT_EQ(roles_of("{{ m.content }}"), kRender);
  EXPECT_EQ(roles_of("{% for p in m.content %}{{ p.text }}{% endfor %}"), kRender);
  EXPECT_EQ(roles_of("{% if m.content is string %}{{ raise_exception('parts') }}{% endif %}{% for p in m.content %}{{ p.text }}{% endfor %}"), kRender);
  EXPECT_EQ(roles_of("{% if m.role == 'system' %}{{ raise_exception('none') }}{% endif %}{{ m.content }}"), "user renders assistant renders system raises ");
  EXPECT_EQ(roles_of("{% if m.role != 'system' %}{{ m.content }}{% endif %}"), "user renders assistant renders system dropped ");
}

TEST(Check, LawsHoldForAPlainTemplate) {
  CheckOptions options;
  options.count = 60;
  const Result<CheckReport> report = check(compile(kPlain), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->laws.size(), laws().size());
  for (const LawResult& law : report->laws) EXPECT_NE(law.outcome, LawResult::Outcome::broken) << law.law << ": " << law.example;
}

TEST(Check, AWrongFormatBreaksALaw) {
  CheckOptions options;
  options.count = 60;
  Result<ReplyFormat> wrong = ReplyFormat::from_json(R"({"prompt": "<s>assistant\n", "end": ["<e>"]})");
  ASSERT_TRUE(wrong);
  options.derive.format = *wrong;
  const Result<CheckReport> report = check(compile(kPlain), options);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->holds());
  EXPECT_EQ(report->laws.front().outcome, LawResult::Outcome::broken);
}

}  // namespace
}  // namespace parlance
