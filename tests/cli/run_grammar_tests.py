"""parlance grammar: where the format and the tools come from, what is printed, what goes to standard error, exit codes."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = str(ROOT / "tests" / "grammars" / "tools.json")


def run(*arguments, stdin=""):
    done = subprocess.run([sys.argv[1], "grammar", *arguments], input=stdin, capture_output=True, text=True, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr


def check(name, holds, *shown):
    if not holds:
        sys.exit(f"FAILED {name}: {shown}")


def wishes(request):
    """tool_choice as each API writes it gives the grammar of the options."""
    function = {"type": "function", "function": {"name": "now"}}
    for choice, options in (
        ("any", ("--tool-choice", "required")),
        (function, ("--tool-choice", "now")),
        ({"type": "function", "name": "now"}, ("--tool-choice", "now")),
        ({"type": "tool", "name": "now", "disable_parallel_tool_use": True}, ("--tool-choice", "now")),
        ({"type": "any"}, ("--tool-choice", "required")),
        ({"type": "none"}, ("--tool-choice", "none")),
        ({"type": "allowed_tools", "mode": "required", "tools": [function]}, ("--tool-choice", "now")),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function]}}, ("--tool-choice", "now")),
    ):
        got = run("--syntax", "json-schema", "-f", "rnj-1", "--request", "-", stdin=json.dumps({**request, "tool_choice": choice}))
        wanted = run("--syntax", "json-schema", "-f", "rnj-1", "--tools", TOOLS, "--no-parallel", *options)
        check(f"tool_choice {choice}", got == wanted and got[0] == 0, got, wanted)
    for choice, path in ((3, "tool_choice"), ({"type": "function"}, "tool_choice"), ({"type": "allowed_tools", "mode": "auto"}, "tool_choice.tools"),
                         ({"type": "allowed_tools", "allowed_tools": {"tools": []}}, "tool_choice.allowed_tools.mode")):
        code, out, err = run("--syntax", "json-schema", "-f", "rnj-1", "--request", "-", stdin=json.dumps({**request, "tool_choice": choice}))
        check(f"no tool_choice {choice}", code == 3 and out == "" and f"input: {path}\n" in err and "required" in err, err)


def answers():
    """The form of an answer as each API asks for it gives the grammar of the option."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    text = json.dumps(schema)
    for request, options, stdin in (
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}, ("--schema", "-"), text),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": schema}}}, ("--schema", "-"), text),
        ({"output_config": {"format": {"type": "json_schema", "schema": schema}}}, ("--schema", "-"), text),
        ({"format": schema}, ("--schema", "-"), text),
        ({"structured_outputs": {"json": text}}, ("--schema", "-"), text),
        ({"response_format": {"type": "json_object"}}, ("--json-object",), ""),
        ({"format": "json"}, ("--json-object",), ""),
        ({"response_format": {"type": "text"}}, (), ""),
        ({"guided_regex": "[ab]+"}, ("--regex", "[ab]+"), ""),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, ("--choice", "yes", "--choice", "no"), ""),
        ({"max_tool_calls": 2}, ("--max-calls", "2"), ""),
    ):
        tools = json.loads(pathlib.Path(TOOLS).read_text())
        got = run("--syntax", "gbnf", "-f", "terminal-agent", "--request", "-", stdin=json.dumps({**request, "tools": tools}))
        wanted = run("--syntax", "gbnf", "-f", "terminal-agent", "--tools", TOOLS, *options, stdin=stdin)
        check(f"an answer by {request}", got[0] == 0 and got[1] == wanted[1], got, wanted)
    for request, path in (({"response_format": {"type": "jsn"}}, "response_format"), ({"response_format": 3}, "response_format"), ({"format": 3}, "format"),
                          ({"guided_choice": [1]}, "guided_choice"), ({"regex": "a", "response_format": {"type": "json_object"}}, "regex")):
        code, out, err = run("--syntax", "gbnf", "-f", "terminal-agent", "--request", "-", stdin=json.dumps(request))
        check(f"no form {request}", code == 3 and out == "" and f"input: {path}\n" in err, err)
    lazy = json.loads(run("--syntax", "gbnf", "-f", "rnj-1", "--tools", TOOLS, "--lazy")[1])
    check("--lazy", lazy["grammar_lazy"] and lazy["grammar_triggers"] == [{"type": 1, "value": "<tool_call>"}] and lazy["grammar"].startswith("root ::= "), lazy)
    check("--lazy preserves its trigger", lazy["preserved_tokens"] == ["<tool_call>"], lazy)


