"""Rows as data sets have them: NumPy's arrays within, messages that the package made, ShareGPT's members."""

from __future__ import annotations

import re
import warnings
from typing import Any

import parlance
import parlance._tables
import pytest
from material import ROOT

CHAT = parlance.Template.builtin("chatml")
WHOLE_CALLS = "{% for m in messages %}{{ m.role }}:{{ m.content }}{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %};{% endfor %}"
CALL = {"type": "function", "function": {"name": "f", "arguments": {"a": [1, 2.5], "b": [[True], []]}}}


def test_arrays_within_a_row() -> None:
    numpy = pytest.importorskip("numpy")

    def array(items: list[Any]) -> Any:
        made = numpy.empty(len(items), dtype=object)
        made[:] = items
        return made

    template = parlance.Template.from_string(WHOLE_CALLS)
    inside = {"a": numpy.array([1, 2.5]), "b": array([numpy.array([True]), numpy.array([])])}
    call = {"type": "function", "function": {"name": "f", "arguments": inside}}
    row = array([{"role": "user", "content": array([{"type": "text", "text": "x"}])}, {"role": "assistant", "tool_calls": array([call])}])
    plain = [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "tool_calls": [CALL]}]
    assert template.render(row).text == template.render(plain).text.replace("[1, 2.5]", "[1.0, 2.5]")
    assert template.render(row).losses() == template.render(plain).losses()


