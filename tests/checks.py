"""Checks: counts what a test has checked, and says what does not hold. For tests that are programs of their own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection
from typing import Any

SKIPPED = 77  # the exit code of a test that cannot run here


class Checks:
    """May be used from several threads."""

    def __init__(self) -> None:
        self.made = 0
        self.failed: list[str] = []
        self.lock = threading.Lock()

    def that(self, holds: Any, what: str, found: object = "") -> bool:
        """`found` is said where it does not hold."""
        with self.lock:
            self.made += 1
            if not holds:
                said = what if found == "" else f"{what}: {str(found)[:1500]}"
                self.failed.append(said)
                print("FAILED:", said, file=sys.stderr, flush=True)
        return bool(holds)

    def equal(self, got: Any, wanted: Any, what: str) -> bool:
        return self.that(got == wanted, f"{what}: {got!r}, not {wanted!r}")

    def each(self, things: Collection[Any], holds: Callable[[Any], Any], what: str) -> bool:
        """It holds of each, and there is one."""
        return self.that(things and all(holds(one) for one in things), what, things)

    def end(self) -> int:
        """The exit code of the test."""
        print(f"{self.made} checks, {len(self.failed)} failed")
        return 1 if self.failed or not self.made else 0
