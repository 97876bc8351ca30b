#!/usr/bin/env python3
"""Conversations that `parlance serve` keeps for OpenAI's client: what `responses` add to them, and what is asked of their items.

    conversations_test.py PARLANCE

Run by the Python of build/oracle/apis. The engine is a scripted one. What counts is that a turn of a conversation has the prompt, and
sends the engine the ids, of a client that sends all of its items itself. Begin reading at main.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from engine import Asked, Engine, Reply
from gateway import SKIPPED, Checks, Gateway
from redis_server import RedisServer

try:
    import openai
    import pydantic
    from openai.types.conversations import Conversation, ConversationItem
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

TOOLS: Any = [
    {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}, "strict": False}
]
CALL = '<tool_call>\n{ "name": "look",  "arguments": {"at": "Köln"}}\n</tool_call><|im_end|>'
RESULT = "3.2 m"
ITEM: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(ConversationItem)


def scripted(asked: Asked) -> Reply:
    text = ENGINE.vocabulary.decode(asked.prompt)
    if "grammar" in asked.body and RESULT not in text:
        return Reply(CALL)
    return Reply(f"Said {text.count('<|im_start|>user')}.<|im_end|>")


ENGINE = Engine(scripted)


def client_of(gateway: Gateway, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=gateway.url + "/v1", api_key=key, max_retries=0)


def valid(checks: Checks, given: Any, what: str) -> None:
    """The SDK builds its objects without a check."""
    try:
        ITEM.validate_python(given.model_dump(exclude_unset=True), strict=False)
    except pydantic.ValidationError as error:
        checks.that(False, f"{what}: {given} fits no kind of item, by {error.error_count()} errors")


def listed(client: openai.OpenAI, conversation: str, **asked: Any) -> list[Any]:
    return list(client.conversations.items.list(conversation, order="asc", **asked))


def fails(checks: Checks, status: int, what: str, ask: Callable[[], Any], path: str | None = None) -> None:
    try:
        ask()
        checks.that(False, f"{what} was taken")
    except openai.APIStatusError as error:
        checks.equal(error.status_code, status, f"{what}: {error}")
        if path is not None:
            checks.equal(error.body["param"], path, f"{what}: the place")


def turns(gateway: Gateway, checks: Checks) -> None:
    """Whole and streamed answers, with calls, in one conversation."""
    client = client_of(gateway)
    made = client.conversations.create(metadata={"topic": "water"}, items=[{"role": "user", "content": "My name is Ada."}])
    Conversation.model_validate(made.model_dump(), strict=True)
    first = client.responses.create(model="mine", input="Where is the water?", conversation=made.id, tools=TOOLS)
    checks.equal(first.conversation and first.conversation.id, made.id, "an answer names its conversation")
    call: Any = next(item for item in first.output if item.type == "function_call")
    outputs: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": RESULT}]
    with client.responses.stream(model="mine", input=outputs, conversation={"id": made.id}, tools=TOOLS) as stream:
        for _ in stream:
            pass
        second = stream.get_final_response()
    checks.equal(second.output_text, "Said 3.", "the answer behind a result")
    third = client.responses.create(model="mine", input="And now?", conversation=made.id, tools=TOOLS)
    items = listed(client, made.id)
    kinds = [(item.type, getattr(item, "role", None)) for item in items]
    said = ("message", "user"), ("message", "assistant")
    checks.equal(kinds, [said[0], said[0], ("function_call", None), ("function_call_output", None), said[1], said[0], said[1]], "items")
    for item in items:
        valid(checks, item, f"an item of the kind {item.type}")
    checks.equal(len({item.id for item in items}), len(items), "each item has an id of its own")
    with_conversation = [asked.prompt for asked in ENGINE.asked[-3:]]
    own: Any = [item.model_dump(exclude_unset=True) for item in items]
    for end in (2, 4, 6):
        client.responses.create(model="mine", input=own[:end], tools=TOOLS, extra_headers={"x-session-id": "sent whole"})
    checks.equal(
        [ENGINE.vocabulary.decode(asked.prompt) for asked in ENGINE.asked[-3:]],
        list(map(ENGINE.vocabulary.decode, with_conversation)),
        "the prompts of a client that sends all",
    )
    for before, behind in zip(with_conversation, with_conversation[1:], strict=False):
        checks.that(len(behind) > len(before) and behind[: len(before)] == before, "a prompt begins with the one before")
    again = client.responses.create(model="mine", input="And?", previous_response_id=third.id, tools=TOOLS)
    checks.equal(again.output_text, "Said 5.", "a request goes on from a conversation's answer")
    checks.equal(len(listed(client, made.id)), 7, "which adds nothing to the conversation")
    counted = client.responses.input_tokens.count(model="mine", input="And?", conversation=made.id, tools=TOOLS)
    checks.that(counted.input_tokens > third.usage.input_tokens, "tokens of a conversation are counted")
    given = client.responses.input_items.list(third.id).data
    checks.equal([item.content[0].text for item in given], ["And now?"], "the input of an answer is its request's own")


def items_of(gateway: Gateway, checks: Checks) -> None:
    """What is asked of items one by one, and a page at a time."""
    client = client_of(gateway)
    made = client.conversations.create()
    many: Any = [{"type": "message", "role": "user", "content": f"Number {number}"} for number in range(45)]
    added = client.conversations.items.create(made.id, items=many)
    checks.equal((len(added.data), added.has_more, added.first_id), (45, False, added.data[0].id), "what was added is answered")
    texts = [item.content[0].text for item in listed(client, made.id, limit=7)]
    checks.equal(texts, [f"Number {number}" for number in range(45)], "all pages, from the oldest on")
    newest = client.conversations.items.list(made.id)
    checks.equal((len(newest.data), newest.data[0].content[0].text), (20, "Number 44"), "the newest come first, twenty of them")
    one = client.conversations.items.retrieve(added.data[3].id, conversation_id=made.id)
    checks.equal(one.content[0].text, "Number 3", "an item by its id")
    checks.equal(client.conversations.items.delete(one.id, conversation_id=made.id).id, made.id, "an item is deleted")
    checks.equal(len(listed(client, made.id)), 44, "and gone")
    fails(checks, 404, "an item that was deleted", lambda: client.conversations.items.retrieve(one.id, conversation_id=made.id))
    fails(checks, 404, "its deletion", lambda: client.conversations.items.delete(one.id, conversation_id=made.id))
    twice = client.conversations.items.create(made.id, items=[{"id": added.data[0].id, "role": "user", "content": "Twice"}])
    checks.that(twice.data[0].id != added.data[0].id, "an id that is taken becomes another")
    odd = client.conversations.items.create(made.id, items=[{"id": "a b/ü", "role": "user", "content": "Odd"}]).data[0]
    checks.equal(
        (odd.id, client.conversations.items.retrieve("a b/ü", conversation_id=made.id).content[0].text),
        ("a b/ü", "Odd"),
        "an id of any signs",
    )
    client.conversations.items.delete("a b/ü", conversation_id=made.id)
    before = len(listed(client, made.id))
    reference: Any = [{"type": "item_reference", "id": added.data[0].id}, {"role": "user", "content": "And?"}]
    client.responses.create(model="mine", input=reference, conversation=made.id)
    checks.equal(len(listed(client, made.id)), before + 2, "an item that is named, and is there, is not added once more")
    told = client.responses.create(
        model="mine",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "a", "zork": 1}]}],
        conversation=made.id,
        extra_body={"parlance": True},
    )
    paths = [loss["path"] for loss in told.model_extra["parlance"]["losses"]]  # type: ignore[index]
    checks.that(
        all(path.startswith(("input[0]", "conversation.items[")) or not path.startswith("input[") for path in paths),
        f"places of losses: {paths}",
    )
    changed = client.conversations.update(made.id, metadata={"a": "b"})
    checks.equal((changed.id, changed.metadata), (made.id, {"a": "b"}), "metadata is changed")
    checks.equal(client.conversations.retrieve(made.id).metadata, {"a": "b"}, "and kept")
    checks.that(client.conversations.delete(made.id).deleted, "a conversation is deleted")
    for what, ask in (
        ("a conversation that was deleted", lambda: client.conversations.retrieve(made.id)),
        ("its items", lambda: listed(client, made.id)),
    ):
        fails(checks, 404, what, ask, "conversation")
    fails(checks, 404, "a response in it", lambda: client.responses.create(model="mine", input="?", conversation=made.id), "conversation")


def refused(gateway: Gateway, checks: Checks) -> None:
    """Wrong requests, each with its place; nothing of them is kept."""
    client = client_of(gateway)
    made = client.conversations.create(items=[{"role": "user", "content": "Hello"}])
    for items, path in (
        ([{"role": "user", "content": 5}], "items[0].content"),
        ([{"role": "user", "content": "a"}, {"type": "no_such_item"}], "items[1]"),
        ("text", "items"),
        (["text"], "items[0]"),
    ):
        ask: Any = lambda items=items: client.conversations.items.create(made.id, items=items)  # noqa: E731
        fails(checks, 400, f"items {items}", ask, path)
        begin: Any = lambda items=items: client.conversations.create(items=items)  # noqa: E731
        fails(checks, 400, f"a conversation of {items}", begin, path)
    fails(checks, 400, "metadata that is no text", lambda: client.conversations.create(metadata={"a": 5}), "metadata")  # type: ignore[dict-item]
    for name, wrong in (("limit", 0), ("limit", 101), ("limit", "ten"), ("order", "up"), ("after", "item_none")):
        page: Any = lambda name=name, wrong=wrong: client.conversations.items.list(made.id, extra_query={name: wrong})  # noqa: E731
        fails(checks, 400, f"{name}={wrong}", page, name)
    answer = client.responses.create(model="mine", input="Hi")
    many: Any = [{"role": "user", "content": "a"}] * 16384
    fails(checks, 400, "more items than there may be", lambda: client.conversations.items.create(made.id, items=many), "items")
    both: Any = lambda: client.responses.create(model="mine", input="?", conversation=made.id, previous_response_id=answer.id)  # noqa: E731
    fails(checks, 400, "a conversation and an answer to go on from", both, "conversation.id")
    number: Any = lambda: client.responses.create(model="mine", input="?", conversation=5)  # type: ignore[call-overload]  # noqa: E731
    fails(checks, 400, "a conversation that is a number", number, "conversation.id")
    number_as_input: Any = lambda: client.responses.create(model="mine", input=5, conversation=made.id)  # type: ignore[arg-type]  # noqa: E731
    fails(checks, 400, "an input that is a number", number_as_input, "input")
    broken: Any = lambda: client.responses.create(model="mine", input=[{"role": "user", "content": 5}], conversation=made.id)  # noqa: E731
    fails(checks, 400, "an input that is wrong", broken, "input[0].content")
    for method, path, status in (
        ("GET", "/conversations/", 405),
        ("GET", f"/conversations/{made.id}/other", 404),
        ("POST", f"/conversations/{made.id}/other", 404),
        ("DELETE", f"/conversations/{made.id}/other", 404),
        ("GET", f"/conversations/{made.id}/items/a/b", 404),
        ("GET", "/conversations/conv_none/items", 404),
        ("POST", f"/conversations/{made.id}/items/item_1", 404),
        ("POST", f"/conversations/{made.id}", 400),
    ):
        other: Any = lambda method=method, path=path: getattr(client, method.lower())(
            path, cast_to=object, **({"body": {}} if method == "POST" else {})
        )  # noqa: E731
        fails(checks, status, f"{method} {path}", other)
    for what, length in (("items", 16384), ("bytes", 1)):
        text = "a" * (17 << 20) if what == "bytes" else "a"
        more: Any = lambda text=text, length=length: client.responses.create(
            model="mine", input=[{"role": "user", "content": text}] * length, conversation=made.id
        )  # noqa: E731
        fails(checks, 400, f"a request by which there would be more {what} than there may be", more, "conversation.id")
    checks.equal(len(listed(client, made.id)), 1, "a conversation has none of what was refused")


def together(gateway: Gateway, checks: Checks) -> None:
    """Requests at the same time lose nothing of each other."""
    client = client_of(gateway)
    made = client.conversations.create()
    ask = lambda number: client.responses.create(model="mine", input=f"Number {number}", conversation=made.id)  # noqa: E731
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    items = listed(client, made.id, limit=100)
    checks.equal(len(items), 24, "a request and an answer each")
    asked = [item.content[0].text for item in items if item.role == "user"]
    checks.equal(sorted(asked), sorted(f"Number {number}" for number in range(12)), "each request once")
    checks.that(
        all(a.role == "user" and b.role == "assistant" for a, b in zip(items[::2], items[1::2], strict=True)), "each with its answer"
    )


def others(parlance: str, checks: Checks) -> None:
    """A conversation is its own client's alone; a failed turn adds nothing; a capture has each prompt whole."""
    with tempfile.TemporaryDirectory() as folder:
        keys = folder + "/keys"
        with open(keys, "w") as file:
            file.write("mine\nother\n")
        with Gateway(parlance, ENGINE.url, "--api-key-file", keys, "--capture", folder + "/capture") as gateway:
            client, other = client_of(gateway, "mine"), client_of(gateway, "other")
            made = client.conversations.create()
            fails(checks, 404, "another client's conversation", lambda: other.conversations.retrieve(made.id))
            fails(checks, 404, "an answer in it", lambda: other.responses.create(model="mine", input="?", conversation=made.id))
            fails(checks, 404, "its deletion", lambda: other.conversations.delete(made.id))
            fails(checks, 401, "a conversation without a key", lambda: client_of(gateway, "none").conversations.create())
            for text in ("One", "Two"):
                client.responses.create(model="mine", input=text, conversation=made.id, store=False)
            ENGINE.script = lambda asked: Reply(die_after=0)
            fails(checks, 502, "an engine that dies", lambda: client.responses.create(model="mine", input="?", conversation=made.id))
            ENGINE.script = scripted
            checks.equal(len(listed(client, made.id)), 4, "a failed turn adds nothing, one that is not stored does")
        replayed = subprocess.run([parlance, "replay", folder + "/capture"], capture_output=True, text=True)
        checks.equal(replayed.returncode, 0, "the capture replays: " + replayed.stdout[-500:] + replayed.stderr[-500:])


def in_parts(gateway: Gateway, checks: Checks) -> None:
    for part in (turns, items_of, refused, together):
        part(gateway, checks)


def in_redis(parlance: str, checks: Checks) -> None:
    """The client cannot tell where its conversations are kept."""
    if RedisServer.program is None:
        print("conversations in Redis: skipped, there is no redis-server")
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        RedisServer(pathlib.Path(folder)) as redis,
        Gateway(parlance, ENGINE.url, "--sessions", redis.url) as gateway,
    ):
        in_parts(gateway, checks)


def main() -> int:
    checks = Checks()
    with ENGINE:
        with Gateway(sys.argv[1], ENGINE.url) as gateway:
            in_parts(gateway, checks)
        in_redis(sys.argv[1], checks)
        others(sys.argv[1], checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
