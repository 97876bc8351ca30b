"""Nulls that a table of data has put into calls: a warning where a mask would teach them. Begin reading at told_of_nulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parlance._origins import GENERATION
from parlance._warned import warn_caller

# As in null_columns.cpp: words of a schema that may declare more than its `properties` and `items` do.
_DECLARES_MORE = (
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedProperties",
)
# Masks that may have calls in them, and the members by which data says that a turn is not learnt (unmasked.h).
_TEACHES_CALLS = ("assistant", "calls", GENERATION)
_SAYS_LEARNT = ("weight", "train", "loss")
_DEEPEST = 64  # what nests deeper is left alone


def warn_of_nulls(chats: Sequence[Any], tools: Sequence[Any] | None, kinds: Sequence[str]) -> None:
    """Warns of what told_of_nulls() tells."""
    told = told_of_nulls(chats, tools, kinds)
    if told:
        warn_caller(told)


def told_of_nulls(chats: Sequence[Any], tools: Sequence[Any] | None, kinds: Sequence[str]) -> str:
    """The first argument that is null and that its tool does not declare, where a mask of these kinds teaches it; "": there is none.

    A table (Arrow, Parquet, datasets) gives each row the members that any row has. Template.render() leaves such arguments out; what
    follows transformers writes them.
    """
    if tools is None or not any(kind in _TEACHES_CALLS for kind in kinds):
        return ""
    schemas = _schemas_of(tools)
    for chat in chats if schemas else ():
        for path, name, arguments in _taught_calls(chat, GENERATION in kinds):
            for place in _undeclared(arguments, schemas.get(name), 0):
                return (
                    f"{path}{place} is null and no parameter of {name!r}: tables of data have such members, and transformers' prompt "
                    f"has them too, so that the model learns them. Leave them out, or use Template.render(), which leaves them out"
                )
    return ""


def _schemas_of(tools: Sequence[Any]) -> dict[str, Any]:
    """The schemas of arguments by the names of tools, the first of each name."""
    schemas: dict[str, Any] = {}
    for tool in tools:
        function = _member(tool, "function") or tool
        schemas.setdefault(str(_member(function, "name")), _member(function, "parameters"))
    return schemas


def _taught_calls(chat: Any, of_all: bool) -> Iterator[tuple[str, str, Any]]:
    """The path of a call's arguments, the called name and the arguments. `of_all`: the mask knows no turns that are not learnt."""
    for number, message in enumerate(chat if isinstance(chat, Sequence) else ()):
        calls = _member(message, "tool_calls")
        is_left_out = not of_all and any(_is_zero(_member(message, name)) for name in _SAYS_LEARNT)
        if not isinstance(calls, Sequence) or is_left_out:
            continue
        for place, call in enumerate(calls):
            function = _member(call, "function")
            path = f"messages[{number}].tool_calls[{place}].function.arguments"
            yield path, str(_member(function, "name")), _member(function, "arguments")


def _undeclared(value: Any, schema: Any, depth: int) -> Iterator[str]:
    """Where below a value the pass null-columns would leave something out."""
    if depth >= _DEEPEST or not isinstance(schema, Mapping) or any(schema.get(word) is not None for word in _DECLARES_MORE):
        return
    if isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from (f"[{place}]{more}" for more in _undeclared(item, schema.get("items"), depth + 1))
    properties = schema.get("properties")
    if not isinstance(value, Mapping) or not isinstance(properties, Mapping):
        return
    is_closed = schema.get("additionalProperties") in (None, False)
    for name, member in value.items():
        declared = properties.get(name)
        if member is None and declared is None and is_closed:
            yield f".{name}"
        else:
            yield from (f".{name}{more}" for more in _undeclared(member, declared, depth + 1))


def _is_zero(said: Any) -> bool:
    return isinstance(said, (bool, int, float)) and said == 0


def _member(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else None
