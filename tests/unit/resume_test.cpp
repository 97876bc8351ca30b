// Leaving out iterations that another run has made: templates that can, and templates where it would show.
#include <gtest/gtest.h>

#include <random>

#include "growing.h"
#include "share.h"

namespace parlance {
namespace {

using testing::Growing;

struct Case {
  const char* name;
  const char* source;
};

Message nth_message(std::size_t number, std::size_t kind) {
  static constexpr const char* kRoles[] = {"user", "assistant", "tool", "system", "assistant"};
  Message message{.role = kRoles[kind % std::size(kRoles)], .content = "text " + std::to_string(number * 7 % 13)};
  if (kind % 5 == 4) message.reasoning_content = "because of " + std::to_string(number);
  return message;
}

struct Grown {
  std::uint64_t left_out = 0;  ///< messages
  std::size_t rendered = 0;    ///< times
};

/// Grows a chat by one to three messages at a time.
Grown grow(const char* source, std::uint64_t seed, bool tools) {
  std::mt19937_64 random(seed);
  const auto compiled = Template::compile(source, {.name = "t.jinja"});
  EXPECT_TRUE(compiled) << compiled.error().display();
  if (!compiled) return {};
  Growing growing(*compiled, {.add_generation_prompt = seed % 3 == 0 ? std::nullopt : std::optional(seed % 2 == 0)});
  Conversation chat;
  EXPECT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "Hi"}], "bos_token": "<s>",
                            "tools": [{"name": "a"}]})"));
  std::size_t number = 1;
  for (int turn = 0; turn < 14; ++turn) {
    growing.kept = random() % 3 == 0 ? random() % 40 : 0;
    const std::string fault = growing.render(chat);
    EXPECT_EQ(fault, "") << source << "\nturn " << turn;
    if (!fault.empty()) return {};
    for (std::size_t more = 1 + random() % 3; more > 0; --more) {
      const std::size_t kind = tools ? random() % 5 : (number % 2 == 0 ? 0 : 1 + 3 * (random() % 2));
      EXPECT_TRUE(chat.add(nth_message(number++, kind)));
    }
  }
  return {growing.left_out(), growing.rendered()};
}

Grown grow_all(const char* source) {
  Grown all;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Grown one = grow(source, seed, seed % 2 == 0);
    all.left_out += one.left_out;
    all.rendered += one.rendered;
  }
  return all;
}

