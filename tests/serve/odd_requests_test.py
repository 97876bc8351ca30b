#!/usr/bin/env python3
"""Requests that are odd and legal, by the packages openai, anthropic and ollama: `odd_requests_test.py PARLANCE`.

Run by the Python of build/oracle/apis, which has the packages. The engine is a scripted one. Begin reading at main.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

from engine import Engine, Reply
from gateway import SKIPPED, Checks, Gateway

try:
    import anthropic
    import ollama
    import openai
except ImportError as error:
    print("skipped:", error)
    sys.exit(SKIPPED)

USER: Any = {"role": "user", "content": "Hi"}
PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"], "additionalProperties": False}
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call><|im_end|>'
ENGINE = Engine()


def prompt() -> str:
    """The last one that the engine got."""
    return ENGINE.vocabulary.decode(ENGINE.asked[-1].prompt)


def constrained() -> str:
    """The grammar of the last request, or ""."""
    grammar: str = ENGINE.asked[-1].body.get("grammar", "")
    return grammar


def refused(kind: type[Exception], ask: Callable[[], Any], checks: Checks, what: str) -> None:
    try:
        ask()
        checks.that(False, f"{what}: not refused")
    except kind:
        checks.that(True, what)


def chats(url: str, checks: Checks) -> None:
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "look", "description": "d", "parameters": PARAMETERS, "strict": True}}]

    def ask(*messages: Any, **members: Any) -> Any:
        return client.chat.completions.create(model="mine", messages=[*messages] or [USER], **members)

    def part(text: str) -> dict[str, str]:
        return {"type": "text", "text": text}

    ask(
        {"role": "system", "content": [part("One")]},
        {"role": "developer", "content": [part("Two")]},
        {"role": "user", "content": [part("Three")]},
    )
    checks.that(all(text in prompt() for text in ("system\nOne", "system\nTwo", "user\nThree")), "content as parts, and a developer")
    empty: tuple[Any, ...] = ("", [], None)
    for content in empty:
        call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ask(USER, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": content})
        checks.that("<tool_response>\n\n</tool_response>" in prompt(), f"an empty result of a tool: {content!r}")
    ENGINE.script = lambda asked: Reply(CALL)
    named: Any = {"type": "function", "function": {"name": "look"}}
    choices: tuple[Any, ...] = (
        "auto",
        "required",
        named,
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}},
    )
    for choice in choices:
        ask(tools=tools, tool_choice=choice, parallel_tool_calls=False)
        checks.that("look" in constrained(), f"tool_choice {choice}")
    checks.equal(ask(tools=tools, tool_choice="none").choices[0].finish_reason, "stop", "tool_choice none")
    ENGINE.script = lambda asked: Reply('{"at": "x"}<|im_end|>')
    forms: Any = ({"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": PARAMETERS}}, {"type": "json_object"})
    for form in forms:
        ask(response_format=form)
        checks.that(constrained(), f"response_format {form['type']}")
    ENGINE.script = lambda asked: Reply()
    checks.equal(ask(stop=["s", "q"]).choices[0].message.content, "Ye", "a list of stop texts")
    checks.equal(len(ask(logprobs=True, top_logprobs=1).choices[0].logprobs.content[0].top_logprobs), 1, "top_logprobs")
    ask(max_completion_tokens=7, metadata={"a": "b"}, store=True, service_tier="auto", extra_body={"unknown": 1})
    checks.equal(ENGINE.asked[-1].body["n_predict"], 7, "max_completion_tokens, and members that nobody needs")
    refused(openai.BadRequestError, lambda: client.chat.completions.create(model="mine", messages=[]), checks, "no messages")
    checks.equal(client.models.retrieve("mine").id, "mine", "one model")
    refused(openai.NotFoundError, lambda: client.models.retrieve("none"), checks, "a model that there is not")


def old_functions(url: str, checks: Checks) -> None:
    """Who asks with `functions` reads `function_call`, whole and streamed, and goes on with a message of the role function."""
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    functions: Any = [{"name": "look", "description": "d", "parameters": PARAMETERS}]
    named: Any = {"name": "look"}

    def ask(*messages: Any, **members: Any) -> Any:
        return client.chat.completions.create(model="mine", messages=[*messages] or [USER], functions=functions, **members)

    ENGINE.script = lambda asked: Reply(CALL)
    for choice in ({}, {"function_call": "auto"}, {"function_call": named}):
        answer = ask(**choice, extra_body={"parlance": True})
        first = answer.choices[0]
        said = (first.finish_reason, first.message.function_call.name, json.loads(first.message.function_call.arguments))
        checks.equal(said, ("function_call", "look", {"at": "x"}), f"a function's call, {choice}")
        checks.equal((first.message.tool_calls, first.message.content), (None, None), f"nothing else, {choice}")
        checks.equal(answer.model_extra["parlance"]["losses"], [], f"losses of {choice}")
        text = client.chat.completions.create(model="mine", messages=[USER], functions=functions, **choice, stream=True)
        chunks = [chunk.choices[0] for chunk in text if chunk.choices]
        calls = [chunk.delta.function_call for chunk in chunks if chunk.delta.function_call]
        streamed = ("".join(call.name or "" for call in calls), json.loads("".join(call.arguments or "" for call in calls)))
        checks.equal(streamed, ("look", {"at": "x"}), f"a streamed call, {choice}")
        checks.equal(chunks[-1].finish_reason, "function_call", f"its reason, {choice}")
        checks.that(not any(chunk.delta.tool_calls for chunk in chunks), f"no tool_calls, {choice}")
    ENGINE.script = lambda asked: Reply()
    given = {"role": "assistant", "content": None, "function_call": first.message.function_call.model_dump()}
    second = ask(USER, given, {"role": "function", "name": "look", "content": "Five."}, extra_body={"parlance": True})
    checks.equal((second.choices[0].finish_reason, second.choices[0].message.content), ("stop", "Yes."), "behind the result")
    checks.that(second.model_extra["parlance"]["reused_tokens"] > 0, f"it goes on: {second.model_extra['parlance']}")
    checks.equal(second.model_extra["parlance"]["losses"], [], "losses behind a call")
    ENGINE.script = lambda asked: Reply(CALL)
    try:
        ask(function_call="some")
    except openai.BadRequestError as refused:
        checks.that('{"name": NAME}' in str(refused) and "tools" not in str(refused), f"a choice that is none: {refused}")
    checks.equal(ask(function_call="none").choices[0].finish_reason, "stop", "function_call none")
    ENGINE.script = lambda asked: Reply()


def logprobs_of_the_text(url: str, checks: Checks) -> None:
    """Logprobs go with the text: not with the border before it, and not with a stop text behind it."""
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    ENGINE.script = lambda asked: Reply("<think>\nHm\n</think>\n\nHi there<|im_end|>")

    def joined(tokens: Any) -> str:
        return "".join(one.token for one in tokens)

    answer = client.responses.create(model="mine", input="Hi", include=["message.output_text.logprobs"])
    part: Any = next(item for item in answer.output if item.type == "message").content[0]
    checks.equal((part.text, joined(part.logprobs)), ("Hi there", "Hi there"), "logprobs behind reasoning")
    events = list(client.responses.create(model="mine", input="Hi", include=["message.output_text.logprobs"], stream=True))
    deltas = "".join(joined(event.logprobs) for event in events if event.type == "response.output_text.delta")
    done = [joined(event.logprobs) for event in events if event.type == "response.output_text.done"]
    checks.equal((deltas, done), ("Hi there", ["Hi there"]), "streamed logprobs behind reasoning")
    ENGINE.script = lambda asked: Reply("Hi STOSTOP more<|im_end|>")
    for stop in ("STOP", ["none", "STOP"]):
        chat: Any = {"model": "mine", "messages": [USER], "stop": stop, "logprobs": True}
        whole = client.chat.completions.create(**chat).choices[0]
        checks.equal((whole.message.content, joined(whole.logprobs.content)), ("Hi STO", "Hi STO"), f"logprobs before {stop}")
        chunks = [chunk.choices[0] for chunk in client.chat.completions.create(**chat, stream=True)]
        streamed = "".join(joined(chunk.logprobs.content) for chunk in chunks if chunk.logprobs)
        checks.equal(streamed, "Hi STO", f"streamed logprobs before {stop}")
    ENGINE.script = lambda asked: Reply("Hi<|im_end|>")
    whole = client.chat.completions.create(**chat | {"stop": "STOP"}).choices[0]
    checks.equal(joined(whole.logprobs.content), "Hi<|im_end|>", "a stop text that does not come")
    ENGINE.script = lambda asked: Reply()


def messages(url: str, checks: Checks) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    tools: Any = [{"name": "look", "description": "d", "input_schema": PARAMETERS}]

    def ask(*given: Any, **members: Any) -> Any:
        return client.messages.create(model="mine", max_tokens=2000, messages=[*given] or [USER], **members)

    system: Any = [{"type": "text", "text": "One", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Two"}]
    ask(system=system, thinking={"type": "enabled", "budget_tokens": 1024})
    checks.that("system\nOne\nTwo" in prompt(), "blocks of system")
    thought: Any = [
        {"type": "thinking", "thinking": "Hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "A"},
    ]
    ask(USER, {"role": "assistant", "content": thought}, {"role": "user", "content": "B"})
    checks.that("assistant\nA<|im_end|>" in prompt(), "thinking and redacted_thinking of a turn before")
    use: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]}
    ask(USER, use, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, tools=tools)
    checks.that("<tool_response>\n\n</tool_response>" in prompt(), "a result without content")
    opened = ask(USER, {"role": "assistant", "content": "Sure,"})
    checks.that(prompt().endswith("assistant\nSure,"), f"a reply that the client begins: {prompt()[-60:]!r}")
    begun = client.messages.count_tokens(model="mine", messages=[USER, {"role": "assistant", "content": "Sure,"}])
    ask(USER, {"role": "assistant", "content": thought})
    checks.that(prompt().endswith("\nHm\n</think>\n\nA"), f"a reply that the client begins behind a thought: {prompt()[-60:]!r}")
    unfinished: tuple[Any, ...] = (use["content"], thought[:1], [thought[2], *use["content"]], "")
    for content in unfinished:
        ask(USER, {"role": "assistant", "content": content}, tools=tools)
        checks.that(prompt().endswith("<|im_end|>\n<|im_start|>assistant\n"), f"no reply that could go on, {content}: {prompt()[-60:]!r}")
    usage = opened.usage
    checks.equal(begun.input_tokens, usage.input_tokens + (usage.cache_read_input_tokens or 0), "count_tokens of such a request")
    ENGINE.script = lambda asked: Reply(CALL)
    choices: Any = ({"type": "auto"}, {"type": "any", "disable_parallel_tool_use": True}, {"type": "tool", "name": "look"})
    for choice in choices:
        checks.equal(ask(tools=tools, tool_choice=choice).stop_reason, "tool_use", f"tool_choice {choice}")
        checks.that("look" in constrained(), f"the grammar of tool_choice {choice}")
    checks.equal(ask(tools=tools, tool_choice={"type": "none"}).stop_reason, "end_turn", "tool_choice none")
    ENGINE.script = lambda asked: Reply()
    checks.equal(ask(stop_sequences=["s"]).stop_sequence, "s", "stop_sequences")
    counted = client.messages.count_tokens(model="mine", messages=[USER], system="One", tools=tools)
    checks.that(counted.input_tokens > 20, "count_tokens with tools")
    listed = client.models.list().data[0]
    checks.equal((listed.id, listed.type, listed.display_name), ("mine", "model", "mine"), "Anthropic's list of models")
    checks.equal(client.models.retrieve("mine").id, "mine", "one model of Anthropic's")


def threads(url: str, checks: Checks) -> None:
    """Conversations that the server keeps: a request has what is new, and the prompt is that of the whole conversation."""
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    tools: Any = [{"name": "look", "description": "d", "input_schema": PARAMETERS}]
    first_half: dict[str, Any] = {"system": "Brief", "tools": tools}

    def ask(thread: Any, *given: Any, **members: Any) -> Any:
        extra = {} if thread is None else {"thread": thread}
        return client.messages.create(model="mine", max_tokens=2000, messages=[*given], extra_body=extra, **members)

    def behind(message: Any) -> dict[str, str]:
        return {"type": "continue", "previous_message_id": message.id}

    def error(status: int, code: str, what: str, thread: Any, *given: Any, **members: Any) -> str:
        try:
            ask(thread, *(given or [USER]), **members)
        except anthropic.APIStatusError as failed:
            details = failed.body["error"].get("details", {})  # type: ignore[index]
            checks.equal((failed.status_code, details.get("error_code")), (status, code), f"{what}: {failed.body}")
            return str(failed.body)
        checks.that(False, f"{what}: not refused")
        return ""

    ENGINE.script = lambda asked: Reply("<think>\nhm\n</think>\n\nLook.\n" + CALL)
    first = ask({"type": "create"}, USER, **first_half)
    use = first.content[-1]
    checks.equal((use.type, first.stop_reason), ("tool_use", "tool_use"), "a thread begins")
    ids = ENGINE.asked[-1].prompt + ENGINE.vocabulary.encode("<think>\nhm\n</think>\n\nLook.\n" + CALL)
    ENGINE.script = lambda asked: Reply()
    result: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "deep"}]}
    second = ask(behind(first), result)
    checks.equal(ENGINE.asked[-1].prompt[: len(ids)], ids, "the sampled ids are kept")
    checks.that("look" in constrained(), "the tools of the thread")
    with client.messages.stream(
        model="mine", max_tokens=2000, messages=[{"role": "user", "content": "More"}], extra_body={"thread": behind(second)}
    ) as stream:
        third = stream.get_final_message()
    checks.equal(third.content[0].text, "Yes.", "a streamed turn of a thread")
    in_the_thread = prompt()
    said: list[Any] = [
        USER, {"role": "assistant", "content": first.content}, result,
        {"role": "assistant", "content": second.content}, {"role": "user", "content": "More"},
    ]  # fmt: skip
    ask(None, *said, **first_half)
    checks.equal(prompt(), in_the_thread, "the prompt of a thread, and of the whole conversation")
    ask(behind(first), result)  # it may be gone on from again
    ask(behind(third), {"role": "user", "content": "And?"})
    checks.that(prompt().startswith(in_the_thread) and prompt().count("system\n") == 1, f"a fourth turn: {prompt()[-200:]!r}")
    ask(None, USER)
    for none in (None, {"type": "create"}):
        ask(none, USER)
        checks.that("look" not in prompt() and "Brief" not in prompt(), f"a conversation of its own, {none}")
    explained = client.messages.create(
        model="mine", max_tokens=9, messages=[result], extra_body={"thread": behind(first), "parlance": True}
    ).model_dump()
    checks.equal(explained["parlance"]["losses"], [], "what a thread loses")
    told = error(404, "thread_not_found", "an unknown thread", {"type": "continue", "previous_message_id": "msg_none"})
    checks.that("msg_none" in told, f"it names the message: {told}")
    wrongs: tuple[Any, ...] = ({"type": "fork"}, {}, "create", {"type": "continue"}, {"type": "continue", "previous_message_id": 5})
    for wrong in wrongs:
        error(400, "thread_unsupported_request", f"a thread {wrong}", wrong)
    for name, value in first_half.items():
        told = error(400, "conversation", f"{name} in a thread", behind(first), result, **{name: value})
        checks.that(name in told, f"the error names {name}: {told}")
    alien: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_x", "content": "deep"}]}
    checks.that("messages[0].content[0].tool_use_id" in error(400, "conversation", "a result of no call", behind(first), alien), "its path")
    for path in ("/v1/messages/count_tokens", "/v1/messages/render"):
        try:
            client.post(path, cast_to=object, body={"model": "mine", "max_tokens": 9, "messages": [USER], "thread": behind(first)})
            checks.that(False, f"{path} of a thread: not refused")
        except anthropic.BadRequestError as failed:
            checks.that("thread" in str(failed.body), f"{path} of a thread: {failed.body}")


def following_responses(ask: Any, checks: Checks) -> None:
    """Input of all requests stays, in its order; instructions are those of the last request."""

    def system(text: str, role: str = "system") -> Any:
        return {"role": role, "content": text}

    def turns(*texts: str) -> str:
        parts = [f"<|im_start|>{text}<|im_end|>\n" for text in texts]
        return "".join(parts) + "<|im_start|>assistant\n"

    said = ("user\nHi", "assistant\nYes.")
    listed: Any = [system("I"), {"role": "developer", "content": "J"}]
    for role in ("system", "developer"):
        first = ask([system("Bob", role), USER])
        cases: tuple[tuple[Any, dict[str, Any], tuple[str, ...]], ...] = (
            ("More", {}, ("system\nBob", *said, "user\nMore")),
            ("More", {"instructions": "Brief"}, ("system\nBrief", "system\nBob", *said, "user\nMore")),
            ("More", {"instructions": listed}, ("system\nI", "system\nJ", "system\nBob", *said, "user\nMore")),
            ([system("New", role), USER], {}, ("system\nBob", *said, "system\nNew", "user\nHi")),
        )
        for given, members, wanted in cases:
            ask(given, previous_response_id=first.id, **members)
            checks.equal(prompt(), turns(*wanted), f"behind a {role} message: {given}, {members}")
    ask()
    unsaid = prompt().split("<|im_start|>user")[0]  # the template's own
    for instructions in ("Brief", listed):
        first = ask(instructions=instructions)
        second = ask("More", previous_response_id=first.id)
        checks.equal(prompt(), unsaid + turns(*said, "user\nMore"), f"no instructions behind {instructions}")
        checks.equal(second.instructions, None, f"what the answer says behind {instructions}")
        ask("More", previous_response_id=first.id, instructions="Long")
        checks.equal(prompt(), turns("system\nLong", *said, "user\nMore"), f"others behind {instructions}")
        third = ask("And?", previous_response_id=second.id, instructions="Other")
        ask("So?", previous_response_id=third.id)
        wanted = (*said, "user\nMore", "assistant\nYes.", "user\nAnd?", "assistant\nYes.", "user\nSo?")
        checks.equal(prompt(), unsaid + turns(*wanted), f"two turns behind {instructions}")


def items_by_their_ids(ask: Any, checks: Checks) -> None:
    """Items of earlier answers, which a client names by the ids that they were given: the prompt is that of the items themselves."""
    question = {"role": "user", "content": "Hi"}
    first = ask([question])
    kept = [item.model_dump() for item in first.output]
    names = [{"type": "item_reference", "id": item["id"]} for item in kept]
    prompts = []
    for between in (kept, names, [names[0], *kept[1:]]):
        ask([question, *between, {"role": "user", "content": "More"}])
        prompts.append(prompt())
    checks.that("Yes." in prompts[0], f"what was said: {prompts[0]!r}")
    checks.equal(prompts[1:], prompts[:1] * 2, "prompts of items by their ids")
    try:
        ask([question, *names, names[-1]])
        told = "taken"
    except openai.BadRequestError as error:
        told = str(error)
    checks.that("is named twice" in told and f"input[{1 + len(names)}].id" in told, f"an item that is named twice: {told}")
    for unknown in ("msg_resp_0_1", names[0]["id"] + "0", "msg", "", "_"):
        try:
            ask([question, {"type": "item_reference", "id": unknown}])
            told = "taken"
        except Exception as error:
            told = str(error)
        checks.that("is not known here" in told and "input[1].id" in told, f"an item {unknown!r}: {told}")


def side_routes(client: Any, ask: Any, checks: Checks) -> None:
    """What the API has around responses: tokens counted, input by pages, and what there is not."""

    def error(path: str, body: Any = None, code: int = 400) -> str:
        try:
            client.post(path, cast_to=object, body=body) if body is not None else client.get(path, cast_to=object)
        except openai.APIStatusError as failed:
            checks.equal(failed.status_code, code, f"{path}: {failed.body}")
            return str(failed.body)
        checks.that(False, f"{path} {body}: not refused")
        return ""

    first = ask(instructions="Brief")
    for members in ({}, {"instructions": "Long"}):
        behind = ask("More", previous_response_id=first.id, **members)
        counted = client.responses.input_tokens.count(model="mine", input="More", previous_response_id=first.id, **members)
        checks.equal(counted.input_tokens, behind.usage.input_tokens, f"tokens behind a response, {members}")
    alone = client.responses.input_tokens.count(model="mine", input="Hi", instructions="Brief")
    checks.equal(alone.input_tokens, first.usage.input_tokens, "tokens of a request alone")
    checks.that("input is missing" in error("/responses/input_tokens", {}), "input_tokens of nothing")
    checks.that("input must not be empty" in error("/responses/input_tokens", {"input": []}), "input_tokens of an empty list")
    checks.that("resp_none" in error("/responses/input_tokens", {"input": "a", "previous_response_id": "resp_none"}), "behind nothing")

    many = ask([{"role": "user", "content": str(number)} for number in range(30)])
    wanted = [str(number) for number in range(30)]
    pages: Any = client.responses.input_items
    for order, texts in (("asc", wanted), ("desc", wanted[::-1])):
        for limit in (1, 7, 29, 30, 31, 100):
            got = [item.content[0].text for item in pages.list(many.id, order=order, limit=limit)]
            checks.equal(got, texts, f"{order} by {limit}")
    page = pages.list(many.id)
    checks.equal((len(page.data), page.has_more, page.data[0].content[0].text), (20, True, "29"), "a page as it is asked for by itself")
    page = pages.list(many.id, after=page.data[-1].id, limit=10)
    checks.equal((len(page.data), page.has_more), (10, False), "the last page")
    for query in ("limit=abc", "limit=0", "limit=101", "limit=-1", "limit=", "order=up", "after=zz"):
        checks.that(query.split("=")[0] in error(f"/responses/{many.id}/input_items?{query}"), query)
    for wrong in ("stream=yes", "stream=true&starting_after=x", "stream=true&starting_after=-2", "stream=true&starting_after=1e9"):
        checks.that(wrong.split("=")[-2].split("&")[-1] in error(f"/responses/{many.id}?{wrong}"), f"a stream by {wrong}")
    checks.that("complete" in error(f"/responses/{many.id}/cancel", {}), "what cannot be cancelled")
    for path in ("/responses/compact", "/responses/resp_none/cancel", f"/responses/{many.id}/other"):
        error(path, {}, 404)


def streamed_again(client: Any, checks: Checks) -> None:
    """The events of an answer that is complete, by its id: those of its stream, with their numbers, so that a client goes on where it was
    cut off; of an answer that was given as a whole, those that make it."""
    tools: Any = [
        {"type": "function", "name": "look", "parameters": PARAMETERS, "strict": True},
        {"type": "custom", "name": "run"},
    ]
    run = '<tool_call>\n{"name": "run", "arguments": {"input": "ls \\"Köln\\" 🌊"}}\n</tool_call><|im_end|>'
    thought = "<think>\nHm, Köln?\n</think>\n\n"
    cases: tuple[tuple[Reply, dict[str, Any]], ...] = (
        (Reply("It is high tide in Köln 🌊.<|im_end|>"), {}),
        (Reply(thought + "Yes.<|im_end|>"), {"include": ["message.output_text.logprobs"], "top_logprobs": 2}),
        (Reply(thought + "Look.\n" + CALL), {"tools": tools}),
        (Reply(CALL.removesuffix("<|im_end|>") + "\n" + run), {"tools": tools}),
        (Reply(run), {"tools": tools, "instructions": "Brief"}),
        (Reply("cut off", length=True), {"max_output_tokens": 7}),
        (Reply(thought.removesuffix("\n</think>\n\n"), length=True), {}),
        (Reply(CALL[:40], length=True), {"tools": tools}),
        (Reply("<|im_end|>"), {}),
    )
    for reply, members in cases:
        ENGINE.script = lambda asked, reply=reply: reply  # type: ignore[misc]
        said = [event.model_dump() for event in client.responses.create(model="mine", input="Hi", stream=True, **members)]
        checks.equal([event["sequence_number"] for event in said], list(range(len(said))), "numbers of events")
        id = said[-1]["response"]["id"]
        again = [event.model_dump() for event in client.responses.retrieve(id, stream=True)]
        checks.equal(again, said, f"the events of {reply.text!r} once more")
        for after in range(len(said) + 1):
            rest = [event.model_dump() for event in client.responses.retrieve(id, stream=True, starting_after=after)]
            checks.equal(rest, said[after + 1 :], f"the events of {reply.text!r} behind {after}")
        events = urllib.request.Request(
            f"{client.base_url}responses/{id}?starting_after=1",
            headers={"Accept": "text/event-stream", "Authorization": f"Bearer {client.api_key}"},
        )
        with urllib.request.urlopen(events, timeout=60) as accepted:  # as the client in Go asks for it
            lines = accepted.read().decode().splitlines()
        numbers = [json.loads(line.removeprefix("data: "))["sequence_number"] for line in lines if line.startswith("data: {")]
        checks.equal(numbers, list(range(2, len(said))), "events for a client that accepts nothing else")
        whole = client.responses.create(model="mine", input="Hi", **members)
        with client.responses.stream(response_id=whole.id, **({"tools": members["tools"]} if "tools" in members else {})) as stream:
            events = list(stream)
        ends = (events[0].type, events[-1].type)
        checks.equal(ends, ("response.created", f"response.{whole.status}"), f"the events of a whole {reply.text!r}")
        made: Any = stream.get_final_response() if whole.status == "completed" else events[-1].response
        checks.equal((made.id, made.output_text), (whole.id, whole.output_text), "what they make")
        checks.equal([item.type for item in made.output], [item.type for item in whole.output], "its items")
    ENGINE.script = lambda asked: Reply()


def responses(url: str, checks: Checks) -> None:
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    def ask(given: Any = "Hi", **members: Any) -> Any:
        return client.responses.create(model="mine", input=given, **members)

    reasoned: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "thought"}]},
        {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "status": "completed",
            "content": [{"type": "output_text", "text": "A", "annotations": []}],
        },
        {"role": "user", "content": "V"},
    ]
    ask(reasoned, instructions="I")
    checks.that(all(text in prompt() for text in ("system\nI", "user\nU", "assistant\nA", "user\nV")), "items with reasoning")
    schema: Any = {"format": {"type": "json_schema", "name": "n", "schema": PARAMETERS, "strict": True}}
    ENGINE.script = lambda asked: Reply('{"at": "x"}<|im_end|>')
    ask(text=schema, truncation="auto")
    checks.that(constrained(), "text.format")
    ENGINE.script = lambda asked: Reply()
    first = ask()
    second = ask("Two", previous_response_id=first.id, instructions="New")
    ask([{"role": "user", "content": "Three"}], previous_response_id=second.id)
    checks.that(all(text in prompt() for text in ("user\nHi", "user\nTwo", "user\nThree")), "a chain of previous_response_id")
    following_responses(ask, checks)
    checks.equal(client.responses.retrieve(first.id).output_text, "Yes.", "a response by its id")
    items: Any = client.responses.input_items.list(first.id).data
    checks.equal([item.content[0].text for item in items], ["Hi"], "its input")
    items_by_their_ids(ask, checks)
    side_routes(client, ask, checks)
    streamed_again(client, checks)
    with client.responses.stream(model="mine", input="Hi") as stream:
        streamed = stream.get_final_response()
    checks.equal(client.responses.retrieve(streamed.id).output_text, "Yes.", "a streamed response by its id")
    client.responses.delete(first.id)
    refused(openai.NotFoundError, lambda: client.responses.retrieve(first.id), checks, "a deleted response")
    refused(openai.BadRequestError, lambda: ask("Two", previous_response_id=first.id), checks, "to go on from a deleted response")
    told = ask(include=["message.output_text.logprobs"])
    part = next(item for item in told.output if item.type == "message").content[0]
    checks.that(part.logprobs and "".join(one.token for one in part.logprobs).startswith("Yes"), f"logprobs that are included: {part}")
    unstored = ask(store=False)
    refused(openai.NotFoundError, lambda: client.responses.retrieve(unstored.id), checks, "a response with store: false")
    other = openai.OpenAI(base_url=url + "/v1", api_key="other", max_retries=0)
    refused(openai.NotFoundError, lambda: other.responses.retrieve(second.id), checks, "a response of another key")
    counted = client.responses.input_tokens.count(model="mine", input="Hi")
    checks.equal(counted.input_tokens, ask().usage.input_tokens, "input_tokens")
    refused(openai.BadRequestError, lambda: client.post("/responses", body={"model": "mine"}, cast_to=object), checks, "no input")


def ollama_api(url: str, checks: Checks) -> None:
    client = ollama.Client(host=url)
    shown = client.show("mine")
    checks.equal(list(shown.capabilities or ()), ["completion", "tools", "thinking"], "what a model can do")
    checks.that((shown.modelinfo or {}).get("general.architecture"), f"its metadata: {shown.modelinfo}")
    version = json.load(urllib.request.urlopen(url + "/api/version"))["version"]
    checks.that([int(part) for part in version.split(".")] >= [0, 13, 4], f"a version that Ollama's clients take: {version}")
    client.chat(model="mine", messages=[USER], format=PARAMETERS)
    checks.that(constrained(), "a schema as format")
    client.chat(
        model="mine", messages=[USER], keep_alive="5m", think=True, options={"num_ctx": 2048, "num_predict": 9, "seed": 4, "mirostat": 1}
    )
    body = ENGINE.asked[-1].body
    checks.equal((body["n_predict"], body["seed"]), (9, 4), "options, and those that no engine has")
    checks.equal(client.generate(model="mine", prompt="<|im_start|>x", raw=True).response, "Yes.", "a raw prompt")
    checks.equal(prompt(), "<|im_start|>x", "it has no template")
    parts = [part.response for part in client.generate(model="mine", prompt="x", raw=True, stream=True)]
    checks.equal("".join(part or "" for part in parts), "Yes.", "a raw prompt, streamed")
    checks.equal(client.generate(model="mine").done, True, "a request that loads the model")
    for members in ({"suffix": "b"}, {"template": "{{ .Prompt }}"}):
        refused(ollama.ResponseError, lambda given=members: client.generate(model="mine", prompt="a", **given), checks, f"{members}")  # type: ignore[misc]
    try:
        client.embed(model="mine", input="x")
    except ollama.ResponseError as error:
        checks.equal(error.error, "there is no /api/embed here", "an error has the API's form where there is no route")
    with urllib.request.urlopen(urllib.request.Request(url + "/", method="HEAD")) as answer:
        checks.equal(answer.status, 200, "HEAD /")


def ends_with_the_assistant(url: str, checks: Checks) -> None:
    """What is sampled is never behind a closed message: a turn is opened, or the message is gone on with."""
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    said: Any = [USER, {"role": "assistant", "content": "x"}]
    prefixed: Any = [USER, {"role": "assistant", "content": "x", "prefix": True}]
    opened, goes_on = "assistant\nx<|im_end|>\n<|im_start|>assistant\n", "assistant\nx"

    def chat(messages: Any, **more: Any) -> Any:
        return client.chat.completions.create(model="mine", messages=messages, extra_body=more)

    def post(path: str, **body: Any) -> Any:
        request = urllib.request.Request(url + path, json.dumps({"model": "mine", **body}).encode())
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def check(what: str, end: str, got: str = "") -> None:
        got = got or prompt()
        checks.that(got.endswith(end), f"{what}: {got[-60:]!r}")

    wishes: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (said, {}, opened),
        (said, {"continue_final_message": False}, opened),
        (said, {"add_generation_prompt": True}, opened),
        (said, {"add_generation_prompt": False}, "assistant\nx<|im_end|>\n"),
        (said, {"chat_template_kwargs": {"add_generation_prompt": False}}, "assistant\nx<|im_end|>\n"),
        (said, {"continue_final_message": True}, goes_on),
        (prefixed, {}, goes_on),
        ([*prefixed[:1], {**prefixed[1], "prefix": False}], {}, opened),
        ([*said[:1], {"role": "assistant", "content": "x", "partial": True}], {}, goes_on),
    )
    for messages, more, end in wishes:
        chat(messages, **more)
        check(f"chat completions, {messages[-1]}, {more}", end)
        rendered = post("/v1/chat/completions/render", messages=messages, **more)["token_ids"]
        check(f"render, {messages[-1]}, {more}", end, ENGINE.vocabulary.decode(rendered))
        tokens = post("/tokenize", messages=messages, **more)["tokens"]
        checks.equal(tokens, rendered, f"tokenize, {messages[-1]}, {more}")
    refused(openai.BadRequestError, lambda: chat(prefixed, add_generation_prompt=True), checks, "both wishes")
    client.responses.create(model="mine", input=said)
    check("responses", opened)
    first = client.responses.create(model="mine", input="Hi").id
    client.responses.create(model="mine", input=[], previous_response_id=first)
    check("responses that go on with nothing new", "assistant\nYes.<|im_end|>\n<|im_start|>assistant\n")
    local = ollama.Client(host=url)
    local.chat(model="mine", messages=said)
    check("Ollama", goes_on)
    local.chat(model="mine", messages=[USER, {"role": "assistant", "content": ""}])
    check("Ollama, an empty message", "<|im_end|>\n<|im_start|>assistant\n")
    rendered = post("/v1/messages/render", messages=said, max_tokens=9)["token_ids"]
    check("Anthropic, rendered", goes_on, ENGINE.vocabulary.decode(rendered))
    chat(said)
    answer = chat([*said, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And?"}], parlance=True)
    checks.that(answer.model_extra["parlance"]["reused_tokens"] > 0, "the turn behind goes on from it")


def tokens_of_texts(url: str, checks: Checks) -> None:
    """llama.cpp's /tokenize."""

    def tokenized(**body: Any) -> Any:
        request = urllib.request.Request(url + "/tokenize", json.dumps({"model": "mine", **body}).encode())
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["tokens"]

    control = ENGINE.vocabulary.special["<|im_end|>"]
    for text in ("<|im_end|>", "a<|im_end|>b"):
        whole, plain = tokenized(content=text), tokenized(content=text, parse_special=False)
        checks.equal((whole.count(control), tokenized(content=text, parse_special=True)), (1, whole), f"{text}: control tokens")
        checks.equal(control in plain, False, f"{text}: no control token")
        checks.equal(ENGINE.vocabulary.decode(plain), text, f"{text}: its text")
    for text in ("hé", "h\U0001f600", "<|im_end|>", ""):
        pieces, ids = tokenized(content=text, with_pieces=True), tokenized(content=text)
        checks.equal([piece["id"] for piece in pieces], ids, f"{text}: ids of pieces")
        texts = [piece["piece"] for piece in pieces]
        joined = b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in texts)
        checks.equal(joined, text.encode(), f"{text}: its pieces {texts}")
        checks.that(all(isinstance(piece, str) or len(piece) == 1 for piece in texts), f"{text}: bytes alone")


