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
_TEXTS = ("content", "trailing")
"""The kinds of events whose text stands outside of reasoning and calls."""
ASKS: dict[str, Any] = {"role": "user", "content": "Three?"}
PLAIN = {"role": "assistant", "content": "One."}
_ANSWER = {**PLAIN, "reasoning_content": "Two."}
_CALLS = [
    {"role": "assistant", "content": "", "reasoning_content": "Two.", "tool_calls": [_CALL]},
    {"role": "tool", "content": "4", "tool_call_id": "call00001", "name": "look"},
]
GROWING: list[list[Any]] = [[ASKS, _ANSWER, ASKS, _ANSWER, ASKS], [ASKS, *_CALLS, _ANSWER, ASKS]]
"""Conversations whose ids a stable template keeps as they grow."""

_CONTEXT = 64
"""So many tokens or characters before a place show how what was sampled there goes on."""

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


class FinalRefusal(Refusal):
    """Keeping reasoning that the template would drop makes no bridge of it."""


class Lost(FinalRefusal):
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
    is_in_reasoning: bool = False
    """The reply was cut off there: text that came next would be reasoning."""
    is_in_call: bool = False
    """The reply was cut off behind the marker that begins a call, before it was one."""
    _message: Message | None = None
    _reply: dict[str, Any] = dataclasses.field(default_factory=lambda: dict(PLAIN))

    def read(self, reply: Message, events: list[ReplyEvent]) -> None:
        """What was read of the completion. Calls and new results then have ids by which templates find them."""
        made = reply.to_dict()
        for call in made.get("tool_calls") or []:
            with contextlib.suppress(ValueError, KeyError):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        self.events, self._message = events, reply
        self._reply, self.new = as_taken(made, reply, written_text(events), self.new)

    def replied(self) -> dict[str, Any]:
        """The reply as templates take it: arguments as an object, and the calls' ids as the results name them."""
        return copy.deepcopy(self._reply)

    @property
    def stop(self) -> list[int]:
        """The stop token at the end, if it has one."""
        return self.completion_ids[-1:] if self.completion_ids and self.completion_ids[-1] in self.stops else []

    def ends_in_call(self) -> bool:
        """Behind its last call comes no text."""
        told = [event.kind for event in self.events if event.kind == "call_end" or (event.kind in _TEXTS and event.source.strip())]
        return told[-1:] == ["call_end"]

    def is_cut_in_marker(self, source: Source) -> bool:
        """Has it nothing but markers, or was a token that they are made of read as text? Then one did not come to its end.

        A call that was cut off is text with its markers.
        """
        if self.is_in_call:
            return False
        message = self._message
        said = (message.content or "") + (message.reasoning or "") if message else ""
        if not said and not (message and message.calls) and not self.is_in_reasoning:
            return bool(self.completion_ids)
        return any(source.text([id]).decode("utf-8", "replace") in said for id in self.added & set(self.completion_ids))


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
        """The prompt without marks of empty reasoning; to the end of the text of message `until`, without a generation prompt then."""
        ...

    def behind_reasoning(self, messages: Sequence[Any], number: int) -> str:
        """What stands between the reasoning of message `number`, the last, and the stop token or the end; "" if there is no reasoning."""
        ...

    def closing_mark(self) -> str:
        """What ends reasoning in replies; "" where they have none."""
        ...

    def encoded(self, text: str) -> list[int]:
        """The ids of text that is the template's own."""
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
    closed = turn.stop
    said = turn.completion_ids[: len(turn.completion_ids) - len(closed)]
    if _without_blanks(source.text(said)) != _without_blanks(source.text(replied[:at])[len(start) :]):
        return None  # a marker that was cut off, say, of which the template writes nothing
    if whole[:at] != replied[:at] or whole[at : at + len(closed)] != closed:
        return None
    first = len(messages) + 1
    return Bridge(whole[at + len(closed) :], conversation, first, _checked(source.begin(conversation), first))


