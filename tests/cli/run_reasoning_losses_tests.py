#!/usr/bin/env python3
"""What a prompt lacks of reasoning, of wishes to think and of refusals, as the command line tells it.

    run_reasoning_losses_tests.py path/to/parlance

All other losses have run_losses_tests.py.
"""

import json
import sys

import check
from loss_commands import CALL, losses, run, user


def test_what_a_request_says_of_reasoning_is_named_if_nothing_reads_it():
    switch = "{{ messages[0].content }}{{ '<no>' if enable_thinking is defined and not enable_thinking }}"
    for member, path in (({"thinking": False}, "thinking"), ({"thinking": {"type": "more"}}, "thinking"),
                         ({"reasoning": {"max_tokens": 100}}, "reasoning"), ({"reasoning": {"enabled": "false"}}, "reasoning"),
                         ({"chat_template_kwargs": {"thinking": False}}, "chat_template_kwargs.thinking"),
                         ({"chat_template_kwargs": {"reasoning": True}}, "chat_template_kwargs.reasoning")):
        assert losses(switch, {**user("Hi"), **member}) == [("lost", "setting", path)], (member, losses(switch, {**user("Hi"), **member}))
        shown = switch + "{{ thinking }}{{ reasoning }}"
        assert losses(shown, {**user("Hi"), **member}) == [], (member, losses(shown, {**user("Hi"), **member}))
    for name in ("think", "thinking"):
        assert losses(switch, user("Hi"), "--var", f"{name}=false") == [("lost", "setting", name)], losses(switch, user("Hi"), "--var", f"{name}=false")
    for used in ({"think": False}, {"think": "none"}, {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled", "budget_tokens": 9}}, {"thinking": {"type": "adaptive"}}, {"reasoning": {"effort": "none"}}, {"reasoning": {"enabled": False}},
                 {"reasoning": {"summary": "auto"}}, {"reasoning": {}}, {"thinking": None}):
        assert losses(switch, {**user("Hi"), **used}) == [], (used, losses(switch, {**user("Hi"), **used}))


def test_reasoning_that_is_switched_off_is_no_loss_where_nothing_switches_it():
    for off in ({"think": False}, {"thinking": {"type": "disabled"}}, {"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}}):
        for options in ((), ("--syntax", "go")):
            template = "{{ range .Messages }}{{ .Content }}{{ end }}" if options else "{{ messages[0].content }}"
            assert {kind for kind, _, _ in losses(template, {**user("Hi"), **off}, *options)} == {"left out"}, (off, options)
            assert run(template, {**user("Hi"), **off}, *options, "--strict").returncode == 0, (off, options)
    both = losses("{{ messages[0].content }}", {**user("Hi"), "think": True}, "--var", "reasoning_effort=high")
    assert sorted(path for _, _, path in both) == ["reasoning_effort", "think"], both


def test_of_two_efforts_that_contradict_each_other_one_is_named():
    switch = "{{ messages[0].content }}{{ '<no>' if enable_thinking is defined and not enable_thinking }}"
    levels = "{{ messages[0].content }}{{ '<%s>' % reasoning_effort if reasoning_effort in ['low', 'high'] }}"
    for template, asked, lost, end in (
            (levels, {"reasoning_effort": "high", "reasoning": {"effort": "low"}}, "reasoning.effort", "<high>"),
            (levels, {"think": "low", "reasoning_effort": "high"}, "think", "<high>"),
            (levels, {"chat_template_kwargs": {"think": False}, "reasoning": {"effort": "high"}}, "chat_template_kwargs.think", "<high>"),
            (levels, {"reasoning": {"effort": "low"}, "thinking": {"type": "disabled"}}, "thinking.type", "<low>"),
            (switch, {"think": True, "reasoning_effort": "none"}, "think", "<no>"),
            (switch, {"think": False, "reasoning_effort": "high"}, "think", "Hi"),
            (levels, {"think": True, "reasoning_effort": "high"}, None, "<high>"),
            (levels, {"reasoning": {"effort": "high"}, "reasoning_effort": "high"}, None, "<high>")):
        found = losses(template, {**user("Hi"), **asked})
        assert found == ([("lost", "setting", lost)] if lost else []), (asked, found)
        assert run(template, {**user("Hi"), **asked}, "-q").stdout.endswith(end), asked
    done = run(levels, {**user("Hi"), "reasoning_effort": "high", "reasoning": {"effort": "low"}})
    assert done.stderr == "note: reasoning.effort: no effect: reasoning_effort asks for the effort 'high'; give one of them\n", done.stderr
    thinks = "{{ range .Messages }}{{ .Content }}{{ end }}{{ .ThinkLevel }}"
    both = {**user("Hi"), "think": "low", "reasoning_effort": "high"}
    assert losses(thinks, both, "--syntax", "go") == [("lost", "setting", "reasoning_effort")]  # Ollama's own word counts first
    assert run(thinks, both, "--syntax", "go", "-q").stdout.endswith("low")


def test_a_wish_to_think_becomes_the_switch_that_the_template_has():
    for name, default in (("reasoning", "true"), ("thinking_on", "false")):
        switch = "{{ messages[0].content }}{{ '<no>' if not (%s if %s is defined else %s) }}" % (name, name, default)
        assert losses(switch, {**user("Hi"), "think": True}) == [], name
        assert run(switch, {**user("Hi"), "think": True}).stdout == "Hi", name
    assert losses("{{ messages[0].content }}", {**user("Hi"), "think": True}) == [("lost", "setting", "think")]


EITHER = "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}{% if m.content and m.thinking %}{{ raise_exception('one of both') }}{% endif %}" \
         "{% if not messages[loop.index0 + 1:] | selectattr('role', 'eq', 'user') | list %}{{ m.content or m.thinking }}{% endif %}" \
         "{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% else %}{{ m.content }}{% endif %}{% endfor %}"


def test_content_that_joins_the_reasoning_of_a_turn_that_is_over_is_a_loss():
    turn = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "I look.", "reasoning_content": "Why not?", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "22"}]
    now = run(EITHER, {"messages": turn, "bos_token": ""}, "--strict")
    assert now.returncode == 0 and "Why not?\n\nI look." in now.stdout, now
    answered = {"messages": [*turn, {"role": "assistant", "content": "Warm."}], "bos_token": ""}
    by_answers = EITHER.replace("'user'", "'assistant'")
    assert ("lost", "message", "messages[1].content") in losses(by_answers, answered), losses(by_answers, answered)
    over = {"messages": [*turn, {"role": "assistant", "content": "Warm."}, {"role": "user", "content": "Well?"}], "bos_token": ""}
    assert ("lost", "message", "messages[1].content") in losses(EITHER, over), losses(EITHER, over)
    assert run(EITHER, over, "--strict").returncode != 0


def reasoned(api, thoughts, *more):
    """A request of the API: a question, and an answer behind reasoning in these pieces, with the paths of the pieces; one a way to say it."""
    ask, said = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}
    if api == "responses":
        for member, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
            one = {"type": "reasoning", member: [{"type": kind, "text": text} for text in thoughts]}
            yield {"input": [ask, one, said, *more]}, [f"input[1].{member}[{i}].text" for i in range(len(thoughts))]
            each = [{"type": "reasoning", member: [{"type": kind, "text": text}]} for text in thoughts]
            yield {"input": [ask, *each, said, *more]}, [f"input[{i + 1}].{member}[0].text" for i in range(len(thoughts))]
    elif api == "anthropic":
        blocks = [*({"type": "thinking", "thinking": text, "signature": "s"} for text in thoughts), {"type": "text", "text": "A"}]
        yield {"system": "S", "messages": [ask, {"role": "assistant", "content": blocks}, *more]}, [f"messages[1].content[{i}].thinking" for i in range(len(thoughts))]
    elif api == "gemini":
        turns = [{"role": "user" if one["role"] == "user" else "model", "parts": [{"text": one["content"]}]} for one in (ask, *more)]
        parts = [*({"text": text, "thought": True} for text in thoughts), {"text": "A"}]
        yield {"contents": [turns[0], {"role": "model", "parts": parts}, *turns[1:]]}, [f"contents[1].parts[{i}].text" for i in range(len(thoughts))]
    elif api == "chat":
        yield {"messages": [ask, {**said, "reasoning_content": "".join(thoughts)}, *more]}, ["messages[1].reasoning_content"]
        for member, name in (("thinking_blocks", "thinking"), ("reasoning_details", "text")):
            inner = [{"type": "x", name: text} for text in thoughts]
            yield {"messages": [ask, {**said, member: inner}, *more]}, [f"messages[1].{member}[{i}].{name}" for i in range(len(thoughts))]


