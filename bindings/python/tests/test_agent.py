"""Agent: a loop of calls with functions, ids that are never encoded again, verification, limits, and what functions raise."""

from __future__ import annotations

import ast
import fractions
import functools
import itertools
import json
import pathlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import parlance
import pytest
from material import ROOT


def call(name: str, /, **arguments: Any) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call><|im_end|>"


opened = functools.cache(parlance.Tokenizer.from_file)  # the agents of these tests are many, and their tokenizer is one


class Sampler:
    """Says one reply after the other, the last one again and again, and remembers what it was asked."""

    def __init__(self, folder: str, *replies: str) -> None:
        self.tokenizer = opened(folder)
        self.replies = list(replies)
        self.asked: list[list[int]] = []
        self.sampled: list[list[int]] = []
        self.grammars: list[str | None] = []

    def __call__(self, ids: list[int], grammar: str | None, stop_tokens: list[int]) -> Iterator[int]:
        text = self.replies[min(len(self.asked), len(self.replies) - 1)]
        assert not stop_tokens or set(self.tokenizer.encode("<|im_end|>")) & set(stop_tokens)
        self.asked.append(ids)
        self.grammars.append(grammar)
        self.sampled.append(self.tokenizer.encode(text))
        yield from self.sampled[-1]


def agent(folder: str, sample: Callable[..., Any], *tools: Callable[..., Any], **options: Any) -> parlance.Agent:
    return parlance.Agent(parlance.Template.builtin("terminal-agent"), opened(folder), sample, tools, goal="Do it", **options)


def look(at: str) -> str:
    """Looks at a place.

    Args:
        at: The place.
    """
    return f"{at} is empty<|im_end|>"


def write(text: str) -> parlance.ToolOutcome:
    """Writes a text.

    Args:
        text: The text.
    """
    return parlance.ToolOutcome("written", changed=True)


def fail(why: str) -> str:
    """Fails.

    Args:
        why: The reason.
    """
    raise ValueError(why)


LIMITS = ("max_turns", "max_tokens", "repeats", "refusals", "context")
BROKEN = '<tool_call>\n{"name": "look", "arguments": {"at": "the kitchen", "deep": {"n": [1, 2'


@pytest.mark.parametrize(
    "before", ["", "I look.\n", "<think>\nWhere?\n</think>\n\n", call("look", at="the hall").removesuffix("<|im_end|>") + "\n"]
)
@pytest.mark.parametrize("end", ["<|im_end|>", "", "\n</tool_call><|im_end|>", "]}}\n<|im_end|>"])
def test_a_call_that_breaks_off_stays_as_it_was_sampled(chatml_tokenizer: str, before: str, end: str) -> None:
    tokenizer = opened(chatml_tokenizer)
    ids = tokenizer.encode(BROKEN)
    for size in range(len(tokenizer.encode("<tool_call>\n")) + 1, len(ids) + 1, 3):
        broken = before + tokenizer.decode(ids[:size]).decode() + end
        sample, events = Sampler(chatml_tokenizer, broken, call("look", at="the kitchen"), "It is empty.<|im_end|>"), list[Any]()
        reached = agent(chatml_tokenizer, sample, look, events=events.append).run()
        assert reached.reason == "done", broken
        if not any(event["event"] == "unreadable" for event in events):
            continue  # it was read as a call, as text or as one of no function
        kept = sample.asked[0] + sample.sampled[0]
        if before.startswith("<think>"):  # the template leaves out what was thought before a user's message, also where the call is whole
            written = broken.removeprefix(before).removesuffix("<|im_end|>")
            assert written + "<|im_end|>\n<|im_start|>user\n" in tokenizer.decode(sample.asked[1]).decode()
            assert any(event.get("prefix_break") for event in events), broken
            continue
        assert sample.asked[1][: len(kept)] == kept, broken
        assert not any(event.get("prefix_break") for event in events), broken
        behind = tokenizer.decode(sample.asked[1][len(kept) :]).decode()
        assert behind.startswith("\n<|im_start|>user\n" if end.endswith("<|im_end|>") else "<|im_end|>\n<|im_start|>user\n"), behind
    assert len(sample.asked) == 3, "the last one is unreadable"


