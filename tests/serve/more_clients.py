#!/usr/bin/env python3
"""More clients that people have, unmodified, against `parlance serve`: `more_clients.py PARLANCE`. For make long.

The JavaScript clients of OpenAI, Anthropic and Ollama, litellm by three APIs, and the coding agents Codex and opencode, which each run a
command and go on behind its result. They come from npm and the Python registry, once, into build/serve; what cannot be had is skipped and
named. The engine is a scripted one. Begin reading at main.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine import ROOT, Asked, Engine, Reply
from fetched import npm, python_with
from gateway import SKIPPED, Checks, Gateway

HERE = pathlib.Path(__file__).parent
FOLDER = ROOT / "build" / "serve"
SDKS = ("openai@6.49.0", "@anthropic-ai/sdk@1.14.0", "ollama@0.6.4")
AGENTS = ("@openai/codex@0.169.0", "opencode-ai@1.18.33")
LITELLM = "litellm==1.110.2"
CALL = '<tool_call>\n{ "name": "look",  "arguments": {"at": "Köln 🌊"}}\n</tool_call><|im_end|>'
SHOWN = "It is high tide in Köln 🌊."
AT = {"at": "Köln 🌊"}
COMMAND = "echo TIDE-$((1+1))-OK | sed s/-2//"  # prints what does not stand in it
RAN = "TIDE-OK"
SHELLS = {  # tools of agents that run a command
    "exec_command": {"cmd": COMMAND},
    "shell_command": {"command": COMMAND},
    "shell": {"command": ["bash", "-lc", COMMAND]},
    "bash": {"command": COMMAND, "description": "Looks at the tide"},
    "Bash": {"command": COMMAND, "description": "Looks at the tide"},
    "run_shell_command": {"command": COMMAND, "is_background": False},
    "run_commands": {"commands": [COMMAND]},
}
ENGINE = Engine()


def scripted(asked: Asked) -> Reply:
    """A call where there are tools and no result of one yet."""
    prompt = ENGINE.vocabulary.decode(asked.prompt)
    if "grammar" not in asked.body or "stands at 3.2 m" in prompt or RAN in prompt:
        return Reply(SHOWN + "<|im_end|>")
    for name, arguments in SHELLS.items():
        if f'"name": "{name}"' in prompt:
            return Reply("<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call><|im_end|>")
    return Reply(CALL)


def steps(command: list[str], cwd: pathlib.Path, checks: Checks) -> dict[str, Any]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    checks.equal(done.returncode, 0, f"{command[:2]}: {done.stderr[-1500:]}")
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def javascript(url: str, checks: Checks) -> None:
    there = FOLDER / "sdks"
    if not npm(there, *SDKS):
        return
    wanted = {
        "openai": SHOWN, "openai stream": SHOWN, "openai tools": SHOWN, "responses": ["response.created", "response.completed"],
        "anthropic call": ["tool_use", AT], "anthropic": SHOWN, "ollama": SHOWN, "ollama stream": SHOWN,
    }  # fmt: skip
    checks.equal(steps(["node", str(HERE / "clients.mjs"), url], there, checks), wanted, "the JavaScript clients")


def litellm(url: str, checks: Checks) -> None:
    if (made := python_with(FOLDER / "litellm", LITELLM)) is None:
        return
    wanted: dict[str, Any] = {}
    for model in ("openai/mine", "anthropic/mine", "ollama_chat/mine"):
        wanted |= {model: SHOWN, f"{model} stream": SHOWN, f"{model} call": ["look", AT], f"{model} tools": SHOWN}
    checks.equal(steps([str(made), "-W", "ignore", str(HERE / "clients_litellm.py"), url], FOLDER, checks), wanted, "litellm")


def end_what_stays(home: pathlib.Path) -> None:
    """Ends what has this home: an agent may leave a daemon of its own."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or is another user's


def agent(
    name: str, command: list[str], files: dict[str, str], variables: dict[str, str], checks: Checks, settings: dict[str, str] | None = None
) -> None:
    """Runs an agent in an empty home and a project of its own; it must have run the command and shown the answer behind it.

    `files` are texts in that home, `variables` name places in it, `settings` are other variables of the environment.
    """
    with tempfile.TemporaryDirectory(dir=FOLDER) as made:
        home, project = pathlib.Path(made) / "home", pathlib.Path(made) / "project"
        home.mkdir()
        project.mkdir()
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        for path, text in files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        places = {key: str(home / value) for key, value in variables.items()}
        environment = {**os.environ, "HOME": str(home), "KEY": "none", "PWD": str(project), **places, **(settings or {})}
        ENGINE.asked.clear()
        asked: Any = {"cwd": project, "env": environment, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        try:
            done = subprocess.run(command, timeout=300, **asked)
        finally:
            end_what_stays(home)
        checks.that(done.returncode == 0 and SHOWN in done.stdout, f"{name}: {done.stdout[-500:]} {done.stderr[-1500:]}")
        results = [asked for asked in ENGINE.asked if RAN in ENGINE.vocabulary.decode(asked.prompt)]
        checks.that(results, f"{name}: the command's result reaches the engine")


def agents(url: str, checks: Checks) -> None:
    there = FOLDER / "agents"
    if not npm(there, *AGENTS):
        return
    programs = there / "node_modules" / ".bin"
    provider = f'[model_providers.p]\nname = "p"\nbase_url = "{url}/v1"\nenv_key = "KEY"\nwire_api = "responses"\n'
    settings = 'model = "mine"\nmodel_provider = "p"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n' + provider
    codex = [str(programs / "codex"), "exec", "--skip-git-repo-check", "Run it."]
    agent("codex", codex, {"codex/config.toml": settings}, {"CODEX_HOME": "codex"}, checks)
    offered = {"npm": "@ai-sdk/openai-compatible", "name": "p", "options": {"baseURL": url + "/v1", "apiKey": "none"},
               "models": {"mine": {"name": "mine", "tool_call": True}}}  # fmt: skip
    opencode = {"model": "p/mine", "small_model": "p/mine", "permission": "allow", "provider": {"p": offered}}
    places = {"OPENCODE_CONFIG": "opencode.json", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"}
    agent(
        "opencode", [str(programs / "opencode"), "run", "-m", "p/mine", "Run it."], {"opencode.json": json.dumps(opencode)}, places, checks
    )


def main() -> int:
    checks = Checks()
    FOLDER.mkdir(parents=True, exist_ok=True)
    ENGINE.script = scripted
    with ENGINE, Gateway(sys.argv[1], ENGINE.url) as gateway:
        for clients in (javascript, litellm, agents):
            clients(gateway.url, checks)
            for what in ("prefix_breaks", "malformed"):
                checks.equal(gateway.metric(f"parlance_{what}_total"), 0, f"{clients.__name__}: {what}")
    return checks.end() if checks.made > 6 else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
