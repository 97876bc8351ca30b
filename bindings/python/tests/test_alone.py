"""A session that is in use: what a method that is called meanwhile does, of another thread and of a tokenizer that the session calls.

Begin reading at test_a_method_that_another_thread_is_in_the_way_of_changes_nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import parlance
import pytest
from test_results import ASKS

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO, BROKEN = list(b" No"), "no tokens today"


class Held:
    """A session whose tokenizer waits, in a thread that is within extend(), until it is let go."""

    def __init__(self, *, fails: bool) -> None:
        self.waits, self.fails = False, fails
        self.inside, self.go = threading.Event(), threading.Event()
        self.tokenizer = parlance.Tokenizer._from_callables(self.encode, lambda id: bytes([id]), [])
        self.session = parlance.Session(parlance.Template.from_string(TEMPLATE), self.tokenizer, [ASKS])
        self.session.sampled(list(b"Yes."))

    def encode(self, text: str) -> list[int]:
        if self.waits:
            self.inside.set()
            assert self.go.wait(60)
            if self.fails:
                raise OSError(BROKEN)
        return list(text.encode())

    def during_extend(self, do: Callable[[parlance.Session], Any]) -> None:
        """Does it while another thread is within extend()."""

        def extend() -> None:
            with contextlib.suppress(OSError, parlance.Error):
                self.session.extend([ASKS], advise=False)

        self.waits = True
        thread = threading.Thread(target=extend)
        thread.start()
        assert self.inside.wait(60)
        try:
            do(self.session)
        finally:
            self.go.set()
            thread.join()
            self.waits = False


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    "method",
    [
        lambda session: session.sampled(NO),
        lambda session: session.extend([ASKS]),
        lambda session: session.events(NO),
        lambda session: session.sample(),
        lambda session: session.branch(),
        lambda session: session.trim(0),
        lambda session: session.to_dict(),
    ],
)
def test_a_method_that_another_thread_is_in_the_way_of_changes_nothing(method: Callable[[parlance.Session], Any], fails: bool) -> None:
    held = Held(fails=fails)

    def refused(session: parlance.Session) -> None:
        with pytest.raises(RuntimeError, match="this session is in use already"):
            method(session)

    held.during_extend(refused)
    session, alone = held.session, Held(fails=False).session
    if not fails:
        alone.extend([ASKS])
    assert session.prompt_ids() == alone.prompt_ids() and session.sample() == alone.sample()
    assert session.sampled(NO).content == alone.sampled(NO).content
    assert session.sample() == alone.sample()


@pytest.mark.parametrize("method", [len, repr, lambda session: session.prompt_ids()])
def test_ids_are_not_read_while_they_change(method: Callable[[parlance.Session], Any]) -> None:
    def refused(session: parlance.Session) -> None:
        with pytest.raises(RuntimeError, match="in use already"):
            method(session)

    Held(fails=False).during_extend(refused)


def test_a_tokenizer_that_calls_its_session_is_told_so() -> None:
    said: list[str] = []

    def encode(text: str) -> list[int]:
        if sessions:
            with pytest.raises(RuntimeError) as caught:
                sessions[0].prompt_ids()
            said.append(str(caught.value))
        return list(text.encode())

    sessions: list[parlance.Session] = []
    tokenizer = parlance.Tokenizer._from_callables(encode, lambda id: bytes([id]), [])
    session = parlance.Session(parlance.Template.from_string(TEMPLATE), tokenizer, [ASKS])
    session.sampled(list(b"Yes."))
    sessions.append(session)
    session.extend([ASKS])
    assert said and not any("another thread" in one for one in said)


def test_a_tokenizer_that_fails_again_and_again_loses_nothing_of_a_reply() -> None:
    fails = False

    def text(id: int) -> bytes:
        if fails:
            raise OSError(BROKEN)
        return bytes([id])

    tokenizer = parlance.Tokenizer._from_callables(lambda text: list(text.encode()), text, [])
    session = parlance.Session(parlance.Template.from_string(TEMPLATE), tokenizer, [ASKS])
    session.sampled(list(b"Yes."))
    for _ in range(3):
        fails = True
        with pytest.raises(OSError, match=BROKEN):
            session.sampled(list(b"\x07\x08 Hm"))
        fails = False
    assert session.branch().sampled(NO).content == session.sampled(NO).content == "Yes. No"
    assert session.sample().kinds[-7:] == ["content"] * 7


def test_threads_that_meet_at_random_leave_a_session_of_one_of_them() -> None:
    template = parlance.Template.from_string(TEMPLATE)
    tokenizer = parlance.Tokenizer._from_callables(lambda text: list(text.encode()), lambda id: bytes([id]), [])
    new = {"role": "user", "content": "x" * 2000}
    for _ in range(30):
        session = parlance.Session(template, tokenizer, [ASKS])
        session.sampled(list(b"Yes."))
        outcomes: list[str] = []

        def extend(session: parlance.Session = session, outcomes: list[str] = outcomes) -> None:
            try:
                session.extend([new], advise=False)
                outcomes.append("went on")
            except (RuntimeError, parlance.Error) as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=extend) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = parlance.Session(template, tokenizer, [ASKS])
        alone.sampled(list(b"Yes."))
        for _ in range(outcomes.count("went on")):
            alone.extend([new])
        assert len(outcomes) == 4 and session.sample() == alone.sample()


@pytest.mark.parametrize("when", range(1, 60, 7))
def test_a_tokenizer_that_raises_leaves_a_session_as_it_was(when: int) -> None:
    calls = -1_000_000

    def text(id: int) -> bytes:
        nonlocal calls
        calls += 1
        if calls == when:
            raise OSError(BROKEN)
        return bytes([id])

    tokenizer = parlance.Tokenizer._from_callables(lambda text: list(text.encode()), text, [])
    session = parlance.Session(parlance.Template.from_string(TEMPLATE), tokenizer, [ASKS])
    session.sampled(list(b"Yes."))
    session.extend([ASKS])
    session.sampled(list(b"No."))
    for change in (lambda: session.extend([ASKS]), lambda: session.trim(1)):
        before = session.sample()
        calls = 0
        with contextlib.suppress(OSError):  # where it asks for so many texts
            change()
            before = session.sample()
        calls = -1_000_000
        assert session.sample() == before and session.prompt_ids() == before.ids
        assert parlance.Session.from_dict(session.to_dict(), session._template, tokenizer).sample() == before


def test_a_reader_whose_tokenizer_calls_the_session_that_feeds_it() -> None:
    said: list[str] = []

    def text(id: int) -> bytes:
        if sessions:
            try:
                sessions[0].sampled(NO)
            except RuntimeError as error:
                said.append(str(error))
        return bytes([id])

    sessions: list[parlance.Session] = []
    tokenizer = parlance.Tokenizer._from_callables(lambda text: list(text.encode()), text, [])
    session = parlance.Session(parlance.Template.from_string(TEMPLATE), tokenizer, [ASKS])
    sessions.append(session)
    session.sampled(list(b"Yes."))
    sessions.clear()
    assert said == ["this session is in use already: one call at a time, of one thread"] * 4
    assert session.prompt_ids()[-4:] == list(b"Yes.") and sum(session.sample().loss_mask) == 4


def test_what_makes_the_ids_and_messages_may_ask_the_session() -> None:
    held = Held(fails=False).session

    def ids() -> Iterator[int]:
        yield from b"No, " if held.prompt_ids() else b""
        yield from f"{len(held.messages)}".encode()

    held.extend([ASKS])
    assert held.sampled(ids()).content == "No, 3" and held.events(id for id in held.prompt_ids()[-5:] if len(held))
    size = len(held)
    held.extend({**ASKS, "content": f"{len(held.sample().ids)}, {len(held)}"} for _ in range(2))
    assert held.messages[-1]["content"] == f"{size}, {size}"
