#!/usr/bin/env python3
"""An engine that answers by a script, for tests of the gateway. Standard library only.

    scripted_engine.py --script FILE [--tokenizer FOLDER] [--port N]     prints its URL on standard output

It speaks, on one port: llama.cpp's server (/completion, /health, /tokenize, /props), vLLM (/v1/completions, /v1/models, /tokenize),
SGLang (/generate), a server of OpenAI's completions that knows text alone (with `plain`), and Ollama (/api/generate, /api/tags,
/api/show).

A script is an object. `replies` is the list of replies; each request for one takes the next, and the last is given again and again:

    ids or text   what is sampled; a text becomes ids with the tokenizer, control tokens and all
    logprobs      of each id; else token n has -0.5 * (n + 1). The alternatives of a token are the ids that follow it in the vocabulary.
                  Token n of a prompt has -0.25 * n, and no alternatives
    cached        tokens of the prompt that were in the engine's cache (0)
    finish        "stop" or "length"
    per_event     tokens in an event (1)

and what goes wrong, each without effect unless it is there:

    delay         seconds before each event
    piece         bytes that are sent at a time
    hang          true: nothing comes, not even a header
    status        the request is refused with this status, `message` is what the error says
    stall_after   so many events, then nothing
    die_after     so many events, then the connection is reset
    error_after   so many events, then an error as this engine writes it, with `message` and `code` (500)
    garbage_after so many events, then a line that is no JSON
    end_after     so many events, then the end of the body, as if all were well
    not_http      true: the answer is no HTTP
    late          seconds before the header
    dies          true: the connection is reset, before the header
    close_kept    true: says that the connection stays open, and closes it behind the reply
    drop_next     true: the next request on this connection is read and never answered: the connection is closed

Other members of a script, which all replies share:

    context       tokens (4096)
    made_for      tokens that Ollama's model was made for (4096)
    facts         more of what Ollama's /api/show says of its model
    model         the name of the model ("scripted")
    plain         true: /v1/completions takes no ids, and gives none; a status: that of its refusal (400)
    cuts          tokens: /v1/completions and Ollama read no more of a prompt, and say so by their figures alone
    first         the id, or the ids, that a server of text alone, and Ollama, put in front of each text by themselves
    splits        true: these count a token more in a text with an emoji
    questions     what goes wrong with texts of which the gateway asks how many tokens they have, one after the other, as in replies
    needs_model   true: /v1/completions refuses a request without the member `model`
    knows         members: /v1/completions refuses all others
    shows         false: a server of Ollama's API that has no /api/show
    one_by_one    true: while a reply is sampled, /v1/models is not answered
    no_logprobs   true: /v1/completions and Ollama give none, whatever they are asked for
    chat_logprobs true: it gives logprobs as chats have them, as llama.cpp's server does
    tokens        false: /tokenize is not found; a list: it gives these ids whatever it is asked
    unready       a status that /health gives
    ready         a status that /ready gives; else there is no such route
    incremental   true: /generate sends only new ids in each event

In a test: `engine = ScriptedEngine(tokenizer).start()`, then `engine.script(...)`, `engine.requests`, `engine.stop()`. Over HTTP: POST
/scripted/script, GET /scripted/requests. Begin reading at Connection.serve.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import pathlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]


def byte_characters() -> dict[int, str]:
    """The characters that byte-level vocabularies write bytes as."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    characters = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(256 + len(characters) - len(plain))
    return characters


