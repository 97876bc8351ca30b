#!/usr/bin/env python3
"""What frameworks of clients send and expect, beside the plain APIs: `frameworks_test.py PARLANCE`.

Run by the Python of build/oracle/apis: answers and events are of the types of the packages `openai` and `anthropic`. Begin reading at main.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

from engine import Engine, Reply
from gateway import SKIPPED, Checks, Gateway

try:
    from anthropic.types import Message, RawMessageStreamEvent
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

Json = dict[str, Any]
USER: Json = {"role": "user", "content": "Hi"}
THOUGHT = "<think>\nHm.\n</think>\n\n"
ENGINE = Engine()
CHAT, MESSAGES, RESPONSES, OLLAMA = "/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"
LOOK: Json = {"name": "look", "input_schema": {"type": "object"}}
LOOK_ITEM: Json = {"type": "function", "name": "look", "parameters": {"type": "object"}}
PIXEL = "iVBORw0KGgo="


def call(name: str, arguments: Any) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


def prompt() -> str:
    return ENGINE.vocabulary.decode(ENGINE.asked[-1].prompt)


def turns() -> str:
    """The last prompt from the user's first message on."""
    return prompt()[prompt().find("<|im_start|>user") :]


def says(text: str) -> None:
    ENGINE.script = lambda asked: Reply(text + "<|im_end|>")


class Api:
    """Requests to one gateway."""

    def __init__(self, gateway: Gateway, checks: Checks) -> None:
        self.gateway = gateway
        self.checks = checks
        self.headers: dict[str, str] = {}

    def post(self, path: str, status: int = 200, **body: Any) -> Any:
        more = {"max_tokens": 900} if path == MESSAGES else {"stream": False} if path == OLLAMA else {}
        got, self.headers, answer = self.gateway.post(path, {"model": "mine", **more, **body})
        self.checks.equal(got, status, f"{path} {json.dumps(body)[-200:]}: {json.dumps(answer)[:300]}")
        if path == MESSAGES and got == 200:
            Message.model_validate(answer, strict=True)
        if path == RESPONSES and got == 200:
            Response.model_validate(answer, strict=True)
        return answer

    def stream(self, path: str, **body: Any) -> list[Json]:
        more = {"max_tokens": 900} if path == MESSAGES else {}
        data = json.dumps({"model": "mine", "stream": True, **more, **body}).encode()
        request = urllib.request.Request(self.gateway.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        if path == OLLAMA:
            return [json.loads(line) for line in lines]
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        types: Any = TypeAdapter(RawMessageStreamEvent if path == MESSAGES else ResponseStreamEvent)
        for event in events:
            if event["type"] not in ("ping", "error"):
                types.validate_python(event, strict=True)
        return events

    def reused(self) -> int:
        return int(self.headers["X-Parlance-Reused-Tokens"])

    def losses(self, path: str, **body: Any) -> set[tuple[str, str]]:
        found = self.post(path, parlance=True, **body)["parlance"]["losses"]
        return {(loss["kind"], loss["path"]) for loss in found}


def summaries(api: Api, checks: Checks) -> None:
    says(THOUGHT + "Yes.")
    asked: Json = {"input": "Hi", "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"]}
    whole = api.post(RESPONSES, **asked)["output"]
    sealed = whole[0]["encrypted_content"]
    checks.equal(whole[0]["summary"], [{"type": "summary_text", "text": "Hm."}], "the reasoning is a summary")
    checks.that("content" not in whole[0], "and stands nowhere else")
    checks.that("Hm." not in sealed, "and sealed")
    events = api.stream(RESPONSES, **asked)
    kinds = [event["type"] for event in events if "reasoning" in event["type"]]
    first, last = "response.reasoning_summary_part.added", "response.reasoning_summary_part.done"
    delta, done = "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done"
    checks.equal((kinds[0], {*kinds[1:-2]}, kinds[-2:]), (first, {delta}, [done, last]), "its events")
    checks.equal("".join(event["delta"] for event in events if event["type"] == delta), "Hm.", "its deltas")
    checks.equal(events[-1]["response"]["output"][0]["summary"], whole[0]["summary"], "the response of a stream")
    for plain in ({}, {"reasoning": {"effort": "low"}}, {"reasoning": {"summary": None}}):
        item = api.post(RESPONSES, input="Hi", **plain)["output"][0]
        checks.equal((item["summary"], item["content"][0]["text"], "encrypted_content" in item), ([], "Hm.", False), f"{plain}")
    says("I look.\n" + call("look", {}))
    for members in (
        {"summary": whole[0]["summary"]},
        {"summary": [], "encrypted_content": sealed},
        {"summary": [], "content": [], "encrypted_content": sealed},
    ):
        behind = [
            USER,
            {"type": "reasoning", "id": "rs_1", **members},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "3"},
        ]
        api.post(RESPONSES, input=behind, tools=[LOOK_ITEM])
        checks.that("<think>\nHm.\n" in turns(), f"reasoning is read back from {members}: {turns()}")
    other = [USER, {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}, {"role": "assistant", "content": "A"}, USER]
    api.post(RESPONSES, input=other)