constexpr Case kResume[] = {
    {"plain", "{{ bos_token }}{% for m in messages %}[{{ m.role }} {{ m.content }}]{% endfor %}!"},
    {"counts in front and behind",
     "{{ messages|length }}{% for m in messages %}[{{ m.content }}]{% endfor %}{{ messages[-1].content }}"},
    {"the first", "{% for m in messages %}{% if loop.first %}<s>{% endif %}[{{ m.content }}]{% endfor %}"},
    {"the last", "{% for m in messages %}[{{ m.content }}]{{ 'END' if loop.last else ',' }}{% endfor %}"},
    {"numbers",
     "{% for m in messages %}{{ loop.index }}/{{ loop.index0 }}[{{ m.content }}]{{ loop.depth }}{% endfor %}"},
    {"neighbours in the loop",
     "{% for m in messages %}{{ loop.previtem.role if not loop.first }}<{{ m.role }}>"
     "{{ loop.nextitem.role if not loop.last }},{% endfor %}"},
    {"neighbours in the list",
     "{% for m in messages %}{% if loop.first or messages[loop.index0 - 1].role != m.role %}({% endif %}{{ m.content }}"
     "{% if loop.last or messages[loop.index0 + 1].role != m.role %}){% endif %}{% endfor %}"},
    {"neighbours beyond the ends",
     "{% for m in messages %}{{ messages[loop.index0 - 1].content }}<{{ m.content }}>{{ (messages[loop.index] or "
     "m).content }}"
     "{{ (messages[loop.index0 + 2] or m).role }}{{ (messages[loop.index - 3] or m).role }}{% endfor %}"},
    {"a slice",
     "{% set rest = messages[1:] if messages[0].role == 'user' else messages %}"
     "{% for m in rest %}[{{ m.content }}{{ messages[loop.index0].role }}]{% endfor %}"},
    {"the first message", "{% for m in messages %}{{ messages[0].role }}[{{ m.content }}]{% endfor %}"},
    {"a namespace",
     "{% set ns = namespace(last='', n=0) %}{% for m in messages %}[{{ ns.last }}>{{ m.role }}]"
     "{% set ns.last = m.content %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}{{ ns.last }}"},
    {"a member that the loop adds",
     "{% set ns = namespace() %}{% for m in messages %}{% if m.role == 'assistant' %}{% set ns.seen = loop.index %}"
     "{% endif %}[{{ ns.seen }}]{% endfor %}{{ ns.seen }}"},
    {"a scan",
     "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}"
     "{% endif %}{% endfor %}{{ ns.last }}:"
     "{% for m in messages %}[{{ m.content }}{{ m.reasoning_content if loop.index0 > ns.last }}]{% endfor %}"},
    {"a scan backwards",
     "{% set ns = namespace(open=true, last=messages|length - 1) %}{% for m in messages[::-1] %}"
     "{% set index = (messages|length - 1) - loop.index0 %}{% if ns.open and m.role == 'user' %}"
     "{% set ns.open = false %}{% set ns.last = index %}{% endif %}{% endfor %}"
     "{% for m in messages %}[{{ m.content }}{{ m.reasoning_content if loop.index0 > ns.last }}]{% endfor %}"},
    {"bounds of every kind",
     "{% set n = messages|length %}{% set ns = namespace(at=messages|length // 2, far=1000) %}{% for m in messages %}"
     "{{ m.content }}{{ loop.index > n }}{{ loop.index0 == 3 }}{{ n - 1 > loop.index0 }}"
     "{{ loop.index0 < messages|length - 2 }}{{ loop.index != ns.far }}{{ 1 + loop.index0 >= n + 2 }}{% endfor %}"},
    {"a bound in the middle",
     "{% set ns = namespace(at=3) %}{% for m in messages %}{{ m.content }}{{ loop.index0 <= ns.at }}{% endfor %}"},
    {"macros",
     "{% macro text(m, deep=true) %}{{ bos_token if deep }}<{{ other(m.content) }}>{% endmacro %}"
     "{% macro other(x) %}{{ x|upper }}{% for c in x[:2] %}{{ loop.index }}{{ c }}{% endfor %}{% endmacro %}"
     "{% for m in messages %}{{ text(m) }}{{ text(m, deep=false) }}{% endfor %}"},
    {"a macro that assigns",
     "{% set ns = namespace(n=0) %}{% macro count() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}"
     "{% for m in messages %}{{ count() }}[{{ m.content }}]{% endfor %}{{ ns.n }}"},
    {"a namespace as an argument",
     "{% set ns = namespace(n=0) %}{% macro count(x) %}{% set x.n = x.n + 1 %}{% endmacro %}"
     "{% for m in messages %}{{ count(ns) }}{{ ns.n }}[{{ m.content }}]{% endfor %}{{ ns.n }}"},
    {"a block set within", "{% for m in messages %}{% set t %}<{{ m.content }}>{% endset %}{{ t|upper }}{% endfor %}"},
    {"a generation block", "{% for m in messages %}[{% generation %}{{ m.content }}{% endgeneration %}]{% endfor %}"},
    {"a call block",
     "{% macro box() %}<{{ caller() }}>{% endmacro %}{% for m in messages %}{% call box() %}{{ m.content }}{% endcall "
     "%}"
     "{% endfor %}"},
    {"derived text around",
     "{% set head = 'a' ~ bos_token ~ 'b' %}{% for m in messages %}{{ head }}[{{ m|tojson }}]{% endfor %}"},
    {"inner loops",
     "{% for m in messages %}{% for t in tools %}{{ loop.index }}{{ loop.length }}{{ t.name }}{{ loop.last }}{% endfor "
     "%}"
     "{{ m.content }}{% endfor %}"},
    {"a break that comes late",
     "{% for m in messages %}{% if loop.index0 > 20 %}{% break %}{% endif %}{{ m.content }}{% endfor %}"},
    {"continue",
     "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}{{ m.content }}{% endfor %}"},
    {"under a condition",
     "{% if messages[0].role == 'user' %}{% for m in messages %}{{ m.content }}{% endfor %}{% endif %}"},
    {"all that follow, now and then",
     "{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}{% for n in messages[loop.index:] %}{{ n.role[0] "
     "}}"
     "{% endfor %}{% endif %},{% endfor %}"},
    {"all that follow, from within",
     "{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}{% macro f(at) %}{% for n in messages[at:] %}{{ "
     "n.role }}"
     "{% endfor %}{% endmacro %}{{ f(loop.index) }}{% endif %},{% endfor %}"},
    {"variables of the body",
     "{% set c = messages|length ~ '' %}{% for m in messages %}{% set c = m.content %}{% if m.role == 'user' %}"
     "{% set c = c ~ '?' %}{% endif %}{{ c }}{% endfor %}"},
};

