#!/usr/bin/env python3
"""A limit of reasoning: the gateway closes a reply's reasoning itself, and the engine goes on behind it.

    reasoning_limit_test.py PARLANCE

By the names of each API, whole and streamed, with calls, in sessions, and in captures. Begin reading at main.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from engine import TOKENIZER, Asked, Engine, Reply
from gateway import Checks, Gateway

FORMAT = ("-f", "underscore-bot")  # whose prompt opens reasoning
# The same, but earlier turns keep their reasoning.
KEEPS = r"""{%- if tools %}<|im_start|>system
Call as <tool_call>
{"name": NAME, "arguments": ARGUMENTS}
</tool_call>. Tools: {{ tools | tojson }}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' %}<think>
{{ message.reasoning_content or '' }}
</think>

{% endif %}{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
<think>
{% endif %}"""
TOOLS: Any = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
]
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "Köln"}}\n</tool_call><_end>'
ASKED = [{"role": "user", "content": "Hi"}]


class Thinker:
    """Reasons on and on, and says `answer` once its reasoning is closed."""

    def __init__(self, engine: Engine, thought: str = "Hm. ", answer: str = "Yes.<_end>") -> None:
        self.engine, self.thought, self.answer = engine, thought, answer
        engine.asked.clear()
        engine.script = self.reply

    def reply(self, asked: Asked) -> Reply:
        closed = "</think>" in self.engine.vocabulary.decode(asked.prompt).rpartition("<think>")[2]
        return Reply(self.answer) if closed else Reply(self.thought * 200)

    def written(self) -> tuple[list[int], str]:
        """What stood behind the prompt when the engine was asked again: ids, and their text."""
        first, second = self.engine.asked[-2:]
        return second.prompt[len(first.prompt) :], self.engine.vocabulary.decode(second.prompt[len(first.prompt) :])


def by_each_name(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    for limit in ({"thinking_token_budget": 10}, {"thinking_budget": 10}, {"reasoning": {"max_tokens": 10}}):
        thinker = Thinker(engine)
        _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "max_tokens": 100, **limit})
        message = answer["choices"][0]["message"]
        checks.equal((message["reasoning_content"], message["content"]), ("Hm. Hm. Hm", "Yes."), f"the reply with {limit}")
        checks.equal(answer["usage"]["completion_tokens_details"]["reasoning_tokens"], 10, f"reasoning tokens with {limit}")
        ids, text = thinker.written()
        checks.that(text.startswith("Hm. Hm. Hm") and text.rstrip().endswith("</think>"), f"what the engine went on from: {text!r}")
        checks.equal(engine.asked[-1].body["n_predict"], 100 - len(ids), f"max_tokens of the second part with {limit}")
    Thinker(engine)
    body = {
        "model": "mine",
        "max_tokens": 2000,
        "parlance": True,
        "messages": ASKED,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    status, _, answer = gateway.post("/v1/messages", body)
    kinds = [block["type"] for block in answer.get("content", [])]
    checks.equal(answer["parlance"]["losses"], [], "what the gateway obeys is not lost")
    checks.equal((status, kinds), (200, ["thinking"]), f"Anthropic's budget of 1,024 where 800 tokens come: {answer}")
    Thinker(engine)
    _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "thinking_budget": -1})
    checks.equal(answer["usage"]["completion_tokens_details"]["reasoning_tokens"], 800, "a negative figure is no limit")
    for wrong in ({"thinking_token_budget": "ten"}, {"thinking": {"budget_tokens": 1.5}}):
        status, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, **wrong})
        checks.equal((status, "must be an integer" in json.dumps(answer)), (400, True), f"{wrong}: {answer}")


def whole_characters(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A limit within a character waits for its end."""
    for limit in range(1, 9):
        Thinker(engine, thought="日本\U0001f600")
        _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "thinking_token_budget": limit})
        reasoning = answer["choices"][0]["message"]["reasoning_content"]
        checks.that("\ufffd" not in reasoning and limit <= len(reasoning.encode()) < limit + 4, f"{limit} tokens: {reasoning!r}")


