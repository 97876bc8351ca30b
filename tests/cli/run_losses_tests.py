#!/usr/bin/env python3
"""What a prompt lacks, as the command line tells it: notes, --quiet, --verbose, --strict, --fail-on-error, --json.

    run_losses_tests.py path/to/parlance

Parts of content have tests of their own, run_parts_tests.py, settings, run_settings_tests.py, and reasoning,
run_reasoning_losses_tests.py.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import check
from loss_commands import BINARY, CALL, LOOP, ONLY_TEXT, PARTS, losses, run, user


def test_a_note_names_what_the_request_has():
    done = run(ONLY_TEXT, {**user("Hi"), "bos_token": "", "think": True})
    assert done.stderr == "note: think: no effect: the template does not read it\n", done.stderr


def test_what_stands_beside_a_function_or_under_another_name_is_named():
    pieces = "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{{ t.function.description }}" \
             "{% for p in (t.function.parameters or {}).properties or {} %}{{ p }}{% endfor %}{% endfor %}"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    beside = {"type": "function", "function": {"name": "f"}, "description": "d", "parameters": schema}
    assert [path for _, _, path in losses(pieces, {**user("Hi"), "tools": [beside]})] == ["tools[0].description", "tools[0].parameters"]
    text = {"type": "function", "function": {"name": "f", "description": "d", "parameters": json.dumps(schema)}}
    assert [path for _, _, path in losses(pieces, {**user("Hi"), "tools": [text]})] == ["tools[0].function.parameters"]
    calls = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}{% endfor %}"
    for call, path in (({"id": "1", "name": "f", "args": {"city": "Oslo"}}, "args"), ({"function": {"name": "f", "parameters": {"city": "Oslo"}}}, "parameters")):
        found = losses(calls, {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [call]}]})
        lost = [place for kind, _, place in found if kind == "lost"]
        assert len(lost) == 1 and f".{path}" in lost[0], found
    bare = {"id": "1", "index": 0, "type": "function", "function": {"name": "f"}}
    found = losses(calls, {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [bare]}]})
    assert [kind for kind, _, _ in found] == ["left out"], found


def test_results_in_another_order_than_their_calls_are_named():
    calls = [{**CALL, "id": id} for id in ("c1", "c2")]
    results = [{"role": "tool", "tool_call_id": id, "content": f"of {id}"} for id in ("c2", "c1")]
    request = {"messages": [*LOOP["messages"][:1], {**LOOP["messages"][1], "tool_calls": calls}, *results]}
    template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function }}{% endfor %};{% endfor %}"
    done = run(template, request)
    assert done.stderr.startswith("note: messages[2]: stands in front of messages[3], the result of an earlier call"), done.stderr
    assert done.stdout.endswith("of c2;of c1;"), done.stdout
    assert "--pass order-results" in done.stderr and run(template, request, "--strict").returncode == 1
    done = run(template, request, "--strict", "--pass", "order-results")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("of c1;of c2;"), done
    assert not run(template.replace("m.content", "m.tool_call_id ~ m.content"), request).stderr


def test_strict_counts_what_is_lost_and_not_what_is_said():
    done = run(ONLY_TEXT, {"messages": [{"role": "user", "content": "hi", "attachments": ["x"]}] * 35}, "--strict", "--var", "bos_token=b")
    assert "35 things, the first of them in the notes above; --strict makes them an error" in done.stderr, done.stderr[-300:]


def test_a_text_of_the_system_in_a_list_alone_is_not_bedrocks():
    request = {"system": [{"text": "be nice"}], "messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}
    assert "Bedrock" not in run(ONLY_TEXT, request).stderr
    request["messages"] = [{"role": "user", "content": [{"text": "hi"}]}]
    assert "Bedrock" in run(ONLY_TEXT, request).stderr


def test_what_a_go_template_does_not_see_is_named():
    go = ("--syntax", "go")
    chat = "{{ range .Messages }}{{ .Content }}{{ end }}"
    beside = {**user("Hi"), "prompt": "p", "images": ["aGk="], "reasoning_effort": "low"}
    assert [path for _, _, path in losses(chat, beside, *go)] == ["prompt", "images", "reasoning_effort"], losses(chat, beside, *go)
    assert losses(chat, user("Hi"), *go, "--var", "system=s") == [("lost", "setting", "system")]
    assert losses(chat, {**user("Hi"), "think": True}, *go) == [("lost", "setting", "think")]
    thinks = "{{ range .Messages }}{{ .Content }}{{ end }}{{ if .Think }}{{ .ThinkLevel }}{{ end }}"
    assert losses(thinks, {**user("Hi"), "think": True}, *go) == losses(thinks, {**user("Hi"), "reasoning_effort": "low"}, *go) == []
    gap = {**user("Hi"), "prompt": "p", "suffix": "s"}
    assert [path for _, _, path in losses("{{ .Suffix }}{{ .Prompt }}" + chat, gap, *go)] == ["messages[0].content"]
    assert run(chat, gap, *go).returncode == 3  # Ollama's rule


def test_parameters_under_another_name_are_a_loss():
    pieces = "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{{ t.function.description }}" \
             "{% for p, s in t.function.parameters.properties.items() %}{{ p }}{{ s.type }}{% endfor %}{% endfor %}"
    whole = "{{ messages[0].content }}{% for t in tools %}{{ t | tojson }}{% endfor %}"
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for member, hint in (("inputSchema", "chat templates read 'parameters'"), ("parameter", "did you mean 'parameters'?"), ("said", "chat templates read 'parameters'")):
        request = {**user("Hi"), "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", member: schema}}]}
        loose = pieces.replace("t.function.parameters.properties.items()", "((t.function.parameters or {}).properties or {}).items()")
        done = run(loose, request, "--no-adapt")
        assert done.stderr == f"note: tools[0].function.{member}: not in the prompt; {hint}\n", done.stderr
        assert losses(whole, request) == []
    more = {**schema, "$defs": {"x": {"type": "string"}}}
    request = {**user("Hi"), "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": more, "returns": {"type": "string"}}}]}
    assert losses(pieces, request) == [("left out", "detail", f"tools[0].function.{path}") for path in ('parameters["$defs"]', "returns")], losses(pieces, request)


def test_of_a_custom_tool_only_the_grammars_language_is_missing():
    whole = "{{ messages[0].content }}{% for t in tools %}{{ t | tojson }}{% endfor %}"
    def custom(**more):
        return {**user("Hi"), "tools": [{"type": "custom", "custom": {"name": "look", "description": "Looks.", **more}}]}
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a/"}}
    assert losses(whole, custom(format=grammar)) == [("lost", "tool", "tools[0].custom.format.grammar.syntax")]
    regex = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}}
    assert losses(whole, custom(format=regex)) == losses(whole, custom()) == losses(whole, custom(format={"type": "text"})) == []


def test_old_functions_that_are_no_list_and_a_choice_that_is_none_are_named():
    """With an old call in the history, which alone is converted, and without."""
    shown = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{% endfor %}{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    question, called = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "function_call": {"name": "look", "arguments": "{}"}}
    look = {"name": "look", "description": "Looks"}
    for history in ([question], [question, called]):
        for functions in (look, "look", 5, {"look": look}):
            for choice in ({"name": "look"}, ["look"], "look", 5):
                found = [path for kind, _, path in losses(shown, {"messages": history, "functions": functions, "function_call": choice}) if kind == "lost"]
                assert found == ["functions", "function_call"], (history, functions, choice, found)
            tools = {"tools": [{"type": "function", "function": look}]}
            assert ("lost", "setting", "functions") in losses(shown, {"messages": history, "functions": functions, **tools})
        for choice, path in ((["look"], "function_call"), (5, "function_call"), ({"name": "look", "more": "word"}, "function_call.more")):
            found = [place for kind, _, place in losses(shown + "{{ (tool_choice or '') | tojson }}", {"messages": history, "functions": [look], "function_call": choice}) if kind == "lost"]
            assert found == [path], (history, choice, found)
        for choice in ({"name": "look"}, "none", "auto", None):
            assert [one for one in losses(shown + "{{ (tool_choice or '') | tojson }}", {"messages": history, "functions": [look], "function_call": choice}) if one[0] == "lost"] == [], choice


def custom_in(form, inner, beside=None):
    """A request with a custom tool as chats have it, wrapped or flat, or Responses; and the tool's path."""
    tool = {"type": "custom", "custom": inner, **(beside or {})} if form == "wrapped" else {"type": "custom", **inner}
    return {**({"input": "Hi"} if form == "responses" else user("Hi")), "tools": [tool]}, "tools[0].custom" if form == "wrapped" else "tools[0]"


