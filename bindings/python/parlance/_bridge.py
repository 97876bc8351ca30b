"""Bridges from ids to the next turn: what the template writes behind a reply, with the conversation or with others in its place.

Begin reading at go_on, which knows the conversation, then at stand_in, which does not.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import json
from collections.abc import Iterator, Sequence, Set
from typing import Any, Protocol

from parlance._core import Message, ReplyEvent
from parlance._errors import Error
from parlance._taken import as_taken, extend_with_reply, written_text
from parlance._transformers import REASONING

TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}}]
_CALL = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {}}}
ASKS: dict[str, Any] = {"role": "user", "content": "Three?"}
PLAIN = {"role": "assistant", "content": "One."}
_ANSWER = {**PLAIN, "reasoning_content": "Two."}
_CALLS = [
    {"role": "assistant", "content": "", "reasoning_content": "Two.", "tool_calls": [_CALL]},
    {"role": "tool", "content": "4", "tool_call_id": "call00001", "name": "look"},
]
GROWING: list[list[Any]] = [[ASKS, _ANSWER, ASKS, _ANSWER, ASKS], [ASKS, *_CALLS, _ANSWER, ASKS]]
"""Conversations whose ids a stable template keeps as they grow."""

_STAND_INS: list[list[Any]] = [
    [ASKS],
    [{"role": "system", "content": "Be short."}, ASKS],
    [ASKS, PLAIN, ASKS],
    [ASKS, _ANSWER, ASKS],
    [ASKS, _ANSWER, ASKS, _ANSWER, ASKS],
    [ASKS, *_CALLS],
    [ASKS, *_CALLS, *_CALLS],
    [ASKS, *_CALLS, _ANSWER, ASKS],
]


class Refusal(Exception):
    """Why there is no bridge."""


class Lost(Refusal):
    """The template writes nothing of a new message, so that no bridge would tell the model of it."""


@dataclasses.dataclass
class Bridge:
    """`added` are the new ids; `conversation` is what they go on from and all that was added, its first `first` messages not new.
    `disorder` says what is lost by the order of new results."""

    added: list[int]
    conversation: list[Any]
    first: int
    disorder: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Turn:
    """What a bridge is asked for."""

    prompt_ids: list[int]
    completion_ids: list[int]
    """Without a stop token that the template never writes."""
    new: list[Any]
    stops: set[int]
    added: Set[int] = frozenset()
    """Those that the tokenizer has beside its vocabulary: control tokens, and others that markers are made of."""
    events: list[ReplyEvent] = dataclasses.field(default_factory=list)
    _reply: dict[str, Any] = dataclasses.field(default_factory=lambda: dict(PLAIN))

    def read(self, reply: Message, events: list[ReplyEvent]) -> None:
        """What was read of the completion. Calls and new results then have ids by which templates find them."""
        made = reply.to_dict()
        for call in made.get("tool_calls") or []:
            with contextlib.suppress(ValueError, KeyError):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        self.events = events
        self._reply, self.new = as_taken(made, reply, written_text(events), self.new)

    def replied(self) -> dict[str, Any]:
        """The reply as templates take it: arguments as an object, and the calls' ids as the results name them."""
        return copy.deepcopy(self._reply)


class Source(Protocol):
    """The template and the tokenizer of a bridge."""

    def begin(self, messages: Sequence[Any]) -> Any:
        """A session with a conversation and the generation prompt."""

    def written(self, messages: Sequence[Any], generation: bool = False) -> list[int]:
        """The ids of a conversation."""
        ...

    def tail(self, messages: Sequence[Any]) -> list[int]:
        """The ids behind the text of the last message, with the generation prompt."""
        ...

    def behind(self, messages: Sequence[Any], number: int, generation: bool) -> list[int]:
        """The ids behind the text of message `number`."""
        ...

    def bare_text(self, messages: Sequence[Any], until: int | None = None) -> str:
        """The prompt without empty reasoning; to the end of the text of message `until`, without a generation prompt then."""
        ...

    def text(self, ids: Sequence[int]) -> bytes: ...


def go_on(source: Source, messages: Sequence[Any], turn: Turn, *, exact: bool = True) -> Bridge:
    """Raises Refusal, or the Error of the session, if the template would write the past otherwise.

    `exact`: the prompt must be of these messages, whichever ids were sampled for it; else it only has to end as theirs does.
    """
    session = source.begin(messages)
    if exact and session.ids() != turn.prompt_ids and source.text(session.ids()) != source.text(turn.prompt_ids):
        raise Refusal("the prompt is not what its conversation renders to")
    session.append_sampled(turn.completion_ids)
    try:
        added, behind = extend_with_reply(session, turn.replied(), written_text(turn.events), turn.new)
    except Error as error:
        found = _behind(source, messages, turn.replied(), turn, opened=True) if error.code == "history_rewritten" else None
        if found is None:
            raise
        return found
    first = len(messages) + 1
    return Bridge(added, [*messages, *behind], first, _checked(session, first))


def _checked(session: Any, first: int) -> list[str]:
    """What is lost by the order of the session's results from message number `first` on.

    Raises Lost if the template writes nothing of one of these messages.
    """
    for path in session.lost():
        if int(path.removeprefix("messages[").partition("]")[0]) >= first:
            raise Lost(f"{path} would not be in the prompt: the template writes nothing of it")
    found: list[str] = session.disorder(first)
    return found


