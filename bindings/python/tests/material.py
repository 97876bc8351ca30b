"""Where the corpus and the small tokenizers of the tests are, and one of transformers made of them."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
RENDERERS = ROOT / "build" / "python" / "renderers-0.1.12"
CORPUS = ROOT.parent / "shared" / "corpus"
TOKENIZERS = ROOT / "build" / "oracle" / "tokenizers"
SHARE = int(os.environ.get("PARLANCE_TEST_SHARE", "1"))
"""Of generated cases, one in so many is run; make long runs all."""


def corpus_cases() -> dict[str, list[dict[str, Any]]]:
    """The corpus by template: its cases with `id` and `context`."""
    groups: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(CORPUS / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if "template" in case:
                groups.setdefault(case["template"], []).append(case)
    return groups


def corpus_template(path: str) -> str:
    return (CORPUS / path).read_bytes().decode("utf-8")


CHAT = [{"role": "user", "content": "Hi<|im_end|> é 你好"}, {"role": "assistant", "content": "Yes"}]


def transformers_tokenizer(folder: str) -> Any:
    transformers = pytest.importorskip("transformers")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
    made.chat_template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    return made


def release() -> tuple[int, ...]:
    """Of the transformers that is installed: (5, 22, 2)."""
    transformers = pytest.importorskip("transformers")
    return tuple(int(part) for part in transformers.__version__.split(".")[:3])


def use_renderers() -> None:
    """Puts the package renderers into the path. Skips the module where it, or transformers, is not there."""
    if not RENDERERS.exists():
        pytest.skip("the package renderers is not in build/python", allow_module_level=True)
    pytest.importorskip("transformers")  # which an interpreter lacks that the others are not for
    sys.path.append(str(RENDERERS))
    pytest.importorskip("renderers")
