"""What data for training holds that is the model's own: its control tokens, its special tokens, the weight of a turn."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import parlance
import pytest
from test_chat import PLAIN, learnt, tokenizer

__all__ = ["tokenizer"]

# The control tokens <|im_start|> stand for a model's <think>: ones that it wrote itself, and that a user typed.
ROW = [{"role": "user", "content": "a<|im_start|>b"}, {"role": "assistant", "content": "c<|im_start|>d"}]
GUARDED = r"in the text of an assistant's message: with protect .* trust=\[\"messages\[assistant\]\"\]"


def typed(tokenizer: Any, ids: list[int]) -> int:
    return ids.count(tokenizer.convert_tokens_to_ids("<|im_start|>")) - len(ROW)  # beside the template's own


@pytest.mark.parametrize("mask", [None, "assistant"])
def test_text_of_the_assistant_that_is_guarded_is_told(tokenizer: Any, mask: str | None) -> None:
    with pytest.warns(UserWarning, match=r"<\|im_start\|> " + GUARDED) as told:
        made = parlance.apply_chat_template(tokenizer, ROW, protect=True, mask=mask)
    assert typed(tokenizer, made["input_ids"]) == 0
    assert [one.filename for one in told] == [__file__]


@pytest.mark.parametrize("mask", [None, "assistant"])
def test_what_an_installed_tokenizer_tells_names_the_callers_line(tokenizer: Any, mask: str | None) -> None:
    made = parlance.install(copy.copy(tokenizer), protect=True)
    with pytest.warns(UserWarning, match=GUARDED) as told:
        made.apply_chat_template(ROW, mask=mask)
        parlance.Session(parlance.Template.from_tokenizer(made), made, ROW)
    assert {one.filename for one in told} == {__file__}


def test_text_that_only_others_typed_is_not_told(tokenizer: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = parlance.apply_chat_template(tokenizer, ROW[:1], protect=True)
    assert made["input_ids"].count(tokenizer.convert_tokens_to_ids("<|im_start|>")) == 1


@pytest.mark.parametrize(("trust", "read"), [("messages[assistant]", 1), ("messages[user].content", 1), ("messages[*].content", 2)])
def test_trusted_paths_may_name_a_role(tokenizer: Any, trust: str, read: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = parlance.apply_chat_template(tokenizer, ROW, protect=True, trust=[trust], mask="assistant")
        batch = parlance.apply_chat_template(tokenizer, [ROW, ROW], protect=True, trust=[trust])
    assert typed(tokenizer, made["input_ids"]) == read
    assert [typed(tokenizer, ids) for ids in batch["input_ids"]] == [read, read]
    assert learnt(tokenizer, made).strip() == "c<|im_start|>d<|im_end|>"


def test_trust_where_a_message_goes_on(tokenizer: Any) -> None:
    asked: dict[str, Any] = {"continue_final_message": True, "protect": True}
    made = parlance.apply_chat_template(tokenizer, ROW, trust=["messages[assistant]"], **asked)
    assert typed(tokenizer, made["input_ids"]) == 1


def test_a_trusted_path_that_leads_nowhere(tokenizer: Any) -> None:
    with pytest.raises(ValueError, match=r"asistant") as caught:
        parlance.apply_chat_template(tokenizer, ROW, protect=True, trust=["messages[asistant].content"])
    assert getattr(caught.value, "hint", "") == "did you mean messages[assistant].content?"
    with pytest.raises(TypeError, match="trust is a list of paths"):
        parlance.apply_chat_template(tokenizer, ROW, protect=True, trust="messages[assistant]")


def test_sessions_tell_of_the_assistants_guarded_text(tokenizer: Any) -> None:
    template = parlance.Template.from_string(PLAIN)
    chat = [*ROW, {"role": "user", "content": "e"}]
    with pytest.warns(UserWarning, match=GUARDED) as told:
        guarded = parlance.Session(template, tokenizer, chat)
    assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trusting = parlance.Session(template, tokenizer, chat, trust=["messages[assistant]"])
        parlance.Session(template, tokenizer, ROW[:1])
    marker = tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert [one.prompt_ids().count(marker) for one in (guarded, trusting)] == [4, 5]


def test_the_role_of_messages_that_come_later(tokenizer: Any) -> None:
    template, marker = parlance.Template.from_string(PLAIN), tokenizer.convert_tokens_to_ids("<|im_start|>")
    later = [{"role": "assistant", "content": "x<|im_start|>"}, {"role": "user", "content": "b<|im_start|>"}]
    for trust, added in ((["messages[assistant]"], 3), (["messages[user]"], 3), (["messages[*]"], 4), ([], 2)):
        session = parlance.Session(template, tokenizer, ROW[:1], trust=trust)
        assert [session.extend(later).count(marker) for _ in range(3)] == [added] * 3
        assert pickle.loads(pickle.dumps(session)).prompt_ids() == session.prompt_ids()


# ---- the tokenizer's own template


def test_a_tokenizers_template_has_its_special_tokens(tokenizer: Any) -> None:
    tokenizer.bos_token = "<|im_start|>"
    tokenizer.chat_template = "{{ bos_token }}" + PLAIN
    chat = ROW[:1]
    template = parlance.Template.from_tokenizer(tokenizer)
    expected = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert template.render(chat).text == expected == pickle.loads(pickle.dumps(template)).render(chat).text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parlance.Session(template, tokenizer, chat)
    of_text = parlance.Template.from_string(tokenizer.chat_template)
    with pytest.warns(UserWarning, match=r"writes bos_token, which it was not given.*from_tokenizer"):
        parlance.Session(of_text, tokenizer, chat)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parlance.Session(of_text, tokenizer, chat, bos_token="<|im_start|>")


def test_a_tokenizers_named_templates(tokenizer: Any) -> None:
    tokenizer.chat_template = {"default": "D{{ messages[0].content }}", "tool_use": "T{{ messages[0].content }}{{ tools }}"}
    chat = [{"role": "user", "content": "!"}]
    template = parlance.Template.from_tokenizer(tokenizer)
    tool = {"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}}
    assert template.render(chat).text == "D!"
    assert template.render(chat, tools=[tool]).text.startswith("T!")
    assert parlance.Template.from_tokenizer(tokenizer, name="tool_use").render(chat, tools=[tool]).text.startswith("T!")


def test_what_has_no_template() -> None:
    with pytest.raises(ValueError, match="has no chat_template"):
        parlance.Template.from_tokenizer(object())


# ---- weights


def test_turns_of_weight_0_are_not_learnt(tokenizer: Any) -> None:
    bad: dict[str, Any] = {"role": "assistant", "content": "bad", "weight": 0}
    chat = [{"role": "user", "content": "q"}, bad, {"role": "user", "content": "r"}, {"role": "assistant", "content": "good", "weight": 1}]
    made = parlance.apply_chat_template(tokenizer, chat, mask="assistant")
    assert learnt(tokenizer, made).strip() == "good<|im_end|>"
    rendering = parlance.Template.from_string(PLAIN).render(chat, assistant=True)
    assert [rendering.text[begin:end] for kind, (begin, end) in rendering.kinds if kind == "content"] == ["good"]
    assert not [loss for loss in rendering.losses() if loss.path.endswith("weight")]