def no_call_is_wanted(url: str, checks: Checks) -> None:
    """Where a request has no tool called, the grammar forbids calls, and what reads as one is text. No grammar binds this engine."""
    function: Any = {"name": "look", "description": "d", "parameters": PARAMETERS}
    chat: Any = {"messages": [USER], "tools": [{"type": "function", "function": function}], "tool_choice": "none"}
    named: Any = {"messages": [USER], "max_tokens": 99, "tools": [{"name": "look", "input_schema": PARAMETERS}]}
    fronts: tuple[tuple[str, Any], ...] = (
        ("/v1/chat/completions", chat),
        ("/v1/chat/completions", chat | {"n": 2}),
        ("/v1/messages", named | {"tool_choice": {"type": "none"}}),
        ("/v1/responses", {"input": "Hi", "tools": [{"type": "function", **function}], "tool_choice": "none"}),
        ("/api/chat", chat),
    )
    markup = CALL.removesuffix("<|im_end|>")
    for before in ("", "Well. "):
        ENGINE.script = lambda asked, before=before: Reply(before + CALL)
        for path, body in fronts:
            for stream in (False, True)[: 1 if "n" in body else 2]:  # the pieces of two choices come mixed
                data = json.dumps(body | {"model": "mine", "stream": stream}).encode()
                with urllib.request.urlopen(urllib.request.Request(url + path, data)) as answer:
                    got = answer.read().decode()
                what = f"{path}, stream {stream}, behind {before!r}: {got}"
                checks.that(not any(sign in got for sign in ('"tool_calls"', '"tool_use"', '"function_call"')), f"no call: {what}")
                texts = "".join(texts_in(got, stream))
                checks.that(markup.strip() in texts, f"the call is text: {what}")
                checks.that(constrained() and "look" not in constrained(), f"a grammar that forbids calls: {what}")
    said = {"role": "assistant", "content": "Well. " + markup}
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    tools: Any = chat["tools"]
    client.chat.completions.create(model="mine", messages=[USER], tools=tools, tool_choice="none")
    behind: Any = [USER, said, {"role": "user", "content": "And?"}]
    second = client.chat.completions.create(model="mine", messages=behind, tools=tools, extra_body={"parlance": True})
    checks.that((second.model_extra or {})["parlance"]["reused_tokens"] > 0, "the next turn goes on from it")


def texts_in(got: str, stream: bool) -> list[str]:
    """The pieces of an answer's text, or of its events' deltas."""
    found: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                if name in ("content", "text") and isinstance(one, str):
                    found.append(one)
                look(one)
        elif isinstance(value, list):
            for one in value:
                look(one)

    lines = [line.removeprefix("data: ") for line in got.split("\n")] if stream else [got]
    for line in lines:
        if line.startswith("{"):
            event = json.loads(line)
            if event.get("type") == "response.output_text.delta":
                found.append(event["delta"])
            elif not str(event.get("type", "")).startswith("response."):
                look(event)
    return found


def main() -> int:
    checks = Checks()
    with ENGINE, Gateway(sys.argv[1], ENGINE.url, "--log", "errors") as gateway:
        for test in (
            chats,
            old_functions,
            logprobs_of_the_text,
            messages,
            threads,
            responses,
            ollama_api,
            ends_with_the_assistant,
            no_call_is_wanted,
            tokens_of_texts,
        ):
            ENGINE.script = lambda asked: Reply()
            test(gateway.url, checks)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
