"""Nulls that a table of data has put into calls: a warning where a mask would teach them. Begin reading at warn_of_nulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parlance._warned import warn_caller


def warn_of_nulls(chats: Sequence[Any], tools: Sequence[Any] | None) -> None:
    """Warns of the first argument that is null and that its tool does not declare.

    A table (Arrow, Parquet, datasets) gives each row the members that any row has. Template.render() leaves such arguments out; what
    follows transformers writes them.
    """
    declared = dict(_declared(tools or ()))
    for chat in chats if declared else ():
        for path, name, argument in _nulls(chat):
            if argument not in declared.get(name, (argument,)):
                warn_caller(
                    f"{path}.{argument} is null and no parameter of {name!r}: tables of data have such members, and transformers' prompt "
                    f"has them too, so that the model learns them. Leave them out, or use Template.render(), which leaves them out"
                )
                return


def _declared(tools: Sequence[Any]) -> Iterator[tuple[str, list[str]]]:
    """The names of tools with those of their parameters, where both are said."""
    for tool in tools:
        function = _member(tool, "function")
        properties = _member(_member(function, "parameters"), "properties")
        if isinstance(properties, Mapping):
            yield str(_member(function, "name")), [name for name, schema in properties.items() if schema is not None]


def _nulls(chat: Any) -> Iterator[tuple[str, str, str]]:
    """The path of a call's arguments, the called name and the argument's."""
    for number, message in enumerate(chat if isinstance(chat, Sequence) else ()):
        calls = _member(message, "tool_calls")
        for place, call in enumerate(calls if isinstance(calls, Sequence) else ()):
            function = _member(call, "function")
            arguments = _member(function, "arguments")
            if isinstance(arguments, Mapping):
                path = f"messages[{number}].tool_calls[{place}].function.arguments"
                yield from ((path, str(_member(function, "name")), key) for key, value in arguments.items() if value is None)


def _member(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else None
