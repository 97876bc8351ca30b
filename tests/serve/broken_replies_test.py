#!/usr/bin/env python3
"""Replies that do not read as a message: `broken_replies_test.py PARLANCE`.

A call may be cut off, or its arguments be no JSON, and a character may lack its end. Whatever a client has of such a reply, and sends back:
the next prompt begins with the ids of the turn before and those that were sampled, or the answer says why not. Begin reading at main.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway

Json = dict[str, Any]
PARAMETERS: Json = {"type": "object"}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}]
TOOLS_OF: dict[str, Json] = {
    "/v1/chat/completions": {"tools": TOOLS},
    "/v1/responses": {"tools": [{"type": "function", "name": "f", "parameters": PARAMETERS}]},
    "/v1/messages": {"tools": [{"name": "f", "input_schema": PARAMETERS}], "max_tokens": 99},
    "/api/chat": {"tools": TOOLS, "stream": False},
}
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
BROKEN: dict[str, Reply] = {
    "a call is cut off": Reply('<tool_call>\n{"name": "f", "arguments": {"a": 1', length=True),
    "a text, then a call is cut off": Reply('So <tool_call>\n{"name": "f", "arguments": {"a', length=True),
    "a call is cut off before its name": Reply('So <tool_call>\n{"na', length=True),
    "the second call has no arguments": Reply(CALL + '\n<tool_call>\n{"name": "f", "arguments": {"a": \n</tool_call><|im_end|>'),
    "a call has no name": Reply('<tool_call>\n{"arguments": {"a": 1}}\n</tool_call><|im_end|>'),
    "a call lacks its last brace": Reply('<tool_call>\n{"name": "f", "arguments": {"a": 1}\n</tool_call><|im_end|>'),
    "a call is no JSON": Reply("<tool_call>\nhello\n</tool_call><|im_end|>"),
    "a character lacks its end": Reply(),  # its ids, see Broken
}


class Broken:
    """One gateway, and what its engine was asked."""

    def __init__(self, gateway: Gateway, engine: Engine, checks: Checks) -> None:
        self.gateway, self.engine, self.checks = gateway, engine, checks
        text = engine.vocabulary.encode
        BROKEN["a character lacks its end"] = Reply(ids=[*text("a"), engine.vocabulary.bytes[0xE2], *text("b<|im_end|>")])

    def ask(self, path: str, reply: Reply, **body: Any) -> tuple[Json, dict[str, str]]:
        self.engine.script = lambda asked: reply
        status, headers, answer = self.gateway.post(path, {"model": "mine", **TOOLS_OF[path], **body})
        self.checks.equal(status, 200, f"{path}: {str(answer)[:300]}")
        return answer, headers

    def ids_so_far(self, reply: Reply) -> list[int]:
        """Those of the last prompt, and of the reply to it."""
        return self.engine.asked[-1].prompt + (self.engine.vocabulary.encode(reply.text) if reply.ids is None else reply.ids)

    def goes_on(self, what: str, path: str, before: list[int], **body: Any) -> Json:
        answer, headers = self.ask(path, Reply(), **body)
        prompt = self.engine.asked[-1].prompt
        self.checks.equal(prompt[: len(before)] == before, True, f"{path}, {what}: the ids that were sampled")
        self.checks.equal(headers.get("X-Parlance-Reused-Tokens"), str(len(before)), f"{path}, {what}: what is reused")
        return answer

    def chat(self, what: str, reply: Reply) -> None:
        """Results, or another question, in the API's own form, behind what the client was told."""
        path = "/v1/chat/completions"
        said: list[Json] = [{"role": "user", "content": f"Why, if {what}?"}]
        for turn in range(2):
            answer = self.ask(path, reply, messages=said)[0]["choices"][0]["message"]
            before = self.ids_so_far(reply)
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "r"} for call in answer.get("tool_calls", [])]
            said += [answer, *(results or [{"role": "user", "content": "And?"}])]
            said += [self.goes_on(f"{what}, turn {turn}", path, before, messages=said)["choices"][0]["message"]]
            said += [{"role": "user", "content": "Again?"}]

    def responses(self, what: str, reply: Reply) -> None:
        """The same by the answer's id, also once the turn was kept long ago, and with the whole conversation."""
        path = "/v1/responses"
        question: Json = {"role": "user", "content": f"Why, if {what}?"}
        first = self.ask(path, reply, input=[question])[0]
        before = self.ids_so_far(reply)
        calls = [item["call_id"] for item in first["output"] if item["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": id, "output": "r"} for id in calls]
        more = results or [{"role": "user", "content": "And?"}]
        last = self.goes_on(what, path, before, input=more, previous_response_id=first["id"])
        for number in range(3):
            last = self.ask(path, Reply(), input=f"Number {number}", previous_response_id=last["id"])[0]
        self.goes_on(f"{what}, later", path, before, input=more, previous_response_id=first["id"])
        self.goes_on(f"{what}, the whole", path, before, input=[question, *first["output"], *more])

    def messages(self, what: str, reply: Reply) -> None:
        said: list[Json] = [{"role": "user", "content": f"Why, if {what}?"}]
        blocks = self.ask("/v1/messages", reply, messages=said)[0]["content"]
        results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "r"} for block in blocks if block["type"] == "tool_use"]
        said += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results or "And?"}]
        self.goes_on(what, "/v1/messages", self.ids_so_far(reply), messages=said)

    def ollama(self, what: str, reply: Reply) -> None:
        said: list[Json] = [{"role": "user", "content": f"Why, if {what}?"}]
        answer = self.ask("/api/chat", reply, messages=said)[0]["message"]
        results = [{"role": "tool", "tool_name": "f", "content": "r"} for _ in answer.get("tool_calls", [])]
        said += [answer, *(results or [{"role": "user", "content": "And?"}])]
        self.goes_on(what, "/api/chat", self.ids_so_far(reply), messages=said)


