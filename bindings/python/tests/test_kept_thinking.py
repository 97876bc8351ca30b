# ruff: noqa: E402
"""Bridges with thinking_retention="all": where a reply ends, wherever it was cut off, for the templates of the corpus.

The law: what a bridge adds ends what is open in the reply, once, and goes on as the template does behind the same reply without reasoning.
Begin reading at test_a_bridge_ends_what_is_open_and_goes_on_as_the_template.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import parlance
import pytest
from material import CORPUS, TOKENIZERS, use_renderers
from test_results import FILES, TEMPLATES, TOOLS, calls

use_renderers()

from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig
from transformers import PreTrainedTokenizerFast

ASKS = {"role": "user", "content": "Hi"}
NEW = {"role": "user", "content": "QQ NEW"}
REASONS = {"role": "assistant", "content": "", "reasoning_content": "Hm so"}
REPLIES = {"answer": {**REASONS, "content": "Yes"}, "call": {**REASONS, "tool_calls": calls(1)}}

# Those that must bridge wherever a reply was cut off. Of others a marker that is cut off may be more than the template ends.
SEEN = [
    "llama.cpp--GLM-4.7-Flash.jinja",
    "trl--glm4moe.jinja",
    "trl--qwen3.jinja",
    "trl--qwen3_6.jinja",
    "llama.cpp--MiniMax-M2.jinja",
    "trl--nemotron_3_super.jinja",
    "llama.cpp--deepseek-ai-DeepSeek-V4-Flash-0731.jinja",
    "llama.cpp--poolside-Laguna-XS.2.jinja",
    "axolotl--deepseek_v3.jinja",
]
NAMES = sorted({*SEEN, *TEMPLATES} & {path.name for path in FILES})
CONTROL = re.compile(r"<[a-z_]+\|>|<\|[a-z_]+>|<[|\uff5c][^<>'\"{}\s]{1,60}[|\uff5c]>|</?think>|</?tool_call>|</?assistant>|\]~b\]|\[e~\[")


def tokenizer_for(text: str) -> Any:
    """The small one with the control tokens of a template's text."""
    made = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"))
    made.add_tokens(sorted(set(CONTROL.findall(text))), special_tokens=True)
    ends = [token for token in ("<\uff5cend\u2581of\u2581sentence\uff5c>", "<|im_end|>") if token in text]
    made.add_special_tokens({"eos_token": (ends or ["<|endoftext|>"])[0]})
    made.chat_template = text
    return made


@functools.cache
def tokenizer(name: str) -> Any:
    return tokenizer_for((CORPUS / "templates" / name).read_bytes().decode("utf-8"))


def renderer_of(name: str) -> ParlanceRenderer:
    try:
        return ParlanceRenderer(tokenizer(name), ParlanceRendererConfig(thinking_retention="all", enable_thinking=True))
    except parlance.Error:
        pytest.skip("no template")


def decoded(renderer: ParlanceRenderer, ids: list[int]) -> str:
    return renderer._tokenizer.decode(ids).decode("utf-8", "replace")


def prompt_of(renderer: ParlanceRenderer) -> list[int]:
    try:
        return renderer.render_ids([ASKS], tools=TOOLS, add_generation_prompt=True)
    except parlance.Error:
        pytest.skip("the template does not take it")


def without_blanks(text: str) -> str:
    return "".join(text.split())


def written(renderer: ParlanceRenderer, reply: dict[str, Any], prompt: list[int]) -> list[int]:
    """The ids of a reply as the template writes it, without its stop token. Skips where it writes none, or no reasoning."""
    try:
        ids = renderer.render_ids([ASKS, reply], tools=TOOLS)
    except parlance.Error:
        pytest.skip("the template does not take it")
    said = ids[len(prompt) :]
    if ids[: len(prompt)] != prompt or "Hm so" not in decoded(renderer, said):
        pytest.skip("the template writes no reasoning behind its prompt")
    return [*itertools.takewhile(lambda id: id not in renderer.get_stop_token_ids(), said)]


