"""The kinds of engines behind the gateway, played by a scripted one, and how tests of them run. Begin reading at KINDS."""

from __future__ import annotations

import inspect
import multiprocessing
import pathlib
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from scripted_engine import Record, ScriptedEngine
from served import ROOT, TOKENIZER, Gateway, Json

BINARY = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else ""
ENGINE = ScriptedEngine(TOKENIZER)
HELLO = "Hello the user <|im_end|>"
LOOK = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}},
}
TESTS: dict[str, Callable[..., None]] = {}  # those of the program


class Kind:
    """A kind of engine, and where its wire has things."""

    def __init__(self, name: str, path: str, ids: Callable[[Json], Any], grammar: Callable[[Json], Any], ids_out: bool = True) -> None:
        self.name, self.path, self.ids, self.grammar, self.ids_out = name, path, ids, grammar, ids_out

    def start(self, *arguments: str, settings: str = "", tokenizer: pathlib.Path = TOKENIZER) -> Gateway:
        return Gateway(BINARY, f"{self.name}={ENGINE.url}{settings}", *arguments, tokenizer=tokenizer)

    def asked(self) -> list[Record]:
        """The generations that the engine was asked for, without the one that finds out whether it takes ids."""
        return [record for record in ENGINE.asked(self.path) if record.body.get("stream")]

    def __str__(self) -> str:
        return self.name


KINDS = [
    Kind("llama-server", "/completion", lambda body: body["prompt"], lambda body: body.get("grammar")),
    Kind("vllm", "/v1/completions", lambda body: body["prompt"], lambda body: body.get("structured_outputs", {}).get("structural_tag")),
    Kind("sglang", "/generate", lambda body: body["input_ids"], lambda body: body["sampling_params"].get("structural_tag")),
    Kind("openai-completions", "/v1/completions", lambda body: body["prompt"], lambda body: None, ids_out=False),
]
OLLAMA = Kind("ollama", "/api/generate", lambda body: None, lambda body: body.get("format"), ids_out=False)
BY_NAME = {kind.name: kind for kind in [*KINDS, OLLAMA]}


def same(got: Any, wanted: Any) -> None:
    if got == wanted:
        return
    if isinstance(got, list) and isinstance(wanted, list):
        at = next((at for at, (one, other) in enumerate(zip(got, wanted, strict=False)) if one != other), min(len(got), len(wanted)))
        got, wanted = got[at : at + 20], wanted[at : at + 20]  # from the first difference on
    raise AssertionError(f"\n  got    {got!r}\n  wanted {wanted!r}")


def limit_of(body: Json) -> Any:
    return body.get("max_tokens", body.get("n_predict", body.get("sampling_params", {}).get("max_new_tokens")))


def counted(gateway: Gateway, name: str) -> list[str]:
    return [line for line in gateway.ask("/metrics").text.splitlines() if line.startswith(name)]


def run(kind: str, names: list[str]) -> tuple[int, int]:
    """Tests of a kind, or with "" some without one, with an engine of their own. How many there were, and how many failed."""
    ENGINE.start()
    failed = 0
    for name in names:
        try:
            TESTS[name](*([BY_NAME[kind]] if kind else []))
        except Exception:
            failed += 1
            print(f"FAILED {name} {kind}\n{traceback.format_exc(limit=-3)}", flush=True)
    ENGINE.stop()
    return len(names), failed


def main(module: Mapping[str, Any]) -> int:
    """Most of it is waiting for an engine that hangs, so the kinds, and the tests without one, run beside each other."""
    TESTS.update({name: test for name, test in module.items() if name.startswith("test_") and name in (sys.argv[2:] or module)})
    of_kinds = [name for name, test in TESTS.items() if inspect.signature(test).parameters]
    groups = [("", [name]) for name in TESTS if name not in of_kinds] + [(kind.name, of_kinds) for kind in KINDS]
    with multiprocessing.get_context("fork").Pool(len(groups)) as pool:
        counts = pool.starmap(run, groups, chunksize=1)
    count, failed = (sum(numbers) for numbers in zip(*counts, strict=True))
    print(f"{count - failed} of {count} tests passed; the engine was {ROOT / 'tests/serve/scripted_engine.py'}")
    return 1 if failed else 0
