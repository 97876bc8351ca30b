#!/usr/bin/env python3
"""Conversations and responses of OpenAI's API that several `parlance serve` share by Redis, whose server is the real one.

    shared_kept_test.py PARLANCE [--valkey] [TEST …]

A client must not notice which gateway it asks. Begin reading at TESTS.
"""

from __future__ import annotations

import itertools
import json
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from typing import Any

from engine import Engine, Reply
from gateway import Checks, Gateway
from sessions_test import user
from shared_clients import notices
from shared_world import run_tests, world

Json = dict[str, Any]


def ask(gateway: Gateway, method: str, path: str, body: Json | None = None, key: str = "", accept: str = "") -> tuple[int, Any]:
    """The status and the answer, whose JSON is read."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    headers |= {"Accept": accept} if accept else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(gateway.url + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
            return answer.status, text if accept else json.loads(text)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def counted(engine: Engine) -> Any:
    """Replies that say how many users have spoken."""
    return lambda asked: Reply(f"Said {engine.vocabulary.decode(asked.prompt).count('<|im_start|>user')}.<|im_end|>")


def responds(gateway: Gateway, conversation: str, text: str, **members: Any) -> tuple[int, Any]:
    return ask(gateway, "POST", "/v1/responses", {"model": "mine", "input": text, "conversation": conversation, **members})


def items_in(gateway: Gateway, conversation: str) -> list[Any]:
    items: list[Any] = []
    query = "order=asc&limit=100"
    while True:
        page = ask(gateway, "GET", f"/v1/conversations/{conversation}/items?{query}")[1]
        items += page["data"]
        if not page["has_more"]:
            return items
        query = f"order=asc&limit=100&after={page['last_id']}"


def text_in(item: Json) -> str:
    content: Any = item["content"]
    return content if isinstance(content, str) else content[0]["text"]


def conversations(parlance: str, engine: Engine, checks: Checks) -> None:
    """Each turn is another gateway's: its prompt is the one that a gateway alone would have, and begins with the ids before it."""
    with world(parlance, engine, checks) as here:
        engine.script = counted(engine)
        alone = Gateway(parlance, engine.url)
        with alone:
            gateways = [here.gateway(), here.gateway()]
            made = ask(gateways[0], "POST", "/v1/conversations", {"metadata": {"topic": "ö"}, "items": [user("My name is Ada.")]})[1]
            same = ask(alone, "POST", "/v1/conversations", {"items": [user("My name is Ada.")]})[1]
            prompts: list[list[int]] = []
            for number in range(8):
                gateway = gateways[number % 2]
                status, answer = responds(gateway, made["id"], f"Question {number}", stream=False, store=number % 3 != 0)
                checks.equal(status, 200, f"turn {number}: {answer}")
                checks.equal(answer["output"][0]["content"][0]["text"], f"Said {number + 2}.", f"turn {number}: what was said")
                prompts.append(engine.asked[-1].prompt)
                responds(alone, same["id"], f"Question {number}")
                checks.equal(engine.asked[-1].prompt, prompts[-1], f"turn {number}: the prompt of a gateway alone")
            for number, (before, behind) in enumerate(itertools.pairwise(prompts)):
                checks.equal(behind[: len(before)], before, f"turn {number + 1} begins with the ids before it")
        lists = [items_in(gateway, made["id"]) for gateway in gateways]
        checks.equal(lists[0], lists[1], "both show the same items")
        checks.equal(len(lists[0]), 17, "all of them")
        told = [ask(gateway, "GET", f"/v1/conversations/{made['id']}")[1] for gateway in gateways]
        checks.equal(told, [made, made], "and the same conversation")
        ask(gateways[0], "POST", f"/v1/conversations/{made['id']}", {"metadata": {"topic": "new"}})
        checks.equal(ask(gateways[1], "GET", f"/v1/conversations/{made['id']}")[1]["metadata"], {"topic": "new"}, "new metadata")
        gone = lists[0][3]["id"]
        checks.equal(ask(gateways[1], "DELETE", f"/v1/conversations/{made['id']}/items/{gone}")[0], 200, "an item is deleted")
        checks.equal([item["id"] for item in items_in(gateways[0], made["id"])], [i["id"] for i in lists[0] if i["id"] != gone], "at both")
        lifetimes = [here.redis.ask("TTL", key) for key in here.redis.keys("parlance:conversation:*")]
        checks.that(len(lifetimes) == 1 and 0 < lifetimes[0] <= 24 * 3600, f"it ends: {lifetimes}")
        checks.equal(ask(gateways[1], "DELETE", f"/v1/conversations/{made['id']}")[0], 200, "it is deleted")
        for number, gateway in enumerate(gateways):
            checks.equal(ask(gateway, "GET", f"/v1/conversations/{made['id']}")[0], 404, f"gateway {number}: it is gone")
            checks.equal(responds(gateway, made["id"], "?")[0], 404, f"gateway {number}: for a turn too")
        checks.equal(here.redis.keys("parlance:conversation:*"), [], "nothing of it is left in Redis")