def test_what_else_a_custom_tool_says_is_as_of_a_function():
    """Shown where a function's is shown, left out where that is; of Responses it is not converted, as a function's is not."""
    whole = "{{ messages[0].content }}{% for t in tools %}{{ t | tojson }}{% endfor %}"
    names = "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{{ t.function.parameters.properties | tojson }}{% endfor %}"
    for member, value in (("usage", "only SQL please"), ("desciption", "Runs."), ("strict_", {"a": ["b"]}), ("examples", ["word"])):
        for form in ("wrapped", "flat"):
            request, place = custom_in(form, {"name": "run", member: value})
            function = {**user("Hi"), "tools": [{"type": "function", "function": {"name": "run", "parameters": {"type": "object", "properties": {"input": {"type": "string"}}}, member: value}}]}
            assert losses(whole, request) == [] and json.dumps(value) in run(whole, request).stdout, (member, form, losses(whole, request))
            as_function = [(*what, path.replace("tools[0].function", place)) for *what, path in losses(names, function) if path.endswith(member)]
            assert losses(names, request) == as_function, (member, form, losses(names, request), as_function)
        request, place = custom_in("responses", {"name": "run", member: value})
        for template in (whole, names):
            assert losses(template, request) == [("lost", "tool", f"{place}.{member}")], (member, losses(template, request))
            function = {"input": "Hi", "tools": [{"type": "function", "name": "run", "parameters": {"type": "object", "properties": {}}, member: value}]}
            assert ("lost", "tool", f"{place}.{member}") in losses(template, function)
    request, _ = custom_in("wrapped", {"name": "run"}, {"beside": "word"})
    assert losses(whole, request) == [] and '"beside": "word"' in run(whole, request).stdout, run(whole, request)
    for form in ("wrapped", "flat", "responses"):
        for more, path in (({"format": {"type": "grammar", "syntax": "regex", "definition": "a+", "note": "word"}}, "format.note"), ({"format": {"type": "text", "note": "word"}}, "format.note"),
                           ({"format": {"type": "grammr", "definition": "word"}}, "format.definition"), ({"format": "word"}, "format"),
                           ({"format": {"type": "grammar", "syntax": "regex", "definition": ["word"]}}, "format.definition"),
                           ({"format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+", "note": "word"}}}, "format.grammar.note"),
                           ({"format": {"type": "grammar", "note": "word", "grammar": {"syntax": "regex", "definition": "a+"}}}, "format.note"), ({"parameters": {"a": "word"}}, "parameters")):
            request, place = custom_in(form, {"name": "run", **more})
            lost = [where for kind, _, where in losses(whole, request) if kind == "lost"]
            assert lost and all(where.startswith((f"{place}.{path}", f"{place}.format.syntax")) for where in lost), (form, more, lost)