class Tokenizer:
    """A tokenizer.json with byte-level BPE and GPT-2's way to split, which is enough for tests/tokenizers/chatml."""

    # Letters and digits as Python's re has them: they differ from Unicode's for signs such as '½'.
    WORDS = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")

    def __init__(self, folder: pathlib.Path) -> None:
        read = json.loads((folder / "tokenizer.json").read_text())
        self.vocabulary: dict[str, int] = read["model"]["vocab"]
        pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in read["model"]["merges"])
        self.ranks = {tuple(pair): rank for rank, pair in enumerate(pairs)}
        self.added = {token["content"]: token["id"] for token in read["added_tokens"]}
        self.characters = byte_characters()
        bytes_of = {character: byte for byte, character in self.characters.items()}
        self.pieces = {number: bytes(bytes_of[c] for c in text) for text, number in self.vocabulary.items() if text not in self.added}
        self.pieces |= {number: text.encode() for text, number in self.added.items()}
        self.split = re.compile("(" + "|".join(map(re.escape, self.added)) + ")")

    def word(self, word: str) -> Iterator[int]:
        parts = [self.characters[byte] for byte in word.encode()]
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda at: self.ranks.get((parts[at], parts[at + 1]), len(self.ranks)))
            if (parts[best], parts[best + 1]) not in self.ranks:
                break
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        return (self.vocabulary[part] for part in parts)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self.split.split(text):
            if part in self.added:
                ids.append(self.added[part])
            else:
                ids.extend(number for word in self.WORDS.findall(part) for number in self.word(word))
        return ids

    def bytes(self, ids: list[int]) -> bytes:
        return b"".join(self.pieces.get(number, b"") for number in ids)


@dataclasses.dataclass
class Record:
    """A request that the engine got."""

    number: int
    connection: int
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    at: float  # time.monotonic()
    ended: str = ""  # "done", "gone": the client left, "fault"; "": it is under way
    ended_at: float = 0.0
    events: int = 0

    def wait(self, events: int = 0, ended: str = "", seconds: float = 20) -> bool:
        """Waits until it has so many events, and ended so. False: it does not come to that."""
        until = time.monotonic() + seconds
        while (self.events < events or (ended and self.ended != ended)) and time.monotonic() < until:
            time.sleep(0.002)
        return self.events >= events and ended in ("", self.ended)


class Gone(Exception):
    """The client has left."""


class Fault(Exception):
    """The script ends the connection here."""


