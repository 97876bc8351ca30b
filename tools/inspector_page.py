#!/usr/bin/env python3
"""Compiles the inspector's page: src/serve/inspect/page/*.ts to made/*.js there, which the program carries.

    inspector_page.py [--check]    --check changes nothing, and fails where made/ is not what the TypeScript says

The compiler comes from npm, once, into build/serve; where it cannot be had, --check ends with 77. Begin reading at main.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "src" / "serve" / "inspect" / "page"
MADE = PAGE / "made"
COMPILER = "typescript@7.0.2"
THERE = ROOT / "build" / "serve" / COMPILER
SKIPPED = 77


def compiler() -> pathlib.Path | None:
    program = THERE / "node_modules" / ".bin" / "tsc"
    if program.exists():
        return program
    if shutil.which("npm") is None:
        return None
    THERE.mkdir(parents=True, exist_ok=True)
    command = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=1",
        "--fetch-timeout=20000",
        "--prefix",
        str(THERE),
        COMPILER,
    ]
    if subprocess.run(command, capture_output=True).returncode != 0:
        shutil.rmtree(THERE, ignore_errors=True)
        return None
    return program


def compiled(program: pathlib.Path) -> dict[str, str]:
    """The scripts by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(program), "-p", str(PAGE), "--outDir", folder], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).glob("*.js"))}


def main() -> int:
    program = compiler()
    if program is None:
        print("skipped:", COMPILER, "cannot be had from npm")
        return SKIPPED if "--check" in sys.argv else 1
    wanted = compiled(program)
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(MADE.glob("*.js"))}
    if "--check" not in sys.argv:
        for name in there.keys() - wanted.keys():
            (MADE / name).unlink()
        for name, text in wanted.items():
            (MADE / name).write_text(text, encoding="utf-8")
        return 0
    others = [name for name in sorted(wanted.keys() | there.keys()) if wanted.get(name) != there.get(name)]
    for name in others:
        print(f"{MADE.relative_to(ROOT) / name} is not what the TypeScript says: run tools/inspector_page.py")
    print(f"{len(wanted)} scripts, {len(others)} differ")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
