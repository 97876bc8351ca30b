"""What the tests share. What is not there is skipped, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from material import TOKENIZERS


@pytest.fixture(scope="session")
def chatml_tokenizer() -> str:
    """The folder of a small tokenizer with ChatML's control tokens, trained by tests/oracle/setup.sh."""
    folder = TOKENIZERS / "chatml"
    if not (folder / "tokenizer.json").exists():
        pytest.skip("no trained tokenizers: tests/oracle/setup.sh makes them")
    return str(folder)


@pytest.fixture
def padding_tokenizer(chatml_tokenizer: str) -> Any:
    """transformers' own of it, which can fill batches up. The tests give it a template."""
    transformers = pytest.importorskip("transformers")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{chatml_tokenizer}/tokenizer.json")
    made.pad_token = "<|im_end|>"
    return made
