"""Results that are added in another order than their calls: by Session, by the bridge, and what a prompt's losses say.

Begin reading at test_results_in_another_order_are_told.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import Any

import parlance
import pytest
from material import ROOT
from test_results import ASKS, CALL, OPENS, OWN, TOOLS, calls

IDS_SHOWN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.tool_call_id }}{{ m.content }}"
    + CALL
    + "{% endfor %}<|im_end|>\n{% endfor %}"
    + OPENS
)
NOTHING_SHOWN = IDS_SHOWN.replace("{{ m.tool_call_id }}", "")
CALLED = "".join(f'<tool_call>\n{{"name": "{name}", "arguments": {{"at": "it"}}}}\n</tool_call>\n' for name in ("look", "see")).strip()
NEW = {"role": "user", "content": "And?"}


@pytest.fixture(scope="module")
def tokenizer() -> parlance.Tokenizer:
    return parlance.Tokenizer.from_file(str(ROOT / "tests" / "tokenizers" / "chatml"))


def calling(template: parlance.Template, tokenizer: parlance.Tokenizer) -> tuple[parlance.Session, list[Any]]:
    """A session that has sampled two calls, and their results in order."""
    session = parlance.Session(template, tokenizer, [ASKS], tools=TOOLS)
    message = session.sampled(tokenizer.encode(CALLED + "<|im_end|>"))
    assert len(message.calls) == 2
    made = message.to_dict()["tool_calls"]
    return session, [{"role": "tool", "tool_call_id": call["id"], "content": f"RESULT{at}"} for at, call in enumerate(made)]


def told(session: parlance.Session, messages: list[Any]) -> list[str]:
    """What extend() warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.extend(messages)
    assert all(one.category is UserWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_results_in_another_order_are_told(tokenizer: parlance.Tokenizer) -> None:
    template = parlance.Template.builtin("terminal-agent")
    for order in itertools.permutations(range(2)):
        session, results = calling(template, tokenizer)
        said = told(session, [results[number] for number in order])
        assert len(said) == (order != (0, 1))
        for one in said:
            assert one.startswith("messages[2]: stands in front of messages[3], the result of an earlier call")
            assert one.endswith('or passes=["order-results"], where the template is opened, does it')
        assert told(session, [{"role": "assistant", "content": "So."}, NEW]) == [], "once"


@pytest.mark.parametrize("name", ["ids", "by name"])
def test_a_prompt_that_shows_the_calls_is_not_told(name: str, tokenizer: parlance.Tokenizer) -> None:
    session, results = calling(parlance.Template.from_string({**OWN, "ids": IDS_SHOWN}[name]), tokenizer)
    assert told(session, results[::-1]) == []


def test_results_that_come_one_by_one(tokenizer: parlance.Tokenizer) -> None:
    session, results = calling(parlance.Template.from_string(NOTHING_SHOWN), tokenizer)
    assert told(session, [results[1]]) == []
    assert len(told(session, [results[0]])) == 1
    assert told(session, [NEW]) == []


def test_a_warning_that_is_an_exception_changes_nothing(tokenizer: parlance.Tokenizer) -> None:
    template = parlance.Template.builtin("terminal-agent")
    session, results = calling(template, tokenizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="stands in front of"):
            session.extend(results[::-1])
    assert session.to_dict()["steps"][-1]["messages"][1:] == results[::-1]


def test_the_pass_orders_what_is_added(tokenizer: parlance.Tokenizer) -> None:
    template = parlance.Template.builtin("terminal-agent", passes=["order-results"])
    ids = []
    for order in itertools.permutations(range(2)):
        session, results = calling(template, tokenizer)
        assert told(session, [results[number] for number in order]) == []
        ids.append(session.prompt_ids())
        assert parlance.Session.from_dict(session.to_dict(), template, tokenizer).prompt_ids() == ids[-1]
    assert ids[0] == ids[1]


def test_losses_have_the_words_of_python() -> None:
    messages = [ASKS, {"role": "assistant", "content": "", "tool_calls": calls(2)}]
    messages += [{"role": "tool", "tool_call_id": f"abcdefgh{number}", "content": f"RESULT{number}"} for number in (1, 0)]
    losses = [one for one in parlance.Template.builtin("terminal-agent").render(messages).losses() if one.subject == "order"]
    assert [(one.kind, one.path) for one in losses] == [("lost", "messages[2]")]
    assert 'passes=["order-results"]' in losses[0].hint and "--" not in losses[0].hint and losses[0].hint in str(losses[0])
    ordered = parlance.Template.builtin("terminal-agent", passes=["order-results"]).render(messages)
    assert [one for one in ordered.losses() if one.subject == "order"] == []
    assert ordered.text == parlance.Template.builtin("terminal-agent").render([*messages[:2], *messages[:1:-1]]).text
    assert "messages[2]: moved, in the order of the calls (order-results)" in ordered.notes


def test_a_bridge_tells_it_too(chatml_tokenizer: str) -> None:
    sys.path[1:1] = [str(one) for one in sorted((ROOT / "build" / "python").glob("renderers-*"))]
    transformers: Any = pytest.importorskip("transformers")
    pytest.importorskip("renderers")
    from parlance.renderers import ParlanceRenderer, ParlanceRendererConfig

    source = (ROOT / "formats" / "terminal-agent.jinja").read_text("utf-8")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json", chat_template=source)
    renderer = ParlanceRenderer(made, ParlanceRendererConfig())
    ids = renderer.render_ids([ASKS], tools=TOOLS, add_generation_prompt=True)
    said = made.encode(CALLED + "<|im_end|>", add_special_tokens=False)
    results = [{"role": "tool", "name": name, "content": name.upper()} for name in ("look", "see")]
    for order in (1, -1):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert renderer.bridge_to_next_turn(ids, said, results[::order], tools=TOOLS) is not None, renderer.refusal
        found = [str(one.message) for one in caught if one.category is UserWarning]
        assert [one.partition(",")[0] for one in found] == ["new_messages[0]: stands in front of new_messages[1]"] * (order < 0)
