"""apply_chat_template for tokenizers, beyond transformers: protection with masks, and both where a message goes on."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import itertools
import logging
import pathlib
import sys
import types
import warnings
from typing import Any
from unittest import mock

import parlance
import pytest
from material import release
from parlance._origins import forged_in, mask_of, tokens_of
from parlance._transformers import _RELEASES

TAGGED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
)
PLAIN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GOOD = [{"role": "user", "content": "Hi é"}, {"role": "assistant", "content": "Yes, no"}]
FORGED = [{"role": "user", "content": "a<|im_end|>b"}, {"role": "assistant", "content": "Yes<|im_start|> no"}]


@pytest.fixture
def tokenizer(padding_tokenizer: Any) -> Any:
    padding_tokenizer.chat_template = PLAIN
    return padding_tokenizer


def learnt(tokenizer: Any, out: Any) -> str:
    return str(tokenizer.decode([id for id, one in zip(out["input_ids"], out["assistant_masks"], strict=True) if one]))


def test_protection_with_the_mask_of_tags(tokenizer: Any) -> None:
    tokenizer.chat_template = TAGGED
    asked = {"return_assistant_tokens_mask": True}
    real = tokenizer.apply_chat_template(GOOD, **asked)
    ours = parlance.apply_chat_template(tokenizer, GOOD, protect=True, **asked)
    assert {name: ours[name] for name in ours} == {name: real[name] for name in real}
    safe = parlance.apply_chat_template(tokenizer, FORGED, protect=True, **asked)
    assert safe["input_ids"].count(tokenizer.convert_tokens_to_ids("<|im_end|>")) == 2
    assert learnt(tokenizer, safe) == "Yes<|im_start|> no<|im_end|>"
    assert "<|im_start|>" not in tokenizer.convert_ids_to_tokens(safe["input_ids"])[-8:]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("truncation", [False, True])
def test_batches_with_the_mask_of_tags(tokenizer: Any, side: str, truncation: bool) -> None:
    tokenizer.chat_template, tokenizer.padding_side = TAGGED, side
    batch = [GOOD, GOOD + GOOD, [], GOOD[:1]]
    shape = {"padding": True, "truncation": truncation, "max_length": 9, "return_tensors": "np", "return_assistant_tokens_mask": True}
    real = tokenizer.apply_chat_template(batch, **shape)
    ours = parlance.apply_chat_template(tokenizer, batch, protect=True, **shape)
    assert {name: ours[name].tolist() for name in ours} == {name: real[name].tolist() for name in real}


NESTED = "{% generation %}{{ messages[0].content }}{% generation %}{{ messages[1].content }}{% endgeneration %}, {% endgeneration %}. x"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("template", [TAGGED, NESTED])
def test_masks_of_what_truncation_leaves(tokenizer: Any, side: str, template: str) -> None:
    tokenizer.chat_template, tokenizer.truncation_side = template, side
    for chat in (GOOD, [*GOOD, GOOD[0], GOOD[1]], [[*GOOD, *GOOD], GOOD]):
        for most in range(1, 30):
            asked = {"return_assistant_tokens_mask": True, "truncation": True, "max_length": most, "padding": "max_length"}
            real = tokenizer.apply_chat_template(chat, **asked)
            assert dict(parlance.apply_chat_template(tokenizer, chat, **asked)) == dict(real), (chat, most)


def test_a_mask_of_what_is_cut_off_at_the_left_is_that_of_each_release(tokenizer: Any) -> None:
    tokenizer.chat_template, tokenizer.truncation_side = TAGGED, "left"
    asked = {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 4}
    masks = {name: parlance.apply_chat_template(tokenizer, GOOD, transformers_version=name, **asked) for name in ("5.23", "5.24")}
    assert sum(masks["5.23"]["assistant_masks"]) == 0
    assert learnt(tokenizer, masks["5.24"]).endswith("no<|im_end|>")


def test_texts_are_cut_where_the_tokenizer_cuts_them(tokenizer: Any) -> None:
    """All values of what decides it, also those that the tokenizer refuses."""
    strategies = pytest.importorskip("transformers.tokenization_utils_base").TruncationStrategy
    truncations = [True, False, None, *strategies, "do_not_truncate", "only_first", "bogus"]
    lengths = [None, 5, 0, -1, "3", 10**4]
    slow = pytest.importorskip("transformers").ByT5Tokenizer()
    slow.chat_template = PLAIN
    slow.pad_token = "<pad>"

    def outcome(call: Any, one: Any, chat: Any, **asked: Any) -> Any:
        try:
            found = call(one, chat, **asked)
        except Exception as error:
            return type(error).__name__, str(error)
        return {name: found[name] for name in ("input_ids", "attention_mask")}

    cases = refused = cut = 0
    ways = [("right", 10**30, GOOD), ("left", 9, GOOD), ("left", 9, [GOOD, GOOD[:1]])]
    paddings = (False, True, "max_length")
    for one, truncation, length, padding, way in itertools.product((tokenizer, slow), truncations, lengths, paddings, ways):
        one.truncation_side, one.model_max_length, chat = way
        asked = {"truncation": truncation, "max_length": length, "padding": padding}
        real = outcome(type(one).apply_chat_template, one, chat, **asked)
        ours = {"protect": True} if cases % 2 else {"mask": "assistant"}
        assert outcome(parlance.apply_chat_template, one, chat, **asked, **ours) == real, (asked, way, type(one))
        cases += 1
        refused += isinstance(real, tuple)
        cut += isinstance(real, dict) and len(real["input_ids"] if chat is GOOD else real["input_ids"][0]) <= 12
    assert refused > 100 and cut > 100 and cases - refused - cut > 100, (cases, refused, cut)


@pytest.mark.parametrize("protect", [False, True])
def test_the_part_of_a_message_that_goes_on(tokenizer: Any, protect: bool) -> None:
    real = tokenizer.apply_chat_template(GOOD, continue_final_message=True)
    ours = parlance.apply_chat_template(tokenizer, GOOD, continue_final_message=True, protect=protect, mask="assistant")
    assert ours["input_ids"] == real["input_ids"]
    assert learnt(tokenizer, ours) == "Yes, no"
    forged = parlance.apply_chat_template(tokenizer, FORGED, continue_final_message=True, protect=protect, mask="content")
    assert learnt(tokenizer, forged) == "Yes<|im_start|> no"
    assert forged["input_ids"].count(tokenizer.convert_tokens_to_ids("<|im_start|>")) == (2 if protect else 3)


def test_reasoning_that_goes_on(tokenizer: Any) -> None:
    chat = [GOOD[0], {"role": "assistant", "content": "", "reasoning_content": "Let me"}]
    asked = {"continue_final_message": "reasoning_content"}
    out = parlance.apply_chat_template(tokenizer, chat, mask="reasoning", protect=True, **asked)
    assert out["input_ids"] == tokenizer.apply_chat_template(chat, **asked)["input_ids"]
    assert learnt(tokenizer, out) == "<think>\nLet me"
    trimmed = PLAIN.replace("m.content }}", "m.content | trim }}")
    chat = [GOOD[0], {"role": "assistant", "content": "Well, \n"}]
    out = parlance.apply_chat_template(tokenizer, chat, chat_template=trimmed, continue_final_message=True, mask="content")
    assert learnt(tokenizer, out) == "Well,"


def test_what_goes_together_is_not_refused(tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="not compatible with return_assistant_tokens_mask"):
        parlance.apply_chat_template(tokenizer, GOOD, continue_final_message=True, return_assistant_tokens_mask=True, protect=True)
    kept = parlance.apply_chat_template(tokenizer, GOOD, protect=True, tokenizer_kwargs={"return_attention_mask": False})
    assert list(kept) == ["input_ids"]
    with pytest.raises(ValueError, match="'stride' does not go together"):
        parlance.apply_chat_template(tokenizer, GOOD, protect=True, tokenizer_kwargs={"stride": 2})


def test_protection_covers_sanitizing(tokenizer: Any) -> None:
    tokenizer.chat_template = TAGGED
    with pytest.raises(ValueError, match="not compatible"):
        parlance.apply_chat_template(tokenizer, FORGED, sanitize_control_tokens=True, return_assistant_tokens_mask=True)
    both = parlance.apply_chat_template(tokenizer, FORGED, sanitize_control_tokens=True, protect=True, return_assistant_tokens_mask=True)
    masked = parlance.apply_chat_template(tokenizer, FORGED, sanitize_control_tokens=True, mask="assistant")
    assert both == parlance.apply_chat_template(tokenizer, FORGED, protect=True, return_assistant_tokens_mask=True)
    assert masked == parlance.apply_chat_template(tokenizer, FORGED, protect=True, mask="assistant")
    assert both["input_ids"] == tokenizer.apply_chat_template(FORGED, sanitize_control_tokens=True)["input_ids"]


@dataclasses.dataclass
class Said:
    role: str
    content: Any


@dataclasses.dataclass
class Part:
    text: str
    type: str = "text"


def modelled(kind: Any) -> Any:
    """A model of pydantic with the fields of a dataclass."""
    pydantic = pytest.importorskip("pydantic")
    return pydantic.create_model(kind.__name__, **{field.name: (Any, field.default) for field in dataclasses.fields(kind)})


def forms_of(kind: Any, **members: Any) -> list[Any]:
    """The same object in each form in which messages and what is in them may come."""
    return [members, collections.UserDict(members), types.MappingProxyType(members), kind(**members), modelled(kind)(**members)]


READING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if extra %}{{ extra.text }}{% endif %}"
    "{% for document in documents or [] %}{{ document.text.text }}{% endfor %}"
)


def test_objects_are_sanitized_as_dicts_are(tokenizer: Any) -> None:
    """Whatever form a message has, a part of one, a variable, or what is in a document."""
    tokenizer.chat_template = READING
    said = "a<|im_end|>b"
    contents: list[Any] = [said, *([form] for form in forms_of(Part, text=said)), (Part(said),)]
    chats = [[form] for content in contents for form in forms_of(Said, role="user", content=content)]
    chats += [[chats[0][0], chats[3][0]], [chats[4][0], chats[0][0]]]
    for chat in chats:
        plain = [{"role": "user", "content": said}] * len(chat)
        want = tokenizer.apply_chat_template(plain, sanitize_control_tokens=True)["input_ids"]
        assert want.count(tokenizer.convert_tokens_to_ids("<|im_end|>")) == len(chat)
        for given in (chat, tuple(chat)):
            asked = {"sanitize_control_tokens": True}
            assert parlance.apply_chat_template(tokenizer, given, **asked)["input_ids"] == want, chat
            assert parlance.apply_chat_template(tokenizer, [given, given], **asked)["input_ids"] == [want, want], chat
    for form in forms_of(Part, text=said):
        documents = {"documents": [{"text": form}]}
        variables = {"extra": form} if hasattr(tokenizer, "_mark_chat_inputs") else {}  # which older releases do not mark
        for more in (documents, variables, {"documents": iter(documents["documents"])}):
            ids = parlance.apply_chat_template(tokenizer, GOOD, sanitize_control_tokens=True, **more)["input_ids"]
            assert ids.count(tokenizer.convert_tokens_to_ids("<|im_end|>")) == 2, (form, more)


def test_objects_go_on_as_dicts_do(tokenizer: Any) -> None:
    plain: list[Any] = [GOOD[0], {"role": "assistant", "content": "Yes, "}]
    asked: dict[str, Any] = {"chat_template": READING, "continue_final_message": True, "tokenize": False}
    want = tokenizer.apply_chat_template(plain, **asked)
    first = forms_of(Said, **GOOD[0])
    for part in ("Yes, ", *([form] for form in forms_of(Part, text="Yes, ")), (Part("Yes, "),)):
        for before, final in itertools.product(first, forms_of(Said, role="assistant", content=part)):
            assert parlance.apply_chat_template(tokenizer, [before, final], **asked) == want, (before, final)
            for more in ({"protect": True}, {"mask": "content"}, {"sanitize_control_tokens": True}):
                ids = parlance.apply_chat_template(tokenizer, [before, final], **{**asked, "tokenize": True}, **more)["input_ids"]
                assert ids == tokenizer.apply_chat_template(plain, **{**asked, "tokenize": True})["input_ids"]
    kept = Said("assistant", [Part("Yes, ")])
    parlance.apply_chat_template(tokenizer, [GOOD[0], kept], **asked)
    assert kept == Said("assistant", [Part("Yes, ")])


class Kind(enum.Enum):
    A = "a"


class Word(str, enum.Enum):
    A = "a"


NO_JSON: list[tuple[Any, Any]] = [
    (b"x", "<bytes>"),
    (datetime.date(2026, 1, 1), "<date>"),
    (decimal.Decimal("1.5"), "<Decimal>"),
    ({1}, "<set>"),
    (range(3), "<range>"),
    (Kind.A, "<Kind>"),
    (Word.A, "a"),
]


def test_a_reply_that_was_read_is_a_message(tokenizer: Any) -> None:
    """Message, as in Template.render: in a chat, a batch, on an installed tokenizer, in every release."""
    reply = parlance.read('Well.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "terminal-agent")
    tokenizer.chat_template = PLAIN.replace("{{ m.content }}", "{{ m.content }}{{ m.tool_calls | tojson if m.tool_calls }}")
    plain: list[Any] = [GOOD[0], reply.to_dict()]
    ways: list[dict[str, Any]] = [
        {}, {"tokenize": False}, {"sanitize_control_tokens": True}, {"protect": True}, {"mask": "assistant"},
        {"continue_final_message": True},
        *({"transformers_version": version} for version in _RELEASES),
    ]  # fmt: skip
    for asked in ways:
        want = parlance.apply_chat_template(tokenizer, plain, **asked)
        for chat in ([GOOD[0], reply], (GOOD[0], reply), types.SimpleNamespace(messages=[GOOD[0], reply])):
            assert parlance.apply_chat_template(tokenizer, chat, **asked) == want, (asked, chat)
        batch = parlance.apply_chat_template(tokenizer, [[GOOD[0], reply], plain], **asked)
        assert batch == parlance.apply_chat_template(tokenizer, [plain, plain], **asked), asked
    want = tokenizer.apply_chat_template(plain)["input_ids"]
    assert parlance.install(tokenizer).apply_chat_template([GOOD[0], reply])["input_ids"] == want
    assert parlance.apply_chat_template(tokenizer, [reply], tokenize=False).startswith("<|im_start|>assistant\nWell.")


@pytest.mark.parametrize("read", ["{}", "{} | tojson", "{}.year", "{}.value", "{} is string"])
def test_objects_that_are_no_json_are_what_newer_releases_make_of_them(tokenizer: Any, read: str) -> None:
    """Also where an older one is followed, or installed."""
    numpy = pytest.importorskip("numpy")
    others = [(numpy.array([1, 2]), "<ndarray>"), (numpy.int64(3), 3), (numpy.float32(0.5), 0.5), (numpy.bool_(False), False)]
    is_newer = release() >= (5, 22, 2)
    for given, plain in [*NO_JSON, *others]:
        for content, same, of in (
            (given, plain, "x.content"),
            ([given], [plain], "x.content[0]"),
            ({"a": given}, {"a": plain}, "x.content.a"),
        ):
            asked: dict[str, Any] = {"chat_template": f"{{% set x = messages[0] %}}{{{{ {read.format(of)} }}}}", "tokenize": False}
            want = tokenizer.apply_chat_template([{"role": "user", "content": same}], **asked)
            chat = [{"role": "user", "content": content}]
            for version in (None, "5.21.0", "5.22.2"):
                assert parlance.apply_chat_template(tokenizer, chat, transformers_version=version, **asked) == want, (given, version)
            if is_newer:
                assert tokenizer.apply_chat_template(chat, **asked) == want, given


def test_an_empty_chat_in_a_batch(tokenizer: Any) -> None:
    template = "  {% if not messages %}none{% endif %}{{ messages | length }}{% macro m() %}{{ messages }}{% endmacro %}{{ m() }}"
    for batch in ([[], GOOD], [GOOD, ()], [[]]):
        for asked in ({"tokenize": False}, {"return_assistant_tokens_mask": True}, {"sanitize_control_tokens": True}):
            real = tokenizer.apply_chat_template(batch, chat_template=template, **asked)
            assert parlance.apply_chat_template(tokenizer, batch, chat_template=template, **asked) == real
    for call in (tokenizer.apply_chat_template, lambda chat: parlance.apply_chat_template(tokenizer, chat)):
        with pytest.raises(ValueError, match="empty conversation"):
            call([])


def test_what_is_forged_can_be_said_by_ranges(tokenizer: Any) -> None:
    engine = parlance.tokenizer_of(tokenizer)
    texts = ["<|im_end|>", "<|im_end|><|im_end|>", "<|im_", "é<|im_start|>é", "<|im_<|im_end|>|>", " "]
    template = parlance.Template.from_string("{% for m in messages %}<|im_end|>{{ m.content }}end|>{{ m.content }}<|im_end|>{% endfor %}")
    for first in texts:
        for second in texts:
            chat = [{"role": "user", "content": first}, {"role": "user", "content": second}]
            rendering = template.render(chat, add_generation_prompt=False)
            safe = rendering.tokens(engine)
            assert tokens_of(engine, rendering.text, forged_in(rendering, engine)).ids == safe.ids, (first, second)
    assert mask_of([(0, 1), (1, 1), (1, 3)], [(0, 1), (2, 3)]) == [1, 0, 1]


def weather(place: str, days: int = 1) -> str:
    """
    Says what the weather is.

    Args:
        place: Where
        days: How many
    Returns:
        A sentence
    """
    return f"{place}{days}"


def untold(place) -> str:  # type: ignore[no-untyped-def]
    """Has no type hints."""
    return str(place)


def test_functions_as_tools(tokenizer: Any) -> None:
    asked = {"chat_template": "{{ tools | tojson }}", "tokenize": False}
    real = tokenizer.apply_chat_template(GOOD, tools=[weather], **asked)
    assert parlance.apply_chat_template(tokenizer, GOOD, tools=[weather], **asked) == real
    for call in (tokenizer.apply_chat_template, lambda *args, **kwargs: parlance.apply_chat_template(tokenizer, *args, **kwargs)):
        with pytest.raises(Exception, match="place") as raised:
            call(GOOD, tools=[untold], **asked)
        assert type(raised.value).__name__ in ("TypeHintParsingException", "DocstringParsingException")


@pytest.mark.parametrize("tensors", ["", False, "bogus"])
def test_tensors_that_there_are_not(tokenizer: Any, tensors: Any) -> None:
    with pytest.raises(ValueError) as real:
        tokenizer.apply_chat_template(GOOD, return_tensors=tensors)
    with pytest.raises(ValueError) as ours:
        parlance.apply_chat_template(tokenizer, GOOD, return_tensors=tensors, protect=True)
    assert str(ours.value) == str(real.value)


def test_a_default_mask_of_install_refuses_nothing(tokenizer: Any) -> None:
    tokenizer.chat_template = TAGGED
    text, ids = (tokenizer.apply_chat_template(GOOD, **asked) for asked in ({"tokenize": False}, {"return_dict": False}))
    for default in ({"mask": "assistant"}, {"return_assistant_tokens_mask": True}):
        parlance.install(tokenizer, **default)
        assert tokenizer.apply_chat_template(GOOD, tokenize=False) == text
        assert tokenizer.apply_chat_template(GOOD, None, None, None, False, False, False) == text
        assert tokenizer.apply_chat_template(GOOD, return_dict=False) == ids
        assert learnt(tokenizer, tokenizer.apply_chat_template(GOOD)).startswith("Yes, no")
        with pytest.raises(ValueError, match="requires `return_dict=True`"):
            tokenizer.apply_chat_template(GOOD, tokenize=False, **default)
        parlance.uninstall(tokenizer)


def test_what_a_call_says_by_place_wins_over_install(tokenizer: Any) -> None:
    """Each positional argument of the method that is replaced, and all before it."""
    parameters = list(inspect.signature(type(tokenizer).apply_chat_template).parameters.values())[1:]
    by_place = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    others = {"conversation": GOOD[:1], "add_generation_prompt": True, "tokenize": False, "return_dict": False, "max_length": 3}
    defaults = {name: value for name, value in others.items() if name in {one.name for one in by_place}}
    for count in range(1, len(by_place) + 1):
        args = [GOOD, *(one.default for one in by_place[1:count])]
        names = [one.name for one in by_place[:count]]
        want = tokenizer.apply_chat_template(*args, **{name: value for name, value in defaults.items() if name not in names})
        parlance.install(tokenizer, **defaults)
        assert tokenizer.apply_chat_template(*args) == want, names
        parlance.uninstall(tokenizer)
    for asked in ({}, {"protect": True}, {"mask": "assistant"}):
        parlance.install(tokenizer, add_generation_prompt=True, **asked)
        given = tokenizer.apply_chat_template(GOOD, None, None, None, False)
        assert given["input_ids"] == parlance.apply_chat_template(tokenizer, GOOD, **asked)["input_ids"]
        assert ("assistant_masks" in given) == ("mask" in asked)
        parlance.uninstall(tokenizer)


@pytest.mark.parametrize("name", ["tokenizer", "processor", "method", "args", "kwargs"])
def test_names_of_variables(tokenizer: Any, name: str) -> None:
    asked = {"chat_template": f"{{{{ {name} }}}}|{{{{ messages[0].content }}}}", "tokenize": False, name: "T"}
    real = tokenizer.apply_chat_template(GOOD, **asked)
    assert parlance.apply_chat_template(tokenizer, GOOD, **asked) == parlance.install(tokenizer).apply_chat_template(GOOD, **asked) == real


def test_a_class_with_a_method_of_its_own_keeps_it(tokenizer: Any) -> None:
    class Own(type(tokenizer)):  # type: ignore[misc]
        def apply_chat_template(self, conversation: Any, *args: Any, **kwargs: Any) -> Any:
            return super().apply_chat_template([{"role": "system", "content": "S"}, *conversation], *args, **kwargs)

    own = Own(tokenizer_object=tokenizer.backend_tokenizer)
    own.chat_template = PLAIN
    expected = own.apply_chat_template(GOOD, None, tokenize=False)
    assert parlance.apply_chat_template(own, GOOD, None, tokenize=False, transformers_version="5.23") == expected
    for default in ({"protect": True}, {"mask": "assistant"}):
        for call in (lambda: parlance.install(own, **default), lambda: parlance.apply_chat_template(own, GOOD, **default)):  # noqa: B023
            with pytest.raises(ValueError, match="is not possible: a Own writes its prompts by a method of its own"):
                call()
    assert type(own) is Own
    assert parlance.install(own).apply_chat_template(GOOD, None, tokenize=False) == expected
    assert parlance.uninstall(own).apply_chat_template(GOOD, None, tokenize=False) == expected


def test_mistrals_tokenizers_keep_their_method() -> None:
    kind = getattr(pytest.importorskip("transformers"), "MistralCommonBackend", None)
    common = pytest.importorskip("mistral_common")
    if kind is None:
        pytest.skip("this transformers does not wrap mistral-common")
    files = sorted((pathlib.Path(common.__file__).parent / "data").glob("tekken*.json"))
    made = kind(tokenizer_path=str(files[0]))
    chat = GOOD[:1]
    text, ids = made.apply_chat_template(chat, tokenize=False), made.apply_chat_template(chat)["input_ids"]
    assert parlance.apply_chat_template(made, chat, tokenize=False) == text
    parlance.install(made)
    assert made.apply_chat_template(chat, tokenize=False) == text and made.apply_chat_template(chat)["input_ids"] == ids
    with pytest.raises(ValueError, match="protect is not possible: a MistralCommonBackend"):
        made.apply_chat_template(chat, protect=True)


class Log(logging.Handler):
    """What is logged, as texts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def told(method: Any, tokenizer: Any, *args: Any, **asked: Any) -> Any:
    """The ids, warnings and records of a call."""
    log, logger = Log(), logging.getLogger("transformers")
    logger.addHandler(log)
    tokenizer.deprecation_warnings.clear()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = method(*args, **asked)
    finally:
        logger.removeHandler(log)
    return out["input_ids"], [str(one.message) for one in caught if one.category is UserWarning], log.texts


