#!/usr/bin/env python3
"""`parlance serve` in front of a real vLLM: its render tier beside ours, calls, sessions, settings, a client that leaves.

    vllm_real.py PARLANCE --python PYTHON --model FOLDER [--calls N] [--turns N]

Of tools/vllm_check.sh, which installs vLLM for PYTHON and writes the model. vLLM runs on the processor alone. Begin reading at main.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from gateway import Checks, Gateway
from real_engine import CHATS, NAME, Options, ask_json, choices_differ, free_port, leaves, renders_are, reply_is, server_of, stream_of

BLOCK = 32  # tokens, the least that its attention on a processor takes


class Vllm:
    """vLLM's server, with a client of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, body: Any = None) -> Any:
        return ask_json(self.url + path, None if body is None else {"model": NAME, **body})

    def ids(self, messages: Any) -> list[int]:
        """Those of the prompt of a chat."""
        return list(self.ask("/v1/chat/completions/render", {"messages": messages})["token_ids"])

    def running(self) -> float:
        """How many replies it samples now."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as answer:
            lines = re.findall(r"^vllm:num_requests_running\S* (\S+)$", answer.read().decode(), re.M)
        return sum(float(line) for line in lines)


@contextlib.contextmanager
def vllm_of(python: str, model: pathlib.Path) -> Iterator[Vllm]:
    port = free_port()
    command = [
        python, "-m", "vllm.entrypoints.cli.main", "serve", str(model), "--served-model-name", NAME, "--host", "127.0.0.1",
        "--port", str(port), "--dtype", "float32", "--enforce-eager", "--max-model-len", "4096", "--max-num-seqs", "8",
        "--enable-prompt-tokens-details", "--enable-prefix-caching", "--block-size", str(BLOCK), "--enable-scale-out",
    ]  # fmt: skip
    environment = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    with server_of(command, model.parent / "vllm.log", environment) as process:
        vllm = Vllm(f"http://127.0.0.1:{port}")
        until_it_answers(vllm, process)
        yield vllm


def until_it_answers(vllm: Vllm, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 1200
    while time.monotonic() < ends and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            vllm.ask("/v1/models")
            return
        time.sleep(1)
    sys.exit("vLLM did not start: see vllm.log beside the model")


def renders(gateway: Gateway, vllm: Vllm, checks: Checks) -> None:
    renders_are(gateway, "vLLM's render", vllm.ids, checks)


def replies(gateway: Gateway, vllm: Vllm, checks: Checks) -> None:
    """Greedy replies are those of vLLM's own chat; choices and streams are as OpenAI has them."""
    for chat in CHATS:
        body = {"messages": chat, "max_tokens": 24, "temperature": 0, "logprobs": True, "top_logprobs": 2}
        reply_is(gateway, body, vllm.ask("/v1/chat/completions", body), checks)
    body = {"model": NAME, "messages": CHATS[0], "max_tokens": 12, "seed": 5}
    choices_differ(gateway, body, checks)
    streamed = "".join(text for text in stream_of(gateway, {**body, "temperature": 0, "stream": True}))
    _, _, whole = gateway.post("/v1/chat/completions", {**body, "temperature": 0})
    checks.equal(streamed, whole["choices"][0]["message"]["content"], "a stream's text")


def client_leaves(gateway: Gateway, vllm: Vllm, checks: Checks) -> None:
    leaves(gateway, "vLLM", {"model": NAME, "messages": CHATS[1]}, vllm.running, 10, checks)


def main() -> int:
    options = Options(__doc__ or "")
    checks = Checks()
    with vllm_of(options.python, options.model) as vllm:
        print("vLLM", vllm.ask("/version")["version"], flush=True)
        backend = f"vllm={vllm.url}"
        with options.gateway(backend) as gateway:
            for part in (renders, replies, client_leaves):
                part(gateway, vllm, checks)
                print(f"{part.__name__}: done", flush=True)
        options.calls_in_formats(backend, checks, again=BLOCK - 1)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
