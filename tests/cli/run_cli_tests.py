#!/usr/bin/env python3
"""Tests of the command line: python3 tests/cli/run_cli_tests.py BINARY [NAME...]

Each test is a function below; standard library only. The examples of docs/cli.md are run too.
"""
import json, os, pathlib, re, subprocess, sys, tempfile

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = str(pathlib.Path(sys.argv[1]).resolve())
HELLO = {"messages": [{"role": "user", "content": "Hi"}]}
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" \
         "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"


def run(*arguments, stdin=None, code=0):
    """Standard output and standard error, as text; the exit code must be `code`."""
    if stdin is not None and not isinstance(stdin, (str, bytes)):
        stdin = json.dumps(stdin)
    data = stdin.encode("utf-8", "surrogatepass") if isinstance(stdin, str) else stdin
    done = subprocess.run([BINARY, *map(str, arguments)], input=data if data is not None else b"", capture_output=True,
                          timeout=60, cwd=ROOT)
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{out[:2000]}\n{err[:2000]}"
    return out, err


def render(*arguments, stdin=None, code=0):
    return run("render", *arguments, stdin=stdin, code=code)[0]


def failure(*arguments, stdin=None, code=1):
    out, err = run("render", *arguments, stdin=stdin, code=code)
    assert out == "", out
    return err


class Folder:
    """A folder of files that goes away."""

    def __init__(self, **files):
        self.files = files

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)
        for name, text in self.files.items():
            name = name.replace("__", "/")
            name = re.sub(r"_(jinja|json|gotmpl|tmpl)$", r".\1", name)
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return self.path

    def __exit__(self, *_):
        self.home.cleanup()


def template(text):
    return Folder(t_jinja=text)


def same(got, want):
    assert got == want, f"\n got {got!r}\nwant {want!r}"


def contains(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


# ---- Go templates

GO = "{{ range .Messages }}<{{ .Role }}>{{ with .Thinking }}({{ . }}){{ end }}{{ .Content }}{{ range .ToolCalls }}" \
     "{{ .Function.Name }}{{ .Function.Arguments }}{{ end }}{{ .ToolName }}</>{{ end }}<assistant>"


def test_go_by_ending_and_by_option():
    with Folder(t_gotmpl=GO, t_tmpl=GO, t_jinja=GO) as d:
        want = "<user>Hi</><assistant>"
        same(render("-t", d / "t.gotmpl", stdin=HELLO), want)
        same(render("-t", d / "t.tmpl", "--as-is", stdin=HELLO), want)
        same(render("-t", d / "t.jinja", "--syntax", "go", stdin=HELLO), want)
        failure("-t", d / "t.gotmpl", "--syntax", "jinja", stdin=HELLO)
        contains(failure("-t", d / "t.gotmpl", "--syntax", "perl", stdin=HELLO, code=2), "jinja or go")


def test_go_requests_of_both_apis():
    openai = {"model": "m", "reasoning_effort": "low", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:,"}}]},
        {"role": "assistant", "content": None, "reasoning_content": "Hm",
         "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"}]}
    ollama = {"model": "m", "think": "low", "options": {}, "messages": [
        {"role": "user", "content": "a\n\n[img-0]"},
        {"role": "assistant", "thinking": "Hm", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}]},
        {"role": "tool", "tool_name": "f", "tool_call_id": "c1", "content": "r"}]}
    want = "<user>a\n\n[img-0]</><assistant>(Hm)f{\"x\":1}</><tool>rf</><assistant>low"
    with Folder(t_gotmpl=GO + "{{ .ThinkLevel }}") as d:
        same(render("-t", d / "t.gotmpl", stdin=openai), want)
        same(render("-t", d / "t.gotmpl", stdin=ollama), want)
        contains(failure("-t", d / "t.gotmpl", "--as-is", stdin=openai, code=3), "request: json: cannot unmarshal array", "messages[0].content")
        same(render("-t", d / "t.gotmpl", stdin={"prompt": "Why?", "system": "S"}), "<system>S</><user>Why?</><assistant>")
        images = {"messages": [{"role": "user", "content": "see", "images": ["aGk="]}]}
        same(render("-t", d / "t.gotmpl", stdin=images), "<user>[img-0]see</><assistant>")
    jinja = "{% for m in messages %}{{ m.role }}:{{ m.content }}:{{ m.reasoning_content }}:{{ m.name }};{% endfor %}{{ enable_thinking }}{{ reasoning_effort }}"
    with template(jinja) as d:
        same(render("-t", d / "t.jinja", stdin=ollama), "user:a\n\n[img-0]::;assistant::Hm:;tool:r::f;Truelow")
        same(render("-t", d / "t.jinja", stdin={"prompt": "Why?", "system": "S"}), "system:S::;user:Why?::;")


