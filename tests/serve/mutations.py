#!/usr/bin/env python3
"""Many mutated requests to a gateway, over several connections at once: each is answered, and nothing stays behind.

    mutations.py PARLANCE [--requests 2000] [--seed 1] [--first 0] [--workers 2] [--connections 16]

A request whose HTTP is sound has one answer, of status 200 to 499, in its API's form; one whose HTTP is broken is answered or its
connection ends. None waits longer than a bound. At the end the gateway lives, has given back its descriptors, and its memory does not
grow. Each request comes from the seed and its number alone: what fails can be sent again by `--first NUMBER --requests 1`.

Begin reading at Wire, one connection.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import pathlib
import random
import selectors
import socket
import struct
import sys
import tempfile
import time
from multiprocessing.queues import Queue
from multiprocessing.sharedctypes import Synchronized

from answers import NotHttp, all_answers, faults_of, take_answer
from fast_engine import FastEngine
from gateway import Checks
from mutators import Sent, mutated
from watched_gateway import WatchedGateway

LONGEST = 60.0  # seconds that an answer may take, on a machine that has other things to do
QUIET = 0.4  # seconds without a byte, behind broken HTTP, after which this side has nothing more to say
PROBE = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Wire:
    """A connection, the request that it sends, and what came."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.socket: socket.socket | None = None
        self.number = -1

    def begin(self, number: int, sent: Sent) -> None:
        self.number, self.sent = number, sent
        self.out = memoryview(sent.data if sent.is_http else sent.data + PROBE)
        self.got = b""
        self.ended = self.said_all = False
        self.begun = self.heard = time.monotonic()
        if self.socket is None or not sent.is_http:
            self.close()
            self.socket = socket.create_connection(self.address)
            self.socket.setblocking(False)

    def close(self) -> None:
        if self.socket is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # leaves nothing behind
            self.socket.close()
            self.socket = None

    def move(self, *, may_write: bool) -> None:
        assert self.socket is not None
        try:
            if may_write and self.out:
                self.out = self.out[self.socket.send(self.out[: 1 << 18]) :]
            piece = self.socket.recv(1 << 18)
            self.got += piece
            self.heard = time.monotonic()
            self.ended = not piece
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True

    def outcome(self) -> str | None:
        """What is wrong with the answer; "": nothing; None: it is not there yet."""
        now = time.monotonic()
        try:
            result = self._of_sound_http() if self.sent.is_http else self._of_broken_http(now)
        except (NotHttp, ValueError) as wrong:
            return f"no HTTP: {wrong}"
        return f"no answer for {LONGEST:.0f} s" if result is None and now - self.begun > LONGEST else result

    def _of_sound_http(self) -> str | None:
        taken = take_answer(self.got, ended=self.ended)
        if taken is None:
            return "the connection ended without a whole answer" if self.ended else None
        answer, rest = taken
        if rest:
            return "more than one answer"
        if self.ended or answer.closes:
            self.close()
        return faults_of(answer, self.sent.api, self.sent.data)

    def _of_broken_http(self, now: float) -> str | None:
        assert self.socket is not None
        if not self.ended:
            if now - self.heard > QUIET and not self.said_all:
                self.said_all = True
                with contextlib.suppress(OSError):  # the gateway has just ended it
                    self.socket.shutdown(socket.SHUT_WR)
            return None
        self.close()
        answers = all_answers(self.got)
        if not answers and not self.said_all and self.sent.data:
            return "the connection ended without an answer"
        return next((fault for answer in answers if (fault := faults_of(answer, None, self.sent.data))), "")


Failed = tuple[int, str, bytes, bytes]  # a request's number, what is wrong, what was sent, what came


def work(address: tuple[str, int], numbers: range, seed: int, connections: int, done: Synchronized[int], failed: Queue[Failed]) -> None:
    """Sends the requests of these numbers."""
    draw = random.Random()
    waiting = iter(numbers)
    wires = [Wire(address) for _ in range(connections)]

    def begin(wire: Wire) -> bool:
        number = next(waiting, None)
        if number is None:
            return False
        draw.seed(seed << 40 | number)
        wire.begin(number, mutated(draw))
        return True

    busy = [wire for wire in wires if begin(wire)]
    while busy:
        # A selector made anew each time costs less than to keep one in step with connections that come and go.
        with selectors.PollSelector() as selector:
            for wire in busy:
                assert wire.socket is not None
                selector.register(wire.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if wire.out else 0), wire)
            for key, events in selector.select(0.05):
                key.data.move(may_write=bool(events & selectors.EVENT_WRITE))
        still = []
        for wire in busy:
            fault = wire.outcome()
            if fault is None:
                still.append(wire)
                continue
            done.value += 1  # each worker has its own
            if fault:
                failed.put((wire.number, fault, wire.sent.data, wire.got))
                wire.close()
            if begin(wire):
                still.append(wire)
        busy = still
    for wire in wires:
        wire.close()