def test_a_loop(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("look", at="the kitchen"), call("fail", why="no light"), "It is empty.<|im_end|>")
    events: list[Any] = []
    end = agent(chatml_tokenizer, sample, look, fail, grammar="gbnf", events=events.append).run()
    assert (end.reason, end.answer, end.turns) == ("done", "It is empty.", 3)
    for turn in range(2):
        before = sample.asked[turn] + sample.sampled[turn]
        assert sample.asked[turn + 1][: len(before)] == before, "the past is what was sampled"
    assert [event["text"] for event in events if event["event"] == "outcome"] == ["the kitchen is empty<|im_end|>", "ValueError: no light"]
    marks = [ids.count(sample.tokenizer.encode("<|im_end|>")[0]) for ids in sample.asked]
    assert marks[1] - marks[0] == 2, "the result of a tool ends no turn"
    assert all(grammar and "root" in grammar for grammar in sample.grammars)


def test_reasoning_with_other_blanks_than_the_template(chatml_tokenizer: str) -> None:
    gaps = [(before, behind) for before in ("\n", "") for behind in ("\n\n", "\n", "")]
    replies = [f"<think>\nHm.{before}</think>{behind}" + call("look", at=f"{number}") for number, (before, behind) in enumerate(gaps)]
    sample = Sampler(chatml_tokenizer, *replies, "<think>\nSo.</think>It is empty.<|im_end|>")
    end = agent(chatml_tokenizer, sample, look).run()
    assert (end.reason, end.answer, end.turns) == ("done", "It is empty.", 7)
    for turn in range(6):
        before = sample.asked[turn] + sample.sampled[turn]
        assert sample.asked[turn + 1][: len(before)] == before, gaps[turn]


def test_verification_and_limits(chatml_tokenizer: str) -> None:
    done = "Done.<|im_end|>"
    sample = Sampler(chatml_tokenizer, call("write", text="a"), done, call("look", at="it"), done)
    assert agent(chatml_tokenizer, sample, look, write).run().reason == "done"
    assert len(sample.asked) == 4
    assert agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("write", text="a"), done), look, write).run().reason == "gave_up"
    assert agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("write", text="a"), done), write, verify=False).run().reason == "done"
    assert agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("look", at="it")), look).run().reason == "repeats"
    end = agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("look", at="it")), look, max_turns=2).run()
    assert (end.reason, end.turns) == ("turns", 2)


def test_time_is_over_within_a_reply(chatml_tokenizer: str) -> None:
    (word,) = opened(chatml_tokenizer).encode("a")[:1]
    end = agent(chatml_tokenizer, lambda *_: itertools.repeat(word), look, max_seconds=0.3).run()
    assert (end.reason, end.turns) == ("seconds", 1)


def test_the_same_reply_that_breaks_off_ends_a_run(chatml_tokenizer: str) -> None:
    tokens = opened(chatml_tokenizer).encode("and so on")
    end = agent(chatml_tokenizer, lambda *_: tokens, look).run()
    assert (end.reason, end.turns) == ("repeats", 6)


def test_messages_of_a_run(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("look", at="the kitchen"), "It is empty.<|im_end|>")
    one = agent(chatml_tokenizer, sample, look, system="Be brief.")
    assert one.messages == []
    one.run()
    first, second, third, fourth, last = one.messages
    assert (first, second) == ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Do it"})
    (asked,) = third["tool_calls"]
    assert (third["role"], asked["function"]["name"]) == ("assistant", "look")
    assert (fourth["role"], fourth["tool_call_id"], fourth["content"]) == ("tool", asked["id"], "the kitchen is empty<|im_end|>")
    assert (last["role"], last["content"]) == ("assistant", "It is empty.")
    assert "It is empty." in parlance.Template.builtin("terminal-agent").render(one.messages).text
    sample.asked.clear()
    assert one.run().turns == 2
    assert len(one.messages) == 5


def test_who_is_asked_ends_a_run(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("look", at="the kitchen"))
    one = agent(chatml_tokenizer, sample, look, repeats=0, stopped=lambda: len(sample.asked) == 3)
    assert (one.run().reason, len(sample.asked)) == ("stopped", 3)

    def broken() -> bool:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        agent(chatml_tokenizer, sample, look, stopped=broken).run()


def test_a_full_context(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, *(call("look", at=f"place {number} " + "x" * 200) for number in range(30)), "Done.<|im_end|>")
    events: list[Any] = []
    end = agent(chatml_tokenizer, sample, look, context=9000, events=events.append).run()
    assert end.reason == "done"
    assert [event for event in events if event["event"] == "compacted"]
    assert max(map(len, sample.asked)) < 9000


