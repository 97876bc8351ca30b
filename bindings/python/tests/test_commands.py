"""What the command line does, by the same words: each function is compared with the command."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import json
import pathlib
import pickle
import subprocess
import warnings
from typing import Any

import parlance
import pytest
from material import ROOT

COMMAND = ROOT / "build" / "release" / "parlance"
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def command(*words: str | pathlib.Path, status: int = 0) -> str:
    if not COMMAND.exists():
        pytest.skip("the command is not built")
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def reply_and_format() -> tuple[str, str]:
    """A reply with a call, as a built-in format's template writes it."""
    name = "rnj-1"
    template = parlance.Template.builtin(name)
    call = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Kiel"}}}
    messages = [{"role": "user", "content": "Weather?"}]
    turn = {"role": "assistant", "content": "Let me see.", "tool_calls": [call]}
    asked = template.render(messages, tools=[TOOL], add_generation_prompt=True).text
    answered = template.render([*messages, turn], tools=[TOOL]).text
    assert answered.startswith(asked)
    return answered[len(asked) :], name


# ---- derive, check


@pytest.mark.parametrize("name", parlance.formats())
def test_derive_is_the_command(name: str) -> None:
    derived = parlance.derive(parlance.Template.builtin(name))
    told = json.loads(command("format", "-f", name, "--json", status=1 if derived.verdict == "none" else 0))
    assert derived.to_dict() == told
    assert (derived.verdict, derived.missing, derived.notes) == (told["verdict"], told.get("missing", []), told.get("notes", []))
    assert json.loads(derived.format.to_json()) == told["format"]
    assert derived.renders > 0


def test_derive_takes_variables_and_a_format_to_test() -> None:
    template = parlance.Template.from_string("{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ stop }}{% endfor %}")
    assert "</s>" in parlance.derive(template, stop="</s>").format.to_json()
    wrong = parlance.derive(template, format="rnj-1", stop="</s>")
    assert wrong.verdict != "verified"
    assert wrong.missing


def test_a_template_that_raises_has_no_verdict_and_says_why() -> None:
    derived = parlance.derive(parlance.Template.from_string("{{ raise_exception('no') }}"))
    assert derived.verdict == "none"
    assert derived.missing


def test_check_is_the_command() -> None:
    report = parlance.check(parlance.Template.builtin("terminal-agent"), count=20, seed=7)
    assert report.to_dict() == json.loads(command("check", "-f", "terminal-agent", "--count", "20", "--seed", "7", "--json"))
    assert report.holds
    assert [law.law for law in report.laws] == [name for name, _ in parlance.laws()]


def test_check_shows_an_example_of_a_broken_law() -> None:
    # The stop marker is also what a message may say: turns cannot be told apart.
    report = parlance.check(parlance.Template.builtin("terminal-agent"), count=20, format="rnj-1")
    assert not report.holds
    assert any(law.outcome == "broken" and law.example for law in report.laws)


# ---- prefix


