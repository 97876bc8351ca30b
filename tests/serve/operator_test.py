#!/usr/bin/env python3
"""What an operator sets: a configuration file with several models, SIGHUP, and how many replies an engine samples at a time.

    operator_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine import TOKENIZER, Asked, Engine, Reply
from gateway import Checks, Gateway
from valid_requests import bodies_of, routes

CHAT = "/v1/chat/completions"
USER: Any = {"role": "user", "content": "Hi"}


class Configured(Gateway):
    """`parlance serve --config FILE`."""

    def __init__(self, parlance: str, config: pathlib.Path, *options: str) -> None:
        self.log = []
        self.process = subprocess.Popen(
            [parlance, "serve", "--config", str(config), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None and self.process.stderr is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.stderr.read()

    ignored: tuple[str, ...] = ()  # options that the last reload did not take

    def reload(self) -> dict[str, Any]:
        self.ignored = ()
        self.process.send_signal(signal.SIGHUP)
        said = self.logged("reload_ignored", "reloaded", "reload_failed")
        if said["event"] == "reload_ignored":
            self.ignored = tuple(said["options"])
            said = self.logged("reloaded", "reload_failed")
        return said


def table(name: str, engine: str, *more: str, template: str = 'format = "terminal-agent"') -> str:
    lines = ("[[model]]", f'model-name = "{name}"', template, f'tokenizer = "{TOKENIZER}"', f'backend = "llama-server={engine}"', *more)
    return "\n".join(lines) + "\n"


def chat(gateway: Gateway, model: str = "", messages: Any = None, key: str = "", **more: Any) -> tuple[int, dict[str, str], Any]:
    body = {"model": model, "messages": messages or [USER], **more}
    return gateway.post(CHAT, body, {"Authorization": f"Bearer {key}"} if key else {})


def several_models(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    config = folder / "several.toml"
    with Engine(lambda asked: Reply("One.<|im_end|>")) as one, Engine(lambda asked: Reply("Two.<|im_end|>")) as two:
        config.write_text("port = 0\nlog = 'errors'\n" + table("one", one.url) + table("two", two.url, "max-reply-tokens = 7"))
        with Configured(parlance, config) as gateway:
            names = [model["id"] for model in json.loads(gateway.get("/v1/models")[1])["data"]]
            checks.equal(names, ["one", "two"], "the models of the file")
            pages_of_models(gateway, checks)
            for name, said in (("one", "One."), ("two", "Two.")):
                status, _, answer = chat(gateway, name)
                checks.equal(status, 200, f"a chat with {name}: {answer}")
                checks.equal(answer["choices"][0]["message"]["content"], said, f"the engine of {name}")
            checks.equal(two.asked[-1].body["n_predict"], 7, "the limit of the second model")
            checks.that(one.asked[-1].body.get("n_predict") != 7, "is the second model's alone")
            checks.equal(chat(gateway, "three")[0], 404, "a model that there is not")
            for path in ("/api/chat", "/api/show"):  # Ollama's clients put this behind names
                for name, wanted in (("one:latest", 200), ("one:other", 404), ("three:latest", 404)):
                    status, _, answer = gateway.post(path, {"model": name, "messages": [USER], "stream": False})
                    checks.equal(status, wanted, f"{path} with {name}: {answer}")
            checks.equal(chat(gateway, "one:latest")[0], 404, "which OpenAI's do not")
            checks.equal(chat(gateway, "")[0], 404, "a request without a name, where there are two models")
            unknown_everywhere(gateway, checks)


def pages_of_models(gateway: Gateway, checks: Checks) -> None:
    """As Anthropic's clients go through them: some ask until a page is empty, whatever `has_more` says."""
    for query, names, more in (
        ("?limit=1", ["one"], True),
        ("?limit=1&after_id=one", ["two"], False),
        ("?after_id=one", ["two"], False),
        ("?after_id=two", [], False),
        ("?before_id=two", ["one"], False),
        ("?before_id=one&limit=5", [], False),
        ("?limit=1000", ["one", "two"], False),
    ):
        page = json.loads(gateway.get("/v1/models" + query)[1])
        checks.equal(([model["id"] for model in page["data"]], page["has_more"]), (names, more), f"/v1/models{query}")
        ends = (names[0], names[-1]) if names else (None, None)
        checks.equal((page["first_id"], page["last_id"]), ends, f"the ends of /v1/models{query}")
    for query, place in (("?limit=0", "limit"), ("?limit=1001", "limit"), ("?limit=x", "limit"), ("?after_id=three", "after_id")):
        status, said = gateway.get("/v1/models" + query)
        checks.equal((status, json.loads(said)["error"]["param"]), (400, place), f"/v1/models{query}")