def what_is_said(renderer: ParlanceRenderer, ids: list[int], prompt: list[int]) -> tuple[str, list[str]]:
    """The reasoning and the complete calls of a reply."""
    message = renderer._read(ids, TOOLS, prompt)[0].message
    return (message.reasoning or "").strip(), [call.name for call in message.calls if call.complete]


def is_part_of_mark(renderer: ParlanceRenderer, text: str) -> bool:
    return any(mark.strip().startswith(text) and mark.strip() != text for mark in renderer._reasoning_marks[0])


def check(renderer: ParlanceRenderer, prompt: list[int], sampled: list[int], ids: list[int]) -> None:
    """The law for one bridge: what it adds in front of the stop token changes nothing of what the reply says, and its reasoning is over."""
    stops = renderer.get_stop_token_ids()
    assert ids[: len(prompt) + len(sampled)] == [*prompt, *sampled]
    turn = [*itertools.takewhile(lambda id: id not in stops, ids[len(prompt) :])]
    shown = decoded(renderer, ids[len(prompt) :])
    assert what_is_said(renderer, turn, prompt) == what_is_said(renderer, sampled, prompt), shown
    assert renderer.parse_response(turn, tools=TOOLS, prompt_ids=prompt).reasoning_complete, shown


@pytest.mark.parametrize("reply", ["answer", "call"])
@pytest.mark.parametrize("name", NAMES)
def test_a_bridge_ends_what_is_open_and_goes_on_as_the_template(name: str, reply: str) -> None:
    renderer, fresh = renderer_of(name), renderer_of(name)
    prompt = prompt_of(renderer)
    said = written(renderer, REPLIES[reply], prompt)
    for count in range(len(said) + 1):
        for kept in (renderer, fresh):
            bridge = kept.bridge_to_next_turn(prompt, said[:count], [NEW], tools=TOOLS)
            begun = without_blanks(decoded(renderer, said[:count]))
            assert bridge is not None or name not in SEEN or is_part_of_mark(renderer, begun), (begun, kept.refusal)
            if bridge is not None:
                check(renderer, prompt, said[:count], bridge.token_ids)


@pytest.mark.parametrize("reply", ["answer", "call"])
@pytest.mark.parametrize("name", NAMES)
def test_behind_a_whole_reply_stands_what_the_template_writes_behind_it(name: str, reply: str) -> None:
    renderer = renderer_of(name)
    prompt = prompt_of(renderer)
    said = written(renderer, REPLIES[reply], prompt)
    bridge = renderer.bridge_to_next_turn(prompt, said, [NEW], tools=TOOLS)
    assert bridge is not None or name not in SEEN, renderer.refusal
    if bridge is None:
        pytest.skip("no bridge")
    bare = {**REPLIES[reply], "reasoning_content": ""}
    whole = decoded(renderer, renderer.render_ids([ASKS, bare, NEW], tools=TOOLS, add_generation_prompt=True))
    added = decoded(renderer, bridge.token_ids[len(prompt) + len(said) :])
    own = without_blanks(decoded(renderer, said))[-3 if reply == "answer" else -12 :]
    assert whole.endswith(added) and without_blanks(whole.removesuffix(added)).endswith(own), added


@pytest.mark.skipif(not FILES, reason="no corpus")
@pytest.mark.parametrize("name", ["llama.cpp--GLM-4.7-Flash.jinja", "trl--glm4moe.jinja"])
def test_a_stop_token_that_opens_another_turn_stays(name: str) -> None:
    renderer = renderer_of(name)
    prompt = prompt_of(renderer)
    said = written(renderer, REPLIES["call"], prompt)
    expected = renderer.bridge_to_next_turn(prompt, said, [NEW], tools=TOOLS)
    assert expected is not None, renderer.refusal
    next_turn = expected.token_ids[len(prompt) + len(said) :]
    user, result, end = renderer._given_tokenizer.convert_tokens_to_ids(["<|user|>", "<|observation|>", "<|endoftext|>"])
    for stop in (user, result, end):
        bridge = renderer.bridge_to_next_turn(prompt, [*said, stop], [NEW], tools=TOOLS)
        assert bridge is not None, renderer.refusal
        assert bridge.token_ids == [*prompt, *said, *(next_turn if stop == user else [stop, *next_turn])]


