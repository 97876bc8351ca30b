"""What one thread at a time may do with an object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from parlance._core import _InUse


class UsedAlone(Protocol):
    """An object that knows whether a call is within one of its methods."""

    _in_use: _InUse

    def _mend(self) -> None:
        """Called in front of each method, to go back to what there was before one that has not come to its end."""


P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound=UsedAlone)


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """The method, which raises RuntimeError, and changes nothing, while another call is in one of this object's: of another thread, or
    one that Python's code is called in, such as a tokenizer's. A child of fork() has none of the threads of its parent."""

    @functools.wraps(method)
    def entered(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._in_use:
            self._mend()
            return method(self, *args, **kwargs)

    return entered


__all__ = ["alone"]