def thinking(api: Api, checks: Checks) -> None:
    says(THOUGHT + "Yes.")
    on: Json = {"type": "enabled", "budget_tokens": 1024}
    for shown in ({"thinking": {"type": "disabled"}}, {}, {"thinking": None}):
        answer = api.post(MESSAGES, messages=[USER], **shown)
        checks.equal([block["type"] for block in answer["content"]], ["text"], f"no thinking where {shown}")
        checks.that(answer["usage"]["output_tokens_details"]["thinking_tokens"] > 0, f"it is counted: {answer['usage']}")
        starts = [event for event in api.stream(MESSAGES, messages=[USER], **shown) if event["type"] == "content_block_start"]
        checks.equal([(event["index"], event["content_block"]["type"]) for event in starts], [(0, "text")], f"streamed, {shown}")
    first, second = (api.post(MESSAGES, messages=[USER], thinking=on)["content"] for _ in range(2))
    checks.equal([block["type"] for block in first], ["thinking", "text"], "thinking that is asked for")
    checks.that(first[0]["signature"] and first == second, f"is signed, always alike: {first[0]}")
    signed = [
        event["delta"]["signature"]
        for event in api.stream(MESSAGES, messages=[USER], thinking=on)
        if event.get("delta", {}).get("type") == "signature_delta"
    ]
    checks.equal(signed, [first[0]["signature"]], "a stream says the signature")
    hidden = api.post(MESSAGES, messages=[USER], thinking={"type": "adaptive", "display": "omitted"})["content"]
    checks.equal((hidden[0]["type"], hidden[0]["thinking"]), ("thinking", ""), "thinking that is not displayed")
    events = api.stream(MESSAGES, messages=[USER], thinking={"type": "adaptive", "display": "omitted"})
    checks.that(not any("thinking_delta" in json.dumps(event) for event in events), "nor streamed")
    use: Json = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    for block in (
        hidden[0],
        {"type": "thinking", "thinking": "Hm.\n", "signature": "of somebody else"},
        {"type": "thinking", "thinking": "Hm.\n"},
    ):
        said: Any = [
            USER,
            {"role": "assistant", "content": [block, use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "3"}]},
        ]
        api.post(MESSAGES, messages=said, tools=[LOOK], thinking=on)
        checks.that("<think>\nHm.\n" in turns(), f"thinking is read back from {block}: {turns()}")
    message = api.post(OLLAMA, messages=[USER], think=False)["message"]
    checks.equal((message["content"], "thinking" in message), ("Yes.", False), "Ollama's think: false")
    lines = api.stream(OLLAMA, messages=[USER], think=False)
    checks.that(not any("thinking" in line["message"] for line in lines), "and streamed")
    checks.equal(api.post(OLLAMA, messages=[USER])["message"]["thinking"].strip(), "Hm.", "without it as it was")


def hidden_thinking_stays(api: Api, checks: Checks) -> None:
    """The next turn has the ids of what was not shown."""
    says(THOUGHT + "I look.\n" + call("look", {}))
    content = api.post(MESSAGES, messages=[{"role": "user", "content": "hidden"}], tools=[LOOK])["content"]
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "3"}
    says("Three.")
    api.post(
        MESSAGES,
        tools=[LOOK],
        messages=[{"role": "user", "content": "hidden"}, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}],
    )
    checks.that("<think>\nHm.\n</think>" in turns() and api.reused() > 0, f"a session keeps what is not shown: {turns()}")


