// adapt(): which passes a template needs, found by rendering it. A row a need; and when a request asks for them at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "parlance/derive.h"
#include "request/adapter.h"
#include "text_or_error.h"

namespace parlance {
namespace {

struct AdaptRow {
  const char* need;
  const char* source;
  std::vector<std::string> passes;
};

// Shows every role as it is; `calls` writes a message's calls.
#define TURNS(before, calls)                                                          \
  "{% for m in messages %}" before                                                    \
  "<{{ m.role }}>{{ m.content if m.content is string else raise_exception('list') }}" \
  "{% for c in m.tool_calls %}" calls "{% endfor %}</>{% endfor %}"
#define TEXT_ONLY "content-parts"
#define CHANGED(content) "{% for m in messages %}<{{ m.role }}>{{ " content " }}</>{% endfor %}"
#define CALL "[{{ c.function.name }} {{ c.function.arguments | tojson }}]"

const AdaptRow kAdaptRows[] = {
    {"content as text", TURNS("", CALL), {TEXT_ONLY}},
    {"nothing",
     "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content "
     "%}{{ p.text }}"
     "{% endfor %}{% endif %}{% for c in m.tool_calls %}" CALL "{% endfor %}</>{% endfor %}",
     {}},
    {"text that is trimmed, and parts that are not",
     "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content | trim }}{% else %}{% for p in "
     "m.content %}{{ p.text }}"
     "{% endfor %}{% endif %}{% for c in m.tool_calls %}" CALL "{% endfor %}</>{% endfor %}",
     {"one-part:user,assistant,system,developer,tool"}},
    {"content as parts",
     "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}</>{% endfor %}",
     {"text-parts:user,assistant,system,developer,tool"}},
    {"a string that is cut", CHANGED("(m.content | string)[8:]"), {TEXT_ONLY}},
    {"a string's first letters", CHANGED("m.content[:5]"), {TEXT_ONLY}},
    {"a string's last letters", CHANGED("(m.content | string)[-7:]"), {TEXT_ONLY}},
    {"a string's first word", CHANGED("m.content.split()[0]"), {TEXT_ONLY}},
    {"a string in capitals", CHANGED("m.content | upper"), {TEXT_ONLY}},
    {"a string in capitals, by its method", CHANGED("m.content.upper()"), {TEXT_ONLY}},
    {"a string with other letters", CHANGED("m.content | string | replace('s', '$')"), {TEXT_ONLY}},
    {"a string as JSON, without its quotes", CHANGED("(m.content | tojson)[1:-1]"), {TEXT_ONLY}},
    {"a string as JSON, cut", CHANGED("(m.content | tojson)[9:-3]"), {TEXT_ONLY}},
    {"a string that is cut, and parts",
     CHANGED("m.content[8:] if m.content is string else m.content[0].text"),
     {"one-part:user,assistant,system,developer,tool"}},
    {"arguments as text",
     TURNS("", "[{{ c.function.name }} {{ c.function.arguments + '' }}]"),
     {TEXT_ONLY, "arguments-text"}},
    {"arguments as text, for others print as Python's",
     TURNS("", "[{{ c.function.name }} {{ c.function.arguments }}]"),
     {TEXT_ONLY, "arguments-text"}},
    {"null beside calls",
     "{% for m in messages %}<{{ m.role }}>{% if m.content is not none %}{{ m.content + '' }}{% else %}{% for c in "
     "m.tool_calls %}" CALL "{% endfor %}{% endif %}</>{% endfor %}",
     {TEXT_ONLY, "calls-null-content"}},
    {"nothing beside calls",
     "{% for m in messages %}<{{ m.role }}>{% if 'content' in m %}{{ m.content + '' }}{% else %}{% for c in "
     "m.tool_calls %}" CALL "{% endfor %}{% endif %}</>{% endfor %}",
     {TEXT_ONLY, "calls-no-content"}},
    {"short ids",
     TURNS("", "{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}" CALL),
     {TEXT_ONLY, "missing-ids", "short-ids"}},
    {"some id",
     TURNS("", "{% if c.id is not defined %}{{ raise_exception('id') }}{% endif %}" CALL),
     {TEXT_ONLY, "missing-ids"}},
    {"ids with the name", TURNS("", "[{{ c.id }} {{ c.function.arguments | tojson }}]"), {TEXT_ONLY, "named-ids"}},
    {"reasoning under a name of its own",
     TURNS("", CALL) "{% for m in messages if m.thinking_text %}<think>{{ m.thinking_text }}</think>{{ m.content }}{% "
                     "endfor %}",
     {TEXT_ONLY, "reasoning-key:thinking_text"}},
    {"reasoning under a name of its own, with nothing round it",
     "{% for m in messages %}<{{ m.role }}>{{ m.reasoning }}{{ m.content }}</>{% endfor %}",
     {TEXT_ONLY, "reasoning-key:reasoning"}},
    {"reasoning as a part",
     "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content "
     "%}"
     "{% if p.type == 'thinking' %}<think>{{ p.thinking }}</think>{% else %}{{ p.text }}{% endif %}{% endfor %}{% "
     "endif %}</>{% endfor %}",
     {"reasoning-part:thinking"}},
    {"no developer",
     TURNS("{% if m.role == 'developer' %}{{ raise_exception('role') }}{% endif %}", CALL),
     {"developer-role", "content-parts"}},
    {"the system first",
     TURNS("{% if m.role in ['system', 'developer'] and not loop.first %}{{ raise_exception('first') }}{% endif %}",
           CALL),
     {"late-system:system,developer", TEXT_ONLY, "join-systems"}},
    {"one system, from anywhere",
     "{% set ns = namespace(s='') %}{% for m in messages if m.role == 'system' %}{% set ns.s = m.content + '' %}{% "
     "endfor %}{{ ns.s }}"
     "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content + '' }}{% for c in m.tool_calls %}" CALL
     "{% endfor %}</>{% endfor %}",
     {TEXT_ONLY, "join-systems", "gather-systems"}},
    {"turns that alternate",
     TURNS("{% if m.role == 'user' and loop.previtem is defined and loop.previtem.role == 'user' %}{{ "
           "raise_exception('twice') }}{% endif %}",
           CALL),
     {TEXT_ONLY, "join-users"}},
    {"tools to go through",
     "{% for t in tools %}{{ t.function.name }}{% endfor %}" TURNS("", CALL),
     {TEXT_ONLY, "empty-tools"}},
};
#undef CALL
#undef TURNS
#undef CHANGED

/// Without what is found of images and the like, which has tests of its own.
TemplateCapabilities capabilities_of(const char* source) {
  const Result<Template> compiled = Template::compile(source);
  EXPECT_TRUE(compiled.has_value()) << source;
  const Result<DerivedFormat> derived = derive(*compiled);
  EXPECT_TRUE(derived.has_value()) << source;
  TemplateCapabilities can = derived->capabilities;
  can.media.clear();
  return can;
}

/// Every template gets a pass for the effort of reasoning, if only to say that it has none.
constexpr const char* kNoEffort = "reasoning-effort:-";

TEST(Adapt, EachNeedHasItsPass) {
  for (const AdaptRow& row : kAdaptRows) {
    std::vector<std::string> passes = adapt(capabilities_of(row.source)).passes.words();
    EXPECT_EQ(std::erase(passes, kNoEffort), 1u) << row.need;
    EXPECT_EQ(passes, row.passes) << row.need;
  }
}

TEST(Adapt, KeepsWhatWasAskedFor) {
  const TemplateCapabilities can = capabilities_of(kAdaptRows[0].source);
  ReadOptions options{.passes = *Passes::of({"join-users"}, {"content-parts"})};
  const ReadOptions adapted = adapt(can, options);
  EXPECT_EQ(adapted.passes.words(), (std::vector<std::string>{TEXT_ONLY, "join-users", kNoEffort}));
  EXPECT_TRUE(adapted.passes.skips(Pass::content_parts));
  options.normalise = false;
  EXPECT_TRUE(adapt(can, options).passes == options.passes);
}
#undef TEXT_ONLY

/// The passes for a request that depends on these alone.
std::vector<std::string> passes_for(const char* source, probe::Needs needs) {
  const Result<Template> compiled = Template::compile(source);
  const DeriveOptions options;
  probe::Prober prober(*compiled, options);
  return adapt(probe::find_needed(prober, needs)).passes.words();
}

TEST(Adapter, FindsWhatDeriveFindsAndOnlyWhatIsNeeded) {
  using namespace probe;
  for (const AdaptRow& row : kAdaptRows) {
    const std::vector<std::string> all = adapt(capabilities_of(row.source)).passes.words();
    EXPECT_EQ(passes_for(row.source, kNeedsAll), all) << row.need;
    std::set<std::string> found;
    for (const Needs one : {kNeedsEffort, kNeedsOrders, kNeedsCalls, kNeedsReasoning, kNeedsContents, kNeedsTools}) {
      for (const std::string& pass : passes_for(row.source, one)) {
        if (pass == kNoEffort) continue;
        found.insert(pass);
        EXPECT_NE(std::find(all.begin(), all.end(), pass), all.end()) << row.need << ": " << pass;
      }
    }
    EXPECT_EQ(found.size(), all.size() - 1) << row.need;  // but that there is no effort
  }
}

std::string rendered(const Template& compiled, std::string_view request, const ReadOptions& reading) {
  const Result<Conversation> chat = Conversation::from_json(request, reading);
  if (!chat) return std::string(chat.error().message());
  RenderOptions options;
  options.add_generation_prompt = false;
  const Result<Rendering> prompt = compiled.render(*chat, options);
  return prompt ? std::string(prompt->text()) : std::string(prompt.error().message());
}

// ---- the effort of reasoning

#define PROMPT \
  "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>"
constexpr const char* kBySwitch =
    PROMPT "{{ '<think>' if enable_thinking is not defined or enable_thinking else '<think></think>' }}{% endif %}";
constexpr const char* kLow = PROMPT "{{ '<short>' if low_effort }}{% endif %}";
constexpr const char* kByLevel =
    "{% set e = reasoning_effort if reasoning_effort in ['low', 'max'] else 'low' %}{% if reasoning_effort == 'zq' "
    "%}{% endif %}" PROMPT "{{ '<hard>' if e == 'max' }}{% endif %}";
constexpr const char* kStrict =
    "{% if reasoning_effort is defined and reasoning_effort not in ['none', 'high'] %}{{ raise_exception('effort') "
    "}}{% endif %}" PROMPT "{{ '<think>' if reasoning_effort == 'high' }}{% endif %}";
constexpr const char* kPrinted = "Reasoning: {{ reasoning_effort or 'medium' }} " PROMPT "{% endif %}";
constexpr const char* kMapped =
    "{% set hints = {'low': 'brief', 'high': ['hard']} %}" PROMPT "{{ hints[reasoning_effort] }}{% endif %}";
constexpr const char* kUpper = PROMPT "<{{ reasoning_effort | upper }}>{% endif %}";
constexpr const char* kCounted = PROMPT "<{{ reasoning_effort | length }}>{% endif %}";
constexpr const char* kBeginning =
    PROMPT "{{ '<hard>' if reasoning_effort and reasoning_effort.startswith('hi') }}{% endif %}";
constexpr const char* kByPair = PROMPT
    "{% if thinking == 'enabled' %}<think>{% elif thinking == 'disabled' %}<think></think>{% endif %}{% endif %}";
constexpr const char* kAnyButNone =
    PROMPT "{% if reasoning_effort == 'none' %}<off>{% elif reasoning_effort %}<think>{% endif %}{% endif %}";
constexpr const char* kIfGiven = PROMPT "{{ '<think>' if reasoning_effort is defined }}{% endif %}";
constexpr const char* kWithoutEffort = PROMPT "{% endif %}";
#undef PROMPT

struct EffortRow {
  const char* source;
  const char* asked;  ///< members of the request
  const char* ends;   ///< what the prompt ends with
  const char* note;   ///< the last one; "": none
};
constexpr const char* kStays =
    "enable_thinking: keeps the value that the request sets; the reasoning effort does not change it "
    "(reasoning-effort)";
#define NEAREST(level, asked) \
  "reasoning_effort: '" level "', the nearest level to '" asked "' that the template knows (reasoning-effort)"
constexpr EffortRow kEfforts[] = {
    {kBySwitch, R"("reasoning_effort": "none")", "<assistant><think></think>",
     "enable_thinking: set for the effort of reasoning (reasoning-effort)"},
    {kBySwitch, R"("reasoning": {"effort": "none"})", "<assistant><think></think>",
     "enable_thinking: set for the effort of reasoning (reasoning-effort)"},
    {kBySwitch, R"("thinking": {"type": "disabled"})", "<assistant><think></think>",
     "enable_thinking: set for the effort of reasoning (reasoning-effort)"},
    {kBySwitch, R"("reasoning_effort": "high")", "<assistant><think>",
     "enable_thinking: set for the effort of reasoning (reasoning-effort)"},
    {kBySwitch, R"("reasoning_effort": "high", "enable_thinking": false)", "<think></think>", kStays},
    {kBySwitch, R"("reasoning_effort": "none", "enable_thinking": false)", "<think></think>", ""},
    {kByLevel, R"("reasoning_effort": "high")", "<assistant><hard>", NEAREST("max", "high")},
    {kByLevel, R"("reasoning_effort": "max")", "<assistant><hard>", ""},
    {kByLevel, R"("reasoning_effort": "minimal")", "<assistant>", NEAREST("low", "minimal")},
    {kStrict, R"("reasoning_effort": "medium")", "<assistant><think>", NEAREST("high", "medium")},
    {kStrict, R"("reasoning_effort": "none")", "<assistant>", ""},
    {kLow, R"("reasoning_effort": "minimal")", "<assistant><short>",
     "low_effort: set for the effort of reasoning (reasoning-effort)"},
    {kLow, R"("reasoning_effort": "high")", "<assistant>",
     "low_effort: set for the effort of reasoning (reasoning-effort)"},
    {kPrinted, R"("reasoning": {"effort": "max"})", "Reasoning: high <user>hi</><assistant>", NEAREST("high", "max")},
    {kPrinted, R"("reasoning_effort": "minimal")", "Reasoning: low <user>hi</><assistant>", NEAREST("low", "minimal")},
    {kPrinted, R"("think": false)", "Reasoning: low <user>hi</><assistant>", NEAREST("low", "none")},
    {kPrinted, R"("reasoning_effort": "low")", "Reasoning: low <user>hi</><assistant>", ""},
    {kPrinted, R"("reasoning_effort": null)", "Reasoning: medium <user>hi</><assistant>",
     "reasoning_effort: null: not given (unsaid-effort)"},
    {kWithoutEffort, R"("reasoning_effort": "high")", "<assistant>",
     "reasoning_effort: has no effect: the template has no setting for how much the model reasons (reasoning-effort)"},
    {kWithoutEffort, R"("temperature": 0)", "<assistant>", ""},
    {kIfGiven, R"("reasoning_effort": "high")", "<assistant><think>", ""},
    {kMapped, R"("reasoning_effort": "low")", "<assistant>brief", ""},
    {kMapped, R"("reasoning_effort": "max")", "<assistant>['hard']", NEAREST("high", "max")},
    {kUpper, R"("reasoning_effort": "high")", "<HIGH>", ""},
    {kUpper, R"("reasoning_effort": "max")", "<HIGH>", NEAREST("high", "max")},
    {kCounted, R"("reasoning_effort": "medium")", "<6>", ""},
    {kBeginning, R"("reasoning_effort": "high")", "<hard>", ""},
    {kBeginning, R"("reasoning_effort": "max")", "<hard>", NEAREST("high", "max")},
    {kByPair, R"("reasoning_effort": "high")", "<assistant><think>",
     "thinking: set for the effort of reasoning (reasoning-effort)"},
    {kByPair, R"("reasoning_effort": "none")", "<think></think>",
     "thinking: set for the effort of reasoning (reasoning-effort)"},
    {kAnyButNone, R"("reasoning_effort": "none")", "<off>", ""},
    {kAnyButNone, R"("reasoning_effort": "high")", "<assistant><think>",
     "reasoning_effort: set for the effort of reasoning (reasoning-effort)"},
    {kAnyButNone, R"("reasoning_effort": "low")", "<assistant><think>",
     "reasoning_effort: switches reasoning on: the template has no levels, and reasons as much as for 'high' "
     "(reasoning-effort)"},
};

#undef NEAREST

TEST(Adapt, AnEffortOfReasoningBecomesTheTemplatesVariables) {
  for (const EffortRow& row : kEfforts) {
    const Result<Template> compiled = Template::compile(row.source);
    ASSERT_TRUE(compiled.has_value());
    ReadOptions reading = adapt(capabilities_of(row.source));
    reading.passes.skip(Pass::defaults);
    reading.passes.skip(Pass::drop_request_members);
    const std::string request = R"({"messages": [{"role": "user", "content": "hi"}], )" + std::string(row.asked) + "}";
    const Result<Conversation> chat = Conversation::from_json(request, reading);
    ASSERT_TRUE(chat.has_value()) << row.asked;
    const Result<Rendering> prompt = compiled->render(*chat);
    ASSERT_TRUE(prompt.has_value()) << row.asked;
    EXPECT_TRUE(prompt->text().ends_with(row.ends)) << row.asked << prompt->text();
    EXPECT_EQ(chat->notes().empty() ? "" : chat->notes().back(), row.note) << row.asked;
  }
}

TEST(Adapt, AnEffortCanBeGivenBesideTheRequest) {
  ReadOptions reading = adapt(capabilities_of(kBySwitch));
  reading.reasoning_effort = "none";
  const Result<Template> compiled = Template::compile(kBySwitch);
  const Result<Conversation> chat = Conversation::from_json(R"({"messages": [], "reasoning_effort": "high"})", reading);
  ASSERT_TRUE(compiled.has_value() && chat.has_value());
  EXPECT_EQ(text_or_error(compiled->render(*chat)), "<assistant><think></think>");
}

TEST(Adapter, FindsTheSameWhateverWasNeededBefore) {
  using namespace probe;
  const DeriveOptions options;
  for (const AdaptRow& row : kAdaptRows) {
    const Result<Template> compiled = Template::compile(row.source);
    Prober prober(*compiled, options);
    for (const Needs one : {kNeedsReasoning, kNeedsOrders, kNeedsCalls, kNeedsAll, kNeedsContents, kNeedsEffort}) {
      EXPECT_EQ(adapt(find_needed(prober, one)).passes.words(), passes_for(row.source, one)) << row.need;
    }
    const std::size_t made = prober.count();
    (void)find_needed(prober, kNeedsCalls | kNeedsOrders);
    EXPECT_EQ(prober.count(), made) << row.need;  // of the same experiments
  }
}

// ---- parts that are no text

/// Shows the parts of a message as `part` writes them.
std::string with_parts(const std::string& part) {
  return "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in "
         "m.content %}" +
         part + "{% endfor %}{% endif %}</>{% endfor %}";
}

TEST(Adapter, FindsTheNameOfAPart) {
  const std::pair<std::string, std::string> kNames[] = {
      {with_parts("{{ p.text if p.type == 'text' else '<img>' }}"), ""},
      {with_parts("{% if p.type == 'image' %}<img>{% else %}{{ p.text }}{% endif %}"),
       "part-types:user.image_url=image"},
      {with_parts("{% if p.type == 'text' %}{{ p.text }}{% elif 'image' in p %}<img>{% endif %}"),
       "part-types:user.image_url=image"},
      {with_parts("{% if p.type == 'text' %}{{ p.text }}{% endif %}"), "no-place:user.image_url"},
      // and no text
      {with_parts("{% if p.type == 'image_url' %}<img>{% endif %}"), "no-place:user.image_url"},
      // as Python's list
      {"{% for m in messages %}{{ m.content }}{% endfor %}", "no-place:user.image_url"},
      // only parts the texts
      {with_parts("{% if not loop.first %} {% endif %}{{ p.text }}"), "no-place:user.image_url"},
      {"{% for m in messages %}{{ m.content | tojson }}{% endfor %}", "no-place:user.image_url"},
      {"{% for m in messages %}{{ raise_exception('x') if m.content is not string }}{{ m.content }}{% endfor %}",
       "no-place:user.image_url"},
  };
  const probe::Needs needs = probe::needs_of(*Conversation::from_json(
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", )"
      R"("image_url": {"url": "u"}}]}]})",
      {.normalise = false}));
  for (const auto& [source, wanted] : kNames) {
    std::string found;
    for (const std::string& pass : passes_for(source.c_str(), needs)) {
      if (pass.starts_with("part-types") || pass.starts_with("no-place")) found += pass;
    }
    EXPECT_EQ(found, wanted) << source;
  }
}

TEST(Adapter, ExperimentsShareOneBoundOfSteps) {
  const Template compiled = *Template::compile("{% for i in range(300) %}{% endfor %}{{ messages[0].content }}");
  DeriveOptions options;
  options.limits.steps = 64'000;
  probe::Prober prober(compiled, options);
  std::size_t rendered = 0;
  for (int i = 0; i < 200; ++i)
    rendered += prober.take_json(R"({"messages": [{"content": ")" + std::to_string(i) + R"("}]})", false) ? 1 : 0;
  EXPECT_GT(rendered, 40u);
  EXPECT_LT(rendered, 200u);
}

/// What is said in chat_template_kwargs acts as beside it, whatever the messages need besides.
TEST(Adapter, FindsAnEffortInTheTemplatesOwnMembers) {
  for (const char* content : {R"("hi")", R"([{"type": "text", "text": "hi"}])"}) {
    for (const char* asked :
         {R"("reasoning_effort": "none")", R"("chat_template_kwargs": {"reasoning_effort": "none"})",
          R"("chat_template_kwargs": {"think": false})"}) {
      const Template compiled = *Template::compile(kBySwitch);
      const std::string request =
          R"({"messages": [{"role": "user", "content": )" + std::string(content) + "}], " + asked + "}";
      ReadOptions untouched;
      untouched.normalise = false;
      Adapter adapter(compiled, {}, {});
      const Result<Conversation> chat =
          Conversation::from_json(request, adapter.options_for(*Conversation::from_json(request, untouched)));
      ASSERT_TRUE(chat.has_value()) << request;
      EXPECT_EQ(text_or_error(compiled.render(*chat)), "<user>hi</><assistant><think></think>") << request;
    }
  }
}

TEST(Adapt, CallsShowWithIdsOfAnyLength) {
  const Template compiled = *Template::compile(
      "{% for m in messages %}{% for c in m.tool_calls %}{% if c.id | length != 9 %}{{ raise_exception('id') }}{% "
      "endif %}"
      "({{ c.id }} {{ c.function.name }} {{ c.function.arguments | tojson }}){% endfor %}<{{ m.role }} {{ "
      "m.tool_call_id }}>{{ m.content }}"
      "{% endfor %}");
  const ReadOptions reading = adapt((*derive(compiled)).capabilities);
  const char* request = R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [
      {"id": "call_abc", "function": {"name": "f", "arguments": "{}"}}, {"id": "abcABC123", "function": {"name": )"
                        R"("g", "arguments": {}}}]},
      {"role": "tool", "tool_call_id": "abcABC123", "content": "x"}, {"role": "tool", "tool_call_id": "call_abc", )"
                        R"("content": "y"}]})";
  const std::string text = rendered(compiled, request, reading);
  const std::string id = text.substr(text.find('(') + 1, 9);
  EXPECT_EQ(text, "<user >q(" + id + " f {})(abcABC123 g {})<assistant ><tool abcABC123>x<tool " + id + ">y");
  EXPECT_EQ(rendered(compiled, request, {}), "id");
}

TEST(Adapt, ReasoningAndContentThatExcludeEachOtherAreJoined) {
  const Template compiled = *Template::compile(
      "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}{% if m.thinking and m.content %}{{ "
      "raise_exception('both') }}{% endif %}"
      "{% endif %}{% if m.thinking %}<think>{{ m.thinking }}</think>{% endif %}{{ m.content + '' }}{% for c in "
      "m.tool_calls %}"
      "<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{% endfor %}</>{% "
      "endfor %}");
  const ReadOptions reading = adapt((*derive(compiled)).capabilities);
  const char* request = R"({"messages": [{"role": "assistant", "content": "c", "reasoning": "r", "tool_calls": [
      {"function": {"name": "f", "arguments": {}}}]}]})";
  EXPECT_EQ(rendered(compiled, request, reading),
            "<assistant><think>r\n\nc</think><call>{\"name\": \"f\", \"arguments\": {}}</call></>");
}

