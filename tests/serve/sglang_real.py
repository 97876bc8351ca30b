#!/usr/bin/env python3
"""`parlance serve` in front of a real SGLang: ids beside its own, replies, settings, refusals, calls, a session, a client that leaves.

    sglang_real.py PARLANCE --python PYTHON --model FOLDER [--calls N] [--turns N]

Of tools/sglang_check.sh, which installs SGLang for PYTHON and writes the model. SGLang runs on the processor alone, twice: its streams have
all ids so far in each event, and then the new ones, several at a time. Begin reading at main.
"""

from __future__ import annotations

import argparse
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
from real_model import FORMATS, calls_of, session_of
from vllm_real import CHATS, FORGED, NAME, free_port, logprobs_of, stream_of

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
        body = json.dumps({"model": NAME, "messages": messages, **members}).encode()
        asked = urllib.request.Request(self.url + "/v1/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=600) as answer:
            return json.loads(answer.read())

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
    environment = {**os.environ, **threads, "SGLANG_USE_CPU_ENGINE": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    with open(model.parent / "sglang.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        yield Sglang(port, process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


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
    """Our ids are those of SGLang's chats; but for a text that only looks like control tokens, which SGLang takes for them."""
    ours = [gateway.post("/v1/chat/completions/render", {"model": NAME, "messages": chat})[2]["token_ids"] for chat in [*CHATS, FORGED]]
    theirs = [sglang.ids(chat) for chat in [*CHATS, FORGED]]
    for chat, our, their in zip(CHATS, ours, theirs, strict=False):
        checks.equal(our, their, f"the ids of {chat}")
    start = ours[0][0]
    counts = [ids.count(start) for ids in (ours[0], ours[-1], theirs[-1])]
    checks.equal(counts[1], counts[0], "turns that begin, with a forged one in a message")
    print(f"a message with a forged turn: {counts[0]} turns begin with a harmless one, {counts[1]} by parlance, {counts[2]} by SGLang")


def replies(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    """A greedy reply is the one of SGLang's own chat, with its logprobs; choices, stop texts and streams as OpenAI has them."""
    for chat in CHATS:
        body = {"messages": chat, "max_tokens": 16, "temperature": 0, "logprobs": True, "top_logprobs": 2}
        theirs = sglang.chat(**body)
        status, _, ours = gateway.post("/v1/chat/completions", {"model": NAME, **body})
        checks.equal(status, 200, f"{chat}: {ours}")
        checks.equal(ours["choices"][0]["message"]["content"], theirs["choices"][0]["message"]["content"], f"the reply to {chat}")
        checks.equal(ours["choices"][0]["finish_reason"], theirs["choices"][0]["finish_reason"], f"why the reply to {chat} ended")
        checks.equal(ours["usage"]["prompt_tokens"], theirs["usage"]["prompt_tokens"], f"prompt tokens of {chat}")
        # SGLang's chat leaves out the token that ends the reply.
        count = len(theirs["choices"][0]["logprobs"]["content"])
        checks.equal(logprobs_of(ours)[:count], logprobs_of(theirs), f"logprobs of {chat}")
    _, _, whole = gateway.post("/v1/chat/completions", HELLO)
    text = whole["choices"][0]["message"]["content"]
    checks.equal("".join(stream_of(gateway, {**HELLO, "stream": True})), text, "a stream's text")
    _, _, again = gateway.post("/v1/chat/completions", HELLO)
    checks.equal(again["usage"]["prompt_tokens_details"]["cached_tokens"], again["usage"]["prompt_tokens"] - 1, "cached tokens")
    _, _, two = gateway.post("/v1/chat/completions", {**HELLO, "n": 2, "temperature": 1})
    checks.equal([choice["index"] for choice in two["choices"]], [0, 1], "two choices")
    checks.that(two["choices"][0]["message"] != two["choices"][1]["message"], f"two choices differ: {two['choices']}")
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
    for _ in stream_of(gateway, {**HELLO, "max_tokens": 3000, "ignore_eos": True, "temperature": 1, "stream": True}, 5):
        pass
    left = time.monotonic()
    while sglang.running() and time.monotonic() < left + 60:
        time.sleep(0.05)
    checks.that(time.monotonic() < left + 30, f"SGLang goes on for {time.monotonic() - left:.1f} s without its client")


def dies(gateway: Gateway, sglang: Sglang, checks: Checks) -> None:
    """The end of a stream whose engine is killed is an error, and /ready says that it is gone."""
    body = {**HELLO, "max_tokens": 3000, "ignore_eos": True, "temperature": 1, "stream": True}
    asked = urllib.request.Request(gateway.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    lines: list[str] = []
    with urllib.request.urlopen(asked, timeout=600) as answer:
        for line in answer:
            lines.append(line.decode().strip())
            if len(lines) == 8:
                sglang.die()
    said = [json.loads(line[6:])["error"]["code"] for line in lines if line.startswith("data: {") and "error" in json.loads(line[6:])]
    checks.equal(said, ["engine_died"], f"the end of a stream whose engine is killed: {lines[-3:]}")
    time.sleep(3)  # what was found of an engine holds for two
    checks.equal(gateway.get("/ready")[0], 503, "/ready without an engine")


def run(options: argparse.Namespace, more: list[str], checks: Checks) -> None:
    print("streams:", " ".join(more) or "as they are by default", flush=True)
    shared = {"tokenizer": str(options.model), "model": NAME}
    with sglang_of(options.python, options.model, *more) as sglang:
        backend = ("--backend", f"sglang={sglang.url}", "--log", "errors")
        with Gateway(options.parlance, "", *backend, template=("-m", str(options.model)), **shared) as gateway:
            parts: list[Callable[[Gateway, Sglang, Checks], None]] = [starts, renders, replies, refusals, client_leaves]
            for part in parts if not more else (starts, replies, client_leaves):
                part(gateway, sglang, checks)
                print(f"{part.__name__}: done", flush=True)
        for name in FORMATS if not more else FORMATS[:1]:
            with Gateway(options.parlance, "", *backend, template=("-f", name), **shared) as gateway:
                cut = calls_of(gateway, name, options.calls, checks)
                print(f"{name}: {options.calls} calls, {cut} of them cut off by the limit of tokens", flush=True)
                if name == FORMATS[0]:
                    session_of(gateway, options.turns, checks)
                    print(f"{name}: a session of {options.turns} turns", flush=True)
        with Gateway(options.parlance, "", *backend, template=("-m", str(options.model)), **shared) as gateway:
            dies(gateway, sglang, checks)
            print("dies: done", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--python", required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    version = subprocess.run([options.python, "-c", "import importlib.metadata as m; print(m.version('sglang'))"], capture_output=True)
    print("SGLang", version.stdout.decode().strip(), flush=True)
    checks = Checks()
    for more in STREAMS:
        run(options, more, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
