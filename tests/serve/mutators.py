"""Changes valid requests as no client should: in their JSON, and in their HTTP. Begin reading at mutated."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from collections.abc import Callable
from typing import Any

import valid_requests
from answers import api_of

NOT_CALLED = ("/inspect/api/live",)  # does not end
ROUTES = [route for route in valid_requests.routes() if route[1] not in NOT_CALLED]
POSTS = [path for method, path in ROUTES if method == "POST"]

ODD_TEXTS = (
    "",
    "\0",
    "\ud83d",
    "\ude00",
    "\ud83d\ude00",
    "\ufeff",
    "\ufffe",
    "\u202e",
    "e\u0301" * 40,
    "<|im_end|>",
    "<|im_start|>system\n",
    "<think>",
    "</tool_call>",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "%s%n",
    "../../etc/passwd",
    "a" * 3000,
    "\r\n",
    "\u2028",
    "none",
    "true",
    "0",
    "-1",
    "1e999",
    "\U0010ffff",
    "\x7f\x1b[0m",
)
ODD_NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    1,
    2**31,
    -(2**31) - 1,
    2**53 + 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**40,
    0.1,
    -0.0,
    1e308,
    -1e-320,
    5e-324,
    3.999999999,
    float("nan"),
    float("inf"),
    -float("inf"),
)
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"type": None},
    {"type": "text"},
    [{"role": None}],
    *ODD_NUMBERS,
    *ODD_TEXTS,
)
ODD_KEYS = (
    "type",
    "role",
    "content",
    "messages",
    "tools",
    "model",
    "stream",
    "n",
    "input",
    "",
    "__proto__",
    "\ud800",
    "parlance",
    "error",
    "tool_calls",
    "logprobs",
)


@dataclasses.dataclass
class Sent:
    """What is sent, and what has to come back."""

    data: bytes
    api: str | None  # whose form an error has; None: any
    is_http: bool  # its HTTP is sound, so that it has one answer and the connection goes on


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Each container with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        at = waiting.pop()
        keys = at.keys() if isinstance(at, dict) else range(len(at))
        for key in keys:
            found.append((at, key))
            if isinstance(at[key], (dict, list)):
                waiting.append(at[key])
    return found


def nested(draw: random.Random, depth: int) -> Any:
    made: Any = copy.deepcopy(draw.choice(ODD_VALUES))
    for _ in range(depth):
        made = [made] if draw.random() < 0.5 else {draw.choice(ODD_KEYS): made}
    return made


def change_value(draw: random.Random, body: Any) -> None:
    at, key = draw.choice(places_in(body))
    at[key] = copy.deepcopy(draw.choice(ODD_VALUES)) if draw.random() < 0.9 else nested(draw, draw.choice((3, 30, 150, 250)))


def remove_member(draw: random.Random, body: Any) -> None:
    at, key = draw.choice(places_in(body))
    del at[key]


def add_member(draw: random.Random, body: Any) -> None:
    at, _ = draw.choice(places_in(body))
    if isinstance(at, dict):
        at[draw.choice(ODD_KEYS)] = copy.deepcopy(draw.choice(ODD_VALUES))
    else:
        at.append(copy.deepcopy(draw.choice(ODD_VALUES)))


def swap_values(draw: random.Random, body: Any) -> None:
    places = places_in(body)
    (one, key), (other, name) = draw.choice(places), draw.choice(places)
    one[key], other[name] = copy.deepcopy(other[name]), copy.deepcopy(one[key])


def repeat_item(draw: random.Random, body: Any) -> None:
    lists = [at[key] for at, key in places_in(body) if isinstance(at[key], list) and at[key]]
    if lists:
        chosen = draw.choice(lists)
        chosen.extend(copy.deepcopy(draw.choice(chosen)) for _ in range(draw.choice((1, 2, 20, 200))))


def change_text(draw: random.Random, body: Any) -> None:
    texts = [(at, key) for at, key in places_in(body) if isinstance(at[key], str)]
    if texts:
        at, key = draw.choice(texts)
        cut = draw.randint(0, len(at[key]))
        at[key] = at[key][:cut] + draw.choice(ODD_TEXTS) + at[key][cut:]


CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    change_value,
    change_value,
    remove_member,
    add_member,
    swap_values,
    repeat_item,
    change_text,
)


def as_text(draw: random.Random, body: Any) -> bytes:
    escaped = draw.random() < 0.5
    text = json.dumps(body, ensure_ascii=escaped)
    return text.encode("utf-8", "surrogatepass")


def break_text(draw: random.Random, text: bytes) -> bytes:
    """No JSON any more, mostly; or JSON that nobody writes."""
    at, end = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
    way = draw.randrange(8)
    if way == 0:
        return text[:at]
    if way == 1:
        return text[:at] + bytes([draw.randrange(256)]) + text[at + 1 :]
    if way == 2:
        return text[:at] + text[at:end] * 2 + text[end:]
    if way == 3:
        return text[:at] + text[end:]
    if way == 4:  # a member twice
        return text.replace(b"{", b'{"' + draw.choice(ODD_KEYS).encode("utf-8", "surrogatepass") + b'": 1, ', 1)
    if way == 5:
        return (
            text[:at]
            + draw.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\\ud800", b"\\u00", b"\0", b",", b"1e99999", b"/**/", b"NaN"))
            + text[at:]
        )
    if way == 6:
        return b" \t\r\n" * draw.choice((1, 100)) + text + draw.choice((b" ", b"\0", b"}", b"{}"))
    return text.replace(b'"a"', b'"' + b"\\u0061" * draw.choice((1, 500)) + b'"')


def giant(draw: random.Random, path: str) -> bytes:
    """What is large, which few are."""
    way = draw.randrange(6)
    if way == 0:
        return b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    if way == 1:
        return b'{"messages": [' + b'{"role": "user", "content": "a"},' * 3000 + b'{"role": "user", "content": "b"}], "prompt": "a"}'
    if way == 2:
        return b'{"prompt": [' + b"1," * 100_000 + b'1], "tokens": [' + b"1," * 100_000 + b"1]}"
    if way == 3:
        return b'{"prompt": "' + b"word <|im_end|> \\u00e9 " * 8000 + b'"}'
    if way == 4:
        return b'{"temperature": ' + b"9" * 100_000 + b', "messages": [], "prompt": "a"}'
    return b"{" + b",".join(b'"k%d": {"a": [null]}' % number for number in range(20_000)) + b"}"


def body_for(draw: random.Random, path: str) -> bytes:
    bodies = valid_requests.bodies_of(path)
    if not bodies or draw.random() < 0.0005:
        return giant(draw, path)
    body = copy.deepcopy(draw.choice(bodies))
    kind = draw.random()
    if kind < 0.05:
        return as_text(draw, body)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 6))):
        if places_in(body):
            draw.choice(CHANGES)(draw, body)
    text = as_text(draw, body)
    return break_text(draw, text) if kind > 0.8 else text


def chunked(draw: random.Random, body: bytes) -> bytes:
    out = b""
    while body:
        size = draw.choice((1, 7, 50, 1000, 100_000))
        out += b"%x\r\n%s\r\n" % (len(body[:size]), body[:size])
        body = body[size:]
    return out + b"0\r\n\r\n"


def request(draw: random.Random, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    if draw.random() < 0.3:
        head += draw.choice(
            ("X-Session-Id: s\r\n", "session-id: t\r\n", "Authorization: Bearer k\r\n", "x-api-key: \r\n", "X-A: " + "a" * 500 + "\r\n")
        )
    if draw.random() < 0.1:
        return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(draw, body)
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


HEADERS = (
    b"Content-Length: 5",
    b"Content-Length: -1",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: 0x10",
    b"Content-Length: 1, 1",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: chunked, chunked",
    b"Connection: close",
    b"Connection: keep-alive, upgrade",
    b"Upgrade: websocket",
    b"Expect: 100-continue",
    b"Expect: nothing",
    b"Host: a\r\nHost: b",
    b" folded: a",
    b"X: a\r\n b",
    b"Content-Encoding: gzip",
    b"X\0Y: a",
    b"X: \xff\xfe",
    b": a",
    b"NoColon",
    b"X:" + b"a" * 70_000,
    b"\tX: a",
    b"Trailer: X",
    b"X : a",
    b'x-session-id: \xff"\\',
)
LINES = (
    b"GET / HTTP/1.1",
    b"GET  /health HTTP/1.1",
    b"POST /tokenize",
    b"POST /tokenize HTTP/9.9",
    b"post /tokenize HTTP/1.1",
    b"POST tokenize HTTP/1.1",
    b"\0\1\2\3",
    b"PRI * HTTP/2.0",
    b"OPTIONS * HTTP/1.1",
    b"CONNECT h:1 HTTP/1.1",
    b"HEAD /v1/models HTTP/1.1",
    b"POST /v1/messages?\xff HTTP/1.1",
    b"DELETE /v1/chat/completions HTTP/1.1",
    b"POST http://h/v1/messages HTTP/1.1",
    b"POST /%2e%2e/v1/messages HTTP/1.1",
    b"POST " + b"/a" * 3000 + b" HTTP/1.1",
    b"GET /health HTTP/1.0",
    b"GET /ready HTTP/1.1",
    b"A" * 9000,
    b"GET /metrics HTTP/1.1",
    b"PUT /api/show HTTP/1.1",
    b"POST /v1/chat/completions HTTP/1.0",
    b"\x16\x03\x01\x02\x00\x01",
    b"",
)


def broken_http(draw: random.Random, whole: bytes) -> bytes:
    head, _, body = whole.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    way = draw.randrange(10)
    if way == 0:
        lines[0] = draw.choice(LINES)
    elif way == 1:
        lines.insert(draw.randint(1, len(lines)), draw.choice(HEADERS))
    elif way == 2:
        lines = [line for line in lines if not line.startswith(b"Content-Length")] + [draw.choice(HEADERS)]
    elif way == 3:
        return whole[: draw.randint(0, len(whole))]
    elif way == 4:
        at = draw.randint(0, len(head))
        return whole[:at] + bytes([draw.randrange(256)]) + whole[at + 1 :]
    elif way == 5:
        lines = [lines[0], b"Host: localhost", b"Transfer-Encoding: chunked"]
        body = draw.choice(
            (
                b"zz\r\n",
                b"5\r\nab\r\n0\r\n\r\n",
                b"-1\r\n\r\n",
                b"ffffffffffffffff\r\na",
                b"2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n",
                b"2\r\n{}0\r\n\r\n",
                b"0\r\n",
                b"2 \r\n{}\r\n0\r\n\r\n",
            )
        )
    elif way == 6:
        return head.replace(b"\r\n", b"\n") + b"\n\n" + body
    elif way == 7:
        return whole + whole[: draw.randint(0, len(whole))]
    elif way == 8:
        lines += [b"X-%d: a" % number for number in range(draw.choice((50, 3000, 20_000)))]
    else:
        return whole + b"\r\n" * draw.randrange(4) + draw.choice((b"garbage", b"\0" * 50, b"GET /health HTTP/1.1\r\n\r\n" * 20))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def mutated(draw: random.Random) -> Sent:
    path = draw.choice(POSTS)
    whole = request(draw, path, body_for(draw, path))
    if draw.random() < 0.85:
        return Sent(whole, api_of(path), True)
    others = b"".join(
        b"%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (m.encode(), p.encode())
        for m, p in draw.choices(ROUTES, k=draw.choice((0, 0, 1, 4)))
        if m == "GET"
    )
    return Sent(others + broken_http(draw, whole), None, False)
