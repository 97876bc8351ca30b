#!/usr/bin/env python3
"""Members, routes and headers that vLLM, SGLang, llama.cpp and OpenRouter add to the APIs: `extensions_test.py PARLANCE`.

Each is served as these servers do, or refused; what has no effect is told (losses_test.py). Begin reading at main.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from gateway import Checks
from scripted_engine import ScriptedEngine, Tokenizer
from served import TOKENIZER, Answer, Gateway

Json = dict[str, Any]
CHAT, COMPLETIONS, GENERATE = "/v1/chat/completions", "/v1/completions", "/inference/v1/generate"
USER: Json = {"role": "user", "content": "Hi"}
FUNCTION: Json = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
REASONED = "<think>\nWe add.\n</think>\n\nIt is 2.<|im_end|>"
IDS = Tokenizer(TOKENIZER)
SIZE = max(*IDS.vocabulary.values(), *IDS.added.values()) + 1
ENGINES = ("llama-server", "vllm", "sglang")


class Served:
    """A gateway in front of a script."""

    def __init__(self, engine: ScriptedEngine, gateway: Gateway) -> None:
        self.engine, self.gateway = engine, gateway

    def ask(self, path: str, text: str, members: Json, **script: Any) -> Answer:
        self.engine.script({"text": text, **script})
        body: Json = {"messages": [USER]} if path == CHAT else {"prompt": "Hi"} if path == COMPLETIONS else {}
        return self.gateway.ask(path, {**body, "model": "m", **members})

    def asked(self) -> Json:
        """The body of the last request for a reply."""
        bodies: list[Json] = [one.body for one in self.engine.requests if isinstance(one.body, dict) and "stream" in one.body]
        return bodies[-1]


@contextlib.contextmanager
def served(kind: str, *options: str, form: str = "terminal-agent") -> Iterator[Served]:
    engine = ScriptedEngine(TOKENIZER).start()
    try:
        engine.script({"text": "Yes.<|im_end|>"})
        with Gateway(sys.argv[1], f"{kind}={engine.url}", *options, form=form) as gateway:
            yield Served(engine, gateway)
    finally:
        engine.stop()


def choices_of(answer: Answer) -> list[Json]:
    return [choice for event in answer.events for choice in event["choices"]]


def joined(answer: Answer, name: str) -> str:
    return "".join(choice["delta"].get(name) or "" for choice in choices_of(answer))


def ids_of_chats(checks: Checks) -> None:
    """return_token_ids: the prompt's, and those of each choice, whole and piece by piece."""
    wish = {"return_token_ids": True}
    for kind in ENGINES:
        with served(kind) as to:
            ids = IDS.encode(REASONED)
            whole = to.ask(CHAT, REASONED, {**wish, "parlance": True}).json
            checks.equal(whole["choices"][0]["token_ids"], ids, f"{kind}: of the reply, marks and all")
            checks.equal(whole["parlance"]["sampled_ids"], ids, f"{kind}: as the session has them")
            prompt = to.asked().get("prompt") or to.asked()["input_ids"]
            checks.equal(whole["prompt_token_ids"], prompt, f"{kind}: of the prompt, as the engine got it")
            streamed = to.ask(CHAT, REASONED, {**wish, "stream": True})
            checks.equal([one for choice in choices_of(streamed) for one in choice["token_ids"]], ids, f"{kind}: in a stream")
            prompts = [event.get("prompt_token_ids") for event in streamed.events]
            checks.equal(prompts, [prompt, *[None] * (len(prompts) - 1)], f"{kind}: once")
            if kind != "llama-server":
                for choice in choices_of(to.ask(CHAT, REASONED, {**wish, "stream": True, "logprobs": True})):
                    told = [one["token"] for one in (choice.get("logprobs") or {}).get("content", [])]
                    own = [IDS.bytes([one]).decode() for one in choice["token_ids"]]
                    checks.equal(own, told, f"{kind}: a chunk's ids are those of its logprobs")
            plain = to.ask(CHAT, REASONED, {"return_token_ids": False}).text
            checks.that("token_ids" not in plain, "only where they are asked for", plain)
            several = to.ask(CHAT, REASONED, {**wish, "n": 2, "stream": True})
            for number in (0, 1):
                own = [one for choice in choices_of(several) if choice["index"] == number for one in choice["token_ids"]]
                checks.equal(own, ids, f"of choice {number}")
            checks.equal(sum("prompt_token_ids" in event for event in several.events), 1, "the prompt's are those of all choices")
            hidden = to.ask(CHAT, REASONED, {**wish, "include_reasoning": False}).json
            checks.that("token_ids" not in hidden["choices"][0], "those of reasoning that is left out would tell it")


