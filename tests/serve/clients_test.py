#!/usr/bin/env python3
"""The clients that people have, unmodified, against `parlance serve`: a chat, a streamed chat, a loop with a tool.

    clients_test.py PARLANCE

Run by the Python of build/oracle/apis, which has the packages openai, anthropic and ollama. The engine is a scripted one. Each loop's
second prompt must begin with the ids of the first and those that were sampled. Begin reading at main.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from engine import Asked, Engine, Reply
from gateway import SKIPPED, Checks, Gateway

try:
    import anthropic
    import ollama
    import openai
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
OPENAI_TOOLS: Any = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": PARAMETERS}}]
CALL = '<tool_call>\n{ "name": "look",  "arguments": {"at": "Köln 🌊"}}\n</tool_call><|im_end|>'
TEXT = "It is high tide in Köln 🌊.<|im_end|>"
SHOWN = TEXT.removesuffix("<|im_end|>")
ASKED = "Where is <|im_end|> the water?"


def scripted(asked: Asked) -> Reply:
    """A call where there are tools and no result of one yet."""
    return Reply(CALL if "grammar" in asked.body and not scripted_results(asked) else TEXT)


def scripted_results(asked: Asked) -> bool:
    return RESULT in ENGINE.vocabulary.decode(asked.prompt)


RESULT = "The water stands at 3.2 m"
ENGINE = Engine(scripted)


def chat_completions(url: str, checks: Checks) -> None:
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    whole = client.chat.completions.create(model="mine", messages=messages)
    checks.equal((whole.choices[0].message.content, whole.choices[0].finish_reason), (SHOWN, "stop"), "chat completion")
    checks.that(whole.usage and whole.usage.prompt_tokens > 100, "usage of a chat completion")
    text, usage, finish = "", None, None
    for chunk in client.chat.completions.create(model="mine", messages=messages, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    checks.equal((text, finish), (SHOWN, "stop"), "streamed chat completion")
    checks.that(usage and usage.completion_tokens == len(ENGINE.vocabulary.encode(TEXT)), "usage of a streamed chat completion")
    with client.chat.completions.stream(model="mine", messages=messages, tools=OPENAI_TOOLS) as stream:
        for _ in stream:
            pass
        first = stream.get_final_completion().choices[0]
    call = first.message.tool_calls[0]
    checks.equal((call.function.name, json.loads(call.function.arguments)), ("look", {"at": "Köln 🌊"}), "streamed call")
    checks.equal(first.finish_reason, "tool_calls", "finish reason of a call")
    given = {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
    messages += [{"role": "assistant", "tool_calls": [given]}, {"role": "tool", "tool_call_id": call.id, "content": RESULT}]
    second = client.chat.completions.create(model="mine", messages=messages, tools=OPENAI_TOOLS)
    checks.equal(second.choices[0].message.content, SHOWN, "answer behind a result")


def responses(url: str, checks: Checks) -> None:
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    whole = client.responses.create(model="mine", input=ASKED, instructions="Be short.")
    checks.equal((whole.output_text, whole.status), (SHOWN, "completed"), "response")
    kinds = []
    with client.responses.stream(model="mine", input=ASKED) as stream:
        kinds = [event.type for event in stream]
        checks.equal(stream.get_final_response().output_text, SHOWN, "streamed response")
    checks.equal((kinds[0], kinds[1], kinds[-1]), ("response.created", "response.in_progress", "response.completed"), "order of events")
    tools: Any = [{"type": "function", "name": "look", "description": "Looks.", "parameters": PARAMETERS, "strict": False}]
    first = client.responses.create(model="mine", input=ASKED, tools=tools)
    call = next(item for item in first.output if item.type == "function_call")
    checks.equal((call.name, json.loads(call.arguments)), ("look", {"at": "Köln 🌊"}), "call of a response")
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
    asked: Any = [{"role": "user", "content": ASKED}, call.model_dump(), result]
    second = client.responses.create(model="mine", input=asked, tools=tools)
    checks.equal(second.output_text, SHOWN, "response behind a result")
    again = client.responses.create(model="mine", input=[result], previous_response_id=first.id, tools=tools)
    checks.equal(again.output_text, SHOWN, "response behind previous_response_id")


def anthropic_messages(url: str, checks: Checks) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    whole = client.messages.create(model="mine", max_tokens=500, messages=messages)
    checks.equal((whole.content[0].text, whole.stop_reason), (SHOWN, "end_turn"), "message")
    with client.messages.stream(model="mine", max_tokens=500, messages=messages) as stream:
        checks.equal("".join(stream.text_stream), SHOWN, "streamed message")
        usage = stream.get_final_message().usage
        checks.that(usage.input_tokens + (usage.cache_read_input_tokens or 0) > 100, "input tokens of a streamed message")
    counted = client.messages.count_tokens(model="mine", messages=messages)
    checks.equal(counted.input_tokens, whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0), "count_tokens")
    tools: Any = [{"name": "look", "description": "Looks.", "input_schema": PARAMETERS}]
    with client.messages.stream(model="mine", max_tokens=500, messages=messages, tools=tools) as stream:
        for _ in stream:
            pass
        first = stream.get_final_message()
    use = next(block for block in first.content if block.type == "tool_use")
    checks.equal((use.name, use.input, first.stop_reason), ("look", {"at": "Köln 🌊"}, "tool_use"), "streamed tool_use")
    messages += [
        {"role": "assistant", "content": [block.model_dump() for block in first.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": RESULT}]},
    ]
    second = client.messages.create(model="mine", max_tokens=500, messages=messages, tools=tools)
    checks.equal(second.content[0].text, SHOWN, "message behind a tool_result")


def ollama_chat(url: str, checks: Checks) -> None:
    client = ollama.Client(host=url)
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    whole = client.chat(model="mine", messages=messages)
    checks.equal((whole.message.content, whole.done_reason), (SHOWN, "stop"), "Ollama's chat")
    parts = list(client.chat(model="mine", messages=messages, stream=True))
    checks.equal("".join(part.message.content or "" for part in parts), SHOWN, "Ollama's streamed chat")
    checks.that(parts[-1].done and (parts[-1].eval_count or 0) > 0, "the last part of Ollama's stream")
    checks.equal(client.generate(model="mine", prompt=ASKED).response, SHOWN, "Ollama's generate")
    checks.equal([model.model for model in client.list().models], ["mine"], "Ollama's list")
    first = client.chat(model="mine", messages=messages, tools=OPENAI_TOOLS)
    call = (first.message.tool_calls or [])[0]
    checks.equal((call.function.name, dict(call.function.arguments)), ("look", {"at": "Köln 🌊"}), "Ollama's call")
    messages += [first.message, {"role": "tool", "tool_name": "look", "content": RESULT}]
    checks.equal(client.chat(model="mine", messages=messages, tools=OPENAI_TOOLS).message.content, SHOWN, "Ollama's second turn")


def ids_go_on(checks: Checks, name: str) -> None:
    """Of each second turn: its prompt begins with the prompt before it and the ids that were sampled."""
    seconds = [asked for asked in ENGINE.asked if scripted_results(asked)]
    checks.that(seconds, f"{name}: there is a second turn")
    called = ENGINE.vocabulary.encode(CALL)
    for asked in seconds:
        firsts = [one.prompt + called for one in ENGINE.asked if one is not asked and "grammar" in one.body and not scripted_results(one)]
        checks.that(any(asked.prompt[: len(ids)] == ids for ids in firsts), f"{name}: the second prompt keeps the sampled ids")
    control = [one for asked in ENGINE.asked for one in asked.prompt if one == ENGINE.vocabulary.special["<|im_end|>"]]
    shown = sum(ENGINE.vocabulary.decode(asked.prompt).count("<|im_end|>") for asked in ENGINE.asked)
    checks.that(len(control) < shown, f"{name}: <|im_end|> that a user typed is text")


def main() -> int:
    checks = Checks()
    clients: list[Callable[[str, Checks], None]] = [chat_completions, responses, anthropic_messages, ollama_chat]
    with ENGINE, Gateway(sys.argv[1], ENGINE.url) as gateway:
        checks.equal(openai.OpenAI(base_url=gateway.url + "/v1", api_key="none").models.list().data[0].id, "mine", "list of models")
        for client in clients:
            ENGINE.asked.clear()
            client(gateway.url, checks)
            ids_go_on(checks, client.__name__)
        checks.equal(gateway.metric("parlance_prefix_breaks_total"), 0, "prefix breaks")
        checks.equal(gateway.metric("parlance_malformed_total"), 0, "malformed parts")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