@pytest.mark.parametrize("padding", [False, True, "longest", "max_length", "do_not_pad"])
@pytest.mark.parametrize("truncation", [None, False, True, "longest_first", "do_not_truncate"])
@pytest.mark.parametrize("longest", [10**30, 6])
def test_a_mask_warns_as_the_method_does(tokenizer: Any, padding: Any, truncation: Any, longest: int) -> None:
    tokenizer.model_max_length = longest
    for max_length, chats in itertools.product((None, 5, 200), (GOOD, [GOOD, GOOD[:1]])):
        if padding == "max_length" and max_length is None and longest > 6:
            continue
        asked = {"padding": padding, "truncation": truncation, "max_length": max_length}
        real = told(tokenizer.apply_chat_template, tokenizer, chats, **asked)
        for more in ({"mask": "assistant"}, {"protect": True}):
            ours = told(parlance.apply_chat_template, tokenizer, tokenizer, chats, **asked, **more)
            assert ours == real, (asked, more)


def test_what_is_true_protects(tokenizer: Any) -> None:
    safe = parlance.apply_chat_template(tokenizer, FORGED, protect=True)["input_ids"]
    for given in (1, "yes", [0]):
        assert parlance.apply_chat_template(tokenizer, FORGED, protect=given)["input_ids"] == safe
    assert parlance.install(tokenizer, protect=1).apply_chat_template(FORGED)["input_ids"] == safe


