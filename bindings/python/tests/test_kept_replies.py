"""Replies that templates write with other blanks than the model: their ids stay, for templates of the corpus with reasoning.

A reply whose message the template writes otherwise is refused. Begin reading at test_the_sampled_ids_stay_for_twenty_turns.
"""

from __future__ import annotations

import copy
import itertools
import json
import pathlib
import re
import tempfile
from typing import Any

import parlance
import pytest
from material import CORPUS, ROOT, corpus_template

TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
    }
]
ASKS = {"role": "user", "content": "Hi"}
BLANKS = list(itertools.product(("\n", ""), ("\n\n", "\n", "")))  # before and behind the mark that ends reasoning
CLOSES = {  # the mark of each template
    "trl--qwen3.jinja": "</think>",
    "trl--qwen3_training.jinja": "</think>",
    "unsloth--qwen3_template.jinja": "</think>",
    "huggingface.js--Qwen_Qwen3.5-4B.jinja": "</think>",
    "llama.cpp--MiniMax-M2.jinja": "</think>",
    "llama.cpp--GLM-4.7-Flash.jinja": "</think>",
    "llama.cpp--Bielik-11B-v3.0-Instruct.jinja": "</think>",
    "llama.cpp--LFM2.5-8B-A1B.jinja": "</think>",
    "llama.cpp--StepFun3.5-Flash.jinja": "</think>",
    "llama.cpp--poolside-Laguna-S-2.1.jinja": "</think>",
    "trl--nemotron_3_super.jinja": "</think>",
    "ollama--gemma4_e2b_chat_template.jinja": "<channel|>",
    "trl--gptoss_training.jinja": "<|end|>",
}


@pytest.fixture(scope="module")
def corpus() -> None:
    if not (CORPUS / "templates").is_dir():
        pytest.skip("no corpus of templates")


def tokenizer_with(marks: set[str]) -> parlance.Tokenizer:
    """The tests' tokenizer with a control token for each mark."""
    made = json.loads((ROOT / "tests" / "tokenizers" / "chatml" / "tokenizer.json").read_text("utf-8"))
    known = {token["content"] for token in made["added_tokens"]}
    first = 1 + max([*made["model"]["vocab"].values(), *(token["id"] for token in made["added_tokens"])])
    for number, mark in enumerate(sorted(marks - known)):
        token = {**copy.deepcopy(made["added_tokens"][0]), "id": first + number, "content": mark, "special": mark.startswith("<|")}
        made["added_tokens"].append(token)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "tokenizer.json")
        file.write_text(json.dumps(made), "utf-8")
        return parlance.Tokenizer.from_file(str(file))


def opened(name: str) -> tuple[parlance.Template, parlance.Tokenizer]:
    text = corpus_template(f"templates/{name}")
    return parlance.Template.from_string(text), tokenizer_with(set(re.findall(r"<\|[^|<>\n ]+\|>|</?[a-z_|]+\|?>", text)))


def calling(thought: str, at: str, id: str = "call00001") -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": "look", "arguments": {"at": at}}}
    return {"role": "assistant", "content": "", "reasoning_content": thought, "tool_calls": [call]}


def result(text: str, id: str = "call00001") -> dict[str, Any]:
    return {"role": "tool", "name": "look", "content": text, "tool_call_id": id}


def reply_as_written(template: parlance.Template, tokenizer: parlance.Tokenizer, reply: dict[str, Any]) -> str:
    """What the template writes for a reply, to the token that ends it."""
    prompt = template.render([ASKS], tools=TOOLS).text
    whole = template.render([ASKS, reply, result("RESULT")], tools=TOOLS).text
    assert whole.startswith(prompt)
    before = whole[len(prompt) : whole.index("RESULT")]
    ends = [before.rindex(stop) + len(stop) for _, stop, _ in template.stop_tokens(tokenizer) if stop in before]
    return before[: max(ends)]


@pytest.mark.parametrize("name", CLOSES)
def test_the_sampled_ids_stay_for_twenty_turns(corpus: None, name: str) -> None:
    template, tokenizer = opened(name)
    before, close, behind = reply_as_written(template, tokenizer, calling("Hm, so.", "x")).partition(CLOSES[name])
    session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
    expected, learnt, conversation, kinds = session.prompt_ids(), 0, [ASKS], []
    for turn in range(20):
        left, right = BLANKS[turn % len(BLANKS)]
        sampled = tokenizer.encode(before.rstrip() + left + close + right + behind.lstrip())
        message = session.sampled(sampled, logprobs=[-0.5] * len(sampled))
        assert (message.reasoning or "").strip() == "Hm, so." and message.calls[0].arguments == '{"at": "x"}'
        id = message.calls[0].id or "call00001"
        new = session.extend([result(f"saw {turn}", id)])
        conversation += [calling("Hm, so.", "x", id), result(f"saw {turn}", id)]
        assert template.render(conversation, tools=TOOLS).text.endswith(tokenizer.decode(new).decode()), turn
        assert f"saw {turn}" in tokenizer.decode(new).decode() and "Hm" not in tokenizer.decode(new).decode()
        expected, learnt = [*expected, *sampled, *new], learnt + len(sampled)
        assert session.prompt_ids() == expected, turn
        kinds.append(session.sample().kinds[-len(new) - len(sampled) : -len(new)])
        if turn % 7 == 3:
            session = session.branch()
        if turn % 7 == 5:
            session = parlance.Session.from_dict(json.loads(json.dumps(session.to_dict())), template, tokenizer)
    sample = session.sample()
    assert sum(sample.loss_mask) == learnt == sum(one is not None for one in sample.logprobs)
    learnt_ids = [id for id, is_learnt in zip(sample.ids, sample.loss_mask, strict=True) if is_learnt]
    assert tokenizer.decode(learnt_ids).decode().count("Hm, so.") == 20
    assert all({"reasoning", "calls"} <= set(of_turn) for of_turn in kinds)
    session.trim(3)
    assert session.prompt_ids() == expected[: len(session)] and session.sample().turns[-1] is None