SHOWS_PARTS = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}" \
              "{% elif p.type == 'thinking' and m.role == 'system' %}{{ p.thinking }}{% endif %}{% endfor %}{% endif %}{% endfor %}"


def test_each_piece_of_reasoning_is_left_out_of_a_turn_that_is_over_and_lost_of_one_that_goes_on():
    later = {"role": "user", "content": "x"}
    for api in ("responses", "anthropic", "gemini", "chat"):
        for thoughts in (["R1"], ["R1", "R2"], ["R1", "R2", "R3"]):
            for options in ((), ("--no-adapt",), ("--pass", "reasoning-part:thinking"), ("--pass", "reasoning-key:thought"), ("--pass", "reasoning-aliases")):
                template = SHOWS_PARTS if "reasoning-part:thinking" in options else "{% for m in messages %}{{ m.content }}{% endfor %}"
                for request, paths in reasoned(api, thoughts, later):
                    found = losses(template, request, *options)
                    assert found == [("left out", "reasoning", path) for path in paths], (request, options, found)
                    assert run(template, request, *options, "--strict").returncode == 0, (request, options)
                for request, paths in reasoned(api, thoughts):
                    found = [one for one in json.loads(run(template, request, *options, "--json").stdout)["losses"] if one["kind"] == "lost"]
                    assert [(one["path"], one.get("hint")) for one in found] == [(path, "the template does not show reasoning here") for path in paths], (request, options, found)
    for api in ("responses", "anthropic", "gemini"):  # whatever name or form the template has for it, it is shown whole
        for shows in ("{{ m.thinking or '' }}", "{{ m.reasoning or '' }}", "{{ m.reasoning_content or '' }}"):
            request = next(reasoned(api, ["R1", "R2"]))[0]
            done = run("{% for m in messages %}" + shows + "{{ m.content }}{% endfor %}", request, "--strict")
            assert (done.returncode, done.stdout[-8:]) == (0, "HiR1\n\nR2A"[-8:]), (request, shows, done)
        parts = SHOWS_PARTS.replace("and m.role == 'system' %}{{ p.thinking }}", "%}<think>{{ p.thinking }}</think>")
        done = run(parts, next(reasoned(api, ["R1", "R2"]))[0], "--strict")
        assert (done.returncode, done.stdout[-22:]) == (0, "<think>R1\n\nR2</think>A"), (api, done)
    for request, paths in reasoned("responses", ["R1", "R2"]):
        first = "{% for m in messages %}{{ (m.reasoning_content or '')[:3] }}{{ m.content }}{% endfor %}"
        assert losses(first, request) == [("lost", "message", paths[1])], losses(first, request)


