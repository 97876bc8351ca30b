"""Calls of a reply as the package `renderers` has them: each attempt with its block's text, its tokens and how it went.

Begin reading at parsed_calls.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import json
from collections.abc import Sequence, Set

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
            first, last = self._tokens(after.position, after.position + len(after.source.encode()))
            if not is_attempt or first >= last or self._ids[first] not in self._added:
                continue
            close = next((place for place in range(first + 1, len(self._ids)) if self._ids[place] in self._added), len(self._ids))
            is_closed = close < len(self._ids) and event.fault != "cut"
            end = self._ends[close] if is_closed else self._ends[close - 1]
            found.append(_Block(after.position, end, None, is_closed, event.text))
        return found

    def _content(self, events: Sequence[ReplyEvent], unnamed: list[_Block]) -> str:
        kept = b""
        for event in events:
            if event.kind == "content":
                data, at = event.source.encode(), event.position
                kept += bytes(byte for i, byte in enumerate(data) if not any(one.begin <= at + i < one.end for one in unnamed))
        return kept.decode("utf-8", "replace")

    def _tokens(self, begin: int, end: int) -> tuple[int, int]:
        """The tokens of these bytes, without blank ones at both ends."""
        first, last = bisect.bisect_right(self._ends, begin), bisect.bisect_left(self._ends, end) + 1
        last = min(last, len(self._ids))
        while first < last and not self._bytes_from(first, begin).strip():
            first += 1
        while first < last and not self._text(last - 1, last).strip():
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
        span = self._tokens(block.begin, block.end)
        raw = self._raw(*span)
        call = message.calls[block.call] if block.call is not None else None
        name, id = (call.name or None, call.id or None) if call else (None, None)
        if call is not None and call.complete:
            return ParsedToolCall(raw, name, json.loads(call.arguments), span, ToolCallParseStatus.OK, id)
        if not block.is_closed:
            return ParsedToolCall(raw, name, call.arguments or None if call else None, span, ToolCallParseStatus.UNCLOSED_BLOCK, id)
        try:
            read = json.loads(raw)  # also NaN, and arguments that are no object
        except ValueError:
            return ParsedToolCall(raw, name, call.arguments or None if call else None, span, ToolCallParseStatus.INVALID_JSON, id)
        if not isinstance(read, dict):
            return ParsedToolCall(raw, name, None, span, ToolCallParseStatus.MALFORMED_STRUCTURE, id)
        arguments = read.get("arguments", read.get("parameters"))
        return ParsedToolCall(raw, name, arguments, span, ToolCallParseStatus.OK if name else ToolCallParseStatus.MISSING_NAME, id)


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
            block.end = max(block.end, event.position + len(event.source.encode()))
            block.is_closed = block.is_closed or (ended and event.kind == "marker")
            ended = ended or event.kind == "call_end"
    return found
