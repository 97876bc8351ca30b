#!/usr/bin/env python3
"""The real Ollama: behind `parlance serve` as an engine, and beside it as what its clients know. For make long.

    real_ollama.py PARLANCE [--only engine|front]

As an engine it is asked for chats, forms of answers, stop texts, seeds, limits and more than its context has, is left by clients, and is
killed. As a server it answers the same requests as a gateway does in front of llama.cpp's server with the same weights: status, members,
their types and the lines of streams are compared. What is known to differ is in DIFFERENT and in COMPATIBILITY.md, and has to differ.

tools/ollama_server.py builds and starts it, tools/llama_server.py the other. Ends with 77 where they cannot be had. Begin reading at main.
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
from engine import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from gateway import SKIPPED, Checks, Gateway
from llama_server import with_first_token
from ollama_server import FOLDER, PROGRAM
from real_ollama_requests import DIFFERENT, MODEL, REQUESTS

Json = dict[str, Any]
CHAT, GENERATE = "/v1/chat/completions", "/api/generate"
CONTEXT = 1024  # tokens, which Ollama is asked for
USER: Json = {"role": "user", "content": "Count to twenty, in words."}
SCHEMA: Json = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "people": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
LOOK: Json = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}


class Skipped(Exception):
    """A server cannot be had here."""


@contextlib.contextmanager
def started(tool: str, *options: str) -> Iterator[tuple[str, str, int]]:
    """The address of a server, the model's file, and the process."""
    command = [sys.executable, str(ROOT / "tools" / tool), "--seconds", "7200", *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    url, model = process.stdout.readline().strip(), process.stdout.readline().strip()
    if not model:
        raise Skipped if process.wait() == SKIPPED else AssertionError(f"{tool} ended with {process.returncode}")
    try:
        yield url, model, process.pid
    finally:
        process.stdin.close()
        process.wait(40)


class Answer:
    """An answer as it came."""

    def __init__(self, status: int, headers: dict[str, str], text: str) -> None:
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def lines(self) -> list[Json]:
        """Of a stream of Ollama's, or of events."""
        kept = (line.removeprefix("data: ") for line in self.text.splitlines())
        return [json.loads(line) for line in kept if line.startswith("{")]


def ask(url: str, method: str, path: str, body: Any = None) -> Answer:
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=300)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    answer = Answer(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read().decode())
    connection.close()
    return answer


class Engine:
    """A gateway in front of Ollama."""

    def __init__(self, gateway: Gateway, ollama: str, pid: int, checks: Checks) -> None:
        self.gateway, self.url, self.ollama, self.pid, self.checks = gateway, gateway.url, ollama, pid, checks

    def chat(self, content: str = "Count to twenty, in words.", **more: Any) -> Answer:
        messages = [{"role": "user", "content": content}]
        return ask(self.url, "POST", CHAT, {"messages": messages, "temperature": 0, "max_tokens": 12, **more})

    def runners(self) -> list[int]:
        """The processes that sample."""
        listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
        rows = [line.split(None, 2) for line in listed[1:]]
        servers = {int(row[0]) for row in rows if int(row[1]) == self.pid}
        return [int(row[0]) for row in rows if int(row[1]) in servers and " runner " in row[2]]

    def seconds_of_runners(self) -> float:
        """Of processors, so far."""
        fields = [pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in self.runners()]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def texts(engine: Engine) -> None:
    """A chat is what Ollama itself makes of the same prompt."""
    checks = engine.checks
    whole = engine.chat(logprobs=True, top_logprobs=2, parlance=True).json
    rendered = ask(engine.url, "POST", CHAT + "/render", {"messages": [USER]}).json["token_ids"]
    prompt = ask(engine.url, "POST", "/detokenize", {"tokens": rendered}).json
    prompt = prompt.get("content", prompt.get("prompt"))
    raw = {"model": MODEL, "prompt": prompt, "raw": True, "stream": False, "options": {"temperature": 0, "num_predict": 12}}
    own = ask(engine.ollama, "POST", GENERATE, raw).json
    choice = whole["choices"][0]
    checks.equal(choice["message"]["content"], own["response"], "the text that Ollama samples itself")
    checks.equal((choice["finish_reason"], own["done_reason"]), ("length", "length"), "why it ends")
    usage = whole["usage"]
    checks.equal((usage["prompt_tokens"], usage["completion_tokens"]), (own["prompt_eval_count"], own["eval_count"]), "its figures")
    checks.equal(whole["parlance"]["losses"], [], "what is lost")
    logprobs = choice["logprobs"]["content"]
    checks.equal("".join(one["token"] for one in logprobs), own["response"], "tokens with logprobs")
    checks.each(logprobs, lambda one: one["logprob"] <= 0 and len(one["top_logprobs"]) == 2, "their alternatives")
    events = engine.chat(stream=True, stream_options={"include_usage": True}).lines
    checks.equal("".join(e["choices"][0]["delta"].get("content") or "" for e in events if e["choices"]), own["response"], "streamed")
    checks.equal(events[-1]["usage"]["completion_tokens"], own["eval_count"], "its figures, streamed")
    through = ask(engine.url, "POST", GENERATE, raw).json
    checks.equal((through["response"], through["eval_count"]), (own["response"], own["eval_count"]), "a raw prompt through both")


