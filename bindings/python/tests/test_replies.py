"""ReplyReader: however a reply is cut, and whether it comes as text, bytes or ids, the message is the same."""

from __future__ import annotations

import copy
import dataclasses
import pathlib
import pickle
import random
import re
from typing import Any

import parlance
import pytest
from material import ROOT

REPLY = '<think>Ärger 你</think>\nFine \U0001f600.<tool_call>\n{"name": "f", "arguments": {"city": "Köln"}}\n</tool_call>'


def as_tuple(message: parlance.Message) -> Any:
    return message.content, message.reasoning, [(c.name, c.arguments, c.complete) for c in message.calls], message.finish_reason


def reader() -> parlance.ReplyReader:
    return parlance.ReplyReader("terminal-agent")


def test_every_cut_is_the_same() -> None:
    whole = parlance.read(REPLY, "terminal-agent")
    assert [c.name for c in whole.calls] == ["f"] and whole.calls[0].complete and whole.finish_reason == "tool_calls"
    data = REPLY.encode()
    for size in range(1, 40):
        for pieces in ([REPLY[i : i + size] for i in range(0, len(REPLY), size)], [data[i : i + size] for i in range(0, len(data), size)]):
            one = reader()
            events = [event for piece in pieces for event in one.feed(piece)] + one.finish()
            assert as_tuple(one.message) == as_tuple(whole)
            assert "".join(event.source for event in events) == REPLY


def test_random_bytes_end_in_a_message() -> None:
    rng = random.Random(5)
    for _ in range(300):
        one = reader()
        data = bytes(rng.choice((rng.randrange(256), *b'<tool_call>{}"think/')) for _ in range(rng.randrange(80)))
        for byte in data:
            one.feed(bytes([byte]))
        one.finish()
        assert one.message.finish_reason in ("stop", "length", "tool_calls")


def test_a_copy_goes_on_by_itself() -> None:
    first = reader()
    first.feed("Hello")
    second = first.copy()
    second.feed(" there")
    second.finish()
    first.finish()
    assert (first.message.content, second.message.content) == ("Hello", "Hello there")


def test_ids(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    one = parlance.ReplyReader("terminal-agent", tokenizer=tokenizer)
    for id in tokenizer.encode(REPLY + "<|im_end|>"):
        one.feed(id)
    one.finish()
    assert one.message.calls[0].arguments == parlance.read(REPLY, "terminal-agent").calls[0].arguments
    assert "Ärger 你" in one.message.reasoning or "Ärger 你" in one.message.content


def test_a_rendering_knows_how_its_reply_is_read() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
    prompt = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}], tools=tools)
    one = prompt.reader()
    one.feed(REPLY)
    one.finish()
    message = one.message.to_dict()
    assert message["tool_calls"][0]["function"]["name"] == "f"
    assert prompt.text  # it goes back into a conversation
    assert "Köln" in parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}, message], tools=tools).text


@pytest.mark.parametrize(
    ("data", "kind"), [(2**40, ValueError), (-1, ValueError), ([1, 2**40], ValueError), (["a"], TypeError), (1.5, TypeError)]
)
def test_what_is_no_id_is_refused(data: Any, kind: type[Exception], chatml_tokenizer: str) -> None:
    one = parlance.ReplyReader("terminal-agent", tokenizer=parlance.Tokenizer.from_file(chatml_tokenizer))
    with pytest.raises(kind):
        one.feed(data)


class Lies:
    def encode(self, text: str) -> list[str]:
        return [text]


class Fails:
    def encode(self, text: str) -> list[int]:
        raise KeyError("boom")


@pytest.mark.parametrize(("tokenizer", "said"), [(Lies(), "integer"), (Fails(), "boom")])
def test_a_tokenizer_that_fails_is_said_so(tokenizer: Any, said: str) -> None:
    with pytest.raises(parlance.Error, match=said):
        parlance.Template.builtin("chatml").render([{"role": "user", "content": "x"}]).tokens(parlance.tokenizer_of(tokenizer))


def test_a_format_and_a_response_template_of_transformers() -> None:
    written, losses = parlance.ReplyFormat("terminal-agent").to_response_template(reasoning_key="thinking")
    assert written["fields"]["thinking"]["open"] == "<think>"
    assert losses == ["a closing marker inside of an argument ends the call"]

    read = parlance.ReplyFormat.from_response_template(written)
    assert read.notes == []
    assert parlance.read("<think>So.</think>Hi<|im_end|>", read).reasoning == "So."

    with pytest.raises(ValueError, match="input: fields"):
        parlance.ReplyFormat.from_response_template({"fields": {}})


