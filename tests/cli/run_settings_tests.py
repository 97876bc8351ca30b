#!/usr/bin/env python3
"""What a request asks for and its prompt does not heed: booleans that are none, switches of reasoning, the end of the prompt, special tokens, members of other APIs.

    run_settings_tests.py path/to/parlance
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import check
from loss_commands import BINARY, ONLY_TEXT, losses, losses_of_each, run, user

GO = ("--syntax", "go")
TRUE = ("true", "True", "TRUE", " true", "yes", "Yes", "on", "ON", "1", "enabled", 1, 1.0)
FALSE = ("false", "False", "FALSE", "false\n", "no", "NO", "off", "Off", "0", "disabled", 0, 0.0)


def messages_of(found):
    return [(one["path"], one["message"], one.get("hint", "")) for one in found]


def named(template, request, *options):
    return json.loads(run(template, request, "--json", *options).stdout)["losses"]


def test_a_switch_that_is_no_boolean_is_lost_wherever_the_prompt_is_another_than_the_right_one():
    three = "{{ messages[0].content }}{% if NAME is defined %}{{ '<on>' if NAME is true else '<off>' if NAME is false else '<what>' }}{% endif %}"
    for name in ("enable_thinking", "thinking"):
        for words, right in ((TRUE, "true"), (FALSE, "false")):
            for word in words:
                for request in ({**user("Hi"), name: word}, {**user("Hi"), "chat_template_kwargs": {name: word}}):
                    path = name if name in request else f"chat_template_kwargs.{name}"
                    found = [one for one in named(three.replace("NAME", name), request) if one["kind"] == "lost"]
                    quoted = isinstance(word, str)
                    said = (path, f"a {'text' if quoted else 'number'}, which the template does not take for {right}", f"write {right}" + ", without quotes" * quoted)
                    assert messages_of(found) == [said], (name, word, found)
        for value in (True, False):
            assert losses(three.replace("NAME", name), {**user("Hi"), name: value}) == [], value
    # what the template asks for, or prints, it heeds; and what is as good as a boolean
    asks = "{{ messages[0].content }}{{ '<on>' if enable_thinking == 'on' else '<off>' if enable_thinking == 'off' else '<what>' }}"
    for word in ("on", "off"):
        assert losses(asks, {**user("Hi"), "enable_thinking": word}) == [], word
    assert losses("{{ messages[0].content }}{{ enable_thinking }}", {**user("Hi"), "enable_thinking": "false"}) == []
    truth = "{{ messages[0].content }}{{ '<on>' if enable_thinking else '<off>' }}"
    for word in ("true", "yes", "1", 1, 0, 0.0):
        assert losses(truth, {**user("Hi"), "enable_thinking": word}) == [], word
    assert losses(truth, {**user("Hi"), "enable_thinking": "false"}) == [("lost", "setting", "enable_thinking")]
    # a variable of another name may take more than a boolean
    assert losses(three.replace("NAME", "mode"), {**user("Hi"), "mode": "off"}) == []


def test_a_switch_of_a_go_template_that_is_no_boolean_is_lost():
    thinks = "{{ range .Messages }}{{ .Content }}{{ end }}{{ if and .IsThinkSet .Think }}<{{ .ThinkLevel }}>{{ else if .IsThinkSet }}<no>{{ else }}<usual>{{ end }}"
    for word in (*TRUE, *FALSE):
        found = losses(thinks, {**user("Hi"), "enable_thinking": word}, *GO)
        assert found == [("lost", "setting", "enable_thinking")], (word, found)
    for value in (True, False):
        assert losses(thinks, {**user("Hi"), "enable_thinking": value}, *GO) == [], value
    # Ollama's own word counts first
    assert losses(thinks, {**user("Hi"), "think": False, "enable_thinking": "false"}, *GO) == []
    plain = "{{ range .Messages }}{{ .Content }}{{ end }}"
    assert [path for _, _, path in losses(plain, {**user("Hi"), "enable_thinking": "false"}, *GO)] == ["enable_thinking"]


def test_a_switch_of_reasoning_as_openrouter_has_it_is_an_effort():
    switch = "{{ messages[0].content }}{{ '<no>' if enable_thinking is defined and not enable_thinking }}"
    levels = "{{ messages[0].content }}{{ '<%s>' % reasoning_effort if reasoning_effort in ['low', 'high'] }}"
    default_off = "{{ messages[0].content }}{{ '<think>' if thinking }}"
    for template, reasoning, end in ((switch, {"enabled": False}, "<no>"), (switch, {"enabled": True}, "Hi"), (switch, {"enabled": False, "exclude": True}, "<no>"),
                                     (default_off, {"enabled": True}, "<think>"), (default_off, {"enabled": False}, "Hi"), (levels, {"enabled": True, "effort": "low"}, "<low>"),
                                     (levels, {"enabled": None, "effort": "low"}, "<low>"), (switch, {"enabled": False, "effort": None}, "<no>")):
        request = {**user("Hi"), "reasoning": reasoning}
        assert losses(template, request) == [], (template, reasoning, losses(template, request))
        assert run(template, request, "--strict").stdout.endswith(end), (template, reasoning)
    for template, reasoning, lost in ((levels, {"enabled": False, "effort": "high"}, "reasoning.enabled"), (switch, {"enabled": True, "effort": "none"}, "reasoning.enabled"),
                                      (levels, {"enabled": "false"}, "reasoning"), (levels, {"enabled": True}, "reasoning"), (levels, {"enabled": 1}, "reasoning")):
        assert losses(template, {**user("Hi"), "reasoning": reasoning}) == [("lost", "setting", lost)], (reasoning, losses(template, {**user("Hi"), "reasoning": reasoning}))
    assert {kind for kind, _, _ in losses("{{ messages[0].content }}", {**user("Hi"), "reasoning": {"enabled": False}})} == {"left out"}
    both = {**user("Hi"), "reasoning_effort": "high", "reasoning": {"enabled": False}}
    assert losses(levels, both) == [("lost", "setting", "reasoning.enabled")], losses(levels, both)


def test_a_member_of_another_api_is_named_as_such_where_nothing_converts_it():
    parts = [{"text": "a"}]
    for request, members, api in (({"contents": [{"parts": parts}]}, ["contents"], "Gemini"),
                                  ({"contents": [{"parts": parts}], "systemInstruction": {"parts": parts}}, ["contents", "systemInstruction"], "Gemini"),
                                  ({"contents": "a", "system_instruction": {"parts": parts}}, ["contents", "system_instruction"], "Gemini"),
                                  ({"conversations": [{"from": "human", "value": "a"}]}, ["conversations"], "ShareGPT"),
                                  ({"input": "a", "instructions": "b"}, ["input", "instructions"], "OpenAI Responses"),
                                  ({"input": [{"role": "user", "content": "a"}]}, ["input"], "OpenAI Responses"),
                                  ({"system": "a", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "b"}]}]}, ["system"], "Anthropic Messages")):
        found = messages_of(named(ONLY_TEXT, {**request, "bos_token": ""}, "--as-is"))
        hint = f"it is of {api}, whose requests are converted if no option forbids it"
        for member in members:
            assert (member, "no effect: the template does not read it", hint) in found, (member, found)
        fails = run("{{ messages[0].content }}", request, "--as-is") if "messages" not in request else None
        assert fails is None or f"hint: a request of {api}, which is converted if no option forbids it\n" in fails.stderr, fails.stderr
    # beside messages they are members that chat templates do not take
    chat = {"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]}
    found = messages_of(named(ONLY_TEXT, {**chat, "input": "b", "instructions": "c", "system": "d", "bos_token": ""}, "--as-is"))
    assert [hint for _, _, hint in found] == ["chat templates take it as the user's message"] + ["chat templates take the system's text as a message"] * 2, found
    # a converted request has them no more
    assert losses(ONLY_TEXT, {"contents": [{"parts": parts}], "bos_token": ""}) == []


def test_no_list_where_a_list_should_be_is_a_loss():
    for name in ("tools", "documents"):
        whole, letters = "{{ messages[0].content }}{{ %s }}" % name, "{{ messages[0].content }}{%% for t in %s %%}<{{ t }}>{%% endfor %%}" % name
        made = letters.replace("{{ t }}", "{{ t | tojson }}")
        for template, value, paths in ((whole, "abc", []), (letters, "abc", [name]), (made, "abc", [name]), ("{{ messages[0].content }}", "abc", [name]),
                                       (letters, {"a": "b"}, [name]), ("{{ messages[0].content }}", {"a": {"b": "c"}}, [name]), (letters, {"a": "b", "c": "d"}, [name]),
                                       ("{{ messages[0].content }}{{ %s | tojson }}" % name, {"a": "b"}, [])):
            for options in (("--as-is",), ("--no-adapt", "--var", f"{name}={json.dumps(value)}")):
                request = user("Hi") if "--var" in options else {**user("Hi"), name: value}
                found = [one for one in named(template, request, *options) if one["kind"] == "lost" and one["subject"] != "data"]
                assert [one["path"] for one in found] == paths, (template, value, options, found)
                assert all(one.get("hint") == f"{name} is a list" for one in found), found
        assert f"`{name}` is not a list" in run(letters, {**user("Hi"), name: "abc"}).stderr


def test_a_generation_prompt_that_nobody_wants_is_a_loss():
    loop = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    header = "{% for m in messages %}{% if m.role == 'assistant' %}<bot>{{ m.content }}</bot>{% else %}<user>{{ m.content }}</user>{% endif %}{% endfor %}"
    always = (loop + "<assistant>", loop + "<assistant>{{ '<think>' }}", header + "<bot>", loop + "\n{{ '<assistant>\\n' }}",
              loop.replace("{% endfor %}", "{% if loop.last and m.role == 'user' %}<assistant>{% endif %}{% endfor %}"),
              "{% for m in messages %}{% if m.role == 'assistant' %}<bot><say>{{ m.content }}</bot>{% else %}<user>{{ m.content }}</user>{% endif %}{% endfor %}<bot>",
              # one text closes what stands before it and opens the reply; the reply may begin otherwise than an answer is shown
              header.replace("</user>{% endif %}", "{% endif %}<end>") + "<end><bot>", header + "<end>\n<bot>\n", header.replace("<bot>", "<bot><say>") + "<bot>{% if not thinks %}<no think>{% endif %}",
              loop + "{% if add_generation_prompt %}<assistant>{% else %}<assistant>{% endif %}", loop + "{% if not add_generation_prompt %}<assistant>{% endif %}")
    never = (loop, header, loop + "\n", loop + "{% if add_generation_prompt %}<assistant>{% endif %}", loop + "{{ eos_token }}", loop + "<|endoftext|>",
             loop + "{% if add_generation_prompt %}<assistant>{% else %}<|endoftext|>{% endif %}",
             "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}</s>{% endif %}{% endfor %}",
             "{% for m in messages %}{{ m.role }}: {{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}",
             "{% for m in messages %}{{ m.role }}: {{ m.content }}{% if loop.last %}<end>{% else %}<end>\n{% endif %}{% endfor %}",
             # a place of its own closes the results of tools that no message follows
             "{% for m in messages %}{% if m.role == 'tool' %}<result>{{ m.content }}{% if loop.last %}</result>{% endif %}{% elif m.role == 'assistant' %}"
             "{% if loop.previtem.role == 'tool' %}</result>{% else %}<bot>{% endif %}{{ m.content }}</bot>{% else %}<user>{{ m.content }}</user>{% endif %}{% endfor %}")
    chats = (user("Hi"), {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": "Hi"}]},
             {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "assistant"}]},
             {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "tool", "content": "22"}]})
    without = [{**chat, "add_generation_prompt": False} for chat in chats]
    kwargs = [{**chat, "chat_template_kwargs": {"add_generation_prompt": False}} for chat in chats]
    for templates, told in ((always, ["add_generation_prompt"]), (never, [])):
        for template in templates:
            paths = [[] if "m.role == 'user' %}<assistant>" in template and chat is chats[-1] else told for chat in chats]
            in_kwargs = [[f"chat_template_kwargs.{path}" for path in some] for some in paths]
            none = [[]] * len(chats)
            for requests, options, wanted in ((chats, ("--no-generation-prompt",), paths), ((*without, *chats), ("--generation-prompt",), none * 2),
                                              ((*without, *kwargs, *chats), (), paths + in_kwargs + none), (without, ("--as-is",), paths)):
                found = [[path for kind, _, path in one if kind == "lost" and path != "eos_token"] for one in losses_plain(template, requests, *options)]
                assert found == wanted, (template, options, found)
    go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}<end>{{ end }}"
    assert losses_plain(go + "<assistant>", [user("Hi")], "--no-generation-prompt", *GO) == [[("lost", "setting", "add_generation_prompt")]]
    assert losses_plain(go, [user("Hi")], "--no-generation-prompt", *GO) == [[]]
    done = run(always[0], user("Hi"))
    assert done.stderr == "note: add_generation_prompt: no effect: the template begins a reply all the same\n", done.stderr


def losses_plain(template, requests, *options):
    """As losses_of_each(), which asks for no generation prompt."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.jinja"
        path.write_text(template)
        text = "".join(json.dumps(one) + "\n" for one in requests)
        done = subprocess.run([BINARY, "render", "-t", path, "--jsonl", "--json", *options], input=text, capture_output=True, text=True)
        return [[(one["kind"], one["subject"], one["path"]) for one in json.loads(line)["losses"]] for line in done.stdout.split("\n")[:-1]]


