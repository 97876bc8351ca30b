"""`python -m parlance`, and the command `parlance` of the wheel: the command line that the package brings."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> int:
    """Runs the program in place of this process; on failure to find it, says so."""
    program = pathlib.Path(__file__).with_name("bin") / "parlance"
    if not program.exists():
        print("parlance: this installation of the Python package has no command line", file=sys.stderr)
        return 2
    os.execv(program, ["parlance", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