def streams_and_choices(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    import urllib.request

    Thinker(engine)
    body = {"model": "mine", "messages": ASKED, "thinking_token_budget": 10, "stream": True}
    request = urllib.request.Request(gateway.url + "/v1/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in answer if line.startswith(b"data: {")]
    said = ["".join(delta.get(name) or "" for delta in deltas) for name in ("reasoning_content", "content")]
    checks.equal(said, ["Hm. Hm. Hm", "Yes."], "a streamed reply")
    Thinker(engine)
    _, _, two = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "thinking_token_budget": 10, "n": 2})
    checks.equal([choice["message"]["content"] for choice in two["choices"]], ["Yes.", "Yes."], "two choices")
    Thinker(engine)
    few = {"model": "mine", "messages": ASKED, "thinking_token_budget": 10, "max_tokens": 12}
    _, _, short = gateway.post("/v1/chat/completions", few)
    checks.equal(short["choices"][0]["finish_reason"], "length", "no tokens are left behind the reasoning")
    checks.equal(len(engine.asked), 1, "… so the engine is asked once")


def sessions_with_calls(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """The grammar of the second part begins behind reasoning, and the next turn keeps all ids."""
    thinker = Thinker(engine, answer=CALL.replace("<_end>", "<|im_end|>"))
    body = {
        "model": "mine",
        "messages": list(ASKED),
        "tools": TOOLS,
        "tool_choice": "required",
        "thinking_token_budget": 10,
        "parlance": True,
    }
    known: list[int] = []
    for number in range(5):
        _, _, answer = gateway.post("/v1/chat/completions", body)
        message = answer["choices"][0]["message"]
        first, second = engine.asked[-2:]
        reasons = ["reasoning ::=" in asked.body["grammar"] for asked in (first, second)]
        checks.equal(reasons, [True, False], f"turn {number}: which grammar has reasoning")
        checks.equal(first.prompt[: len(known)], known, f"turn {number}: its prompt begins with all before")
        known = first.prompt + answer["parlance"]["sampled_ids"]
        checks.that(second.prompt == known[: len(second.prompt)], f"turn {number}: the sampled ids have what was written")
        checks.equal(json.loads(message["tool_calls"][0]["function"]["arguments"]), {"at": "Köln"}, f"turn {number}")
        body["messages"] += [message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "dust"}]
    checks.that(thinker.written()[1].startswith("Hm. Hm. Hm"), "the reasoning of the last turn")
    checks.equal(gateway.metric("parlance_prefix_breaks_total"), 0, "prefix breaks")


def at_once(engine: Engine, text: str, length: bool = True) -> Reply:
    """A whole answer in one piece, ended by a limit of tokens."""
    ids = engine.vocabulary.encode(text)
    events: list[dict[str, Any]] = [{"index": 0, "content": "", "tokens": [one], "stop": False} for one in ids]
    events.append(
        {"index": 0, "content": "", "tokens": [], "stop": True, "stop_type": "limit" if length else "eos", "tokens_predicted": len(ids)}
    )
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return Reply(raw=head.encode() + body)


def pieces_of_the_engine(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """However the engine's bytes come, the reply is the same: here the whole of it at once, with its end."""

    def reply(asked: Asked) -> Reply:
        closed = "</think>" in engine.vocabulary.decode(asked.prompt).rpartition("<think>")[2]
        return Reply("Yes.<_end>") if closed else at_once(engine, "Hm. " * 10)

    for most, wanted in ((100, ("stop", "Yes.")), (22, ("stop", "Yes.")), (12, ("length", None)), (10, ("length", None))):
        engine.script = reply
        engine.asked.clear()
        _, _, answer = gateway.post(
            "/v1/chat/completions", {"model": "mine", "messages": ASKED, "max_tokens": most, "thinking_token_budget": 10}
        )
        choice = answer["choices"][0]
        checks.equal(choice["message"]["reasoning_content"], "Hm. Hm. Hm", f"the reasoning with max_tokens {most}")
        got = (choice["finish_reason"], choice["message"]["content"] or None)
        checks.equal(got, wanted, f"the end with max_tokens {most}: {answer['usage']}")
        first, *second = engine.asked
        for asked in second:
            left = most - (len(asked.prompt) - len(first.prompt))
            checks.equal(asked.body["n_predict"], left, f"tokens that are left of {most}")
    engine.script = lambda asked: at_once(engine, "Hm.\n</think>\n\nYes. No.<_end>behind it")
    for more, content in (({}, "Yes. No."), ({"stop": [" No"]}, "Yes.")):
        _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, **more})
        got = (answer["choices"][0]["finish_reason"], answer["choices"][0]["message"]["content"])
        checks.equal(got, ("stop", content), f"what ended the reply came before the engine's limit: {more}")


def stops_in_what_is_written(gateway: Gateway, engine: Engine, checks: Checks) -> None:
    """A token that ends the reply does so too where the gateway writes it; what ends the reply at its limit leaves nothing to close."""
    thinker = Thinker(engine)
    asked = {"model": "mine", "messages": ASKED, "thinking_token_budget": 10}
    gateway.post("/v1/chat/completions", asked)
    closing = thinker.written()[0][10:]
    for number, stop in enumerate(closing):
        if stop in closing[:number]:
            continue
        Thinker(engine)
        _, _, answer = gateway.post("/v1/chat/completions", {**asked, "stop_token_ids": [stop]})
        choice = answer["choices"][0]
        got = (choice["finish_reason"], choice["message"]["reasoning_content"][:10], choice["message"]["content"] or None)
        checks.equal(got, ("stop", "Hm. Hm. Hm", None), f"token {number} of what closes reasoning ends the reply: {answer}")
        checks.equal(len(engine.asked), 1, f"token {number}: nothing is asked for behind it")
        checks.equal(answer["usage"]["completion_tokens"], 10 + number + 1, f"token {number}: those up to it are of the reply")


