#!/usr/bin/env python3
"""Nothing of a request is lost without a word, on every template: what `parlance render --json` names under `losses`.

    losses_test.py path/to/parlance [--show N] [--share N] [TEMPLATE...]

Templates: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside the tree) where there is
one, Go's too. Each is given the same requests (SHAPES), in which every text holds a word of its own. What is held against the answer
knows nothing of origins: a word must be found in the prompt, or a loss names its place, or the request is refused; what a loss
names must not be found there; an image is named as lost exactly where the prompt without it is the same; a member of the request
that changes nothing is named unless the template's text mentions it; and a special token that would be written is named.
Begin reading at faults_of.
"""

import collections
import copy
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import api_spellings
from template_files import law_arguments

BOS = "wordofbos"


class Words:
    """Words that occur once in a request."""

    def __init__(self):
        self.count = itertools.count()

    def __call__(self, what="word"):
        return f"{what}qz{next(self.count)}xv"


def user(w, text=None):
    return {"role": "user", "content": text or w()}


def assistant(w, **more):
    return {"role": "assistant", "content": w(), **more}


def system(w):
    return {"role": "system", "content": w()}


def text_part(w):
    return {"type": "text", "text": w()}


def image(w):
    return {"type": "image_url", "image_url": {"url": f"https://example.org/{w('url')}.png"}}


def call(w, number=0, **arguments):
    return {"id": f"call0000{number}", "type": "function", "function": {"name": "look", "arguments": arguments}}


def result(w, number=0, content=None):
    return {"role": "tool", "tool_call_id": f"call0000{number}", "name": "look", "content": content or w()}


def tool(w, name="look"):
    return {"type": "function", "function": {"name": name, "description": w(), "parameters": {
        "type": "object", "properties": {w("parameter"): {"type": "string", "description": w()},
                                         "days": {"type": "integer", "enum": [1, 2]}}, "required": ["days"]}}}


def calling(w, *calls, **more):
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


def loop(w, *arguments, **more):
    """A question, calls, their results and an answer."""
    calls = [call(w, n, **given) for n, given in enumerate(arguments)]
    return [user(w), calling(w, *calls, **more), *[result(w, n) for n in range(len(calls))]]


def call_as_text(w, number=0):
    """OpenAI's own form, with arguments that have no words beside one that has."""
    arguments = {"place": w(), w("key"): False, w("key"): None, w("key"): "", w("key"): 0, w("key"): [], w("key"): {"inner": None}}
    return {"id": f"call0000{number}", "type": "function", "function": {"name": "look", "arguments": json.dumps(arguments)}}


# Members of a message that no API's messages have, or only another's.
UNKNOWN = {"attachments": lambda w: [w()], "note": lambda w: w(), "parts": lambda w: [{"text": w()}], "functionCall": lambda w: {"name": w(), "args": {"a": w()}},
           "experimental_attachments": lambda w: [{"name": w()}], "audio_url": lambda w: {"url": w()}, "tool_result": lambda w: w(), "image": lambda w: {"url": w()},
           "tool_call": lambda w: [call(w, place=w())], "documents": lambda w: [{"text": w()}]}
UNKNOWN_IN_CALLS = {"result": lambda w: w(), "output": lambda w: {"found": w()}, "args": lambda w: {"near": w()}, "parameters": lambda w: {"near": w()}}
# Beside what members are that nobody knows: a request of OpenAI's chat, and one that is converted.
WITH = {"": lambda w: {}, ", tools": lambda w: {"tools": [tool(w)]}, ", functions": lambda w: {"functions": [tool(w)["function"]]}}


def unknown_members(w, table):
    return {name: make(w) for name, make in table.items()}


CALLS = {
    "members that nobody knows": lambda w: {"id": "call00000", "type": "function", "function": {"name": "look", "arguments": {"place": w()}, "result": w()}, "output": {"found": w()}},
    "the name outside": lambda w: {"id": "call00000", "type": "function", "name": w("look"), "function": {"arguments": {"place": w()}}},
    "the arguments outside": lambda w: {"id": "call00000", "type": "function", "function": {"name": "look"}, "arguments": {"place": w()}},
    "more than a name and arguments, flat": lambda w: {"id": "call00000", "name": "look", "arguments": {"place": w()}, "result": w()},
    "members of a custom call": lambda w: {"id": "call00000", "type": "custom", "custom": {"name": "look", "input": w(), "result": w()}, "output": w()},
}