def test_a_custom_tool_without_a_name_is_as_a_function_without_one():
    """Nothing is made of it: what it says is in the prompt or named. Another API's request is refused, or names it."""
    whole = "{{ messages[0].content }}{% for t in tools %}{{ t | tojson }}{% endfor %}"
    names = "{{ messages[0].content }}{% for t in tools %}{{ (t.function or {}).name }}{% endfor %}"
    for tool in ({"type": "custom", "custom": "run"}, {"type": "custom", "custom": {"nam": "run"}}, {"type": "custom", "nam": "run"}, {"type": "custom", "custom": {"name": 5}},
                 {"type": "custom", "custom": {"description": "run"}}):
        request = {**user("Hi"), "tools": [tool]}
        assert run(whole, request, "--no-adapt").stdout == "Hi" + json.dumps(tool), (tool, run(whole, request).stdout)
        assert losses(whole, request) == [], (tool, losses(whole, request))
        assert [path for kind, _, path in losses(names, request) if kind == "lost"] == ["tools[0]"], (tool, losses(names, request))
        done = run(whole, {"input": "Hi", "tools": [tool]})
        assert done.returncode == 3 and "`name` is missing" in done.stderr and "input: tools[0]\n" in done.stderr, (tool, done)


def test_a_member_of_a_message_that_is_misspelt_is_a_loss():
    for member, hint in (("contnt", "did you mean 'content'?"), ("text", "chat templates read 'content'"), ("parts", "chat templates read 'content'")):
        done = run(ONLY_TEXT, {"messages": [{"role": "user", member: [{"text": "How warm?"}] if member == "parts" else "How warm?"}], "bos_token": ""})
        assert done.stderr == f"note: messages[0].{member}: not in the prompt; {hint}\n", done.stderr
    done = run(ONLY_TEXT, {"messages": [{"role": "assistant", "content": "a", "tool_call": [CALL]}], "bos_token": ""})
    assert done.stderr == "note: messages[0].tool_call: not in the prompt; did you mean 'tool_calls'?\n", done.stderr


def test_a_loss_beside_an_empty_list_of_calls_has_a_hint():
    asks = "{% for m in messages %}{% if m.tool_calls is defined %}{% for c in m.tool_calls %}{{ c.function.name }}{% endfor %}{% else %}{{ m.content }}{% endif %}{% endfor %}"
    request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho", "tool_calls": []}, {"role": "user", "content": "Hu"}]}
    done = run(asks, request)
    assert done.stderr == "note: messages[1].content: not in the prompt; tool_calls is an empty list: leave it out where there are no calls\n", done.stderr
    del request["messages"][1]["tool_calls"]
    assert losses(asks, request) == []


def test_an_empty_list_of_messages_has_a_note():
    empty = {"messages": [], "bos_token": ""}
    assert run(ONLY_TEXT, empty).stderr == "note: messages: empty, so the prompt has no message\n"
    assert run("no chat", empty).stderr.count("messages: empty") == 0
    assert run(ONLY_TEXT, empty, "--quiet").stderr == "" and run(ONLY_TEXT, empty, "--strict").returncode == 0


GENERATE = {"prompt": "PPP", "suffix": "SSS"}


def generate(template, request, syntax):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"t.{syntax}"
        path.write_text(template)
        return subprocess.run([BINARY, "render", "-t", path, "--strict"], input=json.dumps(request), capture_output=True, text=True)


def test_a_gap_is_filled_by_templates_that_read_the_suffix_alone():
    for chat in ("<{{ .Prompt }}>", "{{ range .Messages }}{{ .Content }}{{ end }}"):
        done = generate(chat, GENERATE, "gotmpl")
        assert done.returncode == 3 and "input: suffix" in done.stderr and ".Suffix" in done.stderr, done
    done = generate("{{ if .Suffix }}<{{ .Prompt }}|{{ .Suffix }}>{{ end }}{{ .Response }}", GENERATE, "gotmpl")
    assert (done.returncode, done.stdout) == (0, "<PPP|SSS>"), done
    done = generate("{{ messages[0].content }}", GENERATE, "jinja")
    assert done.returncode == 3 and "input: suffix" in done.stderr and "fill no gaps" in done.stderr, done
    done = run("{% for m in messages %}{{ m.content }}{% endfor %}", GENERATE)
    assert "prompt: no effect" in done.stderr and "suffix: no effect" in done.stderr, done


def test_images_beside_a_prompt_are_parts_where_templates_show_these():
    request = {"prompt": "PPP", "images": ["iVBORw0KGgo="]}
    shows = PARTS.replace("{% else %}<img>", "{% elif p.type == 'image' %}<img>")
    done = generate(shows, request, "jinja")
    assert (done.returncode, done.stdout) == (0, "<img>PPP"), done
    done = generate(ONLY_TEXT, {**request, "bos_token": ""}, "jinja")
    assert done.returncode == 3 and "no place for an image" in done.stderr, done


def test_a_member_of_a_message_that_templates_do_not_know_is_left_out():
    request = {"messages": [{"role": "user", "content": "a", "citations": ["x"], "prefix": True}], "bos_token": ""}
    assert losses(ONLY_TEXT, request) == [("left out", "message", "messages[0].citations"), ("left out", "message", "messages[0].prefix")]
    assert run(ONLY_TEXT, request).stderr == ""
    shown = "{% for m in messages %}{{ m.content }}{{ m.citations[0] }}{% endfor %}"
    assert losses(shown, {"messages": [{"role": "user", "content": "a", "citations": ["x"]}]}) == []


def test_a_member_with_words_that_nobody_reads_is_a_loss_unless_it_is_bookkeeping():
    for name, value in (("attachments", ["a.pdf"]), ("image_url", "b.png"), ("note", "n"), ("parts", [{"text": "b"}]), ("tool_result", "22"), ("functionCall", {"name": "f"}),
                        ("experimental_attachments", [{"name": "a"}]), ("audio_url", {"url": "x"}), ("answer", {"degrees": 22})):
        request = {"messages": [{"role": "user", "content": "How warm is it?", name: value}], "bos_token": ""}
        for more in ({}, {"functions": [{"name": "f", "description": "d", "parameters": {}}]}):
            found = [loss for loss in losses(ONLY_TEXT + "{{ tools | tojson }}", {**request, **more}) if loss[0] == "lost"]
            assert found[:1] == [("lost", "message", f"messages[0].{name}")] and "functions" not in found[0][2], (name, more, found)
    for name, value in (("refusal", None), ("annotations", []), ("audio", None), ("function_call", None), ("id", "m1"), ("created_at", "today"), ("cache_control", {"type": "ephemeral"}),
                        ("usage", {"total_tokens": 9}), ("weight", 0), ("name", "ann"), ("parts", [{"type": "text", "text": "a"}]), ("annotations", [{"url": "x"}]), ("trained", True)):
        done = run(ONLY_TEXT, {"messages": [{"role": "assistant", "content": "a", name: value}], "bos_token": ""}, "--strict")
        assert (done.returncode, done.stderr) == (0, ""), (name, done.stderr)


