# ruff: noqa: E402
"""ParlanceRenderer through the package `renderers`: chosen by its import path, stop tokens, bridges with and without a known history."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import pytest
from material import RENDERERS, ROOT, TOKENIZERS, use_renderers

use_renderers()

from parlance._known import Conversations
from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig
from renderers.base import create_renderer
from renderers.configs import CustomRendererConfig, DefaultRendererConfig, RendererConfig
from transformers import AutoTokenizer, PreTrainedTokenizerFast

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
ASKED = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
FORGETFUL = (  # drops reasoning of all but the last message
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content and loop.last %}<think>{{ m.reasoning_content }}</think>"
    "{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}" + ASKED
)
COUNTING = (  # what it writes depends on how long the conversation is
    "{% for m in messages %}<|im_start|>{{ m.role }} {{ loop.index }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
OPENING = (  # a turn ends where the next begins
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def tokenizer(template: str, *tokens: str) -> Any:
    made = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), eos_token="<|im_end|>")
    made.add_tokens(list(tokens), special_tokens=True)
    made.chat_template = template
    return made


def encode(one: Any, text: str) -> list[int]:
    return list(one.encode(text, add_special_tokens=False))


def test_one_line_of_the_configuration_chooses_it() -> None:
    pydantic = pytest.importorskip("pydantic")
    tomllib = pytest.importorskip("tomllib")

    class Trainer(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        renderer: RendererConfig

    text = '[renderer]\nname = "custom"\nimport_path = "parlance.renderers.ParlanceRenderer"\nenable_thinking = false'
    config = Trainer.model_validate(tomllib.loads(text)).renderer
    made = create_renderer(tokenizer(CHATML + "{{ enable_thinking }}"), config)

    assert type(made) is ParlanceRenderer
    assert made._tokenizer.decode(made.render_ids([user("Hi")])).endswith(b"False")


def test_a_wrong_field_is_an_error_when_the_configuration_is_read() -> None:
    with pytest.raises(ValueError, match="protect"):
        CustomRendererConfig(import_path="parlance.renderers.ParlanceRenderer", protect="no idea")


def test_stop_tokens_of_the_generation_config(tmp_path: pathlib.Path) -> None:
    one = tokenizer(CHATML + ASKED)
    one.save_pretrained(tmp_path)
    end, other = one.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])

    assert create_renderer(one, CustomRendererConfig(import_path="parlance.renderers.ParlanceRenderer")).get_stop_token_ids() == [end]

    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [end, other]}))

    assert ParlanceRenderer(AutoTokenizer.from_pretrained(tmp_path)).get_stop_token_ids() == [end, other]

    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": other}))

    assert ParlanceRenderer(AutoTokenizer.from_pretrained(tmp_path)).get_stop_token_ids() == [end, other]

    (tmp_path / "generation_config.json").write_text("[")
    with pytest.raises(ValueError, match=r"generation_config.json is not JSON"):
        ParlanceRenderer(AutoTokenizer.from_pretrained(tmp_path))


def test_the_end_of_a_call_is_no_stop_token_and_the_opener_of_a_result_is() -> None:
    template = (
        "{% for m in messages %}<|{{ 'observation' if m.role == 'tool' else m.role }}|>{{ m.content }}"
        "{% for call in m.tool_calls or [] %}<call>{{ call.function | tojson }}</call>{% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    one = tokenizer(template, "<|user|>", "<|assistant|>", "<|observation|>", "<call>", "</call>")
    stops = one.convert_ids_to_tokens(ParlanceRenderer(one).get_stop_token_ids())

    assert "</call>" not in stops
    assert {"<|user|>", "<|observation|>"} <= set(stops)


def test_content_that_is_written_behind_results_is_the_assistants() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}<result>{{ m.content }}</result>"
        "{{ messages[loop.index0 - 1].content }}<|im_end|>\n{% else %}<|im_start|>{{ m.role }}\n"
        "{% if m.tool_calls %}<call>{{ m.tool_calls[0].function | tojson }}</call>"
        "{% else %}{{ m.content }}<|im_end|>\n{% endif %}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    one = tokenizer(template, "<call>", "</call>", "<result>", "</result>")
    call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"at": "it"}}}
    made = ParlanceRenderer(one).render(
        [user("Hi"), {"role": "assistant", "content": "Seen", "tool_calls": [call]}, {"role": "tool", "content": "4"}]
    )
    end = one.convert_tokens_to_ids("</result>")
    behind = made.token_ids.index(end) + 1
    seen = len(encode(one, "Seen"))

    assert made.token_ids[behind : behind + seen] == encode(one, "Seen")
    assert made.message_indices[behind : behind + seen] == [1] * seen and all(made.sampled_mask[behind : behind + seen])
    assert made.message_indices[behind - 1] == 2 and not made.sampled_mask[behind - 1]


def test_reasoning_that_is_cut_off_is_not_complete() -> None:
    one = tokenizer((ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8"))
    renderer = ParlanceRenderer(one)
    prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    complete = {
        text: renderer.parse_response(encode(one, text), prompt_ids=prompt).reasoning_complete
        for text in ("<think>", "<think>\nHm", "<think>\nHm<|im_end|>", "<think>\nHm\n</think>\n\nYes", "Yes<|im_end|>")
    }

    assert list(complete.values()) == [False, False, False, True, True], complete


def test_a_stop_token_that_opens_the_next_turn_is_the_assistants() -> None:
    one = tokenizer(OPENING, "<|user|>", "<|assistant|>")
    opens = one.convert_tokens_to_ids("<|user|>")
    renderer = ParlanceRenderer(one)
    made = renderer.render([user("Hi"), {"role": "assistant", "content": "Yo"}, user("And?")])
    places = [place for place, id in enumerate(made.token_ids) if id == opens]

    assert opens in renderer.get_stop_token_ids()
    assert [made.message_indices[place] for place in places] == [0, 1]
    assert [made.sampled_mask[place] for place in places] == [False, True]

    prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    sampled = [*encode(one, "Yo"), opens]
    for kept in (renderer, ParlanceRenderer(one)):
        bridge = kept.bridge_to_next_turn(prompt, sampled, [user("And?")])
        assert bridge is not None and bridge.token_ids == [*prompt, *sampled, *encode(one, "And?<|assistant|>")], kept.refusal


@pytest.mark.parametrize("fresh", [False, True])
def test_a_bridge_keeps_what_was_sampled_turn_after_turn(fresh: bool) -> None:
    one = tokenizer(CHATML + ASKED)
    kept = ParlanceRenderer(one)
    ids = kept.render_ids([{"role": "system", "content": "S."}, user("Hi")], add_generation_prompt=True)
    sampled = [*(encode(one, letter)[0] for letter in "Hello"), one.convert_tokens_to_ids("<|im_end|>")]  # not as it encodes

    assert sampled[:-1] != encode(one, "Hello")
    for number in range(3):
        renderer = ParlanceRenderer(one) if fresh else kept
        bridge = renderer.bridge_to_next_turn(ids, sampled, [user(f"And {number}?")])
        assert bridge is not None, renderer.refusal
        new = encode(one, f"\n<|im_start|>user\nAnd {number}?<|im_end|>\n<|im_start|>assistant\n")
        assert bridge.token_ids == [*ids, *sampled, *new]
        assert set(bridge.message_indices) == {-1, 0} and not any(bridge.sampled_mask) and any(bridge.is_content)
        ids = bridge.token_ids


def test_a_bridge_in_another_process(tmp_path: pathlib.Path) -> None:
    one = tokenizer(CHATML + ASKED)
    one.save_pretrained(tmp_path)
    kept = ParlanceRenderer(one)
    prompt, reply = kept.render_ids([user("Hi")], add_generation_prompt=True), encode(one, "Yes<|im_end|>")
    code = (
        "import json, sys; sys.path.append(sys.argv[1]); from transformers import AutoTokenizer; from parlance.renderers import *\n"
        "prompt, reply, new = json.loads(sys.argv[3]); renderer = ParlanceRenderer(AutoTokenizer.from_pretrained(sys.argv[2]))\n"
        "print(json.dumps(renderer.bridge_to_next_turn(prompt, reply, new).token_ids))"
    )
    new = [user("And?")]
    command = [sys.executable, "-c", code, str(RENDERERS), str(tmp_path), json.dumps([prompt, reply, new])]
    elsewhere = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    here = kept.bridge_to_next_turn(prompt, reply, new)

    assert here is not None and elsewhere == here.token_ids


def test_a_truncated_reply_is_closed() -> None:
    one = tokenizer(CHATML + ASKED)
    prompt = ParlanceRenderer(one).render_ids([user("Hi")], add_generation_prompt=True)
    bridge = ParlanceRenderer(one).bridge_to_next_turn(prompt, encode(one, "Hel"), [user("And?")])

    assert bridge is not None
    assert one.decode(bridge.token_ids[len(prompt) :]) == "Hel<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n"


def test_refusals_have_a_reason() -> None:
    one = tokenizer(FORGETFUL)
    known, fresh = ParlanceRenderer(one), ParlanceRenderer(one)
    prompt = known.render_ids([user("Hi")], add_generation_prompt=True)
    thought = encode(one, "<think>Hm</think>Yo<|im_end|>")

    for renderer in (known, fresh):
        assert renderer.bridge_to_next_turn(prompt, thought, [user("And?")]) is None
        assert "line 1" in str(renderer.refusal)

    assert known.bridge_to_next_turn(prompt, thought, []) is None and known.refusal is not None
    assert known.bridge_to_next_turn(prompt, thought, [{"role": "assistant", "content": "x"}]) is None
    assert "assistant" in str(known.refusal)
    assert fresh.bridge_to_next_turn(prompt[:-2], thought, [user("And?")]) is None
    assert "do not end" in str(fresh.refusal)


def test_thinking_that_is_kept_by_request() -> None:
    one = tokenizer(FORGETFUL)
    renderer = ParlanceRenderer(one, ParlanceRendererConfig(thinking_retention="all"))
    prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    thought = encode(one, "<think>Hm</think>Yo<|im_end|>")
    bridge = renderer.bridge_to_next_turn(prompt, thought, [user("And?")])

    assert bridge is not None, renderer.refusal
    assert bridge.token_ids == [*prompt, *thought, *encode(one, "\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n")]

    cycle = ParlanceRenderer(one, ParlanceRendererConfig(thinking_retention="tool_cycle"))
    assert cycle.bridge_to_next_turn(prompt, encode(one, "Yo<|im_end|>"), [user("And?")]) is None


def test_thinking_that_is_kept_by_request_for_several_turns() -> None:
    """The template writes empty reasoning in the last turn, and drops it and all other behind the next question."""
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if m.role == 'assistant' and loop.last %}<think>\n{{ m.reasoning_content or '' }}\n</think>\n\n{% endif %}"
        "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    one = tokenizer(template)
    renderer = ParlanceRenderer(one, ParlanceRendererConfig(thinking_retention="all"))
    ids = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    for turn in range(4):
        thought = encode(one, f"<think>\nHm, {turn}\n</think>\n\nYo<|im_end|>")
        bridge = renderer.bridge_to_next_turn(ids, thought, [user("And?")])
        assert bridge is not None, renderer.refusal
        added = encode(one, "\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n")
        assert bridge.token_ids == [*ids, *thought, *added]
        ids = bridge.token_ids
    cut = encode(one, "<think>\nHm\n</think>\n\nYo")
    bridge = renderer.bridge_to_next_turn(ids, cut, [user("And?")])
    assert bridge is not None and bridge.token_ids == [*ids, *cut, *encode(one, "<|im_end|>"), *added]


def test_keeping_thinking_keeps_nothing_else() -> None:
    """What the template rewrites beside reasoning is still a refusal."""
    for template in (
        FORGETFUL.replace("{{ m.content }}", "{{ m.content if loop.last or m.role == 'user' else m.content | upper }}"),
        FORGETFUL.replace("{{ m.content }}", "{% if loop.last %}last: {% endif %}{{ m.content }}"),
        FORGETFUL.replace("{{ m.content }}", "{{ m.content if loop.last else m.content | upper }}"),
    ):
        one = tokenizer(template)
        renderer = ParlanceRenderer(one, ParlanceRendererConfig(thinking_retention="all"))
        prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
        assert renderer.bridge_to_next_turn(prompt, encode(one, "<think>Hm</think>Yo<|im_end|>"), [user("And?")]) is None, template
        assert renderer.refusal


def test_a_history_that_matters_is_not_guessed() -> None:
    one = tokenizer(COUNTING)
    known, fresh = ParlanceRenderer(one), ParlanceRenderer(one)
    prompt = known.render_ids([user("Hi")], add_generation_prompt=True)
    sampled = encode(one, "Yo<|im_end|>")

    assert fresh.bridge_to_next_turn(prompt, sampled, [user("And?")]) is None
    assert fresh.refusal is not None


def test_prefix_stability_is_found_by_experiment() -> None:
    assert ParlanceRenderer(tokenizer(CHATML + ASKED)).is_prefix_stable
    assert not ParlanceRenderer(tokenizer(FORGETFUL)).is_prefix_stable


def test_the_packages_own_renderer_for_templates_refuses() -> None:
    one = tokenizer(CHATML + ASKED)
    prompt = one.apply_chat_template([user("Hi")], add_generation_prompt=True, return_dict=False)
    made = create_renderer(one, DefaultRendererConfig())

    assert made.bridge_to_next_turn(prompt, encode(one, "Yo<|im_end|>"), [user("And?")]) is None


def test_a_bridge_of_calls_and_results() -> None:
    one = tokenizer((ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8"))
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}]
    renderer = ParlanceRenderer(one)
    prompt = renderer.render_ids([user("Hi")], tools=tools, add_generation_prompt=True)
    call = encode(one, '<tool_call>\n{"name":  "look", "arguments": {"at": "it"}}\n</tool_call><|im_end|>')  # two blanks
    result = {"role": "tool", "content": "a cat", "tool_call_id": "call_1"}
    for kept in (renderer, ParlanceRenderer(one)):
        bridge = kept.bridge_to_next_turn(prompt, call, [result], tools=tools)
        assert bridge is not None, kept.refusal
        assert bridge.token_ids[: len(prompt) + len(call)] == [*prompt, *call]
        assert "a cat" in one.decode(bridge.token_ids[len(prompt) + len(call) :])


CALLS = {
    "call": '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call><|im_end|>',
    "two": 'Hi.\n<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "look", "arguments": {"at": "y"}}\n</tool_call><|im_end|>',
    "unknown tool": '<tool_call>\n{"name": "zz", "arguments": {}}\n</tool_call><|im_end|>',
    "no JSON": '<tool_call>\n{"name": "look", "arguments": {"at": }}\n</tool_call><|im_end|>',
    "cut": 'Hi\n<tool_call>\n{"name": "look", "argu',
    "cut behind the name": '<tool_call>\n{"name": "look", "arguments": {"at": "x"',
    "cut in the name": '<tool_call>\n{"name": "lo',
    "no name": 'Hi\n<tool_call>\n{"arguments": {"at": "x"}}\n</tool_call><|im_end|>',
    **{f"no object: {body}": f"<tool_call>\n{body}\n</tool_call><|im_end|>" for body in ("[1]", "[]", "3", '"look"', "null", "true", "{}")},
    "an empty name": '<tool_call>\n{"name": "", "arguments": {"at": "x"}}\n</tool_call><|im_end|>',
    "no object and good": '<tool_call>\n["look"]\n</tool_call>\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
    "a list": '<tool_call>\n{"name": "look", "arguments": [1]}\n</tool_call><|im_end|>',
    "NaN": '<tool_call>\n{"name": "look", "arguments": {"n": NaN}}\n</tool_call><|im_end|>',
    "reasoning": '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {"at": "é"}}\n</tool_call><|im_end|>',
    "not closed": 'Hi.\n<tool_call>\n{"name": "look", "arguments": {"at": "x"}}',
    "not closed at the end": '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n<|im_end|>',
    "not closed at another end": '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}<|endoftext|>',
    "the last not closed": '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "look", "arguments": {"at": "y"}}\n',
    "good and bad": '<tool_call>\n{"name": "look", "arguments": {"at": }}\n</tool_call>\n'
    '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
}


@pytest.mark.parametrize(
    "said",
    [
        "<tool_call>" + "[" * 200_000 + "</tool_call>",
        '<tool_call>\n{"name": "look", "arguments": {"a": ' + "1" * 5000 + "}}\n</tool_call>",
        "Hi \ufffd <tool_call>x</tool_call> there",
        "<tool_call>x</tool_call>y" * 5_000,
    ],
    ids=["deep", "long number", "no text", "many"],
)
def test_hostile_attempts_at_calls_are_told(said: str) -> None:
    one = tokenizer((ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8"))
    one.add_tokens(["<tool_call>", "</tool_call>"])
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    read = ParlanceRenderer(one).parse_response(encode(one, said + "<|im_end|>"), tools=tools)
    assert read.tool_calls
    assert all(call.status != "ok" for call in read.tool_calls)


@pytest.mark.parametrize("name", CALLS)
def test_attempts_at_calls_are_told_as_by_hand(name: str) -> None:
    from renderers.qwen3 import Qwen3Renderer

    one = tokenizer((ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8"))
    one.add_tokens(["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"])
    one.add_special_tokens({"additional_special_tokens": ["<|endoftext|>"]})
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}]
    ids = encode(one, CALLS[name])
    ours = ParlanceRenderer(one).parse_response(ids, tools=tools)
    hand = Qwen3Renderer(one).parse_response(ids, tools=tools)
    assert (ours.content.strip(), ours.reasoning_content, len(ours.tool_calls)) == (
        hand.content,
        hand.reasoning_content,
        len(hand.tool_calls),
    )
    for mine, theirs in zip(ours.tool_calls, hand.tool_calls, strict=True):
        assert (mine.raw, mine.token_span, mine.status) == (theirs.raw, theirs.token_span, theirs.status)
        if theirs.status in ("ok", "missing_name"):
            assert (mine.name, repr(mine.arguments)) == (theirs.name, repr(theirs.arguments))
        if name.endswith("not closed") or "not closed at" in name:  # by hand nothing is left of it
            assert mine.name == "look" and set(mine.arguments) == {"at"}


@pytest.mark.parametrize("behind", [[], ["<|im_end|>"]], ids=["", "an end"])
@pytest.mark.parametrize("others", range(4))
def test_stop_tokens_that_the_template_never_writes_are_no_text(behind: list[str], others: int) -> None:
    one = tokenizer((ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8"))
    one.add_special_tokens({"additional_special_tokens": ["<|endoftext|>"]})
    one.eos_token = "<|endoftext|>"
    renderer = ParlanceRenderer(one)
    assert set(one.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])) <= set(renderer.get_stop_token_ids())
    said = [*encode(one, "<think>\nHm.\n</think>\n\nYes."), *one.convert_tokens_to_ids([*behind, *["<|endoftext|>"] * others])]
    read = renderer.parse_response(said)
    assert (read.content.strip(), read.reasoning_content.strip(), read.tool_calls) == ("Yes.", "Hm.", [])
    plain = [*encode(one, "Yes."), *one.convert_tokens_to_ids([*behind, *["<|endoftext|>"] * others])]
    prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    bridge = renderer.bridge_to_next_turn(prompt, plain, [user("And?")])
    assert bridge is not None and bridge.token_ids[: len(prompt) + len(plain)] == [*prompt, *plain]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_renderer_is_copied_with_what_it_knows(copied: Any) -> None:
    one = tokenizer(COUNTING)
    renderer = ParlanceRenderer(one, ParlanceRendererConfig(thinking_retention="all", topic="x"))
    prompt = renderer.render_ids([user("Hi")], add_generation_prompt=True)
    again = copied(renderer)
    sampled = encode(one, "Yo<|im_end|>")
    expected = renderer.bridge_to_next_turn(prompt, sampled, [user("And?")])
    made = again.bridge_to_next_turn(prompt, sampled, [user("And?")])
    assert expected is not None and made is not None and made.token_ids == expected.token_ids and again.config == renderer.config


def test_a_pickle_has_none_of_the_conversations() -> None:
    one = tokenizer(CHATML + ASKED)
    renderer = ParlanceRenderer(one, ParlanceRendererConfig(topic="x"))
    size = len(pickle.dumps(renderer))
    prompts = [renderer.render_ids([user(f"{number}" * 1000)], add_generation_prompt=True) for number in range(10)]
    assert len(pickle.dumps(renderer)) == size
    again = pickle.loads(pickle.dumps(renderer))
    sampled = encode(one, "Yo<|im_end|>")
    for prompt in prompts:  # which others stand in for
        made, expected = (each.bridge_to_next_turn(prompt, sampled, [user("And?")]) for each in (again, renderer))
        assert expected is not None and made is not None and made.token_ids == expected.token_ids and again.config == renderer.config
    counting = ParlanceRenderer(tokenizer(COUNTING))
    prompt = counting.render_ids([user("Hi")], add_generation_prompt=True)
    again = pickle.loads(pickle.dumps(counting))
    assert again.bridge_to_next_turn(prompt, sampled, [user("And?")]) is None and "not known" in str(again.refusal)


def test_a_message_that_is_changed_later_is_not_changed_in_what_is_known() -> None:
    repeating = (
        "<|im_start|>{{ m.role }}\n{% if m.role == 'user' %}{{ messages[0].content }}{{ tools }}{% endif %}{{ m.content }}<|im_end|>\n"
    )
    one = tokenizer(f"{{% for m in messages %}}{repeating}{{% endfor %}}" + ASKED)
    sampled = encode(one, "Yo<|im_end|>")
    for with_render in (False, True):
        renderer = ParlanceRenderer(one)
        first: list[Any] = [user("Hi"), {"role": "user", "content": [{"type": "text", "text": "there"}]}]
        tools: list[Any] = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
        asked: dict[str, Any] = {"tools": tools, "add_generation_prompt": True}
        prompt = renderer.render(first, **asked).token_ids if with_render else renderer.render_ids(first, **asked)
        behind: list[Any] = [user("And?")]
        bridge = renderer.bridge_to_next_turn(prompt, sampled, behind)
        assert bridge is not None, renderer.refusal
        ids, more = bridge.token_ids, [user("So?")]
        expected = renderer.bridge_to_next_turn(ids, sampled, more)
        first[0]["content"] = first[1]["content"][0]["text"] = "Other words"
        tools[0]["function"]["name"] = "other"
        behind[0]["content"] = "Or?"
        for messages in (first, tools, behind):
            messages.append(user("more"))
        bridge = renderer.bridge_to_next_turn(prompt, sampled, [user("And?")])
        assert bridge is not None and bridge.token_ids == ids, renderer.refusal
        bridge = renderer.bridge_to_next_turn(ids, sampled, more)
        assert bridge is not None and expected is not None and bridge.token_ids == expected.token_ids, renderer.refusal


def test_what_is_known_has_a_limit_in_tokens() -> None:
    kept = Conversations(100)
    for number in range(50):
        kept.add([number] * 30, [user(str(number))], [{"name": "x"}])
        kept.add([number] * 30, [user(str(number))], None)  # once more
        assert kept.get([0] * 30)[0] == (user("0"),)  # which is asked for, and stays
        assert kept.get([number] * 30) == ((user(str(number)),), None) and len(kept) == min(number + 1, 3)
    assert kept.get([47] * 30) == (None, None)
    twin = kept.copy()
    twin.add([1] * 1000, [user("long")], None)
    assert len(twin) == 1 and len(kept) == 3 and twin.get([1] * 1000)[0] == (user("long"),)