def settings(engine: Engine) -> None:
    checks = engine.checks
    said = engine.chat(max_tokens=40).json["choices"][0]["message"]["content"]
    word = said.split()[3]
    stopped = engine.chat(max_tokens=40, stop=[word]).json["choices"][0]
    checks.equal((stopped["message"]["content"], stopped["finish_reason"]), (said[: said.index(word)], "stop"), f"stops at {word!r}")
    message = {"messages": [USER], "max_tokens": 40, "temperature": 0, "stop_sequences": [word]}
    told = ask(engine.url, "POST", "/v1/messages", message).json
    checks.equal((told["stop_reason"], told["stop_sequence"]), ("stop_sequence", word), "which stop text")
    one, again, other = (engine.chat(seed=seed, temperature=1.5).json["choices"][0]["message"]["content"] for seed in (7, 7, 8))
    checks.equal(one, again, "a seed")
    checks.that(one != other, "another seed", other)
    several = engine.chat(n=2, seed=7, temperature=1.5).json["choices"]
    checks.that(len({choice["message"]["content"] for choice in several}) == 2, "choices of their own", several)


def forms(engine: Engine) -> None:
    """A schema holds the answer; calls are not held to anything, and a conversation with calls goes on."""
    checks = engine.checks
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    for seed in range(4):
        answer = engine.chat("Name a city.", response_format=form, temperature=1.5, seed=seed, max_tokens=100).json["choices"][0]
        made = json.loads(answer["message"]["content"]) if answer["finish_reason"] == "stop" else None
        checks.that(made and sorted(made) == ["city", "people"] and made["city"] in ("Rome", "Oslo"), "an answer by a schema", answer)
        checks.that(made and 1 <= made["people"] <= 9, "its number", answer)
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "the door"}'}}
    messages = [USER, {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_1", "content": "open"}]  # fmt: skip
    body = {"messages": messages, "tools": [LOOK], "max_tokens": 12, "temperature": 0, "parlance": True, "tool_choice": "required"}
    answer = ask(engine.url, "POST", CHAT, body)
    checks.equal(answer.status, 200, f"behind a call's result: {answer.text[:300]}")
    checks.that(any(loss["path"] == "tool_choice" for loss in answer.json["parlance"]["losses"]), "a required call", answer.text)


def contexts(engine: Engine) -> None:
    """Ollama has the context that it was asked for, and neither it nor the gateway cuts a prompt."""
    checks = engine.checks
    running = [model for model in ask(engine.ollama, "GET", "/api/ps").json["models"] if model["name"] == MODEL + ":latest"]
    checks.equal([model["context_length"] for model in running], [CONTEXT], "num_ctx")
    long = engine.chat("word " * 2 * CONTEXT)
    checks.equal((long.status, long.json["error"]["code"]), (400, "context_length_exceeded"), "more than the context")
    full = engine.chat("word " * (CONTEXT - 90), max_tokens=3000, ignore_eos=True).json
    usage = full["usage"]
    checks.that(usage["total_tokens"] <= CONTEXT, "a reply that fills the context", usage)


def leaving(engine: Engine) -> None:
    """Clients that leave end what Ollama samples for them."""
    address = urllib.parse.urlsplit(engine.url)
    for stream in (True, False):
        body = {"messages": [{"role": "user", "content": "Write a long story."}], "max_tokens": 900, "temperature": 1, "stream": stream}
        connections = [http.client.HTTPConnection(address.hostname or "", address.port) for _ in range(2)]
        for connection in connections:
            connection.request("POST", CHAT, json.dumps(body), {"Content-Type": "application/json"})
        time.sleep(1)
        for connection in connections:
            connection.close()
        time.sleep(1)
        before = engine.seconds_of_runners()
        time.sleep(1.5)
        engine.checks.that(engine.seconds_of_runners() - before < 0.5, f"nothing is sampled for who is gone, stream {stream}")


def together(engine: Engine) -> None:
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda seed: engine.chat(seed=seed), range(6)))
    engine.checks.each(answers, lambda one: one.json["usage"]["completion_tokens"] == 12, "six at a time")