struct Request {
  bool may;
  const char* messages;
};
const Request kRequests[] = {
    {false, R"([])"},
    {false,
     R"([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, {"role": "assistant", "content": )"
     R"("a"}, {"role": "user", "content": "u"}])"},
    {false, R"([{"role": "assistant", "content": "a", "tool_calls": null, "reasoning": null}])"},
    {false, R"({"a": 1})"},
    {false, R"([1])"},
    {true, R"([{"role": "user", "content": []}])"},
    {true, R"([{"role": "developer", "content": "d"}])"},
    {true, R"([{"role": "user", "content": "u"}, {"role": "system", "content": "s"}])"},
    {true, R"([{"role": "user", "content": "u"}, {"role": "user", "content": "u"}])"},
    {true, R"([{"role": "assistant", "tool_calls": []}])"},
    {true, R"([{"role": "assistant", "content": "", "thinking": "t"}])"},
};

TEST(Adapter, DerivesOnlyForRequestsThatMayNeedIt) {
  ReadOptions as_is;
  as_is.normalise = false;
  for (const Request& one : kRequests) {
    const Result<Conversation> chat =
        Conversation::from_json("{\"messages\": " + std::string(one.messages) + "}", as_is);
    ASSERT_TRUE(chat.has_value());
    EXPECT_EQ(probe::needs_of(*chat) != 0, one.may) << one.messages;
  }
}