def order_of_items(api: Api, checks: Checks) -> None:
    says(THOUGHT + "I look.\n" + call("look", {"at": "K"}))
    asked: Json = {"role": "user", "content": "Where?"}
    made = api.post(RESPONSES, input=[asked], tools=[LOOK_ITEM])["output"]
    thought, text, called = made
    output = {"type": "function_call_output", "call_id": called["call_id"], "output": "3"}
    says("Three.")
    api.post(RESPONSES, input=[asked, thought, text, called, output], tools=[LOOK_ITEM])
    wanted, reused = turns(), api.reused()
    api.post(RESPONSES, input=[asked, thought, called, text, output], tools=[LOOK_ITEM])
    checks.equal((turns(), api.reused()), (wanted, reused), "a text behind its turn's calls")
    api.post(RESPONSES, input=[asked, thought, called, output, text, USER], tools=[LOOK_ITEM])
    checks.that(
        turns().index("Hi") > turns().index("I look.") > turns().index("3\n"), f"a text behind an output is a turn of its own: {turns()}"
    )
    api.post(RESPONSES, input=[asked, text, called, {"role": "assistant", "content": "More."}, output], tools=[LOOK_ITEM])
    checks.that(turns().count("<|im_start|>assistant") == 3, f"and so is a second text: {turns()}")


def joined_messages(api: Api, checks: Checks) -> None:
    says("Yes.")

    def text(role: str, *texts: str) -> Json:
        return {"role": role, "content": [{"type": "text", "text": one} for one in texts]}

    def same(path: str, one: list[Json], other: list[Json], **more: Any) -> None:
        api.post(path, messages=one, **more)
        wanted = turns()
        api.post(path, messages=other, **more)
        checks.equal(turns(), wanted, f"{path}: {json.dumps(other)[:160]}")

    use: Json = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    result: Json = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
    plain = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    same(MESSAGES, [text("user", "a", "b")], plain)
    same(MESSAGES, [text("user", "a", "b")], plain, tools=[LOOK])
    same(MESSAGES, [text("user", "a", "b")], plain, system="S")
    assistant = {"role": "assistant", "content": [{"type": "text", "text": "b"}, use]}
    apart = [{"role": "assistant", "content": "b"}, {"role": "assistant", "content": [use]}]
    behind = {"role": "user", "content": [result, {"type": "text", "text": "c"}, {"type": "text", "text": "d"}]}
    split = [{"role": "user", "content": [result]}, text("user", "c"), {"role": "user", "content": "d"}]
    same(MESSAGES, [text("user", "a"), assistant, behind], [text("user", "a"), *apart, *split], tools=[LOOK])
    api.post(MESSAGES, messages=[text("user", "a"), *apart, *split], tools=[LOOK])
    checks.equal(turns().count("<|im_start|>assistant"), 2, f"one turn of the assistant and the reply: {turns()}")
    begun = [USER, {"role": "assistant", "content": "So"}, {"role": "assistant", "content": " far"}]
    api.post(MESSAGES, messages=begun)
    checks.that(turns().endswith("far") and turns().count("assistant") == 1, f"a reply that two messages begin: {turns()}")
    counted = api.post(MESSAGES + "/count_tokens", messages=plain)["input_tokens"]
    checks.equal(counted, api.post(MESSAGES + "/count_tokens", messages=[text("user", "a", "b")])["input_tokens"], "counted alike")
    refused = api.post(
        MESSAGES,
        400,
        messages=[
            USER,
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]},
        ],
    )
    checks.that("messages[1].content[0]" in json.dumps(refused), f"errors have the request's paths: {refused}")
    wish: Json = {"function": {"name": "look", "arguments": {"at": "K"}}}
    same(OLLAMA, [{"role": "user", "content": "a\n\nb"}], plain)
    same(
        OLLAMA,
        [
            USER,
            {"role": "assistant", "content": "x", "tool_calls": [wish, wish]},
            {"role": "tool", "content": "1"},
            {"role": "tool", "content": "2"},
        ],
        [
            USER,
            {"role": "assistant", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [wish]},
            {"role": "assistant", "tool_calls": [wish]},
            {"role": "tool", "content": "1"},
            {"role": "tool", "content": "2"},
        ],
    )
    checks.equal(turns().count("<tool_call>"), 2, f"calls of both: {turns()}")
    api.post(CHAT, messages=plain)
    checks.equal(turns().count("<|im_start|>user"), 2, "OpenAI's chat has them apart")