def test_prefix_is_the_command(tmp_path: pathlib.Path) -> None:
    template = parlance.Template.from_string("{{ messages|length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    first = [{"role": "user", "content": "Hi"}]
    second = [*first, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And?"}]
    found = parlance.prefix(template.render(first), template.render(second))
    assert not found
    assert (found.unit, found.shared, found.difference and found.difference["byte"]) == ("bytes", 0, 0)
    (tmp_path / "t.jinja").write_text(
        "{{ messages|length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", encoding="utf-8"
    )
    for name, messages in (("a", first), ("b", second)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    told = json.loads(command("prefix", "-t", tmp_path / "t.jinja", tmp_path / "a.json", tmp_path / "b.json", "--json"))
    assert found.to_dict()["lost"] == told["lost"]
    assert found.to_dict()["new"] == told["new"]
    assert found.difference is not None
    assert found.difference["sentence"] == told["difference"]["sentence"]


def test_prefix_names_the_input_that_changed_and_counts_tokens(chatml_tokenizer: str) -> None:
    template = parlance.Template.builtin("chatml")
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    made = [template.render([{"role": "user", "content": text}]) for text in ("Hello there", "Hello here")]
    found = parlance.prefix(*[one.tokens(tokenizer) for one in made])
    assert found.unit == "tokens"
    assert found.difference is not None
    assert found.difference["changed_input"] == "messages[0].content"
    assert found.shared + found.lost == len(made[0].tokens(tokenizer).ids)
    assert parlance.prefix(made[0], made[0])
    with pytest.raises(TypeError):
        parlance.prefix(made[0], made[1].tokens(tokenizer))


# ---- grammar


@pytest.mark.parametrize("syntax", ["gbnf", "structural-tag", "json-schema"])
def test_grammar_is_the_command(tmp_path: pathlib.Path, syntax: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]), encoding="utf-8")
    grammar = parlance.grammar("rnj-1", tools=[TOOL], tool_choice="required")
    words = ["grammar", "-f", "rnj-1", "--tools", tmp_path / "tools.json", "--tool-choice", "required", "--syntax", syntax]
    assert grammar.to_text(syntax).strip() == command(*words).strip()


# Options of the command line, and the keyword arguments that say the same. The request has tools and a choice of its own.
SAME_GRAMMARS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "as the request says": ([], {}),
    "--tool-choice": (["--tool-choice", "required"], {"tool_choice": "required"}),
    "a tool": (["--tool-choice", "weather"], {"tool_choice": "weather"}),
    "--max-calls": (["--max-calls", "2"], {"max_tool_calls": 2}),
    "--no-parallel": (["--no-parallel"], {"parallel_tool_calls": False}),
    "--no-reasoning": (["--no-reasoning"], {"reasoning": False}),
    "--open": (["--open"], {"open": True}),
    "--any-order": (["--any-order"], {"any_order": True}),
    "--text-around-calls": (["--text-around-calls"], {"text_around_calls": True}),
    "--prompt": (["--prompt", "<|im_start|>assistant\n<think>\n"], {"prompt": "<|im_start|>assistant\n<think>\n"}),
    "--choice": (["--choice", "yes", "--choice", "no"], {"choices": ["yes", "no"]}),
    "--regex": (["--regex", "[0-9]+"], {"response_format": {"type": "regex", "pattern": "[0-9]+"}}),
    "--json-object": (["--json-object"], {"response_format": {"type": "json_object"}}),
    "--schema": (["--schema", "SCHEMA"], {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "integer"}}}}),
    "--tools": (["--tools", "TOOLS"], {"tools": [{**TOOL, "function": {**TOOL["function"], "name": "other"}}]}),  # type: ignore[dict-item]
}
TWO = {"type": "object", "properties": {"city": {"type": "string"}, "days": {}}, "required": ["city"]}


@pytest.mark.parametrize("option", SAME_GRAMMARS)
def test_each_option_of_a_grammar_is_the_commands(tmp_path: pathlib.Path, option: str) -> None:
    words, arguments = SAME_GRAMMARS[option]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": TWO}}]
    request = {"messages": [{"role": "user", "content": "Weather?"}], "tools": tools, "tool_choice": "auto"}
    files = {"SCHEMA": {"type": "integer"}, "TOOLS": arguments.get("tools", tools), "REQUEST": request}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content), "utf-8")
    words = [str(tmp_path / word) if word in files else word for word in words]
    for syntax in ("gbnf", "structural-tag"):
        of_request = command("grammar", "-f", "terminal-agent", "--request", tmp_path / "REQUEST", "--syntax", syntax, *words)
        prompt = parlance.Template.builtin("terminal-agent").render(request["messages"], tools, tool_choice="auto")  # type: ignore[arg-type]
        assert prompt.grammar(**arguments).to_text(syntax) == of_request
        given = words if "--tools" in words else ["--tools", str(tmp_path / "TOOLS"), *words]
        alone = command("grammar", "-f", "terminal-agent", "--syntax", syntax, *given)
        assert parlance.grammar("terminal-agent", **{"tools": tools, **arguments}).to_text(syntax) == alone


def test_a_grammar_has_one_form_of_the_answer() -> None:
    prompt = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}])
    for make in (lambda **more: parlance.grammar("terminal-agent", **more), prompt.grammar):
        with pytest.raises(ValueError, match="an answer has one form: response_format, or choices"):
            make(response_format={"type": "json_object"}, choices=["yes"])
        with pytest.raises(TypeError, match="response_format is a dict"):
            make(response_format="{}")
        grammar = make(choices=["yes", "no"], reasoning=False)
        assert grammar.accepts("yes") and not grammar.accepts("maybe")