def test_go_errors_have_places():
    with Folder(t_gotmpl="line\n  {{ range .Messages }}{{ .Nope }}{{ end }}") as d:
        contains(failure("-t", d / "t.gotmpl", stdin=HELLO),
                 't.gotmpl:2:27: runtime error: executing "" at <.Nope>: can\'t evaluate field Nope in type *template.templateMessage',
                 "  2 |   {{ range .Messages }}{{ .Nope }}{{ end }}\n    |                           ^~~~~", "input: messages[0]")
        (d / "bad.gotmpl").write_text("{{ if }}")
        contains(failure("-t", d / "bad.gotmpl", stdin=HELLO), "syntax error: missing value for if")
        (d / "deep.gotmpl").write_text('{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}{{ .Messages }}')
        failure("-t", d / "deep.gotmpl", stdin=HELLO, code=4)
        (d / "long.gotmpl").write_text("{{ range 1000000000 }}{{ end }}{{ .Messages }}")
        failure("-t", d / "long.gotmpl", stdin=HELLO, code=4)


def test_go_spans_masks_and_continuing():
    chat = {"messages": HELLO["messages"] + [{"role": "assistant", "content": "Yes <&>"}, {"role": "user", "content": "And?"}]}
    with Folder(t_gotmpl="{{ range .Messages }}[{{ .Role }}]{{ .Content }}{{ json .Content }}|\n{{ end }}[assistant]") as d:
        result = json.loads(render("-t", d / "t.gotmpl", "--json", "--assistant-mask", stdin=chat))
        text = result["text"].encode()
        assert [text[a:b].decode() for a, b in result["assistant"]] == ["Yes <&>\"Yes \\u003c\\u0026\\u003e\"|\n"], result["assistant"]
        pieces = [(text[s["begin"]:s["end"]].decode(), s["origin"], s.get("path", "")) for s in result["spans"]]
        for piece in [("[", "literal", ""), ("Yes <&>", "input", "messages[1].content"),
                      ('"Yes \\u003c\\u0026\\u003e"', "derived", "messages[1].content"), ("user", "input", "messages[2].role")]:
            assert piece in pieces, f"{piece} is not in {pieces}"
        same(render("-t", d / "t.gotmpl", "--continue", stdin={"messages": chat["messages"][:2]}),
             '[user]Hi"Hi"|\n[assistant]Yes <&>"Yes \\u003c\\u0026\\u003e"')


def test_go_jsonl_with_templates_of_their_own():
    lines = [{"id": 1, "source": GO, "context": HELLO}, {"id": 2, "source": "{{ .Prompt }}!{{ .Response }}?", "context": HELLO},
             {"id": 3, "source": "{{", "context": HELLO}]
    out = render("--jsonl", "--syntax", "go", stdin="".join(json.dumps(line) + "\n" for line in lines))
    got = [json.loads(line) for line in out.splitlines()]
    assert [g.get("text") for g in got] == ["<user>Hi</><assistant>", "Hi!", None], got
    assert (got[2]["error"]["type"], got[2]["error"]["code"], got[2]["error"]["line"]) == ("parse", "go_parse", 1), got[2]


# ---- one request