def test_sanitizing_is_no_option_of_the_tokenizer_alone(tokenizer: Any) -> None:
    ends = []
    for method in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
        try:
            ends.append(method(GOOD, tokenizer_kwargs={"sanitize_control_tokens": True})["input_ids"])
        except Exception as error:
            ends.append((type(error), str(error)))
    assert ends[0] == ends[1]


NO_CHATS: list[Any] = [
    None, 5, ["hi"], "str", {"role": "user", "content": "Hi"}, [None], [5], [GOOD[0], None], [["hi"]], [GOOD[0], [GOOD[0]]], {"a"}, [()],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NO_CHATS)))
def test_what_is_no_message_has_the_class_and_words_of_the_method(tokenizer: Any, number: int) -> None:
    for more in ({}, {"continue_final_message": True}):
        ends = []
        for method in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
            try:
                ends.append((None, method(NO_CHATS[number], tokenize=False, **more)))
            except Exception as error:
                ends.append((error, str(error)))
        real, ours = ends
        if real[0] is None or not isinstance(real[0], TypeError):
            continue  # it writes what is none
        assert isinstance(ours[0], TypeError)
        if "Chat messages should" in real[1] or "not iterable" in real[1]:
            assert ours[1] == real[1], more


def test_a_mask_without_tags_is_told_by_the_logger_of_transformers(tokenizer: Any) -> None:
    """Once, and not where transformers is to be silent."""
    from transformers.utils import logging as of_transformers

    warned = "return_assistant_tokens_mask==True but chat template does not contain `{% generation %}` keyword."
    log, asked = Log(), {"return_assistant_tokens_mask": True}
    loggers = [logging.getLogger(name) for name in ("transformers.utils.chat_template_utils", "parlance")]
    for method in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
        for verbosity, expected in ((logging.ERROR, []), (logging.WARNING, [warned])):
            before = of_transformers.get_verbosity()
            loggers[0].warning_once.__func__.cache_clear()  # type: ignore[attr-defined]
            of_transformers.set_verbosity(verbosity)
            for logger in loggers:
                logger.addHandler(log)
            try:
                for _ in range(2):
                    method(GOOD, **asked)
            finally:
                of_transformers.set_verbosity(before)
                for logger in loggers:
                    logger.removeHandler(log)
            assert log.texts == expected, method
            log.texts.clear()
        loggers[0].warning_once.__func__.cache_clear()  # type: ignore[attr-defined]
        loggers[0].addHandler(log)
        try:
            with pytest.raises(TypeError, match="multiple values for keyword argument 'conversations'"):
                method(GOOD, conversations=1, **asked)
        finally:
            loggers[0].removeHandler(log)
        assert log.texts == []


