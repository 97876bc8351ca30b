#!/usr/bin/env python3
"""Several `parlance serve` that share their sessions by Redis, whose server is the real one.

    shared_sessions_test.py PARLANCE [--valkey] [TEST …]

What goes wrong with them: shared_failures_test.py. The engine samples its replies byte by byte, so that a prompt that was encoded again
would have other ids. Begin reading at TESTS.
"""

from __future__ import annotations

import functools
import json
import pathlib
import re
import sys
import tempfile
import threading
import time
import urllib.request
from typing import Any

from engine import TOKENIZER, Engine, Reply
from gateway import Checks
from lineages_test import Walk
from sessions_test import CALL, TOOLS, Talk, user
from shared_clients import Client, run_at_once
from shared_world import World, run_tests, world


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
                checks.each(lifetimes, lambda one, most=most: 0 < one <= most, f"each {kind} ends")
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
            checks.each(turns.values(), lambda one: one > 60, f"turn {number}: all turns live as long")
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


def forget_answers(here: World) -> None:
    """As after their time, or behind `store: false`: what is left are the turns."""
    if places := here.redis.keys("parlance:response:*"):
        here.redis.ask("DEL", *places)


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
                    if gateway is others[1]:
                        forget_answers(here)
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
        # Text behind a call is numbered behind it, which nobody knows once the answer is stored no more: no other item is taken for the
        # one that is named.
        engine.script = lambda asked: Reply(calls[0].removesuffix("<|im_end|>") + "\nThere." + "<|im_end|>")
        _, _, answer = first.post("/v1/responses", {"model": "mine", "input": [question], "tools": tools})
        kinds = [item["type"] for item in answer["output"]]
        checks.equal(kinds, ["function_call", "message"], "items of a reply with text behind its call")
        for status in (200, 400):
            for item in answer["output"]:
                named = {"model": "mine", "input": [question, {"type": "item_reference", "id": item["id"]}, question], "tools": tools}
                checks.equal(others[0].post("/v1/responses", named)[0], status, f"an item of a reply whose order is not known: {item}")
            forget_answers(here)


def items_of_clients_tools(parlance: str, engine: Engine, checks: Checks) -> None:
    """Calls of tools that the client runs are items of their own, also by the ids that another gateway gave them."""
    kinds: Any = {
        "local_shell": ({"command": ["ls"], "timeout_ms": 5}, "x"),
        "shell": ({"commands": ["ls", "pwd"]}, [{"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]),
        "apply_patch": ({"operation": {"type": "create_file", "path": "a", "diff": "+x"}}, "x"),
        "tool_search": ({"query": "x"}, [{"type": "function", "name": "found"}]),
    }
    question = user("Look.")
    with world(parlance, engine, checks) as here:
        first, other, last = here.gateway(), here.gateway(), here.gateway()
        for name, (arguments, output) in kinds.items():
            call = f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'
            own: Any = {"type": name} | ({"execution": "client"} if name == "tool_search" else {})
            for tool, kind in ((own, f"{name}_call"), ({"type": "function", "name": name}, "function_call")):
                for before in ("", "<think>\nHm?\n</think>\n\nLook.\n"):
                    engine.script = lambda asked, text=f"{before}{call}<|im_end|>": Reply(text)  # type: ignore[misc]
                    _, _, answer = first.post("/v1/responses", {"input": [question], "tools": [tool]})
                    engine.script = lambda asked: Reply("Yes, indeed.<|im_end|>")
                    kept = answer["output"]
                    checks.equal(kept[-1]["type"], kind, f"the call of {tool}")
                    result = {"type": f"{kind}_output", "call_id": kept[-1]["call_id"], "output": output if kind == f"{name}_call" else "x"}
                    if kind == "tool_search_call":
                        result = {"type": "tool_search_output", "call_id": kept[-1]["call_id"], "tools": output}
                    prompts = []
                    names = [{"type": "item_reference", "id": item["id"]} for item in kept]
                    for gateway, items in ((first, kept), (other, names), (last, names)):
                        if gateway is last:
                            forget_answers(here)
                        status, _, answer = gateway.post("/v1/responses", {"input": [question, *items, result], "tools": [tool]})
                        checks.equal(status, 200, f"items of {tool} by their ids: {answer}")
                        prompts.append(engine.asked[-1].prompt)
                    checks.equal(prompts, prompts[:1] * 3, f"the prompt of items of {tool} by their ids")


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
        stored = b"".join(here.redis.ask("GET", key) for kind in ("turn", "name") for key in here.redis.keys(f"parlance:{kind}:*"))
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


TESTS = (  # the longest first
    renewals,
    lineages,
    round_robin,
    items_of_others,
    items_of_clients_tools,
    sizes_of_turns,
    broken_replies,
    deleted,
    other_apis,
    what_turns_need_lives,
    rewritten,
    branches,
    later_reply,
    apart,
)


if __name__ == "__main__":
    sys.exit(run_tests(TESTS))
