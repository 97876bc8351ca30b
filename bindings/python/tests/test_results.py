"""What templates write behind a reply with calls: by Session, by the bridge and by an agent.

The law: the new text is the end of a render of the whole conversation, with the results in it, or it is refused. Begin reading at
test_new_text_is_the_end_of_the_whole.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import parlance
import pytest
from material import CORPUS, ROOT, SHARE

TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": "d", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
    }
    for name in ("look", "see")
]
IDS = ["abcdefgh0", "abcdefgh1"]
ASKS = {"role": "user", "content": "Hi"}
CALL = "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function | tojson }}\n</tool_call>"
OPENS = "{% if add_generation_prompt and messages[-1].role != 'tool' %}<|im_start|>assistant\n{% endif %}"
OWN = {
    # Writes results within the turn of the calls that they answer, and the content behind both.
    "within": "{% for m in messages %}{% if m.role != 'tool' %}<|im_start|>{{ m.role }}\n{% set at = loop.index0 %}"
    + CALL
    + "{% endfor %}{% if m.tool_calls %}{% for r in messages[at + 1:] if r.role == 'tool' %}<tool_response>"
    "{% set found = namespace(name='unknown') %}{% for c in m.tool_calls if c.id == r.tool_call_id %}"
    "{% set found.name = c.function.name %}{% endfor %}{{ found.name }}={{ r.content }}</tool_response>{% endfor %}{% endif %}"
    "{{ m.content }}{% if not (m.tool_calls and messages[-1].role == 'tool') %}<|im_end|>\n{% endif %}{% endif %}{% endfor %}" + OPENS,
    # Looks a result's name up among the calls.
    "by name": "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'tool' %}{% set id = m.tool_call_id %}"
    "{% for a in messages %}{% for c in a.tool_calls or [] if c.id == id %}{{ c.function.name }}{% endfor %}{% endfor %}={% endif %}"
    "{{ m.content | trim }}"
    + CALL
    + "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
}
FILES = sorted((CORPUS / "templates").glob("*.jinja"))
WITHIN = [file for file in FILES if "gemma" in file.name or "Solar" in file.name]
TEMPLATES = {**OWN, **{file.name: file for file in [*FILES[::SHARE], *WITHIN]}}


def template_of(name: str) -> parlance.Template:
    source = TEMPLATES[name]
    try:
        return parlance.Template.from_string(source) if isinstance(source, str) else parlance.Template.from_file(str(source))
    except parlance.Error:
        pytest.skip("no template")


@pytest.fixture(scope="module")
def tokenizer() -> parlance.Tokenizer:
    return parlance.Tokenizer.from_file(str(ROOT / "tests" / "tokenizers" / "chatml"))


def calls(count: int) -> list[Any]:
    made = []
    for number in range(count):
        function = {"name": ("look", "see")[number], "arguments": {"at": "it"}}
        made.append({"type": "function", "id": f"abcdefgh{number}", "function": function})
    return made


def results(ids: list[str | None]) -> list[Any]:
    return [{"role": "tool", "content": f"RESULT{at}", **({"tool_call_id": id} if id else {})} for at, id in enumerate(ids)]


def common_begin(one: str, other: str) -> str:
    """What both begin with, up to a mark that they may differ in."""
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:size].rstrip("<")


def sampled_replies(template: parlance.Template) -> Iterator[tuple[int, str]]:
    """The number of calls, and replies with as many as the template writes them, with text before them and behind."""
    for count in (1, 2):
        for reasoning in (None, "Hm."):
            reply = {"role": "assistant", "content": "", "tool_calls": calls(count)}
            if reasoning:
                reply["reasoning_content"] = reasoning
            try:
                before = template.render([ASKS], tools=TOOLS).text
                said = template.render([ASKS, {**reply, "content": "Wait."}], tools=TOOLS, add_generation_prompt=False).text
                bare = template.render([ASKS, reply], tools=TOOLS, add_generation_prompt=False).text
                whole = template.render([ASKS, reply, *results(IDS[:count])], tools=TOOLS).text
            except parlance.Error:
                continue
            for text in (said, bare, common_begin(bare, whole)):  # results may come within the turn
                if text.startswith(before):
                    made = text[len(before) :]
                    yield from ((count, one) for one in (made, "Wait." + made, made + "Wait.", "\n" + made, made.replace("\n", "\n\n")))


@pytest.mark.parametrize("ids", ["own", "foreign", "none"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_new_text_is_the_end_of_the_whole(name: str, ids: str, tokenizer: parlance.Tokenizer) -> None:
    template, goes_on = template_of(name), 0
    for count, sampled in sampled_replies(template):
        session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
        message = session.sampled(tokenizer.encode(sampled))
        made = [call.get("id") for call in message.to_dict().get("tool_calls", [])]
        if len(made) != count:
            continue
        new = results({"own": made, "foreign": ["zzzzzzzz1", "zzzzzzzz2"][:count], "none": [None] * count}[ids])
        before = session.prompt_ids()
        try:
            text = tokenizer.decode(session.extend(new, advise=False)).decode()
        except parlance.Error as error:  # the template may want ids too
            assert error.code in ("history_rewritten", "undefined", "raised") or ids == "none", error.code
            assert session.prompt_ids() == before
            continue
        # the reply with its calls, with the ids of the results as they were added
        added = session.to_dict()["steps"][-1]["messages"][1:]
        reply = message.to_dict()
        for call, one, read in zip(reply["tool_calls"], added, message.calls, strict=True):
            call["id"] = one.get("tool_call_id")
            assert not read.id or read.id == call["id"]
            assert ids != "foreign" or read.id or call["id"] == f"zzzzzzzz{added.index(one) + 1}"
            if call["id"] is None:
                del call["id"]
        whole = template.render([ASKS, reply, *added], tools=TOOLS).text
        assert whole.endswith(text), (sampled, text)
        assert all(one["content"] in text for one in new) or "RESULT0" not in whole
        assert "unknown" not in text
        goes_on += 1
    assert goes_on or name not in OWN


def test_results_without_ids_are_of_the_calls_in_their_order(tokenizer: parlance.Tokenizer) -> None:
    one = '<tool_call>\n{"name": "%s", "arguments": {"at": "it"}}\n</tool_call>'
    for count in (1, 2):
        for given in ([None, None], ["x", "y"]):
            session = parlance.Session(template_of("within"), tokenizer, [ASKS], tools=TOOLS)
            session.sampled(tokenizer.encode("".join(one % name for name in ("look", "see")[:count])))
            text = tokenizer.decode(session.extend(results(given[:count]))).decode()
            expected = "".join(f"<tool_response>{name}=RESULT{at}</tool_response>" for at, name in enumerate(("look", "see")[:count]))
            assert text == expected
            assert ("id" in session.to_dict()["steps"][-1]["messages"][0]["tool_calls"][0]) == (count == 2 or given[0] is not None)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_bridge_keeps_the_law(name: str, chatml_tokenizer: str) -> None:
    sys.path[1:1] = [str(one) for one in sorted((ROOT / "build" / "python").glob("renderers-*"))]
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("renderers")
    from parlance.renderers import ParlanceRenderer

    template = template_of(name)
    loaded = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json", eos_token="<|im_end|>")
    source = TEMPLATES[name]
    loaded.chat_template = source.read_bytes().decode() if isinstance(source, pathlib.Path) else source
    for count, sampled in sampled_replies(template):
        renderer = ParlanceRenderer(loaded)
        prompt = renderer.render_ids([ASKS], tools=TOOLS, add_generation_prompt=True)
        ids = loaded.encode(sampled, add_special_tokens=False)
        new = results([None] * count)
        bridge = renderer.bridge_to_next_turn(prompt, ids, new, tools=TOOLS)
        if bridge is None:
            assert renderer.refusal
            continue
        text = loaded.decode(bridge.token_ids[len(prompt) + len(ids) :])
        reply = {"role": "assistant", "content": "", "tool_calls": calls(count)}
        if "RESULT0" in template.render([ASKS, reply, *results(IDS[:count])], tools=TOOLS).text:
            assert all(one["content"] in text for one in new), (sampled, text)
        assert "unknown" not in text


def look(at: str) -> str:
    """Looks.

    Args:
        at: The place.
    """
    return f"RESULT of {at}"


@pytest.mark.parametrize("name", [*OWN, *(file.name for file in WITHIN)])
def test_an_agent_sees_its_results(name: str, tokenizer: parlance.Tokenizer) -> None:
    template = template_of(name)
    for _, sampled in (one for one in sampled_replies(template) if one[0] == 1):
        asked: list[list[int]] = []

        def sample(ids: list[int], grammar: str | None, stop: list[int], asked: Any = asked, sampled: str = sampled) -> list[int]:
            asked.append(ids)
            return tokenizer.encode(sampled if len(asked) == 1 else "Done.")

        assert parlance.Agent(template, tokenizer, sample, [look], goal="Look.", max_turns=2).run().turns <= 2
        if len(asked) > 1 and "look" in sampled:
            assert "RESULT of it" in tokenizer.decode(asked[1]).decode(), sampled
