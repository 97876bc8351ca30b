#!/usr/bin/env python3
"""Frameworks of Python that people have, unmodified, against `parlance serve`. For make long.

    frameworks_of_python.py PARLANCE [NAME…]

Each chats, streams, calls two tools at once and goes on behind their results, has an answer in a form, and meets an error, by each API that
it speaks; clients_frameworks.py has what each does. They come from the Python registry, once, into build/serve; what cannot be had is
skipped and named. The engine is a scripted one. No second turn may lose the sampled ids of the first,
but where the framework gives a reply back as another one. Begin reading at main.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine import ROOT, TOKENIZER, Asked, Engine, Reply
from fetched import python_with
from gateway import SKIPPED, Checks, Gateway
from scripted_engine import ScriptedEngine

HERE = pathlib.Path(__file__).parent
FOLDER = ROOT / "build" / "serve" / "frameworks"
PACKAGES = {
    "langchain": ("langchain==1.5.2", "langchain-openai==1.7.4", "langchain-anthropic==1.7.10", "langchain-ollama==1.1.0"),
    "llama_index": ("llama-index-llms-openai-like==0.8.1", "llama-index-llms-ollama==0.11.0"),
    "pydantic_ai": ("pydantic-ai==2.62.0",),
    "openai_agents": ("openai-agents==0.24.0",),
    "smolagents": ("smolagents[openai]==1.26.0",),
    "instructor": ("instructor==1.17.0", "anthropic==2.14.0"),
    "dspy": ("dspy==3.4.1",),
    "haystack": ("haystack-ai==3.4.1",),
    "autogen": ("autogen-agentchat==0.7.5", "autogen-ext[openai,ollama]==0.7.5"),
    "ag2": ("ag2[openai,anthropic]==1.2.1",),
    "crewai": ("crewai[anthropic]==1.15.30",),
    "google_adk": ("google-adk==2.13.0", "litellm==1.110.2"),
    "strands": ("strands-agents[openai,anthropic,ollama]==1.62.0",),
    "claude_agent_sdk": ("claude-agent-sdk==0.2.189", "pydantic==2.14.4"),
    "outlines": ("outlines==1.3.3", "openai==3.57.0"),
    "guidance": ("guidance==0.3.1", "openai==3.57.0"),
    "mirascope": ("mirascope[openai,anthropic]==2.8.2",),
    "magentic": ("magentic==0.41.1",),
    "inspect_ai": ("inspect-ai==0.3.285", "openai==3.57.0", "anthropic==2.14.0"),
    "evalscope": ("evalscope[perf]==1.14.1",),
}
LM_EVAL = ("lm-eval[api]==0.4.13", "transformers==5.24.0", "pydantic==2.14.4")
THOUGHT = "The user asks of two towns."
SHOWN, IN_ASCII = "It is high tide in Köln 🌊.", "It is high tide."
TIDE, ASCII_TIDE = {"town": "Köln", "metres": 3.2}, {"town": "Bonn", "metres": 3.2}
WANTED = {"chat": SHOWN, "stream": SHOWN, "tools": SHOWN, "structured": TIDE, "thought": THOUGHT, "usage": True, "error": True}
OF_ASCII = {"in ASCII, stream": IN_ASCII, "in ASCII, structured": ASCII_TIDE}
ANSWERS = ("Tide", "PartialTide", "final_result", "return_tide", "StructuredOutput", "__mirascope_formatted_output_tool__")
OWN_WORDS = ("smolagents",)  # which writes calls as text of its own: each costs a break
TOO_LONG = json.dumps({"error": {"code": 400, "message": "the request exceeds the available context size"}})
QUIET = ("HAYSTACK_TELEMETRY_ENABLED", "CREWAI_TRACING_ENABLED")  # which are False
DISABLED = ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "OTEL_SDK_DISABLED", "DO_NOT_TRACK", "DISABLE_TELEMETRY")
ENGINE = Engine()


def called(name: str, **arguments: Any) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False) + "\n</tool_call>"


def both_calls(name: str) -> str:
    return f"<think>\n{THOUGHT}\n</think>\n\nI look.\n{called(name, at='Köln')}\n{called(name, at='Bonn')}<|im_end|>"


def answer_to(prompt: str) -> str:
    """What the model says behind a prompt, without its reasoning."""
    system, _, said = prompt.partition("<|im_start|>user")
    last = prompt[prompt.rfind("<|im_start|>user") :]
    if name := next((name for name in ANSWERS if f'"name": "{name}"' in system), None):
        return called(name, **TIDE)
    if '"name": "final_answer"' in system:  # with which agents of smolagents end
        return called("final_answer", answer=SHOWN)
    if "[[ ## answer ## ]]" in last:  # of dspy
        return f"[[ ## answer ## ]]\n{SHOWN}\n\n[[ ## completed ## ]]"
    if "in ASCII" in last:
        return json.dumps(ASCII_TIDE) if "JSON" in last else IN_ASCII
    return json.dumps(TIDE, ensure_ascii=False) if "as JSON" in said else SHOWN


def scripted(asked: Asked) -> Reply:
    """Two calls where there is the tool and no results of it yet."""
    prompt = ENGINE.vocabulary.decode(asked.prompt)
    if "TOO LONG" in prompt:
        return Reply(status=400, body=TOO_LONG)
    name = next((name for name in ("look", "mcp__sea__look") if f'"name": "{name}"' in prompt), None)
    if name and prompt.count("3.2 m") < 2:
        return Reply(both_calls(name))
    return Reply(f"<think>\n{THOUGHT}\n</think>\n\n{answer_to(prompt)}<|im_end|>")


def ids_go_on(name: str, checks: Checks) -> None:
    """The prompt of each second turn begins with one before it and the ids that were sampled."""
    for asked in ENGINE.asked:
        prompt = ENGINE.vocabulary.decode(asked.prompt)
        tool = "mcp__sea__look" if '"name": "mcp__sea__look"' in prompt else "look"
        if "<tool_response>" not in prompt or "I look." not in prompt:
            continue
        calls = ENGINE.vocabulary.encode(both_calls(tool))
        firsts = [one.prompt + calls for one in ENGINE.asked if one is not asked and isinstance(one.body.get("prompt"), list)]
        checks.that(any(asked.prompt[: len(ids)] == ids for ids in firsts), f"{name}: the second prompt keeps the sampled ids")


def steps(name: str, python: pathlib.Path, url: str, checks: Checks) -> list[Any]:
    command = [str(python), "-W", "ignore", str(HERE / "clients_frameworks.py"), name, url]
    home = FOLDER / "home"  # some keep what they tell their makers there
    home.mkdir(exist_ok=True)
    places = {name: str(home) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    silent = dict.fromkeys(QUIET, "False") | dict.fromkeys(DISABLED, "true")
    environment = {**os.environ, **places, **silent, "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=900)
    checks.equal(done.returncode, 0, f"{name}: {done.stderr[-1500:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]


def framework(name: str, parlance: str, checks: Checks) -> None:
    if (python := python_with(FOLDER / name, *PACKAGES[name])) is None:
        return
    ENGINE.asked.clear()
    with Gateway(parlance, ENGINE.url) as gateway:
        told = steps(name, python, gateway.url, checks)
        for step, result in told:
            checks.equal(result, OF_ASCII.get(step, WANTED[step.rsplit(" ", 1)[-1]]), f"{name}: {step}")
        ids_go_on(name, checks)
        checks.equal(gateway.metric("parlance_malformed_total"), 0, f"{name}: malformed")
        checks.equal(gateway.metric("parlance_prefix_breaks_total") > 0, name in OWN_WORDS, f"{name}: prefix breaks")
    print(f"{name}: {len(told)} steps", flush=True)


def lm_eval(parlance: str, checks: Checks) -> None:
    """Evaluates given answers, which asks for the logprobs of the prompt."""
    if (python := python_with(FOLDER / "lm_eval", *LM_EVAL)) is None:
        return
    engine = ScriptedEngine(TOKENIZER).start()
    engine.script({"text": "<|im_end|>"})
    with Gateway(parlance, "", "--backend", f"vllm={engine.url}") as gateway:
        told = dict(steps("lm_eval", python, gateway.url, checks))
    engine.stop()
    for likely, is_greedy, before, whole in told.get("loglikelihood", []):
        checks.equal((likely, is_greedy), (sum(-0.25 * number for number in range(before, whole)), True), "lm_eval: loglikelihood")
    checks.equal((len(told.get("loglikelihood", [])), told.get("generated")), (2, ""), "lm_eval: its steps")


def main() -> int:
    checks = Checks()
    parlance, names = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:] or [*PACKAGES, "lm_eval"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    ENGINE.script = scripted
    with ENGINE:
        for name in names:
            lm_eval(parlance, checks) if name == "lm_eval" else framework(name, parlance, checks)
    return checks.end() if checks.made else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
