#!/usr/bin/env python3
"""What an operator relies on: /ready that says the truth in time, disks that get room again, a log that nobody reads, clients of their own.

    readiness_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any

from engine import TOKENIZER, Engine, Reply
from gateway import Checks, Gateway

CHAT = "/v1/chat/completions"
USER: Any = [{"role": "user", "content": "Hi"}]


def hung_engine(parlance: str, engine: Engine, checks: Checks) -> None:
    """An engine that takes connections and says nothing: /ready says so in a few seconds."""
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, Gateway(parlance, f"http://127.0.0.1:{silent.getsockname()[1]}") as gateway:
        status, said = gateway.get("/ready")
        checks.that(status == 503 and "has not answered in 2 s" in said, f"/ready: {status} {said}")
        checks.equal(gateway.get("/health")[0], 200, "/health")


def one_look_for_all(parlance: str, engine: Engine, checks: Checks) -> None:
    """Who asks for /ready shares one look at the engine, also with a client that left; what it found holds for two seconds."""
    silent = socket.create_server(("127.0.0.1", 0), backlog=100)
    with silent, Gateway(parlance, f"http://127.0.0.1:{silent.getsockname()[1]}") as gateway:
        silent.settimeout(10)
        at_the_start = silent.accept()
        port = int(gateway.url.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as leaves:
            leaves.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            looks = [silent.accept()]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(gateway.get, ["/ready"] * 8))
        answers += [gateway.get("/ready") for _ in range(8)]
        checks.that(all(status == 503 and "has not answered in 2 s" in said for status, said in answers), f"/ready of all: {answers}")
        silent.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            while True:
                looks.append(silent.accept())
        checks.equal(len(looks), 1, "looks at an engine for who asked at the same time, and just behind")
        time.sleep(2.1)
        gateway.get("/ready")
        with contextlib.suppress(TimeoutError):
            looks.append(silent.accept())
        checks.equal(len(looks), 2, "looks two seconds later")
        for connection, _ in (at_the_start, *looks):
            connection.close()


def full_disk(parlance: str, engine: Engine, checks: Checks) -> None:
    """A capture that cannot be written: /ready says so. What is removed gives its room back."""
    if os.getuid() != 0:
        print("a full disk: skipped, a file system needs root")
        return
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True).returncode != 0:
            print("a full disk: skipped, no file system can be mounted here")
            return
        try:
            with Gateway(parlance, engine.url, "--capture", folder) as gateway:
                answered = 0
                for number in range(60):
                    if gateway.post(CHAT, {"messages": USER}, {"x-session-id": f"s{number}"})[0] != 200:
                        break
                    answered += 1
                checks.that(2 < answered < 60, f"turns until the disk is full: {answered}")
                status, said = gateway.get("/ready")
                checks.that(status == 503 and "capture: " in said, f"/ready: {status} {said}")
                for file in pathlib.Path(folder).glob("*.jsonl"):
                    file.unlink()
                status, _, answer = gateway.post(CHAT, {"messages": USER}, {"x-session-id": "new"})
                checks.equal(status, 200, f"a turn, once there is room again: {answer}")
                checks.equal(gateway.get("/ready")[0], 200, "/ready then")
                held = [os.readlink(one) for one in pathlib.Path(f"/proc/{gateway.process.pid}/fd").iterdir() if one.is_symlink()]
                checks.that(not any("(deleted)" in one and folder in one for one in held), f"files that were removed are closed: {held}")
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


def small_pipe(gateway: Gateway) -> None:
    assert gateway.process.stderr is not None
    fcntl.fcntl(gateway.process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 8192)


def unread_log(parlance: str, engine: Engine, checks: Checks) -> None:
    """Nobody reads the log: requests are answered, signals are heard, and the lines that were left out are counted."""
    with Gateway(parlance, engine.url, "--log", "requests") as gateway:
        small_pipe(gateway)
        for _ in range(500):
            status, _ = gateway.get("/health")
            if status != 200:
                break
        checks.equal(status, 200, "requests while nobody reads the log")
        assert gateway.process.stderr is not None
        first = gateway.process.stderr.readline()
        checks.that(json.loads(first)["event"] == "listening", f"the first line: {first}")
        gateway.get("/health")
        lost = [line for line in gateway.end() if line["event"] == "log_lines_lost"]
        checks.that(len(lost) == 1 and lost[0]["lines"] > 100, f"lines that were left out: {lost}")
    with Gateway(parlance, engine.url, "--log", "requests") as gateway:
        small_pipe(gateway)
        for _ in range(500):
            gateway.get("/health")
        gateway.process.send_signal(signal.SIGTERM)
        try:
            checks.equal(gateway.process.wait(10), 0, "SIGTERM while nobody reads the log")
        finally:
            gateway.process.kill()


def unread_terminal(parlance: str, engine: Engine, checks: Checks) -> None:
    """The same with a terminal: requests are answered, and SIGTERM is heard."""
    keyboard, terminal = os.openpty()
    command = [parlance, "serve", "-f", "chatml", "--tokenizer", str(TOKENIZER), "--port", "0", "--log", "requests"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        for _ in range(400):
            with urllib.request.urlopen(url + "/health", timeout=10) as answer:
                answered = answer.status
        checks.equal(answered, 200, "requests while nobody reads the terminal")
        process.send_signal(signal.SIGTERM)
        checks.equal(process.wait(10), 0, "SIGTERM then")
    finally:
        process.kill()
        os.close(keyboard)


def ask(gateway: Gateway, key: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(gateway.url + path, None if body is None else json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def others_stay(parlance: str, engine: Engine, checks: Checks) -> None:
    """A client that keeps very much gives up its own, and nobody else's."""
    with tempfile.TemporaryDirectory() as folder:
        keys = pathlib.Path(folder) / "keys"
        keys.write_bytes(b"\xef\xbb\xbfalice\r\nbob\n")  # as an editor may leave it
        with Gateway(parlance, engine.url, "--api-key-file", str(keys)) as gateway:
            kept = ask(gateway, "alice", "POST", "/v1/conversations", {"items": USER})[1]["id"]
            answered = ask(gateway, "alice", "POST", "/v1/responses", {"model": "mine", "input": "Hi"})[1]["id"]
            many = [ask(gateway, "bob", "POST", "/v1/conversations", {})[1]["id"] for _ in range(1030)]
            large = {"items": [{"role": "user", "content": "x" * (14 << 20)}]}
            for _ in range(6):
                checks.equal(ask(gateway, "bob", "POST", "/v1/conversations", large)[0], 200, "a large conversation")
            for path in (f"/v1/conversations/{kept}", f"/v1/responses/{answered}"):
                checks.equal(ask(gateway, "alice", "GET", path)[0], 200, f"{path} is still there")
            checks.equal(ask(gateway, "bob", "GET", f"/v1/conversations/{many[0]}")[0], 404, "the oldest of who has most is not")


