"""An engine that answers at once, in a process of its own: llama-server's wire, for tests that ask it a thousand times a second."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

from engine import Vocabulary

REPLIES = (
    "Yes.<|im_end|>",
    "<think>\nIt is 1 €.\n</think>\n\nNo.<|im_end|>",
    '\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call><|im_end|>',
    '{"a": 1}<|im_end|>',
    "",
)


def _whole(body: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def _stream(ids: list[int]) -> bytes:
    events: list[dict[str, Any]] = [
        {
            "tokens": [one],
            "content": "",
            "stop": False,
            "completion_probabilities": [{"id": one, "logprob": -0.5, "top_logprobs": [{"id": one, "logprob": -0.5}]}],
        }
        for one in ids
    ]
    end = {"tokens": [], "content": "", "stop": True, "stop_type": "eos", "tokens_predicted": len(ids), "timings": {"prompt_n": 3}}
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end])
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


class _Wire(asyncio.Protocol):
    streams: tuple[bytes, ...] = ()
    transport: asyncio.Transport

    def __init__(self) -> None:
        self.got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.got += data
        while True:
            head, found, rest = self.got.partition(b"\r\n\r\n")
            if not found:
                return
            lower = head.lower()
            size = int(lower.split(b"content-length: ")[1].split(b"\r\n")[0]) if b"content-length: " in lower else 0
            if len(rest) < size:
                return
            self.got = rest[size:]
            if head.startswith(b"POST /completion"):
                self.transport.write(self.streams[size % len(self.streams)])
            elif head.startswith(b"GET /props"):
                self.transport.write(_whole('{"default_generation_settings": {"n_ctx": 65536}}'))
            elif head.startswith(b"POST /tokenize"):
                self.transport.write(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
            else:
                self.transport.write(_whole('{"status": "ok"}'))


async def _serve(tell: Connection) -> None:
    vocabulary = Vocabulary()
    _Wire.streams = tuple(_stream(vocabulary.encode(text)) for text in REPLIES)
    server = await asyncio.get_running_loop().create_server(_Wire, "127.0.0.1", 0, backlog=512)
    tell.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _run(tell: Connection) -> None:
    asyncio.run(_serve(tell))


class FastEngine:
    """Ends with its `with`, or with the program."""

    def __enter__(self) -> FastEngine:
        here, there = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=_run, args=(there,), daemon=True)
        self.process.start()
        there.close()  # so that the end of the process is seen here
        self.url = f"http://127.0.0.1:{here.recv()}"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()
