"""What a session and a bridge write behind replies that are cut off or malformed, and of messages that a template does not write.

The law of replies: behind a call that is not complete stands what the template writes behind a plain answer, or it is refused. Begin
reading at test_behind_a_call_that_is_cut_stands_what_stands_behind_an_answer.
"""

from __future__ import annotations

import itertools
import re
import sys
import warnings
from typing import Any

import parlance
import pytest
from material import CORPUS, ROOT
from parlance._taken import paired
from test_results import ASKS, TEMPLATES, TOOLS, calls, template_of

NEW = {"role": "user", "content": "QQ NEW"}
BROKEN = "Wait. CUT HERE"


@pytest.fixture(scope="module")
def tokenizer() -> parlance.Tokenizer:
    return parlance.Tokenizer.from_file(str(ROOT / "tests" / "tokenizers" / "chatml"))


def written_call(template: parlance.Template) -> str:
    """A call as the template writes it; "" where it writes none behind its prompt."""
    reply = {"role": "assistant", "content": "", "tool_calls": calls(1)}
    try:
        before = template.render([ASKS], tools=TOOLS).text
        one = template.render([ASKS, reply], tools=TOOLS, add_generation_prompt=False).text
        plain = template.render([ASKS, {"role": "assistant", "content": BROKEN}], tools=TOOLS, add_generation_prompt=False).text
    except parlance.Error:
        return ""
    return one[len(before) :] if one.startswith(before) and plain.startswith(before) else ""


def behind_an_answer(template: parlance.Template) -> str:
    """What the template writes behind a plain answer once a question follows."""
    text = template.render([ASKS, {"role": "assistant", "content": BROKEN}, NEW], tools=TOOLS).text
    return text[text.index(BROKEN) + len(BROKEN) :]


@pytest.mark.parametrize("name", TEMPLATES)
def test_behind_a_call_that_is_cut_stands_what_stands_behind_an_answer(name: str, tokenizer: parlance.Tokenizer) -> None:
    template = template_of(name)
    call = written_call(template)
    ids = tokenizer.encode(call)
    broken = 0
    for count in range(1, len(ids)):
        session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
        message = session.sampled(ids[:count])
        if not message.calls or message.calls[-1].complete or "\ufffd" in tokenizer.decode(ids[:count]).decode(errors="replace"):
            continue  # a half character's other bytes are new
        broken += 1
        before = session.prompt_ids()
        try:
            new = tokenizer.decode(session.extend([NEW], advise=False)).decode()
        except parlance.Error as error:
            assert error.code == "history_rewritten", (tokenizer.decode(ids[:count]), error)
            assert session.prompt_ids() == before
            continue
        assert new.lstrip() == behind_an_answer(template).lstrip(), tokenizer.decode(ids[:count])  # templates strip contents
    if not broken:
        pytest.skip("no call is cut")


CUT = '<tool_call>\n{"name": "look", "arguments": {"at": "/tmp'


@pytest.mark.parametrize("size", [20, 32, 45, len(CUT)])
def test_a_session_completes_no_call(size: int, tokenizer: parlance.Tokenizer) -> None:
    session = parlance.Session(parlance.Template.builtin("terminal-agent"), tokenizer, [ASKS], tools=TOOLS)
    session.sampled(tokenizer.encode(CUT[:size]))
    new = tokenizer.decode(session.extend([{"role": "tool", "content": "cut off"}])).decode()
    assert new.startswith("<|im_end|>\n") and "cut off" in new


WITHIN = TEMPLATES["within"]
KEPT: dict[str, Any] = {"default": {}, "all": {"thinking_retention": "all"}}


def test_a_message_that_the_template_does_not_write_is_told(tokenizer: parlance.Tokenizer) -> None:
    assert isinstance(WITHIN, str)
    session = parlance.Session(parlance.Template.from_string(WITHIN), tokenizer, [ASKS], tools=TOOLS)
    session.sampled(tokenizer.encode("Yes.<|im_end|>"))
    with pytest.warns(UserWarning, match=r"^messages\[2\]\.content is not in the prompt") as caught:
        session.extend([{"role": "tool", "content": "RESULT"}, NEW])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.sampled(tokenizer.encode("Yes.<|im_end|>"))
        session.extend([{"role": "user", "content": [{"type": "text", "text": "two"}]}, {"role": "tool", "content": " "}, NEW])


def template_of_contents(others: str) -> parlance.Template:
    """Which writes contents that are no texts so."""
    return parlance.Template.from_string(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}" + others + "{% endif %}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