class Connection:
    """One connection of a client."""

    def __init__(self, engine: ScriptedEngine, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.engine, self.number, self.reader, self.writer = engine, number, reader, writer
        self.buffer = bytearray()
        self.came = asyncio.Event()
        self.gone = asyncio.Event()
        self.piece = 0
        self.drop_next = False

    async def pump(self) -> None:
        """Reads all the time, so that it is known at once when the client leaves."""
        with contextlib.suppress(OSError):
            while data := await self.reader.read(65536):
                self.buffer += data
                self.came.set()
        self.gone.set()
        self.came.set()

    async def until(self, enough: Callable[[], bool]) -> bool:
        while not enough():
            if self.gone.is_set():
                return False
            self.came.clear()
            await self.came.wait()
        return True

    async def request(self) -> Record | None:
        if not await self.until(lambda: b"\r\n\r\n" in self.buffer):
            return None
        head, _, _ = bytes(self.buffer).partition(b"\r\n\r\n")
        del self.buffer[: len(head) + 4]
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", "0"))
        if not await self.until(lambda: len(self.buffer) >= size):
            return None
        raw = bytes(self.buffer[:size])
        del self.buffer[:size]
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        return self.engine.record(self.number, method, path, headers, body)

    async def wait(self, seconds: float | None) -> None:
        """Waits, and raises Gone once the client has left. None: until then."""
        try:
            await asyncio.wait_for(self.gone.wait(), seconds)
        except asyncio.TimeoutError:
            return
        raise Gone

    async def send(self, data: bytes) -> None:
        for begin in range(0, len(data), self.piece or len(data) or 1):
            self.writer.write(data[begin : begin + (self.piece or len(data))])
            try:
                await self.writer.drain()
            except OSError as error:
                raise Gone from error
            if self.piece:
                await asyncio.sleep(0)  # each piece is a packet of its own
            if self.gone.is_set():
                raise Gone

    async def answer(self, status: int, body: Any, kind: str = "application/json") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        await self.send(head.encode() + data)

    async def stream(self, record: Record, reply: Json, kind: str, events: Iterator[bytes], error: bytes) -> None:
        """Sends events as chunks, with the faults of the reply at their places."""
        await self.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        garbage = b"data: {garbage\n\n" if "event-stream" in kind else b"{garbage\n"
        for number, event in enumerate(events):
            if number == reply.get("stall_after"):
                await self.wait(None)
            if number == reply.get("die_after"):
                self.writer.transport.abort()
                raise Fault
            if number == reply.get("end_after"):
                break
            if number in (reply.get("error_after"), reply.get("garbage_after")):
                event = error if number == reply.get("error_after") else garbage
            if reply.get("delay"):
                await self.wait(reply["delay"])
            await self.send(b"%x\r\n%s\r\n" % (len(event), event))
            record.events += 1
            if event in (error, garbage):
                break
        await self.send(b"0\r\n\r\n")

    async def serve(self) -> None:
        pump = asyncio.create_task(self.pump())
        try:
            while record := await self.request():
                if self.drop_next:
                    record.ended = "fault"
                    break
                try:
                    keep = await self.engine.handle(self, record)
                    record.ended = "done"
                except Gone:
                    record.ended = "gone"
                    break
                except Fault:
                    record.ended = "fault"
                    break
                finally:
                    record.ended_at = time.monotonic()
                if not keep:
                    break
        finally:
            pump.cancel()
            self.writer.close()


class ScriptedEngine:
    """The engine: a script, what was asked, and a server in a thread of its own."""

    def __init__(self, tokenizer: pathlib.Path | None = None) -> None:
        self.tokenizer = Tokenizer(tokenizer) if tokenizer else None
        self.given: Json = {}
        self.replies: list[Json] = []
        self.requests: list[Record] = []
        self.connections = 0
        self.port = 0
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None

    def script(self, *replies: Json, **members: Any) -> ScriptedEngine:
        """Replaces the script, and forgets the requests so far."""
        with self.lock:
            self.given = members
            self.replies = list(replies)
            self.requests = []
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, path: str) -> list[Record]:
        """The requests to a path."""
        with self.lock:
            return [record for record in self.requests if record.path == path]

    def record(self, connection: int, method: str, path: str, headers: dict[str, str], body: Any) -> Record:
        with self.lock:
            made = Record(len(self.requests), connection, method, path, headers, body, time.monotonic())
            self.requests.append(made)
        return made

    def next_reply(self, stays: bool) -> Json:
        with self.lock:
            if not self.replies:
                return {"status": 500, "message": "the script has no reply"}
            return self.replies.pop(0) if len(self.replies) > 1 and not stays else self.replies[0]

    def ids_of(self, text: Any) -> list[int]:
        if not isinstance(text, str):
            return list(text or [])
        return self.tokenizer.encode(text) if self.tokenizer else list(text.encode())

    def text_of(self, ids: list[int]) -> str:
        data = self.tokenizer.bytes(ids) if self.tokenizer else bytes(number for number in ids if number < 256)
        return data.decode("utf-8", "replace")

    def is_sampling(self) -> bool:
        with self.lock:
            return any(record.events and not record.ended for record in self.requests)

    async def handle(self, connection: Connection, record: Record) -> bool:
        """Answers a request. False: the connection ends."""
        path = record.path.partition("?")[0]
        engines = {"/completion": LlamaServer, "/v1/completions": Completions, "/generate": Sglang, "/api/generate": Ollama}
        if path in engines:
            return await engines[path](self, connection, record).reply()
        if path == "/scripted/script":
            script = dict(record.body)
            self.script(*script.pop("replies", []), **script)
            await connection.answer(200, {})
        elif path == "/scripted/requests":
            await connection.answer(200, [dataclasses.asdict(one) for one in self.requests if one is not record])
        else:
            while self.given.get("one_by_one") and path == "/v1/models" and self.is_sampling():
                await connection.wait(0.01)
            status, body = self.about(path, record.body)
            await connection.answer(status, body)
        return True

    def about(self, path: str, body: Any) -> tuple[int, Any]:
        context, model = self.given.get("context", 4096), self.given.get("model", "scripted")
        tokens = self.given.get("tokens", True)
        if path == "/health":
            unready = self.given.get("unready", 200)
            return unready, {"status": "ok"} if unready == 200 else {"error": {"code": unready, "message": "Loading model"}}
        if path == "/ready" and "ready" in self.given:
            return self.given["ready"], b""
        if path == "/props":
            return 200, {"default_generation_settings": {"n_ctx": context}, "total_slots": 1}
        if path == "/v1/models":
            return 200, {"object": "list", "data": [{"id": model, "object": "model", "max_model_len": context}]}
        if path == "/api/tags":
            return 200, {"models": [{"name": model, "model": model}]}
        if path == "/api/show" and self.given.get("shows", True):
            known = body.get("model") == model
            facts = {"general.architecture": "x", "x.context_length": self.given.get("made_for", 4096)} | self.given.get("facts", {})
            return (200, {"model_info": facts}) if known else (404, {"error": f"model '{body.get('model')}' not found"})
        if path == "/api/version":
            return 200, {"version": "0.30.0"}
        if path == "/tokenize" and tokens is not False:
            ids = tokens if isinstance(tokens, list) else self.ids_of(body.get("content", body.get("prompt", "")))
            return 200, {"tokens": ids, "count": len(ids), "max_model_len": context}
        return 404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}

    def start(self, port: int = 0) -> ScriptedEngine:
        """Serves in a thread; `url` is known when it returns."""
        ready = threading.Event()

        async def run() -> None:
            server = await asyncio.start_server(self.accept, "127.0.0.1", port)
            self.loop = asyncio.get_running_loop()
            self.port = server.sockets[0].getsockname()[1]
            self.stopped = asyncio.Event()
            ready.set()
            async with server:
                await self.stopped.wait()

        self.thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self.thread.start()
        ready.wait()
        return self

    def stop(self) -> None:
        if self.loop and self.thread and self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.stopped.set)
            self.thread.join(5)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await Connection(self, self.connections, reader, writer).serve()


