#!/usr/bin/env python3
"""llama-cpp-python's server behind `parlance serve --backend openai-completions`: text both ways. For make long.

    real_llama_cpp_python.py PARLANCE

It is asked for chats, logprobs, stop texts, seeds, limits and more than its context has, is left by clients, and is killed; and a model in
front of whose texts it puts a token has to answer as the same one without. tools/llama_cpp_python_server.py installs and starts it. Ends
with 77 where it cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from gateway import SKIPPED, Checks, Gateway
from real_model import calls_of
from real_ollama import CHAT, USER, Answer, Skipped, ask, started

CONTEXT = 1024  # tokens, as the server is started
COMPLETIONS = "/v1/completions"


class Behind:
    """A gateway in front of the server."""

    def __init__(self, gateway: Gateway, server: str, pid: int, checks: Checks) -> None:
        self.url, self.server, self.checks = gateway.url, server, checks
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True).stdout
        self.pid = int(listed.split()[0])

    def chat(self, content: str = USER["content"], **more: Any) -> Answer:
        messages = [{"role": "user", "content": content}]
        return ask(self.url, "POST", CHAT, {"messages": messages, "temperature": 0, "max_tokens": 12, **more})

    def said(self, **more: Any) -> str:
        answer = self.chat(**more)
        return str(answer.json["choices"][0]["message"]["content"])

    def seconds(self) -> float:
        """Of processors, so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def texts(behind: Behind) -> None:
    """A chat is what the server itself makes of the same prompt."""
    checks = behind.checks
    rendered = ask(behind.url, "POST", CHAT + "/render", {"messages": [USER]}).json["token_ids"]
    prompt = ask(behind.url, "POST", "/detokenize", {"tokens": rendered}).json
    raw = {"prompt": prompt.get("content", prompt.get("prompt")), "temperature": 0, "max_tokens": 12}
    own = ask(behind.server, "POST", COMPLETIONS, raw).json
    whole = behind.chat(logprobs=True, top_logprobs=2, parlance=True).json
    choice = whole["choices"][0]
    checks.equal(choice["message"]["content"], own["choices"][0]["text"], "the text that the server samples itself")
    checks.equal(whole["usage"]["prompt_tokens"], own["usage"]["prompt_tokens"], "tokens of the prompt")
    checks.equal(whole["parlance"]["losses"], [], "what is lost")
    logprobs = choice["logprobs"]["content"]
    checks.equal("".join(one["token"] for one in logprobs), own["choices"][0]["text"], "tokens with logprobs")
    checks.each(logprobs, lambda one: one["logprob"] <= 0 and len(one["top_logprobs"]) == 2, "their alternatives")
    events = behind.chat(stream=True).lines
    checks.equal("".join(e["choices"][0]["delta"].get("content") or "" for e in events), own["choices"][0]["text"], "streamed")


def settings(behind: Behind) -> None:
    checks = behind.checks
    said = behind.said(max_tokens=40)
    word = said.split()[3]
    stopped = behind.chat(max_tokens=40, stop=[word]).json["choices"][0]
    checks.equal((stopped["message"]["content"], stopped["finish_reason"]), (said[: said.index(word)], "stop"), f"stops at {word!r}")
    one, again, other = (behind.said(seed=seed, temperature=1.5) for seed in (7, 7, 8))
    checks.that(one == again != other, "seeds", (one, again, other))
    several = behind.chat(n=2, seed=7, temperature=1.5).json["choices"]
    checks.that(len({choice["message"]["content"] for choice in several}) == 2, "choices of their own", several)
    digits = {"prompt": "1 2 3 1 2 3 1 2 3", "max_tokens": 20, "temperature": 0.01, "seed": 1}  # at 0 the server has no penalties
    two = [
        ask(behind.url, "POST", COMPLETIONS, {**digits, "repetition_penalty": penalty}).json["choices"][0]["text"] for penalty in (1, 2.5)
    ]
    checks.that(two[0] != two[1], "a penalty for what was said", two)


def contexts(behind: Behind) -> None:
    """The server does not tell its context: the gateway knows it by its URL. Without, its stream ends without a word."""
    long = behind.chat("word " * 2 * CONTEXT)
    behind.checks.equal((long.status, long.json["error"]["code"]), (400, "context_length_exceeded"), "more than the context")
    full = behind.chat("word " * (CONTEXT - 90), max_tokens=3000).json
    behind.checks.that(full["usage"]["total_tokens"] <= CONTEXT, "a reply that fills the context", full["usage"])