def ids_of_completions(checks: Checks) -> None:
    wish = {"return_token_ids": True, "prompt": ["Hi", "Hello there"]}
    with served("vllm") as to:
        ids, prompts = IDS.encode("One, two<|im_end|>"), [IDS.encode(text) for text in ("Hi", "Hello there")]
        whole = to.ask(COMPLETIONS, "One, two<|im_end|>", wish).json["choices"]
        checks.equal([(one["token_ids"], one["prompt_token_ids"]) for one in whole], [(ids, prompt) for prompt in prompts], "of each")
        streamed = choices_of(to.ask(COMPLETIONS, "One, two<|im_end|>", {**wish, "stream": True}))
        for number in (0, 1):
            own = [choice for choice in streamed if choice["index"] == number]
            checks.equal([one for choice in own for one in choice["token_ids"]], ids, f"in a stream: {own}")
            checks.equal([choice["prompt_token_ids"] for choice in own if "prompt_token_ids" in choice], [prompts[number]], "once")


def names_of_tokens(checks: Checks) -> None:
    """return_tokens_as_token_ids: logprobs name tokens by their ids."""
    with served("vllm") as to:
        wish = {"return_tokens_as_token_ids": True}
        ids = IDS.encode("Yes.<|im_end|>")
        told = to.ask(CHAT, "Yes.<|im_end|>", {**wish, "logprobs": True, "top_logprobs": 2}).json["choices"][0]["logprobs"]["content"]
        checks.equal([one["token"] for one in told], [f"token_id:{id}" for id in ids], "of a chat")
        checks.equal(bytes(told[0]["bytes"]), IDS.bytes(ids[:1]), "the bytes are the token's own")
        names = [one["token"] for one in told[0]["top_logprobs"]]
        checks.equal(names, [f"token_id:{ids[0]}", f"token_id:{ids[0] + 1}"], "and alternatives")
        made = to.ask(COMPLETIONS, "Yes.<|im_end|>", {**wish, "logprobs": 1}).json["choices"][0]["logprobs"]
        checks.equal(made["tokens"], [f"token_id:{id}" for id in ids[:-1]], "of a completion")
        checks.equal([list(one) for one in made["top_logprobs"]], [[f"token_id:{id}"] for id in ids[:-1]], "and what else was likely")


def own_token_in_logprobs(checks: Checks) -> None:
    """The token that was sampled is among the likely ones, however few are asked for."""
    for kind in ENGINES:
        with served(kind) as to:
            ids = IDS.encode("Yes.")
            made = to.ask(COMPLETIONS, "Yes.", {"logprobs": 0}).json["choices"][0]["logprobs"]
            expected = [{token: logprob} for token, logprob in zip(made["tokens"], made["token_logprobs"], strict=True)]
            checks.equal(made["top_logprobs"], expected, f"{kind}: of a completion")
            asked = {"token_ids": ids, "sampling_params": {"logprobs": 0}}
            content = to.ask(GENERATE, "Yes.", asked).json["choices"][0]["logprobs"]["content"]
            checks.equal([[other["token_id"] for other in one["top_logprobs"]] for one in content], [[id] for id in ids], f"{kind}: of ids")


