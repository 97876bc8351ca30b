#!/usr/bin/env python3
"""Verdicts of templates, and what depends on them: exit codes of `parlance check` and `parlance format`, and the variables of a request
where a command derives how its model replies.

    run_verdict_tests.py path/to/parlance [name...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import check

PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"


def run(command, template, *arguments, stdin=""):
    """Exit code, output and errors of a command with a template; ids that were made up are nobody's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chat.jinja"
        path.write_text(template)
        done = subprocess.run([sys.argv[1], command, "-t", str(path), *arguments], input=stdin, capture_output=True, text=True)
        return done.returncode, done.stdout.replace(folder + "/", ""), done.stderr.replace(folder + "/", "")


# ---- templates that show nothing

NOTHING = {
    "": "the prompt is empty",
    "{{ nope.x }}": "the prompt is empty",
    "Hello": "the prompt does not hold the user's text",
    "{% for m in mesages %}{{ m.role }}: {{ m.content }}{% endfor %}": "did you mean 'messages'?",
    "{% for m in messages %}{{ m.contnt }}{% endfor %}": "the prompt is empty",
    "{% for m in messages %}{{ m.role }}{% endfor %}": "the prompt does not hold the user's text",
    "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}": "the prompt does not hold the answer",
    "{{ messages[0].nope.x }}": "chat.jinja:1:4: undefined: 'dict object' has no attribute 'nope'",
    "one\n{{ raise_exception('never') }}": "chat.jinja:2:4: raised by the template: never",
    "{{ 'x' + 1 }}": "chat.jinja:1:4: wrong type",
}


def test_no_verdict_is_no_success():
    for template, why in NOTHING.items():
        code, out, _ = run("check", template, "--json")
        report = json.loads(out)
        assert code == 1 and report["verdict"] == "none" and report["holds"] is False, (template, code, out)
        assert why in report["missing"][0], (template, report)
        assert all(law["outcome"] in ("untried", "does not apply") for law in report["laws"]), (template, report)
        code, out, _ = run("check", template)
        assert code == 1 and why in out and "untried" in out, (template, out)


def test_a_format_of_nothing_is_no_success():
    for template, why in NOTHING.items():
        for option in ("--json", "--reply-format", "--response-template"):
            code, _, err = run("format", template, option)
            assert code == 1 and why in err.splitlines()[0], (template, option, code, err)
        code, out, err = run("format", template)
        assert code == 1 and why in out and err == "", (template, code, out, err)


def test_a_reply_of_no_known_format_is_text_with_a_note():
    endless = "{% for m in messages %}{{ m.content }}{% endfor %}{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}"
    for template, why, formats in [("{{ raise_exception('no') }}", "raised by the template: no", 1), (endless, "limit of steps", 4)]:
        code, out, err = run("read", template, stdin="hi")
        assert code == 0 and json.loads(out)["message"]["content"] == "hi", (code, out)
        assert err.startswith("note: how this template's model replies is not known: ") and why in err, err
        assert run("format", template)[0] == formats, template


def test_a_law_may_have_nothing_to_say():
    code, out, _ = run("check", PLAIN, "--json")
    report = json.loads(out)
    assert code == 0 and report["holds"] is True, out
    outcomes = {law["law"]: law["outcome"] for law in report["laws"]}
    assert outcomes["masks"] == "does not apply" and outcomes["read-back"] == "holds", outcomes
    tagged = PLAIN.replace("{{ m.content }}", "{% generation %}{{ m.content }}{% endgeneration %}")
    code, out, _ = run("check", tagged.replace("{% for", "{% if messages|length > 5 %}{% endif %}{% for"), "--json")
    assert {law["law"]: law["outcome"] for law in json.loads(out)["laws"]}["masks"] == "broken", out  # the user's text is inside as well


def test_a_partial_format_is_no_success():
    template = PLAIN.replace("<|assistant|>{% endif %}", "<|assistant|><|deep|>{% endif %}")
    code, out, _ = run("check", template, "--json")
    report = json.loads(out)
    assert code == 1 and report["verdict"] == "partial" and report["holds"] is False, out
    assert "<|deep|>" in report["missing"][0], report
    assert run("format", template, "--json")[0] == 0  # it is one to read with


# ---- variables of requests

# Calls are JSON in tags, or Python in a list; prompts open reasoning, or do not; reasoning's marks have another name each time.
STYLES = """
{%- for m in messages -%}
  {{- '<|' ~ m.role ~ '|>' -}}
  {%- if m.reasoning_content and enable_thinking -%}<{{ mark }}>{{ m.reasoning_content }}</{{ mark }}>{%- endif -%}
  {{- m.content or '' -}}
  {%- if m.tool_calls and call_style == 'python' -%}
    [{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %}, {% endif %}{% endfor %}]
  {%- elif m.tool_calls -%}
    {% for c in m.tool_calls %}<call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</call>{% endfor %}
  {%- endif -%}
  {{- '<|end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{% if enable_thinking %}<{{ mark }}>{% endif %}{%- endif -%}
""".replace("{{ mark }}", "{{ mark | default('think') }}")
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
JSON_CALL = '<call>{"name": "look", "arguments": {"at": "tides"}}</call><|end|>'
PYTHON_CALL = 'look(at="tides")'.join("[]") + "<|end|>"
PYTHON = {"call_style": "python"}


