"""What apply_chat_template of transformers refuses: the same exceptions, in the installed release."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import parlance
import pytest
from material import release
from test_tokenizers import transformers_tokenizer

PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if tools %}{{ tools }}{% endif %}"
TAGGED = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
numpy = pytest.importorskip("numpy")
GOOD: list[Any] = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]


def no_types(x) -> None:  # type: ignore[no-untyped-def]
    pass


CHATS: list[Any] = [
    None,
    3,
    1.5,
    True,
    "Hi",
    "",
    b"Hi",
    {"role": "user", "content": "x"},
    {},
    [],
    (),
    {1},
    ["a"],
    [1],
    [None],
    [GOOD, None],
]
CHATS += [[GOOD, 3], [GOOD, "ab"], [GOOD, GOOD[0]], [GOOD[0], GOOD], [GOOD[0], None], [GOOD[0], "x"], [[]], [[], []], [[[GOOD[0]]]]]
CHATS += [[("user", "Hi")], [GOOD[0], ("user", "Hi")], {"messages": GOOD}, [numpy.int64(3)], numpy.array(GOOD), numpy.str_("ab")]
CHATS += [[object()], object(), [{"role": "user"}], [{"role": "user", "content": None}], [{"role": "user", "content": object()}], [{}]]
ARGUMENTS: list[tuple[str, list[Any]]] = [
    ("tools", [[], [no_types], [3], ["x"], [None], 3, "ab", "", 0, {"a": 1}, no_types, [len], True]),
    ("documents", [[], [3], ["x"], [None], 3, "ab", "", 0, {"a": 1}, {}, True]),
    ("chat_template", ["no-such", "{{ x", 3, b"x", "", {"a": "b"}, ["x"], True, "{{ raise_exception('no') }}", "{{ messages[9].x.y }}"]),
    ("chat_template", ["{{ 1/0 }}", "{{ messages|nofilter }}", "{{ messages + 1 }}", "{{ tools|length }}"]),
    ("continue_final_message", [True, "content", "no-such", "reasoning_content", 3, [1], "role", {}]),
    ("padding", [True, "no-such", "max_length", 3]),
    ("truncation", [True, "no-such", 3]),
    ("max_length", [-1, "x", 2.5]),
    ("return_tensors", ["tf", "no-such", 3, True]),
    ("return_assistant_tokens_mask", [True]),
    ("sanitize_control_tokens", [True]),
    ("tokenizer_kwargs", [{"no-such": 1}, {"padding": True}, 3, "x", [], {"text": "x"}, {1: 2}]),
    ("messages", [GOOD, 3]),
    ("conversations", [GOOD]),
]
OTHERS: list[dict[str, Any]] = [
    {},
    {"tokenize": False},
    {"return_dict": False},
    {"add_generation_prompt": True, "continue_final_message": True},
    {"continue_final_message": True, "return_assistant_tokens_mask": True},
    {"sanitize_control_tokens": True, "return_assistant_tokens_mask": True},
    {"continue_final_message": "reasoning_content"},
    {"tools": [3], "documents": [3]},
]


def outcome(method: Any, chat: Any, arguments: dict[str, Any]) -> Any:
    try:
        out = method(chat, **arguments)
    except Exception as error:
        return error
    if not hasattr(out, "items"):
        return out
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in out.items()}


def check(tokenizer: Any, chat: Any, arguments: dict[str, Any]) -> None:
    real = outcome(tokenizer.apply_chat_template, chat, arguments)
    ours = outcome(lambda *args, **kwargs: parlance.apply_chat_template(tokenizer, *args, **kwargs), chat, arguments)
    what = (chat, arguments, real, ours)
    if not isinstance(real, Exception):
        assert ours == real, what
        return
    assert isinstance(ours, type(real)), what
    assert str(ours) == str(real), what


@pytest.fixture(params=[PLAIN, TAGGED], ids=["plain", "tagged"])
def tokenizer(request: Any, chatml_tokenizer: str) -> Any:
    made = transformers_tokenizer(chatml_tokenizer)
    made.chat_template = request.param
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("others", OTHERS, ids=str)
def test_what_is_no_chat(tokenizer: Any, others: dict[str, Any]) -> None:
    """5.23 goes through the messages before all else; what earlier releases say of such chats comes from within the template."""
    if release() < (5, 23):
        pytest.skip("another order")
    for chat in CHATS:
        check(tokenizer, chat, others)


def test_what_is_no_message_has_the_class_of_each_release(tokenizer: Any) -> None:
    for chat in ("hi", ["hi"], [{"role": "user", "content": "hi"}, ("user", "hi")], [3]):
        for version, kind in (("5.23", AttributeError), ("5.24", TypeError)):
            with pytest.raises(kind):
                parlance.apply_chat_template(tokenizer, chat, transformers_version=version)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("others", OTHERS, ids=str)
def test_wrong_arguments(tokenizer: Any, others: dict[str, Any]) -> None:
    for name, values in ARGUMENTS:
        for value in values:
            check(tokenizer, GOOD, {**others, name: value})


@pytest.mark.parametrize("template", [None, {"a": PLAIN}, {"default": PLAIN, "tool_use": TAGGED}, "", 3])
def test_named_templates(tokenizer: Any, template: Any) -> None:
    tokenizer.chat_template = template
    for asked in ({}, {"chat_template": "a"}, {"chat_template": "tool_use"}, {"chat_template": "no-such"}, {"tools": []}):
        check(tokenizer, GOOD, asked)


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_text_does_not_go_on(tokenizer: Any) -> None:
    """5.23 makes JSON of a message before it looks for the text that goes on."""
    if release() < (5, 23):
        pytest.skip("another order")
    for content in (numpy.int64(4), numpy.float32(1.5), numpy.bool_(True), numpy.str_("Yes"), 4, {"a": 1}, object(), b"Yes", [3], []):
        check(tokenizer, [*GOOD, {"role": "assistant", "content": content}], {"continue_final_message": True})


ERRORS = [
    "{{ messages[0].x.y }}", "{{ '{a}'.format(1) }}", "{{ raise_exception('no') }}", "{{ raise_exception() }}", "{{ strftime_now() }}",
    "{% if %}", "a\n{% if x %}", "{{ 'x' | nofilter }}", "{% set n = namespace() %}{{ n.a.b }}", "{{ 1 / 0 }}", "{{ messages + 1 }}",
    "{{ {}['a'].b }}", "{{ [1][7].x }}", "{{ 'x' | tojson(1, 2, 3, 4, 5, 6) }}", "{{ messages.append(1) }}", "{{ ''.encode('é') }}",
    "{{ 'a'.index('b') }}", "{{ range(10 ** 9) }}", "{% include 'x' %}", "{{ x }", "{{ 'x' is notest }}", "{% endfor %}", "{{ [].pop() }}",
]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_of_a_template_has_the_words_of_the_method(tokenizer: Any, text: str) -> None:
    """What parlance says beyond them is in `display`, and from Python 3.11 on in a note, which tracebacks show."""
    real = outcome(tokenizer.apply_chat_template, GOOD, {"chat_template": text})
    for one in (tokenizer, parlance.install(copy.copy(tokenizer))):
        ours = outcome(lambda *args, **kwargs: parlance.apply_chat_template(one, *args, **kwargs), GOOD, {"chat_template": text})  # noqa: B023
        for error in (ours, pickle.loads(pickle.dumps(ours))):
            assert isinstance(error, type(real)) and isinstance(error, parlance.Error)
            assert (str(error), error.args) == (str(real), real.args)
            for name in ("lineno", "name", "filename", "source", "translated", "message"):
                assert not hasattr(real, name) or getattr(error, name) == getattr(real, name), name
            assert error.display.startswith(f"<template>:{error.line}:{error.column}: ") and text.split("\n")[-1] in error.display
            if sys.version_info >= (3, 11):
                assert error.__notes__ == [error.display.rstrip("\n")]
    with pytest.raises(parlance.Error) as alone:
        parlance.Template.from_string(text).render(GOOD)
    assert str(alone.value) == alone.value.display and not hasattr(alone.value, "__notes__")
