"""Limits of renders, by the words of the command line's options, wherever a template is opened."""

from __future__ import annotations

import json
import pathlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import parlance
import pytest
from material import release
from test_commands import command
from test_tokenizers import transformers_tokenizer

CHAT: list[Any] = [{"role": "user", "content": "Hi"}]
# Templates that reach a limit, the limit that they reach, and the error that it is.
REACHED: dict[str, tuple[str, dict[str, int], type[Exception]]] = {
    "limit_steps": ("{% for i in range(100000) %}{% endfor %}", {"max_steps": 5000}, TimeoutError),
    "limit_output": ("{{ 'x' * 5000 }}", {"max_output": 1000}, MemoryError),
    "limit_memory": ("{{ (messages[0].content * 1000000)|upper|length }}", {"max_memory": 1 << 20}, MemoryError),
    "limit_depth": (
        "{% macro down(n) %}{% if n %}{{ down(n - 1) }}{% endif %}{% endmacro %}{{ down(60) }}",
        {"max_depth": 50},
        RecursionError,
    ),
}


@pytest.mark.parametrize("code", REACHED)
def test_a_limit_is_an_error_of_its_own(code: str, tmp_path: pathlib.Path) -> None:
    text, limits, kind = REACHED[code]
    (tmp_path / "t.jinja").write_text(text, "utf-8")
    limited = [
        parlance.Template.from_string(text, **limits),  # type: ignore[arg-type]
        parlance.Template.from_file(tmp_path / "t.jinja", **limits),  # type: ignore[arg-type]
    ]
    limited += [pickle.loads(pickle.dumps(one)) for one in limited]
    for template in limited:
        with pytest.raises(kind) as caught:
            template.render(CHAT)
        assert isinstance(caught.value, parlance.Error) and caught.value.code == code
        assert template.limits == {**parlance.Template.builtin("chatml").limits, **limits}
        assert "--" not in str(caught.value)
    free = parlance.Template.from_string(text)
    assert free.render(CHAT) is not None
    assert pickle.loads(pickle.dumps(free.render(CHAT))).text == free.render(CHAT).text
    words = [word for name, most in limits.items() for word in (f"--{name.replace('_', '-')}", str(most))]
    (tmp_path / "chat.json").write_text('{"messages": [{"role": "user", "content": "Hi"}]}', "utf-8")
    command("render", "-t", tmp_path / "t.jinja", tmp_path / "chat.json", *words, status=4)


@pytest.mark.parametrize("code", REACHED)
def test_whatever_renders_has_the_templates_limits(code: str, chatml_tokenizer: str) -> None:
    text, limits, kind = REACHED[code]
    late = "{% if messages|length > 1 %}" + text + "{% endif %}{{ messages[0].content }}"
    if code == "limit_depth":
        late = text.replace("{{ down(60) }}", "{% if messages|length > 1 %}{{ down(60) }}{% endif %}{{ messages[0].content }}")
    template = parlance.Template.from_string(late, **limits)  # type: ignore[arg-type]
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    assert template.render(CHAT).text == "Hi"
    session = parlance.Session(template, engine, CHAT)
    session.sampled(engine.encode("Yes"))
    uses: list[Callable[[], Any]] = [
        lambda: session.extend(CHAT),
        lambda: parlance.Session(template, engine, [*CHAT, {"role": "assistant", "content": "Yes"}, *CHAT]),
    ]
    for use in uses:
        with pytest.raises(kind) as caught:
            use()
        assert caught.value.code == code  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", REACHED)
def test_apply_chat_template(code: str, chatml_tokenizer: str) -> None:
    text, limits, kind = REACHED[code]
    tokenizer = transformers_tokenizer(chatml_tokenizer)
    tokenizer.chat_template = text
    for more in ({}, {"protect": True}, {"tokenize": False}):
        with pytest.raises(kind) as caught:
            parlance.apply_chat_template(tokenizer, CHAT, limits=limits, **more)
        assert caught.value.code == code  # type: ignore[attr-defined]
        parlance.apply_chat_template(tokenizer, CHAT, **more)
    with pytest.raises(kind):
        parlance.install(tokenizer, limits=limits).apply_chat_template(CHAT)


def nested(levels: int, kind: type) -> Any:
    made: Any = 0
    for _ in range(levels):
        made = [made] if kind is list else {"a": made}
    return made