def test_kinds_of_a_reply_and_of_the_turn_that_it_becomes_agree() -> None:
    template = parlance.Template.builtin("terminal-agent")
    reply = '<think>\nhm\n</think>\n\nSo.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call><|im_end|>'
    one = parlance.ReplyReader("terminal-agent")
    one.feed(reply)
    one.finish()
    read = [(kind, reply.encode()[begin:end].decode()) for kind, begin, end in one.kinds]

    chat = [{"role": "user", "content": "q"}, {"role": "assistant", **one.message.to_dict()}]
    prompt = template.render(chat, tools=[{"type": "function", "function": {"name": "f"}}], assistant=True)
    shown = [(kind, prompt.text[begin:end]) for kind, (begin, end) in prompt.kinds]

    assert read == shown[: len(read)]
    assert [kind for kind, _ in read] == ["reasoning", "content", "calls", "stop"]


def test_a_mask_by_kinds_needs_kinds_that_there_are() -> None:
    tokenizer = parlance.Tokenizer.from_file(str(ROOT / "tests/tokenizers/chatml"))
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "é <|im_end|>"}]
    tokens = parlance.Template.builtin("chatml").render(chat, assistant=True).tokens(tokenizer)

    assert tokens.mask() == tokens.mask("assistant") == [int(kind != "prompt") for kind in tokens.kinds]
    assert sum(tokens.mask("stop")) == 1
    assert tokens.mask("content", "stop", "marker") == tokens.mask()
    assert tokens.mask("calls", "reasoning") == [0] * len(tokens)
    with pytest.raises(ValueError, match=r"a kind of tokens is .assistant., .content.*, not "):
        tokens.mask("thoughts")


def spelt_out(tokenizer: parlance.Tokenizer, text: str) -> list[int]:
    """Ids of a text in which no control token stands for a piece of it."""
    return parlance.Template.from_string("{{ messages[0].content }}").render([{"role": "user", "content": text}]).tokens(tokenizer).ids


@pytest.mark.parametrize("marker", ["<|im_end|>", "<|im_start|>"])
def test_a_marker_that_is_only_spelt_out_is_text(chatml_tokenizer: str, marker: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    prompt = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}])
    ids = spelt_out(tokenizer, f"The text {marker} is one.")
    assert tokenizer.encode(marker)[0] not in ids
    reader = prompt.reader(tokenizer=tokenizer)
    reader.feed(ids)
    assert [event.kind for event in reader.feed(tokenizer.encode("<|im_end|>"))][-1] == "end"
    reader.finish()
    assert reader.message.content == f"The text {marker} is one."
    assert reader.message.finish_reason == "stop"
    by_hand = parlance.ReplyReader("terminal-agent", tokenizer=tokenizer)
    by_hand.feed(ids)
    by_hand.finish()
    assert by_hand.message.content == reader.message.content


