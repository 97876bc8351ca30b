#!/usr/bin/env python3
"""Turns of equal texts and other sampled ids: each prompt of `parlance serve` goes on from its own lineage's ids.

    lineages_test.py PARLANCE [SEED]

The engine samples a text in any of its spellings. Begin reading at Walk, whose law is that each prompt begins with exactly the ids of the
turn that its request goes on from.
"""

from __future__ import annotations

import dataclasses
import http.client
import json
import random
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Sequence
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway

QUESTIONS = ("yo", "go on")
REPLIES = ("there", "in the other place")
END = "<|im_end|>"


class Speller:
    """Spells texts in random tokens of the vocabulary."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.random = random.Random(seed)
        self.end = engine.vocabulary.encode(END)
        names = set(engine.vocabulary.names)
        self.ids = {text: number for number, text in engine.vocabulary.texts.items() if number not in names}

    def spell(self, text: str) -> list[int]:
        rest, ids = text.encode(), []
        while rest:
            size = self.random.choice([size for size in range(1, len(rest) + 1) if rest[:size] in self.ids])
            ids.append(self.ids[rest[:size]])
            rest = rest[size:]
        return [*ids, *self.end]


@dataclasses.dataclass
class Node:
    """A turn: its messages with the reply, the ids of its prompt and of what was sampled."""

    messages: list[Any]
    ids: list[int]
    response: str  # the id of the answer; "": chat
    session: str  # as the answer's header has it
    parent: Node | None
    named: str = ""


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def said(text: str) -> Any:
    return {"role": "assistant", "content": text}


class Client:
    """Sends turns to gateways, and knows what the engine saw of each."""

    def __init__(self, gateways: Sequence[Gateway], engine: Engine, seed: int) -> None:
        self.gateways, self.engine = gateways, engine
        self.speller = Speller(engine, seed)
        self.random = random.Random(seed)
        self.nodes: list[Node] = []

    def turn(
        self, parent: Node | None, question: str, reply: str, *, session: str = "", response: bool = False, by: Node | None = None
    ) -> tuple[Node, Any, int]:
        """A turn behind `parent`; by the Responses API, whose request has what is new alone, behind the response `by`."""
        sampled = self.speller.spell(reply)
        self.engine.script = lambda asked: Reply(ids=sampled)
        self.engine.asked.clear()
        headers = {"x-session-id": session} if session else None
        messages = [*(parent.messages if parent else []), user(question)]
        gateway = self.random.choice(self.gateways)
        if response:
            body = {"model": "mine", "input": question} | ({"previous_response_id": by.response} if by else {})
            status, told, answer = gateway.post("/v1/responses", body, headers)
        else:
            status, told, answer = gateway.post("/v1/chat/completions", {"model": "mine", "messages": messages}, headers)
        if status != 200:
            raise AssertionError(f"{status}: {answer}")
        prompt = self.engine.asked[-1].prompt
        node = Node([*messages, said(reply)], prompt + sampled, answer["id"] if response else "", told["X-Session-Id"], parent, session)
        self.nodes.append(node)
        return node, prompt, int(told["X-Parlance-Reused-Tokens"])


class Walk:
    """Clients that go on, fork from any turn, ask again, and begin anew, at random."""

    def __init__(self, gateways: Sequence[Gateway], engine: Engine, checks: Checks, seed: int) -> None:
        self.client = Client(gateways, engine, seed)
        self.checks, self.random, self.seed = checks, random.Random(seed), seed
        self.is_one = len(gateways) == 1

    def candidates(self, parent: Node | None, session: str, by: Node | None) -> list[Node]:
        """The turns that the request may mean, the newest first."""
        if by is not None or parent is None:
            return [by] if by else []
        same = [node for node in reversed(self.client.nodes) if node.messages == parent.messages]
        own = [node for node in same if node.named == session]
        return own or same

    def step(self) -> None:
        kind = self.random.choice(("named", "named", "response", "named response", "unnamed"))
        session = self.random.choice(("A", "B", "C", "D")) if kind.startswith("named") else ""
        is_response = kind.endswith("response")
        known = [node for node in self.client.nodes if (node.response if is_response else node.named == session)]
        parent = self.random.choice(known[-6:] if self.random.random() < 0.7 else known) if known and self.random.random() < 0.9 else None
        by = parent if is_response else None
        wanted = self.candidates(parent, session, by)
        question, reply = self.random.choice(QUESTIONS), self.random.choice(REPLIES)
        node, prompt, reused = self.client.turn(parent, question, reply, session=session, response=is_response, by=by)
        if self.is_one:
            del wanted[1:]
        node.parent = wanted[0] if wanted else None
        where = f"seed {self.seed}, turn {len(self.client.nodes)}, {kind} {session}"
        begins = [prompt[: len(node.ids)] == node.ids and reused == len(node.ids) for node in wanted]
        self.checks.that(any(begins) if wanted else reused == 0, f"{where}: the ids of its own lineage; {reused} reused")


def random_walk(parlance: str, engine: Engine, checks: Checks, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder) as gateway:
            walk = Walk([gateway], engine, checks, seed)
            for _ in range(250):
                walk.step()
        replays(parlance, folder, checks, f"seed {seed}")
        rows = exported(parlance, folder, checks)
        nodes = walk.client.nodes
        parents = {id(node.parent) for node in nodes}
        for node in nodes:
            if id(node) in parents:
                continue
            ids = tuple(node.ids)
            checks.that(ids in [tuple(row["ids"]) for row in rows], f"seed {seed}: a row of each lineage")


def exported(parlance: str, folder: str, checks: Checks) -> list[Any]:
    done = subprocess.run([parlance, "capture", "export", folder], capture_output=True, text=True, encoding="utf-8")
    checks.equal((done.returncode, done.stderr), (0, ""), "capture export")
    return [json.loads(line) for line in done.stdout.splitlines()]


def replays(parlance: str, folder: str, checks: Checks, what: str) -> None:
    done = subprocess.run([parlance, "replay", folder], capture_output=True, text=True, encoding="utf-8")
    checks.equal((done.returncode, done.stdout), (0, ""), f"{what}: a replay, {done.stderr[-300:]}")


def chain_of_responses(parlance: str, engine: Engine, checks: Checks) -> None:
    """Each response of a chain can be gone on from, with its own ids; what is not there has OpenAI's code."""
    with Gateway(parlance, engine.url) as gateway:
        client = Client([gateway], engine, 1)
        chain: list[Node] = []
        for number in range(30):
            last = chain[-1] if chain else None
            chain.append(client.turn(last, f"question {number}", f"there {number}", response=True, by=last)[0])
        for node in chain:
            _, prompt, reused = client.turn(node, "fork", "a", response=True, by=node)
            checks.that(prompt[: len(node.ids)] == node.ids and reused == len(node.ids), f"a fork of turn {len(node.messages) // 2}")
        gone = chain[3].response
        status, answer = asked(gateway, "DELETE", f"/v1/responses/{gone}")
        checks.equal((status, answer.get("deleted")), (200, True), "a response is deleted")
        for name in (gone, "resp_none"):
            status, _, answer = gateway.post("/v1/responses", {"model": "mine", "input": "?", "previous_response_id": name})
            told = (status, answer["error"]["code"], answer["error"]["param"])
            checks.equal(told, (400, "previous_response_not_found", "previous_response_id"), "a response that is gone")
        _, prompt, _ = client.turn(chain[9], "fork", "a", response=True, by=chain[9])
        checks.that(prompt[: len(chain[9].ids)] == chain[9].ids, "one behind a response that was deleted")
        _, _, answer = gateway.post("/v1/responses", {"model": "mine", "input": "Hi", "store": False})
        checks.equal(asked(gateway, "DELETE", f"/v1/responses/{answer['id']}")[0], 404, "one that was not stored is not deleted")
        on = gateway.post("/v1/responses", {"model": "mine", "input": "?", "previous_response_id": answer["id"]})
        checks.equal(on[0], 200, "one that was not stored is gone on from")