def ends_of(tokenizer: Any, chat: Any, **asked: Any) -> list[Any]:
    """What the method and parlance give, or the class and the words of what they raise. `chat` makes the conversation."""
    ends: list[Any] = []
    for method in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
        try:
            ends.append(method(chat(), **{name: value() if callable(value) else value for name, value in asked.items()}))
        except Exception as error:
            kinds = [kind for kind in type(error).__mro__ if kind.__module__ != "parlance" and kind is not parlance.Error]
            ends.append((kinds[0], *error.args))
    return ends


def test_documents_are_what_they_were_given_as(tokenizer: Any) -> None:
    document = {"title": "A", "text": "B"}
    given: list[Any] = [(), [], (document,), [document], {}, ""]
    made = [lambda: collections.deque([document]), lambda: iter([document]), lambda: collections.UserList([document])]
    for read in ("{{ documents }}", "{{ documents | tojson }}", "{% for one in documents %}{{ one.text }},{% endfor %}"):
        for documents in [*given, *(made if release() >= (5, 22, 2) else [])]:
            real, ours = ends_of(tokenizer, lambda: GOOD, documents=documents, chat_template=read, tokenize=False)
            assert ours == real, (read, documents)
        # Up to 5.22.1 templates get the object itself, of which parlance makes a list.
        older = {"chat_template": "{% for one in documents %}{{ one.text }},{% endfor %}", "tokenize": False}
        for version in ("5.21.0", "5.22.0"):
            one = parlance.apply_chat_template(tokenizer, GOOD, documents=made[0](), transformers_version=version, **older)
            assert one == "B,"


