"""A model by script: the steps of a task's policy.toml, written as a format's model would. tasks/README.md says what a step can be.

Begin reading at Policy.reply.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys
from typing import Any

import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from engine import Asked, Reply

from wire import Call, Message, Speech

MOST_TIMES = 40  # of a step with `again`
REFUSED = "Not finished yet"
ANEW = "variables are gone"

# What a model with Python defines to run commands: folder, variables and functions stay, as in a shell.
SH = '''import os, subprocess

def sh(command):
    keep = """{ declare -p | grep -v '^declare -[a-zA-Z]*r'; declare -f; printf 'cd %q\\\\n' "$PWD"; } >$TMPDIR/.kept 2>/dev/null"""
    script = '[ ! -f $TMPDIR/.kept ] || . $TMPDIR/.kept 2>/dev/null; trap "$KEEP" EXIT; eval "$1"'
    status = subprocess.run(["bash", "-c", script, "bash", command], env={**os.environ, "KEEP": keep}).returncode
    print("exit status", status)
    if status:
        raise SystemExit(status)

'''


@dataclasses.dataclass
class Step:
    """A reply: text, and the commands that are called. Patterns are searched in the last observation."""

    think: str = ""
    say: str = ""
    run: str | list[str] = ""
    python: str = ""  # in place of `run`, where the tool is Python
    timeout: float | None = None  # of the call
    expect: str = ""  # what the observation behind it must have
    expect_not: str = ""
    read: str = ""  # its named groups are put in for @{name} in later steps
    when: str = ""  # the step is taken only if the observation before it has this
    unless: str = ""
    again: str = ""  # the step is repeated as long as its observation has this
    end: str = ""  # says this, and calls nothing
    refused: bool = False  # the agent must send this end back
    tool: str = ""  # the step is taken only with this tool: terminal or interpreter

    def __post_init__(self) -> None:
        if bool(self.run or self.python) == bool(self.end):
            raise ValueError("a step either runs something or ends")


def steps_of(path: pathlib.Path) -> list[Step]:
    return [Step(**step) for step in tomllib.loads(path.read_text("utf-8"))["step"]]


class Policy:
    """Replies to one prompt after the other. `fault` says what was not as the steps expect; it then ends as fast as it can."""

    def __init__(self, steps: list[Step], speech: Speech) -> None:
        self.steps, self.speech = steps, speech
        self.at = 0
        self.times = 0  # that the last step was taken
        self.taken: Step | None = None
        self.words: dict[str, str] = {}
        self.history = [Message("user")]
        self.expected: list[list[str]] = []  # the turns' tokens of each prompt
        self.calls: list[int] = []  # calls before each prompt
        self.observed: list[str] = []  # before each prompt
        self.sampled: list[list[int]] = []
        self.defined = False  # SH
        self.fault = ""

    def reply(self, asked: Asked) -> Reply:
        try:
            made = self._next(asked.prompt)
        except Exception as error:  # a thread of the engine: nobody would see it
            self.fault = self.fault or f"{type(error).__name__}: {error}"
            made = None
        step = made or Step(end="I give up.")
        calls = self._calls(step)
        content = self._filled(step.end or step.say)
        ids = self.speech.sampled(self.speech.wire.pieces_of(self._filled(step.think), content, calls))
        self.sampled.append(ids)
        self.history.append(Message("assistant", len(calls), bool(content and calls)))
        self.history.append(Message("result", len(calls)) if calls else Message("user"))
        return Reply(ids=ids)

    def done(self) -> str:
        """What is wrong; "": nothing."""
        left = [step for step in self.steps[self.at :] if not (step.when or step.unless)]
        return self.fault or (f"{len(left)} steps were not taken" if left else "")

    def _next(self, prompt: list[int]) -> Step | None:
        self.expected.append(self.speech.wire.tokens_of(self.history))
        self.calls.append(sum(one.count for one in self.history if one.role == "assistant"))
        called = self.history[-1].role == "result"
        seen = self.speech.last_result(prompt) if called else ""
        self.observed.append(seen)
        if self.fault:
            return None
        if ANEW in seen:
            self.defined = False
        if self.taken and self._wrong(self.taken, seen, prompt):
            return None
        if self.taken and self.taken.again and re.search(self.taken.again, seen, re.DOTALL):
            self.times += 1
            if self.times > MOST_TIMES:
                self.fault = f"step {self.at}: still {self.taken.again!r} after {self.times} times"
                return None
            return self.taken
        self.taken = self._choose(seen)
        return self.taken

    def _wrong(self, step: Step, seen: str, prompt: list[int]) -> bool:
        """Is the answer to the last step not what it expects?"""
        if step.refused and REFUSED not in self.speech.vocabulary.decode(prompt[-800:] if step.end else prompt):
            self.fault = f"step {self.at}: the agent did not send it back"
        if step.end and not step.refused:
            self.fault = f"step {self.at}: the agent went on behind the end"
        if step.expect and not re.search(step.expect, seen, re.DOTALL):
            self.fault = f"step {self.at}: expected {step.expect!r}, and saw {seen[:1500]!r}"
        if step.expect_not and re.search(step.expect_not, seen, re.DOTALL):
            self.fault = f"step {self.at}: did not expect {step.expect_not!r}, and saw {seen[:1500]!r}"
        if step.read and not step.again:
            found = re.search(step.read, seen, re.DOTALL)
            if found:
                self.words |= found.groupdict()
            else:
                self.fault = f"step {self.at}: cannot read {step.read!r} in {seen[:1500]!r}"
        return bool(self.fault)

    def _choose(self, seen: str) -> Step | None:
        while self.at < len(self.steps):
            step = self.steps[self.at]
            self.at += 1
            self.times = 1
            if step.tool not in ("", "interpreter" if self.speech.wire.interpreter else "terminal"):
                continue
            has = [not pattern or bool(re.search(pattern, seen, re.DOTALL)) for pattern in (step.when, step.unless)]
            if has[0] and not (step.unless and has[1]):
                return step
        self.fault = "the steps are at their end, and the agent asks for more"
        return None

    def _filled(self, text: str) -> str:
        return re.sub(r"@\{(\w+)\}", lambda found: self.words[found[1]], text)

    def _calls(self, step: Step) -> list[Call]:
        if step.end:
            return []
        commands = [self._filled(one).strip("\n") for one in ([step.run] if isinstance(step.run, str) else step.run)]
        if not self.speech.wire.interpreter:
            return [Call(command=command, timeout=step.timeout) for command in commands]
        if step.python:
            return [Call(code=self._filled(step.python).strip("\n"))]
        made = []
        for command in commands:
            quoted = f'sh(r"""{command}""")' if '"""' not in command and not command.endswith(('"', "\\")) else f"sh({command!r})"
            made.append(Call(code=("" if self.defined else SH) + quoted))
            self.defined = True
        return made


def task_of(folder: pathlib.Path) -> dict[str, Any]:
    return tomllib.loads((folder / "task.toml").read_text("utf-8"))
