"""Starts `parlance serve` for a test, and ends it."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

from engine import TOKENIZER

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import SKIPPED as SKIPPED
from checks import Checks as Checks


class Gateway:
    """`parlance serve` on a free port of the loopback, in front of an engine."""

    def __init__(
        self,
        parlance: str,
        engine: str,
        *options: str,
        template: tuple[str, ...] = ("-f", "terminal-agent"),
        tokenizer: str = str(TOKENIZER),
        model: str = "mine",
        port: int = 0,
        prefix: tuple[str, ...] = (),
        config: str = "",  # a file that names the models
    ) -> None:
        of_model = ["--config", config] if config else [*template, "--tokenizer", tokenizer, "--model-name", model]
        command = [*prefix, parlance, "serve", *of_model, "--port", str(port)]
        if engine:
            command += ["--backend", f"llama-server={engine}"]
        self.log: list[str] = []
        # Most tests read the log at the end alone: until then it has to have room, or the gateway waits to write its next line.
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pipesize": 1 << 20}
        self.process = subprocess.Popen([*command, *options], text=True, **pipes)  # type: ignore[call-overload]
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            assert self.process.stderr is not None
            sys.exit("parlance serve did not start: " + self.process.stderr.read())

    def end(self, by: signal.Signals = signal.SIGTERM) -> list[dict[str, Any]]:
        """Ends it, and gives the lines of its log."""
        self.process.send_signal(by)
        _, errors = self.process.communicate(timeout=40)
        if by == signal.SIGTERM and self.process.returncode != 0:  # a sanitizer's finding too
            raise AssertionError(f"parlance serve ended with {self.process.returncode}: {errors[-3000:]}")
        return [json.loads(line) for line in errors.splitlines() if line.startswith("{")]

    def logged(self, *events: str) -> dict[str, Any]:
        """Waits for the next line of the log that is one of these events. What was read to get there, end() does not give again."""
        assert self.process.stderr is not None
        while line := self.process.stderr.readline():
            if line.startswith("{") and (said := json.loads(line))["event"] in events:
                return dict(said)
        raise AssertionError("the gateway has ended")

    def reload(self) -> dict[str, Any]:
        """SIGHUP; the line of the log that says how it went."""
        self.process.send_signal(signal.SIGHUP)
        return self.logged("reloaded", "reload_failed")

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], Any]:
        """Status, headers and JSON of an answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, dict(answer.headers), json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), json.loads(error.read())

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = [line for line in self.get("/metrics")[1].splitlines() if line.split("{")[0].split(" ")[0] == name]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
