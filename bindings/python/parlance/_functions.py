"""Pickles of the extension's functions and methods: a method has what it is bound to, all else its name.

So `pool.map(template.render, chats)` and `pool.submit(parlance.read, …)` work in other processes.
"""

from __future__ import annotations

import copyreg

from parlance import _core

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

# Extensions may share nanobind's kinds of functions: those of others are as they were.
_BEFORE = {kind: copyreg.dispatch_table.get(kind) for kind in _core._KINDS_OF_FUNCTIONS}


def _reduced(function: Any) -> Any:
    if function.__module__ != _core.__name__:
        before = _BEFORE[type(function)]
        if before is None:
            raise TypeError(f"cannot pickle {type(function).__name__!r} object")
        return before(function)
    bound_to = getattr(function, "__self__", None)
    return function.__qualname__ if bound_to is None else (getattr, (bound_to, function.__name__))


def make_pickled() -> None:
    for kind in _BEFORE:
        copyreg.pickle(kind, _reduced)
