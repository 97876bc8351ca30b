#!/usr/bin/env python3
"""The examples at the tops of the public headers compile: header_examples.py FOLDER COMPILER [ARGUMENT…].

Writes each into FOLDER, from where tests/header_examples.cpp includes it in a function that has what it takes as given. An example
that no function includes is a fault. Begin reading at main.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "//     "
# parlance.h has a program, which tests/example compiles and runs; the others' examples are no C++.
APART = {"parlance", "partial_json", "reply_format"}


def example_of(header: pathlib.Path) -> str:
    """The lines of code before `#pragma once`; "" for none."""
    lines = header.read_text("utf-8").partition("#pragma once")[0].split("\n")
    code = [line[len(MARK) :] for line in lines if line.startswith(MARK)]
    return "".join(line.replace(" …    //", " return {};    //").removesuffix(" …").removesuffix("…") + end_of(line) for line in code)


def end_of(line: str) -> str:
    """What stands for a statement that is left out behind a condition."""
    return " return {};\n" if line.endswith(") …") else "\n"


def main() -> int:
    folder, *compile_with = sys.argv[1:]
    place = pathlib.Path(folder)
    shutil.rmtree(place, ignore_errors=True)  # of a header that is no more, say
    place.mkdir(parents=True)
    tests = ROOT / "tests" / "header_examples.cpp"
    included, faults = set(re.findall(r'#include "(\w+)\.inc"', tests.read_text("utf-8"))), 0
    for header in sorted((ROOT / "include" / "parlance").glob("*.h")):
        code = "" if header.stem in APART else example_of(header)
        if not code:
            continue
        (place / f"{header.stem}.inc").write_text(code, "utf-8")
        if header.stem not in included:
            print(f"{header.name}: its example is compiled by nobody: tests/header_examples.cpp")
            faults += 1
    done = subprocess.run([*compile_with, f"-I{place}", str(tests)])
    return 1 if faults or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
