#!/usr/bin/env python3
"""A real engine and a real model behind `parlance serve`: calls in five formats, and sessions of many turns. For make long.

    real_model.py PARLANCE [--calls N] [--turns N] [--formats NAME…]

llama.cpp's server with a model of 135 million parameters, by tools/llama_server.py. The model is not clever; what counts is that its calls
are whole and fit their schema, that no part of a reply is malformed, and that each turn of a session evaluates its new tokens alone. Ends
with 77 where the packages cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import subprocess
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine import ROOT
from gateway import SKIPPED, Checks, Gateway

FORMATS = ("terminal-agent", "underscore-bot", "rnj-1", "command-r-plus", "chatglm3")
PARAMETERS: Any = {
    "type": "object",
    "properties": {
        "at": {"type": "string", "maxLength": 12},
        "closely": {"type": "boolean"},
        "times": {"type": "integer", "minimum": 0, "maximum": 9},
        "how": {"enum": ["near", "far"]},
    },
    "required": ["at", "closely", "times", "how"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks at a place.", "parameters": PARAMETERS}}]
THOUGHT = 40  # tokens
PLACES = ("the kitchen", "the garden", "Köln", "the third shelf", "under the bed", "Zürich")


def fits(arguments: str) -> bool:
    """Are they what PARAMETERS says?"""
    try:
        given = json.loads(arguments)
    except json.JSONDecodeError:
        return False
    return (
        sorted(given) == ["at", "closely", "how", "times"]
        and isinstance(given["at"], str)
        and len(given["at"]) <= 12
        and isinstance(given["closely"], bool)
        and type(given["times"]) is int
        and 0 <= given["times"] <= 9
        and given["how"] in ("near", "far")
    )


def ask(gateway: Gateway, messages: list[Any], seed: int, **more: Any) -> Any:
    status, _, answer = gateway.post("/v1/chat/completions", {
        "messages": messages, "tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False,
        "max_tokens": 200, "temperature": 1.2, "seed": seed, "parlance": True, **more,
    })  # fmt: skip
    if status != 200:
        sys.exit(f"{status}: {answer}")
    return answer


def calls_of(gateway: Gateway, name: str, count: int, checks: Checks) -> int:
    """Returns how many replies the limit of tokens cut off. A model this small may never end its reasoning: the gateway does."""
    cut = 0
    for number in range(count):
        asked = {"role": "user", "content": f"Look at {PLACES[number % len(PLACES)]}, number {number}."}
        answer = ask(gateway, [asked], number, thinking_token_budget=THOUGHT)
        calls = answer["choices"][0]["message"].get("tool_calls") or []
        if answer["choices"][0]["finish_reason"] == "length":
            cut += 1
            checks.that(not any(call.get("complete", True) for call in calls), f"{name}, call {number}: cut off, and yet whole")
            continue
        whole = len(calls) == 1 and calls[0].get("complete", True) and calls[0]["function"]["name"] == "look"
        checks.that(whole and fits(calls[0]["function"]["arguments"]), f"{name}, call {number}: {answer['choices'][0]}")
    if not cut:
        checks.equal(gateway.metric("parlance_malformed_total"), 0, f"{name}: malformed parts")
    return cut


def session_of(gateway: Gateway, turns: int, checks: Checks, again: int = 0) -> None:
    """Each turn evaluates its new tokens, and up to `again` known ones where the engine keeps whole blocks of them."""
    messages: list[Any] = [{"role": "user", "content": "Look at one place after the other."}]
    known = 0
    for number in range(turns):
        answer = ask(gateway, messages, number)
        told, prompt = answer["parlance"], answer["usage"]["prompt_tokens"]
        checks.equal(told["reused_tokens"], known, f"turn {number}: known tokens")
        if number > 0:
            # The last token that was sampled was not evaluated in its own turn.
            new, evaluated = prompt - known + 1, told["evaluated_tokens"]
            checks.that(new <= evaluated <= new + again, f"turn {number}: {evaluated} evaluated, {new} new")
        known = prompt + len(told["sampled_ids"])
        message = answer["choices"][0]["message"]
        messages += [message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"{number}: dust"}]
    checks.equal(gateway.metric("parlance_prefix_breaks_total"), 0, "prefix breaks")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parlance")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    options = parser.parse_args()
    checks = Checks()
    command = [sys.executable, str(ROOT / "tools" / "llama_server.py"), "--slots", "1", "--seconds", "7200"]
    engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert engine.stdin and engine.stdout
    url, model = engine.stdout.readline().strip(), engine.stdout.readline().strip()
    if not model:
        return SKIPPED if engine.wait() == SKIPPED else 1
    for name in options.formats:
        with Gateway(options.parlance, url, "--log", "errors", template=("-f", name), tokenizer=model) as gateway:
            cut = calls_of(gateway, name, options.calls, checks)
            print(f"{name}: {options.calls} calls, {cut} of them cut off by the limit of tokens", flush=True)
            if name == FORMATS[0]:
                session_of(gateway, options.turns, checks)
                print(f"{name}: a session of {options.turns} turns", flush=True)
    engine.stdin.close()
    engine.send_signal(signal.SIGTERM)
    engine.wait(40)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