def test_a_member_that_the_template_knows_is_lost_if_the_prompt_is_the_same_without_it():
    knows = "{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}{{ m.note }}{% endif %}{% endfor %}"
    asks = "{% for m in messages %}{{ m.content }}{% if m.note %}!{% endif %}{% endfor %}"
    request = {"messages": [{"role": "user", "content": "a", "note": "b"}]}
    assert losses(knows, request) == [("lost", "message", "messages[0].note")], losses(knows, request)
    assert losses(asks, request) == [], losses(asks, request)
    part = user([{"type": "text", "text": "a", "note": "b"}])
    knows = PARTS.replace("<img>", "{{ p.note }}")
    assert losses(knows, part) == [("lost", "part", "messages[0].content[0].note")], losses(knows, part)


def test_what_stands_beside_the_members_of_a_call_is_a_loss():
    shown = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}{% endfor %}"
    def history(call):
        return {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [call]}]}
    place = "messages[1].tool_calls[0]"
    for call, path in (({"type": "function", "function": {"name": "f", "arguments": {"a": "b"}}, "result": "22"}, f"{place}.result"),
                       ({"type": "function", "function": {"name": "f", "arguments": {"a": "b"}, "result": {"n": 22}}}, f"{place}.function.result"),
                       ({"type": "function", "function": {"arguments": {"a": "b"}}, "name": "f"}, f"{place}.name"),
                       ({"type": "function", "function": {"name": "f"}, "arguments": {"a": "b"}}, f"{place}.arguments"),
                       ({"name": "f", "arguments": {"a": "b"}, "output": "22"}, f"{place}.output"),
                       ({"type": "custom", "custom": {"name": "f", "input": "b", "more": "c"}}, f"{place}.custom.more")):
        found = [loss for loss in losses(shown, history(call)) if loss[0] == "lost"]
        assert found == [("lost", "call", path)], (call, found)
    for more in ({"index": 0}, {"id": "c1"}, {"name": "f"}, {"extra_content": {"google": {"thought_signature": "x"}}}, {"caller": {"type": "direct"}}):
        done = run(shown, history({"type": "function", "function": {"name": "f", "arguments": {"a": "b"}}, **more}), "--strict")
        assert (done.returncode, done.stderr) == (0, ""), (more, done.stderr)
    old = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}", "result": "22"}}]}
    assert [path for kind, _, path in losses(shown, old) if kind == "lost"] == ["messages[1].function_call.result"], losses(shown, old)
    line = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": json.dumps({"name": "f", "arguments": {}, "result": "22"})}]}
    assert [path for kind, _, path in losses(shown, line) if kind == "lost"] == ["conversations[1].value"], losses(shown, line)
    assert "result" in run(shown, line).stderr, run(shown, line).stderr


