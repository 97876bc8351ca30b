"""`parse_response` of transformers, also for models that declare no response_template.

Where a tokenizer has a response_template, or the call gives one, the tokenizer's own method reads the reply, since such a template may
name any fields and transformations. Otherwise parlance reads it, in the format that it derives from the chat template. Begin reading at
parse_response.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from parlance._core import Message, ReplyFormat, ReplyReader, Template, Tokenizer
from parlance._errors import Error
from parlance._installed import called, no_tokenizer, override_of
from parlance._tokenizers import is_processor, tokenizer_of
from parlance._transformers import plain_tools

__all__ = ["parse_response"]

# What tells a tokenizer of transformers from other objects.
_OF_TOKENIZERS = ("get_chat_template", "chat_template", "response_template")


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _left_to_own(method: _Method) -> _Method:
    """The method, which leaves a tokenizer or a processor whose class has a method of its own to that one."""

    @functools.wraps(method)
    def either(tokenizer: Any, /, *args: Any, **kwargs: Any) -> Any:
        of = "ProcessorMixin" if is_processor(tokenizer) else "PreTrainedTokenizerBase"
        own = override_of(tokenizer, "parse_response", of)
        return called(tokenizer, "parse_response", method, args, kwargs) if own is None else own(tokenizer, *args, **kwargs)

    return either  # type: ignore[return-value]


@_left_to_own
def parse_response(
    tokenizer: Any,
    response: Any,
    schema: dict[str, Any] | None = None,
    *,
    prefix: Any = None,
    tools: Sequence[Any] | None = None,
) -> Any:
    """What `tokenizer.parse_response(response, …)` gives; `tokenizer` may be a processor too. A class with a method of its own keeps it.

    `response` is a text or token ids, or a batch: a list of texts, a list of ids, an array or tensor of two dimensions. `prefix` is the
    prompt before it, one for all or one for each; `tools` are those of the prompt. Gives a message as a dict, or a list of them.

    For a tokenizer without a response_template, parlance reads the reply in the format that it derives from the chat template. The message
    has `role`, and what there is of `content`, `reasoning_content` and `tool_calls`. Arguments are objects; those of a call that breaks
    off are the str that there is. `prefix` may be left out then: the reply follows what the template writes with
    `add_generation_prompt`. With "" the reply is a whole turn.

    Raises what transformers raises; AttributeError for a tokenizer that has neither a response_template nor a chat template; TypeError for
    what is no tokenizer of transformers.
    """
    holder, own = tokenizer, None
    if is_processor(tokenizer):
        if not hasattr(tokenizer, "tokenizer"):
            raise ValueError("Can't use parse_response on a processor class without a tokenizer!")
        tokenizer = tokenizer.tokenizer
        is_set = "parse_response" in getattr(tokenizer, "__dict__", {})
        if is_set or tokenizer is None:  # whose error is transformers' own
            read: Callable[..., Any] = getattr(tokenizer, "parse_response")  # noqa: B009
            return read(response, schema, prefix=prefix, tools=tools)
        own = override_of(tokenizer, "parse_response")
    if own is None and (schema is not None or getattr(tokenizer, "response_template", None) is not None):
        own = getattr(type(tokenizer), "parse_response", None)
    if own is not None:
        return own(tokenizer, response, schema, prefix=prefix, tools=tools)
    if schema is None and (isinstance(tokenizer, type) or not any(hasattr(tokenizer, name) for name in _OF_TOKENIZERS)):
        raise no_tokenizer(tokenizer)
    reader = _Reader(tokenizer, holder, schema, tools)
    responses, is_batched = _as_batch(response)
    prefixes = _prefixes(tokenizer, prefix, len(responses))
    messages = [reader.read(one, before) for one, before in zip(responses, prefixes, strict=True)]
    return messages if is_batched else messages[0]


# ---- what was given


def _as_batch(given: Any) -> tuple[list[Any], bool]:
    """Texts, or lists of ids; and whether there were several."""
    if isinstance(given, str):
        return [given], False
    _check_no_bytes(given)
    if hasattr(given, "tolist"):
        is_empty = getattr(given, "ndim", None) == 1 and len(given) == 0
        given = [[]] if is_empty else given.tolist()
        if is_empty:
            return given, False
    if not isinstance(given, (list, tuple)):
        if not hasattr(given, "__index__") and not isinstance(given, float):
            raise _no_reply(given)
        return [[int(given)]], False
    items = [item.tolist() if hasattr(item, "tolist") else item for item in given]
    if not items or isinstance(items[0], (str, list, tuple)):
        return items, True
    return [items], False


def _check_no_bytes(given: Any) -> None:
    for one in (given, *given) if isinstance(given, (list, tuple)) else (given,):
        if isinstance(one, (bytes, bytearray, memoryview)):
            raise _no_reply(one)


def _no_reply(given: Any) -> TypeError:
    return TypeError(f"a reply, or a prefix of one, is a text or a list of token ids, or a list of those, not a {type(given).__name__}")


def _prefixes(tokenizer: Any, prefix: Any, count: int) -> list[str | None]:
    if prefix is None or (isinstance(prefix, (list, tuple)) and not prefix):
        return [None if prefix is None else ""] * count
    given, is_batched = _as_batch(prefix)
    texts = [one if isinstance(one, str) else str(tokenizer.decode(one)) for one in given]
    if not is_batched:
        return [texts[0]] * count
    if len(texts) != count:
        raise ValueError(
            f"Got {count} response(s) but {len(texts)} prefix(es); `prefix` must be "
            "a single sequence (broadcast to every response), or one prefix per response."
        )
    return list(texts)


# ---- reading


@functools.lru_cache(maxsize=64)
def _template(text: str, special_tokens: tuple[tuple[str, str], ...]) -> Template:
    return Template.from_string(text, special_tokens=dict(special_tokens))


class _Reader:
    """Reads replies in the format of one tokenizer's chat template, or of a response_template."""

    def __init__(self, tokenizer: Any, holder: Any, response_template: dict[str, Any] | None, tools: Sequence[Any] | None):
        self._tokenizer = tokenizer
        self._tools = plain_tools(tools)
        self._template: Template | None = None
        if response_template is not None:
            self._format = ReplyFormat.from_response_template(response_template)
        else:
            special = {name: str(token) for name, token in getattr(tokenizer, "special_tokens_map", {}).items()}
            template = _template(_chat_template(tokenizer, holder, tools), tuple(sorted(special.items())))
            self._template = template
            self._format = template.reply_format()

    def read(self, response: Any, prefix: str | None) -> dict[str, Any]:
        engine = None if isinstance(response, str) else tokenizer_of(self._tokenizer)
        reader = self._reader(prefix, engine)
        reader.feed(response)
        reader.finish()
        return _as_dict(reader.message, self._tools)

    def _reader(self, prefix: str | None, engine: Tokenizer | None) -> ReplyReader:
        if prefix is None and self._template is not None:
            try:
                prompt = self._template.render([{"role": "user", "content": "Hi"}], self._tools, add_generation_prompt=True)
                return prompt.reader(tokenizer=engine)
            except Error:  # a template that wants another conversation
                prefix = ""
        if not prefix:
            return ReplyReader(self._format, tools=self._tools, tokenizer=engine, prompt="")
        # What stands behind the opening of the turn is a part of the message: a template, or a client, has begun it.
        opening = json.loads(self._format.to_json()).get("prompt") or ""
        at = prefix.rfind(opening) + len(opening) if opening and opening in prefix else len(prefix)
        reader = ReplyReader(self._format, tools=self._tools, tokenizer=engine, prompt=prefix[:at])
        reader.feed(prefix[at:])
        return reader


