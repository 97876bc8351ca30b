"""Sessions whose first reply goes on with a message of the request. Begin reading at
test_a_session_goes_on_with_a_message_and_behind_it."""

from __future__ import annotations

import json
import pickle
from typing import Any

import parlance
import pytest
from test_session import ASKED, reply_ids

STARTS: list[dict[str, Any]] = [
    {"content": "He"},
    {"content": "<|im_end|>He"},
    {"content": "", "reasoning_content": "I s"},
    {"content": "He", "reasoning_content": "I see."},
    {"content": [{"type": "text", "text": "He"}]},
    {"content": "He", "name": "bob"},
]
NEXT = {"role": "tool", "content": "seen"}  # behind which no template drops reasoning


def started(folder: str, start: dict[str, Any], name: str = "terminal-agent", **options: Any) -> parlance.Session:
    chat = [ASKED, {"role": "assistant", **start}]
    return parlance.Session(
        parlance.Template.builtin(name), parlance.Tokenizer.from_file(folder), chat, continue_final_message=True, **options
    )


@pytest.mark.parametrize(
    ("name", "start"), [*(("terminal-agent", one) for one in STARTS), *(("chatml", one) for one in STARTS if one["content"])], ids=str
)
def test_a_session_goes_on_with_a_message_and_behind_it(chatml_tokenizer: str, name: str, start: dict[str, Any]) -> None:
    template, tokenizer = parlance.Template.builtin(name), parlance.Tokenizer.from_file(chatml_tokenizer)
    chat = [ASKED, {"role": "assistant", **start}]
    session = started(chatml_tokenizer, start, name)
    first = session.prompt_ids()
    assert first == template.render(chat, continue_final_message=True).tokens(tokenizer).ids
    ids = tokenizer.encode("llo<|im_end|>")
    for id in ids:  # also in pieces
        message = session.sampled([id])
    assert (message.content or "") + (message.reasoning or "") == "llo"
    new = session.extend([NEXT])
    assert session.prompt_ids() == first + ids + new
    reply = session.to_dict()["steps"][-1]["messages"][0]
    said = start["content"] if isinstance(start["content"], str) else "He"
    whole = tokenizer.decode(first + ids).decode()
    assert whole.endswith("llo<|im_end|>") and reply["role"] == "assistant" and reply.get("name") == start.get("name")
    if said:
        assert reply["content"] == said + "llo"
    assert tokenizer.decode(session.prompt_ids()).decode() == whole + tokenizer.decode(new).decode()
    tokens = template.render([ASKED, reply, NEXT]).tokens(tokenizer)
    assert tokens.ids[-len(new) :] == new
    turns = [turn for turn in session.sample().turns if turn is not None]
    assert turns == [0] * len(ids) and session.sample().loss_mask[len(first) : len(first) + len(ids)] == [1] * len(ids)
    again = session.sampled(tokenizer.encode("Yes<|im_end|>"))
    assert again.content == "Yes" and session.extend([NEXT])  # the next reply begins anew


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_a_session_that_went_on_is_stored_trimmed_and_branched(chatml_tokenizer: str, start: dict[str, Any]) -> None:
    session = started(chatml_tokenizer, start)
    first = session.prompt_ids()
    sessions = [session, session.branch(), pickle.loads(pickle.dumps(session))]
    for replies, one in enumerate([*sessions, sessions[0].branch()]):
        one.sampled(reply_ids(chatml_tokenizer, "llo"), logprobs=[-0.5] * len(reply_ids(chatml_tokenizer, "llo")))
        branch = pickle.loads(pickle.dumps(one)) if replies % 2 else one.branch()
        for other in (one, branch):
            other.sampled(reply_ids(chatml_tokenizer, "w<|im_end|>"))
        assert one.extend([NEXT]) == branch.extend([NEXT]) and one.prompt_ids() == branch.prompt_ids()
        copied = parlance.Session.from_dict(json.loads(json.dumps(one.to_dict())), one._template, one._tokenizer)
        assert copied.prompt_ids() == one.prompt_ids() and copied.sample() == one.sample()
        copied.trim(1)
        assert copied.prompt_ids() == one.prompt_ids()
        copied.trim(0)
        assert copied.prompt_ids() == first
        if replies == 0:
            sessions.append(copied)


def test_a_message_that_nothing_was_sampled_of_is_followed_too(chatml_tokenizer: str) -> None:
    session = started(chatml_tokenizer, {"content": "Hello"})
    assert session.extend([NEXT])
    assert session.to_dict()["steps"][0]["messages"] == [{"role": "assistant", "content": "Hello"}, NEXT]
    given = started(chatml_tokenizer, {"content": "He"})
    ids = given.prompt_ids() + reply_ids(chatml_tokenizer, "llo<|im_end|>")
    given.sampled(reply_ids(chatml_tokenizer, "llo<|im_end|>"))
    new = given.extend([{"role": "assistant", "content": "Hello"}, NEXT])
    assert given.prompt_ids() == ids + new


def test_a_message_that_no_prompt_s_reply_begins_with_is_not_followed(chatml_tokenizer: str) -> None:
    """The reply itself is sampled and read."""
    template = parlance.Template.from_string(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
    )
    chat = [ASKED, {"role": "assistant", "content": "He"}]
    session = parlance.Session(template, parlance.Tokenizer.from_file(chatml_tokenizer), chat, continue_final_message=True)
    assert session.sampled(reply_ids(chatml_tokenizer, "llo<|im_end|>")).content == "llo"
    for messages in ([NEXT], [{"role": "assistant", "content": "Hello"}, NEXT]):
        with pytest.raises(ValueError, match="cannot be followed by others"):
            session.extend(messages)
    assert len(session.sample().ids) == len(session)
    with pytest.raises(ValueError, match="no assistant message at the end to continue"):
        parlance.Session(template, parlance.Tokenizer.from_file(chatml_tokenizer), chat[:1], continue_final_message=True)