def test_what_a_request_says_of_its_grammar_stays() -> None:
    messages = [{"role": "user", "content": "Weather?"}]
    template = parlance.Template.builtin("terminal-agent")
    asked = template.render(messages, [TOOL], tool_choice="required", parallel_tool_calls=False)
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kiel"}}\n</tool_call>'
    assert asked.grammar().accepts(call)
    assert not asked.grammar().accepts("No.") and not asked.grammar().accepts(f"{call}\n{call}")
    assert asked.grammar(tool_choice="auto").accepts("No.")
    assert asked.grammar(parallel_tool_calls=True).accepts(f"{call}\n{call}")
    assert not asked.grammar(parallel_tool_calls=True, max_tool_calls=1).accepts(f"{call}\n{call}")


CHOICES_OF_ONE: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "weather"}},
    {"type": "function", "name": "weather"},
    {"type": "tool", "name": "weather"},
    {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "weather"}]},
]


@pytest.mark.parametrize("choice", CHOICES_OF_ONE)
def test_a_tool_choice_is_one_of_a_request(choice: dict[str, Any]) -> None:
    messages, other = [{"role": "user", "content": "Weather?"}], {"type": "function", "function": {"name": "look", "parameters": {}}}
    template = parlance.Template.builtin("terminal-agent")
    asked, prompt = template.render(messages, [TOOL, other], tool_choice=choice), template.render(messages, [TOOL, other])
    assert str(prompt.grammar(tool_choice=choice)) == str(asked.grammar())
    grammar = parlance.grammar("terminal-agent", tools=[TOOL, other], tool_choice=choice)
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Kiel"}}\n</tool_call>'
    assert grammar.accepts(call) and not grammar.accepts("No.") and not grammar.accepts(call.replace("weather", "look"))
    for word in ("auto", "none", "required"):
        by_word = prompt.grammar(tool_choice=word)
        assert str(prompt.grammar(tool_choice={"type": word})) == str(by_word) and by_word.accepts("No.") == (word != "required")


def test_a_tool_choice_that_is_none_says_where() -> None:
    prompt = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Weather?"}], [TOOL])
    wrong: list[tuple[Any, str, type[Exception]]] = [
        ({"type": "function"}, "tool_choice", ValueError),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}, "tool_choice.allowed_tools.tools", ValueError),
        ({"type": "function", "function": {"name": {1}}}, "tool_choice.function.name", TypeError),
        ({"type": "function", "function": {"name": "wether"}}, "tool_choice", ValueError),
    ]
    for choice, path, kind in wrong:
        with pytest.raises(parlance.Error) as raised:
            prompt.grammar(tool_choice=choice)
        assert raised.value.path == path and isinstance(raised.value, kind)
    with pytest.raises(parlance.Error) as of_form:
        prompt.grammar(response_format={"type": "json_schema", "json_schema": {"schema": {1}}})
    assert of_form.value.path == "response_format.json_schema.schema"
    number: Any = 5
    with pytest.raises(TypeError, match="'tool_choice' must be str, dict\\[str, Any\\] or None, not int"):
        prompt.grammar(tool_choice=number)


def test_a_grammar_accepts_what_the_format_writes_and_nothing_else() -> None:
    reply, name = reply_and_format()
    grammar = parlance.grammar(name, tools=[TOOL])
    template = parlance.Template.builtin(name)
    of_prompt = template.render([{"role": "user", "content": "Weather?"}], tools=[TOOL]).grammar()
    assert str(grammar) == grammar.to_text("gbnf")
    end = reply.rindex("<|eot_id|>")
    assert of_prompt.accepts(reply[:end])
    assert not of_prompt.accepts(reply[:end].replace("city", "town"))
    lazy = grammar.to_lazy()
    assert lazy["grammar_lazy"] is True
    assert {trigger["type"] for trigger in lazy["grammar_triggers"]} <= {1, 3}
    with pytest.raises(parlance.Error):
        parlance.grammar(name, tools=[TOOL], tool_choice="required").to_lazy()


def test_notes_of_a_grammar_and_of_a_schema() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    grammar = parlance.schema_grammar(schema)
    assert [note.keyword for note in grammar.notes] == ["uniqueItems"]
    assert grammar.accepts("[1, 1]")
    assert not grammar.accepts('["a"]')
    with pytest.raises(ValueError, match="no value"):
        parlance.schema_grammar({"type": "string", "enum": [1]})
    with pytest.raises(ValueError, match="syntaxes"):
        grammar.to_text("ebnf")


# ---- convert


