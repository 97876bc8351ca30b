"""Requests that Ollama and the gateway answer alike, and those of which it is known that they do not. Begin reading at REQUESTS."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Request = tuple[str, str, Any]
MODEL = "smollm2"
USER: Json = {"role": "user", "content": "Say hi."}
SHORT: Json = {"num_predict": 8, "seed": 1, "temperature": 0}
SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
PARAMETERS: Json = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
TOOL: Json = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": PARAMETERS}}
CALL: Json = {"function": {"name": "look", "arguments": {"at": "x"}}}
RESULT: Json = {"role": "tool", "tool_name": "look", "content": "dust"}
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def chat(*messages: Any, stream: Any = False, **more: Any) -> Request:
    return "POST", "/api/chat", {"model": MODEL, "messages": list(messages or (USER,)), "options": SHORT, "stream": stream, **more}


def generate(stream: Any = False, **more: Any) -> Request:
    return "POST", "/api/generate", {"model": MODEL, "prompt": "Say hi.", "options": SHORT, "stream": stream, **more}


def options(**more: Any) -> Request:
    return chat(options={**SHORT, **more})


def user(content: Any, **more: Any) -> Json:
    return {"role": "user", "content": content, **more}


REQUESTS: dict[str, Request] = {
    "the root": ("GET", "/", None),
    "its head": ("HEAD", "/", None),
    "the version": ("GET", "/api/version", None),
    "the version's head": ("HEAD", "/api/version", None),
    "the models": ("GET", "/api/tags", None),
    "their head": ("HEAD", "/api/tags", None),
    "models by POST": ("POST", "/api/tags", {}),
    "no such path": ("GET", "/api/nothing", None),
    "a chat by GET": ("GET", "/api/chat", None),
    "a model": ("POST", "/api/show", {"model": MODEL}),
    "an unknown model": ("POST", "/api/show", {"model": "nobody"}),
    "a model of no body": ("POST", "/api/show", b""),
    "a model of half a body": ("POST", "/api/show", b"{"),
    "a chat": chat(stream=True),
    "a whole chat": chat(),
    "stream null": chat(stream=None),
    "what runs": ("GET", "/api/ps", None),
    "a chat by NAME:latest": chat(model=MODEL + ":latest"),
    "a chat with an unknown model": chat(model="nobody"),
    "a chat without a model": ("POST", "/api/chat", {"messages": [USER], "options": SHORT}),
    "a model that is a number": chat(model=3),
    "a stop text": options(num_predict=40, stop=["l"]),
    "a load": chat(messages=[]),
    "messages null": chat(messages=None),
    "an unload": chat(messages=[], keep_alive=0),
    "a load by /api/generate": ("POST", "/api/generate", {"model": MODEL}),
    "an unload by /api/generate": ("POST", "/api/generate", {"model": MODEL, "keep_alive": 0}),
    "a load without a model": ("POST", "/api/generate", {}),
    "messages that are a text": chat(messages="Hi"),
    "a message that is a text": chat("Hi"),
    "an unknown role": chat({"role": "x", "content": "x"}),
    "no role": chat({"content": "x"}),
    "no content": chat({"role": "user"}),
    "content null": chat(user(None)),
    "content 3": chat(user(3)),
    "content of parts": chat(user([{"type": "text", "text": "Hi"}])),
    "a system message alone": chat({"role": "system", "content": "x"}),
    "a reply that is begun": chat(USER, {"role": "assistant", "content": "Hi"}),
    "a call and its result": chat(USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, RESULT),
    "think": chat(think=True),
    "think false": chat(think=False),
    "think of no word": chat(think="x"),
    "think 1": chat(think=1),
    "tools": chat(tools=[TOOL]),
    "no tools": chat(tools=[]),
    "tools null": chat(tools=None),
    "tools that are an object": chat(tools={}),
    "a tool that is a text": chat(tools=["x"]),
    "JSON": chat(format="json", options={**SHORT, "num_predict": 60}),
    "a schema": chat(format=SCHEMA),
    "format empty": chat(format=""),
    "format null": chat(format=None),
    "format xml": chat(format="xml"),
    "a wrong schema": chat(format={"type": "x"}),
    "a temperature that is a text": options(temperature="hot"),
    "a limit that is a text": options(num_predict="8"),
    "a limit of 8.7": options(num_predict=8.7),
    "top_k 40.0": options(top_k=40.0),
    "an unknown option": options(foo=1),
    "options that are a list": chat(options=[]),
    "an option null": options(top_k=None),
    "a temperature below 0": options(temperature=-1),
    "top_p 2": options(top_p=2),
    "no limit": options(num_predict=0, stop=["l"]),
    "a stop that is a text": options(stop="l"),
    "stops that are numbers": options(stop=[1]),
    "a large seed": options(seed=2**40),
    "stream no": chat(stream="no"),
    "keep_alive": chat(keep_alive="1h30m"),
    "keep_alive x": chat(keep_alive="x"),
    "keep_alive 5": chat(keep_alive=5),
    "keep_alive '5'": chat(keep_alive="5"),
    "keep_alive true": chat(keep_alive=True),
    "logprobs": chat(logprobs=True, top_logprobs=2),
    "logprobs, streamed": chat(logprobs=True, stream=True),
    "21 logprobs": chat(logprobs=True, top_logprobs=21),
    "logprobs 2": chat(logprobs=2),
    "an image": chat(user("x", images=[IMAGE])),
    "truncate x": chat(truncate="x"),
    "an unknown member": chat(foo=1),
    "half a body": ("POST", "/api/chat", b'{"model":'),
    "no body": ("POST", "/api/chat", b""),
    "a list": ("POST", "/api/chat", b"[]"),
    "too long": chat(user("word " * 5000), truncate=False),
    "too long, streamed": chat(user("word " * 5000), truncate=False, stream=True),
    "generate": generate(stream=True),
    "generate, whole": generate(),
    "raw": generate(raw=True),
    "raw, streamed": generate(raw=True, stream=True),
    "raw 1": generate(raw=1),
    "raw with a system message": generate(raw=True, system="x"),
    "raw with a template": generate(raw=True, template="x"),
    "raw with a context": generate(raw=True, context=[1]),
    "raw, logprobs": generate(raw=True, logprobs=True),
    "a suffix": generate(suffix="x"),
    "a system message": generate(system="Be brief."),
    "a template": generate(template="{{ .Prompt }}"),
    "generate by a schema": generate(format=SCHEMA),
    "generate with an unknown model": generate(model="nobody"),
    "a prompt that is a number": generate(prompt=3),
    "ids of another": generate(context=[1, 2]),
    "generate, thinking": generate(think=True),
    "generate of no JSON": ("POST", "/api/generate", b"x"),
    "embeddings": ("POST", "/api/embed", {"model": MODEL, "input": "x"}),
    "a deletion": ("DELETE", "/api/delete", {"model": "nobody"}),
    "a copy": ("POST", "/api/copy", {"source": "nobody", "destination": "y"}),
}

ONE_MODEL = "a gateway with one model answers by it whatever the name"
DIFFERENT: dict[str, str] = {  # why; COMPATIBILITY.md says the same
    "a model": "of the weights only what the gateway's own file says",
    "an unknown model": ONE_MODEL,
    "a chat with an unknown model": ONE_MODEL,
    "generate with an unknown model": ONE_MODEL,
    "a chat without a model": ONE_MODEL,
    "a load without a model": "400 at both routes, at one of which Ollama says 404",
    "no role": "a message without a role is refused",
    "no content": "the template decides",
    "content of parts": "lists of parts are taken",
    "think": "thinking that a model has not is no error",
    "generate, thinking": "thinking that a model has not is no error",
    "tools": "tools that a template has no place for are told as lost",
    "format xml": "400 for 500",
    "a wrong schema": "400 for 500",
    "a temperature that is a text": "400 for 500",
    "a limit that is a text": "400 for 500",
    "stops that are numbers": "400 for 500",
    "a stop that is a text": "one text is taken for a list of one",
    "a temperature below 0": "400, as engines refuse it",
    "top_p 2": "400, as engines refuse it",
    "an image": "an image that the model would not see is refused",
    "a template": "the model's own is used",
    "ids of another": "only contexts of the gateway's own answers are known",
    "logprobs, streamed": "top_logprobs is an empty list where none were asked for",
    "raw, logprobs": "top_logprobs is an empty list where none were asked for",
    "embeddings": "no route",
}
