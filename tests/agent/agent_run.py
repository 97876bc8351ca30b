"""Runs `parlance agent` with a scripted model, and checks what must hold of any run. Begin reading at Run.

A run has a workspace, a transcript, the prompts that the engine got and the events that the agent printed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from checks import SKIPPED as SKIPPED
from checks import Checks as Checks
from engine import TOKENIZER, Asked, Engine
from policy import Policy
from wire import Speech, Wire, write_tokenizer

LONGEST = 120  # seconds of a run


def environment(home: pathlib.Path) -> dict[str, str]:
    """For what a task prepares and verifies: no settings of the user's."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    people = {
        f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Setup"), ("EMAIL", "s@example.org"))
    }
    return {**kept, **git, **people, "HOME": str(home), "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": os.devnull}


@dataclasses.dataclass
class Events:
    """What `--json` printed."""

    all: list[dict[str, Any]]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.all if event["event"] == kind]


def events_of(text: str) -> Events:
    return Events([json.loads(line) for line in text.split("\n") if line.startswith("{")])


class Run:
    """One run of the agent in a folder of its own."""

    def __init__(self, parlance: str, wire: Wire, folder: pathlib.Path) -> None:
        self.parlance, self.wire, self.folder = parlance, wire, folder
        self.workspace, self.transcripts = folder / "workspace", folder / "transcript"
        self.workspace.mkdir(parents=True)
        self.tokenizer = write_tokenizer(wire, folder / "tokenizer")
        self.speech = Speech(wire, self.tokenizer)
        self.code = -1
        self.errors = ""
        self.events = Events([])
        self.asked: list[Asked] = []

    def command(self, url: str, *options: str) -> list[str]:
        return [self.parlance, "agent", "-f", self.wire.name, "--tokenizer", str(self.tokenizer), "--backend", f"llama-server={url}",
                "--workspace", str(self.workspace), "--transcript", str(self.transcripts), "--json", *options]  # fmt: skip

    def go(self, goal: str, policy: Policy, *options: str) -> None:
        with Engine(policy.reply) as engine:
            engine.vocabulary = self.speech.vocabulary
            done = subprocess.run([*self.command(engine.url, *options), "--", goal], capture_output=True, text=True, timeout=LONGEST,
                                  stdin=subprocess.DEVNULL)  # fmt: skip
            self.asked = [one for one in engine.asked if one.path == "/completion"]
        self.code, self.errors, self.events = done.returncode, done.stderr, events_of(done.stdout)

    def transcript(self) -> pathlib.Path:
        return next(self.transcripts.glob("*.jsonl"))

    def check(self, policy: Policy, checks: Checks, name: str) -> None:
        """What must hold of any run that reached its goal."""
        ends = self.events.of("end")
        if not checks.that(self.code == 0 and ends, f"{name}: exit code {self.code}, {ends} {self.errors[-1000:]}"):
            checks.that(not policy.fault, f"{name}: {policy.fault}")
            return
        checks.equal(policy.done(), "", name)
        checks.equal([one["turn"] for one in self.events.of("replied") if one["malformed"]], [], f"{name}: turns with malformed parts")
        checks.equal(self.events.of("unreadable"), [], f"{name}: unreadable replies")
        checks.equal(len(self.events.of("replied")), len(self.asked), f"{name}: turns, and prompts at the engine")
        for turn in range(len(self.asked)):
            self._check_prompt(turn, policy, checks, f"{name}, turn {turn + 1}")
        self._check_results(policy, checks, name)
        self.check_replay(checks, name)

    def _check_prompt(self, turn: int, policy: Policy, checks: Checks, name: str) -> None:
        """Its control tokens are those that the template writes, and it goes on where the turn before ended."""
        prompt = self.asked[turn].prompt
        checks.equal(self.speech.turn_tokens(prompt), policy.expected[turn], f"{name}: tokens of turns")
        if self.wire.marks:
            ids = self.speech.ids
            results = sum(one.count for one in policy.history[: 1 + 2 * turn] if one.role == "result")
            counts = [prompt.count(ids[mark]) for mark in self.wire.marks[:4]]
            calls = self.wire.mentions + policy.calls[turn]
            checks.equal(counts, [calls, calls, results, results], f"{name}: marks of calls and results")
        replied = self.events.of("replied")[turn]
        checks.equal(replied["prompt_tokens"], len(prompt), f"{name}: tokens of the prompt")
        if turn == 0:
            checks.equal(replied["prefix_break"], None, f"{name}: prefix break")
            return
        known = self.asked[turn - 1].prompt + policy.sampled[turn - 1]
        is_question = policy.history[2 * turn].role == "user"
        may_break = self.wire.breaks == "always" or (self.wire.breaks == "question" and is_question)
        broken = replied["prefix_break"]
        checks.that(broken is None or may_break, f"{name}: {broken}")
        if broken is None:
            checks.that(prompt[: len(known)] == known, f"{name}: it does not begin with the turn before, and nobody says so")
            shared = len(known) - 1  # the last token that was sampled was not evaluated in its turn
        else:
            shared = next((at for at, pair in enumerate(zip(prompt, known[:-1], strict=False)) if pair[0] != pair[1]), len(known) - 1)
        checks.equal(replied["evaluated_tokens"], len(prompt) - shared, f"{name}: evaluated tokens")

    def _check_results(self, policy: Policy, checks: Checks, name: str) -> None:
        """What the agent says of a tool's run is what the model reads, letter by letter."""
        told: dict[int, str] = {one["turn"]: one.get("text", "") for one in self.events.of("outcome")}  # the last of a turn
        for turn, text in told.items():
            checks.equal(policy.observed[turn], text, f"{name}, turn {turn}: the result in the next prompt")

    def check_replay(self, checks: Checks, name: str) -> None:
        done = subprocess.run([self.parlance, "replay", str(self.transcript())], capture_output=True, text=True, timeout=LONGEST)
        said = (done.stdout + done.stderr).strip()
        checks.that(done.returncode == 0 and ", 0 records differ" in said, f"{name}: replay ends with {done.returncode}: {said[-600:]}")


def end_if_none(parlance: str) -> None:
    """Ends the test where no agent can run, and says why."""
    if why := reason_to_skip(parlance):
        print("skipped:", why)
        sys.exit(SKIPPED)


def reason_to_skip(parlance: str) -> str:
    """Why no agent can run here; "": one can."""
    helped = subprocess.run([parlance, "agent", "--help"], capture_output=True, text=True)
    if helped.returncode != 0 or "--workspace" not in helped.stdout:
        return "this build has no agent"
    with tempfile.TemporaryDirectory() as folder:
        # The sandbox is opened before the engine, which is none.
        command = [parlance, "agent", "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--backend", "llama-server=http://127.0.0.1:9",
                   "--workspace", folder, "--no-transcript", "nothing"]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL).stderr
    return said.strip() if "no sandbox works here" in said else ""