@pytest.mark.parametrize("api", ["openai", "anthropic", "responses"])
def test_convert_is_the_command(tmp_path: pathlib.Path, api: str) -> None:
    request = {"messages": [{"role": "user", "content": "Hi", "name": "Ada"}], "tools": [TOOL], "logit_bias": {"1": 2}}
    (tmp_path / "chat.json").write_text(json.dumps(request), encoding="utf-8")
    told = json.loads(command("convert", "--as", api, "--var", "max_tokens=64", "--json", tmp_path / "chat.json"))
    made = parlance.convert(request, api, max_tokens=64)
    assert made.request == told["request"]
    assert [(note.kind, note.path, note.sentence) for note in made.notes] == [
        (note["kind"], note["path"], note["message"]) for note in told["notes"]
    ]


def test_a_converted_request_renders_to_the_same_prompt() -> None:
    template = parlance.Template.builtin("rnj-1")
    chat = {"messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}], "tools": [TOOL]}
    there = parlance.convert(chat, "anthropic", max_tokens=64).request
    back = parlance.convert(there, "openai").request
    texts = [template.render(one["messages"], tools=one["tools"]).text for one in (chat, back)]
    assert texts[0] == texts[1]
    with pytest.raises(ValueError, match="APIs"):
        parlance.convert(chat, "gemini")


# ---- replies in the forms of APIs


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("api", ["openai", "anthropic", "responses", "ollama"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_answer_is_that_of_the_command_however_it_is_cut(tmp_path: pathlib.Path, api: str, size: int) -> None:
    reply, name = reply_and_format()
    (tmp_path / "reply.txt").write_text(reply, encoding="utf-8")
    told = json.loads(command("read", "-f", name, "--as", api, "--model-name", "mine", tmp_path / "reply.txt"))
    writer = parlance.ReplyApiWriter(api, model="mine")
    reader = parlance.ReplyReader(name)
    events = writer.begin()
    for piece in cut(reply, size):
        events += writer.add(reader.feed(piece))
    events += writer.add(reader.finish())
    events += writer.finish()
    assert writer.to_dict() == told
    sent = "".join(event.to_sse() for event in events) + writer.end_of_stream
    assert sent.count("\n") == len(events) if api == "ollama" else sent.count("data: ") == len(events) + (api == "openai")
    assert all(isinstance(event.data, dict) for event in events)


def test_deltas_add_up_to_the_message() -> None:
    reply, name = reply_and_format()
    deltas, reader = parlance.ReplyDeltas(), parlance.ReplyReader(name)
    content, arguments, names = "", "", []
    for event in reader.stream(cut(reply, 3)):
        delta = deltas.add(event) or {}
        content += delta.get("content") or ""
        for call in delta.get("tool_calls", []):
            names += [call["function"]["name"]] if "name" in call["function"] else []
            arguments += call["function"]["arguments"]
    message = reader.message
    assert (content, names, arguments) == (message.content, [call.name for call in message.calls], message.calls[0].arguments)
    assert deltas.finish_reason == "tool_calls"


def test_usage_and_length_are_the_servers() -> None:
    writer = parlance.ReplyApiWriter("openai")
    reader = parlance.ReplyReader("chatml")
    writer.begin()
    writer.add(reader.feed("Hel"))
    writer.finish(length=True, input_tokens=3, output_tokens=1)
    answer = writer.to_dict()
    assert answer["choices"][0]["finish_reason"] == "length"
    counts = {key: answer["usage"][key] for key in ("prompt_tokens", "completion_tokens", "total_tokens")}
    assert counts == {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}


def written(writer: parlance.ReplyApiWriter, text: str) -> parlance.ReplyApiWriter:
    reader = parlance.ReplyReader("chatml")
    writer.begin()
    writer.add(reader.feed(text))
    writer.add(reader.finish())
    return writer


def test_choices_are_one_answer() -> None:
    writers = [written(parlance.ReplyApiWriter("openai", id="c", choice=i), word) for i, word in enumerate(("Yes", "No"))]
    for writer in writers:
        writer.finish(stop_sequence="\n")
    answer = parlance.ReplyApiWriter.choices_to_dict(writers, input_tokens=5, output_tokens=2, cached_tokens=4)
    assert [(choice["index"], choice["message"]["content"]) for choice in answer["choices"]] == [(0, "Yes"), (1, "No")]
    assert answer["usage"]["total_tokens"] == 7
    assert answer["usage"]["prompt_tokens_details"] == {"cached_tokens": 4}


def test_a_stop_text_logprobs_and_what_is_known_at_the_start() -> None:
    writer = parlance.ReplyApiWriter("anthropic", input_tokens=9, cached_tokens=3)
    started = writer.begin()[0].data["message"]["usage"]
    assert (started["input_tokens"], started["cache_read_input_tokens"]) == (6, 3)
    written(writer, "Hi").finish(stop_sequence="STOP")
    assert (writer.to_dict()["stop_reason"], writer.to_dict()["stop_sequence"]) == ("stop_sequence", "STOP")

    openai = parlance.ReplyApiWriter("openai", stream_usage=True, reasoning_names="reasoning")
    openai.add_logprobs([("H", -0.25, [("H", -0.25), (b"\xff", float("-inf"))])])
    last = written(openai, "H").finish(input_tokens=1, output_tokens=1)[-1].data
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 2)
    item = openai.to_dict()["choices"][0]["logprobs"]["content"][0]
    assert (item["token"], item["bytes"], item["logprob"]) == ("H", [72], -0.25)
    assert [(other["bytes"], other["logprob"]) for other in item["top_logprobs"]] == [([72], -0.25), ([255], -9999)]
    with pytest.raises(ValueError, match="reasoning_names"):
        parlance.ReplyApiWriter("openai", reasoning_names="thinking")


def test_an_error_is_said_as_the_api_says_it() -> None:
    assert parlance.api_error("anthropic", 404, "no such model")["error"]["type"] == "not_found_error"
    assert parlance.api_error("openai", 400, "no", param="n")["error"] == {
        "message": "no",
        "type": "invalid_request_error",
        "param": "n",
        "code": None,
    }
    assert parlance.api_error("ollama", 404, "no such model") == {"error": "no such model"}
    writer = written(parlance.ReplyApiWriter("ollama"), "Hi")
    assert [event.to_sse() for event in writer.fail("gone")] == ['{"error": "gone"}\n']
    assert (writer.content_type, writer.keep_alive, writer.end_of_stream) == ("application/x-ndjson", "", "")
    failed = written(parlance.ReplyApiWriter("responses", request_members={"top_p": 0.5}), "Hi")
    assert [event.name for event in failed.fail("gone", status=429)] == ["error", "response.failed"]
    assert (failed.to_dict()["status"], failed.to_dict()["top_p"]) == ("failed", 0.5)


def test_ollama_generates() -> None:
    writer = written(parlance.ReplyApiWriter("ollama", model="m", generate=True), "Hi")
    writer.finish(input_tokens=3, output_tokens=1, times=(9, 1, 2, 3))
    answer = writer.to_dict()
    assert (answer["response"], answer["done_reason"], answer["eval_count"], answer["eval_duration"]) == ("Hi", "stop", 1, 3)


# ---- streams


def test_a_stream_gives_the_events_of_feeding() -> None:
    reply, name = reply_and_format()
    fed = parlance.ReplyReader(name)
    expected = [event for piece in cut(reply, 5) for event in fed.feed(piece)] + fed.finish()
    assert list(parlance.ReplyReader(name).stream(cut(reply, 5))) == expected

    async def pieces() -> Any:
        for piece in cut(reply, 5):
            await asyncio.sleep(0)
            yield piece.encode("utf-8")

    async def collected() -> list[parlance.ReplyEvent]:
        return [event async for event in parlance.ReplyReader(name).astream(pieces())]

    assert asyncio.run(collected()) == expected
    assert expected[0].to_dict()["kind"] == expected[0].kind


def test_events_of_a_stream_come_at_once_and_an_exception_of_the_source_passes() -> None:
    def source() -> Any:
        yield "Hello"
        raise ConnectionError("gone")

    events = parlance.ReplyReader("chatml").stream(source())
    assert next(events).text == "Hello"
    with pytest.raises(ConnectionError):
        next(events)


# ---- what else `parlance read` takes


def test_a_prompt_is_read_as_the_conversation_that_renders_to_it(tmp_path: pathlib.Path) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    text = parlance.Template.builtin("chatglm3").render(messages).text
    (tmp_path / "prompt.txt").write_text(text, encoding="utf-8")
    read = parlance.read_conversation(text, "chatglm3")
    assert read == json.loads(command("read", "-f", "chatglm3", "--conversation", tmp_path / "prompt.txt"))
    assert [message["content"] for message in read["messages"][-2:]] == ["Hi", "Hello"]
    with pytest.raises(parlance.Error):
        parlance.read_conversation("no turn", "chatglm3")
    with pytest.raises(ValueError, match=r"no turns(.|\n)*its member `turns`"):
        parlance.read_conversation(text, "chatml")


def test_a_call_that_breaks_off_has_its_values_so_far() -> None:
    reply, name = reply_and_format()
    message = parlance.read(reply[: reply.index("Kiel") + 2], name)
    assert message.calls[0].complete is False
    assert message.to_dict(partial=True)["tool_calls"][0]["partial"] == {"city": "Ki"}
    assert message.to_dict(make_call_id=lambda: "mine")["tool_calls"][0]["id"] == "mine"

    def raises() -> str:
        raise LookupError("no id")

    with pytest.raises(LookupError):
        message.to_dict(make_call_id=raises)


# ---- passes


def test_passes_are_those_that_the_command_lists() -> None:
    assert parlance.passes() == [{"takes": "", **one} for one in json.loads(command("list", "passes", "--json"))]
    assert {"name": "text-only", "takes": "ROLES"}.items() <= next(one for one in parlance.passes() if one["name"] == "text-only").items()


@pytest.mark.parametrize("argument", ["passes", "skip_passes"])
@pytest.mark.parametrize("asked", ["text-onl", "no-such-pass", "", ":user"])
def test_an_unknown_pass_is_answered_with_those_that_there_are(argument: str, asked: str) -> None:
    for given in (asked, [asked]):
        with pytest.raises(ValueError, match="there is no pass") as caught:
            parlance.Template.builtin("chatml", **{argument: given})  # type: ignore[arg-type]
        assert isinstance(caught.value, parlance.Error)
        names = [one["name"] for one in parlance.passes()]
        assert caught.value.hint.endswith(f"parlance.passes() has them: {', '.join(names)}")
        assert "parlance list" not in str(caught.value)
        assert ("did you mean 'text-only'?" in caught.value.hint) == (asked == "text-onl")


def test_a_setting_that_a_pass_does_not_take_is_no_unknown_pass() -> None:
    bare = next(one["name"] for one in parlance.passes() if not one["takes"])
    with pytest.raises(ValueError) as caught:
        parlance.Template.builtin("chatml", passes=f"{bare}:user")
    assert "there is no pass" not in str(caught.value) and "has them" not in str(caught.value)


# ---- templates and models


@pytest.mark.parametrize("name", parlance.formats())
def test_what_is_known_of_a_template_is_what_the_command_prints(name: str) -> None:
    assert parlance.Template.builtin(name).to_dict() == json.loads(command("template", "-f", name, "--json"))


def test_what_is_known_of_a_models_templates(tmp_path: pathlib.Path) -> None:
    named = [{"name": "default", "template": "{{ messages[0].content }}"}, {"name": "tool_use", "template": "{{ tools }}"}]
    config = {"chat_template": named, "bos_token": "<s>", "added_tokens_decoder": {"1": {"content": "<s>", "special": True}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    (tmp_path / "config.json").write_text("{}", "utf-8")
    (tmp_path / "Modelfile").write_text(
        'FROM scratch\nTEMPLATE """{{ .Prompt }}"""\nSYSTEM Be brief.\nMESSAGE user Hi\nPARAMETER stop "<end>"\n', "utf-8"
    )
    for words, template in [
        (["-m", tmp_path], parlance.Template.from_pretrained(tmp_path)),
        (["-m", tmp_path, "--name", "tool_use"], parlance.Template.from_pretrained(tmp_path, name="tool_use")),
        (["-m", tmp_path / "Modelfile"], parlance.Template.from_pretrained(tmp_path / "Modelfile")),
    ]:
        told = template.to_dict()
        assert told == json.loads(command("template", *words, "--json"))
        assert told["text"] and hashlib.sha256(told["text"].encode()).hexdigest() == told["sha256"]


def test_models_are_those_that_the_command_lists(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "none"))
    assert parlance.models() == []
    snapshot = tmp_path / "models--mine--small" / "snapshots" / "0a"
    snapshot.mkdir(parents=True)
    (snapshot / "chat_template.jinja").write_text("{{ messages[0].content }}", "utf-8")
    (snapshot / "tokenizer_config.json").write_text("{}", "utf-8")
    assert parlance.models() == json.loads(command("list", "models", "--json")) == [{"name": "mine/small", "in": str(tmp_path)}]
    assert parlance.Template.from_pretrained("mine/small").render([{"role": "user", "content": "Hi"}]).text == "Hi"


def test_special_tokens_of_a_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "t.jinja").write_text("{{ bos_token }}{{ messages[0].content }}", "utf-8")
    template = parlance.Template.from_file(tmp_path / "t.jinja", special_tokens={"bos_token": "<s>"})
    for one in (template, pickle.loads(pickle.dumps(template))):
        assert one.render([{"role": "user", "content": "Hi"}]).text == "<s>Hi"


AS_IS = [
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "model": "mine"},
    {"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True},
    {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]}], "n": 1},
]


