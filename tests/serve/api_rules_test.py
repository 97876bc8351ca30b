#!/usr/bin/env python3
"""Rules that the APIs' own servers keep, by their clients: `api_rules_test.py PARLANCE`.

Tools in namespaces, the choice of one tool, what names calls and results, schemas, calls that a limit cuts off, and histories that an API's
own tools were in. Run by the Python of build/oracle/apis. Begin reading at main.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import served
from engine import TOKENIZER, Engine, Reply
from gateway import SKIPPED, Checks, Gateway
from scripted_engine import ScriptedEngine

try:
    import anthropic
    import openai
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

Json = dict[str, Any]
PARAMETERS: Json = {"type": "object", "properties": {"at": {"type": "string"}}}
USER: Json = {"role": "user", "content": "How is the tide?"}


def function(name: str) -> Json:
    return {"type": "function", "name": name, "parameters": PARAMETERS, "strict": False}


def space(name: str, *tools: Json) -> Json:
    return {"type": "namespace", "name": name, "description": f"Tools of {name}.", "tools": list(tools)}


def call(name: str, arguments: str = '{"at": "Köln"}') -> Reply:
    return Reply(f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call><|im_end|>')


class Rules:
    """A gateway, its engine, and the clients of two APIs."""

    def __init__(self, gateway: Gateway, engine: Engine, checks: Checks) -> None:
        self.gateway, self.engine, self.checks = gateway, engine, checks
        self.openai: Any = openai.OpenAI(base_url=gateway.url + "/v1", api_key="none", max_retries=0)
        self.anthropic: Any = anthropic.Anthropic(base_url=gateway.url, api_key="none", max_retries=0)

    def answers(self, reply: Reply) -> None:
        self.engine.script = lambda asked: reply

    def prompt(self) -> str:
        return self.engine.vocabulary.decode(self.engine.asked[-1].prompt)

    def grammar(self) -> str:
        return str(self.engine.asked[-1].body["grammar"])

    def refused(self, path: str, body: Json, at: str) -> None:
        """400, and the error names a place of the request."""
        status, _, answer = self.gateway.post(path, {"model": "mine", **body})
        said = json.dumps(answer)
        self.checks.that(status == 400 and at in said, f"{path} {json.dumps(body)[:200]}: {status} {said[:300]}")

    def taken(self, path: str, body: Json) -> Json:
        status, _, answer = self.gateway.post(path, {"model": "mine", **body})
        self.checks.equal(status, 200, f"{path} {json.dumps(body)[:200]}: {json.dumps(answer)[:300]}")
        return dict(answer)


def namespaces(rules: Rules) -> None:
    checks, client = rules.checks, rules.openai
    agents, tide = (
        space("multi_agent_v1", function("spawn_agent")),
        space("mcp__tide", function("high"), {"type": "custom", "name": "write"}),
    )
    for tools, space_of, name, shown in (
        ([tide, agents], "mcp__tide", "high", "high"),
        ([tide, agents], "multi_agent_v1", "spawn_agent", "spawn_agent"),
        ([function("high"), tide], "mcp__tide", "high", "mcp__tide__high"),
        ([tide, space("other", function("high"))], "other", "high", "other__high"),
    ):
        what = f"{space_of} {shown}"
        rules.answers(call(shown))
        asked: Json = {"model": "mine", "tools": tools}
        whole = client.responses.create(input=[USER], **asked)
        made = [(item.name, item.namespace, item.arguments) for item in whole.output]
        checks.equal(made, [(name, space_of, '{"at": "Köln"}')], what)
        checks.that(f'"name": "{shown}"' in rules.prompt(), f"{what} in the prompt")
        events = list(client.responses.create(input=[USER], stream=True, **asked))
        said = [(event.item.name, event.item.namespace) for event in events if event.type.startswith("response.output_item")]
        checks.equal(said, [(name, space_of)] * 2, f"{what}, streamed")
        checks.equal(events[-1].response.output[0].namespace, space_of, f"{what}, the whole of a stream")
        checks.equal(client.responses.retrieve(whole.id).output[0].namespace, space_of, f"{what}, stored")
        result = {"type": "function_call_output", "call_id": whole.output[0].call_id, "output": "It is high."}
        rules.answers(Reply())
        for items in ([USER, *(item.model_dump(exclude_none=True) for item in whole.output), result],
                      [USER, {"type": "item_reference", "id": whole.output[0].id}, result]):  # fmt: skip
            client.responses.create(input=items, **asked)
            checks.that(f'{{"name": "{shown}", "arguments"' in rules.prompt(), f"{what} in a history: {rules.prompt()[-600:]}")
        client.responses.create(input=[result], previous_response_id=whole.id, **asked)
        checks.that(f'{{"name": "{shown}", "arguments"' in rules.prompt(), f"{what} behind a response")
        rules.answers(call(shown))
        client.responses.create(input=[USER], tool_choice={"type": "function", "name": name, "namespace": space_of}, **asked)
        checks.that(json.dumps(json.dumps(shown))[1:-1] in rules.grammar(), f"{what} as the choice")
    rules.answers(call("write", '{"input": "x y"}'))
    item = client.responses.create(model="mine", input=[USER], tools=[tide]).output[0]
    checks.equal((item.type, item.name, item.namespace, item.input), ("custom_tool_call", "write", "mcp__tide", "x y"), "a custom tool")
    # A tool that the API itself runs is left out, and the tool behind it is a custom one all the same.
    item = client.responses.create(model="mine", input=[USER], tools=[{"type": "web_search"}, tide]).output[0]
    checks.equal((item.type, item.input), ("custom_tool_call", "x y"), "a custom tool behind one that is left out")
    rules.answers(call("mcp__tide__write", '{"input": "x y"}'))
    item = client.responses.create(model="mine", input=[USER], tools=[tide, function("write")]).output[0]
    checks.equal(
        (item.type, item.name, item.namespace, item.input), ("custom_tool_call", "write", "mcp__tide", "x y"), "under another name"
    )
    long = space("mcp__" + "x" * 58, function("high"))
    rules.answers(Reply())
    client.responses.create(model="mine", input=[USER], tools=[long, function("high")])
    shown = rules.prompt().split('"name": "mcp__')[1].split('"')[0]
    rules.answers(call("mcp__" + shown))
    item = client.responses.create(model="mine", input=[USER], tools=[long, function("high")]).output[0]
    checks.equal((item.name, item.namespace), ("high", long["name"]), "a long name")
    joined = long["name"] + "__high"
    checks.equal("mcp__" + shown, joined[:55] + "_" + hashlib.sha256(joined.encode()).hexdigest()[:8], "its digits")
    names_of_namespaces(rules)


def names_of_namespaces(rules: Rules) -> None:
    """Each tool has a name of its own, whatever the others are called, and one of whole characters."""

    def shown(*tools: Json) -> list[str]:
        rules.answers(Reply())
        rules.taken("/v1/responses", {"input": [USER], "tools": list(tools)})
        return re.findall(r'"function": {"name": "([^"]*)"', rules.prompt())

    tide = space("tide", function("high"))
    digits = "tide__high_" + hashlib.sha256(b"tide\nhigh").hexdigest()[:8]
    for others in (["high", "tide__high"], ["high", "tide__high", digits]):
        names = shown(*(function(name) for name in others), tide)
        rules.checks.equal((names[:-1], len(set(names))), (others, len(names)), f"another name than {others}")
        rules.checks.that(names[-1].startswith("tide__high_"), f"that is the tool's: {names}")
    rules.checks.equal(shown(function("high"), tide, tide), ["high", "tide__high", "tide__high"], "one that is there twice")
    wide = "ö" * 40
    name = shown(function("high"), space(wide, function("high")))[1]
    joined = f"{wide}__high".encode()
    rules.checks.equal(name, "ö" * 27 + "_" + hashlib.sha256(joined).hexdigest()[:8], "whole characters")


def one_choice(rules: Rules) -> None:
    """A choice that names a tool is one call of it."""
    rules.answers(call("look"))
    chat: Json = {"messages": [USER], "tools": [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]}
    flat: Json = {"input": [USER], "tools": [function("look")]}
    blocks: Json = {"messages": [USER], "max_tokens": 99, "tools": [{"name": "look", "input_schema": PARAMETERS}]}
    of_chat = {"type": "function", "function": {"name": "look"}}
    one, both = {"parallel_tool_calls": False}, {"parallel_tool_calls": True}
    use = {"type": "tool", "name": "look"}
    one_use, more_uses = ({"tool_choice": {**use, "disable_parallel_tool_use": flag}} for flag in (True, False))
    for path, body, named, single, several in (
        ("/v1/chat/completions", chat, {"tool_choice": of_chat}, one, both),
        ("/v1/responses", flat, {"tool_choice": {"type": "function", "name": "look"}}, one, both),
        ("/v1/messages", blocks, {"tool_choice": use}, one_use, more_uses),
    ):
        grammars = []
        for more in ({}, single, several):
            rules.taken(path, {**body, **named, **more})
            grammars.append(rules.grammar())
        rules.checks.equal(grammars[0], grammars[1], f"{path}: the choice of one tool is one call")
        rules.checks.that(grammars[2] != grammars[1], f"{path}: several where that is asked for")


def one_choice_without_grammar(parlance: str, checks: Checks) -> None:
    """An engine that takes no grammar may write several calls: the answer has the first."""
    calls = "".join(call("look", f'{{"at": "{place}"}}').text.replace("<|im_end|>", "\n") for place in ("a", "b", "c")) + "<|im_end|>"
    engine = ScriptedEngine(TOKENIZER).start()
    engine.script({"text": calls})
    with served.Gateway(parlance, f"openai-completions={engine.url}", form="terminal-agent") as gateway:
        client: Any = openai.OpenAI(base_url=gateway.url + "/v1", api_key="none", max_retries=0)
        tools: Any = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
        asked: Json = {"model": "mine", "messages": [USER], "tools": tools}
        named: Json = {"type": "function", "function": {"name": "look"}}
        limited: Any = client.chat.completions.create(**asked, extra_body={"thinking_token_budget": 9, "parlance": True})
        lost = [loss["path"] for loss in limited.parlance["losses"]]
        checks.that("thinking_token_budget" in lost, f"a limit of reasoning that nobody holds it to: {lost}")
        for more, wanted in (({"tool_choice": named}, 1), ({"tool_choice": named, "parallel_tool_calls": True}, 3), ({}, 3)):
            choice = client.chat.completions.create(**asked, **more).choices[0]
            checks.equal((len(choice.message.tool_calls), choice.finish_reason), (wanted, "tool_calls"), f"{more}")
            with client.chat.completions.stream(**asked, **more) as stream:
                final = stream.get_final_completion().choices[0]
            checks.equal((len(final.message.tool_calls), final.finish_reason), (wanted, "tool_calls"), f"{more}, streamed")
            checks.equal(final.message.tool_calls[0].function.arguments, '{"at": "a"}', f"{more}: the first")


def names_of_calls(rules: Rules) -> None:
    """Calls and results that nothing could bring together."""
    rules.answers(Reply())
    use: Json = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    result: Json = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}

    def without(of: Json, *names: str, **others: Any) -> Json:
        return {name: value for name, value in of.items() if name not in names} | others

    def blocks(use: Json, result: Json) -> Json:
        return {"max_tokens": 9, "messages": [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]}

    for bad, at in ((without(use, "id"), "id"), (without(use, id=""), "id"), (without(use, "name"), ""), (without(use, name=" "), "name"),
                    (without(use, "input"), "input"), (without(use, input="x"), "input"), (without(use, input=None), "input")):  # fmt: skip
        rules.refused("/v1/messages", blocks(bad, result), "messages[1].content[0]" + (at and f".{at}"))
    for bad in (without(result, "tool_use_id"), without(result, tool_use_id=""), without(result, tool_use_id="other")):
        rules.refused("/v1/messages", blocks(use, bad), "messages[2].content[0].tool_use_id")
    rules.taken("/v1/messages", blocks(use, result))
    for kind, member in (("function_call", "arguments"), ("custom_tool_call", "input")):
        item: Json = {"type": kind, "call_id": "c", "name": "look", member: "{}"}
        output: Json = {"type": kind + "_output", "call_id": "c", "output": "r"}
        rules.taken("/v1/responses", {"input": [USER, item, output]})
        for bad, at in ((without(item, "call_id"), "call_id"), (without(item, call_id=""), "call_id"), (without(item, "name"), "name"),
                        (without(item, name=" "), "name"), (without(item, call_id=None), "call_id")):  # fmt: skip
            rules.refused("/v1/responses", {"input": [USER, bad, output]}, f"input[1]{'.' + at if at in bad else ''}")
        for bad in (without(output, "call_id"), without(output, call_id=""), without(output, call_id="d")):
            rules.refused("/v1/responses", {"input": [USER, item, bad]}, "input[2].call_id")


def schemas(rules: Rules) -> None:
    rules.answers(Reply('{"a": 1}<|im_end|>'))

    def forms(schema: Any) -> list[tuple[str, Json, str]]:
        form: Json = {"type": "json_schema", "name": "n", "schema": schema}
        wrapped: Json = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
        output: Json = {"format": {"type": "json_schema", "schema": schema}}
        return [
            ("/v1/chat/completions", {"messages": [USER], "response_format": wrapped}, "response_format.json_schema.schema"),
            ("/v1/responses", {"input": "Hi", "text": {"format": form}}, "text.format.schema"),
            ("/v1/messages", {"messages": [USER], "max_tokens": 9, "output_config": output}, "output_config.format.schema"),
            ("/api/chat", {"messages": [USER], "stream": False, "format": schema}, "format"),
        ]

    for schema, at in (
        ({"type": "foo"}, ".type"),
        ({"type": 5}, ".type"),
        ({"type": ["string", "foo"]}, ".type"),
        ({"type": "object", "properties": {"a": {"type": "dict"}}}, ".properties.a.type"),
        ({"type": "object", "properties": {"a": "string"}}, ".properties.a"),
        ({"type": "object", "properties": {"a": None}}, ".properties.a"),
        ({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "any"}]}}, ".items.anyOf[1].type"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "file"}}}, ".$defs.A.type"),
    ):
        for path, body, form in forms(schema):
            rules.refused(path, body, form + at)
    for schema in (
        {},
        {"type": None},
        {"type": ["integer", "null"]},
        {"type": "object", "properties": {"type": {"enum": ["foo"]}, "a": True}},
        {"type": "object", "properties": {"a": {"type": "integer", "nullable": True, "default": {"type": "foo"}}}},
    ):
        for path, body, _ in forms(schema):
            rules.taken(path, body)
    for more in ({}, {"schema": None}):
        rules.refused("/v1/responses", {"input": "Hi", "text": {"format": {"type": "json_schema", "name": "n", **more}}}, "text.format")
    # Tools of old clients have types that JSON Schema has not; their arguments are then any JSON.
    for type in ("any", "dict", "file"):
        tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": type}}}}
        rules.taken("/v1/chat/completions", {"messages": [USER], "tools": [{"type": "function", "function": tool}]})


def cut_calls(rules: Rules) -> None:
    """Where a call must come, its beginning is no text."""
    openai_tools: list[Json] = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
    blocks: Json = {
        "messages": [USER],
        "max_tokens": 99,
        "tools": [{"name": "look", "input_schema": PARAMETERS}],
        "tool_choice": {"type": "any"},
    }
    checks = rules.checks
    for text in ('<tool_call>\n{"na', "<tool_c", "<tool_call>"):
        rules.answers(Reply(text, length=True))
        for choice in ("required", {"type": "function", "function": {"name": "look"}}):
            asked: Json = {"model": "mine", "messages": [USER], "tools": openai_tools, "tool_choice": choice}
            first = rules.openai.chat.completions.create(**asked)
            message = first.choices[0].message
            checks.equal(
                (message.content or "", message.tool_calls, first.choices[0].finish_reason), ("", None, "length"), f"{text} {choice}"
            )
            checks.that("reply_diagnostics" in first.model_dump_json(), f"{text}: the diagnostics have it")
            chunks = list(rules.openai.chat.completions.create(stream=True, **asked))
            checks.that(not any(choice.delta.content for chunk in chunks for choice in chunk.choices), f"{text}, streamed")
        response = rules.openai.responses.create(model="mine", input=[USER], tools=[function("look")], tool_choice="required")
        checks.equal((response.output, response.status), ([], "incomplete"), f"{text}, a response")
        answer = rules.anthropic.messages.create(model="mine", **blocks)
        checks.equal((answer.content, answer.stop_reason), ([], "max_tokens"), f"{text}, a message")
        with rules.anthropic.messages.stream(model="mine", **blocks) as stream:
            checks.that(all(event.type != "content_block_start" for event in stream), f"{text}, a streamed message")
        auto = rules.openai.chat.completions.create(model="mine", messages=[USER], tools=openai_tools)
        checks.equal(auto.choices[0].message.content, text, f"{text} where a text may come")
    # The client has nothing of it, and the next prompt goes on behind what was sampled.
    said: list[Json] = [{"role": "user", "content": "And now?"}]
    asked = {"model": "mine", "tools": openai_tools, "tool_choice": "required"}
    rules.openai.chat.completions.create(messages=said, **asked)
    ids = [*rules.engine.asked[-1].prompt, *rules.engine.vocabulary.encode("<tool_call>")]
    rules.openai.chat.completions.create(
        messages=[*said, {"role": "assistant", "content": ""}, {"role": "user", "content": "Go on."}], **asked
    )
    checks.equal(rules.engine.asked[-1].prompt[: len(ids)], ids, "the next prompt")


def own_tools_of_apis(rules: Rules) -> None:
    rules.answers(Reply())
    found: Json = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "e", "page_age": None}
    ran: Json = {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}
    turns: list[list[Json]] = [
        [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]},
        ],
        [
            {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "v", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "m", "is_error": False, "content": [{"type": "text", "text": "r"}]},
        ],
        [
            {"type": "server_tool_use", "id": "c", "name": "code_execution", "input": {"code": "1"}},
            {"type": "code_execution_tool_result", "tool_use_id": "c", "content": ran},
        ],
    ]
    for blocks in turns:
        said: list[Json] = [USER, {"role": "assistant", "content": [*blocks, {"type": "text", "text": "It is high."}]}, USER]
        answer = rules.taken("/v1/messages", {"max_tokens": 9, "messages": said, "parlance": True})
        paths = [loss["path"] for loss in answer["parlance"]["losses"]]
        rules.checks.equal(paths, ["messages[1].content[0]", "messages[1].content[1]"], f"{blocks[0]}")
        rules.checks.that("It is high." in rules.prompt(), "the text beside it")
    items: list[Json] = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["x"], "results": None},
        {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "c", "outputs": []},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk="},
        {"type": "mcp_list_tools", "id": "ml_1", "server_label": "v", "tools": []},
        {"type": "mcp_call", "id": "mc_1", "server_label": "v", "name": "n", "arguments": "{}", "output": "r"},
        {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"paths": ["x"]}, "status": "completed"},
        {"type": "program", "id": "pr_1", "call_id": "p", "code": "1", "fingerprint": "f"},
        {"type": "program_output", "id": "po_1", "call_id": "p", "result": "1", "status": "completed"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
    ]  # fmt: skip
    answered: Json = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is high.", "annotations": []}],
    }
    for item in items:
        answer = rules.taken("/v1/responses", {"input": [USER, item, answered, USER], "parlance": True})
        rules.checks.equal([loss["path"] for loss in answer["parlance"]["losses"]], ["input[1]"], item["type"])
    told: Json = {
        "type": "agent_message",
        "author": "a",
        "recipient": "b",
        "content": [{"type": "input_text", "text": "The sluice is shut."}],
    }
    rules.taken("/v1/responses", {"input": [USER, told]})
    rules.checks.that("The sluice is shut." in rules.prompt(), "what another agent told")


def media_of_anthropic(rules: Rules) -> None:
    """Claude Code takes out what an error names by the type behind its place, and reads PDFs by a block beside the tool's result."""
    image: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    pdf: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    text: Json = {"type": "text", "text": "What is it?"}
    for block in (image, pdf):
        said = {"max_tokens": 9, "messages": [USER, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": [text, block]}]}
        rules.refused("/v1/messages", said, f"messages[2].content[1].{block['type']}: ")
        rules.refused("/v1/messages/count_tokens", said, f"messages[2].content[1].{block['type']}: ")
    plain: Json = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    rules.refused("/v1/chat/completions", {"messages": [{"role": "user", "content": [plain]}]}, "messages[0].content[0]: ")
    use: Json = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    read = [{"type": "tool_result", "tool_use_id": "t1", "content": "PDF file read: d.pdf"}, pdf]
    said = {
        "max_tokens": 9,
        "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
        "messages": [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": read}],
        "parlance": True,
    }
    losses = rules.taken("/v1/messages", said)["parlance"]["losses"]
    rules.checks.equal([loss["path"] for loss in losses], ["messages[2].content[1]"], "a file that a tool has read")
    shown = "PDF file read: d.pdf" in rules.prompt() and "[a file, which this model cannot read]" in rules.prompt()
    rules.checks.that(shown, "a line says so")


def billing_header(rules: Rules) -> None:
    """Two requests of one session, whose header is another each time, share their prompt."""
    rules.answers(Reply())
    prompts = []
    for number in range(2):
        header = f"x-anthropic-billing-header: cc_version=2.1.37.{number}; cc_entrypoint=cli; cch={number};"
        system = [{"type": "text", "text": header}, {"type": "text", "text": "You are brief."}]
        answer = rules.taken("/v1/messages", {"max_tokens": 9, "system": system, "messages": [USER], "parlance": True})
        rules.checks.that(
            any("billing header" in loss["what"] for loss in answer["parlance"]["losses"]), f"it is told: {answer['parlance']}"
        )
        prompts.append(rules.prompt())
    rules.checks.that(prompts[0] == prompts[1] and "billing" not in prompts[0] and "You are brief." in prompts[0], prompts[0])


def parts_of_other_roles(parlance: str, engine: Engine, checks: Checks) -> None:
    """A template of texts alone gets a text of any role."""
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "texts.jinja"
        template.write_text(
            "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ 'x ' + m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
        )
        with Gateway(parlance, engine.url, template=("-t", str(template))) as gateway:
            rules = Rules(gateway, engine, checks)
            rules.answers(Reply())
            texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
            for messages in (
                [{"role": "critic", "content": texts}, USER],
                [{"role": "user", "content": texts}, {"role": "critic", "content": texts}],
            ):
                rules.taken("/v1/chat/completions", {"messages": messages})
                checks.that("critic\nx a\nb<|im_end|>" in rules.prompt(), rules.prompt())


def main() -> int:
    checks = Checks()
    tests: list[Callable[[Rules], None]] = [
        namespaces, one_choice, names_of_calls, schemas, cut_calls, own_tools_of_apis, media_of_anthropic, billing_header,
    ]  # fmt: skip
    with Engine() as engine:
        with Gateway(sys.argv[1], engine.url) as gateway:
            for test in tests:
                test(Rules(gateway, engine, checks))
        one_choice_without_grammar(sys.argv[1], checks)
        parts_of_other_roles(sys.argv[1], engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
