"""The tokenizer of openai_harmony out of the ranks that an npm package ships (build/oracle/npm/tiktoken), for its own encoder, which
would fetch them, and for transformers. Begin reading at harmony_tokenizer."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import re
from typing import Any

from material import ROOT

RANKS = ROOT / "build" / "oracle" / "npm" / "tiktoken" / "o200k_base.js"
FOLDER = ROOT / "build" / "python" / "o200k"
NAMED = {
    200002: "<|return|>",
    200003: "<|constrain|>",
    200005: "<|channel|>",
    200006: "<|start|>",
    200007: "<|end|>",
    200008: "<|message|>",
    200012: "<|call|>",
}


def harmony_tokenizer() -> Any:
    """A tokenizer of transformers with the encoder's ids; the encoder finds its ranks. Raises OSError where they are not here."""
    from transformers import PreTrainedTokenizerFast

    file = FOLDER / "tokenizer.json"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        _write(FOLDER / "o200k_base.tiktoken", file)
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(FOLDER)
    return PreTrainedTokenizerFast(
        tokenizer_file=str(file),
        bos_token="<|startoftext|>",
        eos_token="<|return|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )


def _write(ranks_file: pathlib.Path, file: pathlib.Path) -> None:
    """The ranks as tiktoken's files have them, checked by the encoder itself, and the whole as tokenizer.json."""
    from transformers.convert_slow_tokenizer import TikTokenConverter

    text = RANKS.read_text("utf-8")
    ranks = _unpacked(_member(text, "bpe_ranks"))
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=lambda pair: pair[1]))
    ranks_file.write_bytes(b"".join(lines))
    special = ["<|startoftext|>", "<|endoftext|>", *(NAMED.get(id, f"<|reserved_{id}|>") for id in range(200000, 200018))]
    converter = TikTokenConverter(str(ranks_file), pattern=_member(text, "pat_str"), extra_special_tokens=special)
    part = file.with_suffix(".part")
    converter.converted().save(str(part))
    part.rename(file)


def _member(text: str, name: str) -> str:
    found = re.search(rf'"?{name}"?: ?("(?:[^"\\]|\\.)*")', text)
    if found is None:
        raise OSError(f"{RANKS} has no {name}")
    return str(json.loads(found.group(1)))


def _unpacked(packed: str) -> dict[bytes, int]:
    """Lines `! 0 first token token …` with the tokens of consecutive ranks."""
    ranks: dict[bytes, int] = {}
    for line in packed.splitlines():
        _, first, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), int(first) + number) for number, token in enumerate(tokens))
    return ranks
