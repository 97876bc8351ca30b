"""Private characters that carry what is known of a prompt through a processor, which expands its placeholders.

A processor gets the prompt with marks: each forged text is one opaque mark, so that no processor takes it for a placeholder, and marks
stand at both ends of what is learnt. The tokenizer that the processor calls takes the marks out again. Begin reading at Marks.mark.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from parlance._origins import Ranges, merged

_FIRST, _LAST = 0x10F000, 0x10FFF0  # of a plane for private use


class Unmarked(NamedTuple):
    """A text without its marks."""

    text: str
    forged: Ranges
    learnt: Ranges
    # Where the marked text's places went: from each place in the first list on, the place in the second.
    marked: list[int]
    plain: list[int]

    def place(self, marked: int) -> int:
        """The place in the text of a place in the marked text."""
        i = bisect.bisect_right(self.marked, marked) - 1
        return self.plain[i] + marked - self.marked[i]


class Marks:
    """The marks of one call: four characters that none of its prompts has."""

    def __init__(self, texts: Sequence[str]):
        used = set().union(*texts)
        free = [first for first in range(_FIRST, _LAST, 4) if not any(chr(first + i) in used for i in range(4))]
        if not free:
            raise ValueError("the conversation has all private characters that could mark it")
        self._open, self._close, self._begin, self._end = (chr(free[0] + i) for i in range(4))
        self._pattern = re.compile(f"{self._open}(\\d+){self._close}|{self._begin}|{self._end}")
        self._forged: list[str] = []

    def mark(self, text: str, forged: Iterable[tuple[int, int]], learnt: Iterable[tuple[int, int]]) -> str:
        """The text with marks. A range of `learnt` that begins with the text has a mark at its end alone, since a processor looks for a
        special token at the beginning."""
        opaque, learnt = (
            merged((begin, min(end, len(text))) for begin, end in ranges if begin < min(end, len(text))) for ranges in (forged, learnt)
        )
        marks = [(begin, 1, self._opaque(text[begin:end])) for begin, end in opaque]
        # A forged text is learnt as a whole or not at all.
        whole = [one for one in opaque if any(begin < one[1] and one[0] < end for begin, end in learnt)]
        for begin, end in merged([*learnt, *whole]):
            marks += [(begin, 0, self._begin)] if begin else []
            marks.append((end, -1, self._end))
        pieces: list[str] = []
        at = 0
        skipped = dict(opaque)
        for where, is_text, mark in sorted(marks, key=lambda one: one[:2]):
            pieces += (text[at:where], mark)
            at = skipped[where] if is_text == 1 else max(at, where)
        return "".join(pieces) + text[at:]

    def _opaque(self, text: str) -> str:
        self._forged.append(text)
        return f"{self._open}{len(self._forged) - 1}{self._close}"

    def unmark(self, marked: str) -> Unmarked:
        """The text that a marked and expanded one stands for."""
        out = Unmarked("", [], [], [0], [0])
        pieces: list[str] = []
        at = size = began = 0
        for found in self._pattern.finditer(marked):
            pieces.append(marked[at : found.start()])
            size += found.start() - at
            at = found.end()
            if found.group(1) is not None:
                pieces.append(self._forged[int(found.group(1))])
                out.forged.append((size, size + len(pieces[-1])))
                size += len(pieces[-1])
            elif found.group() == self._begin:
                began = size
            else:
                out.learnt.append((began, size))
            out.marked.append(at)
            out.plain.append(size)
        return out._replace(text="".join(pieces) + marked[at:])