def places_of(name, value, chat):
    """Where a request's member can stand: request, options, the path that a note has."""
    yield {**chat, name: value}, (), name
    yield {**chat, "chat_template_kwargs": {name: value}}, (), f"chat_template_kwargs.{name}"
    yield chat, ("--var", f"{name}={json.dumps(value)}"), name
    yield chat, ("--var-json", f"{name}={json.dumps(value)}"), name
    if isinstance(value, str):
        yield chat, ("--var-text", f"{name}={value}"), name


def lost_paths(template, request, *options):
    return [path for kind, _, path in losses_plain(template, [request], *options)[0] if kind == "lost"]


def test_a_wish_for_a_generation_prompt_that_is_no_boolean_is_lost_wherever_it_is_not_heeded():
    name, loop = "add_generation_prompt", "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    truth, strict = loop + "{% if add_generation_prompt %}<assistant>{% endif %}", loop + "{% if add_generation_prompt is true %}<assistant>{% endif %}"
    always, chat = loop + "<assistant>", user("Hi")
    for words, meant in ((TRUE, True), (FALSE, False)):
        for word in words:
            for request, options, path in places_of(name, word, chat):
                inverted = not meant and isinstance(word, str)
                assert lost_paths(truth, request, *options) == [path] * inverted, (word, options, lost_paths(truth, request, *options))
                assert lost_paths(strict, request, *options) == [path] * meant, (word, options)
                assert lost_paths(always, request, *options) == [path] * (not meant), (word, options)
                for option in ("--generation-prompt", "--no-generation-prompt"):  # which overrules it
                    assert lost_paths(truth, request, option, *options) == [], (word, options)
    for value in (True, False, None, "", []):
        for request, options, _ in places_of(name, value, chat):
            assert lost_paths(truth, request, *options) == [], (value, options)
    said = named_plain(truth, {**chat, name: "false"})
    assert messages_of(said) == [(name, "a text, which the template does not take for false", "write false, without quotes")], said


