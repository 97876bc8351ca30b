#!/usr/bin/env python3
"""What one session of a sandbox leaves decides nothing about the next, nor what comes and goes outside while it runs; and how it ends.

    sandbox_sessions_test.py SHELL_TOOL bubblewrap|landlock root|nobody

What is outside is that of sandbox_test.py. Begin reading at CHECKS.
"""

from __future__ import annotations

import copy
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from sandbox_test import SECRET, Outside
from shell_tool import Checks, Place, Tool, alive, children_of, descendants, open_or_skip, said, user_of


def check_planted(checks: Checks, program: str, place: Place, kind: str) -> None:
    """What commands leave in the workspace decides neither what runs outside at the next start nor what that start opens to them."""
    watched, programs, inner = place.folder / "watched", place.workspace / "programs", place.workspace / "inner" / "shown"
    for folder in (watched, programs, inner):
        folder.mkdir(parents=True)
    place.give()
    real = shutil.which("bwrap")
    planted = f"printf '#!/bin/sh\\necho x > {watched}/escaped\\nexec {real} \"$@\"\\n' > programs/bwrap && chmod 755 programs/bwrap"
    environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
    for start in ("a program planted before a new shell", "one that is there when the agent starts"):
        tool = Tool(program, place, kind, f"readable={inner}", env=environment)
        tool.run(f"{planted}; rm -rf inner; mkdir inner; ln -s {place.outside} inner/shown; exit")
        answer = tool.run("ls inner/shown; cat inner/shown/secret; test -x programs/bwrap && echo planted")
        checks.that("planted" in said(answer), f"{start}: commands run", answer)
        checks.that(SECRET not in said(answer), f"{start}: a link in place of a folder that was named opens nothing", answer)
        checks.that(not (watched / "escaped").exists(), f"{start}: is not run outside")
        tool.close()
        shutil.rmtree(place.workspace / "inner")
        inner.mkdir(parents=True)
        place.give()
    loading = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(watched / "loader")}
    tool = Tool(program, place, kind, "environment=LD_DEBUG", "environment=LD_DEBUG_OUTPUT", env=loading)
    answer = tool.run("echo $LD_DEBUG")
    checks.that("libs" in said(answer), "a variable that was named reaches commands", answer)
    others = {path.name for path in watched.iterdir()} - {f"loader.{tool.start['pid']}"}
    checks.equal(others, set(), "what loads programs by a command's variables outside of the sandbox")
    tool.close()


def check_own_folders(checks: Checks, program: str, place: Place, kind: str) -> None:
    """Links in place of all folders of the session that commands may change: the next start shows nothing by them."""
    before = sorted(place.outside.iterdir())
    tool = Tool(program, place, kind)
    folders = "$(find /run/parlance /dev/shm $TMPDIR $TMPDIR/../control -mindepth 1 -depth -type d 2> /dev/null)"
    replaced = f'for each in {folders}; do mv "$each" "$each.away" && ln -s {place.outside} "$each" && echo replaced; done 2> /dev/null'
    checks.that("replaced" in said(tool.run(replaced)), "folders of the session are replaced")
    tool.run("exit")
    answer = tool.run("cat /dev/shm/secret $(find /run/parlance $TMPDIR $TMPDIR/../control -type l 2> /dev/null | sed 's|$|/secret|')")
    checks.that(SECRET not in said(answer), "what links in place of them lead to is not shown", answer)
    tool.run("echo x > /dev/shm/written; for each in $(find /run/parlance $TMPDIR -type l); do echo x > $each/written; done")
    checks.equal(sorted(place.outside.iterdir()), before, "nor changed")
    tool.close()


def check_left_links(checks: Checks, program: str, place: Place, kind: str) -> None:
    """A link that one run leaves in place of a folder that was named: the next run with the same options names it and begins nothing."""
    parent = copy.copy(place)
    parent.workspace = place.workspace / "project"
    cases = (
        ("readable", place, f"readable={place.workspace}/data", f"rmdir data; ln -s {place.outside} data", "data"),
        ("writable", place, f"writable={place.workspace}/data", f"rmdir data; ln -s {place.outside} data", "data"),
        ("on its way", place, f"readable={place.workspace}/way/inner", f"mv way away; ln -s {place.folder}/far way", "way"),
        ("workspace", parent, f"writable={place.workspace}", f"cd ..; mv project away; ln -s {place.outside} project", "project"),
    )
    for folder in (place.workspace / "data", place.workspace / "way" / "inner", place.folder / "far" / "inner", parent.workspace):
        folder.mkdir(parents=True, exist_ok=True)
    place.give()
    for name, where, setting, planting, link in cases:
        tool = Tool(program, where, kind, setting)
        tool.run(planting)
        tool.close()
        tool = Tool(program, where, kind, setting)
        error = str(tool.start.get("error"))
        target = (place.workspace / link).readlink()
        wanted = f"over the link {place.workspace / link} to {target}, and commands may have put"
        checks.that(wanted in error, f"a link of an earlier run, {name}: it is refused", tool.start)
        tool.close()
        (place.workspace / link).unlink()
        (place.workspace / link).mkdir()
        place.give()
    alias = place.folder / "alias"
    alias.symlink_to(place.workspace)
    tool = Tool(program, place, kind, f"readable={alias}/data")
    checks.that("error" not in tool.start, "a link of the user's own, outside of what commands change", tool.start)
    tool.close()
    alias.unlink()
    shutil.rmtree(place.workspace / "away", ignore_errors=True)


