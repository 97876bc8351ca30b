"""Session: a conversation with its tokens, which never encodes again what the model has sampled."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import hashlib
import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from parlance._alone import alone
from parlance._core import (
    REPLY_KINDS,
    Message,
    ReplyEvent,
    ReplyReader,
    Template,
    Tokenizer,
    _begin_session,
    _InUse,
    _plain_messages,
    _plain_tools,
    _plain_value,
    _TokenSession,
)
from parlance._errors import Error, of_argument, of_member, of_object, set_hint
from parlance._kept_sessions import check_kept
from parlance._steps import Step
from parlance._taken import as_taken, as_written, extend_with_reply, written_text
from parlance._warned import warn_caller

_Kind = TypeVar("_Kind", bound="Session")
"""Of a session, which may be of a class derived from Session."""


@dataclasses.dataclass
class Sample:
    """A session as training takes it. All lists have one item for each token."""

    ids: list[int]
    """The token ids, as the model saw and sampled them."""
    loss_mask: list[int]
    """1 for tokens that the model sampled, else 0."""
    kinds: list[str]
    """"prompt" for tokens of prompts; of sampled ones a kind of Rendering.kinds."""
    turns: list[int | None]
    """The number of the reply that the token belongs to, from 0; None for tokens of prompts."""
    logprobs: list[float | None]
    """The logprob of a sampled token, where sampled() was given it."""
    positions: list[int]
    """0, 1, 2, …"""

    def mask(self, *kinds: str) -> list[int]:
        """1 for sampled tokens of these kinds, else 0; "assistant" is all of them.

        Raises ValueError for a word that is no kind, or without one.
        """
        known = ("assistant", *REPLY_KINDS)
        given = next((f"not of {kind!r}" for kind in kinds if kind not in known), "" if kinds else "and mask() was given none")
        if given:
            raise of_argument(ValueError, f"a mask is of {', '.join(known)}, or several of them, {given}")
        return list(self.loss_mask) if "assistant" in kinds else [1 if kind in kinds else 0 for kind in self.kinds]


_CONTINUE = "continue_final_message"
_NOT_SAMPLED = (
    "a reply is open, and none of it was sampled: sampled() with its ids comes first, or the assistant's message in front of these"
)
_NO_START = (
    "the message that goes on cannot be followed by others: the template opens a reply otherwise than it writes a message, so that "
    "there is no prompt whose reply it is"
)
_OTHER_TOKENS = (
    "the message that goes on cannot be followed by others: the template writes it as a reply begins, but this tokenizer makes other "
    "tokens of the opening where text follows it, so that there is no prompt whose reply it is"
)
# Of a child of fork(): those that a thread of its parent was changing. They may be half changed, and are not destroyed.
_LEFT: list[_TokenSession] = []
# What _replay() makes anew.
_REPLAYED = ("_session", "_first", "_started", "_steps", "_reader", "_is_stale", "_is_torn")
# Members of a message that are read of a reply.
_OF_REPLIES = ("role", "content", "tool_calls", "reasoning_content", "reasoning", "thinking")


@dataclasses.dataclass
class _Started:
    """A message of the request that the first reply goes on with."""

    message: dict[str, Any]
    reader: ReplyReader  # of what comes behind it
    ids: list[int] | None = None  # its own, as the beginning of a reply
    why_none: str = _NO_START


class Session:
    """A growing conversation with its ids: sampled ids stay as they are, and each turn encodes only the new text.

        session = parlance.Session(template, tokenizer, messages, tools=tools)
        reply = engine.generate(session.prompt_ids())
        message = session.sampled(reply.ids, logprobs=reply.logprobs)
        new_ids = session.extend([{"role": "tool", "content": run(message.calls[0])}])

    extend() raises parlance.Error (code "history_rewritten") where the template writes earlier turns otherwise, so that the new prompt
    would not begin with the ids so far; `difference` says where and why. After an error nothing has changed.

    `tokenizer` is whatever tokenizer_of() takes. With `protect` (the default) no text of the messages becomes a control token, except in
    the paths of `trust`: "messages[0].content", or "messages[assistant]" for all that the assistant said before, of whose control
    tokens a UserWarning tells; one at which the request has nothing raises parlance.Error, also ValueError, unless a message may still
    come there. `plain_added` and `add_special_tokens` are as in Rendering.tokens(), which gives the ids that a session begins with: added
    tokens that are not special may come from any text; the first prompt gets what the tokenizer itself puts in front, unless the
    template wrote it. `now` is what strftime_now() shows, by default the time at the beginning. Other
    keyword arguments are variables of the template. With `continue_final_message=True` the first reply goes on with the last message;
    sampled() gives what was sampled of it, and extend() puts the whole in front.

    copy.copy(), copy.deepcopy() and branch() give a session that goes on by itself; it pickles with its template and tokenizer. What you
    or a class derived from it put on a session goes along: branch() and copy.copy() have the same objects, copy.deepcopy() and pickles
    have copies.
    Threads: one at a time; a second one that calls a method meanwhile gets RuntimeError, and nothing has changed. So does a call within
    a call, as of a tokenizer.
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
        plain_added: bool = False,
        add_special_tokens: bool = False,
        now: datetime.datetime | None = None,
        **variables: Any,
    ) -> None:
        from parlance._origins import paths_of
        from parlance._tokenizers import tokenizer_of

        before = set(vars(self))  # of a class that is derived from this one
        if not isinstance(template, Template):
            raise TypeError(f"a Session takes a Template, such as parlance.Template.from_pretrained(…), not a {type(template).__name__}")
        self._template = template
        self._given_tokenizer = tokenizer
        self._tokenizer: Tokenizer = tokenizer_of(tokenizer)
        # As JSON has them, so that nobody changes them from outside.
        self._request: dict[str, Any] = {
            "messages": _plain_messages(messages),
            "tools": None if tools is None else _plain_tools(tools),
            "documents": None if documents is None else _plain_documents(documents),
        }
        if isinstance(variables.get(_CONTINUE), str):
            raise TypeError(f"{_CONTINUE} is True or False, and goes on with the content, not {variables[_CONTINUE]!r}")
        if _CONTINUE in variables:
            variables[_CONTINUE] = bool(variables[_CONTINUE])
        self._variables = _plain_members(variables)
        self._now = now or datetime.datetime.now()
        self._options: dict[str, Any] = {
            "protect": protect, "trust": paths_of(trust), "plain_added": plain_added, "add_special_tokens": add_special_tokens,
        }  # fmt: skip
        self._in_use = _InUse()
        self._steps: list[Step] = []
        self._reader: ReplyReader | None = None  # of the reply that was sampled last, while it may go on
        self._is_stale = False  # it has read what was not appended
        self._is_torn = False  # a call has not come to its end, so that the ids may be those of other steps
        self._begin(warns=True)
        self._own = {*vars(self), "_own"} - before

    def _begin(self, *, warns: bool) -> None:
        self._session = self._begun(self._request["messages"], self._variables)
        if warns:
            self._warn_of_first_prompt()
        self._first = self._session.size()
        self._started: _Started | None = None
        if self._variables.get(_CONTINUE) is True:
            self._begin_behind_start()

    def _warn_of_first_prompt(self) -> None:
        from parlance._first_prompt import warn_of_guarded, warn_of_missing

        messages = self._request["messages"]

        def ids_with(trust: list[str]) -> list[int]:
            return self._begun(messages, self._variables, trust=trust).ids()

        warn_of_guarded(messages, self._options, self._session.ids(), ids_with)
        warn_of_missing(self._template, self._given_tokenizer, self._request, self._variables)

    def _begun(self, messages: list[Any], variables: dict[str, Any], **other: Any) -> _TokenSession:
        return _begin_session(
            self._template._engine,
            self._tokenizer,
            messages,
            self._request["tools"],
            self._request["documents"],
            self._now,
            variables,
            **{**self._options, **other},
        )

    def _begin_behind_start(self) -> None:
        """The message that goes on, as the beginning of the reply to a prompt without it, so that the next turn can have the whole.

        Not possible where the template opens a reply otherwise than it writes a message.
        """
        whole = self._session.ids()
        *before, message = self._request["messages"]
        variables = {name: value for name, value in self._variables.items() if name not in (_CONTINUE, "add_generation_prompt")}
        self._started = _Started(message, self._session.reader())
        try:
            session = self._begun(before, variables)
        except Error:
            return
        if whole[: session.size()] == session.ids():
            self._started.ids = whole[session.size() :]
            session.append_sampled(self._started.ids)
            self._session = session
        elif self._tokenizer.decode(whole).startswith(self._tokenizer.decode(session.ids())):
            self._started.why_none = _OTHER_TOKENS

    def _is_of_start(self) -> bool:
        """Whether the reply that comes, or was sampled last, goes on with a message of the request."""
        return self._started is not None and all(step.messages is None for step in self._steps)

    def _new_reader(self) -> ReplyReader:
        """For what is sampled next, or was sampled last."""
        reader = self._started.reader if self._started is not None and self._is_of_start() else self._session.reader()
        return reader.copy()

    # ---- the rollout

    @alone
    def prompt_ids(self) -> list[int]:
        """All ids so far: what an engine goes on from."""
        return self._session.ids()

    @alone
    def __len__(self) -> int:
        return self._session.size()

    def sampled(self, ids: Iterable[int], logprobs: Iterable[float | None] | None = None) -> Message:
        """Appends what the model sampled, with the end-of-turn token if it was sampled, and reads it by its ids.

        Called again before extend(), it appends more of the same reply: one that was cut off and then went on is one reply, whose message
        so far is given. Each id is read once, so ids may come one by one. Raises ValueError if there are not as many logprobs as ids, if
        the reply has ended, or if none is open, since the last message is an assistant's.
        """
        sampled = _ids(ids)
        given = _logprobs(logprobs)
        if given is not None and len(given) != len(sampled):
            raise of_argument(ValueError, f"{len(given)} logprobs for {len(sampled)} ids")
        return self._append_alone(sampled, given)  # what made the ids may have asked the session

    @alone
    def _append_alone(self, sampled: list[int], logprobs: list[float | None] | None) -> Message:
        return self._append(sampled, logprobs)

    def _append(self, sampled: list[int], logprobs: list[float | None] | None) -> Message:
        """Appends what was sampled, a reply or more of one."""
        if self._reader is None and not self._opens_reply():
            closed = of_object(
                ValueError, "", "behind an assistant's message no reply is open: extend() with the messages that the model answers"
            )
            set_hint(
                closed, "a session with add_generation_prompt=True opens one, and with continue_final_message=True the message goes on"
            )
            raise closed
        step = Step([]) if self._reader is None else self._steps[-1]
        if step.ended and sampled:
            raise of_object(ValueError, "", "the reply has ended: extend() adds what comes behind it")
        reader = self._new_reader() if self._reader is None else self._read_again() if self._is_stale else self._reader
        self._is_stale = self._reader is not None  # where a tokenizer in Python raises, say
        events = reader.feed(sampled)
        self._is_torn = True
        self._session.append_sampled(sampled)
        step.add(sampled, logprobs)
        step.ended = step.ended or any(event.kind == "end" for event in events)
        if self._reader is None:
            self._steps.append(step)
            self._reader = reader
        self._is_stale = self._is_torn = False
        return reader._message_at_end()

    def _read_again(self) -> ReplyReader:
        """Of what was sampled last, in place of the reader that has read more."""
        reader = self._new_reader()
        reader.feed(self._steps[-1].sampled or [])
        self._reader, self._is_stale = reader, False
        return reader

    def _opens_reply(self) -> bool:
        """Does the prompt end as a reply begins? Behind an assistant's message templates open none, unless they are told to."""
        if self._is_of_start() or self._variables.get("add_generation_prompt"):
            return True
        for step in reversed(self._steps):
            if step.messages is None:
                return False  # a reply, behind which nothing was added
            if step.messages:
                return not _is_assistant(step.messages[-1:])
        return not _is_assistant(self._request["messages"][-1:])

    def _settle(self) -> None:
        """No more comes of the reply that was sampled last."""
        if self._reader is not None:
            self._steps[-1].kinds = self._kinds_so_far()
            self._reader = None

    def _kinds_so_far(self) -> list[tuple[str, int, int]]:
        """Of the reply that was sampled last, as if it ended here."""
        if self._reader is None:
            return []
        read = (self._read_again() if self._is_stale else self._reader).copy()
        read.finish()
        return read.kinds

    def events(self, ids: Iterable[int]) -> list[ReplyEvent]:
        """The events of a reply with these ids, without appending it."""
        return self._events_alone(_ids(ids))

    @alone
    def _events_alone(self, ids: list[int]) -> list[ReplyEvent]:
        return self._read(ids)[1]

    def extend(self, messages: Iterable[Any], *, advise: bool = True) -> list[int]:
        """Adds messages, and gives the new ids, with the opening of the next assistant turn, unless an assistant's message is the last.

        After sampled(), the assistant's message that was read of it is put in front unless `messages` begins with one. The template may
        write it otherwise than the model did, with other blanks around its reasoning, say: the sampled ids stay where reading the
        template's text gives the same message. Raises parlance.Error if the new prompt does not begin with the ids so far; its hint names a
        variable of the template that would have kept them, if there is one. Finding it costs about as much as two sessions from the
        beginning for each variable of the template that may be a switch: with `advise=False` nothing is looked for, and
        `difference["switches"]` is empty.
        Warns (UserWarning) of each message of which the template writes nothing, and of results that stand in another order than their
        calls where the prompt does not show which call each of them answers (`passes=["order-results"]` gives them that order). The
        messages are added all the same, also where the warning is made an exception.
        """
        return self._extend_alone(_plain_messages(messages), advise)

    @alone
    def _extend_alone(self, given: list[Any], advise: bool) -> list[int]:
        if self._started is not None and self._started.ids is None:
            raise of_object(ValueError, "", self._started.why_none)
        trust: list[str] = []
        sampled = self._steps[-1].sampled if self._steps else [] if self._started is not None else None
        reply: list[Any] = []
        size, self._is_torn = self._session.size(), True
        try:
            if sampled is not None and not _is_assistant(given[:1]):
                message, read, written = self._read_reply(sampled)
                message, given = as_taken(message, read, written, given)
                reply = [message]
                new, given, trust = self._extend_with_reply(message, written, given)
            else:
                new = self._session.extend(given)
        except Error as error:
            self._is_torn = self._session.size() != size
            if error.code == "history_rewritten":
                hint = _NOT_SAMPLED if sampled is None and self._opens_reply() else self._behind_end(sampled or [])
                if advise and not hint:
                    hint = self._session.advise([*reply, *given])
                set_hint(error, hint or error.hint)
            raise error from None  # not the ways that were tried before
        self._settle()
        if reply and self._steps:
            self._steps[-1].reply = reply[0]
        self._steps.append(Step(messages=given, trust=trust, added=len(new)))
        self._is_torn = False
        lost = [f"{path} is not in the prompt: the template writes nothing of it" for path in self._session.lost()]
        for said in [*lost, *self._session.disorder()]:
            warn_caller(said)
        return new

    def _extend_with_reply(self, reply: dict[str, Any], written: str, messages: list[Any]) -> tuple[list[int], list[Any], list[str]]:
        """As extend_with_reply; where none of that goes on, the reply as it was written, whose control tokens were sampled, is trusted."""
        try:
            return (*extend_with_reply(self._session, reply, written, messages), [])
        except Error as error:
            if error.code != "history_rewritten":
                raise
            number = len(self._request["messages"]) + sum(len(step.messages or ()) for step in self._steps) - (self._started is not None)
            given, trust, meant = [as_written(reply, written), *messages], [f"messages[{number}].content"], [reply, *messages]
            try:
                return self._session.extend(given, trust, meant), given, trust
            except Error:
                self._session.extend(meant)  # fails as it did, and says where
                raise error from None

    def _behind_end(self, sampled: list[int]) -> str:
        """What to do about ids that were sampled behind the one that ends the reply, if there are such."""
        end = next((event for event in self._read(sampled)[1] if event.kind == "end"), None)
        if end is None:
            return ""
        byte = end.position + len(end.source.encode("utf-8", "surrogatepass"))
        sizes = itertools.accumulate(len(self._tokenizer.decode([id])) for id in sampled)
        kept = next((at for at, size in enumerate(sizes, 1) if size >= byte), len(sampled))
        if kept == len(sampled):
            return ""
        return (
            f"{end.source.strip()} ends the reply, and the template writes nothing of what was sampled behind it: "
            f"trim({self._replies() - 1}), then sampled() with the first {kept} of these {len(sampled)} ids"
        )

    @property
    def difference(self) -> dict[str, Any] | None:
        """Where and why the last extend() that failed would have rewritten the history: `cause`, `byte`, `token`, `before` and `after`
        (each with `excerpt`, `path`, `line`, `column`), `changed_input`, `sentence`, and `switches`: the variables of the template that
        would have kept the ids, had they been set so from the first turn on. None if none failed."""
        found = self._session.difference()
        return found

    def _read(self, ids: list[int]) -> tuple[ReplyReader, list[ReplyEvent]]:
        """Reads them as the reply to the last prompt: templates open a reply behind a result otherwise than behind a question."""
        reader = self._new_reader()
        events = reader.feed(ids) + reader.finish()
        return reader, events

    def _read_reply(self, sampled: list[int]) -> tuple[dict[str, Any], Message, str]:
        """The message of what was sampled, where that goes on with one of the request, the whole of it; as it was read; and as it was
        written."""
        if self._started is None or not self._is_of_start():
            reader, events = self._read(sampled)
            return reader.message.to_dict(), reader.message, written_text(events)
        reader = self._session.reader().copy()
        events = reader.feed([*(self._started.ids or []), *sampled]) + reader.finish()
        others = {name: value for name, value in self._started.message.items() if name not in _OF_REPLIES}
        return {**others, **reader.message.to_dict()}, reader.message, written_text(events)

    # ---- what training takes

    @property
    @alone
    def messages(self) -> list[dict[str, Any]]:
        """All messages so far, as a reward function takes them: the request's, the replies as they were read, and what extend() added.

        A reply is in OpenAI's form, as the template gets it, so it may have calls. One that goes on with the last message of the request
        has the whole. They are new objects: to change them changes nothing here.
        """
        made: list[dict[str, Any]] = copy.deepcopy(self._request["messages"])
        if self._started is not None and self._steps:
            del made[-1:]  # which the first reply has in it
        last: Step | None = None
        for step in self._steps:
            if step.messages is not None:
                reply = last.reply if last is not None else None
                made += copy.deepcopy(step.messages if reply is None else [reply, *step.messages[1:]])
            last = step
        if last is not None and last.sampled is not None:
            made.append(self._last_reply(last.sampled))
        return made

    def _last_reply(self, sampled: list[int]) -> dict[str, Any]:
        message, read, written = self._read_reply(sampled)
        reply = as_taken(message, read, written, [])[0]
        begun = self._started.message.get("content") if self._started is not None and self._started.ids is None else None
        if isinstance(begun, str) and self._is_of_start():  # of which only the rest could be read
            reply["content"] = begun + (reply.get("content") or "")
        return reply

    @property
    def prompt_length(self) -> int:
        """How many ids there are before the first that was sampled; while none was, all of them.

        For what wants one prompt and one completion: `prompt_ids()[:session.prompt_length]` and the rest, of which `sample()` has the mask.
        """
        before = itertools.takewhile(lambda step: step.sampled is None, self._steps)
        return self._first + sum(step.added for step in before)

    @alone
    def sample(self) -> Sample:
        """The session with masks, kinds, turns, logprobs and positions."""
        ids = self._session.ids()
        made = Sample(ids, [0] * len(ids), ["prompt"] * len(ids), [None] * len(ids), [None] * len(ids), list(range(len(ids))))
        at, turn = self._first, 0
        for step in self._steps:
            if step.sampled is None:
                at += step.added
                continue
            for number, kind in enumerate(self._kinds(step.sampled, self._kinds_so_far() if step.kinds is None else step.kinds)):
                made.loss_mask[at + number] = 1
                made.kinds[at + number] = kind
                made.turns[at + number] = turn
                if step.logprobs is not None:
                    made.logprobs[at + number] = step.logprobs[number]
            at += len(step.sampled)
            turn += 1
        return made

    def _kinds(self, ids: list[int], ranges: list[tuple[str, int, int]]) -> list[str]:
        """The kind of each sampled token: that of its first byte."""
        kinds, byte, at = [], 0, 0
        for id in ids:
            while at < len(ranges) - 1 and ranges[at][2] <= byte:
                at += 1
            kinds.append(ranges[at][0] if ranges else "marker")
            byte += len(self._tokenizer.decode([id]))
        return kinds

    # ---- branches

    @alone
    def branch(self: _Kind) -> _Kind:
        """A session with the same history that goes on by itself. Nothing is rendered or encoded for it."""
        made = object.__new__(type(self))
        made.__dict__ = {**self.__dict__, "_in_use": _InUse(), "_session": self._session.copy(), "_steps": list(self._steps)}
        if self._reader is not None:  # both may go on with the reply
            made._steps[-1] = made._steps[-1].copy()
            made._reader = self._reader.copy()
        return made

    def __copy__(self: _Kind) -> _Kind:
        return self.branch()

    def __deepcopy__(self: _Kind, memo: dict[int, Any]) -> _Kind:
        made = memo[id(self)] = self.branch()
        vars(made).update(copy.deepcopy(self._put_on(), memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.to_dict(), self._template, self._given_tokenizer), self._put_on() or None

    def _put_on(self) -> dict[str, Any]:
        """What is there beside the session's own."""
        return {name: value for name, value in vars(self).items() if name not in self._own}

    def __repr__(self) -> str:
        return f"<Session {self._session.size()} ids, {self._replies()} replies>"

    def _replies(self) -> int:
        return sum(step.sampled is not None for step in self._steps)

    @alone
    def trim(self, replies: int) -> None:
        """Goes back to where the session had so many replies and the next one was to be sampled: trim(0) keeps no reply, and what was
        added before the first. All that is kept is encoded again.

        Raises ValueError if there are not so many replies.
        """
        if not 0 <= operator.index(replies) <= self._replies():
            raise of_argument(ValueError, f"the session has {self._replies()} replies: trim() takes 0 to {self._replies()}, not {replies}")
        sampled = [number for number, step in enumerate(self._steps) if step.sampled is not None]
        self._replay(self._steps[: sampled[replies]] if replies < len(sampled) else self._steps)

    def _replay(self, steps: list[Step]) -> None:
        """Has these steps alone. What raises meanwhile, such as Ctrl-C, changes nothing."""
        made = object.__new__(type(self))
        made.__dict__ = {**vars(self), "_in_use": _InUse(), "_steps": [], "_reader": None, "_is_stale": False, "_is_torn": False}
        made._begin(warns=False)
        for number, step in enumerate(steps):
            if step.sampled is not None:
                made._append(step.sampled, None if step.logprobs is None else step.logprobs[: len(step.sampled)])
                made._steps[-1].reply = step.reply if number + 1 < len(steps) else None
            else:
                new = made._session.extend(step.messages or [], step.trust)
                made._settle()
                made._steps.append(dataclasses.replace(step, added=len(new)))
        vars(self).update({name: vars(made)[name] for name in _REPLAYED})

    def _mend(self) -> None:
        """After a call that has not come to its end: the ids are made anew of the steps, which are whole."""
        if self._is_torn:
            if self._session._is_left():
                _LEFT.append(self._session)
            self._replay(self._steps)

    @alone
    def to_dict(self) -> dict[str, Any]:
        """The session as JSON can hold it, without the template and the tokenizer."""
        steps = [step.to_dict() for step in self._steps]
        return {
            **copy.deepcopy(self._request),
            "variables": copy.deepcopy(self._variables),
            "now": self._now.isoformat(),
            **copy.deepcopy(self._options),
            "steps": steps,
            "digest": self._digest(),
        }

    def _digest(self) -> str:
        """Tells sessions with other ids apart."""
        return hashlib.sha256(",".join(map(str, self._session.ids())).encode()).hexdigest()[:16]

    @classmethod
    def from_dict(cls: type[_Kind], data: dict[str, Any], template: Template, tokenizer: Any) -> _Kind:
        """A session from what to_dict() gave.

        Raises parlance.Error, also ValueError, if this template or tokenizer gives other ids than the session had; for data that to_dict()
        cannot have given with the path of what is wrong: also KeyError for what is missing, TypeError for what is of another type.
        """
        return _of_dict(cls, data, template, tokenizer)


def _of_dict(make: Callable[..., _Kind], data: dict[str, Any], template: Template, tokenizer: Any) -> _Kind:
    moment = check_kept(data)
    session = make(
        template,
        tokenizer,
        data["messages"],
        data["tools"],
        data["documents"],
        protect=data["protect"],
        trust=data["trust"],
        plain_added=data.get("plain_added", False),  # which earlier versions did not have
        add_special_tokens=data.get("add_special_tokens", False),
        now=moment,
        **data["variables"],
    )
    steps = [Step(**step) for step in data["steps"]]
    for step in steps:
        step.logprobs = _logprobs(step.logprobs)
    session._replay(steps)
    if session._digest() != data["digest"]:
        raise of_object(ValueError, "", "this template or tokenizer gives other ids than the session had")
    return session


def _unpickled(kind: type[_Kind], data: dict[str, Any], template: Template, tokenizer: Any) -> _Kind:
    """Without what a derived class has in place of __init__, which may take other arguments: what it set is in the pickle."""

    def make(*args: Any, **kwargs: Any) -> _Kind:
        made = kind.__new__(kind)
        Session.__init__(made, *args, **kwargs)
        return made

    return _of_dict(make, data, template, tokenizer)


def _plain_members(members: dict[str, Any]) -> dict[str, Any]:
    """As JSON has them; raises with the path in the request."""
    try:
        made: dict[str, Any] = _plain_value(members)
    except Error as error:
        raise of_member(error) from error.__cause__
    return made


def _plain_documents(documents: Any) -> list[Any]:
    is_list = isinstance(documents, Iterable) and not isinstance(documents, (str, bytes, Mapping))
    made = _plain_members({"documents": list(documents) if is_list else documents})["documents"]
    if not isinstance(made, list):
        raise of_object(ValueError, "documents", f"a list is needed, not a {type(documents).__name__}")
    return made


def _logprobs(given: Iterable[Any] | None) -> list[float | None] | None:
    return None if given is None else [None if one is None else _logprob(one) for one in given]


def _logprob(given: Any) -> float:
    """NumPy's numbers too, and texts that to_dict() made."""
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise of_argument(type(error), f"a logprob is a number or None, not {given!r}") from None


def _ids(given: Iterable[Any]) -> list[int]:
    if isinstance(given, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"a session takes the ids that were sampled, not a {type(given).__name__}")
    return [operator.index(id) for id in given]  # of NumPy too


def _is_assistant(messages: list[Any]) -> bool:
    return bool(messages) and isinstance(messages[0], dict) and messages[0].get("role") == "assistant"


__all__ = ["Error", "Sample", "Session"]