def function(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


def called(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": [call]}]


def test_nulls_of_a_table_are_no_arguments() -> None:
    """A table gives each row the members that any row has, as here those of two tools."""
    template = parlance.Template.builtin("terminal-agent")
    plain = template.render(called("f", {"a": "x"}), tools=[function("f", {"a": {"type": "string"}})])
    of_table = function("f", {"a": {"type": "string", "enum": None, "description": None}, "n": None})
    row = template.render(called("f", {"a": "x", "n": None}), tools=[of_table])
    assert row.text == plain.text
    told = [(loss.subject, loss.path) for loss in row.losses() if loss not in plain.losses()]
    assert told == [("argument", "messages[1].tool_calls[0].function.arguments")]
    declared = function("f", {"a": {"type": "string"}, "n": {"type": "integer"}})
    assert '"n": null' in template.render(called("f", {"a": "x", "n": None}), tools=[declared]).text, "it may be meant"
    assert '"n": null' in template.render(called("f", {"n": None})).text, "nothing says what is declared"


def test_a_mask_warns_of_nulls_of_a_table(chatml_tokenizer: str) -> None:
    """What follows transformers has them in its prompt."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.chat_template = parlance.Template.builtin("terminal-agent").text
    tools = [function("f", {"a": {"type": "string"}, "n": None})]

    def masked(arguments: dict[str, Any]) -> Any:
        return parlance.apply_chat_template(tokenizer, called("f", arguments), tools=tools, mask="assistant")

    with pytest.warns(UserWarning, match=r"messages\[1\]\.tool_calls\[0\]\.function\.arguments\.n is null and no parameter of 'f'") as told:
        masked({"a": None, "n": None})
    assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        masked({"a": None})


class Array:
    """As an array of numpy, which has no truth value; it needs no numpy."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __iter__(self) -> Any:
        return iter(self.items)

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


@pytest.mark.parametrize("given", [iter, Array, tuple])
def test_a_mask_takes_tools_that_are_no_list(chatml_tokenizer: str, given: Any) -> None:
    """What can be gone through once has all its tools in the prompt, as in transformers."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.chat_template = parlance.Template.builtin("terminal-agent").text
    tools = [function("f", {"a": {"type": "string"}}), function("g", {})]
    ids = [
        parlance.apply_chat_template(tokenizer, called("f", {"a": "x"}), tools=some, mask="assistant")["input_ids"]
        for some in (tools, given(tools))
    ]
    assert ids[0] == ids[1]


JUDGED: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "nothing says more": ({}, {"n": None}, True),
    "no others": ({"additionalProperties": False}, {"n": None}, True),
    "null says nothing": ({"additionalProperties": None, "allOf": None}, {"n": None}, True),
    "others": ({"additionalProperties": True}, {"n": None}, False),
    "typed others": ({"additionalProperties": {"type": ["string", "null"]}}, {"n": None}, False),
    "patterns": ({"patternProperties": {"^x": {}}}, {"n": None}, False),
    "a reference": ({"$ref": "#/$defs/all"}, {"n": None}, False),
    "allOf": ({"allOf": [{"properties": {"n": {}}}]}, {"n": None}, False),
    "anyOf": ({"anyOf": [{"properties": {"n": {}}}]}, {"n": None}, False),
    "if": ({"if": {}, "then": {"properties": {"n": {}}}}, {"n": None}, False),
    "an object within": ({}, {"o": {"n": None}}, True),
    "an object of a list": ({}, {"l": [{}, {"n": None}]}, True),
    "an object of a tuple": ({}, {"t": [{"n": None}]}, False),
    "an open object within": ({}, {"m": {"n": None}}, False),
}
WITHIN = {"type": "object", "properties": {"b": {}}}
PROPERTIES = {
    "a": {},
    "o": WITHIN,
    "l": {"items": WITHIN},
    "t": {"prefixItems": [{}], "items": WITHIN},
    "m": {**WITHIN, "additionalProperties": {}},
}


@pytest.mark.parametrize("case", JUDGED)
def test_nulls_are_a_tables_where_properties_alone_say_what_there_is(chatml_tokenizer: str, case: str) -> None:
    """The pass and the warning judge alike."""
    more, arguments, is_of_table = JUDGED[case]
    tool = function("f", PROPERTIES)
    tool["function"]["parameters"].update(more)
    rendering = parlance.Template.builtin("terminal-agent").render(called("f", {"a": "x", **arguments}), tools=[tool])
    assert ("null" not in rendering.text.split("<tool_call>")[-1]) == is_of_table
    place = "messages[1].tool_calls[0].function.arguments"
    assert [loss.path for loss in rendering.losses() if loss.subject == "argument"] == ([place] if is_of_table else [])
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.chat_template = parlance.Template.builtin("terminal-agent").text
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        parlance.apply_chat_template(tokenizer, called("f", arguments), tools=[tool], mask="assistant")
    assert len(told) == is_of_table


def test_a_row_with_nulls_has_one_loss_of_them() -> None:
    """Each row of a table has them, which are left out by design."""
    tool = function("f", {"a": {}})
    chat = called("f", {"a": "x", "n": None})
    losses = parlance.Template.builtin("terminal-agent").render([*chat, *chat, *chat], tools=[tool]).losses()
    told = [(loss.kind, loss.path, loss.sentence) for loss in losses if loss.subject == "argument"]
    sentence = "without the nulls of a table (null-columns), and 2 more"
    assert told == [("left out", "messages[1].tool_calls[0].function.arguments", sentence)]


def test_the_mask_of_generation_blocks_warns_of_nulls_too(chatml_tokenizer: str) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.chat_template = (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.tool_calls }}{% endgeneration %}{% endif %}{% endfor %}"
    )
    tools = [function("f", {"a": {"type": "string"}})]
    with pytest.warns(UserWarning, match="no parameter of 'f'") as told:
        parlance.apply_chat_template(tokenizer, called("f", {"n": None}), tools=tools, return_assistant_tokens_mask=True)
    assert [one.filename for one in told] == [__file__]


def test_a_mask_without_calls_does_not_warn_of_nulls(chatml_tokenizer: str) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    tokenizer.chat_template = parlance.Template.builtin("terminal-agent").text
    tools = [function("f", {"a": {"type": "string"}})]
    chat = called("f", {"n": None})
    unlearnt = [chat[0], {**chat[1], "train": False, "weight": None}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parlance.apply_chat_template(tokenizer, chat, tools=tools, mask=["content", "stop"])
        parlance.apply_chat_template(tokenizer, unlearnt, tools=tools, mask="assistant")
    with pytest.warns(UserWarning, match="no parameter of 'f'"):
        parlance.apply_chat_template(tokenizer, chat, tools=tools, mask=["stop", "calls"])


@pytest.mark.parametrize("as_dict", [False, True])
def test_messages_of_the_package_go_back_into_a_conversation(as_dict: bool) -> None:
    message = parlance.read('Well.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "terminal-agent")
    template = parlance.Template.from_string(WHOLE_CALLS)
    text = template.render([{"role": "user", "content": "x"}, message.to_dict() if as_dict else message]).text
    assert text.startswith("user:x;assistant:Well.[{") and '"name": "f"' in text and "complete" not in text


def test_a_call_that_was_cut_says_so() -> None:
    message = parlance.read('<tool_call>\n{"name": "f", "arguments": {"a": 1', "terminal-agent")
    assert [call["complete"] for call in message.to_dict()["tool_calls"]] == [False]


def test_lines_of_sharegpt_as_messages() -> None:
    row = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes"}]
    assert CHAT.render(row).text == CHAT.render([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]).text


class Picture:
    """An image as a processor takes it: of a class that is no JSON."""


@pytest.mark.parametrize("part", [{"type": "image", "image": Picture()}, {"type": "input_audio", "input_audio": Picture()}])
def test_media_of_any_class_stand_in_their_parts(part: dict[str, Any]) -> None:
    template = parlance.Template.from_string(
        "{% for m in messages %}{% for p in m.content %}{{ '<media>' if p.type != 'text' else p.text }}{% endfor %}{% endfor %}"
    )
    chat = [{"role": "user", "content": [part, {"type": "text", "text": "What is it?"}]}]
    assert template.render(chat).text == "<media>What is it?"
    with pytest.raises(TypeError, match=r"messages\[0\]\.content\[0\]\.text: an object of type Picture is not JSON"):
        template.render([{"role": "user", "content": [{"type": "text", "text": Picture()}]}])


def test_the_words_of_schemas_that_declare_more_are_those_of_the_pass() -> None:
    source = (ROOT / "src" / "conversation" / "null_columns.cpp").read_text()
    listed = re.search(r"kDeclareMore\[\] = \{(.*?)\}", source, re.DOTALL)
    assert listed
    assert tuple(re.findall(r'"([^"]+)"', listed[1])) == parlance._tables._DECLARES_MORE