def test_prompt_and_nothing_else():
    with template(CHATML) as d:
        same(render("-t", d / "t.jinja", "-", stdin=HELLO), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
        (d / "chat.json").write_text(json.dumps(HELLO))
        same(render("-t", d / "t.jinja", d / "chat.json"), render("-t", d / "t.jinja", stdin=HELLO))


def test_generation_prompt():
    user, both = HELLO["messages"], HELLO["messages"] + [{"role": "assistant", "content": "Yes"}]
    with template("{{ add_generation_prompt }}") as d:
        rows = [
            ({"messages": user}, [], "True"),
            ({"messages": both}, [], "False"),
            ({"messages": both, "add_generation_prompt": True}, [], "True"),
            ({"messages": user, "add_generation_prompt": False}, [], "False"),
            ({"messages": user, "add_generation_prompt": False}, ["--generation-prompt"], "True"),
            ({"messages": user}, ["--no-generation-prompt"], "False"),
            ({"messages": user}, ["--as-is"], ""),
            ({"messages": user}, ["--as-is", "--generation-prompt"], "True"),
        ]
        for request, options, want in rows:
            same(render("-t", d / "t.jinja", *options, stdin=request), want)
        contains(failure("-t", d / "t.jinja", "--generation-prompt", "--no-generation-prompt", stdin=HELLO, code=2), "exclude")


def test_continue_cuts_after_the_last_byte():
    request = {"messages": HELLO["messages"] + [{"role": "assistant", "content": "Yes, <|im_end|> and"}]}
    with template(CHATML) as d:
        want = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes, <|im_end|> and"
        same(render("-t", d / "t.jinja", "--continue", stdin=request), want)
        request["continue_final_message"] = True
        same(render("-t", d / "t.jinja", stdin=request), want)
        failure("-t", d / "t.jinja", "--continue", stdin=HELLO, code=3)


def test_as_is_passes_members_untouched():
    request = {"id": 7, "messages": [{"role": "user", "content": None}], "model": "m", "chat_template_kwargs": {"a": 1}}
    with template("{{ messages[0].content }} {{ model }} {{ chat_template_kwargs }} {{ id }} {{ tools is defined }}") as d:
        same(render("-t", d / "t.jinja", "--as-is", stdin=request), "None m {'a': 1}  False")
        same(render("-t", d / "t.jinja", stdin=request), "    True")


def test_releases_of_transformers():
    request = {"messages": [{"role": "user", "name": None, "content": None, "thinking": "t"}], "max_length": 3, "model": "m"}
    old = "[{'thinking': 't', 'role': 'user', 'name': None, 'content': None, 'reasoning_content': 't'}]mFalseFalse"
    new = "[{'thinking': 't', 'role': 'user', 'reasoning_content': 't'}]mFalseFalse"
    with template("{{ messages }}{{ model }}{{ max_length is defined }}{{ add_generation_prompt }}") as d:
        for release, want in (("5.21", old), ("5.22", old), ("5.22.2", old), ("5.23", new), ("5.23.0", new), ("5.24", new), (None, new)):
            options = ["--transformers", release] if release else []
            same(render("-t", d / "t.jinja", "--as-transformers", *options, stdin=request), want)
            lines = render("-t", d / "t.jinja", "--as-transformers", *options, "--jsonl", stdin=json.dumps(request))
            same(json.loads(lines)["text"], want)
        contains(failure("-t", d / "t.jinja", "--as-transformers", stdin={"messages": []}, code=3), "empty conversation")
        contains(failure("-t", d / "t.jinja", "--as-transformers", stdin={"messages": [{}], "tools": ["x"]}, code=3), "tools[0]")
        contains(failure("-t", d / "t.jinja", "--as-transformers", "--as-is", stdin=request, code=2), "exclude")
        contains(failure("-t", d / "t.jinja", "--syntax", "go", "--as-transformers", stdin=request, code=2), "--as-transformers", "Go template")
        contains(failure("-f", "command-r-plus", "--as-transformers", stdin=request, code=2), "--as-transformers", "Go template")
        contains(failure("-t", d / "t.jinja", "--as-transformers", "--reasoning-effort", "low", stdin=request, code=2), "--as-transformers")
        contains(failure("-t", d / "t.jinja", "--transformers", "5.99", stdin=request, code=2), "5.99", "parlance list releases")
    with template("{{ messages }}") as d:
        same(render("-t", d / "t.jinja", stdin=request), "[{'role': 'user', 'content': '', 'thinking': 't', 'reasoning_content': 't'}]")
        same(render("-t", d / "t.jinja", "--transformers", "5.22.2", stdin=request),
             "[{'role': 'user', 'name': None, 'content': '', 'thinking': 't', 'reasoning_content': 't'}]")
        same(render("-t", d / "t.jinja", "--skip-pass", "null-content", "--skip-pass", "reasoning-names", stdin=request),
             "[{'role': 'user', 'thinking': 't'}]")
        given = render("-t", d / "t.jinja", "--as-is", stdin=request)
        same(render("-t", d / "t.jinja", "--skip-pass", "null-content", "--skip-pass", "null-members", "--skip-pass", "reasoning-names",
                    stdin=request), given)
        same(render("-t", d / "t.jinja", "--as-is", "--transformers", "5.23", stdin=request), given)


def test_as_is_the_language_is_jinjas_own():
    with template("{% set ns = namespace(_a=1) %}{{ dict.items is defined }}") as d:
        same(render("-t", d / "t.jinja", "--as-is", stdin={}), "True")
        same(render("-t", d / "t.jinja", "--transformers", "5.22.1", stdin=HELLO), "True")
        contains(failure("-t", d / "t.jinja", stdin=HELLO), "refused by the sandbox", "'_a'")
        contains(failure("-t", d / "t.jinja", "--as-is", "--transformers", "5.22.2", stdin={}), "refused by the sandbox")


def test_passes():
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": "b"}'}}]}
    with template("{{ messages[0].tool_calls[0].function.arguments is mapping }}") as d:
        same(render("-t", d / "t.jinja", stdin={"messages": [call]}), "True")
        same(render("-t", d / "t.jinja", "--skip-pass", "parse-arguments", stdin={"messages": [call]}), "False")
        contains(failure("-t", d / "t.jinja", "--skip-pass", "parse-argument", stdin=HELLO, code=2), "did you mean 'parse-arguments'?")
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}
    with template("{{ messages[0].content }}") as d:
        same(render("-t", d / "t.jinja", "--pass", "content-parts", stdin=parts), "a\nb")
    names = re.findall(r"^(\S+)", run("render", "--list-passes")[0], re.M)
    assert "parse-arguments" in names and len(names) == len(set(names)), names