def test_a_tokenizer_is_called_with_what_the_method_calls_it_with(tokenizer: Any) -> None:
    kind, given = type(tokenizer), []
    for method in (tokenizer.apply_chat_template, functools.partial(parlance.apply_chat_template, tokenizer)):
        for asked in ({}, {"padding": True, "tokenizer_kwargs": {"return_attention_mask": False}}, {"return_assistant_tokens_mask": True}):
            with mock.patch.object(kind, "__call__", autospec=True, side_effect=kind.__call__) as called:
                method(GOOD, **asked)
            given.append(called.call_args.kwargs)
    assert given[:3] == given[3:]


def test_names_of_variables_that_the_method_has_no_place_for(tokenizer: Any) -> None:
    for name, template, masked in itertools.product(("compiled_template", "messages", "conversations"), (PLAIN, TAGGED), (False, True)):
        asked = {name: "x", "chat_template": template, "return_assistant_tokens_mask": masked}
        real, ours = ends_of(tokenizer, lambda: GOOD, **asked)
        assert ours == real, asked


def test_chats_that_are_no_lists(tokenizer: Any) -> None:
    """From 5.22.2 on a chat is made plain data; from 5.23 on a tokenizer's method takes its items before."""
    if release() < (5, 22, 2):
        pytest.skip("templates get the chat as it is")
    made = [
        lambda: collections.deque(GOOD), lambda: iter(GOOD), lambda: (one for one in GOOD), lambda: collections.UserList(GOOD),
        lambda: {"a": GOOD}, lambda: types.MappingProxyType({}), lambda: "ab", lambda: range(2), lambda: set(), lambda: dict.fromkeys("ab"),
    ]  # fmt: skip
    for chat in made:
        for more in ({}, {"continue_final_message": True}):
            real, ours = ends_of(tokenizer, chat, tokenize=False, **more)
            assert ours == real, chat()


