"""The JSON schema of a function, for tools: transformers' rule of `get_json_schema`, written anew.

Source of the rule: transformers 5.24.0, utils/chat_template_utils.py. Types come from the type hints, descriptions from a docstring in
Google's style. Begin reading at get_json_schema.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import types
from collections.abc import Callable, Hashable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from parlance._signatures import signature_of_any

# The names of JSON's scalars, of which an `enum` may consist.
SCALARS: dict[type, str] = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
BARE: dict[Any, dict[str, Any]] = {
    **{kind: {"type": name} for kind, name in SCALARS.items()},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
}

# The parts of a docstring in Google's style.
_DESCRIPTION = re.compile(r"(.*?)\s*(?:Args:|Returns:|Raises:|\Z)", re.DOTALL)
_ARGUMENTS = re.compile(r"\n\s*Args:\n(.*?)\s*(?:Returns:|Raises:|\Z)", re.DOTALL)
_RETURNS = re.compile(r"\n\s*Returns:\n\s*(.*?)\s*(?:Raises:|\Z)", re.DOTALL)
# "name: text" or "name (type): text", until the next one that is not indented deeper.
_END_OF_NAME = r"(?:[ \t]*\([^()\n]*\))?:"
_ARGUMENT = re.compile(rf"(?:^|\n)([ \t]*)(\w+){_END_OF_NAME}\s*(.*?)\s*(?=\n(?!\1[ \t])[ \t]*\w+{_END_OF_NAME}|\Z)", re.DOTALL)


class TypeHintError(ValueError):
    """A type hint from which no schema can be made."""


class DocstringError(ValueError):
    """A docstring without what the schema needs."""


def get_json_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of a function as a tool: {"type": "function", "function": {"name", "description", "parameters"}}.

    Raises ValueError if the function has no docstring, an argument no type hint or no description.
    """
    name = getattr(function, "__name__", "operation")
    doc = (inspect.getdoc(function) or "").strip()
    if not doc:
        raise DocstringError(f"Cannot generate JSON schema for {name} because it has no docstring!")
    description, arguments, returns = _sections(doc)
    parameters = _parameters(function)
    returned = parameters["properties"].pop("return", None)
    for argument, schema in parameters["properties"].items():
        if argument not in arguments:
            raise DocstringError(
                f"Cannot generate JSON schema for {name} because the docstring has no description for the argument '{argument}'"
            )
        text = arguments[argument]
        choices = re.search(r"\(choices:\s*(.*?)\)\s*$", text, flags=re.IGNORECASE)
        if choices:
            schema["enum"] = [c.strip() if isinstance(c, str) else c for c in json.loads(choices.group(1))]
            text = text[: choices.start()].strip()
        schema["description"] = text
    made: dict[str, Any] = {"name": name, "description": description, "parameters": parameters}
    if returned is not None:
        if returns is not None:
            returned["description"] = returns
        made["return"] = returned
    return {"type": "function", "function": made}


def _sections(doc: str) -> tuple[str | None, dict[str, str], str | None]:
    """The description, the descriptions of the arguments, that of what is returned."""
    description, arguments, returns = (part.search(doc) for part in (_DESCRIPTION, _ARGUMENTS, _RETURNS))
    block = "\n".join(line for line in arguments.group(1).split("\n") if line.strip()) if arguments else ""
    found = {name: re.sub(r"\s*\n+\s*", " ", text.strip()) for _, name, text in _ARGUMENT.findall(block)}
    return (
        description.group(1).strip() if description else None,
        found,
        returns.group(1).strip() if returns else None,
    )


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of the arguments, and of what is returned as the property "return"."""
    parameters = dict(signature_of_any(function).parameters)
    first = next(iter(parameters), None)
    if first in ("self", "cls") and parameters[first].annotation is inspect.Parameter.empty:
        del parameters[first]  # a method's own
    for name, parameter in parameters.items():
        if parameter.annotation is inspect.Parameter.empty:
            raise TypeHintError(f"Argument {name} is missing a type hint in function {getattr(function, '__name__', 'operation')}")
    properties: dict[str, Any] = {}
    for name, hint in get_type_hints(function).items():
        try:
            properties[name] = _of_hint(hint)
        except TypeHintError:
            if name != "return":  # which no model writes
                raise
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    if required:
        schema["required"] = required
    return schema


def _of_values(values: list[Any], whose: str) -> dict[str, Any]:
    if not values:
        raise TypeHintError(f"{whose} has no values, so nothing could ever match it")
    if any(type(value) not in SCALARS for value in values):
        raise TypeHintError(f"{whose} has values that are not int, float, str, bool or None: {values}")
    names = list(dict.fromkeys(SCALARS[type(value)] for value in values))
    return {"type": names[0] if len(names) == 1 else names, "enum": values}


def _of_union(hints: tuple[Any, ...]) -> dict[str, Any]:
    schema: dict[str, Any]
    schemas = [_of_hint(hint) for hint in hints if hint is not type(None)]
    if len(schemas) == 1:
        schema = schemas[0]
    elif all(one.keys() == {"type"} and isinstance(one["type"], str) for one in schemas):
        names = sorted({one["type"] for one in schemas})
        schema = {"type": names[0] if len(names) == 1 else names}
    else:
        schema = {"anyOf": schemas}
    if type(None) in hints:
        schema["nullable"] = True
    return schema


def _of_tuple(hints: tuple[Any, ...]) -> dict[str, Any]:
    if not hints:
        return {"type": "array"}
    if len(hints) == 1:
        raise TypeHintError("a tuple of one element has no schema: use list[…], or the element alone")
    if ... in hints:
        raise TypeHintError("a tuple of any length has no schema: use list[…]")
    return {"type": "array", "prefixItems": [_of_hint(hint) for hint in hints]}


def _of_hint(hint: Any) -> dict[str, Any]:
    """The schema of one type hint."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _of_values([member.value for member in hint], f"The Enum {hint.__name__}")
        bare = BARE.get(hint) if isinstance(hint, Hashable) else None
        if bare is None:
            raise TypeHintError(f"no schema can be made of the type hint {hint!r}: give the tool's schema as a dict instead")
        return dict(bare)
    if origin is Union or origin is getattr(types, "UnionType", None):
        return _of_union(arguments)
    if origin is Literal:
        return _of_values(list(arguments), "a Literal")
    if origin is list:
        return {"type": "array", "items": _of_hint(arguments[0])} if arguments else {"type": "array"}
    if origin is tuple:
        return _of_tuple(arguments)
    if origin is dict:
        return {"type": "object", "additionalProperties": _of_hint(arguments[1])} if len(arguments) == 2 else {"type": "object"}
    raise TypeHintError(f"no schema can be made of the type hint {hint!r}")
