#!/usr/bin/env python3
"""Transcripts that are odd: of replies that broke off or hold half a character, of another tokenizer or version, cut by a full disk.

    transcripts_test.py PARLANCE [PART...]

Ends with 77 where the sandbox cannot be had. Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
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
from stranger_test import WIRE, Script, go, with_engine
from wire import FORMATS, Wire


def check_broken_off(checks: Checks, new: Callable[[], Run]) -> None:
    """A reply that a limit of tokens cuts off within a call keeps the prompt before it in the engine's cache, is seen by the model, and
    replays."""
    run = new()
    script = Script(run, "echo one", "echo two " + "x" * 300, "echo three")
    cut: list[int] = []

    def cut_second(asked: Asked) -> Reply:
        reply = script(asked)
        if script.at == 2 and reply.ids is not None:
            cut.extend(reply.ids[:150])
            return Reply(ids=cut, length=True)
        return reply

    with with_engine(run, cut_second) as engine:
        done = subprocess.run(
            [*run.command(engine.url), "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL
        )
        prompts = [one.prompt for one in engine.asked if one.path == "/completion"]
    run.events = events_of(done.stdout)
    checks.equal((done.returncode, len(prompts), len(run.events.of("unreadable"))), (0, 4, 1), f"a reply that breaks off: {done.stderr}")
    checks.that(prompts[2][: len(prompts[1])] == prompts[1], "behind a reply that breaks off, the prompt before it stays as it was")
    behind = run.speech.vocabulary.decode(prompts[2][len(prompts[1]) :])
    checks.that(behind.startswith(run.speech.vocabulary.decode(cut)), f"the model sees a reply that breaks off: {behind}")
    checks.equal([one["prefix_break"] for one in run.events.of("replied")], [None] * 4, "a reply that breaks off: prefix breaks")
    run.check_replay(checks, "a reply that breaks off")


def check_half_characters(checks: Checks, new: Callable[..., Run]) -> None:
    """Half of a surrogate pair in a call's arguments, which only an engine without our grammar samples, is U+FFFD, and the run goes on."""
    for wire, end in ((WIRE, "<|im_end|>"), (FORMATS["rnj-1"], "<|eot_id|>")):
        run = new(wire)
        call = '<tool_call>\n{"name": "terminal", "arguments": {"command": "echo \\ud83d"}}\n</tool_call>' + end
        script = Script(run, "echo one", "echo two", "echo three")

        def reply(asked: Asked, script: Script = script, call: str = call) -> Reply:
            usual = script(asked)
            return Reply(text=call) if script.at == 2 else usual

        with with_engine(run, reply) as engine:
            command = [*run.command(engine.url, "--max-turns", "2"), "Do it."]
            begun = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
            command = [run.parlance, "agent", "--resume", str(run.transcript()), "--json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
            prompts = [one.prompt for one in engine.asked if one.path == "/completion"]
        told = [one["text"] for one in events_of(begun.stdout).of("outcome")]
        checks.equal((begun.returncode, done.returncode, len(prompts)), (4, 0, 4), f"{wire.name}: half a character: {done.stdout[-500:]}")
        checks.that(len(told) == 2 and "\ufffd" in told[1], f"{wire.name}: the command has U+FFFD: {told}")
        checks.that(prompts[2][: len(prompts[1])] == prompts[1], f"{wire.name}: the prompt behind half a character goes on")
        run.check_replay(checks, f"{wire.name}: half a character")


def check_other_transcripts(checks: Checks, new: Callable[[], Run], folder: pathlib.Path) -> None:
    """A transcript of another format is refused with a reason."""
    run = new()
    go(run, "true")
    other = Run(run.parlance, FORMATS["rnj-1"], folder / "other")
    with with_engine(run, Script(run)) as engine:
        command = ["-f", "rnj-1", "--tokenizer", str(other.tokenizer), "--backend", f"llama-server={engine.url}"]
        done = subprocess.run([run.parlance, "agent", *command, "--resume", str(run.transcript())],
                              capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)  # fmt: skip
        checks.that(
            done.returncode == 3 and "another template and another tokenizer" in done.stderr,
            f"another format: {done.returncode} {done.stdout} {done.stderr}",
        )
    run = new()
    go(run, "true", options=("--max-turns", "1"))
    resume = [run.parlance, "agent", "--resume", str(run.transcript())]
    before, file = run.transcript().read_bytes(), run.tokenizer / "tokenizer.json"
    tokenizer = json.loads(file.read_text("utf-8"))
    tokenizer["added_tokens"][0]["id"] += 7
    file.write_text(json.dumps(tokenizer), "utf-8")
    with with_engine(run, Script(run)) as engine:
        command = [*resume, "--backend", f"llama-server={engine.url}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    checks.that(
        done.returncode == 3 and "another tokenizer" in done.stderr, f"a tokenizer that has changed: {done.returncode} {done.stderr}"
    )
    checks.that(run.transcript().read_bytes() == before, "a transcript that cannot be gone on with stays as it was")
    done = subprocess.run([*resume, "--html", str(run.transcript())], capture_output=True, text=True, timeout=LONGEST)
    checks.that(done.returncode == 2 and "--resume" in done.stderr, f"--html with --resume: {done.returncode} {done.stderr}")
    for name, text in (("an empty file", ""), ("no transcript", "hello\n"), ("JSON that is none", '{"record": "head"}\n')):
        path = run.folder / "odd.jsonl"
        path.write_text(text, "utf-8")
        for option in ("--resume", "--html"):
            done = subprocess.run([run.parlance, "agent", option, str(path), "--backend", "llama-server=http://127.0.0.1:9"],
                                  capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)  # fmt: skip
            checks.that(done.returncode in (2, 3, 4) and done.stderr, f"{option} of {name}: {done.returncode} {done.stderr}")


def sealed(record: str) -> str:
    """A record of a capture that has been changed, with the hash that belongs to it."""
    body, seal = record[: record.rindex(', "check": "')], record[record.rindex(', "check": "') : -2]
    digits = len(seal) - len(', "check": "')
    return body + ', "check": "' + hashlib.sha256(body.encode()).hexdigest()[:digits] + '"}'


def check_other_version(checks: Checks, run: Run) -> None:
    """A run that goes on with another version says which it was of, and replays, though its transcript has two heads then."""
    go(run, "touch made", "true", options=("--max-turns", "1"))
    head, rest = run.transcript().read_text("utf-8").split("\n", 1)
    version = json.loads(head)["parlance"]
    run.transcript().write_text(sealed(head.replace(f'"parlance": "{version}"', '"parlance": "0.0.9"')) + "\n" + rest, "utf-8")
    with with_engine(run, Script(run, "true")) as engine:
        command = [run.parlance, "agent", "--resume", str(run.transcript()), "--backend", f"llama-server={engine.url}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    checks.that(done.returncode == 0 and "of parlance 0.0.9" in done.stdout, f"another version: {done.stdout} {done.stderr}")
    checks.equal(run.transcript().read_text("utf-8").count('{"record": "head"'), 2, "another version: heads")
    run.check_replay(checks, "another version")


def check_full_disk(checks: Checks, run: Run) -> None:
    """A transcript that can grow no more ends the run with a sentence."""
    with with_engine(run, Script(run, "echo one", "echo two")) as engine:
        command = ["sh", "-c", 'ulimit -f 24; exec "$@"', "sh", *run.command(engine.url), "Do it."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    ends = [
        (one["reason"], re.search("cannot be written to.*File too large", one["sentence"]) is not None)
        for one in events_of(done.stdout).of("end")
    ]
    checks.equal((done.returncode, ends), (5, [("model", True)]), f"a full disk: {done.stdout[-500:]} {done.stderr[-500:]}")


def main() -> int:
    parlance, only = sys.argv[1], sys.argv[2:]
    end_if_none(parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-transcripts-", ignore_cleanup_errors=True) as folder:
        numbers = itertools.count()

        def new(wire: Wire = WIRE) -> Run:
            return Run(parlance, wire, pathlib.Path(folder) / str(next(numbers)))

        parts: dict[str, Callable[[], None]] = {
            "transcripts": lambda: check_other_transcripts(checks, new, pathlib.Path(folder)),
            "broken": lambda: check_broken_off(checks, new),
            "half": lambda: check_half_characters(checks, new),
            "full": lambda: check_full_disk(checks, new()),
            "version": lambda: check_other_version(checks, new()),
        }
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(part) for name, part in parts.items() if not only or name in only]:
                done.result()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
