"""How a reply that was sampled, and the messages behind it, are written so that the conversation goes on from what was sampled.

Begin reading at as_taken, which says what the reply is as a message, and extend_with_reply, which finds the form that goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from parlance._core import Message, ReplyEvent
from parlance._errors import Error


def written_text(events: Iterable[ReplyEvent]) -> str:
    """A reply as the model wrote it, without its reasoning and without the marker that ends it."""
    kept = [event for event in events if event.kind not in ("end", "trailing")]
    if any(event.kind == "reasoning" for event in kept):
        kept = list(itertools.dropwhile(lambda event: event.kind not in ("content", "call_begin"), kept))
    return "".join(event.source for event in kept)


def extend_with_reply(session: Any, reply: dict[str, Any], written: str, messages: list[Any]) -> tuple[list[int], list[Any]]:
    """Extends by a reply that was sampled and the messages behind it; gives the new ids and all that was added.

    What was sampled stays. Where the template writes the message otherwise and it cannot be read as the same one, the content is tried
    without blanks too, and then the reply as it was written, as content alone. Templates may write results by the calls before them, so
    each of these must go on as the message itself would.
    Raises the first error where none of them goes on.
    """
    content = reply.get("content")
    given = [reply, *messages]
    try:
        return session.extend(given), given
    except Error as error:
        if error.code != "history_rewritten":
            raise
    others = [{**reply, "content": text} for text in dict.fromkeys((content.lstrip(), content.strip()))] if isinstance(content, str) else []
    for other in [*others, as_written(reply, written)]:
        if other == reply:
            continue
        try:
            return session.extend([other, *messages], meant=given), [other, *messages]
        except Error:
            continue
    return session.extend(given), given  # which fails as it did, and says where


def as_written(reply: dict[str, Any], written: str) -> dict[str, Any]:
    """With the calls in the content. Reasoning stays apart, since a template may drop it."""
    return {**{key: value for key, value in reply.items() if key != "tool_calls"}, "content": written}


def as_taken(reply: dict[str, Any], read: Message, written: str, messages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """A reply that was read, and the messages behind it, as templates take them.

    Of a call that is not complete, a template would write an end that the model never sampled, or fail at arguments that are no object:
    such a reply is what the model wrote, as content.
    """
    if all(call.complete for call in read.calls):
        return paired(reply, [bool(call.id) for call in read.calls], messages)
    return as_written(reply, written), messages


def paired(reply: dict[str, Any], has_ids: Sequence[bool], messages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """The reply and the messages behind it, with ids by which templates find the call of each result.

    A result that names no call by its id takes the id that the model wrote (`has_ids`), or gives the call its own. Where neither has
    one, none is made up for a single call; several need ids to be told apart.
    """
    calls: list[Any] = reply.get("tool_calls") or []
    first = itertools.takewhile(lambda one: one.get("role") != "assistant", messages)
    results = [at for at, one in enumerate(first) if one.get("role") in ("tool", "function") or one.get("tool_call_id")]
    made, given = list(calls), list(messages)
    for at, number in _calls_of(messages, results, calls):
        id, call = messages[at].get("tool_call_id"), calls[number]
        if has_ids[number] or (not id and len(calls) > 1):
            given[at] = {**given[at], "tool_call_id": call["id"]}
        elif id != call.get("id"):
            made[number] = {name: value for name, value in {**call, "id": id}.items() if name != "id" or value}
    return ({**reply, "tool_calls": made} if calls else reply), given


def _calls_of(messages: list[Any], results: list[int], calls: list[Any]) -> list[tuple[int, int]]:
    """Each result with its call: by its id, else by its name, and without one the next that is left. None for what names another.

    Results have ids of the caller's own making where none of them is that of a call. Else one with another id is of no call here.
    """
    left = dict(enumerate(calls))
    found: dict[int, int] = {}

    def take(results: list[int], fits: Callable[[Any, Any], bool]) -> None:
        for at in results:
            number = next((number for number, call in left.items() if fits(messages[at], call)), None)
            if number is not None:
                found[at] = number
                del left[number]

    take(results, lambda result, call: bool(result.get("tool_call_id")) and result["tool_call_id"] == call.get("id"))
    others = [at for at in results if at not in found and not (found and messages[at].get("tool_call_id"))]
    take(others, lambda result, call: bool(result.get("name")) and result["name"] == call["function"]["name"])
    take([at for at in others if at not in found], lambda result, call: not result.get("name"))
    return list(found.items())