class Engine:
    """How one engine writes a reply. Those below have its wire."""

    kind = "text/event-stream"

    def __init__(self, engine: ScriptedEngine, connection: Connection, record: Record) -> None:
        self.engine, self.connection, self.record, self.body = engine, connection, record, record.body
        self.script = engine.next_reply(self.is_question())
        self.prompt = engine.ids_of(self.prompt_of())
        if isinstance(self.prompt_of(), str):
            first = engine.given.get("first", [])
            self.prompt = [*(first if isinstance(first, list) else [first]), *self.prompt]
            self.prompt += [0] * bool(engine.given.get("splits") and "\U0001f642" in self.prompt_of())
            if self.is_question() and engine.given.get("questions"):
                self.script = self.script | engine.given["questions"].pop(0)
        self.ids = engine.ids_of(self.script.get("ids", self.script.get("text", "")))
        self.length = self.script.get("finish") == "length"
        most = self.most()
        if isinstance(most, int) and 0 <= most < len(self.ids):
            self.ids, self.length = self.ids[:most], True
        self.cached = self.script.get("cached", 0)

    def prompt_of(self) -> Any:
        return self.body.get("prompt", "")

    def most(self) -> Any:
        return self.body.get("max_tokens")

    def is_question(self) -> bool:
        """Does the gateway ask it for itself, what it makes of a prompt? That takes no reply of the script."""
        return not self.body.get("stream") and self.most() == 1

    def alternatives(self) -> int | None:
        """How many alternatives of each token were asked for; None: no logprobs."""
        return None

    def refusal(self) -> str:
        """Why this request cannot be answered; "": it can."""
        return ""

    def logprob(self, number: int) -> float:
        given = self.script.get("logprobs")
        return given[number] if given else -0.5 * (number + 1)

    def others(self, number: int) -> list[tuple[int, float]]:
        """The token itself, and those that follow it in the vocabulary."""
        return [(self.ids[number] + step, self.logprob(number) - step) for step in range(self.alternatives() or 0)]

    def groups(self) -> Iterator[tuple[int, int]]:
        size = self.script.get("per_event", 1)
        return ((begin, min(begin + size, len(self.ids))) for begin in range(0, len(self.ids), size))

    def texts(self) -> list[str]:
        """The text of each group, whole characters alone."""
        texts, known = [], ""
        for _, end in self.groups():
            data = self.engine.tokenizer.bytes(self.ids[:end]) if self.engine.tokenizer else bytes(self.ids[:end])
            whole = data.decode("utf-8", "ignore")
            texts.append(whole[len(known) :])
            known = whole
        return texts

    def events(self) -> Iterator[Json]:
        raise NotImplementedError

    def frame(self, event: Json) -> bytes:
        return b"data: " + json.dumps(event).encode() + b"\n\n"

    def frames(self) -> Iterator[bytes]:
        yield from map(self.frame, self.events())
        yield b"data: [DONE]\n\n"

    def error(self, status: int, message: str) -> Json:
        return {"error": {"code": status, "message": message, "type": "invalid_request_error"}}

    async def reply(self) -> bool:
        script, connection = self.script, self.connection
        connection.piece = script.get("piece", 0)
        message = script.get("message", "scripted")
        if script.get("hang") or script.get("late"):
            await connection.wait(script.get("late"))
        if script.get("dies"):
            connection.writer.transport.abort()
            raise Fault
        if script.get("not_http"):
            await connection.send(b"I am no server of HTTP\r\n\r\n")
            raise Fault
        if "status" in script:
            await connection.answer(script["status"], self.error(script["status"], message))
        elif why := self.refusal():
            plain = self.engine.given.get("plain", True)
            status = 400 if plain is True else plain
            await connection.answer(status, self.error(status, why))
        elif self.body.get("stream", self.kind == "application/x-ndjson"):
            error = self.frame(self.error(script.get("code", 500), message))
            await connection.stream(self.record, script, self.kind, self.frames(), error)
        else:
            await connection.answer(200, self.whole())
        connection.drop_next = bool(script.get("drop_next"))
        return not script.get("close_kept")

    def whole(self) -> Json:
        return list(self.events())[-1]


