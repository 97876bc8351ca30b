#!/usr/bin/env python3
"""What clients send that no client should: broken HTTP, wrong members, large bodies; and replies that go on behind their end.

    http_test.py PARLANCE

Each error must be a sentence that says which member or place is wrong, without options of the command line. Begin reading at main.
"""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway

CHAT = "/v1/chat/completions"
USER: Any = {"role": "user", "content": "Hi"}

BROKEN = {
    "no HTTP": (b"\0\1\2 nonsense\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a long header": (b"GET / HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", 431),
    "two lengths": (b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc", 400),
    "a length and chunks": (
        b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "a negative length": (b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: -2\r\n\r\n", 400),
    "a wrong chunk": (b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    "no Host": (b"GET /health HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET /health HTTP/1.1\r\nHost: localhost\r\nhost: x\r\n\r\n", 400),
    "two Hosts of HTTP/1.0": (b"GET /health HTTP/1.0\r\nHost: localhost\r\nHost: y\r\n\r\n", 400),
    "no such path": (b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404),
    "another method": (b"DELETE /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
}

FRAMING = {  # the lines that say where a body ends, and the status: what stands behind the header must not run as a request of its own
    "Transfer-Encoding: identity": 400,
    "Transfer-Encoding: x": 400,
    "Transfer-Encoding:": 400,
    "Transfer-Encoding: chunked, gzip": 400,
    'Transfer-Encoding: "chunked"': 400,
    "Transfer-Encoding: chunked;a=b": 400,
    "Transfer-Encoding: chunked, chunked": 400,
    "Transfer-Encoding: xchunked": 400,
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity": 400,
    "Transfer-Encoding: identity\r\nContent-Length: 0": 400,
    "Content-Length: 0\r\nTransfer-Encoding: x": 400,
    "Content-Length: 0\r\nTransfer-Encoding: chunked": 400,
    "Transfer-Encoding: chunked\r\nContent-Length: 0": 400,
    "Transfer-Encoding: gzip, chunked": 501,
    "transfer-encoding: GZIP\r\nTransfer-Encoding: Chunked": 501,
    "Transfer-Encoding: gzip\t,chunked": 501,
}

WRONG = {  # what is sent, and what the error names
    "no JSON": (b"{", "line 1, column 2"),
    "nothing": (b"", "line 1, column 1"),
    "a list": (b"[]", "object"),
    "no UTF-8": (b'{"messages": "\xff"}', "position 14"),
    "deep": (b'{"messages": ' + b"[" * 100000 + b"]" * 100000 + b"}", "depth"),
    "half a surrogate": (b'{"messages": [{"role": "user", "content": "\\ud83d"}]}', "surrogate"),
    "temperature": ({"messages": [USER], "temperature": "hot"}, "temperature must be a number"),
    "max_tokens": ({"messages": [USER], "max_tokens": -5}, "max_tokens must be at least 1"),
    "n": ({"messages": [USER], "n": 99}, "n must be 1 to 16"),
    "stop": ({"messages": [USER], "stop": [1]}, "stop must be"),
    "stream": ({"messages": [USER], "stream": "yes"}, "stream must be true or false"),
    "logit_bias": ({"messages": [USER], "logit_bias": [1]}, "logit_bias must be an object"),
    "a bias of a text": ({"messages": [USER], "logit_bias": {"a": 1}}, "logit_bias must be an object of token ids"),
    "a bias of a negative id": ({"messages": [USER], "logit_bias": {"-1": 1}}, "logit_bias must be an object of token ids"),
    "a bias that is a text": ({"messages": [USER], "logit_bias": {"1": "1"}}, "logit_bias must be an object of token ids"),
    "a bias without end": ({"messages": [USER], "logit_bias": {"1": 2, "5": float("inf")}}, "logit_bias must be an object of token ids"),
    "no number of alternatives": (
        {"messages": [USER], "logprobs": True, "top_logprobs": 2.5},
        "top_logprobs must be an integer from 0 to 20",
    ),
    "options of no stream": ({"messages": [USER], "stream_options": [5]}, "stream_options must be an object"),
    "usage by a word": ({"messages": [USER], "stream_options": {"include_usage": "yes"}}, "include_usage must be true or false"),
    "too many alternatives": ({"messages": [USER], "logprobs": True, "top_logprobs": 21}, "top_logprobs must be an integer from 0 to 20"),
    "fewer alternatives than none": ({"messages": [USER], "top_logprobs": -1}, "top_logprobs must be an integer from 0 to 20"),
    "logprobs": ({"messages": [USER], "logprobs": 21}, "logprobs must be true, false or an integer from 0 to 20"),
    "below the range": ({"messages": [USER], "temperature": -1}, "temperature must be a number of at least 0"),
    "top_p below the range": ({"messages": [USER], "top_p": -0.1}, "top_p must be a number from 0 to 1"),
    "min_p above the range": ({"messages": [USER], "min_p": 1.5}, "min_p must be a number from 0 to 1"),
    "messages": ({"model": "mine"}, "messages"),
    "an image": ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages[0].content[0]"),
    "tool_choice": ({"messages": [USER], "tool_choice": {"type": "function", "function": {"name": "nothing"}}}, "nothing"),
}


def talk(gateway: Gateway, data: bytes) -> bytes:
    """What comes back until the gateway closes the connection, or is silent."""
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(5)
        connection.sendall(data)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except TimeoutError:
            pass
    return answer


def empty_lines(gateway: Gateway, checks: Checks) -> None:
    """One before the first line of a request says nothing, as some clients send one behind a body."""
    host, port = gateway.url.removeprefix("http://").split(":")
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    body = json.dumps({"prompt": "Hi"}).encode()
    text = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    cases: tuple[tuple[str, tuple[bytes, ...], int], ...] = (
        ("at once", (b"\r\n" + last,), 1),
        ("in pieces", (b"\r", b"\n", last), 1),
        ("behind a body", (text + b"\r\n" + last,), 2),
        ("behind a body, and alone", (text, b"\r\n", last), 2),
        ("before each request", (b"\r\n" + health, b"\r\n" + health + b"\r\n" + last), 3),
    )
    for name, pieces, wanted in cases:
        with socket.create_connection((host, int(port))) as connection:
            connection.settimeout(5)
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.05)
            answer = b""
            while more := connection.recv(65536):
                answer += more
        checks.equal(answer.count(b"HTTP/1.1 200"), wanted, f"an empty line, {name}: {answer[:300]!r}")
    for bad in (b"\r" + last, b"\n\r\n\r\n" + last, b"\rX" + last):
        answer = talk(gateway, bad)
        checks.that(answer.startswith(b"HTTP/1.1 400"), f"{bad[:5]!r}: {answer[:200]!r}")


def broken_http(gateway: Gateway, checks: Checks) -> None:
    for name, (data, status) in BROKEN.items():
        answer = talk(gateway, data)
        head, _, body = answer.partition(b"\r\n\r\n")
        checks.that(
            head[:5] == b"HTTP/" and head[8:12] == b" %d" % status and json.loads(body)["error"]["message"], f"{name}: {answer[:200]!r}"
        )
    behind = talk(gateway, b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" + b"x" * 8_000_000)
    checks.that(behind.startswith(b"HTTP/1.1 400"), f"a body without a size, before the connection is closed: {behind[:200]!r}")
    three = talk(
        gateway,
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2 + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    checks.equal(three.count(b'{"status": "ok"}'), 3, "three requests at once")
    for target in (b"http://localhost/health", b"HTTP://localhost:80/health?a=/b"):
        whole = talk(gateway, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        checks.that(whole.startswith(b"HTTP/1.1 200"), f"a target with its host: {target!r}: {whole[:200]!r}")
    nowhere = talk(gateway, b"GET http://localhost HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    checks.that(nowhere.endswith(b"\r\n\r\nOllama is running"), f"a host alone: {nowhere[:200]!r}")
    old = talk(gateway, b"GET /health HTTP/1.0\r\n\r\n")
    checks.that(old.startswith(b"HTTP/1.0 200") and b"Connection: close" in old, f"HTTP/1.0: {old!r}")
    checks.that(
        talk(gateway, b"HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").endswith(b"\r\n\r\n"), "HEAD has no body"
    )


def smuggled(gateway: Gateway, checks: Checks) -> None:
    """A proxy that reads another end of a body than the gateway would send one client's bytes as another's request."""
    second = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for lines, status in FRAMING.items():
        for chunks in (b"", b"0\r\n\r\n"):
            answer = talk(gateway, b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\n" + lines.encode() + b"\r\n\r\n" + chunks + second)
            checks.that(answer.startswith(b"HTTP/1.1 %d " % status), f"{lines!r}: {answer[:200]!r}")
            checks.that(answer.count(b"HTTP/1.1") == 1 and b"Connection: close" in answer, f"behind {lines!r}: {answer!r}")
    old = talk(gateway, b"POST /tokenize HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    checks.that(old.startswith(b"HTTP/1.0 400 "), f"chunks of HTTP/1.0: {old[:200]!r}")
    for coding in (b"chunked", b" CHUNKED\t"):
        head = b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:" + coding + b"\r\n\r\n"
        answer = talk(gateway, head + b'10\r\n{"prompt": "Hi"}\r\n0\r\n\r\n' + second)
        checks.equal(answer.count(b"HTTP/1.1 200 "), 2, f"chunks, and a request behind them: {answer!r}")


def headers_of(gateway: Gateway, **headers: str) -> tuple[int, str]:
    """The status for a request with these headers, and the sentence of the error."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    answer = talk(gateway, f"GET /v1/models HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode("latin-1"))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head[9:12]), json.loads(body).get("error", {}).get("message", "")


def pages_of_others(parlance: str, engine: Engine, checks: Checks) -> None:
    """A page of somebody asks a server of the machine that shows it, by a name that leads there or from its own origin."""
    machine = socket.gethostname()
    good = [
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "a.localhost",
        "127.0.0.1:1",
        "[::1]:8080",
        "192.168.0.7",
        "",
        machine,
        f"{machine}:80",
    ]
    bad = [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "evil-localhost",
        "127.0.0.1.evil.example",
        "a b",
        "[::1",
        "x@localhost",
    ]
    with Gateway(parlance, engine.url, "--log", "errors") as gateway:
        for host in [*good, "host.docker.internal"]:
            checks.equal(headers_of(gateway, Host=host)[0], 200, f"Host {host!r}")
        for host in [*bad, "proxy.example", "\xff"]:
            status, said = headers_of(gateway, Host=host)
            checks.that(status == 403 and "--allow-host" in said and "Host" in said, f"Host {host!r}: {status} {said}")
        checks.that("with --allow-host evil.example" in headers_of(gateway, Host="Evil.Example:80")[1], "the error says what to do")
        origins = [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:5",
            "http://a.localhost",
            "vscode-webview://1a2b",
            f"http://{machine}",
        ]
        for origin in origins:
            checks.equal(headers_of(gateway, Host="localhost", Origin=origin)[0], 200, f"Origin {origin}")
        checks.equal(headers_of(gateway, Host="10.0.0.7:80", Origin="http://10.0.0.7")[0], 200, "a page of the server itself")
        for origin in (
            "http://evil.example",
            "https://evil.example:8080",
            "HTTP://evil.example",
            "null",
            "http://203.0.113.5",
            "http://",
            "x",
        ):
            status, said = headers_of(gateway, Host="localhost", Origin=origin)
            checks.that(status == 403 and "--allow-host" in said and "Origin" in said, f"Origin {origin}: {status} {said}")
        engine.asked.clear()
        plain = {"Content-Type": "text/plain", "Origin": "http://evil.example"}
        for path, body in (
            (CHAT, {"messages": [USER]}),
            ("/v1/messages", {"messages": [USER], "max_tokens": 9}),
            ("/api/chat", {"messages": [USER]}),
        ):
            status, _, answer = gateway.post(path, body, plain)
            checks.that(status == 403 and not engine.asked and answer["error"], f"{path} from a page: {status} {answer}")
        checks.equal(gateway.post(CHAT, {"messages": [USER]})[0], 200, "a program's request")
        for path in ("/metrics", "/inspect/api/sessions", "/health", "/nothing"):
            answer = talk(gateway, f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
            checks.that(answer.startswith(b"HTTP/1.1 403"), f"{path}: {answer[:80]!r}")
        checks.that(talk(gateway, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.0 200"), "HTTP/1.0 without a Host")
    named = ("--allow-host", "proxy.example", "--allow-host", "Two.example")
    with Gateway(parlance, engine.url, "--log", "errors", *named) as gateway:
        for name in ("proxy.example", "two.example:443"):
            checks.equal(headers_of(gateway, Host=name, Origin=f"https://{name}")[0], 200, f"--allow-host {name}")
            checks.equal(headers_of(gateway, Host="localhost", Origin=f"https://{name}")[0], 200, f"a page of {name}")
        checks.equal(headers_of(gateway, Host="a.proxy.example")[0], 403, "a name below it")
    with Gateway(parlance, engine.url, "--log", "errors", "--host", "0.0.0.0") as gateway:
        checks.equal(
            headers_of(gateway, Host="evil.example", Origin="http://evil.example")[0], 200, "a server for others is asked by any name"
        )
    for wrong in ("http://a.example", "a.example:80", "*"):
        command = [parlance, "serve", "-f", "terminal-agent", "--port", "0", "--allow-host", wrong]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        checks.that(ended.returncode == 2 and "is no name of a host" in ended.stderr, f"--allow-host {wrong}: {ended.stderr}")


def packed_bodies(gateway: Gateway, checks: Checks) -> None:
    """A body that is packed is refused as such, also where its client does not say so."""
    body = json.dumps({"messages": [USER], "max_tokens": 9}).encode()
    for path in (CHAT, "/v1/messages", "/api/chat", "/tokenize"):
        for headers in ({"Content-Encoding": "gzip"}, {}, {"Content-Encoding": "identity"}):
            status, answered, answer = gateway.post(path, gzip.compress(body), headers)
            said = answer["error"] if path == "/api/chat" else answer["error"]["message"]
            checks.that(status == 415 and "gzip" in said and "--" not in said, f"{path}, gzip, {headers}: {status} {said}")
            checks.equal(answered.get("Accept-Encoding"), "identity", "what it takes")
        for coding in ("br", "zstd", "deflate", "gzip, br", "\xff"):
            checks.equal(gateway.post(path, body, {"Content-Encoding": coding})[0], 415, f"{path}, {coding!r}")
    checks.equal(gateway.post(CHAT, body, {"Content-Encoding": "identity"})[0], 200, "a body as it is")


def keys(parlance: str, engine: Engine, checks: Checks) -> None:
    """A scheme is written in any case, and of two keys one is enough: by that the client's sessions are kept."""
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as file:
        file.write("# keys\nkey-a\n \t key-b \t\r\n  # no key\n\n")
        file.flush()
        with Gateway(parlance, engine.url, "--log", "errors", "--api-key-file", file.name) as gateway:

            def ask(**headers: str) -> int:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return gateway.post("/tokenize", {"prompt": "Hi"}, named)[0]

            for scheme in ("Bearer", "bearer", "BEARER", "bEaReR"):
                checks.equal(ask(Authorization=f"{scheme} key-a"), 200, f"the scheme {scheme}")
                checks.equal(ask(Authorization=f"{scheme} key-c"), 401, f"another key by {scheme}")
            checks.equal(ask(Authorization="Bearer  key-a "), 200, "blanks around a key")
            checks.equal(ask(Authorization="Bearer key-b"), 200, "a key with blanks around it in the file")
            checks.equal(ask(Authorization="Bearer # no key"), 401, "a comment behind blanks")
            for bad in ("Bearer bad", "Basic a2V5LWE=", "Bearer ", "bearer", "key-b"):
                checks.equal(ask(Authorization=bad, x_api_key="key-a"), 200, f"a good x-api-key beside {bad!r}")
                checks.equal(ask(Authorization=bad, x_api_key="bad"), 401, f"a bad x-api-key beside {bad!r}")
                checks.equal(ask(Authorization=bad), 401, f"{bad!r} alone")
            checks.equal(ask(Authorization="Bearer key-a", x_api_key="bad"), 200, "a bad x-api-key beside a good bearer")
            checks.equal(ask(), 401, "no key")
            request = {"model": "mine", "input": "Hi"}
            mine = gateway.post("/v1/responses", request, {"Authorization": "Bearer proxy", "x-api-key": "key-a"})[2]["id"]
            for headers, status in (
                ({"Authorization": "bearer key-a"}, 200),
                ({"x-api-key": "key-b"}, 400),
                ({"Authorization": "Bearer key-b", "x-api-key": "key-a"}, 400),
            ):
                got = gateway.post("/v1/responses", {**request, "previous_response_id": mine}, headers)[0]
                checks.equal(got, status, f"to go on from a response of key-a by {headers}")


def wrong_requests(gateway: Gateway, checks: Checks) -> None:
    for name, (body, named) in WRONG.items():
        status, _, answer = gateway.post(CHAT, body)
        said = answer.get("error", {}).get("message", "")
        checks.that(status == 400 and named in said and "--" not in said, f"{name}: {status} {said}")
    for name in ("temperature", "top_p", "min_p", "typical_p", "presence_penalty", "frequency_penalty", "repetition_penalty"):
        for value in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999"):
            for path, text in ((CHAT, '"messages": [{"role": "user", "content": "Hi"}]'), ("/v1/completions", '"prompt": "Hi"')):
                status, _, answer = gateway.post(path, f'{{{text}, "{name}": {value}}}'.encode())
                said = answer.get("error", {}).get("message", "")
                checks.that(status == 400 and f"{name} must be a number" in said, f"{path} with {name} {value}: {status} {said}")
    status, _, answer = gateway.post("/api/chat", b'{"messages": [{"role": "user", "content": "Hi"}], "options": {"top_p": NaN}}')
    checks.that(status == 400 and "options.top_p must be a number" in answer["error"], f"Ollama's option: {answer}")
    good = {
        "temperature": 3,
        "top_p": 0,
        "min_p": 1,
        "logit_bias": {"65": -100, "0": 0.5},
        "logprobs": True,
        "top_logprobs": 20,
        "frequency_penalty": -3,
    }
    checks.equal(gateway.post(CHAT, {"messages": [USER], **good})[0], 200, "settings at their bounds")
    status, _, answer = gateway.post("/v1/messages", {"messages": [USER], "max_tokens": "many"})
    checks.equal((status, answer["type"], answer["error"]["type"]), (400, "error", "invalid_request_error"), "Anthropic's error")
    status, headers, answer = gateway.post(CHAT, {"messages": [USER], "prompt_cache_key": "a\r\nX-Made-Up: b\r\n\r\n{}"})
    checks.that(status == 200 and "X-Made-Up" not in headers and answer["choices"], f"line ends in a session's name: {headers}")
    status, _, answer = gateway.post("/v1/messages", {"messages": [{"role": "\ud83d", "content": "Hi"}], "max_tokens": 9, "system": "s"})
    checks.that(status == 400 and "\ufffd" in answer["error"]["message"], f"half a surrogate in an error: {answer}")
    status, _, answer = gateway.post("/api/chat", {"model": "mine", "messages": "x"})
    checks.that(status == 400 and isinstance(answer["error"], str), f"Ollama's error: {answer}")
    status, _, answer = gateway.post("/api/chat", {"model": "mine", "messages": [USER], "stream": False, "options": {"num_predict": -1}})
    checks.equal(status, 200, "Ollama's num_predict without a limit")


MISSHAPEN = {  # a message, and the path that the error names; each would be less in the prompt than was sent
    "content of a number": ({"role": "user", "content": 5}, "messages[1].content"),
    "content of an object": ({"role": "user", "content": {"type": "text", "text": "Hi"}}, "messages[1].content"),
    "a text for a part": ({"role": "user", "content": ["Hi"]}, "messages[1].content[0]"),
    "a part without text": ({"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "text"}]}, "messages[1].content[1].text"),
    "a part with a number": ({"role": "user", "content": [{"type": "text", "text": 5}]}, "messages[1].content[0].text"),
    "no role": ({"content": "Hi"}, "messages[1].role"),
    "a role of a number": ({"role": 5, "content": "Hi"}, "messages[1].role"),
    "no message": ("Hi", "messages[1]"),
    "no content": ({"role": "user"}, "messages[1].content"),
    "a text for calls": ({"role": "assistant", "tool_calls": "x"}, "messages[1].tool_calls"),
    "a call of nothing": ({"role": "assistant", "tool_calls": [{}]}, "messages[1].tool_calls[0].function"),
    "a call without a name": ({"role": "assistant", "tool_calls": [{"function": {}}]}, "messages[1].tool_calls[0].function.name"),
    "a number for a call": ({"role": "assistant", "tool_calls": [5]}, "messages[1].tool_calls[0]"),
}


def misshapen_messages(gateway: Gateway, checks: Checks) -> None:
    for name, (message, path) in MISSHAPEN.items():
        for route in (CHAT, "/v1/messages", "/api/chat"):
            if (name, route) == ("no content", "/api/chat"):  # a text of Go, which is "" where it is left out
                continue
            status, _, answer = gateway.post(route, {"messages": [USER, message], "max_tokens": 9, "stream": False})
            error = answer["error"]
            said = error if isinstance(error, str) else error["message"]
            checks.that(status == 400 and said.startswith(path + " must be"), f"{route}: {name}: {status} {answer}")
    for member, value in (("previous_response_id", 5), ("previous_response_id", ""), ("instructions", 5)):
        status, _, answer = gateway.post("/v1/responses", {"input": "Hi", member: value})
        error = answer["error"]
        checks.that(status == 400 and error["param"] == member and error["message"].startswith(member), f"{member} {value!r}: {answer}")
    for item in ({"type": "item_reference"}, {"type": "item_reference", "id": 5}):
        status, _, answer = gateway.post("/v1/responses", {"input": [item]})
        checks.that(status == 400 and answer["error"]["message"].startswith("input[0].id must be"), f"{item}: {answer}")
    status, _, answer = gateway.post(CHAT, {"messages": "Hi"})
    checks.that(status == 400 and answer["error"]["param"] == "messages", f"messages that are a text: {answer}")


def without_content(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Ollama's messages have no content where there is nothing to say."""
    prompts = []
    for last in ({"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": ""}):
        status, _, answer = gateway.post("/api/chat", {"messages": [USER, last], "stream": False})
        checks.equal(status, 200, f"{last}: {answer}")
        prompts.append(engine.asked[-1].prompt)
    checks.that(prompts[0] == prompts[1] == prompts[2], "prompts without a content")


def named_items_are_bounded(parlance: str, engine: Engine, checks: Checks) -> None:
    """What a request names by ids may be as large as what it could send."""
    engine.script = lambda asked: Reply("x" * 1200 + "<|im_end|>")
    with Gateway(parlance, engine.url, "--log", "errors", "--max-body", "3000") as gateway:
        names = []
        for number in range(3):
            output = gateway.post("/v1/responses", {"input": f"Hi {number}"})[2]["output"]
            names += [{"type": "item_reference", "id": item["id"]} for item in output]
        checks.equal(gateway.post("/v1/responses", {"input": names[:2]})[0], 200, "items that are no larger than a body")
        for path in ("/v1/responses", "/v1/responses/input_tokens"):
            status, _, answer = gateway.post(path, {"input": names})
            error = answer.get("error") or {}
            said = error.get("message", "")
            told = (status, error.get("param"), "larger than a request may be" in said, "--" in said)
            checks.equal(told, (400, "input[2].id", True, False), f"items that are larger: {answer}")
    engine.script = lambda asked: Reply()


def large_bodies(gateway: Gateway, checks: Checks) -> None:
    """One that is too large is answered although its client still sends; while a large one is prepared, small ones are answered."""
    status, _, answer = gateway.post(CHAT, {"messages": [{"role": "user", "content": "x" * 9_000_000}]})
    told = "the request's body is larger than this server takes"  # a client does not know the server's command line
    checks.equal((status, answer["error"]["message"]), (413, told), "a body over the limit")
    large = json.dumps({"messages": [{"role": "user", "content": "word <|im_end|> " * 50_000}]}).encode()
    ended: list[float] = []

    def send() -> None:
        checks.equal(gateway.post(CHAT, large)[0], 200, "a large request")
        ended.append(time.monotonic())

    # As many as there are threads for connections, and one more.
    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    checks.equal(gateway.get("/health")[0], 200, "health beside large requests")
    answered = time.monotonic()
    for thread in threads:
        thread.join()
    checks.that(answered < min(ended), "a short request is answered before the large ones")


def leaves_early(gateway: Gateway, checks: Checks) -> None:
    """Clients that go while their long requests are prepared: what was begun ends where nobody is hurt."""
    host, port = gateway.url.removeprefix("http://").split(":")
    request = _request({"messages": [{"role": "user", "content": "word <|im_end|> " * 8_000}]})
    for number in range(40):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(request)
            time.sleep(0.002 * (number % 10))
    checks.equal(gateway.get("/health")[0], 200, "health after clients that left early")


def byte_by_byte(gateway: Gateway, checks: Checks) -> None:
    """Clients that send a header, or a body, one byte after the other are cut off, and others are answered meanwhile."""
    host, port = gateway.url.removeprefix("http://").split(":")
    whole = _request({"messages": [USER]})
    head = whole.index(b"\r\n\r\n") + 4
    answers: dict[str, bytes] = {}

    def send(name: str, at_once: int) -> None:
        with socket.create_connection((host, int(port))) as connection:
            connection.settimeout(0.1)
            connection.sendall(whole[:at_once])
            answer = b""
            for byte in whole[at_once:]:
                try:
                    connection.sendall(bytes([byte]))
                    answer += connection.recv(65536)
                except TimeoutError:
                    continue
                except OSError:
                    break
                if answer:
                    break
            answers[name] = answer

    slow = [threading.Thread(target=send, args=pair) for pair in (("header", 20), ("body", head + 5))]
    for thread in slow:
        thread.start()
    checks.equal(gateway.post(CHAT, {"messages": [USER]})[0], 200, "a chat beside slow senders")
    for thread in slow:
        thread.join()
    for name in ("header", "body"):
        checks.that(answers[name].startswith(b"HTTP/1.1 408"), f"a slow {name}: {answers[name][:100]!r}")


def limits(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Of messages, prompts and replies, in each API's form."""
    many = [USER, {"role": "assistant", "content": "Yes."}] * 3 + [USER]
    status, _, answer = gateway.post(CHAT, {"messages": many})
    checks.that(status == 400 and "at most 5" in answer["error"]["message"], f"too many messages: {status} {answer}")
    long = {"role": "user", "content": "word " * 400}
    for path in (CHAT, "/v1/messages"):
        status, _, answer = gateway.post(path, {"messages": [long], "max_tokens": 5})
        checks.that(status == 400 and "at most 1500" in answer["error"]["message"], f"a long prompt for {path}: {status} {answer}")
    _, _, answer = gateway.post(CHAT, {"messages": [long]})
    checks.equal(answer["error"]["code"], "context_length_exceeded", "agents make their conversation shorter by this code")
    status, _, answer = gateway.post("/v1/completions", {"prompt": "word " * 400})
    checks.that(status == 400 and "at most 1500" in answer["error"]["message"], f"a long completion: {status} {answer}")
    replies: tuple[tuple[str, dict[str, Any], str], ...] = (
        (CHAT, {"messages": [USER]}, "max_tokens"),
        (CHAT, {"messages": [USER]}, "max_completion_tokens"),
        ("/v1/completions", {"prompt": "Hi"}, "max_tokens"),
        ("/v1/responses", {"input": "Hi"}, "max_output_tokens"),
        ("/v1/messages", {"messages": [USER]}, "max_tokens"),
        ("/api/chat", {"messages": [USER], "stream": False}, "num_predict"),
        ("/api/generate", {"prompt": "Hi", "stream": False}, "num_predict"),
        ("/api/generate", {"prompt": "Hi", "stream": False, "raw": True}, "num_predict"),
    )
    for path, asked, name in replies:  # clients have limits of their own, which some have to send
        for limit, wanted in ((51, 50), (32000, 50), (None, 50), (49, 49)):
            given = {name: limit} if limit else {}
            engine.asked.clear()
            status, _, answer = gateway.post(path, {**asked, **({"options": given} if name == "num_predict" else given)})
            checks.equal(status, 200, f"{name} {limit} for {path}: {answer}")
            checks.equal([one.body["n_predict"] for one in engine.asked], [wanted], f"{name} {limit} for {path}")


def behind_the_end(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """An engine that does not know what ends a reply goes on: what it samples behind it is no part of the reply, and it is stopped."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>" + "More. " * 200, pause=0.01)
    for stream in (False, True):
        engine.asked.clear()
        if stream:
            said = talk(gateway, _request({"messages": [USER], "stream": True})).decode()
            chunks = [json.loads(line[6:]) for line in said.splitlines() if line.startswith("data: {")]
            text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
            checks.that(text == "Yes." and "[DONE]" in said, f"a stream whose engine goes on: {text}")
        else:
            _, _, answer = gateway.post(CHAT, {"messages": [USER], "parlance": True})
            choice = answer["choices"][0]
            checks.equal((choice["message"]["content"], choice["finish_reason"]), ("Yes.", "stop"), "a reply whose engine goes on")
            checks.equal(len(answer["parlance"]["sampled_ids"]), len(engine.vocabulary.encode("Yes.<|im_end|>")), "its ids")
        until = time.monotonic() + 10  # the reply would go on for longer
        while not engine.asked[-1].cut and time.monotonic() < until:
            time.sleep(0.01)
        checks.that(engine.asked[-1].cut, "the engine's request is ended")
    engine.script = lambda asked: Reply()


def leaves_behind_bytes(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A client that left is noticed also where it sent something behind its request; one that stays gets both answers."""
    host, port = gateway.url.removeprefix("http://").split(":")
    request = _request({"messages": [USER]}).replace(b"Connection: close\r\n", b"")
    for behind in (b"", b"\r\n", request):
        for pause in (0.0, 1.5):  # between the bytes and the end
            engine.script = lambda asked: Reply("word " * 400, pause=0.05)
            engine.asked.clear()
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(request)
                until = time.monotonic() + 10
                while not engine.asked and time.monotonic() < until:
                    time.sleep(0.01)
                connection.sendall(behind)  # not in one piece with the request
                time.sleep(pause)
            until = time.monotonic() + 5  # the reply would go on for longer
            while not engine.asked[-1].cut and time.monotonic() < until:
                time.sleep(0.01)
            checks.that(engine.asked[-1].cut, f"the engine's request is ended behind {behind[:10]!r} and {pause} s")
    engine.script = lambda asked: Reply(pause=0.5)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(request)
        time.sleep(0.3)
        connection.sendall(b"\r\n" + _request({"messages": [USER]}))
        with connection.makefile("rb") as answers:
            checks.equal(answers.read().count(b"HTTP/1.1 200"), 2, "answers to requests of which one came during the other's reply")
    engine.script = lambda asked: Reply()


def _request(body: Any) -> bytes:
    data = json.dumps(body).encode()
    return f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def main() -> int:
    checks = Checks()
    few = ("--max-messages", "5", "--max-prompt-tokens", "1500", "--max-reply-tokens", "50", "--receive", "2")
    with Engine() as engine, Gateway(sys.argv[1], engine.url, "--log", "errors", *few) as gateway:
        limits(gateway, engine, checks)
        byte_by_byte(gateway, checks)
        checks.equal(gateway.process.poll(), None, "the gateway with limits lives")
    with Engine() as engine:
        pages_of_others(sys.argv[1], engine, checks)
        keys(sys.argv[1], engine, checks)
        named_items_are_bounded(sys.argv[1], engine, checks)
    with Engine() as engine, Gateway(sys.argv[1], engine.url, "--log", "errors", "--max-body", "8000000") as gateway:
        broken_http(gateway, checks)
        empty_lines(gateway, checks)
        smuggled(gateway, checks)
        packed_bodies(gateway, checks)
        wrong_requests(gateway, checks)
        misshapen_messages(gateway, checks)
        without_content(gateway, engine, checks)
        large_bodies(gateway, checks)
        leaves_early(gateway, checks)
        behind_the_end(gateway, engine, checks)
        leaves_behind_bytes(gateway, engine, checks)
        checks.equal(gateway.process.poll(), None, "the gateway lives")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
