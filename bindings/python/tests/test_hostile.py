"""Hostile and mistaken objects at every door end in an exception of the right class, with a path; what ends a program is not wrapped."""

from __future__ import annotations

import copy
import datetime
import enum
import pathlib
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import parlance
import pytest
from material import ROOT

MESSAGES: list[Any] = [{"role": "user", "content": "Hi"}]
CHATML = parlance.Template.builtin("chatml")


class NoJson:
    """A class where an object was meant."""


class Endless:
    def model_dump(self) -> Any:
        return Endless()


class Itself(enum.Enum):
    ONE = 1

    @property
    def value(self) -> Any:
        return self


def cycle() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["a"] = made
    return made


def nested(levels: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


class Nameless(type):
    @property
    def __name__(cls) -> Any:  # type: ignore[override]
        raise ValueError("no name")


class OfNoName(metaclass=Nameless):
    """Its class cannot be named in an error."""


class OfNoClass:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise ValueError("no class")


class NoDataclass:
    """Says that it is one."""

    __dataclass_fields__ = 5


class Unshown(str):
    def __repr__(self) -> str:
        raise ValueError("not shown")


DOORS: dict[str, Callable[[Any], Any]] = {
    "render": lambda x: CHATML.render([{"role": "user", "content": x}]),
    "tools": lambda x: CHATML.render(MESSAGES, tools=[{"type": "function", "function": x}]),
    "variables": lambda x: CHATML.render(MESSAGES, x=x),
    "convert": lambda x: parlance.convert({"messages": [{"role": "user", "content": x}]}, "responses"),
    "members": lambda x: parlance.convert({"messages": MESSAGES}, "openai", x=x),
    "schema_grammar": lambda x: parlance.schema_grammar({"enum": x}),
    "response_format": lambda x: parlance.grammar("terminal-agent", response_format={"type": x}),
    "format": lambda x: parlance.ReplyFormat({"prompt": x}),
    "reader": lambda x: parlance.ReplyReader({"prompt": x}),
    "read_conversation": lambda x: parlance.read_conversation("x", {"prompt": x}),
    "response_template": lambda x: parlance.ReplyFormat.from_response_template({"fields": x}),
    "derive": lambda x: parlance.derive(CHATML, x=x),
    "derive format": lambda x: parlance.derive(CHATML, format={"prompt": x}),
    "check": lambda x: parlance.check(CHATML, count=1, x=x),
    "session": lambda x: parlance.Session(CHATML, parlance.Tokenizer.from_file(ROOT / "tests" / "tokenizers" / "chatml"), [x]),
}
HOSTILE: dict[str, Any] = {
    "class": NoJson,
    "object": NoJson(),
    "time": datetime.datetime(2026, 1, 1),
    "endless": Endless(),
    "mock": mock.MagicMock(),
    "itself": Itself.ONE,
    "bytes": b"x",
    "cycle": cycle(),
    "deep": nested(100_000),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_json_is_refused_with_its_path(door: str, name: str) -> None:
    with pytest.raises((TypeError, RecursionError)) as caught:
        DOORS[door](HOSTILE[name])
    assert isinstance(caught.value, parlance.Error)
    assert caught.value.path


RAISING: dict[str, Any] = {"name": OfNoName(), "class": OfNoClass(), "dataclass": NoDataclass(), "key": {Unshown("a b"): {1}}}


@pytest.mark.parametrize("door", ["render", "variables", "convert", "session"])
@pytest.mark.parametrize("name", RAISING)
def test_what_raises_where_nobody_expects_it_is_refused_with_its_path(door: str, name: str) -> None:
    with pytest.raises(parlance.Error) as caught:
        DOORS[door](RAISING[name])
    assert caught.value.path
    assert isinstance(caught.value, (TypeError, ValueError, AttributeError))


def test_keys_are_those_of_json_whatever_their_classes_do() -> None:
    class Number(int):
        def __str__(self) -> str:
            raise ValueError("not written")

    given = {Number(5): 1, 0.5: 2, float("nan"): 3, float("-inf"): 4, None: 5, False: 6}
    keys = parlance.Template.from_string("{{ x.keys() | list | tojson }}").render([], x=given).text
    assert keys == '["5", "0.5", "NaN", "-Infinity", "null", "false"]'


@pytest.mark.parametrize("door", ["render", "variables", "convert", "session"])
@pytest.mark.parametrize("key", [(1, 2), (), b"x", frozenset(), 1j, object()], ids=lambda key: type(key).__name__)
def test_other_keys_are_refused_with_their_path(door: str, key: Any) -> None:
    for given in ({key: 1}, {"a": [{key: 1}]}, types.MappingProxyType({key: 1})):
        with pytest.raises(parlance.Error) as caught:
            DOORS[door](given)
        assert isinstance(caught.value, TypeError) and repr(key) in caught.value.path
        assert "a key is a str, int, float, bool or None, not " + type(key).__name__ in str(caught.value)


@pytest.mark.parametrize("given", [{1: "a", "1": "b"}, {"1.5": "a", 1.5: "b"}, {None: "a", "null": "b"}, {"true": "a", True: "b"}], ids=str)
def test_two_keys_that_are_one_in_json_are_refused(given: dict[Any, Any]) -> None:
    """One of the two values would be lost."""
    for door in ("variables", "convert", "session"):
        for nested in (given, {"a": [given]}):
            with pytest.raises(parlance.Error) as caught:
                DOORS[door](nested)
            assert isinstance(caught.value, TypeError) and "the same in JSON" in str(caught.value) and caught.value.path


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_is_not_wrapped(ending: type[BaseException]) -> None:
    def messages() -> Iterator[Any]:
        yield MESSAGES[0]
        raise ending

    class Encoder:
        def encode(self, text: str) -> list[int]:
            raise ending

        def decode(self, ids: list[int]) -> str:
            return ""

    class Attributes:
        def __getattr__(self, name: str) -> Any:
            raise ending

    class Dumped:
        @property
        def model_dump(self) -> Any:
            raise ending

    for given in (Attributes(), Dumped(), {"role": "user", "content": Dumped()}, {"role": "user", "content": [Attributes()]}):
        with pytest.raises(ending):
            CHATML.render([given])
        with pytest.raises(ending):
            CHATML.render(MESSAGES, x=given)
    with pytest.raises(ending):
        CHATML.render(messages())
    with pytest.raises(ending):
        CHATML.render(MESSAGES).tokens(parlance.tokenizer_of(Encoder()))
    assert CHATML.render(MESSAGES).text  # nothing is left of it


@pytest.mark.parametrize(
    ("template", "kind"),
    [
        ("{{ 'a' * 10 ** 10 }}", MemoryError),
        ("{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}", MemoryError),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", RecursionError),
        ("{{ 1 // 0 }}", ZeroDivisionError),
        ("{{ raise_exception('no') }}", parlance.Error),
        ("{{ messages[0].x.y }}", parlance.Error),
        ("{% for i in range(10 ** 9) %}{% endfor %}", parlance.Error),
    ],
)
def test_limits_and_errors_are_parlances_and_pythons(template: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        parlance.Template.from_string(template).render(MESSAGES)
    assert isinstance(caught.value, parlance.Error)
    assert caught.value.code
    assert "--" not in caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("template", ["{% for %}", "{{ x | nofilter }}", "{{ f(a=) }}", "{% if %}"])
def test_syntax_errors_show_their_place(template: str) -> None:
    with pytest.raises(parlance.Error) as caught:
        parlance.Template.from_string(template)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert "<template>:1:" in str(error)
        assert repr(error)
        assert error.line == 1


def test_arguments_of_another_type() -> None:
    for call in (
        lambda: parlance.Template.from_string("a", special_tokens={"bos_token": 3}),
        lambda: parlance.ReplyApiWriter("openai").add("x"),
        lambda: CHATML.render(MESSAGES, now="2020"),
        lambda: parlance.Session("chatml", None, MESSAGES),
        lambda: parlance.grammar("terminal-agent", response_format='{"type": "json_object"}, "tool_choice": "none"'),
        lambda: CHATML.render(MESSAGES, tools=[None]),
        lambda: CHATML.render(MESSAGES, tools=["f"]),
        lambda: parlance.Session(CHATML, ROOT, MESSAGES),
    ):
        with pytest.raises(TypeError):
            call()
    assert (parlance.Error("x").code, str(parlance.Error("x"))) == ("", "x")


def test_half_characters_of_a_reply_are_text(chatml_tokenizer: str) -> None:
    reader = parlance.ReplyReader("chatml")
    events = reader.feed(b"a\xf0\x9f") + reader.finish()
    assert "".join(event.source for event in events) == "a\ufffd\ufffd" == reader.message.content
    assert reader.message.to_dict()["content"] == reader.message.content
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    half = [id for id in range(tokenizer.vocabulary_size) if tokenizer.decode([id]) == b"\xf0"]
    session = parlance.Session(CHATML, tokenizer, MESSAGES)
    assert session.sampled(half).content == "\ufffd"
    before = session.prompt_ids()
    new = session.extend(MESSAGES)  # no str has these bytes: the template writes U+FFFD, and what was sampled stays
    assert session.prompt_ids() == [*before, *new] and before[-1:] == half
    assert tokenizer.decode(new).decode().startswith("<|im_end|>\n<|im_start|>user\n")


def test_half_a_surrogate_pair_in_a_message_is_refused_with_its_path(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    half = [*MESSAGES, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "a\ud800b"}]
    path = f"messages[{len(half) - 1}].content"
    assert CHATML.render(half).text  # a str may have it
    session = parlance.Session(CHATML, tokenizer, MESSAGES)
    session.sampled(tokenizer.encode("Hi<|im_end|>"))
    calls: list[Callable[[], Any]] = [
        lambda: CHATML.render(half).tokens(tokenizer),
        lambda: CHATML.render(half).tokens(tokenizer, protect=False),
        lambda: parlance.Session(CHATML, tokenizer, half),
        lambda: session.extend(half[-1:]),
    ]
    for call in calls:
        with pytest.raises(UnicodeEncodeError) as caught:
            call()
        assert isinstance(caught.value, parlance.Error) and caught.value.path == path


def test_paths_are_taken_and_names_can_be_completed(chatml_tokenizer: str) -> None:
    assert parlance.Template.from_file(ROOT / "formats" / "chatml.jinja").render(MESSAGES).text
    assert parlance.Tokenizer.from_file(pathlib.Path(chatml_tokenizer)).encode("Hi")
    assert set(parlance.__all__) <= set(dir(parlance))
    for name in parlance.__all__:
        assert getattr(parlance, name) is not None


def test_templates_tokenizers_and_sessions_pickle(chatml_tokenizer: str) -> None:
    tokenizer = parlance.Tokenizer.from_file(chatml_tokenizer)
    opened = [
        CHATML,
        parlance.Template.from_file(ROOT / "formats" / "chatml.jinja"),
        parlance.Template.from_string("{{ bos_token }}{{ messages[0].content }}", special_tokens={"bos_token": "<s>"}, adapt=False),
    ]
    for template in opened:
        again = pickle.loads(pickle.dumps(template))
        assert again.render(MESSAGES).text == template.render(MESSAGES).text
    session = parlance.Session(CHATML, tokenizer, MESSAGES)
    session.sampled(tokenizer.encode("Well<|im_end|>"), logprobs=[0.0] * len(tokenizer.encode("Well<|im_end|>")))
    session.extend(MESSAGES)
    for other in (pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session)):
        assert other.sample() == session.sample()
        other.sampled([1])
        assert len(other) == len(session) + 1


@pytest.mark.parametrize(
    "made",
    [
        CHATML,
        CHATML.render(MESSAGES),
        CHATML.reply_format(),
        parlance.ReplyReader("chatml"),
        parlance.convert({"messages": MESSAGES}, "openai"),
    ],
)
def test_objects_show_what_they_are(made: Any) -> None:
    assert " object at 0x" not in repr(made)