def test_a_session_reads_what_was_sampled_by_its_ids(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    session = parlance.Session(parlance.Template.builtin("terminal-agent"), tokenizer, [{"role": "user", "content": "Hi"}])
    sampled = [*spelt_out(tokenizer, "Write <|im_end|>."), *tokenizer.encode("<|im_end|>")]
    assert session.sampled(sampled).content == "Write <|im_end|>."
    new = session.extend([{"role": "user", "content": "And?"}])
    assert session.prompt_ids()[-len(new) - len(sampled) :] == sampled + new
    assert session.sample().mask("stop").count(1) == 1


def test_a_demanded_call_follows_a_close_that_the_prompt_has_without_its_newlines() -> None:
    parameters = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    tools = [{"type": "function", "function": {"name": "look", "parameters": parameters}}]
    call = '<tool_call>\n{"name": "look", "arguments": {"at": "é"}}\n</tool_call>'
    rendering = parlance.Template.builtin("terminal-agent").render([{"role": "user", "content": "Hi"}], tools=tools)
    grammar = parlance.grammar(rendering.reply_format, tools=tools, tool_choice="required", prompt=rendering.text + "<think>\nhm</think>")
    for gap in ("", "\n", "\n\n"):
        reader = rendering.reader()
        reader.feed("<think>\nhm</think>" + gap + call)
        reader.finish()

        assert grammar.accepts(gap + call)
        assert [one["function"]["name"] for one in reader.message.to_dict()["tool_calls"]] == ["look"]


def test_bytes_of_any_kind_are_text(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    text = "Hi é"
    data = text.encode()
    for piece in (text, data, bytearray(data), memoryview(data), memoryview(bytearray(data)), memoryview(data + b"xx")[: len(data)]):
        reader = parlance.ReplyReader("chatml", tokenizer=tokenizer)
        reader.feed(piece)
        reader.finish()
        assert reader.message.content == text
        assert parlance.read(piece, "chatml").content == text
        reader = parlance.ReplyReader("chatml", tokenizer=tokenizer)
        assert list(reader.stream([piece, piece])) and reader.message.content == text + text


def test_ids_of_any_kind_are_ids(chatml_tokenizer: str) -> None:
    numpy = pytest.importorskip("numpy")
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    ids = tokenizer.encode("Hi é")
    kinds = [list, tuple, numpy.array, lambda ids: numpy.array(ids, dtype=numpy.int32), lambda ids: memoryview(numpy.array(ids))]
    kinds += [lambda ids: [numpy.int64(id) for id in ids], lambda ids: [numpy.array(id) for id in ids]]
    for kind in kinds:
        for whole in (True, False):
            reader = parlance.ReplyReader("chatml", tokenizer=tokenizer)
            list(reader.stream([kind(ids)] if whole else kind(ids)))
            assert reader.message.content == "Hi é", kind
    session = parlance.Session(parlance.Template.builtin("chatml"), tokenizer, [{"role": "user", "content": "Hi"}])
    for wrong in (b"Hi", "Hi", bytearray(b"Hi"), memoryview(b"Hi")):
        for call in (session.sampled, session.events):
            with pytest.raises(TypeError, match="takes the ids that were sampled"):
                call(wrong)
    for wrong in (1.5, None, [1.5], ["Hi"], numpy.array([1.5]), numpy.array([[1]])):
        with pytest.raises(TypeError):
            parlance.ReplyReader("chatml", tokenizer=tokenizer).feed(wrong)


def test_equal_events_are_one_in_a_set_and_can_be_copied(chatml_tokenizer: str) -> None:
    text = 'é\ud83d<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call><|im_end|>'.encode("utf-8", "surrogatepass")
    rows = []
    for _ in range(2):
        reader = parlance.ReplyReader("terminal-agent", check_calls=True, tools=[])
        rows.append([*reader.feed(text), *reader.finish()])
    assert rows[0] == rows[1] and len({*rows[0], *rows[1]}) == len(set(rows[0])) == len(rows[0])
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        for event in rows[0]:
            again = copied(event)
            assert again == event and again.to_dict() == event.to_dict() and hash(again) == hash(event)
    assert hash(parlance.read(text, "terminal-agent")) == hash(parlance.read(text, "terminal-agent"))


@pytest.mark.parametrize(
    "reply",
    [
        "Hi \ud83d é",
        "<think>\nHm",
        "<think>\nHm.\n</think>\n\nYes.<|im_end|>",
        '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call><|im_end|>',
        '<tool_call>\n{"name": "look", "arguments": {"at": }}\n</tool_call>',
        '<tool_call>\n{"name": "look", "arguments": {"at": "x',
        '<tool_call>\n{"name": "lo',
        '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "look", "argu',
        "",
    ],
)
def test_messages_can_be_copied(reply: str) -> None:
    message = parlance.read(reply.encode("utf-8", "surrogatepass"), "terminal-agent")
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        again = copied(message)
        assert again == message and hash(again) == hash(message) and as_tuple(again) == as_tuple(message)
        assert again.diagnostics == message.diagnostics and again.to_dict(partial=True) == message.to_dict(partial=True)


# ---- events as dataclasses


def events_of_all_kinds() -> list[parlance.ReplyEvent]:
    rows = []
    for text in (REPLY + "<|im_end|>more", '<tool_call>\n{"name": "zz", "arguments": {"a": }}\n</tool_call>', "Hi \ud83d"):
        one = parlance.ReplyReader("terminal-agent", check_calls=True, tools=[{"type": "custom", "custom": {"name": "zz"}}])
        rows += [*one.feed(text), *one.finish()]
    return rows


def test_events_are_frozen_dataclasses() -> None:
    names = [field.name for field in dataclasses.fields(parlance.ReplyEvent)]
    assert names == list(parlance.ReplyEvent.__match_args__) and dataclasses.is_dataclass(parlance.ReplyEvent)
    events = events_of_all_kinds()
    assert {"content", "reasoning", "arguments", "marker", "call_begin", "call_end", "malformed", "end", "trailing"} <= {
        e.kind for e in events
    }
    assert any(event.custom for event in events)
    for event in events:
        assert dataclasses.is_dataclass(event)
        assert dataclasses.asdict(event) == event.to_dict() == {name: getattr(event, name) for name in names}
        assert dataclasses.astuple(event) == tuple(getattr(event, name) for name in names)
        again = parlance.ReplyEvent(**event.to_dict())
        assert again == event and hash(again) == hash(event) and pickle.loads(pickle.dumps(again)) == event
        for name in names:
            with pytest.raises(AttributeError):
                setattr(event, name, getattr(event, name))
        changes = {"text": "é \ud83d", "position": 7, "complete": True, "custom": not event.custom, "call": 3, "source": "s", "detail": "d"}
        for name, value in changes.items():
            other = dataclasses.replace(event, **{name: value})
            assert type(other) is parlance.ReplyEvent and (other == event) == (getattr(event, name) == value)
            assert other.to_dict() == {**event.to_dict(), name: value}
        assert dataclasses.replace(event) == event == event.__replace__()
    message, copied = reader(), []
    for event in message.feed(REPLY) + message.finish():
        copied.append(dataclasses.replace(event))
    assert parlance.ReplyApiWriter("openai").add(copied)


def test_each_fault_of_the_header_has_its_name() -> None:
    header = (ROOT / "include" / "parlance" / "reply.h").read_text(encoding="utf-8")
    faults = re.findall(r"^    (\w+),", header.partition("enum class Fault")[2].partition("};")[0], re.MULTILINE)
    assert len(faults) > 6 and re.findall(r"'(\w+)'", parlance.ReplyEvent.fault.__doc__ or "") == faults
    assert [parlance.ReplyEvent("malformed", fault=name).fault for name in faults] == faults


def test_events_match_class_patterns() -> None:
    said, names = [], []
    one = reader()
    for event in one.feed(REPLY) + one.finish():
        match event:
            case parlance.ReplyEvent("content", text):
                said.append(text)
            case parlance.ReplyEvent(kind="call_begin", text=name, call=0):
                names.append(name)
    assert ("".join(said).strip(), names) == ("Fine \U0001f600.", ["f"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "contents"},
        {"kind": "content", "fault": "syntax"},
        {"kind": "malformed", "fault": "nothing"},
        {"kind": "content", "call": -1},
        {"kind": "content", "text": b"x"},
        {},
    ],
    ids=str,
)
def test_events_are_made_of_what_there_is(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        parlance.ReplyEvent(**wrong)


def test_the_stub_says_what_events_are_made_of() -> None:
    path = pathlib.Path(parlance.__file__).with_name("_core.pyi")
    if not path.exists():
        pytest.skip("no stub: asan.sh builds the extension alone")
    stub = path.read_text("utf-8")
    assert f"__match_args__ = {parlance.ReplyEvent.__match_args__!r}".replace("'", '"') in stub


# ---- calls that are not closed


@pytest.mark.parametrize(
    ("format", "whole", "due"),
    [
        ("terminal-agent", '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', "</tool_call>"),
        ("rnj-1", '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', "</tool_call>"),
        ("underscore-bot", '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', "</tool_call>"),
        ("chatglm3", 'f\n ```python\ntool_call(a="x")\n```', "```"),
    ],
)
def test_a_whole_call_that_is_not_closed_is_kept_and_noted(format: str, whole: str, due: str) -> None:
    expected = parlance.read(whole, format)
    assert expected.calls[0].complete and not expected.diagnostics
    bare = whole[: whole.rindex(due)].rstrip()
    for behind in ("", "\n", " \n", "\n" + due[:1], "\n" + due[:-1]):
        for size in (1, 3, 1000):
            one = parlance.ReplyReader(format)
            for at in range(0, len(bare + behind), size):
                one.feed((bare + behind)[at : at + size])
            events = one.finish()
            message = one.message
            assert [(c.name, c.arguments, c.complete) for c in message.calls] == [("f", '{"a": "x"}', True)], behind
            assert message.finish_reason == "tool_calls" and message.content == expected.content
            (noted,) = message.diagnostics
            assert (noted[1], noted[2].strip()) == ("syntax", due) and len(bare) <= noted[0] <= len(bare + behind)
            assert "malformed" in [event.kind for event in events]
    for cut in range(1, len(bare) - whole.index('"x"')):  # the arguments are not all there
        assert not parlance.read(bare[:-cut], format).calls[0].complete or format == "chatglm3"
