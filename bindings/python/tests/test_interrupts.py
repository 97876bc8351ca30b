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