def test_variables():
    with template("{{ a }}|{{ b }}") as d:
        same(render("-t", d / "t.jinja", "--var", "a=1", "--var", 'b="x=y"', stdin={**HELLO, "a": 0}), "1|x=y")
        contains(failure("-t", d / "t.jinja", "--var", "a", stdin=HELLO, code=2), "KEY=VALUE")


def test_an_effort_and_what_is_said_beside_it():
    text = "{{ messages[0].content }}{% if add_generation_prompt %}{{ '<no>' if enable_thinking is defined and not enable_thinking }}{% endif %}"
    with template(text) as d:
        def notes(*options, **members):
            result = json.loads(render("-t", d / "t.jinja", "--json", *options, stdin={**HELLO, **members}))
            return result["text"], "; ".join(n for n in result["notes"] if n.startswith(("enable", "reason", "think")))
        same(notes("--reasoning-effort", "none")[0], "Hi<no>")
        for got in (notes("--reasoning-effort", "high", "--var", "enable_thinking=false"),
                    notes("--reasoning-effort", "high", chat_template_kwargs={"enable_thinking": False})):
            same(got[0], "Hi<no>")
            contains(got[1], "enable_thinking", "the reasoning effort does not change it")
        same(notes("--reasoning-effort", "none", "--var", "enable_thinking=false"),
             ("Hi<no>", "enable_thinking: set for the effort of reasoning (reasoning-effort)"))
        got = notes("--reasoning-effort", "high", chat_template_kwargs={"reasoning_effort": "none"})
        same(got[0], "Hi<no>")
        contains(got[1], "reasoning_effort: set by chat_template_kwargs, which overrides the request's own value")
        same(notes("--var", "enable_thinking=true", reasoning_effort="none", enable_thinking=False),
             ("Hi", "enable_thinking: keeps the value set outside the request; the reasoning effort does not change it (reasoning-effort)"))
    with template("{{ messages[0].content }}{{ reasoning_effort }}") as d:
        result = json.loads(render("-t", d / "t.jinja", "--json", "--reasoning-effort", "low", "--var", 'reasoning_effort="high"', stdin=HELLO))
        same((result["text"], [n for n in result["notes"] if n.startswith("reason")]),
             ("Hihigh", ["reasoning_effort: keeps the value set outside the request; the reasoning effort does not change it (reasoning-effort)"]))


def test_an_option_without_effect_is_no_secret():
    with template("{{ messages[0].content }}") as d:
        for options, said in (([], ""), (["--reasoning-effort", "low"], "note: reasoning_effort: has no effect: "), (["--reasoning-effort", "low", "--json"], "note: ")):
            err = run("render", "-t", d / "t.jinja", *options, stdin=HELLO)[1]
            assert err.startswith(said) and (said != "" or err == ""), err