def hidden_and_joined_reasoning(checks: Checks) -> None:
    hiding: list[Json] = [{"include_reasoning": False}, {"reasoning": {"exclude": True}}]
    joining: list[Json] = [{"separate_reasoning": False}, {"reasoning_format": "none"}]
    with served("llama-server") as to:
        for members in (*hiding, *joining, {"include_reasoning": True, "separate_reasoning": True}, {}):
            message = to.ask(CHAT, REASONED, members).json["choices"][0]["message"]
            streamed = to.ask(CHAT, REASONED, {**members, "stream": True})
            checks.equal(joined(streamed, "content"), message["content"], f"a stream has the same: {members}")
            checks.equal(
                joined(streamed, "reasoning_content"), message.get("reasoning_content") or "", f"and the same reasoning: {members}"
            )
            is_shown = members not in (*hiding, *joining)
            checks.equal(message.get("reasoning_content"), "We add." if is_shown else None, f"the reasoning: {members}")
            content = "<think>\nWe add.\n</think>\n\nIt is 2." if members in joining else "It is 2."
            checks.equal(message["content"], content, f"the content: {members}")
            names = {"reasoning_content", "reasoning"} if is_shown else {"reasoning"}
            checks.equal(names, {"reasoning_content", "reasoning"} & set(message), f"its names, or vLLM's as null: {members}")
    for name in ("reasoning_content", "reasoning"):
        with served("llama-server", "--reasoning-name", name) as to:
            for reply, wanted in ((REASONED, "We add."), ("It is 2.<|im_end|>", None)):
                message = to.ask(CHAT, reply, {}).json["choices"][0]["message"]
                checks.equal({key: message[key] for key in message if "reasoning" in key}, {name: wanted}, f"--reasoning-name {name}")
                streamed = to.ask(CHAT, reply, {"stream": True})
                checks.equal(joined(streamed, name), wanted or "", f"a stream with --reasoning-name {name}")
                checks.equal(joined(streamed, "reasoning" if name == "reasoning_content" else "reasoning_content"), "", "and no other")
    with served("llama-server", form="underscore-bot") as to:
        message = to.ask(CHAT, "We add.</think>It is 2.<|im_end|>", {"separate_reasoning": False}).json["choices"][0]["message"]
        checks.that(message["content"].startswith("We add.</think>"), "the prompt has the first mark", message)


def stop_ids(checks: Checks) -> None:
    """stop_token_ids end a reply, and are none of its text."""
    ids = IDS.encode("One, two, three<|im_end|>")
    before = IDS.bytes(ids[:3]).decode()
    for kind in ENGINES:
        with served(kind) as to:
            for path in (CHAT, COMPLETIONS):
                for stream in (False, True):
                    answer = to.ask(path, "One, two, three<|im_end|>", {"stop_token_ids": [ids[3]], "stream": stream})
                    choices = choices_of(answer) if stream else answer.json["choices"]
                    parts = [one.get("message") or one.get("delta") or one for one in choices]
                    text = "".join(part.get("content" if path == CHAT else "text") or "" for part in parts)
                    checks.equal((text, choices[-1]["finish_reason"]), (before, "stop"), f"{kind} {path} {stream}")
                if kind != "llama-server":  # which has no such setting: the gateway ends its request
                    sent = to.asked().get("sampling_params", to.asked())["stop_token_ids"]
                    checks.that({ids[3], *IDS.encode("<|im_end|>")} <= set(sent), f"{kind}: sent with the model's own", sent)
                answer = to.ask(path, "One, two, three<|im_end|>", {"stop_token_ids": IDS.encode("<|im_end|>")})
                checks.equal(answer.status, 200, "the model's own end")
            reasoned = to.ask(CHAT, REASONED, {"stop_token_ids": IDS.encode(REASONED)[3:4], "messages": [USER]}).json["choices"][0]
            checks.equal(reasoned["finish_reason"], "stop", f"{kind}: of reasoning too: {reasoned}")
            response = to.ask("/v1/responses", REASONED, {"stop_token_ids": IDS.encode(REASONED)[3:4], "input": "Hi"}).json
            checks.equal(response["status"], "completed", f"{kind}: which is no limit: {response}")
    with served("llama-server") as to:
        first = to.ask(CHAT, "One, two, three<|im_end|>", {"stop_token_ids": [ids[3]], "session_id": "s"}).json["choices"][0]["message"]
        following = {"messages": [USER, first, USER], "session_id": "s", "parlance": True}
        told = to.ask(CHAT, "Yes.<|im_end|>", following).json["parlance"]
        checks.equal(told["prefix_break"], None, "the next turn has the text that the client was told")
        for path in (CHAT, COMPLETIONS):
            for wrong in ([-1], [SIZE], ["1"], [1.5], 7, [2**40], [0] * 1025):
                refused = to.ask(path, "Yes.", {"stop_token_ids": wrong})
                checks.equal((refused.status, refused.error.get("param")), (400, "stop_token_ids"), f"{path} {wrong}: {refused.text[:200]}")