@pytest.mark.parametrize("kind", [list, dict])
@pytest.mark.parametrize("text", ["{{ messages }}", "{{ messages | tojson }}", "{{ messages[0].content == messages[1].content }}"])
def test_apply_chat_template_reads_what_nests_as_deeply_as_the_method(text: str, kind: type, chatml_tokenizer: str) -> None:
    tokenizer = transformers_tokenizer(chatml_tokenizer)
    plain = release() >= (5, 22, 2)
    for levels in (198, 320, 400) if plain else (198, 480, 900):
        chat = [{"role": "user", "content": nested(levels, kind)}, {"role": "user", "content": nested(levels, kind)}]
        asked = {"chat_template": text, "tokenize": False}
        assert parlance.apply_chat_template(tokenizer, chat, **asked) == tokenizer.apply_chat_template(chat, **asked)
    if "==" in text:
        return  # Python first looks whether both are one object
    chat = [{"role": "user", "content": nested(600 if plain else 1100, kind)}]
    with pytest.raises(RecursionError):
        parlance.apply_chat_template(tokenizer, chat, **asked)
    if sys.version_info < (3, 12):  # later ones count no levels where C calls itself
        with pytest.raises(RecursionError):
            tokenizer.apply_chat_template(chat, **asked)


def test_apply_chat_template_joins_ten_thousand_messages(chatml_tokenizer: str) -> None:
    tokenizer = transformers_tokenizer(chatml_tokenizer)
    tokenizer.chat_template = (
        "{% set ns = namespace(all=[]) %}{% for m in messages %}{% set ns.all = ns.all + [m] %}{% endfor %}{{ ns.all | length }}"
    )
    assert parlance.apply_chat_template(tokenizer, CHAT * 10_000, tokenize=False) == str(len(CHAT) * 10_000)
    with pytest.raises(MemoryError):
        parlance.apply_chat_template(tokenizer, CHAT * 10_000, tokenize=False, limits={"max_memory": 512 << 20})


def test_limits_are_those_of_experiments_too() -> None:
    """Each gets a share of the steps."""
    text = "{% for i in range(2000) %}{{ i }}{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    free, limited = parlance.Template.from_string(text), parlance.Template.from_string(text, max_steps=20_000)
    assert limited.render(CHAT).text == free.render(CHAT).text
    assert parlance.derive(free).verdict != "none"
    for use in (parlance.derive, parlance.check):
        found = use(limited)
        derived = found if isinstance(found, parlance.DerivedFormat) else found.derived
        assert derived.verdict == "none" and derived.missing


def test_limits_are_those_of_compiling_too() -> None:
    deep = "{{ " + "(" * 100 + "1" + ")" * 100 + " }}"
    assert parlance.Template.from_string(deep).render(CHAT).text == "1"
    with pytest.raises(RecursionError):
        parlance.Template.from_string(deep, max_depth=20)


def test_what_is_no_limit() -> None:
    for factory in (lambda **more: parlance.Template.from_string("", **more), lambda **more: parlance.Template.builtin("chatml", **more)):
        with pytest.raises(ValueError, match="max_depth is from 0 to 1000, not 1001"):
            factory(max_depth=1001)
        for wrong in (-1, 2**64):
            with pytest.raises(ValueError, match=f"max_steps is from 0 to 18446744073709551615, not {wrong}"):
                factory(max_steps=wrong)
        for other in ("64K", 1.5, [1], True):
            with pytest.raises(TypeError, match=f"max_output is an int, not {type(other).__name__}"):
                factory(max_output=other)
        assert factory(max_steps=None).limits["max_steps"] == 50_000_000


def test_what_are_no_limits_of_a_call(chatml_tokenizer: str) -> None:
    tokenizer = transformers_tokenizer(chatml_tokenizer)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (5, TypeError, "limits is a dict, such as {'max_steps': 1_000_000}, not int"),
        ({"passes": "text-only"}, ValueError, "the limits are max_steps, max_output, max_memory, max_depth, not 'passes'"),
        ({"max_steps": "x"}, TypeError, "max_steps is an int, not str"),
    ]
    for given, kind, said in wrong:
        with pytest.raises(kind) as caught:
            parlance.apply_chat_template(tokenizer, CHAT, limits=given)
        assert str(caught.value) == said


def test_the_limits_are_those_of_the_command_line() -> None:
    options = next(one for one in json.loads(command("help", "--json")) if one["name"] == "render")["options"]
    names = [name.strip("-").replace("-", "_") for option in options for name in option["names"] if name.startswith("--max-")]
    assert names == list(parlance.Template.builtin("chatml").limits)


def test_what_opens_a_template_refuses_by_errors_of_the_package() -> None:
    arguments: list[tuple[dict[str, Any], str, str]] = [
        ({"max_depth": 5000}, "max_depth is from 0 to 1000, not 5000", ""),
        ({"as_transformers": "9.9"}, "parlance does not follow transformers 9.9", "the releases that it follows are 5."),
        ({"as_is": True, "as_transformers": True}, "as_is and as_transformers exclude each other", ""),
        ({"as_is": True, "passes": ["text-only"]}, "passes change the request", ""),
        ({"syntax": "perl"}, "syntax is 'jinja' or 'go'", ""),
    ]
    for given, said, hint in arguments:
        with pytest.raises(parlance.Error, match=said) as raised:
            parlance.Template.from_string("x", **given)
        assert isinstance(raised.value, ValueError) and raised.value.code == "usage" and raised.value.hint.startswith(hint)
        assert raised.value.hint in str(raised.value)
