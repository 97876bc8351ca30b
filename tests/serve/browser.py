"""A headless Chromium for tests of the inspector's page, driven by Playwright.

Debian's browser (tools/setup.sh browser); Playwright comes from the Python registry, once, into build/serve. A program that needs both
calls `run_with_playwright()` first: it goes on in the environment that has it, or is skipped.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from engine import ROOT
from gateway import SKIPPED

PLAYWRIGHT = "playwright==1.65.2"
THERE = ROOT / "build" / "serve" / "playwright"
BROWSERS = ("chromium-headless-shell", "chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--font-render-hinting=none"]


def browser() -> str:
    """The program; "": there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), "")


def run_with_playwright() -> None:
    if not browser():
        print("skipped: there is no Chromium (tools/setup.sh browser)")
        sys.exit(SKIPPED)
    python = THERE / "bin" / "python"
    if pathlib.Path(sys.prefix) == THERE:
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(THERE)], check=True)
    if subprocess.run([str(python), "-c", "import playwright"], capture_output=True).returncode != 0:
        done = subprocess.run([str(python), "-m", "pip", "install", "--quiet", PLAYWRIGHT], capture_output=True)
        if done.returncode != 0:
            print("skipped:", PLAYWRIGHT, "cannot be had")
            sys.exit(SKIPPED)
    os.execv(str(python), [str(python), "-B", *sys.argv])