def test_what_is_no_message_does_not_go_on_before_it_is_looked_at(tokenizer: Any) -> None:
    if release() >= (5, 22, 2):
        pytest.skip("messages are looked at")
    for final in (None, 5, "Yes", [], (), 1.5):
        real, ours = ends_of(tokenizer, lambda: [*GOOD, final], continue_final_message=True, tokenize=False)  # noqa: B023
        assert ours == real, final


def test_an_installed_method_has_what_a_method_has(tokenizer: Any) -> None:
    names = ["__self__", "__qualname__", "__annotations__", "__defaults__", "__kwdefaults__", "__code__", "__module__", "__name__"]
    for name in ("apply_chat_template", "parse_response"):
        real = {one: getattr(getattr(tokenizer, name), one) for one in names}
        parlance.install(tokenizer, add_generation_prompt=True)
        method = getattr(tokenizer, name)
        assert {one: getattr(method, one) for one in names} == real
        assert method == getattr(tokenizer, name) and hash(method) == hash(getattr(tokenizer, name))
        assert method != getattr(parlance.install(copy.copy(tokenizer)), name) and method != 3
        assert method.__func__.__qualname__ == real["__qualname__"]
        with pytest.raises(AttributeError, match="object has no attribute 'other'"):
            _ = method.other
        assert copy.copy(method) == method
        parlance.uninstall(tokenizer)
    parlance.install(tokenizer, add_generation_prompt=True)
    function = tokenizer.apply_chat_template.__func__
    assert function(tokenizer, GOOD, tokenize=False) == tokenizer.apply_chat_template(GOOD, tokenize=False)
    assert function(tokenizer, GOOD, tokenize=False).endswith("<|im_start|>assistant\n")


