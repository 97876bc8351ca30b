"""Steps: what a session keeps of its history, one change after the other, of which its ids can be made anew."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any


@dataclasses.dataclass
class Step:
    """One change of a session: what was sampled, or messages that were added."""

    sampled: list[int] | None = None
    logprobs: list[float | None] | None = None
    messages: list[Any] | None = None
    trust: list[str] = dataclasses.field(default_factory=list)  # paths of these messages
    added: int = 0  # ids
    kinds: list[tuple[str, int, int]] | None = None  # of what was sampled, by its bytes; None while more of it may come
    ended: bool = False  # with a token that ends replies
    reply: dict[str, Any] | None = None  # what was sampled as a message, once others follow it

    def add(self, sampled: list[int], logprobs: list[float | None] | None) -> None:
        """More of what was sampled. The ids are added last, and at once: without them the logprobs count for nothing."""
        before = self.sampled = [] if self.sampled is None else self.sampled
        if logprobs is not None or self.logprobs is not None:
            known: list[float | None] = [None] * len(before) if self.logprobs is None else self.logprobs
            del known[len(before) :]
            known += [None] * len(sampled) if logprobs is None else logprobs
            self.logprobs = known
        before += sampled

    def copy(self) -> Step:
        """With lists of its own of what was sampled."""
        lists = {name: None if one is None else list(one) for name, one in (("sampled", self.sampled), ("logprobs", self.logprobs))}
        return dataclasses.replace(self, **lists)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Without what reading the reply gives again. Logprobs that no JSON has are texts: "-inf", "nan"."""
        made = {name: copy.deepcopy(value) for name, value in vars(self).items() if name not in ("kinds", "ended")}
        if self.logprobs is not None:
            made["logprobs"] = [one if one is None or math.isfinite(one) else str(one) for one in self.logprobs]
        return made
