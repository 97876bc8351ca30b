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


@pytest.mark.parametrize(
    "silent",
    [
        {"role": "assistant", "content": None},
        Dumped({"role": "assistant", "content": None, "refusal": None, "tool_calls": None}),
        {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]},
    ],
)
def test_a_reply_without_a_word_is_sent_back(silent: Any) -> None:
    policy = Policy(silent, "Done.")
    assert parlance.Agent(policy, tools=[look], goal="Do it").run().reason == "done"
    assert "neither a call nor an answer" in policy.asked[1][-1]["content"]
    cut = {"choices": [{"message": {"role": "assistant", "content": None, "reasoning": "Hm"}, "finish_reason": "length"}]}
    policy = Policy(cut, "Done.")
    assert parlance.Agent(policy, tools=[look], goal="Do it").run().reason == "done"
    assert "cut off by a limit of tokens" in policy.asked[1][-1]["content"]


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
        ({"choices": 5}, TypeError, "choices is a list, not a int"),
        ({"choices": [{"delta": {"content": "Hi"}}]}, ValueError, "the choice has no message: is it of a stream"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, ValueError, "content filter"),
        ({"content": 5}, TypeError, "a text or a list of parts, not a int"),
        ({"content": [5]}, TypeError, "a part of the content is a dict, not a int"),
        ({"content": [{"type": "tool_use", "name": "look"}]}, ValueError, "a part of the type 'tool_use' is no text"),
        ({}, ValueError, "a reply has content or tool_calls, and this has nothing"),
        ({"message": {"content": "Hi"}}, ValueError, "and this has 'message'"),
        ({"error": {"message": "no such model"}}, ValueError, "the reply is an error: .*no such model"),
        ({"content": None, "function_call": {"name": "look"}}, ValueError, "function_call, the form before tools"),
        ({"tool_calls": {"a": 1}}, TypeError, "tool_calls is a list, not a dict"),
        ({"tool_calls": [{"function": {"arguments": {}}}]}, ValueError, "a call of the reply has no name"),
        ({"tool_calls": [{"type": "custom", "custom": {"name": "look"}}]}, ValueError, "of a custom tool"),
        ({"tool_calls": [5]}, TypeError, "a call is a dict, not a int"),
        (asks("look", {"at": {1}}), TypeError, "the arguments of look of a reply is no JSON"),
    ],
)
def test_what_is_no_reply(reply: Any, kind: Any, said: str) -> None:
    one = parlance.Agent(lambda messages, tools: reply, tools=[look], goal="Do it")
    with pytest.raises(kind, match=said):
        one.run()
    assert [message["role"] for message in one.messages] == ["user"], "what was said is kept"


def test_messages_are_as_the_api_wants_them_and_as_it_gave_them() -> None:
    written = '{ "at" : "\\ud800" }'
    asked = asks("look", written, id="mine", extra_content={"google": {"thought_signature": "abc"}}) | {
        "reasoning_details": [{"type": "x"}]
    }
    policy = Policy(asked, {"content": None, "refusal": "I will not."})
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}
    one = parlance.Agent(policy, tools=[(tool, look), write], goal="Do it")
    assert one.run().answer == "I will not."
    assert policy.tools[0] is tool
    for messages in (policy.asked[1], one.messages):
        (call,) = messages[1]["tool_calls"]
        assert call["function"] == {"name": "look", "arguments": written}
        assert call["extra_content"] == {"google": {"thought_signature": "abc"}}
        assert messages[1]["reasoning_details"] == [{"type": "x"}]
        json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    again = Policy("So.")
    parlance.Agent(again, tools=[look], goal="Do it").resume([*one.messages, {"role": "user", "content": "And?"}])
    assert again.asked[0][: len(one.messages)] == one.messages, "they stay as they were"


