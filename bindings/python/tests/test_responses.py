"""parse_response against the real method; and for a tokenizer that declares no response_template, which transformers refuses."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import parlance
import pytest
from test_tokenizers import transformers_tokenizer

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}"
    "<think>\n{{ m.reasoning_content }}\n</think>\n{% endif %}"
    "{{ m.content }}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n"
DECLARED = {
    "version": 1,
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}},
        },
        "answer": {"close": "<|im_end|>"},
    },
}
TOOLS = [
    {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {}}}}}
]
CALL = '<tool_call>{"name": "f", "arguments": {"x": "7", "y": "7"}}</tool_call>'
REPLIES = [
    "Because\n</think>\nYes<|im_end|>",
    f"Because\n</think>\nYes{CALL}<|im_end|>",
    f"</think>\n{CALL}{CALL}<|im_end|>",
    "",
    "Because",
    "a</think>b<tool_call>{",
]


@pytest.fixture
def tokenizer(chatml_tokenizer: str) -> Any:
    made = transformers_tokenizer(chatml_tokenizer)
    made.chat_template = TEMPLATE
    return made


def outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def test_what_is_declared_is_read_by_it(tokenizer: Any) -> None:
    numpy = pytest.importorskip("numpy")
    ids = [tokenizer.encode(reply, add_special_tokens=False) for reply in REPLIES]
    given: list[Any] = [*REPLIES, REPLIES[:3], [], *ids, ids[:3], numpy.array(ids[0]), numpy.array([ids[0], ids[0]]), 5, [[]], None]
    prefixes: list[Any] = [PROMPT, "", [], None, tokenizer.encode(PROMPT, add_special_tokens=False), [PROMPT] * 3, [PROMPT]]
    schemas: list[Any] = [None, DECLARED, {"version": 2}, {}]
    for declared in (None, DECLARED):
        tokenizer.response_template = declared
        for schema, prefix, tools, response in itertools.product(schemas, prefixes, (None, TOOLS), given):
            if schema is None and declared is None:
                continue
            asked = {"schema": schema, "prefix": prefix, "tools": tools}
            real = outcome(lambda: tokenizer.parse_response(copy.deepcopy(response), **copy.deepcopy(asked)))  # noqa: B023
            assert outcome(lambda: parlance.parse_response(tokenizer, copy.deepcopy(response), **copy.deepcopy(asked))) == real  # noqa: B023


def test_without_a_response_template(tokenizer: Any) -> None:
    with pytest.raises(AttributeError, match="response_template"):
        tokenizer.parse_response(REPLIES[0], prefix=PROMPT)
    for prefix in (PROMPT, None, tokenizer.encode(PROMPT, add_special_tokens=False)):
        plain = parlance.parse_response(tokenizer, REPLIES[0], prefix=prefix)
        assert plain == {"role": "assistant", "reasoning_content": "Because", "content": "Yes"}
        called = parlance.parse_response(tokenizer, REPLIES[1], prefix=prefix, tools=TOOLS)
        assert called["tool_calls"] == [{"type": "function", "function": {"name": "f", "arguments": {"x": 7, "y": "7"}}}]
    broken = parlance.parse_response(tokenizer, 'a</think>b<tool_call>{"name": "f", "arguments": {"x": 7')
    assert broken["tool_calls"] == [{"type": "function", "function": {"name": "f", "arguments": '{"x": 7'}}]


def test_the_derived_format_reads_as_transformers_does_by_a_template_of_it(tokenizer: Any) -> None:
    """Of it, transformers gets a response_template; then the real method reads the same messages."""
    declared, _ = parlance.Template.from_string(TEMPLATE).reply_format().to_response_template()
    for reply in REPLIES[:3]:
        real = tokenizer.parse_response(reply, declared, prefix=PROMPT, tools=TOOLS)
        assert parlance.parse_response(tokenizer, reply, prefix=PROMPT, tools=TOOLS) == real


def test_batches_and_ids(tokenizer: Any) -> None:
    first, second = (parlance.parse_response(tokenizer, reply) for reply in REPLIES[:2])
    ids = [tokenizer.encode(reply, add_special_tokens=False) for reply in REPLIES[:2]]
    for batch in (REPLIES[:2], ids, tuple(REPLIES[:2])):
        for prefix in (None, PROMPT, [PROMPT] * 2):
            assert parlance.parse_response(tokenizer, batch, prefix=prefix) == [first, second]
    assert parlance.parse_response(tokenizer, ids[1]) == second
    assert parlance.parse_response(tokenizer, []) == []
    with pytest.raises(ValueError, match=r"Got 2 response\(s\) but 1 prefix\(es\)"):
        parlance.parse_response(tokenizer, ids, prefix=[PROMPT])
    numpy = pytest.importorskip("numpy")
    assert parlance.parse_response(tokenizer, numpy.array(ids[0])) == first
    assert parlance.parse_response(tokenizer, numpy.array([ids[0], ids[0]])) == [first, first]


def test_what_was_begun_is_a_part_of_the_message(tokenizer: Any) -> None:
    begun = parlance.parse_response(tokenizer, "cause\n</think>\nYes<|im_end|>", prefix=PROMPT + "Be")
    assert begun == {"role": "assistant", "reasoning_content": "Because", "content": "Yes"}
    turn = parlance.parse_response(tokenizer, "<think>\nBecause\n</think>\nYes<|im_end|>", prefix="")
    assert turn == begun


def test_an_empty_reply(tokenizer: Any) -> None:
    numpy = pytest.importorskip("numpy")
    for given in ("", numpy.array([], dtype=int)):
        assert parlance.parse_response(tokenizer, given) == {"role": "assistant"}
    assert parlance.parse_response(tokenizer, []) == parlance.parse_response(tokenizer, numpy.zeros((0, 3), dtype=int)) == []


def test_installed(tokenizer: Any) -> None:
    parlance.install(tokenizer)
    for one in (tokenizer, pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert one.parse_response(REPLIES[0])["content"] == "Yes"
        one.response_template = DECLARED
        assert one.parse_response(REPLIES[0], prefix=PROMPT)["answer"] == "Yes"
    parlance.uninstall(tokenizer)
    tokenizer.response_template = None
    with pytest.raises(AttributeError):
        tokenizer.parse_response(REPLIES[0], prefix=PROMPT)


def test_a_tokenizer_with_no_template_at_all(tokenizer: Any) -> None:
    tokenizer.chat_template = None
    for call in (tokenizer.parse_response, lambda *args: parlance.parse_response(tokenizer, *args)):
        with pytest.raises(AttributeError, match="does not have a `response_template`"):
            call("x")


def test_of_a_processor(chatml_tokenizer: str) -> None:
    from made_processors import processor

    try:
        made = processor("llava", TEMPLATE)
    except (ImportError, AttributeError) as error:
        pytest.skip(f"no processor: {error}")
    assert parlance.parse_response(made, REPLIES[0])["content"] == "Yes"
    assert parlance.parse_response(made, REPLIES[0], DECLARED, prefix=PROMPT) == made.parse_response(REPLIES[0], DECLARED, prefix=PROMPT)
    del made.tokenizer
    with pytest.raises(ValueError, match="without a tokenizer"):
        parlance.parse_response(made, REPLIES[0])


def test_a_class_with_a_method_of_its_own_keeps_it(tokenizer: Any) -> None:
    class Own(type(tokenizer)):  # type: ignore[misc]
        def parse_response(self, response: Any, schema: Any = None, *, loud: bool = False, **given: Any) -> Any:
            return {"role": "assistant", "content": response.upper() if loud else response, "given": sorted(given)}

    own = Own(tokenizer_object=tokenizer.backend_tokenizer, chat_template=TEMPLATE)
    for one in (own, parlance.install(Own(tokenizer_object=tokenizer.backend_tokenizer, chat_template=TEMPLATE))):
        for asked in ({}, {"loud": True}, {"prefix": PROMPT, "tools": None}):
            real = Own.parse_response(own, "Yes", **asked)
            assert parlance.parse_response(one, "Yes", **asked) == one.parse_response("Yes", **asked) == real
    from made_processors import processor

    try:
        made = processor("llava", TEMPLATE)
    except (ImportError, AttributeError) as error:
        pytest.skip(f"no processor: {error}")
    made.tokenizer = own
    real = {"role": "assistant", "content": "Yes", "given": ["prefix", "tools"]}
    assert made.parse_response("Yes") == parlance.parse_response(made, "Yes") == real

    class Whole(type(made)):  # type: ignore[misc]
        def parse_response(self, response: Any) -> Any:
            return "whole"

    made.__class__ = Whole
    assert parlance.parse_response(made, "Yes") == parlance.install(made).parse_response("Yes") == "whole"


def test_a_tokenizer_of_another_package(chatml_tokenizer: str) -> None:
    engine = parlance.Tokenizer.from_file(chatml_tokenizer)
    fields = {"thinking": {"open": "<think>\n", "close": "\n</think>\n"}, "content": {"close": "<|im_end|>"}}
    declared = {**DECLARED, "fields": fields}
    assert parlance.parse_response(engine, engine.encode("<think>\n" + REPLIES[0]), declared, prefix="")["content"] == "Yes"


@pytest.mark.parametrize(
    "wrong", [b"abc", bytearray(b"7"), memoryview(b"7"), None, {"a": 1}, {1}, object(), [b"abc"], ["Hi", b"abc"]], ids=str
)
def test_what_is_no_reply(tokenizer: Any, wrong: Any) -> None:
    tokenizer.response_template = None
    for asked in ({"response": wrong}, {"response": "Hi", "prefix": wrong}):
        if asked.get("prefix", 0) is None:
            continue
        with pytest.raises(TypeError, match="a reply, or a prefix of one, is a text or a list of token ids"):
            parlance.parse_response(tokenizer, **asked)


@pytest.mark.parametrize("wrong", ["abc", b"abc", 3, None, [], {}, object(), str, len, parlance.Template], ids=str)
def test_what_can_have_no_methods_is_no_tokenizer(wrong: Any) -> None:
    for call in (parlance.install, parlance.uninstall):
        with pytest.raises(TypeError, match="is neither a tokenizer of transformers nor a processor"):
            call(wrong)


def test_a_fast_tokenizer_of_tokenizers_can_have_no_methods(tokenizer: Any) -> None:
    with pytest.raises(TypeError, match=r"a tokenizers\.Tokenizer is neither"):
        parlance.install(tokenizer.backend_tokenizer)