@pytest.mark.parametrize("request_", AS_IS, ids=str)
def test_as_is(tmp_path: pathlib.Path, request_: dict[str, Any]) -> None:
    text = "{{ messages|tojson }} {{ model }} {{ add_generation_prompt }} {{ n }}"
    (tmp_path / "t.jinja").write_text(text, "utf-8")
    (tmp_path / "chat.json").write_text(json.dumps(request_), "utf-8")
    template = parlance.Template.from_string(text, as_is=True)
    made = template.render(**request_)
    assert made.text == command("render", "-t", tmp_path / "t.jinja", tmp_path / "chat.json", "-q", "--as-is")
    adapted = parlance.Template.from_string(text).render(**request_).text
    assert (made.text == adapted) == ("add_generation_prompt" in request_)  # the second has nothing to adapt
    assert pickle.loads(pickle.dumps(made)).text == made.text
    assert pickle.loads(pickle.dumps(template)).render(**request_).text == made.text


def test_what_does_not_go_with_as_is() -> None:
    with pytest.raises(ValueError, match="as_is and as_transformers exclude each other"):
        parlance.Template.builtin("chatml", as_is=True, as_transformers=True)
    with pytest.raises(ValueError, match="passes change the request, which as_is forbids"):
        parlance.Template.builtin("chatml", passes="text-only", as_is=True)
    parlance.Template.builtin("chatml", as_is=False, passes="text-only")
    parlance.Template.builtin("chatml", as_is=True, passes=())


