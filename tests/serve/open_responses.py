#!/usr/bin/env python3
"""Answers and events of /v1/responses against the models of the Open Responses specification: `open_responses.py PARLANCE`. For make long.

The cases are those of its compliance suite but for images: basic, streamed, a system prompt, tools, tools streamed, several turns. The
models are those of the package openresponses-types, which comes from the Python registry, once, into build/serve. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import sys
import urllib.request
from typing import Any

from engine import ROOT, Asked, Engine, Reply
from fetched import pip
from gateway import SKIPPED, Checks, Gateway

PACKAGE = "openresponses-types==2.4.0"
THERE = ROOT / "build" / "serve" / PACKAGE
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Köln"}}\n</tool_call><|im_end|>'
REASONED = "<think>\nLet me see.\n</think>\n\nYes.<|im_end|>"
TOOL = {
    "type": "function", "name": "get_weather", "description": "The weather at a place.",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}  # fmt: skip
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "basic": ("Yes.<|im_end|>", {"input": [{"type": "message", "role": "user", "content": "Say hello."}]}, ["message"]),
    "system": (
        "Ahoy.<|im_end|>",
        {"input": [{"type": "message", "role": "system", "content": "Be a pirate."}, {"type": "message", "role": "user", "content": "Hi"}]},
        ["message"],
    ),
    "reasoning": (REASONED, {"input": "Is it?", "reasoning": {"effort": "low"}}, ["reasoning", "message"]),
    "tool": (CALL, {"input": "The weather in Köln?", "tools": [TOOL]}, ["function_call"]),
    "turns": (
        "Alice.<|im_end|>",
        {"input": [{"type": "message", "role": role, "content": text} for role, text in (
            ("user", "My name is Alice."), ("assistant", "Hello Alice!"), ("user", "What is my name?"))]},
        ["message"],
    ),
}  # fmt: skip


def streamed(gateway: Gateway, body: dict[str, Any]) -> list[dict[str, Any]]:
    data = json.dumps({"model": "mine", "stream": True} | body).encode()
    request = urllib.request.Request(gateway.url + "/v1/responses", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [json.loads(line[6:]) for line in answer.read().decode().split("\n") if line.startswith("data: ")]


def validated(model: Any, value: dict[str, Any], what: str, checks: Checks) -> None:
    try:
        model.model_validate(value)
        checks.that(True, what)
    except ValueError as error:
        checks.that(False, f"{what}: {error}")


def main() -> int:
    if not pip(THERE, PACKAGE):
        return SKIPPED
    sys.path.insert(0, str(THERE))
    import openresponses_types as models

    known = [getattr(models, name) for name in dir(models) if name.endswith("StreamingEvent")]
    by_type = {next(iter(model.model_fields["type"].annotation)).value: model for model in known}
    checks = Checks()
    reply = Reply()

    def script(asked: Asked) -> Reply:
        return reply

    with Engine(script) as engine, Gateway(sys.argv[1], engine.url) as gateway:
        for name, (text, body, kinds) in CASES.items():
            reply.text = text
            status, _, answer = gateway.post("/v1/responses", {"model": "mine"} | body)
            checks.equal((status, answer.get("status")), (200, "completed"), f"{name}: {answer}")
            checks.equal([item["type"] for item in answer["output"]], kinds, f"{name}: kinds of items")
            validated(models.ResponseResource, answer, f"{name}: the answer", checks)
            events = streamed(gateway, body)
            checks.equal(events[-1]["type"], "response.completed", f"{name}: the last event")
            for event in events:
                # OpenAI's own clients know an event of reasoning by another name than this specification.
                said = event["type"].replace("reasoning_text", "reasoning")
                model = by_type.get(said)
                if model is None:
                    checks.that(False, f"{name}: the specification has no event {said}")
                    continue
                event["type"] = said
                validated(model, event, f"{name}: {event['type']}", checks)
    return checks.end()


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    sys.exit(main())