@pytest.mark.parametrize("name", ["trl--qwen3_training.jinja", "llama.cpp--poolside-Laguna-S-2.1.jinja"])
def test_another_message_is_refused(corpus: None, name: str) -> None:
    template, tokenizer = opened(name)
    before, close, behind = reply_as_written(template, tokenizer, calling("Hm, so.", "x")).partition(CLOSES[name])
    for given in (calling("Hm, no.", "x"), calling("Hm, so.", "y"), {**calling("Hm, so.", "x"), "content": "Well."}, calling("", "x")):
        session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
        session.sampled(tokenizer.encode(before.rstrip() + close + behind.lstrip()))
        ids = session.prompt_ids()
        with pytest.raises(parlance.Error) as caught:
            session.extend([given, result("nothing")])
        assert caught.value.code == "history_rewritten" and session.difference
        assert session.prompt_ids() == ids
        session.extend([calling("Hm, so.", "x"), result("nothing")])  # the same, in the caller's own words


def test_reasoning_that_the_template_drops_later_is_refused(corpus: None) -> None:
    template, tokenizer = opened("trl--qwen3.jinja")
    session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
    thinking = "<think>\nHm, so.</think>\n"
    session.sampled(tokenizer.encode(thinking + '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call><|im_end|>'))
    session.extend([result("a cat")])
    session.sampled(tokenizer.encode(thinking + "A cat.<|im_end|>"))
    ids = session.prompt_ids()
    with pytest.raises(parlance.Error) as caught:
        session.extend([ASKS])
    assert caught.value.code == "history_rewritten" and "messages[1]" in str(caught.value)
    assert session.difference and session.difference["cause"] == "rewritten" and session.prompt_ids() == ids


def test_a_prompt_may_open_what_the_template_never_writes_again(corpus: None) -> None:
    """Without thinking the prompt opens and closes empty reasoning, which no earlier turn has."""
    template, tokenizer = opened("trl--qwen3.jinja")
    session = parlance.Session(template, tokenizer, [ASKS], enable_thinking=False)
    assert tokenizer.decode(session.prompt_ids()).endswith(b"<think>\n\n</think>\n\n")
    for turn in range(5):
        ids, sampled = session.prompt_ids(), tokenizer.encode(f"Yes, {turn}.<|im_end|>")
        session.sampled(sampled)
        new = session.extend([{"role": "user", "content": "And?"}])
        assert session.prompt_ids() == [*ids, *sampled, *new]
        assert tokenizer.decode(new).startswith(b"\n<|im_start|>user\nAnd?<|im_end|>")


@pytest.mark.parametrize("name", ["trl--gptoss_training.jinja", "llama.cpp--openai-gpt-oss-120b.jinja", "unsloth--gptoss_template.jinja"])
def test_a_reply_may_end_with_another_token_than_history_has(corpus: None, name: str) -> None:
    """A reply ends with <|return|>, for which the template writes <|end|> once a turn follows."""
    template, tokenizer = opened(name)
    session = parlance.Session(template, tokenizer, [ASKS])
    for turn in range(10):
        ids, sampled = session.prompt_ids(), tokenizer.encode(f"<|channel|>final<|message|>Yes, {turn}.<|return|>")
        assert session.sampled(sampled).content == f"Yes, {turn}."
        new = session.extend([{"role": "user", "content": "And?"}])
        assert session.prompt_ids() == [*ids, *sampled, *new]
        assert tokenizer.decode(new) == b"<|start|>user<|message|>And?<|end|><|start|>assistant"
    thought = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    session.sampled(tokenizer.encode(thought + "<|channel|>final<|message|>Yes.<|return|>"))
    ids = session.prompt_ids()
    with pytest.raises(parlance.Error) as caught:  # the template drops the reasoning
        session.extend([{"role": "user", "content": "And?"}])
    assert caught.value.code == "history_rewritten" and session.prompt_ids() == ids


def test_a_reply_that_breaks_off_is_not_kept_for_another(corpus: None) -> None:
    template, tokenizer = opened("trl--qwen3.jinja")
    session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
    session.sampled(tokenizer.encode("<think>\nHm, so.\n\n"))
    with pytest.raises(parlance.Error):
        session.extend([{"role": "tool", "name": "look", "content": "nothing"}])
