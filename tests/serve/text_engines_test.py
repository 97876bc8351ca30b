#!/usr/bin/env python3
"""Engines that take text alone, or do one thing at a time: what the gateway finds out about them by itself.

    text_engines_test.py PARLANCE [TEST…]

What real ones do is played by a scripted one. Begin reading at text_kinds.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import pathlib
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine_kinds import BINARY, BY_NAME, ENGINE, HELLO, OLLAMA, Kind, main, same
from engines_test import as_text
from scripted_engine import ScriptedEngine
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


TEXT = BY_NAME["openai-completions"]
BEGIN = "<|im_start|>"


def putting(folder: str, texts: list[str]) -> pathlib.Path:
    """The same tokenizer, which puts these tokens in front of each text."""
    path = beginning(folder, BEGIN) / "tokenizer.json"
    told = json.loads(path.read_text())
    single = [{"SpecialToken": {"id": text, "type_id": 0}} for text in texts] + [{"Sequence": {"id": "A", "type_id": 0}}]
    special = {text: {"id": text, "ids": ENGINE.ids_of(text), "tokens": [text]} for text in texts}
    told["post_processor"] = {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}
    path.write_text(json.dumps(told))
    return path.parent


def questions(engine: ScriptedEngine = ENGINE) -> int:
    """How often the gateway asked how many tokens a text has."""
    return sum(not one.body.get("stream") and isinstance(one.body["prompt"], str) for one in engine.asked(TEXT.path))


def unknown(gateway: Gateway) -> int:
    return sum("nobody knows whether" in line.get("message", "") for line in gateway.lines)


def sent_with(begin: str = BEGIN) -> bool:
    """Does the last prompt begin with it?"""
    return bool(TEXT.asked()[-1].body["prompt"].startswith(begin))


@contextlib.contextmanager
def before_its_engine(tokenizer: pathlib.Path) -> Iterator[tuple[Gateway, Callable[..., ScriptedEngine]]]:
    """A gateway whose engine does not run yet, and what starts one there."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    started: list[ScriptedEngine] = []

    def start(**script: Any) -> ScriptedEngine:
        started.append(ScriptedEngine(TOKENIZER).script({"text": HELLO}, plain=True, **script))
        return started[-1].start(port)

    try:
        with Gateway(BINARY, f"{TEXT}=http://127.0.0.1:{port}?ids=never", tokenizer=tokenizer) as gateway:
            gateway.logged("engine_unready")
            yield gateway, start
    finally:
        for engine in started:
            engine.stop()


def test_readiness_does_not_wait_for_a_count() -> None:
    with tempfile.TemporaryDirectory() as folder, before_its_engine(beginning(folder, BEGIN)) as (gateway, start):
        engine = start(questions=[{"late": 2.5}, {"late": 2.5}])
        assert wait_for(lambda: gateway.ask("/ready").status == 200, 4)
        begun = time.monotonic()
        same(gateway.chat().status, 200)
        assert time.monotonic() - begun < 4
        same(gateway.ask("/ready").status, 200)
        same(questions(engine), 1)


def test_no_chat_fails_by_a_count() -> None:
    faults = [{"hang": True}, {"dies": True}, {"not_http": True}, {"status": 503}, {"status": 400}]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = beginning(folder, BEGIN)
        for fault in faults:
            for settings in ("?ids=never", ""):
                ENGINE.script({"text": HELLO}, plain=settings != "", questions=[fault] * 50)
                with TEXT.start(settings=settings, tokenizer=tokenizer) as gateway:
                    if settings == "":
                        same(gateway.chat().status, 200)
                        ENGINE.script({"text": HELLO}, plain=True, questions=[fault] * 50)  # it takes no ids any more
                    begun = time.monotonic()
                    same((fault, [gateway.chat().status for _ in range(3)]), (fault, [200] * 3))
                    assert time.monotonic() - begun < 5
                    same((fault, gateway.ask("/ready").status, unknown(gateway), sent_with()), (fault, 200, 1, True))


def test_an_engine_that_refuses_to_count_is_not_asked_again() -> None:
    """One that cannot count now is, a while later."""
    for status, most in ((400, 1), (422, 1), (404, 1), (503, 3)):
        ENGINE.script({"text": HELLO}, plain=True, questions=[{"status": status}] * 50)
        with TEXT.start(settings="?ids=never") as gateway:
            gateway.logged("engine")
            for _ in range(2):
                time.sleep(2.1)
                same(gateway.ask("/ready").status, 200)
            same(gateway.chat().status, 200)
            assert 1 <= questions() <= most, (status, questions())


def test_one_count_for_all_who_wait() -> None:
    (first,) = ENGINE.ids_of(BEGIN)
    with tempfile.TemporaryDirectory() as folder, before_its_engine(beginning(folder, BEGIN)) as (gateway, start):
        engine = start(first=first, questions=[{"late": 0.5}, {}])
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            same([one.status for one in pool.map(lambda _: gateway.chat(), range(16))], [200] * 16)
        same(questions(engine), 2)
        replies = [one.body["prompt"] for one in engine.asked(TEXT.path) if one.body.get("stream")]
        same([prompt.startswith(BEGIN) for prompt in replies], [False] * 16)


