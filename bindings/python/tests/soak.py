#!/usr/bin/env python3
"""Renders, sessions and readers by the hundred thousand: the memory of the process must not grow. For make long.

    soak.py [--count N]

Prints the memory (RSS) after a tenth and at the end for each; ends with 1 if it grew by more than 8 MiB, with 77 without a tokenizer.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import sys
from collections.abc import Callable

import parlance

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from material import TOKENIZERS

ALLOWED = 8 << 20


def rss() -> int:
    gc.collect()
    for line in pathlib.Path("/proc/self/status").read_text().split("\n"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def grows(name: str, count: int, work: Callable[[int], object]) -> bool:
    for i in range(count // 10):
        work(i)
    before = rss()
    for i in range(count - count // 10):
        work(i)
    after = rss()
    print(f"{name}: {count} times, {before >> 20} MiB after a tenth, {after >> 20} MiB at the end", flush=True)
    return after - before > ALLOWED


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_000_000)
    count = parser.parse_args().count
    if not (TOKENIZERS / "chatml").exists():
        print("skipped: no trained tokenizers")
        return 77
    template = parlance.Template.builtin("terminal-agent")
    tokenizer = parlance.Tokenizer.from_file(str(TOKENIZERS / "chatml"))
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    chat = [{"role": "user", "content": "Look!"}, {"role": "assistant", "content": "é" * 40}, {"role": "user", "content": "Again!"}]
    reply = tokenizer.encode('<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call><|im_end|>')
    reader = template.render(chat, tools=tools).reader(tokenizer=tokenizer)

    def render(i: int) -> object:
        prompt = template.render(chat, tools=tools, n=i)
        return prompt.text, prompt.spans[0].path, prompt.message_ranges

    def fail(_: int) -> object:
        try:
            return template.render([{"role": "user", "content": object()}])
        except parlance.Error as error:
            return error.path

    def read(_: int) -> object:
        one = reader.copy()
        one.feed(reply)
        return one.finish(), one.message

    def roll(_: int) -> object:
        session = parlance.Session(template, tokenizer, chat, tools=tools)
        session.sampled(reply)
        return session.extend([{"role": "tool", "content": "a cat"}]), session.sample()

    results = [
        grows("renders", count, render),
        grows("errors", count // 10, fail),
        grows("readers", count, read),
        grows("sessions", count // 20, roll),
    ]
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