def test_arguments_that_are_a_text_have_a_path_each():
    def history(**arguments):
        return {"messages": [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": json.dumps(arguments)}}]}]}
    head = "{% for m in messages %}{% for t in m.tool_calls %}{{ t.function.name }}"
    some = head + "{% for k, v in t.function.arguments.items() if v %}{{ k }}={{ v }}{% endfor %}{% endfor %}{% endfor %}"
    values = head + "{% for v in t.function.arguments.values() %}{{ v }}{% endfor %}{% endfor %}{% endfor %}"
    where = "messages[0].tool_calls[0].function.arguments"
    for empty in (False, None, 0, "", [], {}):
        assert losses(some, history(keep=1, gone=empty)) == [("lost", "argument", f"{where}.gone")], (empty, losses(some, history(keep=1, gone=empty)))
    assert losses(values, history(keep=1, no=False, none=None, zero=0)) == [], losses(values, history(keep=1, no=False, none=None, zero=0))
    line = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": json.dumps({"name": "f", "arguments": {"keep": 1, "gone": False}})}]}
    assert losses(some.replace("m.tool_calls", "m.tool_calls or []") + "{{ messages[0].content }}", line) == [("lost", "argument", "conversations[1].value")]
    first = head + "{{ t.function.arguments.a }}{% endfor %}{% endfor %}"
    assert losses(first, history(a="x", b="y \"z\"", c={"d": ["e", 5]})) == [("lost", "argument", f"{where}.b"), ("lost", "argument", f"{where}.c")], losses(first, history(a="x", b="y", c={"d": ["e", 5]}))


def test_what_is_made_of_a_text_and_cut_is_a_loss():
    documents = {**user("How warm is it in Lima?"), "documents": [{"title": "Weather", "text": "It is 22 degrees in Lima."}]}
    template = "{% for d in documents %}CUT{% endfor %}{{ messages[0].content }}"
    for cut in ("{{ (d | tojson)[:30] }}", "{{ d.title }}{{ (d.text | upper)[:12] }}", "{{ d.title }}{{ d.text[:12] | upper }}", "{{ d.title }}{{ d.text | e | truncate(14) }}",
                "{{ d.title }}{{ (d.text | lower).split('degrees')[0] }}", "{{ d.title }}{{ d.text[:12] | tojson }}", "{{ d.title }}{{ (d.text | upper).replace('DEG', '') }}"):
        assert losses(template.replace("CUT", cut), documents) == [("lost", "document", "documents[0].text")], (cut, losses(template.replace("CUT", cut), documents))
    for whole in ("{{ d | tojson }}", "{{ d.title }}{{ d.text | upper }}", "{{ d.title | title }}{{ d.text | e | urlize }}", "{{ (d | tojson)[:12] }}{{ (d | tojson)[12:] }}",
                  "{{ d.title }}{% for c in d.text | upper %}{{ c }}{% endfor %}"):
        assert losses(template.replace("CUT", whole), documents) == [], (whole, losses(template.replace("CUT", whole), documents))
    in_words = {**user("a"), "documents": [{"title": "Weiß & Grün", "text": "日本 \"zu\" <b>\n\\n Straße \U0001F600"}]}
    for whole in ("{{ d | tojson }}", "{{ d.title | upper }}{{ d.text | upper }}", "{{ d.title | e }}{{ d.text | e }}", "{{ d.title | tojson(ensure_ascii=true) }}{{ d.text | tojson(ensure_ascii=true) }}"):
        assert losses(template.replace("CUT", whole), in_words) == [], (whole, losses(template.replace("CUT", whole), in_words))


def test_a_request_under_a_name_that_no_template_reads_is_a_loss():
    for name in ("msgs", "conversation", "chat", "turns", "dialog"):
        done = run(ONLY_TEXT, {name: [{"role": "user", "content": "hello"}], "bos_token": ""}, "--as-is", "--strict")
        assert done.returncode == 1 and done.stderr.startswith(f"note: {name}: no effect: the template does not read it; chat templates read 'messages'\n"), (name, done.stderr)
    line = run(ONLY_TEXT, {"custom_id": "1", "method": "POST", "url": "/v1", "body": user("hello"), "bos_token": ""}, "--as-is")
    assert line.stderr == "note: body: no effect: the template does not read it; the request is what stands in it: give that alone\n", line.stderr
    lines = run(ONLY_TEXT, [{"chat": user("hello")["messages"], "bos_token": ""}], "--as-is", "--jsonl", lines=True)
    assert "1 of 1 lines have something that is not in the prompt" in lines.stderr, lines.stderr
    for name in ("tools", "documents"):
        for value in ("a text", {"name": "f", "text": "t"}):
            found = losses(ONLY_TEXT, {**user("Hi"), name: value, "bos_token": ""}, "--as-is")
            assert [(kind, path) for kind, _, path in found] == [("lost", name)], found
    # a template that is no chat's reads what it wants
    assert run("Dear {{ name }}", {"name": "Ada", "city": "London"}, "--as-is").stderr == ""


def test_two_letters_swapped_and_capitals_are_slips():
    for template, request, path in (("Dear {{ nmae }}", {"name": "Ada"}, "nmae"), ("Dear {{ name }}", {"nmae": "Ada"}, "name"), ("Dear {{ user.nmae }}", {"user": {"name": "Ada"}}, "user.nmae"),
                                    ("Dear {{ usre.name }}", {"user": {"name": "Ada"}}, "usre"), ("Dear {{ Name }}", {"name": "Ada"}, "Name"), ("Dear {{ name }}", {"NAME": "Ada"}, "name")):
        done = run(template, request, "--as-is", "--json")
        found = [one["path"] for one in json.loads(done.stdout)["losses"]] if done.returncode == 0 else [path]
        assert path in found, (template, done)
    thinks = "{{ messages[0].content }}{{ enable_thinking }}"
    assert ("lost", "setting", "ENABLE_THINKING") in losses(thinks, {**user("Hi"), "ENABLE_THINKING": True}), losses(thinks, {**user("Hi"), "ENABLE_THINKING": True})
    assert ("lost", "setting", "MESSAGES") in losses(thinks, {**user("Hi"), "MESSAGES": user("b")["messages"]})


def test_a_wish_to_go_on_with_the_last_message_is_a_setting():
    closed = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    for name in ("prefix", "partial"):
        for value in ("true", "True", "1", "yes", 1, 1.0, True):
            request = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", name: value}]}
            assert losses(closed, request) == [("lost", "setting", f"messages[1].{name}")], (value, losses(closed, request))
            assert "; continue_final_message in the request leaves it open\n" in run(closed, request).stderr, run(closed, request).stderr
        for value in ("false", "no", "0", 0, False, None):
            none = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", name: value}]}
            assert losses(closed, none) == [], (value, losses(closed, none))
        assert [one for one in losses(closed, {**request, "continue_final_message": True}) if one[0] == "lost"] == []
        as_is = losses(closed, {**request, "continue_final_message": True}, "--as-is")  # which goes on with none
        assert ("lost", "setting", f"messages[1].{name}") in as_is, as_is
        assert [one for one in losses(closed.replace("<end>", "{{ '<end>' if not m." + name + " }}"), request) if one[0] == "lost"] == []
        request["messages"].append({"role": "user", "content": "c"})
        assert [one for one in losses(closed, request) if one[0] == "lost"] == []


def test_parameters_of_objects_within_and_of_definitions_are_a_loss():
    names = "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{% for p, s in t.function.parameters.properties.items() %}{{ p }}: {{ s.type }}{% endfor %}{% endfor %}"
    item = {"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}}
    def request(parameter, **more):
        return {**user("Hi"), "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"order": parameter}, **more}}}]}
    base = "tools[0].function.parameters"
    for one, path in ((request({"$ref": "#/$defs/Item"}, **{"$defs": {"Item": item}}), f'{base}["$defs"].Item'), (request(item), f"{base}.properties.order"),
                      (request({"type": "array", "items": item}), f"{base}.properties.order.items"), (request({"anyOf": [item, {"type": "null"}]}), f"{base}.properties.order.anyOf[0]")):
        found = [loss for loss in losses(names, one) if loss[0] == "lost"]
        assert found == [("lost", "tool", path)], (path, found)
        assert losses("{{ messages[0].content }}{{ tools | tojson }}", one) == []
    # what says more of the same object names its parameters once more
    for name in ("anyOf", "oneOf", "allOf"):
        branch = {"properties": {"order": {"const": "a"}}, "required": ["order"]}
        assert [loss for loss in losses(names, request({"type": "string"}, **{name: [branch, {"if": branch, "then": branch, "allOf": [branch]}]})) if loss[0] == "lost"] == [], name
        more = {"properties": {"order": {"type": "string"}, "note": {"type": "string"}}}
        found = [loss for loss in losses(names, request({"type": "string"}, **{name: [branch, more]})) if loss[0] == "lost"]
        assert found == [("lost", "tool", f"{base}.{name}[1].properties.note")], found
        found = [loss for loss in losses(names, request({"type": "object", name: [{"properties": {"order": {"type": "string"}}}]})) if loss[0] == "lost"]
        assert found == [("lost", "tool", f"{base}.properties.order.{name}[0].properties.order")], found  # another object's


def test_content_under_another_name_is_a_loss():
    for member in ("image_url", "documents", "tool_responses", "audio", "video", "files", "attachments"):
        request = {"messages": [{"role": "user", "content": "a", member: [{"x": "y"}]}], "bos_token": ""}
        assert losses(ONLY_TEXT, request) == [("lost", "message", f"messages[0].{member}")], losses(ONLY_TEXT, request)
        reads = ONLY_TEXT.replace("{% endfor %}", "{% if m." + member + " %}<it>{% endif %}{% endfor %}")
        assert [loss for loss in losses(reads, request) if loss[0] == "lost"] == [], losses(reads, request)
    for member in ("history", "context"):
        assert ("lost", "setting", member) in losses(ONLY_TEXT, {**user("a"), member: ["b"]})
    gemini = {"contents": [{"parts": [{"text": "a"}]}], "systemInstructions": {"parts": [{"text": "b"}]}}
    assert ("lost", "setting", "systemInstructions") in losses(ONLY_TEXT, gemini), losses(ONLY_TEXT, gemini)


def test_what_servers_call_otherwise_is_a_loss():
    template = "{% for m in messages %}{{ m.content }}{% endfor %}{% if tools %}{{ tools }}{% endif %}"
    for name, value, hint in (("tool", [CALL], "did you mean 'tools'?"), ("Tools", [CALL], "did you mean 'tools'?"),
                              ("toolChoice", "none", "did you mean 'tool_choice'?"), ("responseFormat", {"type": "json_object"}, "did you mean 'response_format'?"),
                              ("format", "json", "parlance grammar --request makes the model obey it"), ("guided_json", {}, "parlance grammar --request makes the model obey it"),
                              ("system_prompt", "Be brief.", "chat templates take the system's text as a message"), ("extra_body", {"a": 1}, "a client puts its members into the request itself")):
        done = run(template, {**user("Hi"), name: value})
        assert done.stderr == f"note: {name}: no effect: the template does not read it; {hint}\n", (name, done.stderr)
    done = run(template, {"prompt": "One", "suffix": "Two"})
    assert "note: prompt: no effect" in done.stderr and "note: suffix: no effect" in done.stderr, done.stderr


def test_a_slip_beside_the_right_name_is_a_loss():
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    whole = {**user("Hi"), "tools": [], "documents": [], "reasoning_effort": None, "chat_template_kwargs": {}}
    for name, value, meant in (("mesages", user("Lost")["messages"], "messages"), ("message", "Lost", "messages"), ("documnts", [{"text": "Lost"}], "documents"),
                               ("reasoning_efort", "low", "reasoning_effort"), ("chat_template_kwarg", {"a": 1}, "chat_template_kwargs"), ("toolz", [CALL], "tools"),
                               ("add_generation_promt", False, "add_generation_prompt"), ("continue_final_mesage", True, "continue_final_message"),
                               ("thinkin", True, "thinking")):
        for request in (user("Hi"), whole):
            done = run(template, {**request, name: value}, "--strict")
            note = f"note: {name}: no effect: the template does not read it; did you mean '{meant}'?\n"
            assert done.returncode == 1 and done.stderr.startswith(note), (name, done.stderr)
        said = run(template, {**user("Hi"), "chat_template_kwargs": {name: value}}).stderr
        assert said == note.replace(name, f"chat_template_kwargs.{name}", 1), said
    steering = {"model": "m", "temperature": 1, "top_k": 1, "models": ["a"], "stop": ["a"], "store": True, "seed": 1, "user": "u", "metadata": {"a": "b"}, 
                "modalities": ["text"], "include": ["a"], "include_reasoning": True, "reasoning_format": "raw", "reasoning_split": True, "thinking_budget": 9,
                "thinking_token_budget": 9, "max_tool_calls": 2, "tool_stream": True, "stream_options": {"a": 1}, "message": "", "document": [], "document_ids": ["a"]}
    done = run(template, {**user("Hi"), **steering}, "--strict")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_a_member_that_is_given_twice_is_a_loss_though_the_last_counts():
    template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}" \
               "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    def call(arguments):
        return '{"messages":[{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"f","arguments":%s}}]}]}' % arguments
    where = "messages[0].tool_calls[0].function.arguments"
    anthropic = '{"max_tokens":9,"system":"a","messages":[{"role":"user","content":[{"type":"text","text":"b","text":"c"}]}],"system":"d"}'
    many = ",".join(f'"k{i}":{i}' for i in range(20))
    for text, paths, prompt in (('{"messages":[{"role":"user","content":"a","content":"b"}]}', {"messages[0].content": 2}, "b"),
                                ('{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}', {"messages": 2}, "b"),
                                ('{"messages":[{"role":"user","content":"a"}],"tools":[1],"tools":[2],"tools":["t"]}', {"tools": 3}, 'a"t"'),
                                ('{"messages":[{"role":"user","content":"a","content":"b"}],"tools":[NaN,{"x y":{"z":1,"z":2}}]}',
                                 {"messages[0].content": 2, 'tools[1]["x y"].z': 2}, 'bNaN{"x y": {"z": 2}}'),
                                (call(json.dumps('{"a":"1","a":"2","b":{"c d":1,"c d":3}}')), {f"{where}.a": 2, f'{where}.b["c d"]': 2}, 'f{"a": "2", "b": {"c d": 3}}'),
                                (call('{"a":"1","a":"2"}'), {f"{where}.a": 2}, 'f{"a": "2"}'),
                                (call("{" + many + ',"k3":9,"k7":9,"k3":10}'), {f"{where}.k3": 3, f"{where}.k7": 2}, None),
                                (anthropic, {"system": 2, "messages[0].content[0].text": 2}, "dc")):
        given = dict(input=text, capture_output=True, text=True)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.jinja"
            path.write_text(template)
            command = [BINARY, "render", "-t", path, "--no-generation-prompt"]
            done, strict = subprocess.run(command, **given), subprocess.run([*command, "--strict"], **given)
            answer = json.loads(subprocess.run([*command, "--json"], **given).stdout)
        found = {one["path"]: one["message"] for one in answer["losses"] if one["subject"] == "member"}
        said = {path: "given twice: the last counts" if times == 2 else f"given {times} times: the last counts" for path, times in paths.items()}
        assert {path: message.split(" (")[0] for path, message in found.items()} == said, (text, found)
        assert done.returncode == 0 and prompt in (done.stdout, None), (text, done)
        assert strict.returncode == 1 and all(f"note: {path}: {message}" in strict.stderr for path, message in said.items()), (text, strict)


def test_json_text_in_a_request_and_beside_it_is_read_as_the_request_is():
    """ShareGPT's values, variables, settings of passes: what one object has twice is told of all of them."""
    template = "{% for m in messages %}{{ m.content }}{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}{{ tools | tojson if tools }}{{ x | tojson if x }}"
    twice = "given twice: the last counts"

    def members(request, *options):
        answer = json.loads(run(template, request, "--json", "--var", 'bos_token=""', *options).stdout)
        return {one["path"]: one["message"] for one in answer["losses"] if one["subject"] == "member"}

    calls = '[{"name": "f", "arguments": {"a": 1, "a": 2}}, {"name": "g", "name": "h", "arguments": {"b c": {"d": 1, "d": 2, "d": 3}}}]'
    line = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": calls}],
            "tools": '[{"name": "f", "description": "A", "description": "B", "parameters": {}}]'}
    value = "conversations[1].value"
    assert members(line) == {f"{value}[0].arguments.a": twice, f"{value}[1].name": twice, f'{value}[1].arguments["b c"].d': "given 3 times: the last counts",
                             "tools[0].description": twice}, members(line)
    one = {**line, "conversations": [line["conversations"][0], {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1, "a": 2}}'}], "tools": ""}
    assert members(one) == {f"{value}.arguments.a": twice}, members(one)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.json"
        path.write_text('{"a": 1, "a": 2}')
        for options in (["--var", 'x={"a": 1, "a": 2}'], ["--var-json", 'x={"a": 1, "a": 2}'], ["--var-file", f"x={path}"]):
            assert members(user("Hi"), *options) == {"x.a": twice}, options
            done = run(template, user("Hi"), "--strict", *options)
            assert done.returncode == 1 and f"note: x.a: {twice}\n" in done.stderr, done
            lines = run(template, [user("Hi")] * 2, "--jsonl", "--json", *options, lines=True)
            assert [[one["path"] for one in json.loads(line)["losses"] if one["subject"] == "member"] for line in lines.stdout.splitlines()] == [["x.a"]] * 2, lines
    assert members(user("Hi"), "--var", 'x=[{"a": 1}, {"b": [{"c": 1, "c": 1}]}]') == {"x[1].b[0].c": twice}
    assert members(user("Hi"), "--var", 'x={"a": 1}') == {} == members(user("Hi"), "--var-text", 'x={"a": 1, "a": 2}')


def test_settings_of_the_template_that_are_no_object_are_a_loss():
    for value in ('{"a": 1}', [1], True):
        done = run(ONLY_TEXT, {**user("Hi"), "bos_token": "", "chat_template_kwargs": value})
        assert done.stderr == 'note: chat_template_kwargs: no effect: it is not an object; write {"name": value}, without quotes around it\n', done.stderr
    for value in (None, {}):
        assert run(ONLY_TEXT, {**user("Hi"), "bos_token": "", "chat_template_kwargs": value}).stderr == ""


def test_a_note_is_one_line_whatever_data_it_has():
    done = run(ONLY_TEXT, {**user("Hi"), "bos_token": "", "chat_template_kwargs": {"v: fine\nnote: all is well": 1}})
    assert done.stderr.count("\n") == 1 and "fine␊note" in done.stderr, done.stderr


def test_notes_are_on_standard_error_unless_quiet():
    done = run(ONLY_TEXT, LOOP)
    assert done.stderr.startswith("note: messages[1].tool_calls[0]: not in the prompt\n"), done.stderr
    assert "note: bos_token: written by the template" in done.stderr, done.stderr
    quiet = run(ONLY_TEXT, LOOP, "-q")
    assert (quiet.stderr, quiet.stdout) == ("", done.stdout) and quiet.returncode == 0, quiet


def test_verbose_tells_what_is_left_out_and_changed():
    request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "a", "reasoning_content": "r"}, {"role": "user", "content": "b"}]}
    done = run("{% for m in messages %}{{ m.content }}{% endfor %}", request)
    assert done.stderr == "", done.stderr
    assert "left out: messages[1].reasoning_content: " in run("{% for m in messages %}{{ m.content }}{% endfor %}", request, "-v").stderr
    assert "changed: messages[1].tool_calls[0].function.arguments: parsed" in run(ONLY_TEXT, LOOP, "-v").stderr


