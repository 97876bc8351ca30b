"""The code of the pages on Python and of the README runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from material import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


PAGES = [str(page.relative_to(ROOT)) for page in [*sorted((ROOT / "docs").glob("python*.md")), ROOT / "README.md"]]


@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page: str, chatml_tokenizer: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks
    code = "".join(block.group(1) for block in blocks)
    if "transformers" in code:
        pytest.importorskip("transformers")
    names: dict[str, Any] = {"tokenizer_json": f"{chatml_tokenizer}/tokenizer.json"}
    if "processor" in code:
        from made_processors import processor

        names |= {"processor": processor("llava"), "picture": pytest.importorskip("PIL.Image").new("RGB", (64, 64))}
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 2
        exec(compile("\n" * (line - 1) + block.group(1), str(ROOT / page), "exec"), names)