def test_an_effort_is_one_of_a_few_words():
    with template("{{ messages[0].content }}") as d:
        got = failure("-t", d / "t.jinja", "--reasoning-effort", "hgh", stdin=HELLO, code=2)
        contains(got, "'hgh' is not one of none, minimal, low, medium, high, xhigh, max")
        contains(got, "did you mean 'high'?")


def test_names_are_not_empty():
    with template("{{ messages[0].content }}") as d:
        for options in (["-t", ""], ["-t", d / "t.jinja", "--syntax", ""], ["-t", d / "t.jinja", ""]):
            contains(failure(*options, stdin=HELLO, code=2), "empty")


def test_now():
    with template("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}") as d:
        for given, want in [("2026-03-14T15:09:26", "2026-03-14 15:09:26"), ("2026-03-14 15:09", "2026-03-14 15:09:00"),
                            ("2024-02-29", "2024-02-29 00:00:00")]:
            same(render("-t", d / "t.jinja", "--now", given, stdin=HELLO), want)
        for bad in ["2026-02-29", "yesterday", "2026-03-14T25:00", "2026-03-14T15:09:26Z"]:
            contains(failure("-t", d / "t.jinja", "--now", bad, stdin=HELLO, code=2), "--now")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", render("-t", d / "t.jinja", stdin=HELLO))


# ---- models and formats

def test_named_templates_of_a_model():
    config = {"chat_template": [{"name": "default", "template": "d{{ bos_token }}"}, {"name": "tool_use", "template": "t"},
                                {"name": "rag", "template": "r"}], "bos_token": {"content": "<s>"}}
    with Folder(tokenizer_config_json=config) as d:
        same(render("-m", d, stdin=HELLO), "d<s>")
        same(render("-m", d, stdin={**HELLO, "bos_token": "<x>"}), "d<x>")
        same(render("-m", d, stdin={**HELLO, "tools": []}), "t")
        same(render("-m", d, "--name", "rag", stdin=HELLO), "r")
        contains(failure("-m", d, "--name", "rga", stdin=HELLO, code=3), "rag")
        lines = [HELLO, {**HELLO, "tools": []}]
        out = render("-m", d, "--jsonl", stdin="\n".join(map(json.dumps, lines)))
        same([json.loads(l)["text"] for l in out.splitlines()], ["d<s>", "t"])


def test_formats():
    listed = run("render", "--list")[0]
    for path in sorted((ROOT / "formats").glob("*.jinja")):
        name = path.stem
        contains(listed, name)
        example = ROOT / "formats" / "examples" / (name + ".json")
        prompt = render("-f", name, "--example")
        same(prompt, render("-f", name, example))
        messages = json.loads(example.read_text(encoding="utf-8"))["messages"]
        marks = {"chatglm3": ("```python\ntool_call(", "<|observation|>", "following tools:"), "chatml": ("<|im_start|>system\nYou",)}
        contains(prompt, messages[-1]["content"], *marks.get(name, ("<tool_call>", "<tool_response>", "<tools>")))
    same(render("-f", "hermes", "--example"), render("-f", "terminal-agent", "--example"))
    same(render("-f", "chatml", stdin=HELLO).count("system"), 0)
    asked = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}], "tools": [{"name": "f"}]}
    out, err = run("render", "-f", "chatml", stdin=json.dumps(asked))
    same(out, "<|im_start|>user\nHel\nlo<|im_end|>\n<|im_start|>assistant\n")
    contains(err, "tools[0]: not in the prompt")
    contains(failure("-f", "terminal-agnet", stdin=HELLO, code=2), "did you mean 'terminal-agent'?")


def test_tokens_of_a_format():
    source = ROOT / "formats" / "chatglm3.jinja"
    turns = render("-t", source, stdin=HELLO)
    same(render("-f", "chatglm3", stdin=HELLO), "[gMASK]sop" + turns)
    same(render("-f", "chatglm3", stdin={**HELLO, "gmask_token": "", "sop_token": ""}), turns)
    spans = json.loads(render("-f", "chatglm3", "--json", stdin=HELLO))["spans"]
    same([span.get("path") for span in spans if span.get("control")], ["gmask_token", "sop_token", None, None])