def loops(engine: Engine) -> None:
    """Ollama breaks off a reply that repeats a token, without a word."""
    prompt = "la " * 200
    raw = {"prompt": prompt, "raw": True, "stream": False, "options": {"temperature": 0, "repeat_penalty": 1, "num_predict": 300}}
    own = ask(engine.ollama, "POST", GENERATE, {**raw, "model": MODEL}).json
    through = ask(engine.url, "POST", GENERATE, raw)
    engine.checks.equal((own["done"], through.status), (False, 200), f"a loop: {through.text[:300]}")
    engine.checks.equal((through.json["done"], through.json["done_reason"]), (True, "length"), "it is cut off")


def killed(engine: Engine) -> None:
    """The process that samples ends in the middle of a reply: an error there, and the next request is answered."""
    body = {"messages": [{"role": "user", "content": "Write a long story."}], "max_tokens": 900, "temperature": 1, "stream": True}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        reply = pool.submit(ask, engine.url, "POST", CHAT, body)
        time.sleep(1)
        for one in engine.runners():
            os.kill(one, signal.SIGKILL)
        events = reply.result().lines
    engine.checks.that(events[-1].get("error", {}).get("code") in ("engine_status", "engine_died"), "killed in a reply", events[-1])
    engine.checks.equal(engine.chat().status, 200, "the next request")


ENGINE_TESTS: tuple[Callable[[Engine], None], ...] = (texts, settings, forms, contexts, leaving, together, loops, killed)


def unknown_models(parlance: str, ollama: str, model: str, checks: Checks) -> None:
    """A model that Ollama has not, and none that is named among several."""
    for setting, words in (("?model=nobody", "nobody"), ("", "?model=NAME")):
        options = ("--backend", f"ollama={ollama}{setting}", "--log", "errors")
        with Gateway(parlance, "", *options, template=("-m", model), tokenizer=model, model=MODEL) as gateway:
            answer = ask(gateway.url, "POST", CHAT, {"messages": [USER]})
            code, said = answer.json["error"]["code"], answer.json["error"]["message"]
            checks.that(answer.status == 503 and code == "engine_other_model" and words in said, f"model {setting!r}", answer.text)


def first_token(parlance: str, ollama: str, model: str, checks: Checks) -> None:
    """A model in front of whose prompts Ollama puts a token by itself is sent the same prompt as one without."""
    file, modelfile = with_first_token(FOLDER / "begins.gguf"), FOLDER / "begins.modelfile"
    modelfile.write_text(f"FROM {file}\nPARAMETER num_thread 1\n")
    environment = {**os.environ, "HOME": str(FOLDER), "OLLAMA_HOST": urllib.parse.urlsplit(ollama).netloc}
    subprocess.run([str(PROGRAM), "create", "begins", "-f", str(modelfile)], env=environment, capture_output=True, check=True)
    counts = []
    for name in (MODEL, "begins"):
        raw = {"model": name, "prompt": "<|im_start|>user", "raw": True, "stream": False, "options": {"num_predict": 1}}
        counts.append(ask(ollama, "POST", GENERATE, raw).json["prompt_eval_count"])
    checks.equal(counts[1] - counts[0], 1, f"Ollama puts a token in front: {counts}")
    said = []
    for name in (MODEL, "begins"):
        options = ("--backend", f"ollama={ollama}?model={name}", "--log", "errors")
        with Gateway(parlance, "", *options, template=("-m", model), tokenizer=model, model=MODEL) as gateway:
            body = {"messages": [USER], "max_tokens": 16, "temperature": 0, "logprobs": True}
            choice = ask(gateway.url, "POST", CHAT, body).json["choices"][0]
            long = ask(gateway.url, "POST", CHAT, {"messages": [{"role": "user", "content": "word " * 5000}]})
            told = (long.status, long.json["error"]["code"])
            checks.equal(told, (400, "context_length_exceeded"), "more than the context that Ollama has by itself")
            said.append([(one["token"], round(one["logprob"], 2)) for one in choice["logprobs"]["content"]])
    checks.equal(said[1], said[0], "what the model says to the same prompt")