def test_strict_makes_a_loss_an_error():
    done = run(ONLY_TEXT, LOOP, "--strict")
    *notes, error = done.stderr.splitlines()  # each loss once
    assert done.returncode == 1 and done.stdout == "" and len(notes) == 2 and all(note.startswith("note: ") for note in notes), done
    assert error == "parlance: something is lost: the 2 notes above; --strict makes them an error", done
    assert run(ONLY_TEXT, LOOP, "--strict", "-q").stderr.startswith(
        "parlance: something is lost: messages[1].tool_calls[0]: not in the prompt, and 1 more"), done
    assert run("{{ messages[0].content }}", user("Hi"), "--strict").returncode == 0
    lines = run(ONLY_TEXT, [user("Hi"), LOOP], "--strict", "--jsonl", "--var", 'bos_token=""', lines=True)
    first, second = [json.loads(line) for line in lines.stdout.splitlines()]
    assert lines.returncode == 0 and "text" in first and second["error"]["code"] == "loss", lines
    assert second["error"]["path"] == "messages[1].tool_calls[0]", second


def test_lines_are_summed_up():
    requests = [user("Hi"), LOOP, {}, LOOP]
    done = run(ONLY_TEXT, requests, "--jsonl", "--var", 'bos_token=""', lines=True)
    assert done.returncode == 0 and done.stderr == (
        "note: 1 of 4 lines were answered by an error\nnote: line 3: the request has no `messages`\n"
        "note: 2 of 4 lines have something that is not in the prompt: 2 × call; --json names it\n"), done.stderr
    assert "2 × call; `losses` of each line names it" in run(ONLY_TEXT, requests, "--jsonl", "--json", "--var", 'bos_token=""', lines=True).stderr
    assert run(ONLY_TEXT, requests, "--jsonl", "--fail-on-error", lines=True).returncode == 1
    assert run(ONLY_TEXT, [LOOP], "--jsonl", "--fail-on-error", lines=True).returncode == 0
    assert run(ONLY_TEXT, [LOOP], "--jsonl", "-q", lines=True).stderr == ""
    failed = run(ONLY_TEXT, [LOOP, *[{"id": f"r{i}", "messages": 5} for i in range(5)]], "--jsonl", "-q", lines=True).stderr
    assert [":".join(line.split(":")[:2]) for line in failed.splitlines()] == [
        "note: 5 of 6 lines were answered by an error", 'note: line 2 (id "r0")', 'note: line 3 (id "r1")', 'note: line 4 (id "r2")'], failed  # what failed is no loss