SHAPES = {
    "one question": lambda w: {"messages": [user(w)]},
    "a system": lambda w: {"messages": [system(w), user(w)]},
    "a developer": lambda w: {"messages": [{"role": "developer", "content": w()}, user(w)]},
    "two systems": lambda w: {"messages": [system(w), system(w), user(w)]},
    "a late system": lambda w: {"messages": [user(w), assistant(w), system(w), user(w)]},
    "several turns": lambda w: {"messages": [system(w), user(w), assistant(w), user(w), assistant(w), user(w)]},
    "users in a row": lambda w: {"messages": [user(w), user(w), assistant(w), user(w)]},
    "the assistant first": lambda w: {"messages": [assistant(w), user(w)]},
    "the assistant last": lambda w: {"messages": [user(w), assistant(w)]},
    "a message to go on with": lambda w: {"messages": [user(w), assistant(w)], "continue_final_message": True},
    "speakers with names": lambda w: {"messages": [{**user(w), "name": w("speaker")}, assistant(w), user(w)]},
    "a role of its own": lambda w: {"messages": [user(w), {"role": "observer", "content": w()}, user(w)]},
    "a number as content": lambda w: {"messages": [{"role": "user", "content": 4711}]},
    "text parts": lambda w: {"messages": [{"role": "user", "content": [text_part(w), text_part(w)]}]},
    "parts of every role": lambda w: {"messages": [{"role": role, "content": [text_part(w)]} for role in ("system", "user", "assistant", "user")]},
    "text and an image": lambda w: {"messages": [{"role": "user", "content": [text_part(w), image(w)]}]},
    "an image between texts": lambda w: {"messages": [{"role": "user", "content": [text_part(w), image(w), text_part(w)]}]},
    "two images": lambda w: {"messages": [{"role": "user", "content": [image(w), image(w), text_part(w)]}, assistant(w), user(w)]},
    "images alone": lambda w: {"messages": [{"role": "user", "content": [image(w), image(w)]}, assistant(w), {"role": "user", "content": [image(w)]}]},
    "two images behind a text": lambda w: {"messages": [{"role": "user", "content": [text_part(w), image(w), image(w)]}]},
    "two images between texts": lambda w: {"messages": [{"role": "user", "content": [text_part(w), image(w), image(w), text_part(w)]}]},
    "parts of a type of their own": lambda w: {"messages": [{"role": "user", "content": [{"type": "note", "text": w(), "title": w()}, {"type": "card", "front": w(), "back": [w()]},
        text_part(w)]}]},
    "parts that hold objects": lambda w: {"messages": [{"role": "user", "content": [{"type": "chart", "chart": {"title": w(), "points": [{"x": w()}]}}, text_part(w)]},
        assistant(w), {"role": "user", "content": [{"type": "table", "rows": [[w()], [w()]]}, text_part(w)]}]},
    "an image alone": lambda w: {"messages": [{"role": "user", "content": [image(w)]}]},
    "the template's image": lambda w: {"messages": [{"role": "user", "content": [{"type": "image"}, text_part(w)]}]},
    "a sound": lambda w: {"messages": [{"role": "user", "content": [text_part(w), {"type": "input_audio", "input_audio": {"data": w("sound"), "format": "wav"}}]}]},
    "a film": lambda w: {"messages": [{"role": "user", "content": [{"type": "video_url", "video_url": {"url": w("film")}}, text_part(w)]}]},
    "Ollama's images": lambda w: {"messages": [{**user(w), "images": ["aGk="]}]},
    "reasoning of earlier turns": lambda w: {"messages": [user(w), assistant(w, reasoning_content=w()), user(w)]},
    "reasoning in the loop": lambda w: {"messages": loop(w, {"days": 1}, reasoning_content=w()), "tools": [tool(w)]},
    "reasoning in parts": lambda w: {"messages": [user(w), calling(w, call(w, place=w()), content=[{"type": "thinking", "thinking": [{"type": "text", "text": w()}]}, text_part(w)]),
        result(w)], "tools": [tool(w)]},
    **{f"reasoning in {name}": lambda w, name=name, member=member: {"messages": loop(w, {"days": 1}, **{name: [{"type": "reasoning.text", member: w()}, {"type": "t", member: w()}]}),
        "tools": [tool(w)]} for name, member in (("reasoning_details", "text"), ("thinking_blocks", "thinking"))},
    "reasoning in content": lambda w: {"messages": [user(w), {"role": "assistant", "content": f"<think>{w()}</think>{w()}"}, user(w)]},
    "tools": lambda w: {"messages": [user(w)], "tools": [tool(w), tool(w, "listen")]},
    "tools and a system": lambda w: {"messages": [system(w), user(w)], "tools": [tool(w)]},
    "a call": lambda w: {"messages": loop(w, {"place": w()}), "tools": [tool(w)]},
    "results in another order": lambda w: {"messages": (lambda made: [*made[:2], *made[:1:-1]])(loop(w, {"place": w()}, {"place": w()})), "tools": [tool(w)]},
    "calls side by side": lambda w: {"messages": loop(w, {"place": w()}, {"place": w()}), "tools": [tool(w)]},
    "a call beside content": lambda w: {"messages": [user(w), {**calling(w, call(w, place=w())), "content": w()}, result(w), assistant(w), user(w)], "tools": [tool(w)]},
    "arguments of all kinds": lambda w: {"messages": loop(w, {"place": {"city": w(), "near": [w(), 5, None]}, "days": 31, "hot": True, "none": None, "empty": ""}), "tools": [tool(w)]},
    "no arguments": lambda w: {"messages": loop(w, {}), "tools": [tool(w)]},
    "arguments cut off": lambda w: {"messages": [user(w), calling(w, {"id": "call00000", "type": "function", "function": {"name": "look", "arguments": '{"place": "' + w()}}), result(w)], "tools": [tool(w)]},
    "a result in parts": lambda w: {"messages": [user(w), calling(w, call(w, place=w())), result(w, 0, [text_part(w), text_part(w)])], "tools": [tool(w)]},
    "an image as result": lambda w: {"messages": [user(w), calling(w, call(w, place=w())), result(w, 0, [text_part(w), image(w)])], "tools": [tool(w)]},
    "a document as result": lambda w: {"messages": [user(w), calling(w, call(w, place=w())), result(w, 0, [{"type": "document", "document": {"data": w("data")}}])], "tools": [tool(w)]},
    "a document as result, no tools": lambda w: {"messages": [user(w), {"role": "tool", "tool_call_id": "call00000", "content": [{"type": "document", "document": {"data": w("data")}}]}]},
    "calls without tools": lambda w: {"messages": loop(w, {"place": w()})},
    "results that are no text": lambda w: {"messages": [user(w), calling(w, call(w, place=w())), {"role": "tool", "tool_call_id": "call00000", "content": {"city": w(), "near": [w(), 5]}}], "tools": [tool(w)]},
    "content beside content": lambda w: {"messages": [{**user(w), "attachments": [{"text": w()}], "documents": [w()]}, {**assistant(w), "files": [w()]},
        {**user(w), "image_url": {"url": "https://example.org/x.png"}, "tool_responses": [{"name": "look", "response": w()}]}]},
    "parts of no type": lambda w: {"messages": [{"role": "user", "content": [{"text": w()}, {"said": w()}, w(), [w()]]}, assistant(w), user(w)]},
    "content as an object": lambda w: {"messages": [{"role": "user", "content": {"text": w(), "more": {"inner": w()}}}]},
    "tools as texts": lambda w: {"messages": [user(w)], "tools": [w("tool"), [w("tool")]]},
    **{f"parameters as {name}": lambda w, name=name: {"messages": [user(w)], "tools": [{"type": "function", "function": {"name": w("look"), "description": w(),
        name: {"type": "object", "properties": {w("parameter"): {"type": "string", "description": w()}}}}}]}
        for name in ("inputSchema", "input_schema", "args_schema", "parameter", "schema")},
    "parameters without properties": lambda w: {"messages": [user(w)], "tools": [{"type": "function", "function": {"name": w("look"), "description": w(),
        "parameters": {w("parameter"): {"type": "string", "description": w()}}}}]},
    "a schema of many members": lambda w: {"messages": [user(w)], "tools": [{"type": "function", "function": {"name": w("look"), "description": w(),
        "parameters": {"type": "object", "properties": {w("parameter"): {"$ref": "#/$defs/x"}, "days": {"oneOf": [{"type": "string", "description": w()}]}},
                       "$defs": {"x": {"type": "object", "properties": {w("inner"): {"type": "string", "description": w()}}}},
                       "oneOf": [{"properties": {w("branch"): {"description": w()}}}]},
        "returns": {"type": "string", "description": w()}, "examples": [w()]}}]},
    "a custom tool": lambda w: {"messages": [user(w)], "tools": [{"type": "custom", "custom": {"name": "look", "description": w(),
        "format": {"type": "grammar", "grammar": {"syntax": w("lark"), "definition": w()}}}}]},
    "a custom tool of any text": lambda w: {"messages": [user(w)], "tools": [{"type": "custom", "custom": {"name": w("look"), "description": w(), "format": {"type": "text"}}}]},
    "tools of other kinds": lambda w: {"messages": [user(w)], "tools": [{"type": "web_search", "filters": {"allowed": [w()]}},
        {"functionDeclarations": [{"name": w("tool"), "description": w(), "parameters": {"properties": {w("parameter"): {"type": "string"}}}}]}]},
    "calls of other kinds": lambda w: {"messages": [user(w), calling(w, {"id": "call00000", "type": "mcp", "mcp": {"server": w(), "args": [w()]}}, call(w, 1, place=w())), result(w)],
        "tools": [tool(w)]},
    "arguments as a list": lambda w: {"messages": [user(w), calling(w, {"id": "call00000", "type": "function", "function": {"name": "look", "arguments": [w(), {"x": w()}]}}), result(w)], "tools": [tool(w)]},
    "documents": lambda w: {"messages": [user(w)], "documents": [{"title": w(), "text": w()}, {"title": w(), "content": w()}]},
    "documents with nested texts": lambda w: {"messages": [user(w)], "documents": [{"id": "1", "data": {"title": w(), "text": w()}}, {"title": w(), "text": [w(), w()]},
        {"chunk": {"parts": [{"text": w()}]}}]},
    "a choice of tools": lambda w: {"messages": [user(w)], "tools": [tool(w)], "tool_choice": "none"},
    "one call at a time": lambda w: {"messages": [user(w)], "tools": [tool(w)], "parallel_tool_calls": False},
    "a form of the response": lambda w: {"messages": [user(w)], "response_format": {"type": "json_object"}},
    "old functions": lambda w: {"messages": [user(w)], "functions": [tool(w)["function"]], "function_call": "auto"},
    "a switch": lambda w: {"messages": [user(w)], "chat_template_kwargs": {"qzswitch": True}},
    # what a request says of reasoning: named, or it changes the prompt, or the template has the word
    **{f"{name} {json.dumps(value)}": lambda w, name=name, value=value: {"messages": [user(w), assistant(w), user(w)], name: value} for name, value in (
        ("think", False), ("think", "low"), ("thinking", False), ("thinking", {"type": "enabled", "budget_tokens": 1024}), ("thinking", {"type": "disabled"}),
        ("reasoning_effort", "none"), ("reasoning", {"effort": "low"}), ("reasoning", {"max_tokens": 100}), ("reasoning", {"enabled": False}), ("reasoning", {"enabled": True}),
        ("chat_template_kwargs", {"thinking": False}), ("chat_template_kwargs", {"reasoning": "off"}))},
    **{name: lambda w, name=name: {"messages": [user(w)], name: w()} for name in ("prompt", "suffix", "instructions", "system_prompt", "history", "context", "systemInstruction")},
    "a prompt and a suffix": lambda w: {"messages": [user(w)], "prompt": w(), "suffix": w()},
    "images beside the messages": lambda w: {"messages": [user(w)], "images": ["aGk="]},
    **{f"members of messages that nobody knows{name}": lambda w, more=more: {"messages": [{**user(w), **unknown_members(w, UNKNOWN)}, {**assistant(w), "note": w()}, user(w)], **more(w)}
        for name, more in WITH.items()},
    **{f"a member {name} and nothing else": lambda w, name=name, make=make: {"messages": [{"role": "user", name: make(w)}, assistant(w), user(w)]} for name, make in UNKNOWN.items()},
    **{f"a call with {what}{name}": lambda w, make=make, more=more: {"messages": [user(w), calling(w, make(w)), result(w)], **more(w)}
        for what, make in CALLS.items() for name, more in WITH.items()},
    **{f"arguments as {name}": lambda w, name=name, make=make: {"messages": [user(w), calling(w, {"id": "call00000", "type": "function", "function": {"name": "look", name: make(w)}}), result(w)],
        "tools": [tool(w)]} for name, make in UNKNOWN_IN_CALLS.items() if name != "result"},
    **{f"members of text parts that nobody knows{name}": lambda w, more=more: {"messages": [{"role": "user", "content": [{**text_part(w), "caption": w(), "image_url": {"url": w()},
        "input_audio": {"data": w()}, "text_of": [w()]}, text_part(w)]}, assistant(w), user(w)], **more(w)} for name, more in WITH.items()},
    "text parts without text": lambda w: {"messages": [{"role": "user", "content": [{"type": "text", "content": w()}, text_part(w)]}, assistant(w), {"role": "user", "content": [{"type": "text", "value": w()}]}]},
    "words beside an image": lambda w: {"messages": [{"role": "user", "content": [text_part(w), {**image(w), "text": w(), "caption": w()}]}]},
    "calls that are no list": lambda w: {"messages": [user(w), {"role": "assistant", "content": w(), "tool_calls": {"name": w(), "arguments": {"place": w()}}}, user(w)]},
    "an old call in the history": lambda w: {"messages": [{**user(w), "attachments": [w()]}, {"role": "assistant", "content": None, "note": w(),
        "function_call": {"name": "look", "arguments": json.dumps({"place": w()}), "result": w()}}, {"role": "function", "name": "look", "content": w()}]},
    "arguments as text": lambda w: {"messages": [user(w), calling(w, call_as_text(w)), result(w)], "tools": [tool(w)]},
    "answers that speak of marks": lambda w: {"messages": [user(w), {"role": "assistant", "content": f"{w('answer')} </think> {w('answer')}"},
        user(w), {"role": "assistant", "content": f"{w('answer')} <think>{w('thought')}</think>{w('answer')}"},
        user(w), {"role": "assistant", "content": f"<think>{w('thought')}</think>{w('answer')}</think>{w('answer')}"},
        user(w), {"role": "assistant", "content": [{"type": "text", "text": f"{w('answer')} <|channel|> </think> {w('answer')}"}]}, user(w)]},
    "reasoning whose mark the prompt opened": lambda w: {"messages": [user(w), {"role": "assistant", "content": f"{w('thought')}.\n</think>\n\n{w('answer')}"}, user(w)]},
    "reasoning over lines": lambda w: {"messages": [user(w), {"role": "assistant", "content": f"<think>\n{w('thought')}\n{w('thought')}\n</think>\n\n{w('answer')}"}, user(w)]},
    **{f"{name} beside the messages": lambda w, name=name: {"messages": [user(w)], name: w()} for name in ("system_message", "chat_history", "chat_template", "regex", "ebnf", "template",
        "question", "preamble", "Tools", "MESSAGES", "messgaes", "docuemnts", "tolos", "Chat_Template_Kwargs")},
    "names with capitals": lambda w: {"messages": [user(w)], "chat_template_kwargs": {"ENABLE_THINKING": w(), "enable_thinkign": w(), "reasonign_effort": w()}},
    "a schema with definitions": lambda w: {"messages": [user(w)], "tools": [{"type": "function", "function": {"name": w("look"), "description": w(), "parameters": {
        "type": "object", "properties": {w("parameter"): {"$ref": "#/$defs/Order"}}, "$defs": {"Order": {"type": "object", "properties": {
            w("parameter"): {"type": "string"}, w("parameter"): {"type": "array", "items": {"$ref": "#/$defs/Item"}}}}, "Item": {"type": "object", "properties": {w("parameter"): {"type": "string"}}}}}}}]},
    "a schema with objects in it": lambda w: {"messages": [user(w)], "tools": [{"type": "function", "function": {"name": w("look"), "description": w(), "parameters": {
        "type": "object", "properties": {w("parameter"): {"type": "object", "properties": {w("parameter"): {"type": "string"}}},
                                         w("parameter"): {"type": "array", "items": {"type": "object", "properties": {w("parameter"): {"type": "integer"}}}}}}}}]},
    "a refusal": lambda w: {"messages": [user(w), {"role": "assistant", "content": None, "refusal": w()}, user(w)]},
}
# What --as-is takes: requests under names that no template reads, and lists that are none.
AS_IS = {
    **{f"messages as {name}": lambda w, name=name: {name: [user(w), assistant(w), user(w)]} for name in ("msgs", "conversation", "conversations", "chat", "turns", "dialog")},
    "a line of a batch": lambda w: {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [user(w)]}},
    "messages as an object": lambda w: {"messages": {"role": "user", "content": w()}},
    "messages that are texts": lambda w: {"messages": [w(), w()]},
    **{f"{name} as {what}": lambda w, name=name, make=make: {"messages": [user(w)], name: make(w)} for name in ("tools", "documents")
        for what, make in (("a text", lambda w: w()), ("an object", lambda w: {"name": w(), "text": w()}))},
}
# What clients and servers send beside it, and nobody misses.
QUIET = {
    "what OpenAI's package sends back": lambda w: {"messages": [user(w), {**assistant(w), "refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": None},
        user(w)], "model": "m", "temperature": 0.5, "stop": ["a"], "metadata": {"a": "b"}, "user": "u", "stream_options": {"include_usage": True}, "service_tier": "auto"},
    "calls as OpenAI's package sends them back": lambda w: {"messages": [user(w), {"role": "assistant", "content": None, "refusal": None, "annotations": [], "audio": None,
        "function_call": None, "tool_calls": [{"id": "call00000", "index": 0, "type": "function", "function": {"name": "look", "arguments": json.dumps({"place": w()})},
                                               "extra_content": {"google": {"thought_signature": "c2ln"}}}]}, result(w)], "tools": [tool(w)], "tool_choice": "auto"},
    "reasoning in two forms": lambda w: (lambda said: {"messages": [user(w), {**calling(w, call(w, place=w())), "reasoning_content": said,
        "reasoning_details": [{"type": "reasoning.text", "text": said, "format": "unknown", "index": 0}]}, result(w)], "tools": [tool(w)]})(w("thought")),
    "members that are empty": lambda w: {"messages": [user(w)], "guided_choice": [], "stop": [], "images": []},
    "marks of a cache": lambda w: {"messages": [{"role": "user", "content": [{**text_part(w), "cache_control": {"type": "ephemeral"}}], "cache_control": {"type": "ephemeral"}}]},
    "ids, times and counts": lambda w: {"messages": [{**user(w), "id": "m1", "created_at": "2026-01-01", "timestamp": 7, "message_id": "x", "createdAt": "2026-01-01"},
        {**assistant(w), "finish_reason": "stop", "usage": {"total_tokens": 9}, "logprobs": {"content": []}, "model": "m", "weight": 0, "train": False, "loss": True}, user(w)]},
    "content in parts once more": lambda w: {"messages": [(lambda said: {"role": "user", "content": said, "parts": [{"type": "text", "text": said}]})(w())]},
    "steering": lambda w: {"messages": [user(w)], "provider": {"order": ["a"]}, "models": ["a"], "extra_headers": {"a": "b"}, "web_search_options": {"search_context_size": "low"},
        "mm_processor_kwargs": {"a": 1}, "samplers": ["top_k"], "bad_words": ["a"], "verbosity": "low", "prompt_cache_key": "k", "include": ["a"], "plugins": [{"id": "web"}]},
    "a row of data": lambda w: {"messages": [user(w)], "id": "r1", "prompt_id": "p", "source": "s", "category": "c", "tags": ["t"], "score": 0.5},
}
# Requests of other APIs: a few of these in the words of each (api_spellings.py), with all that only that API has.
WRITTEN = ("a system", "several turns", "text parts", "text and an image", "reasoning of earlier turns", "reasoning in the loop", "tools and a system",
           "a call", "calls side by side", "a call beside content", "a result in parts", "no arguments")