def test_where_a_reply_begins_may_be_said(tmp_path: pathlib.Path) -> None:
    reply = 'Hm.<tool_call>\n{"name": "weather", "arguments": {"city": "Kiel"}}\n</tool_call>.</think>Yes.'
    (tmp_path / "reply").write_text(reply, "utf-8")
    prompt = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}], [TOOL])
    (tmp_path / "request").write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}), "utf-8")
    seen = set()
    for begins, without in itertools.product([True, False], repeat=2):
        asked = {"begin_in_reasoning": begins, "no_calls_in_reasoning": without}
        words = [f"--{name.replace('_', '-')}" for name, is_asked in asked.items() if is_asked]
        read = ["read", "-f", "terminal-agent", "--number-calls", tmp_path / "reply", *words]
        reader = prompt.reader(**asked)
        reader.feed(reply)
        reader.finish()
        told = json.loads(command(*read, "--request", tmp_path / "request"))
        for call in told.get("message", told).get("tool_calls", []):
            assert call.pop("complete") is True  # which a message for a conversation does not say
        given = {name: value for name, value in reader.message.to_dict().items() if value is not None}
        assert given.items() <= {**told, **told.get("message", {})}.items()
        whole = parlance.read(reply, "terminal-agent", tools=[TOOL], **asked)
        assert whole == reader.message
        seen.add((whole.reasoning, whole.content, len(whole.calls)))
    assert len(seen) > 1


