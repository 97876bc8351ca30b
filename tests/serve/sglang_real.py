#!/usr/bin/env python3
"""`parlance serve` in front of a real SGLang: ids beside its own, replies, settings, refusals, calls, a session, a client that leaves.

    sglang_real.py PARLANCE --python PYTHON --model FOLDER [--calls N] [--turns N]

Of tools/sglang_check.sh, which installs SGLang for PYTHON and writes the model. SGLang runs on the processor alone, twice: its streams have
all ids so far in each event, and then the new ones, several at a time. Begin reading at main.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from gateway import Checks, Gateway
from real_engine import (
    CHATS,
    NAME,
    Options,
    ask_json,
    asked,
    choices_differ,
    free_port,
    leaves,
    renders_are,
    reply_is,
    server_of,
    stream_of,
)
from real_model import FORMATS

CONTEXT = 4096
STREAMS = ([], ["--incremental-streaming-output", "--stream-interval", "3"])
HELLO: Any = {"model": NAME, "messages": CHATS[0], "max_tokens": 12, "temperature": 0}


class Sglang:
    """SGLang's server, with a client of its own."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.url, self.process = f"http://127.0.0.1:{port}", process

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=600) as answer:
            return str(answer.read().decode())

    def chat(self, messages: Any, **members: Any) -> Any:
        return ask_json(self.url + "/v1/chat/completions", {"model": NAME, "messages": messages, **members})

    def ids(self, messages: Any) -> list[int]:
        """Those of the prompt of a chat."""
        return list(self.chat(messages, max_tokens=1, return_prompt_token_ids=True)["choices"][0]["prompt_token_ids"])

    def running(self) -> float:
        """How many replies it samples now."""
        return sum(map(float, re.findall(r"^sglang:num_running_reqs\S* (\S+)$", self.get("/metrics"), re.M)))

    def die(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)