def save(folder: pathlib.Path, number: int, fault: str, sent: bytes, got: bytes) -> None:
    (folder / f"{number}.request").write_bytes(sent)
    print(f"request {number}: {fault}\n  sent {sent[:300]!r}\n  got {got[:300]!r}", file=sys.stderr)


def run(gateway: WatchedGateway, options: argparse.Namespace, checks: Checks, findings: pathlib.Path) -> None:
    begun = time.monotonic()
    failed: Queue[Failed] = multiprocessing.Queue()
    last = options.first + options.requests
    counts: list[Synchronized[int]] = [multiprocessing.Value("q", 0, lock=False) for _ in range(options.workers)]
    workers = []
    for part, count in enumerate(counts):
        numbers = range(options.first + part, last, options.workers)
        arguments = (gateway.address, numbers, options.seed, options.connections, count, failed)
        workers.append(multiprocessing.Process(target=work, args=arguments, daemon=True))
    for worker in workers:
        worker.start()
    memory: list[tuple[int, float]] = []
    found = 0
    while any(worker.is_alive() for worker in workers) or not failed.empty():
        while not failed.empty() and found < 20:
            found += 1
            save(findings, *failed.get())
        checks_alive = gateway.process.poll() is None
        if not checks_alive or found >= 20:
            for worker in workers:
                worker.kill()
            break
        done = sum(count.value for count in counts)
        if not memory or done >= memory[-1][0] + options.requests // 20:
            memory.append((done, gateway.megabytes()))
            rate = done / (time.monotonic() - begun)
            print(f"{done} requests, {rate:.0f} a second, {memory[-1][1]:.0f} MB, {gateway.descriptors()} descriptors", flush=True)
        time.sleep(0.1)
    done = sum(count.value for count in counts)
    checks.equal(found, 0, "requests with a fault")
    checks.equal(done, options.requests, "requests that were answered")
    checks.that(all(worker.exitcode == 0 for worker in workers), "the workers ended")
    if gateway.process.poll() is None:
        after(gateway, options, checks, memory, done / (time.monotonic() - begun))


def after(gateway: WatchedGateway, options: argparse.Namespace, checks: Checks, memory: list[tuple[int, float]], rate: float) -> None:
    checks.equal(gateway.connections(), 1, "connections afterwards, with that which asks")
    most = options.before + 64 + 2  # those to the engine are kept
    checks.that(gateway.descriptors() <= most, f"{gateway.descriptors()} descriptors afterwards, {options.before} before")
    checks.equal(gateway.metric("parlance_engine_failures"), 0, "failures of the engine")
    checks.that('"ok"' in gateway.get("/health"), "health afterwards")
    end = gateway.megabytes()
    middle = max(size for done, size in memory if done <= options.requests * 0.6)
    print(f"{options.requests} requests, {rate:.0f} a second; memory {middle:.0f} MB in the middle, {end:.0f} MB at the end")
    if options.requests >= 100_000:
        checks.that(end < middle * 1.15 + 40, f"memory grew from {middle:.0f} to {end:.0f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first request")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=16, help="of each worker")
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as made, FastEngine() as engine:
        folder = pathlib.Path(made)
        findings = pathlib.Path(tempfile.gettempdir()) / "parlance-mutations"
        findings.mkdir(exist_ok=True)
        limits = ("--max-body", "4000000", "--max-sessions", "256", "--log", "errors")
        with WatchedGateway(options.parlance, folder / "log", "--backend", f"llama-server={engine.url}", *limits) as gateway:
            gateway.get("/ready")
            options.before = gateway.descriptors()
            run(gateway, options, checks, findings)
            checks.that(gateway.process.poll() is None, f"the gateway lives: {gateway.log.read_text(errors='replace')[-2000:]}")
            if gateway.process.poll() is None:
                gateway.end()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
