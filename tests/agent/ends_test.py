#!/usr/bin/env python3
"""How the end of a run of `parlance agent` is told: in the transcript, on its page, in its events and by its exit code.

    ends_test.py PARLANCE

Ends with 77 where the sandbox cannot be had. Begin reading at main.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Run, end_if_none, events_of
from engine import Asked, Reply
from limits_test import end_of, refused, resuming
from stranger_test import WIRE, Script, go, with_engine
from wire import FORMATS, Call, Control, Pieces, Wire

OPEN = "its end is not recorded"
UNKNOWN_END = "How the run ended is not recorded"
CANNOT_READ = "waits for the result of a call"


def records(run: Run, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in run.transcript().read_text("utf-8").splitlines()]
    return [one for one in lines if one["record"] == kind]


def page_of(run: Run) -> str:
    return end_of([run.parlance, "agent", "--html", str(run.transcripts)]).stdout


def check_recorded(checks: Checks, new: Callable[[], Run]) -> None:
    """Each end is in the transcript once, on the page, and in the events, in the same words."""
    for name, commands, options, code in (
        ("done", ["true"], (), 0),
        ("gave_up", ["touch a"], (), 1),
        ("turns", ["true"], ("--max-turns", "1"), 4),
        ("repeats", ["true"] * 9, (), 4),
        ("done", ["touch a"], ("--no-verify",), 0),
    ):
        run = new()
        go(run, *commands, options=options)
        ends = records(run, "end")
        told = run.events.of("end")[0]
        checks.equal((run.code, [one["reason"] for one in ends], told["reason"]), (code, [name], name), f"{name}: the record")
        for member in ("sentence", "turns", "sampled_tokens"):
            checks.equal(ends[0][member], told[member], f"{name}: {member}")
        page = page_of(run)
        checks.that(told["sentence"] in page and UNKNOWN_END not in page and OPEN not in page, f"{name}: its page")
        run.check_replay(checks, name)
        check_without_end(checks, run, name)
        check_resumed(checks, run, name, told["sentence"])


def check_without_end(checks: Checks, run: Run, name: str) -> None:
    """A transcript of a version that wrote no end."""
    whole = run.transcript().read_text("utf-8")
    kept = [line for line in whole.splitlines(keepends=True) if json.loads(line)["record"] != "end"]
    run.transcript().write_text("".join(kept), "utf-8")
    checks.that(UNKNOWN_END in page_of(run), f"{name}, without its end: the page")
    run.check_replay(checks, f"{name}, without its end")
    run.transcript().write_text(whole, "utf-8")


def check_resumed(checks: Checks, run: Run, name: str, sentence: str) -> None:
    """One that is done does nothing more, and no other end is written; any other says how it ended, and goes on."""
    with with_engine(run, Script(run, "true", "echo verified")) as engine:
        done = end_of(resuming(run, engine.url))
        asked = [one for one in engine.asked if one.path == "/completion"]
    ends = records(run, "end")
    if name == "done":
        checks.equal((done.returncode, len(asked), len(ends)), (0, 0, 1), f"{name}, resumed: {done.stdout[-300:]}")
        checks.that("was finished" in done.stdout, f"{name}, resumed: it says so: {done.stdout}")
    else:
        checks.that(f"that run had ended: {sentence}" in done.stdout, f"{name}, resumed: {done.stdout[:600]}")
        checks.equal((done.returncode, len(asked) > 0), (0, True), f"{name}, resumed: it goes on: {done.stderr}")
        checks.equal([one["reason"] for one in ends], [name, "done"], f"{name}, resumed: both ends are there")
        page = page_of(run)
        checks.that(page.index(sentence) < page.rindex("</span> it is done</p>"), f"{name}, resumed: both are on the page")
    run.check_replay(checks, f"{name}, resumed")


def check_killed(checks: Checks, new: Callable[[], Run]) -> None:
    """A command that had begun when the run was killed is on the page; SIGTERM is an end."""
    for number, reason in ((signal.SIGKILL, None), (signal.SIGTERM, "stopped")):
        run = new()
        with with_engine(run, Script(run, "echo first", "sleep 7.25 # <b>")) as engine:
            process = subprocess.Popen([*run.command(engine.url), "Do it."], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            assert process.stdout is not None
            for line in process.stdout:
                if '"call"' in line and "7.25" in line:
                    break
            time.sleep(0.2)
            process.send_signal(number)
            process.communicate(timeout=LONGEST)
        page = page_of(run)
        is_killed = reason is None
        checks.equal((OPEN in page, UNKNOWN_END in page), (is_killed, is_killed), f"{number.name}: its page")
        checks.that("sleep 7.25 # &lt;b&gt;" in page and "<b>" not in page, f"{number.name}: the command is there")
        checks.equal([one["reason"] for one in records(run, "end")], [reason] if reason else [], f"{number.name}: the record")
        if is_killed:
            with with_engine(run, Script(run, "true")) as engine:
                checks.equal(end_of(resuming(run, engine.url)).returncode, 0, "it goes on")
            page = page_of(run)
            checks.equal((OPEN in page, UNKNOWN_END in page), (False, False), "resumed: its page")
            run.check_replay(checks, "killed and resumed")


def check_maybe_changed(checks: Checks, new: Callable[[], Run]) -> None:
    """A command that is stopped with the run may have changed files, and nobody looks any more: "maybe", and not "changed"."""
    for is_json in (True, False):
        run = new()
        with with_engine(run, Script(run, "touch made", "echo begun-$((1 + 1)); sleep 30")) as engine:
            command = [one for one in run.command(engine.url) if is_json or one != "--json"]
            process = subprocess.Popen([*command, "Do it."], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            assert process.stdout is not None
            shown = ""
            for line in process.stdout:
                shown += line
                if "begun-2" in line:
                    break
            process.send_signal(signal.SIGTERM)
            shown += process.communicate(timeout=LONGEST)[0]
        if is_json:
            outcomes = events_of(shown).of("outcome")
            told = [(one["changed"], one["maybe_changed"]) for one in outcomes]
            checks.equal(told, [(True, False), (True, True)], "what was changed, for programs")
        else:
            ends = [line.rpartition(" (")[2] for line in shown.splitlines() if "files changed)" in line]
            checks.equal(ends, ["files changed)", "maybe files changed)"], f"what was changed, on the screen: {shown}")


def check_not_begun(checks: Checks, new: Callable[[], Run]) -> None:
    """A run that was killed before its first record is not one to go on with, and that is what is said."""
    run = new()
    go(run, "true")
    heads = [line for line in run.transcript().read_text("utf-8").splitlines(keepends=True) if json.loads(line)["record"] == "head"]
    for kept in ("", *heads[:1]):
        run.transcript().write_text(kept, "utf-8")
        done = end_of(resuming(run, "http://127.0.0.1:9"))
        checks.equal(done.returncode, 3, f"not begun: {done.stderr}")
        checks.that("no run has begun" in done.stderr + done.stdout, f"not begun: {done.stderr}")


def waiting(wire: Wire) -> list[tuple[str, Pieces]]:
    """Replies that end as calls do, and have none."""
    if wire.name != "chatglm3":
        return []
    end = Control("<|observation|>")
    return [
        ("no block of code", ["interpreter\nprint(1)", end]),
        ("words alone", ["\n I will run it.\n", end]),
        ("nothing", [end]),
        ("another header", ["terminal\nls", end]),
    ]


def check_waiting(checks: Checks, new: Callable[[Wire], Run]) -> None:
    """A reply that ends with the token behind calls, without a call, is no answer; it is sent back, also when the run is resumed there."""
    wire = FORMATS["chatglm3"]
    for name, pieces in waiting(wire):
        for times, code, turns in ((1, 0, 2), (9, 1, 4)):
            run = new(wire)
            run.code = answer_with(run, [pieces] * times)
            told = json.dumps(run.events.of("unreadable"))
            checks.equal((run.code, run.events.of("end")[0]["turns"]), (code, turns), f"{name}, {times} times: {run.errors[-300:]}")
            checks.that(CANNOT_READ in told, f"{name}, {times} times: it is told: {told}")
            run.check_replay(checks, name)
        if name != "nothing":
            run = new(wire)
            answer_with(run, [pieces], "--max-turns", "1")
            with with_engine(run, lambda asked, run=run: said(run, "It is done.")) as engine:  # type: ignore[misc]
                done = end_of([*resuming(run, engine.url), "--json"])
            checks.that(CANNOT_READ in json.dumps(events_of(done.stdout).of("unreadable")), f"{name}, resumed: {done.stdout[-400:]}")
    run = new(wire)
    checks.equal(answer_with(run, [], calls=[Call(code="print(6 * 7)")]), 0, f"a call as it has to be: {run.errors}")
    checks.equal(run.events.of("unreadable"), [], "a call as it has to be is read")


def said(run: Run, text: str, calls: list[Call] | None = None) -> Reply:
    return Reply(ids=run.speech.sampled(run.wire.pieces_of("", text, calls or [])))


def answer_with(run: Run, replies: list[Pieces], *options: str, calls: list[Call] | None = None) -> int:
    left, to_call = iter(replies), iter([calls] if calls else [])

    def reply(asked: Asked) -> Reply:
        if pieces := next(left, None):
            return Reply(ids=run.speech.sampled(pieces))
        if call := next(to_call, None):
            return said(run, "", call)
        return said(run, "It is done.")

    with with_engine(run, reply) as engine:
        done = subprocess.run([*run.command(engine.url, *options), "Do it."], capture_output=True, text=True, timeout=LONGEST,
                              stdin=subprocess.DEVNULL)  # fmt: skip
    run.errors, run.events = done.stderr, events_of(done.stdout)
    return done.returncode


def check_values(checks: Checks, new: Callable[[], Run]) -> None:
    """Each option takes one value, so that the goal behind it is the goal."""
    run = new()
    other = run.folder / "other"
    other.mkdir()
    for option, values in (
        ("--readable", [str(other), "/usr"]),
        ("--writable", [str(other), str(run.tokenizer)]),
        ("--environment", ["LANG", "TERM"]),
        ("--mcp", ["a=true", "b=true"]),
    ):
        for given in ([option, values[0]], [option, values[0], option, values[1]], [f"{option}={values[0]}"]):
            done = end_of([*run.command("http://127.0.0.1:9"), *given, "Do it."])
            is_refused = done.returncode == 2 and "the MCP server a does not start" not in done.stderr  # true is none
            checks.that(not is_refused, f"{given}: the goal is read: {done.stderr}")
        done = end_of([*run.command("http://127.0.0.1:9"), option, values[0], values[1], "Do it."])
        checks.equal(done.returncode, 2, f"{option} with two values")
    run = new()
    with with_engine(run, Script(run, 'test "$ONE$TWO" = 12')) as engine:
        command = [*run.command(engine.url), "--environment", "ONE", "--environment", "TWO", "Do it."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL,
                              env={**os.environ, "ONE": "1", "TWO": "2"})  # fmt: skip
    checks.equal([one["succeeded"] for one in events_of(done.stdout).of("outcome")], [True], "an option that is repeated: both count")


LEAST = {"--memory": "32", "--processes": "8", "--file-size": "1", "--timeout": "1", "--shown-output": "256"}


def check_numbers(checks: Checks, new: Callable[[], Run]) -> None:
    """What is too small for anything to run is a usage error that names the option and the least; with the least, commands run."""
    for option, least in LEAST.items():
        for value in ("0", str(int(least) - 1), "-1", "x", "1.5"):
            done = refused(new(), option, value)
            checks.equal(done.returncode, 2, f"{option} {value}: {done.stderr}")
            checks.that(option in done.stderr and f"from {least} to" in done.stderr, f"{option} {value}: {done.stderr}")
    for sandbox in ("bubblewrap", "landlock"):
        for interpreter in ((), ("--interpreter",)):
            run = new()
            call = [Call(tool="interpreter", given={"code": "print(6 * 7)"})] if interpreter else [Call(command="echo $((6 * 7))")]
            options = [word for pair in LEAST.items() for word in pair]
            code = answer_with(run, [], *options, "--sandbox", sandbox, *interpreter, calls=call)
            if "no sandbox works here" in run.errors or f"{sandbox} " in run.errors:
                continue  # this kind cannot be had
            told = json.dumps(run.events.of("outcome"))
            checks.that(code == 0 and "42" in told, f"{sandbox} {interpreter} with the least of all: {code} {told} {run.errors[-400:]}")


def check_unwritable(checks: Checks, new: Callable[[], Run]) -> None:
    """Events that cannot be written end the run with exit code 3 and a reason, and are no success."""
    for options, to in (((), "/dev/full"), (("-o", "/dev/full"), os.devnull)):
        for is_json in (True, False):
            run = new()
            with with_engine(run, Script(run, "touch made", "true")) as engine, open(to, "wb") as full:
                command = [one for one in run.command(engine.url, *options) if is_json or one != "--json"]
                done = subprocess.run([*command, "Do it."], stdout=full, stderr=subprocess.PIPE, text=True, timeout=LONGEST,
                                      stdin=subprocess.DEVNULL)  # fmt: skip
            checks.that(done.returncode == 3 and "No space left" in done.stderr, f"{to} {options}: {done.returncode} {done.stderr!r}")
            checks.that(not (run.workspace / "made").exists(), f"{to} {options}: nothing runs that nobody can see")
            checks.equal([one["reason"] for one in records(run, "end")], ["stopped"], f"{to} {options}: the transcript says so")
    run = new()
    events = run.folder / "events.jsonl"
    with with_engine(run, Script(run, "true")) as engine:
        checks.equal(end_of([*run.command(engine.url, "-o", str(events)), "Do it."]).stdout, "", "-o: nothing on standard output")
    checks.equal([one["reason"] for one in events_of(events.read_text("utf-8")).of("end")], ["done"], "-o: the events are there")


def check_refusals(checks: Checks, new: Callable[[], Run]) -> None:
    """Who reads events has an end where the run cannot begin, too."""
    run = new()
    missing, odd, empty = run.folder / "missing", run.folder / "odd.json", run.folder / "empty.jsonl"
    odd.write_text('[{"name": "a", "description": "", "parameters": {"type": "array"}, "command": ["true"]}]', "utf-8")
    empty.write_text("", "utf-8")
    for name, options in (
        ("no such option", ["--nothing"]),
        ("a number", ["--max-turns", "x"]),
        ("twice", ["--timeout", "1", "--timeout", "2"]),
        ("no value", ["--timeout"]),
        ("excluding options", ["--no-sandbox", "--sandbox", "landlock"]),
        ("a temperature", ["--temperature", "x"]),
        ("a server without a name", ["--mcp", "true"]),
        ("a server that there is not", ["--mcp", "a=nonexistent-program"]),
        ("a server that ends", ["--mcp", "a=true"]),
        ("no tools file", ["--tools", str(missing)]),
        ("tools that are none", ["--tools", str(odd)]),
        ("no workspace", ["--workspace", str(missing)]),
        ("a workspace with all", ["--workspace", "/"]),
        ("no system message", ["--system", f"@{missing}"]),
        ("a transcript of nothing", ["--resume", str(empty)]),
    ):
        command = run.command("http://127.0.0.1:9")
        if "--workspace" in options:
            del command[(at := command.index("--workspace")) : at + 2]
        done = end_of([*command, *options, *([] if name in ("no value", "a transcript of nothing") else ["Do it."])])
        ends = events_of(done.stdout).of("end")
        checks.that(done.returncode in (2, 3) and done.stderr, f"{name}: {done.returncode} {done.stderr}")
        checks.equal([one["reason"] for one in ends], ["usage"], f"{name}: the end")
        sentence = ends[0]["sentence"] if ends else ""
        checks.that(sentence and sentence[:20] in done.stderr, f"{name}: {sentence} {done.stderr}")
        plain = end_of([*(one for one in command if one != "--json"), *options, "Do it."])
        checks.equal(plain.stdout, "", f"{name}: nothing on standard output without --json")


def check_empty(checks: Checks, new: Callable[[], Run]) -> None:
    """A file without a record is no transcript, to whoever reads it."""
    empty = new().folder / "empty.jsonl"
    empty.write_text("", "utf-8")
    for words in (("replay", str(empty)), ("agent", "--resume", str(empty))):
        done = end_of([sys.argv[1], *words])
        checks.that(done.returncode == 3 and " is no " in done.stderr, f"{words[0]}: {done.returncode} {done.stderr}")


def main() -> int:
    parlance = sys.argv[1]
    end_if_none(parlance)
    checks = Checks()
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="parlance-ends-", ignore_cleanup_errors=True) as folder:
        count = 0

        def new(wire: Wire = WIRE) -> Run:
            nonlocal count
            count += 1
            return Run(parlance, wire, pathlib.Path(folder) / str(count))

        for check in (
            check_recorded,
            check_killed,
            check_maybe_changed,
            check_not_begun,
            check_waiting,
            check_values,
            check_numbers,
            check_unwritable,
            check_refusals,
            check_empty,
        ):
            if not only or check.__name__ in only:
                check(checks, new)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
