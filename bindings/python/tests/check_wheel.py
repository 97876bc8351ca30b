#!/usr/bin/env python3
"""Looks into wheels: `check_wheel.py WHEEL...`. Each has the package, its types and the command line, is stripped and not large, and needs
no library that glibc, the compiler or the wheel itself does not have. Prints the size of each."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MOST = 20e6  # bytes
NEEDED = ["parlance/__init__.py", "parlance/_core.pyi", "parlance/py.typed", "parlance/bin/parlance"]
# Of glibc, and of GCC in any version that the name of the wheel allows.
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*\.so\.\d+")


def faults(wheel: pathlib.Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        found = [f"{name} is missing" for name in NEEDED if name not in names]
        if wheel.stat().st_size > MOST:
            found.append(f"is larger than {MOST / 1e6:.0f} MB")
        own = {pathlib.PurePath(name).name for name in names}
        for name in names:
            if ".so" not in name and not name.endswith("bin/parlance"):
                continue
            file = archive.extract(name, folder)
            for library in re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.check_output(["readelf", "-d", file], text=True)):
                if library not in own and not SYSTEM.fullmatch(library):
                    found.append(f"{name} needs {library}")
            if ".symtab" in subprocess.check_output(["readelf", "-S", "-W", file], text=True):
                found.append(f"{name} is not stripped")
        return found


def main() -> int:
    failed = 0
    for path in map(pathlib.Path, sys.argv[1:]):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
        for fault in faults(path):
            print("  ", fault)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