constexpr Case kWouldShow[] = {
    {"loop is a target of with",
     "{% set n = messages|length %}{% for m in messages %}{% with loop={'index0': 9} %}"
     "{% if loop.index0 > n %}X{% else %}YY{% endif %}{% endwith %}{% endfor %}"},
    {"loop is a parameter of a call",
     "{% set n = messages|length %}{% macro g() %}{{ caller({'index0': 9}) }}{% endmacro %}{% for m in messages %}"
     "{% call(loop) g() %}{% if loop.index0 > n %}X{% else %}YY{% endif %}{% endcall %}{% endfor %}"},
    {"loop is a macro's parameter",
     "{% set n = messages|length %}{% for m in messages %}{% macro f(loop) %}{% if loop.index0 > n %}X{% else %}YY"
     "{% endif %}{% endmacro %}{{ f({'index0': 9}) }}{% endfor %}"},
    {"loop is a neighbour's number",
     "{% for m in messages %}{% with loop={'index0': -3} %}{{ messages[loop.index0 + 1].role }}{% endwith %}"
     "{{ m.role }}{% endfor %}"},
    {"loop is a variable",
     "{% set loop = messages|length %}{% macro f() %}{{ loop }}{% endmacro %}{% for m in messages %}{{ f() }}"
     "{% endfor %}"},
    {"loop is a macro",
     "{% macro loop() %}{{ messages|length }}{% endmacro %}{% macro f() %}{{ loop() }}{% endmacro %}"
     "{% for m in messages %}{{ f() }}{% endfor %}"},
    {"loop is a namespace",
     "{% set loop = namespace(n=messages|length) %}{% macro f() %}{{ loop.n }}{% endmacro %}{% for m in messages %}"
     "{{ f() }}{{ m.role }}{% endfor %}"},
    {"loop is hidden for a while",
     "{% set loop = {'last': messages[-1].content} %}{% for m in messages %}{% with loop=1 %}{% endwith %}"
     "{{ loop.last }}{% endfor %}"},
    {"loop is hidden in an inner loop",
     "{% set loop = {'n': messages|length} %}{% for m in messages %}{% for t in [1] %}{% with loop=loop %}{{ loop.n }}"
     "{% endwith %}{% endfor %}{{ m.role }}{% endfor %}"},
    {"members in the order in which they came",
     "{% set ns = namespace() %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.a = 1 %}{% endif %}"
     "{% if m.role == 'assistant' %}{% set ns.b = 1 %}{% endif %}{{ m.role[0] }}{% endfor %}{{ ns }}"},
    {"length", "{% for m in messages %}{{ m.content }}{{ loop.length }}{% endfor %}"},
    {"from the end", "{% for m in messages %}{{ m.content }}{{ loop.revindex }}{{ loop.revindex0 }}{% endfor %}"},
    {"how many", "{% for m in messages %}{{ m.content }}{{ messages|length }}{% endfor %}"},
    {"how many, in a variable",
     "{% set n = messages|length %}{% for m in messages %}{{ m.content }}{{ n }}{% endfor %}"},
    {"how many, as a text",
     "{% set n = messages|length ~ '' %}{% for m in messages %}{{ m.content }}{{ n }}{% endfor %}"},
    {"how many, in a namespace",
     "{% set ns = namespace(n=messages|length) %}{% for m in messages %}{{ m.content }}{{ ns.n }}{% endfor %}"},
    {"a bound that is also written",
     "{% set ns = namespace(n=messages|length - 1) %}{% for m in messages %}{{ loop.index0 < ns.n }}"
     "{% if loop.index == 2 %}{% set ns.n = 1 %}{% endif %}{% endfor %}"},
    {"a bound that is also printed",
     "{% set n = messages|length %}{% for m in messages %}{{ loop.index0 < n }}{{ n }}{% endfor %}"},
    {"a bound on another number",
     "{% set n = messages|length %}{% for m in messages %}{{ loop.index0 * 2 < n }}{% endfor %}"},
    {"a bound that is three from the end",
     "{% set n = messages|length %}{% for m in messages %}{{ m.content }}{{ loop.index == n - 2 }}{% endfor %}"},
    {"a bound behind a sum",
     "{% set n = messages|length %}{% for m in messages %}{{ m.content }}{{ loop.index0 + 3 == n }}{% endfor %}"},
    {"a bound in a chain",
     "{% set n = messages|length %}{% for m in messages %}{{ 0 <= loop.index0 * 2 < n }}{{ m.content }}{% endfor %}"},
    {"the last message", "{% for m in messages %}{{ m.content }}{{ messages[-1].content }}{% endfor %}"},
    {"the last message's index",
     "{% for m in messages %}{{ m.content }}{{ messages[messages|length - 1].content }}{% endfor %}"},
    {"the next one", "{% for m in messages %}{{ m.content }}{{ (messages[loop.index0 + 1] or m).role }}{% endfor %}"},
    {"far ahead", "{% for m in messages %}{{ m.content }}{{ (messages[loop.index0 + 5] or m).role }}{% endfor %}"},
    {"a shorter list beside it",
     "{% set rest = messages[2:] %}{% for m in messages %}{{ m.content }}{{ (rest[loop.index0 + 1] or m).role }}"
     "{{ (rest[loop.index0] or m).content }}{% endfor %}"},
    {"all that follow",
     "{% for m in messages %}{{ m.content }}{% for n in messages[loop.index:] %}{{ n.role[0] }}"
     "{% endfor %},{% endfor %}"},
    {"all messages in a macro",
     "{% macro count() %}{{ messages|length }}{% endmacro %}{% for m in messages %}{{ count() }}{% endfor %}"},
    {"all messages in a default",
     "{% macro count(n=messages|length) %}{{ n }}{% endmacro %}{% for m in messages %}{{ count() }}{% endfor %}"},
    {"all messages in a macro's macro",
     "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ messages|length }}{% endmacro %}"
     "{% for m in messages %}{{ a() }}{% endfor %}"},
    {"a macro that reads what the body hides",
     "{% set c = messages|length %}{% macro f() %}{{ c }}{% endmacro %}"
     "{% for m in messages %}{% set c = 1 %}{{ c }}{{ f() }}{% endfor %}"},
    {"a macro that reads what the target hides",
     "{% set m = messages|length %}{% macro f() %}{{ m }}{% endmacro %}{% for m in messages %}{{ f() }}{% endfor %}"},
    {"a macro by another name",
     "{% macro count() %}{{ messages|length }}{% endmacro %}{% set f = count %}{% for m in messages %}{{ f() }}{% "
     "endfor %}"},
    {"a macro in a namespace",
     "{% macro count() %}{{ messages|length }}{% endmacro %}{% set ns = namespace(f=count) %}"
     "{% for m in messages %}{{ ns.f() }}{% endfor %}"},
    {"a macro in a list",
     "{% macro count() %}{{ messages|length }}{% endmacro %}{% set fs = [count] %}"
     "{% for m in messages %}{{ fs[0]() }}{% endfor %}"},
    {"one macro or the other",
     "{% if messages|length % 2 == 0 %}{% macro f() %}even{% endmacro %}{% else %}{% macro f() %}odd{% endmacro %}{% "
     "endif %}"
     "{% for m in messages %}{{ f() }}{{ m.content }}{% endfor %}"},
    {"a macro that sees what is set later",
     "{% macro f() %}{{ n }}{% endmacro %}{% set n = messages|length %}{% for m in messages %}{{ f() }}{% endfor %}"},
    {"cycle", "{% for m in messages %}{{ loop.cycle('a', 'b') }}{{ m.content }}{% endfor %}"},
    {"changed", "{% for m in messages %}{{ loop.changed(m.role) }}{{ m.content }}{% endfor %}"},
    {"a cycler", "{% set c = cycler('a', 'b', 'c') %}{% for m in messages %}{{ c.next() }}{{ m.content }}{% endfor %}"},
    {"a joiner", "{% set j = joiner('|') %}{% for m in messages %}{{ j() }}{{ m.content }}{% endfor %}{{ j() }}"},
    {"a generator",
     "{% set g = messages|map(attribute='role') %}{% for m in messages %}{{ m.content }}{{ g|first }}{% endfor %}"},
    {"chance",
     "{{ 'abcdef'|random }}{% for m in messages %}{{ m.content }}{{ 'abcdef'|random }}{% endfor %}{{ 'ab'|random }}"},
    {"chance in front",
     "{% for m in messages %}{{ 'abcdef'|random if loop.index0 > 3 }}{% endfor %}{{ 'abcdef'|random }}"},
    {"a filter of the loop", "{% for m in messages if m.role != 'tool' %}{{ m.content }}{{ loop.index }}{% endfor %}"},
    {"a filter that looks back",
     "{% for m in messages if messages|length % 2 == 0 %}{{ m.content }}{% else %}odd{% endfor %}"},
    {"else", "{% for m in messages[1:] %}{{ m.content }}{% else %}nothing{% endfor %}"},
    {"recursion",
     "{% for m in messages recursive %}{{ m.content }}{{ loop(m.tool_calls) }}{{ loop.length }}{% endfor %}"},
    {"captured",
     "{% set t %}{% for m in messages %}{{ m.content }}{% endfor %}{% endset %}{{ t|upper }}{{ t|length }}"},
    {"in a filter block", "{% filter upper %}{% for m in messages %}{{ m.content }}{% endfor %}{% endfilter %}"},
    {"in a macro",
     "{% macro all() %}{% for m in messages %}{{ m.content }}{% endfor %}{% endmacro %}{{ all()|upper }}"},
    {"in a generation block", "{% generation %}{% for m in messages %}{{ m.content }}{% endfor %}{% endgeneration %}"},
    {"in a with block",
     "{% with n = messages|length %}{% for m in messages %}{{ m.content }}{{ n }}{% endfor %}{% endwith %}"},
    {"in a block",
     "{% block b %}{% for m in messages %}{{ m.content }}{{ messages|length }}{% endfor %}{% endblock %}"},
    {"a block within",
     "{% for m in messages %}{% block b scoped %}{{ m.content }}{{ loop.index }}{{ messages|length }}{% endblock %}{% "
     "endfor %}"},
    {"backwards", "{% for m in messages|reverse %}{{ m.content }}{% endfor %}"},
    {"sliced backwards", "{% for m in messages[::-1] %}{{ m.content }}{% endfor %}"},
    {"the last three", "{% for m in messages[-3:] %}{{ m.content }}{% endfor %}"},
    {"from the middle", "{% for m in messages[messages|length // 2:] %}{{ m.content }}{% endfor %}"},
    {"some", "{% for m in messages|selectattr('role', 'equalto', 'user') %}{{ m.content }}{% endfor %}"},
    {"sorted", "{% for m in messages|sort(attribute='content') %}{{ m.content }}{% endfor %}"},
    {"pairs", "{% for key, value in messages[-1]|items %}{{ key }}{{ value }}{% endfor %}"},
    {"numbers", "{% for i in range(messages|length) %}{{ messages[i].content }}{{ messages|length }}{% endfor %}"},
    {"a text that the loop makes",
     "{% set ns = namespace(text='') %}{% for m in messages %}{% set ns.text = ns.text ~ m.content %}{{ ns.text|length "
     "}}"
     "{% endfor %}{{ ns.text }}"},
    {"a list that the loop makes",
     "{% set ns = namespace(all=[]) %}{% for m in messages %}{% set ns.all = ns.all + [m.role] %}{{ ns.all|length }}"
     "{% endfor %}{{ ns.all }}"},
    {"one namespace, two names",
     "{% set ns = namespace(n=0) %}{% set other = ns %}{% for m in messages %}{% set other.n = other.n + 1 %}"
     "{{ ns.n }}{{ loop.index0 < ns.n }}{% endfor %}{{ ns.n }}"},
    {"a namespace in a namespace",
     "{% set ns = namespace(n=0) %}{% set outer = namespace(inner=ns) %}{% for m in messages %}{% set x = outer.inner "
     "%}"
     "{% set x.n = x.n + 1 %}{{ x.n }}{% endfor %}{{ ns.n }}"},
    {"a namespace in a list",
     "{% set ns = namespace(n=0) %}{% set all = [ns] %}{% for m in messages %}{% set x = all[0] %}"
     "{% set x.n = x.n + 1 %}{{ x.n }}{% endfor %}{{ ns.n }}"},
    {"a namespace from a macro",
     "{% set ns = namespace(n=0) %}{% macro count(x) %}{% set x.n = x.n + 1 %}{% endmacro %}"
     "{% set pair = (ns, count) %}{% for m in messages %}{{ pair[1](pair[0]) }}{{ ns.n }}{% endfor %}{{ ns.n }}"},
    {"what was counted in front",
     "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}"
     "{% for m in messages %}{{ m.content }}{{ ns.n }}{% endfor %}"},
    {"what was found in front",
     "{% set ns = namespace(last=none) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = m %}{% endif "
     "%}"
     "{% endfor %}{% for m in messages %}{{ m.content }}{{ m == ns.last }}{{ ns.last.content }}{% endfor %}"},
    {"whose text it is",
     "{% set ns = namespace(c='') %}{% for m in messages %}{% set ns.c = m.role %}{% endfor %}{% for m in messages %}"
     "{{ m.content }}{% if m.role == 'nobody' %}{% set ns.c = 'x' %}{% endif %}{% endfor %}{{ ns.c }}"},
    {"a variable that a branch sets",
     "{% set c = messages|length %}{% for m in messages %}{% if m.role == 'user' %}{% set c = 'u' %}{% endif %}{{ c }}"
     "{% endfor %}"},
    {"a variable that the body reads first",
     "{% set c = messages|length %}{% for m in messages %}{{ c }}{% set c = 1 %}{{ c }}{% endfor %}"},
    {"a variable that an inner loop reads",
     "{% set c = messages|length %}{% for m in messages %}{% for t in tools %}{{ c }}{% set c = 1 %}{% endfor %}{% "
     "endfor %}"},
    {"a target that hides a variable",
     "{% set t = messages|length %}{% for m in messages %}{% for t in tools %}{{ t.name }}{% endfor %}{{ t }}{% endfor "
     "%}"},
    {"a parameter that hides a variable",
     "{% set t = messages|length %}{% macro f(t) %}{{ t }}{% endmacro %}{% for m in messages %}{{ f(1) }}{{ t }}{% "
     "endfor %}"},
    {"a macro of the body",
     "{% for m in messages %}{% macro f() %}{{ m.content }}{{ messages|length }}{% endmacro %}{{ f() }}{% endfor %}"},
    {"the loop in a macro of the body",
     "{% for m in messages %}{% macro f() %}{{ loop.length }}{% endmacro %}{{ f() }}{% endfor %}"},
    {"the loop as a value", "{% for m in messages %}{{ loop }}{% endfor %}"},
    {"the loop of an inner loop's list",
     "{% for m in messages %}{% for i in range(loop.length) %}{{ i }}{% endfor %};{% endfor %}"},
    {"the list itself", "{% for m in messages %}{{ messages }}{% endfor %}"},
    {"is it in the list", "{% for m in messages %}{{ messages[loop.index0 + 1:loop.index0 + 2] }}{% endfor %}"},
    {"the loop's variable as a key", "{% for m in messages %}{{ messages[-loop.index].content }}{% endfor %}"},
    {"a condition around",
     "{% if messages|length % 2 == 0 %}{% for m in messages %}{{ m.content }}{% endfor %}{% else %}"
     "{% for m in messages %}{{ m.role }}{% endfor %}{% endif %}"},
    {"whether it is asked for an answer",
     "{% for m in messages %}{{ m.content }}{{ add_generation_prompt }}{% endfor %}"},
    {"autoescape",
     "{% autoescape messages|length % 2 == 0 %}{% for m in messages %}{{ '<' ~ m.content }}{% endfor %}"
     "{% endautoescape %}"},
    {"autoescape within",
     "{% for m in messages %}{% autoescape messages|length % 2 == 0 %}{{ '<' ~ m.content }}{% endautoescape %}{% "
     "endfor %}"},
    {"items of a namespace",
     "{% set ns = namespace(n=messages|length) %}{% for m in messages %}{{ ns['n'] }}{{ ns|attr('n') }}{% endfor %}"},
    {"self", "{% block b %}{{ messages|length }}{% endblock %}{% for m in messages %}{{ self.b() }}{% endfor %}"},
};

TEST(Resume, LeavesOutWhatIsKnown) {
  for (const Case& one : kResume) EXPECT_GT(grow_all(one.source).left_out, 100u) << one.name << "\n" << one.source;
}

TEST(Resume, LeavesOutNothingThatWouldShow) {
  const std::size_t step = testing::is_sparse() ? 4 : 1;
  for (std::size_t i = 0; i < std::size(kWouldShow); i += step) {
    const Case& one = kWouldShow[i];
    SCOPED_TRACE(one.name);
    EXPECT_GT(grow_all(one.source).rendered, 100u) << one.source;
  }
}

}  // namespace
}  // namespace parlance
