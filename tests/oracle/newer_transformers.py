#!/usr/bin/env python3
"""Says in one line when the registry has a transformers newer than the one that requirements.txt pins; else nothing.

    newer_transformers.py [PIP ...]     the command that asks, by default that of build/oracle/venv

Never fails, and is silent where the registry cannot be asked, or does not answer within some seconds. `make test` runs it.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PIP = [HERE.parent.parent / "build" / "oracle" / "venv" / "bin" / "python", "-m", "pip"]
PATIENCE = 5  # seconds


def number(version):
    return [int(part) for part in version.split(".")]


def newest_known(pip):
    """What the registry says, or None."""
    command = [*pip, "index", "versions", "transformers", "--disable-pip-version-check", "--retries", "0", "--timeout", "3"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"transformers \((\d+(?:\.\d+)*)\)", said)
    return found and found[1]


def main():
    pinned = re.search(r"^transformers==(\S+)$", (HERE / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
    newest = newest_known(sys.argv[1:] or PIP)
    if newest and number(newest) > number(pinned):
        print(f"transformers {newest} is out; the newest that parlance follows is {pinned}: see tests/oracle/README.md, \"Which transformers\"")


if __name__ == "__main__":
    main()
