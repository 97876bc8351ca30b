#!/usr/bin/env python3
"""Streams while the engine has nothing to say yet, and choices that are sampled at the same time: `stream_test.py PARLANCE`.

Behind seconds of silence a stream has what its API's clients take for a sign of life; errors behind it are in the stream. The packages
openai and anthropic read such streams, where this Python has them. Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from engine import Asked, Engine, Reply
from gateway import Checks, Gateway

try:
    import anthropic
    import openai
except ImportError:
    anthropic = openai = None  # type: ignore[assignment]

SILENCE = 3.4  # seconds; a sign of life comes a second behind the one before, so a late one moves the next
MESSAGES: list[Any] = [{"role": "user", "content": "Hi"}]
APIS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/chat/completions", {"messages": MESSAGES}),
    ("/v1/messages", {"messages": MESSAGES, "max_tokens": 100}),
    ("/v1/responses", {"input": "Hi"}),
    ("/v1/completions", {"prompt": "Hi"}),
    ("/api/chat", {"messages": MESSAGES}),
)
COMMENT, PING = ": keep-alive\n\n", 'event: ping\ndata: {"type": "ping"}\n\n'
SIGNS = {"/v1/messages": PING, "/api/chat": ""}


class Stream:
    """A stream as it comes: its status, and pieces with the seconds that had passed."""

    def __init__(self, gateway: Gateway, path: str, body: dict[str, Any]) -> None:
        host = gateway.url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=60)
        begun = time.monotonic()
        connection.request("POST", path, json.dumps({"model": "mine", "stream": True} | body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        self.status, self.first, self.text = answer.status, 0.0, ""
        while piece := answer.read1():
            self.first = self.first or time.monotonic() - begun
            self.text += piece.decode()
        connection.close()

    def events(self) -> list[dict[str, Any]]:
        lines = [line.removeprefix("data: ") for line in self.text.split("\n") if line.startswith(("data: {", "{"))]
        return [json.loads(line) for line in lines]


def text_of(path: str, events: list[dict[str, Any]]) -> str:
    """The text of the first choice."""
    if path == "/v1/chat/completions":
        return "".join(one["delta"].get("content") or "" for event in events for one in event["choices"] if one["index"] == 0)
    if path == "/v1/completions":
        return "".join(one["text"] for event in events for one in event["choices"] if one["index"] == 0)
    if path == "/v1/messages":
        return "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta")
    if path == "/v1/responses":
        return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    return "".join(event["message"]["content"] for event in events if "message" in event)


def at_once(*calls: Callable[[], object]) -> list[Any]:
    """What each of them gives, all run at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


def streams(gateway: Gateway) -> list[tuple[str, Stream]]:
    """A stream of each API, all at the same time."""
    made = at_once(*(functools.partial(Stream, gateway, *api) for api in APIS))
    return [(path, stream) for (path, _), stream in zip(APIS, made, strict=True)]


