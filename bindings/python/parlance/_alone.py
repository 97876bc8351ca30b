"""What one thread at a time may do with an object."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class HasLock(Protocol):
    """An object with a lock of its own: an RLock, so that its methods may call each other."""

    _lock: Any


P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound=HasLock)


def new_lock() -> Any:
    return threading.RLock()


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """The method, which raises RuntimeError, and changes nothing, while another thread is in one of this object's."""

    @functools.wraps(method)
    def entered(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("this session is in another thread: one may use it at a time")
        try:
            return method(self, *args, **kwargs)
        finally:
            self._lock.release()

    return entered


__all__ = ["alone", "new_lock"]
