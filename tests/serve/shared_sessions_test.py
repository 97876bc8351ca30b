#!/usr/bin/env python3
"""Several `parlance serve` that share their sessions by Redis, whose server is the real one.

    shared_sessions_test.py PARLANCE [--valkey] [TEST …]

The engine samples its replies byte by byte, so that a prompt that was encoded again would have other ids. Begin reading at main.
"""

from __future__ import annotations

import concurrent.futures
import functools
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from damaged_sessions import garbage
from engine import TOKENIZER, Engine, Reply
from gateway import SKIPPED, Checks, Gateway
from lineages_test import Walk
from redis_server import RedisServer, valkey
from sessions_test import CALL, TOOLS, Talk, user
from shared_world import world


def round_robin(parlance: str, engine: Engine, checks: Checks) -> None:
    """Each turn is another gateway's: it goes on with the sampled ids, and the engine evaluates the new tokens alone."""
    for count in (2, 3):
        with world(parlance, engine, checks) as here:
            gateways = [here.gateway(url=here.redis.network_url if number % 2 else "") for number in range(count)]
            talk = Talk(gateways[0], engine, tools=TOOLS)
            engine.script = lambda asked: Reply(CALL % len(asked.prompt))
            talk.keeps(talk.turn(user("Look <|im_end|> around.")))
            for number in range(50):
                call = talk.answer["choices"][0]["message"]["tool_calls"][0]["id"]
                known = len(talk.seen)
                talk.gateway = gateways[(number + 1) % count]
                asked = talk.turn({"role": "tool", "tool_call_id": call, "content": f"result {number}"})
                checks.that(talk.keeps(asked), f"{count} gateways, turn {number}: the ids before it are kept")
                told = talk.answer["parlance"]
                checks.equal(told["evaluated_tokens"], len(asked.prompt) - known + 1, f"{count} gateways, turn {number}: evaluated tokens")
                checks.equal((told["reused_tokens"], told["prefix_break"]), (known, None), f"{count} gateways, turn {number}: what is told")
            sizes = sorted(here.redis.ask("STRLEN", key) for key in here.redis.keys("parlance:turn:*"))
            checks.equal(len(sizes), 51, "each turn of a session is kept")
            checks.that(sum(sizes[:-1]) < 6 * sizes[-1], f"the last one as a whole, others as what they have beyond that before: {sizes}")
            for kind, most in (("name", 24 * 3600), ("turn", 30 * 3600)):
                lifetimes = [here.redis.ask("TTL", key) for key in here.redis.keys(f"parlance:{kind}:*")]
                checks.that(all(0 < one <= most for one in lifetimes), f"each {kind} ends: {lifetimes[:5]}")
            checks.equal(sum(one.metric("parlance_shared_sessions_kept") for one in gateways), 51.0, "turns in /metrics")
            checks.equal(sum(one.metric("parlance_shared_sessions_refused") for one in gateways), 0.0, "refused values")


def broken_replies(parlance: str, engine: Engine, checks: Checks) -> None:
    """A reply with a call that was cut off: another gateway goes on with what was sampled, by its id and with the whole conversation."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway(), here.gateway()
        tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
        cut = Reply('So <tool_call>\n{"name": "f", "arguments": {"a": ', length=True)
        engine.script = lambda asked: cut
        first = one.post("/v1/responses", {"input": [user("Hi")], "tools": tools})[2]
        before = engine.asked[-1].prompt + engine.vocabulary.encode(cut.text)
        engine.script = lambda asked: Reply()
        ids = [item["call_id"] for item in first["output"] if item["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": id, "output": "r"} for id in ids]
        for asked in ({"input": results, "previous_response_id": first["id"]}, {"input": [user("Hi"), *first["output"], *results]}):
            status, _, answer = other.post("/v1/responses", {**asked, "tools": tools})
            checks.equal(status, 200, f"another gateway goes on: {answer}")
            checks.equal(engine.asked[-1].prompt[: len(before)], before, "with what was sampled")


def deleted(parlance: str, engine: Engine, checks: Checks) -> None:
    """A response that was deleted stays so, also where Redis gives back its turn by the messages."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway(), here.gateway()]
        first = gateways[0].post("/v1/responses", {"input": [user("Hi")]})[2]
        behind = {"input": [user("And?")], "previous_response_id": first["id"]}
        asked = urllib.request.Request(f"{gateways[0].url}/v1/responses/{first['id']}", method="DELETE")
        with urllib.request.urlopen(asked, timeout=20) as answer:
            checks.equal(answer.status, 200, "a response is deleted")
        for number, gateway in enumerate(gateways):
            checks.equal(gateway.post("/v1/responses", behind)[0], 400, f"gateway {number}: it is gone")
            whole = {"input": [user("Hi"), *first["output"], user("And?")]}
            status, headers, _ = gateway.post("/v1/responses", whole)
            checks.that(status == 200 and headers["X-Parlance-Reused-Tokens"] != "0", f"gateway {number}: its conversation goes on")
            checks.equal(gateway.post("/v1/responses", behind)[0], 400, f"gateway {number}: it is still gone")