def biases(checks: Checks) -> None:
    with served("llama-server") as to:
        for path in (CHAT, COMPLETIONS):
            refused = to.ask(path, "Yes.", {"logit_bias": {str(SIZE): 1}})
            checks.equal(refused.status, 400, f"{path}: no token")
            checks.that(str(SIZE) in refused.error["message"] and refused.error["param"] == "logit_bias", "names the id", refused.text)
            refused = to.ask(path, "Yes.", {"logit_bias": {"12": 1, "hello": 2}})
            checks.that(refused.status == 400 and "'hello'" in refused.error["message"], "names the key", refused.text)
            checks.equal(to.ask(path, "Yes.", {"logit_bias": {str(SIZE - 1): 1}}).status, 200, "the last token")


def own_grammars(checks: Checks) -> None:
    """A grammar of the client's holds the reply, or the request is refused."""
    gbnf, tag = 'root ::= "Yes."', {"type": "structural_tag", "format": {"type": "any_text"}}
    members: list[tuple[Json, str]] = [
        ({"structured_outputs": {"grammar": gbnf}}, "structured_outputs.grammar"), ({"guided_grammar": gbnf}, "guided_grammar"),
        ({"grammar": gbnf}, "grammar"), ({"ebnf": gbnf}, "ebnf"),
    ]  # fmt: skip
    for path in (CHAT, COMPLETIONS):
        with served("llama-server") as to:
            for asked, name in members:
                answer = to.ask(path, "Yes.<|im_end|>", {**asked, "parlance": True})
                checks.equal((answer.status, to.asked().get("grammar")), (200, gbnf), f"{path}: {name} is passed on")
                if path == CHAT:
                    checks.equal(answer.json["parlance"]["losses"], [], "and nothing is lost")
                for other in ({"tools": [FUNCTION]}, {"response_format": {"type": "json_object"}}, {"guided_regex": "a"}):
                    refused = to.ask(path, "Yes.", {**asked, **other})
                    checks.equal((refused.status, refused.error["param"]), (400, name), f"{path}: {name} with {other}")
            with_tools = to.ask(CHAT, "Yes.<|im_end|>", {"grammar": gbnf, "tools": [FUNCTION], "tool_choice": "none"})
            checks.equal(with_tools.status, 200, "tools that are not called")
            refused = to.ask(path, "Yes.", {"structured_outputs": {"structural_tag": tag}})
            checks.equal((refused.status, refused.error["param"]), (400, "structured_outputs.structural_tag"), "the engine takes GBNF")
            checks.equal(to.ask(path, "Yes.", {"grammar": 7}).status, 400, "no text")
            checks.equal(to.ask(path, "Yes.", {"grammar": gbnf, "ebnf": gbnf}).status, 400, "two")
        for kind in ("vllm", "sglang"):
            with served(kind) as to:
                tags: list[tuple[Json, str]] = [
                    ({"structured_outputs": {"structural_tag": tag}}, ""),
                    ({"structural_tag": json.dumps(tag)}, ""),
                ]
                for asked, name in (*members, *tags):
                    checks.equal(to.ask(path, "Yes.<|im_end|>", asked).status, 200, f"{kind} {path}: {name}")
                    sent = to.asked().get("sampling_params", to.asked().get("structured_outputs"))["structural_tag"]
                    wanted = {"type": "structural_tag", "format": {"type": "grammar", "grammar": gbnf}} if name else tag
                    checks.equal(json.loads(sent), wanted, f"{kind} {path}: {name} as a tag")
        with served("openai-completions") as to:
            for asked, name in members:
                refused = to.ask(path, "Yes.", asked)
                checks.equal((refused.status, refused.error["param"]), (400, name), f"an engine without grammars: {path} {name}")
    with served("llama-server", form="underscore-bot") as to:
        refused = to.ask(CHAT, "Yes.", {"grammar": gbnf})
        checks.that(refused.status == 400 and "reasoning" in refused.error["message"], "the reply begins with reasoning", refused.text)


