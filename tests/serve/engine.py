"""An engine by script: llama-server's /completion, with replies that a test decides, and the faults that engines have.

It samples byte by byte, so that encoding its replies again would give other ids, as real models' replies do. It remembers each request.
Begin reading at Engine.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests" / "tokenizers" / "chatml"


class Vocabulary:
    """The test tokenizer's ids, for single bytes and control tokens."""

    def __init__(self, folder: pathlib.Path = TOKENIZER) -> None:
        tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        added = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self.special = {token["content"]: token["id"] for token in tokenizer["added_tokens"] if token["special"]}
        self.names = {number: text for text, number in added.items()}
        alphabet = _byte_alphabet()
        self.bytes = {byte: tokenizer["model"]["vocab"][character] for byte, character in alphabet.items()}
        letters = {character: byte for byte, character in alphabet.items()}
        self.texts = {number: bytes(letters[c] for c in text) for text, number in tokenizer["model"]["vocab"].items() if text not in added}
        self.texts |= {number: text.encode() for number, text in self.names.items()}

    def encode(self, text: str) -> list[int]:
        """Special tokens by name, everything else byte by byte."""
        ids, at = [], 0
        while at < len(text):
            found = next((name for name in self.special if text.startswith(name, at)), None)
            if found:
                ids.append(self.special[found])
                at += len(found)
            else:
                ids += [self.bytes[byte] for byte in text[at].encode()]
                at += 1
        return ids

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.texts[one] for one in ids).decode("utf-8", "replace")


def _byte_alphabet() -> dict[int, str]:
    """The characters that byte-level vocabularies write bytes as."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in shown]
    return {byte: chr(byte) for byte in shown} | {byte: chr(256 + number) for number, byte in enumerate(others)}


@dataclasses.dataclass
class Reply:
    """What the engine does with one request."""

    text: str = "Yes.<|im_end|>"
    ids: list[int] | None = None  # in place of the text's
    length: bool = False  # a limit of tokens ends it
    status: int = 200
    body: str = ""  # of an answer that is an error, or no answer at all
    die_after: int = -1  # tokens
    stall_after: int = -1
    pause: float = 0  # seconds before each token
    first: float = 0  # seconds before the answer, as for a long prompt
    fails: str = ""  # is said in the stream, in place of its end
    raw: bytes = b""  # is sent in place of HTTP
    logprob: float = -0.5


@dataclasses.dataclass
class Asked:
    """One request that the engine got."""

    path: str
    body: dict[str, Any]
    begun: float = 0
    ended: float = 0  # just before the last token was sent, or when its client was gone: who has the answer finds it set
    cut: bool = False  # its client was gone

    @property
    def prompt(self) -> list[int]:
        ids: list[int] = self.body["prompt"]
        return ids


class Engine:
    """Serves on the loopback until close(). `script` says what to do with a request."""

    def __init__(self, script: Callable[[Asked], Reply] | None = None) -> None:
        self.vocabulary = Vocabulary()
        self.script = script or (lambda asked: Reply())
        self.asked: list[Asked] = []
        self.cache: list[int] = []  # of the one slot
        self.loads = 0  # so many requests are answered with 503 first, as while a model is loaded
        engine = self

        class Handler(socketserver.StreamRequestHandler):
            disable_nagle_algorithm = True

            def handle(self) -> None:
                while engine._answer(self):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 512

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that is gone is no error."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, handler: socketserver.StreamRequestHandler) -> bool:
        """One request. May there be another?"""
        line = handler.rfile.readline().decode()
        if not line:
            return False
        method, path, _ = line.split(" ", 2)
        size = 0
        while (header := handler.rfile.readline().strip().lower()) != b"":
            if header.startswith(b"content-length:"):
                size = int(header.split(b":")[1])
        body = json.loads(handler.rfile.read(size) or b"{}")
        if self.loads > 0:
            self.loads -= 1
            return self._send_whole(handler, 503, json.dumps({"error": {"message": "Loading model"}}))
        if method == "GET":
            return self._send_whole(handler, 200, json.dumps({"status": "ok"}))
        if path == "/tokenize":
            return self._send_whole(handler, 404, "{}")  # who needs it has scripted_engine.py
        asked = Asked(path, body, begun=time.monotonic())
        self.asked.append(asked)
        try:
            return self._complete(handler, asked)
        except (BrokenPipeError, ConnectionResetError):
            asked.cut = True
            return False
        finally:
            asked.ended = asked.ended or time.monotonic()

    def _send_whole(self, handler: socketserver.StreamRequestHandler, status: int, body: str) -> bool:
        data = body.encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        handler.wfile.write(head.encode() + data)
        return True

    def _complete(self, handler: socketserver.StreamRequestHandler, asked: Asked) -> bool:
        reply = self.script(asked)
        if reply.first and self._wait_for_the_end(handler, asked, reply.first):
            return False
        if reply.raw:
            handler.wfile.write(reply.raw)
            return False
        if reply.status != 200:
            return self._send_whole(handler, reply.status, reply.body or json.dumps({"error": {"message": "no"}}))
        kept, cache = 0, self.cache  # another thread may replace it
        while kept < min(len(cache), len(asked.prompt) - 1) and cache[kept] == asked.prompt[kept]:
            kept += 1
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        ids = self.vocabulary.encode(reply.text) if reply.ids is None else reply.ids
        for number, one in enumerate(ids):
            if number == reply.die_after:
                handler.connection.shutdown(socket.SHUT_RDWR)
                return False
            if number == reply.stall_after:
                self._wait_for_the_end(handler, asked, 60)
                return False
            if reply.pause and self._wait_for_the_end(handler, asked, reply.pause):
                return False
            event: dict[str, Any] = {"index": 0, "content": "", "tokens": [one], "stop": False}
            if "n_probs" in asked.body:
                event["completion_probabilities"] = [
                    {"id": one, "logprob": reply.logprob, "top_logprobs": [{"id": one, "logprob": reply.logprob}]}
                ]
            if number == len(ids) - 1:
                asked.ended = time.monotonic()
            self._event(handler, event)
        if reply.fails:
            self._event(handler, {"error": {"code": 500, "message": reply.fails}})
            return False
        self.cache = asked.prompt + ids[:-1]
        timings = {"prompt_n": len(asked.prompt) - kept, "cache_n": kept, "predicted_n": len(ids)}
        self._event(handler, {
            "index": 0, "content": "", "tokens": [], "stop": True, "stop_type": "limit" if reply.length else "eos",
            "tokens_predicted": len(ids), "tokens_evaluated": len(asked.prompt), "timings": timings,
        })  # fmt: skip
        handler.wfile.write(b"0\r\n\r\n")
        return True

    def _event(self, handler: socketserver.StreamRequestHandler, event: dict[str, Any]) -> None:
        data = b"data: " + json.dumps(event).encode() + b"\n\n"
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()

    def _wait_for_the_end(self, handler: socketserver.StreamRequestHandler, asked: Asked, seconds: float) -> bool:
        """Waits; true as soon as the client is gone."""
        handler.connection.settimeout(seconds)
        try:
            gone = handler.connection.recv(1, socket.MSG_PEEK) == b""
        except TimeoutError:
            gone = False
        except OSError:
            gone = True
        handler.connection.settimeout(None)
        asked.cut = asked.cut or gone
        return gone