def what_turns_need_lives(parlance: str, engine: Engine, checks: Checks) -> None:
    """A turn renews what it goes on from, and what that needs: a client may ask for the newest reply again."""
    with world(parlance, engine, checks) as here:
        talk = Talk(here.gateway(), engine)
        for number in range(6):
            if number:
                for key in here.redis.keys("parlance:*"):
                    here.redis.ask("EXPIRE", key, "60")
            before = set(here.redis.keys("parlance:*"))
            talk.keeps(talk.turn(user(f"Question {number}?")))
            turns = {key: here.redis.ask("TTL", key) for key in here.redis.keys("parlance:turn:*")}
            checks.that(all(one > 60 for one in turns.values()), f"turn {number}: all turns live as long: {list(turns.values())}")
            names = {key: here.redis.ask("TTL", key) for key in here.redis.keys("parlance:name:*") if key in before}
            renewed = sum(one > 60 for one in names.values())
            checks.that(renewed >= min(number, 1) * 4, f"turn {number}: names of the turn before: {names.values()}")
        seen, messages = talk.seen, talk.request["messages"][:-1]
        again = Talk(here.gateway(), engine)
        again.request["messages"] = messages[:-1]
        asked = again.turn(messages[-1])
        checks.equal(asked.prompt, seen[: len(asked.prompt)], "the newest reply, asked for again at a gateway that has nothing in memory")
        checks.that(again.answer["parlance"]["reused_tokens"] > 0, f"it goes on: {again.answer['parlance']}")


def renewals(parlance: str, engine: Engine, checks: Checks) -> None:
    """A turn renews those before it once in a while: what Redis writes for it does not grow with the conversation."""
    with world(parlance, engine, checks) as here:
        talk = Talk(here.gateway(), engine)

        def renewed_by_a_turn() -> int:
            """The least of two turns: between them all may be due."""
            counts = []
            for _ in range(2):
                here.redis.ask("CONFIG", "RESETSTAT")
                talk.keeps(talk.turn(user("And?")))
                told: str = here.redis.ask("INFO", "commandstats").decode()
                counts.append(sum(int(calls) for calls in re.findall(r"^cmdstat_p?expire:calls=(\d+)", told, re.MULTILINE)))
            return min(counts)

        for _ in range(4):
            talk.keeps(talk.turn(user("And?")))
        few = renewed_by_a_turn()
        for _ in range(30):
            talk.keeps(talk.turn(user("And?")))
        many = renewed_by_a_turn()
        checks.that(0 < many <= few, f"what a turn renews behind 5 turns and behind 36: {few}, {many}")
    with world(parlance, engine, checks) as here:  # of a short lifetime, so that all are due several times
        talk = Talk(here.gateway("--session-ttl", "3"), engine)
        for number in range(1, 21):
            begun = time.monotonic()
            talk.keeps(talk.turn(user("And?")))
            left = [here.redis.ask("PTTL", key) for key in here.redis.keys("parlance:turn:*")]
            passed = (time.monotonic() - begun) * 1000
            checks.that(len(left) == number and min(left) + passed > 2900, f"turn {number}: no turn ends before it: {left}, {passed}")
            time.sleep(0.35)