OF_APIS = {
    "Anthropic's own": lambda w: {"system": [{"type": "text", "text": w(), "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": w()}],
        "messages": [{"role": "user", "content": [{"type": "document", "title": w(), "source": {"type": "text", "media_type": "text/plain", "data": w()}},
            {"type": "search_result", "title": w(), "source": w(), "content": [{"type": "text", "text": w()}]}, {"type": "text", "text": w()}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": w(), "signature": "c2ln"}, {"type": "redacted_thinking", "data": "c2ln"},
            {"type": "thinking", "thinking": w(), "signature": "c2ln"}, {"type": "text", "text": w(), "citations": [{"cited_text": w()}]},
            {"type": "tool_use", "id": "call00000", "name": "look", "input": {"place": w(), "days": 2}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call00000", "is_error": True, "content": [{"type": "text", "text": w()}]},
            {"type": "text", "text": w()}]}],
        "tools": [{"name": "look", "description": w(), "input_schema": {"type": "object", "properties": {w("parameter"): {"type": "string"}}}},
            {"type": "web_search_20250305", "name": w()}]},
    "Responses' own": lambda w: {"instructions": w(), "input": [{"role": "developer", "content": w()}, {"role": "user", "content": w()},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": w()}], "content": [{"type": "reasoning_text", "text": w()}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": w(), "annotations": [{"title": w()}]}]},
        {"type": "custom_tool_call", "call_id": "call00000", "name": "look", "input": w()},
        {"type": "custom_tool_call_output", "call_id": "call00000", "output": [{"type": "input_text", "text": w()}]}],
        "tools": [{"type": "custom", "name": "look", "description": w()}, {"type": "mcp", "server_label": w()}]},
    "Gemini's own": lambda w: {"system_instruction": {"parts": [{"text": w()}, {"text": w()}]}, "contents": [{"parts": [{"text": w()}]},
        {"role": "model", "parts": [{"text": w(), "thought": True}, {"text": w()}, {"functionCall": {"name": "look", "args": {"place": [w()]}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"found": w(), "more": {w("key"): w()}}}}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "description": w(), "parameters": {"type": "OBJECT", "properties": {w("parameter"): {"type": "STRING"}}}}],
            "googleSearch": {"excludeDomains": [w()]}}]},
}
# members of a request that are read as a whole, and those that steer the server
NEUTRAL = {"system", "instructions", "input", "contents", "systemInstruction", "system_instruction", "conversations", "model", "max_tokens",
           "continue_final_message", "add_generation_prompt", "messages", "tools", "documents", "bos_token"}


