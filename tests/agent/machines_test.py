#!/usr/bin/env python3
"""Machines that are not as most, and commands that leave their shell in a state: what the agent says of them is true.

    machines_test.py PARLANCE

Each part runs in each kind of sandbox that works here; ends with 77 where none does. Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from agent_run import LONGEST, TOKENIZER, Checks, Run, end_if_none, events_of
from scripted import NO_ENGINE, Call, converse, kinds_here
from stranger_test import Script, with_engine
from wire import FORMATS

NEW = "There is a new shell, in "


class Machine:
    """Runs commands in one kind of sandbox."""

    def __init__(self, parlance: str, kind: str, folder: pathlib.Path, checks: Checks) -> None:
        self.parlance, self.kind, self.folder, self.checks = parlance, kind, folder, checks
        self.runs = 0

    def next(self) -> pathlib.Path:
        self.runs += 1
        return self.folder / str(self.runs)

    def observed(self, *commands: str, options: tuple[str, ...] = ()) -> list[str]:
        """What the model was told of each command; the transcript replays equal."""
        turns = [[Call(command=command)] for command in commands]
        talk = converse(self.parlance, self.next(), turns, "--sandbox", self.kind, "--no-verify", *options)
        self.checks.equal((talk.code, len(talk.observed)), (0, len(commands)), f"{self.kind}, {commands}: {talk.errors} {talk.observed}")
        talk.run.check_replay(self.checks, f"{self.kind}, {commands}")
        return [*talk.observed, *[""] * (len(commands) - len(talk.observed))]

    def begins(
        self, workspace: pathlib.Path, *prefix: str, options: tuple[str, ...] = (), before: Callable[[], None] | None = None
    ) -> tuple[int, str, str]:
        """Exit code, standard error and events of a run whose engine is none: code NO_ENGINE says that all before it went well."""
        workspace.mkdir(parents=True, exist_ok=True)
        command = [
            *prefix,
            self.parlance,
            "agent",
            "-f",
            "terminal-agent",
            "--tokenizer",
            str(TOKENIZER),
            "--backend",
            "llama-server=http://127.0.0.1:9",
            "--sandbox",
            self.kind,
        ]
        command += ["--workspace", str(workspace), "--no-transcript", "--json", *options, "nothing"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL, preexec_fn=before)
        return done.returncode, done.stderr, done.stdout


def lost_folders(on: Machine) -> None:
    """A shell that ends in a folder that is gone, or that nobody may enter, has ended all the same as it did."""
    checks = on.checks
    told = on.observed("mkdir s; cd s; echo here; rmdir ../s; exit 3", "pwd")
    workspace = on.folder / str(on.runs) / "workspace"
    checks.that("here" in told[0] and "exit status 3" in told[0], f"{on.kind}: what the command did is said", told[0])
    checks.that(
        f"{NEW}{workspace}, with the variables" in told[0] and "cannot be entered" in told[0], f"{on.kind}: where the new one is", told[0]
    )
    checks.that(f"\n{workspace}\n" in told[1] + "\n", f"{on.kind}: it is there", told[1])
    told = on.observed(
        "x=kept; echo IMPORTANT; chmod 000 .; exit 3",
        f'chmod 755 "{on.folder / str(on.runs + 1)}/workspace"; echo $x',
        'cd "$OLDPWD" 2> /dev/null; pwd',
    )
    checks.that("IMPORTANT" in told[0] and "exit status 3" in told[0] and NEW in told[0], f"{on.kind}: a folder without rights", told[0])
    checks.that("exit status 0" in told[1] and "kept" in told[1], f"{on.kind}: which get it back", told[1])


def lost_shells(on: Machine) -> None:
    """Variables that could not be saved are not said to be there, and jobs that have ended with their shell are told."""
    checks = on.checks
    told = on.observed("K=1; x=$(head -c 2M /dev/zero | tr '\\0' a)", "exit 0", 'echo "K=$K x=${#x}"', options=("--file-size", "1"))
    checks.that("exit status 0" in told[1], f"{on.kind}: the status is the command's, not that of what was saved", told[1])
    checks.that(
        "Variables and background jobs are gone" in told[1] and "K= x=0" in told[2], f"{on.kind}: variables that are lost", told[1:]
    )
    told = on.observed("head -c 2M /dev/zero > large", options=("--file-size", "1"))
    checks.that("exit status 153" in told[0] and "larger than 1 MiB" in told[0], f"{on.kind}: a file's size", told[0])
    told = on.observed("K=1; sleep 500 & echo up", "exit 1", 'jobs; echo "K=$K"')
    checks.that("with the variables of the old one. Background jobs are gone." in told[1], f"{on.kind}: jobs that are lost", told[1])
    checks.that("K=1" in told[2] and "sleep" not in told[2], f"{on.kind}: and variables that are not", told[2])
    state = "D=$(tr '\\0' '\\n' < /proc/$$/cmdline | sed -n 's|/shell.start$||p')/state; trap - EXIT; rm -f $D/shell.saved"
    for what in ("mkfifo $D/shell.saved", "ln -s /dev/zero $D/shell.saved", "mkdir $D/shell.saved"):
        told = on.observed(f"{state}; {what}; kill -9 $$", "echo on")
        checks.that("Variables and background jobs are gone" in told[0] and "on" in told[1], f"{on.kind}: {what}", told)
    told = on.observed("echo $(", "cat > a.txt <<EOF\nno end", "echo on")
    checks.that("exit status 0" in told[1] and NEW not in told[1] and "on" in told[2], f"{on.kind}: texts that are not closed", told)
    told = on.observed("printf 'echo c > x\\0y'; echo c > x\0y", "ls")
    checks.that("NUL" in told[0] and "not run" in told[0] and "xy" not in told[1], f"{on.kind}: a command with a NUL", told)


def few_resources(on: Machine) -> None:
    """What a user's limits leave is enough, or the reason is said and nothing is left half done."""
    checks = on.checks

    def limited(what: int, *most: int) -> Callable[[], None]:
        return lambda: resource.setrlimit(what, most)  # type: ignore[arg-type]

    for soft, hard in ((64, 4096), (64, 64)):
        code, errors, _ = on.begins(on.next(), before=limited(resource.RLIMIT_NOFILE, soft, hard))
        checks.equal(code, NO_ENGINE, f"{on.kind}: {soft} descriptors: {errors}")
    for most in (12, 16, 20):
        code, errors, _ = on.begins(on.next(), before=limited(resource.RLIMIT_NOFILE, most, most))
        checks.that(code == 2 and "Too many open files" in errors and "ulimit -n" in errors, f"{on.kind}: {most} descriptors: {errors}")
    if os.getuid() != 0:
        return
    workspace = on.next()
    workspace.mkdir(parents=True)
    os.chown(workspace, 43212, 43212)
    for folder in (workspace, *workspace.parents):
        if folder.is_relative_to(tempfile.gettempdir()) and str(folder) != tempfile.gettempdir():
            folder.chmod(0o755)
    # Each number of threads that may be the last: none waits for one that it cannot have.
    first = {"bubblewrap": 43220, "landlock": 43240}[on.kind]
    for most in range(2, 14):
        user = first + most  # of its own: others' processes count too
        os.chown(workspace, user, user)
        prefix = ("prlimit", f"--nproc={most}", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
        code, errors, events = on.begins(workspace, *prefix)
        ends = [one["reason"] for one in events_of(events).of("end")]
        checks.that(code in (2, 3, NO_ENGINE) and len(ends) == 1, f"{on.kind}: {most} processes: {code} {ends}", errors)


def wrong_places(on: Machine) -> None:
    """Where the workspace, /proc, the terminals or a file of tools are not as they have to be, the error says which."""
    checks = on.checks
    if os.getuid() == 0:
        mount = "mount -t tmpfs t {}; exec "
        unwritable = on.next()
        unwritable.mkdir(parents=True)
        for what, script, words in (
            (
                "a workspace that is read-only",
                f"mount -o ro,bind '{unwritable}' '{unwritable}'; exec ",
                ("may not write in the workspace", "Read-only"),
            ),
            ("no terminals", mount.format("/dev/pts"), ("pseudo-terminal",)),
        ):
            wrapped = ("unshare", "-m", "sh", "-c", script + '"$@"', "sh")
            code, errors, _ = on.begins(unwritable, *wrapped)
            for word in words:
                checks.that(code in (2, 3) and word in errors, f"{on.kind}: {what}: {code}", errors)
        foreign = on.next()
        foreign.mkdir(parents=True)
        os.chown(foreign, 43212, 43212)
        code, errors, _ = on.begins(foreign)
        if code != NO_ENGINE:
            checks.that("must belong to who starts the agent" in errors, f"{on.kind}: somebody else's workspace: {code}", errors)
    code, errors, _ = on.begins(on.next(), options=("--tools", "/dev/zero"))
    checks.that(code == 3 and "at most 8 MiB" in errors, f"{on.kind}: a file of tools without end: {code}", errors)
    shown, link = on.next(), on.folder / "link"
    shown.mkdir(parents=True)
    (shown / "file").write_text("seen")
    link.symlink_to(shown)
    told = on.observed(f"cat '{link}/file'", options=("--readable", str(link)))
    checks.that("seen" in told[0], f"{on.kind}: --readable by a link", told[0])


def odd_streams(on: Machine) -> None:
    """Output that nobody takes ends the run with 3, and with an end in its transcript; so does a terminal that goes."""
    checks = on.checks
    for what, tail in (("closed", ">&-"), ("both closed", ">&- 2>&-"), ("a pipe that nobody reads", "| true"), ("full", "> /dev/full")):
        run = Run(on.parlance, FORMATS["terminal-agent"], on.next())
        with with_engine(run, Script(run, "echo a > b", "cat b")) as engine:
            script = f'{{ "$@" {tail.split("|")[0]}; echo $? > "$0"; }}' + (" | true" if "|" in tail else "")
            told = run.folder / "code"
            command = ["bash", "-c", script, str(told), *run.command(engine.url, "--sandbox", on.kind), "Do it."]
            subprocess.run(command, capture_output=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
        checks.equal(told.read_text().strip(), "3", f"{on.kind}: standard output is {what}")
        if tail.startswith("|"):
            last = json.loads(run.transcript().read_text().splitlines()[-1])
            checks.equal(last["record"], "end", f"{on.kind}: its transcript has an end")
    run = Run(on.parlance, FORMATS["terminal-agent"], on.next())
    with with_engine(run, Script(run, "sleep 60", "true")) as engine:
        command = run.command(engine.url, "--sandbox", on.kind)
        process = subprocess.Popen([*command, "Do it."], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        seen = [next(line for line in process.stdout if '"event": "ran"' in line or '"event": "replied"' in line)]
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        rest, _ = process.communicate(timeout=LONGEST)
    ends = events_of("".join(seen) + rest).of("end")
    checks.equal([one["reason"] for one in ends], ["stopped"], f"{on.kind}: SIGHUP")
    checks.equal(json.loads(run.transcript().read_text().splitlines()[-1])["record"], "end", f"{on.kind}: also in its transcript")


def main() -> int:
    parlance = sys.argv[1]
    end_if_none(parlance)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="parlance-machines-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        machines = [Machine(parlance, kind, folder / kind, checks) for kind in kinds_here(parlance, folder / "kinds")]
        parts = (odd_streams, lost_folders, lost_shells, few_resources, wrong_places)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in [
                pool.submit(part, Machine(parlance, on.kind, on.folder / part.__name__, checks)) for part in parts for on in machines
            ]:
                done.result()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
