"""Calls whose arguments do not fit: a TypeError in Python's words, which says what is taken."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import parlance
import pytest
from material import ROOT
from parlance import _core
from test_hostile import OfNoClass, OfNoName

WRONG: list[Any] = [None, 5, -1, 2**70, 1.5, True, "x", b"x", [], [None], {}, {1: 2}, object(), int, OfNoName(), OfNoClass()]
# What only the extension's machinery says.
OF_CPP = ("incompatible function arguments", "argument types are supported", "Invoked with types", "std::", "bad_cast", "\\0", "nanobind")

CHATML = parlance.Template.builtin("chatml")
PROMPT = CHATML.render([{"role": "user", "content": "Hi"}], assistant=True)
ENGINE = parlance.Tokenizer.from_file(ROOT / "tests" / "tokenizers" / "chatml")
READER = parlance.ReplyReader("chatml")
EVENT = parlance.ReplyEvent("content", "Hi")


def objects() -> Iterator[Any]:
    """One of each class whose methods are public, new each time."""
    derived = parlance.derive(CHATML)
    yield from (CHATML, PROMPT, PROMPT.tokens(ENGINE), ENGINE, parlance.ReplyFormat("chatml"))
    yield from (parlance.ReplyReader("chatml", tokenizer=ENGINE), EVENT)
    yield from (parlance.read("Hi", "chatml"), parlance.grammar("chatml"), parlance.ReplyApiWriter("openai"), parlance.ReplyDeltas())
    yield from (derived, parlance.check(CHATML, count=1), parlance.prefix(PROMPT, PROMPT), parlance.ReplyApiWriter("openai").begin()[0])
    yield parlance.Session(CHATML, ENGINE, [{"role": "user", "content": "Hi"}])


def public(holder: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(holder):
        if not name.startswith("_") and callable(member := getattr(holder, name)):
            yield name, member


def callables() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {name: one for name in parlance.__all__ if callable(one := getattr(parlance, name))}
    for name, one in list(found.items()):
        if isinstance(one, type) and "_core" in one.__module__:
            found |= {f"{name}.{member}": method for member, method in public(one)}
    for one in objects():
        found |= {f"{type(one).__name__}().{member}": method for member, method in public(one)}
    return found


CALLABLES = callables()


def calls(function: Callable[..., Any], wrong: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """By place, one to three times, and by each name that the signature has."""
    yield from (((wrong,) * count, {}) for count in (1, 2, 3))
    signature = getattr(function, "__nb_signature__", None)
    try:
        names = [] if signature else list(inspect.signature(function).parameters)
    except ValueError:
        names = []
    if signature:
        names = [part.split(":")[0].strip(" *") for part in signature[0][0].partition("(")[2].split(",")]
    for name in names:
        if name.isidentifier() and name != "self":
            yield (), {name: wrong}
            yield ("chatml",), {name: wrong}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLABLES)
def test_errors_are_in_pythons_words(name: str) -> None:
    """Whatever is raised, no words of the extension's language are in it, and it is no accident of a name."""
    function = CALLABLES[name]
    for wrong in WRONG:
        for positional, named in [((), {}), ((), {"no_such_argument": wrong}), *calls(function, wrong)]:
            try:
                function(*positional, **named)
            except Exception as error:
                said = f"{name}{positional}{named}: {type(error).__name__}: {error}"
                assert not any(words in str(error) for words in OF_CPP), said
                assert not isinstance(error, (AttributeError, SystemError)), said


