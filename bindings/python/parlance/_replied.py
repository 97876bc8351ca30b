"""What a function replies in an agent's conversation, in the forms that clients of models have."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from parlance._core import Message

_Reply = tuple[str, str, list[tuple[str, str, str, bool]], int, int, bool]
"""Content, reasoning, calls (id, name, arguments, whether these are a JSON object), tokens of the prompt and of the reply, and whether a
limit of tokens ended it."""


def replying(reply: Callable[..., Any]) -> Callable[[Any, Any], _Reply]:
    """The function, for the engine. Raises TypeError and ValueError for what is no reply."""

    def call(messages: Any, tools: Any) -> _Reply:
        return _reply(reply(messages, tools))

    return call


def utf8(text: str) -> str:
    """With U+FFFD for surrogates without a partner, such as os.listdir gives for names that are no UTF-8."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _reply(given: Any) -> _Reply:
    if isinstance(given, str):
        return utf8(given), "", [], 0, 0, False
    whole = _dict(given)
    message, reason = whole, None
    usage: Mapping[str, Any] = {}
    if "choices" in whole:
        choices = whole["choices"]
        if not isinstance(choices, (list, tuple)) or not choices:
            raise ValueError("the completion has no choices")
        first = _dict(choices[0])
        message, usage, reason = _dict(first.get("message")), whole.get("usage") or {}, first.get("finish_reason")
    role = message.get("role", "assistant")
    if role != "assistant":
        raise ValueError(f"a reply is an assistant's message, not one of {role!r}")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, (list, tuple)):
        raise TypeError(f"tool_calls is a list, not a {type(calls).__name__}")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    return (
        _text(message.get("content")), _text(reasoning), [_call(one) for one in calls], _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"), reason == "length",
    )  # fmt: skip


def _dict(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Message):
        return given.to_dict()
    if isinstance(given, Mapping):
        return given
    dump = getattr(given, "model_dump", None)
    dumped = dump() if callable(dump) else None
    if isinstance(dumped, Mapping):
        return dumped
    raise TypeError(f"a reply is a dict, a Message, a text or a message of a client's, not a {type(given).__name__}")


def _text(content: Any) -> str:
    """Of a list of parts, the texts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return utf8(content)
    if isinstance(content, (list, tuple)):
        return "".join(_text(_dict(part).get("text")) for part in content)
    raise TypeError(f"the content of a reply is a text or a list of parts, not a {type(content).__name__}")


def _call(given: Any) -> tuple[str, str, str, bool]:
    call = _dict(given)
    function = _dict(call.get("function", call))
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        raise ValueError("a call of the reply has no name")
    if arguments is None or arguments == "":
        arguments = {}
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return utf8(call.get("id") or ""), utf8(name), utf8(written), _is_object(written)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _count(usage: Any, name: str) -> int:
    count = _dict(usage).get(name)
    return count if isinstance(count, int) and count >= 0 else 0