def asked(gateway: Gateway, method: str, path: str) -> tuple[int, Any]:
    there = http.client.HTTPConnection(urllib.parse.urlparse(gateway.url).netloc, timeout=20)
    there.request(method, path)
    answer = there.getresponse()
    return answer.status, json.loads(answer.read())


def two_who_say_the_same(parlance: str, engine: Engine, checks: Checks) -> None:
    """One goes on twice; the other's first turn is there all the same."""
    with Gateway(parlance, engine.url) as gateway:
        client = Client([gateway], engine, 2)
        for session in (("", ""), ("A", "B")):
            response = session[0] == ""
            first, other = (client.turn(None, "hi", "there", session=one, response=response)[0] for one in session)
            last = first
            for text in ("more", "more yet", "the last"):
                last, prompt, _ = client.turn(last, text, "there", session=session[0], response=response, by=last if response else None)
                checks.that(last.parent is not None and prompt[: len(last.parent.ids)] == last.parent.ids, f"{session}: who goes on")
            _, prompt, reused = client.turn(other, "mine", "a", session=session[1], response=response, by=other if response else None)
            checks.that(prompt[: len(other.ids)] == other.ids and reused == len(other.ids), f"{session}: the other one's turn")


def rollouts(parlance: str, engine: Engine, checks: Checks) -> None:
    """A group with one prompt, whose first replies are the same text: a lineage and a row of training for each."""
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder) as gateway:
            client = Client([gateway], engine, 3)
            last: list[Node | None] = [None] * 4
            for turn in range(5):
                for number, node in enumerate(last):
                    text = "there" if turn < 2 else f"there {number} {turn}"
                    last[number], prompt, _ = client.turn(node, "task" if turn < 2 else f"result {number}", text, session=f"r{number}")
                    checks.that(node is None or prompt[: len(node.ids)] == node.ids, f"rollout {number}, turn {turn}")
        rows = exported(parlance, folder, checks)
        wanted = sorted(node.ids for node in last if node)
        checks.equal(sorted(row["ids"] for row in rows), wanted, "a row of each rollout")
        turns = {row["session"]: sorted({turn for turn in row["turns"] if turn is not None}) for row in rows}
        checks.equal(turns, {f"r{number}": list(range(5)) for number in range(4)}, "each learns all of its turns")
        replays(parlance, folder, checks, "rollouts")