def prompt_logprobs(prompt: list[int]) -> list[float | None]:
    return [None, *(-0.25 * number for number in range(1, len(prompt)))]


class LlamaServer(Engine):
    """llama.cpp's server, POST /completion."""

    def most(self) -> Any:
        return self.body.get("n_predict")

    def alternatives(self) -> int | None:
        return self.body.get("n_probs") or None

    def frames(self) -> Iterator[bytes]:
        return map(self.frame, self.events())

    def probability(self, number: int) -> Json:
        def one(token: int, logprob: float) -> Json:
            text = self.engine.text_of([token])
            return {"id": token, "token": text, "bytes": list(text.encode()), "logprob": logprob}

        return one(self.ids[number], self.logprob(number)) | {"top_logprobs": [one(*other) for other in self.others(number)]}

    def events(self) -> Iterator[Json]:
        for (begin, end), text in zip(self.groups(), self.texts(), strict=True):
            event = {"index": 0, "content": text, "tokens": self.ids[begin:end], "stop": False, "id_slot": 0}
            event |= {"tokens_predicted": end, "tokens_evaluated": len(self.prompt)}
            if not self.body.get("return_tokens"):
                event["tokens"] = []
            if self.alternatives() is not None:
                event["completion_probabilities"] = [self.probability(number) for number in range(begin, end)]
            yield event
        timings = {"cache_n": self.cached, "prompt_n": len(self.prompt) - self.cached, "predicted_n": len(self.ids)}
        yield {
            "index": 0, "content": "", "tokens": [], "stop": True, "stop_type": "limit" if self.length else "eos", "truncated": False,
            "tokens_predicted": len(self.ids), "tokens_evaluated": len(self.prompt), "timings": timings,
        }  # fmt: skip