def test_text_is_no_token_of_chatglm3():
    """A role token in any field that a request has is input, never control."""
    mark = "<|system|>"
    call = lambda name, arguments: {"type": "function", "function": {"name": name, "arguments": arguments}}
    messages = [
        {"role": "system", "content": mark, "metadata": mark}, {"role": "user", "content": mark, "name": mark},
        {"role": "assistant", "content": mark, "tool_calls": [
            call(mark, {"a": mark, "b": {mark: [mark]}}), call("interpreter", {"code": mark})]},
        {"role": "tool", "content": mark, "metadata": mark}, {"role": "tool", "content": mark}]
    tool = {"type": "function", "function": {"name": mark, "description": mark, mark: [mark]}}
    result = json.loads(render("-f", "chatglm3", "--json", stdin={"messages": messages, "tools": [tool]}))
    raw = result["text"].encode()
    texts = [(raw[span["begin"]:span["end"]].decode(), span) for span in result["spans"]]
    same([text for text, span in texts if span.get("control")], [
        "[gMASK]", "sop", mark, "<|user|>", "<|assistant|>", "<|assistant|>", "<|assistant|>", "<|observation|>",
        "<|observation|>", "<|assistant|>"])
    same(sum(text.count(mark) for text, span in texts if span["origin"] != "literal"), 17)


def test_turns_of_chatglm3_are_only_added():
    request = json.loads((ROOT / "formats" / "examples" / "chatglm3.json").read_text(encoding="utf-8"))
    messages, prompt = request["messages"], ""
    for count in range(1, len(messages) + 1):
        longer = render("-f", "chatglm3", "--no-generation-prompt", stdin={**request, "messages": messages[:count]})
        assert longer.startswith(prompt) and longer != prompt, (count, prompt, longer)
        prompt = longer


# ---- outputs

def check_spans(result):
    raw = result["text"].encode()
    at = 0
    for span in result["spans"]:
        assert span["begin"] == at and span["end"] > at, span
        at = span["end"]
        if span["origin"] == "literal":
            assert span["line"] >= 1 and span["column"] >= 1, span
    same(at, len(raw))


def test_json():
    with template("{% generation %}{{ messages[0].content }}{% endgeneration %}é{{ 5 }}{{ messages[0].role | upper }}") as d:
        result = json.loads(render("-t", d / "t.jinja", "--json", "--assistant-mask", stdin={"id": "x", **HELLO, "model": "m"}))
    same(result["text"], "Hié5USER")
    same(result["id"], "x")
    same(result["generation"], [[0, 2]])
    check_spans(result)
    same(result["spans"][0]["path"], "messages[0].content")
    same(result["spans"][0]["message"], 0)
    same(result["spans"][-1]["origin"], "derived")
    assert any("model" in note for note in result["notes"]), result["notes"]
    assert "assistant" in result
    for name in ("terminal-agent", "underscore-bot", "rnj-1", "chatglm3"):
        check_spans(json.loads(render("-f", name, "--example", "--json")))


def test_constants_keep_their_origins():
    with template("""{{ '<|a|>' + 'b' }}{% set x = '<|c|>' ~ 1 ~ 'd' %}{{ x }}{{ ('<|e|>' ~ 'f')|trim }}""") as d:
        result = json.loads(render("-t", d / "t.jinja", "--json", stdin=HELLO))
    same(result["text"], "<|a|>b<|c|>1d<|e|>f")
    spans = [(result["text"][s["begin"]:s["end"]], s["origin"], s.get("column"), s.get("control", False))
             for s in result["spans"]]
    same(spans, [("<|a|>", "literal", 5, True), ("b", "literal", 15, False), ("<|c|>", "literal", 32, True),
                 ("1", "computed", None, False), ("d", "literal", 46, False), ("<|e|>", "literal", 63, True),
                 ("f", "literal", 73, False)])


def test_lone_surrogates():
    request = '{"messages": [{"role": "user", "content": "a\\ud800b"}]}'
    with template("{{ messages[0].content }}") as d:
        for losses in ([], ["--quiet"]):
            contains(failure("-t", d / "t.jinja", *losses, stdin=request), "--json", "input: messages[0].content\n")
        same(json.loads(render("-t", d / "t.jinja", "--json", stdin=request))["text"], "a\ud800b")
        result = json.loads(render("-t", d / "t.jinja", "--jsonl", stdin=request))
        same(result["text"], "a\ud800b")


def test_color_and_html_show_everything_and_hide_controls():
    request = {"messages": [{"role": "user", "content": "a\x1b[31m<b>&\x00"}]}
    with template("T{{ messages[0].content }}") as d:
        color = render("-t", d / "t.jinja", "--color", stdin=request)
        same(re.sub(r"\x1b\[[\d;]*m", "", color).split("\n")[0], "Ta\u241b[31m<b>&\u2400")
        html = render("-t", d / "t.jinja", "--html", stdin=request)
        contains(html, 'title="input: messages[0].content">a\u241b[31m&lt;b&gt;&amp;\u2400</span>', "<!doctype html>")


