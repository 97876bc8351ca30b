#!/usr/bin/env python3
"""What bounds a run of `parlance agent`: a context that is full, tokens, an end without a word; and what a run that goes on keeps of it.

    limits_test.py PARLANCE

Ends with 77 where the sandbox cannot be had. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Run, end_if_none, events_of
from engine import Asked, Reply
from stranger_test import WIRE, Script, Terminal, go, people, with_engine
from wire import Call

LEFT_OUT = "turns were left out, since the context is full"
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "agent.md"
LARGE = "seq 20000"  # more tokens than the contexts below have


def check_many_turns(checks: Checks, new: Callable[[], Run]) -> None:
    """However often turns are left out, one note says so, and the run comes to its end."""
    for most in (4000, 7000):
        run = new()
        steps = [f"echo step {number}; head -c 600 /dev/zero | tr '\\0' a" for number in range(80)]
        go(run, *steps, options=("--max-prompt-tokens", str(most), "--max-repeats", "0"))
        compactions = len(run.events.of("compacted"))
        checks.equal(run.code, 0, f"{most} tokens: it ends, {run.errors[-300:]}")
        checks.that(compactions > 3, f"{most} tokens: {compactions} times turns were left out")
        checks.that(compactions < 60, f"{most} tokens: turns are not left out in each turn: {compactions}")
        texts = [run.speech.vocabulary.decode(one.prompt) for one in run.asked]
        checks.that(all(text.count(LEFT_OUT) <= 1 for text in texts), f"{most} tokens: there is one note")
        checks.that(LEFT_OUT in texts[-1], f"{most} tokens: the note stays")


def check_order_of_records(checks: Checks, new: Callable[[], Run]) -> None:
    """A turn that was too long for the context has its record before what came behind it, on a busy machine too."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    for most in (3200, 3500):
        run = new()
        go(run, *(f"seq {number} {number + (50, 900)[number % 2]}" for number in range(16)), options=("--max-prompt-tokens", str(most)))
        records = [json.loads(line) for line in run.transcript().read_text("utf-8").splitlines()]
        times = [one["time"] for one in records if "time" in one]
        checks.that("not_answered" in [one.get("status") for one in records], f"{most} tokens: turns that were too long")
        checks.equal(times, sorted(times), f"{most} tokens: records in their order")
        run.check_replay(checks, f"{most} tokens")
    for one in busy:
        one.kill()
        one.wait()


