"""The engines of the benchmark: how each is started, and a process that is asked over a pipe.

The protocol is in README.md. An engine that dies or does not answer in time gives an error like any
other, and is started anew for the next question. Used by run.py and memory.py; begin with COMMANDS.
"""

import json
import os
import pathlib
import select
import subprocess

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
INSTALLED = ROOT / "build" / "bench"  # what setup.sh makes
TIMEOUT_S = 120


def binary(name, build):
    """A C++ engine: from the project's build folder, or else from setup.sh's."""
    places = [build / "bench" / name, build / name, INSTALLED / "cpp" / name]
    return next((str(p) for p in places if p.exists()), str(places[0]))


COMMANDS = {  # name: build folder -> command
    "limit": lambda build: [binary("bench_hand_written", build), "limit"],
    "hand-written": lambda build: [binary("bench_hand_written", build)],
    "parlance": lambda build: [binary("bench_parlance", build)],
    "with spans": lambda build: [binary("bench_parlance", build), "spans"],
    "with masks": lambda build: [binary("bench_parlance", build), "masks"],
    "minijinja": lambda build: [str(INSTALLED / "minijinja" / "release" / "minijinja-engine")],
    "hf-jinja": lambda build: ["node", str(BENCH / "peers" / "hf-jinja" / "engine.mjs")],
    "jinja2": lambda build: [
        str(INSTALLED / "venv" / "bin" / "python"),
        str(BENCH / "peers" / "jinja2_engine.py"),
    ],
}

NO_COMPILE = {"limit", "hand-written", "with spans", "with masks"}  # have no template to compile, or the same as another
WARM = {"hf-jinja"}  # compiles while it runs, so its process is kept from round to round

ENVIRONMENT = {
    **os.environ,
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PARLANCE_BENCH_NODE": str(INSTALLED / "hf-jinja"),
}


class Process:
    """One running engine."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.child, self.rest = None, b""

    def start(self):
        self.child = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
        )
        self.rest = b""

    def stop(self):
        if self.child is not None:
            self.child.stdin.close()
            self.child.kill()
            self.child.wait()
            self.child.stdout.close()
            self.child = None

    def ask(self, command, **fields):
        """The answer; {"error": sentence} for whatever goes wrong."""
        try:
            if self.child is None:
                self.start()
            self.child.stdin.write((json.dumps({"cmd": command, **fields}) + "\n").encode())
            self.child.stdin.flush()
            return json.loads(self.read_line())
        except (OSError, EOFError, TimeoutError, ValueError) as e:
            self.stop_quietly()
            return {"error": f"the process failed: {e or type(e).__name__}"}

    def stop_quietly(self):
        try:
            self.stop()
        except OSError:  # the pipe is broken already
            self.child = None

    def read_line(self):
        out = self.child.stdout.fileno()
        while b"\n" not in self.rest:
            if not select.select([out], [], [], TIMEOUT_S)[0]:
                raise TimeoutError(f"no answer in {TIMEOUT_S} s")
            chunk = os.read(out, 65536)
            if not chunk:
                raise EOFError("it ended")
            self.rest += chunk
        line, self.rest = self.rest.split(b"\n", 1)
        return line