@pytest.mark.parametrize("written", ['{"at": NaN}', '{"at": Infinity}', '{"at": "th', "[1]"])
def test_arguments_that_are_no_object_are_unreadable(written: str) -> None:
    events: list[Any] = []
    policy = Policy(asks("look", written), "Done.")
    assert parlance.Agent(policy, tools=[look], goal="Do it", events=events.append).run().reason == "done"
    assert [event["event"] for event in events].count("unreadable") == 1
    if "N" in written or "I" in written:
        return  # which parlance reads, as Python does
    resumed = Policy("Done.")
    one = parlance.Agent(resumed, tools=[look], goal="Do it")
    assert one.resume([{"role": "user", "content": "g"}, asks("look", written, id="a")]).reason == "done"
    assert "could not be read" in resumed.asked[0][-1]["content"] and "tool_calls" not in resumed.asked[0][1]


def test_a_context_without_usage_and_one_that_the_server_knows() -> None:
    class TooLong(Exception):
        code = "context_length_exceeded"

    for context in (3000, None):
        sizes: list[int] = []

        def reply(messages: list[dict[str, Any]], tools: Any, context: Any = context, sizes: list[int] = sizes) -> Any:
            size = len(json.dumps(messages)) // 4
            assert size < 4500
            if size > 3000 and context is None:
                raise TooLong
            sizes.append(size)
            return asks("look", {"at": f"place {len(sizes)} " + "x" * 200}) if len(sizes) < 60 else "Done."

        events: list[Any] = []
        assert parlance.Agent(reply, tools=[look], goal="Do it", context=context, events=events.append).run().reason == "done"
        assert [event for event in events if event["event"] == "compacted"]
        assert "left out" in json.dumps([event.get("text") for event in events])


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


USER = {"role": "user", "content": "g"}


def test_what_raises_leaves_what_is_unverified() -> None:
    def reply(messages: Any, tools: Any) -> Any:
        given = replies.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    replies: list[Any] = [asks("write", {"text": "a"}), ConnectionError(), "Done.", asks("look", {"at": "it"}), "Done."]
    one = parlance.Agent(reply, tools=[look, write], goal="Do it")
    with pytest.raises(ConnectionError):
        one.run()
    assert one.resume().turns == 3, "the first end is sent back"
    assert replies == []


def test_several_open_calls(chatml_tokenizer: str) -> None:
    ran: list[str] = []

    def bad(at: str) -> str:
        """Looks.

        Args:
            at: The place.
        """
        ran.append(at)
        if at == "x" and len(ran) == 1:
            raise KeyboardInterrupt
        return f"{at} is real"

    def opened_calls(*ids: Any) -> list[Any]:
        calls = [asks("bad", {"at": at}, **({"id": one} if one else {}))["tool_calls"][0] for at, one in zip("xyz", ids, strict=False)]
        return [USER, {"role": "assistant", "content": "", "tool_calls": calls}]

    def results(messages: list[Any]) -> list[Any]:
        return [message["content"].split(".")[0] for message in messages if message["role"] == "tool"]

    one = parlance.Agent(Policy("Done."), tools=[bad], goal="Do it", resolve=lambda *_: True, verify=False)
    with pytest.raises(KeyboardInterrupt):
        one.resume(opened_calls("a", "b"))
    assert ran == ["x"] and results(one.messages) == [], "nothing runs behind it, and both stay open"
    assert one.resume().reason == "done"
    assert ran == ["x", "x", "y"] and results(one.messages) == ["x is real", "y is real"]

    for ids in ((None, None), ("a", "a")):
        ran[:] = ["x"]
        one = parlance.Agent(Policy("Done."), tools=[bad], goal="Do it", resolve=lambda *_: True, verify=False)
        assert one.resume(opened_calls(*ids)).reason == "done"
        assert ran == ["x", "x", "y"], "calls without ids of their own are told apart by their place"
    ran[:] = ["x"]
    given = [*opened_calls(None, None), {"role": "tool", "content": "x is known"}, {"role": "user", "content": "Go on"}]
    policy = Policy("Done.")
    parlance.Agent(policy, tools=[bad], goal="Do it", resolve=lambda *_: True, verify=False).resume(given)
    assert ran == ["x", "y"]
    assert [message["role"] for message in policy.asked[0]] == ["user", "assistant", "tool", "tool", "user"]

    earlier = [USER, asks("bad", {"at": "w"}, id="c1"), {"role": "tool", "content": "w", "tool_call_id": "c1"}, *opened_calls("c1")[1:]]
    policy = Policy("Done.")
    parlance.Agent(policy, tools=[bad], goal="Do it", verify=False).resume(earlier)
    assert policy.asked[0][-1]["content"].startswith("It is not known"), "an earlier result is not this one's"

    ran[:] = []
    stops = iter([False, True])
    end = parlance.Agent(Policy("Done."), tools=[bad], goal="Do it", resolve=lambda *_: True, stopped=lambda: next(stops)).resume(
        [USER, asks("bad", {"at": "y"}, id="a") | {"tool_calls": opened_calls(*"abc")[1]["tool_calls"][1:]}]
    )
    assert end.reason == "stopped" and ran == ["y"], "the run ends between two calls"


