#!/usr/bin/env python3
"""Gives a model a small goal and a terminal in a sandbox: `demo_agent.py PARLANCE`.

The model is a real one of 135 million parameters behind llama.cpp's server, as packages of the Python registry. It is not clever: what it
shows is that its calls are well formed, that each turn costs only its new tokens, and that its transcript replays. Where the packages
cannot be had, a script answers in its place. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOAL = "Make the file hello.txt with the text Hello, and show it."
SCRIPT = [
    "<think>\nA file with one line, then look at it.\n</think>\n\nI write it.",
    "",
    "hello.txt has the text Hello.<|im_end|>",
]
COMMANDS = ["echo Hello > hello.txt", "cat hello.txt"]


def run(parlance: str, backend: str, tokenizer: str, *options: str) -> int:
    """The agent, then its transcript once more."""
    with tempfile.TemporaryDirectory() as workspace, tempfile.TemporaryDirectory() as transcript:
        command = [parlance, "agent", GOAL, "-f", "terminal-agent", "--tokenizer", tokenizer, "--backend", backend]
        ended = subprocess.run([*command, "--workspace", workspace, "--transcript", transcript, *options], check=False).returncode
        print(f"exit code {ended}; the workspace has {sorted(path.name for path in pathlib.Path(workspace).iterdir())}\n", flush=True)
        print("The transcript, rendered and read again:", flush=True)
        replayed = subprocess.run([parlance, "replay", transcript], check=False).returncode
    return replayed or (ended if ended not in (0, 1, 4) else 0)


def with_model(parlance: str) -> int:
    engine = subprocess.Popen(
        [sys.executable, str(ROOT / "tools" / "llama_server.py"), "--seconds", "600"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert engine.stdin and engine.stdout
    url, model = engine.stdout.readline().strip(), engine.stdout.readline().strip()
    if not model:
        return engine.wait()
    try:
        print(f"A real model: {pathlib.Path(model).name} in llama.cpp's server. It is small, and will not get far.\n", flush=True)
        return run(parlance, f"llama-server={url}", model, "--max-turns", "5", "--reply-tokens", "160", "--temperature", "0.3", "--seed", "7")
    finally:
        engine.stdin.close()
        engine.wait(40)


def with_script(parlance: str) -> int:
    sys.path.insert(0, str(ROOT / "tests" / "serve"))
    from engine import TOKENIZER, Asked, Engine, Reply

    turns = iter(range(len(SCRIPT)))

    def answer(asked: Asked) -> Reply:
        turn = next(turns)
        call = json.dumps({"name": "terminal", "arguments": {"command": COMMANDS[turn]}}) if turn < len(COMMANDS) else ""
        return Reply(SCRIPT[turn] + (f"<tool_call>\n{call}\n</tool_call><|im_end|>" if call else ""))

    print("The real model cannot be had here: a script answers in its place.\n", flush=True)
    with Engine(answer) as engine:
        return run(parlance, f"llama-server={engine.url}", str(TOKENIZER))


def main() -> int:
    ended = with_model(sys.argv[1])
    return with_script(sys.argv[1]) if ended == 77 else ended


if __name__ == "__main__":
    sys.exit(main())