def silence(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    engine.script = lambda asked: Reply(first=SILENCE)
    for path, stream in streams(gateway):
        sign = SIGNS.get(path, COMMENT)
        checks.equal((stream.status, text_of(path, stream.events())), (200, "Yes."), f"{path}: the reply behind a silence")
        if sign:
            # Three come; on a busy machine the last may be too late.
            checks.that(stream.text.count(sign) >= 2, f"{path}: signs of life in {SILENCE} s: {stream.text[:300]}")
            checks.that(stream.first > 0.9, f"{path}: the first sign of life after {stream.first} s")
        if path == "/v1/messages":
            checks.that(stream.text.startswith("event: message_start"), "message_start is the first event")


def late_errors(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """What fails behind a sign of life is told in the stream; what fails before one has a status of its own."""
    engine.script = lambda asked: Reply(first=SILENCE, status=500, body='{"error": {"message": "no memory"}}')
    for path, stream in streams(gateway):
        if path == "/api/chat":
            checks.equal(stream.status, 502, f"{path}: nothing was sent before the error")
            continue
        last = stream.events()[-1]
        said = json.dumps(last)
        checks.equal(stream.status, 200, f"{path}: status of a late error")
        checks.that("no memory" in said, f"{path}: the late error is told: {stream.text[-300:]}")
        wanted = {"/v1/messages": "error", "/v1/responses": "response.failed"}.get(path)
        checks.that("error" in last if wanted is None else last["type"] == wanted, f"{path}: form of a late error: {said}")
        if path == "/v1/responses":  # where the API's reference has the members, and where its streams have them
            event = next(event for event in stream.events() if event["type"] == "error")
            checks.that("no memory" in event["message"], "the event's own message", event)
            flat = {name: event[name] for name in ("code", "message", "param")}
            checks.equal(event["error"], {"type": "server_error", **flat}, "the same in an object")
    engine.script = lambda asked: Reply(status=500, body='{"error": {"message": "no memory"}}')
    for path, stream in streams(gateway):
        checks.equal(stream.status, 502, f"{path}: status of an early error")


def packages(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    if openai is None:
        print("skipped: the packages openai and anthropic are not there")
        return
    messages = MESSAGES
    failing: list[Any] = [{"role": "user", "content": "Run out of memory."}]
    client = openai.OpenAI(base_url=gateway.url + "/v1", api_key="none", max_retries=0)
    message = anthropic.Anthropic(base_url=gateway.url, api_key="none", max_retries=0)

    def chat() -> None:
        chunks = list(client.chat.completions.create(model="mine", messages=messages, stream=True))
        checks.equal("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "Yes.", "openai reads a stream with comments")

    def response() -> None:
        with client.responses.stream(model="mine", input="Hi") as stream:
            checks.equal([e.type for e in stream][0], "response.created", "openai reads a response with comments")
            checks.equal(stream.get_final_response().output_text, "Yes.", "a response with comments")

    def of_anthropic() -> None:
        with message.messages.stream(model="mine", max_tokens=100, messages=messages) as answer:
            checks.equal("".join(answer.text_stream), "Yes.", "anthropic reads a stream with pings")

    def failing_chat() -> None:
        try:
            list(client.chat.completions.create(model="mine", messages=failing, stream=True))
            checks.that(False, "openai raises a late error")
        except openai.APIError as error:
            checks.that("no memory" in str(error), f"openai's late error: {error}")

    def failing_anthropic() -> None:
        try:
            with message.messages.stream(model="mine", max_tokens=100, messages=failing) as answer:
                list(answer)
            checks.that(False, "anthropic raises a late error")
        except anthropic.APIStatusError as error:
            checks.that("no memory" in str(error), f"anthropic's late error: {error}")

    def script(asked: Asked) -> Reply:
        fails = "Run out of memory." in engine.vocabulary.decode(asked.prompt)
        return Reply(first=SILENCE, status=500, body='{"error": {"message": "no memory"}}') if fails else Reply(first=SILENCE)

    engine.script = script
    at_once(chat, response, of_anthropic, failing_chat, failing_anthropic)


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until something holds, or for so long."""
    ends = time.monotonic() + seconds
    while not holds() and time.monotonic() < ends:
        time.sleep(0.02)


def waiting(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A stream that waits for its place in the queue lives too."""
    engine.script = lambda asked: Reply(first=SILENCE if len(engine.asked) == 1 else 0)
    engine.asked.clear()
    other = threading.Thread(target=Stream, args=(gateway, *APIS[0]))
    other.start()
    until(lambda: len(engine.asked) == 1)
    stream = Stream(gateway, *APIS[0])
    other.join()
    checks.that(stream.text.count(COMMENT) >= 2, f"signs of life of a stream that waited: {stream.text.count(COMMENT)}")
    checks.equal(text_of(APIS[0][0], stream.events()), "Yes.", "the reply of a stream that waited")


def by_seed(asked: Asked, all_are_there: threading.Barrier) -> Reply:
    """The later a choice, the sooner it is there. None begins before all have been asked for."""
    number = asked.body["seed"] - 7
    with contextlib.suppress(threading.BrokenBarrierError):
        all_are_there.wait(20)
    return Reply(f"Choice {number}.<|im_end|>", pause=0.02 * (4 - number))


def choices(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    all_are_there = threading.Barrier(4)
    engine.script = lambda asked: by_seed(asked, all_are_there)
    wanted = [f"Choice {number}." for number in range(4)]
    for path, body in (("/v1/chat/completions", {"messages": MESSAGES}), ("/v1/completions", {"prompt": "Hi"})):
        engine.asked.clear()
        status, _, answer = gateway.post(path, {"model": "mine", "n": 4, "seed": 7} | body)
        got = [one["message"]["content"] if "message" in one else one["text"] for one in answer["choices"]]
        checks.equal((status, got, [one["index"] for one in answer["choices"]]), (200, wanted, [0, 1, 2, 3]), f"{path}: n of 4")
        checks.equal(sorted(one.body["seed"] for one in engine.asked), [7, 8, 9, 10], f"{path}: seeds")
        checks.that(not all_are_there.broken, f"{path}: all choices are sampled at the same time")
        checks.equal(answer["usage"]["completion_tokens"], 4 * len(engine.vocabulary.encode("Choice 0.<|im_end|>")), f"{path}: usage")
        stream = Stream(gateway, path, {"n": 4, "seed": 7, "stream_options": {"include_usage": True}} | body)
        texts, order = ["", "", "", ""], []
        for event in stream.events():
            for one in event["choices"]:
                text = one["text"] if "text" in one else one["delta"].get("content") or ""
                texts[one["index"]] += text
                order += [one["index"]] if text else []
        checks.equal(texts, wanted, f"{path}: streamed choices")
        runs = sum(1 for before, after in zip(order, order[1:], strict=False) if before != after)
        checks.that(runs > 3, f"{path}: pieces of choices come in turn: {order}")
        told = [event["usage"] for event in stream.events() if event.get("usage")]
        checks.equal([one["completion_tokens"] for one in told], [answer["usage"]["completion_tokens"]], f"{path}: usage is told once")


def few_choices(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """--max-running is how many run."""
    engine.asked.clear()
    engine.script = lambda asked: Reply(pause=0.02)
    answer = gateway.post("/v1/chat/completions", {"model": "mine", "n": 5, "messages": MESSAGES})[2]
    checks.equal(len(answer.get("choices", [])), 5, f"choices that wait for each other: {answer}")
    spans = [(one.begun, one.ended) for one in engine.asked]
    most = max(sum(1 for begin, end in spans if begin <= at < end) for at, _ in spans)
    checks.equal(most, 2, "choices at a time with --max-running 2")


def choices_end(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """All choices end with their client, and with one that fails."""
    engine.asked.clear()
    engine.script = lambda asked: Reply("Yes. " * 200, pause=0.02)
    host = gateway.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host)
    connection.request("POST", "/v1/chat/completions", json.dumps({"model": "mine", "n": 4, "stream": True, "messages": MESSAGES}))
    connection.getresponse().read1()
    until(lambda: len(engine.asked) == 4)  # the first piece may come before the last choice is asked for
    connection.close()
    until(lambda: all(one.cut for one in engine.asked))
    checks.equal([one.cut for one in engine.asked], [True] * 4, "all choices end with their client")

    def one_fails(asked: Asked) -> Reply:
        if asked.body["seed"] != 9:
            return Reply("Yes. " * 200, pause=0.02)
        until(lambda: len(engine.asked) == 4)
        return Reply("No", fails="no memory")

    engine.script = one_fails
    for stream in (False, True):
        engine.asked.clear()
        body = {"model": "mine", "n": 4, "seed": 7, "messages": MESSAGES, "stream": stream}
        text = Stream(gateway, "/v1/chat/completions", body).text
        checks.that("no memory" in text, f"the error of one choice of four, stream {stream}: {text[-200:]}")
        until(lambda: sum(one.cut for one in engine.asked) == 3)
        checks.equal(sum(one.cut for one in engine.asked), 3, f"the others end with one that fails, stream {stream}")


TESTS: tuple[tuple[Callable[[Gateway, Engine, Checks], None], tuple[str, ...]], ...] = (
    (silence, ("--keep-alive", "1")),
    (late_errors, ("--keep-alive", "1")),
    (packages, ("--keep-alive", "1")),
    (waiting, ("--keep-alive", "1", "--max-running", "1")),
    (choices, ()),
    (few_choices, ("--max-running", "2", "--max-waiting", "0")),
    (choices_end, ()),
)


def main() -> int:
    """Most of it is waiting, so all tests run beside each other, each with an engine and a gateway of its own."""
    checks = Checks()

    def run(test: Callable[[Gateway, Engine, Checks], None], options: tuple[str, ...]) -> None:
        with Engine() as engine, Gateway(sys.argv[1], engine.url, *options) as gateway:
            test(gateway, engine, checks)

    at_once(*(functools.partial(run, *test) for test in TESTS))
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
