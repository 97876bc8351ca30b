#!/usr/bin/env python3
"""What one run of `parlance agent` leaves in its workspace decides about no right of the next one.

    left_behind_test.py PARLANCE

Ends with 77 where the sandbox cannot be had. Begin reading at main.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, Checks, Run, end_if_none, events_of
from engine import Asked, Reply
from scripted import kinds_here
from stranger_test import WIRE, go, with_engine
from wire import Call

KEY = "k3y-0f-the-user"
SERVER = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    first = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if "id" in asked:
        result = first if asked["method"] == "initialize" else {"tools": []}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def next_run(run: Run, new: Callable[[], Run]) -> Run:
    """Another run in the same workspace."""
    other = new()
    other.workspace = run.workspace
    return other


def check_left_words(checks: Checks, new: Callable[[], Run], kind: str) -> None:
    """A word of a tool's command names a file: what an earlier run left there opens nothing to the next one."""
    run = new()
    key, tools = run.folder / "outside" / "key", run.workspace / "tools.json"
    key.parent.mkdir()
    key.write_text(KEY + "\n", "utf-8")
    (run.workspace / "weather.py").write_text("print(1)\n", "utf-8")
    tools.write_text(json.dumps([{"name": "weather", "description": "", "command": ["python3", "weather.py"]}]), "utf-8")
    outer = run.folder / "tools.json"
    outer.write_text(json.dumps([{"name": "weather", "description": "", "command": ["python3", f"{run.workspace}/weather.py"]}]), "utf-8")
    rewritten = json.dumps([{"name": "weather", "description": "", "command": ["true", str(key)]}])
    (run.workspace / "server.py").write_text(SERVER, "utf-8")
    plain = ("--sandbox", kind, "--no-verify")
    go(run, f"ln -sf {key} weather.py; ln -s {key} settings.json", options=plain)
    words = f"s=python3 {run.workspace}/server.py {run.workspace}/settings.json"
    for name, options in {"a link": (str(tools),), "a link, from outside": (str(outer),), "--mcp": ("--mcp", words)}.items():
        other = next_run(run, new)
        go(other, f"cat {key}", options=(*plain, *(options if len(options) > 1 else ("--tools", *options))))
        said = [one["text"] for one in other.events.of("outcome")]
        checks.that(len(said) == 1 and KEY not in said[0], f"{kind}, {name} in place of a word: {said} {other.errors[-300:]}")
    go(next_run(run, new), f"echo {json.dumps(rewritten)} > tools.json", options=plain)
    checks.equal(tools.read_text("utf-8").strip(), rewritten, "the file of tools is rewritten")
    other = next_run(run, new)
    go(other, f"cat {key}", options=(*plain, "--tools", str(tools)))
    said = [one["text"] for one in other.events.of("outcome")]
    checks.that(len(said) == 1 and KEY not in said[0], f"{kind}, a rewritten file of tools: {said} {other.errors[-300:]}")
    facts = [fact for one in other.events.of("begin") for fact in one["facts"]]
    checks.that(any("it makes no file readable" in fact for fact in facts), f"{kind}: it is said: {facts}")


def check_left_transcripts(checks: Checks, new: Callable[[], Run]) -> None:
    """The transcript goes over no link that commands can replace, nor to a file by a link in its folder."""
    run = new()
    logs = run.folder / "logs"
    logs.mkdir()
    (run.workspace / "logs").symlink_to(logs)
    run.transcripts = run.workspace / "logs"
    go(run, "true")
    checks.that(run.code == 2 and f"over the link {run.workspace}/logs to {logs}" in run.errors, f"{run.code} {run.errors[-300:]}")
    checks.equal(list(logs.iterdir()), [], "nothing is written there")
    run = new()
    victim = run.folder / "victim"
    victim.write_text("", "utf-8")
    run.transcripts.mkdir()
    (run.transcripts / ".lock").symlink_to(victim)
    go(run, "true")
    left = (run.transcripts / ".lock").readlink()
    checks.equal((run.code, left, victim.read_text("utf-8")), (5, victim, ""), "a lock by a link is refused")