def _chat_template(tokenizer: Any, holder: Any, tools: Sequence[Any] | None) -> str:
    template = getattr(holder, "chat_template", None) if holder is not tokenizer else None
    if isinstance(template, dict):
        template = template.get("default")
    if template is None and getattr(tokenizer, "chat_template", None) is not None:
        template = tokenizer.get_chat_template(None, tools)
    if template is None:
        raise AttributeError("This tokenizer does not have a `response_template` for parsing chat responses!")
    return str(template)


def _as_dict(message: Message, tools: list[Any] | None) -> dict[str, Any]:
    made: dict[str, Any] = {"role": "assistant"}
    if message.reasoning:
        made["reasoning_content"] = message.reasoning
    if message.content:
        made["content"] = message.content
    calls: list[dict[str, Any]] = []
    for call in message.calls:
        arguments: Any = call.arguments
        if call.complete and not call.custom:
            arguments = json.loads(arguments)
        if isinstance(arguments, dict):
            properties = _properties(tools, call.name)
            arguments = {name: _cast(value, properties.get(name)) for name, value in arguments.items()}
        one: dict[str, Any] = {"type": "function", "function": {"name": call.name, "arguments": arguments}}
        calls.append({"id": call.id, **one} if call.id else one)
    if calls:
        made["tool_calls"] = calls
    return made


# ---- arguments by a tool's schema


def _properties(tools: list[Any] | None, name: str) -> dict[str, Any]:
    """The schemas of the arguments of the tool of this name."""
    for tool in tools or ():
        function = tool.get("function", tool)
        if isinstance(function, dict) and function.get("name") == name:
            parameters = function.get("parameters")
            properties = parameters.get("properties") if isinstance(parameters, dict) else None
            return properties if isinstance(properties, dict) else {}
    return {}


_PYTHON: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),)}
_PYTHON |= {"object": (dict,), "array": (list,)}


def _cast(value: Any, schema: Any) -> Any:
    """A text as what the schema wants, where it is the JSON of that: "7" is 7 for an integer, and stays "7" where a string may be."""
    if not isinstance(value, str) or not isinstance(schema, dict):
        return value
    declared = schema.get("type")
    types = [declared] if isinstance(declared, str) else declared
    if not isinstance(types, list) or "string" in types:
        return value
    try:
        read = json.loads(value.strip())
    except ValueError:
        return value
    for kind in types:
        if isinstance(read, _PYTHON.get(kind, ())) and isinstance(read, bool) == (kind == "boolean"):
            return read
    return value