class Completions(Engine):
    """vLLM's POST /v1/completions; with `plain`, that of a server that knows text alone."""

    def alternatives(self) -> int | None:
        wanted: int | None = self.body.get("logprobs")
        return wanted

    def refusal(self) -> str:
        given = self.engine.given
        if given.get("needs_model") and "model" not in self.body:
            return "model: field required"
        unknown = sorted(set(self.body) - set(given.get("knows", self.body)))
        if unknown:
            return f"extra inputs are not permitted: {unknown}"
        plain = given.get("plain") and not isinstance(self.body.get("prompt"), str)
        return "prompt must be a string" if plain else ""

    def token(self, number: int) -> str:
        return f"token_id:{number}" if self.body.get("return_tokens_as_token_ids") else self.engine.text_of([number])

    def chat_logprob(self, number: int) -> Json:
        tops = [{"token": self.token(other), "logprob": logprob} for other, logprob in self.others(number)]
        return {"id": self.ids[number], "token": self.token(self.ids[number]), "logprob": self.logprob(number), "top_logprobs": tops}

    def echoed(self, logprobs: Json | None) -> Json | None:
        """With those of the prompt in front, of whose first token there are none."""
        if logprobs is None or not self.body.get("echo"):
            return logprobs
        names = [self.token(one) for one in self.prompt]
        own = prompt_logprobs(self.prompt)
        top = [None if one is None else {name: one} for name, one in zip(names, own, strict=True)]
        front: Json = {"tokens": names, "token_logprobs": own, "top_logprobs": top, "text_offset": [0] * len(names)}
        return {name: front[name] + logprobs[name] for name in front}

    def logprobs(self, begin: int, end: int) -> Json | None:
        if (
            self.alternatives() is None
            or self.engine.given.get("no_logprobs")
            or (self.engine.given.get("chat_logprobs") and not self.alternatives())
        ):
            return None  # as llama.cpp's server, to which 0 is none
        numbers = range(begin, end)
        if self.engine.given.get("chat_logprobs"):
            return {"content": [self.chat_logprob(number) for number in numbers]}
        return {
            "tokens": [self.token(self.ids[number]) for number in numbers],
            "token_logprobs": [self.logprob(number) for number in numbers],
            "top_logprobs": [{self.token(other): logprob for other, logprob in self.others(number)} for number in numbers],
            "text_offset": [0 for _ in numbers],
        }

    def chunk(self, choices: list[Json], usage: Json | None = None) -> Json:
        made: Json = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": self.body.get("model"), "choices": choices}
        return made | ({"usage": usage} if usage else {})

    def usage(self) -> Json:
        read = min(len(self.prompt), self.engine.given.get("cuts", len(self.prompt)))
        made: Json = {"prompt_tokens": read, "completion_tokens": len(self.ids), "total_tokens": read + len(self.ids)}
        return made | ({} if self.engine.given.get("plain") else {"prompt_tokens_details": {"cached_tokens": self.cached}})

    def events(self) -> Iterator[Json]:
        finish = "length" if self.length else "stop"
        for (begin, end), text in zip(self.groups(), self.texts(), strict=True):
            logprobs = self.logprobs(begin, end) if begin else self.echoed(self.logprobs(begin, end))
            choice: Json = {"index": 0, "text": text, "logprobs": logprobs, "finish_reason": None}
            if end == len(self.ids):
                choice |= {"finish_reason": finish, "stop_reason": None}
            if self.body.get("return_token_ids") and not self.engine.given.get("plain"):
                choice["token_ids"] = self.ids[begin:end]
                if begin == 0:
                    choice["prompt_token_ids"] = self.prompt
            yield self.chunk([choice])
        if (self.body.get("stream_options") or {}).get("include_usage"):
            yield self.chunk([], self.usage())

    def whole(self) -> Json:
        finish = "length" if self.length else "stop"
        choice = {"index": 0, "text": "".join(self.texts()), "logprobs": self.logprobs(0, len(self.ids)), "finish_reason": finish}
        return self.chunk([choice], self.usage())