@pytest.mark.parametrize("hook", ["approve", "resolve", "events"])
@pytest.mark.parametrize("given", [KeyboardInterrupt, KeyError, None])
def test_who_is_asked_and_raises_leaves_the_call_open(hook: str, given: Any) -> None:
    ran: list[str] = []

    def see(at: str) -> str:
        """Looks.

        Args:
            at: The place.
        """
        ran.append(at)
        return "seen"

    open_call = [USER, asks("see", {"at": "it"}, id="a")]
    if hook == "events" and not isinstance(given, type):
        return  # what events returns nobody looks at
    first = [True]

    def once(*of: Any) -> Any:
        if hook == "events" and of[0]["event"] != "call":
            return None
        if not first:
            return True
        first.clear()
        if isinstance(given, type):
            raise given
        return given

    one = parlance.Agent(Policy("Done."), tools=[see], goal="Do it", verify=False, **{"resolve": lambda *_: True, hook: once})
    with pytest.raises(given if isinstance(given, type) else TypeError):
        one.resume(open_call)
    assert ran == [] and [message["role"] for message in one.messages] == ["user", "assistant"]
    assert one.resume().reason == "done"
    assert ran == ["it"], "it is asked about again"


def test_what_one_raised_is_nobody_elses() -> None:
    seen: list[str] = []

    def uses(at: str) -> str:
        """Renders.

        Args:
            at: The place.
        """
        try:
            parlance.Template.from_string("{{ 1 // 0 }}").render([USER])
        except Exception as error:
            seen.append(type(error).__name__)
        inner = parlance.Agent(Policy(asks("uses", {"at": "x"}), "Inner."), tools=[look], goal="Do it")
        seen.append(inner.run().answer)
        return "used"

    def events(event: dict[str, Any]) -> None:
        if event["event"] == "outcome":
            raise RuntimeError("mine")

    one = parlance.Agent(Policy(asks("uses", {"at": "x"})), tools=[uses], goal="Do it", events=events)
    with pytest.raises(RuntimeError, match="mine"):
        one.run()
    assert seen[1] == "Inner." and seen[0] != "RuntimeError"
    assert parlance.Template.builtin("chatml").render([USER]).text, "nothing is left behind"


def test_a_call_that_had_not_begun_just_runs() -> None:
    ran: list[str] = []

    def step(at: str) -> str:
        """Does it.

        Args:
            at: The place.
        """
        ran.append(at)
        return at

    both = {"tool_calls": [asks("step", {"at": at}, id=at)["tool_calls"][0] for at in "xy"]}
    one = parlance.Agent(Policy(both, "Done."), tools=[step], goal="Do it", stopped=lambda: len(ran) == 1)
    assert one.run().reason == "stopped"
    ran.append("more")
    assert one.resume().reason == "done"
    assert ran == ["x", "more", "y"]
    assert [message["content"] for message in one.messages if message["role"] == "tool"] == ["x", "y"]