def test_a_refusal_and_reasoning_of_any_shape_that_has_words_are_named():
    closed = "{% for m in messages %}{{ m.content }}{% endfor %}"
    for value, places in ((["w"], ["[0]"]), ({"note": "w"}, [".note"]), ({"text": "w"}, [".text"]), ([{"note": "w"}], ["[0].note"]), ({"a": {"b": ["w"]}}, [".a.b[0]"]), ("w", [""]),
                          ([["w"]], ["[0][0]"]), ({"note": "w", "text": "v"}, [".note", ".text"]), (5, []), (True, []), (False, []), (0, []), ([], []), ({}, []), ({"n": 5}, []), (None, [])):
        for name in ("refusal", "thinking", "reasoning", "reasoning_content"):
            for over in (True, False):
                request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", name: value}, *([{"role": "user", "content": "x"}] if over else [])]}
                for options in ((), ("--no-adapt",), ("--as-is",)):
                    if name == "refusal" and value == {"n": 5}:
                        continue  # an object with a member says something
                    found = [(kind, path) for kind, _, path in losses(closed, request, *options) if path.startswith("messages[1]")]
                    said = [path for kind, path in found if kind == ("lost" if name == "refusal" or not over else "left out")]
                    if places:
                        assert said == [f"messages[1].{name}{place}" for place in places] == [path for _, path in found], (name, value, over, options, found)
                    else:
                        assert "lost" not in [kind for kind, _ in found], (name, value, over, options, found)
                    printed = closed.replace("{{ m.content }}", "{{ m.content }}{{ m.%s | tojson if m.%s is defined }}" % (name, name))
                    assert not [path for kind, _, path in losses(printed, request, "--as-is") if kind == "lost" and path.startswith("messages[1]")], (name, value)
    for part in ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "w"}]}, {"type": "thinking", "note": "w"}, {"type": "thinking", "thinking": {"note": "w"}}):
        request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [part, {"type": "text", "text": "Yo"}]}]}
        assert [path.startswith("messages[1].content[0].") for kind, _, path in losses(SHOWS_PARTS, request) if kind == "lost"] == [True], (part, losses(SHOWS_PARTS, request))
    hidden = {"type": "reasoning.encrypted", "data": "opaque", "format": "anthropic-claude-v1", "id": "r", "index": 0, "signature": "s"}
    request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "reasoning_details": [hidden]}]}
    assert [one for one in losses(closed, request) if one[0] == "lost"] == []


