"""What the tests share. What is not there is skipped, and says so."""

from __future__ import annotations

import pytest
from material import TOKENIZERS


@pytest.fixture(scope="session")
def chatml_tokenizer() -> str:
    """The folder of a small tokenizer with ChatML's control tokens, trained by tests/oracle/setup.sh."""
    folder = TOKENIZERS / "chatml"
    if not (folder / "tokenizer.json").exists():
        pytest.skip("no trained tokenizers: tests/oracle/setup.sh makes them")
    return str(folder)