def test_ids_do_not_repeat_behind_a_compaction(chatml_tokenizer: str) -> None:
    sample = Sampler(chatml_tokenizer, *(call("look", at=f"place {number} " + "x" * 300) for number in range(30)), "Done.<|im_end|>")
    one = agent(chatml_tokenizer, sample, look, context=4000)
    assert one.run().reason == "done"

    def ids_of(messages: list[Any]) -> list[str]:
        return [made["id"] for message in messages for made in message.get("tool_calls", [])]

    kept = ids_of(one.messages)
    assert 0 < len(kept) < 20
    go_on = [*one.messages, {"role": "user", "content": "Go on"}]
    more = agent(chatml_tokenizer, Sampler(chatml_tokenizer, call("look", at="a"), call("look", at="b"), "Done.<|im_end|>"), look)
    more.resume(go_on)
    by_function = parlance.Agent(Policy(asks("look", {"at": "a"}), asks("look", {"at": "b"}), "Done."), tools=[look], goal="Do it")
    by_function.resume(go_on)
    for ids in (ids_of(more.messages), ids_of(by_function.messages)):
        assert len(ids) == len(set(ids)) == len(kept) + 2


def test_content_in_parts_is_weighed_and_noted() -> None:
    parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "cat.png"}}]
    history: list[Any] = [{"role": "user", "content": parts}]
    for number in range(20):
        history += [
            asks("look", {"at": "it"}, id=f"c{number}"),
            {"role": "tool", "tool_call_id": f"c{number}", "content": [{"type": "text", "text": "x" * 600}]},
        ]
    events: list[Any] = []
    policy = Policy("Done.")
    one = parlance.Agent(policy, tools=[look], goal="Do it", context=1500, events=events.append)
    assert one.resume(history).reason == "done"
    assert [event for event in events if event["event"] == "compacted"]
    first = policy.asked[0][0]["content"]
    assert first[:2] == parts and "turns were left out" in first[2]["text"]
    ended = [USER, {"role": "assistant", "content": [{"type": "text", "text": "Do"}, {"type": "text", "text": "ne."}]}]
    assert one.resume(ended) == parlance.AgentEnd("done", "it is done", "Done.", 0, 0)


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
    one.run()
    kept = one.messages
    for given in ([5], "messages", [{"role": "user", "content": {1}}]):
        with pytest.raises((parlance.Error, TypeError), match=r"messages"):
            one.resume(given)  # type: ignore[arg-type]
    assert one.messages == kept != [], "what is refused changes nothing"
    assert one.resume().turns == 0
    assert one.resume([]).reason == "done", "without messages it begins"
    assert one.resume(types.MappingProxyType({"role": role, "content": "Hi"}) for role in ("system", "user")).reason == "done"
    assert one.messages[:2] == [{"role": "system", "content": "Hi"}, {"role": "user", "content": "Hi"}]


def test_two_runs_at_a_time(chatml_tokenizer: str) -> None:
    inner: list[Any] = []

    def reply(messages: Any, tools: Any) -> str:
        if not inner:
            inner.append(None)
            inner.append(one.resume([{"role": "user", "content": "Within"}, {"role": "user", "content": "it"}]))
        return "Done."

    def watched(event: dict[str, Any]) -> None:
        if event["event"] == "replied":
            seen.append([message["content"] for message in one.messages])

    seen: list[Any] = []
    one = parlance.Agent(reply, goal="Do it", events=watched)
    assert one.run().reason == "done"
    assert inner[1].reason == "done"
    assert seen == [["Within", "it"], ["Do it"]], "each run sees its own"


