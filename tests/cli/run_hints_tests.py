#!/usr/bin/env python3
"""Words that people need: what stands in for what they gave, what has no effect, what a failed request may have wrong.

    run_hints_tests.py path/to/parlance [NAME...]

Losses of messages and tools have run_losses_tests.py. Here are settings against each other, options, hints of errors, and the notes
of models and tokenizers.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = str(pathlib.Path(sys.argv[1]).resolve())
CHATML = ROOT / "tests" / "tokenizers" / "chatml"
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
HI = {"messages": [{"role": "user", "content": "Hi"}]}
TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}
OTHER = {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {}}}


def run(folder, verb, template, request, *options):
    pathlib.Path(folder, "t.jinja").write_text(template)
    text = request if isinstance(request, str) else json.dumps(request)
    return subprocess.run([BINARY, verb, "-t", "t.jinja", *map(str, options)], input=text, capture_output=True, text=True, cwd=folder)


def losses(folder, template, request, *options):
    done = run(folder, "render", template, request, "--json", *options)
    assert done.returncode == 0, done.stderr
    return [(one["kind"], one["subject"], one["path"]) for one in json.loads(done.stdout)["losses"]]


def lost(folder, template, request, *options):
    return [(subject, path) for kind, subject, path in losses(folder, template, request, *options) if kind == "lost"]


# ---- one thing said twice

TOOLS = "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for d in documents or [] %}{{ d.title }}{{ d.text }}{% endfor %}" + PLAIN


def test_kwargs_over_the_request(folder):
    document, paper = {"title": "a", "text": "Rain."}, {"title": "b", "text": "Sun."}
    for name, subject, own, other in (("tools", "tool", [TOOL], [OTHER]), ("documents", "document", [document], [paper])):
        both = {**HI, name: own, "chat_template_kwargs": {name: other}}
        assert lost(folder, TOOLS, both) == [(subject, name)], lost(folder, TOOLS, both)
        assert run(folder, "render", TOOLS, both, "--strict").returncode == 1
        for same in ({**HI, name: own, "chat_template_kwargs": {name: own}}, {**HI, name: None, "chat_template_kwargs": {name: own}},
                     {**HI, name: [], "chat_template_kwargs": {name: own}}, {**HI, "chat_template_kwargs": {name: own}}):
            assert lost(folder, TOOLS, same) == [], (same, lost(folder, TOOLS, same))
    reads = PLAIN + "{{ tone }}{{ enable_thinking }}"
    for name, one, two in (("tone", "kind", "stern"), ("enable_thinking", True, False)):
        both = {**HI, name: one, "chat_template_kwargs": {name: two}}
        assert ("setting", name) in lost(folder, reads, both), lost(folder, reads, both)


def test_each_member_of_kwargs_counts(folder):
    for name, value in (("model", "m"), ("temperature", 0.5), ("user", "u"), ("stop", ["x"]), ("chat_template", "x"),
                        ("messages", HI["messages"]), ("chat_template_kwargs", {"a": 1})):
        request = {**HI, "chat_template_kwargs": {name: value}}
        assert lost(folder, PLAIN, request) == [("setting", "chat_template_kwargs." + name)], (name, lost(folder, PLAIN, request))
    # a template that reads one gets it, and the request's own member of that name stays the server's
    both = {**HI, "model": "own", "chat_template_kwargs": {"model": "given"}}
    done = run(folder, "render", PLAIN + "[{{ model }}]", both)
    assert done.stdout == "<user>Hi[given]" and done.stderr == "", done
    assert run(folder, "render", PLAIN + "[{{ model }}]", {**HI, "model": "own"}).stdout == "<user>Hi[]"


def test_kwargs_within_kwargs(folder):
    done = run(folder, "render", PLAIN, {**HI, "chat_template_kwargs": {"chat_template_kwargs": {"a": 1}}})
    assert "did you mean" not in done.stderr and "belong into the outer one" in done.stderr, done.stderr


def test_variables_over_the_request(folder):
    ho = json.dumps([{"role": "user", "content": "Ho"}])
    assert lost(folder, PLAIN, HI, "--var", "messages=" + ho) == [("message", "messages")]
    assert lost(folder, PLAIN, HI, "--var", "messages=" + json.dumps(HI["messages"])) == []
    assert lost(folder, PLAIN, HI, "--as-is", "--var", "messages=" + ho) == [("message", "messages")]
    assert lost(folder, TOOLS, {**HI, "tools": [TOOL]}, "--var", "tools=" + json.dumps([OTHER])) == [("tool", "tools")]
    assert lost(folder, TOOLS, HI, "--var", "tools=" + json.dumps([OTHER])) == []
    assert lost(folder, PLAIN + "{{ tone }}", {**HI, "tone": "kind"}, "--var", "tone=stern") == []  # what the option is for
    gemini = {"contents": [{"parts": [{"text": "Hi"}]}]}
    assert [subject for subject, _ in lost(folder, PLAIN, gemini, "--var", "messages=" + ho)] == ["message"]


# ---- values that are not taken

SWITCH = PLAIN + "{% if enable_thinking is defined and enable_thinking is false %}<off>{% endif %}"
TRUTHY = PLAIN + "{% if enable_thinking %}<on>{% endif %}"
WORDS = PLAIN + "{% if enable_thinking == 'false' or enable_thinking is false %}<off>{% endif %}"


def test_texts_for_booleans(folder):
    for template in (SWITCH, TRUTHY):
        for value in ("false", "False", "no", "off", "0"):
            for request in ({**HI, "enable_thinking": value}, {**HI, "chat_template_kwargs": {"enable_thinking": value}}):
                path = "enable_thinking" if "enable_thinking" in request else "chat_template_kwargs.enable_thinking"
                assert lost(folder, template, request) == [("setting", path)], (template, value, lost(folder, template, request))
    assert lost(folder, SWITCH, {**HI, "enable_thinking": 0}) == [("setting", "enable_thinking")]
    done = run(folder, "render", SWITCH, {**HI, "enable_thinking": "false"})
    assert "write false, without quotes" in done.stderr, done.stderr
    for template, value in ((SWITCH, False), (SWITCH, True), (SWITCH, "true"), (TRUTHY, "true"), (TRUTHY, 1), (TRUTHY, 0), (WORDS, "false"),
                            (PLAIN + "{{ enable_thinking }}", "false"), (PLAIN + "{{ enable_thinking }}", 1)):
        assert lost(folder, template, {**HI, "enable_thinking": value}) == [], (template, value)


LEVELS = PLAIN + "{% if reasoning_effort is defined %}<{{ {'low': 'low', 'high': 'high'}[reasoning_effort] }}>{% endif %}"


def test_efforts_that_a_switch_cannot_say(folder):
    for effort in ("minimal", "low"):
        for request in ({**HI, "reasoning_effort": effort}, {**HI, "reasoning": {"effort": effort}}):
            assert [subject for subject, _ in lost(folder, SWITCH, request)] == ["setting"], (effort, losses(folder, SWITCH, request))
    done = run(folder, "render", SWITCH, {**HI, "reasoning_effort": "minimal"})
    assert done.stderr.startswith("note: reasoning_effort: switches reasoning on: the template has no levels"), done.stderr
    for effort in ("none", "medium", "high", "xhigh", "max"):
        assert lost(folder, SWITCH, {**HI, "reasoning_effort": effort}) == [], effort
    assert lost(folder, LEVELS, {**HI, "reasoning_effort": "low"}) == []


def test_one_token_is_no_slip_for_another(folder):
    template = "{{ bos_token }}" + PLAIN
    for more in (("--var", "eos_token=</s>"), ("--var", "eos_token=</s>", "--var", "pad_token=<p>")):
        assert lost(folder, template, HI, *more) == [("special token", "bos_token")], lost(folder, template, HI, *more)
    assert ("variable", "bos_token") in lost(folder, template, {**HI, "bos_tokn": "<s>"})


def test_a_request_of_another_api_as_it_is(folder):
    for name in ("contents", "conversations"):
        done = run(folder, "render", PLAIN, {**HI, name: [{"a": 1}]}, "--as-is")
        assert f"note: {name}: no effect" in done.stderr and "did you mean" not in done.stderr, done.stderr


# ---- strings stay strings

def test_a_changed_string_is_no_list(folder):
    request = {"messages": [{"role": "user", "content": "Please tell me why?"}]}
    for expression, prompt in (("(m.content|string)[8:]", "ell me why?"), ("m.content|upper", "PLEASE TELL ME WHY?"), ("m.content[:6]", "Please"),
                               ("(m.content|tojson)[9:-1]", "ell me why?"), ("m.content.split()[1]", "tell")):
        template = "{% for m in messages %}<{{ m.role }}>{{ " + expression + " }}{% endfor %}"
        assert run(folder, "render", template, request, "-q").stdout == "<user>" + prompt, run(folder, "render", template, request)
        twice = {"messages": [*request["messages"], *request["messages"]]}
        assert run(folder, "render", template, twice, "-q").stdout == ("<user>" + prompt) * 2, expression
        parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Please tell me why?"}]}]}
        assert run(folder, "render", template, parts, "-q").stdout == "<user>" + prompt, (expression, run(folder, "render", template, parts))


# ---- options without effect

def test_options_that_do_nothing(folder):
    pathlib.Path(folder, "chat.json").write_text(json.dumps(HI))
    def refused(words, *more):
        done = subprocess.run([BINARY, *more], capture_output=True, text=True, cwd=folder, input=json.dumps(HI))
        assert done.returncode == 2 and words in done.stderr, (more, done)
    for verb in ("render", "tokens"):
        more = ("--tokenizer", str(CHATML)) if verb == "tokens" else ()
        refused("takes no request", verb, "-f", "chatml", "--example", "chat.json", *more)
        refused("--threads is for --jsonl", verb, "-f", "chatml", "chat.json", "--threads", "2", *more)
        refused("--fail-on-error is for --jsonl", verb, "-f", "chatml", "chat.json", "--fail-on-error", *more)
    refused("--threads is for --jsonl", "convert", "--as", "openai", "chat.json", "--threads", "2")
    refused("--threads is for --jsonl", "read", "-f", "terminal-agent", "chat.json", "--threads", "2")
    done = run(folder, "render", PLAIN, HI, "--pass", "content-parts:foo,user")
    assert done.stderr == "note: --pass content-parts:foo: no effect: no message has this role\n", done.stderr
    assert run(folder, "render", PLAIN, HI, "--pass", "content-parts:user").stderr == ""
    done = run(folder, "render", PLAIN, HI, "--generation-prompt")
    assert done.stderr == "note: --generation-prompt: no effect: the template does not read add_generation_prompt\n", done.stderr
    assert run(folder, "render", PLAIN, HI, "--generation-prompt", "-q").stderr == ""
    assert run(folder, "render", PLAIN + "{% if add_generation_prompt %}<a>{% endif %}", HI, "--generation-prompt").stderr == ""


def test_output_is_no_input(folder):
    path = pathlib.Path(folder, "chat.json")
    text = json.dumps(HI)
    path.write_text(text)
    pathlib.Path(folder, "link.json").symlink_to("chat.json")
    pathlib.Path(folder, "t.jinja").write_text(PLAIN)
    for verb, more in (("render", ("-t", "t.jinja")), ("tokens", ("-t", "t.jinja", "--tokenizer", str(CHATML))), ("convert", ("--as", "openai"))):
        for output in ("chat.json", "./chat.json", "link.json"):
            done = subprocess.run([BINARY, verb, *more, "chat.json", "-o", output], capture_output=True, text=True, cwd=folder)
            assert done.returncode == 2 and "is the file that is being read" in done.stderr, (verb, output, done)
            assert path.read_text() == text
    assert subprocess.run([BINARY, "render", "-t", "t.jinja", "chat.json", "-o", "new"], cwd=folder).returncode == 0


# ---- notes of models and tokenizers

def test_notes_of_the_model(folder):
    pathlib.Path(folder, "Modelfile").write_text('FROM x\nRENDERER qwen3\nTEMPLATE """{{ range .Messages }}{{ .Content }}{{ end }}"""\n')
    pathlib.Path(folder, "chat.json").write_text(json.dumps(HI))
    pathlib.Path(folder, "chats.jsonl").write_text(json.dumps(HI) + "\n")
    def done(*more):
        return subprocess.run([BINARY, "render", "-m", "Modelfile", *more], capture_output=True, text=True, cwd=folder)
    words = "Ollama renders this model by its own code, 'qwen3'"
    assert words in done("chat.json").stderr and words in done("--jsonl", "chats.jsonl").stderr, done("chat.json")
    assert words not in done("chat.json", "-q").stderr
    assert any(words in note for note in json.loads(done("chat.json", "--json").stdout)["model_notes"])
    pathlib.Path(folder, "t.jinja").write_text(PLAIN)
    assert words not in done("-t", "t.jinja", "chat.json").stderr


def test_notes_name_options(folder):
    done = run(folder, "tokens", PLAIN, HI, "--tokenizer", CHATML, "--split", "gpt2")
    assert "--split: no effect" in done.stderr, done.stderr


def test_many_notes_of_a_tokenizer(folder):
    more = pathlib.Path(folder, "more")
    shutil.copytree(CHATML, more)
    config = json.loads((more / "tokenizer_config.json").read_text())
    config["additional_special_tokens"] = [f"<extra_{i}>" for i in range(50)]
    (more / "tokenizer_config.json").write_text(json.dumps(config))
    notes = [line for line in run(folder, "tokens", PLAIN, HI, "--tokenizer", "more").stderr.splitlines() if "tokenizer.json and is added" in line or "more notes" in line]
    assert len(notes) == 21 and "more notes; --verbose says all" in notes[-1], notes
    assert run(folder, "tokens", PLAIN, HI, "--tokenizer", "more", "-v").stderr.count("<extra_") == 50


def test_tokens_of_the_file_are_no_news(folder):
    more = pathlib.Path(folder, "more")
    shutil.copytree(CHATML, more)
    file = json.loads((more / "tokenizer.json").read_text())
    config = json.loads((more / "tokenizer_config.json").read_text()) | {"tokenizer_class": "Qwen2Tokenizer"}
    config["added_tokens_decoder"] = {str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in file["added_tokens"]}
    (more / "tokenizer_config.json").write_text(json.dumps(config))
    done = run(folder, "tokens", PLAIN, HI, "--tokenizer", "more", "--model-as", "transformers")
    assert done.returncode == 0 and "is not in tokenizer.json" not in done.stderr, done.stderr


# ---- marks that are text for the tokenizer

MARKS = {
    "<start_of_turn>": "{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n",
    "[INST]": "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}<eos>{% endif %}{% endfor %}",
    "[|user|]": "{% for m in messages %}[|{{ m.role }}|]{{ m.content }}[|endofturn|]\n{% endfor %}",
    "<SPECIAL_10>": "{% for m in messages %}<SPECIAL_10>{{ m.role | capitalize }}\n{{ m.content }}\n{% endfor %}<SPECIAL_11>Assistant\n",
    "[e~[": "{% for m in messages %}]~b]{{ m.role }}\n{{ m.content }}[e~[\n{% endfor %}",
}


# behind the header of the reply a template may open something else, by tokens that other models have, too
MARKS |= {"<SPECIAL_12>": MARKS["<SPECIAL_10>"].replace("_10>", "_12>") + "<tool_call>", "[a~[": MARKS["[e~["].replace("[e~[", "[a~[") + "]~b]ai\n<tool_call>\n"}


def plain_marks(folder, template, request, *more):
    done = run(folder, "tokens", template, request, "--tokenizer", CHATML, *more)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("note: the template writes")]
    return lines[0] if lines else ""


def test_marks_at_turns_that_are_text(folder):
    for mark, template in MARKS.items():
        for messages in (HI["messages"], [*HI["messages"], {"role": "assistant", "content": "Ho"}, *HI["messages"]]):
            assert f"'{mark}'" in plain_marks(folder, template, {"messages": messages}), (mark, plain_marks(folder, template, {"messages": messages}))
        assert plain_marks(folder, template, HI, "-q") == ""
    assert "'<bos>'" in plain_marks(folder, "{{ bos_token }}" + PLAIN, HI, "--var", "bos_token=<bos>")


def test_marks_that_are_text_on_purpose(folder):
    turns = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    for template in (turns, "<tools>[]</tools>" + turns, turns + "<tools>\n", turns.replace("{{ m.content }}", "<text>{{ m.content }}</text>"),
                     "{% for m in messages %}[INST] {{ m.content }} [/INST]<|im_end|>{% endfor %}",  # turns end with a control token
                     "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}\n\n{% endfor %}ASSISTANT:",
                     "{% for m in messages %}### {{ m.role }}:\n{{ m.content }}\n{% endfor %}",
                     "{{ messages | tojson }}", "{% for m in messages %}{{ {'role': m.role, 'content': m.content} | tojson }}\n{% endfor %}"):
        assert plain_marks(folder, template, HI) == "", (template, plain_marks(folder, template, HI))
    for template, marks in (("<|turn><|think|>{{ messages[0].content }}<|a|><|b|>", ["<|think|>", "<|a|>", "<|b|>", "<|turn>"]), ("<|a|><|b|>{{ messages[0].content }}", ["<|a|>", "<|b|>"]),
                            ("<|c><d|>{{ messages[0].content }}", ["<|c>", "<d|>"]), ("<\uff5ca\uff5c><\uff5cb><|c|>{{ messages[0].content }}", ["<\uff5ca\uff5c>", "<|c|>", "<\uff5cb>"])):
        said = plain_marks(folder, template, HI)  # each by itself
        assert all(f"'{mark}'" in said for mark in marks) and said.count("'") == 2 * len(marks), (template, said)
    said = {"messages": [{"role": "user", "content": "<start_of_turn> [INST]"}, {"role": "assistant", "content": "<end_of_turn>"}, *HI["messages"]]}
    assert plain_marks(folder, "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}", said) == ""


# ---- hints of errors

STRICT = ("{% for m in messages %}<{{ m.role }}>{{ m.content + '' }}{% for c in m.tool_calls or [] %}{{ c.function.name + '' }}"
          "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}")


def hint(folder, request, *options):
    done = run(folder, "render", STRICT, request, *options)
    assert done.returncode != 0, done.stdout
    return done.stderr


def test_hints_on_calls(folder):
    def calls(call):
        return {"messages": [*HI["messages"], {"role": "assistant", "content": "", "tool_calls": [call]}]}
    for name in ("args", "input", "parameters"):
        for call in ({"id": "1", "type": "function", "function": {"name": "f", name: {"a": 1}}}, {"id": "1", "name": "f", name: {"a": 1}}):
            said = hint(folder, calls(call))
            assert f"messages[1].tool_calls[0].function has '{name}': templates read a call's arguments as 'arguments'" in said, (call, said)
    for name, call in (("arguments", {"arguments": "{}", "function": {"name": "f"}}), ("name", {"name": "f", "function": {"arguments": {}}})):
        said = hint(folder, calls({"id": "1", "type": "function", **call}))
        assert f"messages[1].tool_calls[0] has '{name}' beside 'function': templates read function.{name}" in said, (call, said)
    said = hint(folder, calls({"id": "1", "type": "tool_call", "name": "f", "args": {"a": 1}}))
    assert "messages[1].tool_calls[0] has 'args': templates read" in said, said


def test_hints_on_no_calls(folder):
    request = {"messages": [*HI["messages"], {"role": "assistant", "content": "Ho", "tool_calls": []}]}
    says = "hint: messages[1].tool_calls is an empty list: leave it out where there are no calls"
    for asks in ("{{ m.tool_calls[0].function.name }}", "{% if m.tool_calls | length != 1 %}{{ raise_exception('one call at once') }}{% endif %}"):
        done = run(folder, "render", "{% for m in messages %}{{ m.content }}{% if 'tool_calls' in m %}" + asks + "{% endif %}{% endfor %}", request)
        assert done.returncode != 0 and says in done.stderr, done.stderr
    request["messages"][0]["content"] = 5  # which is worse
    assert "messages[0].content is a number" in hint(folder, request)


def test_hints_on_content(folder):
    for content, words in ((["a"], "content[0] is a text: a part is an object"), ([{"type": "text", "content": "a"}], "content[0] has no 'text'"), ([{"type": "text", "text": "a"}, 5], "content[1] is a number"),
                           ({"type": "text", "text": "a"}, "content is one part: templates take a text"), ({"a": 1}, "content is an object"),
                           (5, "content is a number"), (True, "content is a boolean")):
        said = hint(folder, {"messages": [{"role": "user", "content": content}]})
        assert "messages[0]." + words in said, (content, said)


def test_hints_on_roles(folder):
    for role, words in ((7, "a number"), ({"name": "user"}, "an object"), (["user"], "a list")):
        said = hint(folder, {"messages": [{"role": "user", "content": "Hi"}, {"role": role, "content": {"a": 1}}]})
        assert f"messages[1].role is {words}: templates take a text" in said, (role, said)


def test_hints_on_requests(folder):
    for request, words in (([{"role": "user", "content": "Hi"}], 'a list of messages: write {"messages": ...} around it'),
                           ({"role": "user", "content": "Hi"}, 'a message alone: write {"messages": [...]} around it'),
                           ([HI, HI], "a list of requests: --jsonl takes them")):
        assert words in hint(folder, request), hint(folder, request)
    for request in ([1], "5", '"a"'):
        assert "JSON, but not an object" in hint(folder, request)


def test_hints_of_other_apis(folder):
    for request in ({"conversations": [{"from": "human", "value": None}]}, {"contents": [{"parts": [{"text": 5}]}]},
                    {"system": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}], "messages": []}):
        said = hint(folder, request)
        assert "hint" in said and "--skip-pass" not in said, said


def test_a_misspelt_value_names_the_nearest(folder):
    rows = [(("read", "--as", "opnai", "-f", "chatml"), "--as: takes openai, anthropic, responses or ollama, not 'opnai'; did you mean 'openai'?"),
            (("tokens", "--mask", "reasonning", "-f", "chatml"), "--mask: takes content, reasoning, calls, marker or stop, not 'reasonning'; did you mean 'reasoning'?"),
            (("convert", "--as", "x"), "--as: takes openai, anthropic or responses, not 'x'"),
            (("tokens", "--too-long", "trunkate", "-f", "chatml"), "did you mean 'truncate'?"),
            (("render", "--color=alwys", "-f", "chatml"), "did you mean 'always'?"),
            (("render", "--syntax", "jinjja", "-f", "chatml"), "did you mean 'jinja'?")]
    for words, said in rows:
        done = subprocess.run([BINARY, *words], input="{}", capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, (words, done.stderr)


def test_numbers_of_errors_are_numbers(folder):
    done = subprocess.run([BINARY, "list", "errors", "--json"], capture_output=True, text=True, check=True)
    assert all(isinstance(row["http"], int) and isinstance(row["exit"], int) for row in json.loads(done.stdout))


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of hints", tempfile.TemporaryDirectory))