def unknown_everywhere(gateway: Gateway, checks: Checks) -> None:
    """Each route that takes a model's name refuses one that there is not, and the gateway goes on."""
    for method, path in routes():
        for body in bodies_of(path) if method == "POST" else []:
            if "derender" in path or "conversations" in path:  # which have the name within, or none
                continue
            status, _, answer = gateway.post(path, {**body, "model": "three"})
            checks.that(status in (400, 404) and answer["error"], f"{path} with a model that there is not: {status} {answer}")
    checks.equal(gateway.process.poll(), None, "it goes on behind models that there are not")


def wrong_files(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """Each error has its place, and a hint where a name is near."""
    config = folder / "wrong.toml"
    of_the_server = ("port", "host", "log", "api-key-file", "max-body", "max-sessions", "capture", "inspect", "drain")
    for text, wanted in (
        ("port = 0\nhosts = '::1'\n", ("wrong.toml:2:1", "no option 'hosts'", "did you mean 'host'?")),
        ("port = 'many'\n", ("wrong.toml:1:1", "port", "many")),
        ("max-body = -5\n", ("wrong.toml:1:1", "max-body", "whole number from 0 to", "'-5'")),
        ("port = 1.5\n", ("wrong.toml:1:8", "whole number")),
        ("log = 'loud'\n", ("wrong.toml:1:1", "log", "loud", "errors")),
        ("port = 0\n[[model]\n", ("wrong.toml:2", "TOML")),
        ("[[model]]\nport = 8\n", ("wrong.toml:2:1", "no option 'port'")),
        *((f"[[model]]\n{name} = 8\n", ("wrong.toml:2:1", f"no option '{name}'", "at the top of the file")) for name in of_the_server),
        ("port = 0\n" + table("one", "x") + table("one", "x"), ("two models are called 'one'",)),
    ):
        config.write_text(text)
        ended = subprocess.run([parlance, "serve", "--config", str(config)], capture_output=True, text=True, timeout=60)
        checks.equal(ended.returncode, 2, f"the exit code for {text!r}")
        for words in wanted:
            checks.that(words in ended.stderr, f"{words!r} for {text!r}: {ended.stderr}")
    ended = subprocess.run([parlance, "serve", "--config", str(folder / "none.toml")], capture_output=True, text=True, timeout=60)
    checks.equal(ended.returncode, 3, f"a file that there is not: {ended.stderr}")


def command_line_first(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """What stands on the command line counts, also after a reload, and the rest comes from the file."""
    config = folder / "line.toml"
    with Engine() as engine:
        options = table("one", engine.url, "max-messages = 1").removeprefix("[[model]]\n")
        config.write_text("port = 1\nhost = '127.0.0.9'\nlog = 'warnings'\n" + options)
        with Configured(parlance, config, "--port", "0", "--host", "127.0.0.1", "--max-messages", "3") as gateway:
            three = [USER, {"role": "assistant", "content": "A"}, USER]
            checks.equal(chat(gateway, messages=three)[0], 200, "three messages")
            checks.equal(chat(gateway, messages=three + three[1:])[0], 400, "five messages")
            checks.equal(gateway.reload()["event"], "reloaded", "a reload")
            checks.equal(chat(gateway, messages=three)[0], 200, "three messages after a reload")


def only_at_a_restart(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """A reload says which options it did not take."""
    config = folder / "restart.toml"
    with Engine() as engine:
        model = table("one", engine.url)
        config.write_text("port = 0\nlog = 'warnings'\n" + model)
        with Configured(parlance, config) as gateway:
            gateway.reload()
            checks.equal(gateway.ignored, (), "nothing has changed")
            config.write_text("port = 1\nhost = '127.0.0.9'\nlog = 'warnings'\nmax-body = 99\nkeep-alive = 3\n" + model)
            checks.equal(gateway.reload()["event"], "reloaded", "a reload with other options of the server")
            checks.equal(gateway.ignored, ("--host", "--port", "--max-body", "--keep-alive"), "what takes effect at a restart")
            checks.equal(chat(gateway)[0], 200, "it is where it was")


VALUES = {  # of options of the server, for each that takes more than a number: a word, a file, a flag
    "--host": "127.0.0.9", "--allow-host": ["proxy.example"], "--log": "errors", "--capture": "{folder}/capture", "--inspect": True,
    "--capture-optional": True, "--sessions": "redis://127.0.0.1:9/0", "--sessions-password-file": "{folder}/secret",
    "--sessions-optional": True, "--api-key-file": "{folder}/secret",
}  # fmt: skip
RELOADED = {"--api-key-file"}  # besides the models


def each_option_of_the_server(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """Of each, a reload takes another value or says that it did not: none is passed over."""
    said = subprocess.run([parlance, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (--[a-z-]+) ", said[said.index("  --host ") :], re.MULTILINE)  # those of models stand before
    checks.that(len(names) > 20, f"the options of the server: {names}")
    config, lines = folder / "each.toml", []
    (folder / "secret").write_text("a key\n")
    for name in names:
        value = json.dumps(VALUES.get(name, 77)).replace("{folder}", str(folder))
        lines.append(f"{name.removeprefix('--')} = {value}\n")
    with Engine() as engine:
        model = table("one", engine.url)
        config.write_text("port = 0\nlog = 'warnings'\n" + model)
        with Configured(parlance, config) as gateway:
            config.write_text("".join(lines) + model)
            checks.equal(gateway.reload()["event"], "reloaded", "a reload with each option of the server")
            checks.equal(set(gateway.ignored), set(names) - RELOADED, "what takes effect at a restart")
            checks.equal(chat(gateway)[0], 401, "the keys are taken")


def reloads(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """SIGHUP changes models and keys. Requests under way end as they began; sessions of a model that stays go on."""
    config, keys, template = folder / "reload.toml", folder / "keys", folder / "chat.jinja"
    source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    template.write_text(source)
    keys.write_text("first\n")
    with Engine() as engine:
        head = f"port = 0\nlog = 'warnings'\napi-key-file = '{keys}'\n"
        stays, changes = table("stays", engine.url), table("changes", engine.url, template=f'template = "{template}"')
        config.write_text(head + stays + changes)
        with Configured(parlance, config) as gateway:
            conversations: dict[str, Any] = {}
            for name in ("stays", "changes"):
                _, headers, answer = chat(gateway, name, key="first")
                conversations[name] = [USER, answer["choices"][0]["message"], USER], headers["X-Parlance-Prompt-Tokens"]
            engine.script = lambda asked: Reply("Slow.<|im_end|>", pause=0.15)
            engine.asked.clear()
            under_way: list[Any] = []
            slow = threading.Thread(target=lambda: under_way.append(chat(gateway, "changes", key="first")))
            slow.start()
            until(lambda: len(engine.asked) > 0)
            checks.equal(engine.asked[-1].ended, 0, "a reply is under way")
            keys.write_text("second\n")
            template.write_text("Now: " + source)
            config.write_text(head + stays + changes + table("more", engine.url))
            checks.equal(gateway.reload()["models"], ["stays", "changes", "more"], "the log of a reload")
            slow.join()
            engine.script = lambda asked: Reply()
            checks.equal(under_way[0][0], 200, "a chat that began before the reload")
            checks.equal(chat(gateway, "stays", key="first")[0], 401, "the key that went")
            checks.equal(chat(gateway, "more", key="second")[0], 200, "the model that came")
            kept = {}
            for name, (messages, _) in conversations.items():
                status, headers, answer = chat(gateway, name, messages, key="second")
                checks.equal(status, 200, f"a chat that goes on with {name}: {answer}")
                kept[name] = headers["X-Parlance-Reused-Tokens"]
            checks.equal(kept, {"stays": "0", "changes": "0"}, "another key's sessions are not found")
            checks.that(engine.vocabulary.decode(engine.asked[-1].prompt).startswith("Now: "), "the new template counts")
            survives(gateway, config, template, checks)
            keeps_its_memory(gateway, checks)
            config.write_text(head + "[[model]]\nnothing = 1\n")
            said = gateway.reload()
            checks.equal(said["event"], "reload_failed", "a file that is wrong")
            checks.that("no option 'nothing'" in said["message"], f"why: {said}")
            checks.equal(chat(gateway, "more", key="second")[0], 200, "all stays as it was")


def files_that_change(parlance: str, folder: pathlib.Path, checks: Checks) -> None:
    """A reload takes what a model's files say by then, whichever of them has changed, and keeps a model none of whose has."""
    files = folder / "changing"
    shutil.copytree(TOKENIZER, files)
    template, variable, settings = files / "chat.jinja", files / "word.txt", files / "tokenizer_config.json"
    turns = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    template.write_text("{{ bos_token }}{{ word }}" + turns)
    variable.write_text("One")
    config = folder / "changing.toml"
    with Engine() as engine:
        lines = (f'template = "{template}"', f'tokenizer = "{files / "tokenizer.json"}"', f'var-file = {{ word = "{variable}" }}')
        config.write_text("\n".join(["port = 0", "log = 'warnings'", *lines, f'backend = "llama-server={engine.url}"']) + "\n")
        with Configured(parlance, config) as gateway:

            def turn(what: str, sent: str, reused: bool) -> None:
                said = [USER, {"role": "assistant", "content": "Yes."}, USER]
                status, headers, answer = chat(gateway, messages=said, **{"parlance": True})
                checks.equal(status, 200, f"{what}: {answer}")
                checks.that(
                    engine.vocabulary.decode(engine.asked[-1].prompt).startswith(sent), f"{what}: the prompt {engine.asked[-1].prompt}"
                )
                checks.equal(int(headers["X-Parlance-Reused-Tokens"]) > 0, reused, f"{what}: the conversation goes on")

            def begin() -> None:
                chat(gateway)

            begin()
            turn("at the start", "One", True)
            gateway.reload()
            turn("a reload without changes", "One", True)
            variable.write_text("Two")
            gateway.reload()
            turn("a variable's file", "Two", False)
            begin()
            changed = json.loads(settings.read_text()) | {"bos_token": "<|im_start|>"}
            settings.write_text(json.dumps(changed))
            gateway.reload()
            turn("a file beside the tokenizer's", "<|im_start|>Two", False)


def keeps_its_memory(gateway: Configured, checks: Checks) -> None:
    """Reloads that change nothing take no memory."""

    def after(reloads: int) -> int:
        for _ in range(reloads):
            gateway.reload()
        status = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    before = after(40)
    grown = after(80) - before
    checks.that(grown < 4096, f"80 reloads take {grown} KiB")


def survives(gateway: Configured, config: pathlib.Path, template: pathlib.Path, checks: Checks) -> None:
    """Over a reload, a conversation keeps its sampled ids if its model is the same, and is encoded anew if not."""
    asked = dict.fromkeys(("stays", "changes"), {"role": "user", "content": "The same of both"})
    first = {name: chat(gateway, name, [asked[name]], key="second")[2]["choices"][0]["message"] for name in asked}
    template.write_text("Then: " + template.read_text())
    checks.equal(gateway.reload()["event"], "reloaded", "a reload with another template")
    reused = {
        name: int(chat(gateway, name, [asked[name], first[name], USER], key="second")[1]["X-Parlance-Reused-Tokens"]) for name in asked
    }
    checks.that(reused["stays"] > 0, "the session of a model that stays goes on")
    checks.equal(reused["changes"], 0, "a session of another template does not")


class Crowd:
    """Clients that ask at the same time, and what the engine had under way."""

    def __init__(self, engine: Engine) -> None:
        self.lock = threading.Condition()
        self.now = self.most = 0
        self.order: list[str] = []
        self.go = threading.Event()
        self.vocabulary = engine.vocabulary
        engine.script = self.script

    def script(self, asked: Asked) -> Reply:
        """Answers when `go` is set. The third waits for the fourth: two get slots at once, and either may come first."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(self.vocabulary.decode(asked.prompt).split("user\n")[-1].split("<")[0])
            self.lock.notify_all()
            is_third = len(self.order) == 3
        self.go.wait(30)
        time.sleep(0.02)
        with self.lock:
            if is_third:
                self.lock.wait_for(lambda: len(self.order) > 3, 20)
            self.now -= 1
        return Reply()


@contextmanager
def crowded(parlance: str, *options: str) -> Iterator[tuple[Gateway, Crowd]]:
    with Engine() as engine, Gateway(parlance, engine.url, "--log", "errors", *options) as gateway:
        yield gateway, Crowd(engine)


def ask_each(gateway: Gateway, count: int, answers: list[Any]) -> list[threading.Thread]:
    """Asks one after the other, each once the one before has its place."""
    threads = []
    for number in range(count):
        thread = threading.Thread(
            target=lambda n=number: answers.append((n, *chat(gateway, messages=[{"role": "user", "content": f"{n}"}])))
        )
        thread.start()
        threads.append(thread)
        until(lambda n=number: gateway.metric("parlance_running") + gateway.metric("parlance_waiting") + len(answers) > n)
    return threads


def until(holds: Any) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "waited for 20 seconds"
        time.sleep(0.01)


def one_after_the_other(parlance: str, checks: Checks) -> None:
    with crowded(parlance, "--max-running", "2", "--max-waiting", "3") as (gateway, crowd):
        answers: list[Any] = []
        threads = ask_each(gateway, 5, answers)
        checks.equal((gateway.metric("parlance_running"), gateway.metric("parlance_waiting")), (2, 3), "running and waiting")
        for path in (CHAT, "/v1/messages", "/v1/responses", "/v1/completions", "/api/chat"):
            status, headers, answer = gateway.post(path, {"messages": [USER], "input": "Hi", "prompt": "Hi", "max_tokens": 5})
            checks.equal((status, headers.get("Retry-After")), (503, "1"), f"a queue that is full, for {path}: {answer}")
            checks.that("3 requests wait" in json.dumps(answer), f"the error of {path} says so: {answer}")
        checks.equal(chat(gateway)[2]["error"]["code"], "engine_busy", "its code")
        checks.equal(gateway.metric("parlance_refusals_total"), 6, "full queues are counted")
        checks.equal(gateway.metric("parlance_engine_failures_total"), 0, "and are no failures of the engine")
        checks.that(gateway.get("/v1/models")[0] == 200, "the rest is answered meanwhile")
        until(lambda: len(crowd.order) == 2)  # who has a slot has not yet asked the engine
        crowd.go.set()
        for thread in threads:
            thread.join()
        checks.equal([status for _, status, _, _ in answers], [200] * 5, "all are answered")
        checks.equal(crowd.most, 2, "replies at a time")
        checks.equal((sorted(crowd.order[2:4]), crowd.order[4:]), (["2", "3"], ["4"]), "who waits longest is next")
        checks.equal((gateway.metric("parlance_running"), gateway.metric("parlance_waiting")), (0, 0), "nothing is left")


def leaves_the_queue(parlance: str, checks: Checks) -> None:
    """A client that leaves while it waits gives its place back, and one that leaves while it is answered its slot."""
    with crowded(parlance, "--max-running", "1") as (gateway, crowd):
        host, port = gateway.url.removeprefix("http://").split(":")
        body = json.dumps({"messages": [USER], "stream": True}).encode()
        data = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body
        clients = []
        for number in range(3):
            clients.append(socket.create_connection((host, int(port))))
            clients[-1].sendall(data)
            until(lambda n=number: gateway.metric("parlance_running") + gateway.metric("parlance_waiting") == n + 1)
        until(lambda: len(crowd.order) == 1)  # who has a slot has not yet asked the engine
        clients[1].close()
        until(lambda: gateway.metric("parlance_waiting") == 1)
        clients[0].close()
        until(lambda: len(crowd.order) == 2)
        checks.equal((gateway.metric("parlance_running"), gateway.metric("parlance_waiting")), (1, 0), "the third has the slot")
        crowd.go.set()
        clients[2].settimeout(20)
        answer = b""
        while b"[DONE]" not in answer and (piece := clients[2].recv(65536)):
            answer += piece
        checks.that(b"[DONE]" in answer, "the third is answered")
        clients[2].close()
        until(lambda: gateway.metric("parlance_running") == 0)


def waits_too_long(parlance: str, checks: Checks) -> None:
    options = ("--log", "errors", "--max-running", "1", "--first-byte", "2")
    with Engine(lambda asked: Reply("A long one.<|im_end|>", pause=0.4)) as engine, Gateway(parlance, engine.url, *options) as gateway:
        answers: list[Any] = []
        for thread in ask_each(gateway, 2, answers):
            thread.join()
        by_number = {number: (status, answer.get("error", {}).get("code")) for number, status, _, answer in answers}
        checks.equal(by_number, {0: (200, None), 1: (503, "engine_busy")}, "a long answer, and who waits for it")


def main() -> int:
    checks = Checks()
    if "no TOML" in subprocess.run([sys.argv[1], "serve", "--config", "/dev/null"], capture_output=True, text=True, timeout=60).stderr:
        print("skipped: this build reads no TOML")
        return 77
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(waits_too_long, sys.argv[1], checks)  # it waits, mostly
        folder = pathlib.Path(name)
        several_models(sys.argv[1], folder, checks)
        wrong_files(sys.argv[1], folder, checks)
        command_line_first(sys.argv[1], folder, checks)
        only_at_a_restart(sys.argv[1], folder, checks)
        each_option_of_the_server(sys.argv[1], folder, checks)
        reloads(sys.argv[1], folder, checks)
        files_that_change(sys.argv[1], folder, checks)
        one_after_the_other(sys.argv[1], checks)
        leaves_the_queue(sys.argv[1], checks)
        waits.result()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