def test_what_events_raise_ends_a_reply_at_once(chatml_tokenizer: str) -> None:
    drawn: list[int] = []
    sample = Sampler(chatml_tokenizer, "It is " + "a" * 500 + "<|im_end|>")

    def counted(*asked: Any) -> Iterator[int]:
        for token in sample(*asked):
            drawn.append(token)
            yield token

    for kind in ("turn", "reply"):

        def watch(event: dict[str, Any], kind: str = kind) -> None:
            if event["event"] == kind:
                raise KeyError("closed")

        drawn.clear()
        one = agent(chatml_tokenizer, counted, look, events=watch)
        with pytest.raises(KeyError):
            one.run()
        assert len(drawn) < 20
        assert [message["role"] for message in one.messages] == ["user"]
        policy = Policy("Done.")
        with pytest.raises(KeyError):
            parlance.Agent(policy, goal="Do it", events=watch).run()
        assert len(policy.asked) == (kind == "reply"), "who raised before it was asked pays for nothing"


def test_odd_calls_of_histories() -> None:
    def of(*arguments: Any) -> dict[str, Any]:
        calls = [{"id": f"{number}", "function": {"name": "look", "arguments": one}} for number, one in enumerate(arguments)]
        return {"role": "assistant", "content": "", "tool_calls": calls}

    def resumed(*messages: Any) -> list[Any]:
        policy = Policy("Done.")
        parlance.Agent(policy, tools=[look], goal="Do it", verify=False).resume([USER, *messages])
        return list(policy.asked[0])

    result, more = {"role": "tool", "tool_call_id": "0", "content": "r"}, {"role": "user", "content": "more"}
    asked = resumed(of("{}", "{"), result)
    assert [call["id"] for call in asked[1]["tool_calls"]] == ["0"], "a call that nobody can answer is gone"
    assert "tool_calls" not in resumed(of("{"), more)[1]
    for empty in ("", None):
        asked = resumed(of(empty), more)
        assert asked[1]["tool_calls"][0]["function"]["arguments"] == "{}"
        assert [message["role"] for message in asked] == ["user", "assistant", "tool", "user"]
    counted = of("{}", "{}")
    counted["tool_calls"][0]["id"], counted["tool_calls"][1]["id"] = 1, 2
    asked = resumed(counted, result | {"tool_call_id": 1})
    assert [call["id"] for call in asked[1]["tool_calls"]] == ["1", "2"]
    assert [message["tool_call_id"] for message in asked[2:]] == ["1", "2"]


@pytest.mark.parametrize(
    ("message", "path"), [({"content": "x"}, "messages[1]"), ({"role": 5}, "messages[1].role"), ({"role": ""}, "messages[1].role")]
)
def test_a_message_without_a_role_is_refused(message: dict[str, Any], path: str) -> None:
    one = parlance.Agent(Policy("Done."), goal="Do it", verify=False)
    with pytest.raises(ValueError, match="a message has a role") as raised:
        one.resume([{"role": "user", "content": "x"}, message])
    assert raised.value.path == path  # type: ignore[attr-defined]
    assert one.run().reason == "done"


def test_odd_texts_and_depths(chatml_tokenizer: str) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("none")

    def mute(at: str) -> str:
        """Fails.

        Args:
            at: The place.
        """
        raise Mute

    deep: Any = json.loads("[" * 500 + "]" * 500)
    policy = Policy(asks("mute", {"at": "x"}) | {"deep": deep, 3: 1, "\ud800": 2}, asks("look", {"at": "x"}), "Done.")
    one = parlance.Agent(policy, tools=[mute, look], goal="Do it", approve=lambda name, _: name == "mute" or "no \udcff")
    assert one.run().reason == "done"
    told = [message["content"] for message in one.messages if message["role"] == "tool"]
    assert told[0] == "Mute" and told[1].startswith("This was not allowed: no ")
    assert one.messages[1]["deep"] == deep and one.messages[1]["3"] == 1