def own_grammars_in_each_api(checks: Checks) -> None:
    """Another form of the reply, or tools that may be called, by the names of each API; tools of a thread, which the request has not."""
    gbnf, schema = 'root ::= "Yes."', {"type": "object"}
    tool: Json = {"name": "f", "input_schema": {"type": "object"}}
    chat, message, response, ollama, raw = CHAT, "/v1/messages", "/v1/responses", "/api/chat", "/api/generate"
    bodies: dict[str, Json] = {
        chat: {"messages": [USER]}, message: {"messages": [USER], "max_tokens": 9}, response: {"input": "Hi"},
        ollama: {"messages": [USER], "stream": False}, raw: {"prompt": "Hi", "raw": True, "stream": False},
    }  # fmt: skip
    form = {"type": "json_schema", "schema": schema}
    conflicts: list[tuple[str, Json]] = [
        (message, {"output_config": {"format": form}}), (message, {"output_format": form}), (message, {"tools": [tool]}),
        (response, {"text": {"format": {**form, "name": "n"}}}), (response, {"tools": [{"type": "function", "name": "f"}]}),
        (ollama, {"format": "json"}), (ollama, {"format": schema}), (raw, {"format": "json"}), (ollama, {"tools": [FUNCTION]}),
        (chat, {"functions": [FUNCTION["function"]]}),
    ]  # fmt: skip
    agreed: list[tuple[str, Json]] = [
        (message, {"tools": [tool], "tool_choice": {"type": "none"}}), (response, {"text": {"format": {"type": "text"}}}),
        (ollama, {"format": ""}), (chat, {"functions": [FUNCTION["function"]], "function_call": "none"}),
        (chat, {"structured_outputs": {"grammar": gbnf, "json_object": False}, "grammar": None}),
    ]  # fmt: skip
    with served("llama-server") as to:
        for path, other in conflicts:
            refused = to.ask(path, "Yes.<|im_end|>", {**bodies[path], "grammar": gbnf, **other})
            checks.equal(refused.status, 400, f"{path}: with {other}: {refused.text[:200]}")
            checks.that("grammar: " in refused.text, f"{path}: it names the grammar", refused.text)
        for path, other in agreed:
            answer = to.ask(path, "Yes.<|im_end|>", {**bodies[path], "grammar": gbnf, **other})
            checks.equal((answer.status, to.asked().get("grammar")), (200, gbnf), f"{path}: with {other}: {answer.text[:200]}")
        first = to.ask(message, "Yes.<|im_end|>", {**bodies[message], "tools": [tool], "thread": {"type": "create"}}).json
        thread: Json = {"type": "continue", "previous_message_id": first["id"]}
        for choice, status in (({}, 400), ({"tool_choice": {"type": "none"}}, 200)):
            going_on = {**bodies[message], "thread": thread, "grammar": gbnf, **choice}
            answer = to.ask(message, "Yes.<|im_end|>", going_on)
            checks.equal(answer.status, status, f"a thread with tools, {choice}: {answer.text[:200]}")


