"""Clients of gateways that share their sessions, which know what was acknowledged, for tests. Begin reading at Client."""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from engine import Engine
from gateway import Checks, Gateway
from sessions_test import user


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