def test_ids_are_a_whole_reply(chatml_tokenizer: str) -> None:
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    assert parlance.read(engine.encode("Yes<|im_end|>"), "chatml", tokenizer=engine).content == "Yes"
    with pytest.raises(ValueError, match="needs a tokenizer"):
        parlance.read([1], "chatml")


# ---- languages of templates, splits of tokenizers


def test_the_language_of_a_file_may_be_said(tmp_path: pathlib.Path) -> None:
    chat = [{"role": "user", "content": "Hi"}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": chat}), "utf-8")
    texts = {"go": "{{ range .Messages }}<{{ .Content }}>{{ end }}", "jinja": "{% for m in messages %}<{{ m.content }}>{% endfor %}"}
    for syntax, text in texts.items():
        for name in ("template.txt", "template.jinja", "template.gotmpl"):
            (tmp_path / name).write_text(text, "utf-8")
            template = parlance.Template.from_file(tmp_path / name, syntax=syntax)
            told = command("render", "-t", tmp_path / name, "--syntax", syntax, tmp_path / "chat.json")
            assert template.render(chat).text == told
            assert pickle.loads(pickle.dumps(template)).render(chat).text == told
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": text}), "utf-8")
        (tmp_path / "config.json").write_text("{}", "utf-8")
        assert parlance.Template.from_pretrained(tmp_path, syntax=syntax).render(chat).text == "<Hi>"
    assert parlance.Template.from_file(tmp_path / "template.jinja", syntax=None).render(chat).text == "<Hi>"
    for wrong in ("Go", "", 5):
        with pytest.raises(ValueError, match="syntax is 'jinja' or 'go'"):
            parlance.Template.from_file(tmp_path / "template.jinja", syntax=wrong)  # type: ignore[arg-type]


def test_how_a_tiktoken_file_splits_text_may_be_said(tmp_path: pathlib.Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256, b" a": 257}
    file = tmp_path / "mine.tiktoken"
    file.write_text("".join(f"{base64.b64encode(piece).decode()} {rank}\n" for piece, rank in ranks.items()), "utf-8")
    with pytest.raises(parlance.Error):
        parlance.Tokenizer.from_file(file)  # its name is no encoding's
    for split in (r"\S+|\s+", r"\s?\S+|\s+"):
        engine = parlance.Tokenizer.from_file(file, split=split, special_tokens=["<|end|>"])
        own = tiktoken.Encoding("mine", pat_str=split, mergeable_ranks=ranks, special_tokens={"<|end|>": 258})
        for text in ("ab ab", "a  a", "x ab"):
            assert engine.encode(text) == own.encode(text)
            assert pickle.loads(pickle.dumps(engine)).encode(text) == own.encode(text)
        assert engine.encode("<|end|>") == [258]
    assert parlance.Tokenizer.from_file(file, split="cl100k_base").encode("ab") == [256]


@pytest.mark.parametrize("effort", ["none", "low", "high"])
@pytest.mark.parametrize("text", ["{{ reasoning_effort }}", "{{ enable_thinking }}", "{% if enable_thinking %}<think>{% endif %}"])
def test_a_reasoning_effort_is_a_variable(tmp_path: pathlib.Path, effort: str, text: str) -> None:
    text = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}" + text
    (tmp_path / "t.jinja").write_text(text, "utf-8")
    (tmp_path / "chat.json").write_text('{"messages": [{"role": "user", "content": "Hi"}]}', "utf-8")
    told = command("render", "-q", "-t", tmp_path / "t.jinja", tmp_path / "chat.json", "--reasoning-effort", effort)
    assert parlance.Template.from_string(text).render([{"role": "user", "content": "Hi"}], reasoning_effort=effort).text == told