def usage_in_streams(checks: Checks) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    with served("llama-server") as to:
        for path in (CHAT, COMPLETIONS):
            events = to.ask(path, "One, two<|im_end|>", {"stream": True, "stream_options": options}, delay=0.02).events
            counts = [event["usage"]["completion_tokens"] for event in events]
            whole = len(IDS.encode("One, two<|im_end|>"))
            checks.equal((counts, counts[-1]), (sorted(counts), whole), f"{path}: they grow to that of the whole")
            checks.that(len(set(counts)) > 2, f"{path}: with the stream", counts)
            checks.equal(len({event["usage"]["prompt_tokens"] for event in events}), 1, f"{path}: the prompt is one")
            for asked in ({"stream_options": {"include_usage": True}}, {"usage": {"include": True}}):
                events = to.ask(path, "One, two<|im_end|>", {"stream": True, **asked}).events
                checks.equal([bool(event.get("usage")) for event in events], [*[False] * (len(events) - 1), True], f"{path}: {asked}")
            refused = to.ask(path, "Yes.", {"stream_options": {"include_usage": True}})
            checks.equal((refused.status, refused.error["param"]), (400, "stream_options"), f"{path}: there is no stream")
            for nothing in (None, {}):
                checks.equal(to.ask(path, "Yes.", {"stream_options": nothing}).status, 200, f"{path}: that says nothing")


def routes(checks: Checks) -> None:
    with served("llama-server", "--model-name", "mine") as to:
        ask = to.gateway.ask
        chat, prompt = {"messages": [USER]}, {"input": "Hi"}
        for path, body in (("/responses", prompt), ("/v1/responses/", prompt), ("/chat/completions", chat), ("/v1/chat/completions/", chat),
                           ("/messages", {**chat, "max_tokens": 9}), ("/completions", {"prompt": "Hi"}), ("/tokenize/", {"prompt": "Hi"}),
                           ("/responses/input_tokens", prompt), ("/api/chat/", {**chat, "stream": False})):  # fmt: skip
            checks.equal(ask(path, body).status, 200, f"POST {path}")
        made = ask("/responses", prompt).json["id"]
        known = ("/health", "/v1/health", "/ping", "/health/", "/models", "/v1/models/", "/models/mine", "/api/tags/")
        for path in (*known, f"/responses/{made}"):
            checks.equal(ask(path).status, 200, f"GET {path}")
        for path in ("/v2/responses", "/v1/v1/models", "/nothing", "/v1"):
            checks.equal(ask(path).status, 404, path)


def ids_of_requests(checks: Checks) -> None:
    """Each answer has an id, the client's own or another, by which the log knows it."""
    with served("llama-server", "--log", "requests") as to:

        def heads(path: str, body: Json | None, headers: dict[str, str]) -> Any:
            to.engine.script({"text": "Yes.<|im_end|>"})
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(to.gateway.url + path, data, {"Content-Type": "application/json", **headers})
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    answer.read()
                    return answer.headers
            except urllib.error.HTTPError as refused:
                return refused.headers

        chat: Json = {"messages": [USER], "max_tokens": 5}
        for path, body in ((CHAT, chat), (CHAT, {**chat, "stream": True}), (CHAT, {}), ("/v1/messages", chat), ("/v1/messages", {}),
                           ("/api/chat", chat), ("/v1/nothing", chat), ("/health", None), (COMPLETIONS, {"prompt": "Hi"})):  # fmt: skip
            for own in ("mine-1", "", "x" * 129, "a\tb"):
                found = heads(path, body, {"x-request-id": own} if own else {})
                said = found["x-request-id"]
                checks.that(said == own if own == "mine-1" else said.startswith("req_"), f"{path} {own[:9]}", said)
                checks.equal(found["request-id"], said if path == "/v1/messages" else None, f"{path}: as Anthropic's clients read it")
        seen = [line for line in to.gateway.lines if line["event"] == "turn"]
        checks.that(seen and all(line["request"] for line in seen), "turns have it", seen[:2])
        lines = [line for line in to.gateway.lines if line["event"] == "request"]
        checks.that(any(line["request"] == "mine-1" for line in lines), "and requests", lines[:3])