# ---- JSONL

def test_jsonl_results_in_order():
    lines = [json.dumps({"id": i, "messages": [{"role": "user", "content": str(i) * (i % 97)}]}) for i in range(5000)]
    lines[10] = "{broken"
    lines[20] = '{"id": [1, {"a": null}], "messages": 5}'
    lines[30] = "  "
    with template("{{ messages[0].content }}") as d:
        for threads in ("1", "3", "0"):
            out = [json.loads(l) for l in render("-t", d / "t.jinja", "--jsonl", "--threads", threads, stdin="\n".join(lines)).splitlines()]
            same(len(out), 4999)
            same([r["id"] for r in out if isinstance(r.get("id"), int)], [i for i in range(5000) if i not in (10, 20, 30)])
            same(out[10]["error"]["type"], "JSONDecodeError")
            same(out[10]["error"]["line"], 11)
            same((out[20]["id"], out[20]["error"]["type"]), ([1, {"a": None}], "ValueError"))
            same(out[4998]["text"], "4999" * (4999 % 97))


def test_jsonl_errors_say_which_line_they_answer():
    deep = '{"id": 7, "messages": ' + "[" * 1200 + "]" * 1200 + "}"
    lines = [json.dumps(HELLO), "", "  ", "nope", deep, "", "[1]", '"text"', json.dumps({"id": 9, "messages": 5}), json.dumps({"messages": 5}), "{"]
    with template("{{ messages[0].content }}") as d:
        for threads in ("1", "3"):
            out = [json.loads(l) for l in render("-t", d / "t.jinja", "--jsonl", "--threads", threads, stdin="\n".join(lines)).splitlines()]
            same([r.get("line") for r in out], [None, 4, 5, 7, 8, 9, 10, 11])
            same([r["error"].get("line") for r in out[1:]], [4, 5, None, None, None, None, 11])
            same([r["error"]["code"] for r in out[1:3]], ["json", "limit_depth"])
    with template("a\n{{ 1 + 'a' }}") as d:  # a place in the template is none in the line
        out = [json.loads(l) for l in render("-t", d / "t.jinja", "--jsonl", stdin="\n\n" + json.dumps(HELLO), code=1).splitlines()]
        same((out[0]["line"], out[0]["error"]["line"]), (3, 2))


def test_jsonl_ids_are_json():
    ids = {"1e400": "1e999", "-1e999": "-1e999", "NaN": "null", '{"a": [1e400, "Infinity"]}': '{"a":[1e999,"Infinity"]}', '"NaN"': '"NaN"', "1e308": "1e+308",
           "123456789012345678901234567890": "123456789012345678901234567890"}
    with template("{{ messages[0].content }}") as d:
        for given, expected in ids.items():
            for messages in ('[{"role": "user", "content": "Hi"}]', "5"):
                out = render("-t", d / "t.jinja", "--jsonl", stdin='{"id": ' + given + ', "messages": ' + messages + "}", code=1 if messages == "5" else 0)
                assert out.startswith('{"id": ' + expected + ", "), out


