#!/usr/bin/env python3
"""Tasks in the shape of Terminal-Bench, each with an instruction, a script that prepares a workspace and a verifier, by `parlance agent`.

    tasks_test.py PARLANCE [--formats NAME...] [--tasks NAME...] [--share N] [--workers N] [--sandbox KIND]

The model is a script (tasks/README.md) that answers in the wire form of each of the five founding formats, so that the loop, the sandbox,
the reader and the transcript are the real ones. The first format runs all tasks, the others one in N, each its own. Ends with 77 where the
sandbox cannot be had. Begin reading at attempt.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Events, Run, end_if_none, environment
from policy import Policy, steps_of, task_of
from wire import FORMATS

TASKS = pathlib.Path(__file__).parent / "tasks"
COUNT = 40


def script(path: pathlib.Path, workspace: pathlib.Path, home: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", str(path)], cwd=workspace, env=environment(home), capture_output=True, text=True, timeout=LONGEST)


@dataclasses.dataclass
class Figures:
    """Of the runs in a format."""

    seconds: list[float] = dataclasses.field(default_factory=list)
    turns: int = 0
    prompts: int = 0  # tokens
    evaluated: int = 0
    breaks: int = 0

    def add(self, seconds: float, events: Events) -> None:
        replied = events.of("replied")
        self.seconds.append(seconds)
        self.turns += len(replied)
        self.prompts += sum(one["prompt_tokens"] for one in replied)
        self.evaluated += sum(one["evaluated_tokens"] for one in replied)
        self.breaks += sum(one["prefix_break"] is not None for one in replied)

    def __str__(self) -> str:
        times = f"{len(self.seconds)} tasks, {sum(self.seconds) / len(self.seconds):.1f} s each, {max(self.seconds):.1f} s at most"
        return f"{times}; {self.turns} turns, {self.prompts} tokens of prompts, {self.evaluated} evaluated, {self.breaks} prefix breaks"


def attempt(parlance: str, task: pathlib.Path, wire_name: str, sandbox: str, checks: Checks) -> tuple[float, Events]:
    """A task in a format; returns its seconds, and what the agent printed."""
    name, begin = f"{task.name} in {wire_name}", time.monotonic()
    wire = FORMATS[wire_name]
    with tempfile.TemporaryDirectory(prefix="parlance-task-", ignore_cleanup_errors=True) as folder:
        run = Run(parlance, wire, pathlib.Path(folder))
        home = pathlib.Path(folder) / "home"
        home.mkdir()
        prepared = script(task / "setup.sh", run.workspace, home)
        if not checks.equal(prepared.returncode, 0, f"{name}: setup.sh: {prepared.stderr}"):
            return 0, Events([])
        checks.that(script(task / "verify.sh", run.workspace, home).returncode != 0, f"{name}: verify.sh passes before anything is done")
        facts = task_of(task)
        policy = Policy(steps_of(task / "policy.toml"), run.speech)
        options = [] if not wire.interpreter or "timeout" not in facts else ["--timeout", str(facts["timeout"])]
        run.go(facts["instruction"], policy, "--sandbox", sandbox, "--max-turns", str(facts.get("turns", 30)), *options)
        if facts.get("needs") == "loopback" and "sandbox: landlock, no network" in run.events.of("begin")[0]["facts"]:
            print(f"skipped: {name}: this sandbox has no loopback", flush=True)
            return time.monotonic() - begin, run.events
        run.check(policy, checks, name)
        verified = script(task / "verify.sh", run.workspace, home)
        said = (verified.stdout + verified.stderr)[-600:]
        checks.equal(verified.returncode, 0, f"{name}: verify.sh: {said}")
    return time.monotonic() - begin, run.events


def chosen(options: argparse.Namespace) -> list[tuple[pathlib.Path, str]]:
    tasks = sorted(path.parent for path in TASKS.glob("*/task.toml"))
    if options.tasks:
        tasks = [task for task in tasks if task.name in options.tasks]
    pairs = []
    for place, name in enumerate(options.formats):
        share = 1 if name == next(iter(FORMATS)) or options.tasks else options.share
        pairs += [(task, name) for number, task in enumerate(tasks) if (number + place) % share == 0]
    return pairs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    end_if_none(options.parlance)
    pairs = chosen(options)
    checks = Checks()
    if not options.tasks:
        checks.equal(len({task for task, _ in pairs}), COUNT, "tasks")
    figures: dict[str, Figures] = {}
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        running = {pool.submit(attempt, options.parlance, task, name, options.sandbox, checks): (task, name) for task, name in pairs}
        for done in concurrent.futures.as_completed(running):
            task, name = running[done]
            if error := done.exception():
                checks.that(False, f"{task.name} in {name}: {type(error).__name__}: {error}")
            else:
                figures.setdefault(name, Figures()).add(*done.result())
                if options.tasks:
                    print(f"{task.name} in {name}: {done.result()[0]:.1f} s", flush=True)
    for name, figure in sorted(figures.items()):
        print(f"{name}: {figure}")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
