"""What type checkers know of objects of a user's own classes."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import parlance
import pytest

USE = """
import copy
import pickle
from typing import Any

import parlance
from typing_extensions import assert_type


class Rewarded(parlance.Session):
    reward = 0.5


def go_on(session: Rewarded, kept: dict[str, Any], template: parlance.Template) -> None:
    assert_type(session.branch(), Rewarded)
    assert_type(copy.copy(session), Rewarded)
    assert_type(copy.deepcopy(session), Rewarded)
    assert_type(Rewarded.from_dict(kept, template, "folder"), Rewarded)
    assert_type(parlance.Session.from_dict(kept, template, "folder"), parlance.Session)
    assert_type(session.branch().branch().reward, float)
"""


@pytest.mark.parametrize("checker", [["mypy", "--strict", "--cache-dir=/dev/null"], ["pyright"]], ids=["mypy", "pyright"])
def test_branches_are_of_the_class_of_the_session(checker: list[str], tmp_path: pathlib.Path) -> None:
    pytest.importorskip(checker[0])
    file = tmp_path / "use.py"
    file.write_text(USE, "utf-8")
    folder = pathlib.Path(parlance.__file__).parents[1]
    # What parlance asks for when it is called is not read: transformers takes mypy half a minute.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\n[mypy-transformers.*,renderers.*,vllm.*]\nfollow_imports = skip\nignore_missing_imports = true\n"
    )
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{folder}"]}}', "utf-8")
    command = [sys.executable, "-m", *checker, str(file)]
    here = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
