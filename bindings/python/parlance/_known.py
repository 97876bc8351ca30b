"""The conversations that a renderer has made prompts of, by the ids of these. Begin reading at Conversations."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from parlance._core import _plain_tools

# So many tokens all prompts together have: a token is a few bytes of messages.
MOST_TOKENS = 1 << 24

# Of all of them, since it is held for a moment. A signal's handler may come in between, so it is an RLock.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child finds it free, and what it guards whole
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class _Known(NamedTuple):
    messages: Sequence[Any]
    tools: list[Any] | None
    tokens: int


class Conversations:
    """Those that were asked for last stay. What is kept nobody else may change: plain messages, which several may share.   Threads: any."""

    def __init__(self, most: int = MOST_TOKENS) -> None:
        self._most = most
        self._tokens = 0
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._tools: list[Any] | None = None  # the last ones, which mostly are those of all

    def __len__(self) -> int:
        return len(self._known)

    def add(self, ids: Sequence[int], messages: Sequence[Any], tools: Sequence[Any] | None) -> None:
        """The last one stays, of however many tokens."""
        plain, last = None if tools is None else _plain_tools(tools), self._tools
        if plain == last:
            plain = last
        key, known = _key(ids), _Known(tuple(messages), plain, len(ids))
        with _LOCK:
            self._tools = plain
            self._drop(key)
            self._known[key] = known
            self._tokens += len(ids)
            while self._tokens > self._most and len(self._known) > 1:
                self._drop(next(iter(self._known)))

    def get(self, ids: Sequence[int]) -> tuple[Sequence[Any] | None, list[Any] | None]:
        """The messages and the tools; None and None if they are not known."""
        key = _key(ids)
        with _LOCK:
            found = self._known.get(key)
            if found is None:
                return None, None
            self._known.move_to_end(key)
        return found.messages, found.tools

    def copy(self) -> Conversations:
        made = Conversations(self._most)
        with _LOCK:
            made._tokens, made._known, made._tools = self._tokens, self._known.copy(), self._tools
        return made

    def _drop(self, key: bytes) -> None:
        dropped = self._known.pop(key, None)
        self._tokens -= dropped.tokens if dropped is not None else 0


def _key(ids: Sequence[int]) -> bytes:
    """Some bytes in place of all the ids."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).digest()
