#!/usr/bin/env python3
"""When a run of `parlance agent` may end: what changes by itself is no command's change, and what a command changed has to be verified.

    verification_test.py PARLANCE

Ends with 77 where the sandbox cannot be had. Begin reading at MOVING.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Run, end_if_none, events_of
from engine import Asked, Reply
from stranger_test import WIRE, Script, with_engine
from wire import Call


@dataclasses.dataclass
class Moving:
    """Commands, and what must come out: the exit code, and how many ends are sent back. It writes long before its end, or `turn`."""

    name: str
    commands: list[str]
    code: int
    sent_back: int
    pause: float = 0
    writable: bool = False
    turn: int | None = None


ROTATING = "(n=0; while :; do n=$((n+1)); date +%N > log.$n; [ $n -lt 5 ] || rm log.$((n-4)); sleep 0.05; done) & echo started"
RANDOM = "(while :; do date > $(printf 'run-%08x-%06d.tmp' $((RANDOM * RANDOM)) $RANDOM); sleep 0.05; done) & echo started"
DATED = "(while :; do date > $(date +%Y-%m-%dT%H-%M-%S.%N.log); sleep 0.05; done) & echo started"
WRITER = "(while :; do date +%N >> log; echo $RANDOM > state; sleep 0.05; done) & echo started"
CHECK = "test -s a && date +%N > report"
ASK = "sleep 0.3; echo x > $TMPDIR/p; sleep 0.2; test -s log"
BUILT = "(sleep 0.2; echo built > out) & echo started"
DEEP = "for n in $(seq 300); do mkdir d; cd d; done"
MOVING = (
    Moving("a log of a server", [WRITER, "sleep 0.3; test -s log", "sleep 0.3; head -1 log"], 0, 0),
    Moving("a log, while the model writes long", [WRITER, "sleep 0.3; test -s log"], 0, 0, 1.5),
    Moving("a change beside a log", [WRITER, "sleep 0.3; echo x > made"], 1, 3),
    Moving("a change beside a log, verified", [WRITER, "sleep 0.3; echo x > made", "sleep 0.3; test -s made"], 0, 0),
    Moving("new logs, each with a number", [ROTATING, "sleep 0.3; test -s log.3", "sleep 0.3; ls"], 0, 0),
    Moving("new logs, while the model writes long", [ROTATING, "sleep 0.3; ls"], 0, 0, 1.5),
    Moving("new files with random names", [RANDOM, "sleep 0.3; ls", "sleep 0.3; ls"], 0, 0),
    Moving("new files with times as names", [DATED, "sleep 0.3; ls", "sleep 0.3; ls"], 0, 0),
    Moving("a new file beside new logs", [ROTATING, "sleep 0.3; echo x > part.1"], 1, 3),
    Moving("a file removed beside new logs", ["touch part.1", ROTATING, "sleep 0.3; ls", "sleep 0.3; rm part.1"], 1, 3),
    Moving("a new file of a deeper folder", ["mkdir d", ROTATING, "sleep 0.3; echo x > d/log.1"], 1, 3),
    Moving("a numbered file beside a log", ["touch part1; " + WRITER, "sleep 0.3; echo x > part2"], 1, 3),
    Moving("removed behind the verification", ["touch a; (sleep 0.6; rm a) &", "test -e a"], 1, 3, 2),
    Moving("changed in the background, and then a failure", ["(sleep 0.3; echo x > a) &", "sleep 0.1", "sleep 0.6", "false"], 1, 3),
    Moving("a change of the workspace", ["echo x > a"], 1, 3),
    Moving("a check that writes", ["echo x > a", CHECK], 1, 3),
    Moving("a check that writes, twice", ["echo x > a", CHECK, CHECK], 0, 0),
    Moving("files by a number, twice", ["n=$(ls m* 2> /dev/null | wc -l); echo x > m$((n + 1))"] * 2, 1, 3),
    Moving("and another between", ["echo x > a", CHECK, "test -s a", CHECK], 0, 0),
    Moving("and another that writes between", ["echo x > a", CHECK, "echo y > a", CHECK], 1, 3),
    Moving("that writes other files", ["n=1", *["n=$n-b; date +%N > report$n"] * 2], 1, 3),
    Moving("that fails first", ["echo x > a", *["date +%N > r; test -e done || ! touch done"] * 2], 1, 3),
    Moving(
        "a job that logs what a check does", ["mkfifo $TMPDIR/p; (while read l < $TMPDIR/p; do date +%N >> log; done) &", *[ASK] * 2], 0, 0
    ),
    Moving("what a job has written, changed behind its end", [BUILT, "sed -i s/built/broken/ out"], 1, 3, 1.5, turn=1),
    Moving("the same, removed", [BUILT, "rm out"], 1, 3, 1.5, turn=1),
    Moving("a server of its own, stopped", [WRITER, "sleep 0.3; test -s log", "sleep 0.2; kill %1; wait"], 0, 0),
    Moving("a command without a word", ["echo x > a", ""], 1, 3),
    Moving("a comment", ["echo x > a", " \\\n# verified\n\t# twice\n"], 1, 3),
    Moving("a command that does nothing", ["echo x > a", ":"], 0, 0),
    Moving("a comment, and a here-document", ["echo x > a", "# verified\ncat << E\n# no comment\nE"], 0, 0),
    Moving("git's index alone", ["git init -q; echo x > a; git add a", "git status", "git rm -q --cached a"], 0, 0),
    Moving("an end of the shell", ["echo x > a", "cat a; exit 0"], 0, 0),
    Moving("an end with a status", ["echo x > a", "cat a; exit 1"], 1, 3),
    Moving("a deep folder", ["p=$(printf 'd/%.0s' $(seq 100)); mkdir -p $p", "ls", "echo b > $p/f"], 1, 3),
    Moving("a folder too deep to look at", [DEEP, "ls", "cd $PWD; echo b > f"], 1, 3),
    Moving("the same, and a check twice", [DEEP, "ls", "ls"], 0, 0),
    Moving("a change of another folder", ["echo x > $W/f"], 1, 3, writable=True),
    Moving("that, and a failure", ["echo x > $W/f; exit 3"], 1, 3, writable=True),
    Moving("that, verified", ["echo x > $W/f", "test -s $W/f"], 0, 0, writable=True),
    Moving("removed there", ["echo x > $W/f", "test -s $W/f", "rm $W/f"], 1, 3, writable=True),
)


def check_moving(checks: Checks, run: Run, moving: Moving) -> None:
    other = run.folder / "other"
    other.mkdir()
    script = Script(run, *(command.replace("$W", str(other)) for command in moving.commands))

    def reply(asked: Asked) -> Reply:
        if script.at == (len(moving.commands) if moving.turn is None else moving.turn):
            time.sleep(moving.pause)
        return script(asked)

    with with_engine(run, reply) as engine:
        options = ["--writable", str(other)] if moving.writable else []
        command = [*run.command(engine.url, *options), "--", "Do it."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    run.events = events_of(done.stdout)
    outcomes = [(one["succeeded"], one["changed"]) for one in run.events.of("outcome")]
    refused = len(run.events.of("refused"))
    checks.equal((done.returncode, refused), (moving.code, moving.sent_back), f"{moving.name}: {outcomes} {done.stderr[-300:]}")
    run.check_replay(checks, moving.name)


def check_changed_behind(checks: Checks, run: Run, verifies: bool) -> None:
    """A file is new before each end: these are sent back twice where the model verifies each time, and thrice where it never does."""
    turns = [True, False] * 3 if verifies else [True] + [False] * 4  # whether it runs a command
    pieces = {runs: run.wire.pieces_of("", "" if runs else "It is done.", [Call(command="true")] * runs) for runs in (True, False)}
    taken: list[bool] = []

    def reply(_: Asked) -> Reply:
        taken.append(turns[len(taken)])
        if not taken[-1] and taken[-2]:
            (run.workspace / ("new-" + "abcdefg"[len(taken)])).write_text("x")
        return Reply(ids=run.speech.sampled(pieces[taken[-1]]))

    with with_engine(run, reply) as engine:
        command = [*run.command(engine.url), "--", "Do it."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    refused = len(events_of(done.stdout).of("refused"))
    checks.equal((done.returncode, refused), (0, 2) if verifies else (1, 3), f"changed behind, verified {verifies}: {done.stderr[-300:]}")


def main() -> int:
    parlance = sys.argv[1]
    end_if_none(parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-verification-", ignore_cleanup_errors=True) as folder:
        runs = [Run(parlance, WIRE, pathlib.Path(folder) / str(number)) for number in range(len(MOVING))]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:  # much of it is waiting
            for done in [pool.submit(check_moving, checks, *one) for one in zip(runs, MOVING, strict=True)]:
                done.result()
        for verifies in (True, False):
            check_changed_behind(checks, Run(parlance, WIRE, pathlib.Path(folder) / f"behind-{verifies}"), verifies)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