def not_behind_text(parlance: str, engine: Engine, folder: pathlib.Path, checks: Checks) -> None:
    """A template that wants a call before each result cannot go on behind a call that is text: the answer says so."""
    template = folder / "strict.jinja"
    template.write_text(
        "{% set open = namespace(calls=0) %}{% for m in messages %}{% if m.role == 'tool' %}{% if open.calls == 0 %}"
        "{{ raise_exception('no call') }}{% endif %}{% endif %}{% if m.tool_calls %}{% set open.calls = m.tool_calls | length %}{% endif %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls %}<tool_call>\n"
        '{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
        "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    with Gateway(parlance, engine.url, template=("-t", str(template))) as gateway:
        broken = Broken(gateway, engine, checks)
        said: list[Json] = [{"role": "user", "content": "Hi"}]
        path, reply = "/v1/chat/completions", BROKEN["a call is cut off"]
        answer = broken.ask(path, reply, messages=said)[0]["choices"][0]["message"]
        said += [answer, {"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": "r"}]
        told, headers = broken.ask(path, Reply(), messages=said)
        checks.equal(headers.get("X-Parlance-Prefix-Break"), "other_reply", f"a break has its cause: {told}")
        logged = [line for line in gateway.end() if line["event"] == "prefix_break"]
        checks.equal([line["cause"] for line in logged], ["other_reply"], f"the log has it: {logged}")


def main() -> int:
    checks = Checks()
    with Engine() as engine, tempfile.TemporaryDirectory() as folder:
        with Gateway(sys.argv[1], engine.url, "--log", "errors") as gateway:
            broken = Broken(gateway, engine, checks)
            for what, reply in BROKEN.items():
                for test in (broken.chat, broken.responses, broken.messages, broken.ollama):
                    test(what, reply)
        not_behind_text(sys.argv[1], engine, pathlib.Path(folder), checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