class Sglang(Engine):
    """SGLang's POST /generate."""

    def prompt_of(self) -> Any:
        return self.body.get("input_ids", self.body.get("text", ""))

    def most(self) -> Any:
        return self.body.get("sampling_params", {}).get("max_new_tokens", 128)

    def alternatives(self) -> int | None:
        return self.body.get("top_logprobs_num", 0) if self.body.get("return_logprob") else None

    def events(self) -> Iterator[Json]:
        incremental = self.engine.given.get("incremental", False)
        for (begin, end), text in zip(self.groups(), self.texts(), strict=True):
            first = begin if incremental else 0
            meta: Json = {"id": "1", "prompt_tokens": len(self.prompt), "completion_tokens": end, "cached_tokens": self.cached}
            meta["finish_reason"] = None
            if end == len(self.ids):
                meta["finish_reason"] = {"type": "length", "length": end} if self.length else {"type": "stop", "matched": self.ids[-1]}
            if self.alternatives() is not None:
                meta["output_token_logprobs"] = [[self.logprob(number), self.ids[number], None] for number in range(first, end)]
            if self.alternatives() is not None and self.body.get("logprob_start_len") == 0:
                own = prompt_logprobs(self.prompt)
                meta["input_token_logprobs"] = [[one, token, None] for one, token in zip(own, self.prompt, strict=True)]
            if self.alternatives():
                tops = [[[logprob, other, None] for other, logprob in self.others(number)] for number in range(first, end)]
                meta["output_top_logprobs"] = tops
            yield {"text": text if incremental else None, "output_ids": self.ids[first:end], "meta_info": meta}


class Ollama(Engine):
    """Ollama's POST /api/generate, raw."""

    kind = "application/x-ndjson"

    def most(self) -> Any:
        return self.body.get("options", {}).get("num_predict")

    def error(self, status: int, message: str) -> Json:
        return {"error": message}

    def frame(self, event: Json) -> bytes:
        return json.dumps(event).encode() + b"\n"

    def frames(self) -> Iterator[bytes]:
        return map(self.frame, self.events())

    def events(self) -> Iterator[Json]:
        about = {"model": self.body.get("model"), "created_at": "2026-01-01T00:00:00Z"}
        stops = self.body.get("options", {}).get("stop", [])
        for (begin, end), text in zip(self.groups(), self.texts(), strict=True):
            if text in stops:
                break
            event: Json = about | {"response": text, "done": False}
            if self.body.get("logprobs") and not self.engine.given.get("no_logprobs"):
                event["logprobs"] = [{"token": text, "logprob": self.logprob(number)} for number in range(begin, end)]
            yield event
        read = min(len(self.prompt), self.engine.given.get("cuts", len(self.prompt)))
        counts = {"prompt_eval_count": read, "eval_count": len(self.ids), "total_duration": 1000}
        yield about | {"response": "", "done": True, "done_reason": "length" if self.length else "stop"} | counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--script", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizer", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    engine = ScriptedEngine(options.tokenizer)
    script = json.loads(options.script.read_text())
    engine.script(*script.pop("replies", []), **script)
    engine.start(options.port)
    print(engine.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
