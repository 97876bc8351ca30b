"""What a function replies in an agent's conversation, in the forms that clients of models have. Begin reading at replying()."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from parlance._core import Message

_Members = list[tuple[str, str]]
"""Name and JSON of each."""


class _Call(NamedTuple):
    id: str
    name: str
    arguments: str
    complete: bool
    """The arguments are a JSON object."""
    members: _Members


class _Reply(NamedTuple):
    content: str
    reasoning: str
    calls: list[_Call]
    members: _Members
    prompt_tokens: int | None
    sampled_tokens: int
    length: bool
    """A limit of tokens ended it."""


def replying(reply: Callable[..., Any], tools: Sequence[dict[str, Any]]) -> Callable[[Any], _Reply | None]:
    """The function, for the engine: it gets the tools as they were given. None: the messages are too many for the model.

    Raises TypeError and ValueError for what is no reply.
    """
    listed = [tool if "function" in tool else {"type": "function", "function": tool} for tool in tools]

    def call(messages: list[dict[str, Any]]) -> _Reply | None:
        try:
            given = not_awaited("the reply function", reply(messages, listed or None))
        except Exception as error:
            if getattr(error, "code", None) == "context_length_exceeded":  # as clients of OpenAI's API raise it
                return None
            raise
        return _named(_reply(given), messages)

    return call


def not_awaited(name: str, given: Any, is_used: bool = True) -> Any:
    """What a function gave. Raises TypeError where it would have to be awaited, which nobody does.

    Of what is not used only a coroutine has to be: a Task runs without.
    """
    if not (inspect.isawaitable(given) if is_used else inspect.iscoroutine(given)):
        return given
    if inspect.iscoroutine(given):
        given.close()  # or Python warns that it was never awaited
    raise TypeError(f"{name} returned a {type(given).__name__}, which the agent does not await: await it within, such as by asyncio.run()")


def utf8(text: str) -> str:
    """With U+FFFD for surrogates without a partner, such as os.listdir gives for names that are no UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _named(reply: _Reply, messages: list[dict[str, Any]]) -> _Reply:
    """With an id for each call: call_N, where the conversation has no such one."""
    if all(call.id for call in reply.calls):
        return reply
    ids = [call.get("id", "") for message in messages for call in message.get("tool_calls", [])]
    numbers = [int(one[5:]) for one in ids if one[:5] == "call_" and one[5:].isascii() and one[5:].isdigit() and len(one) < 20]
    next_number = max(numbers, default=0) + 1
    named = [call._replace(id=call.id or f"call_{next_number + number}") for number, call in enumerate(reply.calls)]
    return reply._replace(calls=named)


def _reply(given: Any) -> _Reply:
    if isinstance(given, str):
        return _Reply(utf8(given), "", [], [], None, 0, False)
    whole = _dict(given, "a reply")
    message, reason = whole, None
    usage: Mapping[str, Any] = {}
    if whole.get("error"):
        raise ValueError(f"the reply is an error: {whole['error']}")
    if "choices" in whole:
        choices = _list(whole["choices"], "choices")
        if not choices:
            raise ValueError("the completion has no choices")
        first = _dict(choices[0], "a choice")
        if first.get("message") is None:
            raise ValueError("the choice has no message: is it of a stream? Give the whole completion")
        message, usage, reason = _dict(first["message"], "the message"), whole.get("usage") or {}, first.get("finish_reason")
    if reason == "content_filter":
        raise ValueError("the reply was ended by the server's content filter")
    counts = _dict(usage, "usage")
    return _Reply(
        *_said(message), _count(counts, "prompt_tokens"), _count(counts, "completion_tokens") or 0, reason == "length"
    )  # fmt: skip


_REASONING = ("reasoning_content", "reasoning")
_OWN = ("role", "content", "tool_calls", *_REASONING)
"""Members that a message of the conversation has in its own way."""


def _said(message: Mapping[str, Any]) -> tuple[str, str, list[_Call], _Members]:
    role = message.get("role", "assistant")
    if role != "assistant":
        raise ValueError(f"a reply is an assistant's message, not one of {role!r}")
    if message.get("function_call"):
        raise ValueError("the reply has a function_call, the form before tools: give the model tools, whose calls are in tool_calls")
    # content may be null, which says nothing, as the model did
    if "content" not in message and all(message.get(name) is None for name in (*_OWN[1:], "refusal")):
        raise ValueError(f"a reply has content or tool_calls, and this has {', '.join(map(repr, message)) or 'nothing'}")
    content = _text(message.get("content")) or _text(message.get("refusal"))
    reasoning = next((_text(message[name]) for name in _REASONING if message.get(name)), "")
    calls = [_call(one) for one in _list(message.get("tool_calls") or [], "tool_calls")]
    return content, reasoning, calls, _members(message, *_OWN, "refusal")


def _members(given: Mapping[str, Any], *own: str) -> _Members:
    """What else there is. What says nothing, as clients' classes have much of it, is left out."""
    return [
        (utf8(str(name)), _json(value, f"the member {name!r}")) for name, value in given.items() if name not in own and value is not None
    ]


def _json(value: Any, what: str) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise type(error)(f"{what} of a reply is no JSON: {error}") from error


def _dict(given: Any, what: str) -> Mapping[str, Any]:
    if isinstance(given, Message):
        return given.to_dict()
    if isinstance(given, Mapping):
        return given
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        return dataclasses.asdict(given)
    dump = getattr(given, "model_dump", None)
    dumped = dump() if callable(dump) else None
    if isinstance(dumped, Mapping):
        return dumped
    forms = "a dict, a Message, a text or a message of a client's" if what == "a reply" else "a dict"
    raise TypeError(f"{what} is {forms}, not a {type(given).__name__}")


def _list(given: Any, what: str) -> Sequence[Any]:
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{what} is a list, not a {type(given).__name__}")
    return given


def _text(content: Any) -> str:
    """Of a list of parts, the texts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return utf8(content)
    if not isinstance(content, (list, tuple)):
        raise TypeError(f"the content of a reply is a text or a list of parts, not a {type(content).__name__}")
    return "".join(_text_of_part(part) for part in content)


def _text_of_part(given: Any) -> str:
    part = given if isinstance(given, str) else _dict(given, "a part of the content")
    if isinstance(part, str):
        return utf8(part)
    if part.get("type", "text") not in ("text", "output_text", "refusal"):
        raise ValueError(f"a part of the type {part['type']!r} is no text: give a message as OpenAI's chat completions have it")
    return _text(part.get("text") or part.get("refusal"))


def _call(given: Any) -> _Call:
    call = _dict(given, "a call")
    function = _dict(call.get("function") or call, "the function of a call")
    name, arguments = function.get("name"), function.get("arguments")
    if call.get("type") == "custom":
        raise ValueError("the call is of a custom tool, and tools of an agent are functions")
    if not isinstance(name, str) or not name:
        raise ValueError("a call of the reply has no name")
    if arguments is None or arguments == "":
        arguments = {}
    written = arguments if isinstance(arguments, str) else _json(arguments, f"the arguments of {name}")
    more = _members(call, "id", "type", "function", "name", "arguments")
    return _Call(utf8(str(call.get("id") or "")), utf8(name), utf8(written), _is_object(written), more)


def _is_object(text: str) -> bool:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except (ValueError, RecursionError):
        return False


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    count = usage.get(name)
    return count if isinstance(count, int) and 0 <= count < 2**62 else None
