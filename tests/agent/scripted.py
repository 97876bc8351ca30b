"""A model that makes the calls it is told to, one turn after the other, for the tests of the user's tools. Begin reading at converse."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from agent_run import LONGEST, Events, Run, events_of
from wire import FORMATS, Call, Speech, Wire

from engine import TOKENIZER, Asked, Engine, Reply

NO_ENGINE = 5  # an exit code


class Script:
    """Calls by turn, then an end. What it reads of each turn's last result is kept."""

    def __init__(self, speech: Speech, turns: list[list[Call]], before: Callable[[int], None] | None = None) -> None:
        self.speech, self.turns, self.before = speech, turns, before
        self.observed: list[str] = []
        self.at = 0

    def reply(self, asked: Asked) -> Reply:
        if self.at > 0:
            of_user = self.turns[self.at - 1][-1].given is not None if self.at <= len(self.turns) else False
            try:
                self.observed.append(self.speech.last_result(asked.prompt, of_user))
            except (IndexError, ValueError) as error:
                self.observed.append(f"no result: {error}")
        if self.before:
            self.before(self.at)
        calls = self.turns[self.at] if self.at < len(self.turns) else []
        self.at += 1
        return Reply(ids=self.speech.sampled(self.speech.wire.pieces_of("", "" if calls else "It is done.", calls)))


@dataclasses.dataclass
class Talk:
    """What became of a conversation."""

    code: int
    errors: str
    events: Events
    observed: list[str]
    prompts: list[str]  # as texts
    asked: list[Asked]
    run: Run

    @property
    def facts(self) -> list[str]:
        return [fact for event in self.events.of("begin") for fact in event["facts"]]


def call(tool: str, **given: Any) -> list[Call]:
    return [Call(tool=tool, given=given)]


def kinds_here(parlance: str, folder: pathlib.Path) -> list[str]:
    """The kinds of sandbox that work here. It is opened before the engine, which is none."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [parlance, "agent", "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--backend", "llama-server=http://127.0.0.1:9",
               "--workspace", str(folder), "--no-transcript", "nothing", "--sandbox"]  # fmt: skip
    codes = {kind: subprocess.run([*command, kind], capture_output=True, timeout=LONGEST).returncode for kind in ("bubblewrap", "landlock")}
    return [kind for kind, code in codes.items() if code == NO_ENGINE]


def converse(parlance: str, folder: pathlib.Path, turns: list[list[Call]], *options: str, wire: str | Wire = "terminal-agent",
             before: Callable[[int], None] | None = None, environment: dict[str, str] | None = None) -> Talk:  # fmt: skip
    """Runs the agent with a model that makes these calls."""
    form = FORMATS[wire] if isinstance(wire, str) else wire
    run = Run(parlance, form, folder)
    script = Script(run.speech, turns, before)
    with Engine(script.reply) as engine:
        engine.vocabulary = run.speech.vocabulary
        command = [*run.command(engine.url, *options), "--", "Use the tools."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL, env=environment)
        asked = [one for one in engine.asked if one.path == "/completion"]
        prompts = [run.speech.vocabulary.decode(one.prompt) for one in asked]
    run.code, run.errors, run.events, run.asked = done.returncode, done.stderr, events_of(done.stdout), asked
    return Talk(done.returncode, done.stderr, run.events, script.observed, prompts, asked, run)
