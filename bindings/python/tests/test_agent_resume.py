"""Agents whose model is a function of whole replies, and runs that go on behind earlier ones."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from typing import Any

import parlance
import pytest
from test_agent import Sampler, agent, call, look, write


class Policy:
    """Replies what it is given, one after the other, and remembers what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[Any] = []
        self.tools: Any = None

    def __call__(self, messages: list[dict[str, Any]], tools: Any) -> Any:
        self.asked.append(messages)
        self.tools = tools
        return self.replies[len(self.asked) - 1]


def asks(name: str, arguments: Any, **members: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}} | members]}


class Dumped:
    """As a client's model of pydantic's."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    def model_dump(self) -> dict[str, Any]:
        return self.members


def test_a_function_gives_whole_replies() -> None:
    last = {"role": "assistant", "content": "Done!"}
    policy = Policy(asks("write", {"text": "a"}), "Done.", asks("look", '{"at": "it"}', id="mine"), last)
    events: list[Any] = []
    one = parlance.Agent(policy, tools=[look, write], goal="Do it", system="Be brief.", events=events.append)
    end = one.run()
    assert (end.reason, end.answer, end.turns, end.unverified) == ("done", "Done!", 4, False)
    assert [tool["function"]["name"] for tool in policy.tools] == ["look", "write"]
    assert [message["role"] for message in policy.asked[0]] == ["system", "user"]
    for before, behind in zip(policy.asked, [*policy.asked[1:], one.messages], strict=True):
        assert behind[: len(before)] == before, "the conversation only grows"
    assert [message["role"] for message in policy.asked[2]][-2:] == ["assistant", "user"], "an end without verification is sent back"
    (made,), (given,) = [message["tool_calls"] for message in one.messages if message.get("tool_calls")]
    assert given["id"] == "mine" and made["id"]
    assert [message["tool_call_id"] for message in one.messages if message["role"] == "tool"] == [made["id"], "mine"]
    assert [event["text"] for event in events if event["event"] == "reply"] == ["Done.", "Done!"]


def test_without_tools_a_function_gets_none() -> None:
    policy = Policy("Done.")
    assert parlance.Agent(policy, goal="Do it").run().reason == "done"
    assert policy.tools is None


ASKED: dict[str, Any] = {"message": {"content": None, "reasoning": "Where?"} | asks("look", '{"at": "it"}'), "finish_reason": "tool_calls"}
COMPLETION: dict[str, Any] = {"choices": [ASKED], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}


@pytest.mark.parametrize("first", [COMPLETION, Dumped(COMPLETION), {"choices": [Dumped(ASKED)], "usage": None}])
def test_what_a_client_of_openai_returns(first: Any) -> None:
    events: list[Any] = []
    parts = [{"type": "text", "text": "It is "}, {"type": "text", "text": "empty."}]
    policy = Policy(first, Dumped({"role": "assistant", "content": parts}))
    end = parlance.Agent(policy, tools=[look], goal="Do it", events=events.append).run()
    assert (end.reason, end.answer, end.turns) == ("done", "It is empty.", 2)
    assert end.sampled_tokens == (0 if isinstance(first, dict) and first["usage"] is None else 7)
    assert policy.asked[1][1]["reasoning_content"] == "Where?"


def test_a_reply_that_parlance_read_is_one() -> None:
    read = parlance.read("<think>\nHm.\n</think>\n\n" + call("look", at="it"), "terminal-agent")
    policy = Policy(read, "It is empty.")
    assert parlance.Agent(policy, tools=[look], goal="Do it").run().reason == "done"
    assert policy.asked[1][1]["tool_calls"][0]["function"]["name"] == "look"
    assert policy.asked[1][1]["reasoning_content"] == "Hm."


def test_a_limit_of_tokens_and_arguments_that_are_none() -> None:
    cut = {"choices": [{"message": asks("look", '{"at": "th'), "finish_reason": "length"}], "usage": {"completion_tokens": 3}}
    events: list[Any] = []
    policy = Policy(cut, asks("look", "[1]"), asks("look", {"at": "it"}), "Empty.")
    end = parlance.Agent(policy, tools=[look], goal="Do it", events=events.append).run()
    assert (end.reason, end.answer, end.turns) == ("done", "Empty.", 4)
    told = [event["text"] for event in events if event["event"] == "unreadable"]
    assert "cut off by a limit of tokens" in told[0] and "a JSON object as the arguments of look" in told[1]
    over = parlance.Agent(Policy(*[COMPLETION] * 3), tools=[look], goal="Do it", max_tokens=14).run()
    assert (over.reason, over.sampled_tokens) == ("tokens", 14)


def test_a_full_context_of_a_function() -> None:
    count, sizes = 0, list[int]()

    def reply(messages: list[dict[str, Any]], tools: Any) -> Any:
        nonlocal count
        count += 1
        sizes.append(len(json.dumps(messages)) // 4)
        message = asks("look", {"at": f"place {count} " + "x" * 200}) if count < 40 else {"role": "assistant", "content": "Done."}
        return {"choices": [{"message": message}], "usage": {"prompt_tokens": sizes[-1], "completion_tokens": 80}}

    events: list[Any] = []
    assert parlance.Agent(reply, tools=[look], goal="Do it", context=3000, events=events.append).run().reason == "done"
    assert [event for event in events if event["event"] == "compacted"]
    assert max(sizes) < 3000


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (None, TypeError, "a reply is a dict, a Message, a text or a message of a client's, not a NoneType"),
        ({"role": "user", "content": "Hi"}, ValueError, "an assistant's message, not one of 'user'"),
        ({"choices": []}, ValueError, "the completion has no choices"),
        ({"content": 5}, TypeError, "a text or a list of parts, not a int"),
        ({"tool_calls": {}}, None, ""),
        ({"tool_calls": {"a": 1}}, TypeError, "tool_calls is a list, not a dict"),
        ({"tool_calls": [{"function": {"arguments": {}}}]}, ValueError, "a call of the reply has no name"),
        ({"tool_calls": [5]}, TypeError, "a reply is a dict.* not a int"),
    ],
)
def test_what_is_no_reply(reply: Any, kind: Any, said: str) -> None:
    one = parlance.Agent(lambda messages, tools: reply, tools=[look], goal="Do it")
    if kind is None:
        assert one.run().reason == "gave_up"
        return
    with pytest.raises(kind, match=said):
        one.run()
    assert [message["role"] for message in one.messages] == ["user"], "what was said is kept"


def test_halves_of_characters_are_mended() -> None:
    policy = Policy(asks("look", {"at": "\ud800"}) | {"content": "a\udcff"}, "b\udcff")
    end = parlance.Agent(policy, tools=[look], goal="Do it").run()
    assert (end.reason, end.answer) == ("done", "b\ufffd")


def test_a_run_goes_on_behind_a_limit(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("write", text="a"), call("look", at="it"), call("look", at="again"), "Done.<|im_end|>")
    one = agent(chatml_tokenizer, sample, look, write, max_turns=1)
    first = one.run()
    assert (first.reason, first.turns, first.unverified) == ("turns", 1, True)
    for number in range(1, 4):
        end = one.resume()
        before = sample.asked[number - 1] + sample.sampled[number - 1]
        assert sample.asked[number][: len(before)] == before, "the sampled ids stay"
        assert end.turns == 1
    assert (end.reason, end.answer, end.unverified) == ("done", "Done.", False)
    assert len([message for message in one.messages if message["role"] == "tool"]) == 3
    ids = [made["id"] for message in one.messages for made in message.get("tool_calls", [])]
    assert len(set(ids)) == 3
    assert one.resume().turns == 0, "there is nothing left to do"
    assert one.run().turns == 1 and len(sample.asked) == 5, "a run begins anew"


def test_another_agent_goes_on(chatml_tokenizer: str) -> None:
    replies = [call("write", text="a"), call("look", at="it"), call("look", at="again"), "Done.<|im_end|>"]
    one = agent(chatml_tokenizer, Sampler(chatml_tokenizer, *replies[:2]), look, write, max_turns=2, system="Be brief.")
    end = one.run()
    kept = json.loads(json.dumps(one.messages))
    sample = Sampler(chatml_tokenizer, *replies[2:])
    other = agent(chatml_tokenizer, sample, look, write, system="It is not told twice.")
    assert other.resume(kept, unverified=end.unverified).reason == "done"
    assert other.messages[: len(kept)] == kept
    ids = [made["id"] for message in other.messages for made in message.get("tool_calls", [])]
    assert len(ids) == len(set(ids)) == 3, "a call has no other's id"
    unverified = agent(chatml_tokenizer, Sampler(chatml_tokenizer, "Done.<|im_end|>"), look, write)
    assert unverified.resume(kept[:4], unverified=True).reason == "gave_up"


def test_what_was_interrupted_is_asked_about(chatml_tokenizer: str) -> None:
    class Killed(BaseException):
        pass

    ran: list[str] = []
    kept: list[Any] = []

    def last(at: str) -> str:
        """Looks at a place.

        Args:
            at: The place.
        """
        ran.append(at)
        if len(ran) == 1:
            kept[:] = one.messages
            raise Killed
        return f"{at} is empty"

    one = agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("last", at="it")), last)
    with pytest.raises(Killed):
        one.run()
    assert len(ran) == 1, "what is no Exception ends the run at once"
    assert [message["role"] for message in kept] == ["user", "assistant"], "what a run has, within it"
    assert one.messages == kept, "of what was interrupted there is no result"

    asked: list[Any] = []

    def resolve(answer: Any) -> Any:
        return lambda name, arguments: asked.append((name, json.loads(arguments))) or answer

    for answer, times, told in (
        (None, 1, "It is not known whether this ran"), (False, 1, "It is not known whether this ran"), ("No light.", 1, "No light."),
        (True, 2, "it is empty"),
    ):  # fmt: skip
        del ran[1:], asked[:]
        sample = Sampler(chatml_tokenizer, call("look", at="it"), "Done.<|im_end|>")
        options = {} if answer is None else {"resolve": resolve(answer)}
        again = agent(chatml_tokenizer, sample, last, look, **options)
        assert again.resume(kept).reason == "done"
        assert len(ran) == times
        assert asked == ([] if answer is None else [("last", {"at": "it"})])
        assert again.messages[2]["content"].startswith(told)
    with pytest.raises(TypeError, match="resolve says True, False or a text, not a int"):
        agent(chatml_tokenizer, sample, last, look, resolve=resolve(1)).resume(kept)


def test_who_raises_keeps_what_was_said(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, call("look", at="it"), "Done.<|im_end|>")
    failures = [False, True, False]

    def fails(ids: list[int], grammar: str | None, stops: list[int]) -> Iterator[int]:
        if failures.pop(0):
            raise KeyError("mine")
        return sample(ids, grammar, stops)

    one = agent(chatml_tokenizer, fails, look)
    with pytest.raises(KeyError):
        one.run()
    assert [message["role"] for message in one.messages] == ["user", "assistant", "tool"]
    assert one.resume().reason == "done"
    assert [message["role"] for message in one.messages] == ["user", "assistant", "tool", "assistant"]


def test_messages_that_are_none(chatml_tokenizer: str) -> None:
    one = agent(chatml_tokenizer, Sampler(chatml_tokenizer, "Done.<|im_end|>"), look)
    for given in ([5], "messages", [{"role": "user", "content": {1}}]):
        with pytest.raises((parlance.Error, TypeError), match=r"messages"):
            one.resume(given)  # type: ignore[arg-type]
    assert one.resume([]).reason == "done", "without messages it begins"
    assert one.resume(types.MappingProxyType({"role": role, "content": "Hi"}) for role in ("system", "user")).reason == "done"
    assert one.messages[:2] == [{"role": "system", "content": "Hi"}, {"role": "user", "content": "Hi"}]


def test_two_runs_at_a_time(chatml_tokenizer: str) -> None:
    inner: list[Any] = []

    def reply(messages: Any, tools: Any) -> str:
        if not inner:
            inner.append(None)
            inner.append(one.run())
        return "Done."

    one = parlance.Agent(reply, goal="Do it")
    assert one.run().reason == "done"
    assert inner[1].reason == "done"