def named_plain(template, request, *options):
    done = rendered(template, request, "--json", *options)
    assert done.returncode == 0, (template, request, options, done)
    return json.loads(done.stdout)["losses"]


def test_a_wish_to_go_on_that_is_not_true_is_lost_where_the_message_is_closed():
    name = "continue_final_message"
    closed, open_end = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    heeds = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not (loop.last and continue_final_message) %}<end>{% endif %}{% endfor %}"
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]}
    for value in (*TRUE, "content", "reasoning_content", 5, 0.5, ["content"], {"a": 1}):
        for request, options, path in places_of(name, value, chat):
            assert lost_paths(closed, request, *options) == [path], (value, options, lost_paths(closed, request, *options))
            assert lost_paths(closed, request, "--as-is", *options) == ([path] if "chat_template_kwargs" not in path else ["chat_template_kwargs"]), (value, options)
            assert lost_paths(open_end, request, *options) == lost_paths(heeds, request, *options) == [], (value, options)
            assert lost_paths(closed, request, "--continue", *options) == [], (value, options)
    for value in (*FALSE, False, None, "", [], True):
        for request, options, _ in places_of(name, value, chat):
            assert lost_paths(closed, request, *options) == [], (value, options)
    assert lost_paths(closed, {**chat, name: True}, "--as-is") == [name]
    for value, hint in (("true", "write true, without quotes"), (1, "write true"), ("content", "write true")):
        said = named_plain(closed, {**chat, name: value})
        assert messages_of(said) == [(name, "no effect: the message is closed, and the reply does not go on with it", hint)], said
    # as transformers: what Python takes for true, but no name
    for value in (True, 1, 5, 0.5, ["content"], {"a": 1}):
        assert rendered(closed, {**chat, name: value}, "--as-transformers").stdout.endswith("Yo"), value
        both = rendered(closed, {**chat, name: value, "add_generation_prompt": 1}, "--as-transformers")
        assert both.returncode == 2 and "exclude each other" in both.stderr, (value, both)
    for value in (False, 0, 0.0, None, "", [], {}):
        assert rendered(closed, {**chat, name: value}, "--as-transformers").stdout.endswith("<end>"), value
    for value in ("true", "content"):
        assert rendered(closed, {**chat, name: value}, "--as-transformers").returncode == 3, value


