#!/usr/bin/env python3
"""What a request asks for and does not get is told, by every API: `losses_test.py PARLANCE`.

Paths are those of the request. The log has kinds and paths alone. Begin reading at main.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any

from gateway import Checks
from scripted_engine import ScriptedEngine
from served import TOKENIZER, Gateway, wait_for

Json = dict[str, Any]
Found = set[tuple[str, str]]  # kind and path
USER: Json = {"role": "user", "content": "Hi"}
SECRET = "Zanzibar"
NUMBERS = itertools.count()  # of sessions
REFUSED: Json = {"role": "assistant", "content": [{"type": "refusal", "refusal": SECRET}]}
RESULTS: list[Json] = [
    {"role": "tool", "tool_call_id": id, "content": SECRET + id} for id in ("b", "a")
]  # in another order than their calls
CALLS: Json = {
    "role": "assistant", "content": "",
    "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ("a", "b")],
}  # fmt: skip
BLOCKS: list[Json] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ("a", "b")]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": SECRET + id} for id in ("b", "a")]},
]
LOOSE: Json = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a(?=b)"}}}
FUNCTION: Json = {"type": "function", "function": {"name": "f", "parameters": LOOSE}}
CHAT, MESSAGES, RESPONSES, OLLAMA, GENERATE = "/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat", "/api/generate"
BODIES: dict[str, Json] = {
    CHAT: {"messages": [USER]},
    MESSAGES: {"messages": [USER], "max_tokens": 9},
    RESPONSES: {"input": "Hi"},
    OLLAMA: {"messages": [USER], "stream": False},
    GENERATE: {"prompt": "Hi", "stream": False},
    "/v1/completions": {"prompt": "Hi"},
}
# Members that the gateway or its grammar obeys, or that nobody misses.
QUIET: dict[str, Json] = {
    CHAT: {
        "user": "u", "metadata": {"a": "b"}, "temperature": 0.5, "stop": ["x"], "seed": 3, "store": True, "logprobs": True, "n": 2,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}], "tool_choice": "required",
        "parallel_tool_calls": False, "session_id": "s", "prompt_cache_key": "k", "modalities": ["text"], "logit_bias": {"65": 1},
        "bad_words": [], "mirostat": 0, "web_search_options": None, "stop_token_ids": [3],
        "echo": False, "best_of": 1, "skip_special_tokens": True, "prompt_logprobs": None, "return_token_ids": True,
        "include_reasoning": False, "return_tokens_as_token_ids": True,
        "dry_multiplier": 0.0, "smoothing_factor": 0.0, "top_a": 0.0, "xtc_probability": 0.0, "dynatemp_range": 0.0, "num_beams": 1,
        "length_penalty": 1.0, "top_n_sigma": -1, "tfs_z": 1.0, "n_predict": -1, "logprob_start_len": -1,
    },
    MESSAGES: {"system": "s", "stop_sequences": ["x"], "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
               "metadata": {"user_id": "u"}, "service_tier": "auto"},
    RESPONSES: {"instructions": "s", "text": {"format": {"type": "json_object"}}, "metadata": {"a": "b"}, "truncation": "disabled",
                "background": False, "include": ["reasoning.encrypted_content"]},
    OLLAMA: {"options": {"num_predict": 9, "stop": ["x"], "num_ctx": 4096}, "keep_alive": "5m", "format": "json"},
    GENERATE: {"system": "s", "options": {"num_predict": 9}, "format": {"type": "object"}, "context": []},
    "/v1/completions": {"max_tokens": 3, "response_format": {"type": "json_object"}, "user": "u", "echo": False,
                        "skip_special_tokens": False},
}  # fmt: skip
# What is told unasked: it is known without a render.
KNOWN: list[tuple[str, Json, Found]] = [
    (CHAT, {"bad_words": [SECRET], "min_tokens": 2}, {("setting", "bad_words"), ("setting", "min_tokens")}),
    (CHAT, {"mirostat": 2}, {("setting", "mirostat")}),
    (CHAT, {"top_a": 0.2, "num_beams": 2, "top_n_sigma": 1.5, "n_predict": 3, "logprob_start_len": 0, "tfs_z": 0.9},
     {("setting", name) for name in ("top_a", "num_beams", "top_n_sigma", "n_predict", "tfs_z")}),
    (CHAT, {"prompt_logprobs": 0, "echo": True, "best_of": 2, "skip_special_tokens": False},
     {("setting", "prompt_logprobs"), ("setting", "echo"), ("setting", "best_of"), ("setting", "skip_special_tokens")}),
    (CHAT, {"logprob_token_ids": [3], "return_hidden_states": True, "timings_per_token": True, "return_progress": True,
            "cache_salt": SECRET},
     {("setting", name) for name in ("logprob_token_ids", "return_hidden_states", "timings_per_token", "return_progress", "cache_salt")}),
    (CHAT, {"prompt_token_ids": [65], "tokens": [65], "token_ids": [65], "input_ids": [65]},
     {("setting", name) for name in ("prompt_token_ids", "tokens", "token_ids", "input_ids")}),
    (CHAT, {"return_routed_experts": True, "return_sampling_mask": True, "lora_path": SECRET, "max_new_tokens": 3, "vllm_xargs": {"a": 1}},
     {("setting", name) for name in ("return_routed_experts", "return_sampling_mask", "lora_path", "max_new_tokens", "vllm_xargs")}),
    ("/v1/completions", {"prompt_logprobs": 1, "cache_salt": SECRET}, {("setting", "prompt_logprobs"), ("setting", "cache_salt")}),
    (CHAT, {"web_search_options": {"search_context_size": "low"}}, {("setting", "web_search_options")}),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": LOOSE}}}, {("constraint", "response_format")}),
    (CHAT, {"structured_outputs": {"json": LOOSE}}, {("constraint", "structured_outputs.json")}),
    (MESSAGES, {"tools": [{"type": "computer_20250124", "name": "computer"}, {"name": "f", "input_schema": {}}]}, {("tool", "tools[0]")}),
    (MESSAGES, {"tools": [{"name": "f", "input_schema": {}}, {"type": "web_search_20250305", "name": "w"}]}, {("tool", "tools[1]")}),
    (MESSAGES, {"mcp_servers": [{"url": SECRET, "name": "m"}]}, {("setting", "mcp_servers")}),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema", "schema": LOOSE}}}, {("constraint", "output_config.format.schema")}),
    (RESPONSES, {"tools": [{"type": "web_search"}, {"type": "mcp", "server_label": SECRET}]}, {("tool", "tools[0]"), ("tool", "tools[1]")}),
    (RESPONSES, {"text": {"format": {"type": "json_schema", "name": "n", "schema": LOOSE}}}, {("constraint", "text.format.schema")}),
    (CHAT, {"functions": [{"name": "g", "parameters": {"type": "object"}}], "function_call": {"name": "g"}}, set()),
    (RESPONSES, {"truncation": "auto"}, {("setting", "truncation")}),
    (RESPONSES, {"background": True, "store": True}, {("setting", "background")}),
    (OLLAMA, {"options": {"num_ctx": 2048}}, {("setting", "options.num_ctx")}),
    (GENERATE, {"options": {"num_ctx": 8192, "num_predict": 3}}, {("setting", "options.num_ctx")}),
    (GENERATE, {"raw": True, "options": {"num_ctx": 99}}, {("setting", "options.num_ctx")}),
    (RESPONSES, {"reasoning": {"effort": "high"}}, {("setting", "reasoning.effort")}),
    (OLLAMA, {"format": LOOSE}, {("constraint", "format")}),
    (OLLAMA, {"options": {"mirostat": 2, "repeat_last_n": 3}}, {("setting", "options.mirostat"), ("setting", "options.repeat_last_n")}),
    (GENERATE, {"format": LOOSE}, {("constraint", "format")}),
    (GENERATE, {"raw": True, "options": {"tfs_z": 2}, "format": LOOSE}, {("setting", "options.tfs_z"), ("constraint", "format")}),
    ("/v1/completions", {"bad_words": [SECRET], "guided_json": LOOSE}, {("setting", "bad_words"), ("constraint", "guided_json")}),
]  # fmt: skip
# What only another render shows.
LOOKED_FOR: list[tuple[str, Json, Found]] = [
    (CHAT, {"messages": [{"role": "oracle", "content": SECRET}, USER]}, {("message", "messages[0].content")}),
    (CHAT, {"messages": [USER, {"role": "assistant", "refusal": SECRET}, USER]}, {("message", "messages[1].refusal")}),
    (CHAT, {"documents": [{"text": SECRET}]}, {("document", "documents[0]")}),
    (CHAT, {"chat_template_kwargs": {"enable_thinkin": True}}, {("setting", "chat_template_kwargs.enable_thinkin")}),
    (CHAT, {"messages": [USER, CALLS, *RESULTS]}, {("order", "messages[2]")}),
    (MESSAGES, {"messages": [USER, *BLOCKS]}, {("order", "messages[2].content[0]")}),
    (OLLAMA, {"messages": [USER, {"role": "oracle", "content": SECRET}, USER]}, {("message", "messages[1].content")}),
    (RESPONSES, {"input": [USER, REFUSED, USER]}, {("message", "input[1].content[0].refusal")}),
]  # fmt: skip


@contextlib.contextmanager
def served(kind: str, *options: str, form: str = "terminal-agent") -> Iterator[Gateway]:
    engine = ScriptedEngine(TOKENIZER).start()
    try:
        engine.script({"text": "Yes.<|im_end|>"})
        with Gateway(sys.argv[1], f"{kind}={engine.url}", *options, form=form) as gateway:
            yield gateway
    finally:
        engine.stop()


def lines_of(gateway: Gateway) -> list[Json]:
    return [line for line in gateway.lines if line["event"] == "losses"]


def found_in(losses: list[Json]) -> Found:
    return {(loss["kind"], loss["path"]) for loss in losses}


class Losses:
    def __init__(self, gateway: Gateway, checks: Checks) -> None:
        self.gateway, self.checks = gateway, checks

    def ask(self, path: str, members: Json) -> Json:
        answer = self.gateway.ask(path, {**BODIES[path], "model": "m", **members})
        self.checks.equal(answer.status, 200, f"{path} {members}: {answer.text[:300]}")
        return answer.json if answer.status == 200 else {}

    def logged(self, path: str, members: Json, wanted: Found, level: str) -> None:
        """What the log says of one request."""
        session, behind = f"test-{next(NUMBERS)}", f"test-{next(NUMBERS)}"
        self.ask(path, {**members, "session_id": session})
        self.gateway.ask(CHAT, {"messages": [USER], "bad_words": ["x"], "session_id": behind})
        wait_for(lambda: any(line["session"] == behind for line in lines_of(self.gateway)))
        lines = [line for line in lines_of(self.gateway) if line["session"] == session]
        what = f"{path} {json.dumps(members)[:150]}"
        self.checks.equal(len(lines), 1 if wanted else 0, f"lines for {what}: {lines}")
        if wanted and lines:
            self.checks.equal((found_in(lines[0]["losses"]), lines[0]["level"]), (wanted, level), what)
            self.checks.equal(set(lines[0]["losses"][0]), {"kind", "path"}, f"kinds and paths alone: {lines[0]}")

    def answered(self, path: str, members: Json, wanted: Found) -> None:
        """What the member `parlance` says of one request."""
        told = self.ask(path, {**members, "parlance": True}).get("parlance", {})
        what = f"{path} {json.dumps(members)[:150]}"
        self.checks.equal(found_in(told.get("losses", [])), wanted, f"{what}: {told.get('losses')}")
        self.checks.that(all(loss["what"] for loss in told["losses"]), f"each says what: {what}")
        self.checks.that(SECRET not in json.dumps(told["losses"]), f"no content: {what}")

    def metric(self) -> float:
        text = self.gateway.ask("/metrics").text
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("parlance_losses_total{"))


def told_by_each_api(checks: Checks) -> None:
    with served("llama-server", "--log", "turns") as gateway:
        losses = Losses(gateway, checks)
        for path, members in QUIET.items():
            losses.logged(path, members, set(), "")
            if path != "/v1/completions":
                losses.answered(path, members, set())
        for path, members, wanted in KNOWN:
            before = losses.metric()
            losses.logged(path, members, wanted, "info")
            checks.equal(losses.metric() - before, len(wanted) + 1, f"counted: {path} {members}")
            if path != "/v1/completions" and not members.get("raw"):
                losses.answered(path, members, wanted)
        for path, members, wanted in LOOKED_FOR:
            losses.logged(path, members, set(), "")  # nobody asked
            losses.answered(path, members, wanted)
            losses.logged(path, {**members, "parlance": True}, wanted, "warning")
        streamed = gateway.ask(CHAT, {"messages": [USER], "documents": [{"text": SECRET}], "stream": True, "parlance": True})
        checks.equal(found_in(streamed.events[-1]["parlance"]["losses"]), {("document", "documents[0]")}, "a stream")
        checks.that(SECRET not in json.dumps(gateway.lines), "the log has no content")
    with served("llama-server", "--log", "requests") as gateway:
        for path, members, wanted in LOOKED_FOR:
            Losses(gateway, checks).logged(path, members, wanted, "warning")


def behind_a_response(checks: Checks) -> None:
    with served("llama-server", "--log", "turns") as gateway:
        losses = Losses(gateway, checks)
        first = losses.ask(RESPONSES, {})["id"]
        members = {"previous_response_id": first, "tools": [{"type": "web_search"}]}
        losses.logged(RESPONSES, members, {("tool", "tools[0]")}, "info")
        losses.answered(RESPONSES, members, {("tool", "tools[0]")})


def ids_in(checks: Checks) -> None:
    """/inference/v1/generate takes ids of tokens that end a reply, which no other route does."""
    settings = {"bad_words": ["x"], "min_tokens": 2, "stop_token_ids": [66], "structured_outputs": {"json": LOOSE}}
    paths = {("setting", "sampling_params.bad_words"), ("setting", "sampling_params.min_tokens")}
    with served("llama-server", "--log", "turns") as gateway:
        answer = gateway.ask("/inference/v1/generate", {"token_ids": [65], "sampling_params": settings})
        checks.equal(answer.status, 200, answer.text)
        found = found_in(gateway.logged("losses")["losses"])
        checks.equal(found, {*paths, ("constraint", "sampling_params.structured_outputs.json")}, "paths in sampling_params")


def lowered_limits(checks: Checks) -> None:
    """A reply may be shorter than it was asked for where the server has a limit, which is told by the name that was sent."""
    with served("llama-server", "--max-reply-tokens", "50", "--log", "errors") as gateway:
        losses = Losses(gateway, checks)
        asked: tuple[tuple[str, str], ...] = ((CHAT, "max_completion_tokens"), (MESSAGES, "max_tokens"), (RESPONSES, "max_output_tokens"),
                                              (OLLAMA, "options.num_predict"))  # fmt: skip
        for path, name in asked:
            for limit, wanted in ((51, [("setting", name, "lowered to 50, the limit here")]), (50, [])):
                inner = name.removeprefix("options.")
                given = {"options": {inner: limit}} if inner != name else {name: limit}
                answer = losses.ask(path, {**given, "parlance": True})
                told = [(loss["kind"], loss["path"], loss["what"]) for loss in answer.get("parlance", {}).get("losses", [])]
                checks.equal(told, wanted, f"{name} {limit} of {path}")


def notes_of_grammars(checks: Checks) -> None:
    """With the paths of the request, whatever was converted and left out before."""
    hosted = {"type": "web_search_20250305", "name": "w"}
    cases: tuple[tuple[str, Json, str], ...] = (
        (CHAT, {"tools": [FUNCTION]}, "tools[0].function.parameters.properties.a"),
        (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": LOOSE}}}, "response_format.properties.a"),
        (MESSAGES, {"tools": [hosted, {"name": "f", "input_schema": LOOSE}]}, "tools[1].input_schema.properties.a"),
        (
            RESPONSES,
            {"tools": [{"type": "web_search"}, {"type": "function", "name": "f", "parameters": LOOSE}]},
            "tools[1].parameters.properties.a",
        ),
        (RESPONSES, {"text": {"format": {"type": "json_schema", "name": "n", "schema": LOOSE}}}, "text.format.schema.properties.a"),
        (OLLAMA, {"tools": [FUNCTION]}, "tools[0].function.parameters.properties.a"),
        (OLLAMA, {"format": LOOSE}, "format.properties.a"),
        (CHAT, {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}, ""),
    )
    with served("llama-server", "--log", "errors") as gateway:
        for _ in range(2):  # the second time from the cache
            for path, members, wanted in cases:
                told = Losses(gateway, checks).ask(path, {**members, "parlance": True})["parlance"]["grammar_notes"]
                checks.equal([note["path"] for note in told], [wanted] if wanted else [], f"notes of {path} {members}")
                for note in told:
                    checks.equal((note["keyword"], note["left_out"]), ("pattern", False), f"{note}")


def hints(checks: Checks) -> None:
    """As a client can follow them; those for who runs the command are none."""
    with served("llama-server", "--log", "errors") as gateway:
        losses = Losses(gateway, checks)
        told = losses.ask(CHAT, {"messages": [USER, CALLS, *RESULTS], "parlance": True})["parlance"]["losses"]
        wanted = "give results in the order of their calls, or whoever runs the server adds the pass order-results"
        checks.equal([loss.get("hint") for loss in told], [wanted], "of the order")
        told = losses.ask(CHAT, {"messages": [{**USER, "attachments": ["x"]}], "parlance": True})["parlance"]["losses"]
        checks.equal([loss.get("hint") for loss in told], ["chat templates read 'content'"], "of a member")
        told = losses.ask(CHAT, {"documents": [{"text": SECRET}], "parlance": True})["parlance"]["losses"]
        checks.equal([set(loss) for loss in told], [{"path", "kind", "what"}], "there is none")
        for member in ({"chat_template": "{{ messages }}"}, {"template": "{{ messages }}"}):
            told = losses.ask(CHAT, {**member, "parlance": True})["parlance"]["losses"]
            checks.equal([set(loss) for loss in told], [{"path", "kind", "what"}], f"a client cannot follow it: {told}")
    with served("llama-server", "--log", "errors", "--pass", "order-results") as gateway:
        told = Losses(gateway, checks).ask(CHAT, {"messages": [USER, CALLS, *RESULTS], "parlance": True}).get("parlance", {})
        checks.equal(told.get("losses"), [], "with the pass")


def long_names(checks: Checks) -> None:
    """A member may have any name: no more of it than a path needs stands in the log."""
    name = "n" * 5000
    with served("llama-server", "--log", "requests") as gateway:
        losses = Losses(gateway, checks)
        told = losses.ask(CHAT, {"parlance": True, "chat_template_kwargs": {name: 1}}).get("parlance", {})
        checks.equal([loss["path"] for loss in told.get("losses", [])], [f"chat_template_kwargs.{name}"], "the answer has all of it")
        wait_for(lambda: bool(lines_of(gateway)))
        checks.equal([len(loss["path"]) for line in lines_of(gateway) for loss in line["losses"]], [128], "the log has its begin")


def engines_without_ids(checks: Checks) -> None:
    for members in ({"stop_token_ids": [3]}, {"return_token_ids": True}, {"return_tokens_as_token_ids": True, "logprobs": True}):
        path = next(iter(members))
        with served("openai-completions", "--log", "turns") as gateway:
            losses = Losses(gateway, checks)
            losses.logged(CHAT, members, {("setting", path)}, "info")
            checks.that("prompt_token_ids" in losses.ask(CHAT, members) or path != "return_token_ids", "the prompt's are known")


def engines_without_grammars(checks: Checks) -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    tools, functions = {"tools": [FUNCTION]}, {"functions": [FUNCTION["function"]]}
    choice, form = ("constraint", "tool_choice"), ("constraint", "response_format")
    cases: tuple[tuple[str, Json, Found, Found], ...] = (  # what openai-completions is not held to, and what Ollama is not
        (CHAT, {**tools, "tool_choice": "required"}, {choice}, {choice}),
        (CHAT, {**tools, "tool_choice": {"type": "function", "function": {"name": "f"}}}, {choice}, {choice}),
        (CHAT, {**tools, "parallel_tool_calls": False}, {("constraint", "parallel_tool_calls")}, {("constraint", "parallel_tool_calls")}),
        (CHAT, tools, set(), set()),
        (CHAT, functions, set(), set()),
        (CHAT, {**functions, "function_call": {"name": "f"}}, {("constraint", "function_call")}, {("constraint", "function_call")}),
        (CHAT, {"response_format": schema}, {form}, set()),
        (CHAT, {"response_format": {"type": "regex", "pattern": "a+"}}, {form}, {form}),
        (CHAT, {**tools, "response_format": schema}, {form}, {form}),
        (MESSAGES, {"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "any"}}, {choice}, {choice}),
        (RESPONSES, {"text": {"format": {"type": "json_object"}}}, {("constraint", "text.format")}, set()),
        (OLLAMA, {"format": "json"}, {("constraint", "format")}, set()),
        ("/v1/completions", {"guided_regex": "a+"}, {("constraint", "guided_regex")}, {("constraint", "guided_regex")}),
    )
    for number, kind in enumerate(("openai-completions", "ollama")):
        with served(kind, "--log", "turns", "--no-protect") as gateway:
            for path, members, *wanted in cases:
                extra = {("setting", "logit_bias")} if kind == "ollama" else set()
                losses = Losses(gateway, checks)
                losses.logged(path, members, wanted[number], "info")
                losses.logged(path, {**members, "logit_bias": {"65": 1}}, wanted[number] | extra, "info")


def calls_left_out(checks: Checks) -> None:
    """An answer to `functions` has a place for one call: others that an engine without grammars gives are told, whoever asks."""
    call = '<tool_call>\n{"name": "f", "arguments": {"a": "%s"}}\n</tool_call>'
    functions = {"functions": [{"name": "f", "parameters": {"type": "object"}}]}
    tools = {"tools": [FUNCTION]}
    for kind in ("openai-completions", "llama-server"):
        engine = ScriptedEngine(TOKENIZER).start()
        engine.script({"text": call % "x" + "\n" + call % "y" + "\n" + call % "z" + "<|im_end|>"})
        with Gateway(sys.argv[1], f"{kind}={engine.url}", "--log", "turns", form="terminal-agent") as gateway:
            for extra in ({}, {"parlance": True}, {"stream": True}, {"stream": True, "parlance": True}):
                gateway.lines.clear()
                answer = gateway.ask(CHAT, {**BODIES[CHAT], **functions, **extra})
                told = answer.events if "stream" in extra else [answer.json]
                said = [place["calls_left_out"] for one in told for place in (one, *one["choices"]) if "calls_left_out" in place]
                checks.equal(said, [2], f"{kind} {extra}: the answer says how many calls it has not: {answer.text[-400:]}")
                found = [one["parlance"]["losses"] for one in told if "parlance" in one]
                expected = [[("call", "functions")]] if "parlance" in extra else []
                checks.equal([[(loss["kind"], loss["path"]) for loss in losses] for losses in found], expected, f"{kind} {extra}: {found}")
                wait_for(lambda: bool(lines_of(gateway)))
                logged = [found_in(line["losses"]) for line in lines_of(gateway)]
                checks.equal(logged, [{("call", "functions")}], f"{kind} {extra}: the log")
            checks.that('parlance_losses_total{kind="call"} 4\n' in gateway.ask("/metrics").text, "each is counted")
            answer = gateway.ask(CHAT, {**BODIES[CHAT], **tools})
            checks.equal("calls_left_out" in answer.text, False, "answers to tools have all calls")
            grammars = ["grammar" in asked.body for asked in engine.requests if asked.body and "stream" in asked.body]
            checks.equal(grammars, [kind == "llama-server"] * 5, "the grammar says it where there is one")
        engine.stop()


def main() -> int:
    checks = Checks()
    for test in (
        told_by_each_api,
        behind_a_response,
        ids_in,
        lowered_limits,
        notes_of_grammars,
        hints,
        long_names,
        engines_without_ids,
        engines_without_grammars,
        calls_left_out,
    ):
        test(checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