def test_jsonl_answers_at_once():
    with template("{{ messages[0].content }}") as d:
        with subprocess.Popen([BINARY, "render", "-t", str(d / "t.jinja"), "--jsonl"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            for i in range(3):
                process.stdin.write((json.dumps({"messages": [{"role": "user", "content": str(i)}]}) + "\n").encode())
                process.stdin.flush()
                same(json.loads(process.stdout.readline())["text"], str(i))
            process.stdin.close()
            same(process.wait(timeout=60), 0)


def test_jsonl_errors_have_type_and_place():
    rows = [
        ("{{ raise_exception('no') }}", "TemplateError", 1),
        ("a\n{{ messages.x.y }}", "UndefinedError", 2),
        ("{{ 1 + 'a' }}", "TypeError", 1),
    ]
    for text, kind, line in rows:
        with template(text) as d:
            error = json.loads(render("-t", d / "t.jinja", "--jsonl", stdin=HELLO, code=1))["error"]
            same((error["type"], error["line"]), (kind, line))
            assert error["column"] >= 1 and error["message"], error
    with template("{% if %}") as d:
        out, _ = run("render", "-t", d / "t.jinja", "--jsonl", stdin=json.dumps({"id": 1, **HELLO}) + "\n", code=1)
        same((json.loads(out)["id"], json.loads(out)["error"]["type"]), (1, "TemplateSyntaxError"))
    row = {"id": 1, "source": "{% if %}", "context": HELLO}
    error = json.loads(run("render", "--jsonl", stdin=json.dumps(row) + "\n", code=1)[0])
    same((error["id"], error["error"]["type"]), (1, "TemplateSyntaxError"))


def test_jsonl_lines_with_their_own_source():
    lines = [
        {"id": 1, "source": "{{ x }}", "context": {"x": 1}},
        {"id": 2, "source": "{% for", "context": {}},
        {"id": 3, "source": "  {% if true %}\n a{% endif %}", "context": {}, "settings": {"trim_blocks": False, "lstrip_blocks": False}},
        {"id": 4, "context": {}},
        {"id": 5, "source": "{{ id }}", "context": {"id": 1}},
    ]
    out = [json.loads(l) for l in render("--as-is", "--jsonl", stdin="\n".join(map(json.dumps, lines))).splitlines()]
    same([r["id"] for r in out], [1, 2, 3, 4, 5])
    same(out[0]["text"], "1")
    same(out[1]["error"]["type"], "TemplateSyntaxError")
    same(out[2]["text"], "  \n a")
    contains(out[3]["error"]["message"], "source")


# ---- errors

def test_errors_show_the_place():
    with template("line one\n{{ messages[0].content.lowr() }}\n") as d:
        err = failure("-t", d / "t.jinja", stdin=HELLO)
        contains(err, "t.jinja", "2", "lowr", "^", "did you mean 'lower'?")
        contains(failure("-t", d / "t.jinj", stdin=HELLO, code=3), "did you mean 't.jinja'?")
        contains(failure("-t", d / "t.jinja", stdin='{"messages": [}', code=3), "^")
        contains(failure("-t", d / "t.jinja", stdin="{}", code=3), "messages")
        contains(failure("-t", d / "t.jinja", d / "none.json", code=3), "none.json")


def test_usage_errors():
    for arguments in (["-t", "a", "-f", "b"], ["-m", "a", "-f", "b"], [], ["--jsn"], ["-f", "terminal-agent", "--json", "--html"], ["-f", "terminal-agent", "--max-steps", "x"],
                      ["-t", "x", "--example", "--jsonl"]):
        failure(*arguments, stdin=HELLO, code=2)
    contains(failure("-f", "terminal-agent", "--jsn", stdin=HELLO, code=2), "--json")
    contains(run("rendr", code=2)[1], "no command 'rendr'", "did you mean 'render'?")
    contains(run("bogus", "-x", code=2)[1], "no command 'bogus'", "parlance --help")
    contains(failure("-f", "chatlm", stdin=HELLO, code=2), "did you mean 'chatml'?")


def test_limits():
    rows = [
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "--max-steps", "10K"),
        ("{% for i in range(9999) %}aaaaaaaaaa{% endfor %}", "--max-output", "1K"),
        ("{% set x = 'a' * 100000000 %}", "--max-memory", "1M"),
        ("{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}", "--max-depth", "20"),
    ]
    for text, option, value in rows:
        with template(text) as d:
            failure("-t", d / "t.jinja", option, value, stdin=HELLO, code=4)


def test_help_and_version():
    contains(run("--help")[0], "render")
    text = run("render", "--help")[0]
    contains(text, "Examples:", "Exit codes:", "--jsonl", "--as-is")
    contains(run("--version")[0], "parlance ")


def test_examples_of_the_documentation():
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 4
    with tempfile.TemporaryDirectory() as bin_folder, tempfile.TemporaryDirectory() as work:
        os.symlink(BINARY, os.path.join(bin_folder, "parlance"))
        os.symlink(ROOT / "formats", os.path.join(work, "formats"))
        for block in blocks:
            done = subprocess.run(["sh", "-euc", block], cwd=work, capture_output=True, timeout=60,
                                  env={**os.environ, "PATH": bin_folder + os.pathsep + os.environ["PATH"]})
            said = [line for line in done.stderr.decode().splitlines() if not line.startswith("note: ")]
            assert done.returncode == 0 and not said, f"{block}\n{done.stderr.decode()}"


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "command line tests"))
