#!/usr/bin/env python3
"""Sessions of `parlance serve`: which ids each turn's prompt has, what breaks a prefix and what the client is told of it.

    sessions_test.py PARLANCE

The engine samples its replies byte by byte, so that a prompt that was encoded again would have other ids. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import time
from typing import Any

from engine import TOKENIZER, Asked, Engine, Reply
from gateway import Checks, Gateway

TOOLS: Any = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
]
CALL = '<tool_call>\n{"name": "look",   "arguments": {"at": "Köln %d"}}\n</tool_call><|im_end|>'
BLANKS = [(before, behind) for before in ("\n", "") for behind in ("\n\n", "\n", "")]  # around the mark that ends reasoning
THOUGHT = "<think>\nHm, %d?\n</think>\n\nIt is %d.<|im_end|>"


class Talk:
    """A conversation that a client holds, and what the engine saw of it."""

    def __init__(self, gateway: Gateway, engine: Engine, **request: Any) -> None:
        self.gateway, self.engine = gateway, engine
        self.request = {"model": "mine", "messages": [], "parlance": True, **request}
        self.seen: list[int] = []  # the ids of the last prompt and of its reply
        self.answer: Any = None
        self.headers: dict[str, str] = {}

    def turn(self, *messages: Any, headers: dict[str, str] | None = None) -> Asked:
        """Sends the messages behind the earlier ones; the reply is added to them as the client got it."""
        self.request["messages"] += messages
        self.engine.asked.clear()
        status, self.headers, self.answer = self.gateway.post("/v1/chat/completions", self.request, headers)
        if status != 200:
            raise AssertionError(f"{status}: {self.answer}")
        self.request["messages"].append(self.answer["choices"][0]["message"])
        return self.engine.asked[-1]

    def keeps(self, asked: Asked) -> bool:
        kept = asked.prompt[: len(self.seen)] == self.seen
        self.seen = asked.prompt + self.answer["parlance"]["sampled_ids"]
        return kept


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def fifty_turns(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Calls with other spaces than the template writes; each turn evaluates its new tokens alone."""
    talk = Talk(gateway, engine, tools=TOOLS)
    engine.script = lambda asked: Reply(CALL % len(asked.prompt))
    checks.that(talk.keeps(talk.turn(user("Look <|im_end|> around."))), "the first turn")
    for number in range(50):
        call = talk.answer["choices"][0]["message"]["tool_calls"][0]["id"]
        known = len(talk.seen)
        asked = talk.turn({"role": "tool", "tool_call_id": call, "content": f"result {number}"})
        checks.that(talk.keeps(asked), f"turn {number}: the ids before it are kept")
        told = talk.answer["parlance"]
        # The last token that was sampled was never evaluated: it is new to the engine.
        checks.equal(told["evaluated_tokens"], len(asked.prompt) - known + 1, f"turn {number}: evaluated tokens")
        checks.equal((told["reused_tokens"], told["prefix_break"]), (known, None), f"turn {number}: what the client is told")
        checks.equal(talk.headers["X-Parlance-Reused-Tokens"], str(known), f"turn {number}: the header")