def test_approval_and_what_is_raised(chatml_tokenizer: str) -> None:
    replies = (call("look", at="it"), "Then not.<|im_end|>")
    asked: list[Any] = []
    end = agent(chatml_tokenizer, Sampler(chatml_tokenizer, *replies), look, approve=lambda *call: asked.append(call) or "no").run()
    assert end.answer == "Then not." and asked == [("look", '{"at": "it"}')]

    def broken(*_: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        agent(chatml_tokenizer, broken, look).run()
    with pytest.raises(KeyError, match="mine"):
        agent(chatml_tokenizer, Sampler(chatml_tokenizer, *replies), look, events=broken).run()
    with pytest.raises(KeyError, match="mine"):
        agent(chatml_tokenizer, Sampler(chatml_tokenizer, *replies), look, approve=broken).run()
    with pytest.raises(TypeError):
        agent(chatml_tokenizer, lambda *_: ["no id"], look).run()
    with pytest.raises(TypeError):
        agent(chatml_tokenizer, lambda *_: None, look).run()
    with pytest.raises(ValueError, match=r"the syntaxes are .* not 'bnf'"):
        agent(chatml_tokenizer, Sampler(chatml_tokenizer, *replies), grammar="bnf").run()


SPECIFICATION = ROOT.parent / "shared" / "seeds" / "chatglm3-format.md"


def turns_of(example: str) -> list[tuple[str, str, str]]:
    """Role, header and text of each turn."""
    parts = re.split(r"^<\|(\w+)\|>(.*)\n", example, flags=re.MULTILINE)[1:]
    return [(parts[at], parts[at + 1], parts[at + 2].strip("\n")) for at in range(0, len(parts) - 2, 3)]


def conversations() -> list[list[tuple[str, str, str]]]:
    """The specification's examples, each from a system turn to the last answer to one question."""
    if not SPECIFICATION.exists():
        return []
    text = SPECIFICATION.read_text("utf-8").split("Example Scenarios", 1)[1].split("<|user|>  # End")[0]
    made = []
    for example in re.split(r"(?=^<\|system\|>)", text, flags=re.MULTILINE)[1:]:
        turns = turns_of(re.split(r"\n\n(?=Tool Calling|Code Execution)", example)[0])
        users = [at for at, turn in enumerate(turns) if turn[0] == "user"]
        made += [[turns[0], *turns[begin:end]] for begin, end in zip(users, [*users[1:], len(turns)], strict=True)]
    return made


def glm_agent(folder: pathlib.Path, turns: list[tuple[str, str, str]], prompts: list[str]) -> parlance.AgentEnd:
    """Runs the loop with a model and tools that say what the example has."""
    sys.path[:0] = [str(ROOT / "tests" / "serve"), str(ROOT / "tests" / "agent")]
    wire = __import__("wire")
    tokenizer = opened(str(wire.write_tokenizer(wire.FORMATS["chatglm3"], folder)))
    replies: list[str] = []
    results: list[str] = []
    for before, (role, header, text), behind in zip(turns[:-1], turns[1:], [*turns[2:], ("user", "", "")], strict=True):
        goes_on = before[0] == "assistant"
        if role == "observation":
            results.append(text.removeprefix("```result\n").removesuffix("\n```"))
        elif role == "assistant":
            said = f"{header}\n {text}\n" + ("" if behind[0] == "assistant" else f"<|{behind[0]}|>")
            replies[len(replies) - goes_on :] = [f"{replies[-1]}<|assistant|>{said}" if goes_on else said]
    said_next, given = iter(replies), iter(results)

    def sample(ids: list[int], grammar: str | None, stop_tokens: list[int]) -> list[int]:
        prompts.append(tokenizer.decode(ids).decode())
        return tokenizer.encode(next(said_next))

    listed = re.search(r"^\[.*^\]", turns[0][2], re.MULTILINE | re.DOTALL)
    tools: list[Any] = (
        [({"type": "function", "function": tool}, lambda **_: next(given)) for tool in ast.literal_eval(listed[0])] if listed else []
    )
    tools.append(
        ({"name": "interpreter", "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}}, lambda code: next(given))
    )
    return parlance.Agent(
        parlance.Template.builtin("chatglm3"), tokenizer, sample, tools, goal=turns[1][2], system="" if listed else turns[0][2]
    ).run()


@pytest.mark.parametrize("number", range(4))
def test_examples_of_the_specification(number: int, tmp_path: pathlib.Path) -> None:
    """Prompts are the specification's bytes, with what its tokenizer adds: a prefix, and a space before each text."""
    all_of_them = conversations()
    if not all_of_them:
        pytest.skip("skipped: no specification beside the project")
    assert len(all_of_them) == 4
    turns, prompts = all_of_them[number], []
    end = glm_agent(tmp_path / "tokenizer", turns, prompts)
    assert (end.reason, end.answer) == ("done", turns[-1][2])
    asked = [at for at, turn in enumerate(turns) if turn[0] == "assistant" and turns[at - 1][0] != "assistant"]
    assert len(prompts) == len(asked)
    for prompt, at in zip(prompts, asked, strict=True):
        wanted = "\n".join(f"<|{role}|>{header}\n {text}" for role, header, text in turns[:at])
        assert prompt == f"[gMASK]sop{wanted}\n<|assistant|>"


def returns(result: Any) -> Callable[[], Any]:
    def give() -> Any:
        """Gives something."""
        return result

    return give


@pytest.mark.parametrize(
    "result, said",
    [
        (b"abc", "the function returned a bytes, which JSON cannot say: Object of type bytes is not JSON serializable"),
        ({1}, "the function returned a set, which JSON cannot say: Object of type set is not JSON serializable"),
        (float("nan"), "the function returned a float, which JSON cannot say: Out of range float values"),
        ([1, float("inf")], "the function returned a list, which JSON cannot say: Out of range float values"),
        (parlance.ToolOutcome(7), "the text of a ToolOutcome is a str, not a int"),  # type: ignore[arg-type]
    ],
)
def test_a_result_that_cannot_be_told_is_a_run_that_failed(chatml_tokenizer: str, result: Any, said: str) -> None:
    events: list[Any] = []
    sample = Sampler(chatml_tokenizer, call("give"), "Done.<|im_end|>")
    end = agent(chatml_tokenizer, sample, returns(result), verify=False, events=events.append).run()
    (told,) = [event for event in events if "succeeded" in event]
    assert end.reason == "done"
    assert not told["succeeded"]
    assert told["text"].startswith(f"TypeError: {said}")


@pytest.mark.parametrize("result", ["a\udcff", parlance.ToolOutcome("a\udcff"), ["a\udcff"]])
def test_a_name_that_is_no_utf8_is_told(chatml_tokenizer: str, result: Any) -> None:
    events: list[Any] = []
    sample = Sampler(chatml_tokenizer, call("give"), "Done.<|im_end|>")
    assert agent(chatml_tokenizer, sample, returns(result), verify=False, events=events.append).run().reason == "done"
    (told,) = [event for event in events if "succeeded" in event]
    assert told["succeeded"]
    assert "a\ufffd" in told["text"]


def test_an_exception_whose_text_is_no_utf8_is_told(chatml_tokenizer: str) -> None:
    def broken() -> str:
        """Breaks."""
        raise OSError("a\udcff")

    sample = Sampler(chatml_tokenizer, call("broken"), "Done.<|im_end|>")
    assert agent(chatml_tokenizer, sample, broken, verify=False).run().reason == "done"


@pytest.mark.parametrize("answer", [None, 1, 0, []])
def test_approve_says_yes_or_no(chatml_tokenizer: str, answer: Any) -> None:
    sample = Sampler(chatml_tokenizer, call("look", at="the kitchen"), "Done.<|im_end|>")
    with pytest.raises(TypeError, match=f"not a {type(answer).__name__}"):
        agent(chatml_tokenizer, sample, look, approve=lambda name, arguments: answer).run()


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"name": "give", "parameters": {"type": "array"}}, "no JSON Schema of an object"),
        ({"name": "give", "parameters": None}, "no JSON Schema of an object"),
        ({"name": "give", "parameters": "object"}, "no JSON Schema of an object"),
        ({"name": "give", "parameters": []}, "no JSON Schema of an object"),
        ({"name": ""}, "a tool has no name"),
        ({"name": "look"}, "the tool 'look' is there twice"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_an_error(chatml_tokenizer: str, schema: dict[str, Any], said: str) -> None:
    sample = Sampler(chatml_tokenizer, "Done.<|im_end|>")
    pair: Any = (schema, lambda **_: "given")
    with pytest.raises(ValueError, match=said):
        agent(chatml_tokenizer, sample, look, pair).run()
    assert sample.asked == []


def test_what_is_no_agent_is_refused_where_it_is_made(chatml_tokenizer: str) -> None:
    tokenizer, template = opened(chatml_tokenizer), parlance.Template.builtin("terminal-agent")
    none: Any = None
    with pytest.raises(TypeError, match=r"sample is a function of \(ids, grammar, stop_tokens\), not a NoneType"):
        parlance.Agent(template, tokenizer, none, goal="Look.")
    with pytest.raises(TypeError, match=r"takes a Template, .* or a reply function of \(messages, tools\), not a str"):
        parlance.Agent("chatml", tokenizer, lambda *_: [], goal="Look.")  # type: ignore[arg-type]
    for swapped, said in ((tokenizer, "a Tokenizer"), (parlance.Template, "the class Template")):
        with pytest.raises(TypeError, match=f"takes a Template, .* not {said}"):
            parlance.Agent(swapped, goal="Look.")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"tokenizer belongs to a Template, .*: give tools by their name, tools=\[…\]"):
        parlance.Agent(lambda messages, tools: "Done.", [look], goal="Look.")
    with pytest.raises(TypeError, match="reply is an async function"):
        parlance.Agent(awaited, goal="Look.")
    for name in ("tokenizer", "sample", "grammar"):
        more: Any = {name: {"tokenizer": tokenizer, "sample": lambda *_: [], "grammar": "gbnf"}[name]}
        with pytest.raises(TypeError, match=f"{name} belongs to a Template"):
            parlance.Agent(lambda messages, tools: "Done.", goal="Look.", **more)
    for name in ("goal", "system"):
        given: Any = {"goal": "Look.", name: 5}
        with pytest.raises(TypeError, match=f"{name} is a str, not a int"):
            parlance.Agent(template, tokenizer, lambda ids, grammar, stops: [], **given)


async def awaited(at: str) -> str:
    """Looks.

    Args:
        at: The place.
    """
    return at


async def one_by_one() -> Any:
    """Looks."""
    yield "it"


class Awaited:
    async def __call__(self) -> str:
        """Looks."""
        return "it"


ASYNC: tuple[Any, ...] = (awaited, one_by_one, functools.partial(awaited), Awaited())
NAMED = {"name": "look", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        *(({"tools": [look, tool]}, TypeError, r"tools\[1\] is an async function") for tool in ASYNC),
        *(({"tools": [(NAMED, tool)]}, TypeError, r"tools\[0\] is an async function") for tool in ASYNC),
        *(({name: -1}, ValueError, f"{name} is not -1") for name in LIMITS),
        *(({name: 2**70}, ValueError, f"{name} is not 1180591620717411303424") for name in LIMITS),
        *(({name: "5"}, TypeError, f"{name} is an int, not a str") for name in LIMITS),
        *(({name: True}, TypeError, f"{name} is an int, not a bool") for name in LIMITS),
        *(({name: 5.0}, TypeError, f"{name} is an int, not a float") for name in LIMITS),
        ({"max_turns": None}, TypeError, "max_turns is an int, not a NoneType"),
        ({"max_seconds": -0.1}, ValueError, "max_seconds is not -0.1"),
        ({"max_seconds": float("nan")}, ValueError, "max_seconds is not nan"),
        ({"max_seconds": "1"}, TypeError, "max_seconds is a number, not a str"),
        ({"max_seconds": None}, TypeError, "max_seconds is a number, not a NoneType"),
        ({"goal": "a\ud800"}, ValueError, "goal has half of a surrogate pair at 1"),
        ({"system": "\udfff"}, ValueError, "system has half of a surrogate pair at 0"),
        ({"goal": b"Look."}, TypeError, "goal is a str, not a bytes"),
        *(({name: function}, TypeError, f"{name} is an async function") for name in ("sample", "events", "approve") for function in ASYNC),
        *(({"tools": [({"name": name}, look)]}, TypeError, r"the name of tools\[0\]\[0\] is a str") for name in (0, False, [])),
        ({"tools": None}, TypeError, "tools is a list of functions.* not a NoneType"),
        ({"tools": look}, TypeError, "tools is a list of functions.* not a function"),
        ({"tools": NAMED}, TypeError, "tools is a list of functions.* not a dict"),
        ({"grammar": "x"}, ValueError, "the syntaxes are 'gbnf',.* not 'x'"),
        ({"grammar": 5}, TypeError, "grammar is the name of a syntax, not a int"),
        ({"events": "x"}, TypeError, "events is a function, not a str"),
        ({"approve": True}, TypeError, "approve is a function, not a bool"),
        ({"tools": [({"function": {}}, look)]}, ValueError, r"tools\[0\]\[0\] has no name"),
        ({"tools": [({}, look)]}, ValueError, r"tools\[0\]\[0\] has no name"),
        ({"tools": [({"name": None}, look)]}, ValueError, r"tools\[0\]\[0\] has no name"),
        ({"tools": [({"name": 5}, look)]}, TypeError, r"the name of tools\[0\]\[0\] is a str, not a int"),
        ({"tools": [({"name": "a\ud800"}, look)]}, ValueError, r"the name of tools\[0\]\[0\] has half of a surrogate pair"),
        ({"tools": [({"function": "look"}, look)]}, TypeError, r"tools\[0\]\[0\]\['function'\] is a dict, not a str"),
        ({"tools": [({"name": "x", "description": 5}, look)]}, TypeError, r"the description of tools\[0\]\[0\] is a str, not a int"),
        ({"tools": [({"name": "x", "parameters": {"type": {1}}}, look)]}, TypeError, r"the parameters of tools\[0\]\[0\] are no JSON"),
        ({"tools": [("look", look)]}, TypeError, r"tools\[0\] is a function, or a pair of .*, not a tuple of \(str, function\)"),
        ({"tools": [look, NAMED]}, TypeError, r"tools\[1\] is a function, or a pair .*, not a dict"),
        ({"tools": [(NAMED, look, 1)]}, TypeError, r"not a tuple of \(dict, function, int\)"),
        ({"tools": ["look"]}, TypeError, r"tools\[0\] is a function, or a pair .*, not a str"),
    ],
)  # fmt: skip
def test_the_constructor_names_what_is_wrong(chatml_tokenizer: str, given: dict[str, Any], kind: type[Exception], said: str) -> None:
    tokenizer, template = opened(chatml_tokenizer), parlance.Template.builtin("terminal-agent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=said):
            parlance.Agent(template, tokenizer, **{"sample": lambda ids, grammar, stops: [], "goal": "Look.", **given})


def test_numbers_of_other_packages_are_limits(chatml_tokenizer: str) -> None:
    numpy = pytest.importorskip("numpy")
    sample = Sampler(chatml_tokenizer, "Done.<|im_end|>")
    limits = {name: numpy.int64(100_000) for name in LIMITS}
    for seconds in (numpy.float64(60), numpy.float32(60), numpy.int64(60), 10**400, fractions.Fraction(121, 2)):
        assert agent(chatml_tokenizer, sample, look, max_seconds=seconds, **limits).run().reason == "done"
    assert (
        agent(chatml_tokenizer, sample, (NAMED, look), [NAMED | {"name": "again", "description": None}, look], context=None).run().reason
        == "done"
    )


def test_a_reply_that_is_cut_within_a_character_is_gone_on_from(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("write", text="x"), "Wrote it \U0001f642", call("look", at="x"), "Done.<|im_end|>")
    whole = sample.tokenizer.encode("Wrote it \U0001f642")
    replies = {1: whole[:-1]}
    assert b"\xf0" in sample.tokenizer.decode(whole[:-1]) and sample.tokenizer.decode(whole[:-1]) != "Wrote it \U0001f642".encode()

    def cut(ids: list[int], grammar: str | None, stops: list[int]) -> Iterator[int]:
        number = len(sample.asked)
        all = list(sample(ids, grammar, stops))
        yield from replies.get(number, all)

    end = agent(chatml_tokenizer, cut, write, look).run()
    assert end.reason == "done" and len(sample.asked) == 4
    assert sample.asked[2][: len(sample.asked[1]) + len(whole) - 1] == [*sample.asked[1], *whole[:-1]]  # what was sampled stays


def test_an_end_that_is_spelt_in_text_is_of_the_answer(chatml_tokenizer: str) -> None:
    tokenizer = opened(chatml_tokenizer)
    said = [*tokenizer.encode("A turn ends with <|im_"), *tokenizer.encode("end|>"), *tokenizer.encode("<|im_end|>")]
    end = agent(chatml_tokenizer, lambda ids, grammar, stops: said, look).run()
    assert end.answer == "A turn ends with <|im_end|>"


def test_each_run_begins_anew(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, "Done.<|im_end|>")
    again = agent(chatml_tokenizer, sample, look)
    assert [again.run().reason, again.run().reason] == ["done", "done"]
    assert sample.asked[0] == sample.asked[1]


# ---- arguments, and coroutines


def add(a: int, b: int = 1) -> str:
    """Adds.

    Args:
        a: A number.
        b: Another.
    """
    ADDED.append((a, b))
    return str(a + b)


ADDED: list[tuple[int, int]] = []


def results(made: parlance.Agent) -> list[str]:
    return [message["content"] for message in made.messages if message["role"] == "tool"]


def test_arguments_that_do_not_fit_are_told_and_nothing_runs(chatml_tokenizer: str) -> None:
    ADDED.clear()
    calls = [call("add", a="two"), call("add", a=2, b=None), call("add", b=2), call("add", a=2, b=3), "5<|im_end|>"]
    made = agent(chatml_tokenizer, Sampler(chatml_tokenizer, *calls), add, verify=False)
    assert made.run().reason == "done"
    assert results(made)[0] == "Error: the arguments do not fit: expected an integer as 'a', not a text"
    assert results(made)[1].startswith("Error: the arguments do not fit: expected an integer as 'b'")
    assert results(made)[2].startswith("Error: the arguments do not fit: expected ") and results(made)[3] == "5"
    assert ADDED == [(2, 3)]


def in_place(at: str, /, deep: bool = False) -> str:
    """Looks.

    Args:
        at: The place.
        deep: Whether it looks long.
    """
    return at


def test_parameters_without_names_are_refused() -> None:
    reply: Any = lambda messages, tools: "Yes"  # noqa: E731
    bare = {"type": "function", "function": {"name": "bare", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}}
    optional: Any = lambda x=1, /: x  # noqa: E731
    for given in (in_place, (bare, lambda x, /: x), (bare, optional)):
        with pytest.raises(TypeError, match=r"tools\[0\] takes '(at|x)' by its place alone"):
            parlance.Agent(reply, tools=[given], goal="Do it")
    bare["function"] = {"name": "bare"}
    assert parlance.Agent(reply, tools=[(bare, optional), (NAMED, max)], goal="Do it").run().reason == "done"


async def later(*arguments: Any, **named: Any) -> str:
    return "Yes"


@pytest.mark.filterwarnings("error")
def test_a_function_that_returns_a_coroutine_is_refused(chatml_tokenizer: str) -> None:
    calling = [call("look", at="it"), "Yes<|im_end|>"]
    made = parlance.Agent(
        parlance.Template.builtin("terminal-agent"),
        opened(chatml_tokenizer),
        Sampler(chatml_tokenizer, *calling),
        [(NAMED_LOOK, lambda at: later(at))],
        goal="Do it",
        verify=False,
    )
    assert made.run().reason == "done"
    assert results(made)[0].startswith("TypeError: the function returned a coroutine, which the agent does not await")
    gives_later: Any = lambda *arguments: later()  # noqa: E731
    hooks: list[dict[str, Any]] = [{name: gives_later} for name in ("events", "stopped", "approve")]
    for options in hooks:
        with pytest.raises(TypeError, match=f"{next(iter(options))} returned a coroutine"):
            agent(chatml_tokenizer, Sampler(chatml_tokenizer, *calling), look, **options).run()
    with pytest.raises(TypeError, match="sample returned a coroutine"):
        agent(chatml_tokenizer, gives_later).run()

    class Waited:
        """As a Task, which runs though nobody awaits it."""

        def __await__(self) -> Any:
            return iter(())

    told: list[Any] = []
    watched = agent(chatml_tokenizer, Sampler(chatml_tokenizer, *calling), look, events=lambda event: told.append(event) or Waited())
    assert watched.run().reason == "done"
    assert told
    with pytest.raises(TypeError, match="the reply function returned a coroutine"):
        parlance.Agent(gives_later, goal="Do it").run()


NAMED_LOOK = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}