def at_once(parlance: str, engine: Engine, checks: Checks) -> None:
    """Turns at the same time, at several gateways: each has its question and its answer side by side, and none is lost."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway(), here.gateway(), here.gateway()]
        made = ask(gateways[0], "POST", "/v1/conversations", {})[1]
        failed: list[Any] = []

        def turns(number: int) -> None:
            for turn in range(5):
                status, answer = responds(gateways[number % 3], made["id"], f"{number} {turn}", stream=False)
                if status != 200:
                    failed.append(answer)

        threads = [threading.Thread(target=turns, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        checks.equal(failed, [], "turns that failed")
        items = items_in(gateways[1], made["id"])
        checks.equal([item["role"] for item in items], ["user", "assistant"] * 30, "questions and answers")
        said = sorted(text_in(item) for item in items[::2])
        checks.equal(said, sorted(f"{number} {turn}" for number in range(6) for turn in range(5)), "all questions are there")
        checks.equal(len({item["id"] for item in items}), 60, "each has an id of its own")


def responses(parlance: str, engine: Engine, checks: Checks) -> None:
    """A response is asked for at another gateway: its JSON, its events, its input, its items; and it is deleted there."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway(), here.gateway()
        made = ask(one, "POST", "/v1/responses", {"model": "mine", "input": "Hi"})[1]
        streamed = ask(one, "POST", "/v1/responses", {"model": "mine", "input": "Ho", "stream": True}, accept="*/*")[1]
        id = json.loads(streamed.split("data: ", 1)[1].split("\n", 1)[0])["response"]["id"]
        checks.equal(ask(other, "GET", f"/v1/responses/{made['id']}")[1], made, "a response")
        again = [ask(gateway, "GET", f"/v1/responses/{id}?stream=true", accept="*/*")[1] for gateway in (one, other)]
        checks.equal(again[1], again[0], "the events of a stream")
        said = [[json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")] for text in (streamed, again[1])]
        checks.equal(said[1], said[0], "as they were said")
        items = [ask(gateway, "GET", f"/v1/responses/{id}/input_items")[1] for gateway in (one, other)]
        checks.equal(items[1], items[0], "the input")
        checks.equal(text_in(items[1]["data"][0]), "Ho", "as it was given")
        named = {"model": "mine", "input": [user("Hi"), {"type": "item_reference", "id": made["output"][0]["id"]}, user("And?")]}
        checks.equal(ask(other, "POST", "/v1/responses", named)[0], 200, "an item is named by its id")
        checks.that("indeed.<|im_end|>" in engine.vocabulary.decode(engine.asked[-1].prompt), "and is in the prompt")
        long = ask(one, "POST", "/v1/responses", {"model": "mine", "input": "long " * 20000})[1]
        checks.equal(ask(other, "GET", f"/v1/responses/{long['id']}")[1], long, "a response to a long input")
        status, told = ask(other, "GET", f"/v1/responses/{long['id']}/input_items")
        checks.that(status == 400 and "too long to be shared" in told["error"]["message"], f"whose input is not shared: {told}")
        kept = ask(one, "POST", "/v1/responses", {"model": "mine", "input": "Hi", "store": False})[1]
        checks.equal(ask(other, "GET", f"/v1/responses/{kept['id']}")[0], 404, "store: false")
        checks.equal(ask(other, "POST", f"/v1/responses/{made['id']}/cancel")[0], 400, "it is complete")
        checks.equal(ask(other, "DELETE", f"/v1/responses/{made['id']}")[0], 200, "it is deleted")
        for number, gateway in enumerate((one, other)):
            checks.equal(ask(gateway, "GET", f"/v1/responses/{made['id']}")[0], 404, f"gateway {number}: it is gone")


def owners(parlance: str, engine: Engine, checks: Checks) -> None:
    """Another client's key finds nothing, at no gateway, and keys are not in Redis."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway(), here.gateway()
        made = ask(one, "POST", "/v1/conversations", {"items": [user("A secret")]}, key="the-key-of-one")[1]
        answer = ask(one, "POST", "/v1/responses", {"model": "mine", "input": "A secret"}, key="the-key-of-one")[1]
        for path in (f"/v1/conversations/{made['id']}", f"/v1/conversations/{made['id']}/items", f"/v1/responses/{answer['id']}"):
            for gateway in (one, other):
                checks.equal(ask(gateway, "GET", path, key="the-key-of-two")[0], 404, f"{path} with another key")
                checks.equal(ask(gateway, "GET", path)[0], 404, f"{path} without a key")
                checks.equal(ask(gateway, "GET", path, key="the-key-of-one")[0], 200, f"{path} with its own")
            checks.equal(ask(other, "DELETE", path, key="the-key-of-two")[0], 404, f"{path} is not deleted")
        places = here.redis.keys("parlance:*")
        texts = b"".join(
            b"".join(here.redis.ask("LRANGE", place, "0", "-1")) for place in places if b":turn:" not in place and b":name:" not in place
        )
        checks.that(b"secret" in texts and b"the-key" not in texts + b"".join(places), "keys of clients are not in Redis")


def killed(parlance: str, engine: Engine, checks: Checks) -> None:
    """kill -9 of the gateway that answered, and of Redis: nothing of a conversation is lost, and meanwhile the failure is told."""
    with world(parlance, engine, checks) as here:
        engine.script = counted(engine)
        one, other = here.gateway(), here.gateway()
        made = ask(one, "POST", "/v1/conversations", {})[1]
        for number in range(3):
            responds(one, made["id"], f"Question {number}")
        one.end(signal.SIGKILL)
        here.redis.signal(signal.SIGKILL)
        status, told = ask(other, "GET", f"/v1/conversations/{made['id']}")
        checks.equal((status, told["error"]["code"]), (503, "session_store_failed"), "a conversation without Redis")
        status, told = responds(other, made["id"], "?")
        checks.equal((status, told["error"]["code"]), (503, "session_store_failed"), "a turn without Redis")
        checks.equal(ask(other, "POST", "/v1/conversations", {})[0], 503, "a new conversation without Redis")
        here.redis.start()
        notices(other)
        status, answer = responds(other, made["id"], "Question 3")
        checks.equal((status, answer["output"][0]["content"][0]["text"]), (200, "Said 4."), "it goes on")
        checks.equal(len(items_in(other, made["id"])), 8, "with all of its items")


def optional(parlance: str, engine: Engine, checks: Checks) -> None:
    """--sessions-optional: without Redis, what it did not take is in memory."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--sessions-optional")
        here.redis.signal(signal.SIGKILL)
        status, made = ask(gateway, "POST", "/v1/conversations", {"items": [user("Hi")]})
        checks.equal(status, 200, f"a conversation is made: {made}")
        for number in range(3):
            status, answer = responds(gateway, made["id"], f"Question {number}")
            checks.equal(status, 200, f"turn {number}: {answer}")
            checks.equal(ask(gateway, "GET", f"/v1/responses/{answer['id']}")[1], answer, f"turn {number}: its response")
        checks.equal(len(items_in(gateway, made["id"])), 7, "its items")
        checks.equal(ask(gateway, "DELETE", f"/v1/conversations/{made['id']}")[0], 503, "it would come back")
        here.redis.start()
        notices(gateway)
        other = here.gateway()
        checks.equal(ask(other, "GET", f"/v1/conversations/{made['id']}")[0], 404, "another gateway does not know it yet")
        checks.equal(responds(gateway, made["id"], "Question 3")[0], 200, "it goes on with Redis")
        checks.equal([len(items_in(one, made["id"])) for one in (gateway, other)], [9, 9], "and is whole there")
        ask(other, "POST", f"/v1/conversations/{made['id']}/items", {"items": [user("Ho")]})
        checks.equal(len(items_in(gateway, made["id"])), 10, "what another gateway adds then")
        here.redis.signal(signal.SIGKILL)
        status, answer = responds(gateway, made["id"], "Question 4")
        checks.equal(status, 200, f"a conversation that was in Redis goes on without it: {answer}")
        here.redis.start()
        notices(gateway)
        checks.equal(ask(gateway, "DELETE", f"/v1/conversations/{made['id']}")[0], 200, "it is deleted")
        checks.equal(ask(gateway, "GET", f"/v1/conversations/{made['id']}")[0], 404, "and gone")


def takes_no_writes(parlance: str, engine: Engine, checks: Checks) -> None:
    """A Redis that is full: with --sessions-optional nothing that was acknowledged is lost, and nothing comes back."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway("--sessions-optional")
        made = ask(gateway, "POST", "/v1/conversations", {"items": [user("0")]})[1]
        here.redis.ask("CONFIG", "SET", "maxmemory", "1")
        for number in (1, 2, 3):
            status, told = ask(gateway, "POST", f"/v1/conversations/{made['id']}/items", {"items": [user(str(number))]})
            checks.equal(status, 200, f"items are added: {told}")
        checks.equal([text_in(item) for item in items_in(gateway, made["id"])], ["0", "1", "2", "3"], "and are there")
        here.redis.ask("CONFIG", "SET", "maxmemory", "0")
        notices(gateway)
        checks.equal([text_in(item) for item in items_in(gateway, made["id"])], ["0", "1", "2", "3"], "also when it takes some again")
        ask(gateway, "POST", f"/v1/conversations/{made['id']}/items", {"items": [user("4")]})
        checks.equal([text_in(item) for item in items_in(here.gateway(), made["id"])], ["0", "1", "2", "3", "4"], "and then for all")
        checks.equal(ask(gateway, "DELETE", f"/v1/conversations/{made['id']}")[0], 200, "it is deleted")
        checks.equal(ask(gateway, "GET", f"/v1/conversations/{made['id']}")[0], 404, "and gone")


class Forgetful(threading.Thread):
    """Stands before a Redis, and closes a connection in place of the answer to the next write."""

    def __init__(self, path: str) -> None:
        super().__init__(daemon=True)
        self.path, self.forgets = path, False
        self.server = socket.create_server(("127.0.0.1", 0))
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.server.getsockname()[1]}"

    def run(self) -> None:
        while True:
            client, _ = self.server.accept()
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as redis:
            redis.connect(self.path)
            while sent := client.recv(1 << 20):
                redis.sendall(sent)
                answer = redis.recv(1 << 20)
                if self.forgets and b"'LSET'" in sent:
                    self.forgets = False
                    return
                client.sendall(answer)


def lost_answers(parlance: str, engine: Engine, checks: Checks) -> None:
    """Redis has written, and its answer is lost: what is asked again is not there twice."""
    with world(parlance, engine, checks) as here:
        between = Forgetful(str(here.redis.socket))
        gateway = here.gateway(url=between.url)
        made = ask(gateway, "POST", "/v1/conversations", {"items": [user("One")]})[1]
        between.forgets = True
        checks.equal(ask(gateway, "POST", f"/v1/conversations/{made['id']}/items", {"items": [user("Two")]})[0], 200, "items are added")
        checks.that(not between.forgets, "an answer was lost")
        checks.equal([text_in(item) for item in items_in(gateway, made["id"])], ["One", "Two"], "once")


def many_at_once(parlance: str, engine: Engine, checks: Checks) -> None:
    """Very many changes at the same time, at two gateways."""
    with world(parlance, engine, checks) as here:
        gateways = [here.gateway(), here.gateway()]
        made = ask(gateways[0], "POST", "/v1/conversations", {})[1]
        statuses: list[int] = []

        def add(number: int) -> None:
            for turn in range(4):
                body = {"items": [user(f"{number} {turn}")]}
                statuses.append(ask(gateways[number % 2], "POST", f"/v1/conversations/{made['id']}/items", body)[0])

        threads = [threading.Thread(target=add, args=(number,)) for number in range(48)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        checks.equal(statuses, [200] * 192, "each is taken")
        checks.equal(len(items_in(gateways[1], made["id"])), 192, "and is there")


def damaged(parlance: str, engine: Engine, checks: Checks) -> None:
    """What somebody else wrote there is no conversation, and is told to the operator."""
    with world(parlance, engine, checks) as here:
        gateway = here.gateway()
        made = ask(gateway, "POST", "/v1/conversations", {"items": [user("Hi"), user("Ho")]})[1]
        [place] = here.redis.keys("parlance:conversation:*")
        texts = here.redis.ask("LRANGE", place, "0", "-1")
        wrong: dict[str, list[bytes]] = {
            "a text": [b"SET", place, b"x"],
            "a hash": [b"HSET", place, b"a", b"b"],
            "no head": [b"RPUSH", place, b"x"],
            "another's head": [b"RPUSH", place, texts[0].replace(b"conv_", b"conv-")],
            "an item without a length": [b"RPUSH", place, texts[0], b"x"],
            "an item that is longer than it is": [b"RPUSH", place, texts[0], b"99 x{}"],
            "an item with a huge length": [b"RPUSH", place, texts[0], b"99999999999999999999999999 x{}"],
            "an item that is no JSON": [b"RPUSH", place, texts[0], b"1 x{"],
            "many items": [b"RPUSH", place, texts[0], *[b"1 x{}"] * 140000],
            "much text": [b"RPUSH", place, texts[0], *[b"1 x" + b'"' + b"y" * (1 << 20) + b'"'] * 33],
        }
        for what, command in wrong.items():
            here.redis.ask("DEL", place)
            here.redis.ask(*command)
            checks.equal(ask(gateway, "GET", f"/v1/conversations/{made['id']}")[0], 404, f"{what} is no conversation")
            checks.equal(responds(gateway, made["id"], "?")[0], 404, f"{what} is not gone on from")
            checks.equal(ask(gateway, "POST", f"/v1/conversations/{made['id']}", {"metadata": {}})[0], 404, f"{what} is not changed")
        checks.that(gateway.metric("parlance_shared_sessions_refused") >= 3, "in /metrics")
        checks.equal(gateway.get("/ready")[0], 200, "and the gateway is well")


def long(parlance: str, engine: Engine, checks: Checks) -> None:
    """A conversation of thousands of items, at its limits."""
    with world(parlance, engine, checks) as here:
        one, other = here.gateway(), here.gateway()
        items = [user(f"Number {number}") for number in range(16380)]
        made = ask(one, "POST", "/v1/conversations", {"items": items})[1]
        shown = ask(other, "GET", f"/v1/conversations/{made['id']}/items?order=asc&limit=2")[1]
        checks.equal([text_in(item) for item in shown["data"]], ["Number 0", "Number 1"], "a page of it")
        more = {"items": [user("One"), user("Two"), user("Three")]}
        checks.equal(ask(other, "POST", f"/v1/conversations/{made['id']}/items", more)[0], 200, "items are added")
        status, told = ask(one, "POST", f"/v1/conversations/{made['id']}/items", more)
        checks.that(status == 400 and "16384 items" in told["error"]["message"], f"and no more than fit: {told}")
        status, told = responds(one, made["id"], "?", max_output_tokens=5)
        checks.that(status in (200, 400), f"a turn of it: {told}")


TESTS = (damaged, long, many_at_once, killed, conversations, at_once, responses, owners, optional, takes_no_writes, lost_answers)


def main() -> int:
    return run_tests(TESTS)


if __name__ == "__main__":
    sys.exit(main())