def check_around(checks: Checks, program: str, place: Place, kind: str) -> None:
    """A link in place of a folder of /tmp that holds the workspace: no start makes folders where it leads."""
    before = sorted(place.outside.iterdir())
    tool = Tool(program, place, kind)
    away = f"cd /tmp && mv {place.folder} moved; rm -rf {place.folder}; ln -s /oldroot{place.outside} {place.folder}"
    tool.run(f"test {kind} = bubblewrap && ( {away} ); exit")
    answer = tool.run("pwd; echo x > written; ls")
    checks.that("written" in said(answer) and (place.workspace / "written").exists(), "the workspace is there all the same", answer)
    checks.equal(sorted(place.outside.iterdir()), before, "where a link in /tmp leads")
    tool.close()
    (place.workspace / "written").unlink()


def check_nested(checks: Checks, program: str, place: Place, kind: str) -> None:
    """The same of a workspace that is itself in a folder that commands may change."""
    within = copy.copy(place)
    within.workspace = place.workspace / "way" / "workspace"
    within.workspace.mkdir(parents=True)
    place.give()
    tool = Tool(program, within, kind, f"writable={place.workspace}")
    answer = tool.run(f"pwd; cd ../.. && mv way moved && mkdir way && ln -s {place.outside} way/workspace; exit")
    checks.that(str(within.workspace) in said(answer), "a workspace in another folder", answer)
    answer = tool.run(f"cat {within.workspace}/secret; echo x > {within.workspace}/written; ls -d moved/workspace || echo elsewhere")
    checks.that(SECRET not in said(answer) and not (place.outside / "written").exists(), "a link in place of the workspace", answer)
    tool.close()


# Folders that commands have closed, too deep for a path.
DEEP = """
import os
os.chdir(os.environ["TMPDIR"])
for name, count in (("d", 3000), ("n" * 250, 60)):
    for _ in range(count):
        os.mkdir(name)
        os.chdir(name)
    os.mkdir("closed")
    open("closed/file", "w").close()
    os.chmod("closed", 0)
    os.chdir(os.environ["TMPDIR"])
"""


def check_etc(checks: Checks, program: str, place: Place, kind: str) -> None:
    """As root: private files of /etc that are deep in it, and those that are made or renamed while the agent runs."""
    if place.user != 0:
        return
    folder = pathlib.Path("/etc") / f"parlance-test-{os.getpid()}"
    deep = folder / "1/2/3/4/5/6/7"

    def write(path: pathlib.Path) -> None:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(opened, SECRET.encode())
        os.close(opened)

    try:
        deep.mkdir(parents=True)
        write(deep / "key")
        write(folder / "hidden")
        (folder / "public").write_text("for everybody")
        tool = Tool(program, place, kind)
        tool.run("true")
        write(folder / "new")
        (folder / "new").rename(folder / "hidden")
        late = folder / "late" if kind == "bubblewrap" else folder / "hidden"
        write(late)
        answer = tool.run(f"cat {folder}/public; cat {deep}/key {folder}/hidden {late}")
        checks.that("for everybody" in said(answer) and SECRET not in said(answer), "private files of /etc", answer)
        copies = re.findall(r"(/parlance-agent-\S+)/etc /etc ", said(tool.run("cat /proc/self/mountinfo")))
        checks.equal(len(copies), 1 if kind == "bubblewrap" else 0, "/etc is a copy")
        there = [place for copy in copies for place in (pathlib.Path("/dev/shm" + copy), pathlib.Path(copy)) if place.exists()]
        tool.close()
        checks.equal([str(place) for place in there if place.exists()], [], "copies of /etc that stay")
        (folder / "named").mkdir(mode=0o700)
        write(folder / "named" / "key")
        tool = Tool(program, place, kind, f"readable={folder}/named", f"readable={folder}/hidden")
        answer = tool.run(f"cat {folder}/named/key {folder}/hidden")
        checks.equal(said(answer).count(SECRET), 2, f"private files of /etc that were named: {tool.start}")
        tool.close()
    finally:
        shutil.rmtree(folder)