def clients_change_replies(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Reasoning is dropped, arguments become objects, contents lists, ids others: the session is found all the same."""
    talk = Talk(gateway, engine, tools=TOOLS)
    engine.script = lambda asked: Reply("<think>\nHm?\n</think>\n\n" + CALL % 7)
    talk.keeps(talk.turn(user("Look.")))
    message = talk.request["messages"][-1]
    message.pop("reasoning_content", None)
    message.pop("reasoning", None)
    call = message["tool_calls"][0]
    call.pop("complete", None)
    call["function"]["arguments"] = {"at": "Köln 7"}
    message["content"] = []
    asked = talk.turn({"role": "tool", "tool_call_id": call["id"], "content": [{"type": "text", "text": "There."}]})
    checks.that(talk.keeps(asked), "a session whose reply the client has changed")


def texts_beside_calls(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """crewai and autogen give calls back without the text beside them; a client that writes another text there means another reply."""
    for name in ({}, {"prompt_cache_key": "texts beside calls"}):
        talk = Talk(gateway, engine, tools=TOOLS, **name)
        engine.script = lambda asked: Reply(f"<think>\nHm?\n</think>\n\nI look, {len(asked.prompt)}.\n" + CALL % len(asked.prompt))
        asked = talk.turn(user(f"Look at all of it, {name}."))
        for turn in range(4):
            checks.that(talk.keeps(asked), f"{name}, {turn}: the ids of replies whose texts are left out")
            message = talk.request["messages"][-1]
            if turn != 2:  # nor need it be left out each time
                message["content"] = (None, "", [], "\n")[turn]
            asked = talk.turn({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"There, {turn}."})
        talk.keeps(asked)
        message = talk.request["messages"][-1]
        message["content"] = "I said something else."
        asked = talk.turn({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "There."})
        checks.that(not talk.keeps(asked), f"{name}: another text is another reply")
        checks.that("something else" in engine.vocabulary.decode(asked.prompt), f"{name}: and is in the prompt")


def without_text(message: Any) -> Any:
    return {"role": "assistant", "content": None, "tool_calls": message["tool_calls"]}


def texts_of_others(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A text that a client leaves out is in the prompt where the client was told it; nobody else's is, whose calls are the same."""
    said = "<think>\nThought of %s.\n</think>\n\nText of %s.\n" + CALL % 7
    for name in ({}, {"prompt_cache_key": "texts of others"}):
        question, samples = user(f"One question, {name}"), []
        for who in ("A", "B"):
            engine.script = lambda asked, who=who: Reply(said % (who, who))
            talk = Talk(gateway, engine, tools=TOOLS, **name)
            talk.turn(question)
            samples.append(talk.request["messages"][-1])

        def prompt_behind(*messages: Any, name: Any = name, question: Any = question) -> tuple[str, list[Any]]:
            talk = Talk(gateway, engine, tools=TOOLS, **name)
            asked = talk.turn(question, *messages)
            losses = [loss["path"] for loss in talk.answer["parlance"]["losses"] if loss["kind"] == "content"]
            return engine.vocabulary.decode(asked.prompt), losses

        def result(message: Any) -> Any:
            return {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "There."}

        engine.script = lambda asked: Reply("More.\n" + CALL % 8)
        for who, other, message in (("A", "B", samples[0]), ("B", "A", samples[1])):
            prompt, losses = prompt_behind(without_text(message), result(message))
            own = f"Text of {who}" in prompt and f"Thought of {who}" in prompt and f"of {other}" not in prompt
            checks.that(own, f"{name}: {who} has its own text: {prompt[-400:]}")
            checks.equal(losses, ["messages[1]"], f"{name}: what the request leaves out is told")
        prompt, losses = prompt_behind(samples[0], result(samples[0]))
        checks.equal(("Text of A" in prompt, losses), (True, []), f"{name}: nothing is told where nothing is left out")
        forged = json.loads(json.dumps(samples[1]))
        forged["tool_calls"][0]["id"] = "forged"
        second = without_text(
            {"tool_calls": [{**forged["tool_calls"][0], "id": "2", "function": {"name": "look", "arguments": {"at": "Köln 8"}}}]}
        )
        for messages in (
            (without_text(forged), result(forged)),
            (without_text(samples[1]), result(forged)),
            (without_text(forged), result(forged), second, result(second)),  # the call behind a text that was left out
        ):
            prompt, losses = prompt_behind(*messages)
            checks.that("Text of" not in prompt and not losses, f"{name}: ids that nobody was told: {prompt[-400:]}")


def texts_of_other_apis(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """The ids of calls are the same by each API; Ollama's has none at results."""
    engine.script = lambda asked: Reply("<think>\nHm?\n</think>\n\nI look.\n" + CALL % 7)
    tool, rows = TOOLS[0]["function"], []
    for path, name, more in (
        ("/v1/messages", "messages", {"max_tokens": 900, "tools": [{"name": "look", "input_schema": tool["parameters"]}]}),
        ("/v1/responses", "input", {"tools": [{"type": "function", **tool}]}),
        ("/api/chat", "messages", {"stream": False, "tools": TOOLS}),
    ):
        asked: Any = {"model": "mine", "parlance": True, **more, name: [user(f"Look by {path}.")]}
        answer = gateway.post(path, asked)[2]
        if path == "/v1/messages":
            use = answer["content"][-1]
            result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": "There."}]}
            rows = [{"role": "assistant", "content": [use]}, result]
        elif path == "/v1/responses":
            use = answer["output"][-1]
            rows = [use, {"type": "function_call_output", "call_id": use["call_id"], "output": "There."}]
        else:
            rows = [{"role": "assistant", "tool_calls": answer["message"]["tool_calls"]}, {"role": "tool", "content": "There."}]
        asked[name] += rows
        _, headers, answer = gateway.post(path, asked)
        told = [(loss["kind"], loss["path"]) for loss in answer["parlance"]["losses"]]
        checks.that(headers["X-Parlance-Reused-Tokens"] != "0", f"{path}: the turn is found")
        checks.equal(told, [("content", f"{name}[1]")], f"{path}: its text is told")


def edits_cost_little(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """An edited text is looked for once, however long the conversation behind it is."""
    engine.script = lambda asked: Reply(f"I look, {len(asked.prompt)}.\n" + CALL % 7)
    talk = Talk(gateway, engine, tools=TOOLS)
    talk.turn(user("Look at a lot."))
    took: list[float] = []
    for _ in range(150):
        begun = time.monotonic()
        message = talk.request["messages"][-1]
        message["content"] = None
        talk.turn({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "There."})
        took.append(time.monotonic() - begun)
    for place in (1, 151):
        edited, whole, usual = json.loads(json.dumps(talk.request)), 1000.0, max(sorted(took[-20:])[:15])
        del edited["messages"][-1]
        for number in range(3):  # the machine may be busy
            edited["messages"][place]["content"] = f"Edited {number}."
            begun = time.monotonic()
            status, headers, _ = gateway.post("/v1/chat/completions", edited)
            whole = min(whole, time.monotonic() - begun)
            checks.equal((status, headers["X-Parlance-Reused-Tokens"] != "0"), (200, place > 1), f"message {place}: the turn before it")
        checks.that(whole < 0.1 + 4 * usual, f"message {place} edited: {whole} s, where a turn takes {usual}")


def clients_write_arguments_again(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Clients in JavaScript and Java read arguments, and write them in the order of a schema, and 1 for 1.0."""
    again = (
        ('{"at": "x", "near": "y"}', '{"near":"y","at":"x"}'),
        ('{"at": {"b": [1.0, -0.0], "a": null}}', '{"at": {"a": null, "b": [1, 0]}}'),
        ('{"at": 1e3, "near": 1E-2}', '{"near": 0.01, "at": 1000}'),
        ('{"at": 1e308}', '{"at": 1e+308}'),
        ('{"at": "\\u00e9\\/"}', '{"at": "é/"}'),
    )
    for number, (wrote, back) in enumerate(again):
        talk = Talk(gateway, engine, tools=TOOLS)
        engine.script = lambda asked, wrote=wrote: Reply(
            '<tool_call>\n{"name": "look", "arguments": ' + wrote + "}\n</tool_call><|im_end|>"
        )
        talk.keeps(talk.turn(user(f"Look: {number}.")))
        call = talk.request["messages"][-1]["tool_calls"][0]
        call["function"]["arguments"] = back
        checks.that(talk.keeps(talk.turn({"role": "tool", "tool_call_id": call["id"], "content": "There."})), f"{wrote} as {back}")
        call["function"]["arguments"] = back.replace("y", "z").replace("1", "2").replace("é", "e")
        talk.turn({"role": "tool", "tool_call_id": call["id"], "content": "There."})
        reused = int(talk.headers["X-Parlance-Reused-Tokens"])
        checks.that(reused < len(engine.asked[-1].prompt) // 2, f"{wrote} as other arguments: {reused}")


def nulls_of_a_model(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """An argument that is null, and that the tool does not declare, is the model's own where no table is read."""
    engine.script = lambda asked: Reply('<tool_call>\n{"name": "look", "arguments": {"at": "x", "more": null}}\n</tool_call><|im_end|>')
    for path in ("/v1/chat/completions", "/api/chat"):
        talk: Any = {"model": "mine", "messages": [user("Hi")], "tools": TOOLS, "stream": False}
        _, _, answer = gateway.post(path, talk)
        message = answer["message"] if path == "/api/chat" else answer["choices"][0]["message"]
        call = message["tool_calls"][0]
        if isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        result = {"role": "tool", "content": "r", "tool_name": "look", "tool_call_id": call.get("id", "")}
        before = len(engine.asked[-1].prompt)
        status, headers, _ = gateway.post(path, {**talk, "messages": [*talk["messages"], message, result]})
        checks.equal((status, headers.get("X-Parlance-Prefix-Break")), (200, None), f"{path}: nulls of a model")
        checks.that(int(headers["X-Parlance-Reused-Tokens"]) > before, f"{path}: the reply's ids are reused")
        checks.that('"more": null' in engine.vocabulary.decode(engine.asked[-1].prompt), f"{path}: the model's null is in the prompt")


def blanks_around_reasoning(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Reasoning that is closed with other blanks than the template's: its ids stay, until the template drops the reasoning."""
    talk = Talk(gateway, engine, tools=TOOLS)

    def reply(asked: Asked) -> Reply:
        before, behind = BLANKS[turn % len(BLANKS)]
        return Reply(f"<think>\nHm, {turn}?{before}</think>{behind}" + CALL % turn)

    engine.script = reply
    turn = 0
    talk.keeps(talk.turn(user("Look.")))
    for turn in range(1, 20):
        message = talk.request["messages"][-1]
        if turn % 2:
            message.pop("reasoning_content", None)
            message.pop("reasoning", None)
        known = len(talk.seen)
        asked = talk.turn({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"result {turn}"})
        checks.that(talk.keeps(asked), f"other blanks, turn {turn}: the ids before it are kept")
        told = talk.answer["parlance"]
        checks.equal((told["reused_tokens"], told["prefix_break"]), (known, None), f"other blanks, turn {turn}: what the client is told")
        new = engine.vocabulary.decode(asked.prompt[known:])
        checks.that(new.startswith("\n<|im_start|>") and f"result {turn}" in new and "Hm" not in new, f"other blanks, turn {turn}: {new!r}")
    engine.script = lambda asked: Reply("<think>\nWell.</think>I see.<|im_end|>")
    talk.turn({"role": "tool", "tool_call_id": talk.request["messages"][-1]["tool_calls"][0]["id"], "content": "the end"})
    talk.turn(user("And?"))
    told = talk.answer["parlance"]["prefix_break"]
    checks.that(told and told["cause"] == "rewritten" and "messages[1]" in told["input"], f"reasoning that is dropped: {told}")


def contents_in_parts(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Texts in several parts, as coding agents send them: they count, and the session goes on behind them."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")

    def parts(*texts: str) -> Any:
        return [{"type": "text", "text": text} for text in texts]

    talk = Talk(gateway, engine)
    talk.keeps(
        talk.turn({"role": "system", "content": parts("Be short.", "Be kind.")}, {"role": "user", "content": parts("One", "or two?")})
    )
    checks.that(talk.keeps(talk.turn(user("And?"))), "a session whose contents have parts")
    other = Talk(gateway, engine)
    other.turn({"role": "system", "content": parts("Be long.", "Be rude.")}, {"role": "user", "content": parts("Three", "or four?")})
    asked = other.turn(user("And?"))
    checks.that("Be rude." in engine.vocabulary.decode(asked.prompt), "another conversation with as many parts")


def retries_and_branches(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A client may ask again for the last reply, and go on from an earlier one."""
    engine.script = lambda asked: Reply(f"Number {len(engine.asked)}, {len(asked.prompt)}.<|im_end|>")
    talk = Talk(gateway, engine)
    talk.keeps(talk.turn(user("One?")))
    talk.keeps(talk.turn(user("Two?")))
    first, before = talk.request["messages"][:2], talk.engine.asked[-1].prompt
    again = Talk(gateway, engine, messages=list(first))
    checks.equal(again.turn(user("Two?")).prompt, before, "the same question again")
    other = Talk(gateway, engine, messages=list(first))
    prompt = other.turn(user("Three?")).prompt
    common = next(number for number in range(len(prompt)) if prompt[number] != before[number])
    checks.that(other.answer["parlance"]["reused_tokens"] > 0 and common >= other.answer["parlance"]["reused_tokens"], "a branch")


def apart(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """Nobody goes on from another client's conversation."""
    engine.script = lambda asked: Reply("Mine alone.<|im_end|>")
    talk = Talk(gateway, engine)
    talk.turn(user("A secret?"), headers={"Authorization": "Bearer one"})
    talk.turn(user("And?"), headers={"Authorization": "Bearer two"})
    checks.equal(talk.answer["parlance"]["reused_tokens"], 0, "tokens reused by another client")
    talk.turn(user("And?"), headers={"Authorization": "Bearer two"})
    checks.that(talk.answer["parlance"]["reused_tokens"] > 0, "tokens reused by the same client")


def breaks_are_explained(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A line at the head of the conversation that changes with each turn, and one tool more."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    talk = Talk(gateway, engine)
    talk.turn({"role": "system", "content": "billing 1\nBe short."}, user("One?"))
    talk.request["messages"][0]["content"] = "billing 2\nBe short."
    talk.turn(user("Two?"))
    told = talk.answer["parlance"]["prefix_break"]
    checks.that(told and told["volatile_line"] and told["input"] == "messages[0].content" and told["lost"] > 0, f"a volatile line: {told}")
    checks.equal(talk.headers.get("X-Parlance-Prefix-Break"), "rewritten", "the header of a break")
    talk.request["tools"] = TOOLS
    talk.turn(user("Three?"))
    told = talk.answer["parlance"]["prefix_break"]
    checks.that(told and told["input"].startswith("tools"), f"a new tool: {told}")
    checks.that(gateway.metric("parlance_prefix_breaks_total") >= 2, "breaks in /metrics")


def places_have_no_folders(parlance: str, engine: Engine, checks: Checks) -> None:
    """A client learns the name of a template's file, and not where it is."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "own.jinja"
        path.write_text(
            "{% for one in messages %}<|im_start|>{{ one.role }}\n{{ one.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
        )
        with Gateway(parlance, engine.url, template=("-t", str(path))) as gateway:
            talk = Talk(gateway, engine, prompt_cache_key="places")
            talk.turn(user("One?"))
            talk.request["messages"][0]["content"] = "Two?"
            talk.turn(user("Three?"))
            told = talk.answer["parlance"]["prefix_break"]
            checks.that(" own.jinja line 1" in told["sentence"] and told["template"] == "own.jinja:1", f"the template's line: {told}")
            checks.that(folder not in json.dumps(told), f"and not its folder: {told}")


def other_replies_are_told(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A reply that a client gives back as another one: the answer says so, and goes on from the turn before it."""
    for name in ({}, {"prompt_cache_key": "other replies"}):
        engine.script = lambda asked: Reply("One a\u0301.<|im_end|>")
        talk = Talk(gateway, engine, **name)
        talk.turn(user("Say it."))
        before = len(engine.asked[-1].prompt) + len(talk.answer["parlance"]["sampled_ids"])
        for turn in range(2):
            talk.turn(user(f"Again {turn}."))
            talk.request["messages"][-1]["content"] = "One \u00e1."  # as a client that makes texts canonical does
            asked = talk.turn(user("And again."))
            told, reused = talk.answer["parlance"]["prefix_break"], int(talk.headers["X-Parlance-Reused-Tokens"])
            checks.that(told and told["cause"] == "other_reply" and told["input"].startswith("messages["), f"{name}, {turn}: {told}")
            checks.that(
                name or "One" not in told["sentence"], f"what was said to another client with the same question is not told: {told}"
            )
            checks.that(reused >= before or turn > 0, f"{name}, {turn}: {reused} of {len(asked.prompt)} ids, {before} before")


def causes_are_read(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """What a template does not read is not said to be why a prompt is another."""
    engine.script = lambda asked: Reply(CALL % 7)
    talk = Talk(gateway, engine, tools=TOOLS, prompt_cache_key="causes")
    talk.turn(user("Look."))
    call = talk.request["messages"][-1]["tool_calls"][0]
    call["function"]["arguments"] = '{"at": "elsewhere"}'
    talk.request["enable_thinking"] = talk.request["foo"] = True
    talk.turn({"role": "tool", "tool_call_id": call["id"], "content": "There."})
    told = talk.answer["parlance"]["prefix_break"]
    checks.that(told and told["input"].startswith("messages[1]") and "differ in" not in told["sentence"], f"a changed call: {told}")


def template_rewrites(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """The template drops reasoning of earlier turns: the break names its line and the input."""
    engine.script = lambda asked: Reply(THOUGHT % (1, 2))
    talk = Talk(gateway, engine)
    talk.keeps(talk.turn(user("One?")))
    asked = talk.turn(user("Two?"))
    told = talk.answer["parlance"]["prefix_break"]
    checks.that(not talk.keeps(asked), "reasoning is dropped")
    checks.that(told and told["template"].startswith("format terminal-agent:") and told["lost"] > 0, f"why: {told}")


def by_name(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A session is called as its client calls it."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    for header in ("x-session-id", "session-id", "x-session-affinity", "X-Claude-Code-Session-Id"):
        talk = Talk(gateway, engine)
        talk.turn(user("One?"), headers={header: "my-session"})
        checks.equal(talk.headers["X-Session-Id"], "my-session", f"the name of a session by {header}")
    talk = Talk(gateway, engine, prompt_cache_key="my-key")
    talk.turn(user("One?"))
    checks.equal(talk.headers["X-Session-Id"], "my-key", "prompt_cache_key")
    for name, whole in (
        ("x" * 300, 256),
        ("ö" * 128, 256),
        ("x" + "ö" * 200, 255),
        ("xx" + "日" * 100, 254),
        ("🙂" * 70, 256),
        ("xxx" + "🙂" * 70, 255),
    ):
        talk = Talk(gateway, engine, prompt_cache_key=name)
        talk.turn(user("One?"))
        shown = talk.headers["X-Session-Id"].encode("latin-1")  # as http.client reads bytes of headers
        checks.equal(shown, name.encode()[:whole], f"a name that is cut: {name[:3]}")


def memory_of_tools(parlance: str, engine: Engine, checks: Checks) -> None:
    """What is kept of how a reply is read counts as well: of tools that the prompt does not show too."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chat.jinja"
        path.write_text(source)
        with Gateway(parlance, engine.url, template=("-t", str(path))) as gateway:
            sizes = []
            for count in (0, 1, 2000):
                tools = [{**TOOLS[0]["function"], "name": f"look{number}"} for number in range(count)]
                before = gateway.metric("parlance_conversation_bytes")
                Talk(gateway, engine, **({"tools": tools} if tools else {})).turn(user(f"With {count}?"))
                sizes.append(gateway.metric("parlance_conversation_bytes") - before)
            text = len(json.dumps([{**TOOLS[0]["function"], "name": f"look{number}"} for number in range(2000)]))
            checks.that(sizes[2] - sizes[0] > text, f"a session with many tools takes their memory: {sizes}, {text} bytes of text")
            checks.that(sizes[1] - sizes[0] < 4000, f"one with few takes little: {sizes}")


def text_without_a_token(parlance: str, engine: Engine, checks: Checks) -> None:
    """Of each turn's new text: what a normaliser takes away, and the model does not see."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    with tempfile.TemporaryDirectory() as folder:
        for path in TOKENIZER.iterdir():
            (pathlib.Path(folder) / path.name).write_bytes(path.read_bytes())
        path = pathlib.Path(folder) / "tokenizer.json"
        takes_away = {"type": "Replace", "pattern": {"String": "Z"}, "content": ""}
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "normalizer": takes_away}), "utf-8")
        with Gateway(parlance, engine.url, tokenizer=folder) as gateway:
            talk = Talk(gateway, engine)
            for text, paths in (("OneZ, ZZ?", 2), ("Two?", 0), ("Z", 1), ("Four", 0)):
                talk.turn(user(text))
                place = f"messages[{len(talk.request['messages']) - 2}].content"
                told = [(one["path"], one["text"].strip("Z"), one["dropped"]) for one in talk.answer["parlance"]["unknown_text"]]
                checks.equal(told, [(place, "", True)] * paths, f"{text}: what the tokenizer has no token for")
                checks.equal(talk.headers.get("X-Parlance-Unknown-Text"), str(paths) if paths else None, f"{text}: the header")
        many = {"role": "user", "content": "aZ" * 100}
        with Gateway(parlance, engine.url, tokenizer=folder) as gateway:
            talk = Talk(gateway, engine)
            talk.turn(many)
            checks.equal(talk.headers.get("X-Parlance-Unknown-Text"), "64", "at most so many are told")
            talk.turn(many)
            checks.equal(talk.headers.get("X-Parlance-Unknown-Text"), "64", "at most so many of a later turn")


def no_content_in_the_log(parlance: str, engine: Engine, checks: Checks) -> None:
    """Where a prefix breaks, and where the engine answers what is no answer: neither what was said nor what the engine wrote."""
    with Gateway(parlance, engine.url) as gateway:
        engine.script = lambda asked: Reply("Yes, PLUMREPLY.<|im_end|>")
        talk = Talk(gateway, engine)
        talk.turn({"role": "system", "content": "PLUMLINE 1\nBe short."}, user("PLUMASK 1?"))
        for number in (2, 3):
            talk.request["messages"][0]["content"] = f"PLUMLINE {number}\nBe short."
            talk.turn(user(f"PLUMMORE {number}?"))
        engine.script = lambda asked: Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: PLUMGARBAGE {\n\n")
        status, _, answer = gateway.post("/v1/chat/completions", talk.request)
        checks.that(status == 502 and "PLUMGARBAGE" in json.dumps(answer), f"the client sees what the engine wrote: {answer}")
        log = gateway.end()
    breaks = [line for line in log if line["event"] == "prefix_break"]
    checks.equal([line["input"] for line in breaks], ["messages[0].content"] * 2, "breaks in the log")
    checks.that(all(line["lost"] > 0 and line["cause"] and line["session"] for line in breaks), f"with their facts: {breaks}")
    checks.that(any(line["event"] == "engine_failure" and line["kind"] == "garbage" for line in log), f"a failure: {log}")
    checks.that("PLUM" not in json.dumps(log), f"no content in the log: {log}")


MODELFILE = '''FROM x
TEMPLATE """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
SYSTEM "Own."
MESSAGE user "Q"
MESSAGE assistant "A"
'''
ONE_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('one system message') }}{% endif %}"
    "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)


def heads_of_responses(parlance: str, engine: Engine, checks: Checks) -> None:
    """Behind a response a model's own messages stand once, and of a system message that passes joined the input is left."""
    engine.script = lambda asked: Reply("Yes.<|im_end|>")
    own = "system: Own.|user: Q|assistant: A"
    system = {"role": "system", "content": "Bob"}
    cases: tuple[tuple[str, str, str, tuple[tuple[Any, ...], ...]], ...] = (
        (
            "Modelfile",
            "-m",
            MODELFILE,
            (
                ([user("Hi")], None, own + "|user: Hi"),
                ([user("B")], None, own + "|user: Hi|assistant: Yes.|user: B"),
                ([user("C")], "I", "user: Q|assistant: A|system: I|user: Hi|assistant: Yes.|user: B|assistant: Yes.|user: C"),
            ),
        ),
        (
            "chat.jinja",
            "-t",
            ONE_SYSTEM,
            (
                ([system, user("Hi")], "I", "system: I\n\nBob|user: Hi"),
                ([user("B")], None, "system: Bob|user: Hi|assistant: Yes.|user: B"),
                ([user("C")], "J", "system: J\n\nBob|user: Hi|assistant: Yes.|user: B|assistant: Yes.|user: C"),
                ([user("D")], None, "system: Bob|user: Hi|assistant: Yes.|user: B|assistant: Yes.|user: C|assistant: Yes.|user: D"),
            ),
        ),
    )
    for name, option, text, turns in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text)
            with Gateway(parlance, engine.url, template=(option, str(path))) as gateway:
                before: dict[str, Any] = {}
                for number, (given, instructions, wanted) in enumerate(turns):
                    body = {"model": "mine", "input": given, "instructions": instructions, **before}
                    status, _, answer = gateway.post("/v1/responses", body)
                    checks.equal(status, 200, f"{name}, turn {number}: {answer}")
                    before = {"previous_response_id": answer["id"]}
                    prompt = engine.vocabulary.decode(engine.asked[-1].prompt).removesuffix("<|im_start|>assistant\n")
                    got = prompt.replace("<|im_end|>\n", "|").replace("<|im_start|>", "")
                    parts = (part.replace("\n", ": ", 1) for part in got.rstrip("|").split("|"))
                    checks.equal("|".join(parts), wanted, f"{name}, turn {number}")


def main() -> int:
    checks = Checks()
    with Engine() as engine, Gateway(sys.argv[1], engine.url) as gateway:
        for test in (
            fifty_turns,
            clients_change_replies,
            texts_beside_calls,
            texts_of_others,
            texts_of_other_apis,
            edits_cost_little,
            clients_write_arguments_again,
            nulls_of_a_model,
            blanks_around_reasoning,
            contents_in_parts,
            retries_and_branches,
            apart,
            breaks_are_explained,
            other_replies_are_told,
            causes_are_read,
            template_rewrites,
            by_name,
        ):
            test(gateway, engine, checks)
        places_have_no_folders(sys.argv[1], engine, checks)
        memory_of_tools(sys.argv[1], engine, checks)
        text_without_a_token(sys.argv[1], engine, checks)
        no_content_in_the_log(sys.argv[1], engine, checks)
        heads_of_responses(sys.argv[1], engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
