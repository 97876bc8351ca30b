"""What a call of the extension says whose arguments do not fit, in Python's words. Begin reading at refused."""

from __future__ import annotations
import __future__

import collections.abc
import datetime
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import parlance
from parlance import _core

# What annotations of the extension's signatures are of.
_NAMES: dict[str, Any] = {"collections": collections, "datetime": datetime, "os": os, "parlance": parlance, "typing": typing}
_MODULES = re.compile(r"\b(?:typing|collections\.abc|os|datetime|parlance\._core)\.")
_NAME_OF_TYPE = vars(type)["__name__"].__get__  # which no metaclass has another of
_DEFAULT = re.compile(r"\\\d+")


def refused(function: Any, positional: list[Any], named: dict[str, Any], is_from_within: bool) -> TypeError | None:
    """The error for arguments that the extension's function does not take.

    None where all fit and the error came from within, such as of what a function gave that was among them.
    """
    name = function.__qualname__.removesuffix(".__init__")
    twin = _twin(function, name)
    try:
        twin(*positional, **named)
    except TypeError as error:  # one is missing, or there are too many
        return TypeError(str(error))
    given = list(_given(twin, positional, named))
    for parameter, annotation, value in given:
        if annotation is inspect.Parameter.empty:  # self
            annotation = function.__qualname__.rpartition(".")[0]
        if not _fits(value, _hint(annotation)):
            return TypeError(f"{name}() argument {parameter!r} must be {_words(annotation)}, not {_kind(value)}")
    if is_from_within:
        return None
    for parameter, _, value in given:
        if type(value) is int and not 0 <= value < 2**31:
            return TypeError(f"{name}() argument {parameter!r} is out of range: {value}")
    return TypeError(f"{name}() does not take these arguments: {', '.join(f'{one} of type {_kind(value)}' for one, _, value in given)}")


def _twin(function: Any, name: str) -> Callable[..., None]:
    """A function of Python with the same parameters, whose errors are Python's own."""
    text = _DEFAULT.sub("None", function.__nb_signature__[0][0])
    made: dict[str, Any] = {}
    exec(compile(f"{text}: pass", "<signature>", "exec", __future__.annotations.compiler_flag, True), made)
    twin: Callable[..., None] = made[function.__name__]
    twin.__qualname__ = name
    return twin


def signature_of(function: Any) -> inspect.Signature:
    """What `inspect` shows of a function or a method of the extension, with annotations as text. AttributeError for any other."""
    if function.__module__ != _core.__name__:
        raise AttributeError("__signature__")
    text, _, *defaults = function.__nb_signature__[0]
    made: dict[str, Any] = {"given": defaults[0] if defaults else ()}
    exec(compile(f"{_DEFAULT.sub(_given_default, text)}: pass", "<signature>", "exec", __future__.annotations.compiler_flag, True), made)
    shown = inspect.signature(made[function.__name__])
    if not hasattr(function, "__self__"):
        return shown
    return shown.replace(parameters=list(shown.parameters.values())[1:])


def _given_default(place: re.Match[str]) -> str:
    return f"given[{place[0][1:]}]"


def _given(twin: Callable[..., None], positional: list[Any], named: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(parameter, annotation, value) of each argument."""
    signature = inspect.signature(twin)
    for name, value in signature.bind(*positional, **named).arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from ((name, parameter.annotation, one) for one in value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield from ((one, parameter.annotation, of) for one, of in value.items())
        else:
            yield name, parameter.annotation, value


def _hint(annotation: str) -> Any:
    try:
        return eval(annotation, {**vars(_core), **_NAMES})
    except Exception:
        return Any


def _fits(value: Any, hint: Any) -> bool:
    """Whether the extension takes the value where its signature says this."""
    if hint is Any:
        return True
    if hint is object:
        return value is not None
    if hint is None or hint is type(None):
        return value is None
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Union or origin is types.UnionType:
        return any(_fits(value, one) for one in arguments)
    if hint is float:
        return _is_of(value, (int, float))
    if origin is collections.abc.Sequence and _is_of(value, (str, bytes)):
        return False
    if not _is_of(value, origin or hint):
        return False
    if origin is dict:
        return all(_fits(name, arguments[0]) and _fits(one, arguments[1]) for name, one in value.items())
    return origin is not collections.abc.Sequence or all(_fits(one, arguments[0]) for one in value)


def _is_of(value: Any, kind: Any) -> bool:
    try:
        return isinstance(value, kind)
    except Exception:  # a class may say anything of itself
        return False


def _words(annotation: str) -> str:
    """ "A, B or C", without the names of modules."""
    *first, last = _MODULES.sub("", annotation).split(" | ")
    return f"{', '.join(first)} or {last}" if first else last


def _kind(value: Any) -> str:
    return "None" if value is None else str(_NAME_OF_TYPE(type(value)))
