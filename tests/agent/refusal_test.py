#!/usr/bin/env python3
"""Which sandbox is chosen, and what is said where none works or the workspace is one that must not be given away.

    refusal_test.py SHELL_TOOL

Namespaces are switched off in a namespace of the test's own, Landlock by a filter of system calls. Begin reading at main.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import pwd
import struct
import subprocess
import sys
from typing import Any

from shell_tool import SKIPPED, Checks, Place

LANDLOCK_CREATE = 444
NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"'


def without_landlock() -> None:
    """In a child: the kernel says that it has no Landlock."""
    instructions = [(0x20, 0, 0, 0), (0x15, 0, 1, LANDLOCK_CREATE), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("HBBI", *each) for each in instructions)
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HP", len(instructions), ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program) != 0:
        os._exit(99)


def start(command: list[str], *, landlock: bool = True) -> Any:
    """What the tool says at its start."""
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, preexec_fn=None if landlock else without_landlock)
    return json.loads(done.stdout.splitlines()[0]) if done.stdout else {"error": done.stderr.decode()}


def main() -> None:
    program, checks, place = os.path.abspath(sys.argv[1]), Checks(), Place(os.geteuid())
    best = [program, str(place.workspace), "best"]
    no_namespaces = ["unshare", "--user", "--map-root-user", "bash", "-c", NO_NAMESPACES, *best]
    if subprocess.run([*no_namespaces[:6], "true"], capture_output=True).returncode != 0 or platform.system() != "Linux":
        print("skipped: user namespaces are off already")
        sys.exit(SKIPPED)
    chosen = start(best)
    checks.that(chosen.get("kind") in ("bubblewrap", "landlock"), "the best is chosen", chosen)
    second = start(no_namespaces)
    if second.get("kind") == "landlock":
        checks.that("bubblewrap" in second["reason"], "and why it is not bubblewrap", second)
    checks.that("user.max_user_namespaces" in json.dumps(second) or "not installed" in json.dumps(second), "the mend of bubblewrap", second)
    none = start(no_namespaces, landlock=False)
    checks.that(
        "no sandbox works here" in none["error"]
        and "sysctl -w user.max_user_namespaces" in none["error"]
        and "this kernel has no Landlock" in none["error"]
        and "--no-sandbox" in none["hint"],
        "a refusal has both reasons",
        none,
    )
    alone = start(best, landlock=False)
    checks.that(alone.get("kind") == chosen.get("kind") or "error" in alone, "bubblewrap does not need Landlock", alone)
    checks.that(start([program, str(place.workspace), "none"]).get("kind") == "none", "without a sandbox, where this is asked for")
    home = os.path.expanduser("~")
    for workspace, word in {
        "/": "system",
        "/usr": "system",
        "/etc/ssl": "system",
        "/root": "home",
        home: "home",
        "/nonexistent": "no such",
        "/tmp": "temporary files",
        "/etc/passwd": "no folder",
        "/home/..": "system",
    }.items():
        answer = start([program, workspace, "best"])
        checks.that(
            word in answer.get("error", "") or ("error" in answer and workspace in (home, "/root")), f"workspace {workspace}", answer
        )
    for user in pwd.getpwall():  # also where it is another user's
        if os.path.isdir(user.pw_dir) and user.pw_dir.startswith("/home/"):
            for workspace in (user.pw_dir, os.path.dirname(user.pw_dir)):
                answer = start([program, workspace, "best"])
                checks.that("home" in answer.get("error", ""), f"workspace {workspace}", answer)
    place.remove()
    sys.exit(checks.end())


if __name__ == "__main__":
    main()