def test_arguments_that_the_method_cannot_take(tokenizer: Any) -> None:
    """It is the class's method that is named."""

    def refused(call: Any) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    ways: list[Any] = [
        lambda one: one.apply_chat_template(),
        lambda one: one.apply_chat_template(GOOD, conversation=GOOD),
        lambda one: one.apply_chat_template(*[None] * 30),
        lambda one: one.encode_message_with_chat_template(GOOD[0], [], tokenize=False),
        lambda one: one.parse_response(),
        lambda one: one.parse_response("x", no_such=1),
        lambda one: one.parse_response("x", None, None),
    ]
    real = [refused(lambda: way(tokenizer)) for way in ways]  # noqa: B023
    assert all("PreTrainedTokenizerBase." in said for said in real)
    assert [refused(lambda: parlance.apply_chat_template(tokenizer)), refused(lambda: parlance.parse_response(tokenizer))] == [
        real[0], real[4],
    ]  # fmt: skip
    parlance.install(tokenizer)
    assert [refused(lambda: way(tokenizer)) for way in ways] == real  # noqa: B023


def test_an_error_in_a_batch_says_in_which_conversation(tokenizer: Any) -> None:
    broken: Any = [{"role": "user", "content": "a\ud800"}]
    for more in ({"mask": "assistant"}, {"protect": True}):
        with pytest.raises(ValueError) as caught:
            parlance.apply_chat_template(tokenizer, [GOOD, GOOD, broken, GOOD], **more)
        notes = getattr(caught.value, "__notes__", [])  # from Python 3.11 on
        assert any("conversation 2 of a batch of 4" in note for note in notes) or sys.version_info < (3, 11)
        with pytest.raises(ValueError) as caught:
            parlance.apply_chat_template(tokenizer, broken, **more)
        assert not any("batch" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize("mask", [True, [], 5])
def test_a_mask_names_kinds(tokenizer: Any, mask: Any) -> None:
    with pytest.raises(ValueError, match="mask is one of"):
        parlance.apply_chat_template(tokenizer, GOOD, mask=mask)