def items_by_name(parlance: str, engine: Engine, checks: Checks) -> None:
    """A request that names items of an answer is recorded with the items, so that a replay needs no gateway that has them."""
    user = [{"type": "message", "role": "user", "content": "Hi"}]
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder) as gateway:
            _, _, first = gateway.post("/v1/responses", {"model": "mine", "input": user})
            names = [{"type": "item_reference", "id": item["id"]} for item in first["output"]]
            asked = {"model": "mine", "input": [*user, *names, {"type": "message", "role": "user", "content": "And?"}]}
            whole = {**asked, "input": [*user, *first["output"], asked["input"][-1]]}
            counts = [gateway.post("/v1/responses/input_tokens", one)[2].get("input_tokens") for one in (asked, whole)]
            checks.that(counts[0] is not None and counts[0] == counts[1], f"tokens of items by their names: {counts}")
            checks.equal(gateway.post("/v1/responses", asked)[0], 200, "items by their names")
        replays(parlance, folder, checks, "items by their names")


def edits(parlance: str, engine: Engine, checks: Checks) -> None:
    """An earlier question is edited: the ids before it stay, named and not; where there is none, nothing is reused."""
    with Gateway(parlance, engine.url) as gateway:
        client = Client([gateway], engine, 4)
        for session in ("mine", ""):
            path: list[Node] = []
            for number in range(12):
                path.append(client.turn(path[-1] if path else None, f"question {number} {session}", "there", session=session)[0])
            for node in path:
                _, prompt, reused = client.turn(node, "edited", "a", session=session)
                keeps = prompt[: len(node.ids)] == node.ids and reused == len(node.ids)
                checks.that(keeps, f"'{session}': an edit behind {len(node.messages)}")


def memory(parlance: str, engine: Engine, checks: Checks) -> None:
    """A conversation of many turns takes little more than its last turns; what is above --max-sessions is dropped."""
    with Gateway(parlance, engine.url, "--max-sessions", "4") as gateway:
        client = Client([gateway], engine, 5)
        node, sizes = None, []
        for number in range(60):
            node, _, _ = client.turn(node, f"question {number} " + "x" * 400, "there", session="long")
            sizes.append(gateway.metric("parlance_conversation_bytes"))
        checks.that(sizes[59] < 4 * sizes[19], f"memory grows with the text: {sizes[19]}, {sizes[39]}, {sizes[59]}")
        for number in range(100):
            client.turn(None, f"other {number}", "there", session=f"s{number}")
        checks.that(gateway.metric("parlance_conversations") <= 4, "conversations in memory")
        checks.that(gateway.metric("parlance_conversation_bytes") < 3 * sizes[59], "their memory")


def choices(parlance: str, engine: Engine, checks: Checks) -> None:
    """Choices of one text and other ids: a request with the text goes on from one of them, and the capture knows which."""
    with tempfile.TemporaryDirectory() as folder:
        with Gateway(parlance, engine.url, "--capture", folder) as gateway:
            speller = Speller(engine, 6)
            engine.script = lambda asked: Reply(ids=speller.spell("in the other place"))
            body: Any = {"model": "mine", "messages": [user("yo")], "n": 4, "parlance": True}
            gateway.post("/v1/chat/completions", body, {"x-session-id": "n"})
            body = {"model": "mine", "messages": [user("yo"), said("in the other place"), user("go")], "parlance": True}
            status, headers, _ = gateway.post("/v1/chat/completions", body, {"x-session-id": "n"})
            checks.that(status == 200 and int(headers["X-Parlance-Reused-Tokens"]) > 0, "behind one of the choices")
        replays(parlance, folder, checks, "choices")
        checks.equal(len(exported(parlance, folder, checks)), 4, "a row of each choice")


def main() -> int:
    checks = Checks()
    parlance = sys.argv[1]
    seeds = [int(sys.argv[2])] if len(sys.argv) > 2 else range(3)
    with Engine() as engine:
        for test in (chain_of_responses, two_who_say_the_same, rollouts, items_by_name, edits, memory, choices):
            test(parlance, engine, checks)
        for seed in seeds:
            random_walk(parlance, engine, checks, seed)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