def asked(variables, beside=None):
    """A request that sets variables in chat_template_kwargs, and others as members of its own."""
    kwargs = {"chat_template_kwargs": variables} if variables else {}
    return {"messages": [{"role": "user", "content": "Look"}], "tools": [TOOL], **kwargs, **(beside or {})}


def read_with(request, reply, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request, file)
        file.flush()
        code, out, err = run("read", STYLES, "--request", file.name, *options, stdin=reply)
    assert code == 0, (code, err)
    return json.loads(out)["message"]


def calls_in(message):
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls") or []]


def test_a_request_chooses_the_format():
    found = [("look", {"at": "tides"})]
    for request, reply in (
        (asked({}), JSON_CALL),
        (asked(PYTHON), PYTHON_CALL),
        (asked({}, PYTHON), PYTHON_CALL),
        (asked(PYTHON, {"call_style": "json"}), PYTHON_CALL),  # what stands in chat_template_kwargs counts
        (asked({"call_style": "json"}, PYTHON), JSON_CALL),
        (asked({"unknown_to_the_template": 1}), JSON_CALL),
    ):
        message = read_with(request, reply)
        assert calls_in(message) == found and not message.get("content"), (request, reply, message)
    assert calls_in(read_with(asked({}), PYTHON_CALL, "--var", 'call_style="python"')) == found
    assert calls_in(read_with(asked(PYTHON), JSON_CALL, "--var", 'call_style="json"')) == found  # --var replaces the request's


def test_a_request_opens_reasoning():
    for mark in ("think", "ponder"):
        message = read_with(asked({"enable_thinking": True, "mark": mark}), f"so</{mark}>The answer.<|end|>")
        assert (message["reasoning_content"], message["content"]) == ("so", "The answer."), message
    message = read_with(asked({"enable_thinking": False}), "The answer.<|end|>")
    assert message["content"] == "The answer." and not message.get("reasoning_content"), message


def test_a_line_chooses_its_format():
    """More sets of variables than are kept, in any order, on several threads."""
    lines, wanted = [], []
    for i in range(400):
        python = i % 3 == 0
        mark = f"mark{'abcdefghijklmnopqrstuvwxyz'[i % 26]}{'xyz'[i % 3]}{'pq'[i % 2]}"
        variables = {"enable_thinking": True, "mark": mark, **(PYTHON if python else {})}
        call = PYTHON_CALL if python else JSON_CALL
        lines.append(json.dumps({"id": i, "request": asked(variables), "reply": f"so</{mark}>{call}"}))
        wanted.append((i, "so", [("look", {"at": "tides"})]))
    lines.append(json.dumps({"id": 400, "reply": JSON_CALL}))
    wanted.append((400, None, [("look", {"at": "tides"})]))
    for threads in ("1", "4"):
        code, out, err = run("read", STYLES, "--jsonl", "--threads", threads, stdin="\n".join(lines) + "\n")
        assert code == 0, err
        got = [json.loads(line) for line in out.splitlines()]
        seen = [(one["id"], one["message"].get("reasoning_content"), calls_in(one["message"])) for one in got]
        assert seen == wanted, [pair for pair in zip(seen, wanted) if pair[0] != pair[1]][:2]


def test_grammars_are_of_the_requests_format():
    for request, python in ((asked({}), False), (asked(PYTHON), True), ({"tools": [TOOL], "chat_template_kwargs": PYTHON}, True)):
        code, out, err = run("grammar", STYLES, "--syntax", "gbnf", "--tool-choice", "required", "--request", "-", stdin=json.dumps(request))
        assert code == 0 and ('"look("' in out, "<call>" in out) == (python, not python), (request, out, err)


def test_show_format_of_a_request():
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(asked(PYTHON), file)
        file.flush()
        shown = json.loads(run("read", STYLES, "--show-format", "--request", file.name)[1])
    assert shown["calls"][0]["layout"] == "list", shown


# Reasoning shows under its own name alone, and under another one where a variable says so; other names raise.
NAMES = """{%- set name = 'thinking' if style == 'new' else 'reasoning_content' -%}
{%- for m in messages -%}<|{{ m.role }}|>{% if m[name] %}<think>{{ m[name] }}</think>{% endif %}{{ m.content }}<|end|>{%- endfor -%}"""


def test_passes_go_by_the_requests_variables():
    """What a template can show is found with them, line by line."""
    messages = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A", "reasoning": "R"}]
    shown = "<|user|>Q<|end|><|assistant|><think>R</think>A<|end|>"
    requests = [{"messages": messages, "chat_template_kwargs": {"style": style}} for style in ("new", "old", "new", "other")]
    for request in requests:
        assert run("render", NAMES, "--no-generation-prompt", stdin=json.dumps(request))[1] == shown, request
    assert run("render", NAMES, "--no-generation-prompt", "--var", 'style="new"', stdin=json.dumps({"messages": messages}))[1] == shown
    code, out, _ = run("render", NAMES, "--no-generation-prompt", "--jsonl", stdin="".join(json.dumps(one) + "\n" for one in requests))
    assert code == 0 and [json.loads(line)["text"] for line in out.splitlines()] == [shown] * 4, out


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of verdicts"))