def leaving(behind: Behind) -> None:
    """A client that leaves ends what is sampled for it."""
    address = urllib.parse.urlsplit(behind.url)
    for stream in (True, False):
        body = {"messages": [{"role": "user", "content": "Write a long story."}], "max_tokens": 700, "temperature": 1, "stream": stream}
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        connection.request("POST", CHAT, json.dumps(body), {"Content-Type": "application/json"})
        time.sleep(1)
        connection.close()
        time.sleep(0.3)
        before = behind.seconds()
        time.sleep(1.5)
        used = behind.seconds() - before
        behind.checks.that(used < 0.3, f"nothing is sampled for who is gone, stream {stream}", used)


def together(behind: Behind) -> None:
    """It samples one reply at a time and answers nothing else meanwhile: it is ready all the same."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(behind.chat, "Write a long story.", max_tokens=300, temperature=1, seed=seed) for seed in (3, 4, 5)]
        time.sleep(1)
        ready = ask(behind.url, "GET", "/ready")
        behind.checks.equal(ready.status, 200, f"/ready while it samples: {ready.text}")
        behind.checks.each([one.result() for one in answers], lambda one: one.status == 200, "three at a time")


def killed(behind: Behind) -> None:
    """The server ends in the middle of a reply: an error there, and it is not ready."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        reply = pool.submit(behind.chat, "Write a long story.", max_tokens=700, temperature=1, stream=True)
        time.sleep(1)
        os.kill(behind.pid, signal.SIGKILL)
        events = reply.result().lines
    behind.checks.equal(events[-1].get("error", {}).get("code"), "engine_died", "killed in a reply")
    time.sleep(2.1)  # what was found of an engine holds for two seconds
    behind.checks.equal(ask(behind.url, "GET", "/ready").status, 503, "/ready behind its end")


TESTS: tuple[Callable[[Behind], None], ...] = (texts, settings, contexts, leaving, together, killed)


@contextlib.contextmanager
def behind_of(parlance: str, checks: Checks, *options: str, setting: str = f"?context={CONTEXT}") -> Iterator[Behind]:
    with started("llama_cpp_python_server.py", "--context", str(CONTEXT), *options) as (server, model, pid):
        backend = ("--backend", f"openai-completions={server}{setting}", "--log", "errors")
        with Gateway(parlance, "", *backend, template=("-m", model), tokenizer=model) as gateway:
            yield Behind(gateway, server, pid, checks)


def first_token(parlance: str, checks: Checks) -> None:
    """A model in front of whose texts the server puts a token is sent the same prompt as one without."""
    counts, said = [], []
    for options in ((), ("--begins",)):
        with behind_of(parlance, checks, *options, setting="") as behind:
            own = ask(behind.server, "POST", COMPLETIONS, {"prompt": "<|im_start|>user", "max_tokens": 1}).json
            counts.append(own["usage"]["prompt_tokens"])
            choice = behind.chat(logprobs=True).json["choices"][0]
            said.append([(one["token"], round(one["logprob"], 2)) for one in choice["logprobs"]["content"]])
            long = behind.chat("word " * 2 * CONTEXT)
            checks.equal((long.status, long.json["error"]["code"]), (502, "engine_died"), "more than a context that nobody told")
            checks.equal(behind.chat().status, 200, "the next request")
    checks.equal(counts[1] - counts[0], 1, f"the server puts a token in front: {counts}")
    checks.equal(said[1], said[0], "what the model says to the same prompt")


def calls(parlance: str, checks: Checks) -> None:
    """It takes grammars as llama.cpp's server does: calls are whole and fit their schema, and what goes on behind them is answered."""
    with started("llama_cpp_python_server.py", "--context", "2048") as (server, model, _):
        backend = ("--backend", f"openai-completions={server}?context=2048&grammar=gbnf", "--log", "errors")
        for name in ("terminal-agent", "underscore-bot"):
            with Gateway(parlance, "", *backend, template=("-f", name), tokenizer=model) as gateway:
                cut = calls_of(gateway, name, 4, checks)
                print(f"{name}: 4 calls, {cut} of them cut off by the limit of tokens", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    options = parser.parse_args()
    checks = Checks()
    try:
        first_token(options.parlance, checks)
        with behind_of(options.parlance, checks) as behind:
            for test in TESTS:
                test(behind)
                print(test.__name__, flush=True)
        calls(options.parlance, checks)
    except Skipped:
        return SKIPPED
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
