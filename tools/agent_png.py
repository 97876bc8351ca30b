#!/usr/bin/env python3
"""The picture and the recorded session of docs/agent.md: `agent_png.py PARLANCE`.

An agent with a model by script makes a repository with a first commit, in the real sandbox. docs/agent-session.txt is what it printed;
docs/agent.png shows the page of its transcript, by Debian's chromium-headless-shell (tools/setup.sh browser). Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tests" / "serve"))
from engine import TOKENIZER, Asked, Engine, Reply  # noqa: E402

GOAL = "Set up a git repository with a README and a first commit"
STEPS = [
    ("The folder may hold something already, so I look first.", "I look at the folder.", "ls -la && git --version"),
    ("It is empty. A README, then a repository with it.", "", "echo '# Tides' > README.md && git init -q -b main && git add . && git commit -q -m 'README'"),
    ("Git does not know who commits. I say so for this repository alone.", "", "git config user.name Agent && git config user.email agent@example.org && git commit -q -m 'README'"),
    ("", "The repository is there.", ""),
    ("I have not looked yet whether the commit is there.", "", "git log --oneline && git status --short"),
    ("", "The repository has one commit, with README.md, and nothing is left to commit.", ""),
]  # fmt: skip


def reply(think: str, say: str, command: str) -> Reply:
    call = json.dumps({"name": "terminal", "arguments": {"command": command}})
    return Reply(
        (f"<think>\n{think}\n</think>\n\n" if think else "") + say + (f"<tool_call>\n{call}\n</tool_call>" if command else "") + "<|im_end|>"
    )


def screenshot(page: pathlib.Path, picture: pathlib.Path) -> None:
    subprocess.run(
        ["chromium-headless-shell", "--no-sandbox", "--hide-scrollbars", "--window-size=900,1910", f"--screenshot={picture}", page.as_uri()],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def main() -> int:
    parlance = str(pathlib.Path(sys.argv[1]).resolve())
    turns = iter(STEPS)

    def answer(asked: Asked) -> Reply:
        return reply(*next(turns))

    with tempfile.TemporaryDirectory() as name, Engine(answer) as engine:
        workspace, transcript = pathlib.Path(name) / "tides", pathlib.Path(name) / "transcript"
        workspace.mkdir()
        command = [parlance, "agent", GOAL, "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--no-engine-check"]
        command += ["--backend", f"llama-server={engine.url}", "--workspace", str(workspace), "--transcript", str(transcript)]
        session = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
        text = re.sub(r"^engine: .*\n", "", session.replace(name, "~"), flags=re.MULTILINE)
        (DOCS / "agent-session.txt").write_text(f'$ parlance agent "{GOAL}" …\n{text}', encoding="utf-8")
        (record,) = transcript.glob("*.jsonl")
        page = pathlib.Path(name) / "page.html"
        page.write_text(subprocess.run([parlance, "agent", "--html", str(record)], check=True, capture_output=True, text=True).stdout.replace(name, "~"))
        screenshot(page, DOCS / "agent.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
