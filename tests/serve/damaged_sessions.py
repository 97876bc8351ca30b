"""What gateways make of turns in Redis that are damaged, or lie. Begin reading at garbage, a test of shared_failures_test.py."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any

from engine import Engine
from gateway import Checks
from sessions_test import Talk, user
from shared_world import world


def hashed(value: bytes) -> bytes:
    return hashlib.sha256(value).hexdigest().encode() + b"\n" + value


def damaged(whole: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Values that are damaged, and values that lie: those have the right hash."""
    for at in (0, 10, 64, 65, 66, len(whole) - 1):
        yield f"cut at {at}", whole[:at]
    for _ in range(20):
        at = chance.randrange(len(whole))
        yield f"byte {at}", whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
    for what, value in lies(whole[65:]):
        yield what, hashed(value)


# Members of a saved turn, and of the place of its session, with values that cannot be.
WRONG_PLACE: Any = {
    "sampled_from": [10**6, -1, "1"],
    "before": [10**6],
    "anchor": [10**6, -1],
    "anchor_byte": [2**32, 10**6],
    "landmarks": [[5], [0, 10**6], [10**6, 0], [0, 9, 3], [[]]],
    "guarded": [[[9, 3, 1, "x"]], [7], [[1, 2, 3]]],
    "messages": [10**6],
    "format": [3],
    "kept": [[[1, 10**6, 0, 1]], [[1, 2, 0, 10**9]], [[1]], 7],
    "dropped": [10**6, -1],
    "canonical": [1],
}
WRONG_HELD: Any = {
    "fingerprint": ["0" * 64],
    "format": [7],
    "name": ["0" * 64, 7],
    "key": ["0" * 64],
    "turn": [-1],
    "messages": [0, 10**9],
    "now": [[1], None, [2024, 13, 1, 0, 0, 0, 0]],
    "calls": [[{}], [{"id": "", "name": "f", "arguments": "["}]],
    "content": [7],
    "with_tools": [2],
    "whole": [0, 2, "1"],
    "before": [7],
    "before_ids": [10**6, -1],
    "before_text": [10**9, "x"],
    "before_messages": [10**6, -1],
    "before_kept": [10**6, -1],
    "before_guarded": [10**6, -1],
    "choice": [1, -1],
    "text": [0, -1, 10**9],
    "rest": [10**9, 3, -1],
    "more": [10**9, 3, -1],
    "ids": [[2**31 - 1], [-1], [1.5], ["x"], 7, None, [], [10**30]],
    "place": [7, None, {}, []],
}


def lies(value: bytes) -> Iterator[tuple[str, bytes]]:
    before, head, body = value.split(b"\n", 2)
    yield "nothing of ours", b"\x00\xff\xfe garbage" * 100
    yield "empty objects", b"\n{}\n{}\n"
    yield "no object", b"\n[]\n[]\n"
    for at in (0, 10, len(head), len(head) + 1, len(head) + 2, len(head) + 20, len(value) - 1):
        yield f"cut at {at}", value[:at]
    for place in (b"parlance:turn:" + b"0" * 64, b"x", b"parlance:turn:"):
        yield f"a turn before it, {place[:20]!r}", b"\n".join((place, head, body))
    held = json.loads(head)
    yield "an id too large", b"\n".join((before, json.dumps(held | {"ids": [*held["ids"][:-1], 10**6]}).encode(), body))
    for name, values in WRONG_PLACE.items():
        for wrong in values:
            lie = held | {"place": held["place"] | {name: wrong}}
            yield f"{name} of the place = {wrong}"[:60], b"\n".join((before, json.dumps(lie).encode(), body))
    for name, values in WRONG_HELD.items():
        for wrong in values:
            yield f"{name} = {wrong}"[:60], b"\n".join((before, json.dumps(held | {name: wrong}).encode(), body))


def garbage(parlance: str, engine: Engine, checks: Checks) -> None:
    """What others write into our keys is a miss, or changes nothing, and never ends a gateway."""
    with world(parlance, engine, checks) as here:
        writer = here.gateway()
        talk = Talk(writer, engine)
        talk.turn({"role": "system", "content": "Be <|im_end|> kind."}, user("One?"), headers={"x-session-id": "one"})
        talk.turn(user("Two?"), headers={"x-session-id": "one"})
        written = {key: here.redis.ask("GET", key) for key in here.redis.keys("parlance:turn:*")}
        names = {key: here.redis.ask("GET", key) for key in here.redis.keys("parlance:name:*")}
        question = [*talk.request["messages"], user("Three?")]
        for key in here.redis.keys("parlance:*"):
            here.redis.ask("DEL", key)
            here.redis.ask("RPUSH", key, "x")
        reader = here.gateway("--log", "errors")
        status, headers, _ = reader.post("/v1/chat/completions", {"messages": question}, {"x-session-id": "one"})
        checks.equal((status, headers["X-Parlance-Reused-Tokens"]), (200, "0"), "lists in place of values and names")
        reader.end()
        chance, misses, tried = random.Random(7), 0, 0
        key, value = max(written.items(), key=lambda one: len(one[1]))
        reader = here.gateway("--max-sessions", "1", "--log", "errors")
        whole = 0
        for name, wrong in [("as it was", value), *damaged(value, chance)]:
            reader.post("/v1/chat/completions", {"messages": [user("Forget.")]})  # it remembers one conversation alone
            here.redis.ask("FLUSHALL")
            for place, turn in [*names.items(), (key, wrong)]:
                here.redis.ask("SET", place, turn)
            status, headers, _ = reader.post("/v1/chat/completions", {"messages": question})
            reused = int(headers.get("X-Parlance-Reused-Tokens", "-1"))
            whole = whole or reused
            tried, misses = tried + 1, misses + (reused == 0)
            checks.that(status == 200 and reused in (0, whole), f"{name}: {status}, {reused} tokens")
            checks.that(whole > 0, "the value as it was")
            checks.that(reused == 0 or name == "as it was", f"{name} is refused")
        checks.that(misses > 40 and reader.metric("parlance_shared_sessions_refused") >= 40, f"{misses} of {tried} are misses")
        for name, wrong in (("no key", b"7 x y"), ("long", b"a" * 10**6), ("of nobody", b"f" * 64), ("empty", b"")):
            here.redis.ask("FLUSHALL")
            status, _, answer = reader.post("/v1/responses", {"input": "Hi"})
            for place in here.redis.keys("parlance:name:*"):
                here.redis.ask("SET", place, wrong)
            reader.post("/v1/chat/completions", {"messages": [user("Forget.")]})
            status, _, answer = reader.post("/v1/responses", {"input": "And?", "previous_response_id": answer["id"]})
            checks.equal(status, 400, f"a name that leads to nothing ({name})")
