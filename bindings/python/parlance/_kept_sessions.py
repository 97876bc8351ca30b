"""What Session.to_dict() gave, as it is read again. Begin reading at check_kept."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from parlance._errors import of_object

_Kinds = tuple[type, ...]
_NONE = type(None)
_MEMBERS: dict[str, _Kinds] = {
    "messages": (list,),
    "tools": (list, _NONE),
    "documents": (list, _NONE),
    "variables": (dict,),
    "now": (str,),
    "protect": (bool,),
    "trust": (list, tuple),
    "steps": (list, tuple),
    "digest": (str,),
}
_LATER: dict[str, _Kinds] = {"plain_added": (bool,), "add_special_tokens": (bool,)}
"""Which earlier versions did not have."""
_OF_STEP: dict[str, _Kinds] = {
    "sampled": (list, _NONE),
    "logprobs": (list, _NONE),
    "messages": (list, _NONE),
    "trust": (list, tuple),
    "added": (int,),
    "reply": (dict, _NONE),
}
_NAMES = {list: "a list", tuple: "a list", dict: "a dict", str: "a str", bool: "a bool", int: "an int", _NONE: "None"}


def check_kept(data: Any) -> datetime.datetime:
    """Raises parlance.Error with the path where to_dict() cannot have given this. The moment that it has."""
    if not isinstance(data, Mapping):
        raise of_object(TypeError, "", f"a session is read from the dict that to_dict() gave, not from a {type(data).__name__}")
    for name in _MEMBERS:
        if name not in data:
            raise of_object(KeyError, name, "the session lacks it: from_dict() takes all that to_dict() gave")
    _check_members(data, {**_MEMBERS, **_LATER}, "")
    for number, step in enumerate(data["steps"]):
        _check_step(step, f"steps[{number}]")
    for name in data["variables"]:
        _check_kind(name, (str,), "variables")
    try:
        return datetime.datetime.fromisoformat(data["now"])
    except ValueError as error:
        raise of_object(ValueError, "now", f"this is no time: {error}") from None


def _check_step(step: Any, path: str) -> None:
    _check_kind(step, (dict,), path)
    unknown = next((name for name in step if name not in _OF_STEP), None)
    if unknown is not None:
        raise of_object(TypeError, path, f"a step of a session has no {unknown!r}")
    _check_members(step, _OF_STEP, path + ".")
    for number, id in enumerate(step.get("sampled") or ()):
        _check_kind(id, (int,), f"{path}.sampled[{number}]")


def _check_members(data: Mapping[Any, Any], members: dict[str, _Kinds], before: str) -> None:
    for name, kinds in members.items():
        if name in data:
            _check_kind(data[name], kinds, before + name)


def _check_kind(value: Any, kinds: _Kinds, path: str) -> None:
    is_one = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not is_one:
        known = " or ".join(dict.fromkeys(_NAMES[kind] for kind in kinds))
        raise of_object(TypeError, path, f"{known} is needed, not {_NAMES.get(type(value), 'a ' + type(value).__name__)}")


__all__ = ["check_kept"]