def images_of_tools(api: Api, checks: Checks) -> None:
    says("Yes.")
    image: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    pdf: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PIXEL}}
    for content, line in (
        ([image], "[an image, which this model cannot see]"),
        ([{"type": "text", "text": "see"}, image], "see\n[an image"),
        ([pdf], "[a file, which"),
    ):
        said: list[Json] = [
            USER,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]},
        ]
        place = f"messages[2].content[0].content[{len(content) - 1}]"
        checks.that(("part", place) in api.losses(MESSAGES, messages=said, tools=[LOOK]), f"is told: {place}")
        checks.that(line in turns(), f"a line in its place: {turns()}")
        api.post(MESSAGES, messages=[*said, {"role": "assistant", "content": "x"}, USER], tools=[LOOK])
    items = [
        USER,
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}],
        },
    ]
    checks.that(("part", "input[2].output[0]") in api.losses(RESPONSES, input=items, tools=[LOOK_ITEM]), "of Responses too")
    checks.that("[an image, which" in turns(), turns())
    wish: Json = {"function": {"name": "look", "arguments": {}}}
    api.post(
        OLLAMA,
        messages=[USER, {"role": "assistant", "content": "", "tool_calls": [wish]}, {"role": "tool", "content": "see", "images": [PIXEL]}],
    )
    checks.that("see\n[an image, which" in turns(), f"Ollama's images of a tool: {turns()}")
    api.post(MESSAGES, 400, messages=[{"role": "user", "content": [image]}])


def changed_tools(api: Api, checks: Checks) -> None:
    says("Yes.")
    more = {"name": "more", "input_schema": {"type": "object"}}

    def change(kind: str, tool: Json) -> Json:
        return {"role": "system", "content": [{"type": kind, "tool": tool}]}

    def offered() -> list[str]:
        return [name for name in ("look", "more") if f'"name": "{name}"' in prompt()]

    define, name_look = {"type": "tool_definition", "definition": more}, {"type": "tool_reference", "name": "look"}
    api.post(MESSAGES, messages=[USER, change("tool_addition", define)], tools=[LOOK])
    checks.equal(offered(), ["look", "more"], "a tool that is added")
    checks.equal(turns().count("<|im_start|>"), 2, f"is no message: {turns()}")
    api.post(MESSAGES, messages=[USER, change("tool_addition", define)])
    checks.equal(offered(), ["more"], "without others")
    api.post(MESSAGES, messages=[USER, change("tool_addition", define), change("tool_removal", name_look)], tools=[LOOK])
    checks.equal(offered(), ["more"], "a tool that is removed")
    api.post(MESSAGES, messages=[change("tool_removal", name_look), USER, change("tool_addition", name_look)], tools=[LOOK])
    checks.equal(offered(), ["look"], "and added again by its name")


