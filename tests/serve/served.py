"""Starts `parlance serve` for a test, and asks it. Standard library only."""

from __future__ import annotations

import json
import pathlib
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests" / "tokenizers" / "chatml"
Json = dict[str, Any]


class Answer:
    """An answer of the gateway: its status, its body, and for a stream its events."""

    def __init__(self, status: int, headers: dict[str, str], text: str) -> None:
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self) -> Json:
        read: Json = json.loads(self.text)
        return read

    @property
    def events(self) -> list[Json]:
        lines = (line[6:] for line in self.text.split("\n") if line.startswith("data: ") and line != "data: [DONE]")
        return [json.loads(line) for line in lines]

    @property
    def error(self) -> Json:
        return (self.events[-1] if self.text.startswith("data:") else self.json)["error"]  # type: ignore[no-any-return]

    @property
    def content(self) -> str:
        if not self.text.startswith("data:"):
            return self.json["choices"][0]["message"]["content"] or ""
        return "".join(choice["delta"].get("content") or "" for event in self.events for choice in event.get("choices", []))


class Gateway:
    """A gateway in front of an engine. Ends with its `with`."""

    def __init__(
        self, binary: str, backend: str, *arguments: str, form: str = "terminal-agent", tokenizer: pathlib.Path = TOKENIZER
    ) -> None:
        command = [binary, "serve", *(["-f", form] if form else []), "--tokenizer", str(tokenizer), "--backend", backend, "--port", "0"]
        command += arguments
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout and self.process.stderr
        self.lines: list[Json] = []
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.process.wait(10)
            raise AssertionError(f"the gateway does not start: {self.lines}")

    def read_log(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(json.loads(line) if line.startswith("{") else {"event": "text", "message": line})

    def logged(self, event: str, seconds: float = 20) -> Json:
        """The first line of the log of this event; waits for it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.lines:
                if line["event"] == event:
                    return line
            time.sleep(0.01)
        raise AssertionError(f"the log has no {event}: {self.lines}")

    def ask(self, path: str, body: Json | None = None, timeout: float = 20) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return Answer(reply.status, dict(reply.headers), reply.read().decode())
        except urllib.error.HTTPError as refused:
            return Answer(refused.code, dict(refused.headers), refused.read().decode())

    def chat(self, content: str | list[Json] = "Hi", **members: Any) -> Answer:
        messages = [{"role": "user", "content": content}] if isinstance(content, str) else content
        return self.ask("/v1/chat/completions", {"model": "m", "messages": messages} | members)

    def raw(self, body: Json) -> socket.socket:
        """A connection with a chat that was sent, whose answer nobody reads."""
        host, port = self.url.removeprefix("http://").split(":")
        data = json.dumps(body).encode()
        made = socket.create_connection((host, int(port)))
        made.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data))
        return made

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            code = self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.join(5)
        assert code == 0, f"the gateway ended with {code}: {self.lines[-3:]}"


def wait_for(what: Callable[[], bool], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.002)
    return what()