def check_unfit_memory(checks: Checks, program: str, place: Place, kind: str) -> None:
    """As root, with bubblewrap: the copy of /etc is on the disk where /dev/shm has no room for it, or runs no programs."""
    if place.user != 0 or kind != "bubblewrap":
        return
    script = """
mount -t tmpfs -o "$0" tmpfs /dev/shm 2> /dev/null || exit 77
mkdir /dev/shm/parlance-agent-killed && : > /dev/shm/parlance-agent-killed/lock && touch -d 2020-01-01 /dev/shm/parlance-agent-killed
"$@"
echo '{"left": "'$(ls /dev/shm)'"}'
"""
    for options, is_in_memory in (("size=640m", True), ("size=8m", False), ("size=640m,noexec", False)):
        tool = Tool(program, place, kind, within=("unshare", "-m", "sh", "-c", script, options))
        if "error" in tool.start and tool.process.wait() == 77:
            return
        mounts = said(tool.run("cat /proc/self/mountinfo"))
        checks.equal(" /parlance-agent-" in mounts, is_in_memory, f"/etc in memory of {options}")
        assert tool.process.stdin
        tool.process.stdin.close()
        checks.equal(tool.receive(), {"left": ""}, f"what stays in memory of {options}")
        tool.process.wait()


def check_later_mounts(checks: Checks, program: str, place: Place, kind: str) -> None:
    """As root, with bubblewrap: what is mounted later in a folder that may only be read does not come into the sandbox."""
    later = place.folder / "mounts" / "later"
    later.mkdir(parents=True)
    folder = later.parent

    def mount(*words: str) -> bool:
        return subprocess.run(["mount", *words], capture_output=True).returncode == 0

    if place.user != 0 or kind != "bubblewrap" or not mount("--bind", str(folder), str(folder)):
        return
    try:
        mount("--make-shared", str(folder))
        tool = Tool(program, place, kind, f"readable={folder}")
        tool.run("true")  # the sandbox of a shell begins with its first command
        checks.that(mount("-t", "tmpfs", "none", str(later)), "a later mount")
        (later / "file").write_text("untouched")
        answer = tool.run(f"echo x > {later}/file; cat {later}/file")
        checks.equal((later / "file").read_text(), "untouched", "a later mount in a folder that may be read")
        checks.that("untouched" not in said(answer), "it is not there", answer)
        tool.close()
    finally:
        subprocess.run(["umount", "-l", str(later)], capture_output=True)
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def check_starts(checks: Checks, program: str, place: Place, kind: str) -> None:
    """It starts in /var/tmp, and where commands have taken the names that a trial of ours might have had; its folder goes all the same."""
    other = Place(place.user)
    shutil.rmtree(other.folder)
    other.folder = pathlib.Path(tempfile.mkdtemp(prefix="parlance-test-", dir="/var/tmp"))
    other.workspace, sessions = other.folder / "workspace", other.folder / "sessions"
    for folder in (other.workspace, sessions):
        folder.mkdir()
    other.folder.chmod(0o755)
    last = int(pathlib.Path("/proc/loadavg").read_text().split()[-1])
    for number in range(last, last + 2000):
        (other.workspace / f".parlance-trial-{number}").mkdir()
    other.give()
    tool = Tool(program, other, kind, env={"TMPDIR": str(sessions)})
    if checks.that("error" not in tool.start, "a start in /var/tmp, with names of trials that are taken", tool.start):
        checks.that(str(other.workspace) in said(tool.run("pwd; echo x > made")), "a command there")
        checks.that((other.workspace / "made").exists(), "it changes the workspace")
        tool.python(DEEP)
        tool.close()
        checks.equal(list(sessions.iterdir()), [], "folders of commands that are too deep for a path")
    other.remove()