def test_what_is_taken_is_said() -> None:
    builtin: Any = parlance.Template.builtin
    text: Any = parlance.Template.from_string
    for call, said in [
        (lambda: PROMPT.tokens(None), "a NoneType is no tokenizer: it has no encode"),
        (lambda: CHATML.stop_tokens(None), "a NoneType is no tokenizer: it has no encode"),
        (lambda: parlance.read("Hi", None), "read() argument 'format' must be ReplyFormat, str or dict[str, Any], not None"),  # type: ignore[arg-type]
        (lambda: parlance.convert({}), "convert() missing 1 required positional argument: 'to'"),  # type: ignore[call-arg]
        (lambda: parlance.convert({}, 5), "convert() argument 'to' must be str, not int"),  # type: ignore[arg-type]
        (lambda: parlance.ReplyReader(), "ReplyReader() missing 1 required positional argument: 'format'"),  # type: ignore[call-arg]
        (lambda: parlance.derive("chatml"), "derive() argument 'template' must be Template, not str"),  # type: ignore[arg-type]
        (lambda: parlance.check(CHATML, count=-1), "check() argument 'count' is out of range: -1"),
        (lambda: parlance.formats(1), "formats() takes 0 positional arguments but 1 was given"),  # type: ignore[call-arg]
        (lambda: READER.feed(), "ReplyReader.feed() missing 1 required positional argument: 'data'"),  # type: ignore[call-arg]
        (lambda: READER.finish(now=1), "ReplyReader.finish() got an unexpected keyword argument 'now'"),  # type: ignore[call-arg]
        (lambda: PROMPT.tokens(ENGINE, trust=["a", 5]), "Rendering.tokens() argument 'trust' must be Sequence[str], not list"),  # type: ignore[list-item]
        (lambda: PROMPT.tokens(ENGINE, protect="no"), "Rendering.tokens() argument 'protect' must be bool, not str"),  # type: ignore[arg-type]
        (lambda: parlance.Template.render(5, []), "Template.render() argument 'self' must be Template, not int"),  # type: ignore[arg-type]
        (lambda: builtin("chatml", adapt="no"), "Template.builtin() argument 'adapt' must be bool, not str"),
        (lambda: builtin("chatml", depth=1), "Template.builtin() got an unexpected keyword argument 'depth'"),
        (lambda: builtin("chatml", passes=5), "Template.builtin() argument 'passes' must be str or Sequence[str], not int"),
        (lambda: text("", special_tokens=5), "Template.from_string() argument 'special_tokens' must be dict[str, str] or None, not int"),
        (lambda: EVENT.to_dict(1), "ReplyEvent.to_dict() takes 1 positional argument but 2 were given"),  # type: ignore[call-arg]
    ]:  # fmt: skip
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == said
        assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_what_is_compared_with_others() -> None:
    assert EVENT != 5 and EVENT != None  # noqa: E711
    assert parlance.ReplyFormat("chatml") != "chatml"


def test_what_code_of_the_callers_own_raises_is_not_rewritten() -> None:
    with pytest.raises(TypeError, match="what a function gave, is of another type"):
        parlance.read('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "terminal-agent").to_dict(make_call_id=lambda: 5)  # type: ignore[arg-type, return-value]

    class Upset:
        def encode(self, text: str) -> list[int]:
            raise TypeError("f(): incompatible with everything")

    with pytest.raises((TypeError, parlance.Error), match="incompatible with everything"):
        parlance.tokenizer_of(Upset()).encode("x")


@pytest.mark.parametrize("given", [None, 5, "gpt2", b"gpt2", object(), [1], ENGINE])
def test_what_is_no_tokenizer_of_transformers(given: Any) -> None:
    chat = [{"role": "user", "content": "Hi"}]
    calls: list[Callable[[], Any]] = [
        lambda: parlance.apply_chat_template(given, chat),
        lambda: parlance.parse_response(given, "Hi"),
        lambda: parlance.install(given),
        lambda: parlance.uninstall(given),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"a .*{type(given).__name__} is neither a tokenizer of transformers nor a processor"):
            call()


# ---- signatures


def compiled() -> list[tuple[str, Any]]:
    """What the extension has of functions, classes and methods, by name."""
    found = []
    for name, one in vars(_core).items():
        if hasattr(one, "__nb_signature__"):
            found.append((name, one))
        elif isinstance(one, type):
            found += [(f"{name}.{member}", of) for member, of in vars(one).items() if hasattr(of, "__nb_signature__")]
    return found


def test_each_compiled_function_has_a_signature() -> None:
    assert len(compiled()) > 100
    for name, function in compiled():
        shown = inspect.signature(function)
        is_method = type(function) is not type(_core.formats)
        assert (list(shown.parameters)[:1] == ["self"]) == is_method, name
        assert str(shown).count("=") >= function.__nb_signature__[0][0].count("="), name


def test_signatures_are_pythons() -> None:
    template = parlance.Template.builtin("chatml")
    of_class, bound = inspect.signature(parlance.Template.render), inspect.signature(template.render)
    assert list(of_class.parameters) == ["self", *bound.parameters]
    assert bound.parameters["assistant"].default is False and bound.return_annotation == "Rendering"
    assert bound.bind([], tools=None, x=1).arguments["variables"] == {"x": 1}
    assert str(inspect.signature(parlance.formats)) == "() -> 'list[str]'"
    assert inspect.signature(parlance.Template.from_string).parameters["syntax"].default == "jinja"
    event = inspect.signature(parlance.ReplyEvent)
    assert {name: one.default for name, one in event.parameters.items() if name != "kind"} == {
        field.name: field.default for field in dataclasses.fields(parlance.ReplyEvent) if field.name != "kind"
    }
    with pytest.raises(TypeError, match="missing a required argument"):
        bound.bind()
    assert functools.wraps(template.render)(lambda: 1).__name__ == "render"
