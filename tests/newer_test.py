#!/usr/bin/env python3
"""Tests tests/oracle/newer_transformers.py with commands in pip's place: a newer release is said, all else is silence, and nothing fails."""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ORACLE = pathlib.Path(__file__).resolve().parent / "oracle"
PINNED = re.search(r"^transformers==(\S+)$", (ORACLE / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
MAJOR, MINOR, PATCH = PINNED.split(".")
NEWER = (f"{MAJOR}.{MINOR}.{int(PATCH) + 1}", f"{MAJOR}.{int(MINOR) + 10}.0", f"{int(MAJOR) + 1}.0", f"{MAJOR}.1{MINOR}.0")
NOT_NEWER = (PINNED, f"{int(MAJOR) - 1}.99.9", f"{MAJOR}.{int(MINOR) - 1}.30", f"{MAJOR}.{MINOR}")


def said(folder, script):
    pip = folder / "pip"
    pip.write_text("#!/bin/sh\n" + script, "utf-8")
    pip.chmod(0o755)
    done = subprocess.run([sys.executable, "-B", ORACLE / "newer_transformers.py", pip], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main():
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for version in NEWER:
            code, out, err = said(folder, f"echo 'transformers ({version})'; echo 'Available versions: {version}, {PINNED}'")
            if code or err or out.count("\n") != 1 or version not in out or PINNED not in out:
                faults.append(f"{version}: {code} {out!r} {err!r}")
        silent = [f"echo 'transformers ({version})'" for version in NOT_NEWER]
        silent += ["echo 'ERROR: no such host' >&2; exit 1", "echo 'transformers (next)'", "exit 0", "echo nonsense"]
        for script in silent:
            if (answer := said(folder, script)) != (0, "", ""):
                faults.append(f"{script}: {answer}")
        start = time.monotonic()
        if (answer := said(folder, "exec sleep 60")) != (0, "", "") or time.monotonic() - start > 20:
            faults.append(f"a registry that does not answer: {answer}, {time.monotonic() - start:.0f} s")
        (folder / "pip").unlink()
        done = subprocess.run([sys.executable, "-B", ORACLE / "newer_transformers.py", folder / "pip"], capture_output=True, text=True)
        if (done.returncode, done.stdout, done.stderr) != (0, "", ""):
            faults.append(f"without pip: {done}")
    print("\n".join([*faults, f"{len(NEWER) + len(silent) + 2} answers of a registry, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
