"""A gateway whose log goes to a file, and whose memory and descriptors are watched: for tests that send it very much."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any

from engine import TOKENIZER


class WatchedGateway:
    def __init__(self, parlance: str, log: pathlib.Path, *options: str, model: tuple[str, ...] = ()) -> None:
        self.log = log
        served = model or ("-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--model-name", "m")
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [parlance, "serve", *served, "--port", "0", *options], stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            sys.exit("parlance serve did not start: " + log.read_text())
        host, port = self.url.removeprefix("http://").split(":")
        self.address = (host, int(port))

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = [line for line in self.get("/metrics").splitlines() if line.split("{")[0].split(" ")[0] == name]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)

    def connections(self) -> float:
        """How many are open, with that which asks; waits until no other is."""
        until = time.monotonic() + 20
        while (count := self.metric("parlance_connections")) > 1 and time.monotonic() < until:
            time.sleep(0.1)
        return count

    def megabytes(self) -> float:
        """Its resident memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def descriptors(self) -> int:
        """Those that are open, without the files of a capture, of which it keeps some hundred open."""
        count = 0
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                count += not os.readlink(f"/proc/{self.process.pid}/fd/{number}").endswith(".jsonl")
        return count

    def events(self) -> list[dict[str, Any]]:
        """The lines of its log so far."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]

    def end(self) -> None:
        """By SIGTERM; fails unless it ends with 0, which a sanitizer's finding prevents."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        if code != 0:
            raise AssertionError(f"parlance serve ended with {code}: {self.log.read_text(errors='replace')[-3000:]}")

    def __enter__(self) -> WatchedGateway:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