def limits_of_prompts(parlance: str, engine: Engine, checks: Checks) -> None:
    """What the reply has so far does not count as prompt."""
    Thinker(engine)
    with Gateway(parlance, engine.url, "--log", "errors", template=FORMAT) as gateway:
        _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "thinking_token_budget": 10})
        size = answer["usage"]["prompt_tokens"]
    with Gateway(parlance, engine.url, "--max-prompt-tokens", str(size), "--log", "errors", template=FORMAT) as gateway:
        status, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, "thinking_token_budget": 10})
        checks.equal((status, answer.get("choices", [{}])[0].get("message", {}).get("content")), (200, "Yes."), f"at the limit: {answer}")


def limit_of_the_server(parlance: str, engine: Engine, checks: Checks) -> None:
    with Gateway(parlance, engine.url, "--max-reasoning-tokens", "6", "--log", "errors", template=FORMAT) as gateway:
        for asked, size in (({}, 6), ({"thinking_token_budget": 50}, 6), ({"thinking_token_budget": 3}, 3)):
            Thinker(engine)
            _, _, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": ASKED, **asked})
            checks.equal(
                answer["choices"][0]["message"]["reasoning_content"], "Hm. Hm"[:size].rstrip(), f"--max-reasoning-tokens 6, {asked}"
            )


def agent(parlance: str, engine: Engine, checks: Checks) -> None:
    """The limit holds for each turn of an agent, not for its first alone."""
    answers = iter(
        ('<tool_call>\n{"name": "terminal", "arguments": {"command": "true"}}\n</tool_call><_end>', "Done.<_end>", "Done.<_end>")
    )
    engine.asked.clear()

    def reply(asked: Asked) -> Reply:
        closed = "</think>" in engine.vocabulary.decode(asked.prompt).rpartition("<think>")[2]
        return Reply(next(answers)) if closed else Reply("Hm. " * 200)

    engine.script = reply
    with tempfile.TemporaryDirectory() as folder:
        command = [
            parlance,
            "agent",
            *FORMAT,
            "--tokenizer",
            str(TOKENIZER),
            "--backend",
            f"llama-server={engine.url}",
            "--workspace",
            folder,
        ]
        options = ["--no-sandbox", "--no-transcript", "--json", "--reasoning-tokens", "10", "--max-turns", "3", "--", "Do it."]
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    replied = [event for event in events if event["event"] == "replied"]
    checks.that(len(replied) >= 2, f"an agent's turns: {done.stdout[-600:]} {done.stderr[-600:]}")
    checks.equal(len(engine.asked), 2 * len(replied), "each turn of an agent is asked for in two parts")
    for event in replied:
        checks.equal(event["message"]["reasoning_content"], "Hm. Hm. Hm", f"reasoning of an agent's turn: {event}")


def captures(parlance: str, engine: Engine, checks: Checks) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder, "--log", "errors", template=FORMAT) as gateway:
            Thinker(engine)
            body = {"model": "mine", "messages": ASKED, "thinking_token_budget": 10, "logprobs": True}
            _, _, answer = gateway.post("/v1/chat/completions", {**body, "parlance": True})
            sampled = answer["parlance"]["sampled_ids"]
        replayed = subprocess.run([parlance, "replay", folder], capture_output=True, text=True)
        checks.equal(replayed.returncode, 0, f"the replay: {replayed.stdout}{replayed.stderr}")
        record = next(json.loads(line) for file in pathlib.Path(folder).glob("*.jsonl") for line in file.open() if '"turn"' in line)
        begin, end = record["written"]
        checks.that(begin == 10 and record["logprobs"][begin:end] == [None] * (end - begin), f"the record: {record['written']}")
        exported = subprocess.run([parlance, "capture", "export", folder], capture_output=True, text=True)
        row = json.loads(exported.stdout.splitlines()[0])
        mask = row["loss_mask"][-len(sampled) :]
        checks.equal((mask[begin - 1], sum(mask[begin:end]), mask[end]), (1, 0, 1), f"what is learnt of the reply: {mask}")


def main() -> int:
    checks = Checks()
    with Engine() as engine:
        with Gateway(sys.argv[1], engine.url, "--log", "errors", template=FORMAT) as gateway:
            for part in (by_each_name, whole_characters, streams_and_choices, pieces_of_the_engine, stops_in_what_is_written):
                part(gateway, engine, checks)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "keeps.jinja"
            file.write_text(KEEPS)
            with Gateway(sys.argv[1], engine.url, "--log", "errors", template=("-t", str(file))) as gateway:
                sessions_with_calls(gateway, engine, checks)
        limit_of_the_server(sys.argv[1], engine, checks)
        limits_of_prompts(sys.argv[1], engine, checks)
        agent(sys.argv[1], engine, checks)
        captures(sys.argv[1], engine, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