def check_smaller_prompts(checks: Checks, new: Callable[[], Run]) -> None:
    """--max-prompt-tokens is the context, also where the engine has more room."""
    steps = [*(f"echo {number}" for number in range(16)), "seq 400", "echo more"]
    for context in (4200, 131072):
        run = new()
        with with_engine(run, Script(run, *steps)) as engine:
            command = run.command(f"{engine.url}?context={context}", "--max-prompt-tokens", "4200", "--max-repeats", "0")
            done = subprocess.run([*command, "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
        checks.equal(done.returncode, 0, f"an engine with room for {context}: {done.stdout[-300:]}{done.stderr}")
        sizes = [len(one.prompt) for one in engine.asked if one.path == "/completion"]
        checks.that(max(sizes) <= 4200, f"an engine with room for {context}: prompts of {sizes}")


def check_busy_engine(checks: Checks, new: Callable[[], Run]) -> None:
    """An engine that loads, or has too much to do, is asked again, and the user knows; another error is the end."""
    run = new()
    script, answers = Script(run, "echo one", "echo two"), iter((200, 503, 429, 200, 200, 500))
    with with_engine(run, Script(run, "echo one")) as engine:
        engine.loads = 2
        done = subprocess.run(
            [*run.command(engine.url), "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL
        )
        said = [note["text"] for note in events_of(done.stdout).of("note")]
        checks.equal(
            (done.returncode, ["Loading model" in text for text in said]), (0, [True] * 2), f"an engine that loads: {done.stdout[-300:]}"
        )
    run = new()

    def one(asked: Asked) -> Reply:
        status = next(answers)
        return script(asked) if status == 200 else Reply(status=status, body=json.dumps({"error": {"message": "not now"}}))

    with with_engine(run, one) as engine:
        done = subprocess.run(
            [*run.command(engine.url), "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL
        )
        events = events_of(done.stdout)
        said = [note["text"] for note in events.of("note")]
        checks.equal(done.returncode, 0, f"an engine that is busy: {done.stdout[-300:]}")
        checks.equal([("503" in text, "asked again in" in text) for text in said], [(True, True), (False, True)], f"the notes {said}")
        checks.equal(len([a for a in engine.asked if a.path == "/completion"]), 5, "prompts")
        run.check_replay(checks, "an engine that is busy")
        done = subprocess.run(
            [*run.command(engine.url), "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL
        )
        checks.equal(done.returncode, 5, f"an engine that fails: {done.stdout[-300:]}")


def check_members(checks: Checks, new: Callable[[], Run]) -> None:
    """docs/agent.md has the members of each event."""
    rows = re.findall(
        r"^\| (`[a-z`, ]+`) \| (.*) \|$", DOCUMENT.read_text("utf-8").partition("| `event` |")[2].partition("\n\n")[0], re.MULTILINE
    )
    words = {name: set(re.findall(r"`(\w+)`", members)) for names, members in rows for name in re.findall(r"`(\w+)`", names)}
    words["outcome"] |= words["call"]
    steps = ["echo one; seq 300000", "echo two >f", "cat nothing", *["echo more; head -c 900 /dev/zero | tr '\\0' a"] * 6]
    run = new()
    go(run, *steps, options=("--max-prompt-tokens", "5000", "--max-repeats", "2"))
    seen: dict[str, set[str]] = {}
    for event in run.events.all:
        seen.setdefault(event["event"], set()).update(event)
    checks.that(len(seen) > 9, f"events of all kinds: {sorted(seen)}")
    for name, members in seen.items():
        checks.equal(members - {"event"} - words.get(name, set()), set(), f"members of {name} that are not documented")


def check_large_result(checks: Checks, new: Callable[[], Run]) -> None:
    """A result that is larger than the context is cut, and the run can go on in a smaller context still."""
    run = new()
    go(run, LARGE, "echo next", options=("--max-prompt-tokens", "7000"))
    checks.equal(run.code, 0, f"a result larger than the context {run.errors[-300:]}")
    checks.that("bytes are left out here, since the context is full" in run.speech.vocabulary.decode(run.asked[-1].prompt), "it is cut")
    for options in ((), ("--max-prompt-tokens", "2000")):
        done = resumed(run, *options)
        checks.equal(done.returncode, 0, f"it goes on with {options}: {done.stderr}")
    run.check_replay(checks, "a result larger than the context")
    run = new()
    go(run, LARGE, "echo next", options=("--max-prompt-tokens", "7000", "--max-turns", "2"))
    done = resumed(run, "--max-turns", "9")
    checks.equal((run.code, done.returncode), (4, 0), f"a run that ends behind a turn that had no room goes on: {done.stdout}{done.stderr}")
    run.check_replay(checks, "a run that goes on behind a turn that had no room")


def end_of(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)


def resumed(run: Run, *options: str) -> subprocess.CompletedProcess[str]:
    with with_engine(run, lambda asked: Reply(ids=run.speech.sampled(run.wire.pieces_of("", "It is done.", [])))) as engine:
        return end_of(resuming(run, engine.url, *options))


def resuming(run: Run, url: str, *options: str) -> list[str]:
    command = people(run, url, *options)[:-1]
    for name in ("--transcript", "--workspace"):
        at = command.index(name)
        del command[at : at + 2]
    return [*command, "--resume", str(run.transcript())]


def check_tokens(checks: Checks, new: Callable[[], Run]) -> None:
    """No reply is asked for more tokens than are left."""
    run = new()
    go(run, "true", "true", options=("--max-tokens", "100000", "--reply-tokens", "500"))
    checks.equal([one.body["n_predict"] for one in run.asked], [500] * len(run.asked), "the reply's own limit is the smaller one")
    run = new()
    go(run, "true", "true", options=("--max-tokens", "20"))
    checks.equal((run.code, [one.body["n_predict"] for one in run.asked]), (4, [20]), "what is left is the smaller one")


def check_opened_reply(checks: Checks, new: Callable[[], Run]) -> None:
    """Each prompt opens a reply, also where a chat would open none: the model wrote behind the user's words."""
    ends = []
    for options in ((), ("--as-transformers",), ("--as-is",)):
        run = new()
        go(run, "true", options=options)
        ends.append({run.speech.vocabulary.decode(one.prompt)[-22:] for one in run.asked})
        checks.equal(run.code, 0, f"{options}: {run.errors[-300:]}")
        run.check_replay(checks, f"{options}")
    checks.equal(ends, [ends[0]] * 3, "the ends of the prompts")


def check_silence(checks: Checks, new: Callable[[], Run]) -> None:
    """A reply without a word is sent back, three times."""
    for replies, code, turns in ((["", "Done."], 0, 2), ([""] * 9, 1, 4)):
        run = new()
        left = iter(replies)

        def answer(asked: Asked, run: Run = run, left: object = left) -> Reply:
            return Reply(ids=run.speech.sampled(run.wire.pieces_of("", next(left), [])))  # type: ignore[call-overload]

        with with_engine(run, answer) as engine:
            done = subprocess.run([*run.command(engine.url), "Do it."], capture_output=True, text=True, timeout=LONGEST)
        events = events_of(done.stdout)
        checks.equal((done.returncode, events.of("end")[0]["turns"]), (code, turns), f"{replies}: {done.stderr}")
        checks.that("neither a call nor an answer" in json.dumps(events.of("unreadable")), f"{replies}: it is told")


def check_programs_output(checks: Checks, new: Callable[[], Run]) -> None:
    """A program gets the first part of a long output, is told where the rest is, and has an event on each line."""
    run = new()
    commands = ("head -c 9000000 /dev/urandom; echo end >&2", r"printf 'a\xc2\x85{b\xe2\x80\xa8{c\x7f'")
    with with_engine(run, Script(run, *commands)) as engine:
        done = subprocess.run([*run.command(engine.url, "--no-verify"), "Do it."], capture_output=True, timeout=LONGEST)
    text = done.stdout.decode()
    checks.equal(done.returncode, 0, f"it ends: {done.stderr[-300:]!r}")
    checks.that(len(text) < 4_000_000, f"what is printed of 9 MB: {len(text)}")
    lines = text.splitlines()
    checks.that(all(line.startswith("{") and line.endswith("}") for line in lines), "however lines are told apart")
    outputs = [one for one in map(json.loads, lines) if one["event"] == "output"]
    [left] = [one for one in outputs if "left_out" in one]
    checks.that(left["stream"] == "stdout" and left["left_out"] > 7_000_000 and left["file"].endswith(".out"), f"what is not shown: {left}")
    written = run.transcript().read_text("utf-8").splitlines()
    checks.equal([one for one in written if not (one.startswith("{") and one.endswith("}"))], [], "lines of the transcript")
    run.check_replay(checks, "what ends lines for some readers")
    checks.equal(outputs[-1]["text"], "a\x85{b\u2028{c\x7f", "each call is shown anew, as it is")


def check_approval_is_kept(checks: Checks, new: Callable[[], Run]) -> None:
    """A run that goes on asks before commands as it did."""
    run = new()
    calls = iter([[Call(command="touch first")], [Call(command="touch second")], [], []])

    def answer(asked: Asked) -> Reply:
        call = next(calls)
        return Reply(ids=run.speech.sampled(run.wire.pieces_of("", "" if call else "It is done.", call)))

    with with_engine(run, answer) as engine:
        first = Terminal(people(run, engine.url, "--approve", "always", "--no-verify", "--max-turns", "1"))
        checks.that(first.until("say why not\\]"), f"it asks: {first.text[-300:]}")
        first.type("y\n")
        checks.equal(first.end(), 4, f"one turn: {first.text[-300:]}")
        alone = end_of(["setsid", *resuming(run, engine.url)])
        checks.that(alone.returncode == 2 and "the run that goes on began with it" in alone.stderr, f"without a terminal: {alone.stderr}")
        second = Terminal(resuming(run, engine.url, "--approve", "never", "--no-verify"))
        checks.that(second.until("say why not\\]"), f"it asks when it goes on: {second.text[-300:]}")
        checks.that("asks before commands: always" in second.text, "and says so at its begin")
        second.type("n\n")
        checks.equal(second.end(), 0, f"its end: {second.text[-300:]}")
    checks.equal(sorted(path.name for path in run.workspace.iterdir()), ["first"], "what was not allowed was not done")


def check_options(checks: Checks, new: Callable[[], Run]) -> None:
    """What is refused before anything runs."""
    run = new()
    for folder in (run.workspace / "transcript", run.workspace):
        done = refused(run, "--transcript", str(folder))
        checks.that(done.returncode == 2 and "one that commands may change" in done.stderr, f"a transcript in the workspace: {done.stderr}")
    checks.equal(list(run.workspace.iterdir()), [], "nothing was written there")
    other = run.workspace.parent / "other"
    other.mkdir()
    done = refused(run, "--writable", str(other), "--transcript", str(other / "deep" / "er"))
    checks.that(done.returncode == 2 and not (other / "deep").exists(), f"a transcript in a writable folder: {done.stderr}")
    for text in ("abc", "-1", "-0.5", '1,"prompt":"x"', "NaN", "1e999", "true", '"1"', ""):
        done = refused(run, f"--temperature={text}")
        checks.that(done.returncode == 2, f"--temperature {text}: {done.returncode} {done.stderr}")
    for name in ("A=B", "=B"):
        done = refused(run, f"--environment={name}")
        checks.that(done.returncode == 2 and "takes the name of a variable" in done.stderr, f"--environment {name!r}: {done.stderr}")
    command = run.command("http://127.0.0.1:9")
    with_system = end_of([*command, "--resume", str(run.folder / "none.jsonl"), "--system", "Be brief."])
    checks.that(with_system.returncode == 2 and "takes no --system" in with_system.stderr, f"another system message: {with_system.stderr}")
    at = next(number for number, word in enumerate(command) if word in ("-f", "-t"))
    without_calls = end_of([*command[:at], "-f", "chatml", *command[at + 2 :], "Do it."])
    checks.that(
        without_calls.returncode == 2 and "no form of calls" in without_calls.stderr,
        f"a template without calls: {without_calls.returncode} {without_calls.stderr}",
    )


def refused(run: Run, *options: str) -> subprocess.CompletedProcess[str]:
    command = run.command("http://127.0.0.1:9")
    if "--transcript" in options:
        at = command.index("--transcript")
        del command[at : at + 2]
    return end_of([*command, *options, "Do it."])


def main() -> int:
    parlance = sys.argv[1]
    end_if_none(parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-limits-", ignore_cleanup_errors=True) as folder:
        count = 0

        def new() -> Run:
            nonlocal count
            count += 1
            return Run(parlance, WIRE, pathlib.Path(folder) / str(count))

        for check in (
            check_many_turns,
            check_order_of_records,
            check_smaller_prompts,
            check_busy_engine,
            check_members,
            check_large_result,
            check_tokens,
            check_opened_reply,
            check_silence,
            check_programs_output,
            check_approval_is_kept,
            check_options,
        ):
            check(checks, new)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