def _without_blanks(text: bytes) -> bytes:
    return b"".join(text.split())


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
    """Without reasoning; with other content where an assistant's message has nothing else, which templates may not take."""
    if not hasattr(message, "items"):
        return message
    rest = {key: value for key, value in message.items() if key not in REASONING}
    is_empty = rest.get("role") == "assistant" and not rest.get("content") and not rest.get("tool_calls")
    return {**rest, "content": PLAIN["content"]} if is_empty else rest


def _behind_bare(source: Source, messages: Sequence[Any], turn: Turn) -> Bridge | None:
    """What the template writes behind a reply, by the same conversation without any reasoning.

    None if the template writes its past otherwise even so, marks of reasoning apart, and behind a reply that was cut off within a marker:
    the template would end what it does not write. Raises FinalRefusal.
    """
    past, reply, number = [_bare(message) for message in messages], _bare(turn.replied()), len(messages)
    conversation = [*past, reply, *turn.new]
    try:
        before, whole = source.bare_text([*past, reply], number), source.bare_text(conversation)
        alone, behind = source.behind([*past, reply], number, False), source.behind(conversation, number, True)
    except Error:
        return None  # the template does not take it
    if not whole.startswith(before) or (not turn.stop and turn.is_cut_in_marker(source)):
        return None
    # where no stop token ends the reply, the one that begins the next turn does
    end = next((place for place, id in enumerate(alone) if id in turn.stops), len(alone))
    if behind[: len(alone[: end + 1])] != alone[: end + 1]:
        return None
    disorder = _checked(source.begin(conversation), number + 1)
    added = _ended(source, messages, turn, before, source.text(alone[:end]).decode("utf-8", "replace"))
    # a stop token that was sampled stays, also where the template would write another
    is_written = bool(turn.stop) and (end < len(alone) or behind[end : end + 1] == turn.stop)
    return Bridge([*added, *behind[end + is_written :]], [*messages, turn.replied(), *turn.new], number + 1, disorder)


def _ended(source: Source, messages: Sequence[Any], turn: Turn, before: str, markup: str) -> list[int]:
    """The ids that end what is open in a reply, up to its stop token.

    `before`: the prompt up to the end of the reply's own text, and `markup` what the template writes from there on.
    Raises FinalRefusal where reasoning is open in front of a stop token that was sampled.
    """
    if turn.stop:
        if turn.is_in_reasoning:
            raise FinalRefusal("the reply ended within its reasoning, which the template would end in front of the stop token")
        return []
    sampled = source.text([*turn.prompt_ids[-_CONTEXT:], *turn.completion_ids]).decode("utf-8", "replace")
    ended = "".join(event.source for event in turn.events[-1:] if event.kind == "end")
    sampled = sampled if ended.strip() in markup else sampled.removesuffix(ended)
    rest = _end_of_reasoning(source, messages, turn, markup) if turn.is_in_reasoning else _left_of(markup, before, sampled, turn)
    blanks = next(size for size in range(len(rest) - len(rest.lstrip()), -1, -1) if sampled.endswith(rest[:size]))
    return source.encoded(rest[blanks:]) if rest[blanks:] else []


def _end_of_reasoning(source: Source, messages: Sequence[Any], turn: Turn, markup: str) -> str:
    """As the template writes it, or as replies have it where the template writes no reasoning."""
    with contextlib.suppress(Error):
        reply = turn.replied()
        thought = {name: reply[name] for name in REASONING if str(reply.get(name) or "").strip()} or {"reasoning_content": "Two."}
        written = source.behind_reasoning([*messages, {**_bare(reply), **thought, "content": ""}], len(messages))
        if written:
            return written
    return source.closing_mark() + markup


def _left_of(markup: str, before: str, sampled: str, turn: Turn) -> str:
    """What of the markup behind the reply's own text was not sampled. Blanks may have been sampled otherwise."""
    if markup.strip() and not turn.ends_in_call() and turn.replied().get("tool_calls"):
        return ""  # text that the template writes in front of the call
    there = "".join(sampled.split())
    places = [0, *(place for place, letter in enumerate(markup, 1) if not letter.isspace())]
    return markup[max(places, key=lambda place: common_end("".join((before[-_CONTEXT:] + markup[:place]).split()), there)) :]


def common_end(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items two rows end with alike."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False)))


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