def test_hints_for_what_templates_want():
    refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    system = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}
    assert "hint: if the template takes no system message: --pass first-system gives its text to the user" in run(refuses, system).stderr
    assert run(refuses, system, "--pass", "first-system").returncode == 0
    assert "--pass first-system" not in run(refuses.replace("supported", "once"), system).stderr
    token = run("{{ 'a' + eos_token }}", user("Hi")).stderr
    assert "hint: a special token: -m MODEL brings its tokens along, or --var eos_token=TEXT sets it" in token, token
    functions = run("{{ 'a' + functions }}", user("Hi")).stderr
    assert "hint: the tools, mostly as JSON text: --var functions=TEXT sets it\n" in functions, functions


def test_names_that_are_nearly_right():
    for template, subject, path in (
            ("{% for m in mesages %}{{ m.content }}{% endfor %}", "variable", "mesages"),
            ("{% for m in messages %}{{ m.contnt }}{% endfor %}", "variable", "messages[0].contnt"),
            ("{{ messages[0].content }}{{ 1 if enable_thinking }}", "setting", "chat_template_kwargs.enable_thinkng")):
        found = losses(template, {**user("Hi"), "chat_template_kwargs": {"enable_thinkng": True}} if subject == "setting" else user("Hi"))
        assert ("lost", subject, path) in found, found