def sizes_of_turns(parlance: str, engine: Engine, checks: Checks) -> None:
    """Replies that the template writes otherwise, and texts that spell control tokens, are kept once, and not with each turn."""
    with world(parlance, engine, checks) as here:
        engine.script = lambda asked: Reply("<think>\nHm?</think>\n" + CALL % len(asked.prompt))  # other blanks than the template's
        gateways = [here.gateway(), here.gateway()]
        talk = Talk(gateways[0], engine, tools=TOOLS)
        talk.keeps(talk.turn(user("Look.")))
        for turn in range(40):
            talk.gateway = gateways[turn // 4 % 2]
            call = talk.request["messages"][-1]["tool_calls"][0]["id"]
            asked = talk.turn({"role": "tool", "tool_call_id": call, "content": "x <|im_end|> y"})
            checks.that(talk.keeps(asked), f"turn {turn}: the ids before it are kept")
        behind = sorted(here.redis.ask("STRLEN", key) for key in here.redis.keys("parlance:turn:*"))[:-2]
        checks.that(behind[-1] < 1.3 * behind[len(behind) // 4], f"no turn has what those before it have: {behind}")


def lineages(parlance: str, engine: Engine, checks: Checks) -> None:
    """The random walk of one gateway's sessions: clients go on, fork and ask again, each time at any of the gateways."""
    for seed in range(2):
        with world(parlance, engine, checks) as here:
            walk = Walk([here.gateway(), here.gateway()], engine, checks, seed)
            for _ in range(120):
                walk.step()
            walk.client.gateways = [here.gateway()]  # one that has nothing in memory
            for _ in range(60):
                walk.step()
            checks.equal(sum(one.metric("parlance_shared_sessions_refused") for one in walk.client.gateways), 0.0, "refused values")


def other_apis(parlance: str, engine: Engine, checks: Checks) -> None:
    """previous_response_id, a named session whose client rewrites its system message, and reasoning that clients drop."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway(), here.gateway()]
        response, known = "", 0
        for turn in range(6):
            body: Any = {"model": "mine", "input": f"Question {turn}?"} | ({"previous_response_id": response} if response else {})
            status, headers, answer = gateways[turn % 2].post("/v1/responses", body)
            checks.equal((status, headers.get("X-Parlance-Reused-Tokens")), (200, str(known)), f"previous_response_id, turn {turn}")
            response, known = answer["id"], int(headers["X-Parlance-Prompt-Tokens"]) + len("Yes, indeed.") + 1
        request = urllib.request.Request(f"{gateways[1].url}/v1/responses/{response}", method="DELETE")
        with urllib.request.urlopen(request, timeout=30) as deleted:
            checks.equal(json.loads(deleted.read())["deleted"], True, "a response is deleted where it was made")
        status, _, answer = here.gateway().post("/v1/responses", {"model": "mine", "input": "?", "previous_response_id": response})
        checks.equal((status, answer["error"]["code"]), (400, "previous_response_not_found"), "a deleted response at another gateway")
        status, _, answer = gateways[0].post("/v1/responses", {"model": "mine", "input": "?", "previous_response_id": "resp_none"})
        checks.that(status == 400 and "resp_none" in answer["error"]["message"], f"a response that nobody knows: {answer}")
        engine.script = lambda asked: Reply("<think>\nHm?\n</think>\n\n" + CALL % 7)
        talk = Talk(gateways[0], engine, tools=TOOLS)
        talk.keeps(talk.turn(user("Look.")))
        for gateway in (gateways[1], gateways[0]):
            message = talk.request["messages"][-1]
            message.pop("reasoning_content", None)
            message.pop("reasoning", None)
            talk.gateway = gateway
            checks.that(
                talk.keeps(talk.turn({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "x"})), "reasoning"
            )
        engine.script = lambda asked: Reply("<think>\nHm?</think>\n" + CALL % len(asked.prompt))  # other blanks than the template's
        talk = Talk(gateways[0], engine, tools=TOOLS)
        talk.keeps(talk.turn(user("Look.")))
        for turn in range(6):
            talk.gateway = gateways[(turn // 2 + 1) % 2]
            call = talk.request["messages"][-1]["tool_calls"][0]["id"]
            checks.that(talk.keeps(talk.turn({"role": "tool", "tool_call_id": call, "content": "x"})), f"other blanks, turn {turn}")


def items_of_others(parlance: str, engine: Engine, checks: Checks) -> None:
    """Items that another gateway gave, by their ids: the prompt is that of the items themselves."""
    tools: Any = [{"type": "function", **TOOLS[0]["function"]}, {"type": "custom", "name": "run"}]
    calls = (CALL % 7, CALL % 8, '<tool_call>\n{"name": "run", "arguments": {"input": "ls \\"x\\""}}\n</tool_call><|im_end|>')
    with world(parlance, engine, checks) as here:
        first, others = here.gateway(), [here.gateway("--log", "requests"), here.gateway("--log", "requests")]
        for before in ("<think>\nHm?\n</think>\n\nLook.\n", "<think>\nHm?\n</think>\n\n", "Look.\n", ""):
            for sampled in (calls[0], calls[2], calls[0].removesuffix("<|im_end|>") + "\n" + calls[1]):
                engine.script = lambda asked, text=before + sampled: Reply(text)  # type: ignore[misc]
                question: Any = {"role": "user", "content": f"Look {before!r} {sampled!r}."}
                _, _, answer = first.post("/v1/responses", {"model": "mine", "input": [question], "tools": tools})
                engine.script = lambda asked: Reply("Yes, indeed.<|im_end|>")
                kept: Any = answer["output"]
                results = [{"type": one["type"] + "_output", "call_id": one["call_id"], "output": "x"} for one in kept if "call_id" in one]
                checks.that(results, f"calls of {before + sampled!r}: {kept}")
                prompts = []
                names: Any = [{"type": "item_reference", "id": item["id"]} for item in kept]
                for gateway, items in ((first, names), (first, kept), (others[0], kept), (others[0], names), (others[1], names)):
                    body = {"model": "mine", "input": [question, *items, *results], "tools": tools}
                    status, _, answer = gateway.post("/v1/responses", body)
                    checks.equal(status, 200, f"{before + sampled!r}: {answer}")
                    prompts.append(engine.asked[-1].prompt)
                checks.equal(len({tuple(one) for one in prompts}), 1, f"prompts of items by their ids: {before + sampled!r}")
        lost: Any = {"type": "item_reference", "id": "rs_resp_none_0"}
        answered = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
        body = {"model": "mine", "input": [question, lost, answered, question], "parlance": True}
        status, _, answer = others[1].post("/v1/responses", body)
        told = [(loss["kind"], loss["path"]) for loss in answer.get("parlance", {}).get("losses", [])]
        checks.equal((status, told), (200, [("message", "input[1]")]), f"reasoning that nobody knows: {answer}")
        prompts = [engine.asked[-1].prompt]
        others[1].post("/v1/responses", {**body, "input": [question, answered, question]})
        checks.equal(engine.asked[-1].prompt, prompts[0], "the prompt without that reasoning")
        for wrong in ("msg_resp_none_0", "rs_none", "fc_" + kept[0]["id"].split("_", 1)[1].rsplit("_", 1)[0] + "_9"):
            status, _, answer = others[1].post("/v1/responses", {**body, "input": [question, {"type": "item_reference", "id": wrong}]})
            checks.equal((status, answer["error"]["param"]), (400, "input[1].id"), f"{wrong}: {answer}")
        # Text behind a call is numbered behind it, which nobody knows any more: no other item is taken for the one that is named.
        engine.script = lambda asked: Reply(calls[0].removesuffix("<|im_end|>") + "\nThere." + "<|im_end|>")
        _, _, answer = first.post("/v1/responses", {"model": "mine", "input": [question], "tools": tools})
        kinds = [item["type"] for item in answer["output"]]
        for item in answer["output"] if kinds == ["function_call", "message"] else []:
            named = {"model": "mine", "input": [question, {"type": "item_reference", "id": item["id"]}, question], "tools": tools}
            checks.equal(others[0].post("/v1/responses", named)[0], 400, f"an item of a reply whose order is not known: {item}")


def rewritten(parlance: str, engine: Engine, checks: Checks) -> None:
    """A line that changes breaks the prefix at another gateway too, and is explained there; the session keeps its name."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway(), here.gateway()]
        for headers in ({"x-session-id": "mine"}, None):
            talk = Talk(gateways[0], engine)
            talk.turn({"role": "system", "content": "billing 1\nBe short."}, user(f"One, {headers}?"), headers=headers)
            name = talk.headers["X-Session-Id"]
            talk.gateway = gateways[1]
            talk.request["messages"][0]["content"] = "billing 2\nBe short."
            talk.turn(user("Two?"), headers=headers)
            told = talk.answer["parlance"]["prefix_break"]
            checks.that(told and told["volatile_line"] and told["lost"] > 0, f"a volatile line at another gateway: {told}")
            checks.equal(talk.headers["X-Session-Id"], name, "the session")


def branches(parlance: str, engine: Engine, checks: Checks) -> None:
    """Two gateways go on from one reply at a time; each branch goes on at the other one."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway("--threads", "1"), here.gateway("--threads", "1")]
        for trial in range(5):
            trunk = Talk(gateways[trial % 2], engine)
            trunk.turn(user(f"Trial {trial}?"), headers={"x-session-id": f"trial {trial}"})
            talks = [Client(gateways[number], f"branch {number}", f"trial {trial}", list(trunk.request["messages"])) for number in range(2)]
            run_at_once([functools.partial(talk.turns, 1) for talk in talks])
            for rounds in range(4):
                for number, talk in enumerate(talks):
                    talk.gateway = gateways[(number + rounds + 1) % 2]
                run_at_once([functools.partial(talk.turns, 1) for talk in talks])
            for talk in talks:
                checks.equal((len(talk.acknowledged), talk.breaks), (5, []), f"trial {trial}: {talk.name}")


def later_reply(parlance: str, engine: Engine, checks: Checks) -> None:
    """A gateway that is slow with an earlier turn does not make it the last reply of its session."""
    with world(parlance, engine, checks) as here:
        fast, slow = here.gateway(), here.gateway()
        named = {"x-session-id": "one"}
        talk = Talk(fast, engine)
        talk.turn(user("One?"), headers=named)
        again = Talk(slow, engine, messages=list(talk.request["messages"]))
        entered, leave = threading.Event(), threading.Event()

        def wait(asked: Any) -> Reply:
            if "slowly" in engine.vocabulary.decode(asked.prompt):
                entered.set()
                leave.wait(20)
            return Reply("Yes, indeed.<|im_end|>")

        engine.script = wait
        thread = threading.Thread(target=lambda: again.turn(user("Two, slowly?"), headers=named))
        thread.start()
        entered.wait(20)
        for text in ("Two?", "Three?", "Four?"):
            talk.turn(user(text), headers=named)
        last = [value for key in here.redis.keys("parlance:name:*") if (value := here.redis.ask("GET", key)).startswith(b"4 ")]
        leave.set()
        thread.join()
        behind = [here.redis.ask("GET", key) for key in here.redis.keys("parlance:name:*")]
        checks.that(len(last) == 1 and last[0] in behind, "the last reply of a session stays the last one")
        fresh = Talk(fast, engine)
        fresh.turn(user("Anew?"), headers=named)
        values = [here.redis.ask("GET", key) for key in here.redis.keys("parlance:name:*")]
        checks.that(last[0] not in values, "a conversation that begins anew under the same name")


class Client:
    """A client that goes on and on, and knows what was acknowledged."""

    def __init__(self, gateway: Gateway, name: str, session: str = "", messages: list[Any] | None = None, stream: bool = False) -> None:
        self.gateway, self.name, self.session, self.stream = gateway, name, session or name, stream
        self.messages: list[Any] = list(messages or [])
        self.acknowledged: list[Any] = []  # the member `parlance` of each answer
        self.errors: list[Any] = []  # status and code of refusals
        self.breaks: list[Any] = []
        self.lost = False  # the gateway is gone

    def turn(self) -> bool:
        body = {
            "model": "mine",
            "messages": [*self.messages, user(f"{self.name}, {len(self.acknowledged)}?")],
            "parlance": True,
            "stream": self.stream,
        }
        headers = {"Content-Type": "application/json", "x-session-id": self.session}
        request = urllib.request.Request(self.gateway.url + "/v1/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            self.errors.append((error.code, json.loads(error.read())["error"]["code"]))
            return False
        except (OSError, ValueError, http.client.HTTPException):
            self.lost = True
            return False
        return self.take(text, body["messages"])

    def take(self, text: str, messages: Any) -> bool:
        content, told = "Yes, indeed.", None
        if self.stream:
            events = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
            failed = [event["error"] for event in events if "error" in event]
            told = next((event["parlance"] for event in events if "parlance" in event), None)
            if failed or told is None or "data: [DONE]" not in text:
                self.errors += [(200, one["code"]) for one in failed]
                self.lost = self.lost or not failed
                return False
        else:
            told = json.loads(text)["parlance"]
        if self.acknowledged:
            last = self.acknowledged[-1]
            if told["reused_tokens"] != last["prompt_tokens"] + len(last["sampled_ids"]):
                self.breaks.append((len(self.acknowledged), told))
        self.acknowledged.append(told)
        self.messages = [*messages, {"role": "assistant", "content": content}]
        return True

    def turns(self, most: int) -> None:
        for _ in range(most):
            if not self.turn():
                return


def run_at_once(all_of_them: list[Any]) -> None:
    threads = [threading.Thread(target=one) for one in all_of_them]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until something holds, or for so long."""
    ends = time.monotonic() + seconds
    while not holds() and time.monotonic() < ends:
        time.sleep(0.02)


def notices(gateway: Gateway) -> None:
    """Waits until the gateway has noticed that Redis is back: once a second it looks."""
    until(lambda: json.loads(gateway.get("/ready")[1]).get("sessions") == "shared")


def under_load(clients: list[Client], then: Any) -> None:
    """Each client goes on until it is refused or its gateway is gone; `then` comes after some dozens of turns."""
    threads = [threading.Thread(target=client.turns, args=(100_000,)) for client in clients]
    for one in threads:
        one.start()
    until(lambda: sum(len(client.acknowledged) for client in clients) > 60)
    then()
    for one in threads:
        one.join()


def goes_on(client: Client, engine: Engine, checks: Checks, what: str) -> None:
    """One more turn: its prompt has the ids that were sampled in the last acknowledged one."""
    client.errors, client.breaks = [], []
    last, turns = client.acknowledged[-1], len(client.acknowledged)
    engine.asked.clear()
    client.turn()
    checks.equal((len(client.acknowledged), client.breaks, client.errors), (turns + 1, [], []), f"{what}: {client.name} goes on")
    begin = last["prompt_tokens"]
    sampled = engine.asked[-1].prompt[begin : begin + len(last["sampled_ids"])] if engine.asked else []
    checks.equal(sampled, last["sampled_ids"], f"{what}: the ids of {client.name}")


def gateway_killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 of a gateway under load: every acknowledged turn goes on at the other one."""
    with world(parlance, engine, checks) as here:
        stays = here.gateway("--log", "errors")
        for trial in range(2):
            goes = here.gateway("--log", "errors")
            clients = [Client(goes, f"client {trial} {number}", stream=number % 2 == 0) for number in range(8)]
            under_load(clients, functools.partial(goes.end, signal.SIGKILL))
            checks.that(sum(len(client.acknowledged) for client in clients) > 30, "acknowledged turns before kill -9 of a gateway")
            checks.equal([client.breaks for client in clients if client.breaks], [], "breaks before kill -9")
            for client in clients:
                client.gateway = stays
                goes_on(client, engine, checks, "kill -9 of a gateway")


def redis_killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 of Redis under load: what was acknowledged is in its append-only file, what was not has a typed error."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway("--log", "errors"), here.gateway("--log", "errors")]
        for trial in range(3):
            clients = [Client(gateways[number % 2], f"client {trial} {number}", stream=number % 3 == 0) for number in range(8)]
            under_load(clients, lambda: here.redis.signal(signal.SIGKILL))
            checks.that(sum(len(client.acknowledged) for client in clients) > 30, "acknowledged turns before kill -9 of Redis")
            errors = [error for client in clients for error in client.errors]
            checks.equal(len(errors), len(clients), f"each client is refused: {errors}")
            checks.that(
                all(one in ((503, "session_store_failed"), (200, "session_store_failed")) for one in errors), f"typed errors: {errors}"
            )
            status, said = gateways[0].get("/ready")
            checks.that(status == 503 and "shared sessions" in said, f"/ready without Redis: {said}")
            here.redis.start()
            fresh = here.gateway("--log", "errors")
            for number, client in enumerate(clients):
                client.gateway = fresh if number % 2 else gateways[(number // 2 + 1) % 2]
                goes_on_again(client, engine, checks, f"kill -9 of Redis, trial {trial}")
            checks.equal(gateways[0].get("/ready")[0], 200, "/ready once Redis is back")


def goes_on_again(client: Client, engine: Engine, checks: Checks, what: str) -> None:
    """Redis has just been started."""
    notices(client.gateway)
    goes_on(client, engine, checks, what)


def redis_hangs(parlance: str, engine: Engine, checks: Checks) -> None:
    """A Redis that was stopped: a typed error in a bounded time, for many at once too; then all goes on."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway("--log", "errors"), here.gateway("--log", "errors")
        clients = [Client(one, f"client {number}") for number in range(24)]
        run_at_once([functools.partial(client.turns, 2) for client in clients])
        for number, client in enumerate(clients):
            client.gateway = (one, other)[number % 2]
        here.redis.signal(signal.SIGSTOP)
        begun = time.monotonic()
        run_at_once([client.turn for client in clients])
        seconds = time.monotonic() - begun
        checks.that(seconds < 8, f"many requests while Redis hangs took {seconds:.1f} s")
        errors = {error for client in clients for error in client.errors}
        checks.equal(errors, {(503, "session_store_failed")}, "errors while Redis hangs")
        begun = time.monotonic()
        checks.equal(one.get("/health")[0], 200, "/health while Redis hangs")
        # A turn waits for Redis for 2 s.
        checks.that(time.monotonic() - begun < 1.9, "a gateway answers what needs no Redis at once")
        here.redis.signal(signal.SIGCONT)
        notices(one)
        notices(other)
        for client in clients:
            goes_on(client, engine, checks, "a Redis that hung")


def optional(parlance: str, engine: Engine, checks: Checks) -> None:
    """--sessions-optional: turns are answered without Redis, go on from memory, and /ready says so."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--sessions-optional")
        client = Client(gateway, "client")
        client.turns(3)
        here.redis.signal(signal.SIGKILL)
        for _ in range(3):
            goes_on(client, engine, checks, "optional")
        status, said = gateway.get("/ready")
        checks.that(status == 200 and "Redis at" in json.loads(said)["sessions"], f"/ready: {said}")
        checks.that(gateway.metric("parlance_shared_sessions_failures") >= 3, "failures in /metrics")
        here.redis.start()
        notices(gateway)
        goes_on(client, engine, checks, "optional, with Redis again")
        checks.equal(json.loads(gateway.get("/ready")[1]), {"status": "ready", "sessions": "shared"}, "/ready with Redis again")
        client.gateway = here.gateway()
        goes_on(client, engine, checks, "optional, at another gateway")
        events = [line["event"] for line in gateway.end()]
        checks.that({"shared_sessions_failure", "session_not_shared", "shared_sessions_back"} <= set(events), f"the log: {set(events)}")


def apart(parlance: str, engine: Engine, checks: Checks) -> None:
    """Nobody goes on from another client's conversation, nor by another template, tokenizer, name or protection."""
    with world(parlance, engine, checks) as here:
        one = here.gateway()
        talk = Talk(one, engine)
        talk.turn(user("A secret?"), headers={"Authorization": "Bearer one", "x-session-id": "s"})
        status, _, response = one.post("/v1/responses", {"input": "A secret?"}, {"Authorization": "Bearer one"})
        asked = {"messages": [*talk.request["messages"], user("And?")]}
        other = here.gateway()
        for key, reused in (("two", False), ("", False), ("one", True)):
            headers = {"Authorization": f"Bearer {key}", "x-session-id": "s"} if key else {"x-session-id": "s"}
            status, got, _ = other.post("/v1/chat/completions", asked, headers)
            checks.equal((status, int(got["X-Parlance-Reused-Tokens"]) > 0), (200, reused), f"the key {key or 'of nobody'}")
            status, _, _ = other.post("/v1/responses", {"input": "And?", "previous_response_id": response["id"]}, headers)
            checks.equal(status, 200 if reused else 400, f"previous_response_id with the key {key or 'of nobody'}")
        stored = b"".join(here.redis.ask("GET", key) for key in here.redis.keys("parlance:*"))
        checks.that(b"Bearer" not in stored and b"secret" in stored, "keys of clients are not in Redis")
        same = {"Authorization": "Bearer one", "x-session-id": "s"}
        others: Any = {"template": {"template": ("-f", "chatml")}, "name": {"model": "other"}}
        for what, options in others.items():
            status, got, _ = here.gateway(**options).post("/v1/chat/completions", asked, same)
            checks.equal((status, got["X-Parlance-Reused-Tokens"]), (200, "0"), f"a gateway with another {what}")
        status, got, _ = here.gateway("--no-protect").post("/v1/chat/completions", asked, same)
        checks.equal((status, got["X-Parlance-Reused-Tokens"]), (200, "0"), "a gateway that does not protect")
        with tempfile.TemporaryDirectory() as folder:
            for file in TOKENIZER.iterdir():
                text = file.read_text(encoding="utf-8")
                (pathlib.Path(folder) / file.name).write_text(text.replace('"<|im_start|>"', '"<|im_begin|>"'), encoding="utf-8")
            status, got, _ = here.gateway(tokenizer=folder).post("/v1/chat/completions", asked, same)
            checks.equal((status, got["X-Parlance-Reused-Tokens"]), (200, "0"), "a gateway with another tokenizer")
        status, got, _ = here.gateway().post("/v1/chat/completions", asked, same)
        checks.that(int(got["X-Parlance-Reused-Tokens"]) > 0, "a gateway that was started anew")


# Settings of Redis, and what the gateway warns of.
UNSAFE = {
    ("--appendfsync", "everysec"): "last second",
    ("--appendonly", "no"): "append-only",
    ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"): "noeviction",
    ("--rename-command", "CONFIG", ""): "CONFIG",
    (): "",
}


def starts(parlance: str, engine: Engine, checks: Checks) -> None:
    """Passwords, settings that are not safe, and addresses where nobody is."""
    with world(parlance, engine, checks, "--requirepass", "a secret word") as here, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "password"
        file.write_text("a secret word\n")
        gateway = here.gateway("--sessions-password-file", str(file))
        checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, "a password")
        checks.that("a secret word" not in json.dumps(gateway.end()), "passwords are not in the log")
        encoded = f"redis://:a%20secret%20word@127.0.0.1:{here.redis.port}/3"
        gateway = here.gateway(url=encoded)
        checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, "a password in the URL, another database")
        gateway.end()
        for url, said in (
            (here.redis.url, "NOAUTH"), (f"redis://:wrong@127.0.0.1:{here.redis.port}", "WRONGPASS"), ("redis://127.0.0.1:1", "refused"),
            ("unix:///nowhere/redis.sock", "No such file"), ("rediss://127.0.0.1:1", "TLS"), ("http://127.0.0.1", "redis://"),
            (f"{encoded}x", "database"), ("redis://127.0.0.1:x", "port"), ("redis://", "host"),
        ):  # fmt: skip
            command = [parlance, "serve", "-f", "terminal-agent", "--tokenizer", str(TOKENIZER), "--port", "0", "--sessions", url]
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            checks.that(done.returncode != 0 and said in done.stderr, f"{url}: {done.returncode}, {done.stderr[:300]}")
            checks.that("wrong" not in done.stderr and "secret" not in done.stderr, f"{url}: no password is said")
    for options, said in UNSAFE.items():
        with world(parlance, engine, checks, *options) as here:
            gateway = here.gateway()
            checks.equal(gateway.post("/v1/chat/completions", {"messages": [user("Hi")]})[0], 200, f"{options}: a turn")
            if options == ("--appendfsync", "everysec") and isinstance(here.redis.ask("WAITAOF", "0", "0", "1"), list):
                stats: bytes = here.redis.ask("INFO", "commandstats")
                calls = int(stats.split(b"cmdstat_waitaof:calls=")[1].split(b",")[0])
                checks.equal(calls, 3, "the gateway waits for the disk with each turn")
                said = ""
            warned = [line["message"] for line in gateway.end() if line["event"] == "shared_sessions_unsafe"]
            checks.that([said in one for one in warned] == ([True] if said else []), f"{options}: {warned}")


def refuses_writes(parlance: str, engine: Engine, checks: Checks) -> None:
    """A Redis that answers and yet takes nothing, since its memory is full."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--log", "errors")
        client = Client(gateway, "client")
        client.turns(2)
        here.redis.ask("CONFIG", "SET", "maxmemory", "1")
        client.turns(1)
        asked = len(engine.asked)
        client.turns(1)
        checks.equal(client.errors, [(503, "session_store_failed")] * 2, "a full Redis")
        checks.equal(len(engine.asked), asked, "the engine is not asked in vain again")
        here.redis.ask("CONFIG", "SET", "maxmemory", "0")
        notices(gateway)
        goes_on(client, engine, checks, "a Redis with room again")


def reloaded(parlance: str, engine: Engine, checks: Checks) -> None:
    """SIGHUP leaves shared sessions as they are; with another template they begin anew, and at the other gateway they go on."""
    source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\\n' }}"
    with world(parlance, engine, checks) as here, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "chat.jinja"
        file.write_text(source)
        gateways = [here.gateway(template=("-t", str(file))) for _ in range(2)]
        clients = [Client(gateways[0], f"client {number}") for number in range(2)]
        for client in clients:
            client.turns(2)
        checks.equal(gateways[0].reload()["event"], "reloaded", "a reload")
        goes_on(clients[0], engine, checks, "behind a reload")
        file.write_text("Now: " + source)
        checks.equal(gateways[0].reload()["event"], "reloaded", "a reload with another template")
        clients[0].turn()
        checks.that(engine.vocabulary.decode(engine.asked[-1].prompt).startswith("Now: "), "the new template counts")
        checks.equal((len(clients[0].acknowledged), clients[0].errors), (4, []), "a turn with another template")
        clients[1].gateway = gateways[1]
        goes_on(clients[1], engine, checks, "a gateway that was not told to reload")


def captured(parlance: str, engine: Engine, checks: Checks) -> None:
    """Gateways that also capture, each in a folder of its own: together the records are whole. Clients that leave meanwhile have one."""
    with world(parlance, engine, checks) as here, tempfile.TemporaryDirectory() as folder:
        folders = [f"{folder}/{number}" for number in range(2)]
        gateways = [here.gateway("--capture", one, "--log", "errors") for one in folders]
        client = Client(gateways[0], "client")
        for turn in range(6):
            client.gateway = gateways[turn % 2]
            client.turns(1)
        checks.equal((len(client.acknowledged), client.breaks), (6, []), "turns that are captured")
        here.redis.signal(signal.SIGSTOP)
        for number in range(4):
            body = json.dumps({"messages": [user(f"I leave, {number}.")], "stream": number % 2 == 0}).encode()
            leaving = http.client.HTTPConnection(gateways[0].url.removeprefix("http://"))
            leaving.request("POST", "/v1/chat/completions", body)
            time.sleep(0.2)
            leaving.close()
        time.sleep(0.3)
        here.redis.signal(signal.SIGCONT)
        notices(gateways[0])
        goes_on(client, engine, checks, "behind clients that left")
        for gateway in gateways:
            gateway.end()
        lines = [line for one in folders for file in sorted(pathlib.Path(one).glob("*.jsonl")) for line in file.read_text().splitlines()]
        turns = [record for record in map(json.loads, lines) if record["record"] == "turn"]
        answered = sum(record["status"] == "answered" for record in turns)
        checks.that(answered >= 7 and len(turns) >= 8, f"records: {[record['status'] for record in turns]}")
        done = subprocess.run([parlance, "replay", *folders], capture_output=True, text=True, timeout=60)
        checks.that(done.returncode == 0 and " 0 records differ" in done.stdout + done.stderr, f"replay: {done.stdout}{done.stderr}")


TESTS = (  # the longest first
    redis_killed,
    redis_hangs,
    round_robin,
    broken_replies,
    deleted,
    lineages,
    other_apis,
    items_of_others,
    what_turns_need_lives,
    renewals,
    sizes_of_turns,
    rewritten,
    branches,
    later_reply,
    gateway_killed,
    optional,
    garbage,
    apart,
    starts,
    refuses_writes,
    reloaded,
    captured,
)


def main() -> int:
    names = [name for name in sys.argv[2:] if name != "--valkey"]
    if "--valkey" in sys.argv:
        RedisServer.program = valkey()
    if RedisServer.program is None:
        print("skipped: there is no redis-server (tools/setup.sh test installs one), or no Valkey")
        return SKIPPED
    checks = Checks()

    def run(test: Callable[[str, Engine, Checks], None]) -> None:
        begun = time.monotonic()
        with Engine() as engine:
            test(sys.argv[1], engine, checks)
        print(f"{test.__name__}: {time.monotonic() - begun:.1f} s")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # much of it is waiting
        for done in [pool.submit(run, test) for test in TESTS if not names or test.__name__ in names]:
            done.result()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
