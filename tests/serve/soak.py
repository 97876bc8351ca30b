#!/usr/bin/env python3
"""Minutes of mixed traffic: all APIs, whole and as streams, clients that leave, read slowly or send slowly, an engine with faults, reloads.

    soak.py PARLANCE [--minutes 10] [--clients 12] [--sanitized]

No request fails but those whose engine is told to; memory and descriptors stay as they are after the first fifth; each turn that a client
has the end of is in the capture, and `parlance replay` makes them all again. At SIGTERM a stream under way is answered to its end.

Begin reading at Client.turn and at main.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from multiprocessing.queues import Queue
from typing import Any

from answers import Answer, error_in, events_of, faults_of, strict_json, take_answer
from engine import TOKENIZER, Asked, Engine, Reply
from gateway import Checks
from watched_gateway import WatchedGateway

Json = dict[str, Any]
RECEIVE = 3  # seconds that the gateway waits for a request
STALL = 2
LONGEST = 60.0

CALL = '\n<tool_call>\n{"name": "look", "arguments": {"at": "here"}}\n</tool_call><|im_end|>'
LINE = "A line that goes on for a while, and then it ends.\n"
REPLIES = (
    "Yes.<|im_end|>",
    "<think>\nHm, 1 €.\n</think>\n\nNo.<|im_end|>",
    LINE * 8 + "<|im_end|>",
)
FAULTS = {
    "die": Reply("One two three.<|im_end|>", die_after=4),
    "refuse": Reply(status=500),
    "busy": Reply(status=503),
    "garbage": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\n\r\ndata: {oops\n"),
    "nothing": Reply(raw=b"\0"),
    "stall": Reply("One two three.<|im_end|>", stall_after=3),
}


def script(vocabulary_of: Engine, asked: Asked) -> Reply:
    """What the last question asks the engine to do."""
    text = vocabulary_of.vocabulary.decode(asked.prompt[-400:])
    question = text.rpartition("<|im_start|>user")[2]
    for name, fault in FAULTS.items():
        if f"fault {name}." in question:
            return fault
    if "slowly" in question:
        return Reply(LINE * 3 + "<|im_end|>", pause=0.01)  # 1.5 s
    if "Look." in question and "<tool_response>" not in question:
        return Reply(CALL)
    return Reply(REPLIES[len(asked.prompt) % len(REPLIES)])


TOOLS: list[Json] = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
]


def body_of(path: str, messages: list[Json], stream: bool) -> Json:
    """A request of each API with the same conversation."""
    if path == "/v1/responses":
        return {"model": "m", "input": messages, "stream": stream}
    body: Json = {"model": "m", "messages": messages, "stream": stream}
    if path == "/v1/messages":
        return body | {"max_tokens": 500}
    if path == "/v1/chat/completions":
        return body | {"tools": TOOLS, "logprobs": True, "top_logprobs": 1}
    if path == "/api/generate":
        return {"model": "m", "prompt": messages[-1]["content"], "stream": stream}
    return body


CHATS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat", "/api/generate")
OTHERS: tuple[tuple[str, Json | None], ...] = (
    ("/health", None),
    ("/ready", None),
    ("/metrics", None),
    ("/v1/models", None),
    ("/api/tags", None),
    ("/tokenize", {"prompt": "Hello <|im_end|>"}),
    ("/v1/completions", {"prompt": "Hello", "max_tokens": 5}),
    ("/v1/chat/completions/render", {"messages": [{"role": "user", "content": "Hi"}]}),
    ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}),
)


def api_of_chat(path: str) -> str:
    return {"/v1/messages": "anthropic", "/api/chat": "ollama", "/api/generate": "ollama"}.get(path, "openai")


class Client:
    """What one thread does, from its own seed. What went wrong is in `faults`, what the gateway acknowledged in `told`."""

    def __init__(self, address: tuple[str, int], number: int) -> None:
        self.address, self.number = address, number
        self.draw = random.Random(number)
        self.turns = 0
        self.faults: list[str] = []
        self.told: list[str] = []
        self.connection: http.client.HTTPConnection | None = None

    def marker(self) -> str:
        self.turns += 1
        return f"marker-{self.number}-{self.turns}."

    def ask(self, path: str, body: Json | None) -> Answer:
        """Over a connection that is kept."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.address, timeout=LONGEST)
        data = None if body is None else json.dumps(body).encode()
        try:
            self.connection.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"})
            reply = self.connection.getresponse()
            headers = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, headers, reply.read())
        except BaseException:
            self.connection.close()
            self.connection = None
            raise

    def say(self, what: str) -> None:
        self.faults.append(f"client {self.number}, turn {self.turns}: {what}")

    def turn(self) -> None:
        kind = self.draw.random()
        if kind < 0.45:
            self.chat()
        elif kind < 0.60:
            self.fault()
        elif kind < 0.75:
            self.leave()
        elif kind < 0.82:
            self.read_slowly()
        elif kind < 0.85:
            self.send_slowly()
        else:
            path, body = self.draw.choice(OTHERS)
            answer = self.ask(path, body)
            if wrong := faults_of(answer, None):
                self.say(f"{path}: {wrong}: {answer.body[:300]!r}")

    def chat(self) -> None:
        """One to four turns of a conversation."""
        path = self.draw.choice(CHATS)
        messages: list[Json] = []
        for _ in range(self.draw.randint(1, 4)):
            marker = self.marker()
            messages.append({"role": "user", "content": f"{self.draw.choice(('Look.', 'And?', 'Köln 😀?'))} {marker}"})
            stream = self.draw.random() < 0.6
            answer = self.ask(path, body_of(path, messages, stream))
            if wrong := faults_of(answer, api_of_chat(path)):
                return self.say(f"{path}: {wrong}: {answer.body[:300]!r}")
            self.told.append(marker)
            messages.append({"role": "assistant", "content": "Yes."} if stream else self.reply_in(path, answer))

    def reply_in(self, path: str, answer: Answer) -> Json:
        body = strict_json(answer.body) if answer.type == "application/json" else {}
        if path == "/v1/chat/completions":
            message: Json = body["choices"][0]["message"]
            return {"role": "assistant", "content": message.get("content") or "Yes."}
        if path == "/api/chat" and "message" in body:
            return {"role": "assistant", "content": body["message"]["content"]}
        return {"role": "assistant", "content": "Yes."}

    def fault(self) -> None:
        """The engine fails as it is told; the error says that it was the engine."""
        path = self.draw.choice(CHATS)
        name = self.draw.choice([*FAULTS, "die", "refuse"])
        messages = [{"role": "user", "content": f"fault {name}. {self.marker()}"}]
        answer = self.ask(path, body_of(path, messages, self.draw.random() < 0.6))
        if answer.type == "application/json":
            said = error_in(strict_json(answer.body), api_of_chat(path)) or ""
            fits = answer.status >= 500
        else:
            said = str(events_of(answer)[-1])
            fits = True
        if "engine" not in said or not fits:
            self.say(f"{path}: the fault {name} is told as {answer.status} {answer.body[-300:]!r}")

    def raw(self, question: str, *, small: bool = False) -> socket.socket:
        path = self.draw.choice(CHATS)
        data = json.dumps(body_of(path, [{"role": "user", "content": question}], True)).encode()
        made = socket.socket()
        if small:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(LONGEST)
        made.connect(self.address)
        made.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(data), data))
        return made

    def leave(self) -> None:
        with self.raw(f"slowly, please. {self.marker()}") as connection:
            time.sleep(self.draw.random() * 0.3)
            if self.draw.random() < 0.5:
                connection.recv(self.draw.choice((1, 1000)))

    def read_slowly(self) -> None:
        marker = self.marker()
        with self.raw(f"Tell. {marker}", small=True) as connection:
            got = b""
            while (taken := take_answer(got)) is None:
                piece = connection.recv(700)
                if not piece:
                    return self.say(f"the stream ended early: {got[-300:]!r}")
                got += piece
                time.sleep(0.01)
            if wrong := faults_of(taken[0], None):
                return self.say(f"a slow reader got {wrong}: {taken[0].body[-300:]!r}")
            self.told.append(marker)

    def send_slowly(self) -> None:
        """Slow loris: a header, or a body, that does not end. The gateway does."""
        header, body = (
            b"POST /v1/chat/completions HTTP/1.1\r\nX-Slow: ",
            b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n{",
        )
        text = self.draw.choice((header, body))
        begun = time.monotonic()
        with socket.create_connection(self.address) as connection:
            connection.sendall(text)
            connection.settimeout(0.2)
            while time.monotonic() - begun < RECEIVE + LONGEST:
                try:
                    connection.sendall(b"a")
                    got = connection.recv(4096)
                except TimeoutError:
                    continue
                except OSError:
                    got = b""
                if got and not got.startswith(b"HTTP/1.1 408"):
                    self.say(f"a slow request got {got[:200]!r}")
                return
        self.say("a slow request was not ended")


Told = tuple[int, list[str], list[str]]  # how many turns, what went wrong, the markers of what was acknowledged


def run_clients(address: tuple[str, int], numbers: range, until: float, pause: float, tell: Queue[Told]) -> None:
    def run(client: Client) -> None:
        while time.time() < until and len(client.faults) < 5:
            try:
                client.turn()
            except Exception as wrong:
                client.say(f"{type(wrong).__name__}: {wrong}")
            time.sleep(client.draw.random() * pause)

    clients = [Client(address, number) for number in numbers]
    threads = [threading.Thread(target=run, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faults, told = [fault for one in clients for fault in one.faults], [marker for one in clients for marker in one.told]
    tell.put((sum(client.turns for client in clients), faults, told))


def write_config(path: pathlib.Path, engine: str, most: int) -> None:
    """Another limit of replies makes it another model, whose sessions begin anew."""
    path.write_text(
        f'[[model]]\nmodel-name = "m"\nformat = "terminal-agent"\ntokenizer = "{TOKENIZER}"\nbackend = "llama-server={engine}"\n'
        f"stall = {STALL}\nmax-reply-tokens = {most}\n"
    )


class Watch:
    """Memory and descriptors, and a reload now and then."""

    def __init__(self, gateway: WatchedGateway, config: pathlib.Path, engine: str) -> None:
        self.gateway, self.config, self.engine = gateway, config, engine
        self.samples: list[tuple[float, float, int]] = []
        self.reloads = 0

    def until(self, end: float) -> None:
        begun = time.time()
        draw = random.Random(0)
        next_reload, next_line = begun + 5, begun
        while time.time() < end and self.gateway.process.poll() is None:
            now = time.time()
            self.samples.append((now - begun, self.gateway.megabytes(), self.gateway.descriptors()))
            if now > next_reload:
                write_config(self.config, self.engine, draw.choice((4000, 4000, 5000)))
                self.gateway.process.send_signal(signal.SIGHUP)
                self.reloads += 1
                next_reload = now + draw.uniform(4, 16)
            if now > next_line:
                print(f"{self.samples[-1][0]:.0f} s: {self.samples[-1][1]:.0f} MB, {self.samples[-1][2]} descriptors", flush=True)
                next_line = now + 30
            time.sleep(0.5)

    def between(self, begin: float, end: float) -> tuple[float, int]:
        """Memory in the middle of a part of the time, since a reload takes some for a moment; and the most descriptors."""
        whole = self.samples[-1][0]
        part = [sample for sample in self.samples if begin * whole <= sample[0] <= end * whole]
        return statistics.median(size for _, size, _ in part), max(count for _, _, count in part)


def captured(folder: pathlib.Path) -> tuple[int, set[str]]:
    """How many turns there are, and the markers of those that were answered."""
    turns, markers = 0, set()
    for file in folder.glob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["record"] != "turn":
                continue
            turns += 1
            if record["status"] == "answered":
                markers.add("marker-" + record["request"].rpartition("marker-")[2].split(".")[0] + ".")
    return turns, markers


def end_gracefully(gateway: WatchedGateway, checks: Checks) -> None:
    """At SIGTERM, with a stream under way."""
    with Client(gateway.address, 0).raw("slowly, please.") as connection:
        got = connection.recv(1000)
        gateway.process.send_signal(signal.SIGTERM)
        while piece := connection.recv(65536):
            got += piece
    taken = take_answer(got, ended=True)
    checks.that(taken is not None and faults_of(taken[0], None) == "", f"a stream at SIGTERM: {got[-300:]!r}")
    checks.equal(gateway.process.wait(60), 0, f"the end: {gateway.log.read_text(errors='replace')[-2000:]}")


def soak(gateway: WatchedGateway, watch: Watch, options: argparse.Namespace, checks: Checks) -> list[str]:
    """Returns the markers of turns whose end a client has."""
    until = time.time() + options.minutes * 60
    tell: Queue[Told] = multiprocessing.Queue()
    half = options.clients // 2
    parts = (range(1, half + 1), range(half + 1, options.clients + 1))
    workers = []
    for part in parts:
        arguments = (gateway.address, part, until, options.pause, tell)
        workers.append(multiprocessing.Process(target=run_clients, args=arguments, daemon=True))
    for worker in workers:
        worker.start()
    watch.until(until)
    turns = 0
    told: list[str] = []
    for _ in workers:
        some, faults, markers = tell.get(timeout=LONGEST + 30)
        turns, told = turns + some, told + markers
        for fault in faults:
            checks.that(False, fault)
    checks.that(turns > options.minutes * 60, f"{turns} turns")
    print(f"{turns} turns, {len(told)} answered to their end, {watch.reloads} reloads")
    return told


def check_levels(gateway: WatchedGateway, watch: Watch, options: argparse.Namespace, checks: Checks) -> None:
    (early, early_open), (late, late_open) = watch.between(0.1, 0.25), watch.between(0.8, 1)
    opened = f"{early_open} early, {late_open} late, {gateway.descriptors()} afterwards"
    print(f"memory {early:.0f} MB early, {late:.0f} MB late; descriptors {opened}")
    is_warm = options.minutes >= 1 and not options.sanitized
    checks.that(not is_warm or late < early * 1.15 + 25, f"memory grew from {early:.0f} to {late:.0f} MB")
    checks.that(late_open < early_open * 1.25 + 20, f"descriptors grew from {early_open} to {late_open}")
    checks.equal(gateway.connections(), 1, "connections afterwards, with that which asks")
    events = [line["event"] for line in gateway.events()]
    checks.equal([word for word in events if word in ("reload_failed", "capture_failure")], [], "failures in the log")
    checks.equal(events.count("reloaded"), watch.reloads, "reloads in the log")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between the turns of a client, at most")
    parser.add_argument("--sanitized", action="store_true", help="a sanitizer keeps memory that was freed: it is not measured")
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as made, Engine() as engine:
        engine.script = lambda asked: script(engine, asked)
        engine.asked = Forgetful()
        failed: list[str] = []  # a fault of the engine that nobody asked for would be taken for the gateway's
        engine.server.handle_error = lambda *_: failed.append(traceback.format_exc())  # type: ignore[method-assign]
        folder, config = pathlib.Path(made), pathlib.Path(made) / "gateway.toml"
        capture = folder / "capture"
        write_config(config, engine.url, 4000)
        limits = ("--receive", str(RECEIVE), "--max-sessions", "200", "--capture", str(capture), "--log", "warnings")
        with WatchedGateway(options.parlance, folder / "log", "--config", str(config), *limits, model=("--drain", "30")) as gateway:
            watch = Watch(gateway, config, engine.url)
            told = soak(gateway, watch, options, checks)
            if gateway.process.poll() is None:
                check_levels(gateway, watch, options, checks)
                end_gracefully(gateway, checks)
            else:
                checks.that(False, f"the gateway ended: {gateway.log.read_text(errors='replace')[-3000:]}")
        checks.equal(failed[:3], [], "faults of the scripted engine itself")
        turns, markers = captured(capture)
        lost = [marker for marker in told if marker not in markers]
        checks.equal(lost[:5], [], f"{len(lost)} answered turns that are not in the capture")
        begun = time.monotonic()
        replayed = subprocess.run([options.parlance, "replay", str(capture)], capture_output=True, text=True)
        print(f"{turns} turns captured; replay in {time.monotonic() - begun:.0f} s: {replayed.stderr.strip()[-200:]}")
        checks.equal(replayed.returncode, 0, f"replay: {replayed.stdout[:2000]}")
    return checks.end()


class Forgetful(list[Asked]):
    """The engine's requests, which nobody looks at here."""

    def append(self, one: Asked) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main())