def test_arguments_that_are_cut_off():
    broken = {**CALL, "function": {"name": "look", "arguments": "{\"place\": \"Li"}}
    request = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [broken]}]}
    template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}{% endfor %}"
    assert losses(template, request)[:-1] == [("lost", "argument", "messages[1].tool_calls[0].function.arguments")]


def test_arguments_beyond_a_limit_of_the_reader_are_not_said_to_be_no_json():
    template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}{% endfor %}"
    deep, long = '{"a":' * 1200 + "1" + "}" * 1200, '{"a": ' + "1" * 5000 + "}"
    for arguments, why in ((deep, "not read as JSON: maximum recursion depth exceeded"), (long, "not read as JSON: Exceeds the limit"), ("{no", "not JSON: Expecting"), ("[1]", "not a JSON object")):
        chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{**CALL, "function": {"name": "look", "arguments": arguments}}]}]}
        for request in (chat, {"input": [{"type": "function_call", "call_id": "1", "name": "look", "arguments": arguments}]}):
            assert f"arguments: given to the template as text: it is {why}" in run(template, request).stderr, (why, run(template, request).stderr)
        if arguments != "[1]":
            line = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": '{"name": "look", "arguments": %s}' % arguments if arguments != "{no" else arguments}]}
            assert f"this text is {why}" in run(template, line).stderr, (why, run(template, line).stderr)


def test_a_template_that_changes_lists_is_told_how():
    template = "{% set seen = [] %}{% for m in messages %}{{ seen.append(m.content) or '' }}{% endfor %}{{ seen[0] }}"
    done = run(template, user("Hi"))
    assert done.returncode == 1 and "refused by the sandbox" in done.stderr and "--allow-changes" in done.stderr, done
    assert run(template, user("Hi"), "--allow-changes").stdout == "Hi"
    assert json.loads(run(template, [user("Hi")], "--jsonl", lines=True).stdout)["error"]["hint"].startswith("as transformers does; --allow-changes")


def test_what_is_there_is_not_named():
    request = {**user(7), "tools": [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"a": {}, "b": {"type": "integer"}}}}}]}
    assert losses("{{ messages | tojson }}{{ tools | tojson }}", request) == []


def test_what_no_mask_has_is_a_loss():
    behind = ("{% set last = messages[-1] if messages[-1].role == 'assistant' else none %}{% if messages|length == 1 and not last %}"
              "{{ raise_exception('too short') }}{% endif %}{% for m in (messages[:-1] if last else messages) %}<{{ m.role }}>{{ m.content }}{% endfor %}"
              "<assistant>{% if last %}<think>{{ last.content }}{% endif %}")
    said = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}
    assert losses(behind, said) == []
    assert losses(behind, said, "--assistant-mask") == [("lost", "mask", "messages[1]")]
    done = run(behind, [said, said], "--jsonl", "-", "--assistant-mask", lines=True)
    assert "2 × mask" in done.stderr, done.stderr
    assert run(behind, said, "--strict", "--assistant-mask").returncode == 1


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of losses"))
