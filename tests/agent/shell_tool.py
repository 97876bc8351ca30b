"""What the agent's tests share: the tool that drives the shell (shell_tool.cpp), as this user or as nobody, and checks.

Begin reading at Tool.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import SKIPPED as SKIPPED
from checks import Checks as Checks

NOBODY = 65534


class Place:
    """A folder for a test that is the tested user's: `workspace`, and `outside` beside it."""

    def __init__(self, user: int) -> None:
        self.user = user
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parlance-test-"))
        self.workspace, self.outside, self.shown = (self.folder / name for name in ("workspace", "outside", "shown"))
        for each in (self.workspace, self.outside, self.shown):
            each.mkdir()
        self.folder.chmod(0o755)

    def give(self) -> None:
        """All that is in it now becomes the tested user's, so that no permission of files protects it."""
        for each in [self.folder, *self.folder.rglob("*")]:
            os.chown(each, self.user, self.user, follow_symlinks=False)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Tool:
    """A sandbox with its shell and its Python, as `user`. `kind` is bubblewrap, landlock, none or best; `within` runs it."""

    def __init__(
        self, program: str, place: Place, kind: str, *settings: str, env: dict[str, str] | None = None, within: tuple[str, ...] = ()
    ) -> None:
        self.place = place
        program = str(pathlib.Path(program).resolve())
        if place.user != os.geteuid():  # the build's folder may be closed to others
            copy = place.folder / "shell_tool"
            if not copy.exists():
                shutil.copy(program, copy)
                copy.chmod(0o755)
            program = str(copy)
        other: Any = {"user": place.user, "group": place.user, "extra_groups": []} if place.user != os.geteuid() else {}
        environment = {**os.environ, "TMPDIR": "/tmp", **({"HOME": "/nonexistent"} if other else {}), **(env or {})}
        self.process = subprocess.Popen(
            [*within, program, str(place.workspace), kind, *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd="/",
            **other,
        )
        self.start = self.receive()

    def receive(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the tool ended"}

    def send(self, **request: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, **request: object) -> Any:
        self.send(**request)
        return self.receive()

    def run(self, command: str, timeout: float = 60) -> Any:
        answer = self.ask(command=command, timeout=timeout)
        assert "error" not in answer, answer
        return answer

    def python(self, code: str, timeout: float = 60) -> Any:
        answer = self.ask(code=code, timeout=timeout)
        assert "error" not in answer, answer
        return answer

    def close(self) -> int:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


def said(answer: Any) -> str:
    """All that a command wrote."""
    return str(answer["out"]["text"] + answer["err"]["text"])


def result(text: str) -> str:
    """As ChatGLM3's format has it."""
    return f"```result\n{text}```"


def user_of(name: str) -> int:
    """root or nobody; where we are neither, we are what we are. Ends the test where we cannot be that user."""
    if os.geteuid() == 0:
        return 0 if name == "root" else NOBODY
    if name == "root":
        print("skipped: this is not root")
        sys.exit(SKIPPED)
    return os.geteuid()


def open_or_skip(program: str, place: Place, kind: str, *settings: str, env: dict[str, str] | None = None) -> Tool:
    """The tool; where this machine has no such sandbox, the test is skipped and says why."""
    tool = Tool(program, place, kind, *settings, env=env)
    if "error" in tool.start:
        print(f"skipped: {tool.start['error']}; {tool.start.get('hint')}")
        place.remove()
        sys.exit(SKIPPED)
    return tool


Part = tuple[Callable[[Checks, Tool], None], ...]


def run_parts(parts: tuple[Part, ...]) -> None:
    """The whole of a test with the arguments SHELL_TOOL KIND. Most of it is waiting for what does not end, so the parts run beside each
    other, each with a shell of its own."""
    program, kind = sys.argv[1:3]
    checks = Checks()

    def run(tool: Tool, part: Part) -> None:
        for check in part:
            check(checks, tool)
        if tool.process.poll() is None:
            tool.close()
        tool.place.remove()

    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        tools = [open_or_skip(program, Place(os.geteuid()), kind, f"stop={32 << 20}", "patience=0.7", "grace=0.7") for _ in parts]
        for done in [pool.submit(run, tool, part) for tool, part in zip(tools, parts, strict=True)]:
            done.result()
    sys.exit(checks.end())


def parents_of_all() -> dict[int, int]:
    """Of each process of the machine."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return parents


def children_of(process: int) -> list[int]:
    return [child for child, parent in parents_of_all().items() if parent == process]


def descendants(root: int) -> set[int]:
    """The processes that descend from one."""
    parents = parents_of_all()
    found = {root}
    while new := {child for child, parent in parents.items() if parent in found} - found:
        found |= new
    return found - {root}


def alive(process: int) -> bool:
    """Runs it? Who has ended and was not taken in by its parent does not."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