@contextlib.contextmanager
def sglang_of(python: str, model: pathlib.Path, *options: str) -> Iterator[Sglang]:
    """It answers after a minute or more."""
    port = free_port()
    command = [
        python, "-m", "sglang.launch_server", "--model-path", str(model), "--served-model-name", NAME, "--host", "127.0.0.1",
        "--port", str(port), "--device", "cpu", "--attention-backend", "torch_native", "--sampling-backend", "pytorch",
        "--dtype", "float32", "--cuda-graph-backend-decode", "disabled", "--cuda-graph-backend-prefill", "disabled",
        "--disable-overlap-schedule", "--context-length", str(CONTEXT), "--max-total-tokens", str(4 * CONTEXT),
        "--max-running-requests", "8", "--enable-metrics", *options,
    ]  # fmt: skip
    # A small model on a machine that others use too: threads that spin while they wait for each other take most of its time.
    threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "SGLANG_CPU_OMP_THREADS_BIND": "0"}
    environment = {**threads, "SGLANG_USE_CPU_ENGINE": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    with server_of(command, model.parent / "sglang.log", environment) as process:
        yield Sglang(port, process)


def starts(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    """/ready says when SGLang has loaded its model, and is true."""
    checks.equal(gateway.get("/ready")[0], 503, "/ready before the model is loaded")
    ends = time.monotonic() + 1200
    while gateway.get("/ready")[0] != 200:
        if time.monotonic() > ends or sglang.process.poll() is not None:
            sys.exit("SGLang did not start: see sglang.log beside the model")
        time.sleep(1)
    checks.equal(gateway.post("/v1/chat/completions", HELLO)[0], 200, "a chat once /ready says so")


def renders(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    renders_are(gateway, "SGLang", sglang.ids, checks)


def replies(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    """Greedy replies are those of SGLang's own chat; choices, stop texts and streams are as OpenAI has them."""
    for chat in CHATS:
        body = {"messages": chat, "max_tokens": 16, "temperature": 0, "logprobs": True, "top_logprobs": 2}
        reply_is(gateway, body, sglang.chat(**body), checks)
    _, _, whole = gateway.post("/v1/chat/completions", HELLO)
    text = whole["choices"][0]["message"]["content"]
    checks.equal("".join(stream_of(gateway, {**HELLO, "stream": True})), text, "a stream's text")
    _, _, again = gateway.post("/v1/chat/completions", HELLO)
    checks.equal(again["usage"]["prompt_tokens_details"]["cached_tokens"], again["usage"]["prompt_tokens"] - 1, "cached tokens")
    choices_differ(gateway, HELLO, checks)
    word = text.split()[2]
    for more, wanted, why in (({"stop": [word]}, text.partition(word)[0], "stop"), ({"max_tokens": 2}, None, "length")):
        [choice] = gateway.post("/v1/chat/completions", {**HELLO, **more})[2]["choices"]
        checks.equal(choice["finish_reason"], why, f"the end by {more}")
        checks.that(wanted is None or choice["message"]["content"] == wanted, f"the text by {more}: {choice}")


def refusals(gateway: Gateway, _: Sglang, checks: Checks) -> None:
    """What is not to be had is the client's error, by whichever side refuses it."""
    chats: list[tuple[Any, int, str]] = [
        ({"top_k": 0, "temperature": 1}, 200, ""),
        ({"presence_penalty": 3}, 400, "engine_status"),
        ({"stop_token_ids": [1 << 20]}, 400, "conversation"),
        ({"messages": [{"role": "user", "content": "word " * 5000}]}, 400, "context_length_exceeded"),
        ({"structured_outputs": {"grammar": 'root ::= ( "yes" |'}}, 400, "engine_grammar"),
        ({"max_tokens": 32000, "stop": ["!"]}, 200, ""),
    ]
    for more, status, code in chats:
        got, _, answer = gateway.post("/v1/chat/completions", {**HELLO, **more})
        checks.equal((got, answer.get("error", {}).get("code", "")), (status, code), f"{str(more)[:80]}: {str(answer)[:300]}")
    # SGLang keeps some tokens of the context for itself.
    got, _, answer = gateway.post("/v1/completions", {"model": NAME, "prompt": [504] * (CONTEXT - 4), "max_tokens": 1})
    checks.equal((got, answer.get("error", {}).get("code", "")), (400, "context_length_exceeded"), f"a prompt too long: {answer}")


def client_leaves(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    leaves(gateway, "SGLang", HELLO, sglang.running, 30, checks)


def dies(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    """The end of a stream whose engine is killed is an error, and /ready says that it is gone."""
    body = {**HELLO, "max_tokens": 3000, "ignore_eos": True, "temperature": 1, "stream": True}
    lines: list[str] = []
    with urllib.request.urlopen(asked(gateway.url + "/v1/chat/completions", body), timeout=600) as answer:
        for line in answer:
            lines.append(line.decode().strip())
            if len(lines) == 8:
                sglang.die()
    said = [json.loads(line[6:])["error"]["code"] for line in lines if line.startswith("data: {") and "error" in json.loads(line[6:])]
    checks.equal(said, ["engine_died"], f"the end of a stream whose engine is killed: {lines[-3:]}")
    time.sleep(3)  # what was found of an engine holds for two
    checks.equal(gateway.get("/ready")[0], 503, "/ready without an engine")


def run(options: Options, more: list[str], checks: Checks) -> None:
    print("streams:", " ".join(more) or "as they are by default", flush=True)
    with sglang_of(options.python, options.model, *more) as sglang:
        backend = f"sglang={sglang.url}"
        with options.gateway(backend) as gateway:
            parts: list[Callable[[Gateway, Sglang, Checks], None]] = [starts, renders, replies, refusals, client_leaves]
            for part in parts if not more else (starts, replies, client_leaves):
                part(gateway, sglang, checks)
                print(f"{part.__name__}: done", flush=True)
        options.calls_in_formats(backend, checks, FORMATS if not more else FORMATS[:1])
        with options.gateway(backend) as gateway:
            dies(gateway, sglang, checks)
            print("dies: done", flush=True)


def main() -> int:
    options = Options(__doc__ or "")
    version = subprocess.run([options.python, "-c", "import importlib.metadata as m; print(m.version('sglang'))"], capture_output=True)
    print("SGLang", version.stdout.decode().strip(), flush=True)
    checks = Checks()
    for more in STREAMS:
        run(options, more, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
