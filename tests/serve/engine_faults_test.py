#!/usr/bin/env python3
"""Engines behind the gateway that fail, that are gone, or whose limits a request is beyond.

    engine_faults_test.py path/to/parlance [NAME...]

Standard library only. Each function named test_… is a test, and those with a kind run for each kind of engine_kinds.py.
"""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine_kinds import BINARY, BY_NAME, ENGINE, HELLO, LOOK, OLLAMA, Kind, counted, limit_of, main, same
from served import Answer, Gateway, Json, wait_for

# What fails before the first token: the script, the status, the kind of failure.
FAULTS: list[tuple[Json, int, str]] = [
    ({"hang": True}, 504, "engine_stalled"),
    ({"stall_after": 0}, 504, "engine_stalled"),
    ({"status": 500, "message": "out of memory"}, 502, "engine_status"),
    ({"status": 503, "message": "loading"}, 503, "engine_status"),
    ({"status": 400, "message": "wrong"}, 400, "engine_status"),
    ({"die_after": 0}, 502, "engine_died"),
    ({"garbage_after": 0}, 502, "engine_garbage"),
    ({"error_after": 0, "message": "kaput"}, 502, "engine_status"),
    ({"not_http": True}, 502, "engine_garbage"),
    ({"end_after": 0}, 502, "engine_died"),
]
LATE_FAULTS: list[tuple[Json, str]] = [
    ({"stall_after": 3}, "engine_stalled"),
    ({"die_after": 3}, "engine_died"),
    ({"garbage_after": 3}, "engine_garbage"),
    ({"error_after": 3, "message": "kaput"}, "engine_status"),
    ({"end_after": 3}, "engine_died"),
]


LIMITS = ("--first-byte", "2", "--stall", "2")


