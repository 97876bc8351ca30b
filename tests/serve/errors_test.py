#!/usr/bin/env python3
"""What a client is told when its request is wrong: `errors_test.py PARLANCE`.

Each error is in the form of the client's API, names the member that this client sent, and neither advises what only a
command could do nor blames a template for what the request lacks. Begin reading at main.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import pathlib
import re
import string
import sys
import tempfile
import urllib.parse
from typing import Any

from answers import error_in
from engine import Engine, Reply
from gateway import Checks, Gateway
from operator_test import Configured, table

Json = dict[str, Any]
USER: Json = {"role": "user", "content": "Hi"}
VLLM = ("/render", "/derender", "/inference/v1/generate")  # ends of the paths whose errors have vLLM's form
FRONTS: dict[str, Json] = {
    "/v1/chat/completions": {"messages": [USER]},
    "/v1/chat/completions/render": {"messages": [USER]},
    "/v1/messages": {"messages": [USER], "max_tokens": 5},
    "/v1/messages/render": {"messages": [USER], "max_tokens": 5},
    "/v1/messages/count_tokens": {"messages": [USER]},
    "/v1/responses": {"input": "Hi"},
    "/v1/responses/render": {"input": "Hi"},
    "/v1/responses/input_tokens": {"input": "Hi"},
    "/api/chat": {"messages": [USER], "stream": False},
    "/api/generate": {"prompt": "Hi", "stream": False},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/completions/render": {"prompt": "Hi"},
    "/inference/v1/generate": {"token_ids": [65], "sampling_params": {}},
    "/tokenize": {"messages": [USER]},
    "/detokenize": {"tokens": [65]},
    "/v1/chat/completions/derender": {"chat_request": {"messages": [USER]}, "generate_response": {"request_id": "r", "choices": []}},
    "/v1/completions/derender": {"completion_request": {"prompt": "x"}, "generate_responses": []},
}
RAW: Json = {"prompt": "Hi", "raw": True, "stream": False}  # another front of /api/generate
ANSWERED = {path: body for path, body in FRONTS.items() if not path.endswith((*VLLM[:2], "_tokens", "tokenize"))}
ADVICE = ("save it", "--", ".gz", "-dc", "parlance ", "downloaded")  # for who has files and a command


def api_of(path: str) -> str:
    if path.startswith("/api/"):
        return "ollama"
    return "anthropic" if path in ("/v1/messages", "/v1/messages/count_tokens") else "openai"


class Asking:
    """Asks one gateway, and looks at its errors."""

    def __init__(self, gateway: Gateway, checks: Checks) -> None:
        self.gateway, self.checks = gateway, checks

    def refused(self, path: str, body: Any, status: int = 400, headers: Json | None = None) -> tuple[str, Json]:
        """The sentence of the error, and its object."""
        what = f"{path} {json.dumps(body)[:200] if not isinstance(body, bytes) else body!r}"
        got, _, answer = self.gateway.post(path, body, headers)
        self.checks.equal(got, status, f"{what}: {answer}")
        said = error_in(answer, api_of(path))
        self.checks.that(said is not None, f"an error of {api_of(path)} for {what}: {answer}")
        error = answer.get("error")
        return said or "", error if isinstance(error, dict) else {}

    def names(self, path: str, body: Json, member: str, *not_these: str, status: int = 400) -> None:
        """The error names this member, and none that the client did not send."""
        said, error = self.refused(path, body, status)
        what = f"{path} {json.dumps(body)[:200]}: {said}"
        self.checks.that(said.startswith(member), f"{member} is named: {what}")
        if api_of(path) == "openai":
            self.checks.that(str(error.get("param")).startswith(member), f"param: {what}")
        for other in not_these:
            self.checks.that(other not in said.replace(member, ""), f"{other} is not named: {what}")


def bodies_that_are_no_json(ask: Asking) -> None:
    for path, good in FRONTS.items():
        text = json.dumps({**good, "model": "mine"})
        for coding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
            said, _ = ask.refused(path, text.encode(coding))
            ask.checks.that("UTF-8" in said, f"{path}: a body in {coding}: {said}")
            ask.checks.that(not any(word in said for word in ADVICE), f"{path}: advice for files: {said}")
        others = (
            b"\xef\xbb\xbf" + text.encode(),
            text.encode()[:-1],
            b"",
            b"<!DOCTYPE html>",
            b"<html></html>",
            b"\x28\xb5\x2f\xfd..",
            b"[1]",
            b"5",
        )
        for body in (*others, b"version https://git-lfs.github.com/spec/v1"):
            said, _ = ask.refused(path, body)
            ask.checks.that(not any(word in said for word in ADVICE), f"{path} {body[:9]!r}: advice for files: {said}")


def nothing_said(ask: Asking) -> None:
    """A conversation without messages, the same words everywhere."""
    bad: tuple[Any, ...] = (5, {}, True, [5])
    for path, body in FRONTS.items():
        if "messages" in body and path != "/api/chat":  # there it loads a model
            said, error = ask.refused(path, {**body, "messages": []})
            ask.checks.equal(said, "messages must not be empty", path)
            ask.checks.that(error.get("param", "messages") == "messages", f"param of {path}: {error}")
        elif "input" in body:
            for given, wanted in (([], "input must not be empty"), (None, "input is missing")):
                said, error = ask.refused(path, {**body, "input": given})
                ask.checks.equal((said, error["param"]), (wanted, "input"), f"{path} {given}")
            for nothing in ({}, {"previous_response_id": None}):
                ask.names(path, nothing, "input", "messages")
            for wrong in bad[:3]:
                ask.names(path, {"input": wrong}, "input", "messages")
    for wrong in bad:
        ask.names("/api/generate", {"prompt": wrong, "stream": False}, "prompt", "messages")
        ask.names("/api/generate", {"prompt": "Hi", "system": wrong, "stream": False}, "system", "messages")


def forms(ask: Asking) -> None:
    """The form of an answer, by the names of the APIs."""
    schemas: tuple[Any, ...] = ({"enum": []}, False, "x", 5)
    wrong: tuple[Json, ...] = (
        {"type": "regex", "pattern": "(a"},
        {"type": "json_schema", "name": "n", "schema": False},
        {"type": "json_schema", "schema": {"enum": []}},
        {"type": "x"},
    )
    for form in wrong:
        for path in ("/v1/responses", "/v1/responses/render"):
            ask.names(path, {"input": "Hi", "text": {"format": form}}, "text.format", "response_format")
        for path in ("/v1/messages", "/v1/messages/render"):
            ask.names(path, {**FRONTS[path], "output_config": {"format": form}}, "output_config.format", "response_format")
        for path in ("/v1/chat/completions", "/v1/chat/completions/render", "/v1/completions", "/v1/completions/render"):
            ask.names(path, {**FRONTS[path], "response_format": form}, "response_format")
    for path in ("/api/chat", "/api/generate"):
        for schema in schemas:
            ask.names(path, {**FRONTS[path], "format": schema}, "format", "response_format")
    ask.names("/api/generate", {**RAW, "format": {"enum": []}}, "format", "response_format")
    outputs: tuple[tuple[str, Any], ...] = (("regex", "(a"), ("json", {"enum": []}), ("choice", []), ("choice", 5), ("regex", 5))
    for name, value in outputs:
        path = f"structured_outputs.{name}"
        for front in ("/v1/chat/completions", "/v1/chat/completions/render", "/v1/completions", "/v1/completions/render"):
            ask.names(front, {**FRONTS[front], "structured_outputs": {name: value}}, path, "response_format")
        body = {"token_ids": [65], "sampling_params": {"structured_outputs": {name: value}}}
        ask.names("/inference/v1/generate", body, "sampling_params." + path, "response_format")


def settings(ask: Asking) -> None:
    """What the sampler is asked for, by the name that was sent, wherever the API has it."""
    limits = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
    wrong: tuple[tuple[str, Any], ...] = (
        *((name, value) for name in limits for value in ("x", 1e30 if name == "num_predict" else 1.5)),
        ("temperature", -1),
        ("temperature", "x"),
        ("top_p", 2),
        ("seed", "x"),
    )
    stops: Any = ["a"] * 65
    for path, body in [*ANSWERED.items(), ("/api/generate", RAW)]:
        inner = path == "/inference/v1/generate"
        before = "sampling_params." if inner else ""

        def given(members: Json, body: Json = body, inner: bool = inner) -> Json:
            return {**body, "sampling_params": members} if inner else {**body, **members}

        for name, value in wrong:
            nested = name == "num_predict" or path.startswith("/api/")
            if name in limits[1:3] and path in ("/v1/messages",):
                continue  # none of this API's, whose `max_tokens` goes before
            members = {"options": {name: value}} if nested else {name: value}
            if nested and (name in limits[:3] or path == "/v1/messages"):
                continue
            path_of_it = before + ("options." if nested else "") + name
            ask.names(path, given(members), path_of_it, *(other for other in limits if other != name))
        for name, nested in (("stop", False), ("stop_sequences", False), ("stop", True)):
            for value in (stops, 5, [5], ["x" * 5000]):
                members = {"options": {name: value}} if nested else {name: value}
                ask.names(path, given(members), before + ("options." if nested else "") + name)
        for value in (-1, 21, "x"):
            ask.names(path, given({"top_logprobs": value}), before + "top_logprobs")
    for value in (0, 17, "x"):
        ask.names("/v1/chat/completions", {**FRONTS["/v1/chat/completions"], "n": value}, "n")
        ask.names("/inference/v1/generate", {"token_ids": [65], "sampling_params": {"n": value}}, "sampling_params.n")


def taken(ask: Asking, path: str, body: Json) -> None:
    status, _, answer = ask.gateway.post(path, body)
    ask.checks.equal(status, 200, f"{path} {json.dumps(body)[:200]}: {answer}")


def known_members(ask: Asking) -> None:
    """What an API's own server refuses, whether or not anything here depends on it; and what it takes."""
    wrong: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
        ("/v1/chat/completions", "store", ("x", 1, {})),
        ("/v1/responses", "store", ("x", 1, {})),
        ("/v1/responses", "background", ("x", 1)),
        ("/v1/responses", "truncation", ("x", 5, True, ["auto"])),
        ("/v1/responses", "include", ("message.output_text.logprobs", 5, {})),
        ("/api/chat", "think", ("bogus", "", 5, ["high"])),
        ("/api/generate", "think", ("bogus", 5)),
        ("/api/chat", "options", (5, "x", [5], True)),
        ("/api/generate", "options", (5, "x")),
    )
    right: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
        ("/v1/chat/completions", "store", (True, False, None)),
        ("/v1/chat/completions", "truncation", ("x",)),  # none of this API's
        ("/v1/responses", "store", (True, False, None)),
        ("/v1/responses", "background", (False, None, True)),
        ("/v1/responses", "truncation", ("auto", "disabled", None)),
        ("/v1/responses", "include", ([], None, ["reasoning.encrypted_content", "message.output_text.logprobs"])),
        ("/v1/responses", "unknown", ("x", 5, {})),
        ("/api/chat", "think", (True, False, None, "high", "medium", "low", "max")),
        ("/api/generate", "options", ({}, None, {"unknown": 5})),
        ("/v1/messages", "truncation", ("x",)),
    )
    for path, name, values in wrong:
        for front in (path, path + "/render") if path.startswith("/v1/") else (path,):
            for value in values:
                ask.names(front, {**FRONTS[path], name: value}, name)
    for path, name, values in right:
        for value in values:
            taken(ask, path, {**FRONTS[path], name: value})
    ask.names("/v1/responses", {"input": "Hi", "include": ["reasoning.encrypted_content", "x"]}, "include[1]")
    ask.names("/v1/responses", {"input": "Hi", "include": [5]}, "include[0]")
    ask.names("/api/generate", {**RAW, "options": 5}, "options")
    mixed: tuple[Any, ...] = (["a", 5], [[65], 5], ["a", None], ["a", {}])
    lists: tuple[Any, ...] = (["a", [65]], [[65], [66]], [65, 66])
    for path in ("/v1/completions", "/v1/completions/render"):
        for prompt in mixed:
            ask.names(path, {"prompt": prompt}, "prompt")
    for prompt in lists:
        taken(ask, "/v1/completions", {"prompt": prompt})
    ask.names("/v1/completions", {"prompt": "Hi", "logprobs": True}, "logprobs")
    for value in (None, 0, 3):
        taken(ask, "/v1/completions", {"prompt": "Hi", "logprobs": value})