def test_an_engine_that_was_started_anew_is_asked_anew() -> None:
    (first,) = ENGINE.ids_of(BEGIN)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = beginning(folder, BEGIN)
        ENGINE.script({"text": HELLO}, plain=True, first=first, questions=[{"status": 503}])
        with TEXT.start(settings="?ids=never", tokenizer=tokenizer) as gateway:
            gateway.logged("engine_warning")
            assert wait_for(lambda: gateway.chat().status == 200 and not sent_with(), 5)  # it could not count at first
            ENGINE.script({"text": HELLO}, plain=True)  # nobody saw it go, but its figures are others
            assert wait_for(lambda: gateway.chat().status == 200 and sent_with(), 10)
            ENGINE.script({"text": HELLO}, plain=True, first=first)
            assert wait_for(lambda: gateway.chat().status == 200 and not sent_with(), 15)
        with before_its_engine(tokenizer) as (gateway, start):
            for script in ({"first": first}, {}):
                engine = start(**script)
                assert wait_for(lambda gateway=gateway: gateway.ask("/ready").status == 200, 4)
                same(gateway.chat().status, 200)
                same(engine.asked(TEXT.path)[-1].body["prompt"].startswith(BEGIN), not script)
                engine.stop()
                assert wait_for(lambda gateway=gateway: gateway.ask("/ready").status == 503, 4)


def test_tokens_more_that_are_not_the_first_one() -> None:
    """Those in front are in each text, be it of one letter."""
    (first,) = ENGINE.ids_of(BEGIN)
    with tempfile.TemporaryDirectory() as folder:
        for script, words in (
            ({"splits": True}, "in a text with control tokens"),
            ({"first": [first, first]}, "2 tokens more in each text"),
        ):
            ENGINE.script({"text": HELLO}, plain=True, **script)
            with TEXT.start(tokenizer=beginning(folder, BEGIN)) as gateway:
                same((gateway.chat().status, sent_with()), (200, True))
                assert words in gateway.logged("engine_warning", 1)["message"] or any(
                    words in line.get("message", "") for line in gateway.lines
                )


def test_several_tokens_in_front() -> None:
    """A tokenizer that puts two in front, as GLM's does: a prompt that begins with both is sent without them."""
    texts = [BEGIN, "system"]
    ids = [number for text in texts for number in ENGINE.ids_of(text)]
    with tempfile.TemporaryDirectory() as folder:
        for puts in (ids, []):
            ENGINE.script({"text": HELLO}, plain=True, first=puts)
            with TEXT.start(tokenizer=putting(folder, texts)) as gateway:
                same((gateway.chat().status, sent_with("".join(texts)), sent_with("\n")), (200, not puts, bool(puts)))
                same(counted_otherwise(gateway), 0)


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
            assert wait_for(lambda gateway=gateway: counted_otherwise(gateway) == 1)


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


def test_a_penalty_of_llama_cpp() -> None:
    """Its servers know a name of their own. Others refuse a member that they do not know."""
    kind = BY_NAME["openai-completions"]
    for settings, both in (("", False), ("?grammar=gbnf", True)):
        ENGINE.script({"text": HELLO})
        with kind.start(settings=settings) as gateway:
            gateway.chat(repetition_penalty=1.25)
            body = kind.asked()[-1].body
            same((body["repetition_penalty"], body.get("repeat_penalty")), (1.25, 1.25 if both else None))
            gateway.chat()
            same("repeat_penalty" in kind.asked()[-1].body, False)


def test_a_model_that_nobody_names() -> None:
    kind = BY_NAME["openai-completions"]
    ENGINE.script({"text": HELLO}, model=None, plain=True)
    with kind.start() as gateway:
        same(gateway.chat().status, 200)
        same(["model" in record.body for record in ENGINE.asked(kind.path)], [False] * len(ENGINE.asked(kind.path)))


def test_a_server_that_wants_a_name_whichever_it_is() -> None:
    """It gets "" once it has refused a request without one, and whoever takes no ids is still asked for nothing else."""
    kind = BY_NAME["openai-completions"]
    for settings, script in (("", {}), ("", {"plain": True}), ("?ids=never", {"plain": True})):
        ENGINE.script({"text": HELLO}, model=None, needs_model=True, **script)
        with kind.start(settings=settings) as gateway:
            gateway.logged("engine")
            same([gateway.chat().status for _ in range(3)], [200] * 3)
            same(sum("model" not in record.body for record in ENGINE.asked(kind.path)), 1)
    ENGINE.script({"text": HELLO, "status": 400, "message": "no such model"}, model=None, plain=True)
    with kind.start(settings="?ids=never") as gateway:
        gateway.logged("engine")
        same([gateway.chat().status for _ in range(3)], [400] * 3)
        same(sum("model" in record.body for record in ENGINE.asked(kind.path)), 1)
    refusal = {"status": 400, "message": "no such model"}
    ENGINE.script(refusal, {"text": HELLO}, model=None, plain=True, questions=[refusal, {"status": 503}])  # which says nothing
    with kind.start(settings="?ids=never") as gateway:
        gateway.logged("engine")
        assert wait_for(lambda: len(ENGINE.asked(kind.path)) == 2)
        same([gateway.chat().status for _ in range(2)], [400, 200])
        same(["model" in record.body for record in ENGINE.asked(kind.path)][:4], [False, True, True, False])


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