TEST(Adapter, PlainTextIsAdaptedWhereOnlyPartsShow) {
  const Template compiled =
      *Template::compile("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}");
  Adapter adapter(compiled, {}, {});
  ReadOptions as_is;
  as_is.normalise = false;
  const char* request = R"({"messages": [{"role": "user", "content": "text"}]})";
  const Result<Conversation> untouched = Conversation::from_json(request, as_is);
  ASSERT_TRUE(untouched.has_value());
  EXPECT_EQ(rendered(compiled, request, adapter.options_for(*untouched)), "text");
  EXPECT_EQ(rendered(compiled, request, {}), "");
}

TEST(Adapter, ARequestWithoutToolsHasAnEmptyListWhereNoneFails) {
  ReadOptions as_is;
  as_is.normalise = false;
  const auto said = [&](const char* source, const std::string& more) {
    const Template compiled = *Template::compile(source);
    Adapter adapter(compiled, {}, {});
    const std::string request = R"({"messages": [{"role": "user", "content": "text"}])" + more + "}";
    const Result<Conversation> untouched = Conversation::from_json(request, as_is);
    return rendered(compiled, request, adapter.options_for(*untouched));
  };
  constexpr const char* kGoesThrough =
      "{{ tools | length }}{% for t in tools %}{{ t.function.name }}{% endfor %}{{ messages[0].content }}";
  EXPECT_EQ(said(kGoesThrough, ""), "0text");
  EXPECT_EQ(said(kGoesThrough, R"(, "tools": null)"), "0text");
  EXPECT_EQ(said(kGoesThrough, R"(, "tools": [{"name": "f"}])"), "1ftext");
  // None is what transformers gives, and what most templates ask for
  EXPECT_EQ(said("{{ tools is none }}{{ messages[0].content }}", ""), "Truetext");
  EXPECT_EQ(said("{{ tools + 1 }}{{ messages[0].content }}", "").substr(0, 11), "unsupported");
}

}  // namespace
}  // namespace parlance