def test_content_that_joins_reasoning_in_pieces_is_a_loss_of_its_own():
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    request = {"input": [{"role": "user", "content": "Hi"}, {"type": "reasoning", "summary": [{"type": "summary_text", "text": "R1"}, {"type": "summary_text", "text": "R2"}]},
                         {"role": "assistant", "content": "A"}, call, {"type": "function_call_output", "call_id": "c1", "output": "22"}]}
    template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{% endfor %}"
    found = [path for kind, _, path in losses(template, request, "--pass", "join-reasoning:reasoning_content") if kind == "lost"]
    assert found == ["input[1].summary[0].text", "input[1].summary[1].text", "input[2].content"], found


CUTS_THOUGHTS = "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}{% endfor %}"


def test_words_of_an_answer_are_lost_where_the_template_takes_them_for_reasoning():
    middle = CUTS_THOUGHTS.replace("[-1]", "[1]")
    before = "{% for m in messages %}{% if '<think>' in m.content %}{{ m.content[m.content.find('<think>'):] }}{% else %}{{ m.content }}{% endif %}{% endfor %}"
    for template, answer, kind in ((CUTS_THOUGHTS, "The tag </think> ends the reasoning.", "lost"), (CUTS_THOUGHTS, "<think>why</think>so", "left out"),
                                   (CUTS_THOUGHTS, "<think>\nwhy\n</think>\n\nso", "left out"), (CUTS_THOUGHTS, "why\n</think>\n\nso", "left out"), (CUTS_THOUGHTS, "why</think>\nso", "left out"),
                                   (CUTS_THOUGHTS, "Hello <think>why</think>so", "lost"), (CUTS_THOUGHTS, "<think>why</think>so</think>and", "lost"), (CUTS_THOUGHTS, "so it is\nand <think>\nwhy\n</think>\nso", "lost"),
                                   (middle, "<think>why</think>so</think>and", "lost"), (before, "Hello <think>why</think>so", "lost"), (CUTS_THOUGHTS, "<think>why</think>", "left out")):
        request = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": answer}, {"role": "user", "content": "b"}]}
        kinds = {loss[0] for loss in losses(template, request)}
        assert (kind in kinds) and ("lost" in kinds) == (kind == "lost"), (answer, losses(template, request))
        assert run(template, request, "--strict").returncode == (1 if kind == "lost" else 0), answer
    going_on = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>why</think>so", "tool_calls": [CALL]}, {"role": "tool", "content": "22"}]}
    shown = CUTS_THOUGHTS.replace("{% endfor %}", "{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}")
    assert ("lost", "message", "messages[1].content") in losses(shown, going_on), losses(shown, going_on)


def test_a_refusal_that_is_a_part_is_words():
    """By provenance: a template that asks for the first part's type prints otherwise without the part, words or not."""
    request = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot"}]}, {"role": "user", "content": "b"}]}
    first = "{% for m in messages %}{% if m.content[0].type == 'image' %}:{% else %}: {% endif %}{% for p in m.content %}SHOWN{% endfor %}{% endfor %}"
    only_text = "{% if p.type == 'text' %}{{ p.text }}{% elif p.type == 'image' %}<image>{% endif %}"
    assert losses(first.replace("SHOWN", only_text), request) == [("lost", "part", "messages[1].content[0].refusal")]
    assert losses(first.replace("SHOWN", only_text + "{{ p.refusal }}"), request) == []


def test_reasoning_under_two_names_is_said_once_and_only_if_neither_shows():
    request = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "reasoning": "why", "reasoning_content": "why"}]}
    shown = "{% for m in messages %}{{ m.content }}{{ m.reasoning_content }}{% endfor %}"
    assert losses(shown, request) == []
    assert [path for _, _, path in losses("{% for m in messages %}{{ m.content }}{% endfor %}", request)] == ["messages[1].reasoning"]


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of losses of reasoning"))