@pytest.mark.skipif(not FILES, reason="no corpus")
def test_behind_a_stop_token_within_reasoning_there_is_no_bridge() -> None:
    for name in ("trl--qwen3_6.jinja", "llama.cpp--GLM-4.7-Flash.jinja", "trl--qwen3.jinja"):
        renderer = renderer_of(name)
        prompt = prompt_of(renderer)
        said = written(renderer, REPLIES["answer"], prompt)
        cut = said[: next(at for at in range(len(said)) if decoded(renderer, said[:at]).endswith("Hm"))]
        stop = renderer.get_stop_token_ids()[0]
        assert renderer.bridge_to_next_turn(prompt, [*cut, stop], [NEW], tools=TOOLS) is None
        assert "within its reasoning" in str(renderer.refusal)


@pytest.mark.skipif(not FILES, reason="no corpus")
def test_reasoning_that_only_began_is_ended() -> None:
    renderer = renderer_of("llama.cpp--upstage-Solar-Open-100B.jinja")
    prompt = prompt_of(renderer)
    for begun in ("<|think|>", "<|think|>Hm"):
        ids = renderer._given_tokenizer.encode(begun, add_special_tokens=False)
        bridge = renderer.bridge_to_next_turn(prompt, ids, [NEW], tools=TOOLS)
        assert bridge is not None, renderer.refusal
        added = decoded(renderer, bridge.token_ids[len(prompt) + len(ids) :])
        assert added == "<|end|><|begin|>assistant<|content|><|end|><|begin|>user<|content|>QQ NEW<|end|><|begin|>assistant"


@pytest.mark.skipif(not FILES, reason="no corpus")
def test_reasoning_that_the_template_never_writes_is_ended_as_replies_end_it() -> None:
    renderer = renderer_of("axolotl--deepseek_v3.jinja")
    prompt = prompt_of(renderer)
    end = renderer._given_tokenizer.eos_token
    for blanks in ("", "\n"):
        ids = renderer._given_tokenizer.encode("<think>\nI was thinking" + blanks, add_special_tokens=False)
        bridge = renderer.bridge_to_next_turn(prompt, ids, [NEW], tools=TOOLS)
        assert bridge is not None, renderer.refusal
        assert decoded(renderer, bridge.token_ids[len(prompt) :]).startswith(f"<think>\nI was thinking\n</think>\n\n{end}")


@pytest.mark.skipif(not FILES, reason="no corpus")
def test_a_template_that_drops_only_the_mark_in_front_of_reasoning_rewrites_no_more() -> None:
    renderer = renderer_of("llama.cpp--deepseek-ai-DeepSeek-V4-Flash-0731.jinja")
    prompt = renderer.render_ids([ASKS], add_generation_prompt=True)
    end = renderer._given_tokenizer.eos_token
    ids = renderer._given_tokenizer.encode(f"Hm</think>Yes{end}", add_special_tokens=False)
    bridge = renderer.bridge_to_next_turn(prompt, ids, [NEW])
    assert bridge is not None, renderer.refusal
    whole = decoded(renderer, renderer.render_ids([ASKS, {"role": "assistant", "content": "Yes"}, NEW], add_generation_prompt=True))
    added = decoded(renderer, bridge.token_ids[len(prompt) + len(ids) :])
    assert added and whole.endswith(f"Yes{end}{added}")