def prompts():
    """Where the request's prompt opens reasoning, the grammar begins in it."""
    template = ("{%- for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
                "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
                "{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>\n\n{% endif %}{% endif %}")
    request = {"messages": [{"role": "user", "content": "hi"}]}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chat.jinja"
        path.write_text(template)
        roots = [run("--syntax", "gbnf", "-t", str(path), "--request", "-", stdin=json.dumps({**request, "chat_template_kwargs": {"enable_thinking": on}}))[1]
                 for on in (True, False)]
    check("the prompt's end", roots[0].startswith("root ::= reasoning") and roots[1].startswith("root ::= content\n"), [root[:80] for root in roots])


def control_tokens():
    """Which marks are control tokens comes from the tokenizer, or from the files of -m."""
    template = ("{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>\n"
                "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
                "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
    added = [{"id": 7, "content": "<tool_call>", "special": False}, {"id": 8, "content": "</tool_call>", "special": False},
             {"id": 9, "content": "[ABC]", "special": True}, {"id": 10, "content": "\n", "special": False}]
    note = "note: no tokenizer is known"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "chat_template.jinja").write_text(template)
        lark = ("--syntax", "lark", "--tools", TOOLS)
        code, out, err = run(*lark, "-m", name)
        check("no tokenizer", code == 0 and "\"<tool_call>" in out and note in err, out, err)
        check("of GBNF", note not in run("--syntax", "gbnf", "--tools", TOOLS, "-m", name)[2])
        (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": added, "model": {"vocab": {}}}))
        code, out, err = run(*lark, "-m", name)
        check("-m", code == 0 and " <tool_call> " in out and " </tool_call>)" in out and "\"<tool_call>\"" in out and note not in err, out, err)
        for path in (name, str(folder / "tokenizer.json")):
            check("--tokenizer", run(*lark, "-t", str(folder / "chat_template.jinja"), "--tokenizer", path)[1] == out, path)
        (folder / "tokenizer.json").write_text("{}")
        (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"7": added[0], "8": added[1]}}))
        check("tokenizer_config.json", run(*lark, "-m", name)[1] == out)
        form = json.loads((ROOT / "formats" / "rnj-1.reply.json").read_text())
        text = json.dumps(form).replace("<tool_call>", "[ABC]")
        (folder / "format.json").write_text(text)
        (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": added}))
        code, out, err = run(*lark, "--reply-format", str(folder / "format.json"), "--tokenizer", name)
        check("by its number", code == 0 and " <[9]> " in out, out, err)
        code, out, err = run(*lark, "-f", "rnj-1", "--tokenizer", str(folder / "gone.json"))
        check("no tokenizer there", code == 3 and out == "" and "gone.json" in err, code, err)
    code, out, err = run("--syntax", "lark", "--schema", "-", "--tokenizer", "x", stdin="{}")
    check("of JSON", code == 2 and "-f FORMAT" in err, code, err)


def main():
    for syntax, begin in (("gbnf", "root ::= "), ("lark", "%llguidance"), ("structural-tag", '{"type": "structural_tag"'), ("json-schema", '{"type": "array"')):
        code, out, err = run("--syntax", syntax, "-f", "rnj-1", "--tools", TOOLS)
        noted = "note: no tokenizer is known" in err if syntax == "lark" else err == ""
        check(syntax, code == 0 and out.startswith(begin) and noted, code, out[:80], err)
    json.loads(run("--syntax", "structural-tag", "-f", "chatglm3", "--tools", TOOLS)[1])

    built_in = run("--syntax", "gbnf", "-f", "underscore-bot", "--tools", TOOLS)[1]
    by_file = run("--syntax", "gbnf", "--reply-format", "formats/underscore-bot.reply.json", "--tools", TOOLS)[1]
    check("--reply-format", built_in == by_file)
    code, out, err = run("--syntax", "gbnf", "-t", "formats/underscore-bot.jinja", "--tools", TOOLS)
    check("-t", code == 0 and out.startswith("root ::= reasoning"), code, out[:80], err)

    request = {"tools": json.loads(pathlib.Path(TOOLS).read_text()), "tool_choice": "required", "parallel_tool_calls": False}
    by_request = run("--syntax", "json-schema", "-f", "rnj-1", "--request", "-", stdin=json.dumps(request))[1]
    by_options = run("--syntax", "json-schema", "-f", "rnj-1", "--tools", TOOLS, "--tool-choice", "required", "--no-parallel")[1]
    check("--request", by_request == by_options and '"minItems": 1, "maxItems": 1' in by_request, by_request)
    named = run("--syntax", "json-schema", "-f", "rnj-1", "--tools", TOOLS, "--tool-choice", "now")[1]
    check("a tool's name", '"const": "now"' in named and "get_weather" not in named, named)

    wishes(request)
    answers()
    prompts()
    control_tokens()

    for tools, said in (([1, {"type": "web_search"}], "allows less than was asked for, in places: 2"),
                        ([{"name": "f", "parameters": 3}], "allows more than the schemas, in places: 1")):
        code, out, err = run("--syntax", "gbnf", "-f", "rnj-1", "--tools", "-", stdin=json.dumps(tools))
        check(f"notes of {tools}", code == 0 and said in err and err.count("note:") == 1, err)
    err = run("--syntax", "gbnf", "-f", "rnj-1", "--tools", "-", "--notes", stdin="[1]")[2]
    check("no tool", err == "[0]: no tool, which is an object with a name: left out\n", err)
    for request_, path in (({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
                           ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": 1}}, "tool_choice.disable_parallel_tool_use")):
        code, out, err = run("--syntax", "gbnf", "-f", "rnj-1", "--request", "-", stdin=json.dumps(request_))
        check(f"no flag {path}", code == 3 and out == "" and f"input: {path}\n" in err and "neither true nor false" in err, err)
    code, out, err = run("--syntax", "gbnf", "-f", "rnj-1", "--request", "-", stdin='{"parallel_tool_calls": null}')
    check("a flag of null", code == 0 and err == "", err)

    schema = '{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}'
    code, out, err = run("--syntax", "gbnf", "--schema", "-", stdin=schema)
    check("a note in short", code == 0 and "in places: 1" in err and "--notes" in err, err)
    code, out, err = run("--syntax", "gbnf", "--schema", "-", "--notes", stdin=schema)
    check("--notes", code == 0 and err == "schema: uniqueItems: not held to\n", err)

    wrong = (("type", "strng"), ("type", 5), ("type", ["string", "x"]), ("enum", "abc"), ("minLength", "x"), ("pattern", 5), ("items", "string"), ("required", True),
             ("properties", ["a"]), ("anyOf", {"type": "string"}), ("additionalProperties", "no"), ("maxItems", [1]), ("not", "string"), ("$ref", 5))
    for keyword, value in wrong:
        for schema_, path in (({keyword: value}, "schema"), ({"type": "object", "properties": {"a": {keyword: value}}}, "properties.a")):
            code, out, err = run("--syntax", "gbnf", "--schema", "-", "--notes", stdin=json.dumps(schema_))
            check(f"{keyword} of a wrong form", code == 0 and f"{path}: {keyword}: " in err and "not held to" in err, (keyword, value, path, err))
    right = {"type": ["string", "null"], "enum": ["a", None], "minLength": 1.0, "pattern": None, "required": [], "items": True}
    err = run("--syntax", "gbnf", "--schema", "-", "--notes", stdin=json.dumps(right))[2]
    check("keywords of a right form, and null as if it were not there", "of no form" not in err, err)

    for flag in ("--any-order", "--text-around-calls"):
        plain, other = (run("--syntax", "lark", "-f", "rnj-1", "--tools", TOOLS, *more) for more in ((), (flag,)))
        check(flag, other[0] == 0 and other[1] != plain[1], other)
    err = run("--syntax", "gbnf", "-f", "chatglm3", "--tools", TOOLS, "--text-around-calls", "--notes")[2]
    check("no text around calls", "replies: no text around calls" in err, err)
    schema = '{"type": "object", "properties": {"a": {}, "b": {}}}\n'
    code, out, err = run("--syntax", "json-schema", "--schema", "-", "--any-order", stdin=schema)
    check("--schema as JSON Schema in any order", code == 0 and out == schema, out, err)
    check("an order that is the engine's own", err == "note: --any-order has no effect in json-schema: the order is the engine's own\n", err)
    code, out, err = run("--syntax", "lark", "--schema", "-", stdin="false")
    check("--schema false", code == 1 and out == "" and "no value fits the schema" in err, code, out, err)

    for name, arguments, code, hint in (
        ("no format", ("--syntax", "gbnf"), 2, "-f FORMAT"),
        ("no such syntax", ("--syntax", "bnf", "-f", "rnj-1"), 2, "structural-tag"),
        ("no such tool", ("--syntax", "gbnf", "-f", "rnj-1", "--tools", TOOLS, "--tool-choice", "gone"), 1, "gone"),
        ("--schema of a reply", ("--syntax", "gbnf", "--schema", "-", "--tools", TOOLS), 2, "-f FORMAT"),
        ("two forms of an answer", ("--syntax", "gbnf", "-f", "rnj-1", "--json-object", "--regex", "a"), 2, "--schema, --regex"),
        ("a pattern that looks around", ("--syntax", "gbnf", "-f", "rnj-1", "--regex", "(?=a)b"), 1, "a look around"),
        ("a lazy grammar of Lark", ("--syntax", "lark", "-f", "rnj-1", "--tools", TOOLS, "--lazy"), 2, "--syntax gbnf"),
        ("a lazy grammar without tools", ("--syntax", "gbnf", "-f", "rnj-1", "--lazy"), 1, "it needs tools"),
        ("two formats", ("--syntax", "gbnf", "-f", "rnj-1", "--reply-format", "formats/rnj-1.reply.json"), 2, "--reply-format"),
        ("a request that is no object", ("--syntax", "gbnf", "-f", "rnj-1", "--request", TOOLS), 3, "--tools"),
        ("an effort without a request", ("--syntax", "gbnf", "-f", "rnj-1", "--reasoning-effort", "low"), 2, "--request"),
        ("tools that are no list", ("--syntax", "gbnf", "-f", "rnj-1", "--tools", "CMakePresets.json"), 3, "input: CMakePresets.json"),
        ("no file at all", ("--syntax", "gbnf", "-f", "rnj-1", "--tools", ""), 2, "--tools: takes the name of a file"),
        ("no request at all", ("--syntax", "gbnf", "-f", "rnj-1", "--request="), 2, "--request"),
        ("no such file", ("--syntax", "gbnf", "-f", "rnj-1", "--tools", "gone.json"), 3, "gone.json"),
    ):
        got, out, err = run(*arguments)
        check(name, got == code and hint in err and out == "", got, err)
    print("ok")


if __name__ == "__main__":
    main()
