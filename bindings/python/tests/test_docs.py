"""The code of the pages on Python and of the README runs."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shutil
import sys
from typing import Any

import pytest
from material import ROOT

RENDERERS = ROOT / "build" / "python" / "renderers-0.1.12"

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


PAGES = [str(page.relative_to(ROOT)) for page in [*sorted((ROOT / "docs").glob("python*.md")), ROOT / "README.md"]]


@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page: str, chatml_tokenizer: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reader would paste it, in a folder with the files that it names."""
    text = (ROOT / page).read_text("utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks
    code = "".join(block.group(1) for block in blocks)
    if "transformers" in code:
        pytest.importorskip("transformers")
    shutil.copy(f"{chatml_tokenizer}/tokenizer.json", tmp_path)
    if "processor" in code:
        pytest.importorskip("PIL.Image")
        from made_processors import processor

        processor("llava").save_pretrained(tmp_path / "processor")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    if RENDERERS.exists() and str(RENDERERS) not in sys.path:
        sys.path.append(str(RENDERERS))
    for block in blocks:
        if "renderer" in block.group(1) and importlib.util.find_spec("renderers") is None:
            continue  # setup.sh could not have the package
        line = text.count("\n", 0, block.start()) + 2
        exec(compile("\n" * (line - 1) + block.group(1), str(ROOT / page), "exec"), names)