def found_tools(api: Api, checks: Checks) -> None:
    """Claude Code searches for tools, and gives those that it found with the request that has the search's result."""
    says("Yes.")
    found = [{"type": "tool_reference", "tool_name": name} for name in ("look", "more")]
    messages: list[Json] = [
        USER,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "s", "name": "ToolSearch", "input": {"query": "water"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s", "content": found}]},
    ]
    tools = [{**LOOK, "name": "ToolSearch"}, {**LOOK, "defer_loading": True}, {**LOOK, "name": "more", "defer_loading": True}]
    api.post(MESSAGES, messages=messages, tools=tools)
    checks.that("<tool_response>\nlook\nmore\n</tool_response>" in turns(), f"the result has the names of the tools: {turns()}")
    checks.equal(api.losses(MESSAGES, messages=messages, tools=tools), set(), "and nothing is lost")
    found[1].pop("tool_name")
    losses = api.losses(MESSAGES, messages=messages, tools=tools)
    checks.equal([path for _, path in losses], ["messages[2].content[0].content[1]"], "one that names none is")
    checks.that("<tool_response>\nlook\n</tool_response>" in turns(), f"and the others are there: {turns()}")


def tools_of_clients(api: Api, checks: Checks) -> None:
    for type_, name, given in (
        ("bash_20250124", "bash", {"command": "ls"}),
        ("text_editor_20250728", "str_replace_based_edit_tool", {"command": "view", "path": "/a"}),
        ("memory_20250818", "memory", {"command": "view", "path": "/memories"}),
    ):
        says(call(name, given))
        answer = api.post(MESSAGES, messages=[USER], tools=[{"type": type_, "name": name}])
        checks.equal([(block["name"], block["input"]) for block in answer["content"]], [(name, given)], f"a call of {type_}")
        checks.that(f'"name": "{name}"' in prompt(), f"{type_} is offered")
        checks.equal(api.losses(MESSAGES, messages=[USER], tools=[{"type": type_, "name": name}]), set(), f"and nothing of {type_} is lost")
    says("Yes.")
    for type_ in ("web_search_20250305", "computer_20250124"):
        checks.that(("tool", "tools[0]") in api.losses(MESSAGES, messages=[USER], tools=[{"type": type_, "name": "x"}]), f"{type_} is told")
    patch = {"operation": {"type": "update_file", "path": "a", "diff": "@@\n-a\n+b"}}
    rows: list[tuple[str, Json, Json, Any, str]] = [
        (
            "shell",
            {"commands": ["ls", "pwd"], "timeout_ms": 9},
            {"action": {"commands": ["ls", "pwd"], "timeout_ms": 9}},
            [{"stdout": "a\n", "stderr": "bad", "outcome": {"type": "exit", "exit_code": 2}}],
            "bad\n[exit code 2]",
        ),
        ("local_shell", {"command": ["ls"]}, {"action": {"type": "exec", "command": ["ls"], "env": {}}}, "a.txt", "a.txt"),
        ("apply_patch", patch, patch, "done", "done"),
    ]
    for name, given, action, output, shown in rows:
        tools = [{"type": name}]
        says("I do.\n" + call(name, given))
        item = api.post(RESPONSES, input=[USER], tools=tools)["output"][-1]
        checks.equal((item["type"], {key: item[key] for key in action}), (f"{name}_call", action), f"a call of {name}")
        events = api.stream(RESPONSES, input=[USER], tools=tools)
        done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        checks.equal([one["type"] for one in done], ["message", f"{name}_call"], f"{name}, streamed")
        checks.equal(events[-1]["response"]["output"], done, "the response has the same")
        made = api.post(RESPONSES, input=[USER], tools=tools)["output"]
        result = {"type": f"{name}_call_output", "call_id": made[-1]["call_id"], "output": output, "status": "completed"}
        if name == "local_shell":
            result["id"] = made[-1]["id"]
            del result["call_id"]
        says("Yes.")
        api.post(RESPONSES, input=[USER, *made, result], tools=tools)
        checks.that(shown in turns() and "X-Parlance-Prefix-Break" not in api.headers and api.reused() > 0, f"{name}'s output: {turns()}")
        says(call(name, {"x": 1}))
        checks.equal(
            api.post(RESPONSES, input=[USER], tools=tools)["output"][0]["type"], "function_call", f"arguments that are not {name}'s"
        )
    says("Yes.")
    hosted = [{"type": "shell", "environment": {"type": "container_auto"}}]
    checks.that(("tool", "tools[0]") in api.losses(RESPONSES, input=[USER], tools=hosted), "a shell in the API's container is told")


def search_of_clients(api: Api, checks: Checks) -> None:
    """The client looks for tools that the model asks for, and from then on the model has them."""
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    search = {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": schema}
    lists = {"type": "function", "name": "list", "description": "Lists.", "parameters": schema, "strict": False, "defer_loading": True}
    found = {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [lists]}
    asked: Json = {"input": [USER], "tools": [search]}
    says(call("tool_search", {"x": "customers"}))
    item = api.post(RESPONSES, **asked)["output"][-1]
    checks.equal((item["type"], item["execution"], item["arguments"]), ("tool_search_call", "client", {"x": "customers"}), "a search")
    checks.that('"name": "tool_search"' in prompt() and "Finds tools." in prompt() and '"list"' not in prompt(), "it is offered")
    events = api.stream(RESPONSES, **asked)
    checks.equal([one["item"]["type"] for one in events if one["type"] == "response.output_item.done"], ["tool_search_call"], "streamed")
    item = events[-1]["response"]["output"][-1]
    result = {"type": "tool_search_output", "call_id": item["call_id"], "execution": "client", "tools": [found], "status": "completed"}
    says(call("list", {"x": "all"}))
    made = api.post(RESPONSES, input=[USER, item, result], tools=[search])["output"][-1]
    checks.equal((made["type"], made["name"], made.get("namespace")), ("function_call", "list", "crm"), "a tool that was found")
    checks.that('"name": "list"' in prompt() and "Lists." in prompt(), "it is offered from then on")
    checks.that("list" in turns(), f"what was found is the result: {turns()}")
    later = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "later", "parameters": schema}]}
    update = {"type": "configuration_update", "reasoning": {"effort": "low"}}
    says(call("later", {"x": "1"}))
    checks.equal(api.post(RESPONSES, input=[later, update, USER])["output"][-1]["name"], "later", "a developer's tools")
    says("Yes.")
    checks.equal(api.losses(RESPONSES, input=[later, USER]), set(), "and nothing of them is lost")
    hosted = [{"type": "tool_search"}, lists]
    checks.equal(api.losses(RESPONSES, input=[USER], tools=hosted), {("tool", "tools[0]")}, "a search of the API's own is told")
    checks.that('"name": "list"' in prompt(), "where all that it could find is offered")