def _behind(source: Source, messages: Sequence[Any], reply: dict[str, Any], turn: Turn, *, opened: bool) -> Bridge | None:
    """What the template writes behind a reply, which may have been sampled with other blanks than the template's.

    None if the template writes the reply otherwise once the new messages follow. `opened`: also if it does not begin as the prompt ends.
    """
    conversation = [*messages, reply, *turn.new]
    if any(event.kind == "trailing" and event.source.strip() for event in turn.events):
        return None  # which the template does not write
    try:
        before, replied, whole = source.written(messages, opened), source.written([*messages, reply]), source.written(conversation, True)
    except Error:
        return None  # the template does not take it
    start = source.text(before)
    if not source.text(replied).startswith(start):
        return None
    sizes = itertools.accumulate(len(source.text([id])) for id in replied)
    at = next((place for place, (id, end) in enumerate(zip(replied, sizes, strict=True)) if end > len(start) and id in turn.stops), None)
    at = len(replied) if at is None else at
    closed = turn.completion_ids[-1:] if turn.completion_ids and turn.completion_ids[-1] in turn.stops else []
    said = turn.completion_ids[: len(turn.completion_ids) - len(closed)]
    if _without_blanks(source.text(said)) != _without_blanks(source.text(replied[:at])[len(start) :]):
        return None  # a marker that was cut off, say, of which the template writes nothing
    if whole[:at] != replied[:at] or whole[at : at + len(closed)] != closed:
        return None
    first = len(messages) + 1
    return Bridge(whole[at + len(closed) :], conversation, first, _checked(source.begin(conversation), first))


def _without_blanks(text: bytes) -> bytes:
    return b"".join(text.split())


def _is_cut_in_marker(source: Source, turn: Turn) -> bool:
    """Has it nothing but markers, or was a token that they are made of read as text? Then one did not come to its end."""
    reply = turn.replied()
    said = "".join(reply[name] for name in ("content", *REASONING) if isinstance(reply.get(name), str))
    if not said and not reply.get("tool_calls"):
        return bool(turn.completion_ids)
    return any(source.text([id]).decode("utf-8", "replace") in said for id in turn.added & set(turn.completion_ids))


def stand_in(source: Source, turn: Turn) -> Bridge:
    """A bridge from a prompt whose conversation is not known, which is right if no history makes a difference.

    Other conversations whose prompts end alike take its place, with reasoning, calls and results in them.
    Raises Refusal unless the template writes the same behind each.
    """
    found: list[Bridge] = []
    for messages in _fitting(source, turn.prompt_ids):
        try:
            found.append(go_on(source, messages, turn, exact=False))
        except Error as error:
            why = "the conversation behind these ids is not known, and the template rewrites one that may be like it: "
            raise Refusal(why + described(error)) from None
    return _the_same(found)


def regardless(source: Source, turn: Turn, messages: Sequence[Any] | None) -> Bridge:
    """A bridge that keeps the ids even where the template would drop reasoning: what it writes behind a reply without any.

    Raises Refusal if the template rewrites more than reasoning; without the conversation also unless it writes the same behind each that
    may take its place.
    """
    if messages is None:
        made = (_behind_bare(source, others, turn) for others in _fitting(source, turn.prompt_ids))
        return _the_same([one for one in made if one is not None])
    found = _behind_bare(source, messages, turn)
    if found is None:
        raise Refusal("the template rewrites more than reasoning")
    return found


def _bare(message: Any) -> Any:
    """Without reasoning."""
    if not hasattr(message, "items"):
        return message
    return {key: value for key, value in message.items() if key not in REASONING}


def _behind_bare(source: Source, messages: Sequence[Any], turn: Turn) -> Bridge | None:
    """What the template writes behind a reply, by the same conversation without any reasoning.

    None if the template writes its past otherwise even so, empty reasoning apart, and behind a reply that was cut off within a marker: the
    template would end what it does not write. Raises Lost.
    """
    past, reply, number = [_bare(message) for message in messages], _bare(turn.replied()), len(messages)
    if not reply.get("content") and not reply.get("tool_calls"):
        reply["content"] = PLAIN["content"]
    conversation = [*past, reply, *turn.new]
    try:
        before, whole = source.bare_text([*past, reply], number), source.bare_text(conversation)
        alone, behind = source.behind([*past, reply], number, False), source.behind(conversation, number, True)
    except Error:
        return None  # the template does not take it
    is_closed = bool(turn.completion_ids) and turn.completion_ids[-1] in turn.stops
    if not whole.startswith(before) or not (is_closed or not _is_cut_in_marker(source, turn)):
        return None
    disorder = _checked(source.begin(conversation), number + 1)
    end = next((place for place, id in enumerate(alone) if id in turn.stops), None)
    if end is None:  # the token that ends a reply begins the next turn
        if is_closed and behind[:1] != turn.completion_ids[-1:]:
            return None
        return Bridge(behind[is_closed:], [*messages, turn.replied(), *turn.new], number + 1, disorder)
    if behind[: end + 1] != alone[: end + 1]:
        return None
    return Bridge(behind[end + is_closed :], [*messages, turn.replied(), *turn.new], number + 1, disorder)


def _fitting(source: Source, prompt_ids: list[int]) -> Iterator[list[Any]]:
    """The conversations whose prompts end as these ids do."""
    for messages in _STAND_INS:
        try:
            tail = source.tail(messages)
        except Error:
            continue  # the template does not take it
        if tail and prompt_ids[-len(tail) :] == tail:
            yield messages


def _the_same(found: list[Bridge]) -> Bridge:
    if not found:
        raise Refusal("the conversation behind these ids is not known, and they do not end as the prompt of a small one does")
    if any(one.added != found[0].added for one in found):
        raise Refusal("the conversation behind these ids is not known, and what the template writes behind them depends on it")
    return found[0]


def described(error: Error) -> str:
    """The template's line and what went wrong there."""
    where = f"{error.template}, line {error.line}: " if error.line else ""
    return where + error.message
