"""Session: a conversation with its tokens, which never encodes again what the model has sampled."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from parlance._core import Message, ReplyEvent, ReplyReader, Template, Tokenizer, _begin_session
from parlance._errors import Error


@dataclasses.dataclass
class Sample:
    """A session as training takes it. All lists have one item for each token."""

    ids: list[int]
    """The token ids, as the model saw and sampled them."""
    loss_mask: list[int]
    """1 for tokens that the model sampled, else 0."""
    kinds: list[str]
    """"prompt" for tokens of prompts; of sampled ones "reasoning", "content", "calls", "stop" or "marker" (other markup)."""
    turns: list[int | None]
    """The number of the reply that the token belongs to, from 0; None for tokens of prompts."""
    logprobs: list[float | None]
    """The logprob of a sampled token, where sampled() was given it."""
    positions: list[int]
    """0, 1, 2, …"""

    def mask(self, *kinds: str) -> list[int]:
        """1 for sampled tokens of these kinds, else 0."""
        return [1 if kind in kinds else 0 for kind in self.kinds]


@dataclasses.dataclass
class _Step:
    """One change of a session: what was sampled, or messages that were added."""

    sampled: list[int] | None = None
    logprobs: list[float] | None = None
    messages: list[Any] | None = None
    added: int = 0  # ids


class Session:
    """A growing conversation with its ids: sampled ids stay as they are, and each turn encodes only the new text.

        session = parlance.Session(template, tokenizer, messages, tools=tools)
        reply = engine.generate(session.prompt_ids())
        message = session.sampled(reply.ids, logprobs=reply.logprobs)
        new_ids = session.extend([{"role": "tool", "content": run(message.calls[0])}])

    extend() raises parlance.Error (code "history_rewritten") where the template writes earlier turns otherwise, so that the new prompt
    would not begin with the ids so far; `difference` says where and why. After an error nothing has changed.

    Other keyword arguments are variables of the template. Threads: one at a time.
    """

    def __init__(
        self,
        template: Template,
        tokenizer: Any,
        messages: Iterable[Any],
        tools: Iterable[Any] | None = None,
        documents: Iterable[Any] | None = None,
        *,
        protect: bool = True,
        trust: Sequence[str] = (),
        now: datetime.datetime | None = None,
        **variables: Any,
    ) -> None:
        from parlance._tokenizers import tokenizer_of

        self._template = template
        self._tokenizer: Tokenizer = tokenizer_of(tokenizer)
        self._request: dict[str, Any] = {
            "messages": list(messages),
            "tools": None if tools is None else list(tools),
            "documents": None if documents is None else list(documents),
        }
        self._variables = variables
        self._now = now or datetime.datetime.now()
        self._options: dict[str, Any] = {"protect": protect, "trust": list(trust)}
        self._steps: list[_Step] = []
        self._reader: ReplyReader | None = None
        self._begin()

    def _begin(self) -> None:
        self._session = _begin_session(
            self._template._engine,
            self._tokenizer,
            self._request["messages"],
            self._request["tools"],
            self._request["documents"],
            self._now,
            self._variables,
            self._options["trust"],
            self._options["protect"],
        )
        self._first = self._session.size()

    # ---- the rollout

    def prompt_ids(self) -> list[int]:
        """All ids so far: what an engine goes on from."""
        return self._session.ids()

    def __len__(self) -> int:
        return self._session.size()

    def sampled(self, ids: Iterable[int], logprobs: Iterable[float] | None = None) -> Message:
        """Appends what the model sampled, with the end-of-turn token if it was sampled, and reads it by its ids.

        Raises ValueError if there are not as many logprobs as ids.
        """
        step = _Step(sampled=list(ids), logprobs=None if logprobs is None else list(logprobs))
        if step.logprobs is not None and len(step.logprobs) != len(step.sampled or ()):
            raise ValueError(f"{len(step.logprobs)} logprobs for {len(step.sampled or ())} ids")
        message, _ = self._read(step.sampled or [])
        self._session.append_sampled(step.sampled or [])
        self._steps.append(step)
        return message

    def events(self, ids: Iterable[int]) -> list[ReplyEvent]:
        """The events of a reply with these ids, without appending it."""
        return self._read(list(ids))[1]

    def extend(self, messages: Iterable[Any]) -> list[int]:
        """Adds messages, and gives the new ids, with the opening of the next assistant turn.

        After sampled(), the assistant's message that was read of it is put in front unless `messages` begins with one.
        Raises parlance.Error if the new prompt does not begin with the ids so far.
        """
        given = list(messages)
        if self._steps and self._steps[-1].sampled is not None and not _is_assistant(given[:1]):
            message, events = self._read(self._steps[-1].sampled)
            new, given = self._extend_with_reply(message.to_dict(), written_text(events), given)
        else:
            new = self._session.extend(given)
        self._steps.append(_Step(messages=given, added=len(new)))
        return new

    def _extend_with_reply(self, reply: dict[str, Any], written: str, messages: list[Any]) -> tuple[list[int], list[Any]]:
        try:
            return extend_with_reply(self._session, reply, written, messages)
        except Error as error:
            so_far = len(self._request["messages"]) + sum(len(step.messages or ()) for step in self._steps)
            trusting = copy.copy(self)
            trusting._options = {**self._options, "trust": [*self._options["trust"], content_path(so_far)]}
            trusting._replay(self._steps)
            found = extend_as_written(trusting._session, reply, written, messages, error)
            self._session, self._options = trusting._session, trusting._options
            return found

    @property
    def difference(self) -> dict[str, Any] | None:
        """Where and why the last extend() that failed would have rewritten the history: `cause`, `byte`, `token`, `before` and `after`
        (each with `excerpt`, `path`, `line`, `column`), `changed_input`, `sentence`. None if none failed."""
        found = self._session.difference()
        return found

    def _new_reader(self) -> ReplyReader:
        """For a reply to a prompt of this session."""
        reader = self._reader
        if reader is None:
            prompt = self._template.render(
                self._request["messages"], self._request["tools"], self._request["documents"], now=self._now, **self._variables
            )
            reader = self._reader = prompt.reader(tokenizer=self._tokenizer)
        return reader.copy()

    def _read(self, ids: list[int]) -> tuple[Message, list[ReplyEvent]]:
        reader = self._new_reader()
        events = reader.feed(ids) + reader.finish()
        return reader.message, events

    # ---- what training takes

    def sample(self) -> Sample:
        """The session with masks, kinds, turns, logprobs and positions."""
        ids = self._session.ids()
        made = Sample(ids, [0] * len(ids), ["prompt"] * len(ids), [None] * len(ids), [None] * len(ids), list(range(len(ids))))
        at, turn = self._first, 0
        for step in self._steps:
            if step.sampled is None:
                at += step.added
                continue
            for number, kind in enumerate(self._kinds(step.sampled)):
                made.loss_mask[at + number] = 1
                made.kinds[at + number] = kind
                made.turns[at + number] = turn
                if step.logprobs is not None:
                    made.logprobs[at + number] = step.logprobs[number]
            at += len(step.sampled)
            turn += 1
        return made

    def _kinds(self, ids: list[int]) -> list[str]:
        """The kind of each sampled token: that of its first byte."""
        reader = self._new_reader()
        reader.feed(ids)
        reader.finish()
        ranges = reader.kinds
        kinds, byte, at = [], 0, 0
        for id in ids:
            while at < len(ranges) - 1 and ranges[at][2] <= byte:
                at += 1
            kinds.append(ranges[at][0] if ranges else "marker")
            byte += len(self._tokenizer.decode([id]))
        return kinds

    # ---- branches

    def branch(self) -> Session:
        """A session with the same history that goes on by itself. Nothing is tokenized again."""
        made = copy.copy(self)
        made._session = self._session.copy()
        made._steps = list(self._steps)
        return made

    def trim(self, replies: int) -> None:
        """Forgets all that came after the first so many replies, and the messages that were added behind them."""
        kept: list[_Step] = []
        count = 0
        for step in self._steps:
            if step.sampled is not None:
                if count == replies:
                    break
                count += 1
            elif count == replies and replies > 0 and kept and kept[-1].messages is not None:
                break
            kept.append(step)
        self._replay(kept)

    def _replay(self, steps: list[_Step]) -> None:
        self._begin()
        self._steps = []
        for step in steps:
            if step.sampled is not None:
                self._session.append_sampled(step.sampled)
                self._steps.append(dataclasses.replace(step))
            else:
                new = self._session.extend(step.messages or [])
                self._steps.append(_Step(messages=step.messages, added=len(new)))

    def to_dict(self) -> dict[str, Any]:
        """The session as JSON can hold it, without the template and the tokenizer."""
        return {
            **self._request,
            "variables": self._variables,
            "now": self._now.isoformat(),
            **self._options,
            "steps": [dataclasses.asdict(step) for step in self._steps],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], template: Template, tokenizer: Any) -> Session:
        """A session from what to_dict() gave. Raises parlance.Error if another template writes it otherwise."""
        session = cls(
            template,
            tokenizer,
            data["messages"],
            data["tools"],
            data["documents"],
            protect=data["protect"],
            trust=data["trust"],
            now=datetime.datetime.fromisoformat(data["now"]),
            **data["variables"],
        )
        session._replay([_Step(**step) for step in data["steps"]])
        return session


def written_text(events: Iterable[ReplyEvent]) -> str:
    """A reply as the model wrote it, without its reasoning and without the marker that ends it."""
    kept = [event for event in events if event.kind not in ("end", "trailing")]
    if any(event.kind == "reasoning" for event in kept):
        kept = list(itertools.dropwhile(lambda event: event.kind not in ("content", "call_begin"), kept))
    return "".join(event.source for event in kept)


def extend_with_reply(session: Any, reply: dict[str, Any], written: str, messages: list[Any]) -> tuple[list[int], list[Any]]:
    """Extends by a reply that was sampled and the messages behind it; gives the new ids and all that was added.

    What was sampled stays. A template may write the same message otherwise: with a blank before the content, or JSON with other spaces. So
    the content is tried without blanks too, and then the reply as it was written, as content alone.
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
    for other in [*others, _as_written(reply, written)]:
        try:
            return session.extend([other, *messages]), [other, *messages]
        except Error:
            continue
    return session.extend(given), given  # which fails as it did, and says where


def _as_written(reply: dict[str, Any], written: str) -> dict[str, Any]:
    """With the calls in the content. Reasoning stays apart, since a template may drop it."""
    return {**{key: value for key, value in reply.items() if key != "tool_calls"}, "content": written}


def content_path(number: int) -> str:
    return f"messages[{number}].content"


def extend_as_written(session: Any, reply: dict[str, Any], written: str, messages: list[Any], error: Error) -> tuple[list[int], list[Any]]:
    """The same with the reply as it was written as content, in a session that trusts this content: its control tokens were sampled.

    So a call goes on whose JSON the template writes with other spaces. Raises `error` where that does not go on either.
    """
    reply = _as_written(reply, written)
    if error.code == "history_rewritten":
        with contextlib.suppress(Error):
            return session.extend([reply, *messages]), [reply, *messages]
    raise error


def _is_assistant(messages: list[Any]) -> bool:
    if not messages:
        return False
    role = messages[0].get("role") if isinstance(messages[0], dict) else getattr(messages[0], "role", None)
    return role == "assistant"


__all__ = ["Error", "Sample", "Session"]
