"""The code of the pages on Python, of the README and of the page on transformers runs."""

from __future__ import annotations

import codeop
import importlib.util
import pathlib
import re
import shutil
import sys
from typing import Any

import pytest
from material import RENDERERS, ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A file that a page writes in the shell.
WRITTEN = re.compile(r"^cat > (\S+) <<'END'\n(.*?)^END$", re.DOTALL | re.MULTILINE)


PAGES = [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").glob("python*.md"))] + ["README.md", "docs/from-transformers.md"]


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
    for file in WRITTEN.finditer(text):
        (tmp_path / file.group(1)).write_text(file.group(2), "utf-8")
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # for a page whose reader is in the repository's folder
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    if RENDERERS.exists() and str(RENDERERS) not in sys.path:
        sys.path.append(str(RENDERERS))
    for block in blocks:
        if "renderer" in block.group(1) and importlib.util.find_spec("renderers") is None:
            continue  # setup.sh could not have the package
        line = text.count("\n", 0, block.start()) + 2
        exec(compile("\n" * (line - 1) + block.group(1), str(ROOT / page), "exec"), names)


@pytest.mark.parametrize("page", PAGES)
def test_code_can_be_pasted_line_by_line(page: str) -> None:
    """Into an interpreter that ends a statement at the first line that is not indented only behind an empty one."""
    for block in BLOCK.finditer((ROOT / page).read_text("utf-8")):
        statement: list[str] = []
        for line in [*block.group(1).split("\n"), ""]:
            statement.append(line)
            if codeop.compile_command("\n".join(statement), page) is not None:
                statement.clear()
        assert not statement, block.group(1)