def requests():
    """name, request: each word once."""
    for name, make in SHAPES.items():
        yield name, make(Words())
    for api, write in api_spellings.APIS.items():
        for name in WRITTEN:
            if written := write(SHAPES[name](Words())):
                yield f"{name}, {api}", written[1]
    for name, make in [*OF_APIS.items(), *QUIET.items()]:
        yield name, make(Words())


def places_of_words(value, path=""):
    """word, path, for each word of a request; a key's place is its value's."""
    if isinstance(value, dict):
        for key, inner in value.items():
            place = (f'{path}["{key}"]' if "$" in key else f"{path}.{key}") if path else key
            if re.search(r"qz\d+xv", key):
                yield key, place
            yield from places_of_words(inner, place)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places_of_words(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        if path.endswith(".arguments") and value.startswith("{") and value.endswith("}"):
            yield from places_of_words(json.loads(value), path)
            return
        for word in re.findall(r"[a-z]+qz\d+xv", value):
            yield word, path


def is_json_text(request, place):
    """Is there a JSON value in the text at this place of a line of ShareGPT?"""
    return "conversations" in request and (place == "tools" or place.endswith(".value"))


def covers(path, place):
    """Does a loss at `path` speak of `place`?"""
    return place == path or place.startswith(path + ".") or place.startswith(path + "[")


def media_of(request):
    """Where parts without text stand: message, member, number."""
    for number, message in enumerate(request.get("messages", [])):
        if "system" in request:
            return  # Anthropic's
        for member in ("content", "images"):
            parts = message.get(member)
            for part, one in enumerate(parts if isinstance(parts, list) else []):
                if member == "images" or isinstance(one, dict) and one.get("type") not in (None, "text"):
                    yield number, member, part


def without(request, number, member, part):
    less = copy.deepcopy(request)
    del less["messages"][number][member][part]
    return less


class Template:
    def __init__(self, program, path):
        self.program, self.path = program, path
        self.source = path.read_text(encoding="utf-8", errors="surrogateescape")

    def render(self, lines, *options):
        if not lines:
            return []
        command = [self.program, "render", "-t", str(self.path), "--jsonl", "--json", "--no-generation-prompt", *options]
        done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        assert len(answers) == len(lines), f"{self.path}: {len(answers)} answers to {len(lines)} requests: {done.stderr[-300:]}"
        return answers


PART_TYPES = ("text", "image", "image_url", "input_audio", "video_url", "thinking", "document", "note", "card", "chart", "table")
PYTHON_PART = re.compile(rf"\{{'type': '({'|'.join(PART_TYPES)})'")  # as content has them, and other things are not called


def python_faults(request, answer, source):
    """Data of content that stand in the prompt as Python writes them are named, with a type and without, also those that a request of
    another API becomes. The words of a request occur once."""
    shown = PYTHON_PART.search(answer["text"])
    if shown and shown[0] not in source and not any(loss["subject"] == "data" for loss in answer["losses"]):
        yield f"{shown[0]}…}} is printed as Python's data, and not named"
    for number, message in enumerate(request.get("messages", [])):
        content = message.get("content")
        for path, value in (("", content), *((f"[{part}]", one) for part, one in enumerate(content if isinstance(content, list) else []))):
            place = f"messages[{number}].content{path}"
            for below, data in containers(value, place):
                if list(places_of_words(data)) and repr(data) in answer["text"] and not any(
                        covers(place, loss["path"]) and loss["subject"] == "data" for loss in answer["losses"]):
                    yield f"{below} is printed as Python's data, and not named"
        if (content is None or isinstance(content, (list, dict))) and any(
                loss["subject"] == "data" and "Python" in loss["message"] and loss["path"].startswith(f"messages[{number}].content") for loss in answer["losses"]) \
                and not re.search(r"[{\[]'", answer["text"]):
            yield f"messages[{number}].content is named as Python's data, and is none"


def containers(value, place):
    """The dicts and lists below a value, and it itself, with their places."""
    if isinstance(value, (dict, list)):
        if isinstance(value, dict) and value.get("type") == "tool_use":
            return  # a call, whose arguments templates print as their models read them
        yield place, value
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from containers(inner, f"{place}.{key}" if isinstance(value, dict) else f"{place}[{key}]")


def is_of_media(request, place):
    """Is it what an image or a sound is, in a part of such a type?"""
    found = re.match(r"messages\[(\d+)\]\.content\[(\d+)\]\.(?:image_url|input_audio|video_url)\b", place)
    if found is None or "system" in request:
        return any(name in place for name in (".image_url", ".input_audio", ".video_url")) and found is None and ".content[" in place
    return request["messages"][int(found[1])]["content"][int(found[2])].get("type") != "text"


def word_faults(name, request, answer):
    text = answer["text"]
    answer = {**answer, "losses": [loss for loss in answer["losses"] if loss["subject"] != "order"]}  # which is of no text, see order_test.py
    places = collections.defaultdict(list)
    for word, place in places_of_words(request):
        places[word].append(place)
    if name in QUIET and (lost := [loss for loss in answer["losses"] if loss["kind"] == "lost" and loss["subject"] not in ("special token", "data", "argument", "call")
                                   and loss["path"] != "add_generation_prompt" and not any(
            covers(loss["path"], place) and word not in text for word, place in places_of_words(request))]):
        yield f"{lost[0]['path']} is named, and nobody misses it: {lost[0]['message']}"
    for word, place in places_of_words(request):
        if place.startswith("functions") or is_of_media(request, place):
            continue
        if ".source." in place and not place.endswith("source.data") or ".inlineData" in place:
            continue  # an image
        named = [loss for loss in answer["losses"] if any(covers(loss["path"], one) for one in (places[word] if name in QUIET else [place]))]
        is_taken = re.search(r"\.(image_url|input_audio)\b", place) and any(loss["path"].endswith(".text") and loss["path"].rpartition(".")[0] in place for loss in answer["losses"])
        if word not in text and not named and not is_taken:  # else the part is an image for the template, and its text is named
            yield f"{place} is neither in the prompt nor named"
        kinds = {loss["kind"] for loss in named}
        if word not in text and word.startswith("answer") and kinds == {"left out"}:
            yield f"{place}: words of an answer are left out, and not lost: {word}"
        is_answered = any(other.startswith("answer") and other in text for other in places)
        if word not in text and name.startswith("reasoning") and word.startswith("thought") and "lost" in kinds and is_answered:
            yield f"{place}: reasoning of an earlier turn is lost, and not left out"
        if is_json_text(request, place):
            continue  # which has one path
        whole = [loss for loss in named if "only a part" not in loss["message"] and loss["subject"] not in ("data", "argument")]
        if word in text and whole:
            yield f"{place} is in the prompt, and named: {whole[0]['message']}"


def media_faults(request, answer, answers):
    for (number, member, part), less in zip(media_of(request), answers):
        place = f"messages[{number}].{member}[{part}]"
        named = any(covers(loss["path"], place) for loss in answer["losses"] if loss["kind"] == "lost")
        if "error" in less or named == (less["text"] == answer["text"]):
            continue
        # where the parts beside it are lost as well, what is left without it may be shown in another way
        message = f"messages[{number}].{member}"
        more = any(covers(message, loss["path"]) and loss["path"] != place or loss["subject"] == "data" for loss in answer["losses"])
        if not more:
            yield f"{place} {'changes' if named else 'does not change'} the prompt, and is {'' if named else 'not '}named"


def placeholder_faults(template, request, answer):
    """Placeholders stand apart, in the order of the parts, none is input, and each part has one or is named."""
    end = 0
    encoded = answer["text"].encode("utf-8", "surrogatepass")
    for one in answer["placeholders"]:
        if one["begin"] < end or one["end"] <= one["begin"] or one["end"] > len(encoded):
            yield f"placeholder {one} does not stand behind the one before"
        end = one["end"]
        if re.search(rb"[a-z]qz\d+xv", encoded[one["begin"]:one["end"]]):
            yield f"placeholder {one} has a text of the request"
    paths = [one["path"] for one in answer["placeholders"]]
    if paths != sorted(paths) or len(set(paths)) != len(paths):
        yield f"placeholders are not in the order of the parts: {paths}"
    words = list(places_of_words(request))
    for number, member, part in media_of(request):
        place = f"messages[{number}].{member}[{part}]"
        one = request["messages"][number][member][part]
        if member == "content" and one["type"] not in ("image", "image_url", "input_audio", "video_url"):
            continue
        said = any(covers(loss["path"], place) for loss in answer["losses"])
        printed = any(covers(place, path) and word in answer["text"] for word, path in words)
        # Ollama drops a message that says nothing, and numbers its images: nothing shows what stands for the first of some
        is_alone = not any(covers(f"messages[{number}]", path) and word in answer["text"] for word, path in words)
        unseen = template.path.suffix == ".gotmpl" and part == 0 and is_alone
        if place not in paths and not said and not printed and not unseen:
            yield f"{place} has no placeholder, and is not named"


def settings_of(request):
    return [name for name in request if name not in NEUTRAL]


def setting_faults(template, request, answer, answers):
    for name, less in zip(settings_of(request), answers):
        given = list(request[name]) if name == "chat_template_kwargs" else [name]
        named = any(loss["path"] in given for loss in answer["losses"] if loss["kind"] == "lost")
        same = less.get("text") == answer["text"]
        usual = request[name] == "auto"
        if not same and any(loss["path"] in given and "no effect" in loss["message"] for loss in answer["losses"]):
            yield f"{name} changes the prompt, and is named as without effect"
        of_its_parts = any(covers(name, loss["path"]) for loss in answer["losses"])
        of_reasoning = name in ("think", "thinking", "reasoning", "reasoning_effort")
        words = ("think", "reasoning") if of_reasoning else given  # a pass may make another variable of it, which is the usual
        read = any(one in template.source for one in words)
        if same and not named and not of_its_parts and not usual and not read:
            yield f"{name} changes nothing, and is not named"


def token_faults(template, answer, more):
    if "bos_token" not in template.source or template.path.suffix == ".gotmpl":
        return
    named = any(loss["path"] == "bos_token" for loss in answer["losses"])
    if "text" in more and (BOS in more["text"]) != named:
        yield f"bos_token {'is not named' if not named else 'is named, and not written'}"


def variants_of(name, request):
    """What else is rendered to judge a request: without each part that has no text, without each setting, with a special token."""
    settings = [] if name in QUIET else settings_of(request)
    return ([without(request, *place) for place in media_of(request)], [{k: v for k, v in request.items() if k != name} for name in settings], [{**request, "bos_token": BOS}])


def faults_of(template, options, counts):
    """name, fault for each; a request may be refused."""
    named = list(requests())
    answers = template.render([request for _, request in named], *options)
    kept = [(name, request, answer, variants_of(name, request)) for (name, request), answer in zip(named, answers) if "error" not in answer]
    counts["requests"] += len(named)
    counts["refused"] += len(named) - len(kept)
    others = iter(template.render([one for *_, variants in kept for some in variants for one in some], *options))
    for name, request, answer, variants in kept:
        of_media, of_settings, of_tokens = ([next(others) for _ in some] for some in variants)
        counts["lossless" if not any(loss["kind"] == "lost" for loss in answer["losses"]) else "with losses"] += 1
        counts["losses"] += sum(loss["kind"] == "lost" for loss in answer["losses"])
        counts["placeholders"] += len(answer["placeholders"])
        # adapted, a request without its images may go through other passes
        found = itertools.chain(word_faults(name, request, answer), python_faults(request, answer, template.source), media_faults(request, answer, of_media) if options else (),
                                placeholder_faults(template, request, answer), setting_faults(template, request, answer, of_settings), token_faults(template, answer, *of_tokens))
        yield from ((name, fault) for fault in found)


def faults_as_is(template, counts):
    """The same of words alone, where the template gets the request as it is."""
    named = [(name, make(Words())) for name, make in AS_IS.items()]
    command = ("--as-is",)
    for (name, request), answer in zip(named, template.render([request for _, request in named], *command)):
        counts["requests"] += 1
        if "error" in answer:
            counts["refused"] += 1
            continue
        counts["losses"] += sum(loss["kind"] == "lost" for loss in answer["losses"])
        for word, place in places_of_words(request):
            letters = iter(answer["text"])
            shown = all(letter in letters for letter in word)  # a template may print a text letter by letter
            if not shown and not any(loss["kind"] == "lost" and covers(loss["path"], place) for loss in answer["losses"]):
                yield name, f"{place} is neither in the prompt nor named"


# Booleans as forms and people write them.
WRITTEN_BOOLEANS = {False: ("false", "False", "off", "no", "0", 0), True: ("true", "True", "on", "yes", "1", 1)}


def switch_faults(template, options, counts):
    """A switch of reasoning that is no boolean is named exactly where the prompt is another than with the boolean; unless the template has the very word."""
    w = Words()
    chats = [{"messages": [user(w), assistant(w, reasoning_content=w()), user(w)]}, {"messages": loop(w, {"days": 1}, reasoning_content=w()), "tools": [tool(w)]}]
    cases = [(chat, name, value, meant) for chat in chats for name in ("enable_thinking", "thinking") for meant, values in WRITTEN_BOOLEANS.items() for value in values]
    answers = template.render([{**chat, name: said} for chat, name, value, meant in cases for said in (value, meant)], *options)
    for (_, name, value, _), answer, right in zip(cases, answers[::2], answers[1::2]):
        counts["switches"] += 1
        if "error" in answer or "error" in right:
            continue
        named = any(loss["kind"] == "lost" and loss["path"] == name for loss in answer["losses"])
        same, has_word = answer["text"] == right["text"], isinstance(value, str) and value in re.findall(r"\w+", template.source)
        if not same and not named and not has_word:
            yield f"{name}: {json.dumps(value)}", "the prompt is another than with the boolean, and it is not named"
        if same and any("does not take for" in loss["message"] for loss in answer["losses"] if loss["path"] == name):
            yield f"{name}: {json.dumps(value)}", "the prompt is that with the boolean, and it is named"


# How a template makes another text of one, and how it cuts.
FILTERS = ["", "|tojson", "|upper", "|lower", "|e", "|urlize", "|title", "|trim|upper", "|tojson|e"]
CUTS = ["[:9]", "[9:]", "[:30]", "|truncate(20, true)", ".split('aa')[0]", ".replace('aa', '')", "|string"]


# What each is tried on: a template, the value that is cut, and whose words it prints.
CUT_FROM = (("{%% for m in messages %%}{{ %s }}{%% endfor %%}", "m.content", r"messages"), ("{%% for d in documents %%}{{ %s }}{%% endfor %%}", "d.text", r"documents\[0\]\.text"),
            ("{%% for d in documents %%}{{ %s }}{%% endfor %%}", "d", r"documents"))


def cut_expressions():
    """template, the places that it should show, expression, whether that leaves all words."""
    for made, cut in itertools.product(FILTERS, CUTS):
        for template, value, places in CUT_FROM:
            if value != "d" or "tojson" in made:  # which is no text before
                yield template, places, f"({value}{made}){cut}", cut == "|string"
            if value != "d":
                yield template, places, f"({value}{cut}){made}", cut == "|string"


def cut_faults(program, counts):
    """What is made of a text and then cut, and what is cut first: each word is in the prompt, whatever its case, or its text is named."""
    w = Words()
    request = {"messages": [user(w, " aa ".join(w() for _ in range(4))), user(w, "\u65e5\u672c <" + w() + "> \"" + w() + "\"\n" + w())],
               "documents": [{"title": w(), "text": f"{w()} aa {w()} {w()}"}]}
    for template, places, expression, is_whole in cut_expressions():
        counts["cuts"] += 1
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.jinja"
            path.write_text(template % expression)
            answer = Template(program, path).render([request])[0]
        if "error" in answer:
            yield expression, answer["error"]["message"]
            continue
        for word, place in places_of_words(request):
            if not re.match(places, place):
                continue
            named = any(loss["kind"] == "lost" and covers(loss["path"], place) for loss in answer["losses"])
            if word not in answer["text"].lower() and not named:
                yield expression, f"{place}: {word} is neither in the prompt nor named"
            if is_whole and named:
                yield expression, f"{place} is whole, and named"


def main():
    args = law_arguments(go=True)
    counts = collections.Counter()
    bad = 0
    cuts = list(cut_faults(args.program, counts))
    total = len(cuts)
    for expression, fault in cuts[:10]:
        print(f"{expression}: {fault}")
    for path in args.chosen:
        template = Template(args.program, path)
        for options in ((), ("--no-adapt",), ("--as-is",)):
            faults = list(faults_as_is(template, counts) if options == ("--as-is",) else faults_of(template, options, counts))
            faults += switch_faults(template, options, counts)
            total += len(faults)
            bad += bool(faults)
            for name, fault in faults[:args.show]:
                print(f"{path.stem} {' '.join(options)}: {name}: {fault}")
    said = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{len(args.chosen)} templates, {len(list(requests()))} shapes, adapted and not: {said}; {total} faults")
    return 1 if total or not args.chosen else 0


if __name__ == "__main__":
    sys.exit(main())
