"""Whose the tokens are that the model sampled, for the templates of the corpus: an assistant's message, by message_indices.

Begin reading at test_what_was_sampled_is_of_an_assistants_message.
"""

from __future__ import annotations

from typing import Any

import parlance
import pytest
from material import use_renderers
from test_results import FILES, TEMPLATES, TOOLS, calls

use_renderers()

from parlance._stops import literal_tokens  # noqa: E402
from parlance._tokenizers import tokenizer_of  # noqa: E402
from parlance.renderers import ParlanceRenderer  # noqa: E402
from test_kept_thinking import renderer_of, tokenizer_for  # noqa: E402


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


TURNS = [said("user", "Hi"), said("assistant", "Yo"), said("user", "Next"), said("assistant", "End")]
CALLS = [
    said("user", "Hi"),
    said("assistant", "", reasoning_content="Hm", tool_calls=calls(1)),
    said("tool", "4", tool_call_id="abcdefgh0", name="look"),
    *TURNS[1:],
]
CONVERSATIONS = {
    "turns": TURNS,
    "a system message": [said("system", "S."), *TURNS],
    "a user's last": [*TURNS, said("user", "So?")],
    "two of each": [said("user", "Hi"), *TURNS[:2], said("assistant", "More"), *TURNS[2:]],
    "reasoning": [TURNS[0], {**TURNS[1], "reasoning_content": "Hm"}, TURNS[2], {**TURNS[3], "reasoning_content": "Hm"}],
    "an empty answer": [TURNS[0], said("assistant", ""), *TURNS[2:]],
    "calls": CALLS,
    "calls and a user's last": [*CALLS, said("user", "So?")],
    "calls last": [*TURNS[:3], said("assistant", "", tool_calls=calls(2))],
}
SEEN = [
    "huggingface.js--Qwen_Qwen1.5-72B-Chat.jinja",
    "llama.cpp--unsloth-Apriel-1.5.jinja",
    "llama.cpp--NVIDIA-Nemotron-Nano-v2.jinja",
    "trl--deepseekv3_training.jinja",
    "trl--diffusion_gemma_training.jinja",
    "trl--phi3_5_training.jinja",
]
NAMES = sorted({*SEEN, *TEMPLATES} & {path.name for path in FILES})


@pytest.mark.parametrize("name", NAMES)
def test_what_was_sampled_is_of_an_assistants_message(name: str) -> None:
    renderer, seen = renderer_of(name), 0
    for about, messages in CONVERSATIONS.items():
        for tools in (None, TOOLS):
            try:
                made = renderer.render(messages, tools=tools)
            except parlance.Error:
                continue  # the template does not take it
            seen += sum(made.sampled_mask)
            for id, sampled, owner in zip(made.token_ids, made.sampled_mask, made.message_indices, strict=True):
                shown = (about, renderer._given_tokenizer.decode([id]), owner)
                assert not sampled or (owner >= 0 and messages[owner]["role"] == "assistant"), shown
    assert seen or name not in SEEN, "nothing of it is sampled"


def test_texts_of_a_template_have_signs_beyond_the_first_plane() -> None:
    """What is put behind a reply is rendered by a template of its own."""
    engine = tokenizer_of(tokenizer_for("{{ messages }}"))
    text = '\U0001f642 "quoted"\n'
    assert engine.decode(list(literal_tokens(text, engine).ids)).decode() == text


def test_a_stop_token_that_the_last_turn_lacks_is_of_the_turn_that_it_ends() -> None:
    text = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% if m.role == 'assistant' and not loop.last %}<|end|>{% endif %}"
        "{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    one = tokenizer_for(text)
    made = ParlanceRenderer(one).render(TURNS)
    sampled = [
        (one.decode([id]), owner)
        for id, is_sampled, owner in zip(made.token_ids, made.sampled_mask, made.message_indices, strict=True)
        if is_sampled
    ]
    assert ("<|end|>", 1) in sampled and {owner for _, owner in sampled} == {1, 3}
    assert not any(
        content and owner == 2 and one.decode([id]) == "<|end|>"
        for id, content, owner in zip(made.token_ids, made.is_content, made.message_indices, strict=True)
    )