def ids_in_and_out(checks: Checks) -> None:
    """/inference/v1/generate: its defaults, and the end of its stream."""
    with served("llama-server") as to:
        ids = IDS.encode("One, two<|im_end|>")
        for asked in ({}, {"sampling_params": None}):
            answer = to.ask(GENERATE, "One, two<|im_end|>", {"token_ids": [1, 2], **asked})
            checks.equal(answer.json["choices"][0]["token_ids"], ids, f"without settings: {asked}")
        for count in (1, 3, 50):
            events = to.ask(GENERATE, "One, two<|im_end|>", {"token_ids": [1, 2], "stream": True}, per_event=count).events
            told = [event["choices"][0] for event in events]
            checks.equal([id for one in told for id in one["token_ids"]], ids, "all ids")
            checks.that(all(one["token_ids"] for one in told), "each event has some", told)
            checks.equal([one["finish_reason"] for one in told], [*[None] * (len(told) - 1), "stop"], "the last says how it ended")


def values(checks: Checks) -> None:
    with served("llama-server") as to:
        bodies: dict[str, Json] = {
            CHAT: {},
            COMPLETIONS: {},
            "/v1/messages": {"messages": [USER], "max_tokens": 5},
            "/v1/responses": {"input": "Hi"},
        }
        for path, body in bodies.items():
            refused = to.ask(path, "Yes.", {**body, "cache_salt": ""})
            checks.equal((refused.status, "cache_salt" in refused.text), (400, True), f"{path}: an empty salt")
        refused = to.ask("/v1/responses", "Yes.", {"input": "Hi", "background": True, "store": False})
        checks.equal((refused.status, refused.error["param"]), (400, "background"), "an answer that comes later is stored")
        limited = to.ask(CHAT, REASONED, {"thinking_budget_tokens": 2, "parlance": True})
        checks.that(limited.json["choices"][0]["message"]["reasoning_content"] != "We add.", "llama.cpp's name of the budget", limited.text)


def replayed(checks: Checks) -> None:
    """What ended and held a reply is in the captures, so that they give the same again."""
    gbnf, ids = 'root ::= "One, two"', IDS.encode("One, two, three<|im_end|>")
    with tempfile.TemporaryDirectory() as folder:
        with served("llama-server", "--capture", folder) as to:
            for members in ({"stop_token_ids": [ids[3]]}, {"grammar": gbnf}, {"stop_token_ids": ids[-1:], "return_token_ids": True}):
                for path in (CHAT, COMPLETIONS):
                    checks.equal(to.ask(path, "One, two, three<|im_end|>", members).status, 200, f"{path} {members}")
        done = subprocess.run([sys.argv[1], "replay", folder], capture_output=True, text=True, check=False)
        checks.equal(done.returncode, 0, f"a replay: {done.stdout}{done.stderr}")


def main() -> int:
    checks = Checks()
    for test in (ids_of_chats, ids_of_completions, names_of_tokens, own_token_in_logprobs, hidden_and_joined_reasoning, stop_ids, biases,
                 own_grammars, own_grammars_in_each_api, usage_in_streams, routes, ids_of_requests, ids_in_and_out, values,
                 replayed):  # fmt: skip
        test(checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