def text_by_logprobs(api: Api, checks: Checks) -> None:
    """The package `guidance` reads the text of a chunk from its logprobs: those of the reasoning's marks are not among them."""
    says(THOUGHT + "Yes.\n\nK.")
    data = json.dumps({"model": "mine", "stream": True, "messages": [USER], "logprobs": True}).encode()
    request = urllib.request.Request(api.gateway.url + CHAT, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        events = [json.loads(line[6:]) for line in answer.read().decode().splitlines() if line.startswith("data: {")]
    chunks = [event["choices"][0] for event in events]
    named = [("".join(token["token"] for token in (chunk["logprobs"] or {"content": []})["content"]), chunk) for chunk in chunks]
    read = "".join(tokens for tokens, chunk in named if chunk["delta"].get("content"))
    checks.equal(read, "Yes.\n\nK.", "the text, by the tokens of its chunks")
    checks.equal("".join(tokens for tokens, _ in named).removesuffix("<|im_end|>"), THOUGHT + "Yes.\n\nK.", "all tokens")


def text_alone(parlance: str, checks: Checks) -> None:
    image: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    says("Yes.")
    with Gateway(parlance, ENGINE.url, "--pass", "text-only") as gateway:
        api = Api(gateway, checks)
        api.post(CHAT, messages=[{"role": "user", "content": [image]}])
        checks.that("user\n[an image, which this model cannot see]<|im_end|>" in turns(), f"what is left of an image alone: {turns()}")
        api.post(CHAT, messages=[{"role": "user", "content": [{"type": "text", "text": "See"}, image]}])
        checks.that("user\nSee<|im_end|>" in turns(), f"and beside a text: {turns()}")


def main() -> int:
    checks = Checks()
    with Gateway(sys.argv[1], ENGINE.url) as gateway:
        api = Api(gateway, checks)
        for test in (
            summaries,
            thinking,
            hidden_thinking_stays,
            order_of_items,
            joined_messages,
            images_of_tools,
            changed_tools,
            found_tools,
            tools_of_clients,
            search_of_clients,
            text_by_logprobs,
        ):
            test(api, checks)
    text_alone(sys.argv[1], checks)
    ENGINE.close()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
