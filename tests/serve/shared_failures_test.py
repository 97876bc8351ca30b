#!/usr/bin/env python3
"""Several `parlance serve` that share their sessions by Redis, where one of them, Redis, or what is in it fails.

    shared_failures_test.py PARLANCE [--valkey] [TEST …]

Every turn that was acknowledged goes on, and what cannot be done has a typed error in a bounded time. Begin reading at TESTS.
"""

from __future__ import annotations

import functools
import http.client
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from damaged_sessions import garbage
from engine import TOKENIZER, Engine
from gateway import Checks
from sessions_test import user
from shared_clients import Client, goes_on, notices, run_at_once, under_load
from shared_world import run_tests, world


def gateway_killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 of a gateway under load: every acknowledged turn goes on at the other one."""
    with world(parlance, engine, checks) as here:
        stays = here.gateway("--log", "errors")
        for trial in range(2):
            goes = here.gateway("--log", "errors")
            clients = [Client(goes, f"client {trial} {number}", stream=number % 2 == 0) for number in range(8)]
            under_load(clients, functools.partial(goes.end, signal.SIGKILL))
            checks.that(sum(len(client.acknowledged) for client in clients) > 30, "acknowledged turns before kill -9 of a gateway")
            checks.equal([client.breaks for client in clients if client.breaks], [], "breaks before kill -9")
            for client in clients:
                client.gateway = stays
                goes_on(client, engine, checks, "kill -9 of a gateway")


def redis_killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 of Redis under load: what was acknowledged is in its append-only file, what was not has a typed error."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway("--log", "errors"), here.gateway("--log", "errors")]
        for trial in range(3):
            clients = [Client(gateways[number % 2], f"client {trial} {number}", stream=number % 3 == 0) for number in range(8)]
            under_load(clients, lambda: here.redis.signal(signal.SIGKILL))
            checks.that(sum(len(client.acknowledged) for client in clients) > 30, "acknowledged turns before kill -9 of Redis")
            errors = [error for client in clients for error in client.errors]
            checks.equal(len(errors), len(clients), f"each client is refused: {errors}")
            checks.that(
                all(one in ((503, "session_store_failed"), (200, "session_store_failed")) for one in errors), f"typed errors: {errors}"
            )
            status, said = gateways[0].get("/ready")
            checks.that(status == 503 and "shared sessions" in said, f"/ready without Redis: {said}")
            here.redis.start()
            fresh = here.gateway("--log", "errors")
            for number, client in enumerate(clients):
                client.gateway = fresh if number % 2 else gateways[(number // 2 + 1) % 2]
                goes_on_again(client, engine, checks, f"kill -9 of Redis, trial {trial}")
            checks.equal(gateways[0].get("/ready")[0], 200, "/ready once Redis is back")


def goes_on_again(client: Client, engine: Engine, checks: Checks, what: str) -> None:
    """Redis has just been started."""
    notices(client.gateway)
    goes_on(client, engine, checks, what)


def seconds_of_health(gateway: Gateway, checks: Checks) -> float:
    begun = time.monotonic()
    checks.equal(gateway.get("/health")[0], 200, "/health while Redis hangs")
    return time.monotonic() - begun


def redis_hangs(parlance: str, engine: Engine, checks: Checks) -> None:
    """A Redis that was stopped: a typed error in a bounded time, for many at once too; then all goes on."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway("--log", "errors"), here.gateway("--log", "errors")
        clients = [Client(one, f"client {number}") for number in range(24)]
        run_at_once([functools.partial(client.turns, 2) for client in clients])
        for number, client in enumerate(clients):
            client.gateway = (one, other)[number % 2]
        here.redis.signal(signal.SIGSTOP)
        begun = time.monotonic()
        run_at_once([client.turn for client in clients])
        seconds = time.monotonic() - begun
        checks.that(seconds < 20, f"many requests while Redis hangs took {seconds:.1f} s")
        errors = {error for client in clients for error in client.errors}
        checks.equal(errors, {(503, "session_store_failed")}, "errors while Redis hangs")
        quickest = min(seconds_of_health(one, checks) for _ in range(5))
        # A turn waits for Redis for 2 s.
        checks.that(quickest < 1.9, "a gateway answers what needs no Redis at once")
        here.redis.signal(signal.SIGCONT)
        notices(one)
        notices(other)
        for client in clients:
            goes_on(client, engine, checks, "a Redis that hung")


