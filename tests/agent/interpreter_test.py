#!/usr/bin/env python3
"""What the interpreter's model learns of its code: values, printed text, standard error, tracebacks, and why code was ended.

    interpreter_test.py PARLANCE

Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from engine import TOKENIZER, Asked, Engine, Reply
from gateway import SKIPPED, Checks

CODES = [  # and what the model must read of each
    ("x = 20\nprint('printed')\nx + 1", ["printed", "21"]),
    ("import os\nos.system('echo from a program >&2')\nx", ["from a program", "20"]),
    ("import sys\nprint('a warning', file=sys.stderr)", ["a warning"]),
    ("1 / 0", ["ZeroDivisionError"]),
    ("while True: pass", ["interrupted"]),
    ("raise SystemExit(7)", ["SystemExit: 7"]),
    ("sys.stdout.close()\nprint(1)", ["ValueError"]),
    ("sys.stderr = 7\n1 / 0", ["ZeroDivisionError"]),
    ("sys.stdout = sys.stderr = None\nsys.exit('over')", ["SystemExit: over"]),
    ("x", ["20"]),
    ("import os\nos._exit(3)", ["Python ended with exit status 3", "variables are gone"]),
    ("import os\nos._exit(0)", ["Python ended with exit status 0", "variables are gone"]),
    ("import os\nos.kill(os.getpid(), 11)", ["Python ended with exit status 139 (128 + signal 11", "variables are gone"]),
    ("import os\nos.kill(os.getpid(), 9)", ["Python ended with exit status 137 (128 + signal 9", "variables are gone"]),
    ("x", ["NameError"]),
]


def call(code: str) -> str:
    return "<tool_call>\n" + json.dumps({"name": "interpreter", "arguments": {"code": code}}) + "\n</tool_call><|im_end|>"


def main() -> int:
    checks = Checks()
    replies = iter([*(call(code) for code, _ in CODES), "Done.<|im_end|>"])

    def answer(asked: Asked) -> Reply:
        return Reply(next(replies))

    with tempfile.TemporaryDirectory() as workspace, Engine(answer) as engine:
        command = [sys.argv[1], "agent", "Count", "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--backend", f"llama-server={engine.url}"]
        command += ["--workspace", workspace, "--no-transcript", "--interpreter", "--timeout", "4", "--json"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if "this build has no agent" in ended.stderr or "no sandbox works here" in ended.stderr:
            print("skipped:", ended.stderr.strip())
            return SKIPPED
        checks.equal(ended.returncode, 0, f"the agent: {ended.stderr}")
        checks.equal(len(engine.asked), len(CODES) + 1, "turns")
        for (code, wanted), asked in zip(CODES, engine.asked[1:], strict=True):
            told = engine.vocabulary.decode(asked.prompt).rsplit("<tool_response>", 1)[1]
            for words in wanted:
                checks.that(words in told, f"{words!r} of {code!r}: {told!r}")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