def told_at_the_start(parlance: str, engine: Engine, checks: Checks) -> None:
    """What is not safe, or will not be enough, is said when the gateway starts."""
    with Gateway(parlance, engine.url, "--host", "0.0.0.0") as gateway:
        events = [line["event"] for line in gateway.end()]
        checks.that("no_keys" in events and "few_descriptors" not in events, f"an address that others reach, without keys: {events}")
    with tempfile.TemporaryDirectory() as folder:
        keys = pathlib.Path(folder) / "keys"
        keys.write_text("secret\n")
        with Gateway(parlance, engine.url, "--host", "0.0.0.0", "--api-key-file", str(keys)) as gateway:
            events = [line["event"] for line in gateway.end()]
            checks.that("no_keys" not in events, f"with keys: {events}")
    command = [parlance, "serve", "-f", "chatml", "--tokenizer", str(TOKENIZER), "--backend", "llama-server=http://me:secret@127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    checks.that(
        done.returncode != 0 and "no password" in done.stderr and "secret" not in done.stderr, f"a password in a URL: {done.stderr}"
    )
    with Gateway(parlance, engine.url, prefix=("prlimit", "--nofile=1000:1000")) as gateway:
        events = [line["event"] for line in gateway.end()]
        checks.that("few_descriptors" in events, f"few file descriptors: {events}")


def few_threads(parlance: str, engine: Engine, checks: Checks) -> None:
    """A gateway whose user may not have the threads it wants answers with those that it has, or says that it cannot."""
    if os.getuid() != 0:
        return
    codes = []
    for most in range(1, 9):
        user = 43260 + most  # of its own: others' threads count too
        command = ["prlimit", f"--nproc={most}", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        command += [parlance, "serve", "-f", "chatml", "--tokenizer", str(TOKENIZER), "--backend", f"llama-server={engine.url}"]
        command += ["--port", "0", "--threads", "2"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            url = server.stdout.readline().strip()
            answered = False
            with contextlib.suppress(OSError):
                answered = bool(url) and urllib.request.urlopen(f"{url}/health", timeout=20).status == 200
            if answered:
                server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=20)
        codes.append(server.returncode)
        refused = server.returncode == 2 and "ulimit -u" in errors
        checks.that(refused or (answered and server.returncode == 0), f"{most} threads: {server.returncode} {answered} {errors}")
    checks.equal((codes[0], codes[-1]), (2, 0), f"one thread is too few, eight are enough: {codes}")


def main() -> int:
    checks = Checks()
    with Engine(lambda asked: Reply("Yes.<|im_end|>")) as engine:
        for part in (hung_engine, one_look_for_all, full_disk, unread_log, unread_terminal, others_stay, told_at_the_start, few_threads):
            part(sys.argv[1], engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
