"""Events of a reply that arrives piece by piece: what ReplyReader.stream() and astream() do."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parlance._core import ReplyEvent, ReplyReader

    Piece = str | bytes | bytearray | memoryview | int | Iterable[int]


def stream(reader: ReplyReader, pieces: Iterable[Piece]) -> Iterator[ReplyEvent]:
    """The events of each piece as soon as it is there, then those of the end."""
    for piece in pieces:
        yield from reader.feed(piece)
    yield from reader.finish()


async def astream(reader: ReplyReader, pieces: AsyncIterable[Piece]) -> AsyncIterator[ReplyEvent]:
    """The same for an asynchronous source."""
    async for piece in pieces:
        for event in reader.feed(piece):
            yield event
    for event in reader.finish():
        yield event