def parts_of_conversations(ask: Asking) -> None:
    """Roles that an API has not, results of calls that nobody made, items that are none."""
    for path in ("/v1/messages", "/v1/messages/render", "/v1/messages/count_tokens"):
        for role in ("tool", "developer", "oracle", ""):
            body = {**FRONTS[path], "messages": [USER, {"role": role, "content": "x"}]}
            ask.names(path, body, "messages[1].role")
            said, _ = ask.refused(path, body)
            ask.checks.that("user, assistant, system" in said, f"the roles that there are: {said}")
    use: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}

    def result(number: str) -> Json:
        return {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": number, "content": "b"}]}

    at = "messages[2].content[1].tool_use_id"
    for path in ("/v1/messages", "/v1/messages/render", "/v1/messages/count_tokens"):
        ask.names(path, {**FRONTS[path], "messages": [USER, use, result("t2")]}, at)
        ask.names(path, {**FRONTS[path], "messages": [USER, result("t1"), use]}, at.replace("2", "1", 1))
        taken(ask, path, {**FRONTS[path], "messages": [USER, use, result("t1")]})
    results_of_responses(ask)
    path = "/v1/responses"
    for item in ({"id": "msg_x"}, {"id": "msg_x", "type": None}):
        said, error = ask.refused(path, {"input": [USER, item]})
        ask.checks.that("is not known here" in said and error["param"] == "input[1].id", f"a reference without a type: {said}")
    ask.refused(path, {"input": [USER, {"id": "msg_x", "content": "a"}]})
    stored = ask.gateway.post(path, {"input": "Hi"})[2]["output"][-1]["id"]
    taken(ask, path, {"input": [USER, {"id": stored}]})


def tools(ask: Asking) -> None:
    """A tool that the model could not call is refused where it stands, as the APIs refuse it, and not left in the prompt."""
    schemas: tuple[tuple[Any, str], ...] = ((5, ""), ("x", ""), ([], ""), ({"type": "string"}, ".type"), ({"type": ["null"]}, ".type"))
    nameless: tuple[Json, ...] = ({}, {"name": ""}, {"name": None}, {"name": 5}, {"description": "d"})
    for path, body in FRONTS.items():
        flat = path.startswith("/v1/responses") or api_of(path) == "anthropic" or path == "/v1/messages/render"
        if not any(name in body for name in ("messages", "input")):
            continue
        schema = "parameters" if path.startswith("/v1/responses") or not flat else "input_schema"
        before: Json = {"type": "function"} if schema == "parameters" else {}
        inner = "tools[1]" if flat else "tools[1].function"

        def given(tool: Any, body: Json = body, flat: bool = flat, before: Json = before) -> Json:
            good: Json = {"name": "f", "parameters": {}} if before else {"name": "f", "input_schema": {"type": "object"}}
            both = [{**before, **one} if flat else {"type": "function", "function": one} for one in (good, tool)]
            return {**body, "tools": both}

        for nothing in nameless:
            ask.names(path, given(nothing), inner + ".name")
        for value, member in schemas:
            ask.names(path, given({"name": "g", schema: value}), f"{inner}.{schema}{member}")
        for wrong in ("look", 5, None, ["look"]):
            ask.names(path, {**body, "tools": [wrong]}, "tools[0]")
            if not flat:
                ask.names(path, {**body, "tools": [{"type": "function", "function": wrong}]}, "tools[0]")
        ask.names(path, {**body, "tools": "look"}, "tools")
        ask.names(path, {**body, "tools": {"name": "look"}}, "tools")
        for fine in ({"name": "g"}, {"name": "g", schema: {}}, {"name": "g", schema: None}, {"name": "g", schema: {"type": "object"}}):
            if "derender" not in path:
                taken(ask, path, given(fine))
    for path in ("/v1/chat/completions", "/v1/chat/completions/render"):
        for one, where in (
            ({"parameters": {}}, "functions[0].name"),
            ("f", "functions[0]"),
            ({"name": "f", "parameters": 5}, "functions[0].parameters"),
        ):
            ask.names(path, {**FRONTS[path], "functions": [one]}, where)
    for path, one, where in (
        ("/v1/chat/completions", {"type": "custom"}, "tools[0].name"),
        ("/v1/chat/completions", {"type": "custom", "custom": {}}, "tools[0].custom.name"),
        ("/v1/chat/completions", {"type": "custom", "custom": "f"}, "tools[0].custom"),
        ("/v1/responses", {"type": "custom", "name": ""}, "tools[0].name"),
        ("/v1/messages", {"type": "custom"}, "tools[0].name"),
        ("/v1/messages", {"type": 5, "name": "f"}, "tools[0].type"),
    ):
        ask.names(path, {**FRONTS[path], "tools": [one]}, where)
    taken(ask, "/v1/chat/completions", {**FRONTS["/v1/chat/completions"], "tools": [{"type": "custom", "custom": {"name": "f"}}]})
    custom: Json = {"type": "custom", "name": "f", "input_schema": {"type": "array"}}
    ask.names("/v1/messages", {**FRONTS["/v1/messages"], "tools": [custom]}, "tools[0].input_schema.type")
    taken(ask, "/v1/messages", {**FRONTS["/v1/messages"], "tools": [{"type": "web_search_20250305", "name": "w"}]})
    taken(ask, "/v1/responses", {**FRONTS["/v1/responses"], "tools": [{"type": "web_search"}, {"type": "custom", "name": "f"}]})


def results_of_responses(ask: Asking) -> None:
    """Results of calls that nobody made, also behind a response, with calls of its own and without."""
    call: Json = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    own: Json = {**call, "call_id": "c3"}
    path = "/v1/responses"
    for kind in ("function_call_output", "custom_tool_call_output"):
        first, other, third = ({"type": kind, "call_id": number, "output": "b"} for number in ("c1", "c2", "c3"))
        for front in (path, "/v1/responses/render", "/v1/responses/input_tokens"):
            ask.names(front, {"input": [USER, call, other]}, "input[2].call_id")
            ask.names(front, {"input": [USER, first]}, "input[1].call_id")
            taken(ask, front, {"input": [USER, call, first]})
        behind, plain = (ask.gateway.post(path, {"input": given})[2]["id"] for given in ([call, own], "Hi"))
        for front in (path, "/v1/responses/input_tokens"):
            taken(ask, front, {"input": [first, third], "previous_response_id": behind})
            taken(ask, front, {"input": [third], "previous_response_id": behind})
            ask.names(front, {"input": [other], "previous_response_id": behind}, "input[0].call_id")
            ask.names(front, {"input": [third, other], "previous_response_id": behind}, "input[1].call_id")
            ask.names(front, {"input": [first], "previous_response_id": plain}, "input[0].call_id")
            ask.names(front, {"input": [own, third, first], "previous_response_id": plain}, "input[2].call_id")


def results_by_rewritten_ids(parlance: str, engine: Engine, folder: pathlib.Path, checks: Checks) -> None:
    """Where a template wants other ids than clients have, the call before is found by the one that its client knows."""
    template = folder / "nine.jinja"
    template.write_text(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{{ m.tool_call_id }}{% for c in m.tool_calls %}"
        "{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}<tool_call>\n"
        '{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
        "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    call: Json = {"type": "function_call", "call_id": "call_of_more_letters", "name": "f", "arguments": "{}"}
    result: Json = {"type": "function_call_output", "call_id": "call_of_more_letters", "output": "b"}
    with Gateway(parlance, engine.url, "--log", "errors", template=("-t", str(template))) as gateway:
        ask, path = Asking(gateway, checks), "/v1/responses"
        first = gateway.post(path, {"input": [USER, call]})[2]["id"]
        taken(ask, path, {"input": [result], "previous_response_id": first})
        ask.names(path, {"input": [result, {**result, "call_id": "another"}], "previous_response_id": first}, "input[1].call_id")
    with Gateway(parlance, engine.url, "--log", "errors", "--pass", "order-results", template=("-t", str(template))) as gateway:
        results_in_another_order(Asking(gateway, checks), engine)


def refused_by_a_template(parlance: str, engine: Engine, folder: pathlib.Path, checks: Checks) -> None:
    """The place in the template is told by the file's name; in which folder of the server it is concerns no client."""
    template = folder / "refusing.jinja"
    template.write_text("{% for m in messages %}\n  {{ raise_exception('no ' ~ m.role) }}{% endfor %}")
    with Gateway(parlance, engine.url, "--log", "errors", template=("-t", str(template))) as gateway:
        said, _ = Asking(gateway, checks).refused("/v1/chat/completions", FRONTS["/v1/chat/completions"])
        checks.that("no user" in said and "(refusing.jinja, line 2, column " in said, said)


def results_in_another_order(ask: Asking, engine: Engine) -> None:
    """Each result goes to its own call, and one of no call is found, where the pass order-results moves them."""
    path = "/v1/responses"
    text = '<tool_call>\n{"name": "f", "arguments": {"a": %d}}\n</tool_call>\n'
    engine.script = lambda asked: Reply(text % 1 + text % 2 + "<|im_end|>")
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    answer = ask.gateway.post(path, {"input": "Hi", "tools": tools})[2]
    engine.script = lambda asked: Reply()
    ids = [item["call_id"] for item in answer["output"] if item["type"] == "function_call"]
    outputs = [{"type": "function_call_output", "call_id": id, "output": f"result {number} "} for number, id in enumerate(ids)]
    engine.asked.clear()
    taken(ask, path, {"input": outputs[::-1], "previous_response_id": answer["id"], "tools": tools})
    prompt = engine.vocabulary.decode(engine.asked[-1].prompt)
    found = re.findall(r"result (\d) (\w{9})<", prompt)
    ask.checks.equal(found, [(str(number), nine_letters(id)) for number, id in enumerate(ids)], prompt)
    first = ask.gateway.post(path, {"input": "Hi"})[2]["id"]
    calls = [{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in ("AAAAAAAAA", "BBBBBBBBB")]
    a, b, other = ({"type": "function_call_output", "call_id": id, "output": "b"} for id in ("AAAAAAAAA", "BBBBBBBBB", "CCCCCCCCC"))
    taken(ask, path, {"input": [*calls, b, a], "previous_response_id": first})
    for number, results in enumerate(([other, b, a], [b, other, a], [b, a, other])):
        ask.names(path, {"input": [*calls, *results], "previous_response_id": first}, f"input[{number + 2}].call_id")


def nine_letters(id: str) -> str:
    """What the pass short-ids makes of an id."""
    letters = string.digits + string.ascii_uppercase + string.ascii_lowercase
    hexadecimal = hashlib.sha256(id.encode()).hexdigest()
    return "".join(letters[int(hexadecimal[at : at + 4], 16) % len(letters)] for at in range(0, 36, 4))


def in_their_own_words(ask: Asking) -> None:
    """Paths that a request has, and hints that are its API's."""
    path = "/v1/chat/completions"
    for form, at in (
        ({"type": "json_schema"}, "response_format.json_schema"),
        ({"type": "json_schema", "json_schema": "x"}, "response_format.json_schema"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": "x"}}, "response_format.json_schema.schema"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": 5}}, "response_format.json_schema.schema"),
        ({"type": "json_object", "schema": "x"}, "response_format.schema"),
    ):
        for front in (path, "/v1/completions"):
            _, error = ask.refused(front, {**FRONTS[front], "response_format": form})
            ask.checks.equal(error.get("param"), at, f"{front} {form}: {error}")
    _, error = ask.refused("/v1/responses", {"input": "Hi", "text": {"format": {"type": "json_schema", "name": "n", "schema": "x"}}})
    ask.checks.equal(error.get("param"), "text.format.schema", f"{error}")
    words: tuple[Any, ...] = ("xml", 5, ["json"])
    for path in ("/api/chat", "/api/generate"):
        for word in words:
            said, _ = ask.refused(path, {**FRONTS[path], "format": word})
            ask.checks.that("json_schema" not in said and '"json", or a JSON Schema' in said, f"{path} {word}: {said}")
    for images in (["aGk="], ["aGk=", "aGk="], [5]):  # for which the template has no place
        for more in ({}, {"system": "s"}):
            ask.names("/api/generate", {**FRONTS["/api/generate"], **more, "images": images}, "images[0]", "messages")


def conversations(ask: Asking) -> None:
    many: Any = [USER, {"role": "assistant", "content": "a"}] * 4
    for path in ("/v1/chat/completions", "/v1/messages", "/api/chat"):
        ask.names(path, {**FRONTS[path], "messages": many}, "messages", "input")
    ask.names("/v1/responses", {"input": many}, "input", "messages[")


def models(ask: Asking, several: Asking) -> None:
    """One code for a model that there is not, and a word where none is named."""
    for path, body in FRONTS.items():
        said, error = several.refused(path, {**body, "model": "none"}, 404)
        several.checks.that("'none'" in said, f"{path}: {said}")
        if api_of(path) == "ollama":
            several.checks.that("model 'none' not found" in said, f"in Ollama's words: {said}")
        if api_of(path) == "openai":
            code = 404 if path.endswith(VLLM) else "model_not_found"
            several.checks.equal((error["code"], error["param"]), (code, "model"), f"an unknown model at {path}")
        for members in ({}, {"model": None}, {"model": ""}):
            several.names(path, {**body, **members}, "model", "''", status=404)
        no_names: tuple[Any, ...] = (5, ["one"], {}, True)
        for asking in (ask, several):
            for wrong in no_names:
                asking.names(path, {**body, "model": wrong}, "model", "''")
    for body in ({}, {"name": ""}):
        several.names("/api/show", body, "model", status=404)
    several.names("/api/show", {"model": 5}, "model")
    for body in ({"model": "none"}, {"name": "none"}):
        said, _ = several.refused("/api/show", body, 404)
        several.checks.that("none" in said, said)
    for asking in (ask, several):
        for bad in (b"", b"{", b"[1]", '{"model": "one"}'.encode("utf-16")):
            asking.refused("/api/show", bad)
    status, text = several.gateway.get("/v1/models/none")
    error = json.loads(text)["error"]
    several.checks.equal((status, error["code"], error["param"]), (404, "model_not_found", "model"), "one model that there is not")


def request(gateway: Gateway, method: str, path: str, headers: Json, body: bytes | None = None) -> tuple[int, Any]:
    at = urllib.parse.urlsplit(gateway.url)
    assert at.hostname is not None
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer.status, json.loads(read)


def forms_of_clients(gateway: Gateway, checks: Checks) -> None:
    """Where a path is of several APIs, or of none, headers say whose client asks."""
    large = b" " * 70000
    shared: tuple[tuple[str, str, int, bytes | None], ...] = (
        ("GET", "/v1/models/none", 404, None),
        ("GET", "/v1/files", 404, None),
        ("GET", "/v1/nothing", 404, None),
        ("POST", "/v1/models", 405, b"{}"),
        ("DELETE", "/v1/models/mine", 405, None),
        ("POST", "/v1/nothing", 413, large),
    )
    own: tuple[tuple[str, str, int, bytes | None], ...] = (
        ("GET", "/v1/messages", 405, None),
        ("POST", "/v1/messages", 413, large),
        ("POST", "/v1/messages/batches", 404, b"{}"),
        ("POST", "/v1/messages/count_tokens", 413, large),
    )
    of_others: tuple[tuple[str, str, int, bytes | None, str], ...] = (
        ("GET", "/v1/chat/completions", 405, None, "openai"),
        ("POST", "/v1/chat/completions", 400, b"{", "openai"),
        ("POST", "/v1/responses", 413, large, "openai"),
        ("GET", "/v1/responses/resp_none", 404, None, "openai"),
        ("GET", "/api/nothing", 404, None, "ollama"),
        ("POST", "/api/chat", 413, large, "ollama"),
    )
    for headers in ({"anthropic-version": "2023-06-01"}, {"x-api-key": "k"}):
        for method, path, wanted, body in (*shared, *own):
            status, answer = request(gateway, method, path, headers, body)
            checks.equal(status, wanted, f"{method} {path}: {answer}")
            checks.that(error_in(answer, "anthropic"), f"Anthropic's form for {headers}: {method} {path}: {answer}")
        for method, path, wanted, body, api in of_others:
            status, answer = request(gateway, method, path, headers, body)
            checks.that(status == wanted and error_in(answer, api), f"{api}'s form for {headers}: {method} {path}: {status} {answer}")
    for method, path, wanted, body in shared:
        status, answer = request(gateway, method, path, {"Authorization": "Bearer k"}, body)
        checks.that(status == wanted and "type" not in answer and error_in(answer, "openai"), f"OpenAI's form: {path}: {answer}")
    for method, path, wanted, body in own:
        status, answer = request(gateway, method, path, {}, body)
        checks.that(status == wanted and error_in(answer, "anthropic"), f"Anthropic's own: {path}: {status} {answer}")


def main() -> int:
    checks = Checks()
    limits = ("--log", "errors", "--max-messages", "4", "--max-body", "60000")
    with Engine() as engine, tempfile.TemporaryDirectory() as folder, Gateway(sys.argv[1], engine.url, *limits) as gateway:
        ask = Asking(gateway, checks)
        config = pathlib.Path(folder) / "two.toml"
        config.write_text("port = 0\nlog = 'errors'\n" + table("one", engine.url) + table("two", engine.url))
        for test in (
            bodies_that_are_no_json,
            nothing_said,
            forms,
            settings,
            known_members,
            parts_of_conversations,
            tools,
            in_their_own_words,
            conversations,
        ):
            test(ask)
        with Configured(sys.argv[1], config) as several:
            models(ask, Asking(several, checks))
        forms_of_clients(gateway, checks)
        results_by_rewritten_ids(sys.argv[1], engine, pathlib.Path(folder), checks)
        refused_by_a_template(sys.argv[1], engine, pathlib.Path(folder), checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
