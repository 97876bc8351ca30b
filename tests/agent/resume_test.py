#!/usr/bin/env python3
"""Runs of `parlance agent` that are killed at random moments and resumed end with the same workspace as one that nobody disturbs.

    resume_test.py PARLANCE [--times N] [--seed N]

The task is a row of steps, none of which may be done twice. The model is a script without a memory: it sees in its prompt alone how far it
is, as a model would, and looks where the agent tells it that a command's end is not known. Every third resumed run is killed, too. Begin
reading at disturbed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Events, Run, end_if_none, events_of
from wire import FORMATS, Call, Speech, Wire

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from engine import Asked, Engine, Reply

USUAL = "terminal-agent"  # every second run; the others have one of the other formats
STEPS = 6
GOAL = f"Do the steps from 1 to {STEPS}, each once: append `begin N` and `end N` to log.txt."
WHOLE = "".join(f"begin {number}\nend {number}\n" for number in range(1, STEPS + 1))
UNKNOWN = "not known whether"
LOOK = "echo looked; cat log.txt 2>/dev/null; true"
PAUSE = 0.001  # seconds before each token, so that some moments are within a reply


def step(number: int) -> str:
    if number > STEPS:
        return LOOK
    return f"echo begin {number} >>log.txt; sleep 0.15; echo end {number} >>log.txt; echo done {number}"


def decide(speech: Speech, prompt: list[int]) -> str:
    """The next command; "": all is done, and was looked at."""
    try:
        seen = speech.last_result(prompt)
    except (IndexError, ValueError):
        return step(1)  # there is none
    if UNKNOWN in seen:
        return LOOK
    if found := re.search(r"done (\d+)", seen):
        return step(int(found[1]) + 1)
    lines = re.findall(r"(begin|end) (\d+)", seen)
    if not lines:
        return step(1)
    kind, number = lines[-1][0], int(lines[-1][1])
    if kind == "begin":  # it was cut off within
        return f"echo end {number} >>log.txt; echo done {number}"
    return step(number + 1) if number < STEPS else ""


class Model:
    """Answers each prompt; remembers what it has answered, for the checks alone."""

    def __init__(self, wire: Wire, speech: Speech) -> None:
        self.wire, self.speech = wire, speech
        self.sampled: list[list[int]] = []

    def reply(self, asked: Asked) -> Reply:
        command = decide(self.speech, asked.prompt)
        code = f"import subprocess\nsubprocess.run(['bash', '-c', {command!r}]).returncode"
        calls = [Call(command=command, code=code)] if command else []
        ids = self.speech.sampled(self.wire.pieces_of("" if command else "I have looked.", "" if command else "It is done.", calls))
        self.sampled.append(ids)
        return Reply(ids=ids, pause=PAUSE)


def open_command(transcript: pathlib.Path) -> bool:
    """Has a command begun whose end is not in the transcript?"""
    begun = False
    for line in transcript.read_text("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the kill cut it off
        if record.get("record") == "tool":
            begun = record["state"] == "begin"
    return begun


class Disturbed:
    """A run that is killed and resumed until it ends by itself."""

    def __init__(self, parlance: str, wire: Wire, folder: pathlib.Path, checks: Checks, name: str) -> None:
        self.checks, self.name = checks, name
        self.run = Run(parlance, wire, folder)
        self.model = Model(self.run.wire, self.run.speech)
        self.kills: list[str] = []

    def start(self, engine: Engine) -> subprocess.Popen[str]:
        transcripts = list(self.run.transcripts.glob("*.jsonl")) if self.run.transcripts.exists() else []
        if transcripts:
            command = [self.run.parlance, "agent", "--resume", str(transcripts[0]), "--json"]
        else:
            command = [*self.run.command(engine.url), "--", GOAL]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def kill(self, engine: Engine, after: float) -> bool:
        """Kills a run so many seconds after its first prompt. False: it has ended before."""
        known = len(engine.asked)
        process = self.start(engine)
        until = time.monotonic() + LONGEST
        while len(engine.asked) == known and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(after)
        early = process.poll() is not None
        process.kill()
        said, errors = process.communicate(timeout=LONGEST)
        if early:
            self.checks.equal(process.returncode, 0, f"{self.name}: a run that was to be killed ended: {said[-300:]} {errors[-600:]}")
            return False
        self.kills.append("command" if open_command(self.run.transcript()) else "reply")
        return True

    def resume(self, engine: Engine) -> Events:
        """The last run, which ends by itself."""
        known, was_open = len(engine.asked), bool(self.kills) and open_command(self.run.transcript())
        process = self.start(engine)
        said, errors = process.communicate(timeout=LONGEST)
        self.checks.equal(process.returncode, 0, f"{self.name}: exit code, {errors[-600:]}")
        first = engine.asked[known].prompt if len(engine.asked) > known else []
        if was_open:
            self.checks.that(first and UNKNOWN in self.run.speech.last_result(first), f"{self.name}: nobody tells of the open command")
        if self.kills and first:
            self.check_first(engine.asked, known)
        return events_of(said)

    def check_first(self, asked: list[Asked], at: int) -> None:
        """The first prompt behind a kill is the one that had no whole reply, or goes on behind the last whole one, id by id."""
        first, before = asked[at].prompt, asked[at - 1].prompt
        if self.run.wire.breaks == "always":
            return
        whole = before + self.model.sampled[at - 1]
        self.checks.that(first == before or first[: len(whole)] == whole, f"{self.name}: the prompt behind a kill has other ids")


def undisturbed(parlance: str, checks: Checks) -> float:
    """How long a run takes, from its first prompt to its end."""
    with tempfile.TemporaryDirectory(prefix="parlance-resume-", ignore_cleanup_errors=True) as folder:
        one = Disturbed(parlance, FORMATS[USUAL], pathlib.Path(folder), checks, "undisturbed")
        with Engine(one.model.reply) as engine:
            engine.vocabulary = one.run.speech.vocabulary
            one.resume(engine)
            seconds = time.monotonic() - engine.asked[0].begun
        checks.equal((one.run.workspace / "log.txt").read_text(), WHOLE, "undisturbed: the workspace")
    return seconds


def disturbed(parlance: str, wire: Wire, checks: Checks, moments: list[float]) -> list[str]:
    """Kills a run at each of the moments, and resumes it to its end. Says where the kills hit it."""
    name = f"{wire.name}, killed at {', '.join(f'{moment:.3f}' for moment in moments)} s"
    with tempfile.TemporaryDirectory(prefix="parlance-resume-", ignore_cleanup_errors=True) as folder:
        one = Disturbed(parlance, wire, pathlib.Path(folder), checks, name)
        with Engine(one.model.reply) as engine:
            engine.vocabulary = one.run.speech.vocabulary
            ended = not all(one.kill(engine, moment) for moment in moments)
            events = Events([]) if ended else one.resume(engine)
        checks.equal((one.run.workspace / "log.txt").read_text(), WHOLE, f"{name}: the workspace")
        breaks = [event["prefix_break"] for event in events.of("replied") if event["prefix_break"]]
        checks.that(wire.breaks == "always" or not breaks, f"{name}: {breaks}")
        checks.equal([event["turn"] for event in events.of("replied") if event["malformed"]], [], f"{name}: malformed replies")
        one.run.check_replay(checks, name)
        return one.kills


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    end_if_none(options.parlance)
    checks, chance = Checks(), random.Random(options.seed)
    seconds = undisturbed(options.parlance, checks)
    print(f"seed {options.seed}; a run takes {seconds:.2f} s", flush=True)
    runs: list[tuple[Wire, list[float]]] = []
    others = [wire for name, wire in FORMATS.items() if name != USUAL]
    for number in range(options.times):
        moments = [chance.uniform(0, seconds * 0.95)]
        if number % 3 == 2:  # the resumed run has less to do
            moments = [moments[0] / 2, chance.uniform(0, seconds / 4)]
        wire = FORMATS[USUAL] if number % 2 == 0 else others[number // 2 % len(others)]
        runs.append((wire, moments))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        kills = list(pool.map(lambda one: disturbed(options.parlance, one[0], checks, one[1]), runs))
    hit = [one for of_run in kills for one in of_run]
    checks.that(len(hit) >= options.times * 2 // 3, f"too few of the runs were killed before their end: {len(hit)}")
    print(f"killed {len(hit)} times: {hit.count('command')} within a command, {hit.count('reply')} elsewhere")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