def as_engine(parlance: str, ollama: str, model: str, pid: int, checks: Checks) -> None:
    unknown_models(parlance, ollama, model, checks)
    first_token(parlance, ollama, model, checks)
    options = ("--backend", f"ollama={ollama}?model={MODEL}&context={CONTEXT}", "--log", "errors")
    with Gateway(parlance, "", *options, template=("-m", model), tokenizer=model, model=MODEL) as gateway:
        engine = Engine(gateway, ollama, pid, checks)
        for test in ENGINE_TESTS:
            test(engine)
            print(f"engine: {test.__name__}", flush=True)


def members(value: Any, path: str = "") -> dict[str, str]:
    """The members of an answer by their paths, each with its type; of a list, those of its first item."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not name.startswith("eval_")}  # which Ollama leaves out where it is 0
        return {at: kind for name, one in kept.items() for at, kind in members(one, f"{path}.{name}").items()}
    if isinstance(value, list):
        return members(value[0], path + "[]") if value else {path + "[]": "nothing"}
    return {path: "number" if type(value) in (int, float) else type(value).__name__}


def shape_of(answer: Answer) -> Any:
    """What clients see of an answer besides its texts and figures."""
    kind = answer.headers.get("content-type", "").split(";")[0]
    if answer.status in (404, 405):  # of a path that is not known, Ollama's is no JSON
        return answer.status, "", {}
    if answer.status != 200:
        error = answer.json.get("error") if answer.text.startswith("{") else None
        return answer.status, kind if error is None else "", type(error).__name__
    if kind == "application/x-ndjson":
        first, *_, last = answer.lines
        return answer.status, kind, members(first), members(last)
    return answer.status, kind, members(answer.json) if answer.text.startswith("{") else answer.text


def difference_of(own: Answer, ours: Answer) -> str:
    """Between Ollama and the gateway; "": clients see none."""
    one, other = shape_of(own), shape_of(ours)
    if one == other:
        return ""
    if one[:2] != other[:2] or not isinstance(one[2], dict):
        return f"{one[:3]}, here {other[:3]}"
    parts = zip(one[2:], other[2:], strict=True)
    return "; ".join(f"lacks {sorted(a.items() - b.items())}, has {sorted(b.items() - a.items())}" for a, b in parts if a != b)


def as_server(parlance: str, ollama: str, checks: Checks) -> None:
    with started("llama_server.py", "--context", "8192", "--threads", "1") as (engine, model, _):
        options = ("--log", "errors")
        with Gateway(parlance, engine, *options, template=("-m", model), tokenizer=model, model=MODEL) as gateway:
            for name, (method, path, body) in REQUESTS.items():
                found = difference_of(ask(ollama, method, path, body), ask(gateway.url, method, path, body))
                checks.that(bool(found) == (name in DIFFERENT), f"{name}: {found or 'it does not differ any more'}")
            print(f"front: {len(REQUESTS)} requests, of which {len(DIFFERENT)} are known to differ", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--only", choices=("engine", "front"))
    options = parser.parse_args()
    checks = Checks()
    try:
        with started("ollama_server.py") as (url, model, pid):
            if options.only != "front":
                as_engine(options.parlance, url, model, pid, checks)
            if options.only != "engine":
                as_server(options.parlance, url, checks)
    except Skipped:
        return SKIPPED
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
