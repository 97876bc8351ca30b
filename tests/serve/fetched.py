"""Packages of npm and of the Python registry for tests of `make long`, fetched once. Begin reading at fetched."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys


def fetched(name: str, there: pathlib.Path, *commands: list[str]) -> bool:
    """Is it in the folder, or could the commands put it there? Says so where it cannot be had. `name` has the versions."""
    whole = there / ".fetched"  # says what is there; a command may be ended in its middle
    if whole.exists() and whole.read_text(encoding="utf-8") == name:
        return True
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir(parents=True)
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True) if shutil.which(command[0]) else None
        if done is None or done.returncode != 0:
            shutil.rmtree(there, ignore_errors=True)
            print(f"skipped: {name} cannot be had")
            return False
    whole.write_text(name, encoding="utf-8")
    return True


def npm(there: pathlib.Path, *packages: str) -> bool:
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(there), *packages]
    return fetched(" ".join(packages), there, command)


def pip(there: pathlib.Path, package: str) -> bool:
    """The package and what it needs, to be found by sys.path."""
    return fetched(package, there, [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(there), package])


def python_with(there: pathlib.Path, *packages: str) -> pathlib.Path | None:
    """The Python of an environment that has the packages."""
    python = there / "bin" / "python"
    commands = [sys.executable, "-m", "venv", str(there)], [str(python), "-m", "pip", "install", "--quiet", *packages]
    return python if fetched(" ".join(packages), there, *commands) else None
