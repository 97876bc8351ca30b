"""Reads what the gateway sends, and checks that it is what HTTP and the APIs say. Begin reading at faults_of."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, NoReturn

NO_JSON = (b"\\ud", b"\\uD", b"\xed", b"NaN", b"Infinity", b"e999")  # what of a request makes an answer that repeats it no JSON
STREAMS = ("text/event-stream", "application/x-ndjson")


class NotHttp(Exception):
    """What the gateway sent is no answer."""


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def closes(self) -> bool:
        return self.headers.get("connection", "") == "close"


def take_answer(data: bytes, *, ended: bool = False) -> tuple[Answer, bytes] | None:
    """The first answer and what is behind it; none where it is not whole yet. `ended`: no more comes."""
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    version, status, *_ = first.split(" ", 2)
    if version not in ("HTTP/1.1", "HTTP/1.0") or not status.isdigit():
        raise NotHttp(f"the line {first!r}")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    answer = Answer(int(status), headers, b"")
    if answer.status == 100:
        return answer, rest
    if headers.get("transfer-encoding") == "chunked":
        return _take_chunks(answer, rest)
    if "content-length" not in headers:  # up to the close, for HTTP/1.0
        answer.body = rest
        return (answer, b"") if ended else None
    size = int(headers["content-length"])
    if ended and size > 0 and (not rest or rest.startswith(b"HTTP/1.")):
        return answer, rest  # of HEAD
    answer.body = rest[:size]
    return (answer, rest[size:]) if len(rest) >= size else None


def _take_chunks(answer: Answer, rest: bytes) -> tuple[Answer, bytes] | None:
    chunks = []
    while True:
        line, found, rest = rest.partition(b"\r\n")
        if not found:
            return None
        size = int(line, 16)
        if len(rest) < size + 2:
            return None
        if rest[size : size + 2] != b"\r\n":
            raise NotHttp("a chunk is longer than its size")
        chunks.append(rest[:size])
        rest = rest[size + 2 :]
        if size == 0:
            answer.body = b"".join(chunks)
            return answer, rest


def all_answers(data: bytes) -> list[Answer]:
    """Those of a connection that has ended."""
    answers = []
    while data:
        taken = take_answer(data, ended=True)
        if taken is None:
            raise NotHttp("the last answer is not whole")
        answer, data = taken
        if answer.status != 100:
            answers.append(answer)
    return answers


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def strict_json(text: bytes | str, *, lenient: bool = False) -> Any:
    """JSON as every client reads it: UTF-8, and, unless `lenient`, without NaN and without half surrogates."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    read = json.loads(text, parse_constant=None if lenient else _no_number)
    if not lenient and ("\\ud" in text or "\\uD" in text):
        json.dumps(read, ensure_ascii=False).encode("utf-8")
    return read


def events_of(answer: Answer, *, lenient: bool = False) -> list[Any]:
    """The JSON of each event or line."""
    events = []
    for line in answer.body.decode("utf-8").split("\n"):
        if line.startswith("data: "):
            line = line[6:]
        elif answer.type != STREAMS[1]:
            if line and not line.startswith("event: "):
                raise NotHttp(f"a line of the stream is {line[:100]!r}")
            continue
        if line and line != "[DONE]":
            events.append(strict_json(line, lenient=lenient))
    return events


def api_of(path: str) -> str:
    """Whose form the errors of a route have."""
    if path.startswith("/api/"):
        return "ollama"
    return "anthropic" if path in ("/v1/messages", "/v1/messages/count_tokens") else "openai"


def error_in(body: Any, api: str | None) -> str | None:
    """The sentence of an error in an API's form (None: in any); None if it is no such."""
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    if api in ("ollama", None) and isinstance(error, str):
        return error
    if api == "anthropic" and body.get("type") != "error":
        return None
    said = error.get("message") if isinstance(error, dict) and api != "ollama" else None
    return said if isinstance(said, str) else None


def faults_of(answer: Answer, api: str | None, sent: bytes = b"") -> str:
    """What is wrong with the answer to a request, where the engine has no faults; "": nothing.

    A good answer may have half surrogates and NaN, which are no JSON, where it repeats what was sent."""
    lenient = answer.status == 200 and any(word in sent for word in NO_JSON)
    unknown_coding = api is None and answer.status == 501
    if (answer.status >= 500 and not unknown_coding) or answer.status < 200:
        return f"the status {answer.status}"
    try:
        if not answer.body and answer.headers.get("content-length", "0") != "0":
            return ""  # it answers HEAD
        if answer.type in STREAMS:
            failed = [event for event in events_of(answer, lenient=lenient) if isinstance(event, dict) and event.get("error")]
            return f"an error in the stream: {failed[0]}" if failed else ""
        if answer.type != "application/json":
            return "" if answer.status == 200 else f"an error of the type {answer.type!r}"
        body = strict_json(answer.body, lenient=lenient)
    except (ValueError, NotHttp) as wrong:
        return f"a body that is not what it says: {wrong}"
    if answer.status >= 400 and not error_in(body, api):
        return f"an error that has not the form of {api or 'an API'}"
    return ""