def check_foreign_mounts(checks: Checks, program: str, place: Place, kind: str) -> None:
    """A process of the same user that has another file at the workspace's path, as in a container: commands do not change its mode."""
    file = place.workspace / "inner-file"
    script = f"mount -t tmpfs none {place.workspace} && echo x > {file} && chmod 600 {file} && echo ready && read line; stat -c %a {file}"
    user: Any = {"user": place.user, "group": place.user, "extra_groups": []} if place.user != os.geteuid() else {}
    if kind != "landlock":
        return
    with subprocess.Popen(
        ["unshare", "-Urm", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **user
    ) as inner:
        assert inner.stdout
        if inner.stdout.readline() == "ready\n":
            tool = Tool(program, place, kind)
            tool.python(f"import os\nos.chmod('/proc/{inner.pid}/root{file}', 0o666)")
            own = tool.run("touch own && chmod 640 own && stat -c %a own")
            checks.equal(said(own).strip(), "640", "the mode of a file of the workspace")
            tool.close()
            checks.equal(inner.communicate("go on\n", 20)[0].strip(), "600", "the mode of a file in another mount namespace")
        else:
            print("skipped: no user may have a mount namespace here")


def check_end(checks: Checks, program: str, place: Place, kind: str) -> None:
    """When the agent is killed, all its processes go."""
    tool = Tool(program, place, kind)
    tool.run("sleep 100 & setsid -f sleep 100; nohup sleep 100 > /dev/null 2>&1 & (sleep 100 &)")
    tool.python("1")
    all_of_it = descendants(tool.process.pid)
    checks.that(len(all_of_it) >= 6, "there are processes", all_of_it)
    tool.process.kill()
    tool.process.wait()
    end = time.monotonic() + 20
    while any(map(alive, all_of_it)) and time.monotonic() < end:
        time.sleep(0.02)
    checks.that(not any(map(alive, all_of_it)), "a killed agent leaves no processes", [each for each in all_of_it if alive(each)])


def check_stuck(checks: Checks, program: str, place: Place, kind: str) -> None:
    """A supervisor that does not come to run takes the processes with it all the same, and not before them."""
    if kind != "landlock":  # bubblewrap has none
        return
    tool = Tool(program, place, kind)
    tool.run("sleep 100 & setsid -f sleep 100")
    all_of_it = descendants(tool.process.pid)
    [supervisor] = children_of(tool.process.pid)
    os.kill(supervisor, signal.SIGSTOP)
    checks.that(tool.close() == 0, "the tool ends")
    left = [each for each in all_of_it if alive(each)]
    checks.equal(left, [], "processes that are left by a supervisor that was stopped")
    for each in left:
        os.kill(each, signal.SIGKILL)


# Leaves the terminal to a group that has ended, as tcgetpgrp() goes on giving its number.
GONE_GROUP = """
import os, pathlib, signal, time
for each in (signal.SIGTTOU, signal.SIGINT):
    signal.signal(each, signal.SIG_IGN)
terminal = os.open("/dev/tty", os.O_RDWR)
if (child := os.fork()) == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpid())
    os._exit(0)
os.waitpid(child, 0)
pathlib.Path("gone").touch()
time.sleep(60)
"""


def begin_as(number: int, user: int) -> subprocess.Popen[bytes] | None:
    """A program outside, with a group of its own, that has this number. None: it cannot have it."""
    for _ in range(50):
        try:
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
        except OSError:
            return None
        begun = subprocess.Popen(["sleep", "100"], cwd="/", process_group=0, user=user)
        if begun.pid == number:
            return begun
        begun.kill()
        begun.wait()
    return None


def group_at_terminal(agent: int) -> int:
    """By the number that all of the terminal's processes have as their eighth field, dead or not."""
    fields = [pathlib.Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in descendants(agent)]
    return next(int(each[5]) for each in fields if int(each[5]) > 0)


def check_gone_group(checks: Checks, program: str, place: Place, kind: str) -> None:
    """What is outside and has the number of a group that has ended gets no signal."""
    tool = Tool(program, place, kind, "grace=0.3")
    (place.workspace / "group.py").write_text(GONE_GROUP)
    tool.send(command="python3 group.py", timeout=3)
    end = time.monotonic() + 20
    while not (place.workspace / "gone").exists() and time.monotonic() < end:
        time.sleep(0.02)
    stranger = begin_as(group_at_terminal(tool.process.pid), place.user)
    answer = tool.receive()
    checks.that(answer["end"] == "timed_out", "a command that has left the terminal to nobody", answer)
    if stranger is None:
        print("skipped: no program outside can be given the number of a group")
    else:
        checks.that(stranger.poll() is None, "a program outside with the number of a group that has ended runs on")
        stranger.kill()
        stranger.wait()
    tool.close()
    for name in ("gone", "group.py"):
        (place.workspace / name).unlink()


CHECKS = (
    check_gone_group,
    check_planted,
    check_nested,
    check_around,
    check_own_folders,
    check_left_links,
    check_etc,
    check_unfit_memory,
    check_later_mounts,
    check_starts,
    check_foreign_mounts,
    check_stuck,
    check_end,
)


def main() -> None:
    program, kind, user = sys.argv[1:4]
    place, checks = Place(user_of(user)), Checks()
    outside = Outside(place)
    try:
        open_or_skip(program, place, kind).close()
        for check in CHECKS:
            check(checks, program, place, kind)
    finally:  # or ctest waits for the process outside, which has its output
        outside.close()
        place.remove()
    sys.exit(checks.end())


if __name__ == "__main__":
    main()