def optional(parlance: str, engine: Engine, checks: Checks) -> None:
    """--sessions-optional: turns are answered without Redis, go on from memory, and /ready says so."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--sessions-optional")
        client = Client(gateway, "client")
        client.turns(3)
        here.redis.signal(signal.SIGKILL)
        for _ in range(3):
            goes_on(client, engine, checks, "optional")
        status, said = gateway.get("/ready")
        checks.that(status == 200 and "Redis at" in json.loads(said)["sessions"], f"/ready: {said}")
        checks.that(gateway.metric("parlance_shared_sessions_failures") >= 3, "failures in /metrics")
        here.redis.start()
        notices(gateway)
        goes_on(client, engine, checks, "optional, with Redis again")
        checks.equal(json.loads(gateway.get("/ready")[1]), {"status": "ready", "sessions": "shared"}, "/ready with Redis again")
        client.gateway = here.gateway()
        goes_on(client, engine, checks, "optional, at another gateway")
        events = [line["event"] for line in gateway.end()]
        checks.that({"shared_sessions_failure", "session_not_shared", "shared_sessions_back"} <= set(events), f"the log: {set(events)}")


# Settings of Redis, and what the gateway warns of.
UNSAFE = {
    ("--appendfsync", "everysec"): "last second",
    ("--appendonly", "no"): "append-only",
    ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"): "noeviction",
    ("--rename-command", "CONFIG", ""): "CONFIG",
    (): "",
}


def starts(parlance: str, engine: Engine, checks: Checks) -> None:
    """Passwords, settings that are not safe, and addresses where nobody is."""
    with world(parlance, engine, checks, "--requirepass", "a secret word") as here, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "password"
        file.write_text("a secret word\n")
        gateway = here.gateway("--sessions-password-file", str(file))
        checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, "a password")
        checks.that("a secret word" not in json.dumps(gateway.end()), "passwords are not in the log")
        encoded = f"redis://:a%20secret%20word@127.0.0.1:{here.redis.port}/3"
        gateway = here.gateway(url=encoded)
        checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, "a password in the URL, another database")
        gateway.end()
        for url, said in (
            (here.redis.url, "NOAUTH"), (f"redis://:wrong@127.0.0.1:{here.redis.port}", "WRONGPASS"), ("redis://127.0.0.1:1", "refused"),
            ("unix:///nowhere/redis.sock", "No such file"), ("rediss://127.0.0.1:1", "TLS"), ("http://127.0.0.1", "redis://"),
            (f"{encoded}x", "database"), ("redis://127.0.0.1:x", "port"), ("redis://", "host"),
        ):  # fmt: skip
            command = [parlance, "serve", "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--port", "0", "--sessions", url]
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            checks.that(done.returncode != 0 and said in done.stderr, f"{url}: {done.returncode}, {done.stderr[:300]}")
            checks.that("wrong" not in done.stderr and "secret" not in done.stderr, f"{url}: no password is said")
    for options, said in UNSAFE.items():
        with world(parlance, engine, checks, *options) as here:
            gateway = here.gateway()
            checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, f"{options}: a turn")
            if options == ("--appendfsync", "everysec") and isinstance(here.redis.ask("WAITAOF", "0", "0", "1"), list):
                stats: bytes = here.redis.ask("INFO", "commandstats")
                calls = int(stats.split(b"cmdstat_waitaof:calls=")[1].split(b",")[0])
                checks.equal(calls, 3, "the gateway waits for the disk with each turn")
                said = ""
            warned = [line["message"] for line in gateway.end() if line["event"] == "shared_sessions_unsafe"]
            checks.that([said in one for one in warned] == ([True] if said else []), f"{options}: {warned}")


def refuses_writes(parlance: str, engine: Engine, checks: Checks) -> None:
    """A Redis that answers and yet takes nothing, since its memory is full."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--log", "errors")
        client = Client(gateway, "client")
        client.turns(2)
        here.redis.ask("CONFIG", "SET", "maxmemory", "1")
        client.turns(1)
        asked = len(engine.asked)
        client.turns(1)
        checks.equal(client.errors, [(503, "session_store_failed")] * 2, "a full Redis")
        checks.equal(len(engine.asked), asked, "the engine is not asked in vain again")
        here.redis.ask("CONFIG", "SET", "maxmemory", "0")
        notices(gateway)
        goes_on(client, engine, checks, "a Redis with room again")