@pytest.mark.parametrize(
    "content",
    [{"temperature": 21}, {"ok": True}, {"21": None}, {"all": [1, 2], "of": {"it": 0.5}}, [1, 2], [], {}, 21],
)
def test_contents_without_text_are_not_told_as_lost(content: Any, tokenizer: parlance.Tokenizer) -> None:
    for others in ("{{ m.content | tojson }}", ""):
        session = parlance.Session(template_of_contents(others), tokenizer, [ASKS])
        session.sampled(tokenizer.encode("Yes.<|im_end|>"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.extend([{"role": "tool", "content": content}, NEW])


@pytest.mark.parametrize("content", [{"temperature": "mild"}, {"all": [1, {"of": "it"}]}, ["mild"]])
def test_texts_within_contents_are_told_as_lost(content: Any, tokenizer: parlance.Tokenizer) -> None:
    for others, count in (("{{ m.content | tojson }}", 0), ("", 1)):
        session = parlance.Session(template_of_contents(others), tokenizer, [ASKS])
        session.sampled(tokenizer.encode("Yes.<|im_end|>"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session.extend([{"role": "tool", "content": content}, NEW])
        assert [str(one.message).partition(" is")[0] for one in caught] == ["messages[2].content"] * count


@pytest.mark.parametrize("retention", ["default", "all"])
def test_a_bridge_loses_no_message(retention: Any, chatml_tokenizer: str) -> None:
    sys.path[1:1] = [str(one) for one in sorted((ROOT / "build" / "python").glob("renderers-*"))]
    transformers: Any = pytest.importorskip("transformers")
    pytest.importorskip("renderers")
    from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig

    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json", chat_template=WITHIN)
    renderer = ParlanceRenderer(made, ParlanceRendererConfig(**KEPT[retention]))
    ids = renderer.render_ids([ASKS], tools=TOOLS, add_generation_prompt=True)
    said = made.encode("Yes.<|im_end|>", add_special_tokens=False)
    assert renderer.bridge_to_next_turn(ids, said, [{"role": "tool", "content": "RESULT"}, NEW], tools=TOOLS) is None
    assert "messages[2].content would not be in the prompt" in str(renderer.refusal)
    for whole in (said, said[:-1]):  # a reply that a limit ended
        assert renderer.bridge_to_next_turn(ids, whole, [NEW], tools=TOOLS) is not None


KEEPS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content and (keep or loop.last) %}<think>\n"
    "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.parametrize("keep", [True, False])
def test_reasoning_that_a_limit_cut_off_is_closed_and_its_end_is_not_learnt(keep: bool, tokenizer: parlance.Tokenizer) -> None:
    session = parlance.Session(parlance.Template.from_string(KEEPS), tokenizer, [ASKS], keep=keep)
    before, sampled = session.prompt_ids(), tokenizer.encode("<think>\nI won")
    assert session.sampled(sampled, logprobs=[-1.0] * len(sampled)).reasoning == "I won"
    if not keep:
        with pytest.raises(parlance.Error) as refused:
            session.extend([NEW])
        assert refused.value.code == "history_rewritten" and session.prompt_ids() == [*before, *sampled]
        return
    new = session.extend([NEW])
    assert session.prompt_ids() == [*before, *sampled, *new]
    assert tokenizer.decode(new).decode().startswith("\n</think>\n\n<|im_end|>\n<|im_start|>user")
    sample = session.sample()
    assert [id for id, one in zip(sample.ids, sample.loss_mask, strict=True) if one] == sampled


@pytest.mark.parametrize(
    ("retention", "name", "cut"),
    [
        ("default", "llama.cpp--upstage-Solar-Open-100B.jinja", "<|think|>"),  # kept, the thought would be ended
        *itertools.product(["default", "all"], ["llama.cpp--Kimi-K3.jinja"], ["<|close|>"]),
        *itertools.product(
            ["default", "all"], ["unsloth--gptoss_template.jinja", "llama.cpp--openai-gpt-oss-120b.jinja"], ["<|channel|>an"]
        ),
    ],
)
def test_no_bridge_leaves_a_turn_open_behind_a_marker_that_is_cut(retention: str, name: str, cut: str, chatml_tokenizer: str) -> None:
    sys.path[1:1] = [str(one) for one in sorted((ROOT / "build" / "python").glob("renderers-*"))]
    transformers: Any = pytest.importorskip("transformers")
    pytest.importorskip("renderers")
    from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig

    file = CORPUS / "templates" / name
    if not file.exists():
        pytest.skip("no corpus")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json", chat_template=file.read_text("utf-8"))
    made.add_tokens(sorted(set(re.findall(r"<\|[a-z_:]+\|>", made.chat_template))), special_tokens=True)
    renderer = ParlanceRenderer(made, ParlanceRendererConfig(**KEPT[retention]))
    ids = renderer.render_ids([ASKS], add_generation_prompt=True)
    assert renderer.bridge_to_next_turn(ids, made.encode(cut, add_special_tokens=False), [NEW]) is None and renderer.refusal


NAMED = [{"role": "tool", "name": "see", "content": "SEEN"}, {"role": "tool", "name": "look", "content": "LOOKED"}]


@pytest.mark.parametrize("ids", [None, ["zzzzzzzz1", "zzzzzzzz2"]])
@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
@pytest.mark.parametrize("name", ["within", "by name"])
def test_results_are_of_the_calls_that_they_name(
    name: str, order: tuple[int, ...], ids: list[str] | None, tokenizer: parlance.Tokenizer
) -> None:
    template = template_of(name)
    both = {"role": "assistant", "content": "", "tool_calls": calls(2)}
    said = template.render([ASKS, both], tools=TOOLS, add_generation_prompt=False).text
    session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
    session.sampled(tokenizer.encode(said[len(template.render([ASKS], tools=TOOLS).text) :].replace("<|im_end|>\n", "")))
    new: list[Any] = [{**NAMED[at], **({"tool_call_id": ids[at]} if ids else {})} for at in order]
    text = tokenizer.decode(session.extend(new, advise=False)).decode()
    assert "see=SEEN" in text and "look=LOOKED" in text


@pytest.mark.parametrize("name", ["within", "by name"])
@pytest.mark.parametrize(
    ("ids", "wanted", "unwanted"),
    [
        (["c1", "c1"], ["look=R0"], ["see="]),  # the second is no result of the other call
        (["old", "c1"], ["look=R1"], ["see=", "look=R0"]),
        (["c2", None], ["see=R0", "look=R1"], []),
        (["x", "y"], ["look=R0", "see=R1"], []),  # all of the caller's own making
        (["x", None], ["look=R0", "see=R1"], []),
    ],
)
def test_a_result_of_another_id_is_of_no_call_where_one_fits(
    ids: list[str | None], wanted: list[str], unwanted: list[str], name: str, tokenizer: parlance.Tokenizer
) -> None:
    both = {"role": "assistant", "content": "", "tool_calls": [{**call, "id": f"c{at}"} for at, call in enumerate(calls(2), 1)]}
    session = parlance.Session(template_of(name), tokenizer, [ASKS], tools=TOOLS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [{"role": "tool", "content": f"R{at}", **({"tool_call_id": id} if id else {})} for at, id in enumerate(ids)]
        reply, given = paired(both, [True, True], given)
        text = tokenizer.decode(session.extend([reply, *given])).decode()
    assert all(one in text for one in wanted) and not any(one in text for one in unwanted)


def test_behind_an_assistants_message_no_reply_is_open(tokenizer: parlance.Tokenizer) -> None:
    template, said, answer = (
        parlance.Template.builtin("terminal-agent"),
        tokenizer.encode("Yes.<|im_end|>"),
        {"role": "assistant", "content": "No."},
    )
    for messages in ([ASKS], [ASKS, answer]):
        session = parlance.Session(template, tokenizer, messages)
        if len(messages) == 1:
            session.sampled(said)
            session.extend([NEW, answer])
        before = session.prompt_ids()
        with pytest.raises(ValueError, match="no reply is open") as caught:
            session.sampled(said)
        assert session.prompt_ids() == before
        assert isinstance(caught.value, parlance.Error) and "continue_final_message=True" in caught.value.hint
        session.extend([NEW])
        assert session.sampled(said).content == "Yes."
    for messages, told in (([ASKS], {}), *(([ASKS, answer], {"add_generation_prompt": value}) for value in (False, None, 0))):
        session = parlance.Session(template, tokenizer, messages, **told)
        if len(messages) == 1:
            session.sampled(said)
        for _ in range(3):
            session.extend([])
            with pytest.raises(ValueError, match="no reply is open"):
                session.sampled(said)
    session = parlance.Session(template, tokenizer, [ASKS])
    session.extend([])
    assert session.sampled(said).content == "Yes."


def test_a_message_that_goes_on_says_that_the_tokens_of_its_opening_differ() -> None:
    def encode(text: str) -> list[int]:  # of bytes, but two line feeds are one token where nothing follows
        return [*text[:-2].encode(), 300] if text.endswith("\n\n") else list(text.encode())

    tokenizer = parlance.Tokenizer._from_callables(encode, lambda id: "\n\n" if id == 300 else bytes([id]), [])
    template = parlance.Template.from_string(
        "{% for m in messages %}{{ m.role }}:\n\n{{ m.content }};{% endfor %}{% if add_generation_prompt %}assistant:\n\n{% endif %}"
    )
    session = parlance.Session(template, tokenizer, [ASKS, {"role": "assistant", "content": "He"}], continue_final_message=True)
    session.sampled(list(b"llo;"))
    with pytest.raises(ValueError, match="makes other tokens of the opening"):
        session.extend([NEW])