def both_ways(gateway: Gateway) -> tuple[Answer, Answer]:
    """A chat's answer as a whole and as a stream, asked for at once: with some faults it takes as long as a limit."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        whole, stream = pool.submit(gateway.chat), pool.submit(gateway.chat, stream=True)
        return whole.result(), stream.result()


def test_faults_before_the_reply(kind: Kind) -> None:
    with kind.start(*LIMITS) as gateway:
        ENGINE.script({"text": HELLO})
        same(gateway.chat().status, 200)
        for fault, status, code in FAULTS:
            ENGINE.script({"text": HELLO} | fault)
            for answer in both_ways(gateway):
                same((fault, answer.status, answer.error["code"]), (fault, status, code))
                assert "engine" in answer.error["message"], answer.text
        ENGINE.script({"text": HELLO})
        same(gateway.chat().status, 200)


# What SGLang says of a request that it refuses when the stream has begun: the message, and the code for clients.
REFUSALS: list[tuple[str, str]] = [
    ("presence_penalty must be in [-2, 2], got 3.", "engine_status"),
    ("The input (5031 tokens) is longer than the model's context length (4096 tokens).", "context_length_exceeded"),
    (
        "Input length (4090 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.",
        "context_length_exceeded",
    ),
]


def test_refusals_in_the_stream(kind: Kind) -> None:
    """An engine that begins each stream before it looks at the request has its status as the code of an event."""
    with kind.start() as gateway:
        for message, code in REFUSALS:
            ENGINE.script({"text": HELLO, "error_after": 0, "code": 400, "message": message})
            for answer in both_ways(gateway):
                same((message, answer.status, answer.error["code"]), (message, 400, code))
                assert message in answer.error["message"], answer.text
        if kind.ids_out:
            ENGINE.script({"error_after": 0, "code": 400, "message": "Failed to compile structural_tag grammar", "text": HELLO})
            same(gateway.chat(tools=[LOOK], tool_choice="required").error["code"], "engine_grammar")


def test_faults_in_mid_stream(kind: Kind) -> None:
    with kind.start(*LIMITS) as gateway:
        for fault, code in LATE_FAULTS:
            ENGINE.script({"text": HELLO} | fault)
            whole, stream = both_ways(gateway)
            same((fault, stream.status, stream.content, stream.error["code"]), (fault, 200, "Hel", code))
            same((fault, whole.error["code"]), (fault, code))


def test_no_engine(kind: Kind) -> None:
    with Gateway(BINARY, f"{kind.name}=http://127.0.0.1:9") as gateway:
        answer = gateway.chat()
        same((answer.status, answer.error["code"]), (503, "engine_refused"))
        same(gateway.ask("/ready").status, 503)
        assert "127.0.0.1:9" in gateway.logged("engine_unready")["message"]


def test_connections_that_the_engine_closes(kind: Kind) -> None:
    with kind.start() as gateway:
        for fault in ("close_kept", "drop_next"):
            ENGINE.script({"text": HELLO, fault: True})
            for _ in range(4):
                same(gateway.chat().content, "Hello the user ")


def test_a_client_that_leaves_ends_the_request(kind: Kind) -> None:
    with kind.start() as gateway:
        ENGINE.script({"text": HELLO})
        gateway.chat()
        faults: list[tuple[Json, int]] = [
            ({"hang": True}, 0),
            ({"stall_after": 3}, 3),
            ({"delay": 0.01, "text": "Hello the user " * 100}, 3),
        ]
        for fault, events in faults:
            ENGINE.script({"text": HELLO} | fault)
            client = gateway.raw({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})
            assert wait_for(lambda: bool(kind.asked())), "the engine was not asked"
            record = kind.asked()[0]
            assert record.wait(events), record
            left = time.monotonic()
            client.close()
            assert record.wait(ended="gone"), (fault, record)
            assert record.ended_at - left < 15, f"{fault}: it took {record.ended_at - left:.3f} s"


LONG: list[Json] = [{"role": "user", "content": "x" * 3000}]
TOO_LONG: tuple[tuple[str, Json], ...] = (
    ("/v1/chat/completions", {"messages": LONG}),
    ("/v1/messages", {"messages": LONG, "max_tokens": 5}),
    ("/v1/responses", {"input": LONG}),
    ("/api/chat", {"messages": LONG}),
    ("/v1/completions", {"prompt": "x" * 3000}),
)


def test_a_prompt_larger_than_the_context(kind: Kind) -> None:
    ENGINE.script({"text": HELLO}, context=3000)
    with kind.start() as gateway:
        answer = gateway.chat("x" * 3000)
        same((answer.status, answer.error["code"]), (400, "context_length_exceeded"))
        for path, body in TOO_LONG:  # clients of each API find out by these words
            said = json.dumps(gateway.ask(path, body).json["error"])
            for words in (
                r"prompt is too long: \d+ tokens > 3000 maximum",
                r"maximum context length is 3000 tokens\b.*? resulted in \d+ tokens",
            ):
                same((path, words, re.search(words, said) is not None), (path, words, True))
        same(kind.asked(), [])
        same(gateway.chat().status, 200)
        if kind.name == "vllm":
            body = kind.asked()[0].body
            same(body["max_tokens"], 3000 - len(body["prompt"]))
        ENGINE.script({"status": 400, "message": "request (9010 tokens) exceeds the available context size (4096 tokens)"})
        answer = gateway.chat()
        same((answer.status, answer.error["code"]), (400, "context_length_exceeded"))
        same("prompt is too long" in answer.error["message"], True)
        same(counted(gateway, "parlance_engine_failures_total"), [])
        same(counted(gateway, "parlance_refusals_total"), ['parlance_refusals_total{code="context_length_exceeded"} 7'])
        refused = gateway.logged("refused")
        same((refused["level"], refused["code"], refused["session"].startswith("session-")), ("info", "context_length_exceeded", True))
        same([line for line in gateway.lines if line["event"] == "engine_failure"], [])
        ENGINE.script({"status": 400, "message": "no such setting"})
        same(gateway.chat().status, 400)
        same(counted(gateway, "parlance_engine_failures_total"), ['parlance_engine_failures_total{kind="status"} 1'])


def test_a_reply_larger_than_the_context(kind: Kind) -> None:
    """It may be as long as the context allows: an engine would refuse it, and clients shorten conversations that are not long."""
    ENGINE.script({"text": HELLO}, context=3000)
    with kind.start() as gateway:
        for path, name in (("/v1/messages", "max_tokens"), ("/v1/chat/completions", "max_completion_tokens")):
            for asked in (32000, 7):
                answer = gateway.ask(path, {"messages": [{"role": "user", "content": "Hi"}], name: asked})
                same(answer.status, 200)
                body = kind.asked()[-1].body
                same(limit_of(body), min(asked, 3000 - len(kind.ids(body))))
        answer = gateway.ask("/v1/completions", {"prompt": "x", "max_tokens": 32000})
        body = kind.asked()[-1].body
        same((answer.status, limit_of(body)), (200, 3000 - len(kind.ids(body))))
        for message, code in (
            ("max_tokens=32000 cannot be greater than max_model_len=max_total_tokens=3000", "engine_status"),
            ("'max_tokens' is too large: 32000. This model's maximum context length is 3000 tokens and your request has 9 input tokens",
             "engine_status"),
            ("Requested token count exceeds the model's maximum context length of 3000 tokens. You requested a total of 32010 tokens: "
             "10 tokens from the input messages and 32000 tokens for the completion.", "engine_status"),
            ("This model's maximum context length is 5 tokens. However, you requested 100 output tokens and your prompt contains at "
             "least 90 input tokens", "context_length_exceeded"),
            ("This model's maximum context length is 5 tokens. However, your request has 90 input tokens", "context_length_exceeded"),
        ):  # fmt: skip
            ENGINE.script({"status": 400, "message": message}, context=3000)
            answer = gateway.chat(max_tokens=2000)
            same((message, answer.status, answer.error["code"]), (message, 400, code))
            same("prompt is too long" in answer.error["message"], code == "context_length_exceeded")


def test_ollama_faults() -> None:
    with OLLAMA.start(*LIMITS) as gateway:
        for fault, status, code in FAULTS:
            ENGINE.script({"text": HELLO} | fault)
            answer = gateway.chat()
            same((fault, answer.status, answer.error["code"]), (fault, status, code))
        for fault, code in LATE_FAULTS:
            ENGINE.script({"text": HELLO} | fault)
            answer = gateway.chat(stream=True)
            same((fault, answer.content, answer.error["code"]), (fault, "Hel", code))


def test_ollama_breaks_off_a_loop() -> None:
    """It ends a reply that repeats a token, or any white space, by the end of its body alone. Of others, that is how it dies."""
    (word,), spaces = ENGINE.ids_of("x"), [*ENGINE.ids_of(" "), *ENGINE.ids_of("\n")]
    with OLLAMA.start(*LIMITS) as gateway:
        for ids, text in ([word] * 60, "x" * 31), (spaces * 30, " \n" * 15 + " "):
            ENGINE.script({"ids": ids, "end_after": 31})
            whole, stream = gateway.chat(), gateway.chat(stream=True)
            same((whole.status, whole.content, whole.json["choices"][0]["finish_reason"]), (200, text, "length"))
            same((stream.content, stream.events[-1]["choices"][0]["finish_reason"]), (text, "length"))
            ENGINE.script({"ids": ids, "end_after": 20})
            same(gateway.chat().error["code"], "engine_died")
            ENGINE.script({"ids": ids, "die_after": 31})
            same(gateway.chat().error["code"], "engine_died")


def test_a_reply_that_has_begun_is_not_asked_for_again() -> None:
    """Not even where the engine has stopped taking ids meanwhile, which text would get round: the client has the first tokens."""
    kind = BY_NAME["openai-completions"]
    ENGINE.script({"text": HELLO})
    with kind.start() as gateway, concurrent.futures.ThreadPoolExecutor() as pool:
        same(gateway.chat().status, 200)
        ENGINE.script({"text": HELLO, "delay": 0.2, "error_after": 4, "code": 400, "message": "kaput"})
        whole = pool.submit(gateway.chat)
        assert wait_for(lambda: len(kind.asked()) == 1 and kind.asked()[0].events > 1)
        ENGINE.script({"text": HELLO}, plain=400)
        same((whole.result().status, whole.result().error["code"], len(kind.asked())), (400, "engine_status", 0))


if __name__ == "__main__":
    sys.exit(main(globals()))