def check_left_workspace(checks: Checks, new: Callable[[], Run]) -> None:
    """--resume does not follow a link that stands where the workspace was."""
    run = new()
    base, outside = run.folder / "base", run.folder / "outside"
    (base / "project").mkdir(parents=True)
    outside.mkdir()
    go(run, f"cd ..; mv project away; ln -s {outside} project", options=("--writable", str(base), "--max-turns", "1"),
       workspace=str(base / "project"))  # fmt: skip
    checks.equal((base / "project").is_symlink(), True, f"the workspace is replaced: {run.errors}")
    resumed = subprocess.run([run.parlance, "agent", "--resume", str(run.transcript())], capture_output=True, text=True, timeout=LONGEST,
                             stdin=subprocess.DEVNULL)  # fmt: skip
    wanted = f"the workspace of the transcript, {base / 'project'}, now leads by a link to {outside}"
    checks.that(resumed.returncode == 2 and wanted in resumed.stderr, f"resumed: {resumed.returncode} {resumed.stderr[-400:]}")


def check_stolen(checks: Checks, new: Callable[[], Run], kind: str) -> None:
    """What a command puts into its home is not run by the user's tool, which has a key in its environment."""
    run = new()
    tools = run.folder / "tools.json"
    show = 'touch "$HOME/kept"; ls -A "$HOME"; python3 -c 1'
    tools.write_text(
        json.dumps([{"name": "weather", "description": "", "command": ["bash", "-c", show], "env": {"API_KEY": KEY}}]), "utf-8"
    )
    plant = (
        "p=$(python3 -m site --user-site); mkdir -p $p; "
        f"echo \"import os; open('{run.workspace}/stolen', 'a').write(str(os.environ.get('API_KEY')))\" > $p/usercustomize.py; python3 -c 1"
    )
    calls = [Call(command=plant), Call(tool="weather", given={}), Call(command="cat stolen; ls -A /run/parlance/home $TMPDIR/../homes")]

    def reply(asked: Asked) -> Reply:
        return Reply(ids=run.speech.sampled(run.wire.pieces_of("", "" if calls else "It is done.", [calls.pop(0)] if calls else [])))

    with with_engine(run, reply) as engine:
        command = run.command(engine.url, "--tools", str(tools), "--no-verify", "--sandbox", kind)
        done = subprocess.run([*command, "Do it."], capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    said = [one["text"] for one in events_of(done.stdout).of("outcome")]
    checks.equal(said[1:2], ["kept"], f"{kind}: the tool has a home to itself, which it can change: {done.stderr[-300:]}")
    checks.that(len(said) == 3 and "None" in said[2] and KEY not in said[2] and "kept" not in said[2], f"{kind}: {said}")


def check_sockets(checks: Checks, new: Callable[[], Run], kinds: list[str]) -> None:
    """Under bubblewrap a local socket in a folder that is named can be connected to: the user is told."""
    run = new()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(run.workspace / "rules.sock"))
        for kind in kinds:
            other = next_run(run, new)
            go(other, "true", options=("--sandbox", kind, "--no-verify"))
            told = [fact for one in other.events.of("begin") for fact in one["facts"] if "connect to this socket" in fact]
            wanted = [f"{run.workspace}/rules.sock: commands can connect to this socket"] if kind == "bubblewrap" else []
            checks.equal(told, wanted, f"{kind}: what is said of sockets")


def main() -> int:
    parlance = os.path.abspath(sys.argv[1])
    end_if_none(parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-left-behind-", ignore_cleanup_errors=True) as folder:
        numbers = itertools.count()

        def new() -> Run:
            return Run(parlance, WIRE, pathlib.Path(folder) / str(next(numbers)))

        kinds = kinds_here(parlance, pathlib.Path(folder) / "kinds")
        for kind in kinds:
            check_left_words(checks, new, kind)
            check_stolen(checks, new, kind)
        check_sockets(checks, new, kinds)
        check_left_transcripts(checks, new)
        check_left_workspace(checks, new)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