# ---- options


# ---- names


def test_names_come_from_their_tables() -> None:
    from parlance import _core

    kinds = ", ".join(f"'{kind}'" for kind in _core.REPLY_KINDS[:-1])
    for shown in (parlance.Tokens.mask.__doc__, parlance.Rendering.kinds.__doc__, parlance.ReplyReader.kinds.__doc__):
        assert f"{kinds} or '{_core.REPLY_KINDS[-1]}'" in str(shown)
    assert "'call_begin'" in str(parlance.ReplyEvent.kind.__doc__)
    with pytest.raises(ValueError, match="'openai', 'anthropic', 'responses' and 'ollama', not 'x'"):
        parlance.ReplyApiWriter("x")
    with pytest.raises(ValueError, match="'gbnf', 'lark', 'structural-tag' and 'json-schema', not 'x'"):
        parlance.grammar("chatml").to_text("x")
    assert "'lark' (llguidance)" in str(parlance.Grammar.to_text.__doc__)


def test_a_lark_grammar_without_a_tokenizer_says_so(chatml_tokenizer: str) -> None:
    with pytest.warns(UserWarning, match="no tokenizer is known.*tokenizer="):
        parlance.grammar("rnj-1", tools=[TOOL]).to_text("lark")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parlance.grammar("rnj-1", tools=[TOOL]).to_text("gbnf")
        parlance.grammar("rnj-1", tools=[TOOL], tokenizer=parlance.Tokenizer.from_file(chatml_tokenizer)).to_text("lark")
