"""Calls of a reply as the package `renderers` has them: each attempt with its block's text, its tokens and how it went.

Begin reading at parsed_calls.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import itertools
import json
from collections.abc import Sequence, Set
from typing import Any

from renderers.base import ParsedToolCall, ToolCallParseStatus

from parlance._core import Message, ReplyEvent, Tokenizer

_OF_CALLS = ("call_begin", "marker", "arguments", "broken", "call_end", "malformed")


@dataclasses.dataclass
class _Block:
    """One attempt, by bytes of the reply."""

    begin: int
    end: int
    call: int | None = None  # None: it has no name, so that parlance reads it as content
    is_closed: bool = False
    fault: str = ""
    lacks_close: bool = False  # its arguments are all there, and what closes it is not


class ParsedReply:
    """`content` is without attempts at calls that have no name."""

    def __init__(self, message: Message, events: Sequence[ReplyEvent], ids: Sequence[int], tokenizer: Tokenizer, added: Set[int]) -> None:
        self._ids = list(ids)
        self._tokenizer = tokenizer
        self._added = added
        self._ends: list[int] = []
        for id in ids:
            self._ends.append((self._ends[-1] if self._ends else 0) + len(tokenizer.decode([id])))
        unnamed = self._unnamed(events)
        blocks = sorted([*_named(events), *unnamed], key=lambda block: block.begin)
        self.calls = [self._parsed(block, message) for block in blocks]
        self.content = message.content if not unnamed else self._content(events, unnamed)

    def _unnamed(self, events: Sequence[ReplyEvent]) -> list[_Block]:
        """Attempts of which not even the name could be read: they begin and end with control tokens."""
        found = []
        for event, after in itertools.pairwise(events):
            is_attempt = event.kind == "malformed" and after.kind == "content" and after.position <= event.position
            if not is_attempt:
                continue
            first, last = self._tokens(after.position, after.position + len(_encoded(after.source)))
            if first >= last or self._ids[first] not in self._added:
                continue
            close = next((place for place in range(first + 1, len(self._ids)) if self._ids[place] in self._added), len(self._ids))
            is_closed = close < len(self._ids) and event.fault != "cut"
            end = self._ends[close] if is_closed else self._ends[close - 1]
            found.append(_Block(after.position, end, None, is_closed, event.text))
        return found

    def _content(self, events: Sequence[ReplyEvent], unnamed: list[_Block]) -> str:
        kept = bytearray()
        left = collections.deque(sorted(unnamed, key=lambda block: block.begin))
        for event in events:
            if event.kind != "content":
                continue
            data, at = _encoded(event.source), event.position
            begin, end = at, at + len(data)
            while begin < end:
                while left and left[0].end <= begin:
                    left.popleft()
                until = min(left[0].begin, end) if left else end
                kept += data[begin - at : max(until, begin) - at]
                begin = min(left[0].end, end) if left and left[0].begin < end else end
        return kept.decode("utf-8", "replace")

    def _tokens(self, begin: int, end: int, *, with_blanks: bool = False) -> tuple[int, int]:
        """The tokens of these bytes, without blank ones at both ends, or only at their beginning."""
        first, last = bisect.bisect_right(self._ends, begin), bisect.bisect_left(self._ends, end) + 1
        last = min(last, len(self._ids))
        while first < last and not self._bytes_from(first, begin).strip():
            first += 1
        while not with_blanks and first < last and not self._text(last - 1, last).strip():
            last -= 1
        return first, last

    def _bytes_from(self, token: int, begin: int) -> bytes:
        """Those of a token that do not come before `begin`: one may be of content too."""
        data = self._tokenizer.decode([self._ids[token]])
        return data[max(begin - (self._ends[token] - len(data)), 0) :]

    def _text(self, first: int, last: int) -> str:
        return self._tokenizer.decode(self._ids[first:last]).decode("utf-8", "replace")

    def _raw(self, first: int, last: int) -> str:
        """The text between the control tokens that enclose a block."""
        while first < last and self._ids[first] in self._added:
            first += 1
        while first < last and self._ids[last - 1] in self._added:
            last -= 1
        return self._text(first, last).strip()

    def _parsed(self, block: _Block, message: Message) -> ParsedToolCall:
        span = self._tokens(block.begin, block.end, with_blanks=block.lacks_close)
        raw = self._raw(*span)
        call = message.calls[block.call] if block.call is not None else None
        name, id = (call.name or None, call.id or None) if call else (None, None)
        if call is not None and call.complete and (read := _loaded(call.arguments)) is not _UNREADABLE:
            status = ToolCallParseStatus.UNCLOSED_BLOCK if block.lacks_close else ToolCallParseStatus.OK
            return ParsedToolCall(raw, name, read, span, status, id)
        if not block.is_closed:
            return ParsedToolCall(raw, name, call.arguments or None if call else None, span, ToolCallParseStatus.UNCLOSED_BLOCK, id)
        read = _loaded(raw)
        if read is _UNREADABLE:
            return ParsedToolCall(raw, name, call.arguments or None if call else None, span, ToolCallParseStatus.INVALID_JSON, id)
        arguments = read.get("arguments", read.get("parameters", {})) if isinstance(read, dict) else {}
        return ParsedToolCall(raw, name, arguments, span, ToolCallParseStatus.OK if name else ToolCallParseStatus.MISSING_NAME, id)


def _encoded(source: str) -> bytes:
    """What a reply says may be no text: half of a pair of surrogates, say."""
    return source.encode("utf-8", "surrogatepass")


_UNREADABLE = object()


def _loaded(text: str) -> Any:
    """JSON as Python reads it: also NaN, but neither numbers of thousands of digits nor lists in lists without end."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _named(events: Sequence[ReplyEvent]) -> list[_Block]:
    found: list[_Block] = []
    is_open = ended = False
    for event in events:
        if event.kind == "call_begin":
            found.append(_Block(event.position, event.position, event.call))
            is_open, ended = True, False
        is_open = is_open and event.kind in _OF_CALLS
        if is_open:
            block = found[-1]
            block.lacks_close = block.lacks_close or (
                ended and event.kind == "malformed" and event.fault == "syntax" and not block.is_closed
            )
            block.end = max(block.end, event.position + len(_encoded(event.source)))
            block.is_closed = block.is_closed or (ended and event.kind == "marker")
            ended = ended or event.kind == "call_end"
    return found
