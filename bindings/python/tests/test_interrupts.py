"""Ctrl-C ends long calls, and a signal's handler runs while they last."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import parlance
import pytest

TEMPLATE = parlance.Template.builtin("terminal-agent")
_LONG = 1_000_000  # of conversations, which would take minutes
_AFTER = 0.3


@pytest.fixture(autouse=True)
def own_handlers() -> Any:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGUSR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int, after: float = _AFTER) -> None:
    threading.Timer(after, os.kill, (os.getpid(), number)).start()


def test_a_check_ends_with_what_the_handler_raises() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    send(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        parlance.check(TEMPLATE, count=_LONG)
    assert time.monotonic() - begin < _AFTER + 2
    assert parlance.check(TEMPLATE, count=2).holds


def test_a_check_goes_on_where_the_handler_does_not_raise() -> None:
    seen: list[float] = []

    def handler(number: int, frame: Any) -> None:
        seen.append(time.monotonic())
        if len(seen) == 2:
            raise TimeoutError("enough")

    signal.signal(signal.SIGUSR1, handler)
    send(signal.SIGUSR1)
    send(signal.SIGUSR1, 2 * _AFTER + 0.2)
    with pytest.raises(TimeoutError, match="enough"):
        parlance.check(TEMPLATE, count=_LONG)
    assert len(seen) == 2


class _Letters:
    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def _holds(session: parlance.Session, template: parlance.Template) -> None:
    """The session is what one is that has had the same turns."""
    kept = session.to_dict()
    assert parlance.Session.from_dict(kept, template, session._given_tokenizer).sample() == session.sample()


@pytest.mark.parametrize("name", ["sampled", "extend", "trim"])
def test_a_session_stays_whole_wherever_a_signal_ends_a_call(name: str) -> None:
    class Enough(BaseException):
        pass

    def handler(number: int, frame: Any) -> None:
        raise Enough

    template = parlance.Template.from_string("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>")
    letters, ends = parlance.tokenizer_of(_Letters()), 0
    reply, asks = letters.encode("Yes. " * 400), [{"role": "user", "content": "And? " * 100}]
    session = parlance.Session(template, letters, asks)
    session.sampled(reply)
    session.extend(asks)
    if name != "sampled":
        session.sampled(reply)
    calls = {"sampled": lambda one: one.sampled(reply), "extend": lambda one: one.extend(asks), "trim": lambda one: one.trim(1)}
    states = [[one.prompt_ids(), one.sample()] for one in (session.branch(), session.branch())]
    whole = session.branch()
    begin = time.perf_counter()
    calls[name](whole)
    takes = time.perf_counter() - begin
    states[1] = [whole.prompt_ids(), whole.sample()]
    signal.signal(signal.SIGUSR1, handler)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for number in range(150):
            one = session.branch()
            try:
                signal.setitimer(signal.ITIMER_REAL, takes * (number % 50 + 1) / 40)
                calls[name](one)
                time.sleep(takes * 2 + 0.01)
            except Enough:
                ends += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert [one.prompt_ids(), one.sample()] in states
            if number % 10 == 0:
                _holds(one, template)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ends