def rendered(template, request, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.jinja"
        path.write_text(template)
        return subprocess.run([BINARY, "render", "-t", path, *options], input=json.dumps(request), capture_output=True, text=True)


def test_a_built_in_template_that_always_begins_a_reply_says_so():
    root = pathlib.Path(__file__).resolve().parents[2] / "formats"
    always = 0
    for path in sorted([*root.glob("*.gotmpl"), *root.glob("*.jinja")]):
        for chat in (user("Hi"), {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": "Hi"}]}):
            made = {}
            for option in ("--generation-prompt", "--no-generation-prompt"):
                done = subprocess.run([BINARY, "render", "-f", path.name.split(".")[0], option, "--json"], input=json.dumps(chat), capture_output=True, text=True)
                made[option] = json.loads(done.stdout)
            same = made["--generation-prompt"]["text"] == made["--no-generation-prompt"]["text"]
            named = any(one["path"] == "add_generation_prompt" for one in made["--no-generation-prompt"]["losses"])
            always += same
            assert named == same, (path.name, chat, made["--no-generation-prompt"])
    assert always


def test_a_special_token_that_a_model_has_not_is_not_looked_for_in_it():
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
    fails = "{{ bos_token + messages[0].content }}"
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        model.mkdir()
        (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "eos_token": "</s>"}))
        (model / "tokenizer.json").write_text("{}")
        (pathlib.Path(folder) / "fails.jinja").write_text(fails)
        command = [BINARY, "render", "--no-generation-prompt", "-m", model]
        done = subprocess.run(command, input=json.dumps(user("Hi")), capture_output=True, text=True)
        assert done.stderr == "note: bos_token: written by the template but not given, so the prompt lacks it; the model's files have none; --var bos_token=TEXT sets it\n", done.stderr
        failed = subprocess.run([*command, "-t", pathlib.Path(folder) / "fails.jinja"], input=json.dumps(user("Hi")), capture_output=True, text=True)
        assert "hint: a special token, which the model's files do not have: --var bos_token=TEXT sets it\n" in failed.stderr, failed.stderr
    alone = run(template, user("Hi"))
    assert alone.stderr.endswith("; -m MODEL brings its tokens along; or --var bos_token=TEXT sets it\n"), alone.stderr


def test_a_text_that_a_filter_writes_otherwise_is_whole():
    """Percent signs of URLs, and letters that become others where their case changes."""
    texts = ("Hello World & more", "50% off: 100%", "é", "日本 & ß", "Ünï %41 code \U0001F600", "a/b?c=d+e", "%", "100%25", "ŉ", "ß", "Straße ŉ", "ẖ ﬁ ﬃ ΐ İ ǰ", "K Å ẞ", "ſ ı µ", "ŉŉ 日本ŉ")
    requests = [user(text) for text in texts]
    for made in ("urlencode", "upper", "lower", "title", "capitalize", "upper | lower", "urlencode | upper", "upper | urlencode", "upper | tojson", "tojson | upper", "urlencode | tojson", "e | urlencode"):
        for template in ("{{ messages[0].content | MADE }}", "{{ messages[0].content.strip() | MADE }}!", "<{{ messages[0].content[:1] | MADE }}{{ messages[0].content[1:] | MADE }}>"):
            template = template.replace("MADE", made)
            found = losses_of_each(template, requests)
            assert found == [[]] * len(texts), (template, [pair for pair in zip(texts, found, strict=True) if pair[1]])
    for cut in ("{{ (messages[0].content | urlencode)[:9] }}", "{{ messages[0].content[:3] | urlencode }}", "{{ (messages[0].content | upper)[:4] }}"):
        for text in ("Hello World & more", "日本語の文章です", "Straße und Weg"):
            assert [kind for kind, _, _ in losses(cut, user(text))] == ["lost"], (cut, text, losses(cut, user(text)))


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of settings"))
