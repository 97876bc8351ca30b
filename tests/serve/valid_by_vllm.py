"""Validator: vLLM's own models, in the Python that can import them. That takes seconds, so it begins before anything is to be validated."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "python" / "venv" / "bin" / "python"


class Validator:
    """One release; `validators` makes those that are here."""

    def __init__(self, release: str) -> None:
        self.release = release
        command = [str(PYTHON), "-W", "ignore", str(pathlib.Path(__file__).with_name("vllm_models.py")), release]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, answers: list[tuple[str, Any]]) -> str:
        """Validates pairs of a model's name and an answer or a request; what is wrong, "": nothing."""
        out, errors = self.process.communicate("\n".join(json.dumps(one) for one in answers))
        print(f"vLLM {self.release}: {out.strip()}")
        return "" if self.process.returncode in (0, 77) else f"vLLM {self.release}: {out[-900:]} {errors[-900:]}"


def validators(releases: str = "0.*") -> list[Validator]:
    folders = sorted((ROOT / "build" / "python").glob(f"vllm-{releases}"))
    if not PYTHON.exists() or not folders:
        print("skipped: vLLM's models, which are not here (bindings/python/tests/vllm_setup.sh)")
        return []
    return [Validator(folder.name.removeprefix("vllm-")) for folder in folders]
