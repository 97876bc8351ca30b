#!/usr/bin/env python3
"""What clients take that have no key, or are one too many: neither memory nor time, nor the operator's sight.

    doors_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import http.client
import json
import pathlib
import signal
import socket
import sys
import tempfile
import time
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway

CHAT = "/v1/chat/completions"
LARGE = 48 << 20


def resident(gateway: Gateway) -> int:
    """Bytes of memory that the gateway has."""
    text = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("VmRSS"))


def header(path: str, *lines: str, length: int = LARGE, version: str = "1.1") -> bytes:
    return "\r\n".join([f"POST {path} HTTP/{version}", "Host: localhost", f"Content-Length: {length}", *lines, "", ""]).encode()


def connect(gateway: Gateway) -> socket.socket:
    host, port = gateway.url.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)), 20)
    made.settimeout(20)
    return made


def status_of(one: socket.socket) -> int:
    """Of the answer that comes; 0: the connection was closed without one."""
    try:
        text = one.recv(65536)
    except OSError:
        return 0
    return int(text.split(b" ")[1]) if text else 0


def push(one: socket.socket, size: int) -> None:
    """Sends as much of a body as the other side takes."""
    try:
        for _ in range(size >> 20):
            one.sendall(b"x" * (1 << 20))
    except OSError:
        pass


def without_key(parlance: str, engine: Engine, checks: Checks) -> None:
    """Who has no key is told so by the header: its body is not read."""
    with tempfile.TemporaryDirectory() as folder:
        keys = pathlib.Path(folder) / "keys"
        keys.write_text("secret\n")
        with Gateway(parlance, engine.url, "--api-key-file", str(keys)) as gateway:
            before = resident(gateway)
            many = [connect(gateway) for _ in range(8)]
            for one in many:
                one.sendall(header(CHAT))
                push(one, LARGE // 2)
            checks.that(resident(gateway) - before < 32 << 20, f"memory for who has no key: {resident(gateway) - before} bytes")
            checks.equal([status_of(one) for one in many], [401] * 8, "each is told so")
            for one in many:
                one.close()
            for path, key, version, said in (
                (CHAT, "", "1.1", 401),
                ("/nothing", "", "1.1", 404),
                ("/metrics", "", "1.1", 405),
                (CHAT, "Authorization: Bearer secret", "1.1", 100),
            ):
                with connect(gateway) as one:
                    one.sendall(header(path, "Expect: 100-continue", *[key] * bool(key), length=20, version=version))
                    checks.equal(status_of(one), said, f"{path}, {key or 'no key'}, before its body is sent")
            with connect(gateway) as one:
                one.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 100000)
                checks.equal(status_of(one), 200, "a page that anybody may see, before a body that it does not need")
            with connect(gateway) as one:
                one.sendall(header(CHAT, "Authorization: Bearer secret", "Expect: 100-continue", length=2, version="1.0"))
                one.settimeout(0.3)
                try:
                    early = one.recv(1000)
                except TimeoutError:
                    early = b""
                checks.equal(early, b"", "HTTP/1.0 knows no 100")
                one.settimeout(20)
                one.sendall(b"{}")
                checks.equal(status_of(one), 400, "and gets its answer")
            body = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
            client = http.client.HTTPConnection(gateway.url.removeprefix("http://"), timeout=20)
            for key, said in (("wrong", 401), ("secret", 200)):
                client.request("POST", CHAT, body, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
                answer = client.getresponse()
                checks.equal((answer.status, bool(answer.read())), (said, True), f"on one connection, with the key {key!r}")


def too_many(parlance: str, engine: Engine, checks: Checks) -> None:
    """A connection above the limit gets 503 at once, and does not stay; who asks how the gateway does is answered."""
    with Gateway(parlance, engine.url, "--max-connections", "5") as gateway:
        full = [connect(gateway) for _ in range(5)]
        for one in full:
            one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            checks.equal(status_of(one), 200, "a connection that there is room for")
        before = resident(gateway)
        many = [connect(gateway) for _ in range(20)]
        for one in many[:10]:
            one.sendall(header(CHAT))
            push(one, LARGE // 2)
        checks.that(resident(gateway) - before < 32 << 20, f"memory for who is too many: {resident(gateway) - before} bytes")
        checks.equal([status_of(one) for one in many[:10]], [503] * 10, "each is told so")
        checks.equal([status_of(one) for one in many[10:]], [0] * 10, "who says nothing is closed")
        for path, said in (("/health", 200), ("/metrics", 200), ("/ready", 503), ("/v1/models", 503)):
            with connect(gateway) as one:
                one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                checks.equal(status_of(one), said, f"{path} of a gateway that is full")
        for one in (*full, *many):
            one.close()
        until = time.monotonic() + 10
        while time.monotonic() < until and gateway.get("/ready")[0] != 200:
            time.sleep(0.05)
        checks.equal(gateway.get("/v1/models")[0], 200, "when they have left, there is room again")


def ending(parlance: str, engine: Engine, checks: Checks) -> None:
    """A request that is still arriving when the gateway ends is told that; who is cut off at the end is counted in the log."""
    engine.script = lambda asked: Reply("y" * 400, pause=0.05)
    body: Any = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "stream": True}).encode()
    with Gateway(parlance, engine.url, "--drain", "1") as gateway:
        half, whole = connect(gateway), connect(gateway)
        half.sendall(header(CHAT, length=1000) + b"{")
        whole.sendall(header(CHAT, length=len(body)) + body)
        checks.equal(status_of(whole), 200, "a stream has begun")
        time.sleep(0.2)
        log = gateway.end(signal.SIGTERM)
        checks.equal(status_of(half), 503, "half a request is told that the gateway ends")
        cut = [line for line in log if line["event"] == "cut_off"]
        checks.equal([line["requests"] for line in cut], [1], f"and the log counts who was cut off: {log}")


def main() -> int:
    checks = Checks()
    with Engine() as engine:
        for part in (without_key, too_many, ending):
            part(sys.argv[1], engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
