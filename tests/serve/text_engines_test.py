#!/usr/bin/env python3
"""Engines that take text alone, or do one thing at a time: what the gateway finds out about them by itself.

    text_engines_test.py PARLANCE [TEST…]

What real ones do is played by a scripted one. Begin reading at text_kinds.
"""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine_kinds import BY_NAME, ENGINE, HELLO, OLLAMA, Kind, main, same
from engines_test import as_text
from served import TOKENIZER, Gateway, Json, wait_for


def beginning(folder: str, text: str) -> pathlib.Path:
    """The tokenizer of these tests, whose texts begin with a token."""
    told = json.loads((TOKENIZER / "tokenizer_config.json").read_text())
    for file in TOKENIZER.iterdir():
        (pathlib.Path(folder) / file.name).write_bytes(file.read_bytes())
    (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(told | {"bos_token": text}))
    return pathlib.Path(folder)


def text_kinds() -> list[tuple[Kind, str, Json]]:
    """Engines that take text and do not say what they put in front of it."""
    plain = BY_NAME["openai-completions"]
    return [(plain, "", {"plain": True}), (plain, "?ids=never", {}), (OLLAMA, "", {"shows": False})]


def counted_otherwise(gateway: Gateway) -> int:
    """How often the gateway warned that the engine counts other tokens."""
    return sum("in a text with control tokens" in line.get("message", "") for line in gateway.lines)


def test_a_first_token_that_an_engine_does_not_tell() -> None:
    """Its figures show whether it puts one in front of each text: a prompt that begins with it goes without it then."""
    begin = "<|im_start|>"
    (first,) = ENGINE.ids_of(begin)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = beginning(folder, begin)
        for kind, settings, script in text_kinds():
            for puts, sent in ((first, 0), (None, 1)):
                ENGINE.script({"text": HELLO}, **script, **({} if puts is None else {"first": puts}))
                with kind.start(settings=settings, tokenizer=tokenizer) as gateway:
                    answer = gateway.chat()
                    same((answer.status, answer.content), (200, "Hello the user "))
                    prompt = kind.asked()[-1].body["prompt"]
                    same((str(kind), puts, prompt.startswith(begin)), (str(kind), puts, sent == 1))
                    same(prompt.removeprefix(begin).startswith("system"), True)
                    same(counted_otherwise(gateway), 0)
                    asked = len([record for record in ENGINE.requests if record.path == kind.path])
                    gateway.ask("/ready")
                    gateway.chat()
                    same(len(ENGINE.asked(kind.path)), asked + 1 + (settings == "" and kind is not OLLAMA))  # which asks for ids again


def test_control_tokens_that_an_engine_takes_for_text() -> None:
    """Its figures show that, too."""
    for kind, settings, script in text_kinds():
        ENGINE.script({"text": HELLO}, **script, cuts=9)
        with kind.start(settings=settings) as gateway:
            same(gateway.chat().status, 200)
            same(counted_otherwise(gateway), 1)


def test_a_server_of_ollamas_api_without_show() -> None:
    as_text(OLLAMA, "?model=scripted", shows=False)
    ENGINE.script({"text": HELLO}, shows=False)
    with OLLAMA.start(settings="?model=scripted&context=3000") as gateway:
        same((gateway.chat().status, OLLAMA.asked()[-1].body["options"]["num_ctx"]), (200, 3000))
        same(gateway.ask("/ready").status, 200)
        same(gateway.ask("/v1/models").json["data"][0]["max_model_len"], 3000)
    with OLLAMA.start(settings="?model=yours") as gateway:
        answer = gateway.chat()
        same((answer.status, answer.error["code"], len(OLLAMA.asked())), (503, "engine_other_model", 1))


def test_a_penalty_by_both_names() -> None:
    """Servers of OpenAI's completions know one or the other."""
    kind = BY_NAME["openai-completions"]
    ENGINE.script({"text": HELLO})
    with kind.start() as gateway:
        gateway.chat(repetition_penalty=1.25)
        body = kind.asked()[-1].body
        same((body["repetition_penalty"], body["repeat_penalty"]), (1.25, 1.25))
        gateway.chat()
        same("repeat_penalty" in kind.asked()[-1].body, False)


def test_a_model_that_nobody_names() -> None:
    kind = BY_NAME["openai-completions"]
    ENGINE.script({"text": HELLO}, model=None, plain=True)
    with kind.start() as gateway:
        same(gateway.chat().status, 200)
        same(["model" in record.body for record in ENGINE.asked(kind.path)], [False] * len(ENGINE.asked(kind.path)))


def test_logprobs_that_an_engine_does_not_give() -> None:
    """They are unknown in the answer, and it says so."""
    for kind, settings, script in text_kinds():
        for gives in (False, True):
            ENGINE.script({"text": HELLO}, **script, no_logprobs=not gives)
            with kind.start(settings=settings) as gateway:
                for asked in ({"logprobs": True}, {}):
                    answer = gateway.chat(parlance=True, **asked).json
                    told = [loss for loss in answer["parlance"]["losses"] if loss["path"] == "logprobs"]
                    same((str(kind), gives, asked, len(told)), (str(kind), gives, asked, int(bool(asked) and not gives)))


def test_a_stream_that_ends_too_early_ends_its_connection(kind: Kind) -> None:
    """A server that fails behind its answer's header may end the answer, and then close the connection, which the next request had."""
    ENGINE.script({"text": HELLO, "end_after": 1}, {"text": HELLO})
    with kind.start() as gateway:
        failed, answered = gateway.chat(), gateway.chat()
        same((failed.status, failed.error["code"], answered.status), (502, "engine_died", 200))
        first, second = (record.connection for record in kind.asked())
        same(first == second, False)


def test_an_engine_that_answers_behind_its_reply() -> None:
    """It does one thing at a time: while it samples it is ready, and as long as it does not it has to answer."""
    kind = BY_NAME["openai-completions"]
    ENGINE.script({"text": "a" * 40, "delay": 0.1}, one_by_one=True)
    with kind.start() as gateway:
        gateway.logged("engine")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            reply = pool.submit(gateway.chat)
            assert wait_for(lambda: len(kind.asked()) == 1 and kind.asked()[0].events > 1)
            same((gateway.ask("/ready").status, kind.asked()[0].ended), (200, ""))
            same(reply.result().status, 200)
        ENGINE.script({"text": "a" * 40, "stall_after": 1}, one_by_one=True)
        with gateway.raw({"messages": [{"role": "user", "content": "Hi"}]}):
            assert wait_for(lambda: len(kind.asked()) == 1 and kind.asked()[0].events == 1)
            time.sleep(2.1)
            same(gateway.ask("/ready").status, 503)


if __name__ == "__main__":
    sys.exit(main(globals()))