def reloaded(parlance: str, engine: Engine, checks: Checks) -> None:
    """SIGHUP leaves shared sessions as they are; with another template they begin anew, and at the other gateway they go on."""
    source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\\n' }}"
    with world(parlance, engine, checks) as here, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "chat.jinja"
        file.write_text(source)
        gateways = [here.gateway(template=("-t", str(file))) for _ in range(2)]
        clients = [Client(gateways[0], f"client {number}") for number in range(2)]
        for client in clients:
            client.turns(2)
        checks.equal(gateways[0].reload()["event"], "reloaded", "a reload")
        goes_on(clients[0], engine, checks, "behind a reload")
        file.write_text("Now: " + source)
        checks.equal(gateways[0].reload()["event"], "reloaded", "a reload with another template")
        clients[0].turn()
        checks.that(engine.vocabulary.decode(engine.asked[-1].prompt).startswith("Now: "), "the new template counts")
        checks.equal((len(clients[0].acknowledged), clients[0].errors), (4, []), "a turn with another template")
        clients[1].gateway = gateways[1]
        goes_on(clients[1], engine, checks, "a gateway that was not told to reload")


def captured(parlance: str, engine: Engine, checks: Checks) -> None:
    """Gateways that also capture, each in a folder of its own: together the records are whole. Clients that leave meanwhile have one."""
    with world(parlance, engine, checks) as here, tempfile.TemporaryDirectory() as folder:
        folders = [f"{folder}/{number}" for number in range(2)]
        gateways = [here.gateway("--capture", one, "--log", "errors") for one in folders]
        client = Client(gateways[0], "client")
        for turn in range(6):
            client.gateway = gateways[turn % 2]
            client.turns(1)
        checks.equal((len(client.acknowledged), client.breaks), (6, []), "turns that are captured")
        here.redis.signal(signal.SIGSTOP)
        for number in range(4):
            body = json.dumps({"messages": [user(f"I leave, {number}.")], "stream": number % 2 == 0}).encode()
            leaving = http.client.HTTPConnection(gateways[0].url.removeprefix("http://"))
            leaving.request("POST", "/v1/chat/completions", body)
            time.sleep(0.2)
            leaving.close()
        time.sleep(0.3)
        here.redis.signal(signal.SIGCONT)
        notices(gateways[0])
        goes_on(client, engine, checks, "behind clients that left")
        for gateway in gateways:
            gateway.end()
        lines = [line for one in folders for file in sorted(pathlib.Path(one).glob("*.jsonl")) for line in file.read_text().splitlines()]
        turns = [record for record in map(json.loads, lines) if record["record"] == "turn"]
        answered = sum(record["status"] == "answered" for record in turns)
        checks.that(answered >= 7 and len(turns) >= 8, f"records: {[record['status'] for record in turns]}")
        done = subprocess.run([parlance, "replay", *folders], capture_output=True, text=True, timeout=60)
        checks.that(done.returncode == 0 and " 0 records differ" in done.stdout + done.stderr, f"replay: {done.stdout}{done.stderr}")


TESTS = (  # the longest first
    redis_killed,
    redis_hangs,
    captured,
    optional,
    refuses_writes,
    garbage,
    gateway_killed,
    starts,
    reloaded,
)


if __name__ == "__main__":
    sys.exit(run_tests(TESTS))
